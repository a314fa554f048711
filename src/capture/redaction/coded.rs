//! Text that is written in base64 or in hexadecimal digits, in one line or in several, or as URLs
//! write it: with percent signs.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use memchr::memchr;

use crate::cut::Cut as _;

/// The shortest line that is looked at, in bytes.
const MIN_LINE: usize = 24;

/// How a text is written, but for what is in a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextCode {
    Hex,
    Standard,
    StandardNoPad,
    Url,
    UrlNoPad,
}

use TextCode::{Hex, Standard, StandardNoPad, Url, UrlNoPad};

impl TextCode {
    fn read(self, coded: &[u8]) -> Option<Vec<u8>> {
        match self {
            Hex => coded
                .chunks(2)
                .map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok())
                .collect(),
            Standard => STANDARD.decode(coded).ok(),
            StandardNoPad => STANDARD_NO_PAD.decode(coded).ok(),
            Url => URL_SAFE.decode(coded).ok(),
            UrlNoPad => URL_SAFE_NO_PAD.decode(coded).ok(),
        }
    }

    /// Returns how a text is written so.
    fn written(self, text: &[u8]) -> Vec<u8> {
        match self {
            Hex => text.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect(),
            Standard => STANDARD.encode(text).into_bytes(),
            StandardNoPad => STANDARD_NO_PAD.encode(text).into_bytes(),
            Url => URL_SAFE.encode(text).into_bytes(),
            UrlNoPad => URL_SAFE_NO_PAD.encode(text).into_bytes(),
        }
    }
}

/// A text that is written in a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodedText {
    /// None in a URL.
    code: Option<TextCode>,
    /// Where its lines are; in a URL, its bytes.
    pub(super) pieces: Vec<Range<usize>>,
    /// What it says.
    pub(super) text: Vec<u8>,
}

impl CodedText {
    /// Returns the bytes that make it say another text of the same length, with their places.
    pub(super) fn bytes_of(&self, text: &[u8]) -> Vec<(usize, u8)> {
        if let Some(code) = self.code {
            return self.pieces.iter().cloned().flatten().zip(code.written(text)).collect();
        }
        let bytes = self.pieces.iter().zip(self.text.iter().zip(text));
        let changed = bytes.filter(|(_, (own, byte))| own != byte);
        let written = changed.flat_map(|(piece, (_, byte))| match piece.len() {
            1 => piece.clone().zip(vec![*byte]),
            _ => piece.clone().zip(format!("%{byte:02X}").into_bytes()),
        });
        written.collect()
    }

    /// Returns what is coded in these bytes, and comes out the same when it is written again.
    pub(super) fn all(bytes: &[u8]) -> Vec<CodedText> {
        let mut all = Vec::new();
        let mut at = 0;
        while let Some(begin) = next(bytes, at) {
            // The last line may be another text's.
            let pieces = pieces(bytes, begin);
            let fewer = [pieces.len(), (pieces.len() - 1).max(1), 1];
            let read = fewer.iter().find_map(|&count| Self::read(bytes, pieces.before(count)));
            let last = read.as_ref().map_or(&pieces, |read| &read.pieces).last();
            at = last.map_or(bytes.len(), |piece| piece.end);
            all.extend(read);
        }
        all
    }

    fn read(bytes: &[u8], pieces: &[Range<usize>]) -> Option<CodedText> {
        let coded =
            pieces.iter().map(|piece| bytes.within(piece.clone())).collect::<Vec<_>>().concat();
        let codes = [Hex, Standard, StandardNoPad, Url, UrlNoPad];
        codes.into_iter().find_map(|code| {
            let text = code.read(&coded).filter(|text| code.written(text) == coded)?;
            Some(CodedText { code: Some(code), pieces: pieces.to_vec(), text })
        })
    }

