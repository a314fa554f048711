//! Writes the events of a message, and complete messages.
//!
//! What clients need: names of events, blocks one after another with indexes without a gap, the
//! usage with both numbers at both ends, one signature as the last delta of its block.

use crate::event::{
    Failure, Finish, FinishReason, Output, Reasoning, Start, ToolCall, ToolCallDelta,
    ToolCallStart, ToolResult, Usage,
};
use crate::format::support::writing::{error_message, error_type, input_object};
use crate::format::write::{
    Block, BlockKind, Carry, Encoder, Envelope, Info, Message, Part, Records, Writing,
};
use crate::json::Line;

pub(super) static WRITING: Writing = Writing {
    envelopes: &[Envelope::NAMED],
    has_fragments: true,
    losses: &[
        (Info::FailedBody, Carry::Lost),
        (Info::InvalidCall, Carry::Lost),
        (Info::OtherFragments, Carry::Error),
        (Info::FreeInput, Carry::As("an object with the member input")),
        (Info::CallSignature, Carry::Lost),
        (Info::Namespace, Carry::As("namespace__name")),
        (Info::CallKind, Carry::As("server_tool_use")),
        (Info::Agent, Carry::As("provider")),
        (Info::Result, Carry::Lost),
        (Info::Part, Carry::Lost),
        (Info::ItemId, Carry::Lost),
        (Info::Channel, Carry::Lost),
        (Info::Refusal, Carry::As("text")),
        (Info::Block, Carry::Lost),
        (Info::Choice, Carry::Lost),
        (Info::FinishFilter, Carry::As("refusal")),
        (Info::FinishOther, Carry::As("end_turn")),
        (Info::FinishError, Carry::Error),
        (Info::NoUsage, Carry::As("zeros")),
        (Info::ErrorCode, Carry::As("a part of its message")),
    ],
    reasons: &[
        (FinishReason::Stop, "end_turn"),
        (FinishReason::ToolCalls, "tool_use"),
        (FinishReason::Length, "max_tokens"),
        (FinishReason::ContentFilter, "refusal"),
        (FinishReason::Refusal, "refusal"),
        (FinishReason::Pause, "pause_turn"),
        (FinishReason::Other, "end_turn"),
    ],
    ..Writing::new("anthropic", || Box::new(AnthropicEvents::default()))
};

#[derive(Default)]
struct AnthropicEvents {
    /// The index of the block that is open, or of the next one.
    index: u64,
}

impl AnthropicEvents {
    fn block_start(&self, out: &mut Records, members: impl FnOnce(&mut Line)) {
        record("content_block_start", out, |line| {
            line.number("index", self.index);
            line.open_member("content_block");
            members(line);
            line.close();
        });
    }

    fn block_delta(&self, kind: &str, key: &str, text: &str, out: &mut Records) {
        record("content_block_delta", out, |line| {
            line.number("index", self.index);
            line.open_member("delta");
            line.word("type", kind);
            line.text(key, text);
            line.close();
        });
    }

    fn block_stop(&mut self, out: &mut Records) {
        record("content_block_stop", out, |line| line.number("index", self.index));
        self.index += 1;
    }

    fn tool_use(&mut self, kind: &str, call: &ToolCall<'_>, out: &mut Records) {
        self.block_start(out, |line| call_members(kind, call, "{}", line));
        self.block_delta("input_json_delta", "partial_json", &input_object(call.input), out);
        self.block_stop(out);
    }
}

/// Writes an event of this type.
fn record(kind: &str, out: &mut Records, members: impl FnOnce(&mut Line)) {
    out.record(kind, |line| {
        line.word("type", kind);
        members(line);
    });
}

impl Encoder for AnthropicEvents {
    fn start(&mut self, start: &Start<'_>, out: &mut Records) {
        record("message_start", out, |line| {
            line.open_member("message");
            head(start, line);
            line.minified("content", "[]");
            line.minified("stop_reason", "null");
            line.minified("stop_sequence", "null");
            line.open_member("usage");
            line.number("input_tokens", start.input_tokens.unwrap_or(0));
            line.number("output_tokens", 0);
            line.close();
            line.close();
        });
    }

