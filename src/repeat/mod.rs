//! The record that repeats the last one. In one stream nearly every record is
//! the one before it with another piece of text in it: comparing it with that
//! one is ten times as fast as framing it and reading its JSON.
//!
//! This layer stands between the reader and the framer, and only
//! [`crate::pipeline`] knows of it. Without it (`Config::repeat` is false) the
//! program is slower and its output the same, which the tests compare.
//!
//! A [`RecordTemplate`] is the last record that was decoded, with holes where the next
//! one may differ: its text, and what the decoder names in a [`Repeatable`]. A
//! record that fits is not framed and not decoded. Its text is appended to a
//! buffer, and the layers get the texts of neighbouring records together, as
//! [`Pieces`], before anything else is decoded and at the end of each read.
//!
//! # Why it is sound
//!
//! - A record becomes a template only if one event came of it, a piece of text
//!   and nothing else, or after the start of its message, and if that text is the
//!   value of exactly one string of the record, or of several that its decoder
//!   names as the places of text. The decoder says that it takes text from the
//!   record's strings only, so one of these is where it came from, unless half a
//!   character was joined with it or waits for the next record. Several have the
//!   same value in the next record too. Where the decoder allows it, a record of
//!   which nothing came is a template without a hole for text.
//! - Its decoder says that the same record with other text would change nothing
//!   more than what [`Decoder::on_repeat`] is told: [`Decoder::repeatable`].
//! - A record fits only if all its other bytes are the template's, and so is
//!   what surrounds its data: the framer's [`FrameEnvelope`]. What is in the holes is
//!   of the same JSON type, and of the simplest spelling. The text is unescaped
//!   as the decoder would have done it, and never empty. Spaces before the last
//!   brace mean nothing.
//! - A record that does not fit is decoded, and the template forgotten.
//!
//! # What must change together
//!
//! - A decoder that returns a [`Repeatable`]: state that a record of text
//!   changes, other than by adding to counts, makes it return `None`.
//! - A framer that returns an [`FrameEnvelope`]: it does so only between frames, and
//!   a frame in that envelope changes no state of it but its offset.
//! - A layer or sink with its own `feed_pieces`: it does to pieces what `feed`
//!   does to each of them.
//! - [`Inside`], which reads the text of a record that fits, and
//!   [`crate::json::Str`], which reads that of the others.

mod inside;

use std::io;
use std::ops::Range;

use crate::cut::Cut as _;
use crate::event::{
    CallPart, Emit, EmitPieces, Event, Kind, Loose, Native, Of, OwnedEvent, Piece, Pieces,
    Reasoning,
};
use crate::format::format::Decoder;
use crate::format::repeatable::Repeatable;
use crate::format::support::emit::{EventOut, Halves};
use crate::frame::{Frame, FrameConfig, FrameEnvelope, lossy};
use crate::json::{self, Str, after_space, begins_with, plain_length};
use inside::Inside;

/// The number of templates in a row that may be of no use before most records are not
/// made one: a stream whose records differ in more than their text.
const MAX_UNUSED: u32 = 3;
/// The number of records of which one is made a template then.
const SELDOM: u32 = 32;

/// Takes the records that repeat the last one, so that they need not be decoded.
pub(crate) struct Repeats {
    is_on: bool,
    /// True if decoders emit the provider's own JSON too.
    is_native: bool,
    frame: FrameConfig,
    template: RecordTemplate,
    /// The number of templates in a row that no record fitted, or that could have been made.
    unused: u32,
    /// The counts of the last record that was taken, if it has any.
    counts: Vec<u8>,
    /// The texts of the records that were taken, and where one ends and the next
    /// begins.
    text: Vec<u8>,
    cuts: Vec<usize>,
    /// The number of records that were taken and hold nothing, since [`Self::flush_silent`].
    silent: usize,
}

impl Repeats {
    /// Returns a layer that takes records if it is on, but none that a framer
    /// would reject.
    pub(crate) fn new(is_on: bool, is_native: bool, frame: FrameConfig) -> Self {
        let (template, unused, counts, text, cuts, silent) = Default::default();
        Repeats { is_on, is_native, frame, template, unused, counts, text, cuts, silent }
    }

