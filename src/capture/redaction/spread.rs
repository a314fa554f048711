//! Texts that come in pieces: the strings at one place of one record after another, as the deltas of a
//! stream have them, whatever format that is in.

use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memchr;

use crate::cut::Cut as _;
use crate::json::{ReadError, Reader, Source};

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
    /// Returns the texts that are spread over the JSON objects in these bytes.
    pub(super) fn all(bytes: &[u8]) -> Vec<SpreadText> {
        let mut texts: BTreeMap<String, SpreadText> = BTreeMap::new();
        let mut begin = 0;
        for chunk in bytes.utf8_chunks() {
            let (text, mut at) = (chunk.valid(), 0);
            while let Some(brace) = memchr(b'{', text.as_bytes().after(at)) {
                at += brace;
                let mut reader = Reader::new(Source::Text, text.after(at));
                let mut found = Vec::new();
                let read = strings(&mut reader, &mut String::new(), &mut found);
                for (path, place) in found.into_iter().filter(|_| read.is_ok()) {
                    let place = begin + at + place.start..begin + at + place.end;
                    texts.entry(path).or_default().add(bytes, place);
                }
                // What was read of no object is not read again.
                at += reader.position().max(1);
            }
            begin += text.len() + chunk.invalid().len();
        }
        texts.into_values().filter(|text| text.pieces.len() > 1).collect()
    }

    fn add(&mut self, bytes: &[u8], place: Range<usize>) {
        let piece = bytes.within(place.clone());
        let is_same = piece.len() >= MIN_SAME && self.text.ends_with(piece);
        if !is_same && !piece.is_empty() {
            self.pieces.push((place, self.text.len()));
            self.text.extend_from_slice(piece);
        }
    }

    /// Returns the offset of the first byte of a part of the text, if that is in several pieces.
    pub(super) fn offset_of(&self, part: &Range<usize>) -> Option<usize> {
        let next = self.pieces.partition_point(|(_, begin)| *begin <= part.start);
        let (place, begin) = self.pieces.get(next.checked_sub(1)?)?;
        let is_spread = self.pieces.get(next).is_some_and(|(_, begin)| *begin < part.end);
        is_spread.then_some(place.start + part.start - begin)
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

/// Finds the strings in a value, each with its path and its place without quotation marks.
fn strings(
    reader: &mut Reader<'_>,
    path: &mut String,
    found: &mut Vec<(String, Range<usize>)>,
) -> Result<(), ReadError> {
    let length = path.len();
    match reader.peek()? {
        b'{' => reader.members(&"an object", &mut |key, reader| {
            path.push('/');
            path.push_str(&key.into_text());
            strings(reader, path, found)?;
            path.truncate(length);
            Ok(())
        }),
        b'[' => {
            let mut count = 0;
            reader.elements(&"an array", &mut |reader| {
                path.push_str(&format!("/{count}"));
                count += 1;
                strings(reader, path, found)?;
                path.truncate(length);
                Ok(())
            })
        }
        first => {
            let start = reader.position();
            reader.skip()?;
            if first == b'"' {
                found.push((path.clone(), start + 1..reader.position() - 1));
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_at_one_place_of_all_records_is_one_text() {
        let bytes = b"HTTP/1.1 200 OK\n\n[{\"id\":\"chatcmpl-1\",\"a\":[{\"b\":\"x \"},{\"b\":\"1\"}]},\n\
            data: {\"id\":\"chatcmpl-1\",\"a\":[{\"b\":\"y\\n\"},{\"b\":\"2\"}]}\n\xff{\"c\":{\"a\"\n\
            2025 app {\"a\":[{\"b\":\"z\"}]} {\"c\":\"once\"}";
        let all = SpreadText::all(bytes);
        let texts: Vec<&str> = all.iter().map(|text| str::from_utf8(&text.text).unwrap()).collect();
        assert_eq!(texts, ["x y\\nz", "12"]);
        let place = |text: &[u8]| memchr::memmem::find(bytes, text);
        assert_eq!(all[0].offset_of(&(1..3)), place(b" \"},"));
        assert_eq!(all[0].offset_of(&(2..4)), None);
        assert_eq!(all[0].offset_of(&(4..6)), place(b"n\"}"));
        let mut written = bytes.to_vec();
        all[0].write(b"abcdef", &mut written);
        assert_eq!(SpreadText::all(&written)[0].text, b"abcdef");
    }
}
