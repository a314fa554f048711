//! The layers joined.

use std::io;
use std::sync::Arc;

use crate::assemble;
use crate::assemble::Assembler;
use crate::detect::{AutoDecoder, AutoFramer};
use crate::dialect;
use crate::dialect::Markup;
use crate::dialect::spec::StartIn;
use crate::event::{Code, Event, Failure, Kind, Output, Warning};
use crate::format;
use crate::format::format::Decoder;
use crate::format::support::emit::EventOut;
use crate::format::support::spoken::Halves;
use crate::frame;
use crate::frame::{Fault, FaultKind, FrameResult, Framer, Next, TakeFrames};
use crate::repeat::Templates;
use crate::sink::{Sink, error_code};
use crate::tools::Tools;

/// What the layers are told.
#[derive(Clone, Default)]
pub struct Config {
    /// The framing; found out if there is none.
    pub framing: Option<&'static frame::Framing>,
    /// The wire format; found out if there is none.
    pub format: Option<&'static format::Format>,
    /// How calls and reasoning are written inside text.
    pub dialect: dialect::Selection,
    /// Where the text begins; the dialect's own way if not given.
    pub start_in: Option<StartIn>,
    /// The tools that there are, if they are known.
    pub tools: Option<Arc<Tools>>,
    /// What framers are told.
    pub settings: frame::Settings,
    /// What the assembler is told.
    pub assembly: assemble::Options,
    /// Decode every record, even one that looks like the last: what tests
    /// compare with.
    pub decode_all: bool,
}

/// One input's way through all layers.
pub struct Pipeline {
    framer: AutoFramer,
    decoder: Templates<AutoDecoder>,
    halves: Halves,
    markup: Markup,
    assembler: Assembler,
    /// How many bytes have been fed.
    length: u64,
}

impl Pipeline {
    /// A pipeline for one input.
    pub fn new(config: &Config) -> Self {
        let is_text = config.format.is_some_and(|format| format.name == "text");
        let framing = config.framing.or_else(|| if is_text { frame::find("text") } else { None });
        Pipeline {
            framer: AutoFramer::new(framing, config.settings),
            decoder: Templates::new(AutoDecoder::new(config.format), !config.decode_all),
            halves: Halves::default(),
            markup: Markup::new(
                &config.dialect,
                config.start_in,
                config.tools.clone(),
                config.assembly.max_args,
            ),
            assembler: Assembler::new(config.assembly.clone()),
            length: 0,
        }
    }

    /// Whether nothing more needs to be read.
    pub fn is_stopped(&self) -> bool {
        self.assembler.is_stopped()
    }

    /// Takes the next bytes of the input.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> io::Result<()> {
        let Pipeline { framer, decoder, halves, markup, assembler, length } = self;
        *length += bytes.len() as u64;
        let mut layers = Layers { decoder, halves, markup, assembler, sink };
        framer.feed(bytes, &mut layers)?;
        layers.settle(*length)
    }

    /// The input has ended.
    pub fn finish(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        let Pipeline { framer, decoder, halves, markup, assembler, length } = self;
        let mut layers = Layers { decoder, halves, markup, assembler, sink };
        framer.finish(&mut layers)?;
        layers.finish(*length)?;
        assembler.finish(*length, &mut |event| sink.feed(event))?;
        sink.finish()
    }

    /// A signal stops the program: what was gathered is said, and the open
    /// message ends.
    pub fn interrupt(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        let Pipeline { decoder, halves, markup, assembler, length, .. } = self;
        let failure = Failure::new(Code::Interrupted, "a signal stopped the program", None);
        assembler.feed(Kind::Error(failure).into(), &mut |event| sink.feed(event))?;
        Layers { decoder, halves, markup, assembler, sink }.finish(*length)?;
        assembler.finish(*length, &mut |event| sink.feed(event))?;
        sink.finish()
    }
}

/// The layers behind the framer.
struct Layers<'p> {
    decoder: &'p mut Templates<AutoDecoder>,
    halves: &'p mut Halves,
    markup: &'p mut Markup,
    assembler: &'p mut Assembler,
    sink: &'p mut dyn Sink,
}

impl Layers<'_> {
    /// Lets the decoder speak of the frame at `offset`, through all layers.
    fn speak<R>(
        &mut self,
        offset: u64,
        speak: impl FnOnce(&mut Templates<AutoDecoder>, &mut EventOut<'_>) -> io::Result<R>,
    ) -> io::Result<R> {
        let Layers { decoder, halves, markup, assembler, sink } = self;
        let mut emit = |event: Event<'_>| {
            markup.feed(event, &mut |event| assembler.feed(event, &mut |event| sink.feed(event)))
        };
        speak(decoder, &mut EventOut::new(&mut emit, halves, offset))
    }

    /// Lets the decoder say what it has put off.
    fn settle(&mut self, offset: u64) -> io::Result<()> {
        self.speak(offset, |decoder, out| decoder.settle(out))
    }

    fn finish(&mut self, length: u64) -> io::Result<()> {
        self.speak(length, |decoder, out| {
            decoder.finish(out)?;
            out.flush()
        })?;
        self.release()
    }

    /// Nothing more will come: text that was held back is out.
    fn release(&mut self) -> io::Result<()> {
        let Layers { markup, assembler, sink, .. } = self;
        markup.finish(&mut |event| assembler.feed(event, &mut |event| sink.feed(event)))
    }
}

impl TakeFrames for Layers<'_> {
    fn frame(&mut self, frame: FrameResult<'_>) -> io::Result<()> {
        match frame {
            Ok(frame) => {
                self.assembler.set_framing(frame.framing);
                self.speak(frame.offset, |decoder, out| decoder.feed(frame, out))
            }
            Err(fault) => {
                self.settle(fault.offset)?;
                if fault.kind == FaultKind::Limit {
                    self.release()?;
                }
                report(&fault, self.assembler, self.sink)
            }
        }
    }

    fn alike(&mut self, next: &Next<'_>) -> usize {
        self.decoder.alike(next)
    }
}

/// Says what is wrong with the bytes themselves.
fn report(fault: &Fault<'_>, assembler: &mut Assembler, sink: &mut dyn Sink) -> io::Result<()> {
    let text = String::from_utf8_lossy(fault.raw);
    let raw = Some(Output::Text(&text)).filter(|_| !fault.raw.is_empty());
    let offset = Some(fault.offset);
    let message = fault.message.as_str();
    let mut emit = |event: Event<'_>| sink.feed(event);
    let Some(code) = error_code(fault.kind) else {
        let warning = Warning { code: fault.code, message, offset, index: None };
        return assembler.feed(Kind::Warning(warning).into(), &mut emit);
    };
    let mut failure = Failure { raw, ..Failure::new(code, message, offset) };
    match fault.kind {
        FaultKind::Broken => assembler.lose_the_rest(),
        FaultKind::Status => {
            let status = message.rsplit(' ').next();
            let is_later = |status: &str| matches!(status, "408" | "409" | "429");
            failure.provider_code = status;
            failure.retryable = status.map(|status| is_later(status) || status.starts_with('5'));
        }
        _ => {}
    }
    assembler.feed(Kind::Error(failure).into(), &mut emit)
}