    /// Takes the record that these bytes begin with if it repeats the last one,
    /// and returns its length with its envelope.
    pub(crate) fn take(
        &mut self,
        bytes: &[u8],
        envelope: Option<FrameEnvelope<'_>>,
    ) -> Option<usize> {
        self.template.stage?;
        let FrameEnvelope { head, event_type, tail } = envelope?;
        let data = strip(self.frame.within(bytes), head)?;
        let length = self.take_data(event_type, data, |after| begins_with(after, tail))?;
        Some(head.len() + length + tail.len())
    }

    /// Takes a frame if it repeats the last one, and returns true then: what
    /// surrounded it was not the same, or it came in two reads.
    pub(crate) fn take_frame(&mut self, frame: &Frame<'_>) -> bool {
        frame.headers.is_empty()
            && self.take_data(frame.event_type, frame.data, <[u8]>::is_empty).is_some()
    }

    fn take_data(
        &mut self,
        event_type: &str,
        bytes: &[u8],
        is_end: impl Fn(&[u8]) -> bool,
    ) -> Option<usize> {
        if self.template.stage? == TemplateStage::New {
            self.make_ready(bytes)?;
        }
        let fit = self.template.fit(event_type, bytes)?;
        if !is_end(fit.after) {
            return None;
        }
        let begin = self.text.len();
        match fit.text {
            Some(text) => {
                text.append_to(&mut self.text)?;
                if begin > 0 {
                    self.cuts.push(begin);
                }
            }
            None => self.silent += 1,
        }
        if let Some(counts) = fit.counts {
            counts.clone_into(&mut self.counts);
        }
        self.unused = 0;
        Some(bytes.len() - fit.after.len())
    }

    /// Makes the template ready: its holes are looked for when a record has come that may fit, so
    /// the last record of a text costs nothing.
    #[inline(never)]
    fn make_ready(&mut self, bytes: &[u8]) -> Option<()> {
        self.unused += 1;
        let is_tried = self.unused <= MAX_UNUSED || self.unused.is_multiple_of(SELDOM);
        let is_ready = is_tried && self.template.find_holes(bytes).is_some();
        self.template.stage = is_ready.then_some(TemplateStage::Ready);
        self.template.stage.map(drop)
    }

    /// Emits the texts of the records that were taken.
    pub(crate) fn flush(
        &mut self,
        decoder: &mut dyn Decoder,
        emit: &mut EmitPieces<'_>,
    ) -> io::Result<()> {
        if self.text.is_empty() && self.counts.is_empty() {
            return Ok(());
        }
        // Each piece of it is text, and so are the counts.
        let (text, counts) = (&*lossy(&self.text), &*lossy(&self.counts));
        decoder.on_repeat(&Str::from(text), Some(counts).filter(|counts| !counts.is_empty()));
        self.counts.clear();
        let delta = self.template.delta.as_ref().filter(|_| !text.is_empty());
        let Some(Event { choice, kind }) = delta.map(OwnedEvent::get) else { return Ok(()) };
        if let Some((of, range)) = &self.template.native {
            let json = self.template.with_text(range, text);
            let native = Native { of: *of, piece: Piece::part(&json) };
            emit(Event::new(choice, Kind::Loose(Loose::Native(native))).into())?;
        }
        emit(Pieces { event: Event::new(choice, kind.with_text(text)), cuts: &self.cuts })?;
        self.text.clear();
        self.cuts.clear();
        Ok(())
    }

    /// Returns the number of records that were taken since the last time, and hold nothing.
    pub(crate) fn flush_silent(&mut self) -> usize {
        std::mem::take(&mut self.silent)
    }

    /// Decodes a frame that was not taken, after a flush, and makes it the
    /// template if it can be one.
    pub(crate) fn feed(
        &mut self,
        frame: Frame<'_>,
        decoder: &mut dyn Decoder,
        halves: &mut Halves,
        emit: &mut Emit<'_>,
    ) -> io::Result<()> {
        if !self.is_on {
            let out = EventOut::new(emit, halves, frame.offset);
            return decoder.feed(frame, &mut out.with_native(self.is_native));
        }
        let follows_half = !halves.is_empty();
        let template = &mut self.template;
        template.clear();
        let mut note = |event: &Event<'_>| {
            template.note(event, frame.data);
            emit(event)
        };
        let out = EventOut::new(&mut note, halves, frame.offset);
        decoder.feed(frame, &mut out.with_native(self.is_native))?;
        if !template.is_text() && template.count > 0 {
            self.unused = 0;
            return Ok(());
        }
        // Text that was joined with half a character, or lacks one, is the value of no string.
        if !follows_half && halves.is_empty() {
            template.set(&frame, decoder.repeatable());
        }
        Ok(())
    }
}

