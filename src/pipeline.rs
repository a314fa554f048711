//! All layers joined: bytes in, events out.

use std::sync::Arc;
use std::{fmt, io};

use crate::assemble::{self, Assembler};
use crate::cut::Cut as _;
use crate::detect::{AutoDecoder, AutoFramer, KnownFormats};
use crate::dialect::{self, Markup, Selection, spec::StartIn};
use crate::dressing::{self, Dressing};
use crate::event::{
    Code, Event, Failure, Kind, Loose, Output, OwnedEvent, Pieces, Warning, WarningCode,
};
use crate::format::support::emit::{EventOut, Halves};
use crate::format::support::error;
use crate::format::support::misnamed::Misnamed;
use crate::format::{self, format::Decoder as _};
use crate::frame::{self, BYTE_ORDER_MARK, FRAMINGS, Fault, FaultKind, Framed, Framing};
use crate::repeat::Repeats;
use crate::sink::{Latch, Sink, error_code};
use crate::tools::Tools;
use crate::turns::Turns;

/// The options for reading one input. The default detects everything.
///
/// ```
/// use std::sync::Arc;
///
/// use toolstream::dialect::{Selection, choose};
/// use toolstream::tools::Tools;
/// use toolstream::{AssemblerConfig, Config, Pipeline, format};
///
/// let tools = Tools::parse(r#"{"get_weather": {"properties": {"city": {"type": "string"}}}}"#)?;
/// let config = Config {
///     format: format::find("text"),
///     dialect: choose("hermes")?,
///     tools: Some(Arc::new(tools)),
///     assembly: AssemblerConfig { deltas: true, max_calls: 8, ..AssemblerConfig::default() },
///     ..Config::default()
/// };
/// let pipeline = Pipeline::new(&config);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Config {
    /// The framing; detected if there is none.
    pub framing: Option<&'static frame::Framing>,
    /// The wire format; detected if there is none.
    pub format: Option<&'static format::Format>,
    /// Formats of the user's own, which detection tries before the built-in ones. A first record has to
    /// prove one: of `format`, any rule will do.
    pub own: Arc<[&'static format::Format]>,
    /// Find out, where no format is named, that the input is our own events. Where the input
    /// answers a request, whoever answers could forge a turn or a result in them.
    pub finds_ours: bool,
    /// The markup of calls and reasoning inside text.
    pub dialect: dialect::Selection,
    /// The program that printed plain text.
    pub from: dressing::From,
    /// The texts that the program was sent, which it may print again before its answer.
    pub sent: Arc<[String]>,
    /// The region that text begins in; the dialect's own if there is none.
    pub start_in: Option<StartIn>,
    /// The meaning of the end of plain text.
    pub at_end: dialect::AtEnd,
    /// The tools that the model was given, if they are known: they give types to the arguments that
    /// a dialect writes without any, and a call of another name gets a warning.
    pub tools: Option<Arc<Tools>>,
    /// The options of framing.
    pub frame: frame::FrameConfig,
    /// The options of assembly.
    pub assembly: assemble::AssemblerConfig,
    /// Also emit what the next request has to hold of each message: of the choice that is followed,
    /// or the first one.
    pub turn: bool,
    /// Say nothing of the turn that a message in a user's own format lacks: the reader writes it.
    pub writes_turns: bool,
    /// The most bytes that a turn may take; 0 is no limit.
    pub max_memory: usize,
    /// Also emit [`Kind::Record`] after each record of the input; in plain text, after each read. It
    /// is for a sink that must answer each of them, as a proxy does.
    pub records: bool,
    /// Compare each record with the last one before it is decoded: the same
    /// output, several times as fast.
    pub repeat: bool,
}

