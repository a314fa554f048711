//! Events that differ in their text alone, and came one right after another.

use std::iter;

use crate::event::Event;

/// Pieces of one text, each an event of its own: a layer that treats them alike
/// need not take them one by one.
#[derive(Clone, Copy, Debug)]
pub struct Pieces<'a> {
    /// The event that all of them would be if they were one.
    pub event: Event<'a>,
    /// The places at which its text is cut, in bytes from its beginning.
    pub cuts: &'a [usize],
}

impl<'a> From<Event<'a>> for Pieces<'a> {
    /// Returns one piece: the event itself.
    fn from(event: Event<'a>) -> Self {
        Pieces { event, cuts: &[] }
    }
}

impl<'a> Pieces<'a> {
    /// Returns the event, if it is the only one: of any kind, then.
    pub fn only(self) -> Option<Event<'a>> {
        self.cuts.is_empty().then_some(self.event)
    }

    /// Returns the text of each piece.
    pub fn texts(self) -> impl Iterator<Item = &'a str> {
        let (mut rest, mut cuts, mut begin) = (self.event.kind.text(), self.cuts.iter(), 0);
        iter::from_fn(move || {
            let (piece, after) = match cuts.next() {
                Some(&cut) => rest?.split_at_checked(cut - std::mem::replace(&mut begin, cut))?,
                None => return rest.take(),
            };
            rest = Some(after);
            Some(piece)
        })
    }

    /// Returns each piece as the event that it is: an event that has no text
    /// is one piece.
    pub fn events(self) -> impl Iterator<Item = Event<'a>> {
        let Event { choice, kind } = self.event;
        let only = self.only();
        let texts = only.is_none().then(|| self.texts()).into_iter().flatten();
        only.into_iter().chain(texts.map(move |text| Event::new(choice, kind.with_text(text))))
    }
}
