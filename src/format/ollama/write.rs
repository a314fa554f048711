//! Writes the records of `/api/chat`, and complete bodies.

use crate::event::{Failure, Finish, FinishReason, Start, ToolCall, Usage};
use crate::format::support::writing::{calls, error_message, input_object, texts, timestamp};
use crate::format::write::{
    Block, BlockKind, Carry, Encoder, Envelope, Info, Message, Records, Writing,
};
use crate::json::Line;

pub(in crate::format) static WRITING: Writing = Writing {
    envelopes: &[Envelope::NDJSON],
    losses: &[
        (Info::BodyOrder, Carry::As("thoughts, texts, calls")),
        (Info::FailedBody, Carry::Lost),
        (Info::InvalidCall, Carry::Lost),
        (Info::FreeInput, Carry::As("an object with the member input")),
        (Info::CallSignature, Carry::Lost),
        (Info::Namespace, Carry::As("namespace__name")),
        (Info::RunCall, Carry::Lost),
        (Info::Result, Carry::Lost),
        (Info::Signature, Carry::Lost),
        (Info::Redacted, Carry::Lost),
        (Info::Part, Carry::Lost),
        (Info::ItemId, Carry::Lost),
        (Info::Channel, Carry::Lost),
        (Info::Refusal, Carry::As("text")),
        (Info::Block, Carry::Lost),
        (Info::Choice, Carry::Lost),
        (Info::FinishFilter, Carry::As("stop")),
        (Info::FinishRefusal, Carry::As("stop")),
        (Info::FinishPause, Carry::As("stop")),
        (Info::FinishOther, Carry::As("stop")),
        (Info::FinishError, Carry::Error),
        (Info::StopSequence, Carry::Lost),
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
    fn record(&self, out: &mut Records, members: impl FnOnce(&mut Line)) {
        out.record("", |line| {
            line.raw(&self.head);
            line.open_member("message");
            line.word("role", "assistant");
            members(line);
            line.raw("},\"done\":false");
        });
    }
}

impl Encoder for Replies {
    fn start(&mut self, start: &Start<'_>, _out: &mut Records) {
        self.head.clear();
        head(start, &mut self.head);
    }

    fn piece(&mut self, block: &Block, text: &str, out: &mut Records) {
        self.record(out, |line| match block.kind {
            BlockKind::Reasoning { .. } => {
                line.word("content", "");
                line.text("thinking", text);
            }
            BlockKind::Text { .. } | BlockKind::Refusal => line.text("content", text),
        });
    }

    fn close(&mut self, block: &Block, out: &mut Records) {
        if block.signature.is_some() {
            out.note(Info::Signature);
        }
    }

    fn call(&mut self, _choice: u64, call: &ToolCall<'_>, out: &mut Records) {
        self.record(out, |line| {
            line.word("content", "");
            line.open_list("tool_calls");
            call_object(self.calls, call, line);
            line.close_list();
        });
        self.calls += 1;
    }

    fn keep_alive(&mut self, out: &mut Records) {
        self.record(out, |line| line.word("content", ""));
    }

    fn finish(&mut self, message: &Message<'_>, finish: &Finish<'_>, out: &mut Records) {
        out.record("", |line| {
            line.raw(&self.head);
            line.open_member("message");
            line.word("role", "assistant");
            line.word("content", "");
            line.close();
            last_members(message, finish, line);
        });
    }

    fn fail(&mut self, message: &Message<'_>, failure: &Failure<'_>, out: &mut Records) {
        let Usage { input_tokens, output_tokens, .. } = message.usage.unwrap_or_default();
        if message.usage.is_some() && out.is_empty() {
            // An error that is all is the body of one.
            self.keep_alive(out);
        }
        out.record("", |line| {
            line.text("error", &error_message(failure));
            line.maybe_number("prompt_eval_count", input_tokens);
            line.maybe_number("eval_count", output_tokens);
        });
    }

    fn body(&mut self, message: &Message<'_>, finish: &Finish<'_>, line: &mut Line) {
        head(&message.start, line);
        line.open_member("message");
        line.word("role", "assistant");
        let is_thought = |kind: &BlockKind| matches!(kind, BlockKind::Reasoning { .. });
        line.text("content", &texts(message.parts, |kind| !is_thought(kind)));
        let thoughts = texts(message.parts, is_thought);
        if !thoughts.is_empty() {
            line.text("thinking", &thoughts);
        }
        let mut list = Line::default();
        for (place, call) in (0..).zip(calls(message.parts)) {
            call_object(place, &call, &mut list);
        }
        if !list.is_empty() {
            line.list("tool_calls", &list);
        }
        line.close();
        last_members(message, finish, line);
    }
}

fn head(start: &Start<'_>, line: &mut Line) {
    line.raw("\"model\":");
    line.value(start.model.unwrap_or_default());
    line.word("created_at", &timestamp(start.created.unwrap_or(0)));
}

fn call_object(place: u64, call: &ToolCall<'_>, line: &mut Line) {
    line.open();
    line.text("id", call.id);
    line.open_member("function");
    line.number("index", place);
    line.text("name", call.name);
    line.minified("arguments", &input_object(call.input));
    line.close();
    line.close();
}

fn last_members(message: &Message<'_>, finish: &Finish<'_>, line: &mut Line) {
    let Usage { input_tokens, output_tokens, .. } = message.usage.unwrap_or_default();
    line.flag("done", true);
    line.text("done_reason", WRITING.word_of(message, finish));
    line.number("total_duration", 0);
    line.number("load_duration", 0);
    line.maybe_number("prompt_eval_count", input_tokens);
    line.number("prompt_eval_duration", 0);
    line.maybe_number("eval_count", output_tokens);
    line.number("eval_duration", 0);
}
