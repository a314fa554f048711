//! Writes the events of a message, and complete messages.
//!
//! What clients need: names of events, blocks one after another with indexes without a gap, the
//! usage with both numbers at both ends, one signature as the last delta of its block.

use crate::format::support::write_prelude::*;

pub(super) static WRITING: Writing = Writing {
    envelopes: &[RecordEnvelope::NAMED],
    has_fragments: true,
    losses: &[
        (Info::FailedBody, Carry::Lost),
        (Info::OtherFragments, Carry::Error),
        (Info::FreeInput, Carry::As("an object with the member input")),
        (Info::CallSignature, Carry::Lost),
        (Info::CallKind, Carry::As("server_tool_use")),
        (Info::Agent, Carry::As("provider")),
        (Info::Part, Carry::Lost),
        (Info::Refusal, Carry::As("text")),
        (Info::NoUsage, Carry::As("zeros")),
        (Info::ErrorCode, Carry::As("a part of its message")),
        (Info::StopSequence, Carry::Whole),
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
    fn block_start(&self, out: &mut Records, add: impl FnOnce(&mut Line)) {
        record("content_block_start", out, |line| {
            members!(line; "index": self.index, "content_block": { ..add(line) });
        });
    }

    fn block_delta(&self, kind: &str, key: &str, text: &str, out: &mut Records) {
        record("content_block_delta", out, |line| {
            members!(line; "index": self.index, "delta": { "type": kind, key: text });
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
fn record(kind: &str, out: &mut Records, add: impl FnOnce(&mut Line)) {
    out.record(kind, |line| members!(line; "type": kind, ..add(line)));
}

impl Encoder for AnthropicEvents {
    fn start(&mut self, start: &Start<'_>, out: &mut Records) {
        record("message_start", out, |line| {
            members!(line; "message": {
                ..head(start, line),
                "content": [],
                "stop_reason": null,
                "stop_sequence": null,
                "usage": { "input_tokens": start.input_tokens.unwrap_or(0), "output_tokens": 0 },
            });
        });
    }

    fn open(&mut self, block: &TextBlock, out: &mut Records) {
        self.block_start(out, |line| block_members(&block.kind, "", Some(""), line));
    }

    fn piece(&mut self, block: &TextBlock, text: &str, out: &mut Records) {
        let (kind, key) = match block.kind {
            BlockKind::Reasoning { .. } => ("thinking_delta", "thinking"),
            BlockKind::Text { .. } | BlockKind::Refusal => ("text_delta", "text"),
        };
        self.block_delta(kind, key, text, out);
    }

    fn close(&mut self, block: &TextBlock, out: &mut Records) {
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
        call: &ToolCallStart,
        _is_free: bool,
        out: &mut Records,
    ) {
        self.block_start(out, |line| {
            members!(line; "type": "tool_use", "id": call.id, "name": call.name, "input": {});
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
            members!(
                line;
                "delta": { ..reason_members(message, finish, line) },
                ..usage_member(message.usage, line),
            );
        });
        record("message_stop", out, |_| {});
    }

    fn fail(&mut self, message: &Message<'_>, failure: &Failure<'_>, out: &mut Records) {
        if message.usage.is_some() {
            record("message_delta", out, |line| {
                members!(
                    line;
                    "delta": { "stop_reason": null, "stop_sequence": null },
                    ..usage_member(message.usage, line),
                );
            });
        }
        record("error", out, |line| {
            members!(line; "error": {
                "type": &*error_type(failure),
                "message": &*error_message(failure),
            });
        });
    }

    fn body(&mut self, message: &Message<'_>, finish: &Finish<'_>, line: &mut Line) {
        members!(
            line;
            ..head(&message.start, line),
            "content": [..message.parts.iter().for_each(|part| body_block(part, line))],
            ..reason_members(message, finish, line),
            // Required.
            ..usage_member(Some(with_input(message.usage.unwrap_or_default())), line),
        );
    }
}

const MCP_TOOL_USE: &str = "mcp_tool_use";

/// Returns the type of the block of a call that the provider or an agent ran.
fn run_kind(call: &ToolCall<'_>) -> &'static str {
    if call.kind == Some(MCP_TOOL_USE) { MCP_TOOL_USE } else { "server_tool_use" }
}

fn call_members(kind: &str, call: &ToolCall<'_>, input: &str, line: &mut Line) {
    members!(
        line;
        "type": kind,
        "id": call.id,
        "name": call.name,
        // Required, and not in the events.
        "server_name": (kind == MCP_TOOL_USE).then_some(""),
        "input": Minified(input),
    );
}

/// True if a result of this type has a block of its own.
fn is_own_result(kind: &str) -> bool {
    kind.ends_with("_tool_result")
}

fn head(start: &Start<'_>, line: &mut Line) {
    members!(
        line;
        "id": start.id.unwrap_or("msg_0"),
        "type": "message",
        "role": "assistant",
        "model": start.model.unwrap_or(""),
    );
}

fn block_members(kind: &BlockKind, text: &str, signature: Option<&str>, line: &mut Line) {
    match kind {
        BlockKind::Reasoning { .. } => {
            members!(line; "type": "thinking", "thinking": text, "signature": signature.unwrap_or(""));
        }
        BlockKind::Text { .. } | BlockKind::Refusal => {
            members!(line; "type": "text", "text": text);
        }
    }
}

fn redacted_members(thought: &Reasoning<'_>, line: &mut Line) {
    members!(line; "type": "redacted_thinking", "data": thought.redacted.unwrap_or(""));
}

fn result_members(kind: &str, result: &ToolResult<'_>, line: &mut Line) {
    // Required where there is one.
    let is_error = (kind == "mcp_tool_result").then_some(result.is_error == Some(true));
    members!(
        line;
        "type": kind,
        "tool_use_id": result.id,
        "is_error": is_error,
        "content": result.output,
    );
}

/// Adds a part of a message as a block of its content, if it is one.
fn body_block(part: &Part, line: &mut Line) {
    match part {
        Part::Block(block) => {
            let signature = block.signature.as_deref();
            members!(line; { ..block_members(&block.kind, &block.text, signature, line) });
        }
        Part::Redacted(thought) => members!(line; { ..redacted_members(&thought.get(), line) }),
        Part::Call(call) => {
            let call = call.get();
            let kind = if call.executor.is_none() { "tool_use" } else { run_kind(&call) };
            members!(line; { ..call_members(kind, &call, &input_object(call.input), line) });
        }
        Part::Result(result) => {
            let result = result.get();
            if let Some(kind) = result.kind.filter(|kind| is_own_result(kind)) {
                members!(line; { ..result_members(kind, &result, line) });
            }
        }
    }
}

fn reason_members(message: &Message<'_>, finish: &Finish<'_>, line: &mut Line) {
    let is_sequence = finish.finish_reason == FinishReason::Stop && finish.stop_sequence.is_some();
    let word = WRITING.word_of(message, finish);
    members!(
        line;
        "stop_reason": if is_sequence { "stop_sequence" } else { word },
        "stop_sequence": OrNull(finish.stop_sequence),
    );
}

/// Returns what a message cost, with the input that is not known as none.
fn with_input(usage: Usage<'_>) -> Usage<'_> {
    Usage { input_tokens: usage.input_tokens.or(Some(0)), ..usage }
}

/// Adds what a message cost: cached and written tokens are counted apart.
fn usage_member(usage: Option<Usage<'_>>, line: &mut Line) {
    let usage = usage.unwrap_or_default();
    let apart = [usage.cached_input_tokens, usage.cache_write_tokens];
    let apart = apart.into_iter().flatten().fold(0, u64::saturating_add);
    members!(line; "usage": {
        "input_tokens": usage.input_tokens.map(|all| all.saturating_sub(apart)),
        "cache_read_input_tokens": usage.cached_input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens.unwrap_or(0),
        "output_tokens_details": KnownCounts([("thinking_tokens", usage.reasoning_tokens)]),
    });
}
