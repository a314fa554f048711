//! Framing: bytes in, frames out. Knows nothing of JSON's meaning or of
//! providers.
//!
//! A framer takes bytes as they were read, cut anywhere, and hands on each
//! frame when its last byte has come. What it can't frame it reports as a
//! [`Fault`] and reads on behind it where that is possible.

mod event_stream;
mod header;
pub mod http;
mod json;
mod ndjson;
mod sse;
mod text;

use std::io;

pub use header::{Header, HeaderValue};

/// The framing whose payloads may be no text.
pub const EVENT_STREAM: &str = event_stream::NAME;

/// One record of the stream. It lives for one call.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The framing that it came in.
    pub framing: &'static str,
    /// Its name, if the framing has names; empty otherwise.
    pub event_type: &'a str,
    /// What it says beside its payload; only an AWS event stream has such.
    pub headers: &'a [Header<'a>],
    /// Its payload.
    pub data: &'a [u8],
    /// The last event id of an event stream; empty otherwise.
    pub id: &'a str,
    /// Where it begins in the input, in bytes.
    pub offset: u64,
}

impl<'a> Frame<'a> {
    /// The header of this name, if there is one and it is text.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        event_stream::text(self.headers, name)
    }

    /// Whether it is `[DONE]`: some end a stream with it, and some gateways do so
    /// behind every format.
    pub fn is_done(&self) -> bool {
        self.data.trim_ascii() == sse::DONE
    }

    /// Whether it is no event: its framing says that the service failed.
    pub fn is_failure(&self) -> bool {
        matches!(self.header(":message-type"), Some("exception" | "error"))
    }
}

/// What is wrong with the bytes themselves.
#[derive(Clone, Debug)]
pub struct Fault<'a> {
    /// How bad it is.
    pub kind: FaultKind,
    /// A word for scripts, where the fault is only noted.
    pub code: &'static str,
    /// A sentence for people.
    pub message: String,
    /// Where, in bytes.
    pub offset: u64,
    /// The bytes that are in no frame.
    pub raw: &'a [u8],
}

/// How bad a fault is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Something was inferred or passed over, and nothing is lost.
    Note,
    /// Some bytes are no frame; reading goes on behind them.
    Malformed,
    /// Some bytes are no frame, and where the next one begins can't be told:
    /// what follows is counted, and not read.
    Broken,
    /// The input ended inside a frame.
    Truncated,
    /// A frame is larger than allowed; nothing more is read.
    Limit,
    /// The input is of no kind that can be read; nothing more is read.
    Unrecognised,
    /// The HTTP head in front of the input says that the request failed.
    Status,
}

/// What a framer gives out.
pub type FrameResult<'a> = Result<Frame<'a>, Fault<'a>>;

/// Where a framer hands on what it has completed.
pub type FrameOut<'o> = dyn TakeFrames + 'o;

/// Who takes frames. Fails only if writing does.
pub trait TakeFrames {
    /// Takes a frame, or what is wrong with the bytes.
    fn frame(&mut self, frame: FrameResult<'_>) -> io::Result<()>;
    /// Takes the data of the next frame if it looks like that of the last one,
    /// whatever that means, and tells how long it is. Else it is 0, and the frame
    /// has to be told apart first.
    fn alike(&mut self, _next: &Next<'_>) -> usize {
        0
    }
}

impl<F: FnMut(FrameResult<'_>) -> io::Result<()>> TakeFrames for F {
    fn frame(&mut self, frame: FrameResult<'_>) -> io::Result<()> {
        self(frame)
    }
}

/// What a frame is if its data is one JSON object on one line.
#[derive(Clone, Copy, Debug)]
pub struct Next<'a> {
    /// Its name.
    pub event_type: &'a str,
    /// Its data, and what follows.
    pub bytes: &'a [u8],
    /// What has to follow right behind its data.
    pub end: &'static [u8],
}

/// Turns bytes into frames.
pub trait Framer {
    /// Takes the next bytes. Fails only if `out` does.
    fn feed(&mut self, bytes: &[u8], out: &mut FrameOut<'_>) -> io::Result<()>;
    /// The input has ended: gives out what was held back, or says what is
    /// missing.
    fn finish(&mut self, out: &mut FrameOut<'_>) -> io::Result<()>;
}

/// What all framers are told.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Follow the specification to the letter: no repair, and what the end of
    /// the input cut is dropped.
    pub strict: bool,
    /// The largest frame, in bytes; 0 is no limit.
    pub max_event: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { strict: false, max_event: 256 << 20 }
    }
}

impl Settings {
    /// Whether a frame of this size is too large.
    fn is_over(&self, size: usize) -> bool {
        self.max_event != 0 && size > self.max_event
    }

    /// The bytes that a frame may take of these.
    fn within<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        match self.max_event {
            0 => bytes,
            max => bytes.get(..max).unwrap_or(bytes),
        }
    }

    fn limit_fault(&self, offset: u64) -> Fault<'static> {
        let message = format!("one event is larger than --max-event {}", self.max_event);
        Fault { kind: FaultKind::Limit, code: "max_event", message, offset, raw: &[] }
    }
}

/// What a layer that chooses its own row knows so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniff {
    /// It's not this one.
    No,
    /// It can be this one, with more bytes to tell; if none come, it isn't.
    More,
    /// It's this one as far as it goes; if no more bytes come, it is.
    Likely,
    /// It is this one.
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
    /// What it is, in a line.
    pub about: &'static str,
    /// Whether an input that begins like this is framed so.
    pub sniff: fn(&[u8]) -> Sniff,
    /// A new framer.
    pub framer: fn(Settings) -> Box<dyn Framer>,
}

/// Every framing. Detection takes the first row that says yes while no row
/// above it may still do so.
pub static FRAMINGS: &[&Framing] = &[
    &event_stream::FRAMING,
    &sse::FRAMING,
    &ndjson::FRAMING,
    &ndjson::CODED,
    &json::ARRAY,
    &json::FRAMING,
    &text::FRAMING,
];

/// The framing of this name.
pub fn find(name: &str) -> Option<&'static Framing> {
    FRAMINGS.iter().copied().find(|framing| framing.name == name)
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The bytes without a byte order mark at their beginning.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Whether these bytes are a byte order mark that isn't whole.
pub(crate) fn is_begun_mark(bytes: &[u8]) -> bool {
    matches!(bytes.len(), 1 | 2) && BYTE_ORDER_MARK.starts_with(bytes)
}

/// The first bytes that matter: without a byte order mark and white space.
pub(crate) fn skip_blank(head: &[u8]) -> &[u8] {
    without_mark(head).trim_ascii_start()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Frames as `event|data` lines and faults as `!kind`, for whole input and
    /// for every piece size: all must agree.
    #[track_caller]
    pub(crate) fn check(framing: &Framing, strict: bool, input: &[u8], expected: &[&str]) {
        for size in (1..=4).chain([input.len().max(1)]) {
            let mut framer = (framing.framer)(Settings { strict, ..Settings::default() });
            let mut got = Vec::new();
            let mut out = |frame: Result<Frame<'_>, Fault<'_>>| {
                got.push(match frame {
                    Ok(f) => format!("{}|{}", f.event_type, String::from_utf8_lossy(f.data)),
                    Err(fault) => format!("!{:?} {}", fault.kind, fault.offset),
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
