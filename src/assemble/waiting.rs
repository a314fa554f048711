//! The calls that were emitted and have no result.

use std::ops::Range;

use crate::assemble::context::{ChoiceOut, Inference, MAX_KEPT};
use crate::cut::Cut as _;
use crate::event::{
    Done, Executor, InvalidToolCall, Kind, Reason, ToolCall, ToolResult, WarningCode, Withdrawn,
    is_no_id,
};

const CONTRADICTED: Inference = (
    WarningCode::ArgumentsMismatch,
    "a call that had ended came again, and not as it was: it is taken back",
);

/// The calls that were emitted and have no result, in their order.
#[derive(Default)]
pub(super) struct Waiting {
    calls: Vec<WaitingCall>,
    /// Their ids, names and sources, one after another.
    texts: String,
}

/// A call that was emitted and has no result.
struct WaitingCall {
    index: u64,
    id: Range<usize>,
    name: Range<usize>,
    /// The dialect, if it was found in text.
    source: Option<Range<usize>>,
    /// The executor, if not the caller.
    executor: Option<Executor>,
    /// True if it has no arguments.
    is_bare: bool,
}

impl Waiting {
    /// Forgets all, and keeps small buffers.
    pub(super) fn clear(&mut self) {
        self.calls.clear();
        self.texts.clear();
        self.calls.shrink_to(MAX_KEPT / size_of::<WaitingCall>());
        self.texts.shrink_to(MAX_KEPT);
    }

    /// Adds a call; `is_bare` is true if it has no arguments.
    pub(super) fn add(&mut self, call: &ToolCall<'_>, is_bare: bool) {
        if self.calls.is_empty() {
            self.texts.clear();
        }
        let mut push = |text: &str| {
            let begin = self.texts.len();
            self.texts.push_str(text);
            begin..self.texts.len()
        };
        let (id, name, source) = (push(call.id), push(call.name), call.source.map(push));
        let (index, executor) = (call.index, call.executor);
        self.calls.push(WaitingCall { index, id, name, source, executor, is_bare });
    }

    /// Takes back those of them that the caller has to run.
    pub(super) fn withdraw(&mut self, which: Withdrawn<'_>, out: &mut ChoiceOut<'_, '_>) -> Done {
        let is_one = |call: &WaitingCall, id: &str| which.is_of(Some(id), call.source.is_some());
        let inference = matches!(which, Withdrawn::Call(_)).then_some(CONTRADICTED);
        self.take_back(&is_one, inference, out)
    }

    /// Takes back those that were emitted without arguments, or the one of this index: some came that
    /// may be theirs.
    pub(super) fn withdraw_bare(
        &mut self,
        index: Option<u64>,
        out: &mut ChoiceOut<'_, '_>,
    ) -> Done {
        let is_one = |call: &WaitingCall, _: &str| {
            call.is_bare && index.is_none_or(|index| index == call.index)
        };
        self.take_back(&is_one, None, out)
    }

    fn take_back(
        &mut self,
        is_one: &dyn Fn(&WaitingCall, &str) -> bool,
        inference: Option<Inference>,
        out: &mut ChoiceOut<'_, '_>,
    ) -> Done {
        let text = |range: &Range<usize>| self.texts.within(range.clone());
        let is_withdrawn =
            |call: &WaitingCall| call.executor.is_none() && is_one(call, text(&call.id));
        for call in self.calls.iter().filter(|call| is_withdrawn(call)) {
            if let Some(inference) = inference {
                out.warn(inference, Some(call.index))?;
            }
            out.emit(Kind::InvalidToolCall(InvalidToolCall {
                index: call.index,
                id: Some(text(&call.id)),
                name: Some(text(&call.name)),
                arguments_raw: "",
                reason: Reason::Withdrawn,
                source: call.source.as_ref().map(text),
            }))?;
        }
        self.calls.retain(|call| !is_withdrawn(call));
        Ok(())
    }

    /// True if one of them has this id.
    pub(super) fn has(&self, id: &str) -> bool {
        self.calls.iter().any(|call| self.texts.within(call.id.clone()) == id)
    }

    /// True if the caller has one of them to run.
    pub(super) fn is_for_caller(&self) -> bool {
        self.calls.iter().any(|call| call.executor.is_none())
    }

    /// Takes out the call that a result is of: that of an index if one was held for it, and is as sure
    /// to be as that one.
    /// Of two calls of one id, the first result is the first one's. One that names no call is of the
    /// oldest of its tool that has none, of the oldest that was run, or of the oldest.
    pub(super) fn answer(
        &mut self,
        result: &ToolResult<'_>,
        held: Option<(u64, bool)>,
    ) -> Option<AnsweredCall<'_>> {
        let text = |range: &Range<usize>| self.texts.within(range.clone());
        let find = |is_it: &dyn Fn(&WaitingCall) -> bool| self.calls.iter().position(is_it);
        let (place, is_sure) = match held {
            Some((index, is_sure)) => (find(&|call| call.index == index)?, is_sure),
            None if !is_no_id(result.id) => (find(&|call| text(&call.id) == result.id)?, true),
            None => {
                let calls = self.calls.iter().enumerate();
                let fits = |(_, call): (usize, &WaitingCall)| {
                    let is_by = |executor| result.executor.is_none_or(|by| by == executor);
                    [result.name == Some(text(&call.name)), call.executor.is_some_and(is_by)]
                };
                let ((place, _), is_sure) =
                    oldest(calls, fits, |(_, call)| call.executor.is_none())?;
                (place, is_sure)
            }
        };
        let WaitingCall { id, executor, .. } = self.calls.remove(place);
        Some(AnsweredCall { id: self.texts.within(id), executor, is_sure })
    }
}

/// The call that a result is of.
pub(super) struct AnsweredCall<'a> {
    pub(super) id: &'a str,
    /// The executor, if not the caller.
    pub(super) executor: Option<Executor>,
    /// False if the result may as well be of another call, which is left to run.
    pub(super) is_sure: bool,
}

/// Returns the first of some calls for which the first of these conditions holds that does for any,
/// or the first of all; and whether none of the others is the caller's to run.
pub(super) fn oldest<T: Copy, const N: usize>(
    calls: impl Iterator<Item = T> + Clone,
    fits: impl Fn(T) -> [bool; N],
    is_callers: impl Fn(T) -> bool,
) -> Option<(T, bool)> {
    (0..=N).find_map(|condition| {
        let holds = |call: &T| fits(*call).get(condition) != Some(&false);
        let mut fitting = calls.clone().filter(holds);
        Some((fitting.next()?, !fitting.any(&is_callers)))
    })
}