impl fmt::Debug for Config {
    /// Shows what is chosen, rows by their names.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dialect = match &self.dialect {
            Selection::Row(row) => row.name,
            Selection::Auto => "auto",
            Selection::None => "none",
            Selection::Default => "",
        };
        f.debug_struct("Config")
            .field("framing", &self.framing.map(|row| row.name))
            .field("format", &self.format.map(|row| row.name))
            .field("own", &self.own.iter().map(|row| row.name).collect::<Vec<_>>())
            .field("dialect", &dialect)
            .field("turn", &self.turn)
            .field("records", &self.records)
            .field("repeat", &self.repeat)
            .finish_non_exhaustive()
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            framing: None,
            format: None,
            own: Arc::default(),
            finds_ours: true,
            dialect: dialect::Selection::default(),
            from: dressing::From::Auto,
            sent: Arc::default(),
            start_in: None,
            at_end: dialect::AtEnd::Cut,
            tools: None,
            frame: frame::FrameConfig::default(),
            assembly: assemble::AssemblerConfig::default(),
            turn: false,
            writes_turns: false,
            max_memory: 1 << 30,
            records: false,
            repeat: true,
        }
    }
}

impl Config {
    /// Returns the formats that an input may be in.
    pub(crate) fn formats(&self) -> KnownFormats {
        KnownFormats { asked: self.format, own: Arc::clone(&self.own) }
    }
}

/// Reads one input: bytes in, events out.
///
/// A status and headers that an HTTP client has read already go before the body, as `curl -i` shows
/// them: `HTTP/1.1 529 \r\nretry-after: 20\r\n\r\n`. They make the error of an answer without one.
///
/// Bytes may be cut anywhere; the events depend on the bytes alone, but for the lengths of the
/// pieces that text comes in (see [`Join`](crate::sink::Join)). An input holds one message or
/// several. After the last byte comes [`finish`](Pipeline::finish): without it, a message that was
/// cut never ends.
///
/// ```
/// use toolstream::sink::{Join, Label, Ndjson};
/// use toolstream::{Config, Pipeline};
///
/// let mut lines = Vec::new();
/// let mut sink = Join::new(Ndjson::new(&mut lines, Label::default()));
/// let mut pipeline = Pipeline::new(&Config::default());
/// for piece in ["data: {\"choices\":[{\"delta\":{\"con", "tent\":\"Hi\"}}]}\n\n"] {
///     pipeline.feed(piece.as_bytes(), &mut sink)?;
/// }
/// pipeline.finish(&mut sink)?;
/// drop(sink);
/// let lines = String::from_utf8_lossy(&lines);
/// let mut lines = lines.lines();
/// assert_eq!(
///     lines.next(),
///     Some(r#"{"type":"start","v":1,"format":"openai-chat","framing":"sse"}"#)
/// );
/// assert_eq!(lines.next(), Some(r#"{"type":"text","text":"Hi"}"#));
/// assert!(lines.next().is_some_and(|line| line.contains(r#""code":"truncated""#)));
/// # std::io::Result::Ok(())
/// ```
pub struct Pipeline {
    framer: AutoFramer,
    layers: Layers,
    turns: Option<Turns>,
    /// The number of bytes that have been fed.
    length: u64,
    /// True after the end: nothing is read any more.
    is_over: bool,
    /// The error of the sink, which ended the run.
    failed: Latch,
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.layers.config;
        f.debug_struct("Pipeline")
            .field("config", config)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

impl Pipeline {
    /// Returns a pipeline for one input.
    pub fn new(config: &Config) -> Self {
        let is_text = config.format.is_some_and(|format| *format == format::text::FORMAT);
        let text = if is_text { FRAMINGS.iter().find(|row| row.is_text()) } else { None };
        let framing = config.framing.or(text.copied());
        let framer = AutoFramer::new(framing, config.frame).knowing(config.formats());
        let names_dialect = config.format.is_none() && matches!(config.dialect, Selection::Row(_));
        Pipeline {
            framer: if names_dialect { framer.or_text() } else { framer },
            layers: Layers::new(config),
            turns: config.turn.then(|| {
                let from = dressing::of_text(config.from, &config.dialect);
                let choice = config.assembly.choice.unwrap_or(0);
                let (sent, writes_own) = (Arc::clone(&config.sent), config.writes_turns);
                Turns::new(choice, from, sent, config.max_memory, writes_own)
            }),
            length: 0,
            is_over: false,
            failed: Latch::default(),
        }
    }

