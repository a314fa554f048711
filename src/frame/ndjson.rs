//! NDJSON: one JSON value a line. Blank lines, CRLF and a missing last line
//! end are accepted; a line that is plainly not JSON (a banner on standard
//! output) is skipped with a note. A value that is printed over several lines, as
//! a body after the lines of another stream, is one frame: its first line is a
//! bracket, and indented lines follow up to the bracket that closes it. The AI
//! SDK's data streams have a code before each value, which is the frame's name:
//! `0:"Hello"`.

use std::io;

use memchr::memchr;

use crate::cut::Cut as _;
use crate::event::WarningCode;
use crate::frame::framer::{
    Content, Fault, FaultKind, Frame, FrameConfig, FrameEnvelope, FrameOut, Framed, Framer,
    Framing, Holds, Sniff, skip_blank, without_mark,
};
use crate::frame::leading::{is_between_bytes, without_progress};
use crate::json::{JsonStatus, Scanner};

pub(super) static FRAMING: Framing = Framing {
    name: "ndjson",
    about: "one JSON value a line",
    content: Content::Json,
    ends_with_done: false,
    holds: Holds::Either,
    sniff,
    framer: |config| Box::new(Lines::new(&FRAMING, plain, config)),
    media_type: "application/x-ndjson",
    idle: "\n",
    add: Some(|stream, _, data| add_line(stream, data)),
};

pub(super) static CODED: Framing = Framing {
    name: "ai-data",
    about: "one JSON value a line, a code and a colon before it",
    content: Content::CodedJson,
    ends_with_done: false,
    holds: Holds::Stream,
    sniff: sniff_coded,
    framer: |config| Box::new(Lines::new(&CODED, coded, config)),
    media_type: "text/plain; charset=utf-8",
    idle: "",
    add: Some(|stream, name, data| add_line(stream, &format!("{name}:{data}"))),
};

/// Adds a line, after the end of the last one.
fn add_line(stream: &mut Vec<u8>, line: &str) {
    if !stream.is_empty() && !stream.ends_with(b"\n") {
        stream.push(b'\n');
    }
    stream.extend_from_slice(format!("{line}\n").as_bytes());
}

/// Says yes once the first line is a whole JSON object.
fn sniff(head: &[u8]) -> Sniff {
    let start = skip_blank(head);
    match (start.first(), memchr(b'\n', start)) {
        (None | Some(b'{'), None) => Sniff::More,
        (Some(b'{'), Some(end)) => {
            let mut scanner = Scanner::new(0);
            scanner.push_all(start.before(end));
            if scanner.status() == JsonStatus::Whole { Sniff::Yes } else { Sniff::No }
        }
        _ => Sniff::No,
    }
}

/// Says yes once a whole string, array or object follows a code and a colon.
fn sniff_coded(head: &[u8]) -> Sniff {
    let start = skip_blank(head);
    match start {
        [] | [b'0'..=b'9' | b'a'..=b'k'] | [b'0'..=b'9' | b'a'..=b'k', b':'] => Sniff::More,
        [b'0'..=b'9' | b'a'..=b'k', b':', rest @ ..]
            if matches!(rest, [b'"' | b'[' | b'{', ..]) =>
        {
            let line = rest.before(memchr::memchr(b'\n', rest).unwrap_or(rest.len()));
            let mut scanner = Scanner::new(0);
            scanner.push(line);
            match scanner.status() {
                JsonStatus::Whole => Sniff::Yes,
                JsonStatus::Open if line.len() == rest.len() => Sniff::More,
                _ => Sniff::No,
            }
        }
        _ => Sniff::No,
    }
}

/// Splits a line into the frame's name and its payload; `None` if the line is
/// no frame.
type SplitLine = fn(&[u8]) -> Option<(&str, &[u8])>;

fn plain(line: &[u8]) -> Option<(&str, &[u8])> {
    let is_value = matches!(line.first(), Some(b'{' | b'[')) && !is_between_bytes(line);
    is_value.then_some(("", line))
}

fn coded(line: &[u8]) -> Option<(&str, &[u8])> {
    let (code, rest) = line.split_at_checked(1).filter(|(code, _)| code.is_ascii())?;
    Some((std::str::from_utf8(code).ok()?, rest.strip_prefix(b":")?.trim_ascii_start()))
}

struct Lines {
    framing: &'static Framing,
    split: SplitLine,
    config: FrameConfig,
    /// The buffered beginning of a line whose end has not come, after the lines of the
    /// value that it may belong to.
    held: Vec<u8>,
    /// The length of those lines.
    value: usize,
    /// The offset of what is buffered, or else of the next line.
    offset: u64,
    /// True if the last frame was one line.
    is_line: bool,
    stopped: bool,
}

impl Lines {
    fn new(framing: &'static Framing, split: SplitLine, config: FrameConfig) -> Self {
        let (held, value, offset) = (Vec::new(), 0, 0);
        Lines { framing, split, config, held, value, offset, is_line: false, stopped: false }
    }

    /// True if a value over several lines begins with this line.
    fn begins_value(&self, line: &[u8]) -> bool {
        let is_bracket = matches!(line.trim_ascii_end(), b"{" | b"[");
        is_bracket && !self.framing.is_coded() && !self.config.strict
    }

