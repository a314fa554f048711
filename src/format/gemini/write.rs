//! Writes chunks of a `GenerateContentResponse`, and complete ones.
//!
//! There is no end but that of the connection: a failed stream has an error record, whose first
//! key is `error`. Comments are no keep-alive: Google's client in Python reads them as JSON.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::event::{Failure, Finish, FinishReason, Start, ToolCall, Usage};
use crate::format::support::writing::{error_message, input_object, texts_of_parts, timestamp};
use crate::format::write::{
    Block, BlockKind, Carry, Encoder, Envelope, Info, Message, Part, Records, Writing,
};
use crate::json;
use crate::json::Line;

pub(super) static WRITING: Writing = Writing {
    envelopes: &[
        Envelope { after: "\r\n\r\n", idle: "\r\n", ..Envelope::SSE },
        Envelope {
            begin: "[",
            between: ",\r\n",
            end: "]\n",
            idle: "\r\n",
            ..Envelope::line("json-array", "")
        },
    ],
    has_choices: true,
    losses: &[
        (Info::FailedBody, Carry::Lost),
        (Info::InvalidCall, Carry::Lost),
        (Info::FreeInput, Carry::As("an object with the member input")),
        (Info::CallSignature, Carry::As("base64 of it")),
        (Info::Namespace, Carry::As("namespace__name")),
        (Info::RunCall, Carry::Lost),
        (Info::Result, Carry::Lost),
        (Info::Signature, Carry::As("base64 of it")),
        (Info::Redacted, Carry::Lost),
        (Info::Part, Carry::Lost),
        (Info::ItemId, Carry::Lost),
        (Info::Channel, Carry::Lost),
        (Info::Refusal, Carry::As("text")),
        (Info::Block, Carry::Lost),
        (Info::Choice, Carry::Lost),
        (Info::FinishRefusal, Carry::As("SAFETY")),
        (Info::FinishPause, Carry::As("OTHER")),
        (Info::FinishError, Carry::Error),
        (Info::StopSequence, Carry::Lost),
        (Info::CacheWriteTokens, Carry::Lost),
        (Info::ErrorCode, Carry::As("a part of its message")),
    ],
    reasons: &[
        (FinishReason::Stop, "STOP"),
        (FinishReason::ToolCalls, "STOP"),
        (FinishReason::Length, "MAX_TOKENS"),
        (FinishReason::ContentFilter, "SAFETY"),
        (FinishReason::Refusal, "SAFETY"),
        (FinishReason::Pause, "OTHER"),
        (FinishReason::Other, "OTHER"),
    ],
    ..Writing::new("gemini", || Box::new(GeminiChunks::default()))
};

#[derive(Default)]
struct GeminiChunks {
    /// The members that all chunks end with.
    tail: Line,
    /// The thought that has begun: clients take each part for a whole one.
    thought: String,
}

impl GeminiChunks {
    /// Writes a chunk with one part that has these members.
    fn write_part(&self, choice: u64, out: &mut Records, members: impl FnOnce(&mut Line)) {
        self.chunk(choice, out, members, |_| {});
    }

    /// Writes a chunk with one part, and other members of its candidate.
    fn chunk(
        &self,
        choice: u64,
        out: &mut Records,
        part: impl FnOnce(&mut Line),
        candidate: impl FnOnce(&mut Line),
    ) {
        out.record("", |line| {
            line.raw("\"candidates\":[{\"content\":{\"parts\":[{");
            part(line);
            line.raw("}],\"role\":\"model\"}");
            candidate(line);
            line.number("index", choice);
            line.raw("}],");
            line.raw(&self.tail);
        });
    }
}

impl Encoder for GeminiChunks {
    fn start(&mut self, start: &Start<'_>, _out: &mut Records) {
        self.tail.clear();
        tail(start, &mut self.tail);
    }

    fn piece(&mut self, block: &Block, text: &str, out: &mut Records) {
        if let BlockKind::Reasoning { .. } = block.kind {
            return self.thought.push_str(text);
        }
        self.write_part(block.choice, out, |line| text_members(&block.kind, text, line));
    }

    fn keeps(&self) -> bool {
        !self.thought.is_empty()
    }

    fn part(&mut self, block: &Block, out: &mut Records) {
        let thought = std::mem::take(&mut self.thought);
        if !thought.is_empty() {
            self.write_part(block.choice, out, |line| text_members(&block.kind, &thought, line));
        }
    }

    fn close(&mut self, block: &Block, out: &mut Records) {
        self.part(block, out);
        if let Some(signature) = &block.signature {
            let signature = encoded(signature, Info::Signature, out);
            self.write_part(block.choice, out, |line| signature_members(&signature, line));
        }
    }

    fn call(&mut self, choice: u64, call: &ToolCall<'_>, out: &mut Records) {
        let signature =
            call.signature.map(|signature| encoded(signature, Info::CallSignature, out));
        self.write_part(choice, out, |line| call_members(call, signature.as_deref(), line));
    }

