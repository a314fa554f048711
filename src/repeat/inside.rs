//! The inside of a JSON string, where it stands in a record.

use std::cmp::Ordering;

use crate::cut::Cut as _;
use crate::json::{self, Str, append_start, plain_length, unescape};

/// The inside of a JSON string.
#[derive(Clone, Copy)]
pub(super) struct Inside<'b> {
    bytes: &'b [u8],
    begin: usize,
    pub(super) length: usize,
    /// True if it is ASCII without escapes: its value is itself.
    is_plain: bool,
}

impl<'b> Inside<'b> {
    /// Finds the end of the one that begins here, after a quote.
    pub(super) fn new(bytes: &'b [u8], begin: usize) -> Self {
        let mut inside = Inside { bytes, begin, length: 0, is_plain: true };
        while let Some(rest) = bytes.get(begin + inside.length..) {
            let plain = plain_length(rest);
            inside.length += match rest.get(plain) {
                Some(b'\\') => plain + 2,
                Some(0x7F..) => {
                    rest.iter().skip(plain).take_while(|&&byte| byte >= 0x7F).count() + plain
                }
                _ => {
                    inside.length += plain;
                    break;
                }
            };
            inside.is_plain = false;
        }
        inside
    }

    /// Returns it as it is spelled.
    pub(super) fn bytes(self) -> &'b [u8] {
        self.bytes.within(self.begin..self.begin + self.length)
    }

    /// Returns true if its value is this text.
    pub(super) fn means(self, text: &str) -> bool {
        // An escape is longer than what it stands for.
        match self.length.cmp(&text.len()) {
            Ordering::Less => false,
            Ordering::Equal => self.bytes() == text.as_bytes() && !text.contains('\\'),
            Ordering::Greater if self.is_plain => false,
            Ordering::Greater => {
                let mut value = Vec::with_capacity(self.length);
                self.append_to(&mut value).is_some() && value == text.as_bytes()
            }
        }
    }

    /// Appends its value, unless that holds half of a character, or is not
    /// UTF-8.
    pub(super) fn append_to(self, out: &mut Vec<u8>) -> Option<()> {
        let bytes = self.bytes.get(self.begin..)?;
        if self.is_plain {
            append_start(bytes, self.length, out);
            return Some(());
        }
        let begin = out.len();
        let inside = simdutf8::basic::from_utf8(bytes.get(..self.length)?).ok()?;
        // An escape of four digits may be half of a character.
        if unescape(inside.as_bytes(), out) == inside.len() {
            return Some(());
        }
        out.truncate(begin);
        let quoted = self.bytes.get(self.begin.checked_sub(1)?..=self.begin + self.length)?;
        let piece: Str<'_> = json::read(simdutf8::basic::from_utf8(quoted).ok()?).ok()?;
        out.extend_from_slice(Some(piece).filter(Str::is_plain)?.as_str().as_bytes());
        Some(())
    }
}
