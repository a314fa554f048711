//! pi: the events of `pi --mode json` and `pi -p --mode json`, and its session
//! files, `~/.pi/agent/sessions/**/*.jsonl`, which OpenClaw writes, too.
//!
//! Source: badlogic/pi-mono, documentation of the coding agent's JSON mode, and
//! the types of its agent events. An assistant's message is a message: it has
//! its own reason to stop and its own usage, and stays open for its tools'
//! results until its turn ends. Text is emitted as it streams; what a snapshot has
//! beyond that is emitted when it comes. The agent ran all calls. A session file
//! holds whole messages, each in a record, and no end.

mod payload;

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::event::{Arguments, CallPart, Executor, FinishReason, Output, ToolResult, WarningCode};
use crate::format::support::emitted::Emitted;
use crate::format::support::prelude::*;
use crate::format::support::usage::Meter;
use payload::{PiBlock, PiEvent, PiMessage};

pub(super) static FORMAT: Format = Format {
    aliases: &["pi-print", "pi-session", "openclaw"],
    about: "pi coding agent and OpenClaw, --mode json and session files",
    link: "https://github.com/badlogic/pi-mono/tree/main/packages/coding-agent",
    evidence: &["cwd", "assistantMessageEvent", "toolCallId", "message"],
    sniff: is_ours,
    ..Format::new("pi", |_| Box::new(Pi::default()))
};

fn is_ours(record: &Record) -> bool {
    match record.text("type").as_deref() {
        Some("agent_start" | "agent_end" | "turn_start" | "turn_end") => true,
        Some("session") => record.has("cwd"),
        Some("message") => record.inner("message").is_some_and(|message| {
            ["api", "provider", "toolCallId", "stopReason"].iter().any(|key| message.has(key))
        }),
        Some("message_start" | "message_end") => {
            record.get("message").is_some_and(|message| message.contains("\"timestamp\""))
        }
        Some("message_update") => record.has("assistantMessageEvent"),
        Some("tool_execution_start" | "tool_execution_update" | "tool_execution_end") => {
            record.has("toolCallId")
        }
        _ => false,
    }
}

/// Tokens read from a cache or written to one are not in `input`.
const USAGE: &[Row] = &[
    ("input", Op::Adds, &[Field::Input]),
    ("cacheRead", Op::Adds, &[Field::Input, Field::Cached]),
    ("cacheWrite", Op::Adds, &[Field::Input, Field::CacheWrite]),
    ("output", Op::Is, &[Field::Output]),
    ("totalTokens", Op::Is, &[Field::Total]),
];

/// The most blocks of one message.
const MAX_BLOCKS: usize = 1024;

struct Pi {
    stage: Stage,
    calls: Calls,
    /// The text of each block that has been emitted.
    emitted: BTreeMap<u64, Emitted>,
    meter: Meter,
    /// True if the messages are of a session file.
    is_file: bool,
}

/// The progress of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Closed,
    Open,
    /// It's whole; results may follow until its turn ends.
    Whole,
}

impl Default for Pi {
    fn default() -> Self {
        Pi {
            stage: Stage::Closed,
            calls: Calls::default(),
            emitted: BTreeMap::new(),
            meter: Meter::new(USAGE),
            is_file: false,
        }
    }
}

impl Decoder for Pi {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        read!(&frame, out, |event: PiEvent| self.event(&frame, event, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        match self.stage {
            Stage::Closed | Stage::Open => self.meter.finish(out),
            Stage::Whole if self.is_file => self.end(out),
            Stage::Whole => {
                out.warn(
                    WarningCode::MissingTurnEnd,
                    "the input ended after the message, but before its turn did",
                )?;
                self.end(out)
            }
        }
    }
}

impl Pi {
    fn event(&mut self, frame: &Frame, event: &PiEvent, out: &mut EventOut) -> Done {
        let kind = event.kind.or_empty();
        match (kind, &event.message) {
            ("message_start", Some(message)) if message.is_answer() => self.begin(message, out),
            ("message_update", _) => self.update(frame, event, out),
            ("message_end", Some(message)) => self.message_end(frame, message, out),
            ("message", Some(message)) => self.stored(frame, message, out),
            ("tool_execution_end", _) => {
                let [id, name] = [&event.tool_call_id, &event.tool_name];
                let output = Output::Json(event.result.map_or("null", RawValue::get));
                self.result(id.as_ref(), name.as_ref(), output, event.is_error, out)
            }
            ("turn_end" | "agent_end", _) => self.end(out),
            // Records without content of the model's, and those that repeat it.
            ("session" | "agent_start" | "turn_start" | "message_start", _) => Ok(()),
            ("tool_execution_start" | "tool_execution_update" | "queue_update", _) => Ok(()),
            (
                "auto_compaction_start"
                | "auto_compaction_end"
                | "auto_retry_start"
                | "auto_retry_end",
                _,
            ) => Ok(()),
            ("compaction_start" | "compaction_end", _) => Ok(()),
            ("model_change" | "thinking_level_change" | "compaction" | "branch_summary", _) => {
                Ok(())
            }
            ("custom" | "custom_message" | "label" | "session_info", _) => Ok(()),
            ("agent_settled" | "entry_appended" | "context_edit", _) => Ok(()),
            (kind, _) => out.unknown(frame, kind),
        }
    }

    /// A message of a session file.
    fn stored(&mut self, frame: &Frame, message: &PiMessage, out: &mut EventOut) -> Done {
        if message.role.or_empty() == "user" {
            return self.end(out);
        }
        if message.is_answer() {
            self.begin(message, out)?;
        }
        self.is_file = true;
        self.message_end(frame, message, out)?;
        if message.is_answer() && message.stop_reason.is_none() {
            out.infer_finish(0, FinishReason::Stop, None)?;
        }
        Ok(())
    }

