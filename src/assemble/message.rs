//! One message: its choices, their calls, and what its end is known to be.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

use super::call::{Call, Limits};
use super::{Options, OwnedFinish, warn};
use crate::event::{
    Arguments, CallEnd, CallPart, Code, Emit, Event, Failure, Finish, FinishReason, Key, Kind,
    Output, Reason, Usage, Warning,
};

pub(super) struct Message {
    choices: BTreeMap<u64, Choice>,
    /// The last usage, with its raw text apart.
    pub(super) usage: Option<(Usage<'static>, String)>,
    /// What the message will end with.
    error: Option<OwnedFailure>,
    /// The input ended inside a frame: an error, unless the message had ended.
    tail: Option<OwnedFailure>,
    /// The first warning, which is an error under `--strict`.
    warned: Option<String>,
    /// Types of provider events that have been warned of.
    unknown: BTreeSet<String>,
    calls: usize,
    limits: Limits,
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
    pub(super) fn new(limits: Limits) -> Self {
        Message {
            choices: BTreeMap::new(),
            usage: None,
            error: None,
            tail: None,
            warned: None,
            unknown: BTreeSet::new(),
            calls: 0,
            limits,
        }
    }

    pub(super) fn has(&self, choice: u64) -> bool {
        self.choices.contains_key(&choice)
    }

    pub(super) fn first_choice(&self) -> Option<u64> {
        self.choices.keys().next().copied()
    }

    /// Takes an event; tells whether nothing more can be read.
    pub(super) fn feed(
        &mut self,
        choice: u64,
        kind: Kind<'_>,
        options: &Options,
        emit: &mut Emit<'_>,
    ) -> io::Result<bool> {
        match kind {
            Kind::CallPart(part) => return self.part(choice, &part, options, emit),
            Kind::CallEnd(end) => self.call_end(choice, end, options, emit)?,
            Kind::Finish(finish) => self.finish(choice, finish),
            Kind::Usage(usage) => {
                let raw = usage.raw.to_owned();
                self.usage = Some((Usage { raw: "", ..usage }, raw));
            }
            Kind::Error(failure) => return self.error(failure, emit),
            Kind::Warning(warning) => self.warning(choice, warning, emit)?,
            kind => {
                let state = self.choices.entry(choice).or_default();
                if let Kind::ToolResult(result) = &kind
                    && let Some(index) = state.by_id.get(result.id)
                {
                    state.to_run.remove(index);
                }
                emit(Event { choice, kind })?;
            }
        }
        Ok(false)
    }

    fn warning(
        &mut self,
        choice: u64,
        warning: Warning<'_>,
        emit: &mut Emit<'_>,
    ) -> io::Result<()> {
        if warning.code == "unknown_event" && !self.unknown.insert(warning.message.to_owned()) {
            return Ok(());
        }
        self.warned.get_or_insert_with(|| warning.message.to_owned());
        emit(Event { choice, kind: Kind::Warning(warning) })
    }

    fn part(
        &mut self,
        choice: u64,
        part: &CallPart<'_>,
        options: &Options,
        emit: &mut Emit<'_>,
    ) -> io::Result<bool> {
        let state = self.choices.entry(choice).or_default();
        let (found, inference) = state.find(part);
        let index = found.unwrap_or(state.count);
        if found.is_none() {
            if options.max_calls != 0 && self.calls >= options.max_calls {
                let message = format!("more tool calls than --max-calls {}", options.max_calls);
                self.error = Some(OwnedFailure::new(Failure::new(Code::Limit, &message, None)));
                return Ok(true);
            }
            self.calls += 1;
            state.add(self.limits);
        }
        state.note(part, index);
        if let Some((code, message)) =
            inference.filter(|(code, _)| state.inferred.insert((index, code)))
        {
            self.warned.get_or_insert_with(|| message.to_owned());
            warn(code, message, Some(index), choice, emit)?;
        }
        if let Some(call) = state.open.get_mut(&index) {
            if call.is_corrected_by(part) {
                let message =
                    "the arguments were repeated at their end, but not as their fragments had them";
                self.warned.get_or_insert_with(|| message.to_owned());
                warn("arguments_mismatch", message, Some(index), choice, emit)?;
            }
            call.feed(choice, part, options.deltas, emit)?;
        } else if !is_nothing(part.arguments) {
            let message = "a fragment came for a call that had been closed";
            self.warned.get_or_insert_with(|| message.to_owned());
            warn("late_fragment", message, Some(index), choice, emit)?;
        }
        Ok(false)
    }

    fn call_end(
        &mut self,
        choice: u64,
        end: CallEnd<'_>,
        options: &Options,
        emit: &mut Emit<'_>,
    ) -> io::Result<()> {
        let Some(state) = self.choices.get_mut(&choice) else { return Ok(()) };
        let closed: Vec<u64> = match end.key {
            Key::None => state.open.keys().copied().collect(),
            key => state.by_key.get(&key).copied().into_iter().collect(),
        };
        let is_cut = state.finish.as_ref().is_some_and(|finish| finish.finish_reason.is_cut());
        for index in closed {
            let is_last = index + 1 == state.count;
            let Some(mut call) = state.open.remove(&index) else { continue };
            if let Some((reason, raw)) = end.fault {
                call.reject(choice, reason, Some(raw), emit)?;
                continue;
            }
            if is_cut && is_last && !call.has_arguments() {
                call.fault.get_or_insert(Reason::Truncated);
            }
            let deltas = options.deltas;
            if call.close(choice, options.tools.as_deref(), deltas, emit)? {
                state.to_run.insert(index);
            }
        }
        Ok(())
    }

    fn finish(&mut self, choice: u64, finish: Finish<'_>) {
        let state = self.choices.entry(choice).or_default();
        state.finish = Some(OwnedFinish::new(finish));
    }

    /// Notes what the message will end with. The first error counts, but a
    /// provider's words are worth more than a bare status.
    fn error(&mut self, failure: Failure<'_>, emit: &mut Emit<'_>) -> io::Result<bool> {
        if failure.code == Code::Malformed {
            self.taint();
            let (code, message) = ("malformed", failure.message);
            emit(
                Kind::Warning(Warning { code, message, offset: failure.offset, index: None })
                    .into(),
            )?;
        }
        if failure.code == Code::Truncated {
            self.tail = Some(OwnedFailure::new(failure));
            return Ok(false);
        }
        let is_final = matches!(failure.code, Code::Limit | Code::Unrecognised);
        match &mut self.error {
            Some(earlier) if earlier.code == Code::Provider && earlier.raw.is_none() => {
                earlier.complete(failure);
            }
            Some(earlier) if rank(earlier.code) >= rank(failure.code) => {}
            _ => self.error = Some(OwnedFailure::new(failure)),
        }
        Ok(is_final)
    }

    /// Some bytes could not be read: they may have belonged to any open call.
    fn taint(&mut self) {
        for call in self.choices.values_mut().flat_map(|choice| choice.open.values_mut()) {
            call.fault = Some(Reason::Malformed);
        }
    }

    /// The message is over: calls that were never closed are not to be run.
    pub(super) fn cut_open_calls(
        &mut self,
        options: &Options,
        emit: &mut Emit<'_>,
    ) -> io::Result<()> {
        for (&choice, state) in &mut self.choices {
            for (_, mut call) in std::mem::take(&mut state.open) {
                call.fault.get_or_insert(Reason::Truncated);
                call.close(choice, options.tools.as_deref(), options.deltas, emit)?;
            }
        }
        Ok(())
    }

    /// What the message ends with, if it doesn't end well. `cut` is why, if it
    /// has not come to its own end.
    pub(super) fn failure(
        &mut self,
        cut: Option<Failure<'_>>,
        strict: bool,
        emit: &mut Emit<'_>,
    ) -> io::Result<Option<OwnedFailure>> {
        let cut = match (self.tail.take(), cut) {
            (Some(tail), Some(_)) => Some(tail),
            (Some(tail), None) => {
                // The bytes that are missing were behind the message's end.
                let Failure { message, offset, .. } = tail.borrow();
                self.warned.get_or_insert_with(|| message.to_owned());
                emit(
                    Kind::Warning(Warning { code: "truncated", message, offset, index: None })
                        .into(),
                )?;
                None
            }
            (None, cut) => cut.map(OwnedFailure::new),
        };
        let failure = match (self.error.take(), cut) {
            (Some(own), Some(cut)) if rank(cut.code) > rank(own.code) => Some(cut),
            (own, cut) => own.or(cut),
        };
        Ok(match (failure, &self.warned) {
            (None, Some(warning)) if strict => {
                let message = format!("--strict: {warning}");
                Some(OwnedFailure::new(Failure::new(Code::Malformed, &message, None)))
            }
            (failure, _) => failure,
        })
    }

    /// Whether a decoder has inferred at the end of the input that the message
    /// is over, and no byte is missing there.
    pub(super) fn is_over(&self) -> bool {
        let is_inferred =
            |choice: &Choice| choice.finish.as_ref().is_some_and(|finish| finish.inferred);
        self.tail.is_none() && !self.choices.is_empty() && self.choices.values().all(is_inferred)
    }

    /// Whether something has been said to have gone wrong.
    pub(super) fn has_error(&self) -> bool {
        self.error.is_some()
    }

    /// Warns of choices whose finish reason speaks of calls that aren't there.
    pub(super) fn check_finish(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        for (&choice, state) in &self.choices {
            let reason = state.finish.as_ref().map(|finish| finish.finish_reason);
            if reason == Some(FinishReason::ToolCalls) && state.count == 0 {
                let message = "the finish reason speaks of tool calls, but there is none";
                warn("finish_mismatch", message, None, choice, emit)?;
            }
        }
        Ok(())
    }

    /// The last lines of all choices but one.
    pub(super) fn finish_others(&mut self, main: u64, emit: &mut Emit<'_>) -> io::Result<()> {
        let others: Vec<u64> =
            self.choices.keys().copied().filter(|&choice| choice != main).collect();
        others.into_iter().try_for_each(|choice| self.finish_choice(choice, emit))
    }

    pub(super) fn finish_choice(&mut self, choice: u64, emit: &mut Emit<'_>) -> io::Result<()> {
        let state = self.choices.remove(&choice).unwrap_or_default();
        let inferred = OwnedFinish {
            finish_reason: FinishReason::Stop,
            raw: None,
            stop_sequence: None,
            inferred: true,
        };
        let finish = state.finish.unwrap_or(inferred);
        let wants_tools = !state.to_run.is_empty();
        let finish_reason = match finish.finish_reason {
            FinishReason::Stop if wants_tools => FinishReason::ToolCalls,
            reason => reason,
        };
        let kind = Kind::Finish(Finish {
            finish_reason,
            raw: finish.raw.as_deref(),
            stop_sequence: finish.stop_sequence.as_deref(),
            inferred: finish.inferred,
            wants_tools,
        });
        emit(Event { choice, kind })
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

    fn add(&mut self, limits: Limits) {
        self.open.insert(self.count, Call::new(self.count, limits));
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

/// Which of two errors a message ends with.
fn rank(code: Code) -> u8 {
    match code {
        Code::Limit => 5,
        Code::Interrupted => 4,
        Code::Provider => 3,
        Code::Truncated => 2,
        Code::Malformed | Code::Unrecognised => 1,
    }
}

/// A [`Failure`] that is kept until the message ends.
#[derive(Clone, Debug)]
pub(super) struct OwnedFailure {
    pub(super) code: Code,
    message: String,
    offset: Option<u64>,
    provider_code: Option<String>,
    retryable: Option<bool>,
    raw: Option<(bool, String)>,
}

impl OwnedFailure {
    pub(super) fn new(failure: Failure<'_>) -> Self {
        OwnedFailure {
            code: failure.code,
            message: failure.message.to_owned(),
            offset: failure.offset,
            provider_code: failure.provider_code.map(str::to_owned),
            retryable: failure.retryable,
            raw: failure.raw.map(|raw| match raw {
                Output::Text(text) => (false, text.to_owned()),
                Output::Json(json) => (true, json.to_owned()),
            }),
        }
    }

    /// Adds the provider's words to a bare status.
    fn complete(&mut self, failure: Failure<'_>) {
        if failure.code != Code::Provider {
            return;
        }
        let later = OwnedFailure::new(failure);
        self.message = later.message;
        self.raw = later.raw;
        self.retryable = later.retryable.or(self.retryable);
        self.provider_code = later.provider_code.or(self.provider_code.take());
    }

    pub(super) fn borrow(&self) -> Failure<'_> {
        Failure {
            code: self.code,
            message: &self.message,
            offset: self.offset,
            provider_code: self.provider_code.as_deref(),
            retryable: self.retryable,
            raw: self.raw.as_ref().map(|(is_json, text)| match is_json {
                true => Output::Json(text),
                false => Output::Text(text),
            }),
        }
    }
}
