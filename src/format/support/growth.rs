//! Text that some servers send whole with each record, longer each time, where
//! others send only what is new. No field shows which it is: the text does.

use std::borrow::Cow;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};

use crate::json::Str;

/// The length and a hash of one text, in place of the text.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    length: usize,
    hash: DefaultHasher,
    manner: Manner,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Manner {
    /// There has been no second piece.
    #[default]
    Unknown,
    Pieces,
    Whole,
}

impl Growth {
    /// Returns what a record adds to the text.
    pub(crate) fn new_part<'t>(&mut self, piece: &'t Str) -> Cow<'t, Str<'t>> {
        let text = piece.as_str();
        let head = text.get(..self.length).filter(|_| self.length > 0);
        let repeats = self.manner != Manner::Pieces
            && (text.len() > self.length || self.manner == Manner::Whole)
            && head.is_some_and(|head| self.is_hash_of(head));
        if repeats {
            let new = text.get(self.length..).unwrap_or_default();
            self.manner = Manner::Whole;
            self.add(new);
            return Cow::Owned(Str::from(new));
        }
        if self.length > 0 && !text.is_empty() && self.manner == Manner::Unknown {
            self.manner = Manner::Pieces;
        }
        self.add(text);
        Cow::Borrowed(piece)
    }

    /// True if the text is sent whole with each record.
    pub(crate) fn is_whole(&self) -> bool {
        self.manner == Manner::Whole
    }

    /// True if this is all of the text so far, once more.
    pub(crate) fn is_all(&self, text: &str) -> bool {
        self.length > 0 && text.len() == self.length && self.is_hash_of(text)
    }

    /// True if the pieces so far, joined, are this text.
    fn is_hash_of(&self, text: &str) -> bool {
        let mut hash = DefaultHasher::new();
        hash.write(text.as_bytes());
        hash.finish() == self.hash.finish()
    }

    fn add(&mut self, text: &str) {
        self.hash.write(text.as_bytes());
        self.length += text.len();
    }
}

/// Returns the hash of a value that is remembered in place of it.
pub(crate) fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &[&str]) {
        let mut growth = Growth::default();
        let new = |piece: &&str| growth.new_part(&Str::from(*piece)).as_str().to_owned();
        assert_eq!(pieces.iter().map(new).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_new_of_a_whole_is_given_on() {
        check(&["The", "The sea", "The sea", "The sea."], &["The", " sea", "", "."]);
    }

    #[test]
    fn pieces_are_given_on_as_they_are() {
        check(&["", "ha", "ha", "hahaha"], &["", "ha", "ha", "hahaha"]);
    }
}
