//! A text in which escapes are read as JSON reads them, at any depth of JSON within strings, with
//! the place of each byte in what it was read of.

use std::borrow::Cow;
use std::cell::Cell;

use crate::cut::Cut as _;

use memchr::{memchr, memchr2, memmem};

/// A line end that was escaped: it ends a line of a text, and no line of the capture.
pub(super) const LINE_END: u8 = 0x0b;

/// Another control character that was escaped.
const CONTROL: u8 = 0x0c;

/// A character outside of ASCII that was escaped.
const OTHER: u8 = 0x80;

/// A quotation mark in HTML and XML.
const MARKUP: &[u8] = b"&quot;";

/// A text without its escapes.
pub(super) struct UnescapedText<'r> {
    raw: &'r [u8],
    pub(super) text: Cow<'r, [u8]>,
    /// Where text and raw bytes go apart: places in both. From each on, they go on side by side.
    marks: Vec<(usize, usize)>,
    line: LastRun,
}

/// The run of some kind of bytes that was measured last. What stands in one is looked at from many
/// places of it, and its end stays where it is.
#[derive(Debug, Default)]
pub(super) struct LastRun {
    range: Cell<(usize, usize)>,
}

impl LastRun {
    /// Returns the length of the run at a place: that which `measure` returns of a text, from there on.
    pub(super) fn length(
        &self,
        text: &[u8],
        at: usize,
        measure: impl FnOnce(&[u8]) -> usize,
    ) -> usize {
        let (begin, end) = self.range.get();
        if begin < end && (begin..=end).contains(&at) {
            return end - at;
        }
        let length = measure(text.after(at));
        self.range.set((at, at + length));
        length
    }
}

/// A quotation mark, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    mark: u8,
    /// The backslashes before it.
    slashes: usize,
    /// True if it is written as `u0022`.
    is_coded: bool,
    /// Its place in the raw bytes, without the backslashes.
    at: usize,
}

impl Quote {
    /// True if this mark ends the string that `self` begins: it ends one of the same depth, or one
    /// around it. In a string whose quotation marks have `n` backslashes, an escape has `n + 1`.
    fn is_ended_by(&self, other: &Quote) -> bool {
        if self.is_coded != other.is_coded {
            return self.is_coded && other.mark == b'"' && other.slashes.is_multiple_of(2);
        }
        let unit = self.slashes + 1;
        let is_inner = other.slashes % (2 * unit) == 2 * unit - 1;
        match other.mark == self.mark {
            true => !is_inner,
            // The string of JSON around one of Python.
            false => self.mark == b'\'' && other.slashes.is_multiple_of(2),
        }
    }
}

impl<'r> UnescapedText<'r> {
    pub(super) fn new(raw: &'r [u8]) -> Self {
        if memchr(b'\\', raw).is_none() && memmem::find(raw, MARKUP).is_none() {
            let (text, marks, line) = (Cow::Borrowed(raw), Vec::new(), LastRun::default());
            return UnescapedText { raw, text, marks, line };
        }
        let mut text = Vec::with_capacity(raw.len());
        let mut marks = vec![(0, 0)];
        let mut at = 0;
        while let Some(rest) = raw.get(at..)
            && let Some(before) = memchr2(b'\\', b'&', rest)
        {
            text.extend_from_slice(rest.before(before));
            let escape = rest.after(before);
            if escape.starts_with(b"&") {
                let is_quote = escape.starts_with(MARKUP);
                marks.push((text.len(), at + before));
                text.push(if is_quote { b'"' } else { b'&' });
                at += before + if is_quote { MARKUP.len() } else { 1 };
                marks.push((text.len(), at));
                continue;
            }
            let slashes = escape.iter().take_while(|&&byte| byte == b'\\').count();
            let is_odd = slashes % 2 == 1;
            let letters = escape.after(slashes);
            if let Some(joint) = joint(letters).filter(|_| slashes == 1) {
                at += before + 1 + joint;
                marks.push((text.len(), at));
                continue;
            }
            let (byte, length) = match letters.first() {
                Some(&quote @ (b'"' | b'\'' | b'/')) => (quote, 1),
                Some(b'u') if let Some(byte) = code_point(letters) => (byte, 5),
                Some(b'n' | b'r') => (LINE_END, 1),
                Some(b't') => (b'\t', 1),
                Some(b'b' | b'f') if is_odd => (CONTROL, 1),
                _ => (b'\\', 0),
            };
            marks.push((text.len(), at + before));
            text.push(byte);
            at += before + slashes + length;
            marks.push((text.len(), at));
        }
        text.extend_from_slice(raw.after(at));
        UnescapedText { raw, text: Cow::Owned(text), marks, line: LastRun::default() }
    }