    /// Returns true if nothing more needs to be read: a limit was hit, or the sink has failed. What is
    /// fed nevertheless is passed over, or gets the sink's error; `finish` is called all the same.
    pub fn is_stopped(&self) -> bool {
        self.layers.assembler.is_stopped() || self.failed.check().is_err()
    }

    /// True if the input is read as plain text.
    #[cfg(feature = "cli")]
    pub(crate) fn is_plain(&self) -> bool {
        self.layers.markup.is_plain()
    }

    /// Takes the next bytes of the input.
    ///
    /// # Errors
    ///
    /// Fails only if `sink` does. What the sink did not take is lost, and a call could be made of
    /// what is left, so this is the end of the run: every later `feed` and `finish` returns the
    /// error again, and the sink gets nothing more.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> io::Result<()> {
        self.length += bytes.len() as u64;
        self.through(sink, |framer, layers, turns, sink| {
            let input = framer.input(bytes, &mut |frame| layers.frame(frame, turns, sink))?;
            let mut bytes = &*input;
            while !bytes.is_empty() {
                let (body, after) =
                    framer.body(bytes, &mut |frame| layers.frame(frame, turns, sink))?;
                bytes = after;
                let mut rest = &*body;
                while !rest.is_empty() {
                    while let Some(taken) = layers.repeats.take(rest, framer.envelope()) {
                        framer.skip(taken);
                        rest = rest.after(taken);
                    }
                    rest = framer.step(rest, &mut |frame| layers.frame(frame, turns, sink))?;
                }
            }
            layers.flush(sink)
        })
    }

    /// The input has ended. A pipeline reads one input: what comes after this, or after
    /// [`fail`](Self::fail), is passed over. Fails only if `sink` does.
    pub fn finish(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        let length = self.length;
        self.through(sink, |framer, layers, turns, sink| {
            framer.finish(&mut |frame| layers.frame(frame, turns, sink))?;
            layers.finish(length, sink)?;
            sink.finish()
        })?;
        self.is_over = true;
        Ok(())
    }

    /// Takes the next bytes, and returns what came of them: [`feed`](Self::feed) for a program that
    /// has no sink. Text comes in pieces.
    ///
    /// ```
    /// use toolstream::event::Kind;
    /// use toolstream::{Config, Pipeline};
    ///
    /// let mut pipeline = Pipeline::new(&Config::default());
    /// let mut events = pipeline.events(b"{\"message\":{\"content\":\"Hi\"},\"done\":true}\n");
    /// events.extend(pipeline.last_events());
    /// assert!(matches!(events[1].get().kind, Kind::Text(piece) if piece.text == "Hi"));
    /// assert_eq!(events[1].to_string(), r#"{"type":"text","text":"Hi"}"#);
    /// // They may go to another thread.
    /// std::thread::spawn(move || events.len());
    /// ```
    pub fn events(&mut self, bytes: &[u8]) -> Vec<OwnedEvent> {
        let mut events = Vec::new();
        // A list does not fail.
        let _ = self.feed(bytes, &mut events);
        events
    }

    /// The input has ended: returns what was held back, as [`finish`](Self::finish) emits it.
    pub fn last_events(&mut self) -> Vec<OwnedEvent> {
        let mut events = Vec::new();
        let _ = self.finish(&mut events);
        events
    }

    /// A signal stops the program: emits what was held back, and ends the open
    /// message with an error. Fails only if `sink` does.
    pub fn interrupt(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        self.fail(Code::Interrupted, "a signal stopped the program", sink)
    }

