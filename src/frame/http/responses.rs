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
    /// The offset of the bytes that come next.
    at: u64,
}

/// The place in an input, with the bytes that are held there until it is known what they are.
#[derive(Debug)]
enum ResponseState {
    /// Before a body, after the last of the heads before it, with the offset of the first. Holds what
    /// may be another head.
    Head(Vec<u8>, Option<(HttpHead, u64)>),
    /// Before a body that may be chunked. Holds what may be the size of its first chunk.
    Size(Vec<u8>, HttpHead),
    /// In a body that ends with the input. Holds its beginning.
    Body(Vec<u8>),
    /// In a body of a length that its head says.
    Sized(SizedBody),
    /// After a body of such a length, if a head comes. Holds what may be one. True if the body may
    /// have another length.
    Edge(Vec<u8>, bool),
    /// In a chunked body. The offset is that of the line between chunks that came last.
    Chunked(Dechunker, u64),
    /// After what can't be read, which is at this offset: the next head begins a line. Holds what may
    /// be one.
    Lost(Vec<u8>, u64),
    /// After the end of the input.
    Ended,
}

/// A body of a length that its head says.
#[derive(Debug)]
struct SizedBody {
    /// Its beginning.
    held: Vec<u8>,
    /// The bytes to come.
    left: u64,
    /// True if some have come.
    is_begun: bool,
    /// True if it may have been compressed, and have another length now.
    may_differ: bool,
}

/// What bytes, or the end of the input, lead to: a state, a part, and the bytes that are left.
type Transition<'b> = (ResponseState, ResponsePiece<'b>, &'b [u8]);

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
    End(Option<Fault<'static>>),
    /// Something is wrong with a head, or was not read.
    Flaw(Fault<'static>),
}

/// The beginning of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyBegin {
    /// Its offset.
    pub(crate) offset: u64,
    /// The status code of its head and the offset of the first head before it, if it has one.
    pub(crate) head: Option<(u16, u64)>,
}

impl HttpResponses {
    /// Returns the state at the beginning of an input. One that is a body whatever it begins with
    /// has no heads.
    pub(crate) fn new(has_heads: bool) -> Self {
        let held = Vec::new();
        let state =
            if has_heads { ResponseState::Head(held, None) } else { ResponseState::Body(held) };
        HttpResponses { state, at: 0 }
    }

    /// Counts bytes that stand before the input.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at += bytes as u64;
    }

    /// Takes bytes up to the end of a part, or of all of them; returns the part and the rest.
    pub(crate) fn step<'b>(&mut self, bytes: &'b [u8]) -> (ResponsePiece<'b>, &'b [u8]) {
        let (piece, rest) = self.next_piece(Some(bytes));
        self.at += (bytes.len() - rest.len()) as u64;
        (piece, rest)
    }

    /// Returns what comes at the end of the input: to be called until that is nothing.
    pub(crate) fn end(&mut self) -> ResponsePiece<'static> {
        self.next_piece(None).0
    }

    /// Takes bytes or, if there are none, the end of the input.
    fn next_piece<'b>(&mut self, bytes: Option<&'b [u8]>) -> (ResponsePiece<'b>, &'b [u8]) {
        let at = self.at;
        let (state, piece, rest) = match std::mem::replace(&mut self.state, ResponseState::Ended) {
            ResponseState::Head(held, before) => head(held, before, at, bytes),
            ResponseState::Size(held, head) => size(held, head, at, bytes),
            ResponseState::Body(held) => body(held, at, bytes),
            ResponseState::Sized(body) => body.turn(at, bytes),
            ResponseState::Edge(held, may_differ) => edge(held, may_differ, at, bytes),
            ResponseState::Chunked(dechunker, line) => chunked(dechunker, line, at, bytes),
            ResponseState::Lost(held, offset) => lost(held, offset, at, bytes),
            ResponseState::Ended => (ResponseState::Ended, ResponsePiece::None, &[][..]),
        };
        self.state = state;
        (piece, rest)
    }
}