    pub(super) fn get(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// Returns the text from a place on.
    pub(super) fn from(&self, at: usize) -> &[u8] {
        self.text.after(at)
    }

    /// Returns the line from a place on.
    pub(super) fn line(&self, at: usize) -> &[u8] {
        let to_end = |rest: &[u8]| memchr(b'\n', rest).unwrap_or(rest.len());
        let length = self.line.length(&self.text, at, to_end);
        self.from(at).before(length)
    }

    /// Returns the place in the raw bytes of a place in the text.
    pub(super) fn raw(&self, at: usize) -> usize {
        let after = self.marks.partition_point(|(text, _)| *text <= at);
        let mark = after.checked_sub(1).and_then(|last| self.marks.get(last));
        mark.map_or(at, |(text, raw)| raw + (at - text))
    }

    /// Returns the quotation mark at a place of the text.
    pub(super) fn quote(&self, at: usize) -> Option<Quote> {
        let mark = self.get(at).filter(|byte| matches!(byte, b'"' | b'\''))?;
        let begin = self.raw(at);
        let slashes = self.raw.after(begin).iter().take_while(|&&byte| byte == b'\\').count();
        let is_coded = self.raw.get(begin + slashes) != Some(&mark);
        Some(Quote { mark, slashes, is_coded, at: begin + slashes })
    }

    /// Returns where the string that a quotation mark begins ends in the text, and where in the raw
    /// bytes: at its other mark, or with its line.
    pub(super) fn string_end(&self, opener: usize) -> Option<(usize, usize)> {
        let quote = self.quote(opener)?;
        let text = self.from(opener + 1);
        for found in memchr::memchr3_iter(b'"', b'\'', b'\n', text) {
            let at = opener + 1 + found;
            let Some(other) = self.quote(at) else { return Some((at, self.raw(at))) };
            if quote.is_ended_by(&other) {
                let own = if other.mark == quote.mark { quote.slashes } else { other.slashes };
                return Some((at, other.at - own.min(other.slashes)));
            }
        }
        Some((self.text.len(), self.raw(self.text.len())))
    }
}

/// Returns the length of a line end that a backslash takes away, with the indentation after it, as in
/// strings of YAML.
fn joint(rest: &[u8]) -> Option<usize> {
    let end = if rest.starts_with(b"\r\n") { 2 } else { usize::from(rest.first() == Some(&b'\n')) };
    let indent = rest.after(end).iter().take_while(|byte| b" \t".contains(byte)).count();
    (end > 0).then_some(end + indent)
}

/// Returns the character of `u` and four digits.
fn code_point(letters: &[u8]) -> Option<u8> {
    let digits = letters.get(1..5)?;
    let code = digits
        .iter()
        .try_fold(0, |code, &digit| Some(code * 16 + char::from(digit).to_digit(16)?))?;
    Some(match u8::try_from(code) {
        Ok(b'\n' | b'\r') => LINE_END,
        Ok(code) if code.is_ascii_control() => CONTROL,
        Ok(code) if code.is_ascii() => code,
        _ => OTHER,
    })
}
