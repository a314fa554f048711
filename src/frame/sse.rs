//! Server-sent events, as the WHATWG HTML standard says (§9.2.5, §9.2.6), and
//! as providers really send them.
//!
//! Without `strict`, five things that the standard drops are kept, each with a
//! note: an event that the end of the input cut after its last byte; records
//! that lack the blank line between them; a prefix written twice
//! (`data: data: {…}`); a record without `data:`; and llama.cpp's `error: {…}` field.

use std::io;

use memchr::{memchr, memchr2};

use crate::cut::Cut as _;
use crate::event::WarningCode;
use crate::frame::framer::{
    BYTE_ORDER_MARK, Content, DONE, FIELDS, Fault, FaultKind, Frame, FrameConfig, FrameEnvelope,
    FrameOut, Framed, Framer, Framing, Holds, Sniff, is_begun_mark, lossy, without_mark,
};
use crate::frame::leading::{is_between_bytes, without_progress};
use crate::json::{self, JsonStatus, Scanner};

pub(super) static FRAMING: Framing = Framing {
    name: "sse",
    about: "server-sent events",
    content: Content::Json,
    ends_with_done: true,
    holds: Holds::Stream,
    sniff,
    framer: |config| Box::new(Sse { config, ..Sse::default() }),
    media_type: "text/event-stream",
    idle: ": keep-alive\n\n",
    add: Some(|stream, name, data| {
        // The last event may lack the blank line after it.
        if !stream.is_empty() && !stream.ends_with(b"\n\n") && !stream.ends_with(b"\n\r\n") {
            stream.extend_from_slice(b"\n\n");
        }
        if !name.is_empty() {
            stream.extend_from_slice(format!("event: {name}\n").as_bytes());
        }
        stream.extend_from_slice(format!("data: {data}\n\n").as_bytes());
    }),
};

/// Says yes once a line can be nothing but a field of an event stream. Prose may
/// begin with `data` or a colon: then the next line decides. A second byte
/// order mark spoils the name of the first field, not the stream.
fn sniff(head: &[u8]) -> Sniff {
    let mut rest = head;
    while let Some(after) = rest.strip_prefix(BYTE_ORDER_MARK) {
        rest = after;
    }
    if is_begun_mark(rest) {
        return Sniff::More;
    }
    let mut fields = 0;
    while let Some(end) = memchr2(b'\n', b'\r', rest) {
        let line = rest.before(end);
        match sniff_line(line, true) {
            // A blank line after a field ends an event.
            Sniff::More if line.is_empty() && fields > 0 => return Sniff::Yes,
            Sniff::More => fields += usize::from(!line.trim_ascii().is_empty()),
            verdict => return verdict,
        }
        if fields > 1 {
            return Sniff::Yes;
        }
        rest = rest.after(end + 1);
    }
    match sniff_line(rest, false) {
        Sniff::More if fields > 0 => Sniff::Likely,
        verdict => verdict,
    }
}

/// True if the value of a field holds another one, with a record: the line end between them is lost.
fn holds_field(value: &[u8]) -> bool {
    // The names of events have no brace.
    let data = memchr(b'{', value).and_then(|_| memchr::memmem::find(value, b"data:"));
    data.is_some_and(|at| value.after(at + b"data:".len()).trim_ascii_start().starts_with(b"{"))
}

fn sniff_line(line: &[u8], is_whole: bool) -> Sniff {
    let field = line.trim_ascii_start();
    match sniff_field(field, is_whole) {
        // Text may be indented: only a record shows that it is none.
        Sniff::More if is_whole && field.len() < line.len() && !field.is_empty() => Sniff::No,
        verdict => verdict,
    }
}

