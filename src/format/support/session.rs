//! The session of an agent whose log is decoded by code: prompts, the model's answers to them, the
//! calls that the agent ran and their results. Those that are rows have it in the
//! [machine](crate::format::machine).
//!
//! A prompt and all that follows it, up to the next one, is a message. The end of the input is its
//! end, unless its log marks one.

use std::collections::HashMap;

use crate::event::{CallPart, FinishReason, ToolResult};
use crate::format::format::Format;
use crate::format::support::calls::Calls;
use crate::format::support::emit::{Done, EventOut, Slot};
use crate::format::support::emitted::{Emitted, hash};
use crate::format::support::lifecycle::Lifecycle;
use crate::format::support::usage::Row;
use crate::format::support::{error, finish};
use crate::json::Str;

/// The most texts of one message that are remembered.
const MAX_TEXTS: usize = 1 << 16;

/// A session of an agent, up to here.
pub(crate) struct Session {
    message: Lifecycle,
    /// Its id, if it has one.
    pub(crate) id: Option<String>,
    /// The model's name, where the log has it.
    pub(crate) model: Option<String>,
    has_prompt: bool,
    turn: SessionTurn,
}

/// The state of the message that is open.
#[derive(Default)]
struct SessionTurn {
    calls: Calls,
    /// The model's message or step whose counts came last.
    counted: Option<String>,
    /// The texts of parts, as far as they have been emitted.
    emitted: HashMap<u64, Emitted>,
    /// The last reason why the model stopped.
    reason: Option<String>,
}

impl Session {
    pub(crate) fn new(format: &'static Format, rows: &'static [Row]) -> Self {
        let (id, model, has_prompt, turn) = Default::default();
        Session { message: Lifecycle::new(format, rows), id, model, has_prompt, turn }
    }

    /// True if a message is open.
    pub(crate) fn is_open(&self) -> bool {
        self.message.is_open()
    }

    /// Begins a message, unless one is open.
    pub(crate) fn begin(&mut self, out: &mut EventOut) -> Done {
        self.message.begin(self.id.as_deref(), self.model.as_deref(), out)
    }

    /// A prompt of the user's: ends the message before it.
    pub(crate) fn prompt(&mut self, out: &mut EventOut) -> Done {
        self.has_prompt = true;
        if !self.is_open() {
            return Ok(());
        }
        out.infer_finish_of_log(self.turn.reason.as_deref())?;
        self.end(out)
    }

    /// Emits a piece of a text.
    pub(crate) fn piece(&mut self, slot: Slot, text: &Str, out: &mut EventOut) -> Done {
        if text.is_empty() {
            return Ok(());
        }
        self.begin(out)?;
        out.piece(0, slot, text)
    }

    /// Emits a text of a part, or the rest that has not been emitted. One that does not begin with
    /// what was is told.
    pub(crate) fn part(
        &mut self,
        (part, slot): (&Option<String>, Slot),
        is_whole: bool,
        text: &Str,
        out: &mut EventOut,
    ) -> Done {
        let emitted = self.turn.emitted.entry(hash(&(part, slot))).or_default();
        let rest = if is_whole { emitted.rest(text) } else { Some(text.clone()) };
        let Some(rest) = rest else { return out.revise(0, text) };
        emitted.add(&rest);
        out.check_limit(self.turn.emitted.len(), MAX_TEXTS, "texts in one message")?;
        self.piece(slot, &rest, out)?;
        if is_whole { out.flush() } else { Ok(()) }
    }

    /// Emits a whole call, unless it is one that has come.
    pub(crate) fn call(&mut self, call: CallPart, out: &mut EventOut) -> Done {
        self.begin(out)?;
        if call.id.is_some_and(|id| self.turn.calls.has(id)) {
            return Ok(());
        }
        self.turn.calls.whole(call, out)
    }

    /// Emits a result, unless its call has one.
    pub(crate) fn result(&mut self, result: ToolResult, out: &mut EventOut) -> Done {
        self.begin(out)?;
        if self.turn.calls.is_answered(result.id) {
            return Ok(());
        }
        self.turn.calls.result(result, out)
    }

    /// Adds the cost of a message or step of the model's. Where the log names it, its counts may
    /// come again.
    pub(crate) fn usage(&mut self, part: Option<String>, json: &str) {
        if part.is_none() || part != self.turn.counted {
            self.message.meter.part();
            self.turn.counted = part;
        }
        self.message.meter.pick(json);
    }

    /// Notes why the model stopped, and goes on.
    pub(crate) fn note_reason(&mut self, reason: String) {
        if !finish::is_none(&reason) {
            self.turn.reason = Some(reason);
        }
    }

    /// The provider or the agent failed, and the message with it.
    pub(crate) fn fail(&mut self, json: &str, out: &mut EventOut) -> Done {
        self.begin(out)?;
        error::report(json, out)?;
        self.end(out)
    }

    /// Ends the message where its log marks the end.
    pub(crate) fn stop(&mut self, out: &mut EventOut) -> Done {
        self.begin(out)?;
        match self.turn.reason.take() {
            Some(raw) => out.finish(0, &raw, None)?,
            None => out.infer_finish(0, FinishReason::Stop, None)?,
        }
        self.end(out)
    }

    /// The input has ended. That's the end of the message, if `is_end`.
    pub(crate) fn finish(&mut self, is_end: bool, out: &mut EventOut) -> Done {
        if !self.is_open() {
            // There may be a prompt, and no answer.
            return if self.has_prompt { self.begin(out) } else { Ok(()) };
        }
        self.message.meter.finish(out)?;
        if is_end { out.infer_finish_of_log(self.turn.reason.as_deref()) } else { Ok(()) }
    }

    /// Ends the message.
    pub(crate) fn end(&mut self, out: &mut EventOut) -> Done {
        self.turn = SessionTurn::default();
        self.has_prompt = false;
        self.message.end(out)
    }
}
