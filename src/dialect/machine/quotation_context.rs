//! The quotations that are open in prose, found out where it is asked.
//!
//! A quotation ends with its line or soon after, and only where a call may begin is it asked whether
//! one is open: up to then, the text of the line is kept and not looked at.

use crate::cut::Cut as _;
use crate::dialect::machine::find::find_any;
use crate::dialect::machine::quotations::{Mark, Quotations};
use crate::json::char_length;

/// The most bytes that are kept before they are looked at.
const MAX_UNREAD: usize = 4096;

/// The bytes that a quotation mark begins with, or a command of LaTeX.
const MARKS: [u8; 7] = [b'"', b'\'', b'\\', 0xC2, 0xE2, 0xE3, 0xEF];

/// The words that an apostrophe begins, in lower case and without it.
const ELISIONS: &[&[u8]] =
    &[b"bout", b"cause", b"em", b"n", b"s", b"t", b"til", b"till", b"tis", b"twas"];

/// The commands of LaTeX whose code stands between two of any sign.
const VERBS: &[&[u8]] = &[b"\\verb", b"\\lstinline"];

/// Follows quotation marks in the text that is no code.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuotationContext {
    /// The text that has not been looked at, and the number of bytes before its end.
    unread: Vec<u8>,
    end: u64,
    read: LookedAt,
}

/// What the text says that has been looked at.
#[derive(Clone, Copy, Debug, Default)]
struct LookedAt {
    quotations: Quotations,
    /// True if a call stands in them.
    holds_call: bool,
    /// The quotation mark at the end.
    mark: Option<char>,
    /// True in the word after a `'` that opened a quotation, or after a backslash.
    in_word: bool,
    /// What closes the code that a command of LaTeX has opened.
    verb: Option<u8>,
    /// The last sixteen bytes, the newest in the lowest byte.
    last: u128,
}

/// What comes before a piece of text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    /// The number of bytes.
    pub(crate) count: u64,
    /// The last sixteen of them, the newest in the lowest byte.
    pub(crate) last: u128,
}

impl Before {
    /// True if a backslash stands last that no other one escapes.
    pub(crate) fn is_escape(self) -> bool {
        backslashes(&self.last.to_be_bytes()) % 2 == 1
    }

    /// True if they end with this, which is in lower case, as far as they are kept.
    pub(crate) fn has_suffix(self, suffix: &[u8]) -> bool {
        let last = self.last.to_be_bytes().map(|byte| byte.to_ascii_lowercase());
        last.ends_with(suffix.after(suffix.len().saturating_sub(last.len())))
    }
}

impl QuotationContext {
    /// Takes the next piece of text, and what comes before it: code may be between the last piece
    /// and this one.
    #[inline]
    pub(crate) fn feed(&mut self, text: &[u8], before: Before) {
        let must_settle = match text.first() {
            // It closes code, and stands beside the next mark whatever was in there.
            Some(b'`' | b'>') => self.unread.len() >= MAX_UNREAD,
            Some(0x80..0xC0) => false,
            _ => self.end != before.count || self.unread.len() >= MAX_UNREAD,
        };
        if must_settle {
            self.settle();
        }
        if self.unread.is_empty() {
            self.read.last = before.last;
        }
        self.unread.extend_from_slice(text);
        self.end = before.count + text.len() as u64;
    }