    fn open(&mut self, block: &Block, out: &mut Records) {
        self.block_start(out, |line| match block.kind {
            BlockKind::Reasoning { .. } => {
                line.word("type", "thinking");
                line.word("thinking", "");
                line.word("signature", "");
            }
            BlockKind::Text { .. } | BlockKind::Refusal => {
                line.word("type", "text");
                line.word("text", "");
            }
        });
    }

    fn piece(&mut self, block: &Block, text: &str, out: &mut Records) {
        match block.kind {
            BlockKind::Reasoning { .. } => {
                self.block_delta("thinking_delta", "thinking", text, out);
            }
            BlockKind::Text { .. } | BlockKind::Refusal => {
                self.block_delta("text_delta", "text", text, out);
            }
        }
    }

    fn close(&mut self, block: &Block, out: &mut Records) {
        if let Some(signature) = &block.signature {
            self.block_delta("signature_delta", "signature", signature, out);
        }
        self.block_stop(out);
    }

    fn redacted(&mut self, _choice: u64, thought: &Reasoning<'_>, out: &mut Records) {
        self.block_start(out, |line| redacted_members(thought, line));
        self.block_stop(out);
    }

    fn call(&mut self, _choice: u64, call: &ToolCall<'_>, out: &mut Records) {
        self.tool_use("tool_use", call, out);
    }

    fn run_call(&mut self, _choice: u64, call: &ToolCall<'_>, out: &mut Records) {
        let kind = run_kind(call);
        if call.kind.is_some_and(|own| own != kind) {
            out.note(Info::CallKind);
        }
        self.tool_use(kind, call, out);
    }

    fn call_start(
        &mut self,
        _choice: u64,
        call: &ToolCallStart<'_>,
        _is_free: bool,
        out: &mut Records,
    ) {
        self.block_start(out, |line| {
            line.word("type", "tool_use");
            line.text("id", call.id);
            line.text("name", call.name);
            line.minified("input", "{}");
        });
    }

    fn call_piece(&mut self, _choice: u64, delta: &ToolCallDelta<'_>, out: &mut Records) {
        self.block_delta("input_json_delta", "partial_json", delta.arguments, out);
    }

    fn call_left(&mut self) {
        self.index += 1;
    }

    fn call_stop(&mut self, _choice: u64, _call: Option<&ToolCall<'_>>, out: &mut Records) {
        self.block_stop(out);
    }

    fn result(&mut self, result: &ToolResult<'_>, out: &mut Records) {
        match result.kind.filter(|kind| is_own_result(kind)) {
            Some(kind) => {
                self.block_start(out, |line| result_members(kind, result, line));
                self.block_stop(out);
            }
            None => out.note(Info::Result),
        }
    }

    fn keep_alive(&mut self, out: &mut Records) {
        record("ping", out, |_| {});
    }

    fn finish(&mut self, message: &Message<'_>, finish: &Finish<'_>, out: &mut Records) {
        let Usage { input_tokens, output_tokens, .. } = message.usage.unwrap_or_default();
        if input_tokens.and(output_tokens).is_none() {
            out.note(Info::NoUsage);
        }
        record("message_delta", out, |line| {
            line.open_member("delta");
            reason_members(message, finish, line);
            line.close();
            usage_member(message.usage, line);
        });
        record("message_stop", out, |_| {});
    }

    fn fail(&mut self, message: &Message<'_>, failure: &Failure<'_>, out: &mut Records) {
        if message.usage.is_some() {
            record("message_delta", out, |line| {
                line.raw(",\"delta\":{\"stop_reason\":null,\"stop_sequence\":null}");
                usage_member(message.usage, line);
            });
        }
        record("error", out, |line| {
            line.open_member("error");
            line.text("type", &error_type(failure));
            line.text("message", &error_message(failure));
            line.close();
        });
    }

    fn body(&mut self, message: &Message<'_>, finish: &Finish<'_>, line: &mut Line) {
        head(&message.start, line);
        line.open_list("content");
        for part in message.parts {
            body_block(part, line);
        }
        line.close_list();
        reason_members(message, finish, line);
        usage_member(message.usage, line);
    }
}

