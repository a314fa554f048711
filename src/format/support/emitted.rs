//! The part of a text that has been emitted, where the provider repeats the text when it is whole.
//! It is not kept: its length and a hash show if the repetition begins with it.

use std::borrow::Cow;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use crate::json::Str;

/// The pieces of one text so far, in units of UTF-16: so cut, the halves of a
/// character count the same in two pieces and in one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Emitted {
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
    pub(crate) fn add(&mut self, piece: &Str) {
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
    pub(crate) fn rest<'w>(&self, whole: &'w Str) -> Option<Str<'w>> {
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

    /// Returns those of a text that has come at once.
    pub(crate) fn of(text: &Str) -> Self {
        let mut emitted = Emitted::default();
        emitted.add(text);
        emitted
    }

    /// True if there has been no text.
    pub(crate) fn is_empty(&self) -> bool {
        self.units == 0
    }

    /// True if the pieces so far make this text, and it is not empty.
    pub(crate) fn is_all(&self, text: &Str) -> bool {
        !self.is_empty() && self.rest(text).is_some_and(|rest| rest.is_empty())
    }
}

/// The pieces of a text that may come whole after them, with other white space at its ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SaidPieces {
    all: Emitted,
    /// From the first word on.
    from_word: Emitted,
    /// From the first word to the last one.
    words: Emitted,
}

impl SaidPieces {
    /// Takes a piece.
    pub(crate) fn add(&mut self, piece: &Str) {
        self.all.add(piece);
        let (low, mut body, high) = (piece.low(), piece.body(), piece.high());
        if self.words.is_empty() && low.is_none() {
            body = body.trim_start();
        }
        let words = if high.is_none() { body.trim_end() } else { body };
        let (words, space) = body.split_at(words.len());
        let words = Str::with_halves(low, words.into(), high);
        self.from_word.add(&words);
        if !words.is_empty() {
            self.words = self.from_word;
        }
        self.from_word.add(&Str::from(space));
    }

    /// Returns what these say beside white space, to be compared.
    pub(crate) fn words(&self) -> Emitted {
        self.words
    }

    /// True if there has been no word.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// True if the pieces so far make this text, and there is a word in it.
    pub(crate) fn is_all(&self, text: &Str) -> bool {
        !self.is_empty() && self.words == SaidPieces::of(text).words
    }

    /// Returns the rest of the whole text after the pieces. Nothing, if it does not begin with them.
    pub(crate) fn rest<'w>(&self, whole: &'w Str) -> Option<Str<'w>> {
        self.all.rest(whole).or_else(|| self.is_all(whole).then(|| Str::from("")))
    }

    /// Returns those of a text that has come at once.
    pub(crate) fn of(text: &Str) -> Self {
        let mut pieces = SaidPieces::default();
        pieces.add(text);
        pieces
    }
}

/// One text, which is sent whole with each record, longer each time, or in pieces. No field shows which
/// it is: the text does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Growth {
    emitted: Emitted,
    manner: Manner,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Manner {
    /// There has been no second piece.
    #[default]
    Unknown,
    Pieces,
    Whole,
    /// Whole, and it has changed. If it does not grow then, it was taken for that wrongly.
    Changed,
    /// Whole, as the format says.
    Always,
}

/// What a record adds to a text.
pub(crate) enum GrownText<'t> {
    New(Cow<'t, Str<'t>>),
    /// The text, which is sent whole, is another one now.
    Changed,
}

