//! A text as far as it has been said, where the provider says it again: all of it at its end, or with
//! each record. It is not kept: lengths and hashes show if what comes begins with it.

use std::borrow::Cow;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use crate::json::Str;

/// A stretch of text, in units of UTF-16: so counted, the halves of a character are the same in two
/// pieces and in one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SaidStretch {
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

impl SaidStretch {
    /// Adds a piece at its end.
    pub(crate) fn add(&mut self, piece: &Str) {
        self.units(piece.low());
        self.text(piece.body());
        self.units(piece.high());
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
            self.units(last.iter().map(|&byte| byte.into()));
            let mut others = others.chars();
            if let Some(other) = others.next() {
                self.units(other.encode_utf16(&mut [0; 2]).iter().copied());
            }
            rest = others.as_str();
        }
    }

    fn units(&mut self, units: impl IntoIterator<Item = u16>) {
        for unit in units {
            self.units += 1;
            self.hash = self.hash.wrapping_mul(FACTOR).wrapping_add(unit.into());
        }
    }

    /// Returns what is left of it without its beginning.
    fn after(self, beginning: SaidStretch) -> SaidStretch {
        let units = self.units - beginning.units;
        let (mut left, mut square, mut shift) = (units, FACTOR, beginning.hash);
        while left > 0 {
            if left & 1 == 1 {
                shift = shift.wrapping_mul(square);
            }
            square = square.wrapping_mul(square);
            left >>= 1;
        }
        SaidStretch { units, hash: self.hash.wrapping_sub(shift) }
    }

    /// Returns the stretch that a text is.
    pub(crate) fn of(text: &Str) -> Self {
        let mut stretch = SaidStretch::default();
        stretch.add(text);
        stretch
    }

    /// Returns the rest of a text that begins with it. Nothing, if it doesn't.
    pub(crate) fn rest<'w>(&self, whole: &'w Str) -> Option<Str<'w>> {
        let mut walked = SaidStretch::default();
        let (mut low, mut high) = (whole.low(), whole.high());
        if self.units > 0 {
            walked.units(low.take());
        }
        let (text, mut units) = (whole.body(), walked.units);
        let is_after = |&(_, c): &(usize, char)| {
            let is_after = units >= self.units;
            units += c.len_utf16() as u64;
            is_after
        };
        let end = text.char_indices().find(is_after).map_or(text.len(), |(end, _)| end);
        let (said, rest) = text.split_at(end);
        walked.text(said);
        if walked.units < self.units {
            walked.units(high.take());
        }
        let rest = Str::with_halves(low, rest.into(), high);
        Some(rest).filter(|_| walked == *self)
    }
}

/// A text as far as it has been said: in pieces, or whole, longer each time.
#[derive(Clone, Debug, Default)]
pub(crate) struct SaidText {
    all: SaidStretch,
    /// Up to the end of its last word.
    to_last_word: SaidStretch,
    manner: Manner,
    start: SaidMark,
    /// Where the last whole text, and the last call, came.
    whole: SaidMark,
    call: SaidMark,
    /// What was said from one call to the next, without the white space at its ends.
    between_calls: Vec<SaidStretch>,
}

/// A place in a text, from which it may be said again.
#[derive(Clone, Copy, Debug, Default)]
struct SaidMark {
    /// What was said before it.
    before: SaidStretch,
    /// The same with the white space that follows, once there is a word after that.
    to_first_word: Option<SaidStretch>,
}

/// How a text is sent.
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
pub(crate) enum NewText<'t> {
    Piece(Cow<'t, Str<'t>>),
    /// The text, which is sent whole, is another one now.
    Changed,
}

impl SaidText {
    /// Returns a text that has come whole.
    pub(crate) fn of(text: &Str) -> Self {
        let mut said = SaidText::default();
        said.add(text);
        said
    }

    /// Returns one of which each record holds all.
    pub(crate) fn always_whole() -> Self {
        SaidText { manner: Manner::Always, ..SaidText::default() }
    }

    /// Takes a piece. From then on, a record that holds all of the text holds it once more: the text
    /// counts as one that is sent whole.
    pub(crate) fn add(&mut self, piece: &Str) {
        self.manner = Manner::Whole;
        self.push(piece);
    }

    fn push(&mut self, piece: &Str) {
        let (low, high) = (piece.low(), piece.high());
        let (space, text) = match (low, piece.body()) {
            (None, body) => body.split_at(body.len() - body.trim_start().len()),
            (Some(_), body) => ("", body),
        };
        let (words, last_space) = match high {
            None => text.split_at(text.trim_end().len()),
            Some(_) => (text, ""),
        };
        self.all.text(space);
        if low.or(high).is_some() || !words.is_empty() {
            for mark in [&mut self.start, &mut self.whole, &mut self.call] {
                mark.to_first_word.get_or_insert(self.all);
            }
            self.all.units(low);
            self.all.text(words);
            self.all.units(high);
            self.to_last_word = self.all;
        }
        self.all.text(last_space);
    }

