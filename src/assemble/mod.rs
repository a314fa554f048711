//! Assembly: which fragment belongs to which call, when a call is final, what
//! is safe to run, and how a message ends. Knows no syntax but JSON's.
//!
//! The laws of the output hold because of this layer: a call that is printed
//! was closed by the provider and parses as an object; every message begins
//! with `start` and ends with `finish_reason` or `error`, with its usage right
//! before; nothing is inferred without a warning.

mod call;
mod call_ids;
mod calls;
mod context;
mod failures;
mod log;
mod message;
#[cfg(test)]
mod tests;
mod waiting;

use std::mem;
use std::sync::Arc;

use crate::event::owned::Owned;
use crate::event::{
    CallPart, Code, Done, Emit, EmitPieces, Event, Failure, Kind, Loose, Pieces, Start, Warning,
    WarningCode,
};
use crate::tools::Tools;
pub use context::AssemblerConfig;
use context::{ChoiceOut, Context, reused};
use log::Logged;
use message::OpenMessage;

/// The name of a framing or a format that is not known yet.
const UNKNOWN: &str = "unknown";
/// The most that may wait for the message that it belongs to, in bytes.
const MAX_PENDING: usize = 64 << 10;

/// Turns the deltas of decoders into whole calls and whole messages.
pub struct Assembler {
    context: Context,
    /// The format's name, for a message that ends before it is known.
    format: &'static str,
    framing: &'static str,
    message: Option<Box<OpenMessage>>,
    /// The buffers of the one before it.
    spare: Option<Box<OpenMessage>>,
    /// The open message, if it is one of our own log.
    logged: Option<Logged>,
    /// Warnings, errors and provider events that came before the message that
    /// they belong to.
    pending: Vec<Owned<Kind<'static>>>,
    /// True once a message has begun.
    has_begun: bool,
    /// True if the rest of the input can't be framed.
    is_lost: bool,
    stopped: bool,
}

impl Assembler {
    /// Returns an assembler for one input: `tools` are those that the model was
    /// given, if they are known, and `format` is the wire format's name, if one
    /// was chosen.
    pub fn new(
        config: AssemblerConfig,
        tools: Option<Arc<Tools>>,
        format: Option<&'static str>,
    ) -> Self {
        Assembler {
            context: Context { config, tools, warned: None },
            format: format.unwrap_or(UNKNOWN),
            framing: UNKNOWN,
            message: None,
            spare: None,
            logged: None,
            pending: Vec::new(),
            has_begun: false,
            is_lost: false,
            stopped: false,
        }
    }

    /// Sets the framing of the frame that the next events come from.
    pub fn set_framing(&mut self, framing: &'static str) {
        self.framing = framing;
    }

    /// Sets the format, once it is known: a message that no record begins goes
    /// by its name.
    pub(crate) fn set_format(&mut self, format: &'static str) {
        self.format = format;
    }

    /// The rest of the input can't be framed, which is an error of its own: the
    /// open message needs no other one for its missing end.
    pub fn lose_the_rest(&mut self) {
        self.is_lost = true;
    }

    /// True if a limit was hit, or the input is of no kind that can be read:
    /// nothing more needs to be fed.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// True if messages have come, and each has come to its end: none is open that could fail.
    pub(crate) fn is_between(&self) -> bool {
        let is_over = self.logged.as_ref().is_none_or(Logged::is_over);
        self.has_begun && self.message.is_none() && is_over && !self.needs_message()
    }

    /// Takes the next event of a decoder or dialect.
    pub fn feed(&mut self, event: &Event<'_>, emit: &mut Emit) -> Done {
        if self.stopped {
            return Ok(());
        }
        match event.kind {
            Kind::Start(start) => self.start(start, emit),
            Kind::Loose(Loose::End) => self.end(emit),
            Kind::Loose(Loose::Lost) if self.message.is_none() => Ok(()),
            _ if self.logged.is_some() => self.log(event, emit),
            Kind::Time(_) => emit(event),
            Kind::ProviderEvent(_) if !self.context.config.raw => Ok(()),
            Kind::Prompt(_) if !self.context.config.prompts => Ok(()),
            kind if self.is_of_other_choice(event) => {
                let message = self.message.iter_mut().filter(|_| kind.is_of_choice());
                message.for_each(|message| message.has_others = true);
                Ok(())
            }
            kind => {
                let choice = event.choice;
                if self.message.is_none() && may_wait(&kind) {
                    self.pending.push(Owned::new(kind));
                    let size: usize = self.pending.iter().map(Owned::size).sum();
                    return if size < MAX_PENDING { Ok(()) } else { self.flush_pending(emit) };
                }
                self.open(emit)?;
                let mut out = ChoiceOut::new(choice, &mut self.context, emit);
                let stop = match &mut self.message {
                    Some(message) => message.feed(event, &mut out)?,
                    None => false,
                };
                if stop { self.stop(emit) } else { Ok(()) }
            }
        }
    }

