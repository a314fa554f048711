//! The part of a text that has been emitted, where the provider repeats the text when it is whole.
//! It is not kept: its length and a hash show if the repetition begins with it.

use crate::json::Str;

/// The pieces of one text so far, in units of UTF-16: so cut, the halves of a
/// character count the same in two pieces and in one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::format) struct Emitted {
    units: u64,
    hash: u64,
}

/// The factor of the hash for each unit.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Its powers, from the highest on: four units needn't wait for one another.
const POWERS: [u64; 4] = {
    let square = FACTOR.wrapping_mul(FACTOR);
    [square.wrapping_mul(FACTOR), square, FACTOR, 1]
};

impl Emitted {
    /// Takes a piece.
    pub(in crate::format) fn add(&mut self, piece: &Str) {
        piece.low().into_iter().for_each(|unit| self.unit(unit));
        self.text(piece.body());
        piece.high().into_iter().for_each(|unit| self.unit(unit));
    }

    fn text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let length = rest.bytes().take_while(u8::is_ascii).count();
            let (ascii, others) = rest.split_at(length);
            let (fours, last) = ascii.as_bytes().as_chunks::<4>();
            for four in fours {
                let terms = four.iter().zip(POWERS);
                let sum = terms.fold(0_u64, |sum, (&byte, power)| {
                    sum.wrapping_add(power.wrapping_mul(byte.into()))
                });
                let factor = POWERS[0].wrapping_mul(FACTOR);
                self.hash = self.hash.wrapping_mul(factor).wrapping_add(sum);
                self.units += 4;
            }
            last.iter().for_each(|&byte| self.unit(byte.into()));
            let mut others = others.chars();
            let other = others.next().into_iter();
            other.for_each(|c| c.encode_utf16(&mut [0; 2]).iter().for_each(|&u| self.unit(u)));
            rest = others.as_str();
        }
    }

    fn unit(&mut self, unit: u16) {
        self.units += 1;
        self.hash = self.hash.wrapping_mul(FACTOR).wrapping_add(unit.into());
    }

    /// Returns the rest of the whole text after the pieces. Nothing, if it doesn't begin
    /// with them.
    pub(in crate::format) fn rest<'w>(&self, whole: &'w Str) -> Option<Str<'w>> {
        let mut walked = Emitted::default();
        let (mut low, mut high) = (whole.low(), whole.high());
        if self.units > 0 {
            low.take().into_iter().for_each(|unit| walked.unit(unit));
        }
        let (text, mut units) = (whole.body(), walked.units);
        let is_after = |&(_, c): &(usize, char)| {
            let is_after = units >= self.units;
            units += c.len_utf16() as u64;
            is_after
        };
        let end = text.char_indices().find(is_after).map_or(text.len(), |(end, _)| end);
        let (emitted, rest) = text.split_at(end);
        walked.text(emitted);
        while walked.units < self.units {
            walked.unit(high.take()?);
        }
        let rest = Str::with_halves(low, rest.into(), high);
        Some(rest).filter(|_| walked == *self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], whole: &str, expected: Option<&str>) {
        let mut emitted = Emitted::default();
        pieces.iter().for_each(|piece| emitted.add(&serde_json::from_str(piece).unwrap()));
        let whole: Str<'_> = serde_json::from_str(whole).unwrap();
        let expected = expected.map(|json| serde_json::from_str(json).unwrap());
        assert_eq!(emitted.rest(&whole), expected);
    }

    #[test]
    fn the_whole_may_repeat_and_extend_the_pieces() {
        check(&[], r#""abc""#, Some(r#""abc""#));
        check(&[r#""a""#, r#""bc""#], r#""abc""#, Some(r#""""#));
        check(&[r#""a""#], r#""abc""#, Some(r#""bc""#));
        check(&[r#""abcde""#, r#""f\u00e9ghijk""#], r#""abcdef\u00e9ghijklm""#, Some(r#""lm""#));
    }

    #[test]
    fn a_whole_that_says_something_else_is_told() {
        check(&[r#""ab""#], r#""a""#, None);
        check(&[r#""ab""#], r#""acd""#, None);
    }

    #[test]
    fn halves_of_characters_count_alike() {
        check(&[r#""a\ud83d""#, r#""\ude00b""#], r#""a\ud83d\ude00bc""#, Some(r#""c""#));
        check(&[r#""\ude00""#], r#""\ude00b\ud83d""#, Some(r#""b\ud83d""#));
        check(&[r#""a\ud83d""#], r#""a\ud83d""#, Some(r#""""#));
    }
}
