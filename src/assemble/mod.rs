//! Assembly: which fragment belongs to which call, when a call is final, what
//! is safe to run, and how a message ends. Knows no syntax but JSON's.
//!
//! The laws of the output hold because of this layer: a call that is printed
//! was closed by the provider and parses as an object; every message begins
//! with `start` and ends with `finish_reason` or `error`, with its usage right
//! before; nothing is inferred without a warning.

mod call;
mod context;
mod errors;
mod message;
mod owned;
mod pending;

use std::sync::Arc;
use std::{io, mem};

use crate::event::{CallPart, Code, Emit, EmitPieces, Event, Failure, Kind, Pieces, Start, Usage};
use crate::tools::Tools;
use context::Out;
use message::Message;
use pending::Early;

/// The framing while no frame has come.
const NO_FRAMING: &str = "unknown";
/// How much may wait for the message that it belongs to, in bytes.
const MOST_EARLY: usize = 64 << 10;

/// How fragments are assembled, and which events are printed.
#[derive(Clone, Debug)]
pub struct AssemblerConfig {
    /// Also emit `ToolCallStart` and `ToolCallDelta`.
    pub deltas: bool,
    /// The one choice to follow, if not all.
    pub choice: Option<u64>,
    /// Also emit `ProviderEvent`.
    pub raw: bool,
    /// End a message that has a warning with an error.
    pub strict: bool,
    /// Emit a call inside text that cannot be read as text; by default it is an `InvalidToolCall`.
    pub malformed_as_text: bool,
    /// The largest arguments of one call, in bytes; 0 is no limit.
    pub max_args: usize,
    /// The most calls in one message; 0 is no limit.
    pub max_calls: usize,
    /// How deeply arguments may be nested; 0 is no limit.
    pub max_depth: usize,
    /// The tools that the model was given, if they are known; a pipeline fills in its own.
    pub tools: Option<Arc<Tools>>,
    /// The format's name, for a message that ends before it is known; a pipeline fills in its own.
    pub format: String,
}

impl Default for AssemblerConfig {
    fn default() -> Self {
        AssemblerConfig {
            deltas: false,
            choice: None,
            raw: false,
            strict: false,
            malformed_as_text: false,
            max_args: 64 << 20,
            max_calls: 1024,
            max_depth: crate::json::MAX_DEPTH,
            tools: None,
            format: "unknown".into(),
        }
    }
}

/// Turns what decoders say into what sinks hear.
pub struct Assembler {
    options: AssemblerConfig,
    framing: &'static str,
    message: Option<Message>,
    /// Warnings and errors that came before the message that they belong to.
    early: Vec<Early>,
    /// The open message's first warning, which is an error under `--strict`.
    warned: Option<String>,
    /// Whether any message has been begun.
    any: bool,
    /// Whether the rest of the input can't be framed.
    is_lost: bool,
    stopped: bool,
}

impl Assembler {
    /// An assembler for one input.
    pub fn new(options: AssemblerConfig) -> Self {
        Assembler {
            options,
            framing: NO_FRAMING,
            message: None,
            early: Vec::new(),
            warned: None,
            any: false,
            is_lost: false,
            stopped: false,
        }
    }

    /// The framing of the frame that the next events come from.
    pub fn set_framing(&mut self, framing: &'static str) {
        self.framing = framing;
    }

    /// Nothing more of the input will come: that the open message has no end is
    /// no news then, and why will be told.
    pub fn lose_the_rest(&mut self) {
        self.is_lost = true;
    }

    /// Whether a limit was hit, or the input is of no kind that can be read:
    /// nothing more needs to be fed.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Takes the next event of a decoder or dialect.
    pub fn feed(&mut self, event: Event<'_>, emit: &mut Emit<'_>) -> io::Result<()> {
        if self.stopped {
            return Ok(());
        }
        match event.kind {
            Kind::Start(start) => self.start(start, emit),
            Kind::End => self.end(emit),
            Kind::ProviderEvent(_) if !self.options.raw => Ok(()),
            _ if is_of_choice(&event.kind) && self.is_other_choice(event.choice) => Ok(()),
            kind => {
                let choice = event.choice;
                if self.message.is_none()
                    && let Some(early) = Early::new(&kind)
                {
                    self.early.push(early);
                    let size: usize = self.early.iter().map(Early::size).sum();
                    return if size < MOST_EARLY { Ok(()) } else { self.pass_early(emit) };
                }
                self.open(emit)?;
                let mut out = Out::new(choice, &self.options, &mut self.warned, emit);
                let stop = match &mut self.message {
                    Some(message) => message.feed(event, &mut out)?,
                    None => false,
                };
                if stop { self.stop(emit) } else { Ok(()) }
            }
        }
    }