    /// Ends the open message with an error of the caller's, as of a connection that broke, if one is
    /// open or none has come: the rest of the input is not waited for. Fails only if `sink` does.
    pub fn fail(&mut self, code: Code, message: &str, sink: &mut dyn Sink) -> io::Result<()> {
        self.end_with(Failure::new(code, message, None), sink)
    }

    pub(crate) fn end_with(&mut self, failure: Failure<'_>, sink: &mut dyn Sink) -> io::Result<()> {
        let length = self.length;
        self.through(sink, |_, layers, _, sink| {
            if !layers.assembler.is_between() {
                layers
                    .assembler
                    .feed(&Kind::Error(failure).into(), &mut |event| sink.feed(event))?;
            }
            layers.finish(length, sink)?;
            sink.finish()
        })?;
        self.is_over = true;
        Ok(())
    }

    /// Runs the layers, with the sink that adds turns before `sink` if they are wanted. Once the sink
    /// has failed, or the input has ended, they are not run again.
    fn through(
        &mut self,
        sink: &mut dyn Sink,
        run: impl FnOnce(&mut AutoFramer, &mut Layers, Option<&Turns>, &mut dyn Sink) -> io::Result<()>,
    ) -> io::Result<()> {
        let Pipeline { framer, layers, turns, failed, is_over, .. } = self;
        failed.check()?;
        if *is_over {
            return Ok(());
        }
        failed.note(match turns {
            Some(turns) => run(framer, layers, Some(turns), &mut turns.tap(sink)),
            None => run(framer, layers, None, sink),
        })
    }
}

/// True if records that repeat the last one need not be decoded. Where text holds markup, the end of
/// a record is not the end of what came of it.
fn may_repeat(config: &Config) -> bool {
    let is_plain = matches!(config.dialect, Selection::Default | Selection::None);
    let has_dialect = |row: &&format::Format| row.dialect.is_some();
    let is_plain = is_plain
        && config.start_in.is_none()
        && !config.own.iter().chain(&config.format).any(has_dialect);
    config.repeat && (is_plain || !config.records)
}

/// The layers after the framer.
struct Layers {
    config: Config,
    repeats: Repeats,
    decoder: AutoDecoder,
    halves: Halves,
    markup: Dressing,
    assembler: Assembler,
    /// True if the input ended inside a frame.
    is_torn: bool,
}

impl Layers {
    /// Returns the layers for one input, or for one response of several.
    fn new(config: &Config) -> Self {
        // What is framed as text, as somebody said, is text.
        let is_text = config.framing.is_some_and(Framing::is_text);
        let text = is_text.then_some(&format::text::FORMAT);
        let formats = KnownFormats { asked: config.format.or(text), ..config.formats() };
        let markup = Markup::new(
            &config.dialect,
            config.start_in,
            config.at_end,
            config.tools.clone(),
            config.assembly.max_args,
        );
        Layers {
            config: config.clone(),
            repeats: Repeats::new(may_repeat(config), config.turn, config.frame),
            decoder: AutoDecoder::new(formats, config.finds_ours),
            halves: Halves::default(),
            markup: Dressing::new(
                dressing::of_text(config.from, &config.dialect),
                Arc::clone(&config.sent),
                config.at_end,
                markup,
            ),
            assembler: Assembler::new(
                config.assembly.clone(),
                config.tools.clone(),
                config.format.map(|format| format.name),
            ),
            is_torn: false,
        }
    }

