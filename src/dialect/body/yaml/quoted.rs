//! Scalars in quotes.

use crate::dialect::body::yaml::lines::Lines;
use crate::dialect::body::yaml::plain::push_fold;

impl Lines<'_> {
    /// Reads a scalar in single or double quotes; further lines begin at the
    /// `least` column.
    pub(super) fn quoted(&mut self, least: usize) -> Option<String> {
        let quote = self.peek()?;
        self.skip(1);
        let mut text = String::new();
        // What is before this was escaped, or is a line's: white space in it stays.
        let mut kept = 0;
        loop {
            let c = self.peek()?;
            if c == '\n' {
                let end = text.trim_end_matches([' ', '\t']).len().max(kept);
                text.truncate(end);
                let ends = self.fold(least)??;
                push_fold(ends, &mut text);
                kept = text.len();
                continue;
            }
            self.skip(c.len_utf8());
            match c {
                '\'' if quote == '\'' && self.rest.starts_with('\'') => {
                    self.skip(1);
                    text.push('\'');
                }
                c if c == quote => return Some(text),
                '\\' if quote == '"' => {
                    self.escape(least, &mut text)?;
                    kept = text.len();
                }
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self, least: usize, text: &mut String) -> Option<()> {
        let c = self.peek()?;
        if c == '\n' {
            // The line goes on without a space.
            let ends = self.fold(least)??;
            text.extend(std::iter::repeat_n('\n', ends - 1));
            return Some(());
        }
        self.skip(c.len_utf8());
        text.push(match c {
            '0' => '\0',
            'a' => '\u{7}',
            'b' => '\u{8}',
            't' | '\t' => '\t',
            'n' => '\n',
            'v' => '\u{B}',
            'f' => '\u{C}',
            'r' => '\r',
            'e' => '\u{1B}',
            'N' => '\u{85}',
            '_' => '\u{A0}',
            'L' => '\u{2028}',
            'P' => '\u{2029}',
            ' ' | '"' | '/' | '\\' => c,
            'x' => char::from_u32(self.hex(2)?)?,
            'u' => self.utf16()?,
            'U' => char::from_u32(self.hex(8)?)?,
            _ => return None,
        });
        Some(())
    }

    /// Four digits, or twice four that are a pair, as in JSON.
    fn utf16(&mut self) -> Option<char> {
        let high = self.hex(4)?;
        if !(0xD800..0xDC00).contains(&high) {
            return char::from_u32(high);
        }
        self.take('\\')?;
        self.take('u')?;
        let low = self.hex(4)?.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
        char::from_u32(0x10000 + ((high - 0xD800) << 10) + low)
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let (code, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        let is_hex = code.bytes().all(|byte| byte.is_ascii_hexdigit());
        u32::from_str_radix(code, 16).ok().filter(|_| is_hex)
    }
}
