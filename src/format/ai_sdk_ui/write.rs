//! Writes the parts of a UI message stream.

use std::collections::BTreeSet;

use crate::format::support::write_prelude::*;

pub(in crate::format) static WRITING: Writing = Writing {
    envelopes: &[RecordEnvelope::SSE],
    has_body: false,
    has_fragments: true,
    losses: &[
        (Info::OtherFragments, Carry::Error),
        (Info::CallSignature, Carry::Lost),
        (Info::CallKind, Carry::Lost),
        (Info::Agent, Carry::As("provider")),
        (Info::Refusal, Carry::As("text")),
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
        members!(line; "providerMetadata": { (&self.provider): { key: text } });
    }

    fn tool(&mut self, call: &ToolCall<'_>, out: &mut Records) {
        record("tool-input-start", out, |line| {
            members!(
                line;
                "toolCallId": call.id,
                "toolName": call.name,
                "providerExecuted": call.executor.map(|_| true),
                "inputEncoding": matches!(call.input, CallInput::Text(_)).then_some("text"),
            );
        });
        self.available(call, out);
    }

    fn available(&mut self, call: &ToolCall<'_>, out: &mut Records) {
        record("tool-input-available", out, |line| {
            members!(
                line;
                "toolCallId": call.id,
                "toolName": call.name,
                ..match call.input {
                    CallInput::Arguments(json) => line.minified("input", json),
                    CallInput::Text(text) => line.text("input", text),
                },
                "providerExecuted": call.executor.map(|_| true),
            );
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
fn record(kind: &str, out: &mut Records, add: impl FnOnce(&mut Line)) {
    out.record("", |line| members!(line; "type": kind, ..add(line)));
}

impl Encoder for UiParts {
    fn start(&mut self, start: &Start<'_>, out: &mut Records) {
        start.format.clone_into(&mut self.provider);
        record("start", out, |line| members!(line; "messageId": start.id));
        record("start-step", out, |_| {});
    }

    fn open(&mut self, block: &TextBlock, out: &mut Records) {
        self.count += 1;
        let [start, ..] = names(&block.kind);
        record(start, out, |line| line.text("id", &self.id()));
    }

    fn piece(&mut self, block: &TextBlock, text: &str, out: &mut Records) {
        let [_, delta, _] = names(&block.kind);
        record(delta, out, |line| {
            members!(line; "id": &*self.id(), "delta": text);
        });
    }

    fn begin_part(&mut self, block: &TextBlock, out: &mut Records) {
        let [.., end] = names(&block.kind);
        record(end, out, |line| line.text("id", &self.id()));
        self.open(block, out);
    }

    fn close(&mut self, block: &TextBlock, out: &mut Records) {
        let [.., end] = names(&block.kind);
        record(end, out, |line| {
            let signature = block.signature.iter();
            members!(
                line;
                "id": &*self.id(),
                ..signature.for_each(|signature| self.metadata("signature", signature, line)),
            );
        });
    }

    fn redacted(&mut self, _choice: u64, thought: &Reasoning<'_>, out: &mut Records) {
        self.count += 1;
        record("reasoning-start", out, |line| {
            let data = thought.redacted.unwrap_or("");
            members!(line; "id": &*self.id(), ..self.metadata("redactedData", data, line));
        });
        record("reasoning-end", out, |line| line.text("id", &self.id()));
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
            members!(
                line;
                "toolCallId": call.id,
                "toolName": call.name,
                "inputEncoding": is_free.then_some("text"),
            );
        });
    }

    fn call_piece(&mut self, _choice: u64, delta: &ToolCallDelta<'_>, out: &mut Records) {
        record("tool-input-delta", out, |line| {
            members!(line; "toolCallId": &*self.open.0, "inputTextDelta": delta.arguments);
        });
    }

    fn call_stop(&mut self, _choice: u64, call: Option<&ToolCall<'_>>, out: &mut Records) {
        match call {
            Some(call) => self.available(call, out),
            None => record("tool-input-error", out, |line| {
                members!(
                    line;
                    "toolCallId": &*self.open.0,
                    "toolName": &*self.open.1,
                    "input": null,
                    "errorText": "the call is not whole",
                );
            }),
        }
    }

    fn result(&mut self, result: &ToolResult<'_>, out: &mut Records) {
        if !self.calls.contains(result.id) {
            return out.note(Info::Result);
        }
        let (kind, key, output) = match (result.is_error, result.output) {
            (Some(true), Output::Text(text) | Output::Json(text)) => {
                ("tool-output-error", "errorText", Output::Text(text))
            }
            (_, output) => ("tool-output-available", "output", output),
        };
        record(kind, out, |line| members!(line; "toolCallId": result.id, key: output));
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
