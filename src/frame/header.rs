//! The headers of an AWS event stream's messages: a name, a type, a value.
//!
//! Source: Smithy specification, "Amazon Event Stream", §Headers. Everything
//! is read from the block of headers alone, whatever a length in it says.

use std::borrow::Cow;

use crate::json;

/// One header of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// Its name, which comes once in a message.
    pub name: Cow<'a, str>,
    /// Its value.
    pub value: HeaderValue<'a>,
}

/// The value of a header, by its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderValue<'a> {
    /// Types 0 and 1.
    Flag(bool),
    /// Types 2 to 5: integers of one to eight bytes.
    Number(i64),
    /// Type 6.
    Bytes(Cow<'a, [u8]>),
    /// Type 7.
    Text(Cow<'a, str>),
    /// Type 8: milliseconds since 1970.
    Time(i64),
    /// Type 9.
    Uuid([u8; 16]),
}

impl Header<'_> {
    /// Returns a copy that outlives the message.
    pub fn owned(&self) -> Header<'static> {
        let value = match &self.value {
            HeaderValue::Flag(flag) => HeaderValue::Flag(*flag),
            HeaderValue::Number(number) => HeaderValue::Number(*number),
            HeaderValue::Bytes(bytes) => HeaderValue::Bytes(Cow::Owned(bytes.to_vec())),
            HeaderValue::Text(text) => HeaderValue::Text(Cow::Owned(text.to_string())),
            HeaderValue::Time(time) => HeaderValue::Time(*time),
            HeaderValue::Uuid(uuid) => HeaderValue::Uuid(*uuid),
        };
        Header { name: Cow::Owned(self.name.to_string()), value }
    }
}

/// Returns the header of this name, if there is one and it is text.
pub(super) fn text<'h>(headers: &'h [Header<'_>], name: &str) -> Option<&'h str> {
    match &headers.iter().find(|header| header.name == name)?.value {
        HeaderValue::Text(text) => Some(text),
        _ => None,
    }
}

/// The most headers of one message.
const MAX_HEADERS: usize = 1024;

/// The reason why a block of headers is rejected.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Defect {
    /// It breaks the specification.
    Malformed(String),
    /// It is over a limit.
    TooMany(String),
}

/// Reads a block of headers.
pub(super) fn read(block: &[u8]) -> Result<Vec<Header<'_>>, Defect> {
    let mut reader = HeaderReader { rest: block };
    let mut headers = Vec::new();
    while !reader.rest.is_empty() {
        if headers.len() >= MAX_HEADERS {
            return Err(Defect::TooMany(format!("a message has more than {MAX_HEADERS} headers")));
        }
        headers.push(reader.header(headers.len() + 1).map_err(Defect::Malformed)?);
    }
    let mut names: Vec<_> = headers.iter().map(|header| header.name.as_ref()).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair.first() == pair.last());
    match twice.and_then(|pair| pair.first()) {
        Some(name) => {
            Err(Defect::Malformed(format!("the header {} comes twice", json::quote(name))))
        }
        None => Ok(headers),
    }
}

/// The part of a block that has not been read.
struct HeaderReader<'a> {
    rest: &'a [u8],
}

