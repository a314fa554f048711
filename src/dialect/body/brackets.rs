//! Where an expression in brackets ends: strings may hold brackets too.

/// Follows an expression to the bracket that closes its first one.
#[derive(Clone, Debug)]
pub(crate) struct Brackets {
    /// The text around strings; none for Python's quotes.
    delimiter: &'static str,
    depth: usize,
    /// The quote that opened the string that is open.
    quote: Option<u8>,
    escaped: bool,
    /// How much of the delimiter has been seen.
    known: usize,
}

impl Brackets {
    pub(crate) fn new(delimiter: &'static str) -> Self {
        Brackets { delimiter, depth: 0, quote: None, escaped: false, known: 0 }
    }

    /// Reads on; gives how many bytes belong to the expression, and whether it
    /// ends with them.
    pub(crate) fn push(&mut self, text: &str) -> (usize, bool) {
        for (at, byte) in text.bytes().enumerate() {
            let is_string =
                if self.delimiter.is_empty() { self.python(byte) } else { self.delimited(byte) };
            if is_string {
                continue;
            }
            match byte {
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

    /// Whether a byte belongs to a string in Python's quotes.
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

    /// Whether a byte belongs to a string between delimiters, or to one of
    /// these.
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
            let mut brackets = Brackets::new(delimiter);
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