fn sniff_field(line: &[u8], is_whole: bool) -> Sniff {
    let Some(colon) = memchr(b':', line) else {
        let may_grow = !is_whole && FIELDS.iter().any(|field| field.starts_with(line));
        return if may_grow || line.is_empty() { Sniff::More } else { Sniff::No };
    };
    let (name, value) = (line.before(colon), line.after(colon + 1));
    if !name.is_empty() && !FIELDS.contains(&name) {
        return Sniff::No;
    }
    match (name, value.trim_ascii_start().first()) {
        (b"data" | b"error", Some(b'{')) => Sniff::Yes,
        (b"data", _) if value.trim_ascii() == DONE && is_whole => Sniff::Yes,
        (b"data", _) if value.trim_ascii() == DONE => Sniff::Likely,
        // Nobody ends an answer here: the stream was cut in its first line.
        (b"data", None) if !is_whole => Sniff::Likely,
        (b"event", _) if !is_whole && is_event_name(value.trim_ascii()) => Sniff::Likely,
        _ => Sniff::More,
    }
}

/// True if a value may be the name of an event, or its beginning.
fn is_event_name(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(byte))
}

#[derive(Default)]
struct Sse {
    config: FrameConfig,
    /// The buffered beginning of a line whose end has not come.
    line: Vec<u8>,
    /// True after a CR: a LF that comes next belongs to it.
    skip_lf: bool,
    /// The data of the event so far, each line with its LF.
    data: Vec<u8>,
    event_type: String,
    /// The name that the data had before another name came after the data.
    earlier_type: Option<String>,
    /// The id of the event so far, and of the last event.
    id: String,
    /// Parses the data, once it has several lines.
    scanner: Option<Scanner>,
    /// True in a record without its `data:`, which ends where its JSON does.
    is_bare: bool,
    /// The offset of the event, once it has begun.
    begun: Option<u64>,
    /// The bytes around the data of the last event.
    last: Last,
    /// True once unknown fields have been noted.
    noted: bool,
    /// The offset of the current line.
    offset: u64,
    /// True if the input has ended, in the line that comes.
    ended: bool,
    stopped: bool,
}