/// Returns an event without its text, if it is a piece of text and nothing else.
fn delta_of(event: &Event<'_>) -> Option<OwnedEvent> {
    let bare = match event.kind {
        Kind::Text(_) | Kind::Refusal(_) => event.kind,
        Kind::Reasoning(Reasoning { text, part, .. }) => {
            Kind::Reasoning(Reasoning { text, part, ..Reasoning::default() })
        }
        // Without a name, that there are pieces of it means nothing.
        Kind::Loose(Loose::CallPart(CallPart { key, arguments, has_name_pieces, .. })) => {
            let part = CallPart { key, arguments, has_name_pieces, ..CallPart::default() };
            Kind::Loose(Loose::CallPart(part))
        }
        _ => return None,
    };
    let is_delta = event.kind.text().is_some() && bare == event.kind;
    is_delta.then(|| Event::new(event.choice, bare.with_text("")).into_owned())
}

/// The last record that was decoded, and, once another one has come, the holes in it.
#[derive(Debug, Default)]
struct RecordTemplate {
    /// None if no record can repeat it.
    stage: Option<TemplateStage>,
    /// The number of events that came of it. What came before a start is of the message before,
    /// but for warnings.
    count: usize,
    warnings: usize,
    /// True if a message starts with it.
    is_start: bool,
    /// The first event, if it is a piece of text, and that text.
    delta: Option<OwnedEvent>,
    text: String,
    /// The object that the provider's own JSON is a piece of, and where that stands in the record.
    native: Option<(Of, Range<usize>)>,
    event_type: String,
    /// The record, without its last brace and spaces before it.
    record: Vec<u8>,
    repeatable: Option<&'static Repeatable>,
    /// Where the holes are, in order.
    holes: Holes,
}

/// Where the holes are in a record, in order.
type Holes = Vec<(Range<usize>, Hole)>;

/// How much is known of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TemplateStage {
    /// Its holes have not been looked for.
    New,
    /// Its holes are known.
    Ready,
}

/// What may be in a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hole {
    /// The inside of the string that is the record's text.
    Text,
    /// The inside of another string with the same value.
    Again,
    /// The inside of a string that the decoder does not read: ASCII, without
    /// escapes.
    Plain,
    /// A whole number that the decoder does not read.
    Digits,
    /// A whole number of which the last one counts.
    Count,
    /// Nothing: the object with these begins here.
    CountsBegin,
    /// Nothing: that object ends here.
    CountsEnd,
}

impl RecordTemplate {
    /// Forgets the record, and keeps its buffers.
    fn clear(&mut self) {
        (self.stage, self.is_start, self.delta, self.native) = (None, false, None, None);
        (self.count, self.warnings) = (0, 0);
        self.text.clear();
    }

    /// Notes an event that came of the record in `data`.
    fn note(&mut self, event: &Event<'_>, data: &[u8]) {
        match event.kind {
            Kind::Loose(Loose::Native(Native { of, piece })) if self.native.is_none() => {
                let range = json::place(data, piece.json);
                if data.get(range.clone()) == Some(piece.json.as_bytes()) {
                    self.native = Some((of, range));
                    return;
                }
            }
            Kind::Start(_) => {
                let warnings = self.warnings;
                self.clear();
                (self.is_start, self.count) = (true, warnings);
                return;
            }
            Kind::Warning(_) => self.warnings += 1,
            _ => {}
        }
        self.count += 1;
        if self.count > 1 {
            return;
        }
        self.delta = delta_of(event);
        if let (Some(_), Some(text)) = (&self.delta, event.kind.text()) {
            self.text.push_str(text);
        }
    }

    /// Returns true if a piece of text came of the record, and nothing else.
    fn is_text(&self) -> bool {
        self.count == 1 && self.delta.is_some()
    }

