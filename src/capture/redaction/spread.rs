//! Texts that come in pieces: the strings at one place of one record after another, as the deltas of a
//! stream have them, whatever format that is in.

use std::ops::Range;

use crate::cut::Cut as _;

/// The shortest string that is no piece where it comes again: what all records say of themselves.
const MIN_SAME: usize = 8;

/// A text that is spread over records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SpreadText {
    /// Its pieces, with their escapes.
    pub(super) text: Vec<u8>,
    /// Where each piece is, and where it begins in the text.
    pieces: Vec<(Range<usize>, usize)>,
}

impl SpreadText {
    /// True if it has more than one piece.
    pub(super) fn is_spread(&self) -> bool {
        self.pieces.len() > 1
    }

    /// Returns the text without what is between these pieces.
    pub(super) fn of(bytes: &[u8], pieces: Vec<Range<usize>>) -> Self {
        let mut text = SpreadText::default();
        for place in pieces.into_iter().filter(|place| !place.is_empty()) {
            text.pieces.push((place.clone(), text.text.len()));
            text.text.extend_from_slice(bytes.within(place));
        }
        text
    }

    /// Adds a piece, unless it is what all records say of themselves.
    pub(super) fn add(&mut self, bytes: &[u8], place: Range<usize>) {
        let piece = bytes.within(place.clone());
        let is_same = piece.len() >= MIN_SAME && self.text.ends_with(piece);
        if !is_same && !piece.is_empty() {
            self.pieces.push((place, self.text.len()));
            self.text.extend_from_slice(piece);
        }
    }

    /// Returns the offset of a place of the text.
    pub(super) fn offset_of(&self, at: usize) -> usize {
        let next = self.pieces.partition_point(|(_, begin)| *begin <= at);
        let piece = next.checked_sub(1).and_then(|last| self.pieces.get(last));
        piece.map_or(at, |(place, begin)| place.start + at - begin)
    }

    /// Returns what of a part of the text is in pieces after that in which this place is.
    pub(super) fn beyond(&self, at: usize, part: &Range<usize>) -> impl Iterator<Item = &[u8]> {
        let next = self.pieces.partition_point(|(_, begin)| *begin <= at);
        let pieces = self.pieces.after(next).iter().take_while(|(_, begin)| *begin < part.end);
        pieces.map(|(place, begin)| {
            self.text.within(*begin.max(&part.start)..part.end.min(begin + place.len()))
        })
    }

    /// Returns what is between the pieces of a capture of this length.
    pub(super) fn between(&self, length: usize) -> Vec<Range<usize>> {
        let ends = [0].into_iter().chain(self.pieces.iter().map(|(place, _)| place.end));
        let begins = self.pieces.iter().map(|(place, _)| place.start).chain([length]);
        ends.zip(begins).filter(|(end, begin)| end < begin).map(|(end, begin)| end..begin).collect()
    }

    /// Writes another text of the same length in its place.
    pub(super) fn write(&self, text: &[u8], bytes: &mut [u8]) {
        for (place, begin) in &self.pieces {
            if let Some(piece) = bytes.get_mut(place.clone()) {
                piece.copy_from_slice(text.within(*begin..begin + piece.len()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::redaction::rooms::Rooms;

    #[test]
    fn what_stands_at_one_place_of_all_records_is_one_text() {
        let bytes = b"HTTP/1.1 200 OK\n\n[{\"id\":\"chatcmpl-1\",\"a\":[{\"b\":\"x \"},{\"b\":\"1\"}]},\n\
            data: {\"id\":\"chatcmpl-1\",\"a\":[{\"b\":\"y\\n\"},{\"b\":\"2\"}]}\n\xff{\"c\":{\"a\"\n\
            2025 app {\"a\":[{\"b\":\"z\"}]} {\"c\":\"once\"}";
        let all = Rooms::of(bytes, &[]).spread_texts();
        let texts: Vec<&str> = all.iter().map(|text| str::from_utf8(&text.text).unwrap()).collect();
        assert_eq!(texts, ["x y\\nz", "12"]);
        let place = |text: &[u8]| memchr::memmem::find(bytes, text);
        assert_eq!(Some(all[0].offset_of(1)), place(b" \"},"));
        assert_eq!(Some(all[0].offset_of(4)), place(b"n\"}"));
        let beyond = |at, part| all[0].beyond(at, &part).collect::<Vec<_>>();
        assert_eq!(beyond(0, 1..6), [&b"y\\n"[..], b"z"]);
        assert_eq!((beyond(1, 3..4), beyond(2, 3..4)), (vec![&b"\\"[..]], vec![]));
        let mut written = bytes.to_vec();
        all[0].write(b"abcdef", &mut written);
        assert_eq!(Rooms::of(&written, &[]).spread_texts()[0].text, b"abcdef");
    }
}
