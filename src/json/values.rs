//! The scalars of a JSON value that comes in pieces, each with its path.

use std::io;

use crate::cut::Cut as _;
use crate::json::reader;
use crate::json::scanner::Token;
use crate::json::{Scanner, is_json};

/// The longest path that is reported, in bytes: it is repeated with every piece of a string.
const MAX_PATH: usize = 1024;

/// The value, or the piece of one, at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundValue<'a> {
    /// The JSON of a complete number or literal, or of an empty container.
    Value(&'a str),
    /// The next piece of a string, decoded. A string has at least one, which may be empty.
    Text(&'a str),
}

/// Takes what is found: its path as a JSON pointer (RFC 6901), and the value.
pub(crate) type ReportValue<'r> = dyn FnMut(&str, FoundValue<'_>) -> io::Result<()> + 'r;

/// Reads a JSON value in pieces and reports each scalar once: strings piece by piece as they come,
/// everything else when it is complete. Half a surrogate pair becomes U+FFFD. What stands below a
/// path of more than 1 KiB is left out, and so is everything after a syntax error.
#[derive(Debug, Default)]
pub(crate) struct ValueReader {
    scanner: Scanner,
    /// The path of the value that is being read.
    path: String,
    open: Vec<OpenContainer>,
    /// A key, a number or a literal so far; of a string, the end that can't be decoded yet.
    token: String,
    /// True inside of a string that is a value.
    is_text: bool,
    /// True once a piece of this string has been reported.
    has_piece: bool,
}

#[derive(Debug)]
struct OpenContainer {
    /// The length of its own path.
    path: usize,
    /// The index of the next element of an array.
    index: Option<usize>,
    is_empty: bool,
}

impl ValueReader {
    /// Reads on, and reports what has become known.
    pub(crate) fn feed(&mut self, json: &str, report: &mut ReportValue<'_>) -> io::Result<()> {
        let mut rest = json;
        while let Some(&first) = rest.as_bytes().first() {
            let token = self.scanner.token(first);
            if token != Token::Number {
                self.end_number(report)?;
            }
            let (text, after) = rest.split_at(self.scanner.advance(rest.as_bytes()));
            if text.is_empty() {
                break;
            }
            match token {
                Token::Key => self.key(text),
                Token::Text => self.string(text, report)?,
                Token::Number => self.scalar(text),
                Token::Other => self.other(first, text, report)?,
            }
            rest = after;
        }
        self.flush(report)
    }

    /// Takes a piece of a key, quotes included.
    fn key(&mut self, text: &str) {
        self.token.push_str(text);
        if self.scanner.is_in_string() {
            return;
        }
        let key = std::mem::take(&mut self.token);
        let Some(container) = self.open.last() else { return };
        self.path.truncate(container.path);
        self.path.push('/');
        self.path.push_str(&reader::text(&key).as_str().replace('~', "~0").replace('/', "~1"));
    }

    /// Takes a piece of a string, quotes included.
    fn string(&mut self, text: &str, report: &mut ReportValue<'_>) -> io::Result<()> {
        if !self.is_text {
            self.begin_value();
            (self.is_text, self.has_piece) = (true, false);
            return Ok(());
        }
        if self.scanner.is_in_string() {
            self.token.push_str(text);
            return Ok(());
        }
        self.token.push_str(text.strip_suffix('"').unwrap_or(text));
        let end = self.token.len();
        if end > 0 || !self.has_piece {
            self.piece(end, report)?;
        }
        self.is_text = false;
        Ok(())
    }

    /// Takes a piece of a number or a literal.
    fn scalar(&mut self, text: &str) {
        if self.token.is_empty() {
            self.begin_value();
        }
        self.token.push_str(text);
    }

