//! One JSON object, member by member, in pieces.

use crate::cut::Cut as _;
use crate::json::reader::text;
use crate::json::scanner::{JsonStatus, ObjectPart, Scanner};

/// Reads the members of one object, whose text begins with its brace or white
/// space. Takes control characters in strings, as [`Scanner::push_raw`] does.
#[derive(Clone, Debug)]
pub(crate) struct ObjectReader {
    scanner: Scanner,
    part: ObjectPart,
    /// The text of the key that is open.
    key: String,
    is_raw: bool,
}

/// A part of an object that an [`ObjectReader`] has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectMember<'a> {
    /// A member's key, decoded.
    Key(&'a str),
    /// A piece of its value's text, with control characters as escapes.
    Value(&'a str),
    /// The end of its value.
    End,
}

impl ObjectReader {
    /// A reader for an object whose values are nested at most `max_depth` deep; 0
    /// is no limit.
    pub(crate) fn new(max_depth: usize) -> Self {
        let scanner = Scanner::new(if max_depth == 0 { 0 } else { max_depth.saturating_add(1) });
        ObjectReader { scanner, part: ObjectPart::Between, key: String::new(), is_raw: false }
    }

    /// Reads on to the end of the object, of the text, or to the first byte that
    /// can't be right, and passes on what it reads. Returns the number of bytes
    /// taken.
    pub(crate) fn push<E>(
        &mut self,
        text: &str,
        then: &mut dyn FnMut(ObjectMember<'_>) -> Result<(), E>,
    ) -> Result<usize, E> {
        // The text before `from` has been passed on.
        let (mut from, mut at) = (0, 0);
        while let Some(&byte) = text.as_bytes().get(at) {
            let part = self.scanner.part(byte);
            if part != self.part {
                self.piece(text.within(from..at), then)?;
                from = at;
                self.end_part(then)?;
                self.part = part;
            }
            let rest = text.after(at);
            let taken = self.scanner.advance_inside(rest.as_bytes());
            at += taken;
            if let Some(escape) = self.scanner.take_control(rest.after(taken)) {
                self.piece(text.within(from..at), then)?;
                self.piece(&escape, then)?;
                self.is_raw = true;
                at += 1;
                from = at;
            } else if taken == 0 {
                break;
            }
        }
        self.piece(text.within(from..at), then)?;
        Ok(at)
    }

    /// Returns what is known so far.
    pub(crate) fn status(&self) -> JsonStatus {
        match self.scanner.status() {
            JsonStatus::Empty => JsonStatus::Open,
            status => status,
        }
    }

    /// True inside a string.
    pub(crate) fn is_in_string(&self) -> bool {
        self.scanner.is_in_string()
    }

    /// True if a string had a control character in it.
    pub(crate) fn is_raw(&self) -> bool {
        self.is_raw
    }

    fn piece<E>(
        &mut self,
        text: &str,
        then: &mut dyn FnMut(ObjectMember<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.part {
            ObjectPart::Key => self.key.push_str(text),
            ObjectPart::Value if !text.is_empty() => then(ObjectMember::Value(text))?,
            _ => {}
        }
        Ok(())
    }

    fn end_part<E>(
        &mut self,
        then: &mut dyn FnMut(ObjectMember<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.part {
            ObjectPart::Key => {
                let key = std::mem::take(&mut self.key);
                then(ObjectMember::Key(text(&key).as_str()))
            }
            ObjectPart::Value => then(ObjectMember::End),
            ObjectPart::Between => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &[(&str, &str)], status: JsonStatus, taken: usize) {
        for size in [1, 2, 3, json.len()] {
            let mut reader = ObjectReader::new(128);
            let mut got: Vec<(String, String)> = Vec::new();
            let mut total = 0;
            for piece in json.as_bytes().chunks(size) {
                let piece = std::str::from_utf8(piece).unwrap();
                let then = &mut |member: ObjectMember<'_>| {
                    match member {
                        ObjectMember::Key(key) => got.push((key.to_owned(), String::new())),
                        ObjectMember::Value(text) => got.last_mut().unwrap().1.push_str(text),
                        ObjectMember::End => {}
                    }
                    Ok::<(), ()>(())
                };
                total += reader.push(piece, then).unwrap();
            }
            let got: Vec<_> = got.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            assert_eq!(
                (got.as_slice(), reader.status(), total),
                (expected, status, taken),
                "{json} by {size}"
            );
        }
    }

    #[test]
    fn members_as_they_come() {
        check(
            "{\"a\":{\"b\":[1, 2]}, \"c\":\"}\"} x",
            &[("a", "{\"b\":[1, 2]}"), ("c", "\"}\"")],
            JsonStatus::Whole,
            27,
        );
        check("{ }", &[], JsonStatus::Whole, 3);
        check("{\"a\":12,\"b\":3}", &[("a", "12"), ("b", "3")], JsonStatus::Whole, 14);
        check("{\"a\":1", &[("a", "1")], JsonStatus::Open, 6);
        check(
            "{\"a\" : 1 ,\"b\\n\":\"\n\" }",
            &[("a", "1"), ("b\n", "\"\\n\"")],
            JsonStatus::Whole,
            21,
        );
    }

    #[test]
    fn what_is_no_object() {
        check("{\"a\" 1}", &[("a", "")], JsonStatus::Bad, 5);
        check("{a:1}", &[], JsonStatus::Bad, 1);
        check("{\"a\":[1}", &[("a", "[1")], JsonStatus::Bad, 7);
        check("{\"a\":1,}", &[("a", "1")], JsonStatus::Bad, 7);
    }
}
