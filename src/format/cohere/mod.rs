//! Cohere's Chat API, version 2: the events of a stream, and complete bodies.
//!
//! Source: Cohere API reference, "Chat (V2)" and "Chat with Streaming (V2)". A
//! stream is `message-start`, blocks of content, a plan, calls and citations,
//! each with its start, deltas and end, and `message-end`; content and calls
//! are counted apart. In deltas stands one object where bodies have an array.

mod payload;
pub(super) mod reply;
mod turn;

use crate::event::{Key, WarningCode};
use payload::{Event, Message};

use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["cohere-v2"],
    about: "Cohere Chat, version 2, stream and body",
    link: "https://docs.cohere.com/v2/reference/chat-stream",
    evidence: &["delta", "message", "finish_reason"],
    sniff,
    request: Some(&turn::REQUEST),
    ..Format::new("cohere", || Box::new(Cohere { message: Lifecycle::new(&FORMAT, USAGE) }))
};

fn sniff(record: &Record) -> bool {
    match record.text("type").as_deref() {
        Some("message-start" | "message-end" | "tool-plan-delta") => true,
        Some("content-start" | "content-delta" | "content-end") => true,
        Some("tool-call-start" | "tool-call-delta" | "tool-call-end") => true,
        Some("citation-start" | "citation-end") => true,
        Some(_) => false,
        None => {
            let is_message = record.get("message").is_some_and(|message| message.starts_with('{'));
            is_message && record.has("finish_reason") && !record.has("done")
        }
    }
}

/// The billed tokens are fewer than those that were read; old bodies have only them.
pub(super) const USAGE: &[Row] = &[
    ("tokens.input_tokens", Op::Is, &[Field::Input]),
    ("billed_units.input_tokens", Op::Is, &[Field::Input]),
    ("tokens.output_tokens", Op::Is, &[Field::Output]),
    ("billed_units.output_tokens", Op::Is, &[Field::Output]),
    ("cached_tokens", Op::Is, &[Field::Cached]),
    ("tokens.reasoning_tokens", Op::Is, &[Field::Reasoning]),
];

struct Cohere {
    message: Lifecycle,
}

impl Decoder for Cohere {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return self.done(out);
        }
        read!(&frame, out, |event: Event| self.event(&frame, event, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.message.finish(out)
    }
}

impl Cohere {
    fn event(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        let kind = event.kind.non_empty().unwrap_or(frame.event_type);
        let key = event.index.map_or(Key::None, Key::Index);
        match kind {
            "message-start" => {
                self.message.cut(out)?;
                self.begin(event, out)
            }
            "content-start" | "content-delta" | "tool-plan-delta" | "tool-call-start"
            | "tool-call-delta" | "citation-start" => {
                self.begin(event, out)?;
                match event.delta.as_ref().and_then(|delta| delta.message.as_ref()) {
                    Some(message) => message.emit(key, out),
                    None => Ok(()),
                }
            }
            "tool-call-end" => out.call_end(0, key),
            "content-end" | "citation-end" => Ok(()),
            "debug" => event.prompt.map_or(Ok(()), |prompt| out.block(0, "debug", prompt.get())),
            "message-end" => self.message_end(frame, event, out),
            _ => match event.message.filter(|json| json.get().starts_with('{')) {
                Some(json) => self.body(&frame.part(json), event, out),
                None if self.message.stray(frame, kind, out)? => self.message.end(out),
                None => Ok(()),
            },
        }
    }

    fn begin(&mut self, event: &Event, out: &mut EventOut) -> Done {
        self.message.begin(event.id.non_empty(), None, out)
    }

    /// The end of the message, well or not.
    fn message_end(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        self.begin(event, out)?;
        if let Some(delta) = &event.delta {
            delta.usage.iter().for_each(|usage| self.message.meter.feed(usage.get()));
            out.finish_if(0, delta.finish_reason.as_ref())?;
            if delta.error.is_some() {
                error::report(Record::new(frame).get("delta").unwrap_or_default(), out)?;
            }
        }
        self.message.end(out)
    }

    /// A complete body. `frame` is its message.
    fn body(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        self.message.cut(out)?;
        self.begin(event, out)?;
        read!(frame, out, |message: Message| message.emit_whole(out))?;
        event.usage.iter().for_each(|usage| self.message.meter.feed(usage.get()));
        out.finish_if(0, event.finish_reason.as_ref())?;
        self.message.end(out)
    }

    /// `[DONE]`, which follows `message-end`.
    fn done(&mut self, out: &mut EventOut) -> Done {
        if !self.message.is_open() {
            return Ok(());
        }
        out.warn(WarningCode::NoFinishReason, "`[DONE]` came without `message-end`")?;
        self.message.end(out)
    }
}
