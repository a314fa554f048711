//! Shared by Python's syntax and braces: a cursor over the text of a value, and
//! the search for the bracket that ends it.

use crate::json;

/// A cursor over text that is no JSON. Every method passes over white space
/// first; `None` means that the text can't be read without guessing.
pub(super) struct Cursor<'t> {
    pub(super) rest: &'t str,
    /// The number of containers that are open.
    depth: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Cursor { rest: text, depth: 0 }
    }

    /// Returns `value` if nothing but white space is left.
    pub(super) fn finish<T>(mut self, value: T) -> Option<T> {
        self.space();
        self.rest.is_empty().then_some(value)
    }

    pub(super) fn space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    pub(super) fn peek(&mut self) -> Option<char> {
        self.space();
        self.rest.chars().next()
    }

    /// Takes a character if it is next.
    pub(super) fn take(&mut self, c: char) -> bool {
        self.space();
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes a character that has to be next.
    pub(super) fn expect(&mut self, c: char) -> Option<()> {
        self.take(c).then_some(())
    }

    /// Takes a comma; returns whether there was one. Where there is none, `close`
    /// has to follow, or the end of the text if that is `None`.
    pub(super) fn separator(&mut self, close: Option<char>) -> Option<bool> {
        if self.take(',') {
            return Some(true);
        }
        (self.peek() == close).then_some(false)
    }

    /// Takes a bare word, which is a key.
    pub(super) fn word(&mut self) -> Option<&'t str> {
        self.space();
        let word = self.take_until(|c| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')));
        (!word.is_empty()).then_some(word)
    }

    /// Takes all that is before the first character that `is_end` accepts.
    pub(super) fn take_until(&mut self, is_end: impl Fn(char) -> bool) -> &'t str {
        let (text, rest) = self.rest.split_at(self.rest.find(is_end).unwrap_or(self.rest.len()));
        self.rest = rest;
        text
    }

    /// Takes the next character, which may be white space.
    pub(super) fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    /// Reads a container's elements with `element`, which takes one each, between
    /// the opening character, which is next, and `close`.
    pub(super) fn elements(
        &mut self,
        close: char,
        mut element: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.next()?;
        self.depth += 1;
        if self.depth > json::MAX_DEPTH {
            return None;
        }
        while !self.take(close) {
            element(self)?;
            self.separator(Some(close))?;
        }
        self.depth -= 1;
        Some(())
    }
}

/// Appends a member's key and colon, and the comma before it.
pub(super) fn push_key(key: &str, out: &mut String) {
    push_comma(out);
    json::quote_into(key, out);
    out.push(':');
}

/// Appends the comma before an element, unless it's the first of its container.
pub(super) fn push_comma(out: &mut String) {
    if !out.ends_with(['{', '[']) {
        out.push(',');
    }
}

/// Finds the end of an expression, which is the bracket that closes its first
/// one, or before it what ends the list that it is an element of. Brackets in strings don't count.
#[derive(Clone, Debug)]
pub(crate) struct Brackets {
    is_element: bool,
    /// The text before and after a string; empty for Python's quotes.
    delimiter: &'static str,
    depth: usize,
    /// The quote that opened the string that is open.
    quote: Option<u8>,
    escaped: bool,
    /// The number of bytes of the delimiter that were seen last.
    known: usize,
}

impl Brackets {
    pub(super) fn new(delimiter: &'static str, is_element: bool) -> Self {
        Brackets { is_element, delimiter, depth: 0, quote: None, escaped: false, known: 0 }
    }

    /// True inside a string.
    pub(super) fn is_in_string(&self) -> bool {
        self.quote.is_some()
    }

    /// Reads on. Returns how many bytes belong to the expression, and whether it
    /// ends with them.
    pub(super) fn push(&mut self, text: &str) -> (usize, bool) {
        for (at, byte) in text.bytes().enumerate() {
            let is_string =
                if self.delimiter.is_empty() { self.python(byte) } else { self.delimited(byte) };
            if is_string {
                continue;
            }
            match byte {
                b',' | b']' if self.is_element && self.depth == 0 => return (at, true),
                b'(' | b'[' | b'{' => self.depth += 1,
                b')' | b']' | b'}' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return (at + 1, true);
                    }
                }
                _ => {}
            }
        }
        (text.len(), false)
    }

    /// True if a byte belongs to a string in Python's quotes.
    fn python(&mut self, byte: u8) -> bool {
        match self.quote {
            Some(_) if std::mem::take(&mut self.escaped) => {}
            Some(_) if byte == b'\\' => self.escaped = true,
            Some(quote) if byte == quote => self.quote = None,
            Some(_) => {}
            None if matches!(byte, b'\'' | b'"') => self.quote = Some(byte),
            None => return false,
        }
        true
    }

    /// True if a byte belongs to a delimiter, or to a string between two.
    fn delimited(&mut self, byte: u8) -> bool {
        let delimiter = self.delimiter.as_bytes();
        if delimiter.get(self.known) == Some(&byte) {
            self.known += 1;
        } else {
            self.known = usize::from(delimiter.first() == Some(&byte));
        }
        if self.known == delimiter.len() {
            self.known = 0;
            self.quote = if self.quote.is_some() { None } else { Some(b'"') };
            return true;
        }
        self.quote.is_some() || self.known > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(delimiter: &'static str, text: &str, expected: usize) {
        for size in [1, 2, text.len()] {
            let mut brackets = Brackets::new(delimiter, false);
            let mut total = 0;
            for piece in text.as_bytes().chunks(size) {
                let (taken, ended) = brackets.push(std::str::from_utf8(piece).unwrap());
                total += taken;
                if ended {
                    break;
                }
            }
            assert_eq!(total, expected, "{text} by {size}");
        }
    }

    #[test]
    fn strings_hide_brackets() {
        check("", "f(a=')', b=[1, (2)]) rest", 20);
        check("", "f('\\')')x", 8);
        check("<|\"|>", "call:f{a:<|\"|>}<|\"|>}x", 21);
    }
}