    /// Takes a frame through all layers.
    fn frame(
        &mut self,
        framed: Framed<'_>,
        turns: Option<&Turns>,
        sink: &mut dyn Sink,
    ) -> io::Result<()> {
        let frame = match framed {
            Framed::Frame(frame) => frame,
            Framed::Comment => {
                self.flush(sink)?;
                return sink.feed(&Kind::Record.into());
            }
            Framed::Next(offset) => return self.next(offset, sink),
            Framed::Fault(fault) => return self.fault(&fault, sink),
        };
        if self.repeats.take_frame(&frame) {
            return Ok(());
        }
        self.flush(sink)?;
        if self.assembler.is_between() {
            self.decoder.reopen(&frame);
        }
        let Layers { repeats, decoder, halves, markup, assembler, .. } = self;
        let marks_records = self.config.records;
        assembler.set_framing(frame.framing.name);
        markup.set_plain(frame.framing.is_text());
        let mut frame = frame;
        if let Some(turns) = turns.filter(|_| frame.framing.is_text()) {
            frame.data = frame.data.get(..turns.room()).unwrap_or(frame.data);
        }
        let mut misnamed = Misnamed::new(&frame);
        repeats.feed(frame, decoder, halves, &mut |event| {
            let completed = misnamed.complete(event);
            let event = completed.as_ref().unwrap_or(event);
            if let (Kind::Start(start), Some(turns)) = (event.kind, turns) {
                turns.begin(&start);
            }
            markup.feed(event, &mut |event| assembler.feed(event, &mut |event| sink.feed(event)))
        })?;
        if marks_records {
            sink.feed(&Kind::Record.into())?;
        }
        let Some(message) = turns.and_then(Turns::overflow) else { return Ok(()) };
        self.release(sink)?;
        let failure = Kind::Error(Failure::new(Code::Limit, &message, None));
        self.assembler.feed(&failure.into(), &mut |event| sink.feed(event))
    }

    /// Emits the texts of the records that were taken as repeats.
    fn flush(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        let Layers { config, repeats, decoder, markup, assembler, .. } = self;
        let mut feed = |pieces: Pieces<'_>, sink: &mut dyn Sink| {
            markup.feed_pieces(pieces, &mut |pieces| {
                assembler.feed_pieces(pieces, &mut |pieces| match pieces.only() {
                    Some(event) => sink.feed(&event),
                    None => sink.feed_pieces(pieces),
                })
            })
        };
        repeats.flush(decoder, &mut |pieces| match pieces.event.kind {
            // Each piece is all that came of its record.
            kind if config.records && kind.text().is_some() => {
                pieces.events().try_for_each(|event| {
                    feed(event.into(), sink)?;
                    sink.feed(&Kind::Record.into())
                })
            }
            _ => feed(pieces, sink),
        })?;
        if !config.records {
            return Ok(());
        }
        (0..repeats.flush_silent()).try_for_each(|_| sink.feed(&Kind::Record.into()))
    }

    /// Reports what is wrong with the bytes themselves.
    #[cold]
    fn fault(&mut self, fault: &Fault<'_>, sink: &mut dyn Sink) -> io::Result<()> {
        self.flush(sink)?;
        let is_note = matches!(fault.kind, FaultKind::Note(_)) && !fault.raw.is_empty();
        if is_note && self.decoder.finds_record(&fault.raw) {
            if fault.raw.starts_with(BYTE_ORDER_MARK) {
                // The standard passes over a field whose name a mark spoils: no call that is open may run.
                report(fault, &mut self.assembler, sink)?;
                let lost = Kind::Loose(Loose::Lost).into();
                return self.assembler.feed(&lost, &mut |event| sink.feed(event));
            }
            let message = "a record stands in a line after something else, and can't be read";
            let raw = fault.raw.clone();
            let fault = Fault::new(FaultKind::Malformed, message, fault.offset).with_raw(raw);
            return report(&fault, &mut self.assembler, sink);
        }
        match fault.kind {
            FaultKind::Limit => self.release(sink)?,
            // Bytes are missing before the end of the input, or can't be read.
            FaultKind::Truncated | FaultKind::Broken => {
                self.is_torn = true;
                self.markup.cut();
            }
            _ => {}
        }
        report(fault, &mut self.assembler, sink)
    }

    /// Ends the input before this offset: what follows is read as another one.
    fn next(&mut self, offset: u64, sink: &mut dyn Sink) -> io::Result<()> {
        if self.assembler.is_stopped() {
            return Ok(());
        }
        self.finish(offset, sink)?;
        *self = Layers::new(&self.config);
        Ok(())
    }

    /// Ends the input after `length` bytes. One that ends inside a frame ends no
    /// call and no message: what the frame would have said is not known.
    fn finish(&mut self, length: u64, sink: &mut dyn Sink) -> io::Result<()> {
        self.flush(sink)?;
        let Layers { config, decoder, halves, markup, assembler, is_torn, .. } = self;
        let mut emit = |event: &Event<'_>| {
            if *is_torn && is_of_the_end(&event.kind) {
                return Ok(());
            }
            markup.feed(event, &mut |event| assembler.feed(event, &mut |event| sink.feed(event)))
        };
        let mut out = EventOut::new(&mut emit, halves, length).with_native(config.turn);
        decoder.finish(&mut out)?;
        out.flush()?;
        self.release(sink)?;
        if let Some(format) = self.decoder.format() {
            self.assembler.set_format(format.name);
        }
        self.assembler.finish(length, &mut |event| sink.feed(event))
    }

    /// Emits text that was held back: no more will come.
    fn release(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        let Layers { markup, assembler, .. } = self;
        markup.finish(&mut |event| assembler.feed(event, &mut |event| sink.feed(event)))
    }
}

