//! `frames`: one line a frame, framing only, no meaning.

use std::io::{self, Write};

use super::Label;
use super::line::Line;
use crate::event::Code;
use crate::frame::{Fault, FaultKind, Frame};

/// What a framer gives out.
pub type FrameResult<'a> = Result<Frame<'a>, Fault<'a>>;

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
    pub fn feed(&mut self, frame: &FrameResult<'_>) -> io::Result<()> {
        match frame {
            Ok(frame) => self.frame(frame),
            Err(fault) => match error_code(fault.kind) {
                Some(code) => self.error(code, &fault.message, fault.offset),
                None => Ok(()),
            },
        }
    }

    /// Prints an error that no framer has told of.
    pub fn error(&mut self, code: Code, message: &str, offset: u64) -> io::Result<()> {
        self.line.begin("error");
        self.line.word("code", code.name());
        self.line.text("message", message);
        self.line.number("offset", offset);
        self.out.write_all(self.line.end(0, &self.label))
    }

    /// Writes out what is complete: the next read may block.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// `message` is the type that an event stream's event has anyway. Bytes
    /// that are no UTF-8 become U+FFFD, as the WHATWG Encoding standard says.
    fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let line = &mut self.line;
        line.clear();
        line.open();
        if !matches!(frame.event_type, "" | "message") {
            line.text("event", frame.event_type);
        }
        line.text("data", &String::from_utf8_lossy(frame.data));
        if !frame.id.is_empty() {
            line.text("id", frame.id);
        }
        line.number("offset", frame.offset);
        self.out.write_all(line.end(0, &self.label))
    }
}

/// The error that a fault is; none for a note.
pub fn error_code(kind: FaultKind) -> Option<Code> {
    match kind {
        FaultKind::Note => None,
        FaultKind::Malformed => Some(Code::Malformed),
        FaultKind::Truncated => Some(Code::Truncated),
        FaultKind::Limit => Some(Code::Limit),
        FaultKind::Unrecognised => Some(Code::Unrecognised),
        FaultKind::Status => Some(Code::Provider),
    }
}