    /// Sets the record of which the events came, if another one may repeat it.
    fn set(&mut self, frame: &Frame<'_>, repeatable: Option<&'static Repeatable>) {
        let is_silent = self.count == 0 && !self.is_start;
        let may_repeat =
            |of: &&Repeatable| if is_silent { of.may_be_silent } else { !self.text.is_empty() };
        let Some(repeatable) = repeatable.filter(may_repeat) else { return };
        let Some(record) = frame.data.strip_suffix(b"}") else { return };
        if !frame.headers.is_empty() {
            return;
        }
        self.stage = Some(TemplateStage::New);
        self.repeatable = Some(repeatable);
        frame.event_type.clone_into(&mut self.event_type);
        record.trim_ascii_end().clone_into(&mut self.record);
    }

    /// Finds the holes; none unless the text is the value of exactly one string in the record, or
    /// of several that hold text, and if the record that `bytes` begin with does not fit.
    fn find_holes(&mut self, bytes: &[u8]) -> Option<()> {
        let text = self.delta.as_ref().map(|_| self.text.as_str());
        let same = json::same_length(&self.record, bytes);
        let differs = Some(same).filter(|&same| same < bytes.len());
        find_holes(&self.record, text, self.repeatable?, differs, &mut self.holes)?;
        let hole = self.holes.iter().find(|(_, hole)| *hole == Hole::Text).map(|(range, _)| range);
        let is_native = |hole: &Range<usize>| {
            let native = self.native.as_ref();
            native.is_none_or(|(_, range)| {
                range.start < hole.start && hole.end < range.end && range.end <= self.record.len()
            })
        };
        (hole.is_some() == text.is_some() && hole.is_none_or(is_native)).then_some(())
    }

    /// Returns a part of the record with another text.
    fn with_text(&self, range: &Range<usize>, text: &str) -> String {
        let (mut json, mut from) = (Vec::new(), range.start);
        let is_text = |hole: &Hole| matches!(hole, Hole::Text | Hole::Again);
        let inside = |hole: &Range<usize>| range.start <= hole.start && hole.end <= range.end;
        for (hole, _) in self.holes.iter().filter(|(hole, kind)| is_text(kind) && inside(hole)) {
            json.extend_from_slice(self.record.within(from..hole.start));
            json::escape_into(text, &mut json);
            from = hole.end;
        }
        json.extend_from_slice(self.record.within(from..range.end));
        lossy(&json).into_owned()
    }

    /// Compares the record that these bytes begin with, if it has this name; none if it does not
    /// fit.
    fn fit<'b>(&self, name: &str, bytes: &'b [u8]) -> Option<RecordFit<'b>> {
        let mut rest = bytes;
        let mut text: Option<Inside<'b>> = None;
        let (mut counts_begin, mut counts) = (0, None);
        let mut from = 0;
        for (range, hole) in &self.holes {
            rest = strip(rest, self.record.get(from..range.start)?)?;
            let at = bytes.len() - rest.len();
            let length = match hole {
                Hole::Text => text.insert(Inside::new(bytes, at)).length,
                Hole::Again => {
                    let inside = text?.bytes();
                    let after = strip(rest, inside)?;
                    after.starts_with(b"\"").then_some(inside.len())?
                }
                Hole::Plain => {
                    let last = self.record.get(range.clone())?;
                    let is_same = begins_with(rest, last) && rest.get(last.len()) == Some(&b'"');
                    if is_same { last.len() } else { plain_length(rest) }
                }
                Hole::Digits | Hole::Count => count_length(rest)?,
                Hole::CountsBegin => {
                    counts_begin = at;
                    0
                }
                Hole::CountsEnd => {
                    counts = bytes.get(counts_begin..at);
                    0
                }
            };
            rest = rest.get(length..)?;
            from = range.end;
        }
        let mut rest = strip(rest, self.record.get(from..)?)?;
        while let Some(after) = rest.strip_prefix(b" ") {
            rest = after;
        }
        let after = rest.strip_prefix(b"}")?;
        let is_empty = text.is_some_and(|text| text.length == 0);
        let is_named = is_same(name.as_bytes(), self.event_type.as_bytes());
        (!is_empty && is_named).then_some(RecordFit { text, counts, after })
    }
}

/// What a record that fits holds.
struct RecordFit<'b> {
    /// Its text, if the template has one.
    text: Option<Inside<'b>>,
    /// The object with its counts.
    counts: Option<&'b [u8]>,
    /// What follows the record.
    after: &'b [u8],
}

/// Returns what follows these bytes, if a text begins with them.
#[inline]
fn strip<'t>(text: &'t [u8], bytes: &[u8]) -> Option<&'t [u8]> {
    begins_with(text, bytes).then(|| text.get(bytes.len()..)).flatten()
}