impl Sse {
    /// Interprets one line. `pending` is the data of the event so far if it is
    /// one line of the same read: the common case, which copies nothing.
    fn line<'b>(
        &mut self,
        line: &'b [u8],
        pending: &mut Option<&'b [u8]>,
        out: &mut FrameOut<'_>,
    ) -> io::Result<()> {
        if line.is_empty() {
            return self.dispatch(pending.take(), out);
        }
        if self.is_bare {
            return self.bare_line(line, pending, out);
        }
        self.begun.get_or_insert(self.offset);
        let (name, value) = match memchr(b':', line) {
            Some(colon) => (line.before(colon), line.after(colon + 1)),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => self.take_data(value, pending, out),
            b"event" | b"id" if !self.config.strict && holds_field(value) => {
                self.unknown_line(line, pending.take(), out)
            }
            b"event" => {
                if pending.is_some() || !self.data.is_empty() {
                    self.earlier_type = Some(std::mem::take(&mut self.event_type));
                }
                set(&mut self.event_type, value);
                Ok(())
            }
            b"id" if !value.contains(&0) => {
                set(&mut self.id, value);
                Ok(())
            }
            b"error" if !self.config.strict && value.starts_with(b"{") => {
                self.event_type = "error".into();
                let message = "a field named `error` was read as an error event";
                self.note(WarningCode::ErrorField, message, out)?;
                self.take_data(value, pending, out)
            }
            b"" | b"id" | b"retry" => Ok(()),
            _ if self.config.strict => Ok(()),
            _ if let Some((rest, note)) = without_others(line, self.offset) => {
                out(Framed::Fault(note))?;
                if rest.is_empty() { Ok(()) } else { self.line(rest, pending, out) }
            }
            _ => self.unknown_line(line, pending.take(), out),
        }
    }

    /// Takes a line that is no field: a record without its `data:`, as a proxy
    /// may append it to a stream, or something that is skipped.
    fn unknown_line(
        &mut self,
        line: &[u8],
        pending: Option<&[u8]>,
        out: &mut FrameOut<'_>,
    ) -> io::Result<()> {
        if line.starts_with(b"{") && !is_between_bytes(line) {
            self.note(WarningCode::BareRecord, "a line without `data:` was read as an event", out)?;
            self.dispatch(pending, out)?;
            self.begun = Some(self.offset);
            return self.bare(line, out);
        }
        if let Some(first) = pending {
            self.keep(first);
        }
        let has_record = line.trim_ascii_end().ends_with(b"}") && memchr(b'{', line).is_some();
        if std::mem::replace(&mut self.noted, true) && !has_record {
            return Ok(());
        }
        let message = "lines that are no field of an event stream are passed over";
        let fault = Fault::note(WarningCode::UnknownField, message, self.offset);
        out(Framed::Fault(if has_record { fault.with_raw(line) } else { fault }))
    }

    /// Takes a line of a record without its `data:`. A field ends it.
    fn bare_line<'b>(
        &mut self,
        line: &'b [u8],
        pending: &mut Option<&'b [u8]>,
        out: &mut FrameOut<'_>,
    ) -> io::Result<()> {
        let is_field =
            |field: &&[u8]| line.strip_prefix(*field).is_some_and(|rest| rest.starts_with(b":"));
        if FIELDS.iter().any(is_field) {
            self.dispatch(None, out)?;
            return self.line(line, pending, out);
        }
        if self.config.is_over(self.data.len() + line.len()) {
            return self.stop(out);
        }
        self.bare(line, out)
    }

    fn bare(&mut self, line: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        self.keep(line);
        self.is_bare = match self.status() {
            JsonStatus::Open => true,
            JsonStatus::Whole => false,
            // The line has no end that would be wrong in a string.
            _ => self.ended,
        };
        if self.is_bare { Ok(()) } else { self.dispatch(None, out) }
    }

    fn take_data<'b>(
        &mut self,
        value: &'b [u8],
        pending: &mut Option<&'b [u8]>,
        out: &mut FrameOut<'_>,
    ) -> io::Result<()> {
        let before = self.data.len() + pending.map_or(0, |first| first.len() + 1);
        if self.config.is_over(before + value.len()) {
            return self.stop(out);
        }
        let value =
            if self.config.strict { value } else { self.without_second_prefix(value, out)? };
        if self.data.is_empty() && pending.is_none() {
            *pending = Some(value);
            return Ok(());
        }
        if let Some(first) = pending.take() {
            self.keep(first);
        }
        // Lines below one name are one event's, as the standard says.
        let may_be_next = self.event_type.is_empty() || self.earlier_type.is_some();
        let is_next = may_be_next && matches!(value.first(), Some(b'{' | b'['));
        if !self.config.strict && is_next && self.is_record() {
            let message = "records without a blank line between them were told apart";
            self.note(WarningCode::UnseparatedEvents, message, out)?;
            let offset = self.offset;
            let next_type = match self.earlier_type.take().filter(|name| !name.is_empty()) {
                Some(earlier) => std::mem::replace(&mut self.event_type, earlier),
                None => String::new(),
            };
            self.dispatch(None, out)?;
            self.begun = Some(offset);
            self.event_type = next_type;
            *pending = Some(value);
            return Ok(());
        }
        self.keep(value);
        Ok(())
    }

    /// Buffers a line of data: its event is not complete.
    fn keep(&mut self, value: &[u8]) {
        self.data.extend_from_slice(value);
        self.data.push(b'\n');
        if let Some(scanner) = &mut self.scanner {
            scanner.push_all(value);
            scanner.push_all(b"\n");
        }
    }

    /// True if the data so far is a record of its own.
    fn is_record(&mut self) -> bool {
        self.data.trim_ascii() == DONE || self.status() == JsonStatus::Whole
    }

    /// Parses the data so far.
    fn status(&mut self) -> JsonStatus {
        let data = &self.data;
        let scanner = self.scanner.get_or_insert_with(|| {
            let mut scanner = Scanner::new(0);
            scanner.push_all(data);
            scanner
        });
        scanner.status()
    }

    fn without_second_prefix<'b>(
        &self,
        value: &'b [u8],
        out: &mut FrameOut<'_>,
    ) -> io::Result<&'b [u8]> {
        let mut inner = value;
        while let Some(rest) = inner.strip_prefix(b"data:") {
            inner = rest.strip_prefix(b" ").unwrap_or(rest);
        }
        if inner.len() == value.len() || !(inner.starts_with(b"{") || inner == DONE) {
            return Ok(value);
        }
        self.note(WarningCode::DoublePrefix, "a second `data:` was taken off", out)?;
        Ok(inner)
    }

    fn note(&self, code: WarningCode, message: &str, out: &mut FrameOut<'_>) -> io::Result<()> {
        out(Framed::Fault(Fault::note(code, message, self.offset)))
    }

    /// Returns the event with this data.
    fn frame<'b>(&'b self, data: &'b [u8], offset: u64) -> Frame<'b> {
        let (event_type, id) = (self.event_type.as_str(), self.id.as_str());
        Frame { event_type, id, ..Frame::new(&FRAMING, data, offset) }
    }

    /// Takes the blank line: emits the event, if it has data.
    fn dispatch(&mut self, pending: Option<&[u8]>, out: &mut FrameOut<'_>) -> io::Result<()> {
        let begun = self.begun.take();
        let offset = begun.unwrap_or(self.offset);
        if pending.is_some() || !self.data.is_empty() {
            let data = pending.unwrap_or(self.data.strip_suffix(b"\n").unwrap_or(&self.data));
            out(Framed::Frame(self.frame(data, offset)))?;
        } else if begun.is_some() && self.config.comments {
            out(Framed::Comment)?;
        }
        self.data.clear();
        self.is_bare = false;
        self.scanner = None;
        self.earlier_type = None;
        self.event_type.clear();
        Ok(())
    }

    /// Stops: a line, or an event's data, is over the limit.
    fn stop(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        self.stopped = true;
        out(Framed::Fault(self.config.limit_fault(self.begun.unwrap_or(self.offset))))
    }

    /// Interprets the line that came in several reads.
    fn held_line(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        let mut held = std::mem::take(&mut self.line);
        let mut pending = None;
        self.line(self.without_bom(&held), &mut pending, out)?;
        if let Some(value) = pending {
            self.keep(value);
        }
        held.clear();
        self.line = held;
        Ok(())
    }

    /// Returns what follows the LF that belongs to the CR before it.
    fn without_lf<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        if !self.skip_lf || bytes.is_empty() {
            return bytes;
        }
        self.skip_lf = false;
        let Some(rest) = bytes.strip_prefix(b"\n") else { return bytes };
        self.offset += 1;
        rest
    }

    fn without_bom<'b>(&self, line: &'b [u8]) -> &'b [u8] {
        if self.offset == 0 { without_mark(line) } else { line }
    }
}

