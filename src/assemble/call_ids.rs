//! The ids of the calls of one message: those that the provider sent, and those that are made up.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use crate::event::{made_up_id, made_up_number, push_made_up_id};

/// Keeps the ids that the provider sent, and makes up those that it did not.
///
/// The id of a call is final when the call is printed: the provider's, or the
/// first free one of `call_N`, where N begins at the call's index. Free is what
/// no other call has by then, and so the bytes before the call's end decide. If
/// the provider sends an id after it was made up for another call, that id is
/// replaced: no two calls get one id from here.
#[derive(Default)]
pub(super) struct CallIds {
    /// The calls of each id that the provider sent.
    sent: HashMap<String, SentId>,
    /// The numbers of those that look made up.
    numbers: BTreeSet<u64>,
    /// For each number up to the highest that was made up and printed, true if it was.
    made_up: Vec<bool>,
    /// The number from which a free one is searched for, if a call's own is taken.
    next: u64,
    /// The latest that was made up.
    latest: String,
}

/// The calls that an id was sent for.
struct SentId {
    /// The one that it was sent for last, the first time.
    latest: u64,
    /// The indices of all, in order.
    calls: Vec<u64>,
}

impl CallIds {
    /// Forgets all, and keeps buffers.
    pub(super) fn clear(&mut self) {
        let CallIds { sent, numbers, made_up, next, latest } = self;
        sent.clear();
        numbers.clear();
        made_up.clear();
        *next = 0;
        latest.clear();
    }

    /// Adds an id that the provider sent for a call.
    pub(super) fn add(&mut self, id: &str, index: u64) {
        match self.sent.get_mut(id) {
            Some(sent) => {
                if let Err(place) = sent.calls.binary_search(&index) {
                    sent.calls.insert(place, index);
                    sent.latest = index;
                }
            }
            None => {
                let sent = SentId { latest: index, calls: vec![index] };
                self.sent.insert(id.to_owned(), sent);
            }
        }
        self.numbers.extend(made_up_number(id));
    }

    /// Returns the latest call that the provider sent this id for.
    pub(super) fn latest(&self, id: &str) -> Option<u64> {
        self.sent.get(id).map(|sent| sent.latest)
    }

    /// Returns the calls that the provider sent this id for, in order.
    pub(super) fn calls(&self, id: &str) -> &[u64] {
        self.sent.get(id).map_or(&[], |sent| &sent.calls)
    }

    /// Returns the id that a call would be printed with now.
    pub(super) fn get<'c>(&self, sent: Option<&'c str>, index: u64) -> Cow<'c, str> {
        match sent.filter(|id| !self.is_made_up(id)) {
            Some(id) => Cow::Borrowed(id),
            None => Cow::Owned(made_up_id(self.free(index))),
        }
    }

    /// Returns the id that a call is printed with, and keeps it for this call.
    pub(super) fn take<'c>(&'c mut self, sent: Option<&'c str>, index: u64) -> &'c str {
        if let Some(id) = sent.filter(|id| !self.is_made_up(id)) {
            return id;
        }
        let number = self.free(index);
        if number != index {
            self.next = number + 1;
        }
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        self.made_up.resize(self.made_up.len().max(place.saturating_add(1)), false);
        self.made_up[place] = true;
        self.latest.clear();
        push_made_up_id(number, &mut self.latest);
        &self.latest
    }

    fn is_made_up(&self, id: &str) -> bool {
        made_up_number(id).is_some_and(|number| self.has_made_up(number))
    }

    fn has_made_up(&self, number: u64) -> bool {
        usize::try_from(number).is_ok_and(|place| self.made_up.get(place) == Some(&true))
    }

    /// Returns the first free number.
    fn free(&self, index: u64) -> u64 {
        let is_free = |number: &u64| !self.numbers.contains(number) && !self.has_made_up(*number);
        let more = self.next.max(index + 1)..;
        std::iter::once(index).chain(more).find(is_free).unwrap_or(index)
    }
}
