//! The decoder that detects which format its frames are in.

use std::io;

use crate::cut::Cut as _;
use crate::detect::WINDOW;
use crate::detect::formats::KnownFormats;
use crate::detect::record::{inside, see_record};
use crate::detect::stray::{Stray, StrayRecord};
use crate::event::{Code, Failure, Kind, mask};
use crate::format::format::{Decoder, Format, Record};
use crate::format::repeatable::Repeatable;
use crate::format::support::emit::EventOut;
use crate::format::table::FORMATS;
use crate::frame::{Frame, Framing, Header};
use crate::json::{self, Str};

/// A decoder of any format.
pub(crate) struct AutoDecoder {
    known: KnownFormats,
    /// True if our own events are found out.
    finds_ours: bool,
    /// The frames that did not show the format.
    held: Vec<HeldFrame>,
    /// The format, once it is known.
    chosen: Option<&'static Format>,
    state: DecoderState,
}

enum DecoderState {
    Open,
    Chosen(Box<dyn Decoder>),
    /// Plain text, as nothing else was found.
    Text(Box<dyn Decoder>, Stray),
    /// An error body came first. A record after it may still show a format.
    Errors(Box<dyn Decoder>),
    Failed,
}

/// A buffered frame that came before the format was known.
struct HeldFrame {
    framing: &'static Framing,
    event_type: String,
    headers: Vec<Header<'static>>,
    data: Vec<u8>,
    id: String,
    offset: u64,
}

impl HeldFrame {
    fn new(frame: &Frame<'_>) -> Self {
        HeldFrame {
            framing: frame.framing,
            event_type: frame.event_type.to_owned(),
            headers: frame.headers.iter().map(Header::owned).collect(),
            data: frame.data.to_vec(),
            id: frame.id.to_owned(),
            offset: frame.offset,
        }
    }

    fn frame(&self) -> Frame<'_> {
        Frame {
            event_type: &self.event_type,
            headers: &self.headers,
            id: &self.id,
            ..Frame::new(self.framing, &self.data, self.offset)
        }
    }
}

/// The most records that may come before the first one that is in a known
/// format.
pub(super) const MOST_UNKNOWN: usize = 8;

/// True if a frame is none that a format could be known by.
pub(super) fn is_nothing(frame: &Frame<'_>) -> bool {
    frame.is_done() || (frame.data.trim_ascii().is_empty() && frame.headers.is_empty())
}

/// True if these frames are all that is looked at.
fn is_enough(held: &[HeldFrame]) -> bool {
    let size: usize = held.iter().map(|held| held.data.len()).sum();
    held.len() >= MOST_UNKNOWN || size >= WINDOW
}

/// The error of an input that is what a provider is sent.
const REQUEST: &str = "this is a request, not an answer: send it (`curl -sSN \"$URL\" -H \
                       @headers --json @FILE`) and read what comes back";

/// True if a record holds a conversation and no answer, as requests do.
fn is_request(data: &[u8]) -> bool {
    let Ok(json) = std::str::from_utf8(data).map(str::trim_start) else { return false };
    let mut requests = FORMATS.iter().filter_map(|row| row.request);
    // The first of what was said, and by whom.
    let is_said = |list: &str| {
        json::member(list, "0").is_some_and(|said| {
            let has = |key: &&str| json::member(said, key).is_some();
            said.starts_with('{') && ["role", "parts", "content"].iter().any(has)
        })
    };
    json.starts_with('{') && requests.any(|row| json::member(json, row.list).is_some_and(is_said))
}

impl AutoDecoder {
    /// Returns a decoder that takes the format that is asked for, or detects it, our own events if
    /// `finds_ours`.
    pub(crate) fn new(known: KnownFormats, finds_ours: bool) -> Self {
        AutoDecoder { known, finds_ours, held: Vec::new(), chosen: None, state: DecoderState::Open }
    }

    /// A message has ended: a record of another provider's, which is none of this one's, shows the
    /// format of those that follow.
    pub(crate) fn reopen(&mut self, frame: &Frame<'_>) {
        let is_providers = |row: &&Format| self.known.is_providers(row);
        let Some(chosen) =
            self.chosen.filter(|row| self.known.asked.is_none() && is_providers(row))
        else {
            return;
        };
        let is_anothers = see_record(frame, |record| {
            !self.known.is_of(chosen, record)
                && self.known.of(record).next().as_ref().is_some_and(is_providers)
        });
        if is_anothers {
            (self.chosen, self.state) = (None, DecoderState::Open);
        }
    }