/// Takes a line of a head, or finds that there is none.
fn head(
    mut held: Vec<u8>,
    before: Option<(HttpHead, u64)>,
    at: u64,
    bytes: Option<&[u8]>,
) -> Transition<'_> {
    // The last head is that of an answer, whatever follows it.
    let is_answered = before.is_some_and(|(head, _)| !head.may_be_followed());
    let Some(bytes) = bytes else {
        return if is_begun_head(&held) && is_answered {
            begin_empty(held, before, at, &[])
        } else if is_begun_head(&held) {
            let raw = after_blank_lines(&held).to_vec();
            let (message, offset) = ("the input ended inside an HTTP head", at - raw.len() as u64);
            let flaw = Fault::new(FaultKind::Truncated, message, offset).with_raw(raw);
            (ResponseState::Ended, ResponsePiece::Flaw(flaw), &[])
        } else if held.is_empty() && before.is_none() {
            (ResponseState::Ended, ResponsePiece::None, &[])
        } else {
            begin(held, before, at, &[])
        };
    };
    if may_begin_head(&mut held, bytes) == Some(false) {
        return begin(held, before, at, bytes);
    }
    let known = held.len();
    let rest = hold(&mut held, bytes, MAX_HEAD - known);
    let end = at + (bytes.len() - rest.len()) as u64;
    let lines = after_blank_lines(&held);
    let offset = end - lines.len() as u64;
    if let Some(lines) = lines.strip_suffix(b"\n")
        && let Some(last) = memchr::memrchr(b'\n', lines)
        && !lines.get(last + 1..).is_none_or(is_field)
    {
        // A text that begins like a head.
        return begin(held, before, end, rest);
    }
    let is_whole = lines.ends_with(b"\n\n") || lines.ends_with(b"\n\r\n");
    let head = if is_whole { read_head(lines) } else { None };
    let is_too_long = head.is_none() && held.len() >= MAX_HEAD;
    if (head.is_some() || is_too_long) && is_answered {
        held.truncate(known);
        return begin_empty(held, before, at, bytes);
    }
    if let Some(head) = head {
        let first = before.map_or(offset, |(_, first)| first);
        held.clear();
        return (ResponseState::Head(held, Some((head, first))), ResponsePiece::None, rest);
    }
    if is_too_long {
        let message = format!("an HTTP head has more than {MAX_HEAD} bytes");
        let flaw = Fault::new(FaultKind::Limit, message, offset);
        return (ResponseState::Ended, ResponsePiece::Flaw(flaw), rest);
    }
    (ResponseState::Head(held, before), ResponsePiece::None, rest)
}

/// Begins the body of the last head with what is held, up to this offset.
fn begin(held: Vec<u8>, head: Option<(HttpHead, u64)>, end: u64, rest: &[u8]) -> Transition<'_> {
    let offset = end - held.len() as u64;
    let state = match head {
        Some((head, _)) if head.is_chunked => ResponseState::Size(held, head),
        Some((HttpHead { length: Some(0), is_compressed, .. }, _)) => {
            ResponseState::Edge(held, is_compressed)
        }
        Some((HttpHead { length: Some(left), is_compressed, .. }, _)) => {
            let may_differ = is_compressed;
            ResponseState::Sized(SizedBody { held, left, is_begun: false, may_differ })
        }
        _ => ResponseState::Body(held),
    };
    let head = head.map(|(head, offset)| (head.status, offset));
    (state, ResponsePiece::Begin(BodyBegin { offset, head }), rest)
}

/// Begins the body of the last head, which is empty: the next head is held.
fn begin_empty(
    held: Vec<u8>,
    head: Option<(HttpHead, u64)>,
    at: u64,
    rest: &[u8],
) -> Transition<'_> {
    let offset = at - held.len() as u64;
    let head = head.map(|(head, offset)| (head.status, offset));
    (ResponseState::Edge(held, true), ResponsePiece::Begin(BodyBegin { offset, head }), rest)
}

/// Takes the line that may be the size of the first chunk.
fn size(mut held: Vec<u8>, head: HttpHead, at: u64, bytes: Option<&[u8]>) -> Transition<'_> {
    let Some(bytes) = bytes else { return body(held, at, None) };
    let known = held.len();
    let rest = hold(&mut held, bytes, MAX_LINE);
    match head.is_chunk_size(&held) {
        None => (ResponseState::Size(held, head), ResponsePiece::None, rest),
        Some(true) => {
            let mut dechunker = Dechunker::default();
            // It is a size: that was just seen.
            let _ = dechunker.step(&held);
            (ResponseState::Chunked(dechunker, at - known as u64), ResponsePiece::None, rest)
        }
        Some(false) => {
            held.truncate(known);
            (ResponseState::Body(held), ResponsePiece::None, bytes)
        }
    }
}