    /// Takes pieces of a text, as [`Self::feed`] takes each of them.
    pub fn feed_pieces(&mut self, pieces: Pieces<'_>, emit: &mut EmitPieces<'_>) -> Done {
        let Pieces { event, cuts } = pieces;
        let are_fragments = match event.kind {
            Kind::Loose(Loose::CallPart(part)) => !self.joins(event.choice, &part),
            _ => false,
        };
        if are_fragments {
            let mut emit = |event: &Event<'_>| emit((*event).into());
            return pieces.events().try_for_each(|event| self.feed(&event, &mut emit));
        }
        // Text is passed on, after what had to come first; nothing else with text is.
        self.feed(&event, &mut |event| {
            let cuts = event.kind.text().map_or(&[][..], |_| cuts);
            emit(Pieces { event: *event, cuts })
        })
    }

    /// Ends the input after `length` bytes: ends the open message, and emits what
    /// never became part of one.
    pub fn finish(&mut self, length: u64, emit: &mut Emit) -> Done {
        self.end_log(Some(length), emit)?;
        let mut message = "the input ended before the message did";
        let is_left = !self.has_begun || self.needs_message();
        if self.message.is_none() && is_left && !self.stopped {
            message = match self.framing {
                UNKNOWN if length == 0 => "the input is empty",
                UNKNOWN => "the input holds no data, only blank lines, comments or the like",
                _ => "the input holds no message",
            };
            self.open(emit)?;
            if self.message.as_ref().is_some_and(|open| !open.failures.is_empty()) {
                return self.close(None, emit);
            }
        }
        if let Some(open) = &self.message {
            let failure = Failure::new(Code::Truncated, message, Some(length));
            let is_known = self.is_lost || open.is_over();
            return self.close(Some(failure).filter(|_| !is_known), emit);
        }
        self.emit_pending(emit)
    }

    /// Passes on an event of a log.
    fn log(&mut self, event: &Event<'_>, emit: &mut Emit) -> Done {
        if self.is_of_other_choice(event) {
            return Ok(());
        }
        match &mut self.logged {
            // It is no part of a message that is over.
            Some(logged) if logged.is_over() && matches!(event.kind, Kind::Error(_)) => {
                self.logged = None;
                self.feed(event, emit)
            }
            Some(logged) => logged.feed(event, emit),
            None => Ok(()),
        }
    }

    /// Ends the message of a log: it is cut if its end is not in the log.
    fn end_log(&mut self, offset: Option<u64>, emit: &mut Emit) -> Done {
        let Some(mut logged) = self.logged.take() else { return Ok(()) };
        if logged.finish(emit)? {
            return Ok(());
        }
        let message = "the log of the message ended before the message did";
        let failure = Failure::new(Code::Truncated, message, offset);
        logged.feed(&Kind::Error(failure).into(), emit)
    }

    /// So much can't wait: begins the message that it may belong to, or emits it
    /// after the last one.
    fn flush_pending(&mut self, emit: &mut Emit) -> Done {
        if self.has_begun && !self.needs_message() {
            self.emit_pending(emit)
        } else {
            self.open(emit)
        }
    }

    /// True if an error came after the last message, and needs a message to be
    /// the end of. That the input ended inside a frame is no such error: the
    /// last message had come to its own end.
    fn needs_message(&self) -> bool {
        let is_error = |kind: Kind<'_>| matches!(kind, Kind::Error(failure) if failure.code != Code::Truncated);
        self.pending.iter().any(|pending| is_error(pending.get()))
    }

