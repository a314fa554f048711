//! Cutting a text or a list at a place that a search has found.
//!
//! Each cut is total: a place beyond the end is the end, and one inside a character is where that
//! begins. So the parts before and after one place are the whole, whatever the place: a wrong one
//! moves text, and never loses it.

use std::ops::Range;

/// What is cut.
pub(crate) trait Cut {
    /// Returns what is before this place.
    fn before(&self, place: usize) -> &Self;
    /// Returns what is from this place on.
    fn after(&self, place: usize) -> &Self;
    /// Returns what is before this place, and what is from it on.
    fn parts(&self, place: usize) -> (&Self, &Self) {
        (self.before(place), self.after(place))
    }
    /// Returns what is between two places; nothing if the end is before the beginning.
    fn within(&self, places: Range<usize>) -> &Self;
}

impl Cut for str {
    #[inline]
    fn before(&self, place: usize) -> &str {
        self.get(..place).unwrap_or_else(|| cut(self, place).0)
    }

    #[inline]
    fn after(&self, place: usize) -> &str {
        self.get(place..).unwrap_or_else(|| cut(self, place).1)
    }

    #[inline]
    fn within(&self, places: Range<usize>) -> &str {
        self.before(places.end).after(places.start)
    }
}

#[cold]
fn cut(text: &str, place: usize) -> (&str, &str) {
    text.split_at_checked(text.floor_char_boundary(place)).unwrap_or((text, ""))
}

impl<T> Cut for [T] {
    #[inline]
    fn before(&self, place: usize) -> &[T] {
        self.get(..place).unwrap_or(self)
    }

    #[inline]
    fn after(&self, place: usize) -> &[T] {
        self.get(place..).unwrap_or(&[])
    }

    #[inline]
    fn within(&self, places: Range<usize>) -> &[T] {
        self.before(places.end).after(places.start)
    }
}

/// Returns what is before the first place of a mark; all of a text that does not have it.
pub(crate) fn until<'t>(text: &'t str, mark: &str) -> &'t str {
    text.split_once(mark).map_or(text, |(before, _)| before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_whole_whatever_the_place() {
        let text = "aé😀";
        for place in 0..text.len() + 3 {
            assert_eq!(format!("{}{}", text.before(place), text.after(place)), text, "{place}");
            let bytes = text.as_bytes();
            assert_eq!([bytes.before(place), bytes.after(place)].concat(), bytes, "{place}");
            for end in 0..text.len() + 3 {
                let parts = [text.before(place), text.within(place..end), text.after(end)];
                assert!(place > end || parts.concat() == text, "{place}..{end}");
            }
        }
    }

    #[test]
    fn a_text_without_the_mark_is_whole() {
        assert_eq!(["a?b?", "?", "ab", ""].map(|text| until(text, "?")), ["a", "", "ab", ""]);
    }
}
