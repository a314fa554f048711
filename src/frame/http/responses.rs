//! The responses of an input, one after another.

use std::borrow::Cow;

use crate::cut::Cut as _;
use crate::event::WarningCode;
use crate::frame::framer::{Fault, FaultKind};
use crate::frame::http::chunked::{ChunkFault, Dechunker, MAX_LINE};
use crate::frame::http::head::{
    HttpHead, MAX_HEAD, MAX_START, after_blank_lines, begins_head, is_begun_head, is_field,
    read_head,
};

/// Takes HTTP off an input, cut anywhere: the heads, and what frames a body. An input without a head
/// is a body. One whose end is known, of chunks or of the length that its head says, may be followed
/// by another response.
#[derive(Debug)]
pub(crate) struct HttpResponses {
    state: ResponseState,
    /// The buffered beginning of what comes, while it is not known what that is.
    held: Vec<u8>,
    /// The offset after it.
    at: u64,
    /// The last of the heads before a body, and the offset of the first.
    head: Option<(HttpHead, u64)>,
}

#[derive(Debug)]
enum ResponseState {
    /// Before a body: heads may come.
    Head,
    /// Before a body that may be chunked.
    Size(HttpHead),
    /// In a body that ends with the input.
    Body,
    /// In a body of a length that its head says.
    Sized {
        /// The bytes to come.
        left: u64,
        /// True if some have come.
        is_begun: bool,
        /// True if the body may have been compressed, and have another length now.
        may_differ: bool,
    },
    /// After a body of such a length, if a head comes. True if it may have another one.
    Edge(bool),
    /// In a chunked body. The offset is that of the line between chunks that came last.
    Chunked(Dechunker, u64),
    /// After what can't be read, which is at this offset: the next head begins a line.
    Lost(u64),
    /// After the end of the input.
    Ended,
}

/// A part of an input.
#[derive(Debug)]
pub(crate) enum ResponsePiece<'b> {
    /// Nothing yet.
    None,
    /// A body begins.
    Begin(BodyBegin),
    /// Bytes of a body, from this offset on.
    Body(Cow<'b, [u8]>, u64),
    /// A body ends; badly, if there is a flaw.
    End(Option<Flaw>),
    /// Something is wrong with a head, or was not read.
    Flaw(Flaw),
}

/// The beginning of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyBegin {
    /// Its offset.
    pub(crate) offset: u64,
    /// The status code of its head and the offset of the first head before it, if it has one.
    pub(crate) head: Option<(u16, u64)>,
}

/// A fault that owns its bytes.
#[derive(Debug)]
pub(crate) struct Flaw {
    pub(crate) kind: FaultKind,
    message: String,
    offset: u64,
    raw: Vec<u8>,
}

impl Flaw {
    /// Returns the fault.
    pub(crate) fn fault(&self) -> Fault<'_> {
        let Flaw { kind, message, offset, raw } = self;
        Fault { kind: *kind, message: message.clone(), offset: *offset, raw }
    }
}

impl HttpResponses {
    /// Returns the state at the beginning of an input. One that is a body whatever it begins with
    /// has no heads.
    pub(crate) fn new(has_heads: bool) -> Self {
        let state = if has_heads { ResponseState::Head } else { ResponseState::Body };
        HttpResponses { state, held: Vec::new(), at: 0, head: None }
    }

