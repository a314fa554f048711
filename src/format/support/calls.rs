//! Calls that their provider knows by id, and the results that answer them.
//!
//! Formats that carry results as well as calls (agents' logs, applications'
//! streams, whole messages) share this. A call that is still in progress has no
//! result after it; one that was answered has a `tool_result` of its id.

use std::collections::{BTreeMap, BTreeSet};
use std::{io, mem};

use crate::event::{CallPart, Executor, Key, Kind, Loose, Reason, ToolResult, WarningCode};
use crate::format::support::emit::{Done, EventOut};

/// The most ids of calls that are remembered. The assembler's limit comes first, but for calls of
/// choices that it doesn't follow.
pub(crate) const MAX_IDS: usize = 1 << 14;

/// The calls of one choice of a message.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// The number of the choice.
    choice: u64,
    by_id: BTreeMap<String, KnownCall>,
    /// The numbers of the calls that have a place of their own.
    by_place: BTreeMap<u64, u64>,
    /// The numbers of the calls that have an id and are not whole.
    open: BTreeSet<u64>,
    /// The numbers of the calls that are held.
    held: BTreeSet<u64>,
    /// The ids of results that came before their calls.
    early: BTreeSet<String>,
    /// The ids of calls that are known to have failed, and whose results have not come.
    failed: BTreeSet<String>,
    /// The number of calls so far, which is the key of the next one.
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct KnownCall {
    number: u64,
    is_answered: bool,
}

impl Calls {
    /// Returns those of a choice that has none yet.
    pub(crate) fn of(choice: u64) -> Calls {
        Calls { choice, ..Calls::default() }
    }

    /// A fragment of the call that the part's id names: a new one if the id is
    /// new or missing, or if it comes with a name after the end of its call.
    pub(crate) fn fragment(&mut self, part: CallPart, out: &mut EventOut) -> io::Result<Key> {
        let part = self.place(part, out)?;
        out.call(self.choice, part)?;
        Ok(part.key)
    }

    /// A call that came complete.
    pub(crate) fn whole(&mut self, part: CallPart, out: &mut EventOut) -> Done {
        let key = self.fragment(part, out)?;
        self.end_key(key, out)
    }

    /// The call of this key has come to its end.
    pub(crate) fn end_key(&mut self, key: Key, out: &mut EventOut) -> Done {
        self.settle(key);
        out.call_end(self.choice, key)
    }

    /// The call of this key is neither open nor held.
    fn settle(&mut self, key: Key) {
        if let Key::Index(number) = key {
            self.open.remove(&number);
            self.held.remove(&number);
        }
    }

    /// A call must not be run: it ends, and if it has ended, it is taken back.
    pub(crate) fn fault(
        &mut self,
        part: CallPart,
        fault: (Reason, &str),
        out: &mut EventOut,
    ) -> Done {
        let known = part.id.and_then(|id| Some((id, self.whole_number(id)?)));
        let key = match known {
            Some((id, number)) if !self.held.contains(&number) => return out.withdraw_call(id),
            Some((_, number)) => Key::Index(number),
            None => self.fragment(part, out)?,
        };
        self.settle(key);
        out.call_fault(self.choice, key, fault.0, fault.1)
    }

    /// Returns the key of the call that is open, if only one is.
    pub(crate) fn only_open(&self) -> Option<Key> {
        let mut open = self.open.iter().copied();
        open.next().filter(|_| open.next().is_none()).map(Key::Index)
    }

    /// All calls have come to their end.
    pub(crate) fn end_all(&mut self, out: &mut EventOut) -> Done {
        self.open.clear();
        out.call_end(self.choice, Key::None)
    }

    /// The call at a place has come to its end.
    pub(crate) fn end_at(&mut self, place: u64, out: &mut EventOut) -> Done {
        self.at(place).map_or(Ok(()), |key| self.end_key(key, out))
    }

    /// Returns the key of the call at a place, if there is one.
    pub(crate) fn at(&self, place: u64) -> Option<Key> {
        self.by_place.get(&place).copied().map(Key::Index)
    }

    /// Notes the id of a call that another decoder reads: its result may come here.
    pub(crate) fn note(&mut self, id: &str) {
        let call = KnownCall { number: u64::MAX, is_answered: false };
        self.by_id.entry(id.to_owned()).or_insert(call);
    }

    /// True if there has been a call of this id.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// Returns the number of the call of this id, if that is whole.
    pub(crate) fn whole_number(&self, id: &str) -> Option<u64> {
        let number = self.by_id.get(id)?.number;
        (!self.open.contains(&number)).then_some(number)
    }

    /// The call of this id has come to its end.
    pub(crate) fn end(&mut self, id: &str, out: &mut EventOut) -> Done {
        self.key(id).map_or(Ok(()), |key| self.end_key(key, out))
    }

