//! The framers' trait, what they emit, and the row of a framing.

use std::borrow::Cow;
use std::io;

use crate::cut::Cut as _;
use crate::event::WarningCode;
use crate::frame::header::{self, Header};
use crate::json::RawJson;

/// The payload that ends a stream by convention.
pub(super) const DONE: &[u8] = b"[DONE]";

/// One record of the stream. It is borrowed for one call.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The framing that it came in.
    pub framing: &'static Framing,
    /// Its name, in a framing that has names; empty otherwise.
    pub event_type: &'a str,
    /// Its headers; only an AWS event stream has them.
    pub headers: &'a [Header<'a>],
    /// Its payload.
    pub data: &'a [u8],
    /// The last event id of an event stream; empty otherwise.
    pub id: &'a str,
    /// The offset of its first byte in the input.
    pub offset: u64,
    /// Its payload again, if it is a part of a record: that is known to be JSON.
    pub(crate) json: Option<&'a str>,
}

/// Returns bytes as text, with U+FFFD in place of what is not UTF-8.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

impl<'a> Frame<'a> {
    /// Returns a frame without a name, headers and an id.
    pub fn new(framing: &'static Framing, data: &'a [u8], offset: u64) -> Self {
        Frame { framing, event_type: "", headers: &[], data, id: "", offset, json: None }
    }

    /// Returns this frame with another payload.
    pub fn with<'b>(&self, data: &'b [u8]) -> Frame<'b>
    where
        'a: 'b,
    {
        Frame { data, json: None, ..*self }
    }

    /// Returns this frame with a part of its payload in place of it.
    pub(crate) fn part<'b>(&self, json: RawJson<'b>) -> Frame<'b>
    where
        'a: 'b,
    {
        Frame { json: Some(json.get()), ..self.with(json.get().as_bytes()) }
    }

    /// Returns the header of this name, if there is one and it is text.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        header::text(self.headers, name)
    }

    /// Returns its payload as text, with U+FFFD in place of what is not UTF-8.
    pub fn text(&self) -> Cow<'a, str> {
        if let Some(json) = self.json {
            return Cow::Borrowed(json);
        }
        lossy(self.data)
    }

    /// True if it is `[DONE]`: some formats end a stream with it, and some
    /// gateways send it after every format.
    pub fn is_done(&self) -> bool {
        self.data.trim_ascii() == DONE
    }

    /// True if its headers say that the service failed: it is no event then.
    pub fn is_failure(&self) -> bool {
        matches!(self.header(":message-type"), Some("exception" | "error"))
    }
}

/// Bytes that are no frame, or a repair that made them one.
#[derive(Clone, Debug)]
pub struct Fault<'a> {
    /// Its severity, and the consequence for the input.
    pub kind: FaultKind,
    /// A sentence for people.
    pub message: String,
    /// Its offset in the input, in bytes.
    pub offset: u64,
    /// The bytes that are in no frame; empty if they are not known.
    pub raw: Cow<'a, [u8]>,
}

impl<'a> Fault<'a> {
    /// Returns a fault at this offset, whose bytes are not known.
    pub(crate) fn new(kind: FaultKind, message: impl Into<String>, offset: u64) -> Self {
        Fault { kind, message: message.into(), offset, raw: Cow::Borrowed(&[]) }
    }

    /// Returns a note, of which nothing is lost.
    pub(crate) fn note(code: WarningCode, message: impl Into<String>, offset: u64) -> Self {
        Fault::new(FaultKind::Note(code), message, offset)
    }

    /// Returns the fault with the bytes that are in no frame.
    pub(crate) fn with_raw(self, raw: impl Into<Cow<'a, [u8]>>) -> Self {
        Fault { raw: raw.into(), ..self }
    }
}

