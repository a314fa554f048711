//! Records in text: an input that was taken for plain text, as no format is found at its beginning,
//! and that holds a stream after all.

use memchr::{memchr, memchr3, memrchr};

use crate::cut::Cut as _;
use crate::detect::WINDOW;
use crate::detect::formats::KnownFormats;
use crate::detect::record::{inside, see_record};
use crate::format::format::Format;
use crate::frame::{Frame, NDJSON, is_of_log};

/// Looks at each line of a text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Stray {
    known: KnownFormats,
    /// The offset of the next byte.
    offset: u64,
    line: LineKind,
    /// The beginning of the line, while it may be a record or a fence.
    held: Vec<u8>,
    /// The character and the length of the Markdown fence that is open.
    fence: Option<(u8, usize)>,
    /// The lines from one that is a brace on: a record may have been printed in several.
    lines: Vec<u8>,
    /// The offset of that line.
    begin: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LineKind {
    /// One that may be a record or a fence.
    #[default]
    Open,
    /// Any other.
    Prose,
}

/// A record in a text.
pub(super) struct StrayRecord {
    /// Its format.
    pub(super) format: &'static Format,
    /// The offset of its line.
    pub(super) offset: u64,
    /// The number of bytes of the piece up to the end of the line.
    pub(super) end: usize,
}

impl Stray {
    /// Returns the state before a text that begins at this offset.
    pub(super) fn new(offset: u64, known: KnownFormats) -> Self {
        Stray { known, offset, ..Stray::default() }
    }

    /// Takes the next piece, and returns the first record that ends in it.
    pub(super) fn find(&mut self, piece: &[u8]) -> Option<StrayRecord> {
        let mut at = 0;
        while at < piece.len() {
            at += self.skip(piece.after(at));
            let rest = piece.after(at);
            let end = memchr(b'\n', rest);
            let line = rest.before(end.unwrap_or(rest.len()));
            let printed = self.gather(line, end.is_some(), at);
            let is_open = self.line == LineKind::Open && may_count(&self.held, line, end.is_some());
            let found = match end {
                Some(_) if !is_open => None,
                Some(end) if self.held.is_empty() => self.see(line, self.offset, at + end + 1),
                Some(end) => {
                    let mut held = std::mem::take(&mut self.held);
                    let begin = self.offset - held.len() as u64;
                    held.extend_from_slice(line);
                    self.see(&held, begin, at + end + 1)
                }
                None => {
                    self.held.extend_from_slice(if is_open { line } else { &[] });
                    None
                }
            };
            if end.is_some() || !is_open {
                self.held.clear();
            }
            self.line = if end.is_some() || is_open { LineKind::Open } else { LineKind::Prose };
            let taken = line.len() + usize::from(end.is_some());
            self.offset += taken as u64;
            at += taken;
            if printed.is_some() || found.is_some() {
                return printed.or(found);
            }
        }
        None
    }

    /// Adds a line, or a part of one, to a record that may have been printed in several lines, if one
    /// has begun; returns it if it ends here.
    fn gather(&mut self, line: &[u8], is_whole: bool, at: usize) -> Option<StrayRecord> {
        if self.lines.is_empty() {
            return None;
        }
        self.lines.extend_from_slice(line);
        self.lines.extend_from_slice(if is_whole { b"\n" } else { b"" });
        let is_over = self.lines.len() > WINDOW;
        let is_end = is_whole && last_line(&self.lines) == b"}";
        if !is_over && !is_end {
            return None;
        }
        let lines = std::mem::take(&mut self.lines);
        let (begin, end) = (self.begin, at + line.len() + usize::from(is_whole));
        if is_over { None } else { self.see_record(&lines, begin, end) }
    }

    /// Returns the length of whole lines that hold nothing a record or a fence does.
    fn skip(&mut self, piece: &[u8]) -> usize {
        if !self.held.is_empty() || !self.lines.is_empty() {
            return 0;
        }
        let calm = memchr3(b'{', b'`', b'~', piece).unwrap_or(piece.len());
        let Some(last) = memrchr(b'\n', piece.before(calm)) else { return 0 };
        self.line = LineKind::Open;
        self.offset += last as u64 + 1;
        last + 1
    }

    /// The text has ended: returns the record that its last line is.
    pub(super) fn end(&mut self) -> Option<StrayRecord> {
        if !self.lines.is_empty() {
            let lines = std::mem::take(&mut self.lines);
            if let Some(found) = self.see_record(&lines, self.begin, 0) {
                return Some(found);
            }
        }
        let held = std::mem::take(&mut self.held);
        self.see(&held, self.offset - held.len() as u64, 0)
    }