impl Growth {
    /// Returns what a record adds to the text.
    pub(crate) fn new_part<'t>(&mut self, piece: &'t Str) -> GrownText<'t> {
        let is_begun = !self.emitted.is_empty();
        let rest = self.emitted.rest(piece).filter(|_| is_begun && self.manner != Manner::Pieces);
        if let Some(new) = rest.filter(|rest| !rest.is_empty() || self.is_whole()) {
            self.manner =
                if self.manner == Manner::Always { Manner::Always } else { Manner::Whole };
            self.emitted.add(&new);
            return GrownText::New(Cow::Owned(new));
        }
        if is_begun && !piece.is_empty() {
            self.manner = match self.manner {
                Manner::Whole => Manner::Changed,
                Manner::Always => Manner::Always,
                Manner::Unknown | Manner::Pieces | Manner::Changed => Manner::Pieces,
            };
        }
        let is_changed = matches!(self.manner, Manner::Changed | Manner::Always);
        if is_begun && is_changed && !piece.is_empty() {
            self.emitted = Emitted::of(piece);
            return GrownText::Changed;
        }
        self.emitted.add(piece);
        GrownText::New(Cow::Borrowed(piece))
    }

    /// Returns that of a text of which each record holds all.
    pub(crate) fn always() -> Self {
        Growth { manner: Manner::Always, ..Growth::default() }
    }

    /// Returns that of a text that has come whole.
    pub(crate) fn of(text: &Str) -> Self {
        Growth { emitted: Emitted::of(text), manner: Manner::Whole }
    }

    /// Takes a piece of the text. One that was sent whole counts as all its pieces.
    pub(crate) fn add(&mut self, piece: &Str) {
        self.emitted.add(piece);
        self.manner = Manner::Whole;
    }

    /// Returns what has been emitted of the text.
    pub(crate) fn emitted(&self) -> Emitted {
        self.emitted
    }

    /// True if the text is sent whole with each record.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.manner, Manner::Whole | Manner::Changed | Manner::Always)
    }

    /// True if this is all of the text so far, once more.
    pub(crate) fn is_all(&self, text: &Str) -> bool {
        self.emitted.is_all(text)
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

    #[test]
    fn white_space_at_the_ends_says_nothing() {
        let words = |pieces: &[&str]| {
            let mut all = SaidPieces::default();
            pieces.iter().for_each(|piece| all.add(&serde_json::from_str(piece).unwrap()));
            all.words()
        };
        assert_eq!(words(&[r#"" ""#, r#"" a ""#, r#"" b\n""#, r#""\n""#]), words(&[r#""a  b""#]));
        assert_ne!(words(&[r#""a""#, r#""b""#]), words(&[r#""a b""#]));
        assert_eq!(words(&[r#"" \ud83d""#, r#""\ude00 ""#]), words(&[r#""\ud83d\ude00""#]));
    }

    #[track_caller]
    fn check_growth(pieces: &[&str], expected: &[&str]) {
        check_growth_of(Growth::default(), pieces, expected);
    }

    #[track_caller]
    fn check_growth_of(mut growth: Growth, pieces: &[&str], expected: &[&str]) {
        let new = |piece: &&str| match growth.new_part(&Str::from(*piece)) {
            GrownText::New(new) => new.as_str().to_owned(),
            GrownText::Changed => format!("={piece}"),
        };
        assert_eq!(pieces.iter().map(new).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_new_of_a_whole_is_given_on() {
        check_growth(&["The", "The sea", "The sea", "The sea."], &["The", " sea", "", "."]);
    }

    #[test]
    fn a_whole_that_changes_is_told() {
        check_growth(
            &["It", "It is 5", "It is 6", "It is 6 am"],
            &["It", " is 5", "=It is 6", " am"],
        );
    }

    #[test]
    fn what_is_always_whole_is_never_a_piece() {
        check_growth_of(
            Growth::always(),
            &["No", "No", "No, I", "Yes", "Ye", "Yes."],
            &["No", "", ", I", "=Yes", "=Ye", "s."],
        );
    }

    #[test]
    fn pieces_that_begin_alike_are_found_out() {
        check_growth(&["1", "10", "3", "4", "45"], &["1", "0", "=3", "4", "45"]);
    }

    #[test]
    fn pieces_are_given_on_as_they_are() {
        check_growth(&["", "ha", "ha", "hahaha"], &["", "ha", "ha", "hahaha"]);
    }
}