    /// Counts bytes that stand before the input.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at += bytes as u64;
    }

    /// Takes bytes up to the end of a part, or of all of them; returns the part and the rest.
    pub(crate) fn step<'b>(&mut self, bytes: &'b [u8]) -> (ResponsePiece<'b>, &'b [u8]) {
        let (piece, rest) = self.part(bytes);
        self.at += (bytes.len() - rest.len()) as u64;
        (piece, rest)
    }

    fn part<'b>(&mut self, bytes: &'b [u8]) -> (ResponsePiece<'b>, &'b [u8]) {
        let at = self.at;
        match &mut self.state {
            ResponseState::Head => self.head_line(bytes),
            ResponseState::Size(head) => {
                let head = *head;
                self.size_line(head, bytes)
            }
            ResponseState::Body | ResponseState::Sized { .. } if !self.held.is_empty() => {
                (self.held_body(), bytes)
            }
            ResponseState::Body => (ResponsePiece::Body(bytes.into(), at), &[]),
            ResponseState::Sized { left, is_begun, may_differ } => {
                let size = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                let (body, rest) = bytes.split_at(size);
                *left -= size as u64;
                *is_begun |= size > 0;
                if *left == 0 {
                    self.state = ResponseState::Edge(*may_differ);
                }
                (ResponsePiece::Body(body.into(), at), rest)
            }
            ResponseState::Edge(may_differ) => {
                let may_differ = *may_differ;
                self.edge(may_differ, bytes)
            }
            ResponseState::Chunked(dechunker, line) => {
                let buffered = dechunker.line().len();
                if !dechunker.is_inside() && buffered == 0 {
                    *line = at;
                }
                match dechunker.step(bytes) {
                    Ok((_, rest)) if dechunker.is_ended() => {
                        self.state = ResponseState::Head;
                        (ResponsePiece::End(None), rest)
                    }
                    Ok(([], rest)) => (ResponsePiece::None, rest),
                    Ok((data, rest)) => (ResponsePiece::Body(data.into(), at), rest),
                    Err(fault) => {
                        let (offset, mut line) = (*line, dechunker.take_line());
                        let flaw = if fault == ChunkFault::NoBlank {
                            self.state = ResponseState::Head;
                            note(WarningCode::Truncated, fault.message(), offset)
                        } else if begins_head(&line) == Some(true) {
                            self.state = ResponseState::Head;
                            unended(offset)
                        } else {
                            self.state = ResponseState::Lost(offset);
                            let is_limit = fault == ChunkFault::LongLine;
                            let kind = if is_limit { FaultKind::Limit } else { FaultKind::Broken };
                            Flaw { kind, message: fault.message(), offset, raw: line.clone() }
                        };
                        line.truncate(buffered);
                        self.held = line;
                        (ResponsePiece::End(Some(flaw)), bytes)
                    }
                }
            }
            ResponseState::Lost(offset) => {
                let offset = *offset;
                self.lost(offset, bytes)
            }
            ResponseState::Ended => (ResponsePiece::None, &[]),
        }
    }

    /// Returns what comes at the end of the input: to be called until that is nothing.
    pub(crate) fn end(&mut self) -> ResponsePiece<'static> {
        let at = self.at;
        match &self.state {
            ResponseState::Head if is_begun_head(&self.held) && self.is_answered() => {
                self.begin_empty()
            }
            ResponseState::Head if is_begun_head(&self.held) => {
                let raw = after_blank_lines(&self.held).to_vec();
                self.state = ResponseState::Ended;
                let message = "the input ended inside an HTTP head".into();
                let offset = at - raw.len() as u64;
                ResponsePiece::Flaw(Flaw { kind: FaultKind::Truncated, message, offset, raw })
            }
            ResponseState::Head if self.held.is_empty() && self.head.is_none() => {
                self.state = ResponseState::Ended;
                ResponsePiece::None
            }
            ResponseState::Head => self.begin(at),
            ResponseState::Edge(_) if is_begun_head(&self.held) => {
                self.state = ResponseState::Head;
                ResponsePiece::End(None)
            }
            ResponseState::Edge(false) if begins_head(&self.held) == Some(false) => {
                self.state = ResponseState::Body;
                ResponsePiece::Flaw(longer(at - self.held.len() as u64))
            }
            ResponseState::Sized { .. } if !self.held.is_empty() => self.held_body(),
            ResponseState::Size(_) | ResponseState::Body | ResponseState::Edge(_)
                if !self.held.is_empty() =>
            {
                self.state = ResponseState::Body;
                self.held_body()
            }
            ResponseState::Sized { left, is_begun: true, may_differ: false } => {
                let flaw = shorter(*left, at);
                self.state = ResponseState::Ended;
                ResponsePiece::End(Some(flaw))
            }
            ResponseState::Size(_)
            | ResponseState::Body
            | ResponseState::Sized { .. }
            | ResponseState::Edge(_) => {
                self.state = ResponseState::Ended;
                ResponsePiece::End(None)
            }
            ResponseState::Chunked(dechunker, line) => {
                let flaw = if dechunker.is_whole() {
                    None
                } else if dechunker.is_inside() {
                    let message = "the input ended inside a chunk of HTTP".into();
                    let kind = FaultKind::Truncated;
                    Some(Flaw { kind, message, offset: *line, raw: Vec::new() })
                } else {
                    Some(unended(at))
                };
                self.state = ResponseState::Ended;
                ResponsePiece::End(flaw)
            }
            ResponseState::Lost(offset) => {
                let flaw = unread(*offset, at);
                self.state = ResponseState::Ended;
                ResponsePiece::Flaw(flaw)
            }
            ResponseState::Ended => ResponsePiece::None,
        }
    }

    /// Returns true if a head begins with what is held and these bytes, and nothing while it may.
    fn begins_head(&mut self, bytes: &[u8]) -> Option<bool> {
        let before = self.held.len();
        let start = bytes.len().min(MAX_START.saturating_sub(before));
        self.held.extend_from_slice(bytes.before(start));
        let begins = begins_head(&self.held);
        self.held.truncate(before);
        begins
    }

    /// Holds bytes up to the end of a line, but no more than `most`; returns the rest.
    fn hold<'b>(&mut self, bytes: &'b [u8], most: usize) -> &'b [u8] {
        let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
        let (line, rest) = bytes.split_at(end.min(most));
        self.held.extend_from_slice(line);
        rest
    }

    /// Takes a line of a head, or finds that there is none.
    fn head_line<'b>(&mut self, bytes: &'b [u8]) -> (ResponsePiece<'b>, &'b [u8]) {
        if self.begins_head(bytes) == Some(false) {
            return (self.begin(self.at), bytes);
        }
        let before = self.held.len();
        let after = self.at + bytes.len() as u64;
        let rest = self.hold(bytes, MAX_HEAD - before);
        let lines = after_blank_lines(&self.held);
        let offset = after - (rest.len() + lines.len()) as u64;
        if let Some(lines) = lines.strip_suffix(b"\n")
            && let Some(last) = memchr::memrchr(b'\n', lines)
            && !lines.get(last + 1..).is_none_or(is_field)
        {
            // A text that begins like a head.
            return (self.begin(after - rest.len() as u64), rest);
        }
        let is_whole = lines.ends_with(b"\n\n") || lines.ends_with(b"\n\r\n");
        let head = if is_whole { read_head(lines) } else { None };
        let is_too_long = head.is_none() && self.held.len() >= MAX_HEAD;
        if (head.is_some() || is_too_long) && self.is_answered() {
            self.held.truncate(before);
            return (self.begin_empty(), bytes);
        }
        if let Some(head) = head {
            let first = self.head.map_or(offset, |(_, first)| first);
            self.head = Some((head, first));
            self.held.clear();
        } else if is_too_long {
            self.held = Vec::new();
            self.state = ResponseState::Ended;
            let message = format!("an HTTP head has more than {MAX_HEAD} bytes");
            let flaw = Flaw { kind: FaultKind::Limit, message, offset, raw: Vec::new() };
            return (ResponsePiece::Flaw(flaw), rest);
        }
        (ResponsePiece::None, rest)
    }

    /// True if the last head is that of an answer, whatever follows it.
    fn is_answered(&self) -> bool {
        self.head.is_some_and(|(head, _)| !head.may_be_followed())
    }

    /// Begins the body of the last head, which is empty: the next head is held.
    fn begin_empty(&mut self) -> ResponsePiece<'static> {
        let begin = self.begin(self.at);
        self.state = ResponseState::Edge(true);
        begin
    }

    /// Begins the body of the last head with what is held, up to this offset.
    fn begin(&mut self, end: u64) -> ResponsePiece<'static> {
        let head = self.head.take();
        let held = self.held.len() as u64;
        self.state = match head {
            Some((head, _)) if head.is_chunked => ResponseState::Size(head),
            Some((HttpHead { length: Some(0), is_compressed, .. }, _)) => {
                ResponseState::Edge(is_compressed)
            }
            Some((HttpHead { length: Some(left), is_compressed, .. }, _)) => {
                ResponseState::Sized { left, is_begun: false, may_differ: is_compressed }
            }
            _ => ResponseState::Body,
        };
        let head = head.map(|(head, offset)| (head.status, offset));
        ResponsePiece::Begin(BodyBegin { offset: end - held, head })
    }

    /// Takes the line that may be the size of the first chunk.
    fn size_line<'b>(&mut self, head: HttpHead, bytes: &'b [u8]) -> (ResponsePiece<'b>, &'b [u8]) {
        let before = self.held.len();
        let rest = self.hold(bytes, MAX_LINE);
        match head.is_chunk_size(&self.held) {
            None => (ResponsePiece::None, rest),
            Some(true) => {
                let mut dechunker = Dechunker::default();
                // It is a size: that was just seen.
                let _ = dechunker.step(&std::mem::take(&mut self.held));
                self.state = ResponseState::Chunked(dechunker, self.at - before as u64);
                (ResponsePiece::None, rest)
            }
            Some(false) => {
                self.held.truncate(before);
                self.state = ResponseState::Body;
                (ResponsePiece::None, bytes)
            }
        }
    }

    /// Returns what is held as the beginning of the body.
    fn held_body(&mut self) -> ResponsePiece<'static> {
        let mut held = std::mem::take(&mut self.held);
        let offset = self.at - held.len() as u64;
        if let ResponseState::Sized { left, may_differ, .. } = self.state {
            let size = usize::try_from(left).unwrap_or(usize::MAX).min(held.len());
            self.held = held.split_off(size);
            self.state = match left - size as u64 {
                0 => ResponseState::Edge(may_differ),
                left => ResponseState::Sized { left, is_begun: true, may_differ },
            };
        }
        ResponsePiece::Body(held.into(), offset)
    }

    /// Looks for a head after a body of the length that was said. If none comes, the body is longer.
    fn edge<'b>(&mut self, may_differ: bool, bytes: &'b [u8]) -> (ResponsePiece<'b>, &'b [u8]) {
        match self.begins_head(bytes) {
            None => (ResponsePiece::None, self.hold(bytes, MAX_START)),
            Some(true) => {
                self.state = ResponseState::Head;
                (ResponsePiece::End(None), bytes)
            }
            Some(false) => {
                self.state = ResponseState::Body;
                let offset = self.at - self.held.len() as u64;
                (
                    if may_differ {
                        ResponsePiece::None
                    } else {
                        ResponsePiece::Flaw(longer(offset))
                    },
                    bytes,
                )
            }
        }
    }

    /// Passes over a line of what can't be read, unless a head begins with it.
    fn lost<'b>(&mut self, offset: u64, bytes: &'b [u8]) -> (ResponsePiece<'b>, &'b [u8]) {
        match self.begins_head(bytes) {
            None => (ResponsePiece::None, self.hold(bytes, MAX_START)),
            Some(true) => {
                self.state = ResponseState::Head;
                // Blank lines before the head are not read, either, wherever they were cut.
                let start = self.at - self.held.len() as u64;
                let near: Vec<u8> =
                    self.held.iter().chain(bytes).copied().take(MAX_START).collect();
                let blank = near.len() - after_blank_lines(&near).len();
                (ResponsePiece::Flaw(unread(offset, start + blank as u64)), bytes)
            }
            Some(false) => {
                let end = memchr::memchr(b'\n', bytes);
                // The end of the line is still to come: it begins like no head.
                self.held = if end.is_some() { Vec::new() } else { b" ".to_vec() };
                (ResponsePiece::None, end.and_then(|end| bytes.get(end + 1..)).unwrap_or_default())
            }
        }
    }
}

