//! `frames`: one line a frame, framing only, no meaning.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::event::Code;
use crate::frame::{Content, FaultKind, Frame, Framed, Header, HeaderValue};
use crate::json::{self, Line};
use crate::sink::Label;

/// Prints frames, and the faults that are more than notes.
pub struct Frames<W> {
    out: W,
    label: Label,
    line: Line,
}

impl<W: Write> Frames<W> {
    /// Prints to `out`, and adds `label` to every line.
    pub fn new(out: W, label: Label) -> Self {
        Frames { out, label, line: Line::default() }
    }

    /// Takes what a framer gives out. Fails only if writing does.
    pub fn feed(&mut self, framed: &Framed<'_>) -> io::Result<()> {
        match framed {
            Framed::Frame(frame) => self.frame(frame),
            Framed::Comment | Framed::Next(_) => Ok(()),
            Framed::Fault(fault) => match error_code(fault.kind) {
                Some(code) => self.error(code, &fault.message, fault.offset),
                None => Ok(()),
            },
        }
    }

    /// Prints an error that comes from no framer.
    pub fn error(&mut self, code: Code, message: &str, offset: u64) -> io::Result<()> {
        self.line.begin("error");
        self.line.word("code", code.name());
        self.line.text("message", message);
        self.line.number("offset", offset);
        self.label.end(0, &mut self.line);
        self.line.write_to(&mut self.out)
    }

    /// Writes out what is complete: the next read may block.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// `message` is the type that an event of SSE has anyway. Bytes that are no
    /// UTF-8 become U+FFFD, as the WHATWG Encoding standard says; where a
    /// payload need not be text, they are kept.
    fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let is_binary = frame.framing.content == Content::Binary;
        let line = &mut self.line;
        line.open();
        if is_binary {
            headers(frame.headers, line);
        } else if !matches!(frame.event_type, "" | "message") {
            line.text("event", frame.event_type);
        }
        match std::str::from_utf8(frame.data) {
            Err(_) if is_binary => line.text("data_base64", &BASE64.encode(frame.data)),
            _ => line.text("data", &frame.text()),
        }
        if !frame.id.is_empty() {
            line.text("id", frame.id);
        }
        line.number("offset", frame.offset);
        self.label.end(0, line);
        line.write_to(&mut self.out)
    }
}

/// Adds a message's headers: an object of their names. Bytes stand in it as
/// base64, times as milliseconds since 1970.
fn headers(headers: &[Header<'_>], line: &mut Line) {
    line.open_member("headers");
    for header in headers {
        match &header.value {
            HeaderValue::Flag(flag) => {
                line.named(&header.name, if *flag { "true" } else { "false" })
            }
            HeaderValue::Number(number) | HeaderValue::Time(number) => {
                line.named(&header.name, &number.to_string())
            }
            HeaderValue::Bytes(bytes) => {
                line.named(&header.name, &json::quote(&BASE64.encode(bytes)))
            }
            HeaderValue::Text(text) => line.named(&header.name, &json::quote(text)),
            HeaderValue::Uuid(uuid) => line.named(&header.name, &json::quote(&hyphenated(uuid))),
        }
    }
    line.close();
}

/// A UUID as RFC 9562 writes it.
fn hyphenated(uuid: &[u8; 16]) -> String {
    let mut text = String::new();
    for (at, byte) in uuid.iter().enumerate() {
        let hyphen = if matches!(at, 4 | 6 | 8 | 10) { "-" } else { "" };
        text.push_str(&format!("{hyphen}{byte:02x}"));
    }
    text
}

/// Returns the error that a fault is, if it is one.
pub(crate) fn error_code(kind: FaultKind) -> Option<Code> {
    match kind {
        FaultKind::Note(_) => None,
        FaultKind::Malformed | FaultKind::Broken => Some(Code::Malformed),
        FaultKind::Truncated | FaultKind::Unclosed => Some(Code::Truncated),
        FaultKind::Limit => Some(Code::Limit),
        FaultKind::Unrecognised => Some(Code::Unrecognised),
        FaultKind::Status(_) | FaultKind::Gateway | FaultKind::Tool(_) => Some(Code::Provider),
    }
}
