//! `classify --rows`: a row of NDJSON whose field holds an answer becomes the same row with the
//! summary in its place. All other bytes of the row stay as they are.

use std::borrow::Cow;
use std::convert::Infallible;
use std::io::{self, Write};
use std::ops::Range;
use std::str::FromStr;

use crate::cut::Cut as _;
use crate::event::{Code, Event, Failure, Kind, Output, Pieces, Warning, WarningCode, mask};
use crate::json::{self, ObjectMembers, RawJson, Str};
use crate::nearest::nearest;
use crate::pipeline::{Config, Pipeline};
use crate::sink::{self, Capped, Classify, Label, Sink, Sum, Summed};
use crate::status::{Status, Witness};

/// The most members of a row that are named where it lacks the field.
const MAX_NAMED: usize = 5;

/// The name of the member that takes the field's place.
const ANSWER: &str = "answer";

/// The place of an answer in a row: a key, or a JSON pointer (RFC 6901).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerPlace(Vec<String>);

impl FromStr for AnswerPlace {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let decode = |key: &str| key.replace("~1", "/").replace("~0", "~");
        Ok(AnswerPlace(match text.strip_prefix('/') {
            Some(pointer) => pointer.split('/').map(decode).collect(),
            None => vec![text.to_owned()],
        }))
    }
}

/// The options for reading rows.
pub(crate) struct RowReader<'a> {
    pub(crate) field: &'a AnswerPlace,
    /// True if the field is text in base64.
    pub(crate) is_base64: bool,
    pub(crate) config: &'a Config,
    /// The most bytes of a row; 0 is no limit.
    pub(crate) max_row: usize,
    /// The most bytes that a summary may gather; 0 is no limit.
    pub(crate) max_memory: usize,
}

/// The result of one row.
#[derive(Default)]
pub(crate) struct RowResult {
    pub(crate) status: Status,
    pub(crate) sum: Sum,
    /// True if the row is no object, or one without the field.
    pub(crate) has_no_field: bool,
    /// The report on it.
    pub(crate) stderr: Vec<u8>,
}

/// A field that was found in a row.
struct FoundField<'a> {
    value: RawJson<'a>,
    /// Its place, with its key and colon; an element of an array has none.
    span: Range<usize>,
    is_member: bool,
    /// True if its key, or one above it, comes twice.
    is_repeated: bool,
}

/// A sink that adds notes on a row to the message that is read from it.
struct Noted<'s> {
    sink: &'s mut dyn Sink,
    notes: Vec<Warning<'static>>,
}

impl Sink for Noted<'_> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.sink.feed(event)?;
        match event.kind {
            Kind::Start(_) => self
                .notes
                .drain(..)
                .try_for_each(|note| self.sink.feed(&Kind::Warning(note).into())),
            _ => Ok(()),
        }
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        self.sink.feed_pieces(pieces)
    }

    fn inner(&mut self) -> Option<&mut dyn Sink> {
        Some(self.sink)
    }
}

/// The reason why a row has no answer that could be read.
struct Bad {
    code: Code,
    message: String,
}

impl Bad {
    fn malformed(message: impl Into<String>) -> Self {
        Bad { code: Code::Malformed, message: message.into() }
    }
}