/// Returns the fault that a chunked body ends at this offset, between two chunks.
fn unended(offset: u64) -> Flaw {
    let message = "an HTTP response ended before its last chunk".into();
    Flaw { kind: FaultKind::Truncated, message, offset, raw: Vec::new() }
}

/// Returns the note that a body goes on at this offset.
fn longer(offset: u64) -> Flaw {
    let message = "a body of HTTP is longer than its head says, and was read to its end";
    note(WarningCode::WrongLength, message.into(), offset)
}

/// Returns the note that a body ends at this offset, so many bytes before its length.
fn shorter(left: u64, offset: u64) -> Flaw {
    let message = format!("a body of HTTP ended {left} bytes before the length that its head says");
    note(WarningCode::WrongLength, message, offset)
}

/// Returns the note that what is between these offsets was not read.
fn unread(begin: u64, end: u64) -> Flaw {
    let message = format!("{} bytes, from the damage on, were not read", end - begin);
    note(WarningCode::Unread, message, begin)
}

fn note(code: WarningCode, message: String, offset: u64) -> Flaw {
    Flaw { kind: FaultKind::Note(code), message, offset, raw: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the parts of an input that comes in pieces of this size: neighbouring pieces of a body
    /// are joined.
    fn parts(input: &str, size: usize) -> Vec<String> {
        parts_after(0, input, size)
    }

    /// Returns the parts of an input after so many bytes of others.
    fn parts_after(before: usize, input: &str, size: usize) -> Vec<String> {
        let before = before as u64;
        let mut responses = HttpResponses::new(true);
        let mut parts: Vec<String> = Vec::new();
        let mut in_body = false;
        let mut add = |piece: ResponsePiece<'_>| {
            let flawed = |flaw: &Flaw| format!("{:?} {}", flaw.kind, before + flaw.offset);
            let part = match piece {
                ResponsePiece::None => return false,
                ResponsePiece::Body(body, _) if in_body => {
                    parts.last_mut().unwrap().push_str(std::str::from_utf8(&body).unwrap());
                    return true;
                }
                ResponsePiece::Body(ref body, at) => {
                    format!("{}: {}", before + at, String::from_utf8_lossy(body))
                }
                ResponsePiece::Begin(BodyBegin { offset, head: None }) => {
                    format!("body {}", before + offset)
                }
                ResponsePiece::Begin(BodyBegin { offset, head: Some((status, at)) }) => {
                    format!("body {} of {status} {}", before + offset, before + at)
                }
                ResponsePiece::End(None) => "end".into(),
                ResponsePiece::End(Some(ref flaw)) => format!("end {}", flawed(flaw)),
                ResponsePiece::Flaw(ref flaw) => flawed(flaw),
            };
            in_body = matches!(piece, ResponsePiece::Body(..));
            parts.push(part);
            true
        };
        for piece in input.as_bytes().chunks(size) {
            let mut rest = piece;
            while !rest.is_empty() {
                let (piece, after) = responses.step(rest);
                add(piece);
                rest = after;
            }
        }
        while add(responses.end()) {}
        parts
    }

    /// Returns the parts of a body of two bytes that goes on.
    fn longer(body: &str, rest: &str) -> [String; 5] {
        let note = "Note(WrongLength) 40".into();
        let (body, rest) = (format!("38: {body}"), format!("40: {rest}"));
        ["body 38 of 200 0".into(), body, note, rest, "end".into()]
    }

    #[track_caller]
    fn check(input: &str, expected: &[impl AsRef<str>]) {
        let expected: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
        for size in (1..100).chain([input.len()]) {
            assert_eq!(parts(input, size), expected, "in pieces of {size}");
        }
    }

    const LENGTH: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n";
    const CHUNKS: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

    #[test]
    fn a_response_follows_a_body_whose_end_is_known() {
        check(
            &format!("{LENGTH}Hi{LENGTH}"),
            &["body 38 of 200 0", "38: Hi", "end", "body 78 of 200 40", "end"],
        );
        check(
            &format!("{LENGTH}HTHTTP/2 503 \n\n"),
            &["body 38 of 200 0", "38: HT", "end", "body 53 of 503 40", "end"],
        );
        let chunked = ["body 47 of 200 0", "50: Hi", "end", "body 104 of 404 59"];
        let other = "HTTP/1.1 404 \r\ntransfer-encoding: chunked\r\n\r\n";
        check(
            &format!("{CHUNKS}2\r\nHi\r\n0\r\n\r\n{other}0\r\n\r\n"),
            &[&chunked[..], &["end"]].concat(),
        );
        check(
            &format!("{CHUNKS}2\r\nHi\r\n0\r\n\r\nand"),
            &[&chunked[..3], &["body 59", "59: and", "end"]].concat(),
        );
    }

    /// Responses whose ends are known.
    const RESPONSES: &[&str] = &[
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nHi",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n2\nHi\n0\n\n",
        "HTTP/1.1 500 Internal Server Error\r\n\r\n",
        "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 503 \r\ntransfer-encoding: chunked\r\n\r\n",
        "HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nHi",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 529 \r\n\r\n",
    ];

    /// Checks that two inputs are read as each alone, with so much between them.
    #[track_caller]
    fn check_both(one: &str, between: &str, other: &str) {
        let before = one.len() + between.len();
        for size in [1, 2, 3, 7, 1000] {
            let expected = [parts(one, size), parts_after(before, other, size)].concat();
            let input = [one, between, other].concat();
            assert_eq!(parts(&input, size), expected, "{input:?} in pieces of {size}");
        }
    }

    #[test]
    fn responses_are_read_as_each_alone() {
        let long = format!("HTTP/1.1 200 OK\na: {}", "x".repeat(MAX_HEAD));
        for one in RESPONSES {
            RESPONSES.iter().for_each(|other| check_both(one, "", other));
            check_both(one, "", "HTTP/1.1 2");
            check_both(one, "", &long);
            check_both(&format!("{CHUNKS}2\r\nHi\r\n"), "", one);
        }
    }

    #[test]
    fn a_head_may_be_one_of_several() {
        for status in [100, 103, 200, 204, 302, 401, 407, 417] {
            let first = format!("HTTP/1.1 {status} \r\ncontent-length: 0\r\n\r\n");
            let body = first.len() + LENGTH.len();
            let expected = [format!("body {body} of 200 0"), format!("{body}: Hi"), "end".into()];
            assert_eq!(parts(&format!("{first}{LENGTH}Hi"), 10), expected);
        }
    }

    #[test]
    fn blank_lines_before_a_head_mean_nothing() {
        for other in RESPONSES {
            for blank in ["\n", "\r\n", "\n\n", "\r\n\r\n\r\n"] {
                check_both("", blank, other);
                RESPONSES.iter().for_each(|one| check_both(one, blank, other));
            }
        }
        for text in ["\r\n\nHTTP!", "\nHTTP/1.1 200 OK is good.\nSo\n", &"\n".repeat(100)] {
            check(text, &["body 0", &format!("0: {text}"), "end"]);
            let (start, rest) = text.split_at(2);
            check(&format!("{LENGTH}{text}"), &longer(start, rest));
        }
    }

    #[test]
    fn a_head_may_say_what_is_not_so() {
        check(&format!("{LENGTH}HTTP"), &longer("HT", "TP"));
        check(&format!("{LENGTH}HiHTTP/1.1 2000"), &longer("Hi", "HTTP/1.1 2000"));
        check(&format!("{LENGTH}Hi\n"), &["body 38 of 200 0", "38: Hi\n", "end"]);
        let compressed = LENGTH.replace("OK\r\n", "OK\r\ncontent-encoding: br\r\n");
        check(&format!("{compressed}Hi there"), &["body 60 of 200 0", "60: Hi there", "end"]);
        check(&format!("{LENGTH}H"), &["body 38 of 200 0", "38: H", "end Note(WrongLength) 39"]);
        check(LENGTH, &["body 38 of 200 0", "end"]);
        let empty = LENGTH.replace("2\r", "0\r");
        check(&empty, &["body 38 of 200 0", "end"]);
        check(
            &format!("{empty}Hi"),
            &["body 38 of 200 0", "Note(WrongLength) 38", "38: Hi", "end"],
        );
        for body in ["2", "2\n4\n", "2\r", "2: Hi", "Hi"] {
            check(&format!("{CHUNKS}{body}"), &["body 47 of 200 0", &format!("47: {body}"), "end"]);
        }
    }

    #[test]
    fn what_is_cut_or_wrong_is_said() {
        check("HTTP", &["body 0", "0: HTTP", "end"]);
        let text = "HTTP/1.1 200 OK means success.\nSo it does.\n\nBye";
        check(text, &["body 0", &format!("0: {text}"), "end"]);
        check(&format!("{LENGTH}{text}"), &longer("HT", text.trim_start_matches("HT")));
        check("HTTP/", &["Truncated 0"]);
        check(&format!("{LENGTH}HiHTTP/1"), &["body 38 of 200 0", "38: Hi", "end", "Truncated 40"]);
        check(&format!("{CHUNKS}3\r\nHi"), &["body 47 of 200 0", "50: Hi", "end Truncated 47"]);
        check(&format!("{CHUNKS}2\r\nHi\r\n"), &["body 47 of 200 0", "50: Hi", "end Truncated 54"]);
        check(
            &format!("{CHUNKS}2\r\nHi\r\n{LENGTH}"),
            &["body 47 of 200 0", "50: Hi", "end Truncated 54", "body 92 of 200 54", "end"],
        );
        check(
            &format!("{CHUNKS}2\r\nHi\r\nx\r\ny"),
            &["body 47 of 200 0", "50: Hi", "end Broken 54", "Note(Unread) 54"],
        );
        check(
            &format!("{CHUNKS}2\r\nHi\r\n0\r\n{LENGTH}"),
            &["body 47 of 200 0", "50: Hi", "end Note(Truncated) 57", "body 95 of 200 57", "end"],
        );
        check(
            &format!("{CHUNKS}2\r\nHi\r\nx\r\nHT\r\n{LENGTH}"),
            &[
                "body 47 of 200 0",
                "50: Hi",
                "end Broken 54",
                "Note(Unread) 54",
                "body 99 of 200 61",
                "end",
            ],
        );
        check(
            &format!("{CHUNKS}0;{}", "x".repeat(MAX_LINE)),
            &["body 47 of 200 0", &format!("47: 0;{}", "x".repeat(MAX_LINE)), "end"],
        );
        check(
            &format!("{CHUNKS}2\r\nHi\r\n0\r\n{}", "x".repeat(MAX_LINE + 1)),
            &["body 47 of 200 0", "50: Hi", "end Limit 57", "Note(Unread) 57"],
        );
    }

    #[test]
    fn the_size_of_a_chunk_has_a_limit() {
        let size = |length| format!("2;{}\r\n", "x".repeat(length - 4));
        for piece in [1, 1000, 1 << 20] {
            assert_eq!(
                parts(&format!("{CHUNKS}{}Hi\r\n0\r\n\r\n", size(MAX_LINE)), piece),
                ["body 47 of 200 0", "4143: Hi", "end"],
                "in pieces of {piece}"
            );
            let long = size(MAX_LINE + 1);
            assert_eq!(
                parts(&format!("{CHUNKS}{long}"), piece),
                ["body 47 of 200 0", &format!("47: {long}"), "end"],
                "in pieces of {piece}"
            );
        }
    }

    #[test]
    fn a_head_has_a_limit() {
        let head = |length| format!("HTTP/1.1 200 OK\na: {}\n\n", "x".repeat(length - 21));
        for size in [1, 1000, 1 << 20] {
            assert_eq!(
                parts(&head(MAX_HEAD), size),
                ["body 65536 of 200 0", "end"],
                "in pieces of {size}"
            );
            assert_eq!(parts(&head(MAX_HEAD + 1), size), ["Limit 0"], "in pieces of {size}");
        }
    }
}
