//! The items of a response, and how an event finds the one that it is of.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::format::openai_responses::calls::{ItemCall, Nature};
use crate::format::openai_responses::payload::{ItemRef, ResponseItem, Whole};
use crate::format::openai_responses::state::{ItemState, TextKind};
use crate::format::support::prelude::*;

/// The most items of one response.
const MAX_ITEMS: usize = 4096;

/// The items of one response. An event is of the item whose id it has, if that is known, and else
/// of the one at its place in the output: Copilot changes ids with each event.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// By the place that they were given: the one in the output, if that was free.
    items: BTreeMap<u64, ItemState>,
    /// The places of items by the hashes of their ids.
    by_id: BTreeMap<u64, u64>,
    /// The places of items that have another one than their index says, by that.
    moved: BTreeMap<u64, u64>,
    /// The places of items by their tags. A call and its result may have one id.
    known: BTreeMap<u64, u64>,
    /// The place that an event named last.
    latest: u64,
    /// The key that was given out last.
    keys: u64,
    /// True if a missing index has been warned of.
    warned: bool,
    /// The text of the latest item that the last event continued, if it did.
    continued: Option<(TextKind, u64)>,
    /// True if the last event was a piece of text or of arguments.
    pub(super) repeats: bool,
}

impl Items {
    /// `output_item.added`.
    pub(super) fn add(
        &mut self,
        frame: &Frame,
        index: Option<u64>,
        json: RawJson<'_>,
        out: &mut EventOut,
    ) -> Done {
        read_item(frame, json, out, |item, out| {
            if let Some(place) = self.find(item) {
                // A gateway that tries again, or an event that came twice.
                self.latest = place;
                self.moved
                    .extend(index.filter(|index| *index != place).map(|index| (index, place)));
                let message = "an item began a second time";
                return out.warn(WarningCode::ReusedIndex, message);
            }
            let named = ItemRef { index, id: None };
            let mut place = self.place(named, true, out)?;
            if self.items.get(&place).is_some_and(|state| !state.is_done) {
                let message = "an item began under the index of one that wasn't done";
                out.warn(WarningCode::ReusedIndex, message)?;
                self.moved.insert(place, self.next());
                place = self.next();
                self.latest = place;
            }
            let state = ItemState::start(item, self.next_key(), out)?;
            self.note(place, item);
            if let Some(id) = item.own_id() {
                self.by_id.insert(hash(id), place);
            }
            self.items.insert(place, state);
            self.check_size(out)
        })
    }

    /// `output_item.done`.
    pub(super) fn done(
        &mut self,
        frame: &Frame,
        index: Option<u64>,
        json: RawJson<'_>,
        out: &mut EventOut,
    ) -> Done {
        read_item(frame, json, out, |item, out| {
            // A call and its result may have one id.
            let is_its = |id: &&str| {
                let state = self.by_id.get(&hash(*id)).and_then(|place| self.items.get(place));
                state.is_some_and(|state| state.is_of(item.kind()))
            };
            let named = ItemRef { index, id: item.own_id().filter(is_its) };
            let mut place = self.place(named, false, out)?;
            let here = self.items.get(&place);
            if here.is_some_and(|state| !state.is_done && !state.is_of(item.kind())) {
                let message = "an item ended under the index of another one, which wasn't done";
                out.warn(WarningCode::ReusedIndex, message)?;
                place = self.next();
            }
            let whole = Whole { item, json: json.get(), place };
            self.finish(frame, place, whole, out)
        })
    }

