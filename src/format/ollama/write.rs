//! Writes the records of `/api/chat`, and complete bodies.

use crate::format::support::write_prelude::*;

pub(in crate::format) static WRITING: Writing = Writing {
    envelopes: &[RecordEnvelope::NDJSON],
    losses: &[
        (Info::BodyOrder, Carry::As("thoughts, texts, calls")),
        (Info::FailedBody, Carry::Lost),
        (Info::FreeInput, Carry::As("an object with the member input")),
        (Info::CallSignature, Carry::Lost),
        (Info::RunCall, Carry::Lost),
        (Info::Signature, Carry::Lost),
        (Info::Redacted, Carry::Lost),
        (Info::Part, Carry::Lost),
        (Info::Refusal, Carry::As("text")),
        (Info::CachedTokens, Carry::Lost),
        (Info::CacheWriteTokens, Carry::Lost),
        (Info::ReasoningTokens, Carry::Lost),
        (Info::ErrorCode, Carry::As("a part of its message")),
    ],
    reasons: &[(FinishReason::Stop, "stop"), (FinishReason::Length, "length")],
    ..Writing::new("ollama-chat", || Box::new(Replies::default()))
};

#[derive(Default)]
struct Replies {
    /// The members that all records begin with.
    head: Line,
    /// The number of calls.
    calls: u64,
}

impl Replies {
    /// Writes a record whose message has these members.
    fn record(&self, out: &mut Records, add: impl FnOnce(&mut Line)) {
        out.record("", |line| {
            members!(
                line;
                ..line.more(&self.head),
                "message": { "role": "assistant", ..add(line) },
                "done": false,
            );
        });
    }
}

impl Encoder for Replies {
    fn start(&mut self, start: &Start<'_>, _out: &mut Records) {
        self.head.clear();
        head(start, &mut self.head);
    }

    fn piece(&mut self, block: &TextBlock, text: &str, out: &mut Records) {
        let (content, thinking) = match block.kind {
            BlockKind::Reasoning { .. } => ("", Some(text)),
            BlockKind::Text { .. } | BlockKind::Refusal => (text, None),
        };
        self.record(out, |line| members!(line; "content": content, "thinking": thinking));
    }

    fn close(&mut self, block: &TextBlock, out: &mut Records) {
        if block.signature.is_some() {
            out.note(Info::Signature);
        }
    }

    fn call(&mut self, _choice: u64, call: &ToolCall<'_>, out: &mut Records) {
        self.record(out, |line| {
            members!(line; "content": "", "tool_calls": [..call_object(self.calls, call, line)]);
        });
        self.calls += 1;
    }

    fn keep_alive(&mut self, out: &mut Records) {
        self.record(out, |line| line.text("content", ""));
    }

    fn finish(&mut self, message: &Message<'_>, finish: &Finish<'_>, out: &mut Records) {
        out.record("", |line| {
            members!(
                line;
                ..line.more(&self.head),
                "message": { "role": "assistant", "content": "" },
                ..last_members(message, finish, line),
            );
        });
    }

    fn fail(&mut self, message: &Message<'_>, failure: &Failure<'_>, out: &mut Records) {
        let usage = message.usage;
        if usage.is_some() && out.is_empty() {
            // An error that is all is the body of one.
            self.keep_alive(out);
        }
        out.record("", |line| {
            members!(
                line;
                "error": &*error_message(failure),
                "prompt_eval_count": usage.and_then(|usage| usage.input_tokens),
                "eval_count": usage.and_then(|usage| usage.output_tokens),
            );
        });
    }

    fn body(&mut self, message: &Message<'_>, finish: &Finish<'_>, line: &mut Line) {
        let is_thought = |kind: &BlockKind| matches!(kind, BlockKind::Reasoning { .. });
        let content = texts(message.parts, |kind| !is_thought(kind));
        let thinking = texts(message.parts, is_thought);
        let mut list = Line::default();
        for (place, call) in (0..).zip(calls(message.parts)) {
            call_object(place, &call, &mut list);
        }
        members!(
            line;
            ..head(&message.start, line),
            "message": {
                "role": "assistant",
                "content": content.as_deref().unwrap_or(""),
                "thinking": thinking.as_deref(),
                "tool_calls": ListOf(&list),
            },
            ..last_members(message, finish, line),
        );
    }
}

fn head(start: &Start<'_>, line: &mut Line) {
    let created = timestamp(start.created.unwrap_or(0));
    members!(line; "model": start.model.unwrap_or(""), "created_at": created.as_str());
}

fn call_object(place: u64, call: &ToolCall<'_>, line: &mut Line) {
    let arguments = input_object(call.input);
    members!(line; {
        "id": call.id,
        "function": { "index": place, "name": call.name, "arguments": Minified(&arguments) },
    });
}

fn last_members(message: &Message<'_>, finish: &Finish<'_>, line: &mut Line) {
    members!(
        line;
        "done": true,
        "done_reason": WRITING.word_of(message, finish),
        "total_duration": 0,
        "load_duration": 0,
        "prompt_eval_count": message.usage.and_then(|usage| usage.input_tokens),
        "prompt_eval_duration": 0,
        "eval_count": message.usage.and_then(|usage| usage.output_tokens),
        "eval_duration": 0,
    );
}
