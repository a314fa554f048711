//! Dialects: how models write tool calls, reasoning and metadata inside plain
//! text. Text in; text, reasoning, calls and blocks out. Knows nothing of
//! providers or output.
//!
//! A dialect is data: a [`Dialect`] row, whose markers are patterns. One machine
//! reads them all. A user's own dialect is a TOML
//! file with the same fields (see [`load()`]), or the JSON that tokenizers of
//! Hugging Face have (`hf_template`).
//!
//! To add a dialect, write its row in the file of its family and name it in
//! [`DIALECTS`]; `fixtures/dialect/NAME/` holds its cases.
//!
//! # Patterns
//!
//! A pattern is written as the marker stands in the text, with what varies in
//! braces:
//!
//! | in a pattern | stands for |
//! | --- | --- |
//! | `{ws}` | any white space, or none |
//! | `{sp}` | spaces and tabs, or none |
//! | `{nl}` | one line feed, or none |
//! | `{name}`, `{key}`, `{id}`, `{type}`, `{suffix}` | a word, which is remembered under that name |
//! | `{server}` in a call's opener | the server of the tool, a block before the call |
//! | `{_}` | a word |
//! | `{number}` | digits |
//! | `{ns}` | letters and a colon, or nothing: a namespace |
//! | `{*}` | anything on the line but a brace, up to the text after it |
//! | `{*<|start|>}` | the same, and not past this text |
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
//! remembered.

pub(crate) mod body;
pub(crate) mod hf_template;
pub(crate) mod load;
pub(crate) mod machine;
mod markup;
mod results;
pub(crate) mod rows;
pub(crate) mod spec;
pub(crate) mod table;
pub(crate) mod turns;

pub use crate::row_error::RowError;
pub use hf_template::load_template;
pub use load::load;
pub use markup::AtEnd;
pub(crate) use markup::Markup;
pub use results::TextResult;
pub(crate) use rows::tags::END_TOKENS;
pub use spec::{
    Body, Call, Dialect, Ends, Envelope, Parameters, Raw, Region, Results, Role, Section, StartIn,
    Tag, TagRole, Untyped, Word, Words,
};
pub(crate) use table::of_source;
#[cfg(feature = "cli")]
pub(crate) use table::open;
pub use table::{DIALECTS, Selection, choose, find};

#[cfg(test)]
mod tests;