fn body(held: Vec<u8>, at: u64, bytes: Option<&[u8]>) -> Transition<'_> {
    let body = ResponseState::Body(Vec::new());
    match bytes {
        _ if !held.is_empty() => {
            let offset = at - held.len() as u64;
            (body, ResponsePiece::Body(held.into(), offset), bytes.unwrap_or_default())
        }
        Some(bytes) => (body, ResponsePiece::Body(bytes.into(), at), &[]),
        None => (ResponseState::Ended, ResponsePiece::End(None), &[]),
    }
}

impl SizedBody {
    fn turn(mut self, at: u64, bytes: Option<&[u8]>) -> Transition<'_> {
        let size = |bytes: &[u8]| usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        match bytes {
            _ if !self.held.is_empty() => {
                let offset = at - self.held.len() as u64;
                let rest = self.held.split_off(size(&self.held));
                let body = std::mem::replace(&mut self.held, rest);
                let state = self.after(body.len());
                (state, ResponsePiece::Body(body.into(), offset), bytes.unwrap_or_default())
            }
            Some(bytes) => {
                let (body, rest) = bytes.split_at(size(bytes));
                (self.after(body.len()), ResponsePiece::Body(body.into(), at), rest)
            }
            None => {
                let is_short = self.is_begun && !self.may_differ;
                let flaw = is_short.then(|| shorter(self.left, at));
                (ResponseState::Ended, ResponsePiece::End(flaw), &[])
            }
        }
    }

    /// Returns the state after so many more of its bytes.
    fn after(self, size: usize) -> ResponseState {
        match self.left - size as u64 {
            0 => ResponseState::Edge(self.held, self.may_differ),
            left => ResponseState::Sized(SizedBody {
                left,
                is_begun: self.is_begun || size > 0,
                ..self
            }),
        }
    }
}

/// Looks for a head after a body of the length that was said. If none comes, the body is longer.
fn edge(mut held: Vec<u8>, may_differ: bool, at: u64, bytes: Option<&[u8]>) -> Transition<'_> {
    let begins = match bytes {
        Some(bytes) => may_begin_head(&mut held, bytes),
        None if is_begun_head(&held) => Some(true),
        None if !may_differ && begins_head(&held) == Some(false) => Some(false),
        None => return body(held, at, None),
    };
    let rest = bytes.unwrap_or_default();
    match begins {
        None => {
            let rest = hold(&mut held, rest, MAX_START);
            (ResponseState::Edge(held, may_differ), ResponsePiece::None, rest)
        }
        Some(true) => (ResponseState::Head(held, None), ResponsePiece::End(None), rest),
        Some(false) if may_differ => (ResponseState::Body(held), ResponsePiece::None, rest),
        Some(false) => {
            let flaw = longer(at - held.len() as u64);
            (ResponseState::Body(held), ResponsePiece::Flaw(flaw), rest)
        }
    }
}

fn chunked(
    mut dechunker: Dechunker,
    mut line: u64,
    at: u64,
    bytes: Option<&[u8]>,
) -> Transition<'_> {
    let Some(bytes) = bytes else {
        let flaw = if dechunker.is_whole() {
            None
        } else if dechunker.is_inside() {
            let message = "the input ended inside a chunk of HTTP";
            Some(Fault::new(FaultKind::Truncated, message, line))
        } else {
            Some(unended(at))
        };
        return (ResponseState::Ended, ResponsePiece::End(flaw), &[]);
    };
    let buffered = dechunker.line().len();
    if !dechunker.is_inside() && buffered == 0 {
        line = at;
    }
    match dechunker.step(bytes) {
        Ok((_, rest)) if dechunker.is_ended() => {
            (ResponseState::Head(Vec::new(), None), ResponsePiece::End(None), rest)
        }
        Ok(([], rest)) => (ResponseState::Chunked(dechunker, line), ResponsePiece::None, rest),
        Ok((data, rest)) => {
            (ResponseState::Chunked(dechunker, line), ResponsePiece::Body(data.into(), at), rest)
        }
        Err(fault) => {
            let mut held = dechunker.take_line();
            let (is_head, flaw) = if fault == ChunkFault::NoBlank {
                (true, Fault::note(WarningCode::Truncated, fault.message(), line))
            } else if begins_head(&held) == Some(true) {
                (true, unended(line))
            } else {
                let is_limit = fault == ChunkFault::LongLine;
                let kind = if is_limit { FaultKind::Limit } else { FaultKind::Broken };
                (false, Fault::new(kind, fault.message(), line).with_raw(held.clone()))
            };
            held.truncate(buffered);
            let state = if is_head {
                ResponseState::Head(held, None)
            } else {
                ResponseState::Lost(held, line)
            };
            (state, ResponsePiece::End(Some(flaw)), bytes)
        }
    }
}