impl Framer for Sse {
    fn step<'b>(&mut self, bytes: &'b [u8], out: &mut FrameOut<'_>) -> io::Result<&'b [u8]> {
        let mut rest = self.without_lf(bytes);
        let mut pending = None;
        // The bytes from the beginning of the event on, if they are all here.
        let event = (self.begun.is_none() && self.line.is_empty()).then_some(rest);
        while !self.stopped
            && let Some(end) = memchr2(b'\n', b'\r', rest)
        {
            let (line, tail) = rest.split_at(end);
            self.skip_lf = tail.first() == Some(&b'\r');
            rest = tail.after(1);
            let size = self.line.len() + end + 1;
            if self.config.is_over(size - 1) {
                self.stop(out)?;
                break;
            }
            let is_end = line.is_empty() && self.line.is_empty();
            if is_end && let (Some(data), Some(event)) = (pending, event) {
                let end =
                    event.len() - rest.len() + usize::from(rest.starts_with(b"\n") && self.skip_lf);
                self.last.note(event.before(end), data, &self.event_type);
            }
            if self.line.is_empty() {
                self.line(self.without_bom(line), &mut pending, out)?;
            } else {
                self.line.extend_from_slice(line);
                self.held_line(out)?;
            }
            self.offset += size as u64;
            rest = self.without_lf(rest);
            if is_end {
                return Ok(rest);
            }
        }
        if self.stopped {
            return Ok(&[]);
        }
        if let Some(first) = pending {
            self.keep(first);
        }
        self.line.extend_from_slice(rest);
        if self.config.is_over(self.line.len()) {
            self.stop(out)?;
        }
        Ok(&[])
    }

