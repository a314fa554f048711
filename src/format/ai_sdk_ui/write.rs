//! Writes the parts of a UI message stream.

use std::collections::BTreeSet;

use crate::event::{
    CallInput, Failure, Finish, FinishReason, Output, Reasoning, Start, ToolCall, ToolCallDelta,
    ToolCallStart, ToolResult,
};
use crate::format::support::writing::error_message;
use crate::format::write::{
    Block, BlockKind, Carry, Encoder, Envelope, Info, Message, Records, Writing,
};
use crate::json::Line;

pub(in crate::format) static WRITING: Writing = Writing {
    envelopes: &[Envelope::SSE],
    has_body: false,
    has_fragments: true,
    losses: &[
        (Info::InvalidCall, Carry::Lost),
        (Info::OtherFragments, Carry::Error),
        (Info::CallSignature, Carry::Lost),
        (Info::Namespace, Carry::As("namespace__name")),
        (Info::CallKind, Carry::Lost),
        (Info::Agent, Carry::As("provider")),
        (Info::Result, Carry::Lost),
        (Info::ItemId, Carry::Lost),
        (Info::Channel, Carry::Lost),
        (Info::Refusal, Carry::As("text")),
        (Info::Block, Carry::Lost),
        (Info::Choice, Carry::Lost),
        (Info::FinishRefusal, Carry::As("content-filter")),
        (Info::FinishPause, Carry::As("other")),
        (Info::StopSequence, Carry::Lost),
        (Info::Usage, Carry::Lost),
        (Info::ErrorCode, Carry::As("a part of its message")),
    ],
    reasons: &[
        (FinishReason::Stop, "stop"),
        (FinishReason::ToolCalls, "tool-calls"),
        (FinishReason::Length, "length"),
        (FinishReason::ContentFilter, "content-filter"),
        (FinishReason::Refusal, "content-filter"),
        (FinishReason::Pause, "other"),
        (FinishReason::Other, "other"),
        (FinishReason::Error, "error"),
    ],
    ..Writing::new("ai-sdk-ui", || Box::new(UiParts::default()))
};

#[derive(Default)]
struct UiParts {
    /// The source's format, under which its signatures stand.
    provider: String,
    /// The number of texts and thoughts that have begun.
    count: u64,
    /// The calls that have been written, by their ids: only these may have results.
    calls: BTreeSet<String>,
    /// The call that is written in fragments: its id and its name.
    open: (String, String),
}

impl UiParts {
    /// The id of the text that is open.
    fn id(&self) -> String {
        self.count.to_string()
    }

    /// Adds what the next request has to return with a thought.
    fn metadata(&self, key: &str, text: &str, line: &mut Line) {
        line.open_member("providerMetadata");
        line.open_member(&self.provider);
        line.text(key, text);
        line.close();
        line.close();
    }

    fn tool(&mut self, call: &ToolCall<'_>, out: &mut Records) {
        let is_run = call.executor.is_some();
        record("tool-input-start", out, |line| {
            line.text("toolCallId", call.id);
            line.text("toolName", call.name);
            if is_run {
                line.flag("providerExecuted", true);
            }
            if let CallInput::Text(_) = call.input {
                line.word("inputEncoding", "text");
            }
        });
        self.available(call, out);
    }

    fn available(&mut self, call: &ToolCall<'_>, out: &mut Records) {
        record("tool-input-available", out, |line| {
            line.text("toolCallId", call.id);
            line.text("toolName", call.name);
            match call.input {
                CallInput::Arguments(json) => line.minified("input", json),
                CallInput::Text(text) => line.text("input", text),
            }
            if call.executor.is_some() {
                line.flag("providerExecuted", true);
            }
        });
        self.calls.insert(call.id.to_owned());
    }
}

/// The names of the parts of a text: its start, a delta, its end.
fn names(kind: &BlockKind) -> [&'static str; 3] {
    match kind {
        BlockKind::Reasoning { .. } => ["reasoning-start", "reasoning-delta", "reasoning-end"],
        BlockKind::Text { .. } | BlockKind::Refusal => ["text-start", "text-delta", "text-end"],
    }
}