impl RowReader<'_> {
    /// Appends the row with its summary, and a line feed, to `out`. A row that is blank stays as
    /// it is. `name` is its name in messages.
    pub(crate) fn read(&self, row: &[u8], name: &str, out: &mut Vec<u8>) -> RowResult {
        let mut done =
            RowResult { status: Status::new(self.config.assembly.strict), ..RowResult::default() };
        if !row.trim_ascii().is_empty() {
            self.splice(row, name, out, &mut done);
        } else {
            out.extend_from_slice(row);
        }
        out.push(b'\n');
        done
    }

    fn splice(&self, row: &[u8], name: &str, out: &mut Vec<u8>, done: &mut RowResult) {
        match self.check(row).and_then(|row| self.find(row)) {
            Ok(Some(FoundField { value, span, is_member, is_repeated })) => {
                out.extend_from_slice(row.before(span.start));
                if is_member {
                    write_key(out);
                }
                let mut notes = Vec::new();
                if is_repeated {
                    let message = "the key of the field comes twice: the last one counts";
                    notes.push(Warning::new(WarningCode::DuplicateKey, message));
                }
                match self.bytes(value, &mut notes) {
                    Ok(bytes) => self.answer(&bytes, notes, name, out, done),
                    Err(bad) => self.error(&bad, value.get(), name, out, done),
                }
                out.extend_from_slice(row.after(span.end));
            }
            Ok(None) => {
                done.has_no_field = true;
                let bad = Bad::malformed(
                    self.check(row).map_or_else(|bad| bad.message, |row| self.lack(row)),
                );
                let end = memchr::memrchr(b'}', row).unwrap_or(row.len());
                let (head, tail) = row.split_at(end);
                out.extend_from_slice(head);
                if !head.trim_ascii_end().ends_with(b"{") {
                    out.push(b',');
                }
                write_key(out);
                self.error(&bad, "", name, out, done);
                out.extend_from_slice(tail);
            }
            // The answer cannot stand in the row: the row stands in the answer.
            Err(bad) => {
                done.has_no_field =
                    self.check(row).is_ok_and(|row| !matches!(json::try_members(row), Ok(Some(_))));
                out.push(b'{');
                write_key(out);
                let raw = if bad.code == Code::Limit { &[] } else { row };
                self.error(&bad, &String::from_utf8_lossy(raw), name, out, done);
                out.push(b'}');
            }
        }
    }

    /// Returns the row as text, if it can be read.
    fn check<'r>(&self, row: &'r [u8]) -> Result<&'r str, Bad> {
        if self.max_row != 0 && row.len() > self.max_row {
            let message = format!("the row is larger than --max-event {}", self.max_row);
            return Err(Bad { code: Code::Limit, message });
        }
        std::str::from_utf8(row).map_err(|error| {
            let at = error.valid_up_to();
            Bad::malformed(format!("the row is not UTF-8 at its byte {at}"))
        })
    }

    /// Returns where the field stands in a row; `None` if the row is an object without it.
    fn find<'r>(&self, row: &'r str) -> Result<Option<FoundField<'r>>, Bad> {
        let first = json::try_members(row).map_err(|error| {
            Bad::malformed(format!("the row is not JSON: {}", json::misread(row, &error)))
        })?;
        let first = first.ok_or_else(|| Bad::malformed("the row is no JSON object"))?;
        let Some((key, keys)) = self.field.0.split_first() else { return Ok(None) };
        let Some(mut found) = member(row, row, first, key)? else { return Ok(None) };
        for key in keys {
            let part = found.value.get();
            let next = match part.starts_with('[') {
                true => element(row, part, key),
                false => member(row, part, json::members(part), key)?,
            };
            let Some(next) = next else { return Ok(None) };
            found = FoundField { is_repeated: found.is_repeated || next.is_repeated, ..next };
        }
        Ok(Some(found))
    }

    /// Returns what a row without the field has instead: what was meant, or its members.
    fn lack(&self, row: &str) -> String {
        let name = self.field.shown();
        let meant = self.field.0.first().and_then(|key| key.strip_prefix('.')).map(|path| {
            // `.a.b`, as jq has it.
            AnswerPlace(path.split('.').map(str::to_owned).collect())
        });
        let has =
            |field: &AnswerPlace| matches!(RowReader { field, ..*self }.find(row), Ok(Some(_)));
        if let Some(meant) = meant.filter(has) {
            return format!("the row has no {name}: here it is {}", meant.shown());
        }
        let members = json::members(row);
        let names: Vec<&str> = members.iter().map(|(name, _)| name.as_ref()).collect();
        let near = nearest(self.field.0.first().map_or("", String::as_str), &names);
        let shown = if near.is_empty() { &names } else { &near };
        let shown: Vec<_> =
            shown.iter().take(MAX_NAMED).map(|name| json::quote_start(&mask(name))).collect();
        match shown.is_empty() {
            true => format!("the row has no {name}, and no other member"),
            false => format!("the row has no {name}; it has {}", shown.join(", ")),
        }
    }

    /// Returns the bytes of an answer: text, a body as JSON, or bytes in base64. Notes what it
    /// replaces.
    fn bytes<'r>(
        &self,
        value: RawJson<'r>,
        notes: &mut Vec<Warning<'static>>,
    ) -> Result<Cow<'r, [u8]>, Bad> {
        let value = value.get();
        match value.as_bytes().first() {
            Some(b'"') => {}
            Some(b'{' | b'[') if !self.is_base64 => return Ok(Cow::Borrowed(value.as_bytes())),
            _ => {
                let wanted = if self.is_base64 { "text" } else { "text or a body" };
                return Err(Bad::malformed(format!("{} is not {wanted}", self.field.shown())));
            }
        }
        let text: Str<'r> = json::as_str(value)
            .ok_or_else(|| Bad::malformed(format!("{} is no text", self.field.shown())))?;
        if !text.is_empty() && !text.is_plain() {
            let message = "half of a character in the field was replaced";
            notes.push(Warning::new(WarningCode::InvalidText, message));
        }
        match (self.is_base64, text.into_text()) {
            (false, Cow::Borrowed(text)) => Ok(Cow::Borrowed(text.as_bytes())),
            (false, Cow::Owned(text)) => Ok(Cow::Owned(text.into_bytes())),
            (true, text) => json::decode_base64(&without_blanks(&text))
                .map(Cow::Owned)
                .ok_or_else(|| Bad::malformed(format!("{} is not base64", self.field.shown()))),
        }
    }

    /// Writes the summary of an answer.
    fn answer(
        &self,
        bytes: &[u8],
        notes: Vec<Warning<'static>>,
        name: &str,
        out: &mut Vec<u8>,
        done: &mut RowResult,
    ) {
        let start = out.len();
        let mut pipeline = Pipeline::new(self.config);
        self.print(out, name, done, |sink| {
            let sink = &mut Noted { sink, notes };
            pipeline.feed(bytes, sink)?;
            pipeline.finish(sink)
        });
        let printed = out.after(start);
        let lines = memchr::memchr_iter(b'\n', printed).count();
        if lines != 1 {
            let raw = String::from_utf8_lossy(bytes).into_owned();
            out.truncate(start);
            let bad = format!("{} holds {lines} messages, not one answer", self.field.shown());
            return self.error(&Bad::malformed(bad), &raw, name, out, done);
        }
        out.pop();
    }

    /// Writes a summary that says why there is no answer.
    fn error(&self, bad: &Bad, raw: &str, name: &str, out: &mut Vec<u8>, done: &mut RowResult) {
        let raw = Some(Output::Text(raw)).filter(|_| !raw.is_empty());
        self.print(out, name, done, |sink| {
            sink::fail(sink, Failure { raw, ..Failure::new(bad.code, &bad.message, None) })
        });
        out.pop();
    }

    /// Prints what `run` feeds.
    fn print(
        &self,
        out: &mut Vec<u8>,
        name: &str,
        done: &mut RowResult,
        run: impl FnOnce(&mut dyn Sink) -> io::Result<()>,
    ) {
        let choice = self.config.assembly.choice.unwrap_or(0);
        let summaries = Classify::new(out as &mut dyn Write, Label::default(), choice);
        let RowResult { status, stderr, sum, .. } = done;
        let witness = Witness::new(Summed::new(summaries, sum), status, name, stderr);
        // Writing to memory does not fail.
        let _ = run(&mut Capped::new(witness, self.max_memory));
    }
}