    fn finish_choice(
        &mut self,
        choice: u64,
        message: &Message<'_>,
        finish: &Finish<'_>,
        out: &mut Records,
    ) {
        let word = WRITING.word_of(message, finish);
        let reason = |line: &mut Line| line.text("finishReason", word);
        self.chunk(choice, out, |line| line.word("text", ""), reason);
    }

    fn finish(&mut self, message: &Message<'_>, finish: &Finish<'_>, out: &mut Records) {
        if let Some(usage) = message.usage {
            usage_member(&usage, &mut self.tail);
        }
        self.finish_choice(message.choice, message, finish, out);
    }

    fn fail(&mut self, message: &Message<'_>, failure: &Failure<'_>, out: &mut Records) {
        if let Some(usage) = &message.usage {
            out.record("", |line| {
                line.raw(&self.tail);
                usage_member(usage, line);
            });
        }
        let code = failure.provider_code.and_then(|code| code.parse::<u16>().ok());
        let code = failure.status.or(code).unwrap_or(500);
        let status = failure.provider_code.filter(|code| code.parse::<u16>().is_err());
        out.bare(|line| {
            line.open_member("error");
            line.number("code", code.into());
            line.text("message", &error_message(failure));
            line.text("status", status.unwrap_or("INTERNAL"));
            line.close();
        });
    }

    fn body(&mut self, message: &Message<'_>, finish: &Finish<'_>, line: &mut Line) {
        line.raw("\"candidates\":[{\"content\":{\"parts\":[");
        for part in message.parts {
            body_parts(part, line);
        }
        line.raw("],\"role\":\"model\"}");
        line.text("finishReason", WRITING.word_of(message, finish));
        line.raw(",\"index\":0}],");
        tail(&message.start, line);
        if let Some(usage) = message.usage {
            usage_member(&usage, line);
        }
    }
}

fn tail(start: &Start<'_>, line: &mut Line) {
    line.raw("\"modelVersion\":");
    line.value(start.model.unwrap_or_default());
    line.maybe_text("responseId", start.id);
    let created = start.created.filter(|seconds| *seconds > 0).map(timestamp);
    line.maybe_text("createTime", created.as_deref());
}

fn text_members(kind: &BlockKind, text: &str, line: &mut Line) {
    line.text("text", text);
    if let BlockKind::Reasoning { .. } = kind {
        line.flag("thought", true);
    }
}

fn signature_members(signature: &str, line: &mut Line) {
    line.word("text", "");
    line.text("thoughtSignature", signature);
}

fn call_members(call: &ToolCall<'_>, signature: Option<&str>, line: &mut Line) {
    line.open_member("functionCall");
    line.text("id", call.id);
    line.text("name", call.name);
    line.minified("args", &input_object(call.input));
    line.close();
    line.maybe_text("thoughtSignature", signature);
}

/// Adds a part of a message as parts of a body.
fn body_parts(part: &Part, line: &mut Line) {
    match part {
        Part::Block(block) => {
            for text in texts_of_parts(block) {
                line.open();
                text_members(&block.kind, text, line);
                line.close();
            }
            if let Some(signature) = &block.signature {
                line.open();
                signature_members(&base64_of(signature), line);
                line.close();
            }
        }
        Part::Call(call) if call.get().executor.is_none() => {
            let call = call.get();
            let signature = call.signature.map(base64_of);
            line.open();
            call_members(&call, signature.as_deref(), line);
            line.close();
        }
        Part::Call(_) | Part::Redacted(_) | Part::Result(_) => {}
    }
}

/// Adds what a message cost: thoughts are counted apart.
fn usage_member(usage: &Usage<'_>, line: &mut Line) {
    let thoughts = usage.reasoning_tokens;
    let answer = usage.output_tokens.map(|all| all.saturating_sub(thoughts.unwrap_or(0)));
    line.open_member("usageMetadata");
    line.maybe_number("promptTokenCount", usage.input_tokens);
    line.maybe_number("candidatesTokenCount", answer);
    line.maybe_number("thoughtsTokenCount", thoughts);
    line.maybe_number("cachedContentTokenCount", usage.cached_input_tokens);
    line.maybe_number("totalTokenCount", usage.total_tokens);
    line.close();
}

/// Returns a signature as it may stand in a part, and notes if it had to be changed.
fn encoded<'s>(signature: &'s str, info: Info, out: &mut Records) -> Cow<'s, str> {
    let encoded = base64_of(signature);
    if let Cow::Owned(_) = encoded {
        out.note(info);
    }
    encoded
}

/// Returns text that is base64, of either alphabet, as it is; other text as base64.
fn base64_of(text: &str) -> Cow<'_, str> {
    match json::decode_base64(text).is_some() {
        true => text.into(),
        false => STANDARD.encode(text).into(),
    }
}