/// Writes a part of this type.
fn record(kind: &str, out: &mut Records, members: impl FnOnce(&mut Line)) {
    out.record("", |line| {
        line.word("type", kind);
        members(line);
    });
}

impl Encoder for UiParts {
    fn start(&mut self, start: &Start<'_>, out: &mut Records) {
        start.format.clone_into(&mut self.provider);
        record("start", out, |line| line.maybe_text("messageId", start.id));
        record("start-step", out, |_| {});
    }

    fn open(&mut self, block: &Block, out: &mut Records) {
        self.count += 1;
        let [start, ..] = names(&block.kind);
        record(start, out, |line| line.word("id", &self.id()));
    }

    fn piece(&mut self, block: &Block, text: &str, out: &mut Records) {
        let [_, delta, _] = names(&block.kind);
        record(delta, out, |line| {
            line.word("id", &self.id());
            line.text("delta", text);
        });
    }

    fn part(&mut self, block: &Block, out: &mut Records) {
        let [.., end] = names(&block.kind);
        record(end, out, |line| line.word("id", &self.id()));
        self.open(block, out);
    }

    fn close(&mut self, block: &Block, out: &mut Records) {
        let [.., end] = names(&block.kind);
        record(end, out, |line| {
            line.word("id", &self.id());
            if let Some(signature) = &block.signature {
                self.metadata("signature", signature, line);
            }
        });
    }

    fn redacted(&mut self, _choice: u64, thought: &Reasoning<'_>, out: &mut Records) {
        self.count += 1;
        record("reasoning-start", out, |line| {
            line.word("id", &self.id());
            self.metadata("redactedData", thought.redacted.unwrap_or_default(), line);
        });
        record("reasoning-end", out, |line| line.word("id", &self.id()));
    }

    fn call(&mut self, _choice: u64, call: &ToolCall<'_>, out: &mut Records) {
        self.tool(call, out);
    }

    fn run_call(&mut self, _choice: u64, call: &ToolCall<'_>, out: &mut Records) {
        if call.kind.is_some() {
            out.note(Info::CallKind);
        }
        self.tool(call, out);
    }

    fn call_start(&mut self, _choice: u64, call: &ToolCallStart, is_free: bool, out: &mut Records) {
        self.open = (call.id.to_owned(), call.name.to_owned());
        record("tool-input-start", out, |line| {
            line.text("toolCallId", call.id);
            line.text("toolName", call.name);
            if is_free {
                line.word("inputEncoding", "text");
            }
        });
    }

    fn call_piece(&mut self, _choice: u64, delta: &ToolCallDelta<'_>, out: &mut Records) {
        record("tool-input-delta", out, |line| {
            line.text("toolCallId", &self.open.0);
            line.text("inputTextDelta", delta.arguments);
        });
    }

    fn call_stop(&mut self, _choice: u64, call: Option<&ToolCall<'_>>, out: &mut Records) {
        match call {
            Some(call) => self.available(call, out),
            None => record("tool-input-error", out, |line| {
                line.text("toolCallId", &self.open.0);
                line.text("toolName", &self.open.1);
                line.minified("input", "null");
                line.word("errorText", "the call is not whole");
            }),
        }
    }

    fn result(&mut self, result: &ToolResult<'_>, out: &mut Records) {
        if !self.calls.contains(result.id) {
            return out.note(Info::Result);
        }
        let is_error = result.is_error == Some(true);
        let kind = if is_error { "tool-output-error" } else { "tool-output-available" };
        record(kind, out, |line| {
            line.text("toolCallId", result.id);
            match (is_error, result.output) {
                (false, output) => line.output("output", output),
                (true, Output::Text(text) | Output::Json(text)) => line.text("errorText", text),
            }
        });
    }

    fn finish(&mut self, message: &Message<'_>, finish: &Finish<'_>, out: &mut Records) {
        record("finish-step", out, |_| {});
        let word = WRITING.word_of(message, finish);
        record("finish", out, |line| line.text("finishReason", word));
        out.whole("[DONE]");
    }

    fn fail(&mut self, _message: &Message<'_>, failure: &Failure<'_>, out: &mut Records) {
        record("error", out, |line| line.text("errorText", &error_message(failure)));
    }
}
