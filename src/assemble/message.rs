//! One message: its choices, their calls, and how it will end.

use std::collections::{BTreeSet, HashSet};
use std::io;

use crate::assemble::call::{AssembledCall, is_nothing, is_nothing_more};
use crate::assemble::calls::AssembledCalls;
use crate::assemble::context::{ChoiceOut, Inference, reused};
use crate::assemble::failures::Failures;
use crate::assemble::waiting::Waiting;
use crate::event::owned::Owned;
use crate::event::{
    ByChoice, CallEnd, CallPart, Code, Done, Event, Executor, Failure, Finish, FinishReason, Key,
    Kind, Loose, Native, Of, Reason, TOO_MANY_CHOICES, Text, ToolResult, Usage, Warning,
    WarningCode, Withdrawn, is_no_id,
};

/// The number of types of unknown events that are remembered.
const MAX_TYPES: usize = 256;

/// The number of open calls without a name up to which it is asked what they hold.
const MAX_NAMELESS: usize = 64;

const ARGUMENTS_MISMATCH: Inference = (
    WarningCode::ArgumentsMismatch,
    "the arguments were repeated at their end, but not as their fragments had them",
);
const LATE_FRAGMENT: Inference =
    (WarningCode::LateFragment, "a fragment came for a call that had been closed");
const ORPHAN_RESULT: Inference =
    (WarningCode::OrphanToolResult, "a result came that names no call, and none waits for one");
const NAMELESS_RESULT: Inference = (
    WarningCode::MissingIndex,
    "a result names no call, and several wait for one: it was taken to be the oldest one's",
);
const NO_CHOICE: Inference =
    (WarningCode::NoFinishReason, "nothing came of the choice that --choice follows");
const EMPTY_ANSWER: Inference =
    (WarningCode::EmptyAnswer, "the message ended well, and holds nothing");
const FINISH_CHANGED: Inference =
    (WarningCode::FinishChanged, "a finish reason came after another one: the worse one counts");
const FINISH_MISMATCH: Inference =
    (WarningCode::FinishMismatch, "the finish reason speaks of tool calls, but there is none");

#[derive(Default)]
pub(super) struct OpenMessage {
    choices: ByChoice<Box<ChoiceState>>,
    /// The buffers for the next choice.
    spare: Option<Box<ChoiceState>>,
    /// The last usage.
    pub(super) usage: Owned<Option<Usage<'static>>>,
    pub(super) failures: Failures,
    /// Types of provider events that have been warned of.
    unknown: BTreeSet<String>,
    /// The number of calls so far, in all choices.
    count: usize,
    /// The open calls that have no name: their choices and indexes.
    nameless: BTreeSet<(u64, u64)>,
    /// True if something was lost before a choice had finished: no call without arguments is
    /// known to have none.
    is_lossy: bool,
    /// The choice and the key of a call that has ended without whole arguments: a finish reason may
    /// say that it was cut before their end.
    postponed: Option<(u64, Key)>,
    /// True if something came of choices that nobody asked for.
    pub(super) has_others: bool,
}

#[derive(Default)]
struct ChoiceState {
    calls: AssembledCalls,
    /// The warnings about each call that have been emitted.
    warned: BTreeSet<(u64, WarningCode)>,
    finish: Owned<Option<Finish<'static>>>,
    /// The number of calls when it finished; 0 before.
    finished: u64,
    waiting: Waiting,
    /// True if anything came that is a part of the answer.
    holds: bool,
}

