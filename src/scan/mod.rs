//! Markers in text that arrives in pieces: finds one, or holds back its
//! beginning.
//!
//! A [`Pattern`] is a marker with what varies in braces; the page of the module `dialect` has the
//! language. An [`Attempt`] follows one pattern from one place in the text and reads no byte twice,
//! except in parts that are optional; a [`Lookahead`] checks what comes after it as well.

mod attempt;
mod pattern;

pub(crate) use attempt::{Attempt, Lookahead, Match, Sight, attributes, common_length};
pub(crate) use pattern::{
    CapturedWord, Captures, FirstBytes, MarkerPlace, MatchStart, Namespace, Pattern, begins_word,
    namespace,
};

/// The longest word, in bytes.
pub(crate) const MAX_WORD: usize = 256;
/// The longest list of attributes, in bytes.
pub(crate) const MAX_ATTRIBUTES: usize = 1024;
