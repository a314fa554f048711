//! Markers in text that arrives in pieces: find one, or hold back its
//! beginning.
//!
//! A [`Pattern`] is a marker with what varies in braces; the page of the module `dialect` has the
//! language. An [`Attempt`] follows one pattern from one place in the text
//! and looks at no byte twice, but for what may be missing.

mod attempt;
mod finder;
mod pattern;

pub(crate) use attempt::{Attempt, Match};
pub(crate) use finder::{Finder, Lookahead, find_any};
pub(crate) use pattern::{Captures, Pattern, Place};

/// The longest word, in bytes: tools have names, not stories.
pub(crate) const MAX_WORD: usize = 256;
/// The longest list of attributes, in bytes.
pub(crate) const MAX_ATTRIBUTES: usize = 1024;
