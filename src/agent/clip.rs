//! Output that is cut while it is read: its head and its tail are kept.

use crate::cut::Cut as _;
use std::collections::VecDeque;
use std::mem;

/// The most bytes of an output that is JSON, by its first byte, that are kept up to its end: cut,
/// it could not be read.
const MAX_JSON: usize = 16 << 20;

/// Keeps the first and the last bytes of an output, so many in all.
#[derive(Debug)]
pub(crate) struct Clip {
    max: usize,
    head_max: usize,
    tail_max: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

/// An output as text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Clipped {
    /// The bytes that were kept, with a note in the place of the others.
    pub(crate) text: String,
    /// The number of bytes that were left out.
    pub(crate) left_out: u64,
}

impl Clip {
    /// Keeps `max` bytes, half of them from the beginning; 0 is no limit.
    pub(crate) fn new(max: usize) -> Self {
        let max = if max == 0 { usize::MAX } else { max };
        Clip { max, head_max: max - max / 2, tail_max: max / 2, ..Clip::tail(0) }
    }

    /// Keeps the last `max` bytes.
    pub(crate) fn tail(max: usize) -> Self {
        let (head, tail) = (Vec::new(), VecDeque::new());
        Clip { max, head_max: 0, tail_max: max, head, tail, total: 0 }
    }

    /// Takes the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let is_json = self.total == 0 && bytes.first() == Some(&b'{');
        if is_json && self.head_max > 0 {
            self.head_max = self.head_max.max(MAX_JSON);
        }
        self.total += bytes.len() as u64;
        let room = (self.head_max - self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.keep_last(rest);
    }

    fn keep_last(&mut self, rest: &[u8]) {
        let rest = rest.after(rest.len().saturating_sub(self.tail_max));
        let over = (self.tail.len() + rest.len()).saturating_sub(self.tail_max);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// Returns the whole output, if nothing of it was left out so far.
    pub(crate) fn whole(&self) -> Option<&str> {
        let is_whole = self.head.len() as u64 == self.total;
        str::from_utf8(&self.head).ok().filter(|_| is_whole)
    }

    /// Returns the most bytes that are kept.
    pub(crate) fn max(&self) -> usize {
        self.max
    }

    /// Returns what was kept, as text. Bytes that are not UTF-8 and NUL are replaced, and a note
    /// says so.
    pub(crate) fn finish(mut self) -> Clipped {
        let head_max = self.max - self.tail_max;
        if self.head.len() > head_max {
            let (over, tail) = (self.head.split_off(head_max), mem::take(&mut self.tail));
            self.keep_last(&over);
            self.keep_last(&Vec::from(tail));
        }
        let tail = self.tail.make_contiguous();
        let kept = (self.head.len() + tail.len()) as u64;
        if kept == self.total {
            self.head.extend_from_slice(tail);
            return Clipped { text: text(&self.head), left_out: 0 };
        }
        // A character that is cut is left out.
        let head = match std::str::from_utf8(&self.head) {
            Err(error) if error.error_len().is_none() => self.head.before(error.valid_up_to()),
            _ => &self.head,
        };
        let inside = tail.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
        let tail = tail.after(inside);
        let left_out = self.total - (head.len() + tail.len()) as u64;
        let note = format!("[… {left_out} bytes left out …]\n");
        let text = match head.is_empty() {
            true => format!("{note}{}", text(tail)),
            false => format!("{}\n{note}{}", text(head), text(tail)),
        };
        Clipped { text, left_out }
    }
}

fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let is_replaced = matches!(text, std::borrow::Cow::Owned(_)) || text.contains('\0');
    match is_replaced {
        true => format!(
            "{}\n[bytes that are no text were replaced]",
            text.replace('\0', "\u{FFFD}").trim_end_matches('\n')
        ),
        false => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(max: usize, input: &[u8], expected: &str, left_out: u64) {
        for size in [1, 3, input.len().max(1)] {
            let mut clip = Clip::new(max);
            input.chunks(size).for_each(|piece| clip.feed(piece));
            let expected = Clipped { text: expected.into(), left_out };
            assert_eq!(clip.finish(), expected, "by {size}");
        }
    }

    #[test]
    fn the_middle_is_left_out() {
        check(0, b"abcdefgh", "abcdefgh", 0);
        check(8, b"abcdefgh", "abcdefgh", 0);
        check(5, b"abcdefgh", "abc\n[… 3 bytes left out …]\ngh", 3);
        check(8, b"", "", 0);
        check(5, b"{bcdefgh", "{bc\n[… 3 bytes left out …]\ngh", 3);
    }

    #[test]
    fn characters_are_kept_whole() {
        check(6, "aé€😀".as_bytes(), "aé\n[… 7 bytes left out …]\n", 7);
        check(7, "xyz€😀€".as_bytes(), "xyz\n[… 7 bytes left out …]\n€", 7);
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        check(0, b"a\0b\xFF\n", "a\u{FFFD}b\u{FFFD}\n[bytes that are no text were replaced]", 0);
    }

    #[test]
    fn a_tail_alone() {
        let mut clip = Clip::tail(4);
        clip.feed(b"abcdef");
        assert_eq!(clip.finish().text, "[… 2 bytes left out …]\ncdef");
    }
}