/// True if two texts are the same.
#[inline]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    strip(a, b).is_some_and(<[u8]>::is_empty)
}

/// Returns the length of the whole number that these bytes begin with. Every
/// reader understands it alike: no leading zero, and fewer than 16 digits.
fn count_length(bytes: &[u8]) -> Option<usize> {
    let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_count = matches!(bytes.get(..length)?, [_] | [b'1'..=b'9', ..]) && length < 16;
    is_count.then_some(length)
}

/// Finds the holes of a record without its last brace, in order: each string whose value is `text`,
/// and what may differ. None if a string that holds no text has this value beside
/// another, if the record is not one JSON object, as far as can be seen, or if the first byte in
/// which the next record differs is in no hole.
fn find_holes(
    data: &[u8],
    text: Option<&str>,
    repeatable: &Repeatable,
    mut differs: Option<usize>,
    holes: &mut Holes,
) -> Option<()> {
    holes.clear();
    let (mut at, mut place) = (0, HolePlace::default());
    // Once the text was found, true if it may stand in other places too.
    let mut may_repeat = None;
    let (mut has_counts, mut in_counts) = (false, false);
    while let Some(&byte) = data.get(at) {
        let mut end = at + 1;
        match byte {
            b'"' => {
                let string = Inside::new(data, end);
                let inside = end..end + string.length;
                end = inside.end + 1;
                let after = after_space(data, end);
                let value = data.get(inside.clone())?;
                if data.get(after) == Some(&b':') {
                    place.enter(value);
                    end = after + 1;
                } else if text.is_some_and(|text| string.means(text)) {
                    let holds_text = place.is_among(repeatable.texts);
                    let is_again = may_repeat.is_some();
                    if is_again && !(holds_text && may_repeat == Some(true)) {
                        return None;
                    }
                    may_repeat = Some(holds_text);
                    holes.push((inside, if is_again { Hole::Again } else { Hole::Text }));
                } else if place.is_among(repeatable.unread) && plain_length(value) == value.len() {
                    holes.push((inside, Hole::Plain));
                }
            }
            b'-' | b'0'..=b'9' => {
                let is_in =
                    |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
                while data.get(end).copied().is_some_and(is_in) {
                    end += 1;
                }
                let number = data.get(at..end)?;
                let hole = if in_counts {
                    Some(Hole::Count)
                } else {
                    place.is_among(repeatable.unread).then_some(Hole::Digits)
                };
                let is_whole = count_length(number) == Some(number.len());
                holes.extend(hole.filter(|_| is_whole).map(|hole| (at..end, hole)));
            }
            b'{' | b'[' => {
                let is_key = |name: &str| is_same(name.as_bytes(), place.key);
                if byte == b'{' && place.depth == 1 && repeatable.counts.is_some_and(is_key) {
                    // Where it comes twice, only the decoder knows which one counts.
                    if std::mem::replace(&mut has_counts, true) {
                        return None;
                    }
                    in_counts = true;
                    holes.push((at..at, Hole::CountsBegin));
                }
                place.depth += 1;
            }
            b'}' | b']' => {
                place.leave()?;
                if in_counts && place.depth == 1 {
                    in_counts = false;
                    holes.push((end..end, Hole::CountsEnd));
                }
            }
            _ => {}
        }
        if differs.is_some_and(|differs| differs < end) {
            let is_in = |(hole, _): &(Range<usize>, Hole)| Some(hole.end) >= differs;
            holes.last().filter(|hole| is_in(hole))?;
            differs = None;
        }
        at = end;
    }
    (place.depth == 1 && data.starts_with(b"{")).then_some(())
}

/// The place of a value in a record.
#[derive(Default)]
struct HolePlace<'r> {
    /// The number of containers around it.
    depth: usize,
    /// The key of the record's member that it is, or is in.
    member: &'r [u8],
    /// The key of the value itself, or of the array it is in.
    key: &'r [u8],
}

impl<'r> HolePlace<'r> {
    fn enter(&mut self, key: &'r [u8]) {
        self.key = key;
        if self.depth == 1 {
            self.member = key;
        }
    }

    fn leave(&mut self) -> Option<()> {
        self.key = b"";
        self.depth = self.depth.checked_sub(1).filter(|&depth| depth > 0)?;
        Some(())
    }

