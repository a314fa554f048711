//! One message: its choices, their calls, and what its end is known to be.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::{io, mem};

use crate::assemble::call::Call;
use crate::assemble::errors::Failures;
use crate::assemble::owned::OwnedFinish;
use crate::assemble::{Out, is_of_choice};
use crate::event::{
    Arguments, CallEnd, CallPart, Code, Event, Failure, Finish, FinishReason, Key, Kind, Reason,
    TOO_MANY_CHOICES, Text, Usage, Warning, is_too_many,
};

/// How many types of unknown events are remembered.
const MOST_TYPES: usize = 256;

#[derive(Default)]
pub(super) struct Message {
    choices: BTreeMap<u64, Choice>,
    /// The last usage, with its raw text apart.
    pub(super) usage: Option<(Usage<'static>, String)>,
    pub(super) failures: Failures,
    /// Types of provider events that have been warned of.
    unknown: BTreeSet<String>,
    calls: usize,
}

#[derive(Default)]
struct Choice {
    /// Calls that are open, by their place in the order of appearance.
    open: BTreeMap<u64, Call>,
    /// How many calls there have been.
    count: u64,
    by_key: BTreeMap<Key, u64>,
    by_id: HashMap<String, u64>,
    latest: Option<u64>,
    /// What has been warned of, by call.
    inferred: BTreeSet<(u64, &'static str)>,
    finish: Option<OwnedFinish>,
    /// The calls that the caller has to run: no one else does, and no result
    /// has come.
    to_run: BTreeSet<u64>,
}

impl Message {
    pub(super) fn first_choice(&self) -> Option<u64> {
        self.choices.keys().next().copied()
    }

    /// Takes an event; tells whether nothing more can be read.
    pub(super) fn feed(&mut self, event: Event<'_>, out: &mut Out<'_, '_>) -> io::Result<bool> {
        if is_too_many(&self.choices, event.choice) && is_of_choice(&event.kind) {
            return self.error(TOO_MANY_CHOICES, out);
        }
        match event.kind {
            Kind::CallPart(part) => return self.part(&part, out),
            Kind::CallEnd(end) => self.call_end(end, out)?,
            Kind::Finish(finish) => self.choice(out).finish = Some(OwnedFinish::new(finish)),
            Kind::Usage(usage) => {
                let raw = usage.raw.to_owned();
                self.usage = Some((Usage { raw: "", ..usage }, raw));
            }
            Kind::Error(failure) => return self.error(failure, out),
            Kind::Warning(warning) => self.warning(warning, out)?,
            kind => {
                let state = self.choice(out);
                if let Kind::ToolResult(result) = &kind
                    && let Some(index) = state.by_id.get(result.id)
                {
                    state.to_run.remove(index);
                }
                out.pass(event)?;
            }
        }
        Ok(false)
    }

    /// Whether fragments of a call may come as one: nothing is said of them.
    pub(super) fn joins(&self, choice: u64, part: &CallPart<'_>) -> bool {
        let state = self.choices.get(&choice);
        state.is_some_and(|state| {
            state.by_key.get(&part.key).is_some_and(|index| state.open.contains_key(index))
        })
    }

    fn choice(&mut self, out: &Out<'_, '_>) -> &mut Choice {
        self.choices.entry(out.choice).or_default()
    }

    /// An unknown type of event is told once, as long as there are few of them.
    fn warning(&mut self, warning: Warning<'_>, out: &mut Out<'_, '_>) -> io::Result<()> {
        if warning.code == "unknown_event" {
            if self.unknown.contains(warning.message) {
                return Ok(());
            }
            if self.unknown.len() < MOST_TYPES {
                self.unknown.insert(warning.message.to_owned());
            }
        }
        out.emit(Kind::Warning(warning))
    }

