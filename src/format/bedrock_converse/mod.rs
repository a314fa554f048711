//! Amazon Bedrock Converse: the events of a stream, and complete answers.
//!
//! Source: Amazon Bedrock API reference, "ConverseStream" and "Converse". A
//! stream is `messageStart`, blocks of content, `messageStop` with the reason,
//! and `metadata` with the usage. In an AWS event stream the event's name is a
//! header; elsewhere (a log of what an SDK gave, Nova's own format) it's the
//! one key of an object. Text and thinking have no `contentBlockStart`.

mod blocks;
mod payload;
pub(super) mod reply;
pub(super) mod turn;

use serde_json::value::RawValue;

use crate::event::WarningCode;
use crate::format::support::prelude::*;
use blocks::Blocks;
use payload::{Body, Event};

pub(super) static FORMAT: Format = Format {
    aliases: &["bedrock-converse-stream", "converse", "nova"],
    about: "Amazon Bedrock Converse, stream and body",
    link: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html",
    evidence: &[
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
        "output",
        "stopReason",
    ],
    sniff,
    request: Some(&turn::REQUEST),
    ..Format::new("bedrock-converse", || {
        Box::new(Converse { message: Lifecycle::new(&FORMAT, USAGE), blocks: Blocks::default() })
    })
};

/// The events of a stream, in their order.
const EVENTS: [&str; 6] = [
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    METADATA,
];
/// Other formats have an event of this name.
const METADATA: &str = "metadata";

fn sniff(record: &Record) -> bool {
    if record.has_headers {
        return EVENTS.contains(&record.event_type);
    }
    let has_event = EVENTS.iter().any(|name| *name != METADATA && is_object(record.get(name)));
    has_event || record.at("metadata.usage.inputTokens").is_some() || is_body(record)
}

fn is_body(record: &Record) -> bool {
    record.at("output.message.content").is_some()
        || (record.has("stopReason") && is_object(record.get("output")))
}

fn is_object(json: Option<&str>) -> bool {
    json.is_some_and(|json| json.starts_with('{'))
}

/// Tokens read from a cache or written to one are not in `inputTokens`; both
/// have two spellings, and often come in both.
const USAGE: &[Row] = &[
    ("inputTokens", Op::Adds, &[Field::Input]),
    ("cacheReadInputTokens|cacheReadInputTokenCount", Op::Adds, &[Field::Input, Field::Cached]),
    (
        "cacheWriteInputTokens|cacheWriteInputTokenCount",
        Op::Adds,
        &[Field::Input, Field::CacheWrite],
    ),
    ("outputTokens", Op::Is, &[Field::Output]),
    ("totalTokens", Op::Is, &[Field::Total]),
];

struct Converse {
    message: Lifecycle,
    blocks: Blocks,
}

impl Decoder for Converse {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return Ok(());
        }
        if frame.is_failure() {
            self.failed(out)?;
            return error::report_failure(&frame, out);
        }
        match frame.headers {
            [] => self.record(&frame, out),
            _ => self.event(frame.event_type, &frame, out),
        }
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        // Some servers in front of Bedrock send no `metadata`.
        self.blocks.cut(out)?;
        self.message.finish(out)
    }
}

impl Converse {
    /// A record without a name: events under their names, or a body.
    fn record(&mut self, frame: &Frame, out: &mut EventOut) -> Done {
        let record = Record::new(frame);
        let mut is_known = false;
        for name in EVENTS {
            if let Some(json) = record.get(name) {
                is_known = true;
                self.event(name, &frame.with(json.as_bytes()), out)?;
            }
        }
        if is_known {
            return Ok(());
        }
        if record.has("output") || record.has("stopReason") {
            return read!(frame, out, |body: Body| self.body(frame, body, out));
        }
        let text = frame.text();
        let exception =
            json::members(&text).into_iter().find(|(name, _)| name.ends_with("Exception"));
        if let Some((name, value)) = exception {
            self.failed(out)?;
            return error::report_named(&name, value.get(), out);
        }
        if error::is_error(&record) {
            self.failed(out)?;
            return error::report(&text, out);
        }
        match text.trim_ascii() {
            "" => Ok(()),
            text if json::is_json(text) => {
                out.unknown(frame, record.names().next().unwrap_or("unknown"))
            }
            _ => out.malformed(frame, "a record is not JSON"),
        }
    }

