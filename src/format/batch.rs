//! Results of batches: a line for each request, which holds the body of its answer.
//!
//! Source: Anthropic, "Message Batches"; OpenAI API reference, "The request output object"; Gemini
//! API, "Batch mode", and Vertex AI, "Batch inference". A result's own id names its message: it says
//! which request was answered, and results come in any order.

use crate::event::{Emit, Event, Kind, Loose, Start};
use crate::format::error::FORMAT as ERRORS;
use crate::format::support::prelude::*;
use crate::format::{anthropic, gemini, openai_chat, openai_responses, rows};

pub(super) static FORMAT: Format = Format {
    aliases: &["batch-results"],
    about: "results of batches of Anthropic, OpenAI and Gemini: a body a line",
    link: "https://docs.anthropic.com/en/docs/build-with-claude/batch-processing",
    evidence: &["custom_id", "result", "response"],
    sniff: |record| part(record).is_some(),
    ..Format::new("batch", |_| Box::new(Batch))
};

/// The formats of bodies; an error may stand in place of any.
static BODIES: [&Format; 7] = [
    &anthropic::FORMAT,
    &rows::COHERE,
    &rows::COHERE_V1,
    &gemini::FORMAT,
    &openai_responses::FORMAT,
    &rows::OPENAI_COMPLETIONS,
    &openai_chat::FORMAT,
];

/// The place of a result's id.
const ID: &str = "custom_id|key|id";

/// What a result holds: the body of an answer, or why there is none.
enum BatchPart<'r> {
    Body(&'r str),
    Error(&'r str),
    /// Nothing: what became of the request, in a word.
    Nothing(&'r str),
}

/// Returns what a record holds, if it is a result.
fn part<'r>(record: &'r Record) -> Option<BatchPart<'r>> {
    let object = |place| record.at(place).filter(|json: &&str| json.starts_with('{'));
    let failure = |place| object(place).filter(|json| !error::is_nothing(json));
    if record.has("custom_id") {
        // What says that the request failed counts more than a body beside it.
        let error = failure("result.error").or_else(|| failure("error"));
        let word = record.at("result.type").filter(|word| *word != "\"succeeded\"");
        let is_bad = record
            .at("response.status_code")
            .and_then(error::number)
            .is_some_and(|code| code / 100 != 2);
        let body = object("result.message").or_else(|| object("response.body"));
        let body = body.map(if is_bad { BatchPart::Error } else { BatchPart::Body });
        let failed = error.map(BatchPart::Error).or(word.map(BatchPart::Nothing));
        return failed.or(body);
    }
    let is_result = record.has("key") || (record.has("request") && record.has("status"));
    let body = object("response").filter(|json| json::member(json, "candidates").is_some());
    let part = failure("error").map(BatchPart::Error).or(body.map(BatchPart::Body));
    part.filter(|_| is_result)
}

struct Batch;

impl Decoder for Batch {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return Ok(());
        }
        let record = Record::new(&frame);
        let id = ID.split('|').find_map(|key| record.text(key));
        match part(&record) {
            Some(BatchPart::Body(json)) => body(&frame.with(json.as_bytes()), id.as_deref(), out),
            Some(BatchPart::Error(json)) => {
                out.start(FORMAT.name, id.as_deref(), None)?;
                error::report(json, out)?;
                out.end()
            }
            Some(BatchPart::Nothing(word)) => {
                out.start(FORMAT.name, id.as_deref(), None)?;
                let word = word.trim_matches('"');
                let message = format!("the request was {word}");
                error::report_as(Some(&message), Some(word), "null", out)?;
                out.end()
            }
            None => out.unknown(&frame, "unknown"),
        }
    }

    fn finish(&mut self, _: &mut EventOut) -> Done {
        Ok(())
    }
}

/// Reads the body of an answer, which is a message of its own.
fn body(frame: &Frame, id: Option<&str>, out: &mut EventOut) -> Done {
    let record = Record::new(frame);
    let row = BODIES.into_iter().chain([&ERRORS]).find(|row| row.accepts(&record));
    let Some(row) = row else { return out.unknown(frame, "unknown") };
    let mut inner = row.decode();
    let mut is_open = false;
    let mut rename = |event: &Event, emit: &mut Emit| match event.kind {
        Kind::Start(start) => {
            is_open = true;
            let id = id.or(start.id);
            emit(&Kind::Start(Start { format: FORMAT.name, id, ..start }).into())
        }
        Kind::Loose(Loose::End) => {
            is_open = false;
            emit(event)
        }
        _ => emit(event),
    };
    out.intercept(&mut rename, |out| {
        inner.feed(*frame, out)?;
        inner.finish(out)
    })?;
    if is_open { out.end() } else { Ok(()) }
}