    /// Looks at a whole line.
    fn see(&mut self, line: &[u8], offset: u64, end: usize) -> Option<StrayRecord> {
        let text = line.trim_ascii();
        if let Some(first @ (b'`' | b'~')) = text.first().copied() {
            let length = text.iter().take_while(|byte| **byte == first).count();
            self.fence = match self.fence {
                None if length >= 3 => Some((first, length)),
                Some((open, least)) if open == first && length >= least && length == text.len() => {
                    None
                }
                fence => fence,
            };
            return None;
        }
        if self.fence.is_some() {
            return None;
        }
        if is_of_log(text) {
            let format = inside(text, |record| self.known.of_answer(record))?;
            return Some(StrayRecord { format, offset, end });
        }
        let record = text.strip_prefix(b"data:").unwrap_or(text).trim_ascii_start();
        if record == b"{" && line.starts_with(record) {
            self.begin = offset;
            self.lines.clear();
            self.lines.extend_from_slice(b"{\n");
        }
        self.see_record(record, offset, end)
    }

    /// Returns the record that these bytes are, if they are in a known format.
    fn see_record(&self, record: &[u8], offset: u64, end: usize) -> Option<StrayRecord> {
        if !record.starts_with(b"{") {
            return None;
        }
        let frame = Frame::new(NDJSON, record, offset);
        let format = see_record(&frame, |record| self.known.of_answer(record))?;
        Some(StrayRecord { format, offset, end })
    }
}

/// Returns the last line of some, without its end.
fn last_line(lines: &[u8]) -> &[u8] {
    let lines = lines.trim_ascii_end();
    lines.after(memrchr(b'\n', lines).map_or(0, |end| end + 1))
}

/// The number of bytes in which a line of a log shows that it is one.
const LOG_HEAD: usize = 64;

/// True if a line that begins with what is held, and goes on so, may be a record, a fence or a line of
/// a log.
fn may_count(held: &[u8], line: &[u8], is_whole: bool) -> bool {
    const FIELD: &[u8] = b"data:";
    if held.len() + line.len() > WINDOW {
        return false;
    }
    let mut bytes = held.iter().chain(line).skip_while(|byte| matches!(byte, b' ' | b'\t'));
    match bytes.next() {
        None | Some(b'{' | b'`' | b'~') => true,
        Some(b'd') if bytes.clone().zip(FIELD.after(1)).all(|(byte, field)| byte == field) => true,
        Some(first) => {
            let (mut head, mut length) = ([0; LOG_HEAD], 0);
            for (place, byte) in head.iter_mut().zip([first].into_iter().chain(bytes)) {
                *place = *byte;
                length += 1;
            }
            (length < LOG_HEAD && !is_whole) || is_of_log(head.as_slice().before(length))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str =
        r#"{"object":"chat.completion.chunk","choices":[{"delta":{"content":"a"}}]}"#;

    /// Checks where a record is found in a text, whole and in pieces.
    #[track_caller]
    fn check(text: &str, expected: Option<usize>) {
        for size in (1..=9).chain([text.len()]) {
            let mut stray = Stray::default();
            let mut found = text.as_bytes().chunks(size).find_map(|piece| stray.find(piece));
            found = found.or_else(|| stray.end());
            let offset = found.map(|found| found.offset);
            assert_eq!(offset, expected.map(|at| at as u64), "{text:?} in pieces of {size}");
        }
    }

    #[test]
    fn a_record_stands_on_a_line_of_its_own() {
        check(&format!("Hi\n{RECORD}\n"), Some(3));
        check(&format!("Hi\r\n\r\n  data: {RECORD}"), Some(6));
        check(&format!("Hi {RECORD}\n"), None);
        check("Hi\n{\"name\":\"f\",\"arguments\":{}}\n", None);
        check("Hi\ndata: {}\n", None);
        check(&format!("Hi\n2026-11-28T10:00:01Z data: {RECORD}\n"), Some(3));
        check(&format!("Hi\n[app] {RECORD}\n"), Some(3));
        for before in [
            "app-1  | ", "db-1 | ", "data-1 | data: ", "web | data: ", "12:", "12:data: ",
            "a/b.log:", "b.log:12:data: ",
        ] {
            check(&format!("Hi\n{before}{RECORD}\n"), Some(3));
            check(&format!("Hi\n{before}{{}}\n"), None);
        }
        check(&format!("Hi\nSuch: {RECORD}\n| {RECORD} |\n"), None);
        let printed = RECORD.replace("{\"object", "{\n  \"object").replace("]}", "]\n}");
        check(&format!("Hi\n{printed}\n"), Some(3));
        check(&format!("Hi\n{printed}"), Some(3));
        check(&format!("Hi\n{{\n  \"a\": 1\n}}\n{printed}\n"), Some(16));
        check("Hi\n{\n  \"a\": 1\n}\n", None);
        check(&format!("Hi\n  {printed}\n"), None);
    }

    #[test]
    fn a_fence_is_a_quotation() {
        check(&format!("A:\n```json\n{RECORD}\n```\n"), None);
        let fence = format!("A:\n~~~~\n~~~\n{RECORD}\n~~~~~\n");
        check(&format!("{fence}{RECORD}\n"), Some(fence.len()));
    }
}