    /// Returns the URLs, and parts of them, in which bytes are coded (RFC 3986, 2.1).
    pub(super) fn urls(bytes: &[u8]) -> Vec<CodedText> {
        let mut urls = Vec::new();
        let mut at = 0;
        while let Some(sign) = memchr(b'%', bytes.after(at)).map(|sign| at + sign) {
            let before = bytes.within(at..sign);
            let begin =
                before.iter().rposition(|&byte| !is_url(byte)).map_or(at, |end| at + end + 1);
            at = begin + bytes.after(begin).iter().take_while(|&&byte| is_url(byte)).count();
            let (mut pieces, mut text) = (Vec::new(), Vec::new());
            let mut next = begin;
            while next < at {
                let coded = percent(bytes.within(next..at));
                let length = if coded.is_some() { 3 } else { 1 };
                text.extend(coded.or_else(|| bytes.get(next).copied()));
                pieces.push(next..next + length);
                next += length;
            }
            if pieces.len() < at - begin {
                urls.push(CodedText { code: None, pieces, text });
            }
        }
        urls
    }
}

fn is_url(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'<>`\\".contains(&byte)
}

/// Returns the byte that is coded at the beginning of a text.
fn percent(text: &[u8]) -> Option<u8> {
    let [b'%', digits @ ..] = text.first_chunk::<3>()? else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(digits[0])? << 4 | digit(digits[1])?).ok()
}

fn is_coded(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte)
}

/// Returns the place from `at` on where the next line that is long enough begins. No line that is
/// too short is read to its beginning.
fn next(bytes: &[u8], at: usize) -> Option<usize> {
    let mut begin = at;
    let mut look = begin + MIN_LINE - 1;
    while look < bytes.len() {
        match bytes.within(begin..look + 1).iter().rposition(|&byte| !is_coded(byte)) {
            None => return Some(begin),
            Some(other) => begin += other + 1,
        }
        look = begin + MIN_LINE - 1;
    }
    None
}

/// Returns the lines of a text that begins here: each goes on after a line end, with an indentation,
/// or one that is escaped.
fn pieces(bytes: &[u8], begin: usize) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut at = begin;
    loop {
        let length = bytes.after(at).iter().take_while(|&&byte| is_coded(byte)).count();
        let width = pieces.first().map_or(length, |first| first.end - first.start);
        if length == 0 || length > width {
            break;
        }
        pieces.push(at..at + length);
        let rest = bytes.after(at + length);
        let Some(end) = line_end(rest).filter(|_| length == width) else { break };
        at += length + end;
    }
    pieces
}

/// Returns the length of the line end at the beginning, with the indentation after it.
fn line_end(rest: &[u8]) -> Option<usize> {
    let ends: [&[u8]; 4] = [b"\\r\\n", b"\\n", b"\r\n", b"\n"];
    let end = ends.iter().find(|end| rest.starts_with(end))?.len();
    let rest = rest.after(end);
    let indent = rest.iter().take_while(|&&byte| byte == b' ').count();
    memchr(b'\n', rest.before(indent)).is_none().then_some(end + indent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_in_every_code_and_over_lines() {
        let text = b"It was a warm day? The sun~~ was high ".repeat(2);
        for code in [Hex, Standard, Url] {
            let coded = code.written(&text);
            for joint in ["", "\n", "\r\n    ", "\\n"] {
                let lines: Vec<&[u8]> =
                    if joint.is_empty() { vec![&coded] } else { coded.chunks(32).collect() };
                let whole = [b"a: \"", &*lines.join(joint.as_bytes()), b"\"\n"].concat();
                let all = CodedText::all(&whole);
                assert_eq!(all.len(), 1, "{code:?} {joint:?}");
                assert_eq!((all[0].text.as_slice(), all[0].pieces.len()), (&*text, lines.len()));
            }
        }
        let after_a_word =
            [b"what_would_be_looked_at_and_is_no_code ", &*Url.written(&text)].concat();
        assert_eq!(CodedText::all(&after_a_word).len(), 1);
        assert!(CodedText::all(b"no word of this is as long as what_would_be_looked").is_empty());
    }
}