    /// Emits the lines of a value that the line after them does not belong to.
    fn leave_value(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        let (value, line) = self.held.split_at(self.value);
        let belongs = [b' ', b'\t', b'\r', b'\n', b'}', b']'];
        if value.is_empty() || line.first().is_none_or(|first| belongs.contains(first)) {
            return Ok(());
        }
        let line = line.to_vec();
        let mut value = std::mem::replace(&mut self.held, line);
        value.truncate(std::mem::take(&mut self.value));
        self.emit(&value, out)
    }

    /// Emits what is buffered, up to the end of a line, unless a value goes on after it.
    fn end_line(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        let mut held = std::mem::take(&mut self.held);
        let goes_on = match held.split_at(self.value) {
            ([], line) => self.begins_value(line),
            (_, line) => !matches!(line, [b'}' | b']', ..]),
        };
        if goes_on {
            self.value = held.len();
        } else {
            self.emit(&held, out)?;
            self.is_line = std::mem::take(&mut self.value) == 0;
            held.clear();
        }
        self.held = held;
        Ok(())
    }

    /// Emits the frame of a line or of a value, and counts it.
    fn emit(&mut self, bytes: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        self.is_line = true;
        let bytes = if offset == 0 { without_mark(bytes) } else { bytes };
        let bytes = bytes.trim_ascii();
        let bytes = match without_progress(bytes, offset).filter(|_| !self.config.strict) {
            Some((rest, note)) => {
                out(Framed::Fault(note))?;
                rest
            }
            None => bytes,
        };
        match (self.split)(bytes) {
            _ if bytes.is_empty() => Ok(()),
            Some((event_type, data)) => {
                out(Framed::Frame(Frame { event_type, ..Frame::new(self.framing, data, offset) }))
            }
            None => {
                let message = "a line that isn't JSON was passed over";
                let fault = Fault::note(WarningCode::NotJson, message, offset);
                out(Framed::Fault(fault.with_raw(bytes)))
            }
        }
    }
}
impl Framer for Lines {
    fn step<'b>(&mut self, bytes: &'b [u8], out: &mut FrameOut<'_>) -> io::Result<&'b [u8]> {
        if self.stopped {
            return Ok(&[]);
        }
        let end = memchr(b'\n', bytes);
        let (line, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
        let is_whole = end.is_some() && self.held.is_empty() && !self.begins_value(line);
        if !is_whole {
            self.held.extend_from_slice(line);
            self.leave_value(out)?;
        }
        let record = if is_whole { line } else { &self.held };
        if self.config.is_over(record.strip_suffix(b"\n").unwrap_or(record).len()) {
            self.stopped = true;
            out(Framed::Fault(self.config.limit_fault(self.offset)))?;
            return Ok(&[]);
        }
        match end {
            Some(_) if is_whole => self.emit(line, out)?,
            Some(_) => self.end_line(out)?,
            None => {}
        }
        Ok(rest)
    }

    fn envelope(&self) -> Option<FrameEnvelope<'_>> {
        let is_between = self.held.is_empty() && self.is_line && !self.stopped;
        let envelope = FrameEnvelope { head: b"", event_type: "", tail: b"\n" };
        (is_between && !self.framing.is_coded()).then_some(envelope)
    }

    fn skip(&mut self, bytes: usize) {
        self.offset += bytes as u64;
    }

    fn finish(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        if self.stopped {
            return Ok(());
        }
        let held = std::mem::take(&mut self.held);
        let data = held.trim_ascii();
        let is_cut = match (self.split)(data) {
            Some((_, payload)) => {
                let mut scanner = Scanner::new(0);
                scanner.push_all(payload);
                matches!(scanner.status(), JsonStatus::Open | JsonStatus::Empty)
            }
            None => self.framing.is_coded() && data.len() == 1,
        };
        if !is_cut {
            return self.emit(&held, out);
        }
        let inside = if self.value == 0 { "a line" } else { "a JSON value" };
        let message = format!("the input ended inside {inside}");
        let fault = Fault::new(FaultKind::Truncated, message, self.offset);
        out(Framed::Fault(fault.with_raw(data)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, expected: &[&str]) {
        crate::frame::framer::tests::check(&FRAMING, false, input.as_bytes(), expected);
    }

    #[test]
    fn codes_are_the_names() {
        let check = |input: &str, expected: &[&str]| {
            crate::frame::framer::tests::check(&CODED, false, input.as_bytes(), expected);
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

    #[test]
    fn values_over_several_lines() {
        check(
            "{\n \"a\": 1,\n\n \"b\": [\n ]\r\n}\n{}",
            &["|{\n \"a\": 1,\n\n \"b\": [\n ]\r\n}", "|{}"],
        );
        check("{}\n[\r\n  1\n]\n\n{}", &["|{}", "|[\r\n  1\n]", "|{}"]);
        check("{}\n{\n  1\n}", &["|{}", "|{\n  1\n}"]);
        check("{\n{\n{}\nend", &["|{", "|{", "|{}", "!Note 7"]);
        check("{}\n{\n  \"a\": 1,\n{}\n", &["|{}", "|{\n  \"a\": 1,", "|{}"]);
        check("{}\n{\n  \"a\": 1,\n  ", &["|{}", "!Truncated 3"]);
    }
}