    fn other(&mut self, byte: u8, text: &str, report: &mut ReportValue<'_>) -> io::Result<()> {
        match byte {
            b'{' | b'[' => {
                self.begin_value();
                let index = (byte == b'[').then_some(0);
                self.open.push(OpenContainer { path: self.path.len(), index, is_empty: true });
            }
            b'}' | b']' => {
                let Some(container) = self.open.pop() else { return Ok(()) };
                self.path.truncate(container.path);
                if container.is_empty {
                    let empty = if container.index.is_some() { "[]" } else { "{}" };
                    self.report(FoundValue::Value(empty), report)?;
                }
            }
            b'a'..=b'z' => {
                self.scalar(text);
                if matches!(self.token.as_str(), "true" | "false" | "null") {
                    self.end_scalar(report)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Moves the path on to the value that begins: in an object, its key has done that.
    fn begin_value(&mut self) {
        let Some(container) = self.open.last_mut() else { return };
        container.is_empty = false;
        if let Some(index) = &mut container.index {
            self.path.truncate(container.path);
            self.path.push_str(&format!("/{index}"));
            *index += 1;
        }
    }

    /// Reports a number before a byte that is no part of it.
    fn end_number(&mut self, report: &mut ReportValue<'_>) -> io::Result<()> {
        let is_number = self.token.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        if !is_number || self.is_text {
            return Ok(());
        }
        if is_json(&self.token) {
            return self.end_scalar(report);
        }
        // It is cut short, which is a syntax error.
        self.token.clear();
        Ok(())
    }

    fn end_scalar(&mut self, report: &mut ReportValue<'_>) -> io::Result<()> {
        let token = std::mem::take(&mut self.token);
        self.report(FoundValue::Value(&token), report)
    }

    /// Reports as much of an open string as can be decoded.
    fn flush(&mut self, report: &mut ReportValue<'_>) -> io::Result<()> {
        match decodable(&self.token) {
            end if self.is_text && end > 0 => self.piece(end, report),
            _ => Ok(()),
        }
    }

    /// Reports the first `end` bytes of the string's token, decoded.
    fn piece(&mut self, end: usize, report: &mut ReportValue<'_>) -> io::Result<()> {
        let rest = self.token.split_off(end);
        let token = std::mem::replace(&mut self.token, rest);
        self.has_piece = true;
        if !token.contains('\\') {
            return self.report(FoundValue::Text(&token), report);
        }
        let quoted = format!("\"{token}\"");
        self.report(FoundValue::Text(reader::text(&quoted).as_str()), report)
    }

    fn report(&self, found: FoundValue<'_>, report: &mut ReportValue<'_>) -> io::Result<()> {
        if self.path.len() > MAX_PATH { Ok(()) } else { report(&self.path, found) }
    }
}

/// Returns the length of what comes before an escape that may not be complete: one that ends with
/// the text, or the first half of a surrogate pair.
fn decodable(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(escape) = memchr::memchr(b'\\', bytes.after(at)) {
        let begin = at + escape;
        let is_high = |unit: &[u8]| {
            matches!(unit, [b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..])
        };
        at = match bytes.after(begin + 1) {
            [] => return begin,
            [b'u', unit @ ..] if unit.len() < 4 => return begin,
            // A pair is decoded together, and so is what comes in its place.
            [b'u', unit @ ..] if is_high(unit) => match unit.after(4) {
                [] | [b'\\'] => return begin,
                [b'\\', b'u', low @ ..] if low.len() < 4 => return begin,
                [b'\\', b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F', ..] => begin + 12,
                _ => begin + 6,
            },
            [b'u', ..] => begin + 6,
            _ => begin + 2,
        };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `json` in pieces of each size, and compares what is reported: a line each, the pieces
    /// of one string joined.
    #[track_caller]
    fn check(json: &str, expected: &[&str]) {
        for size in 1..=json.len().max(1) {
            let mut lines: Vec<(String, String)> = Vec::new();
            let mut reader = ValueReader::default();
            let mut rest = json;
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(rest.ceil_char_boundary(size));
                reader
                    .feed(piece, &mut |path, found| {
                        match (found, lines.last_mut()) {
                            (FoundValue::Text(text), Some((last, whole))) if last == path => {
                                whole.push_str(text);
                            }
                            (FoundValue::Text(text), _) => {
                                lines.push((path.to_owned(), format!("= {text}")));
                            }
                            (FoundValue::Value(json), _) => {
                                lines.push((path.to_owned(), json.to_owned()));
                            }
                        }
                        Ok(())
                    })
                    .unwrap();
                rest = after;
            }
            let lines: Vec<_> = lines.iter().map(|(path, line)| format!("{path} {line}")).collect();
            assert_eq!(lines, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn scalars_have_paths() {
        check(
            r#"{"city":"Oslo","days":[1,-2.5e3,{"a":true}],"no":null,"x":{"y":false}}"#,
            &[
                "/city = Oslo", "/days/0 1", "/days/1 -2.5e3", "/days/2/a true", "/no null",
                "/x/y false",
            ],
        );
    }

    #[test]
    fn empty_strings_and_containers_are_values() {
        check(
            r#"{"a":"","b":{},"c":[],"d":[[],{}]}"#,
            &["/a = ", "/b {}", "/c []", "/d/0 []", "/d/1 {}"],
        );
        check("{}", &[" {}"]);
    }

    #[test]
    fn escapes_are_decoded() {
        check(r#"{"a":"x\n\"\\\u00e9\ud83d\ude00z"}"#, &["/a = x\n\"\\é😀z"]);
        check(
            r#"{"a":"\ud83d","b":"\ude00","c":"\ud83dx"}"#,
            &["/a = \u{FFFD}", "/b = \u{FFFD}", "/c = \u{FFFD}x"],
        );
        check(r#"{"a":"\ud83d\u00e9","b":"\ud83d\n"}"#, &["/a = \u{FFFD}é", "/b = \u{FFFD}\n"]);
    }

    #[test]
    fn keys_are_pointers() {
        check(r#"{"a/b":1,"~":{"":2},"\u00e9":3}"#, &["/a~1b 1", "/~0/ 2", "/é 3"]);
    }

    #[test]
    fn strings_are_reported_as_they_come() {
        let mut reader = ValueReader::default();
        let mut pieces = Vec::new();
        for piece in ["{\"a\":\"on", "e tw\\", "no\\u00", "e9", "\"}"] {
            reader
                .feed(piece, &mut |_, found| {
                    pieces.push(format!("{found:?}"));
                    Ok(())
                })
                .unwrap();
        }
        assert_eq!(pieces, [r#"Text("on")"#, r#"Text("e tw")"#, r#"Text("\no")"#, r#"Text("é")"#]);
    }

    #[test]
    fn nothing_comes_after_a_syntax_error_or_below_a_long_path() {
        check(r#"{"a":1,,"b":2}"#, &["/a 1"]);
        check(r#"{"a":1et,"b":2}"#, &[]);
        let long = "k".repeat(MAX_PATH);
        check(&format!(r#"{{"{long}":1,"b":2}}"#), &["/b 2"]);
    }
}
