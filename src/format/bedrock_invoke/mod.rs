//! Amazon Bedrock InvokeModelWithResponseStream: each chunk holds, as base64, a
//! record of the format that the model itself speaks.
//!
//! Source: Amazon Bedrock API reference, "InvokeModelWithResponseStream", and
//! "Inference request parameters and response fields" of each model. The format
//! inside is found as that of any input is. Beside the model's own fields stand
//! Bedrock's, whose names begin with `amazon-bedrock-`.

mod turn;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::event::{Code, Emit, Event, Failure, Finish, Loose, Native, Start};
use crate::format::support::emit::Halves;
use crate::format::support::error::report_failure;
use crate::format::support::prelude::*;
use crate::format::support::usage::Meter;
use crate::format::{anthropic, error, openai_chat, openai_responses, rows};

pub(super) static FORMAT: Format = Format {
    aliases: &["bedrock-invoke-model", "invoke-model"],
    about: "Amazon Bedrock InvokeModelWithResponseStream, around any model's format",
    link: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html",
    evidence: &["bytes", "p"],
    sniff,
    request: Some(&turn::REQUEST),
    ..Format::new("bedrock-invoke", |_| Box::new(Invoke::default()))
};

/// The event that pieces of an answer come in.
pub(super) const CHUNK: &str = "chunk";

/// A chunk that holds an object, not an agent's words: these come without
/// padding, and hardly ever look like a model's record.
fn sniff(record: &Record) -> bool {
    if !record.has_headers || record.event_type != CHUNK || record.has("attribution") {
        return false;
    }
    let bytes = record.text("bytes").and_then(|text| BASE64.decode(text).ok());
    let text = bytes.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
    let Some(text) = text.map(str::trim_ascii) else { return false };
    let is_object = text.starts_with('{') && json::is_json(text);
    let inner = record.inside(text);
    let is_known = || known(&inner).is_some_and(|row| !row.is_of_errors());
    is_object && (record.has("p") || is_known())
}

/// The formats of the models on Bedrock; an error may stand in place of any.
static MODELS: [&Format; 14] = [
    &rows::BEDROCK_CONVERSE,
    &rows::BEDROCK_TITAN,
    &rows::BEDROCK_LLAMA,
    &rows::BEDROCK_MISTRAL,
    &anthropic::FORMAT,
    &rows::COHERE,
    &rows::COHERE_V1,
    &rows::TGI,
    &rows::AI21_J2,
    &rows::ANTHROPIC_COMPLETIONS,
    &openai_responses::FORMAT,
    &rows::OPENAI_COMPLETIONS,
    &openai_chat::FORMAT,
    &error::FORMAT,
];

/// The format that a record is in.
fn known(record: &Record) -> Option<&'static Format> {
    MODELS.into_iter().find(|row| row.accepts(record))
}

payload! {
    /// A chunk. Its padding, `p`, hides how long it is.
    struct InvokeChunk<'a> {
        bytes: Option<Str<'a>>,
    }
}

const METRICS: &str = "amazon-bedrock-invocationMetrics";
const GUARDRAIL: &str = "amazon-bedrock-guardrailAction";
const TRACE: &str = "amazon-bedrock-trace";

/// Tokens read from a cache or written to one are not in `inputTokenCount`.
const USAGE: &[CountRule] = &[
    ("inputTokenCount", Op::Adds, &[Field::Input]),
    ("cacheReadInputTokenCount", Op::Adds, &[Field::Input, Field::Cached]),
    ("cacheWriteInputTokenCount", Op::Adds, &[Field::Input, Field::CacheWrite]),
    ("outputTokenCount", Op::Is, &[Field::Output]),
];

#[derive(Default)]
struct Invoke {
    /// The decoder of the format inside, once it's known.
    inner: Option<Box<dyn Decoder>>,
    /// The first words of a chunk that did not decide the format.
    stranger: Option<String>,
    message: InvokeMessage,
}

/// Bedrock's own state of the open message.
struct InvokeMessage {
    is_open: bool,
    /// True if the model has sent its usage.
    has_usage: bool,
    /// True if a guardrail has stepped in.
    is_blocked: bool,
    /// The usage that Bedrock itself reports.
    metrics: Meter,
}

impl Default for InvokeMessage {
    fn default() -> Self {
        InvokeMessage {
            is_open: false,
            has_usage: false,
            is_blocked: false,
            metrics: Meter::new(USAGE),
        }
    }
}

