//! The record that looks like the last one. In one stream nearly every record
//! is the one before it with another piece of text in it: comparing it with
//! that one is ten times as fast as reading its JSON.
//!
//! A template is the last record that was decoded, if all it said was one piece
//! of its text, with holes where the next one may differ: that text, and what
//! the decoder names as [`Varying`]. It is sound because
//!
//! - the piece that was said stood in the record itself, in one JSON string:
//!   its address tells, so nothing else was said in its place;
//! - its decoder said that the next record like it would do no more than it did
//!   ([`EventOut`]'s `may_repeat`), but for what [`Decoder::again`] tells it, and
//!   for numbers of which the last one counts: of the records that were not
//!   decoded, the last is decoded late, unheard, before anything else is;
//! - a record fits only if all other bytes are equal, and what is in the holes
//!   is of the same kind and as simple as it gets. The text is read as the
//!   decoder would have read it, and never empty;
//! - the template is forgotten at the first record that doesn't fit.
//!
//! A record that fits needn't be framed: it is compared where it stands
//! ([`Next`]). And the pieces that come right after one another go through the
//! other layers as one [`crate::event::Event`] with its cuts.

mod inside;

use std::io;
use std::ops::Range;

use crate::format::format::Decoder;
use crate::format::support::emit::EventOut;
use crate::format::support::spoken::Halves;
use crate::format::support::spoken::{Continued, Spoken};
use crate::frame::{Frame, Next};
use crate::json::{Str, plain_length};
use inside::Inside;

/// What may differ in a record that looks like the last one: members of the
/// record itself, by their keys.
#[derive(Debug)]
pub struct Varying {
    /// Strings and numbers that the decoder doesn't read.
    pub unread: &'static [&'static str],
    /// Members that hold numbers, of which the last one of each counts.
    pub last: &'static [&'static str],
}

/// A decoder that decodes only what doesn't look like the last record.
pub(crate) struct Templates<D> {
    inner: D,
    is_on: bool,
    template: Option<Template>,
    /// The last record, if it hasn't been decoded and its counts may matter.
    late: Vec<u8>,
    /// What the records have said that were not decoded, and where it is cut into
    /// pieces.
    text: Vec<u8>,
    cuts: Vec<usize>,
}

impl<D: Decoder> Templates<D> {
    /// Compares records, if it's on, and lets `inner` decode the others.
    pub(crate) fn new(inner: D, is_on: bool) -> Self {
        let (late, text, cuts) = Default::default();
        Templates { inner, is_on, template: None, late, text, cuts }
    }

    /// Takes the record that these bytes begin with, if it looks like the last
    /// one, and tells its length, or 0. What it says is said by [`Self::settle`].
    pub(crate) fn alike(&mut self, next: &Next<'_>) -> usize {
        self.take(next.event_type, next.bytes, |behind| behind.starts_with(next.end))
    }

    fn take(&mut self, name: &str, bytes: &[u8], is_end: impl Fn(&[u8]) -> bool) -> usize {
        let fit = self.template.as_ref().and_then(|template| template.fit(name, bytes));
        let Some((text, behind)) = fit.filter(|(_, behind)| is_end(behind)) else { return 0 };
        let (begin, length) = (self.text.len(), bytes.len() - behind.len());
        if text.append_to(&mut self.text).is_none() {
            return 0;
        }
        if begin > 0 {
            self.cuts.push(begin);
        }
        if self.template.as_ref().is_some_and(|template| template.has_counts) {
            self.late.clear();
            self.late.extend_from_slice(bytes.get(..length).unwrap_or_default());
        }
        length
    }

    /// Says what the records have said that were not decoded: at the latest when
    /// a read is used up.
    pub(crate) fn settle(&mut self, out: &mut EventOut<'_>) -> io::Result<()> {
        let Some(template) = self.template.as_ref().filter(|_| !self.text.is_empty()) else {
            return Ok(());
        };
        // Each piece of it is text.
        let text = std::str::from_utf8(&self.text).unwrap_or_default();
        self.inner.again(&Str::from(text));
        out.go_on(template.continued, text, &self.cuts)?;
        self.text.clear();
        self.cuts.clear();
        Ok(())
    }

    /// Decodes the record that may still matter; what it says has been said.
    fn catch_up(&mut self, out: &EventOut<'_>) -> io::Result<()> {
        let Some(template) = self.template.take().filter(|_| !self.late.is_empty()) else {
            return Ok(());
        };
        let frame = Frame {
            framing: template.framing,
            event_type: &template.event_type,
            headers: &[],
            data: &self.late,
            id: "",
            offset: out.offset,
        };
        let mut unheard = |_: crate::event::Event<'_>| Ok(());
        let mut halves = Halves::default();
        self.inner.feed(frame, &mut EventOut::new(&mut unheard, &mut halves, out.offset))?;
        self.late.clear();
        Ok(())
    }
}

