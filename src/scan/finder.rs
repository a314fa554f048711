//! Where a marker can begin, and what must follow it.

use super::{Attempt, Captures, Match, Pattern};

/// A pattern, and one of several others that must follow it behind white
/// space.
#[derive(Clone, Debug)]
pub struct Lookahead {
    first: Attempt,
    /// The first pattern's length, once it has been found.
    length: Option<usize>,
    /// Where what follows begins, as far as is known.
    at: usize,
    /// The attempts at what follows; those that failed are gone.
    next: Vec<Option<Attempt>>,
    is_dead: bool,
}

impl Lookahead {
    /// Begins at the next place, unless it isn't `allowed` there.
    pub fn new(allowed: bool, next: usize) -> Self {
        Lookahead {
            first: Attempt::default(),
            length: None,
            at: 0,
            next: vec![Some(Attempt::default()); next],
            is_dead: !allowed,
        }
    }

    /// Looks at the bytes that are new. A match is as long as the first
    /// pattern; what follows is only looked at. With `end`, the end of the text
    /// may follow.
    pub fn advance(
        &mut self,
        first: &Pattern,
        next: &[Pattern],
        end: bool,
        text: &str,
        ended: bool,
    ) -> Match {
        let verdict =
            if self.is_dead { Match::No } else { self.look(first, next, end, text, ended) };
        self.is_dead = verdict == Match::No;
        verdict
    }

    fn look(
        &mut self,
        first: &Pattern,
        next: &[Pattern],
        end: bool,
        text: &str,
        ended: bool,
    ) -> Match {
        let length = match self.length {
            Some(length) => length,
            None => match self.first.advance(first, text, ended) {
                Match::Yes(length) if self.first.captures(first, text).is_some() => {
                    (self.length, self.at) = (Some(length), length);
                    length
                }
                Match::Yes(_) => return Match::No,
                other => return other,
            },
        };
        if next.is_empty() {
            return Match::Yes(length);
        }
        if self.next.iter().flatten().all(Attempt::is_new) {
            let rest = text.get(self.at..).unwrap_or_default();
            self.at += rest.len() - rest.trim_ascii_start().len();
        }
        let rest = text.get(self.at..).unwrap_or_default();
        match (rest.is_empty(), ended) {
            (true, false) => return Match::More,
            (true, true) => return if end { Match::Yes(length) } else { Match::No },
            _ => {}
        }
        for (slot, pattern) in self.next.iter_mut().zip(next) {
            let Some(attempt) = slot else { continue };
            match attempt.advance(pattern, rest, ended) {
                Match::Yes(_) if attempt.captures(pattern, rest).is_some() => return Match::Yes(length),
                Match::More => {}
                Match::Yes(_) | Match::No => *slot = None,
            }
        }
        if self.next.iter().any(Option::is_some) { Match::More } else { Match::No }
    }

    /// What the match remembers.
    pub fn captures(&self, first: &Pattern, text: &str) -> Option<Captures> {
        self.first.captures(first, text)
    }
}

/// Finds the bytes that markers can begin with.
#[derive(Clone, Debug, Default)]
pub struct Finder {
    bytes: Vec<u8>,
    table: Option<Box<[bool; 256]>>,
}

impl Finder {
    /// A finder for these patterns.
    pub fn new<'p>(patterns: impl Iterator<Item = &'p Pattern>) -> Self {
        let mut bytes: Vec<u8> = patterns.flat_map(Pattern::first_bytes).collect();
        bytes.sort_unstable();
        bytes.dedup();
        let table = (bytes.len() > 3).then(|| {
            let mut table = Box::new([false; 256]);
            bytes.iter().for_each(|&byte| table[usize::from(byte)] = true);
            table
        });
        Finder { bytes, table }
    }

    /// The first of them at or behind `from`.
    pub fn find(&self, text: &str, from: usize) -> Option<usize> {
        let rest = text.as_bytes().get(from..)?;
        let found = match (&self.table, &*self.bytes) {
            (Some(table), _) => rest.iter().position(|&byte| table[usize::from(byte)]),
            (None, [a]) => memchr::memchr(*a, rest),
            (None, [a, b]) => memchr::memchr2(*a, *b, rest),
            (None, [a, b, c]) => memchr::memchr3(*a, *b, *c, rest),
            _ => None,
        };
        found.map(|at| from + at)
    }
}
