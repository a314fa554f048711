//! What may differ in a record that repeats the last one.

/// The places that may differ in a record that repeats the last one, beside its text: `key` is a
/// member of the record itself, `member.key` what has that key at any depth in that member.
///
/// A decoder that returns one states of the record that it decoded last: if it
/// emitted one piece of text and nothing else, but for the start of its message,
/// then that piece is the value of a string in the record, and a record that
/// differs in this string and in these members alone would change no state but
/// that of its counts, and emit nothing but the text in the string's place.
#[derive(Debug)]
pub struct Repeatable {
    /// Strings whose value means nothing but text: one piece of it may stand in several of them.
    pub texts: &'static [&'static str],
    /// Strings and numbers that the decoder does not read.
    pub unread: &'static [&'static str],
    /// The member of the record that is an object of numbers, of which the last one of each
    /// counts.
    pub counts: Option<&'static str>,
    /// True if that is so of a record, too, that emitted nothing: one that differs in these
    /// members alone would change nothing, and emit nothing.
    pub may_be_silent: bool,
}

impl Repeatable {
    /// Nothing but the text may differ.
    pub const TEXT: Repeatable =
        Repeatable { texts: &[], unread: &[], counts: None, may_be_silent: false };
}