impl<D: Decoder> Decoder for Templates<D> {
    fn feed(&mut self, frame: Frame<'_>, out: &mut EventOut<'_>) -> io::Result<()> {
        let is_taken = frame.headers.is_empty()
            && self.take(frame.event_type, frame.data, <[u8]>::is_empty) > 0;
        if is_taken {
            return Ok(());
        }
        self.settle(out)?;
        self.catch_up(out)?;
        self.inner.feed(frame, out)?;
        if self.is_on
            && let Spoken::Piece(continued, (address, length)) = out.spoken
            && let Some(varying) = self.inner.varying()
            && let Some(start) = address.checked_sub(frame.data.as_ptr().addr())
        {
            self.template = Template::new(&frame, continued, start..start + length, varying);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut EventOut<'_>) -> io::Result<()> {
        self.settle(out)?;
        self.catch_up(out)?;
        self.inner.finish(out)
    }
}

/// A record with holes.
#[derive(Debug)]
struct Template {
    framing: &'static str,
    event_type: String,
    parts: Vec<Part>,
    tail: Vec<u8>,
    continued: Continued,
    has_counts: bool,
}

/// The bytes before a hole, what may be in it, and what was.
#[derive(Debug)]
struct Part {
    literal: Vec<u8>,
    hole: Hole,
    inside: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hole {
    /// The inside of the string that is passed on.
    Text,
    /// The inside of a string that nobody reads: ASCII, and no escapes.
    Plain,
    /// A whole number that nobody reads.
    Digits,
    /// A whole number, of which the last one counts.
    Count,
}

impl Template {
    /// The template of a record whose piece of text stands here; none if that
    /// is not the inside of a string of it.
    fn new(
        frame: &Frame<'_>,
        continued: Continued,
        text: Range<usize>,
        varying: &Varying,
    ) -> Option<Self> {
        if !frame.headers.is_empty() || text.is_empty() {
            return None;
        }
        let data = frame.data;
        let holes = holes(data, &text, varying)?;
        let mut parts = Vec::with_capacity(holes.len());
        let mut from = 0;
        for (range, hole) in &holes {
            let literal = data.get(from..range.start)?.to_vec();
            parts.push(Part { literal, hole: *hole, inside: data.get(range.clone())?.to_vec() });
            from = range.end;
        }
        let is_there = holes.iter().filter(|(_, kind)| *kind == Hole::Text).count() == 1;
        is_there.then_some(Template {
            framing: frame.framing,
            event_type: frame.event_type.to_owned(),
            parts,
            tail: data.get(from..)?.to_vec(),
            continued,
            has_counts: holes.iter().any(|(_, kind)| *kind == Hole::Count),
        })
    }

