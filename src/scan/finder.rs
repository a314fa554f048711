//! Finds where a marker can begin, and checks what must follow it.

use crate::scan::{Attempt, Captures, Match, Pattern, Place};

/// An attempt at a pattern that one of several others must follow, after white
/// space. The others are bound to the words of the first one; the end of the
/// text, or the beginning of one of them there, may follow as well.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookahead {
    first: Attempt,
    /// The first pattern's length and captures, once it has been found.
    found: Option<(usize, Captures)>,
    /// The beginning of what follows, as far as it is known.
    at: usize,
    /// The attempts at what follows, once it has begun; those that failed are gone.
    next: Option<Vec<(Pattern, Attempt)>>,
    is_dead: bool,
    /// The word `name` in what follows.
    name: Option<String>,
}

impl Lookahead {
    /// Reads the new bytes. A match is as long as the first
    /// pattern; what follows is only checked.
    pub(crate) fn advance(
        &mut self,
        first: &Pattern,
        next: &[Pattern],
        text: &str,
        ended: bool,
    ) -> Match {
        let verdict = if self.is_dead { Match::No } else { self.look(first, next, text, ended) };
        self.is_dead = verdict == Match::No;
        verdict
    }

    fn look(&mut self, first: &Pattern, next: &[Pattern], text: &str, ended: bool) -> Match {
        if self.found.is_none() {
            match self.first.advance(first, text, ended) {
                Match::Yes(length) => {
                    self.at = length;
                    self.found = self.first.captures(first, text).map(|words| (length, words));
                }
                other => return other,
            }
        }
        let Some((length, words)) = &self.found else { return Match::No };
        let length = *length;
        if next.is_empty() {
            return Match::Yes(length);
        }
        let rest = text.get(self.at..).unwrap_or_default();
        let (rest, attempts) = match &mut self.next {
            Some(attempts) => (rest, attempts),
            None => {
                let after = rest.trim_ascii_start();
                self.at += rest.len() - after.len();
                if after.is_empty() {
                    return if ended { Match::Yes(length) } else { Match::More };
                }
                let fitting = next.iter().filter(|next| next.may_begin(after.as_bytes()));
                let bound = fitting.map(|next| (next.bind(words), Attempt::default()));
                (after, self.next.insert(bound.collect()))
            }
        };
        let (mut found, mut name) = (false, None);
        // At the end of the text, a pattern that matches so far may follow.
        attempts.retain_mut(|(pattern, attempt)| match attempt.advance(pattern, rest, false) {
            Match::Yes(_) => {
                let words = attempt.captures(pattern, rest);
                found |= words.is_some();
                name = words.and_then(|words| words.get("name").map(str::to_owned));
                false
            }
            Match::More => true,
            Match::No => false,
        });
        self.name = self.name.take().or(name);
        match (found, attempts.is_empty(), ended) {
            (true, ..) | (_, false, true) => Match::Yes(length),
            (_, false, false) => Match::More,
            (_, true, _) => Match::No,
        }
    }

    /// The word `name` in what follows.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// True if the text ends inside the first pattern, after text that only a
    /// marker has.
    pub(crate) fn is_inside(&self) -> bool {
        self.found.is_none() && self.first.is_inside()
    }

    /// Takes the captures of the match, or of what has matched so far.
    pub(crate) fn take_captures(&mut self, first: &Pattern, text: &str) -> Captures {
        let found = self.found.take().map(|(_, words)| words);
        found.or_else(|| self.first.captures(first, text)).unwrap_or_default()
    }
}

/// Finds the first of these bytes, eight bytes at a time.
pub(crate) fn find_any<const N: usize>(bytes: &[u8], needles: [u8; N]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGHEST: u64 = ONES << 7;
    let (chunks, rest) = bytes.as_chunks();
    for (number, chunk) in chunks.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        // Sets the highest bit of each byte that may be the needle; the lowest one set is right.
        let is = |needle: &u8| {
            let zero = word ^ (ONES * u64::from(*needle));
            zero.wrapping_sub(ONES) & !zero
        };
        let found = needles.iter().fold(0, |found, needle| found | is(needle)) & HIGHEST;
        if found != 0 {
            return Some(number * 8 + (found.trailing_zeros() / 8) as usize);
        }
    }
    let last = rest.iter().position(|byte| needles.contains(byte))?;
    Some(chunks.len() * 8 + last)
}

/// Finds the bytes that markers can begin with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finder {
    bytes: Vec<u8>,
    table: Option<Box<[bool; 256]>>,
}

impl Finder {
    /// Returns a finder for these patterns.
    pub(crate) fn new<'p>(patterns: impl Iterator<Item = &'p Pattern>) -> Self {
        // The beginning of a message is known without a search.
        let patterns = patterns.filter(|pattern| pattern.place() != Place::Start);
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

    /// Returns the place of the first of them, from `from` on.
    pub(crate) fn find(&self, text: &str, from: usize) -> Option<usize> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_byte_among_any() {
        for byte in 0..=u8::MAX {
            for (at, other) in (0..20).flat_map(|at| [b'a', 0xBC, b'=', 0].map(|other| (at, other)))
            {
                let mut bytes = [other; 20];
                bytes[at] = byte;
                for needles in [[b'<', b'\n'], [0xE2, b'<'], [0xE2, 0xC2]] {
                    let expected = bytes.iter().position(|byte| needles.contains(byte));
                    assert_eq!(find_any(&bytes, needles), expected, "{byte:#x} at {at}");
                }
            }
        }
    }
}
