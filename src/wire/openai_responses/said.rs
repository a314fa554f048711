//! What has been said of a text that its provider repeats when it is whole.
//! The text isn't kept: its length and a hash tell whether the repetition
//! begins with it.

use crate::json::Str;

/// The pieces of one text so far, in units of UTF-16: so cut, the halves of a
/// character count the same in two pieces and in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Said {
    units: u64,
    hash: u64,
}

impl Default for Said {
    fn default() -> Self {
        Said { units: 0, hash: 0xCBF2_9CE4_8422_2325 }
    }
}

impl Said {
    /// Takes a piece.
    pub(in super::super) fn add(&mut self, piece: &Str<'_>) {
        piece
            .low
            .into_iter()
            .chain(piece.as_str().encode_utf16())
            .chain(piece.high)
            .for_each(|unit| self.unit(unit));
    }

    /// FNV-1a.
    fn unit(&mut self, unit: u16) {
        self.units += 1;
        self.hash = (self.hash ^ u64::from(unit)).wrapping_mul(0x0100_0000_01B3);
    }

    /// What the whole text has behind the pieces. Nothing, if it doesn't begin
    /// with them.
    pub(in super::super) fn rest<'w>(&self, whole: &'w Str<'_>) -> Option<Str<'w>> {
        let mut walked = Said::default();
        let (mut low, mut high) = (whole.low, whole.high);
        let mut text = whole.as_str().chars();
        if self.units > 0 {
            low.take().into_iter().for_each(|unit| walked.unit(unit));
        }
        while walked.units < self.units {
            match text.next() {
                Some(character) => {
                    character.encode_utf16(&mut [0; 2]).iter().for_each(|&unit| walked.unit(unit));
                }
                None => walked.unit(high.take()?),
            }
        }
        let mut rest = Str::from(text.as_str());
        (rest.low, rest.high) = (low, high);
        Some(rest).filter(|_| walked == *self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], whole: &str, expected: Option<&str>) {
        let mut said = Said::default();
        pieces.iter().for_each(|piece| said.add(&serde_json::from_str(piece).unwrap()));
        let whole: Str<'_> = serde_json::from_str(whole).unwrap();
        let expected = expected.map(|json| serde_json::from_str(json).unwrap());
        assert_eq!(said.rest(&whole), expected);
    }

    #[test]
    fn the_whole_may_repeat_and_extend_the_pieces() {
        check(&[], r#""abc""#, Some(r#""abc""#));
        check(&[r#""a""#, r#""bc""#], r#""abc""#, Some(r#""""#));
        check(&[r#""a""#], r#""abc""#, Some(r#""bc""#));
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