/// The severity of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Something was inferred or skipped, and nothing is lost; unless what was skipped, which `raw`
    /// has, holds a record.
    Note(WarningCode),
    /// Some bytes are no frame; framing goes on after them.
    Malformed,
    /// Some bytes are no frame, and it is not known where the next one begins:
    /// what follows is counted and not framed.
    Broken,
    /// The input ended inside a frame.
    Truncated,
    /// The input ended between frames, before the end that its framing has.
    Unclosed,
    /// A frame is larger than the limit; nothing more is framed.
    Limit,
    /// The input is in no known framing; nothing more is framed.
    Unrecognised,
    /// An HTTP head before the input has this status, which is a failure.
    Status(u16),
    /// The input is the error of a gateway, in plain text.
    Gateway,
    /// The input is what a program printed that could not fetch an answer, and the status that it
    /// says it was given.
    Tool(Option<u16>),
}

/// What a framer emits.
#[derive(Clone, Debug)]
pub enum Framed<'a> {
    /// A record of the stream.
    Frame(Frame<'a>),
    /// A comment between frames, which keeps a connection alive.
    Comment,
    /// Another response of HTTP begins at this offset: what follows is an input of its own.
    Next(u64),
    /// Bytes that are no frame, or a repair.
    Fault(Fault<'a>),
}

impl Framed<'_> {
    /// Returns this with the offset that `place` gives for its own.
    pub(super) fn at(self, place: impl FnOnce(u64) -> u64) -> Self {
        match self {
            Framed::Frame(frame) => Framed::Frame(Frame { offset: place(frame.offset), ..frame }),
            Framed::Comment => Framed::Comment,
            Framed::Next(offset) => Framed::Next(place(offset)),
            Framed::Fault(fault) => Framed::Fault(Fault { offset: place(fault.offset), ..fault }),
        }
    }
}

/// Takes what a framer emits. Fails only if writing does.
pub type FrameOut<'o> = dyn FnMut(Framed<'_>) -> io::Result<()> + 'o;

/// Turns bytes into frames.
pub trait Framer: Send {
    /// Takes bytes up to the end of the next frame, or all of them, and returns
    /// the rest. Fails only if `out` does.
    fn step<'b>(&mut self, bytes: &'b [u8], out: &mut FrameOut<'_>) -> io::Result<&'b [u8]>;
    /// The input has ended: emits what was held back, or a fault that says what
    /// is missing.
    fn finish(&mut self, out: &mut FrameOut<'_>) -> io::Result<()>;
    /// Takes all of these bytes. Fails only if `out` does.
    fn feed(&mut self, bytes: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = self.step(rest, out)?;
        }
        Ok(())
    }
    /// Returns what surrounded the data of the last frame, if the next byte
    /// begins a frame and the last one was one line of data.
    fn envelope(&self) -> Option<FrameEnvelope<'_>> {
        None
    }
    /// Counts bytes that are not framed: a frame with the envelope of the last
    /// one, and the envelope with it.
    fn skip(&mut self, _bytes: usize) {}
}

/// The bytes around the data of a frame, and the name that they give it.
#[derive(Clone, Copy, Debug)]
pub struct FrameEnvelope<'a> {
    /// The bytes before the data.
    pub head: &'a [u8],
    /// The name that these bytes give the frame; empty if they give none.
    pub event_type: &'a str,
    /// The bytes after the data. The data holds none of them.
    pub tail: &'static [u8],
}

/// The options of every framer.
#[derive(Clone, Copy, Debug)]
pub struct FrameConfig {
    /// Follow the specification to the letter: repair nothing, and drop a frame
    /// that the end of the input cut.
    pub strict: bool,
    /// The largest frame, in bytes; 0 is no limit.
    pub max_event: usize,
    /// Also emit [`Framed::Comment`].
    pub comments: bool,
}

impl Default for FrameConfig {
    fn default() -> Self {
        FrameConfig { strict: false, max_event: 256 << 20, comments: false }
    }
}

impl FrameConfig {
    /// True if a frame of `size` bytes is over the limit.
    pub(super) fn is_over(&self, size: usize) -> bool {
        self.max_event != 0 && size > self.max_event
    }

    /// Returns as many of these bytes as one frame may have.
    pub(crate) fn within<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        match self.max_event {
            0 => bytes,
            max => bytes.before(max),
        }
    }

    pub(super) fn limit_fault(&self, offset: u64) -> Fault<'static> {
        let message = format!("one event is larger than --max-event {}", self.max_event);
        Fault::new(FaultKind::Limit, message, offset)
    }
}

