//! Text that some servers send whole with each record, longer each time, where
//! others send only what is new. No field shows which it is: the text does.

use std::borrow::Cow;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};

use crate::json::Str;

/// The length and a hash of a text that came in pieces, in place of the text.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    length: usize,
    hash: DefaultHasher,
}

impl Joined {
    /// Takes the next piece.
    pub(crate) fn add(&mut self, piece: &str) {
        self.hash.write(piece.as_bytes());
        self.length += piece.len();
    }

    /// True if the pieces so far make this text, and it is not empty.
    pub(crate) fn is(&self, text: &str) -> bool {
        if self.length == 0 || text.len() != self.length {
            return false;
        }
        let mut hash = DefaultHasher::new();
        hash.write(text.as_bytes());
        hash.finish() == self.hash.finish()
    }
}

/// One text, which is sent whole with each record or in pieces.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    joined: Joined,
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
        let length = self.joined.length;
        let repeats = self.manner != Manner::Pieces
            && (text.len() > length || self.manner == Manner::Whole)
            && text.get(..length).is_some_and(|head| self.joined.is(head));
        if repeats {
            let new = text.get(length..).unwrap_or_default();
            self.manner = Manner::Whole;
            self.joined.add(new);
            return Cow::Owned(Str::from(new));
        }
        if length > 0 && !text.is_empty() && self.manner == Manner::Unknown {
            self.manner = Manner::Pieces;
        }
        self.joined.add(text);
        Cow::Borrowed(piece)
    }

    /// True if the text is sent whole with each record.
    pub(crate) fn is_whole(&self) -> bool {
        self.manner == Manner::Whole
    }

    /// True if this is all of the text so far, once more.
    pub(crate) fn is_all(&self, text: &str) -> bool {
        self.joined.is(text)
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