impl Decoder for Invoke {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_failure() {
            if !std::mem::replace(&mut self.message.is_open, true) {
                out.start(FORMAT.name, None, None)?;
            }
            return report_failure(&frame, out);
        }
        if frame.event_type != CHUNK {
            return out.unknown(&frame, frame.event_type);
        }
        read!(&frame, out, |chunk: InvokeChunk| {
            match chunk.bytes.as_ref().map(|bytes| BASE64.decode(bytes.as_str())) {
                Some(Ok(data)) => {
                    self.record(&Frame { event_type: "", headers: &[], ..frame.with(&data) }, out)
                }
                Some(Err(_)) => out.malformed(&frame, "the bytes of a chunk are not base64"),
                None => out.malformed(&frame, "a chunk has no bytes"),
            }
        })
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        let Invoke { inner, stranger, message } = self;
        let Some(inner) = inner else {
            let Some(text) = stranger else { return Ok(()) };
            out.start(FORMAT.name, None, None)?;
            let message =
                format!("the chunks are of no known format; the first one begins with {text}");
            return out.emit(0, Kind::Error(Failure::new(Code::Unrecognised, &message, None)));
        };
        out.intercept(|event, emit| message.feed(event, emit), |out| inner.finish(out))?;
        message.finish_usage(out)?;
        // A guardrail that steps in ends the message, whatever the model says of it.
        if message.is_open && message.is_blocked {
            out.emit(0, Kind::Finish(filtered()))?;
            out.end()?;
        }
        Ok(())
    }
}

impl Invoke {
    /// A record of the model's format, with what Bedrock has put beside it.
    fn record(&mut self, frame: &Frame, out: &mut EventOut) -> Done {
        let record = Record::new(frame);
        let Invoke { inner, stranger, message } = self;
        if let Some(json) = record.get(METRICS) {
            message.metrics.feed(json);
        }
        message.is_blocked |= record.text(GUARDRAIL).is_some_and(|action| action == BLOCKED);
        if let Some(json) = record.get(TRACE).filter(|_| message.is_open) {
            out.block(0, "trace", json)?;
        }
        let is_bedrocks =
            record.is_object() && record.names().all(|name| name.starts_with("amazon-bedrock-"));
        if is_bedrocks && message.is_open {
            return Ok(());
        }
        if inner.is_none() {
            *inner = known(&record).map(|row| row.decode());
        }
        match inner {
            Some(inner) => out
                .intercept(|event, emit| message.feed(event, emit), |out| inner.feed(*frame, out)),
            None => {
                stranger.get_or_insert_with(|| crate::json::quote_start(&frame.text()));
                out.unknown(frame, CHUNK)
            }
        }
    }
}

/// A guardrail's action, if it has stepped in.
const BLOCKED: &str = "INTERVENED";

impl InvokeMessage {
    /// Passes on the events of the model's decoder, and adds what it doesn't know.
    fn feed(&mut self, event: &Event, emit: &mut Emit) -> Done {
        match event.kind {
            Kind::Start(start) => {
                self.is_open = true;
                emit(&Kind::Start(Start { format: FORMAT.name, ..start }).into())?;
                let piece = Piece::whole(start.format);
                emit(&Kind::Loose(Loose::Native(Native { of: Of::Format, piece })).into())
            }
            Kind::Usage(_) => {
                self.has_usage = true;
                emit(event)
            }
            // That of the guardrail comes at the end.
            Kind::Finish(_) if self.is_blocked => Ok(()),
            Kind::Loose(Loose::End) => {
                self.finish_usage(&mut EventOut::new(emit, &mut Halves::default(), 0))?;
                if self.is_blocked {
                    emit(&Kind::Finish(filtered()).into())?;
                }
                *self = InvokeMessage::default();
                emit(event)
            }
            _ => emit(event),
        }
    }

    /// Bedrock's own count, if the model gave none.
    fn finish_usage(&mut self, out: &mut EventOut) -> Done {
        if self.is_open && !self.has_usage { self.metrics.finish(out) } else { Ok(()) }
    }
}

/// Returns the finish of a message that a guardrail has stopped.
fn filtered() -> Finish<'static> {
    Finish { raw: Some(BLOCKED), ..Finish::new(FinishReason::ContentFilter) }
}
