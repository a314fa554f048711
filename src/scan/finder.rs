//! Finds where a marker can begin, and checks what must follow it.

use crate::scan::{Attempt, Captures, Match, Pattern, Start, begins_word};

/// An attempt at a pattern that one of several others must follow, after white
/// space. The others are bound to the words of the first one; the end of the
/// text, or the beginning of one of them there, may follow as well.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookahead {
    first: Attempt,
    /// The first pattern's length, once it has been found.
    found: Option<usize>,
    /// The beginning of what follows, as far as it is known.
    at: usize,
    /// True once what follows has begun; then the attempts at it that have not failed.
    has_begun: bool,
    next: Vec<(Pattern, Attempt)>,
    /// The word `name` in what follows.
    name: Option<String>,
}

/// What a [`Lookahead`] has seen so far.
#[derive(Debug)]
pub(crate) enum Sight<'t> {
    /// The text does not match.
    No,
    /// The text matches so far.
    More,
    /// The first pattern matches, over this many bytes, with these captures.
    Yes(usize, Captures<'t>),
}

impl Lookahead {
    /// Reads the new bytes. A match is as long as the first
    /// pattern; what follows is only checked.
    pub(crate) fn advance<'t>(
        &mut self,
        first: &Pattern,
        next: &[Pattern],
        text: &'t str,
        ended: bool,
    ) -> Sight<'t> {
        let length = match self.found {
            Some(length) => length,
            None => match self.first.advance(first, text, ended) {
                Match::Yes(length) => {
                    self.at = length;
                    *self.found.insert(length)
                }
                Match::More => return Sight::More,
                Match::No => return Sight::No,
            },
        };
        let Some(words) = self.first.captures(first, text) else { return Sight::No };
        if next.is_empty() {
            return Sight::Yes(length, words);
        }
        let mut rest = text.get(self.at..).unwrap_or_default();
        let attempts = std::mem::take(&mut self.next);
        let (mut found, mut name) = (false, None);
        // At the end of the text, a pattern that matches so far may follow.
        let mut advance = |pattern: Pattern, mut attempt: Attempt, rest: &str| match attempt
            .advance(&pattern, rest, false)
        {
            Match::Yes(_) => {
                let words = attempt.captures(&pattern, rest);
                found |= words.is_some();
                name = words.and_then(|words| words.get("name").map(str::to_owned));
            }
            Match::More => self.next.push((pattern, attempt)),
            Match::No => {}
        };
        if self.has_begun {
            attempts.into_iter().for_each(|(pattern, attempt)| advance(pattern, attempt, rest));
        } else {
            let space = rest.len() - rest.trim_ascii_start().len();
            self.at += space;
            rest = rest.get(space..).unwrap_or_default();
            if rest.is_empty() {
                return if ended { Sight::Yes(length, words) } else { Sight::More };
            }
            self.has_begun = true;
            let fitting = next.iter().filter(|next| next.may_begin(rest.as_bytes()));
            fitting.for_each(|next| advance(next.bind(&words), Attempt::default(), rest));
        }
        self.name = self.name.take().or(name);
        match (found, self.next.is_empty(), ended) {
            (true, ..) | (_, false, true) => Sight::Yes(length, words),
            (_, false, false) => Sight::More,
            (_, true, _) => Sight::No,
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

    /// Returns the captures of what has matched so far.
    pub(crate) fn captures<'t>(&self, first: &Pattern, text: &'t str) -> Captures<'t> {
        self.first.captures(first, text).unwrap_or_default()
    }
}

/// The bytes that are compared before any branch.
const CHUNK: usize = 16;

/// Finds the first of these bytes, sixteen bytes at a time.
pub(crate) fn find_any<const N: usize>(bytes: &[u8], needles: [u8; N]) -> Option<usize> {
    let is_needle = |byte: u8| needles.iter().fold(false, |any, needle| any | (byte == *needle));
    let (chunks, rest) = bytes.as_chunks::<CHUNK>();
    for (number, chunk) in chunks.iter().enumerate() {
        let mut marks = [0; CHUNK];
        marks.iter_mut().zip(chunk).for_each(|(mark, byte)| *mark = u8::from(is_needle(*byte)));
        let marks = u128::from_le_bytes(marks);
        if marks != 0 {
            return Some(number * CHUNK + (marks.trailing_zeros() / 8) as usize);
        }
    }
    let at = rest.iter().position(|byte| is_needle(*byte))?;
    Some(chunks.len() * CHUNK + at)
}

