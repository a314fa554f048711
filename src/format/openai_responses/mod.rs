//! OpenAI Responses: the events of a stream, and complete responses.
//!
//! Source: OpenAI API reference, "Responses" and "Streaming events". A response
//! is a list of items, each of them added, filled by deltas, and done; its last
//! event repeats all of them. Servers leave out one or the other: the ChatGPT
//! backend ends with an empty list, buffering gateways send nothing but the end.

mod calls;
mod events;
mod items;
mod payload;
mod state;
mod turn;
pub(super) mod write;

use crate::format::support::prelude::*;
use items::Items;
use payload::{Response, ResponseEvent};

pub(super) static FORMAT: Format = Format {
    aliases: &["responses", "codex-responses"],
    about: "OpenAI Responses and compatible servers, stream and body",
    link: "https://platform.openai.com/docs/api-reference/responses-streaming",
    evidence: &["response", "item", "output"],
    sniff,
    request: Some(&turn::REQUEST),
    write: Some(&write::WRITING),
    ..Format::new("openai-responses", |_| Box::new(Responses::new()))
};

fn sniff(record: &Record) -> bool {
    // Without a type of its own, an event has the members of one: Snowflake's agents have other ones.
    let has_place =
        || ["response", "item", "item_id", "output_index"].iter().any(|key| record.has(key));
    match record.text("type") {
        Some(kind) if kind.starts_with("response.") => true,
        None if record.event_type.starts_with("response.") => !record.is_object() || has_place(),
        _ => record.text("object").as_deref() == Some("response"),
    }
}

/// Realtime has its own names for the details.
const USAGE: &[CountRule] = &[
    ("input_tokens", Op::Is, &[Field::Input]),
    ("output_tokens", Op::Is, &[Field::Output]),
    ("total_tokens", Op::Is, &[Field::Total]),
    (
        "input_tokens_details.cached_tokens|input_token_details.cached_tokens",
        Op::Is,
        &[Field::Cached],
    ),
    ("input_tokens_details.cache_write_tokens", Op::Is, &[Field::CacheWrite]),
    (
        "output_tokens_details.reasoning_tokens|output_token_details.reasoning_tokens",
        Op::Is,
        &[Field::Reasoning],
    ),
];

/// The decoder of responses.
struct Responses {
    message: Lifecycle,
    items: Items,
    /// The hash of the id of the response that ended last.
    ended: Option<u64>,
}

impl Decoder for Responses {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        self.items.repeats = false;
        if frame.is_done() {
            return self.done(out);
        }
        read!(&frame, out, |event: ResponseEvent| self.event(&frame, event, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        match self.message.state {
            State::Failed => self.end(out),
            State::Closed | State::Open | State::Stopped => self.message.finish(out),
        }
    }

    fn repeatable(&self) -> Option<&'static Repeatable> {
        const UNREAD: &[&str] = &["sequence_number", "obfuscation"];
        self.items.repeats.then_some(&Repeatable { unread: UNREAD, ..Repeatable::TEXT })
    }

    // The `done` events repeat each text: it is compared with the pieces.
    fn on_repeat(&mut self, text: &Str, _counts: Option<&str>) {
        self.items.on_repeat(text);
    }
}

impl Responses {
    fn new() -> Self {
        let message = Lifecycle::new(&FORMAT, USAGE);
        Responses { message, items: Items::default(), ended: None }
    }

    fn event(&mut self, frame: &Frame, event: &ResponseEvent, out: &mut EventOut) -> Done {
        let kind = event.kind.non_empty().unwrap_or(frame.event_type);
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => {
                self.begin_with(frame, kind == "response.created", event.response, out)
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled"
            | "response.done" => {
                // It holds all of the response.
                let frame = event.response.map_or(frame.with(b"{}"), |json| frame.part(json));
                self.whole(&frame, kind.trim_start_matches("response."), out)
            }
            "error" => self.fail(&frame.text(), out),
            _ if kind.starts_with("response.") && self.message.passes_over(out)? => Ok(()),
            _ if kind.starts_with("response.") => {
                self.begin_late(out)?;
                events::feed(&mut self.items, frame, kind, event, out)
            }
            "" if event.object.text() == Some("response") => self.body(frame, out),
            "" if error::is_error(&Record::new(frame)) => self.fail(&frame.text(), out),
            // Sent while nothing else is.
            "keepalive" | "ping" => Ok(()),
            _ => out.unknown(frame, kind),
        }
    }

