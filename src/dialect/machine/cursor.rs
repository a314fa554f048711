//! How far a piece of text has been read.

use crate::cut::Cut as _;
/// The places of a reading in its text, in bytes from its beginning.
pub(super) struct TextCursor<'t> {
    pub(super) text: &'t str,
    /// Content that has not been emitted begins here.
    from: usize,
    /// A marker is looked for from here on.
    pub(super) at: usize,
    /// The context has seen what is before.
    seen: usize,
}

impl<'t> TextCursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        TextCursor { text, from: 0, at: 0, seen: 0 }
    }

    /// Returns the text from here on.
    pub(super) fn rest(&self) -> &'t str {
        self.between(self.at, self.text.len())
    }

    /// Returns so much of the text from here on.
    pub(super) fn head(&self, length: usize) -> &'t str {
        self.between(self.at, self.at + length)
    }

    /// Returns the content that has not been emitted, up to here.
    pub(super) fn content(&self) -> &'t str {
        self.between(self.from, self.at)
    }

    /// True if nothing is left.
    pub(super) fn is_over(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Moves on over markup: nothing before is content, nor for the context.
    pub(super) fn take(&mut self, length: usize) {
        self.at += length;
        (self.from, self.seen) = (self.at, self.at);
    }

    /// Moves on over content that is emitted with what follows it.
    pub(super) fn pass(&mut self, length: usize) {
        self.at += length;
    }

    /// Moves on over content between the objects of a call, all of which the context sees again.
    pub(super) fn pass_between(&mut self, length: usize) {
        self.at += length;
        self.seen = self.from;
    }

    /// Takes note that the content up to here has been emitted.
    pub(super) fn emitted(&mut self) {
        self.from = self.at;
    }

    /// Moves on to this place, and returns the text up to it that the context has not seen.
    pub(super) fn see(&mut self, place: usize) -> &'t str {
        let unseen = self.between(self.seen, place);
        (self.at, self.seen) = (place, place);
        unseen
    }

    /// Moves on over content that the context has seen.
    pub(super) fn skip(&mut self, length: usize) {
        self.at += length;
        self.seen = self.at;
    }

    /// Moves on to the end, and returns the text that the context has not seen.
    pub(super) fn see_rest(&mut self) -> &'t str {
        self.see(self.text.len())
    }

    fn between(&self, from: usize, to: usize) -> &'t str {
        self.text.within(from..to)
    }
}
