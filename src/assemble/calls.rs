//! The calls of one choice, and which of them a fragment belongs to.

use std::collections::{BTreeMap, VecDeque};

use smallvec::SmallVec;

use crate::assemble::call::{AssembledCall, is_nothing};
use crate::assemble::call_ids::CallIds;
use crate::assemble::context::{Inference, reused};
use crate::assemble::waiting::oldest;
use crate::event::{Arguments, CallPart, Key, ToolResult, WarningCode, Withdrawn, is_no_id};

const REPEATED_ID: Inference =
    (WarningCode::RepeatedId, "a second call came with the id of another one");
const REUSED_INDEX: Inference =
    (WarningCode::ReusedIndex, "a second call came under the index of another one");
const INDEX_MISMATCH: Inference = (
    WarningCode::IndexMismatch,
    "a fragment's id and index name two calls: it was added to the call of its id",
);
const OTHER_ID: Inference = (
    WarningCode::IndexMismatch,
    "a fragment without a name had another id than the call of its index: it was added to that",
);
const NEW_WITHOUT_INDEX: Inference =
    (WarningCode::MissingIndex, "a call without id and index was taken as a new one");
const ADDED_WITHOUT_INDEX: Inference =
    (WarningCode::MissingIndex, "a fragment without id and index was added to the latest call");

/// The number of keys that are remembered beside those of open calls.
const MAX_KEYS: usize = 4096;

/// The number of calls of a message up to which their buffers are kept for the next one.
const FEW: u64 = 16;

#[derive(Default)]
pub(super) struct AssembledCalls {
    /// Calls that are open, in the order of their index: their place in the order of appearance.
    open: VecDeque<Box<AssembledCall>>,
    /// One that has ended: the next one has its buffers.
    spare: Option<Box<AssembledCall>>,
    /// The number of calls so far.
    count: u64,
    /// The calls of the keys that are no places in the text.
    by_key: BTreeMap<Key, u64>,
    /// The open calls in the text, by their places there: one, mostly.
    in_text: SmallVec<[(Key, u64); 1]>,
    /// The keys of calls that have ended, by their index: the oldest make room for others.
    ended: BTreeMap<u64, Key>,
    pub(super) ids: CallIds,
    latest: Option<u64>,
    /// The key of the last fragment, while the call that it belongs to is open.
    last: Option<Key>,
}

