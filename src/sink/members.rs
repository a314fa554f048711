//! The members of each event in the order of the schema, for the lines of
//! [`crate::sink::Ndjson`] and for the objects inside a summary.

use crate::event::{
    Block, Failure, Finish, InvalidToolCall, ProviderEvent, Reasoning, Start, Text, ToolCall,
    ToolCallDelta, ToolCallStart, ToolResult, Usage, Warning,
};
use crate::sink::VERSION;
use crate::sink::line::Line;

pub(super) fn start(line: &mut Line, start: &Start<'_>) {
    line.number("v", VERSION);
    line.text("format", start.format);
    line.text("framing", start.framing);
    line.maybe_text("dialect", start.dialect);
    line.maybe_text("id", start.id);
    line.maybe_text("model", start.model);
}

pub(super) fn text(line: &mut Line, text: &Text<'_>) {
    line.text("text", text.text);
    line.maybe_text("channel", text.channel);
}

pub(super) fn reasoning(line: &mut Line, reasoning: &Reasoning<'_>) {
    let is_bare = reasoning.signature.is_some() || reasoning.redacted.is_some();
    if !(is_bare && reasoning.text.is_empty()) {
        line.text("text", reasoning.text);
    }
    line.maybe_text("signature", reasoning.signature);
    line.maybe_text("redacted", reasoning.redacted);
}

pub(super) fn tool_call_start(line: &mut Line, start: &ToolCallStart<'_>) {
    line.number("index", start.index);
    line.text("id", start.id);
    line.text("name", start.name);
}

pub(super) fn tool_call_delta(line: &mut Line, delta: &ToolCallDelta<'_>) {
    line.number("index", delta.index);
    line.text("arguments", delta.arguments);
}

pub(super) fn tool_call(line: &mut Line, call: &ToolCall<'_>) {
    line.number("index", call.index);
    line.text("id", call.id);
    line.text("name", call.name);
    line.minified("arguments", call.arguments);
    line.maybe_text("source", call.source);
    line.maybe_text("executor", call.executor.map(|executor| executor.name()));
    line.maybe_text("signature", call.signature);
}

pub(super) fn invalid_tool_call(line: &mut Line, call: &InvalidToolCall<'_>) {
    line.number("index", call.index);
    line.maybe_text("id", call.id);
    line.maybe_text("name", call.name);
    line.text("arguments_raw", call.arguments_raw);
    line.word("reason", call.reason.name());
    line.maybe_text("source", call.source);
}

pub(super) fn tool_result(line: &mut Line, result: &ToolResult<'_>) {
    line.text("id", result.id);
    line.maybe_text("name", result.name);
    line.output("output", result.output);
    line.maybe_flag("is_error", result.is_error);
}

pub(super) fn block(line: &mut Line, block: &Block<'_>) {
    line.text("name", block.name);
    line.text("text", block.text);
    if let Some(attributes) = block.attributes {
        line.json("attributes", attributes);
    }
}

pub(super) fn warning(line: &mut Line, warning: &Warning<'_>) {
    line.text("code", warning.code);
    line.text("message", warning.message);
    line.maybe_number("offset", warning.offset);
    line.maybe_number("index", warning.index);
}

pub(super) fn provider_event(line: &mut Line, event: &ProviderEvent<'_>) {
    line.maybe_text("event", event.event);
    line.output("data", event.data);
}

pub(super) fn usage(line: &mut Line, usage: &Usage<'_>) {
    line.maybe_number("input_tokens", usage.input_tokens);
    line.maybe_number("output_tokens", usage.output_tokens);
    line.maybe_number("total_tokens", usage.total_tokens);
    line.maybe_number("cached_input_tokens", usage.cached_input_tokens);
    line.maybe_number("cache_write_tokens", usage.cache_write_tokens);
    line.maybe_number("reasoning_tokens", usage.reasoning_tokens);
    line.json("raw", if usage.raw.is_empty() { "{}" } else { usage.raw });
}

pub(super) fn finish(line: &mut Line, finish: &Finish<'_>) {
    line.word("finish_reason", finish.finish_reason.name());
    line.maybe_text("raw_finish_reason", finish.raw);
    line.maybe_text("stop_sequence", finish.stop_sequence);
    if finish.inferred {
        line.flag("inferred", true);
    }
}

pub(super) fn failure(line: &mut Line, failure: &Failure<'_>) {
    line.word("code", failure.code.name());
    line.text("message", failure.message);
    line.maybe_number("offset", failure.offset);
    line.maybe_text("provider_code", failure.provider_code);
    line.maybe_flag("retryable", failure.retryable);
    if let Some(raw) = failure.raw {
        line.output("raw", raw);
    }
}