    fn part(&mut self, part: &CallPart<'_>, out: &mut Out<'_, '_>) -> io::Result<bool> {
        let state = self.choices.entry(out.choice).or_default();
        let (found, inference) = state.find(part);
        let index = found.unwrap_or(state.count);
        if found.is_none() {
            let max = out.options.max_calls;
            if max != 0 && self.calls >= max {
                let message = format!("more tool calls than --max-calls {max}");
                return self.error(Failure::new(Code::Limit, &message, None), out);
            }
            self.calls += 1;
            state.add(out.options.max_depth);
        }
        state.note(part, index);
        if let Some((code, message)) =
            inference.filter(|(code, _)| state.inferred.insert((index, code)))
        {
            out.warn(code, message, Some(index))?;
        }
        if let Some(call) = state.open.get_mut(&index) {
            if call.is_corrected_by(part) {
                let message =
                    "the arguments were repeated at their end, but not as their fragments had them";
                out.warn("arguments_mismatch", message, Some(index))?;
            }
            call.feed(part, out)?;
        } else if !is_nothing(part.arguments) {
            let message = "a fragment came for a call that had been closed";
            out.warn("late_fragment", message, Some(index))?;
        }
        Ok(false)
    }

    fn call_end(&mut self, end: CallEnd<'_>, out: &mut Out<'_, '_>) -> io::Result<()> {
        let Some(state) = self.choices.get_mut(&out.choice) else { return Ok(()) };
        let closed: Vec<u64> = match end.key {
            Key::None => state.open.keys().copied().collect(),
            key => state.by_key.get(&key).copied().into_iter().collect(),
        };
        let is_cut = state.finish.as_ref().is_some_and(|finish| finish.finish_reason.is_cut());
        for index in closed {
            let is_last = index + 1 == state.count;
            let Some(mut call) = state.open.remove(&index) else { continue };
            match end.fault {
                Some((Reason::Malformed, text)) if is_last && call.may_be_text(out.options) => {
                    state.count = index;
                    out.emit(Kind::Text(Text { text, channel: None }))?;
                    continue;
                }
                Some((reason, raw)) => {
                    call.reject(reason, Some(raw), out)?;
                    continue;
                }
                None => {}
            }
            if is_cut && is_last && !call.has_arguments() {
                call.fault.get_or_insert(Reason::Truncated);
            }
            if call.close(out)? {
                state.to_run.insert(index);
            }
        }
        Ok(())
    }

    fn error(&mut self, failure: Failure<'_>, out: &mut Out<'_, '_>) -> io::Result<bool> {
        if failure.code == Code::Malformed {
            self.taint();
        }
        self.failures.feed(failure, out)
    }

    /// Some bytes could not be read: they may have belonged to any open call.
    fn taint(&mut self) {
        for call in self.choices.values_mut().flat_map(|choice| choice.open.values_mut()) {
            call.fault = Some(Reason::Malformed);
        }
    }

    /// The message is over: calls that were never closed are not to be run.
    pub(super) fn cut_open_calls(&mut self, out: &mut Out<'_, '_>) -> io::Result<()> {
        for (&choice, state) in &mut self.choices {
            for (_, mut call) in mem::take(&mut state.open) {
                call.fault.get_or_insert(Reason::Truncated);
                call.close(&mut out.of(choice))?;
            }
        }
        Ok(())
    }

    /// Whether a decoder has inferred at the end of the input that the message
    /// is over, and no byte is missing there.
    pub(super) fn is_over(&self) -> bool {
        let is_inferred =
            |choice: &Choice| choice.finish.as_ref().is_some_and(|finish| finish.inferred);
        !self.failures.is_cut()
            && !self.choices.is_empty()
            && self.choices.values().all(is_inferred)
    }

    /// Warns of choices whose finish reason speaks of calls that aren't there.
    pub(super) fn check_finish(&mut self, out: &mut Out<'_, '_>) -> io::Result<()> {
        for (&choice, state) in &self.choices {
            let reason = state.finish.as_ref().map(|finish| finish.finish_reason);
            if reason == Some(FinishReason::ToolCalls) && state.count == 0 {
                let message = "the finish reason speaks of tool calls, but there is none";
                out.of(choice).warn("finish_mismatch", message, None)?;
            }
        }
        Ok(())
    }