    /// Returns the format, once it is known.
    pub(crate) fn format(&self) -> Option<&'static Format> {
        self.chosen
    }

    /// True if a record of the format, or of any if it is not known yet, stands in a line after
    /// something else.
    pub(crate) fn finds_record(&self, line: &[u8]) -> bool {
        let is_its = |record: &Record<'_>| match self.chosen {
            Some(format) => self.known.is_of(format, record),
            None => self.known.of_answer(record).is_some(),
        };
        inside(line, |record| is_its(record).then_some(())).is_some()
    }

    /// Returns the row of a stream that begins with this record: nothing if the
    /// record does not show it, and a message if the input looks like another
    /// format than the one that is asked for. An error is one in any format.
    fn choose(&self, record: &Record<'_>) -> Result<Option<&'static Format>, String> {
        let found = self.known.of(record).next();
        let Some(asked) = self.known.asked else {
            return match found.filter(|row| row.is_ours && !self.finds_ours) {
                Some(row) => Err(format!(
                    "these are events of toolstream: an answer that holds them is not trusted; if \
                     you have made them yourself, `-f {}` reads them",
                    row.name
                )),
                None => Ok(found),
            };
        };
        match found {
            _ if self.known.is_of(asked, record) => Ok(Some(asked)),
            Some(row) if row.is_of_errors() => Ok(found),
            Some(row) => Err(format!(
                "--format {} was asked for, but the input looks like {}",
                asked.name, row.name
            )),
            None if !record.is_object() => Ok(None),
            None => Ok(Some(asked)),
        }
    }

    fn fail(&mut self, message: &str, offset: u64, out: &mut EventOut<'_>) -> io::Result<()> {
        self.state = DecoderState::Failed;
        self.held.clear();
        out.emit(0, Kind::Error(Failure::new(Code::Unrecognised, message, Some(offset))))
    }

    /// Fails: what was taken for plain text holds a record.
    fn fail_at(&mut self, found: &StrayRecord, out: &mut EventOut<'_>) -> io::Result<()> {
        let message = format!(
            "a record of {} stands in what looked like plain text: pass its stream alone, \
             or say `-f text` if it is a part of the answer",
            found.format.name
        );
        self.fail(&message, found.offset, out)
    }

    /// Fails: no frame is in a known format.
    fn give_up(&mut self, out: &mut EventOut<'_>) -> io::Result<()> {
        let Some(first) = self.held.first() else { return Ok(()) };
        let offset = first.offset;
        if is_request(&first.data) {
            return self.fail(REQUEST, offset, out);
        }
        let is_whole = std::str::from_utf8(&first.data).is_ok_and(json::is_json);
        if let Some(format) = self.known.of_damaged(&first.data).filter(|_| !is_whole) {
            let message =
                format!("the first record begins as one of {}, and is not JSON", format.name);
            return self.fail(&message, offset, out);
        }
        let name = match first.event_type.as_str() {
            "" => String::new(),
            name => format!(" is named {} and", json::quote_start(&mask(name))),
        };
        let message = format!(
            "no known format; the first record{name} begins with {}. \
             `toolstream formats` lists the formats, `-f NAME` takes one, `-f FILE` one that you \
             describe, `-f text` is for plain text",
            json::quote_start(&mask(&String::from_utf8_lossy(&first.data)))
        );
        self.fail(&message, offset, out)
    }
}

impl Decoder for AutoDecoder {
    fn feed(&mut self, frame: Frame<'_>, out: &mut EventOut<'_>) -> io::Result<()> {
        let chosen = match &mut self.state {
            DecoderState::Chosen(decoder) => return decoder.feed(frame, out),
            DecoderState::Text(decoder, stray) => {
                let Some(found) = stray.find(frame.data) else { return decoder.feed(frame, out) };
                let text = frame.data.before(found.end);
                decoder.feed(Frame { data: text, ..frame }, out)?;
                return self.fail_at(&found, out);
            }
            DecoderState::Failed => return Ok(()),
            DecoderState::Open | DecoderState::Errors(_) => {
                see_record(&frame, |record| self.choose(record))
            }
        };
        let is_format = matches!(chosen, Ok(Some(row)) if !row.is_of_errors());
        match &mut self.state {
            DecoderState::Errors(errors) if is_format => errors.finish(out)?,
            DecoderState::Errors(errors) => return errors.feed(frame, out),
            _ => {}
        }
        let row = match chosen {
            Ok(Some(row)) => row,
            Ok(None) => {
                if is_nothing(&frame) {
                    return Ok(());
                }
                self.held.push(HeldFrame::new(&frame));
                return if is_enough(&self.held) { self.give_up(out) } else { Ok(()) };
            }
            Err(message) => return self.fail(&message, frame.offset, out),
        };
        let mut decoder = row.decode();
        self.chosen = Some(row).filter(|_| is_format);
        let offset = out.offset;
        // An error in a format that was asked for goes by its name.
        if let Some(asked) = self.known.asked.filter(|_| !is_format) {
            out.start(asked.name, None, None)?;
        }
        for held in std::mem::take(&mut self.held) {
            out.offset = held.offset;
            decoder.feed(held.frame(), out)?;
        }
        out.offset = offset;
        if frame.framing.is_text() && self.known.asked.is_none() {
            self.state = DecoderState::Text(decoder, Stray::new(frame.offset, self.known.clone()));
            return self.feed(frame, out);
        }
        decoder.feed(frame, out)?;
        self.state =
            if is_format { DecoderState::Chosen(decoder) } else { DecoderState::Errors(decoder) };
        Ok(())
    }

    fn finish(&mut self, out: &mut EventOut<'_>) -> io::Result<()> {
        match &mut self.state {
            DecoderState::Chosen(decoder) | DecoderState::Errors(decoder) => decoder.finish(out),
            DecoderState::Text(decoder, stray) => match stray.end() {
                Some(found) => self.fail_at(&found, out),
                None => decoder.finish(out),
            },
            DecoderState::Failed => Ok(()),
            DecoderState::Open => self.give_up(out),
        }
    }

    fn repeatable(&self) -> Option<&'static Repeatable> {
        match &self.state {
            DecoderState::Chosen(decoder) | DecoderState::Text(decoder, _) => decoder.repeatable(),
            _ => None,
        }
    }

    fn on_repeat(&mut self, text: &Str<'_>, counts: Option<&str>) {
        if let DecoderState::Chosen(decoder) = &mut self.state {
            decoder.on_repeat(text, counts);
        }
    }
}
