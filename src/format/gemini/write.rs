//! Writes chunks of a `GenerateContentResponse`, and complete ones.
//!
//! There is no end but that of the connection: a failed stream has an error record, whose first
//! key is `error`. Comments are no keep-alive: Google's client in Python reads them as JSON.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::format::support::write_prelude::*;

pub(super) static WRITING: Writing = Writing {
    envelopes: &[
        RecordEnvelope { after: "\r\n\r\n", idle: "\r\n", ..RecordEnvelope::SSE },
        RecordEnvelope {
            begin: "[",
            between: ",\r\n",
            end: "]\n",
            idle: "\r\n",
            ..RecordEnvelope::line("json-array", "")
        },
    ],
    has_choices: true,
    losses: &[
        (Info::FailedBody, Carry::Lost),
        (Info::FreeInput, Carry::As("an object with the member input")),
        (Info::CallSignature, Carry::As("base64 of it")),
        (Info::RunCall, Carry::Lost),
        (Info::Signature, Carry::As("base64 of it")),
        (Info::Redacted, Carry::Lost),
        (Info::Part, Carry::Lost),
        (Info::Refusal, Carry::As("text")),
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
    /// The start of the message, whose members all chunks end with, and its cost once it is known.
    tail: Line,
    /// The thought that has begun: clients take each part for a whole one.
    thought: String,
}

impl GeminiChunks {
    /// Writes a chunk with one part that has these members.
    fn write_part(&self, choice: u64, out: &mut Records, add: impl FnOnce(&mut Line)) {
        self.chunk(choice, None, out, add);
    }

    /// Writes a chunk with one part, and the reason to finish.
    fn chunk(
        &self,
        choice: u64,
        reason: Option<&str>,
        out: &mut Records,
        add: impl FnOnce(&mut Line),
    ) {
        out.record("", |line| {
            members!(
                line;
                "candidates": [{
                    "content": { "parts": [{ ..add(line) }], "role": "model" },
                    "finishReason": reason,
                    "index": choice,
                }],
                ..line.more(&self.tail),
            );
        });
    }
}

impl Encoder for GeminiChunks {
    fn start(&mut self, start: &Start<'_>, _out: &mut Records) {
        self.tail.clear();
        tail(start, &mut self.tail);
    }

    fn piece(&mut self, block: &TextBlock, text: &str, out: &mut Records) {
        if let BlockKind::Reasoning { .. } = block.kind {
            return self.thought.push_str(text);
        }
        self.write_part(block.choice, out, |line| text_members(&block.kind, text, line));
    }

    fn holds_block(&self) -> bool {
        !self.thought.is_empty()
    }

    fn begin_part(&mut self, block: &TextBlock, out: &mut Records) {
        let thought = std::mem::take(&mut self.thought);
        if !thought.is_empty() {
            self.write_part(block.choice, out, |line| text_members(&block.kind, &thought, line));
        }
    }

    fn close(&mut self, block: &TextBlock, out: &mut Records) {
        self.begin_part(block, out);
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
        let reason = WRITING.word_of(message, finish);
        self.chunk(choice, Some(reason), out, |line| line.text("text", ""));
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
                members!(line; ..line.more(&self.tail), ..usage_member(usage, line));
            });
        }
        let code = failure.provider_code.and_then(|code| code.parse::<u16>().ok());
        let status = failure.provider_code.filter(|code| code.parse::<u16>().is_err());
        out.bare(|line| {
            members!(line; "error": {
                "code": u64::from(failure.status.or(code).unwrap_or(500)),
                "message": &*error_message(failure),
                "status": status.unwrap_or("INTERNAL"),
            });
        });
    }

    fn body(&mut self, message: &Message<'_>, finish: &Finish<'_>, line: &mut Line) {
        members!(
            line;
            "candidates": [{
                "content": {
                    "parts": [..message.parts.iter().for_each(|part| body_parts(part, line))],
                    "role": "model",
                },
                "finishReason": WRITING.word_of(message, finish),
                "index": 0,
            }],
            ..tail(&message.start, line),
            ..message.usage.iter().for_each(|usage| usage_member(usage, line)),
        );
    }
}

fn tail(start: &Start<'_>, line: &mut Line) {
    let created = start.created.filter(|seconds| *seconds > 0).map(timestamp);
    members!(
        line;
        "modelVersion": start.model.unwrap_or(""),
        "responseId": start.id,
        "createTime": created.as_deref(),
    );
}

fn text_members(kind: &BlockKind, text: &str, line: &mut Line) {
    let is_thought = matches!(kind, BlockKind::Reasoning { .. });
    members!(line; "text": text, "thought": is_thought.then_some(true));
}

fn signature_members(signature: &str, line: &mut Line) {
    members!(line; "text": "", "thoughtSignature": signature);
}

fn call_members(call: &ToolCall<'_>, signature: Option<&str>, line: &mut Line) {
    let args = input_object(call.input);
    members!(
        line;
        "functionCall": { "id": call.id, "name": call.name, "args": Minified(&args) },
        "thoughtSignature": signature,
    );
}

/// Adds a part of a message as parts of a body.
fn body_parts(part: &Part, line: &mut Line) {
    match part {
        Part::Block(block) => {
            for text in texts_of_parts(block) {
                members!(line; { ..text_members(&block.kind, text, line) });
            }
            if let Some(signature) = &block.signature {
                members!(line; { ..signature_members(&base64_of(signature), line) });
            }
        }
        Part::Call(call) if call.get().executor.is_none() => {
            let call = call.get();
            let signature = call.signature.map(base64_of);
            members!(line; { ..call_members(&call, signature.as_deref(), line) });
        }
        Part::Call(_) | Part::Redacted(_) | Part::Result(_) => {}
    }
}

/// Adds what a message cost: thoughts are counted apart.
fn usage_member(usage: &Usage<'_>, line: &mut Line) {
    let thoughts = usage.reasoning_tokens;
    members!(line; "usageMetadata": {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": usage.output_tokens.map(|all| all.saturating_sub(thoughts.unwrap_or(0))),
        "thoughtsTokenCount": thoughts,
        "cachedContentTokenCount": usage.cached_input_tokens,
        "totalTokenCount": usage.total_tokens,
    });
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
    if json::decode_base64(text).is_some() { text.into() } else { STANDARD.encode(text).into() }
}