/// Passes over a line of what can't be read, unless a head begins with it.
fn lost(mut held: Vec<u8>, offset: u64, at: u64, bytes: Option<&[u8]>) -> Transition<'_> {
    let Some(bytes) = bytes else {
        return (ResponseState::Ended, ResponsePiece::Flaw(unread(offset, at)), &[]);
    };
    match may_begin_head(&mut held, bytes) {
        None => {
            let rest = hold(&mut held, bytes, MAX_START);
            (ResponseState::Lost(held, offset), ResponsePiece::None, rest)
        }
        Some(true) => {
            // Blank lines before the head are not read, either, wherever they were cut.
            let start = at - held.len() as u64;
            let near: Vec<u8> = held.iter().chain(bytes).copied().take(MAX_START).collect();
            let blank = near.len() - after_blank_lines(&near).len();
            let flaw = unread(offset, start + blank as u64);
            (ResponseState::Head(held, None), ResponsePiece::Flaw(flaw), bytes)
        }
        Some(false) => {
            let end = memchr::memchr(b'\n', bytes);
            // The end of the line is still to come: it begins like no head.
            let held = if end.is_some() { Vec::new() } else { b" ".to_vec() };
            let rest = end.map_or(&[][..], |end| bytes.after(end + 1));
            (ResponseState::Lost(held, offset), ResponsePiece::None, rest)
        }
    }
}

/// Returns true if a head begins with what is held and these bytes, and nothing while it may.
fn may_begin_head(held: &mut Vec<u8>, bytes: &[u8]) -> Option<bool> {
    let before = held.len();
    held.extend_from_slice(bytes.before(MAX_START.saturating_sub(before)));
    let begins = begins_head(held);
    held.truncate(before);
    begins
}

/// Holds bytes up to the end of a line, but no more than `most`; returns the rest.
fn hold<'b>(held: &mut Vec<u8>, bytes: &'b [u8], most: usize) -> &'b [u8] {
    let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
    let (line, rest) = bytes.split_at(end.min(most));
    held.extend_from_slice(line);
    rest
}

/// Returns the fault that a chunked body ends at this offset, between two chunks.
fn unended(offset: u64) -> Fault<'static> {
    Fault::new(FaultKind::Truncated, "an HTTP response ended before its last chunk", offset)
}

/// Returns the note that a body goes on at this offset.
fn longer(offset: u64) -> Fault<'static> {
    let message = "a body of HTTP is longer than its head says, and was read to its end";
    Fault::note(WarningCode::WrongLength, message, offset)
}

/// Returns the note that a body ends at this offset, so many bytes before its length.
fn shorter(left: u64, offset: u64) -> Fault<'static> {
    let message = format!("a body of HTTP ended {left} bytes before the length that its head says");
    Fault::note(WarningCode::WrongLength, message, offset)
}

/// Returns the note that what is between these offsets was not read.
fn unread(begin: u64, end: u64) -> Fault<'static> {
    let message = format!("{} bytes, from the damage on, were not read", end - begin);
    Fault::note(WarningCode::Unread, message, begin)
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
            let flawed = |flaw: &Fault<'_>| format!("{:?} {}", flaw.kind, before + flaw.offset);
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
                "body 47 of 200 0", "50: Hi", "end Broken 54", "Note(Unread) 54",
                "body 99 of 200 61", "end",
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
