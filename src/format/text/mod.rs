//! Plain text: what a model's process prints, token by token. It names no end
//! of its own; the end of the input is its end.

mod turn;

use std::io;

use crate::cut::Cut as _;
use crate::event::Text;
use crate::format::support::prelude::*;

pub(crate) static FORMAT: Format = Format {
    aliases: &["plain", "plain-text"],
    about: "plain text, as a model's process prints it",
    link: "https://www.unicode.org/versions/latest/core-spec/chapter-3/#G31703",
    evidence: &[],
    sniff: |record: &Record<'_>| record.framing.is_text(),
    request: Some(&turn::REQUEST),
    ..Format::new("text", |_| Box::new(Plain::default()))
};

#[derive(Default)]
struct Plain {
    /// The beginning of a character whose other bytes haven't come.
    held: Vec<u8>,
    /// The offset of the next bytes in the input.
    offset: u64,
    started: bool,
    /// True if invalid bytes have been warned of.
    warned: bool,
}

impl Plain {
    /// Emits the text of some bytes, all but a character cut at their end,
    /// whose bytes it gives back.
    fn emit<'b>(&mut self, bytes: &'b [u8], out: &mut EventOut) -> io::Result<&'b [u8]> {
        if let Ok(whole) = simdutf8::basic::from_utf8(bytes) {
            text(whole, out)?;
            self.offset += bytes.len() as u64;
            return Ok(&[]);
        }
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            at += chunk.valid().len();
            text(chunk.valid(), out)?;
            let (invalid, size) = (chunk.invalid(), chunk.invalid().len());
            if at + size == bytes.len() && is_prefix(invalid) {
                break;
            }
            if size > 0 {
                self.replace("bytes that are not UTF-8 were replaced", at, out)?;
            }
            at += size;
        }
        self.offset += at as u64;
        Ok(bytes.after(at))
    }

    /// Reports that bytes are no text, the first time that there are such.
    fn replace(&mut self, message: &str, at: usize, out: &mut EventOut) -> Done {
        out.offset = self.offset + at as u64;
        if !std::mem::replace(&mut self.warned, true) {
            out.warn(WarningCode::InvalidUtf8, message)?;
        }
        text("\u{FFFD}", out)
    }
}

fn text(text: &str, out: &mut EventOut) -> Done {
    if text.is_empty() {
        return Ok(());
    }
    out.native(0, Of::Message, Piece::part(text))?;
    out.emit(0, Kind::Text(Text::new(text)))
}

/// True if more bytes can make these one character.
pub(super) fn is_prefix(bytes: &[u8]) -> bool {
    let Err(error) = std::str::from_utf8(bytes) else { return false };
    error.valid_up_to() == 0 && error.error_len().is_none()
}

impl Decoder for Plain {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if !std::mem::replace(&mut self.started, true) {
            out.start(FORMAT.name, None, None)?;
        }
        let mut bytes = frame.data;
        // A character that was cut takes byte by byte what it lacks.
        while !self.held.is_empty() && !bytes.is_empty() {
            let (byte, rest) = bytes.split_at(1);
            bytes = rest;
            let mut held = std::mem::take(&mut self.held);
            held.extend_from_slice(byte);
            let kept = self.emit(&held, out)?.to_vec();
            self.held = kept;
        }
        let kept = self.emit(bytes, out)?;
        self.held.extend_from_slice(kept);
        Ok(())
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if !self.held.is_empty() {
            self.held.clear();
            self.replace("the input ended inside a character", 0, out)?;
        }
        if !self.started {
            return Ok(());
        }
        out.infer_finish(0, FinishReason::Stop, None)?;
        out.end()
    }
}