impl AssembledCalls {
    /// Begins anew; keeps buffers if there were few calls.
    pub(super) fn clear(&mut self) {
        if self.count > FEW {
            *self = AssembledCalls::default();
            return;
        }
        let AssembledCalls { open, spare, count, by_key, in_text, ended, ids, latest, last } = self;
        open.clear();
        spare.iter_mut().for_each(|call| call.begin(0, 0));
        *count = 0;
        by_key.clear();
        in_text.clear();
        ended.clear();
        ids.clear();
        (*latest, *last) = (None, None);
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the index of the call that the last fragment belongs to, if this one has the same
    /// key and names no call itself, and the call is open.
    #[inline]
    pub(super) fn next(&self, part: &CallPart<'_>) -> Option<u64> {
        let goes_on = part.id.is_none() && part.name.is_none() && self.last == Some(part.key);
        self.latest.filter(|index| goes_on && self.get(*index).is_some())
    }

    /// Returns the index of the call that a fragment belongs to, or none if it
    /// begins a new one, and what had to be inferred. The first rule that
    /// applies:
    ///
    /// 1. In text, the place names the call. Ids there are the model's words.
    /// 2. A known id, unless the fragment begins another call: it has a name, and another key, or
    ///    after whole arguments another name, or more of them.
    /// 3. A known index with no other id, or with one and no name before its arguments are a
    ///    whole JSON value, and no new name after that.
    /// 4. Without id and index: a new call if there is a name, else the latest.
    #[inline]
    pub(super) fn find(&self, part: &CallPart<'_>) -> (Option<u64>, Option<Inference>) {
        let by_id = part.id.and_then(|id| self.ids.latest(id));
        let by_key = self.index_of(part.key);
        if let Key::Text(_) = part.key {
            let is_repeated = by_id.is_some() && by_id != by_key;
            // A name that comes twice in one call contradicts it, and begins no other one.
            let is_open = by_key.is_some_and(|index| self.get(index).is_some());
            let (found, inference) = match is_open {
                true => (by_key, None),
                false => self.find_by_key(part, by_key),
            };
            return (found, inference.or(is_repeated.then_some(REPEATED_ID)));
        }
        if let Some(index) = by_id {
            if self.begins_another(part, index) {
                return (None, Some(REPEATED_ID));
            }
            let is_mismatch = by_key.is_some_and(|other| other != index);
            return (by_id, is_mismatch.then_some(INDEX_MISMATCH));
        }
        if part.key != Key::None {
            return self.find_by_key(part, by_key);
        }
        match (part.id, part.name, self.latest) {
            (Some(_), ..) | (None, None, None) => (None, None),
            (None, Some(_), _) => (None, Some(NEW_WITHOUT_INDEX)),
            (None, None, latest) => (latest, Some(ADDED_WITHOUT_INDEX)),
        }
    }

    /// True if a fragment is the beginning of a call that has ended, once more: with its id and its
    /// key, and without arguments.
    pub(super) fn repeats_beginning(&self, part: &CallPart<'_>) -> bool {
        let ended = part.id.and_then(|id| self.ids.latest(id));
        ended.is_some_and(|index| {
            is_nothing(part.arguments)
                && self.get(index).is_none()
                && !matches!(part.key, Key::None | Key::Text(_))
                && self.index_of(part.key) == Some(index)
        })
    }

    /// True if a fragment with the id of a call begins another one of that id.
    fn begins_another(&self, part: &CallPart<'_>, index: u64) -> bool {
        let Some(name) = part.name else { return false };
        let Some(call) = self.get(index) else { return true };
        let has_other_key =
            part.key != Key::None && call.key != Key::None && !self.by_key.contains_key(&part.key);
        let has_other_name = !call.name.is_empty() && name != call.name;
        let has_more =
            matches!(part.arguments, Arguments::Fragment(text) if !text.trim_ascii().is_empty());
        has_other_key || (call.is_whole() && (has_other_name || has_more))
    }

    #[inline]
    fn find_by_key(
        &self,
        part: &CallPart<'_>,
        by_key: Option<u64>,
    ) -> (Option<u64>, Option<Inference>) {
        let Some(index) = by_key else { return (None, None) };
        let Some(call) = self.get(index) else {
            let is_new = part.id.is_some() || part.name.is_some();
            return (Some(index).filter(|_| !is_new), None);
        };
        let has_other_id = part.id.is_some() && call.id.is_some() && part.id != call.id.as_deref();
        let is_new = |name: &str| name != call.name && !call.name.is_empty();
        let has_new_name = call.is_whole()
            && part.name.is_some_and(|name| is_new(name) || !is_nothing(part.arguments));
        // Some servers make up an id for each fragment.
        let goes_on = part.name.is_none()
            && !call.name.is_empty()
            && (!call.is_whole() || is_nothing(part.arguments));
        if has_new_name || (has_other_id && !goes_on) {
            return (None, Some(REUSED_INDEX));
        }
        (Some(index), has_other_id.then_some(OTHER_ID))
    }

    /// Adds a new call and returns its index.
    #[inline]
    pub(super) fn add(&mut self, max_depth: usize) -> u64 {
        let index = self.count;
        let mut call = reused(&mut self.spare);
        call.begin(index, max_depth);
        self.open.push_back(call);
        self.count += 1;
        index
    }

    /// Returns the index of the call that a key is known for.
    #[inline]
    fn index_of(&self, key: Key) -> Option<u64> {
        match key {
            key if self.last == Some(key) => self.latest,
            Key::Text(_) => self.in_text.iter().find(|(known, _)| *known == key).map(|it| it.1),
            key => self.by_key.get(&key).copied(),
        }
    }

    /// Remembers how a fragment names its call.
    #[inline]
    pub(super) fn remember(&mut self, part: &CallPart<'_>, index: u64) {
        let is_known = self.last == Some(part.key) && self.latest == Some(index);
        self.latest = Some(index);
        if !is_known {
            self.last = self.keep_key(part.key, index).then_some(part.key);
            if let Some(key) = self.last
                && let Some(call) = self.get_mut(index).0.filter(|call| call.key == Key::None)
            {
                call.key = key;
            }
        }
        if let Some(id) = part.id {
            self.ids.add(id, index);
        }
    }

    /// Remembers the call of a key, if there is room; returns true if so.
    fn keep_key(&mut self, key: Key, index: u64) -> bool {
        match key {
            Key::None => return false,
            Key::Text(_) => match self.in_text.iter_mut().find(|(known, _)| *known == key) {
                Some(known) => known.1 = index,
                None => self.in_text.push((key, index)),
            },
            key if !self.has_room(key) => return false,
            key => {
                if let Some(other) = self.by_key.insert(key, index).filter(|&it| it != index) {
                    self.ended.remove(&other);
                }
            }
        }
        true
    }

    /// True if a key is remembered, or may be: in the place of one whose call has ended, if there
    /// are too many.
    fn has_room(&mut self, key: Key) -> bool {
        let is_room = self.by_key.len() < MAX_KEYS + self.open.len();
        if is_room || self.by_key.contains_key(&key) {
            return true;
        }
        let oldest = self.ended.pop_first();
        oldest.is_some_and(|(_, key)| self.by_key.remove(&key).is_some())
    }

    /// Returns a call that is open, and the ids of all.
    #[inline]
    pub(super) fn get_mut(&mut self, index: u64) -> (Option<&mut AssembledCall>, &CallIds) {
        let call = self.place(index).and_then(|place| self.open.get_mut(place));
        (call.map(Box::as_mut), &self.ids)
    }

    /// Returns the call that a result is of, if it is open and has none: the first one of its id, or
    /// without one the first of its tool that is held, or the first of all. The flag is false if the
    /// result may as well be of another one, which is left to run.
    pub(super) fn answered_by(
        &mut self,
        result: &ToolResult<'_>,
    ) -> Option<(&mut AssembledCall, bool)> {
        let (index, is_sure) = match is_no_id(result.id) {
            true => {
                let held = self.open.iter().map(Box::as_ref).filter(|call| call.is_held);
                let fits = |call: &AssembledCall| [result.name == Some(&*call.name)];
                let (call, is_sure) = oldest(held, fits, |call| call.executor().is_none())?;
                (call.index, is_sure)
            }
            false => {
                let is_open = |index: &&u64| self.get(**index).is_some_and(|it| !it.is_answered);
                (*self.ids.calls(result.id).iter().find(is_open)?, true)
            }
        };
        self.get_mut(index).0.map(|call| (call, is_sure))
    }

    /// Holds the call of a key until its result comes, or it is released.
    pub(super) fn hold(&mut self, key: Key) {
        if let Some(call) = self.index_of(key).and_then(|index| self.get_mut(index).0) {
            call.is_held = true;
        }
    }

    /// Returns the keys of the calls that are held.
    pub(super) fn held(&self) -> Vec<Key> {
        self.open.iter().filter(|call| call.is_held).map(|call| call.key).collect()
    }

    /// True if fragments of a call may come as one: nothing depends on them.
    pub(super) fn joins(&self, key: Key) -> bool {
        let call = self.index_of(key).and_then(|index| self.get(index));
        call.is_some_and(|call| call.is_free() || call.is_in_pieces())
    }

    /// Takes out the open calls of this key, or all of them without one.
    #[inline]
    pub(super) fn take(&mut self, key: Key) -> SmallVec<[Box<AssembledCall>; 1]> {
        match key {
            Key::None => self.open.drain(..).collect(),
            key => {
                let place = self.index_of(key).and_then(|index| self.place(index));
                let call = place.and_then(|place| self.open.remove(place));
                match key {
                    // Nothing more comes of a place in the text.
                    Key::Text(_) => self.in_text.retain(|(known, _)| *known != key),
                    _ => self.ended.extend(call.iter().map(|call| (call.index, key))),
                }
                call.into_iter().collect()
            }
        }
    }

    /// True if a key is that of the last call, and nothing has come for its arguments, or they may
    /// go on.
    pub(super) fn is_last_and_unsure(&self, key: Key) -> bool {
        let is_named = !matches!(key, Key::None | Key::Text(_));
        let call = self.index_of(key).and_then(|index| self.get(index));
        is_named && call.is_some_and(|call| self.is_last(call) && call.is_unsure())
    }

    /// Keeps the buffers of a call that was taken out.
    pub(super) fn keep(&mut self, call: Box<AssembledCall>) {
        self.spare = Some(call);
    }

    /// Returns a call that is open.
    #[inline]
    pub(super) fn get(&self, index: u64) -> Option<&AssembledCall> {
        self.open.get(self.place(index)?).map(Box::as_ref)
    }

    /// Returns the place of an open call among all of them.
    #[inline]
    fn place(&self, index: u64) -> Option<usize> {
        self.open.binary_search_by_key(&index, |call| call.index).ok()
    }

    /// True if no call came after this one.
    pub(super) fn is_last(&self, call: &AssembledCall) -> bool {
        call.index + 1 == self.count
    }

    /// Forgets the last call: it was text.
    pub(super) fn forget(&mut self, call: &AssembledCall) {
        self.count = call.index;
    }

    /// Marks open calls as ones that the message takes back.
    pub(super) fn withdraw_open(&mut self, which: Withdrawn<'_>) {
        self.open.iter_mut().filter(|call| call.is_of(which)).for_each(|call| call.withdraw());
    }

    /// Marks every open call from an index on as one that must not be run.
    pub(super) fn taint_from(&mut self, index: u64) {
        self.open.iter_mut().filter(|call| call.index >= index).for_each(|call| call.taint());
    }
}
