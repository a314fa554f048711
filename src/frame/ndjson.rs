//! NDJSON: one JSON value a line. Blank lines, CRLF and a missing last line
//! end are accepted; a line that is plainly not JSON (a banner on standard
//! output) is passed over with a note. The AI SDK's data streams are the same
//! with a code in front of each value, which is the frame's name: `0:"Hello"`.

use std::io;

use memchr::memchr;

use crate::frame::{
    Fault, FaultKind, Frame, FrameOut, Framer, Framing, Next, Settings, Sniff, skip_blank,
    without_mark,
};
use crate::json::{Scanner, Status};

pub(super) static FRAMING: Framing = Framing {
    name: "ndjson",
    about: "one JSON value a line",
    sniff,
    framer: |settings| Box::new(Lines::new(FRAMING.name, plain, settings)),
};

pub(super) static CODED: Framing = Framing {
    name: "ai-data",
    about: "one JSON value a line, a code and a colon before it",
    sniff: sniff_coded,
    framer: |settings| Box::new(Lines::new(CODED.name, coded, settings)),
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

/// Yes, once a whole string, array or object stands behind a code and a colon.
fn sniff_coded(head: &[u8]) -> Sniff {
    let start = skip_blank(head);
    match start {
        [] | [b'0'..=b'9' | b'a'..=b'k'] | [b'0'..=b'9' | b'a'..=b'k', b':'] => Sniff::More,
        [b'0'..=b'9' | b'a'..=b'k', b':', rest @ ..]
            if matches!(rest, [b'"' | b'[' | b'{', ..]) =>
        {
            let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let mut scanner = Scanner::new(0);
            scanner.push(line);
            match scanner.status() {
                Status::Whole => Sniff::Yes,
                Status::Open if line.len() == rest.len() => Sniff::More,
                _ => Sniff::No,
            }
        }
        _ => Sniff::No,
    }
}

/// The frame's name in a line, and its payload.
type Split = fn(&[u8]) -> Option<(&str, &[u8])>;

fn plain(line: &[u8]) -> Option<(&str, &[u8])> {
    matches!(line.first(), Some(b'{' | b'[')).then_some(("", line))
}

fn coded(line: &[u8]) -> Option<(&str, &[u8])> {
    let (code, rest) = line.split_at_checked(1).filter(|(code, _)| code.is_ascii())?;
    Some((std::str::from_utf8(code).ok()?, rest.strip_prefix(b":")?.trim_ascii_start()))
}

struct Lines {
    name: &'static str,
    split: Split,
    settings: Settings,
    /// The beginning of a line whose end hasn't come.
    held: Vec<u8>,
    /// Where in the input the current line begins.
    offset: u64,
    stopped: bool,
}

impl Lines {
    fn new(name: &'static str, split: Split, settings: Settings) -> Self {
        Lines { name, split, settings, held: Vec::new(), offset: 0, stopped: false }
    }

    /// Hands on one line, and moves the offset behind it.
    fn line(&mut self, line: &[u8], size: usize, out: &mut FrameOut<'_>) -> io::Result<()> {
        let offset = self.offset;
        if self.settings.is_over(line.strip_suffix(b"\n").unwrap_or(line).len()) {
            self.stopped = true;
            return out.frame(Err(self.settings.limit_fault(offset)));
        }
        self.offset += size as u64;
        let line = if offset == 0 { without_mark(line) } else { line };
        let line = line.trim_ascii();
        match (self.split)(line) {
            _ if line.is_empty() => Ok(()),
            Some((event_type, data)) => out.frame(Ok(Frame {
                framing: self.name,
                event_type,
                headers: &[],
                data,
                id: "",
                offset,
            })),
            None => out.frame(Err(Fault {
                kind: FaultKind::Note,
                code: "not_json",
                message: "a line that isn't JSON was passed over".into(),
                offset,
                raw: line,
            })),
        }
    }
}

impl Framer for Lines {
    fn feed(&mut self, bytes: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        let mut rest = bytes;
        while !self.stopped {
            if self.held.is_empty() {
                let bytes = self.settings.within(rest);
                let length = out.alike(&Next { event_type: "", bytes, end: b"\n" });
                if length > 0 {
                    self.offset += length as u64 + 1;
                    rest = rest.get(length + 1..).unwrap_or_default();
                    continue;
                }
            }
            let Some(end) = memchr(b'\n', rest) else { break };
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
            return out.frame(Err(self.settings.limit_fault(self.offset)));
        }
        if !self.stopped {
            self.held.extend_from_slice(rest);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        let line = std::mem::take(&mut self.held);
        let data = line.trim_ascii();
        if self.stopped {
            return Ok(());
        }
        let is_cut = match (self.split)(data) {
            Some((_, payload)) => {
                let mut scanner = Scanner::new(0);
                scanner.push_all(payload);
                matches!(scanner.status(), Status::Open | Status::Empty)
            }
            None => self.name == CODED.name && data.len() == 1,
        };
        if !is_cut {
            return self.line(&line, line.len(), out);
        }
        out.frame(Err(Fault {
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
        crate::frame::tests::check(&FRAMING, false, input.as_bytes(), expected);
    }

    #[test]
    fn one_value_a_line() {
        check("{\"a\":1}\r\n\n  {\"b\":2}\n{\"c\":3}", &["|{\"a\":1}", "|{\"b\":2}", "|{\"c\":3}"]);
    }

    #[test]
    fn codes_are_the_names() {
        let check = |input: &str, expected: &[&str]| {
            crate::frame::tests::check(&CODED, false, input.as_bytes(), expected);
        };
        check("f:{\"a\":1}\n0:\"b\"\r\n\nd: {}", &["f|{\"a\":1}", "0|\"b\"", "d|{}"]);
        check("0:\"a\"\nhello\n9:{\"b\"", &["0|\"a\"", "!Note 6", "!Truncated 12"]);
        check("0:\"a\"\n9:", &["0|\"a\"", "!Truncated 6"]);
        check("0:\"a\"\n9", &["0|\"a\"", "!Truncated 6"]);
    }

    #[test]
    fn codes_are_told_from_prose() {
        let check = |input: &str, expected: Sniff| {
            assert_eq!(sniff_coded(input.as_bytes()), expected, "{input:?}");
        };
        check("f:{\"a\":1}\n", Sniff::Yes);
        check("0:\"a", Sniff::More);
        check("0:\"a\nb", Sniff::No);
        check("0", Sniff::More);
        check("1: Yes", Sniff::No);
        check("z:{}", Sniff::No);
    }

    #[test]
    fn banners_are_noted_and_cut_lines_reported() {
        check("hello\n{\"a\":1}\n{\"b\"", &["!Note 0", "|{\"a\":1}", "!Truncated 14"]);
    }
}