/// True for what a decoder emits only where nothing is missing before the end of the input.
fn is_of_the_end(kind: &Kind<'_>) -> bool {
    let is_done = |code| code == WarningCode::MissingDone;
    matches!(kind, Kind::Loose(Loose::CallEnd(_) | Loose::Released | Loose::End))
        || matches!(kind, Kind::Warning(warning) if is_done(warning.code))
}

/// Reports what is wrong with the bytes themselves: an error, or a warning.
fn report(fault: &Fault<'_>, assembler: &mut Assembler, sink: &mut dyn Sink) -> io::Result<()> {
    let text = String::from_utf8_lossy(&fault.raw);
    let raw = Some(Output::Text(&text)).filter(|_| !fault.raw.is_empty());
    let offset = Some(fault.offset);
    let message = fault.message.as_str();
    let mut emit = |event: &Event<'_>| sink.feed(event);
    if let FaultKind::Note(code) = fault.kind {
        let warning = Warning { code, message, offset, index: None };
        return assembler.feed(&Kind::Warning(warning).into(), &mut emit);
    }
    let Some(code) = error_code(fault.kind) else { return Ok(()) };
    let failure = Failure { raw, ..Failure::new(code, message, offset) };
    match fault.kind {
        FaultKind::Broken => assembler.lose_the_rest(),
        FaultKind::Gateway => {
            let failure = Failure { retryable: Some(true), ..failure };
            return assembler.feed(&Kind::Error(failure).into(), &mut emit);
        }
        FaultKind::Tool(status) => {
            let retryable = status.and_then(error::is_retryable_status);
            let failure = Failure { status, retryable, ..failure };
            return assembler.feed(&Kind::Error(failure).into(), &mut emit);
        }
        FaultKind::Status(status) => {
            let word = status.to_string();
            let provider_code = Some(word.as_str());
            let retryable = error::is_retryable_status(status);
            let failure = Failure { provider_code, status: Some(status), retryable, ..failure };
            return assembler.feed(&Kind::Error(failure).into(), &mut emit);
        }
        _ => {}
    }
    assembler.feed(&Kind::Error(failure).into(), &mut emit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_its_end_nothing_comes() {
        for text in ["", "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: {"] {
            let mut pipeline = Pipeline::new(&Config::default());
            let mut events = pipeline.events(text.as_bytes());
            pipeline.fail(Code::Truncated, "it broke", &mut events).unwrap();
            assert!(matches!(events.last().map(|event| event.get().kind), Some(Kind::Error(_))));
            assert!(pipeline.events(b"data: {}\n\n").is_empty());
            assert!(pipeline.last_events().is_empty());
        }
    }

    #[test]
    fn may_be_moved_to_another_thread() {
        fn check<T: Send>() {}
        check::<Pipeline>();
    }
}