impl<'a> HeaderReader<'a> {
    /// Reads one header, the `nth` of its message.
    fn header(&mut self, nth: usize) -> Result<Header<'a>, String> {
        let past_the_end = |what: &str| format!("{what} runs past the end of the headers");
        let Some(length) = self.byte().filter(|length| *length > 0) else {
            return Err(format!("the name of header {nth} is empty"));
        };
        let name = self
            .take(length.into())
            .ok_or_else(|| past_the_end(&format!("the name of header {nth}")))?;
        let name = std::str::from_utf8(name)
            .map_err(|_| format!("the name of header {nth} is not UTF-8"))?;
        let kind =
            self.byte().ok_or_else(|| format!("the header {} has no type", json::quote(name)))?;
        if kind > 9 {
            return Err(format!("the header {} is of the unknown type {kind}", json::quote(name)));
        }
        let value = self
            .value(kind)
            .ok_or_else(|| past_the_end(&format!("the header {}", json::quote(name))))?;
        let value = value
            .map_err(|()| format!("the text of the header {} is not UTF-8", json::quote(name)))?;
        Ok(Header { name: Cow::Borrowed(name), value })
    }

    /// Reads a value. Returns nothing if it is cut, an error if it is text and
    /// not UTF-8.
    fn value(&mut self, kind: u8) -> Option<Result<HeaderValue<'a>, ()>> {
        Some(Ok(match kind {
            0 => HeaderValue::Flag(true),
            1 => HeaderValue::Flag(false),
            2 => HeaderValue::Number(i8::from_be_bytes(self.array()?).into()),
            3 => HeaderValue::Number(i16::from_be_bytes(self.array()?).into()),
            4 => HeaderValue::Number(i32::from_be_bytes(self.array()?).into()),
            5 => HeaderValue::Number(i64::from_be_bytes(self.array()?)),
            6 => HeaderValue::Bytes(Cow::Borrowed(self.sized()?)),
            7 => {
                let text = std::str::from_utf8(self.sized()?);
                return Some(
                    text.map(|text| HeaderValue::Text(Cow::Borrowed(text))).map_err(|_| ()),
                );
            }
            8 => HeaderValue::Time(i64::from_be_bytes(self.array()?)),
            _ => HeaderValue::Uuid(self.array()?),
        }))
    }

    /// Reads bytes that come after their length.
    fn sized(&mut self) -> Option<&'a [u8]> {
        let length = u16::from_be_bytes(self.array()?);
        self.take(length.into())
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*array)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(block: &[u8], expected: Result<&[(&str, HeaderValue<'_>)], &str>) {
        match (read(block), expected) {
            (Ok(headers), Ok(expected)) => {
                let got: Vec<_> =
                    headers.iter().map(|h| (h.name.as_ref(), h.value.clone())).collect();
                assert_eq!(got, expected);
            }
            (Err(Defect::Malformed(message)), Err(expected)) => assert_eq!(message, expected),
            (got, _) => panic!("{got:?}"),
        }
    }

    #[test]
    fn every_type_is_read() {
        check(
            b"\x01a\x00\x01b\x01",
            Ok(&[("a", HeaderValue::Flag(true)), ("b", HeaderValue::Flag(false))]),
        );
        check(
            b"\x01a\x02\xFF\x01b\x03\xFF\xFE",
            Ok(&[("a", HeaderValue::Number(-1)), ("b", HeaderValue::Number(-2))]),
        );
        check(b"\x01a\x04\0\0\x01\0", Ok(&[("a", HeaderValue::Number(256))]));
        check(b"\x01a\x05\x80\0\0\0\0\0\0\0", Ok(&[("a", HeaderValue::Number(i64::MIN))]));
        check(b"\x01a\x06\0\x02\xFF\0", Ok(&[("a", HeaderValue::Bytes(Cow::Borrowed(b"\xFF\0")))]));
        check(b"\x01a\x07\0\x02hi", Ok(&[("a", HeaderValue::Text(Cow::Borrowed("hi")))]));
        check(b"\x01a\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", Ok(&[("a", HeaderValue::Time(-1))]));
        check(b"\x01a\x090123456789abcdef", Ok(&[("a", HeaderValue::Uuid(*b"0123456789abcdef"))]));
        check(b"", Ok(&[]));
    }

    #[test]
    fn every_defect_has_its_own_words() {
        check(b"\x00\x00", Err("the name of header 1 is empty"));
        check(b"\x01a\x00\x05b", Err("the name of header 2 runs past the end of the headers"));
        check(b"\x01\xFF\x00", Err("the name of header 1 is not UTF-8"));
        check(b"\x01a", Err("the header \"a\" has no type"));
        check(b"\x01a\x0A", Err("the header \"a\" is of the unknown type 10"));
        check(b"\x01a\xFF", Err("the header \"a\" is of the unknown type 255"));
        check(b"\x01a\x07\0\x03hi", Err("the header \"a\" runs past the end of the headers"));
        check(b"\x01a\x06\0", Err("the header \"a\" runs past the end of the headers"));
        check(b"\x01a\x04\0\0\0", Err("the header \"a\" runs past the end of the headers"));
        check(b"\x01a\x09\0", Err("the header \"a\" runs past the end of the headers"));
        check(b"\x01a\x07\0\x01\xFF", Err("the text of the header \"a\" is not UTF-8"));
        check(b"\x01a\x00\x01b\x00\x01a\x01", Err("the header \"a\" comes twice"));
    }

    #[test]
    fn their_number_is_limited() {
        let block = |count: usize| -> Vec<u8> {
            (0..count).flat_map(|n| format!("\x04{n:04}\0").into_bytes()).collect()
        };
        assert_eq!(read(&block(1024)).map(|headers| headers.len()), Ok(1024));
        assert!(matches!(read(&block(1025)), Err(Defect::TooMany(_))));
    }

    #[test]
    fn headers_outlive_their_message() {
        let block = b"\x01a\x07\0\x02hi\x01b\x06\0\x01\0\x01c\x02\x05\x01d\x00".to_vec();
        let headers = read(&block).unwrap();
        let owned: Vec<Header<'static>> = headers.iter().map(Header::owned).collect();
        assert_eq!(owned, headers);
    }
}