    /// A response begins, or goes on.
    fn begin_with(
        &mut self,
        frame: &Frame,
        is_new: bool,
        response: Option<RawJson<'_>>,
        out: &mut EventOut,
    ) -> Done {
        let Some(json) = response else { return self.message.begin(None, None, out) };
        if !is_new && self.message.state != State::Closed {
            return Ok(());
        }
        let frame = frame.part(json);
        read!(&frame, out, |response: Response| {
            let id = response.id.non_empty();
            let is_same = id.is_none() || id == self.message.id();
            match self.message.state {
                State::Closed => {}
                State::Open if is_same => {
                    let message = "the open response was created a second time";
                    return out.warn(WarningCode::DuplicateCreated, message);
                }
                State::Open => self.cut(out)?,
                State::Stopped | State::Failed => self.end(out)?,
            }
            self.message.head.created = response.created_at.and_then(|json| time(json.get()));
            self.message.begin(id, response.model.non_empty(), out)
        })
    }

    /// A part of a response came: if none has begun, the input's beginning is
    /// missing.
    fn begin_late(&mut self, out: &mut EventOut) -> Done {
        let warning =
            (WarningCode::MissingCreated, "a part of a response came without `response.created`");
        self.message.begin_late(warning, out)
    }

    /// A complete response.
    fn body(&mut self, frame: &Frame, out: &mut EventOut) -> Done {
        match self.message.state {
            State::Closed => {}
            State::Open => self.cut(out)?,
            State::Stopped | State::Failed => self.end(out)?,
        }
        self.whole(frame, "", out)
    }

    fn whole(&mut self, frame: &Frame, status: &str, out: &mut EventOut) -> Done {
        read!(frame, out, |response: Response| {
            let id = response.id.non_empty();
            let has_ended = id.is_some() && self.ended == id.map(hash) && !self.message.is_open();
            if has_ended && !status.is_empty() {
                let message = "the end of a response that has ended came again";
                return out.warn(WarningCode::AfterDone, message);
            }
            self.message.head.created = response.created_at.and_then(|json| time(json.get()));
            self.message.begin(id, response.model.non_empty(), out)?;
            response.thoughts().map_or(Ok(()), |text| out.reasoning(0, &text))?;
            let status = response.status.non_empty().unwrap_or(status);
            let output = response.output.as_deref().unwrap_or_default();
            let mut items = |out: &mut EventOut| {
                self.items.all(frame, output, out)?;
                self.items.close(out)
            };
            if status.is_empty() {
                out.unclosed(items)?
            } else {
                items(out)?
            }
            self.message.count(response.usage);
            if status == "failed" || response.error().is_some() {
                return self.fail(response.error().unwrap_or("{}"), out);
            }
            match status {
                "" => {
                    self.items = Items::default();
                    return self.message.end_unfinished([0], out);
                }
                "incomplete" => {
                    let reason = response.reason();
                    let raw = reason.non_empty().unwrap_or(status);
                    out.finish(0, raw, None)?;
                }
                "queued" | "in_progress" => {
                    out.warn(WarningCode::NotFinished, "the response is still being made")?;
                    out.finish_as(0, FinishReason::Other, status, None)?;
                }
                // By its caller, or by who speaks into its words: it didn't fail.
                "cancelled" => out.finish_as(0, FinishReason::Other, status, None)?,
                status => out.finish(0, status, None)?,
            }
            if self.message.state == State::Failed { Ok(()) } else { self.end(out) }
        })
    }

    /// The provider reported an error. It may do so again: something else ends it.
    fn fail(&mut self, json: &str, out: &mut EventOut) -> Done {
        self.message.begin(None, None, out)?;
        self.message.fail(json, out)
    }

    /// `[DONE]`: only some servers send it, and some as the only end that there is.
    fn done(&mut self, out: &mut EventOut) -> Done {
        if self.message.state == State::Open && self.items.are_done() {
            out.warn(WarningCode::NoFinishReason, "`[DONE]` came without the end of the response")?;
            return self.end(out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.items = Items::default();
        self.ended = self.message.id().map(hash);
        self.message.end(out)
    }

    /// Another response begins.
    fn cut(&mut self, out: &mut EventOut) -> Done {
        self.items = Items::default();
        self.message.cut(out)
    }
}
