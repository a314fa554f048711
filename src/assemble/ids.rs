//! The ids of one choice's calls.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// Keeps the ids that the provider sent, and makes up those that it did not.
///
/// The id of a call is final when the call is printed: the provider's, or the
/// first free one of `call_N`, where N begins at the call's index. Free is what
/// no other call has by then, and so the bytes before the call's end decide. If
/// the provider sends an id after it was made up for another call, that id is
/// replaced: no two calls get one id from here.
#[derive(Default)]
pub(super) struct Ids {
    /// The calls of each id that the provider sent, in their order.
    sent: HashMap<String, Vec<u64>>,
    /// The numbers of those that look made up.
    numbers: BTreeSet<u64>,
    /// The numbers that were made up and printed.
    made_up: BTreeSet<u64>,
    /// The number from which a free one is searched for, if a call's own is taken.
    next: u64,
}

impl Ids {
    /// Adds an id that the provider sent for a call.
    pub(super) fn add(&mut self, id: &str, index: u64) {
        match self.sent.get_mut(id) {
            Some(calls) if calls.contains(&index) => {}
            Some(calls) => calls.push(index),
            None => drop(self.sent.insert(id.to_owned(), vec![index])),
        }
        self.numbers.extend(number(id));
    }

    /// Returns the latest call that the provider sent this id for.
    pub(super) fn latest(&self, id: &str) -> Option<u64> {
        self.sent.get(id)?.last().copied()
    }

    /// Returns the id that a call would be printed with now.
    pub(super) fn get<'c>(&self, sent: Option<&'c str>, index: u64) -> Cow<'c, str> {
        match sent.filter(|id| !self.is_made_up(id)) {
            Some(id) => Cow::Borrowed(id),
            None => Cow::Owned(name(self.free(index))),
        }
    }

    /// Returns the id that a call is printed with, and keeps it for this call.
    pub(super) fn take<'c>(&mut self, sent: Option<&'c str>, index: u64) -> Cow<'c, str> {
        if let Some(id) = sent.filter(|id| !self.is_made_up(id)) {
            return Cow::Borrowed(id);
        }
        let number = self.free(index);
        if number != index {
            self.next = number + 1;
        }
        self.made_up.insert(number);
        Cow::Owned(name(number))
    }

    fn is_made_up(&self, id: &str) -> bool {
        number(id).is_some_and(|number| self.made_up.contains(&number))
    }

    /// Returns the first free number.
    fn free(&self, index: u64) -> u64 {
        let is_free =
            |number: &u64| !self.numbers.contains(number) && !self.made_up.contains(number);
        let more = self.next.max(index + 1)..;
        std::iter::once(index).chain(more).find(is_free).unwrap_or(index)
    }
}

fn name(number: u64) -> String {
    format!("call_{number}")
}

/// Returns the number of an id that is spelled as one that was made up.
fn number(id: &str) -> Option<u64> {
    let number = id.strip_prefix("call_")?.parse().ok()?;
    (name(number) == id).then_some(number)
}