const MCP_TOOL_USE: &str = "mcp_tool_use";

/// Returns the type of the block of a call that the provider or an agent ran.
fn run_kind(call: &ToolCall<'_>) -> &'static str {
    if call.kind == Some(MCP_TOOL_USE) { MCP_TOOL_USE } else { "server_tool_use" }
}

fn call_members(kind: &str, call: &ToolCall<'_>, input: &str, line: &mut Line) {
    line.word("type", kind);
    line.text("id", call.id);
    line.text("name", call.name);
    if kind == MCP_TOOL_USE {
        // Required, and not in the events.
        line.word("server_name", "");
    }
    line.minified("input", input);
}

/// True if a result of this type has a block of its own.
fn is_own_result(kind: &str) -> bool {
    kind.ends_with("_tool_result")
}

fn head(start: &Start<'_>, line: &mut Line) {
    line.text("id", start.id.unwrap_or("msg_0"));
    line.word("type", "message");
    line.word("role", "assistant");
    line.text("model", start.model.unwrap_or_default());
}

fn redacted_members(thought: &Reasoning<'_>, line: &mut Line) {
    line.word("type", "redacted_thinking");
    line.text("data", thought.redacted.unwrap_or_default());
}

fn result_members(kind: &str, result: &ToolResult<'_>, line: &mut Line) {
    line.text("type", kind);
    line.text("tool_use_id", result.id);
    // Required where there is one.
    if kind == "mcp_tool_result" {
        line.flag("is_error", result.is_error == Some(true));
    }
    match result.output {
        Output::Text(text) => line.text("content", text),
        Output::Json(json) => line.json("content", json),
    }
}

/// Adds a part of a message as a block of its content, if it is one.
fn body_block(part: &Part, line: &mut Line) {
    match part {
        Part::Block(block) => {
            line.open();
            match block.kind {
                BlockKind::Reasoning { .. } => {
                    line.word("type", "thinking");
                    line.text("thinking", &block.text);
                    line.text("signature", block.signature.as_deref().unwrap_or_default());
                }
                BlockKind::Text { .. } | BlockKind::Refusal => {
                    line.word("type", "text");
                    line.text("text", &block.text);
                }
            }
            line.close();
        }
        Part::Redacted(thought) => {
            line.open();
            redacted_members(&thought.get(), line);
            line.close();
        }
        Part::Call(call) => {
            let call = call.get();
            line.open();
            let kind = if call.executor.is_none() { "tool_use" } else { run_kind(&call) };
            call_members(kind, &call, &input_object(call.input), line);
            line.close();
        }
        Part::Result(result) => {
            let result = result.get();
            if let Some(kind) = result.kind.filter(|kind| is_own_result(kind)) {
                line.open();
                result_members(kind, &result, line);
                line.close();
            }
        }
    }
}

fn reason_members(message: &Message<'_>, finish: &Finish<'_>, line: &mut Line) {
    let is_sequence = finish.finish_reason == FinishReason::Stop && finish.stop_sequence.is_some();
    let word = match is_sequence {
        true => "stop_sequence",
        false => WRITING.word_of(message, finish),
    };
    line.text("stop_reason", word);
    match finish.stop_sequence {
        Some(sequence) => line.text("stop_sequence", sequence),
        None => line.minified("stop_sequence", "null"),
    }
}

/// Adds what a message cost: cached and written tokens are counted apart.
fn usage_member(usage: Option<Usage<'_>>, line: &mut Line) {
    let usage = usage.unwrap_or_default();
    let apart = [usage.cached_input_tokens, usage.cache_write_tokens];
    let apart = apart.into_iter().flatten().fold(0, u64::saturating_add);
    line.open_member("usage");
    line.maybe_number("input_tokens", usage.input_tokens.map(|all| all.saturating_sub(apart)));
    line.maybe_number("cache_read_input_tokens", usage.cached_input_tokens);
    line.maybe_number("cache_creation_input_tokens", usage.cache_write_tokens);
    line.number("output_tokens", usage.output_tokens.unwrap_or(0));
    line.maybe_object("output_tokens_details", &[("thinking_tokens", usage.reasoning_tokens)]);
    line.close();
}