    /// Looks at all of the text.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if !self.unread.is_empty() {
            self.read.feed(&self.unread);
            self.unread.clear();
        }
    }

    /// Returns the quotations that are open before this byte, which follows the text so far, and true
    /// if a command of LaTeX is.
    pub(crate) fn before(&self, next: u8) -> (Quotations, bool) {
        let mut read = self.read;
        read.feed(&self.unread);
        (read.quotations_before(next), read.verb.is_some())
    }

    /// Takes note of a call in the quotations before this byte: they go on up to the closing mark,
    /// over line ends as well.
    pub(crate) fn enter_call(&mut self, next: u8) {
        self.settle();
        let quotations = self.read.quotations_before(next);
        let LookedAt { verb, last, .. } = self.read;
        self.read = LookedAt { quotations, holds_call: true, verb, last, ..LookedAt::default() };
    }

    /// Takes the end of a line of prose, and what comes before it. Returns true if a quotation
    /// begins there: its mark may stand alone on its line.
    pub(crate) fn newline(&mut self, before: Before) -> bool {
        if mark(before.last, true).is_none() {
            self.feed(b"\n", before);
            return false;
        }
        self.feed(b"", before);
        self.settle();
        let depth = self.read.quotations.depth();
        self.feed(b"\n", before);
        self.settle();
        self.read.quotations.depth() > depth
    }

    /// Ends the quotations of a line, unless a call stands in them.
    pub(crate) fn end_line(&mut self) {
        if self.read.holds_call {
            self.settle();
        }
        if !self.read.holds_call {
            self.end();
        }
    }

    /// Ends all quotations.
    pub(crate) fn end(&mut self) {
        self.unread.clear();
        self.read = LookedAt { last: self.read.last, ..LookedAt::default() };
    }
}

impl LookedAt {
    /// Takes the next piece of text.
    fn feed(&mut self, text: &[u8]) {
        let is_letter = |byte: &&u8| byte.is_ascii_alphabetic();
        let mut rest = text;
        while !rest.is_empty() {
            let calm = match self.mark {
                _ if let Some(close) = self.verb => {
                    rest.iter().take_while(|byte| **byte != close).count()
                }
                Some(_) => 0,
                None if self.in_word => rest.iter().take_while(is_letter).count(),
                None => self.calm_length(rest),
            };
            let length = match calm {
                0 => self.char(rest),
                calm => {
                    self.last = last_after(self.last, rest.before(calm));
                    calm
                }
            };
            rest = rest.after(length);
        }
    }

    /// Takes the character that a text begins with; returns its length, in bytes.
    fn char(&mut self, text: &[u8]) -> usize {
        let length = char_length(text);
        text.iter().take(length).for_each(|&byte| self.byte(byte));
        length
    }

    /// Returns the length of the text up to what may be a quotation mark, in bytes.
    fn calm_length(&self, text: &[u8]) -> usize {
        let has_single = self.quotations.has_single();
        find_any(text, MARKS, |at| is_mark(text, at, has_single)).unwrap_or(text.len())
    }

    /// Takes a byte, which shows what the mark before it does, and may end one.
    fn byte(&mut self, byte: u8) {
        let closes_verb = self.verb.take().is_some();
        self.verb = Some(byte).filter(|byte| self.in_word && self.opens_verb(*byte));
        let is_code = closes_verb || self.verb.is_some();
        if self.mark.is_some() || self.in_word || closes_verb {
            let quotations = self.quotations_before(byte);
            let is_opened = quotations.depth() > self.quotations.depth();
            let begins_word = is_opened && self.mark == Some('\'');
            self.in_word = (self.in_word || begins_word) && byte.is_ascii_alphabetic();
            self.quotations = quotations;
            self.holds_call &= !quotations.is_empty();
        }
        self.in_word |= byte == b'\\' && !is_code;
        self.last = self.last << 8 | u128::from(byte);
        self.mark = mark(self.last, self.quotations.has_single()).filter(|_| !is_code);
    }

    /// True if this byte opens code after a command of LaTeX.
    fn opens_verb(&self, byte: u8) -> bool {
        let last = self.last.to_be_bytes();
        let is_sign = byte.is_ascii_punctuation() && !matches!(byte, b'*' | b'{' | b'[' | b'\\');
        is_sign && VERBS.iter().any(|verb| last.ends_with(verb))
    }

    fn quotations_before(&self, next: u8) -> Quotations {
        let mut quotations = self.quotations;
        if self.in_word && !next.is_ascii_alphabetic() && self.ends_in_elision() {
            quotations.forget();
        }
        if let Some(mark) = self.mark {
            quotations.take(Mark { mark, before: self.before(mark), next });
        }
        quotations
    }