/// Finds where markers can begin, by the first two bytes of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finder {
    bytes: Vec<u8>,
    /// For each byte, the number of those that follow it in a marker's beginning.
    numbers: Box<[u8]>,
    /// The bytes that may follow; the first is of bytes that begin no marker.
    seconds: Vec<[bool; 256]>,
}

impl Finder {
    /// Returns a finder for markers that begin so. After a beginning of one byte, a word follows
    /// or any byte may.
    pub(crate) fn new<'s>(starts: impl Iterator<Item = &'s Start>) -> Self {
        let mut finder = Finder { numbers: [0; 256].into(), ..Finder::default() };
        finder.seconds.push([false; 256]);
        for start in starts {
            let Some((&first, rest)) = start.text.split_first() else { continue };
            let number = &mut finder.numbers[usize::from(first)];
            if *number == 0 {
                // There are fewer first bytes than numbers: no marker begins with 0xFF.
                *number = u8::try_from(finder.seconds.len()).unwrap_or(u8::MAX);
                finder.bytes.push(first);
                finder.seconds.push([false; 256]);
            }
            let seconds = &mut finder.seconds[usize::from(*number)];
            match rest.first() {
                Some(second) => seconds[usize::from(*second)] = true,
                None => (0..=u8::MAX).zip(seconds).for_each(|(byte, may_follow)| {
                    *may_follow |= !start.is_before_word || begins_word(byte);
                }),
            }
        }
        finder
    }

    /// True if one may begin here, as far as the first two bytes tell.
    #[inline]
    pub(crate) fn fits(&self, text: &[u8]) -> bool {
        let Some((&first, rest)) = text.split_first() else { return false };
        let number = usize::from(self.numbers[usize::from(first)]);
        number != 0 && rest.first().is_none_or(|&second| self.seconds[number][usize::from(second)])
    }

    /// Returns the first place from `from` on where one may begin.
    pub(crate) fn find(&self, text: &[u8], mut from: usize) -> Option<usize> {
        loop {
            let rest = text.get(from..)?;
            let found = match *self.bytes {
                [] => None,
                [a] => memchr::memchr(a, rest),
                [a, b] => memchr::memchr2(a, b, rest),
                [a, b, c] => memchr::memchr3(a, b, c, rest),
                _ => rest.iter().position(|&byte| self.numbers[usize::from(byte)] != 0),
            };
            let at = found?;
            if rest.get(at..).is_some_and(|rest| self.fits(rest)) {
                return Some(from + at);
            }
            from += at + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_byte_among_any() {
        for byte in 0..=u8::MAX {
            for (at, other) in [0, 1, 15, 31, 32, 40, 63, 64, 69]
                .into_iter()
                .flat_map(|at| [b'a', 0xBC, b'=', 0].map(|other| (at, other)))
            {
                let mut bytes = [other; 70];
                bytes[at] = byte;
                for needles in [[b'<', b'\n'], [0xE2, b'<'], [0xE2, 0xC2]] {
                    let expected = bytes.iter().position(|byte| needles.contains(byte));
                    assert_eq!(find_any(&bytes, needles), expected, "{byte:#x} at {at}");
                }
            }
        }
    }

    #[test]
    fn the_second_byte_tells_beginnings_from_other_text() {
        let check = |starts: &[&str], text: &str, expected: &[usize]| {
            let start = |text: &&str| match text.strip_suffix('*') {
                Some(text) => Start { text: text.into(), is_before_word: true },
                None => Start { text: (*text).into(), is_before_word: false },
            };
            let starts: Vec<Start> = starts.iter().map(start).collect();
            let finder = Finder::new(starts.iter());
            let mut found = Vec::new();
            while let Some(at) = finder.find(text.as_bytes(), found.last().map_or(0, |at| at + 1)) {
                found.push(at);
            }
            assert_eq!(found, expected, "{text:?}");
        };
        check(&["<t", "<|"], "<<t<x<|<", &[1, 5, 7]);
        check(&["<"], "<<x", &[0, 1]);
        check(&["<*", "<|"], "<<x< <|</<é", &[1, 5, 9]);
        check(&["ab", "b", "cd", "de"], "acabxde", &[2, 3, 5]);
        check(&[], "x", &[]);
    }
}