    /// Emits what came after the last message, an error as a warning.
    fn emit_pending(&mut self, emit: &mut Emit) -> Done {
        mem::take(&mut self.pending).iter().try_for_each(|pending| {
            let kind = match pending.get() {
                Kind::Error(Failure { message, offset, .. }) => {
                    let code = WarningCode::Truncated;
                    Kind::Warning(Warning { code, message, offset, index: None })
                }
                kind => kind,
            };
            emit(&kind.into())
        })
    }

    /// True if fragments of a call may come as one.
    fn joins(&self, choice: u64, part: &CallPart<'_>) -> bool {
        let message = self.message.as_ref().filter(|_| !self.context.config.deltas);
        message.is_some_and(|message| message.joins(choice, part))
    }

    /// True if only another choice was asked for. What is of the whole message comes under choice
    /// 0, a remark about one choice under that.
    fn is_of_other_choice(&self, event: &Event<'_>) -> bool {
        let is_of_choice = event.kind.is_of_choice() || event.choice != 0;
        is_of_choice && self.context.config.choice.is_some_and(|wanted| wanted != event.choice)
    }

    fn start(&mut self, start: Start<'_>, emit: &mut Emit) -> Done {
        if self.message.is_some() || self.logged.is_some() {
            return Ok(());
        }
        self.has_begun = true;
        if !start.framing.is_empty() {
            // An error before it is no part of it: its end is in the log.
            if self.needs_message() {
                self.open(emit)?;
                self.close(None, emit)?;
            }
            self.logged = Some(Logged::new(self.context.config.max_calls));
            emit(&Kind::Start(start).into())?;
            return self.emit_pending(emit);
        }
        emit(&Kind::Start(Start { framing: self.framing, ..start }).into())?;
        self.context.warned = None;
        let message = self.message.insert(reused(&mut self.spare));
        let mut out = ChoiceOut::new(0, &mut self.context, emit);
        for pending in mem::take(&mut self.pending) {
            message.feed(&pending.get().into(), &mut out)?;
        }
        Ok(())
    }

    /// Begins a message if none is open.
    fn open(&mut self, emit: &mut Emit) -> Done {
        if self.message.is_some() {
            return Ok(());
        }
        self.start(Start { format: self.format, ..Start::default() }, emit)
    }

    fn end(&mut self, emit: &mut Emit) -> Done {
        self.end_log(None, emit)?;
        if self.message.is_some() { self.close(None, emit) } else { Ok(()) }
    }

    fn stop(&mut self, emit: &mut Emit) -> Done {
        self.close(None, emit)?;
        self.stopped = true;
        Ok(())
    }

    /// Ends the message: cuts what is open, emits the usage and the last line.
    /// `cut` is the reason if the message has not come to its own end.
    fn close(&mut self, cut: Option<Failure<'_>>, emit: &mut Emit) -> Done {
        let closed = self.emit_end(cut, emit);
        if let Some(message) = self.message.take() {
            self.spare.insert(message).clear();
        }
        closed
    }

    fn emit_end(&mut self, cut: Option<Failure<'_>>, emit: &mut Emit) -> Done {
        let Some(message) = &mut self.message else { return Ok(()) };
        let mut out = ChoiceOut::new(0, &mut self.context, emit);
        if cut.is_none() {
            message.end_postponed(&Kind::Loose(Loose::End), &mut out)?;
        }
        message.cut_open_calls(&mut out)?;
        let mut failure = message.failures.finish(cut, &mut out)?;
        if failure.is_none() {
            message.check_finish(&mut out)?;
            failure = out.strict_failure();
        }
        let main = message.first_choice().or(out.config().choice).unwrap_or(0);
        if failure.is_none() {
            message.finish_others(main, &mut out)?;
        }
        if let Some(usage) = message.usage.get() {
            out.emit(Kind::Usage(usage))?;
        }
        match failure {
            Some(failure) => out.emit(Kind::Error(failure.get())),
            None => message.finish_choice(main, &mut out),
        }
    }
}

/// True for an event that may wait for the first line of its message. An error
/// that ends the input has no message to wait for.
fn may_wait(kind: &Kind<'_>) -> bool {
    match kind {
        Kind::Warning(_) | Kind::ProviderEvent(_) => true,
        Kind::Error(failure) => !matches!(failure.code, Code::Limit | Code::Unrecognised),
        _ => false,
    }
}
