//! Usage objects that differ from earlier ones in their numbers alone, as those of one model do:
//! what was found out about the one holds for the other.

use std::borrow::Cow;
use std::ops::Range;

use smallvec::SmallVec;

use crate::event::Usage;
use crate::format::support::usage::members::Members;
use crate::format::support::usage::rows::{Counts, Row, add};
use crate::json;

/// The most shapes that are remembered.
const MOST: usize = 64;

/// The most bytes of a text that is compared with them.
const LONGEST: usize = 1 << 10;

/// The shapes that came lately.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    known: Vec<Shape>,
    /// True once a text has come: most streams have one message, whose shape never comes again.
    has_come: bool,
    /// The place of the next one, once there are as many as may be.
    oldest: usize,
}

/// A text of which all was read.
#[derive(Debug)]
struct Shape {
    text: String,
    /// The number of its bytes that are no digits.
    letters: usize,
    /// The places of its runs of digits that are in no string.
    numbers: Vec<Range<usize>>,
    /// The object that it makes.
    raw: String,
    /// The places of the runs of digits in that, and which of the text's they are.
    raw_numbers: Vec<(Range<usize>, usize)>,
    /// Which of them are counts, and of what.
    counts: Vec<(&'static Row, usize)>,
}

impl Shapes {
    /// Reads a text of a known shape, and appends the object that it makes.
    pub(super) fn read(&self, text: &str, raw: &mut String) -> Option<Usage<'static>> {
        if text.len() > LONGEST {
            return None;
        }
        let letters = letters(text);
        let mut known = self.known.iter().filter(|shape| shape.letters == letters);
        known.find_map(|shape| shape.read(text, raw))
    }

    /// Remembers the shape of a text that is not the first, what it holds and the object that it
    /// makes.
    pub(super) fn learn(
        &mut self,
        text: &str,
        raw: &str,
        members: &Members<'_>,
        counts: &Counts<'_>,
    ) {
        if std::mem::replace(&mut self.has_come, true) {
            self.add(text, raw, members, counts);
        }
    }

    #[cold]
    fn add(&mut self, text: &str, raw: &str, members: &Members<'_>, counts: &Counts<'_>) {
        let Some(shape) = Shape::new(text, raw, members, counts) else { return };
        if self.known.len() < MOST {
            self.known.push(shape);
        } else if let Some(oldest) = self.known.get_mut(self.oldest) {
            *oldest = shape;
            self.oldest = (self.oldest + 1) % MOST;
        }
    }
}

impl Shape {
    /// Returns the shape of a text; none if a count is no number as it stands.
    fn new(text: &str, raw: &str, members: &Members<'_>, counts: &Counts<'_>) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let numbers = runs_of_digits(text);
        let count = |(row, json, _): &(&'static Row, _, _)| match json {
            Cow::Borrowed(json) => {
                let place = json::place(text, json);
                Some((*row, numbers.iter().position(|number| *number == place)?))
            }
            Cow::Owned(_) => None,
        };
        let counts = counts.iter().map(count).collect::<Option<_>>()?;
        let values = members.list.iter().map(|(_, value)| json::place(text, value));
        let sources = values.flat_map(|value| {
            let is_inside =
                |number: &Range<usize>| value.start <= number.start && number.end <= value.end;
            let first = numbers.iter().position(is_inside).unwrap_or(numbers.len());
            let count = numbers.iter().skip(first).take_while(|number| is_inside(number)).count();
            first..first + count
        });
        let sources: Vec<_> = sources.collect();
        let places = runs_of_digits(raw);
        let of_raw = places.iter().map(|place| raw.get(place.clone()));
        let of_text = sources.iter().map(|at| text.get(numbers.get(*at)?.clone()));
        if !of_raw.eq(of_text) {
            return None;
        }
        let raw_numbers = places.into_iter().zip(sources).collect();
        let (text, letters) = (text.into(), letters(text));
        Some(Shape { text, letters, numbers, raw: raw.into(), raw_numbers, counts })
    }

    /// Reads a text if it is of this shape, and appends the object that it makes.
    fn read(&self, text: &str, raw: &mut String) -> Option<Usage<'static>> {
        let mut numbers = SmallVec::<[&str; 16]>::new();
        let (mut rest, mut from) = (text, 0);
        for number in &self.numbers {
            rest = after(rest, self.text.get(from..number.start)?)?;
            from = number.end;
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, tail) = rest.split_at_checked(digits).filter(|_| digits > 0)?;
            numbers.push(number);
            rest = tail;
        }
        if rest != self.text.get(from..)? {
            return None;
        }
        let mut usage = Usage::default();
        for (row, number) in &self.counts {
            add(row, numbers.get(*number)?.parse().ok()?, &mut usage);
        }
        let mut from = 0;
        for (place, number) in &self.raw_numbers {
            raw.push_str(self.raw.get(from..place.start)?);
            raw.push_str(numbers.get(*number)?);
            from = place.end;
        }
        raw.push_str(self.raw.get(from..)?);
        Some(usage)
    }
}

/// Returns what follows the beginning of a text.
#[inline]
fn after<'t>(text: &'t str, begin: &str) -> Option<&'t str> {
    json::begins_with(text.as_bytes(), begin.as_bytes()).then(|| text.get(begin.len()..))?
}

/// Returns how many bytes are no digits.
fn letters(text: &str) -> usize {
    // Sums of this many fit into a byte: so it becomes a few instructions for sixteen.
    let in_chunk =
        |chunk: &[u8]| chunk.iter().fold(0_u8, |sum, byte| sum + u8::from(!byte.is_ascii_digit()));
    text.as_bytes().chunks(128).map(|chunk| usize::from(in_chunk(chunk))).sum()
}

/// Returns the places of the digits that stand together, in no string of a JSON text.
fn runs_of_digits(json: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let (mut in_string, mut is_escaped) = (false, false);
    for (at, byte) in json.bytes().enumerate() {
        let is_quote = byte == b'"' && !is_escaped;
        is_escaped = in_string && byte == b'\\' && !is_escaped;
        in_string ^= is_quote;
        if in_string || !byte.is_ascii_digit() {
            continue;
        }
        match runs.last_mut().filter(|last| last.end == at) {
            Some(last) => last.end += 1,
            None => runs.push(at..at + 1),
        }
    }
    runs
}