    fn begin(&mut self, message: &PiMessage, out: &mut EventOut) -> Done {
        if self.stage == Stage::Open {
            out.warn(
                WarningCode::MissingMessageEnd,
                "a message began before the last one had ended",
            )?;
        }
        self.end(out)?;
        self.stage = Stage::Open;
        let [id, model] = [&message.response_id, &message.model].map(|word| word.non_empty());
        out.start(FORMAT.name, id, model)
    }

    fn update(&mut self, frame: &Frame, event: &PiEvent, out: &mut EventOut) -> Done {
        let Some(update) = &event.assistant_message_event else {
            return out.unknown(frame, "message_update");
        };
        if let (Stage::Closed, Some(message)) = (self.stage, &event.message) {
            self.begin(message, out)?;
        }
        let index = update.content_index.unwrap_or(0);
        let kind = update.kind.or_empty();
        let is_thought = kind.starts_with("thinking");
        match (kind, &update.delta, &update.content, &update.tool_call) {
            ("text_delta" | "thinking_delta", Some(delta), ..) => {
                self.emitted.entry(index).or_default().add(delta);
                out.check_limit(self.emitted.len(), MAX_BLOCKS, "blocks in one message")?;
                if is_thought { out.reasoning(0, delta) } else { out.text(0, delta) }
            }
            ("text_end" | "thinking_end", _, Some(content), _) => {
                self.rest(index, content, is_thought, out)
            }
            ("toolcall_end", _, _, Some(call)) => self.call(call, out),
            _ => Ok(()),
        }
    }

    /// Emits the rest of a whole text.
    fn rest(&mut self, index: u64, whole: &Str, is_thought: bool, out: &mut EventOut) -> Done {
        let emitted = self.emitted.entry(index).or_default();
        let Some(rest) = emitted.rest(whole) else {
            return out.revise(0, whole);
        };
        emitted.add(&rest);
        if is_thought {
            out.reasoning(0, &rest)?
        } else {
            out.text(0, &rest)?
        }
        out.flush()?;
        out.check_limit(self.emitted.len(), MAX_BLOCKS, "blocks in one message")
    }

    fn message_end(&mut self, frame: &Frame, message: &PiMessage, out: &mut EventOut) -> Done {
        let role = message.role.or_empty();
        if role == "toolResult" {
            let output = Output::Json(message.content.map_or("null", RawValue::get));
            let [id, name] = [&message.tool_call_id, &message.tool_name];
            return self.result(id.as_ref(), name.as_ref(), output, message.is_error, out);
        }
        if role != "assistant" {
            return Ok(());
        }
        if self.stage != Stage::Open {
            self.begin(message, out)?;
        }
        let blocks: Vec<&RawValue> =
            message.content.and_then(|json| json::read(json.get()).ok()).unwrap_or_default();
        for (index, json) in (0..).zip(blocks) {
            let frame = frame.part(json);
            read!(&frame, out, |block: PiBlock| self.block(&frame, index, block, out))?;
        }
        self.stage = Stage::Whole;
        self.meter.feed(message.usage.map_or("", RawValue::get));
        let reason = message.stop_reason.reason();
        if let Some(words) = message.error_message.non_empty() {
            let json = frame.text();
            error::report_as(Some(words), reason.filter(|raw| *raw != "error"), &json, out)?;
        }
        reason.map_or(Ok(()), |raw| out.finish(0, raw, None))
    }

    fn block(&mut self, frame: &Frame, index: u64, block: &PiBlock, out: &mut EventOut) -> Done {
        match (block.kind.or_empty(), &block.text, &block.thinking) {
            ("text", Some(text), _) => self.rest(index, text, false, out),
            ("thinking", _, Some(thinking)) => {
                self.rest(index, thinking, true, out)?;
                block
                    .thinking_signature
                    .as_ref()
                    .map_or(Ok(()), |signature| out.signature(0, signature.as_str()))
            }
            ("toolCall", ..) => self.call(block, out),
            (kind, ..) => out.block(0, kind, &frame.text()),
        }
    }

    /// Emits a whole call, unless that was done when it had streamed.
    fn call(&mut self, block: &PiBlock, out: &mut EventOut) -> Done {
        let id = block.id.non_empty();
        if id.is_some_and(|id| self.calls.has(id)) {
            return Ok(());
        }
        let call = CallPart {
            id,
            name: block.name.non_empty(),
            arguments: Arguments::Value(block.arguments.map_or("{}", RawValue::get)),
            executor: Some(Executor::Agent),
            signature: block.thought_signature.non_empty(),
            ..CallPart::default()
        };
        self.calls.whole(call, out)
    }

    /// A result, which comes as an event and again as a message.
    fn result(
        &mut self,
        id: Option<&Str>,
        name: Option<&Str>,
        output: Output,
        is_error: Option<bool>,
        out: &mut EventOut,
    ) -> Done {
        let id = id.map_or("", Str::as_str);
        if self.stage == Stage::Closed || self.calls.is_answered(id) {
            return Ok(());
        }
        let name = name.and_then(Str::non_empty);
        self.calls.result(ToolResult { id, name, output, is_error, ..ToolResult::default() }, out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        if self.stage == Stage::Closed {
            return Ok(());
        }
        self.meter.finish(out)?;
        *self = Pi::default();
        out.end()
    }
}
