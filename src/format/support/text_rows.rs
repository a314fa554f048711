//! Formats of which every record holds a piece of text at one place, and the
//! last one why the model stopped. A row holds the places of these things; there
//! are no calls. A body is a stream of one record.

use crate::event::WarningCode;
use crate::format::format::{Decoder, Format, Record};
use crate::format::support::emit::{Done, EventOut};
use crate::format::support::error;
use crate::format::support::lifecycle::Lifecycle;
use crate::format::support::object::Places;
use crate::format::support::payload::OptionalStr;
use crate::format::support::usage::Row;
use crate::frame::Frame;
use crate::json;
use crate::json::Str;

/// The places of the fields in the records of one format; empty for those that it has not.
pub(crate) struct Shape {
    pub(crate) row: &'static Format,
    pub(crate) id: Places,
    pub(crate) model: Places,
    pub(crate) text: Places,
    /// A flag: true if the text is a marker of the model's, and not for people.
    pub(crate) hidden: Places,
    pub(crate) finish: Places,
    pub(crate) stop_sequence: Places,
    /// All objects that hold counts; the empty path is the record itself.
    pub(crate) usage: &'static [&'static str],
    pub(crate) counts: &'static [Row],
    pub(crate) end: End,
}

/// The mark of a message's last record.
pub(crate) enum End {
    /// It has the reason to stop.
    Reason,
    /// Something stands here that isn't false.
    At(Places),
    /// Not at all: the input ends.
    OfInput,
}

impl Shape {
    /// A format that has nothing but a reason to stop.
    pub(crate) fn of(row: &'static Format) -> Self {
        Shape {
            row,
            id: "",
            model: "",
            text: "",
            hidden: "",
            finish: "",
            stop_sequence: "",
            usage: &[],
            counts: &[],
            end: End::Reason,
        }
    }
}

pub(crate) struct Simple {
    shape: Shape,
    message: Lifecycle,
}

impl Decoder for Simple {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return self.done(out);
        }
        let text = frame.text();
        let frame = frame.with(text.as_bytes());
        let record = Record::new(&frame);
        if frame.event_type == "error" || error::is_error(&record) {
            self.begin(&record, out)?;
            self.message.fail(&text, out)?;
            return self.message.end(out);
        }
        if record.at(self.shape.text).is_some() {
            return self.record(&record, &text, out);
        }
        match record.text("type").as_deref() {
            Some("ping") => Ok(()),
            _ if json::read::<()>(&text).is_err() => out.malformed(&frame, "a record is not JSON"),
            kind => out.unknown(&frame, kind.unwrap_or(frame.event_type)),
        }
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        match self.shape.end {
            End::OfInput => self.message.end(out),
            End::Reason | End::At(_) => self.message.finish(out),
        }
    }
}

impl Simple {
    pub(crate) fn boxed(shape: Shape) -> Box<dyn Decoder> {
        let message = Lifecycle::new(shape.row, shape.counts);
        Box::new(Simple { shape, message })
    }

    fn begin(&mut self, record: &Record, out: &mut EventOut) -> Done {
        let (id, model) = (string(record, self.shape.id), string(record, self.shape.model));
        let [id, model] = [&id, &model].map(|name| name.non_empty());
        self.message.begin(id, model, out)
    }

    fn record(&mut self, record: &Record, json: &str, out: &mut EventOut) -> Done {
        self.begin(record, out)?;
        if record.at(self.shape.hidden) != Some("true") {
            match string(record, self.shape.text) {
                Some(text) => out.text(0, &text)?,
                None => out.warn(
                    WarningCode::WrongType,
                    "a piece of text that is no string was left out",
                )?,
            }
        }
        for path in self.shape.usage {
            let counts = if path.is_empty() { Some(json) } else { record.at(path) };
            counts.into_iter().for_each(|counts| self.message.meter.pick(counts));
        }
        let finish = string(record, self.shape.finish);
        let reason = finish.reason();
        if let Some(raw) = reason {
            let sequence = string(record, self.shape.stop_sequence);
            out.finish(0, raw, sequence.non_empty())?;
        }
        let is_last = match self.shape.end {
            End::Reason => reason.is_some(),
            End::At(places) => record.at(places).is_some_and(|json| json != "false"),
            End::OfInput => false,
        };
        if is_last { self.message.end(out) } else { Ok(()) }
    }

    /// `[DONE]`, which some gateways send after all formats.
    fn done(&mut self, out: &mut EventOut) -> Done {
        if !self.message.is_open() {
            return Ok(());
        }
        if !matches!(self.shape.end, End::OfInput) {
            out.warn(WarningCode::NoFinishReason, "`[DONE]` came without a finish reason")?;
        }
        self.message.end(out)
    }
}

/// The string that stands at the first place with a value.
fn string<'a>(record: &Record<'a>, places: Places) -> Option<Str<'a>> {
    json::read(record.at(places)?).ok()
}
