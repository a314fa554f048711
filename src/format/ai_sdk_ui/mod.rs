//! The UI message stream of Vercel's AI SDK, version 5 and later.
//!
//! Source: AI SDK documentation, "Stream Protocols" (UI message stream), and
//! the types of the package `ai`. One stream is one message of several steps;
//! it ends with `finish` and `[DONE]`. Calls that were run on the way have their
//! output after them; those that have none when the text goes on, or when the
//! step ends, are the caller's to run.

mod payload;
pub(super) mod reply;
mod tools;
mod write;

use std::collections::BTreeSet;

use crate::event::WarningCode;
use payload::Part;

use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["ai-sdk", "ai-sdk-ui-message-stream", "vercel-ai"],
    about: "Vercel AI SDK, UI message stream (version 5 and later)",
    link: "https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol",
    evidence: &["id", "toolCallId", "errorText", "url", "data"],
    sniff: is_ours,
    write: Some(&write::WRITING),
    ..Format::new("ai-sdk-ui", || {
        let message = Lifecycle::new(&FORMAT, USAGE);
        let (calls, free) = (Calls::default(), BTreeSet::new());
        Box::new(AiSdkUi { message, calls, free, thoughts: 0, awaits_done: false })
    })
};

fn is_ours(record: &Record) -> bool {
    let kind = record.text("type").unwrap_or_default();
    match kind.as_str() {
        "start" | "start-step" | "finish-step" | "message-metadata" | "abort" => true,
        "finish" => !record.has("message"),
        "text-start" | "text-delta" | "text-end" => record.has("id"),
        "reasoning-start" | "reasoning-delta" | "reasoning-end" => record.has("id"),
        "source-url" | "source-document" => true,
        "file" => record.has("url"),
        "error" => record.has("errorText"),
        kind => {
            let is_tool = ["tool-input-", "tool-output-", "tool-approval-"]
                .iter()
                .any(|start| kind.starts_with(start));
            (is_tool && record.has("toolCallId"))
                || (kind.starts_with("data-") && record.has("data"))
        }
    }
}

/// The protocol has no usage of its own: applications put the SDK's into the
/// metadata, as version 5 or as version 6 has it.
const USAGE: &[Row] = &[
    ("inputTokens", Op::Is, &[Field::Input]),
    ("outputTokens", Op::Is, &[Field::Output]),
    ("totalTokens", Op::Is, &[Field::Total]),
    ("inputTokenDetails.cacheReadTokens", Op::Is, &[Field::Cached]),
    ("cachedInputTokens", Op::Is, &[Field::Cached]),
    ("inputTokenDetails.cacheWriteTokens", Op::Is, &[Field::CacheWrite]),
    ("outputTokenDetails.reasoningTokens", Op::Is, &[Field::Reasoning]),
    ("reasoningTokens", Op::Is, &[Field::Reasoning]),
];

/// A message has stopped at its `finish`: only `[DONE]` is missing.
struct AiSdkUi {
    message: Lifecycle,
    calls: Calls,
    /// Calls whose input is free text.
    free: BTreeSet<String>,
    /// The number of thoughts that have begun, one right after another.
    thoughts: u64,
    /// True if the framing promises a `[DONE]`.
    awaits_done: bool,
}

impl Decoder for AiSdkUi {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        // Some servers in Python send it as a JSON string, too.
        if frame.is_done() || frame.data.trim_ascii() == b"\"[DONE]\"" {
            return self.done(out);
        }
        self.awaits_done = frame.framing.ends_with_done;
        read!(&frame, out, |part: Part| self.part(&frame, part, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if self.message.state == State::Stopped && self.awaits_done {
            let warning = "the stream ended without `[DONE]`, after its `finish`";
            out.warn(WarningCode::MissingDone, warning)?;
        }
        self.message.finish(out)
    }
}

impl AiSdkUi {
    fn part(&mut self, frame: &Frame, part: &Part, out: &mut EventOut) -> Done {
        let kind = part.kind.or_empty();
        if kind == "start" && self.message.state == State::Stopped {
            self.end(out)?;
        }
        if !self.message.is_open() && is_ours(&Record::new(frame)) {
            self.message.begin(part.message_id.non_empty(), None, out)?;
        }
        if matches!(
            kind,
            "text-start"
                | "reasoning-start"
                | "start-step"
                | "finish-step"
                | "finish"
                | "error"
                | "abort"
        ) {
            self.calls.release(out)?;
        }
        match kind {
            "reasoning-start" => self.thoughts += 1,
            "text-start" | "tool-input-start" | "tool-input-available" | "start-step" => {
                self.thoughts = 0;
            }
            _ => {}
        }
        match kind {
            "start" | "message-metadata" => self.metadata(part, out),
            "start-step" | "finish-step" | "text-start" | "text-end" => out.flush(),
            "text-delta" => part.delta.as_ref().map_or(Ok(()), |text| out.text(0, text)),
            "reasoning-start" | "reasoning-delta" | "reasoning-end" => self.reasoning(part, out),
            "error" => error::report(&frame.text(), out),
            "abort" => {
                let reason = part.reason.non_empty();
                error::report_as(
                    reason.or(Some("the stream was aborted")),
                    Some("abort"),
                    &frame.text(),
                    out,
                )
            }
            "finish" => {
                self.metadata(part, out)?;
                self.message.stop();
                out.finish_if(0, part.finish_reason.as_ref()).map(|_| ())
            }
            "source-url" | "source-document" | "file" | "tool-approval-request" => {
                out.block(0, kind, &frame.text())
            }
            _ if kind.starts_with("data-") => out.block(0, kind, &frame.text()),
            _ if kind.starts_with("tool-input-") => self.input(frame, kind, part, out),
            _ if kind.starts_with("tool-output-") => self.output(frame, kind, part, out),
            kind => out.unknown(frame, kind),
        }
    }

    /// Takes the application's metadata: usage, and members of its own as a block.
    fn metadata(&mut self, part: &Part, out: &mut EventOut) -> Done {
        let Some(metadata) = part.message_metadata else { return Ok(()) };
        let mut has_more = false;
        for (key, value) in json::members(metadata.get()) {
            match key.as_ref() {
                "totalUsage" | "usage" => self.message.meter.feed(value.get()),
                _ => has_more = true,
            }
        }
        if has_more { out.block(0, "message-metadata", metadata.get()) } else { Ok(()) }
    }

    /// `[DONE]`: the end of the message, whether or not it had a `finish`.
    fn done(&mut self, out: &mut EventOut) -> Done {
        if self.message.state == State::Open {
            out.warn(WarningCode::NoFinishReason, "`[DONE]` came without a `finish`")?;
        }
        self.calls.release(out)?;
        self.end(out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        (self.calls, self.free) = (Calls::default(), BTreeSet::new());
        self.thoughts = 0;
        self.message.end(out)
    }

    /// Thinking, with what its provider wants back.
    fn reasoning(&mut self, part: &Part, out: &mut EventOut) -> Done {
        match (&part.delta, self.thoughts) {
            (Some(text), 0) => out.reasoning(0, text)?,
            (Some(text), thought) => out.reasoning_part(0, thought, text)?,
            (None, _) => {}
        }
        if let Some(signature) = part.signature() {
            out.signature(0, &signature)?;
        }
        part.redacted().map_or(Ok(()), |data| out.redacted(0, &data))
    }
}