    /// The call of this key is whole, but who sent it may run it as well: it ends with its
    /// result, or when it is [released](Calls::release).
    pub(crate) fn hold(&mut self, key: Key, out: &mut EventOut) -> Done {
        if let Key::Index(number) = key {
            self.open.remove(&number);
            self.held.insert(number);
        }
        out.hold_call(self.choice, key)
    }

    /// The call of this id is whole, as in [`hold`](Calls::hold).
    pub(crate) fn hold_id(&mut self, id: &str, out: &mut EventOut) -> Done {
        self.key(id).map_or(Ok(()), |key| self.hold(key, out))
    }

    /// The calls that are whole and have no result are the caller's to run.
    pub(crate) fn release(&mut self, out: &mut EventOut) -> Done {
        match mem::take(&mut self.held).is_empty() {
            false => out.emit(self.choice, Kind::Loose(Loose::Released)),
            true => Ok(()),
        }
    }

    /// Returns the key of the latest call of this id.
    fn key(&self, id: &str) -> Option<Key> {
        Some(Key::Index(self.by_id.get(id)?.number))
    }

    /// True if the call of this id has its result.
    pub(crate) fn is_answered(&self, id: &str) -> bool {
        self.by_id.get(id).is_some_and(|call| call.is_answered)
    }

    /// The call of this id has failed: the result that is still to come is an error.
    pub(crate) fn fail(&mut self, id: &str) {
        if self.by_id.get(id).is_some_and(|call| !call.is_answered) {
            self.failed.insert(id.to_owned());
        }
    }

    /// A result: the call that it answers is whole. If there is none, that's said.
    pub(crate) fn result(&mut self, mut result: ToolResult, out: &mut EventOut) -> Done {
        if self.failed.remove(result.id) {
            result.is_error = Some(true);
        }
        match self.by_id.get_mut(result.id) {
            None if result.id.trim_ascii().is_empty() => {}
            None => {
                let message = "a result came for a call that is not in the message";
                out.warn(WarningCode::OrphanToolResult, message)?;
                self.early.insert(result.id.to_owned());
                out.check_limit(self.early.len(), MAX_IDS, "results of no call in one message")?;
            }
            Some(call) => {
                call.is_answered = true;
                let number = call.number;
                if self.open.contains(&number) {
                    let warning = "a call had its result before its end";
                    out.warn(WarningCode::MissingCallEnd, warning)?;
                    self.hold(Key::Index(number), out)?;
                }
                self.held.remove(&number);
            }
        }
        out.emit(self.choice, Kind::ToolResult(result))
    }

    /// Gives a fragment the key of its call, and returns true if it is not the first one. Where calls
    /// have a place, a known id or place is that of a known call; an id comes before a place.
    pub(crate) fn place_at<'a>(
        &mut self,
        place: Option<u64>,
        part: CallPart<'a>,
        out: &mut EventOut,
    ) -> io::Result<(CallPart<'a>, bool)> {
        let count = self.count;
        let Some(place) = place else {
            let part = self.place(part, out)?;
            return Ok((part, self.count == count));
        };
        let id = part.id.filter(|id| !id.trim_ascii().is_empty());
        let by_id = id.and_then(|id| self.by_id.get(id)).map(|call| call.number);
        let (part, number) = match by_id.or_else(|| self.by_place.get(&place).copied()) {
            Some(number) => {
                if let Some(id) = id.filter(|_| by_id.is_none()) {
                    self.by_id.insert(id.to_owned(), KnownCall { number, is_answered: false });
                }
                (CallPart { key: Key::Index(number), id, ..part }, number)
            }
            None => (self.place(part, out)?, count),
        };
        self.by_place.insert(place, number);
        let known = self.by_place.len() + self.by_id.len();
        out.check_limit(known, MAX_IDS, "places and ids of calls in one message")?;
        Ok((part, self.count == count))
    }

    /// Gives a fragment the key of its call.
    pub(crate) fn place<'a>(
        &mut self,
        part: CallPart<'a>,
        out: &mut EventOut,
    ) -> io::Result<CallPart<'a>> {
        let id = part.id.filter(|id| !id.trim_ascii().is_empty());
        if let Some(call) = id.and_then(|id| self.by_id.get(id))
            && (part.name.is_none() || self.open.contains(&call.number))
        {
            return Ok(CallPart { key: Key::Index(call.number), id, ..part });
        }
        let number = self.count;
        self.count += 1;
        // A call whose result has come needs not to be run.
        let ran = id.filter(|id| self.early.contains(*id)).map(|_| Executor::Agent);
        if let Some(id) = id {
            let call = KnownCall { number, is_answered: false };
            self.open.insert(number);
            self.by_id.insert(id.to_owned(), call);
            out.check_limit(self.by_id.len(), MAX_IDS, "ids of calls in one message")?;
        }
        Ok(CallPart { key: Key::Index(number), id, executor: part.executor.or(ran), ..part })
    }
}
