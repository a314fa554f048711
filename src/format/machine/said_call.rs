//! What a call has said, to tell if another one says it once more. The text is not kept: a hash is.

use crate::format::support::said::{SaidStretch, hash};
use crate::json::{Minifier, Str};

/// The name and the arguments of a call, as far as they have come.
#[derive(Debug, Default)]
pub(super) struct SaidCall {
    name: Option<u64>,
    arguments: SaidStretch,
    minifier: Minifier,
    buffer: String,
    /// The number of the list in which it came last.
    pub(super) list: u64,
}

impl SaidCall {
    /// Adds a name, and a piece of the arguments or all of them. None take nothing back.
    pub(super) fn add(&mut self, name: Option<&str>, piece: Option<&str>, is_all: bool) {
        self.name = name.map(hash).or(self.name);
        let Some(piece) = piece.filter(|piece| !piece.is_empty()) else { return };
        if is_all {
            (self.arguments, self.minifier) = Default::default();
        }
        self.buffer.clear();
        self.minifier.feed(piece, &mut self.buffer);
        self.arguments.add(&Str::from(self.buffer.as_str()));
    }

    /// True if a name is the one that it has.
    pub(super) fn has_name(&self, name: Option<&str>) -> bool {
        self.name == name.map(hash)
    }

    /// True if a name is not the one that it has.
    pub(super) fn has_other_name(&self, name: Option<&str>) -> bool {
        self.name.zip(name).is_some_and(|(known, name)| known != hash(name))
    }

    /// True if there are arguments.
    pub(super) fn has_arguments(&self) -> bool {
        self.arguments != SaidStretch::default()
    }

    /// True if a whole call has this name and these arguments, or repeats none.
    pub(super) fn is_repeated_by(&self, other: &SaidCall) -> bool {
        let empty = SaidStretch::of(&Str::from("{}"));
        let or_empty = |said: &SaidCall| if said.has_arguments() { said.arguments } else { empty };
        let is_same = or_empty(self) == or_empty(other);
        other.name.is_none_or(|name| self.name == Some(name)) && (is_same || !other.has_arguments())
    }
}