    fn event(&mut self, name: &str, frame: &Frame, out: &mut EventOut) -> Done {
        match name {
            "messageStart" => return self.begin(out),
            // Protocols of several events begin with it; it has no content here.
            "initial-response" => return Ok(()),
            _ if !EVENTS.contains(&name) => return out.unknown(frame, name),
            "contentBlockStop" | "messageStop" | "metadata" if self.message.passes_over(out)? => {
                return Ok(());
            }
            _ => self.begin_late(out)?,
        }
        read!(frame, out, |event: Event| match name {
            "contentBlockStart" => self.blocks.start(frame, event, out),
            "contentBlockDelta" => self.blocks.delta(frame, event, out),
            "contentBlockStop" => self.blocks.stop(event, out),
            "messageStop" => {
                if let Some(json) = event.additional_model_response_fields {
                    out.block(0, "additionalModelResponseFields", json.get())?;
                }
                self.stop(out)?;
                if out.finish_if(0, event.stop_reason.as_ref())? {
                    return Ok(());
                }
                out.warn(WarningCode::NoFinishReason, "`messageStop` came without a stop reason")
            }
            _ => self.metadata(event, out),
        })
    }

    /// Emits the cost of the message and the verdict of a guardrail: its last event.
    fn metadata(&mut self, event: &Event, out: &mut EventOut) -> Done {
        self.usage(event.usage);
        trace(event.trace, out)?;
        if self.message.state == State::Stopped { self.end(out) } else { Ok(()) }
    }

    fn usage(&mut self, usage: Option<&RawValue>) {
        usage.into_iter().for_each(|usage| self.message.meter.feed(usage.get()));
    }

    /// A complete answer.
    fn body(&mut self, frame: &Frame, body: &Body, out: &mut EventOut) -> Done {
        self.begin(out)?;
        let has_reason = body.stop_reason.reason().is_some();
        let mut whole = |json: &RawValue, out: &mut EventOut| {
            let frame = frame.part(json);
            self.blocks.whole(&frame, json.get(), out)
        };
        let mut content = body.content().iter();
        match has_reason {
            true => content.try_for_each(|json| whole(json, out))?,
            false => out.unclosed(|out| content.try_for_each(|json| whole(json, out)))?,
        }
        if let Some(json) = body.additional_model_response_fields {
            out.block(0, "additionalModelResponseFields", json.get())?;
        }
        trace(body.trace, out)?;
        self.usage(body.usage);
        match out.finish_if(0, body.stop_reason.as_ref())? {
            true => self.end(out),
            false => {
                self.blocks = Blocks::default();
                self.message.end_unfinished(out)
            }
        }
    }

    /// `messageStop`.
    fn stop(&mut self, out: &mut EventOut) -> Done {
        self.message.stop();
        self.blocks.cut(out)
    }

    /// A message begins. One that was open ends now: well, if it had stopped.
    fn begin(&mut self, out: &mut EventOut) -> Done {
        match self.message.state {
            State::Closed => {}
            State::Stopped | State::Failed => self.end(out)?,
            State::Open => {
                self.blocks.cut(out)?;
                self.message.cut(out)?;
            }
        }
        self.blocks = Blocks::default();
        self.message.begin(None, None, out)
    }

    /// A part of a message came: if none has begun, the input's beginning is
    /// missing.
    fn begin_late(&mut self, out: &mut EventOut) -> Done {
        let warning =
            (WarningCode::MissingMessageStart, "a part of a message came without `messageStart`");
        self.message.begin_late(None, warning, out)
    }

    /// The provider is about to be quoted with an error.
    fn failed(&mut self, out: &mut EventOut) -> Done {
        self.message.begin(None, None, out)?;
        self.message.state = State::Failed;
        Ok(())
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.blocks.cut(out)?;
        self.blocks = Blocks::default();
        self.message.end(out)
    }
}

/// Emits a guardrail's trace: nothing else in the message mentions it.
fn trace(json: Option<&RawValue>, out: &mut EventOut) -> Done {
    match json.map(RawValue::get) {
        None | Some("{}") => Ok(()),
        Some(json) => out.block(0, "trace", json),
    }
}