    fn envelope(&self) -> Option<FrameEnvelope<'_>> {
        let is_between =
            self.begun.is_none() && self.line.is_empty() && !self.skip_lf && !self.stopped;
        self.last.envelope().filter(|_| is_between)
    }

    fn skip(&mut self, bytes: usize) {
        self.offset += bytes as u64;
    }

    fn finish(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        if self.stopped {
            return Ok(());
        }
        self.ended = true;
        let line = self.line.clone();
        if !self.config.strict && !line.is_empty() {
            self.held_line(out)?;
            if self.begun.is_none() {
                return Ok(());
            }
        }
        if self.data.is_empty() && (line.is_empty() || is_comment_or_field(&line)) {
            return Ok(());
        }
        if !self.config.strict && self.is_record() {
            self.note(WarningCode::UnterminatedEvent, "the last event lacks its blank line", out)?;
            return self.dispatch(None, out);
        }
        let offset = self.begun.unwrap_or(self.offset);
        let data = self.data.as_slice();
        let raw = match (data, line.is_empty()) {
            ([], _) => &line,
            (data, true) => data,
            // The last line has no end of its own.
            ([data @ .., _], false) => data,
        };
        // What whole records say does not depend on what would have come after them. A line that
        // left no data is none: it has been passed over.
        let whole = if self.config.strict || data.is_empty() { 0 } else { records_length(raw) };
        let (records, raw) = (raw.before(whole), raw.after(whole));
        if !records.is_empty() {
            out(Framed::Frame(self.frame(records, offset)))?;
        }
        let fault = Fault::new(FaultKind::Truncated, "the input ended inside an event", offset);
        out(Framed::Fault(fault.with_raw(raw)))
    }
}

/// Returns a line at an offset without what stands before its field, if something does, and a note of
/// that.
fn without_others(line: &[u8], offset: u64) -> Option<(&[u8], Fault<'static>)> {
    let field = line.trim_ascii_start();
    let data = field.strip_prefix(b"data:").map_or(&[][..], <[u8]>::trim_ascii_start);
    if field.len() == line.len() || !(data.starts_with(b"{") || data.starts_with(DONE)) {
        return without_progress(line, offset);
    }
    let message = "white space before a field was passed over";
    Some((field, Fault::note(WarningCode::LeadingText, message, offset)))
}

/// Returns the length of the objects that a text begins with.
fn records_length(text: &[u8]) -> usize {
    let objects = json::records(text).take_while(|record| record.get().starts_with('{'));
    objects.last().map_or(0, |record| json::place(text, record.get()).end)
}

/// Overwrites a text, and keeps its buffer.
fn set(text: &mut String, value: &[u8]) {
    text.clear();
    text.push_str(&lossy(value));
}

/// True if a last line without its end holds no data that could be lost.
fn is_comment_or_field(line: &[u8]) -> bool {
    line.starts_with(b":")
        || FIELDS.iter().any(|field| line.starts_with(field) && *field != b"data")
}

/// The bytes around the data of an event that has one line of it, and perhaps a
/// name. In one stream they are the same for nearly all events.
#[derive(Default)]
struct Last {
    /// The bytes before the data; empty if the last event was of another kind.
    head: Vec<u8>,
    tail: &'static [u8],
    event_type: String,
}