/// The verdict on an input in a framing, or on a record in a format, as far as is
/// known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniff {
    /// It is not.
    No,
    /// More bytes may show that it is; if none come, it is not.
    More,
    /// More bytes may show that it is not; if none come, it is.
    Likely,
    /// It is.
    Yes,
}

impl From<bool> for Sniff {
    fn from(is_it: bool) -> Self {
        if is_it { Sniff::Yes } else { Sniff::No }
    }
}

/// A row of the table of framings.
#[derive(Debug)]
pub struct Framing {
    /// Its name on the command line and in the output.
    pub name: &'static str,
    /// A line about it, for lists.
    pub about: &'static str,
    /// The payload of each frame.
    pub content: Content,
    /// True if formats that end with `[DONE]` do so in this framing.
    pub ends_with_done: bool,
    /// The kind of input that comes in it.
    pub holds: Holds,
    /// Tells whether an input that begins with these bytes is in it.
    pub sniff: fn(&[u8]) -> Sniff,
    /// Returns a new framer.
    pub framer: fn(FrameConfig) -> Box<dyn Framer>,
    /// The media type of a body in it.
    pub media_type: &'static str,
    /// The text that may stand before any frame and means nothing; empty if there is none.
    pub idle: &'static str,
    /// Adds a record to a stream: its name, if the framing has names, and its payload, of a line.
    /// In an AWS event stream it is an exception. None where there are no records.
    pub add: Option<fn(stream: &mut Vec<u8>, name: &str, data: &str)>,
}

/// The kind of input that comes in a framing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A whole body, or several one after another.
    Body,
    /// A stream: a frame is a part of a message.
    Stream,
    /// A body that is one line, or a stream of lines.
    Either,
}

/// The payload of the frames of a framing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// One JSON value each, or a word such as `[DONE]`.
    Json,
    /// One JSON value each, and a code before it that is the frame's name.
    CodedJson,
    /// Bytes that need not be text, with headers.
    Binary,
    /// Text, cut anywhere.
    Text,
}

impl Framing {
    /// True if the input is plain text.
    pub fn is_text(&self) -> bool {
        self.content == Content::Text
    }

    /// True if each frame has a code for its name.
    pub fn is_coded(&self) -> bool {
        self.content == Content::CodedJson
    }
}

/// The names of the fields of an event stream that are read, `error` of llama.cpp among them.
pub(super) const FIELDS: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b"error"];

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns the bytes after a byte order mark, or all of them.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// True if these bytes are the beginning of a byte order mark, and no more.
pub(crate) fn is_begun_mark(bytes: &[u8]) -> bool {
    matches!(bytes.len(), 1 | 2) && BYTE_ORDER_MARK.starts_with(bytes)
}

/// Returns the bytes after a byte order mark and white space.
pub(crate) fn skip_blank(head: &[u8]) -> &[u8] {
    without_mark(head).trim_ascii_start()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Checks the frames, as `event|data`, and the faults, as `!kind offset`, of
    /// an input fed whole and in pieces of several sizes.
    #[track_caller]
    pub(crate) fn check(framing: &Framing, strict: bool, input: &[u8], expected: &[&str]) {
        for size in (1..=4).chain([input.len().max(1)]) {
            let mut framer = (framing.framer)(FrameConfig { strict, ..FrameConfig::default() });
            let mut got = Vec::new();
            let mut out = |framed: Framed<'_>| {
                got.push(match framed {
                    Framed::Frame(f) => format!("{}|{}", f.event_type, f.text()),
                    Framed::Fault(Fault { kind: FaultKind::Note(_), offset, .. }) => {
                        format!("!Note {offset}")
                    }
                    Framed::Fault(fault) => format!("!{:?} {}", fault.kind, fault.offset),
                    Framed::Comment | Framed::Next(_) => return Ok(()),
                });
                Ok(())
            };
            for piece in input.chunks(size) {
                framer.feed(piece, &mut out).unwrap();
            }
            framer.finish(&mut out).unwrap();
            assert_eq!(got, expected, "in pieces of {size}");
        }
    }
}
