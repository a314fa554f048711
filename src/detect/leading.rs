//! The beginning of an input: lines that other programs print before a stream, and whether there is
//! a stream after them.

use std::borrow::Cow;

use memchr::memchr_iter;

use crate::cut::{Cut as _, until};
use crate::detect::WINDOW;
use crate::detect::formats::KnownFormats;
use crate::detect::record::see_record;
use crate::event::mask;
use crate::frame::http::begins_head;
use crate::frame::{Content, FRAMINGS, FrameConfig, Framed, Framing, Leading, Sniff, leading};
use crate::json;

/// The most times that a byte of a head is read.
pub(super) const LOOKS: usize = 256;

/// The number of bytes that were looked at in order to decide, each as often as it was.
#[derive(Debug, Default)]
pub(super) struct Looks(pub(super) usize);

impl Looks {
    /// True if a head of this length is to be looked at again. All of it is, so that many small reads
    /// would take the square of its length: it's looked at only as often as that stays linear.
    pub(super) fn may_look(&mut self, length: usize) -> bool {
        let may_look = length >= WINDOW || self.0 <= LOOKS * length;
        self.0 += if may_look { length } else { 0 };
        may_look
    }
}

/// Buffers the beginning of an input while it may be lines before a stream.
#[derive(Debug)]
pub(super) struct LeadingLines {
    held: Vec<u8>,
    pub(super) looks: Looks,
    is_over: bool,
}

/// The lines that came before a stream.
#[derive(Debug)]
pub(super) struct Skipped {
    pub(super) bytes: usize,
    /// A sentence that quotes the first one.
    pub(super) message: String,
    pub(super) offset: u64,
}

impl LeadingLines {
    /// Returns the state at the beginning of an input in which lines may stand before a stream, or of
    /// one in which every line is a part of it.
    pub(super) fn new(may_lead: bool) -> Self {
        LeadingLines { held: Vec::new(), looks: Looks::default(), is_over: !may_lead }
    }

    /// Takes the next bytes, and returns those of the stream, with what came before it.
    pub(super) fn take<'b>(
        &mut self,
        bytes: &'b [u8],
        known: &KnownFormats,
    ) -> (Cow<'b, [u8]>, Option<Skipped>) {
        if self.is_over {
            return (Cow::Borrowed(bytes), None);
        }
        self.held.extend_from_slice(bytes);
        let length = self.held.len();
        if self.looks.may_look(length) {
            self.decide(length >= WINDOW, known)
        } else {
            (Cow::Borrowed(&[]), None)
        }
    }

    /// The input has ended: returns what is left of the stream, with what came before it.
    pub(super) fn end(&mut self, known: &KnownFormats) -> (Cow<'static, [u8]>, Option<Skipped>) {
        if self.is_over { (Cow::Borrowed(&[]), None) } else { self.decide(true, known) }
    }

    /// Returns the beginning of the stream, if it is known where that is. No byte after the window
    /// counts: it may not have come yet.
    fn decide<'b>(
        &mut self,
        ended: bool,
        known: &KnownFormats,
    ) -> (Cow<'b, [u8]>, Option<Skipped>) {
        let head = self.held.before(WINDOW);
        let size = match leading(head, ended, known.banners()) {
            // The first line is a part of the stream itself.
            found
                if found != Leading::None
                    && first(head, ended).is_some_and(|row| !row.is_text()) =>
            {
                0
            }
            Leading::Open if !ended => return (Cow::Borrowed(&[]), None),
            Leading::Lines(size) => match is_stream(head.after(size), ended, known) {
                Some(true) => size,
                None if !ended => return (Cow::Borrowed(&[]), None),
                _ => 0,
            },
            Leading::Open | Leading::None => 0,
        };
        self.is_over = true;
        let skipped = (size > 0).then(|| skipped(head.before(size)));
        self.held.drain(..size);
        (Cow::Owned(std::mem::take(&mut self.held)), skipped)
    }
}

fn skipped(lines: &[u8]) -> Skipped {
    let begin = lines.len() - lines.trim_ascii_start().len();
    let text = String::from_utf8_lossy(lines.trim_ascii());
    let first = until(&text, "\n").trim_end();
    let count = memchr_iter(b'\n', lines.trim_ascii()).count() + 1;
    let what = if count == 1 { "a line".to_owned() } else { format!("{count} lines") };
    let message = format!(
        "{what} before the stream {} passed over, from {} on",
        if count == 1 { "was" } else { "were" },
        json::quote_start(&mask(first))
    );
    Skipped { bytes: lines.len(), message, offset: begin as u64 }
}

/// True if a stream begins here, or a body or the head of one; nothing while it may. What is JSON is
/// one if its first record is of a known format, or if the input ended in it.
fn is_stream(rest: &[u8], ended: bool, known: &KnownFormats) -> Option<bool> {
    match begins_head(rest) {
        Some(true) => return Some(true),
        None if !ended => return None,
        _ => {}
    }
    let framing = first(rest, ended)?;
    match framing.content {
        Content::Text => return Some(false),
        Content::Binary => return Some(true),
        _ if framing.idle.starts_with(':') => return Some(true),
        _ => {}
    }
    holds_known(framing, rest, 1, known).or(ended.then_some(true))
}

/// True if one of the first records of a stream is of a known format, false if none of so many is;
/// nothing while more may come.
pub(super) fn holds_known(
    framing: &Framing,
    stream: &[u8],
    most: usize,
    known: &KnownFormats,
) -> Option<bool> {
    let (mut is_known, mut count) = (false, 0);
    let mut framer = (framing.framer)(FrameConfig::default());
    // The closure never fails, and a framer only fails if it does.
    let _ = framer.feed(stream, &mut |framed| {
        if let Framed::Frame(frame) = framed
            && count < most
        {
            count += 1;
            is_known |= see_record(&frame, |record| known.of(record).next().is_some());
        }
        Ok(())
    });
    (is_known || count >= most).then_some(is_known)
}

/// Returns the first row that returns yes, once all rows above it return no.
pub(super) fn first(head: &[u8], ended: bool) -> Option<&'static Framing> {
    for framing in FRAMINGS {
        match (framing.sniff)(head) {
            Sniff::Yes => return Some(framing),
            Sniff::Likely if ended => return Some(framing),
            Sniff::More | Sniff::Likely if !ended => return None,
            _ => {}
        }
    }
    None
}