impl OpenMessage {
    /// Begins anew; keeps buffers.
    pub(super) fn clear(&mut self) {
        let OpenMessage {
            choices,
            spare,
            usage,
            failures,
            unknown,
            count,
            nameless,
            is_lossy,
            postponed,
            has_others,
        } = self;
        (*postponed, *has_others) = (None, false);
        if let Some(state) = choices.take_first() {
            spare.insert(state).clear();
        }
        choices.clear();
        usage.set(None::<Usage<'_>>);
        *failures = Failures::default();
        unknown.clear();
        *count = 0;
        nameless.clear();
        *is_lossy = false;
    }

    pub(super) fn first_choice(&self) -> Option<u64> {
        self.choices.choices().next()
    }

    /// Takes an event; returns true if nothing more can be read.
    pub(super) fn feed(
        &mut self,
        event: &Event<'_>,
        out: &mut ChoiceOut<'_, '_>,
    ) -> io::Result<bool> {
        if self.choices.is_too_many(event.choice) && event.kind.is_of_choice() {
            return self.error(TOO_MANY_CHOICES, out);
        }
        if self.postponed.is_some_and(|(choice, _)| choice == event.choice)
            && event.kind.is_of_choice()
        {
            self.end_postponed(&event.kind, out)?;
        }
        match event.kind {
            Kind::Loose(Loose::CallPart(ref part)) => match part.id {
                Some(id) if is_no_id(id) => self.call_part(&CallPart { id: None, ..*part }, out),
                _ => self.call_part(part, out),
            },
            Kind::Loose(Loose::CallEnd(end)) if self.postpones(&end, out.choice) => {
                self.postponed = Some((out.choice, end.key));
                Ok(false)
            }
            Kind::Loose(Loose::CallEnd(end)) => self.call_end(end, false, out).map(|()| false),
            Kind::Loose(
                Loose::CallHeld(_) | Loose::Released | Loose::Lost | Loose::Withdrawn(_),
            )
            | Kind::Finish(_)
            | Kind::Usage(_)
            | Kind::Error(_)
            | Kind::Warning(_)
            | Kind::ToolResult(_)
            | Kind::ProviderEvent(_)
            | Kind::Prompt(_)
            | Kind::Turn(_) => self.feed_rare(event, out),
            Kind::Loose(Loose::Native(_)) => out.pass(event).map(|()| false),
            _ => {
                self.choice(out).holds |= !event.kind.text().is_some_and(str::is_empty);
                out.pass(event).map(|()| false)
            }
        }
    }

    /// Takes an event that few records have, as [`Self::feed`] does.
    #[cold]
    fn feed_rare(&mut self, event: &Event<'_>, out: &mut ChoiceOut<'_, '_>) -> io::Result<bool> {
        match event.kind {
            Kind::Loose(Loose::CallHeld(key)) => self.choice(out).calls.hold(key),
            Kind::Loose(Loose::Released) => self.release(out)?,
            Kind::Loose(Loose::Lost) => self.taint(),
            Kind::Loose(Loose::Withdrawn(which)) => self.choice(out).withdraw(which, out)?,
            Kind::Finish(finish) => {
                let state = self.choice(out);
                let before = state.finish.get().map(|before| before.finish_reason);
                // A reason against what the model wrote is never taken back.
                let severity = FinishReason::severity;
                if before.is_none_or(|it| severity(it) <= severity(finish.finish_reason)) {
                    state.finish.set(Some(finish));
                }
                state.finished = state.calls.count();
                if before.is_some_and(|before| before != finish.finish_reason) {
                    out.warn(FINISH_CHANGED, None)?;
                }
            }
            Kind::Usage(usage) => self.usage.set(Some(usage)),
            Kind::Error(failure) => return self.error(failure, out),
            Kind::Warning(warning) => self.warning(warning, out)?,
            Kind::ToolResult(result) => self.answer(result, out)?,
            Kind::ProviderEvent(_) | Kind::Prompt(_) => out.pass(event)?,
            // A turn: only messages of a log have some, and this is what came between two of them.
            _ => {}
        }
        Ok(false)
    }

    /// True if fragments of a call may come as one: nothing is emitted for them.
    pub(super) fn joins(&self, choice: u64, part: &CallPart<'_>) -> bool {
        let state = self.choices.get(choice).filter(|state| state.finish.get().is_none());
        state.is_some_and(|state| state.calls.joins(part.key))
    }

    fn choice(&mut self, out: &ChoiceOut<'_, '_>) -> &mut ChoiceState {
        self.choices.or_insert_with(out.choice, || reused(&mut self.spare))
    }

    /// Emits a warning; that of an unknown type of event, of an unknown member or of lines of another
    /// program once, as long as there are few of them.
    fn warning(&mut self, warning: Warning<'_>, out: &mut ChoiceOut<'_, '_>) -> Done {
        let is_said_once = matches!(
            warning.code,
            WarningCode::UnknownEvent | WarningCode::UnknownField | WarningCode::LeadingText
        );
        if is_said_once {
            if self.unknown.contains(warning.message) {
                return Ok(());
            }
            if self.unknown.len() < MAX_TYPES {
                self.unknown.insert(warning.message.to_owned());
            }
        }
        out.emit(Kind::Warning(warning))
    }

    fn call_part(&mut self, part: &CallPart<'_>, out: &mut ChoiceOut<'_, '_>) -> io::Result<bool> {
        let state = self.choices.or_insert_with(out.choice, || reused(&mut self.spare));
        let index = match state.calls.next(part) {
            Some(index) => index,
            None => {
                let (found, inference) = state.calls.find(part);
                let max = out.config().max_calls;
                if found.is_none() && max != 0 && self.count >= max {
                    return self.too_many_calls(max, out);
                }
                self.count += usize::from(found.is_none());
                let is_nameless = found.is_none() && part.name.is_none();
                let is_again = found.is_none() && state.calls.repeats_beginning(part);
                let index = found.unwrap_or_else(|| state.calls.add(out.config().max_depth));
                if let (true, (Some(call), _)) = (is_again, state.calls.get_mut(index)) {
                    call.need_arguments();
                }
                state.calls.remember(part, index);
                if let Some(inference) = inference {
                    state.infer(inference, index, out)?;
                }
                if is_nameless || !self.nameless.is_empty() {
                    note_name(&mut self.nameless, part, is_nameless, (out.choice, index));
                }
                index
            }
        };
        let has_finished = index < state.finished;
        match state.calls.get_mut(index) {
            (Some(call), ids) if !(has_finished && call.is_complete()) => {
                if call.is_corrected_by(part) {
                    out.warn(ARGUMENTS_MISMATCH, Some(index))?;
                }
                call.feed(part, ids, out)?;
                if let Some(piece) = part.native {
                    let native = Native { of: Of::Call(index), piece };
                    out.pass(&Event::new(out.choice, Kind::Loose(Loose::Native(native))))?;
                }
            }
            (call, _) => {
                if let Some(call) = call {
                    call.add_executor(part.executor);
                    call.contradict(part.arguments);
                }
                if !is_nothing(part.arguments) {
                    out.warn(LATE_FRAGMENT, Some(index))?;
                }
                if !is_nothing_more(part.arguments) {
                    state.waiting.withdraw_bare(Some(index), out)?;
                }
            }
        }
        Ok(false)
    }

    #[cold]
    fn too_many_calls(&mut self, max: usize, out: &mut ChoiceOut<'_, '_>) -> io::Result<bool> {
        let message = format!("more tool calls than --max-calls {max}");
        self.error(Failure::new(Code::Limit, &message, None), out)
    }

    /// Ends calls of a choice. Before its finish reason, `goes_on` tells that more of it has come.
    fn call_end(&mut self, end: CallEnd<'_>, goes_on: bool, out: &mut ChoiceOut<'_, '_>) -> Done {
        let finish = self.choices.get(out.choice).and_then(|state| state.finish.get());
        let is_done = finish.map_or(goes_on, is_end_of_calls);
        self.end_calls(end, finish.map(|finish| finish.finish_reason), is_done, out)
    }

    /// The calls that are held are the caller's to run.
    fn release(&mut self, out: &mut ChoiceOut<'_, '_>) -> Done {
        let held = self.choices.get(out.choice).map(|state| state.calls.held());
        held.into_iter().flatten().try_for_each(|key| {
            let end = Kind::Loose(Loose::CallEnd(CallEnd { key, fault: None }));
            self.feed(&Event::new(out.choice, end), out).map(drop)
        })
    }

    /// Emits a result: its call needs not to be run, and ends if it was held for that.
    fn answer(&mut self, result: ToolResult<'_>, out: &mut ChoiceOut<'_, '_>) -> Done {
        let state = self.choice(out);
        state.holds = true;
        let waits = !is_no_id(result.id) && state.waiting.has(result.id);
        let open = state.calls.answered_by(&result).filter(|(call, _)| call.is_held || !waits);
        let mut held = None;
        if let Some((call, is_sure)) = open {
            call.add_executor(result.executor.or(Some(Executor::Agent)));
            if !call.is_held {
                call.is_answered = true;
                let executor = call.executor();
                return out.emit(Kind::ToolResult(ToolResult { executor, ..result }));
            }
            let end = CallEnd { key: call.key, fault: None };
            held = Some((call.index, is_sure));
            self.call_end(end, true, out)?;
        }
        let state = self.choice(out);
        let call = state.waiting.answer(&result, held);
        match &call {
            None if is_no_id(result.id) => out.warn(ORPHAN_RESULT, None)?,
            Some(call) if !call.is_sure => out.warn(NAMELESS_RESULT, None)?,
            None | Some(_) => {}
        }
        let id = call.as_ref().map_or(result.id, |call| call.id);
        // A call that is answered in its own message was run on the way.
        let ran = call.as_ref().map(|call| call.executor.unwrap_or(Executor::Agent));
        let executor = result.executor.or(ran);
        out.emit(Kind::ToolResult(ToolResult { id, executor, ..result }))
    }

    /// Ends calls of a choice that has come to this end, if to any: the last one may be cut, all may
    /// be taken back. `is_done` is true if the model is known to have ended the last one itself.
    fn end_calls(
        &mut self,
        end: CallEnd<'_>,
        finish: Option<FinishReason>,
        is_done: bool,
        out: &mut ChoiceOut<'_, '_>,
    ) -> Done {
        let is_cut = finish.is_some_and(FinishReason::is_cut);
        // Where nothing but the end of the choice closes them, only a reason that says so does.
        let is_other = |reason: FinishReason| !reason.closes_calls();
        let closes_none = end.key == Key::None && finish.is_some_and(is_other);
        let is_withdrawn = finish.is_some_and(FinishReason::withdraws);
        let Some(state) = self.choices.get_mut(out.choice) else { return Ok(()) };
        let mut calls = state.calls.take(end.key);
        for call in &mut calls {
            call.take_once(&state.calls.ids, out)?;
        }
        self.taint_robbed(&mut calls, out.choice);
        let Some(state) = self.choices.get_mut(out.choice) else { return Ok(()) };
        for mut call in calls {
            let is_last = state.calls.is_last(&call);
            match end.fault {
                Some((Reason::Malformed, text)) if is_last && call.may_be_text(out.config()) => {
                    state.calls.forget(&call);
                    out.emit(Kind::Text(Text::new(text)))?;
                }
                Some((reason, raw)) => call.reject(reason, Some(raw), out)?,
                None => {
                    if is_withdrawn {
                        call.withdraw();
                    }
                    if (is_cut || closes_none) && is_last && call.is_of_any_length()
                        || closes_none && call.is_bare()
                    {
                        call.cut();
                    }
                    if is_done || end.key != Key::None && !is_last {
                        call.end_by_model();
                    }
                    call.close(&mut state.calls.ids, &mut state.waiting, out)?;
                }
            }
            state.end_stray(&call, out)?;
            state.calls.keep(call);
        }
        Ok(())
    }

    /// True if it is not known yet whether a call was cut in its arguments: it is the last one, has
    /// none or such as may go on, and no finish reason has come. Markup that is closed shows that it
    /// is whole.
    fn postpones(&self, end: &CallEnd<'_>, choice: u64) -> bool {
        let state = self.choices.get(choice).filter(|state| state.finish.get().is_none());
        state.is_some_and(|state| end.fault.is_none() && state.calls.is_last_and_unsure(end.key))
    }

    /// Ends a call that was postponed: at a finish reason, which may say that it was cut, before
    /// anything else of its choice, or at the end of the message.
    pub(super) fn end_postponed(&mut self, next: &Kind<'_>, out: &mut ChoiceOut<'_, '_>) -> Done {
        let Some((choice, key)) = self.postponed.take() else { return Ok(()) };
        let (finish, is_done) = match next {
            Kind::Finish(finish) => (Some(finish.finish_reason), is_end_of_calls(*finish)),
            // It is open when it is taken back.
            Kind::Loose(Loose::Withdrawn(Withdrawn::All | Withdrawn::OfText)) => return Ok(()),
            Kind::Loose(Loose::End) | Kind::Error(_) => (None, false),
            // The message goes on after it.
            _ => (None, true),
        };
        self.end_calls(CallEnd { key, fault: None }, finish, is_done, &mut out.of(choice))
    }

    fn error(&mut self, failure: Failure<'_>, out: &mut ChoiceOut<'_, '_>) -> io::Result<bool> {
        if failure.code == Code::Malformed {
            self.taint();
        }
        self.failures.feed(failure, out)
    }

    /// Marks calls that end as ones that must not be run where arguments went astray: those that
    /// have none, and if it was only a piece of some, all of them. Where several calls end at once,
    /// arguments that are not whole may be those of a call of the same name that has none: some
    /// servers name and identify each fragment.
    fn taint_robbed(&mut self, calls: &mut [Box<AssembledCall>], choice: u64) {
        let (mut is_any, mut is_torn) = (self.is_lossy, self.nameless.len() > MAX_NAMELESS);
        if !self.nameless.is_empty() {
            let ending = calls.iter().map(|call| (choice, &**call));
            let open = self.nameless.iter().take(MAX_NAMELESS).filter_map(|&(choice, index)| {
                Some((choice, self.choices.get(choice)?.calls.get(index)?))
            });
            for (choice, stray) in ending.chain(open).filter(|(_, call)| call.is_stray()) {
                // What comes after the end of a choice takes no call back.
                let state = self.choices.get(choice).filter(|state| state.finish.get().is_some());
                if state.is_none_or(|state| stray.index < state.finished) {
                    is_any = true;
                    is_torn |= !stray.is_object();
                }
            }
            for call in calls.iter() {
                self.nameless.remove(&(choice, call.index));
            }
            // A call that is robbed may end after the stray.
            self.is_lossy |= is_any;
        }
        if is_any || is_torn || calls.iter().any(|call| call.is_broken()) {
            taint_bare(calls, is_any, is_torn);
        }
    }

    /// Marks every open call as one that must not be run: what could not be read may have been a
    /// part of it, unless its choice had finished.
    fn taint(&mut self) {
        self.is_lossy |= self.choices.values().all(|state| state.finish.get().is_none());
        self.choices.iter_mut().for_each(|(_, state)| state.calls.taint_from(state.finished));
    }

    /// Ends the calls that were never closed, or were taken back at the end of their choice: they
    /// must not be run.
    pub(super) fn cut_open_calls(&mut self, out: &mut ChoiceOut<'_, '_>) -> Done {
        for (choice, state) in self.choices.iter_mut() {
            if state.finish.get().is_some_and(|finish| finish.finish_reason.withdraws()) {
                state.withdraw(Withdrawn::All, &mut out.of(choice))?;
            }
            for mut call in state.calls.take(Key::None) {
                let out = &mut out.of(choice);
                call.cut();
                call.close(&mut state.calls.ids, &mut state.waiting, out)?;
                state.end_stray(&call, out)?;
            }
        }
        Ok(())
    }

    /// True if a decoder has inferred at the end of the input that the message
    /// is over, and no byte is missing there.
    pub(super) fn is_over(&self) -> bool {
        let is_inferred =
            |state: &ChoiceState| state.finish.get().is_some_and(|finish| finish.inferred);
        !self.failures.is_cut()
            && !self.choices.is_empty()
            && self.choices.values().all(|state| is_inferred(state))
    }

    /// True for a choice that was asked for and of which nothing came.
    fn is_missing(&self, choice: u64) -> bool {
        !self.choices.contains(choice) && (choice > 0 || self.has_others)
    }

    /// Warns of choices whose finish reason is calls, but that have none, and of one that was asked
    /// for and never came.
    pub(super) fn check_finish(&mut self, out: &mut ChoiceOut<'_, '_>) -> Done {
        if let Some(choice) = out.config().choice.filter(|choice| self.is_missing(*choice)) {
            out.of(choice).warn(NO_CHOICE, None)?;
        }
        if out.config().choice.is_none() && self.choices.iter().next().is_none() {
            out.warn(EMPTY_ANSWER, None)?;
        }
        for (choice, state) in self.choices.iter() {
            let reason = state.finish.get().map(|finish| finish.finish_reason);
            if reason == Some(FinishReason::ToolCalls) && state.calls.count() == 0 {
                out.of(choice).warn(FINISH_MISMATCH, None)?;
            }
            let is_empty = !state.holds && state.calls.count() == 0;
            if is_empty && reason.is_some_and(FinishReason::closes_calls) {
                out.of(choice).warn(EMPTY_ANSWER, None)?;
            }
        }
        Ok(())
    }

    /// Emits the last lines of all choices but one.
    pub(super) fn finish_others(&mut self, main: u64, out: &mut ChoiceOut<'_, '_>) -> Done {
        let others: Vec<u64> = self.choices.choices().filter(|&choice| choice != main).collect();
        others.into_iter().try_for_each(|choice| self.finish_choice(choice, out))
    }

    /// Emits the last line of a choice.
    pub(super) fn finish_choice(&mut self, choice: u64, out: &mut ChoiceOut<'_, '_>) -> Done {
        let mut out = out.of(choice);
        let reason = if self.is_missing(choice) { FinishReason::Other } else { FinishReason::Stop };
        let state = self.choice(&out);
        let inferred = Finish { inferred: true, ..Finish::new(reason) };
        let finish = state.finish.get().unwrap_or(inferred);
        let wants_tools = state.waiting.is_for_caller();
        let finish_reason = match finish.finish_reason {
            FinishReason::Stop if wants_tools => FinishReason::ToolCalls,
            reason => reason,
        };
        out.emit(Kind::Finish(Finish { finish_reason, wants_tools, ..finish }))
    }
}

impl ChoiceState {
    /// Begins anew; keeps buffers.
    fn clear(&mut self) {
        let ChoiceState { calls, warned, finish, finished, waiting, holds } = self;
        *holds = false;
        calls.clear();
        warned.clear();
        finish.set(None::<Finish<'_>>);
        *finished = 0;
        waiting.clear();
    }

    /// Takes back the calls so far that the caller has to run.
    #[cold]
    fn withdraw(&mut self, which: Withdrawn<'_>, out: &mut ChoiceOut<'_, '_>) -> Done {
        self.calls.withdraw_open(which);
        self.waiting.withdraw(which, out)
    }

    /// Takes back the calls without arguments if this one, which has ended, may be theirs. What comes
    /// after the end of a choice takes no call back.
    fn end_stray(&mut self, call: &AssembledCall, out: &mut ChoiceOut<'_, '_>) -> Done {
        let is_late = self.finish.get().is_some() && call.index >= self.finished;
        if call.is_stray() && !is_late { self.waiting.withdraw_bare(None, out) } else { Ok(()) }
    }

    /// Warns of what was inferred about a call, once for each call.
    #[cold]
    fn infer(&mut self, inference: Inference, index: u64, out: &mut ChoiceOut<'_, '_>) -> Done {
        if self.warned.insert((index, inference.0)) {
            out.warn(inference, Some(index))?;
        }
        Ok(())
    }
}

/// True if the provider says that the model was done, with its calls as well.
fn is_end_of_calls(finish: Finish<'_>) -> bool {
    !finish.inferred && finish.finish_reason.closes_calls()
}

/// Notes that a call has no name, or has one now.
#[cold]
fn note_name(
    nameless: &mut BTreeSet<(u64, u64)>,
    part: &CallPart<'_>,
    is_nameless: bool,
    call: (u64, u64),
) {
    if is_nameless {
        nameless.insert(call);
    } else if part.name.is_some() {
        nameless.remove(&call);
    }
}

/// Marks those of the calls that end at once whose arguments may have gone astray: if `is_any`,
/// those that have none; if `is_torn`, all; and those of which another one of their name has
/// arguments that are not whole.
#[cold]
fn taint_bare(calls: &mut [Box<AssembledCall>], is_any: bool, is_torn: bool) {
    let broken = calls.iter().filter(|call| call.is_broken());
    let broken: HashSet<String> = broken.map(|call| call.name.clone()).collect();
    let may_lack = |call: &&mut Box<AssembledCall>| {
        let is_robbed = is_any || broken.contains(&call.name);
        !call.is_stray() && (is_torn || is_robbed && call.is_bare())
    };
    calls.iter_mut().filter(may_lack).for_each(|call| call.taint());
}
