//! The beginning and the end of a message: the state that every decoder keeps of
//! the open one, beside what its own format adds.

use std::io;

use crate::event::{FinishReason, Kind, Start, WarningCode};
use crate::format::format::{Format, Record};
use crate::format::support::emit::{Done, EventOut};
use crate::format::support::error;
use crate::format::support::usage::{CountRule, Meter};
use crate::frame::Frame;
use crate::json::RawJson;

/// The message that is open: how far it has come, its id, and what it costs.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    row: &'static Format,
    pub(crate) state: State,
    id: String,
    /// True if a message has ended.
    has_ended: bool,
    /// The members of the next start beside its id and model.
    pub(crate) head: MessageHead,
    pub(crate) meter: Meter,
}

/// Members that a record that begins a message may have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MessageHead {
    /// The time at which it was begun, in seconds since 1970.
    pub(crate) created: Option<u64>,
    /// Everything that the model reads.
    pub(crate) input_tokens: Option<u64>,
}

/// The progress of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// None has begun, or the last one has ended.
    Closed,
    /// It has begun.
    Open,
    /// It has a reason to stop; its end, or what it cost, is still missing.
    Stopped,
    /// The provider reported an error.
    Failed,
}

impl Lifecycle {
    /// Returns the state before the first message of a format, whose usage has
    /// these fields.
    pub(crate) fn new(row: &'static Format, usage: &'static [CountRule]) -> Self {
        let (id, head, meter) = (String::new(), MessageHead::default(), Meter::new(usage));
        Lifecycle { row, state: State::Closed, id, has_ended: false, head, meter }
    }

    /// True if a message has begun and not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.state != State::Closed
    }

    /// The id of the open message, if its start had one.
    pub(crate) fn id(&self) -> Option<&str> {
        Some(&*self.id).filter(|id| !id.is_empty())
    }

    /// Emits the start of a message, unless one is open.
    pub(crate) fn begin(
        &mut self,
        id: Option<&str>,
        model: Option<&str>,
        out: &mut EventOut,
    ) -> Done {
        let MessageHead { created, input_tokens } = std::mem::take(&mut self.head);
        if self.is_open() {
            return Ok(());
        }
        self.state = State::Open;
        id.unwrap_or_default().clone_into(&mut self.id);
        let Format { name: format, dialect, .. } = *self.row;
        let start = Start { format, dialect, id, model, created, input_tokens, ..Start::default() };
        out.emit(0, Kind::Start(start))
    }

    /// Notes the id that the open message goes by from now on.
    pub(crate) fn rename(&mut self, id: &str) {
        id.clone_into(&mut self.id);
    }

    /// Emits the start of a message and a warning, unless one is open: the
    /// beginning of the input is missing.
    pub(crate) fn begin_late(
        &mut self,
        (code, warning): (WarningCode, &str),
        out: &mut EventOut,
    ) -> Done {
        if self.is_open() {
            return Ok(());
        }
        self.begin(None, None, out)?;
        out.warn(code, warning)
    }

    /// True if a record that begins no message came after the end of one: it is passed over, with a
    /// warning.
    pub(crate) fn passes_over(&self, out: &mut EventOut) -> io::Result<bool> {
        if self.is_open() || !self.has_ended {
            return Ok(false);
        }
        let message = "a record after the end of its message was passed over";
        out.warn(WarningCode::AfterDone, message).map(|()| true)
    }

    /// Takes the provider's count of what the open message costs, if there is one.
    pub(crate) fn count(&mut self, usage: Option<RawJson<'_>>) {
        self.meter.feed(usage.map_or("", RawJson::get));
    }

    /// Notes that the open message has a reason to stop.
    pub(crate) fn stop(&mut self) {
        if self.state == State::Open {
            self.state = State::Stopped;
        }
    }

    /// Reports the provider's error, in a message of its own if none is open.
    pub(crate) fn fail(&mut self, json: &str, out: &mut EventOut) -> Done {
        self.begin(None, None, out)?;
        self.state = State::Failed;
        error::report(json, out)
    }

    /// Takes a record that is none of the format's: any provider's error, or
    /// what has no meaning here. Returns true if it was an error.
    pub(crate) fn stray(
        &mut self,
        frame: &Frame,
        name: &str,
        out: &mut EventOut,
    ) -> io::Result<bool> {
        if !error::is_error(&Record::new(frame)) {
            return out.unknown(frame, name).map(|()| false);
        }
        self.fail(&frame.text(), out).map(|()| true)
    }

    /// Ends the open message, if there is one: emits what it cost, and its end.
    pub(crate) fn end(&mut self, out: &mut EventOut) -> Done {
        if self.close(out)? { out.end() } else { Ok(()) }
    }

    /// Ends the open message, a body in which these choices have no finish reason.
    pub(crate) fn end_unfinished(
        &mut self,
        choices: impl IntoIterator<Item = u64>,
        out: &mut EventOut,
    ) -> Done {
        out.warn(WarningCode::NoFinishReason, "the body has no finish reason")?;
        for choice in choices {
            out.infer_finish(choice, FinishReason::Other, None)?;
        }
        self.end(out)
    }

    /// Ends the open message, if there is one, because the next one begins: it
    /// has not come to its own end.
    pub(crate) fn cut(&mut self, out: &mut EventOut) -> Done {
        if self.close(out)? { out.cut() } else { Ok(()) }
    }

    fn close(&mut self, out: &mut EventOut) -> io::Result<bool> {
        self.id.clear();
        self.meter.finish(out)?;
        let was_open = std::mem::replace(&mut self.state, State::Closed) != State::Closed;
        self.has_ended |= was_open;
        Ok(was_open)
    }

    /// The input has ended: a message that has stopped ends well, of any other
    /// only what it cost is emitted.
    pub(crate) fn finish(&mut self, out: &mut EventOut) -> Done {
        match self.state {
            State::Stopped => self.end(out),
            State::Closed | State::Open | State::Failed => self.meter.finish(out),
        }
    }
}