    /// The output that the response repeats at its end, or that a gateway sends
    /// nowhere else.
    pub(super) fn all(
        &mut self,
        frame: &Frame,
        output: &[RawJson<'_>],
        out: &mut EventOut,
    ) -> Done {
        let is_repeated = !self.items.is_empty();
        let answered = if is_repeated { BTreeSet::new() } else { answered(output) };
        for (place, &json) in (0..).zip(output) {
            read_item(frame, json, out, |item, out| {
                let whole = Whole { item, json: json.get(), place };
                // The ids of items may change with each event, not those by which calls are answered.
                let known = item.tags().find_map(|tag| self.known.get(&tag)).copied();
                let is_here = self.items.get(&place).is_some_and(|state| state.may_be(item));
                let known = known.or(is_here.then_some(place));
                let is_done = |place: &u64| self.items.get(place).is_none_or(|state| state.is_done);
                if let Some(place) = known.filter(|place| is_repeated && is_done(place)) {
                    return self.items.entry(place).or_default().compare(frame, whole, out);
                }
                if is_repeated {
                    let message = "an item was whole only at the end of the response";
                    out.warn(WarningCode::LateItem, message)?;
                }
                let id = item.id().filter(|id| answered.contains(*id));
                if id.is_some() && Nature::of(item) == Nature::Call(None) {
                    // Whoever wrote the body ran it.
                    let executor = Some(Executor::Agent);
                    out.call(0, CallPart { id, executor, ..CallPart::default() })?;
                }
                let place = known.filter(|_| is_repeated).unwrap_or(self.next());
                self.finish(frame, place, whole, out)
            })?;
        }
        Ok(())
    }

    /// Ends the calls whose arguments came whole, but not their item.
    pub(super) fn close(&mut self, out: &mut EventOut) -> Done {
        self.items.values_mut().try_for_each(|state| state.close(out))
    }

    /// True if items have come, and all of them to their end.
    pub(super) fn are_done(&self) -> bool {
        !self.items.is_empty() && self.items.values().all(|state| state.is_done)
    }

    /// Ends a response of more than [`MAX_ITEMS`] items: each is kept, for it may
    /// be repeated.
    fn check_size(&self, out: &mut EventOut) -> Done {
        let count = self.items.len().max(self.known.len() / 2);
        out.check_limit(count, MAX_ITEMS, "items in one response")
    }

    /// Returns the place after those of all items.
    fn next(&self) -> u64 {
        self.items.keys().next_back().map_or(0, |last| last.saturating_add(1))
    }

    fn next_key(&mut self) -> Key {
        self.keys += 1;
        Key::Index(self.keys)
    }

    /// Returns the place of an item that has come before.
    fn find(&self, item: &ResponseItem) -> Option<u64> {
        self.known.get(&item.tags().next()?).copied()
    }

    /// Notes where an item is.
    fn note(&mut self, place: u64, item: &ResponseItem) {
        item.tags().for_each(|tag| {
            self.known.entry(tag).or_insert(place);
        });
    }

    /// The place of the item that an event is of.
    fn place(&mut self, named: ItemRef<'_>, is_new: bool, out: &mut EventOut) -> io::Result<u64> {
        // Nothing more comes of one that is done: servers make up ids.
        let is_open = |place: &&u64| self.items.get(*place).is_some_and(|state| !state.is_done);
        let known = named.id.and_then(|id| self.by_id.get(&hash(id))).filter(is_open);
        if let Some(place) = known {
            self.continued = None;
            self.latest = *place;
            return Ok(*place);
        }
        let index = named.index.map(|index| match self.moved.get(&index) {
            Some(place) if !is_new => *place,
            _ => index,
        });
        if index.is_none() && !std::mem::replace(&mut self.warned, true) {
            let message = "events without index were taken to be of the latest item";
            out.warn(WarningCode::MissingIndex, message)?;
        }
        let is_over = self.items.get(&self.latest).is_some_and(|state| is_new || state.is_done);
        let inferred = if is_over { self.next() } else { self.latest };
        self.latest = index.unwrap_or(inferred);
        self.continued = None;
        Ok(self.latest)
    }

    /// Returns the state of the item that an event belongs to.
    pub(super) fn at(
        &mut self,
        named: ItemRef<'_>,
        out: &mut EventOut,
    ) -> io::Result<&mut ItemState> {
        let place = self.place(named, false, out)?;
        self.items.entry(place).or_default();
        self.check_size(out)?;
        Ok(self.items.entry(place).or_default())
    }

    /// A piece of a text of the item that an event is of.
    pub(super) fn piece(
        &mut self,
        named: ItemRef<'_>,
        at: (TextKind, u64),
        piece: &Str,
        out: &mut EventOut,
    ) -> Done {
        let goes_on = self.at(named, out)?.piece(at, piece, out)?;
        self.repeats = goes_on;
        self.continued = goes_on.then_some(at);
        Ok(())
    }

    /// Events that repeat the last one came, and their text was emitted.
    pub(super) fn on_repeat(&mut self, text: &Str) {
        if let (Some(at), Some(state)) = (self.continued, self.items.get_mut(&self.latest)) {
            state.note(at, text);
        }
    }

    /// The call that an event is of.
    pub(super) fn call(
        &mut self,
        named: ItemRef<'_>,
        out: &mut EventOut,
    ) -> io::Result<&mut ItemCall> {
        let key = self.next_key();
        Ok(self.at(named, out)?.call(key))
    }

    /// An item is whole.
    fn finish(&mut self, frame: &Frame, place: u64, whole: Whole, out: &mut EventOut) -> Done {
        let item = whole.item;
        let is_new = item.tags().next().is_some() && self.find(item).is_none();
        if is_new && self.items.get(&place).is_some_and(|state| state.is_done) {
            let message = "a second item came under the index of another one";
            out.warn(WarningCode::ReusedIndex, message)?;
            self.items.remove(&place);
        }
        self.note(place, item);
        if let Some(id) = item.own_id() {
            self.by_id.entry(hash(id)).or_insert(place);
        }
        let key = self.next_key();
        self.items.entry(place).or_default().finish(frame, whole, key, out)?;
        self.check_size(out)
    }
}

/// Returns the ids of the calls of a body that have their results in it: the type of a result ends
/// with `_output`, and its `call_id` names the call.
fn answered(items: &[RawJson<'_>]) -> BTreeSet<String> {
    let items = items.iter().map(|json| Object::new(json.get()));
    let results = items.filter(|item| item.kind("type").ends_with("_output"));
    results.filter_map(|result| result.word("call_id")).collect()
}

fn read_item(
    frame: &Frame,
    json: RawJson<'_>,
    out: &mut EventOut,
    mut then: impl FnMut(&ResponseItem, &mut EventOut) -> Done,
) -> Done {
    let frame = frame.part(json);
    read!(&frame, out, |item: ResponseItem| then(item, out))
}
