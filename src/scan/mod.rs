//! Markers in text that arrives in pieces: find one, or hold back its
//! beginning.
//!
//! A [`Pattern`] is written as the marker stands in the text, with what varies
//! in braces:
//!
//! | in a pattern | stands for |
//! | --- | --- |
//! | `{ws}` | any white space, or none |
//! | `{sp}` | spaces and tabs, or none |
//! | `{nl}` | one line feed, or none |
//! | `{name}`, `{key}`, `{id}`, `{type}`, `{suffix}` | a word, which is remembered under that name |
//! | `{_}` | a word |
//! | `{number}` | digits |
//! | `{ns}` | letters and a colon, or nothing: a namespace |
//! | `{*}` | anything on the line, up to the text behind it |
//! | `{@}` | the attributes of a tag, or none |
//! | `{@name}`, `{@key=name,type=kind?}` | attributes, of which the named ones are remembered; `?` if one may be missing, `&` if `&amp;` and `&quot;` are escapes in it |
//! | `{[}`…`{]}` | what may be missing |
//! | `{id(}`…`{)}` | remembers all between as one word |
//! | `{{}` | an opening brace |
//! | `{|}` in a closer | one marker or another |
//! | `{start}` at the front | only where the message or its answer begins |
//! | `{line}` at the front | only where a line begins |
//!
//! In the closer that belongs to an opener, a word stands for what the opener
//! remembered. An [`Attempt`] follows one pattern from one place in the text
//! and looks at no byte twice, but for what may be missing.

mod attempt;
mod finder;
mod pattern;

pub use attempt::{Attempt, Captures, Match};
pub use finder::{Finder, Lookahead, find_any};
pub use pattern::{Pattern, Place};

/// The longest word, in bytes: tools have names, not stories.
pub const MAX_WORD: usize = 256;
/// The longest list of attributes, in bytes.
pub const MAX_ATTRIBUTES: usize = 1024;
