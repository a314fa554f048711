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

use std::io;
use std::ops::Range;

use super::out::{Continued, Spoken};
use super::{Decoder, EventOut, Halves};
use crate::frame::Frame;
use crate::json::Str;

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
pub struct Templates<D> {
    inner: D,
    is_on: bool,
    template: Option<Template>,
    /// The last record, if it hasn't been decoded and its counts may matter.
    late: Vec<u8>,
}

impl<D: Decoder> Templates<D> {
    /// Compares records, if it's on, and lets `inner` decode the others.
    pub fn new(inner: D, is_on: bool) -> Self {
        Templates { inner, is_on, template: None, late: Vec::new() }
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
        if let Some(template) = &self.template
            && let Some(piece) = template.fit(&frame)
        {
            if template.has_counts {
                self.late.clear();
                self.late.extend_from_slice(frame.data);
            }
            self.inner.again(&piece);
            return out.go_on(template.continued, &piece);
        }
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
        self.catch_up(out)?;
        self.inner.finish(out)
    }
}

/// A record with holes.
#[derive(Debug)]
struct Template {
    framing: &'static str,
    event_type: String,
    /// The bytes before each hole, and what may be in it.
    parts: Vec<(Vec<u8>, Hole)>,
    tail: Vec<u8>,
    continued: Continued,
    has_counts: bool,
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
        for (hole, kind) in &holes {
            parts.push((data.get(from..hole.start)?.to_vec(), *kind));
            from = hole.end;
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

    /// The piece of text that a record says, if it looks like this one.
    fn fit<'f>(&self, frame: &Frame<'f>) -> Option<Str<'f>> {
        let mut rest = frame.data;
        let mut text = None;
        for (literal, hole) in &self.parts {
            rest = rest.strip_prefix(literal.as_slice())?;
            let (inside, behind) = rest.split_at_checked(hole.length(rest))?;
            match hole {
                Hole::Text => text = Some(inside),
                Hole::Plain => {}
                Hole::Digits | Hole::Count => is_count(inside).then_some(())?,
            }
            rest = behind;
        }
        let is_alike = rest == self.tail
            && frame.event_type == self.event_type
            && std::ptr::eq(frame.framing, self.framing)
            && frame.headers.is_empty();
        let text = text.filter(|text| is_alike && !text.is_empty())?;
        if !text.contains(&b'\\') {
            return std::str::from_utf8(text).ok().map(Str::from);
        }
        let quoted = [b"\"", text, b"\""].concat();
        let text: Str<'_> = serde_json::from_slice(&quoted).ok()?;
        text.is_plain().then(|| text.into_owned())
    }
}

impl Hole {
    /// How long what is in the hole is, where these bytes begin with it.
    fn length(self, bytes: &[u8]) -> usize {
        match self {
            Hole::Text => text_length(bytes),
            Hole::Plain => {
                length(bytes, |byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\')
            }
            Hole::Digits | Hole::Count => length(bytes, |byte| byte.is_ascii_digit()),
        }
    }
}

fn length(bytes: &[u8], is_in: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !is_in(byte)).unwrap_or(bytes.len())
}

/// The length of the inside of a string, escapes included.
fn text_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        at += length(rest, |byte| byte >= b' ' && byte != b'"' && byte != b'\\');
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            _ => return at.min(bytes.len()),
        }
    }
}

/// Whether these digits are a number that means the same to all who read it.
fn is_count(digits: &[u8]) -> bool {
    matches!(digits, [_] | [b'1'..=b'9', ..]) && digits.len() < 16
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
                let inside = end..end + text_length(data.get(end..)?);
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
                    1 if is_unread && Hole::Plain.length(value) == value.len() => {
                        holes.push((inside, Hole::Plain));
                    }
                    _ => {}
                }
            }
            b'-' | b'0'..=b'9' => {
                end = at
                    + length(rest, |byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
                let number = data.get(at..end)?;
                let is_whole = number.iter().all(u8::is_ascii_digit) && is_count(number);
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
        let second = frame(second);
        let piece = template.as_ref().and_then(|template| template.fit(&second));
        assert_eq!(piece.as_ref().map(Str::as_str), expected);
    }

    #[test]
    fn text_and_what_nobody_reads_may_differ() {
        let first = r#"{"pad":"x1","at":17,"d":{"text":"sea"},"usage":{"in":5,"of":[{"n":1}]}}"#;
        let second = r#"{"pad":"","at":8,"d":{"text":"a\ntide"},"usage":{"in":60,"of":[{"n":0}]}}"#;
        check(first, "sea", second, Some("a\ntide"));
        check(first, "sea", first, Some("sea"));
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
