//! Where prose may speak of markup without meaning it: in code, and in the
//! middle of a line.

use crate::scan;

/// Follows text and knows whether a marker may stand at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    /// Only white space since the line began.
    blank: bool,
    /// Backticks that opened a fence that is still open.
    fence: usize,
    /// Backticks that opened inline code that is still open on this line.
    code: usize,
    /// Backticks at the end of the text so far, and whether they began a line.
    ticks: usize,
    ticks_begin: bool,
}

impl Default for Guard {
    fn default() -> Self {
        Guard { blank: true, fence: 0, code: 0, ticks: 0, ticks_begin: false }
    }
}

impl Guard {
    /// Takes the next piece of text.
    pub(crate) fn feed(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let at = memchr::memchr2(b'\n', b'`', rest).unwrap_or(rest.len());
            let (plain, tail) = rest.split_at(at);
            if !plain.is_empty() {
                self.ticks_end();
                self.blank &= plain.iter().all(u8::is_ascii_whitespace);
            }
            match tail.first() {
                Some(b'`') => {
                    self.ticks_begin |= self.ticks == 0 && self.blank;
                    self.ticks += 1;
                    self.blank = false;
                }
                Some(_) => {
                    self.ticks_end();
                    (self.blank, self.code) = (true, 0);
                }
                None => {}
            }
            rest = tail.get(1..).unwrap_or_default();
        }
    }

    /// Whether text that is calm changes nothing, and holds no marker: this is the
    /// middle of a line.
    pub(crate) fn is_in_line(&self) -> bool {
        !self.blank && self.ticks == 0
    }

    /// The length of the text up to what ends a line, or may begin code or a token.
    pub(crate) fn calm_length(text: &str) -> usize {
        scan::find_any(text.as_bytes(), [b'\n', b'`', b'<', b']']).unwrap_or(text.len())
    }

    /// A run of backticks is over: it opens or closes code.
    fn ticks_end(&mut self) {
        let (ticks, begins) =
            (std::mem::take(&mut self.ticks), std::mem::take(&mut self.ticks_begin));
        match ticks {
            0 => {}
            3.. if begins && self.fence == 0 => self.fence = ticks,
            _ if begins && self.fence > 0 && ticks >= self.fence => self.fence = 0,
            _ if self.fence > 0 => {}
            _ if self.code == ticks => self.code = 0,
            _ if self.code == 0 => self.code = ticks,
            _ => {}
        }
    }

    /// A marker was read: what follows it stands as if on a line of its own.
    pub(crate) fn marker(&mut self) {
        *self = Guard { fence: self.fence, ..Guard::default() };
    }

    /// Whether a line begins here, white space aside.
    pub(crate) fn is_line(&self) -> bool {
        self.blank
    }

    /// Whether this is code, in a fence or on a line.
    pub(crate) fn is_code(&self) -> bool {
        let mut guard = *self;
        guard.ticks_end();
        guard.fence > 0 || guard.code > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, allows: bool) {
        for size in 1..=text.len().max(1) {
            let mut guard = Guard::default();
            for piece in text.as_bytes().chunks(size) {
                guard.feed(std::str::from_utf8(piece).unwrap());
            }
            let is_allowed = guard.is_line() && !guard.is_code();
            assert_eq!(is_allowed, allows, "{text:?} in pieces of {size}");
        }
    }

    #[test]
    fn markers_begin_lines_outside_of_code() {
        check("", true);
        check("Done.\n  ", true);
        check("see ", false);
        check("```xml\n", false);
        check("```xml\n<a>\n```\n", true);
        check("````\n```\n", false);
        check("a `b` c\n", true);
    }
}
