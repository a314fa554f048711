//! Replicate: the events of a stream, whose data is plain text, and bodies of
//! predictions.
//!
//! Source: Replicate's documentation, "Streaming output" and "Get a
//! prediction". A stream is `output` events, `logs` beside them, perhaps an
//! `error`, and `done`. White space at the beginning of the data is the
//! model's.

use serde_json::value::RawValue;

use crate::event::{Block, Kind};
use crate::format::support::many::each;
use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    about: "Replicate, stream of plain text and prediction body",
    link: "https://replicate.com/docs/topics/predictions/streaming",
    evidence: &["urls", "version", "status", "output"],
    sniff: |record| record.event_type == "output" || is_prediction(record),
    ..Format::new("replicate", |_| Box::new(Replicate { message: Lifecycle::new(&FORMAT, USAGE) }))
};

fn is_prediction(record: &Record) -> bool {
    let has_urls = record.at("urls.get|urls.stream").is_some();
    (has_urls || record.has("version")) && record.has("status") && record.get("output").is_some()
}

const USAGE: &[Row] = &[
    ("input_token_count", Op::Is, &[Field::Input]),
    ("output_token_count", Op::Is, &[Field::Output]),
    ("predict_time", Op::Is, &[]),
    ("total_time", Op::Is, &[]),
];

payload! {
    /// A prediction, or the data of `done`.
    struct Prediction<'a> {
        id: Option<Str<'a>>,
        model: Option<Str<'a>>,
        /// Pieces of text, or all of it.
        output: Option<&'a RawValue>,
        error: Option<&'a RawValue>,
        logs: Option<Str<'a>>,
        metrics: Option<&'a RawValue>,
        status: Option<Str<'a>>,
        /// `done`: nothing, `error` or `canceled`.
        reason: Option<Str<'a>>,
    }
}

struct Replicate {
    message: Lifecycle,
}

impl Decoder for Replicate {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        match frame.event_type {
            "output" => {
                self.message.begin(None, None, out)?;
                out.text(0, &Str::from_borrowed(frame.data))
            }
            "logs" => {
                self.message.begin(None, None, out)?;
                logs(&Str::from_borrowed(frame.data), out)
            }
            "error" => {
                self.message.begin(None, None, out)?;
                error::report(&frame.text(), out)
            }
            "done" => {
                self.message.begin(None, None, out)?;
                read!(&frame, out, |done: Prediction| {
                    out.finish_if(0, done.reason.as_ref()).map(|_| ())
                })?;
                self.message.end(out)
            }
            "" | "message" => read!(&frame, out, |prediction: Prediction| {
                self.prediction(&frame, prediction, out)
            }),
            name => out.unknown(&frame, name),
        }
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.message.finish(out)
    }
}

impl Replicate {
    fn prediction(&mut self, frame: &Frame, prediction: &Prediction, out: &mut EventOut) -> Done {
        let status = prediction.status.text();
        if status.is_none() {
            return out.unknown(frame, frame.event_type);
        }
        self.message.cut(out)?;
        self.message.begin(prediction.id.non_empty(), prediction.model.non_empty(), out)?;
        for json in prediction.output.into_iter().flat_map(|json| each(json.get())) {
            match json::read::<Str<'_>>(json) {
                Ok(text) => out.text(0, &text)?,
                Err(_) => out.block(0, "output", json)?,
            }
        }
        prediction.logs.iter().try_for_each(|text| logs(text, out))?;
        prediction.metrics.iter().for_each(|metrics| self.message.meter.pick(metrics.get()));
        if prediction.error.is_some() {
            error::report(&frame.text(), out)?;
        }
        match status {
            Some("starting" | "processing") => Ok(()),
            _ => {
                out.finish_if(0, prediction.status.as_ref())?;
                self.message.end(out)
            }
        }
    }
}

/// Emits what the model's program prints beside its answer.
fn logs(text: &Str, out: &mut EventOut) -> Done {
    let Some(text) = text.non_empty() else { return Ok(()) };
    out.emit(0, Kind::Block(Block { name: "logs", text, attributes: None }))
}