impl Last {
    /// Keeps what surrounds `data` in `event`, the bytes of a whole event.
    fn note(&mut self, event: &[u8], data: &[u8], event_type: &str) {
        self.head.clear();
        let tails: [&'static [u8]; 2] = [b"\r\n\r\n", b"\n\n"];
        let Some(tail) = tails.into_iter().find(|tail| event.ends_with(tail)) else { return };
        let length = event.len().saturating_sub(data.len() + tail.len());
        let head = event.before(length);
        let is_name = |name: &[u8]| {
            let line = name.strip_suffix(b"\r").unwrap_or(name);
            line.starts_with(b"event:") && memchr2(b'\n', b'\r', line).is_none()
        };
        let is_plain =
            |name: &[u8]| name.is_empty() || name.strip_suffix(b"\n").is_some_and(is_name);
        if head.strip_suffix(b"data: ").is_some_and(is_plain) {
            self.head.extend_from_slice(head);
            self.tail = tail;
            event_type.clone_into(&mut self.event_type);
        }
    }

    /// Returns what surrounded the data of the last event, if it was of this
    /// kind.
    fn envelope(&self) -> Option<FrameEnvelope<'_>> {
        let Last { head, tail, event_type } = self;
        (!head.is_empty()).then_some(FrameEnvelope { head, event_type, tail })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, expected: &[&str]) {
        crate::frame::framer::tests::check(&FRAMING, true, input.as_bytes(), expected);
    }

    #[track_caller]
    fn check_lenient(input: &str, expected: &[&str]) {
        crate::frame::framer::tests::check(&FRAMING, false, input.as_bytes(), expected);
    }

    #[track_caller]
    fn check_sniff(input: &str, expected: Sniff) {
        assert_eq!(sniff(input.as_bytes()), expected, "{input:?}");
    }

    #[test]
    fn the_end_of_input_ends_no_event() {
        check("data: a\n\ndata: {}\n", &["|a", "!Truncated 9"]);
        check_lenient("data: a\n\ndata: {}", &["|a", "!Note 9", "|{}"]);
        check_lenient("data: {\"a\":", &["!Truncated 0"]);
        check_lenient("data: [DONE]", &["!Note 0", "|[DONE]"]);
    }

    #[test]
    fn a_record_without_data_ends_where_its_json_does() {
        check_lenient(
            "{\n \"a\": {\n }\n}\ndata: 1\n\n",
            &["!Note 0", "|{\n \"a\": {\n }\n}", "|1"],
        );
        check_lenient("{\ndata: 1\n\n", &["!Note 0", "|{", "|1"]);
        check_lenient("{\n\ndata: 1\n\n", &["!Note 0", "|{", "|1"]);
        check_lenient("{\n\"a\":", &["!Note 0", "!Truncated 0"]);
        check_lenient("{\"", &["!Note 0", "!Truncated 0"]);
    }

    #[test]
    fn the_data_of_an_event_counts_with_its_line_ends() {
        for (max_event, expected) in [(17, "|abcdefgh\nijklmnop"), (16, "!Limit 0")] {
            let mut framer = (FRAMING.framer)(FrameConfig { max_event, ..FrameConfig::default() });
            let mut got = String::new();
            let mut out = |framed: Framed<'_>| {
                got = match framed {
                    Framed::Frame(frame) => format!("|{}", frame.text()),
                    Framed::Fault(fault) => format!("!{:?} {}", fault.kind, fault.offset),
                    other => panic!("{other:?}"),
                };
                Ok(())
            };
            framer.feed(b"data:abcdefgh\ndata:ijklmnop\n\n", &mut out).unwrap();
            assert_eq!(got, expected, "at most {max_event}");
        }
    }

    #[test]
    fn sniffing() {
        check_sniff("data: {", Sniff::Yes);
        check_sniff("data:{\"a\"", Sniff::Yes);
        check_sniff("\n\ndata: [DONE]", Sniff::Likely);
        check_sniff("data: [DONE]\n", Sniff::Yes);
        check_sniff("data:[DONE]<think>", Sniff::More);
        check_sniff(": OPENROUTER PROCESSING\n\n", Sniff::Yes);
        check_sniff("event: output\nid: 1\n", Sniff::Yes);
        check_sniff("da", Sniff::More);
        check_sniff("data:", Sniff::Likely);
        check_sniff("event: message_sta", Sniff::Likely);
        check_sniff("event: a party on Friday", Sniff::More);
        check_sniff("data: my answer", Sniff::More);
        check_sniff("data: my answer\nis 5", Sniff::No);
        check_sniff("dates: 5", Sniff::No);
        check_sniff("{", Sniff::No);
    }
}