impl AnswerPlace {
    /// Returns its name in messages.
    fn shown(&self) -> String {
        match self.0.as_slice() {
            [key] => format!("`{key}`"),
            keys => format!("`/{}`", keys.join("/")),
        }
    }
}

fn write_key(out: &mut Vec<u8>) {
    out.extend_from_slice(format!("\"{ANSWER}\":").as_bytes());
}

/// Returns the element of an array in a row that a pointer's key names.
fn element<'r>(row: &str, array: &'r str, key: &str) -> Option<FoundField<'r>> {
    let elements: Vec<RawJson<'_>> = json::read(array).ok()?;
    let value = *elements.get(key.parse::<usize>().ok()?)?;
    let span = json::place(row.as_bytes(), value.get());
    Some(FoundField { value, span, is_member: false, is_repeated: false })
}

/// Returns the member of an object in a row; of a key that comes twice, the last one. Another
/// member may not have the answer's name.
fn member<'r>(
    row: &str,
    object: &str,
    members: ObjectMembers<'r>,
    key: &str,
) -> Result<Option<FoundField<'r>>, Bad> {
    let Some(at) = members.iter().rposition(|(name, _)| name == key) else { return Ok(None) };
    if key != ANSWER && members.iter().any(|(name, _)| name == ANSWER) {
        return Err(Bad::malformed("the row has an `answer` already"));
    }
    let Some(&(_, value)) = members.get(at) else { return Ok(None) };
    let is_repeated = members.iter().position(|(name, _)| name == key) < Some(at);
    let place = json::place(row.as_bytes(), value.get());
    // The key is the first string after the member before it.
    let before = at.checked_sub(1).and_then(|at| members.get(at));
    let before = match before {
        Some((_, value)) => json::place(row.as_bytes(), value.get()).end,
        None => json::place(row.as_bytes(), object).start,
    };
    let start = row.after(before).find('"').map_or(place.start, |at| before + at);
    Ok(Some(FoundField { value, span: start..place.end, is_member: true, is_repeated }))
}

/// Returns base64 that may be in lines without its white space.
fn without_blanks(text: &str) -> Cow<'_, str> {
    match text.contains(|c: char| c.is_ascii_whitespace()) {
        true => text.chars().filter(|c| !c.is_ascii_whitespace()).collect::<String>().into(),
        false => text.into(),
    }
}