    /// True if a path of a [`Repeatable`] leads here.
    fn is_among(&self, paths: &[&str]) -> bool {
        paths.iter().any(|path| {
            let start = path.len().checked_sub(self.key.len());
            let ends = start.and_then(|start| path.as_bytes().split_at_checked(start));
            match ends.filter(|(_, key)| is_same(key, self.key)) {
                Some((b"", key)) => self.depth == 1 && !key.contains(&b'.'),
                Some(([member @ .., b'.'], _)) => self.depth > 1 && is_same(member, self.member),
                _ => false,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Arguments, Key, Start, Text, Usage, Warning, WarningCode};
    use crate::frame::FRAMINGS;

    const REPEATABLE: Repeatable = Repeatable {
        texts: &["text", "again.again", "in.text"],
        unread: &["pad", "at", "in.token"],
        counts: Some("usage"),
        may_be_silent: true,
    };

    /// Returns the template of a record of which this event came, or nothing.
    fn template(data: &str, event: Option<Event<'_>>) -> Option<RecordTemplate> {
        let mut template = RecordTemplate::default();
        event.iter().for_each(|event| template.note(event, data.as_bytes()));
        template.set(&Frame::new(FRAMINGS[0], data.as_bytes(), 0), Some(&REPEATABLE));
        template.stage?;
        template.find_holes(b"").map(|()| template)
    }

    /// Checks the text of a record that comes after another one, whose text is
    /// `text`; none if it does not repeat that one.
    #[track_caller]
    fn check(first: &str, text: &str, second: &str, expected: Option<&str>) {
        let template = template(first, Some(Event::new(0, Kind::Refusal(text))));
        let fit = template.as_ref().and_then(|template| template.fit("", second.as_bytes()));
        let (mut text, whole) = (Vec::new(), fit.filter(|fit| fit.after.is_empty()));
        let got = whole.and_then(|fit| fit.text?.append_to(&mut text)).map(|()| text);
        assert_eq!(got.as_deref(), expected.map(str::as_bytes));
    }

    #[test]
    fn text_and_what_nobody_reads_may_differ() {
        let first = r#"{"pad":"x1","at":17,"d":{"text":"sea"},"usage":{"in":5,"of":[{"n":1}]}}"#;
        let second = r#"{"pad":"","at":8,"d":{"text":"a\ntide"},"usage":{"in":60,"of":[{"n":0}]}}"#;
        check(first, "sea", second, Some("a\ntide"));
        check(first, "sea", first, Some("sea"));
        for (inside, text) in [(r#"\"\\\/\t\r\n"#, "\"\\/\t\r\n"), (r"\u00e9\b", "\u{e9}\u{8}")] {
            let spelled = first.replace("sea", inside);
            check(first, "sea", &spelled, Some(text));
            check(&spelled, text, first, Some("sea"));
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
    fn text_may_stand_in_several_places() {
        let first = r#"{"text":"sea","again":["sea"]}"#;
        let second = r#"{"text":"a\ntide","again":["a\ntide"]}"#;
        check(first, "sea", second, Some("a\ntide"));
        for second in [
            r#"{"text":"tide","again":["sea"]}"#,
            r#"{"text":"sea","again":["tide"]}"#,
            r#"{"text":"sea","again":["sea "]}"#,
            r#"{"text":"\n","again":["\u000a"]}"#,
        ] {
            check(first, "sea", second, None);
        }
    }

    #[test]
    fn fragments_repeat_also_where_names_come_in_pieces() {
        let (key, arguments) = (Key::Index(0), Arguments::Fragment("{"));
        let part = CallPart { key, arguments, has_name_pieces: true, ..CallPart::default() };
        let delta = |part| delta_of(&Event::new(0, Kind::Loose(Loose::CallPart(part))));
        assert!(delta(part).is_some());
        assert!(delta(CallPart { name: Some("f"), ..part }).is_none());
    }

    #[test]
    fn a_record_of_which_nothing_came_has_no_hole_for_text() {
        let first = r#"{"pad":"y","d":{"text":""},"usage":{"in":5}}"#;
        let template = template(first, None).unwrap();
        let fits = |second: &str| template.fit("", second.as_bytes()).is_some();
        assert!(fits(first));
        assert!(fits(&first.replace('5', "6").replace('y', "")));
        assert!(!fits(&first.replace(r#""""#, r#""a""#)));
    }

    #[test]
    fn the_counts_of_a_record_that_fits_are_given() {
        let first = r#"{"text":"sea","usage": {"in":5,"of":[{"n":1.5}]},"n":{"in":5}}"#;
        let template = template(first, Some(Event::new(0, Kind::Refusal("sea")))).unwrap();
        let second = first.replacen("{\"in\":5", "{\"in\":60", 1);
        let counts = template.fit("", second.as_bytes()).and_then(|fit| fit.counts).unwrap();
        assert_eq!(str::from_utf8(counts), Ok(r#"{"in":60,"of":[{"n":1.5}]}"#));
        for other in [first.replace("1.5", "1.6"), first.replace("{\"in\":5}", "{\"in\":6}")] {
            assert!(template.fit("", other.as_bytes()).is_none());
        }
        let twice = r#"{"text":"sea","usage":{"in":5},"usage":{"in":5}}"#;
        check(twice, "sea", twice, None);
    }

    #[test]
    fn a_start_and_what_came_before_it_are_no_events_of_a_record() {
        let (text, start) =
            (Event::new(0, Kind::Refusal("sea")), Event::from(Kind::Start(Start::default())));
        let warning = Event::from(Kind::Warning(Warning::new(WarningCode::WrongType, "")));
        let usage = Event::from(Kind::Usage(Usage::default()));
        for (events, expected) in [
            (vec![text], true),
            (vec![start, text], true),
            (vec![usage, start, text], true),
            (vec![usage, text], false),
            (vec![start, text, usage], false),
            (vec![warning, start, text], false),
            (vec![start, warning, text], false),
        ] {
            let mut template = RecordTemplate::default();
            events.iter().for_each(|event| template.note(event, b""));
            assert_eq!(template.is_text(), expected, "{events:?}");
        }
    }

    #[test]
    fn the_provider_s_json_has_the_text_of_the_records() {
        let data = r#"{"in":{"text":"sea"},"at":1}"#;
        let json = data.get(6..20).unwrap();
        let native = Native { of: Of::Message, piece: Piece::part(json) };
        let mut template = RecordTemplate::default();
        for event in [Kind::Loose(Loose::Native(native)), Kind::Text(Text::new("sea"))] {
            template.note(&event.into(), data.as_bytes());
        }
        assert!(template.is_text());
        template.set(&Frame::new(FRAMINGS[0], data.as_bytes(), 0), Some(&REPEATABLE));
        template.find_holes(b"").unwrap();
        let (_, range) = template.native.clone().unwrap();
        assert_eq!(template.with_text(&range, "a \"tide\""), r#"{"text":"a \"tide\""}"#);
    }

    #[test]
    fn a_path_names_a_key_inside_a_member() {
        let first = r#"{"in":[{"token":5,"text":"sea","d":{"text":"sea"}},2],"out":{"token":6}}"#;
        check(first, "sea", &first.replace("sea", "tide").replace('5', "70"), Some("tide"));
        check(first, "sea", &first.replace('6', "7"), None);
        check(first, "sea", &first.replace('2', "3"), None);
        let outside = r#"{"in":[{"text":"sea"}],"out":{"text":"sea"}}"#;
        check(outside, "sea", outside, None);
    }

    #[test]
    fn spaces_before_the_last_brace_mean_nothing() {
        let (bare, padded) = (r#"{"a":["sea"]}"#, r#"{"a":["sea"]   }"#);
        check(bare, "sea", padded, Some("sea"));
        check(padded, "sea", bare, Some("sea"));
        check(bare, "sea", "{\"a\":[\"sea\"]\n}", None);
        check(bare, "sea", r#"{"a":["sea"] ]"#, None);
    }

    #[test]
    fn text_that_is_not_one_string_of_the_record_makes_no_template() {
        for first in [
            r#"{"a":"deep sea"}"#,
            r#"{"sea":1}"#,
            r#"{"a":"sea"}}"#,
            r#"["sea"]"#,
            r#"{"a":"sea","b":"sea"}"#,
            r#"{"a":"sea","text":"sea"}"#,
            r#"{"text":"sea","a":"sea"}"#,
            r#"{"a":"sea","b":["s\u0065a"]}"#,
        ] {
            check(first, "sea", first, None);
        }
    }
}