    /// The text that a record of this name says, and what is behind the record, if
    /// these bytes begin with one that looks like this one.
    fn fit<'b>(&self, name: &str, bytes: &'b [u8]) -> Option<(Inside<'b>, &'b [u8])> {
        let mut rest = bytes;
        let mut text = None;
        for Part { literal, hole, inside } in &self.parts {
            rest = rest.strip_prefix(literal.as_slice())?;
            let length = match hole {
                Hole::Text => {
                    let inside = Inside::new(bytes, bytes.len() - rest.len());
                    text.insert(inside).length
                }
                Hole::Plain
                    if rest.starts_with(inside) && rest.get(inside.len()) == Some(&b'"') =>
                {
                    inside.len()
                }
                Hole::Plain => plain_length(rest),
                Hole::Digits | Hole::Count => count_length(rest)?,
            };
            rest = rest.get(length..)?;
        }
        let rest = rest.strip_prefix(self.tail.as_slice())?;
        let text = text.filter(|text| text.length > 0 && name == self.event_type)?;
        Some((text, rest))
    }
}

/// The length of the digits here, if they are a number that means the same to all
/// who read it.
fn count_length(bytes: &[u8]) -> Option<usize> {
    let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_count = matches!(bytes.get(..length)?, [_] | [b'1'..=b'9', ..]) && length < 16;
    is_count.then_some(length)
}

/// The holes of a record, in order: the string at `text`, and what varies. None
/// if the record isn't one JSON object, as far as can be seen.
fn holes(data: &[u8], text: &Range<usize>, varying: &Varying) -> Option<Vec<(Range<usize>, Hole)>> {
    let names = |list: &[&str], key: &[u8]| list.iter().any(|name| name.as_bytes() == key);
    let (mut holes, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    // Whether the member of the record that we're in is unread, or has counts.
    let (mut is_unread, mut has_counts) = (false, false);
    while let Some(&byte) = data.get(at) {
        let rest = data.get(at..)?;
        let mut end = at + 1;
        match byte {
            b'"' => {
                let inside = end..end + Inside::new(data, end).length;
                end = inside.end + 1;
                let is_key = data.get(end..)?.trim_ascii_start().starts_with(b":");
                let value = data.get(inside.clone())?;
                match depth {
                    1 if is_key => {
                        is_unread = names(varying.unread, value);
                        has_counts = names(varying.last, value);
                    }
                    _ if is_key => {}
                    _ if inside == *text => holes.push((inside, Hole::Text)),
                    1 if is_unread && plain_length(value) == value.len() => {
                        holes.push((inside, Hole::Plain));
                    }
                    _ => {}
                }
            }
            b'-' | b'0'..=b'9' => {
                let is_in = |&&byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
                end = at + rest.iter().take_while(is_in).count();
                let number = data.get(at..end)?;
                let is_whole = count_length(number) == Some(number.len());
                match is_whole {
                    true if has_counts => holes.push((at..end, Hole::Count)),
                    true if is_unread && depth == 1 => holes.push((at..end, Hole::Digits)),
                    _ => {}
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at = end;
    }
    (depth == 0 && data.starts_with(b"{")).then_some(holes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARYING: Varying = Varying { unread: &["pad", "at"], last: &["usage"] };

    /// What a record says that comes behind another one, whose piece is `text`.
    #[track_caller]
    fn check(first: &str, text: &str, second: &str, expected: Option<&str>) {
        fn frame(data: &str) -> Frame<'_> {
            let data = data.as_bytes();
            Frame { framing: "sse", event_type: "", headers: &[], data, id: "", offset: 0 }
        }
        let start = first.find(text).unwrap();
        let range = start..start + text.len();
        let template = Template::new(&frame(first), Continued::default(), range, &VARYING);
        let fit = template.as_ref().and_then(|template| template.fit("", second.as_bytes()));
        let (mut text, whole) = (Vec::new(), fit.filter(|(_, behind)| behind.is_empty()));
        let got = whole.and_then(|(inside, _)| inside.append_to(&mut text)).map(|()| text);
        assert_eq!(got.as_deref(), expected.map(str::as_bytes));
    }

    #[test]
    fn text_and_what_nobody_reads_may_differ() {
        let first = r#"{"pad":"x1","at":17,"d":{"text":"sea"},"usage":{"in":5,"of":[{"n":1}]}}"#;
        let second = r#"{"pad":"","at":8,"d":{"text":"a\ntide"},"usage":{"in":60,"of":[{"n":0}]}}"#;
        check(first, "sea", second, Some("a\ntide"));
        check(first, "sea", first, Some("sea"));
        for (inside, text) in [(r#"\"\\\/\t\r\n"#, "\"\\/\t\r\n"), (r"\u00e9\b", "\u{e9}\u{8}")] {
            check(first, "sea", &first.replace("sea", inside), Some(text));
        }
    }

    #[test]
    fn nothing_else_may_differ() {
        let first = r#"{"pad":"x","at":1,"d":{"text":"sea","pad":"y"},"n":2}"#;
        for second in [
            r#"{"pad":"x","at":1,"d":{"text":"sea","pad":"z"},"n":2}"#,
            r#"{"pad":"x","at":1,"d":{"text":"sea","pad":"y"},"n":3}"#,
            r#"{"pad":"x","at":1,"d":{"text":"sea","pad":"y"},"n":2} "#,
            r#"{"pad":"\n","at":1,"d":{"text":"sea","pad":"y"},"n":2}"#,
            r#"{"pad":7,"at":1,"d":{"text":"sea","pad":"y"},"n":2}"#,
            r#"{"pad":"x","at":-1,"d":{"text":"sea","pad":"y"},"n":2}"#,
            r#"{"pad":"x","at":01,"d":{"text":"sea","pad":"y"},"n":2}"#,
            r#"{"pad":"x","at":1,"d":{"text":"","pad":"y"},"n":2}"#,
            r#"{"pad":"x","at":1,"d":{"text":"\ud83d","pad":"y"},"n":2}"#,
            r#"{"pad":"x","at":1,"d":{"text":"\x","pad":"y"},"n":2}"#,
            r#"{"pad":"x","at":1,"d":{"text":"sea"#,
            "",
        ] {
            check(first, "sea", second, None);
        }
    }

    #[test]
    fn what_is_no_string_of_the_record_makes_no_template() {
        for first in [r#"{"a":"deep sea"}"#, r#"{"sea":1}"#, r#"{"a":"sea"}}"#, r#"["sea"]"#] {
            check(first, "sea", first, None);
        }
    }
}