    /// Takes a text of which no field shows if it is a piece or all so far: the texts do. Returns what
    /// is new of it.
    pub(crate) fn grow<'t>(&mut self, text: &'t Str) -> NewText<'t> {
        let is_begun = self.all.units > 0;
        let may_be_whole = is_begun && self.manner != Manner::Pieces;
        let rest = if may_be_whole { self.rest(text) } else { None };
        if let Some(new) = rest.filter(|rest| !rest.is_empty() || self.is_whole()) {
            if self.manner != Manner::Always {
                self.manner = Manner::Whole;
            }
            self.push(&new);
            return NewText::Piece(Cow::Owned(new));
        }
        if is_begun && !text.is_empty() {
            self.manner = match self.manner {
                Manner::Whole => Manner::Changed,
                Manner::Always => Manner::Always,
                Manner::Unknown | Manner::Pieces | Manner::Changed => Manner::Pieces,
            };
            if self.is_whole() {
                *self = SaidText { manner: self.manner, ..SaidText::of(text) };
                return NewText::Changed;
            }
        }
        self.push(text);
        NewText::Piece(Cow::Borrowed(text))
    }

    /// True if the text is sent whole with each record.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.manner, Manner::Whole | Manner::Changed | Manner::Always)
    }

    /// Returns the rest of a whole text that begins with all of it, or with what revised it and all
    /// since then.
    pub(crate) fn rest<'w>(&self, whole: &'w Str) -> Option<Str<'w>> {
        self.all.after(self.start.before).rest(whole)
    }

    /// True if a text is all of it once more, and not empty.
    pub(crate) fn is_all(&self, text: &Str) -> bool {
        !text.is_empty() && self.rest(text).is_some_and(|rest| rest.is_empty())
    }

    /// True if a text has the words that came since the last whole text, and there are some.
    pub(crate) fn is_said_by(&self, text: &Str) -> bool {
        self.has_words() && self.words(self.whole) == SaidText::of(text).all_words()
    }

    /// Takes a whole text, and returns the rest of it after what was said since the last one, or since
    /// the start. There is none of a text that has the words since the last call or before it.
    pub(crate) fn rest_of_any<'w>(&mut self, whole: &'w Str) -> Option<Str<'w>> {
        let words = SaidText::of(whole).all_words();
        let is_again = words == self.words(self.call) || self.between_calls.contains(&words);
        let rest = match is_again {
            true => Some(Str::from("")),
            false => [self.whole, self.start].into_iter().find_map(|mark| {
                mark.to_first_word?;
                let rest = self.all.after(mark.before).rest(whole);
                rest.or_else(|| (words == self.words(mark)).then(|| Str::from("")))
            }),
        };
        rest.iter().for_each(|rest| self.add(rest));
        self.whole = self.end();
        rest
    }

    /// True if there was a word since the last whole text.
    pub(crate) fn has_words(&self) -> bool {
        self.whole.to_first_word.is_some()
    }

    /// A call has come, or a result: what follows may be said again by itself.
    pub(crate) fn saw_call(&mut self) {
        let words = self.words(self.call);
        self.between_calls.extend(Some(words).filter(|words| words.units > 0));
        (self.whole, self.call) = (self.end(), self.end());
    }

    /// The text is another one now: what comes goes on from that, and what was said before may still be
    /// said again.
    pub(crate) fn revise(&mut self, text: &Str) {
        self.saw_call();
        self.start = self.call;
        self.push(text);
        self.whole = self.end();
    }

    /// Returns the place where the text ends so far.
    fn end(&self) -> SaidMark {
        SaidMark { before: self.all, to_first_word: None }
    }

    /// Returns what was said from the first word after a mark to the last.
    fn words(&self, mark: SaidMark) -> SaidStretch {
        let begin = mark.to_first_word.unwrap_or(self.to_last_word);
        self.to_last_word.after(begin)
    }

    fn all_words(&self) -> SaidStretch {
        self.words(self.start)
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
        let mut said = SaidText::default();
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
            let mut said = SaidText::default();
            pieces.iter().for_each(|piece| said.add(&serde_json::from_str(piece).unwrap()));
            said.all_words()
        };
        assert_eq!(words(&[r#"" ""#, r#"" a ""#, r#"" b\n""#, r#""\n""#]), words(&[r#""a  b""#]));
        assert_ne!(words(&[r#""a""#, r#""b""#]), words(&[r#""a b""#]));
        assert_eq!(words(&[r#"" \ud83d""#, r#""\ude00 ""#]), words(&[r#""\ud83d\ude00""#]));
    }

    #[track_caller]
    fn check_growth(pieces: &[&str], expected: &[&str]) {
        check_growth_of(SaidText::default(), pieces, expected);
    }

    #[track_caller]
    fn check_growth_of(mut said: SaidText, pieces: &[&str], expected: &[&str]) {
        let new = |piece: &&str| match said.grow(&Str::from(*piece)) {
            NewText::Piece(new) => new.as_str().to_owned(),
            NewText::Changed => format!("={piece}"),
        };
        assert_eq!(pieces.iter().map(new).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_comes_after_a_revision_goes_on_from_it() {
        let text = |text: &'static str| Str::from(text);
        let mut said = SaidText::of(&text("Let me look."));
        said.saw_call();
        said.add(&text("It is 5"));
        said.revise(&text("It was 6"));
        assert!(!said.has_words());
        said.add(&text("Then"));
        said.add(&text(" more"));
        assert_eq!(said.rest_of_any(&text("Then more")), Some(text("")));
        assert_eq!(said.rest_of_any(&text("It was 6Then more.")), Some(text(".")));
        assert_eq!(said.rest_of_any(&text("Let me look.")), Some(text("")));
        assert_eq!(said.rest_of_any(&text("Another")), None);
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
            SaidText::always_whole(),
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
