//! One JSON object, member by member, as it comes.

use crate::json::scanner::{Scanner, Status};

/// Reads the members of one object.
#[derive(Clone, Debug)]
pub struct ObjectReader {
    stage: Stage,
    scanner: Scanner,
    key: String,
    max_depth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    FirstKey,
    Key,
    InKey,
    Colon,
    Value,
    Next,
    Whole,
    Bad,
}

/// What an [`ObjectReader`] has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member<'a> {
    /// A member's key, decoded.
    Key(&'a str),
    /// A piece of its value's text.
    Value(&'a str),
    /// The end of its value.
    End,
}

impl ObjectReader {
    /// A reader for an object nested at most `max_depth` deep; 0 is no limit.
    pub fn new(max_depth: usize) -> Self {
        let scanner = Scanner::new(max_depth);
        ObjectReader { stage: Stage::Open, scanner, key: String::new(), max_depth }
    }

    /// Reads on to the end of the object, of the text, or to what can't be
    /// right; hands on what it comes to. Gives the bytes that were taken.
    pub fn push<E>(
        &mut self,
        text: &str,
        then: &mut dyn FnMut(Member<'_>) -> Result<(), E>,
    ) -> Result<usize, E> {
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            if matches!(self.stage, Stage::Whole | Stage::Bad) {
                break;
            }
            at += match self.stage {
                Stage::InKey => self.key(rest, then)?,
                Stage::Value => self.value(rest, then)?,
                _ => self.punctuation(rest.as_bytes().first().copied().unwrap_or_default()),
            };
        }
        Ok(at)
    }

    /// What is known so far.
    pub fn status(&self) -> Status {
        match self.stage {
            Stage::Whole => Status::Whole,
            Stage::Bad => Status::Bad,
            _ => Status::Open,
        }
    }

    /// A byte between keys and values: how many bytes it takes.
    fn punctuation(&mut self, byte: u8) -> usize {
        use Stage::*;
        self.stage = match (self.stage, byte) {
            (stage, b' ' | b'\t' | b'\r' | b'\n') => stage,
            (Open, b'{') => FirstKey,
            (FirstKey | Next, b'}') => Whole,
            (Next, b',') => Key,
            (Colon, b':') => {
                self.scanner = Scanner::new(self.max_depth);
                Value
            }
            (FirstKey | Key, b'"') => {
                self.key.clear();
                self.scanner = Scanner::new(self.max_depth);
                self.stage = InKey;
                return 0;
            }
            _ => Bad,
        };
        usize::from(self.stage != Bad)
    }

    fn key<E>(
        &mut self,
        rest: &str,
        then: &mut dyn FnMut(Member<'_>) -> Result<(), E>,
    ) -> Result<usize, E> {
        let taken = self.scanner.push(rest.as_bytes());
        self.key.push_str(rest.get(..taken).unwrap_or_default());
        match self.scanner.status() {
            Status::Whole => {
                self.stage = Stage::Colon;
                let key: crate::json::Str<'_> = serde_json::from_str(&self.key).unwrap_or_default();
                then(Member::Key(key.as_str()))?;
            }
            Status::Bad | Status::TooDeep => self.stage = Stage::Bad,
            Status::Empty | Status::Open => {}
        }
        Ok(taken)
    }

    fn value<E>(
        &mut self,
        rest: &str,
        then: &mut dyn FnMut(Member<'_>) -> Result<(), E>,
    ) -> Result<usize, E> {
        let taken = self.scanner.push(rest.as_bytes());
        let piece = rest.get(..taken).unwrap_or_default();
        if !piece.is_empty() {
            then(Member::Value(piece))?;
        }
        match self.scanner.status() {
            // A number ends where something else begins, not with its last digit.
            Status::Whole if self.scanner.is_closed() => {
                self.stage = Stage::Next;
                then(Member::End)?;
            }
            Status::Bad | Status::TooDeep => self.stage = Stage::Bad,
            _ => {}
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &[(&str, &str)], status: Status, taken: usize) {
        for size in [1, 2, 3, json.len()] {
            let mut reader = ObjectReader::new(128);
            let mut got: Vec<(String, String)> = Vec::new();
            let mut total = 0;
            for piece in json.as_bytes().chunks(size) {
                let piece = std::str::from_utf8(piece).unwrap();
                let then = &mut |member: Member<'_>| {
                    match member {
                        Member::Key(key) => got.push((key.to_owned(), String::new())),
                        Member::Value(text) => got.last_mut().unwrap().1.push_str(text),
                        Member::End => {}
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
            Status::Whole,
            27,
        );
        check("{ }", &[], Status::Whole, 3);
        check("{\"a\":12,\"b\":3}", &[("a", "12"), ("b", "3")], Status::Whole, 14);
        check("{\"a\":1", &[("a", "1")], Status::Open, 6);
    }

    #[test]
    fn what_is_no_object() {
        check("{\"a\" 1}", &[("a", "")], Status::Bad, 5);
        check("{a:1}", &[], Status::Bad, 1);
        check("{\"a\":1,}", &[("a", "1")], Status::Bad, 7);
    }
}
