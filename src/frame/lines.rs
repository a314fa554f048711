//! NDJSON: one JSON value a line. Blank lines, CRLF and a missing last line
//! end are accepted; a line that is plainly not JSON (a banner on standard
//! output) is passed over with a note.

use std::io;

use memchr::memchr;

use super::{Fault, FaultKind, Frame, FrameOut, Framer, Framing, Settings, Sniff, skip_blank};
use crate::json::{Scanner, Status};

pub(super) static FRAMING: Framing = Framing {
    name: "ndjson",
    about: "one JSON value a line",
    sniff,
    framer: |settings| Box::new(Lines { settings, held: Vec::new(), offset: 0, stopped: false }),
};

/// Yes, once the first line is one whole JSON object.
fn sniff(head: &[u8]) -> Sniff {
    let start = skip_blank(head);
    match (start.first(), memchr(b'\n', start)) {
        (None | Some(b'{'), None) => Sniff::More,
        (Some(b'{'), Some(end)) => {
            let mut scanner = Scanner::new(0);
            scanner.push_all(start.get(..end).unwrap_or_default());
            if scanner.status() == Status::Whole { Sniff::Yes } else { Sniff::No }
        }
        _ => Sniff::No,
    }
}

struct Lines {
    settings: Settings,
    /// The beginning of a line whose end hasn't come.
    held: Vec<u8>,
    /// Where in the input the current line begins.
    offset: u64,
    stopped: bool,
}

impl Lines {
    /// Hands on one line, and moves the offset behind it.
    fn line(&mut self, line: &[u8], size: usize, out: &mut FrameOut<'_>) -> io::Result<()> {
        let offset = self.offset;
        if self.settings.is_over(size) {
            self.stopped = true;
            return out(Err(self.settings.limit_fault(offset)));
        }
        self.offset += size as u64;
        let line =
            if offset == 0 { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
        let data = line.trim_ascii();
        match data.first() {
            None => Ok(()),
            Some(b'{' | b'[') => {
                out(Ok(Frame { framing: FRAMING.name, event_type: "", data, id: "", offset }))
            }
            Some(_) => out(Err(Fault {
                kind: FaultKind::Note,
                code: "not_json",
                message: "a line that isn't JSON was passed over".into(),
                offset,
                raw: data,
            })),
        }
    }
}

impl Framer for Lines {
    fn feed(&mut self, bytes: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        let mut rest = bytes;
        while let Some(end) = memchr(b'\n', rest).filter(|_| !self.stopped) {
            let (line, tail) = rest.split_at(end + 1);
            rest = tail;
            if self.held.is_empty() {
                self.line(line, line.len(), out)?;
            } else {
                let mut held = std::mem::take(&mut self.held);
                held.extend_from_slice(line);
                self.line(&held, held.len(), out)?;
                held.clear();
                self.held = held;
            }
        }
        if self.settings.is_over(self.held.len() + rest.len()) && !self.stopped {
            self.stopped = true;
            return out(Err(self.settings.limit_fault(self.offset)));
        }
        if !self.stopped {
            self.held.extend_from_slice(rest);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        let line = std::mem::take(&mut self.held);
        let data = line.trim_ascii();
        let mut scanner = Scanner::new(0);
        scanner.push_all(data);
        if self.stopped || scanner.status() != Status::Open {
            return if self.stopped { Ok(()) } else { self.line(&line, line.len(), out) };
        }
        out(Err(Fault {
            kind: FaultKind::Truncated,
            code: "truncated",
            message: "the input ended inside a line".into(),
            offset: self.offset,
            raw: data,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, expected: &[&str]) {
        super::super::tests::check(&FRAMING, false, input.as_bytes(), expected);
    }

    #[test]
    fn one_value_a_line() {
        check("{\"a\":1}\r\n\n  {\"b\":2}\n{\"c\":3}", &["|{\"a\":1}", "|{\"b\":2}", "|{\"c\":3}"]);
    }

    #[test]
    fn banners_are_noted_and_cut_lines_reported() {
        check("hello\n{\"a\":1}\n{\"b\"", &["!Note 0", "|{\"a\":1}", "!Truncated 14"]);
    }
}