    /// Takes pieces of a text, as [`Self::feed`] takes each of them.
    pub fn feed_pieces(&mut self, pieces: Pieces<'_>, emit: &mut EmitPieces<'_>) -> io::Result<()> {
        let Pieces { event, cuts } = pieces;
        let are_fragments =
            matches!(event.kind, Kind::CallPart(part) if !self.joins(event.choice, &part));
        if are_fragments {
            let mut emit = |event: Event<'_>| emit(event.into());
            return pieces.events().try_for_each(|event| self.feed(event, &mut emit));
        }
        // Text is passed on, after what had to come first; nothing else with text is.
        self.feed(event, &mut |event| {
            let cuts = event.kind.text().map_or(&[][..], |_| cuts);
            emit(Pieces { event, cuts })
        })
    }

    /// The input has ended, after so many bytes: ends the open message, and says
    /// what never came to be part of one.
    pub fn finish(&mut self, length: u64, emit: &mut Emit<'_>) -> io::Result<()> {
        let mut message = "the input ended before the message did";
        let is_left = !self.any || self.early.iter().any(Early::is_failure);
        if self.message.is_none() && is_left && !self.stopped {
            message = match self.framing {
                NO_FRAMING if length == 0 => "the input is empty",
                NO_FRAMING => "the input holds no data, only blank lines, comments or the like",
                _ => "the input holds no message",
            };
            self.open(emit)?;
            if self.message.as_ref().is_some_and(|open| !open.failures.is_empty()) {
                return self.close(None, emit);
            }
        }
        if let Some(open) = &self.message {
            let failure = Failure::new(Code::Truncated, message, Some(length));
            let is_told = self.is_lost || open.is_over();
            return self.close(Some(failure).filter(|_| !is_told), emit);
        }
        self.pass_afterthoughts(emit)
    }

    /// So much can't wait: begins the message that it may belong to, or says it
    /// behind the last one.
    fn pass_early(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        let is_afterthought = self.any && !self.early.iter().any(Early::is_failure);
        if is_afterthought { self.pass_afterthoughts(emit) } else { self.open(emit) }
    }

    fn pass_afterthoughts(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        mem::take(&mut self.early).iter().try_for_each(|early| emit(early.afterthought().into()))
    }

    /// Whether fragments of a call may come as one.
    fn joins(&self, choice: u64, part: &CallPart<'_>) -> bool {
        let message = self.message.as_ref().filter(|_| !self.options.deltas);
        message.is_some_and(|message| message.joins(choice, part))
    }

    fn is_other_choice(&self, choice: u64) -> bool {
        self.options.choice.is_some_and(|wanted| wanted != choice)
    }

    fn start(&mut self, start: Start<'_>, emit: &mut Emit<'_>) -> io::Result<()> {
        if self.message.is_some() {
            return Ok(());
        }
        self.any = true;
        let mut message = Message::default();
        emit(Kind::Start(Start { framing: self.framing, ..start }).into())?;
        self.warned = None;
        let mut out = Out::new(0, &self.options, &mut self.warned, emit);
        for early in mem::take(&mut self.early) {
            message.feed(early.kind().into(), &mut out)?;
        }
        self.message = Some(message);
        Ok(())
    }

    /// Begins a message on account of its first event.
    fn open(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        if self.message.is_some() {
            return Ok(());
        }
        let format = self.options.format.clone();
        self.start(Start { format: &format, ..Start::default() }, emit)
    }

    fn end(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        if self.message.is_some() { self.close(None, emit) } else { Ok(()) }
    }

    fn stop(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        self.close(None, emit)?;
        self.stopped = true;
        Ok(())
    }

    /// Ends the message: what was open is cut, the usage comes, and the last
    /// line. `cut` is why, if the message has not come to its own end.
    fn close(&mut self, cut: Option<Failure<'_>>, emit: &mut Emit<'_>) -> io::Result<()> {
        let Some(mut message) = self.message.take() else { return Ok(()) };
        let mut out = Out::new(0, &self.options, &mut self.warned, emit);
        message.cut_open_calls(&mut out)?;
        let mut failure = message.failures.finish(cut, &mut out)?;
        if failure.is_none() {
            message.check_finish(&mut out)?;
            failure = out.strict_failure();
        }
        let main = message.first_choice().or(self.options.choice).unwrap_or(0);
        if failure.is_none() {
            message.finish_others(main, &mut out)?;
        }
        if let Some((usage, raw)) = message.usage.take() {
            out.emit(Kind::Usage(Usage { raw: &raw, ..usage }))?;
        }
        match failure {
            Some(failure) => out.emit(Kind::Error(failure.borrow())),
            None => message.finish_choice(main, &mut out),
        }
    }
}

/// Whether an event is one choice's, and not the whole message's.
fn is_of_choice(kind: &Kind<'_>) -> bool {
    !matches!(kind, Kind::Usage(_) | Kind::Error(_) | Kind::Warning(_) | Kind::ProviderEvent(_))
}