    /// The last lines of all choices but one.
    pub(super) fn finish_others(&mut self, main: u64, out: &mut Out<'_, '_>) -> io::Result<()> {
        let others: Vec<u64> =
            self.choices.keys().copied().filter(|&choice| choice != main).collect();
        others.into_iter().try_for_each(|choice| self.finish_choice(choice, out))
    }

    pub(super) fn finish_choice(&mut self, choice: u64, out: &mut Out<'_, '_>) -> io::Result<()> {
        let state = self.choices.remove(&choice).unwrap_or_default();
        let finish = state.finish.unwrap_or(OwnedFinish::INFERRED);
        let wants_tools = !state.to_run.is_empty();
        let finish_reason = match finish.finish_reason {
            FinishReason::Stop if wants_tools => FinishReason::ToolCalls,
            reason => reason,
        };
        out.of(choice).emit(Kind::Finish(Finish {
            finish_reason,
            raw: finish.raw.as_deref(),
            stop_sequence: finish.stop_sequence.as_deref(),
            inferred: finish.inferred,
            wants_tools,
        }))
    }
}

impl Choice {
    /// The call that a fragment belongs to, and what had to be inferred. First
    /// rule that applies: a known id; a known key; else a new call, or the
    /// latest if the fragment carries neither key, id nor name.
    #[allow(clippy::type_complexity)]
    fn find(&self, part: &CallPart<'_>) -> (Option<u64>, Option<(&'static str, &'static str)>) {
        let by_id = part.id.and_then(|id| self.by_id.get(id)).copied();
        if let Some(index) = by_id {
            let is_new = part.name.is_some() && !self.open.contains_key(&index);
            let repeated =
                ("repeated_id", "a second call came with the id of one that had been closed");
            return if is_new { (None, Some(repeated)) } else { (by_id, None) };
        }
        if part.key == Key::None {
            return match (part.id, part.name, self.latest) {
                (Some(_), ..) | (None, None, None) => (None, None),
                (None, Some(_), _) => (
                    None,
                    Some(("missing_index", "a call without id and index was taken as a new one")),
                ),
                (None, None, latest) => (
                    latest,
                    Some((
                        "missing_index",
                        "a fragment without id and index was added to the latest call",
                    )),
                ),
            };
        }
        let Some(&index) = self.by_key.get(&part.key) else { return (None, None) };
        let Some(call) = self.open.get(&index) else {
            let is_new = part.id.is_some() || part.name.is_some();
            return (Some(index).filter(|_| !is_new), None);
        };
        let is_other_id = part.id.is_some() && call.id.is_some();
        let is_new_name = call.is_whole()
            && part.name.is_some_and(|name| name != call.name || !is_nothing(part.arguments));
        if is_other_id || is_new_name {
            return (
                None,
                Some(("reused_index", "a second call came under the index of another one")),
            );
        }
        (Some(index), None)
    }

    fn add(&mut self, max_depth: usize) {
        self.open.insert(self.count, Call::new(self.count, max_depth));
        self.count += 1;
    }

    /// Remembers by what the call can be found again.
    fn note(&mut self, part: &CallPart<'_>, index: u64) {
        self.latest = Some(index);
        if part.key != Key::None {
            self.by_key.insert(part.key, index);
        }
        if let Some(id) = part.id {
            self.by_id.insert(id.to_owned(), index);
        }
    }
}

fn is_nothing(arguments: Arguments<'_>) -> bool {
    match arguments {
        Arguments::None | Arguments::Placeholder(_) => true,
        Arguments::Fragment(text) | Arguments::Free(text) => text.is_empty(),
        Arguments::Repaired(_) | Arguments::Value(_) | Arguments::Done(_) => false,
    }
}