    /// True after a word that an apostrophe begins.
    fn ends_in_elision(&self) -> bool {
        let last = self.last.to_be_bytes().map(|byte| byte.to_ascii_lowercase());
        let begin = last.iter().rposition(|&byte| byte == b'\'').map_or(0, |at| at + 1);
        ELISIONS.contains(&last.after(begin))
    }

    /// Returns the two characters before the mark at the end.
    fn before(&self, mark: char) -> [char; 2] {
        let last = self.last.to_be_bytes();
        let text = last.strip_suffix(b"\"");
        let text = text.unwrap_or_else(|| last.before(last.len() - mark.len_utf8()));
        let text = text.before(text.len() - backslashes(text));
        if let [.., far, near] = text
            && far.is_ascii()
            && near.is_ascii()
        {
            return [char::from(*far), char::from(*near)];
        }
        let text = text.utf8_chunks().last().map_or("", |chunk| chunk.valid());
        let mut chars = text.chars().rev();
        let (near, far) = (chars.next().unwrap_or('\n'), chars.next().unwrap_or('\n'));
        [far, near]
    }
}

/// Returns the sixteen bytes at the end of a text, which comes after these ones.
pub(crate) fn last_after(last: u128, text: &[u8]) -> u128 {
    match text.last_chunk() {
        Some(tail) => u128::from_be_bytes(*tail),
        None => text.iter().fold(last, |last, &byte| last << 8 | u128::from(byte)),
    }
}

/// Returns the number of backslashes at the end of a text.
fn backslashes(text: &[u8]) -> usize {
    text.iter().rev().take_while(|byte| **byte == b'\\').count()
}

/// Returns the quotation mark that these bytes end in; between single marks if `has_single`.
fn mark(last: u128, has_single: bool) -> Option<char> {
    let [byte, previous, before, ..] = last.to_le_bytes();
    match (before, previous, byte) {
        (_, b'\\', b'"') => match backslashes(last.to_be_bytes().before(15)) {
            1 => Some('\\'),
            count => Some(if count % 2 == 0 { '"' } else { '⑊' }),
        },
        (.., b'"') => Some('"'),
        (.., b'\'') if has_single || !previous.is_ascii_alphanumeric() => Some('\''),
        (0xE2, 0x80, 0x99) if !has_single => None,
        (_, 0xC2, 0xAB | 0xBB) => Some(char::from(byte)),
        (0xE2, 0x80, 0x98..=0x9A | 0x9C..=0x9E | 0xB9 | 0xBA) => {
            char::from_u32(0x1F80 + u32::from(byte))
        }
        (0xE3, 0x80, 0x8C..=0x8F) => char::from_u32(0x2F80 + u32::from(byte)),
        (0xEF, 0xBC, 0x82) => Some('＂'),
        _ => None,
    }
}

/// True if one of [`MARKS`] may begin a quotation mark.
fn is_mark(text: &[u8], at: usize, has_single: bool) -> bool {
    let is_letter = |at: usize| text.get(at).is_some_and(u8::is_ascii_alphanumeric);
    match text.after(at) {
        [b'\'', ..] => has_single || !at.checked_sub(1).is_some_and(is_letter),
        [0xC2, second, ..] => matches!(second, 0xAB | 0xBB),
        [0xE2, 0x80, 0x99, ..] => has_single,
        [0xE2, 0x80, third, ..] => matches!(third, 0x98 | 0x9A | 0x9C..=0x9E | 0xB9 | 0xBA),
        [0xE2, second, _, ..] => *second == 0x80,
        [0xE3, second, third, ..] => *second == 0x80 && matches!(third, 0x8C..=0x8F),
        [0xEF, second, third, ..] => (*second, *third) == (0xBC, 0x82),
        _ => true,
    }
}
