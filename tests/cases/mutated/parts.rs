//! An input as the parts that it consists of: heads of HTTP, and records in their
//! framing, or stretches of text between markers. Joined, they are the input.

use toolstream::internals::stretch;

/// Splits an input.
pub(super) fn parts(input: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    let mut rest = input;
    while rest.starts_with(b"HTTP/")
        && let Some(end) = after_blank_line(rest)
    {
        parts.push(rest[..end].to_vec());
        rest = &rest[end..];
    }
    parts.extend(records(rest));
    parts
}

fn records(body: &[u8]) -> Vec<Vec<u8>> {
    let lines = || body.split_inclusive(|&byte| byte == b'\n');
    let begins =
        |marks: &[&[u8]]| lines().any(|line| marks.iter().any(|mark| line.starts_with(mark)));
    if message(body).is_some() {
        split(body, message)
    } else if begins(&[b"data:", b"event:"]) {
        split(body, after_blank_line)
    } else if lines().count() > 1
        && lines().all(|line| matches!(line.trim_ascii(), [b'{', .., b'}'] | []))
    {
        split(body, |rest| Some(rest.iter().position(|&byte| byte == b'\n')? + 1))
    } else {
        split(body, stretch)
    }
}

/// Splits bytes where `end` says; what has no end is the last part.
fn split(bytes: &[u8], end: impl Fn(&[u8]) -> Option<usize>) -> Vec<Vec<u8>> {
    let (mut rest, mut parts) = (bytes, Vec::new());
    while !rest.is_empty() {
        let (part, left) = rest.split_at(end(rest).unwrap_or(rest.len()));
        parts.push(part.to_vec());
        rest = left;
    }
    parts
}

fn after_blank_line(bytes: &[u8]) -> Option<usize> {
    let ends: [&[u8]; 2] = [b"\n\n", b"\r\n\r\n"];
    let end = |end: &&[u8]| Some(bytes.windows(end.len()).position(|at| at == *end)? + end.len());
    ends.iter().filter_map(end).min()
}

/// Splits a text into stretches.
pub(super) fn tokens(mut text: &[u8]) -> Vec<&[u8]> {
    let mut tokens = Vec::new();
    while let Some(length) = stretch(text) {
        let (token, rest) = text.split_at(length);
        tokens.push(token);
        text = rest;
    }
    tokens
}

/// Returns the length of a message of an AWS event stream.
fn message(bytes: &[u8]) -> Option<usize> {
    let prelude = bytes.first_chunk::<12>()?;
    let total = number(&prelude[..4]);
    let is_message = crc32fast::hash(&prelude[..8]) == number(&prelude[8..]);
    (is_message && (16..=bytes.len() as u32).contains(&total)).then_some(total as usize)
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// A part whose payload is JSON: what stands before it, the payload, and what after it.
pub(super) struct Payload<'a> {
    before: &'a [u8],
    pub(super) json: &'a str,
    after: &'a [u8],
    is_message: bool,
}

impl<'a> Payload<'a> {
    /// Returns the payload of a part, if there is one.
    pub(super) fn of(part: &'a [u8]) -> Option<Payload<'a>> {
        let is_message = message(part) == Some(part.len());
        let (start, end) = match is_message {
            true => (12 + number(&part[4..8]) as usize, part.len() - 4),
            false => {
                let begins = |byte: &u8| b"{[\"".contains(byte);
                let ends = |byte: &u8| b"}]\"".contains(byte);
                (part.iter().position(begins)?, part.iter().rposition(ends)? + 1)
            }
        };
        let json = std::str::from_utf8(part.get(start..end)?).ok()?;
        Some(Payload { before: &part[..start], json, after: &part[end..], is_message })
    }

    /// Returns the part with another payload, and its lengths and checksums made anew.
    pub(super) fn with(&self, json: &str) -> Vec<u8> {
        if !self.is_message {
            return [self.before, json.as_bytes(), self.after].concat();
        }
        let mut part = [self.before, json.as_bytes()].concat();
        let total = part.len() as u32 + 4;
        part[..4].copy_from_slice(&total.to_be_bytes());
        let prelude = crc32fast::hash(&part[..8]);
        part[8..12].copy_from_slice(&prelude.to_be_bytes());
        let whole = crc32fast::hash(&part);
        part.extend(whole.to_be_bytes());
        part
    }
}
