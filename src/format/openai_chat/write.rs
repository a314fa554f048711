//! Writes chunks of a chat completion, and complete bodies.
//!
//! What clients need: the role in the first delta of each choice, the places of calls without a
//! gap, and their id, type and name in the first fragment; an error record ends a stream without
//! `[DONE]`.

use crate::format::support::write_prelude::*;

pub(super) static WRITING: Writing = Writing {
    envelopes: &[RecordEnvelope::SSE],
    has_choices: true,
    has_fragments: true,
    losses: &[
        (Info::CallPlace, Carry::As("calls after the text")),
        (Info::BodyOrder, Carry::As("thoughts, texts, calls")),
        (Info::ClosedCall, Carry::Lost),
        (Info::FailedBody, Carry::Lost),
        (Info::OtherFragments, Carry::Error),
        (Info::FreeInput, Carry::As("an object with the member input, beside itself")),
        (Info::RunCall, Carry::Lost),
        (Info::Part, Carry::Lost),
    ],
    reasons: &[
        (FinishReason::Stop, "stop"),
        (FinishReason::ToolCalls, "tool_calls"),
        (FinishReason::Length, "length"),
        (FinishReason::ContentFilter, "content_filter"),
        (FinishReason::Refusal, "content_filter"),
        (FinishReason::Pause, "stop"),
        (FinishReason::Other, "stop"),
        // As OpenRouter and Mistral have it.
        (FinishReason::Error, "error"),
    ],
    ..Writing::new("openai-chat", || Box::new(ChatChunks::default()))
};

#[derive(Default)]
struct ChatChunks {
    /// The members that all chunks begin with.
    head: Line,
    /// The choices that have had a delta, and the number of their calls.
    choices: ByChoice<u64>,
}

impl ChatChunks {
    /// Writes a chunk with one choice, whose delta has these members.
    fn delta(&mut self, choice: u64, out: &mut Records, add: impl FnOnce(&mut Line)) {
        self.chunk(choice, None, out, add);
    }

    /// Writes a chunk with one choice, and its reason to finish.
    fn chunk(
        &mut self,
        choice: u64,
        reason: Option<&str>,
        out: &mut Records,
        add: impl FnOnce(&mut Line),
    ) {
        let is_first = !self.choices.contains(choice);
        if is_first {
            self.choices.insert(choice, 0);
        }
        out.record("", |line| {
            members!(
                line;
                ..line.more(&self.head),
                "choices": [{
                    "index": choice,
                    "delta": { "role": is_first.then_some("assistant"), ..add(line) },
                    "logprobs": null,
                    "finish_reason": OrNull(reason),
                }],
            );
        });
    }

    /// Writes a chunk with a fragment of the call at this place.
    fn call_delta(&mut self, at: (u64, u64), out: &mut Records, add: impl FnOnce(&mut Line)) {
        let (choice, place) = at;
        self.delta(choice, out, |line| {
            members!(line; "tool_calls": [{ "index": place, ..add(line) }]);
        });
    }

    /// Writes a chunk that begins the next call of a choice.
    fn next_call(&mut self, choice: u64, out: &mut Records, add: impl FnOnce(&mut Line)) {
        let place = self.choices.get(choice).copied().unwrap_or(0);
        self.call_delta((choice, place), out, add);
        *self.choices.or_default(choice) += 1;
    }

    /// Writes a chunk with a fragment of the last call of a choice.
    fn last_call(&mut self, choice: u64, out: &mut Records, add: impl FnOnce(&mut Line)) {
        let place = self.choices.get(choice).map_or(0, |count| count.saturating_sub(1));
        self.call_delta((choice, place), out, add);
    }

    /// Writes the chunk that says what the message cost, if that is known.
    fn usage(&self, message: &Message<'_>, out: &mut Records) {
        if let Some(usage) = &message.usage {
            out.record("", |line| {
                members!(
                    line;
                    ..line.more(&self.head),
                    "choices": [],
                    ..usage_member(usage, line),
                );
            });
        }
    }

    fn last(&mut self, choice: u64, reason: &str, out: &mut Records) {
        if !self.choices.contains(choice) {
            self.delta(choice, out, |_| {});
        }
        self.chunk(choice, Some(reason), out, |_| {});
    }
}

impl Encoder for ChatChunks {
    fn start(&mut self, start: &Start<'_>, _out: &mut Records) {
        self.head.clear();
        head(start, "chat.completion.chunk", &mut self.head);
    }

    fn piece(&mut self, block: &TextBlock, text: &str, out: &mut Records) {
        let key = match block.kind {
            BlockKind::Text { .. } => "content",
            BlockKind::Reasoning { .. } => "reasoning_content",
            BlockKind::Refusal => "refusal",
        };
        self.delta(block.choice, out, |line| line.text(key, text));
    }

    fn close(&mut self, block: &TextBlock, out: &mut Records) {
        if let Some(signature) = &block.signature {
            self.delta(block.choice, out, |line| {
                members!(line; "reasoning_details": [..signature_detail(signature, line)]);
            });
        }
    }

    fn redacted(&mut self, choice: u64, thought: &Reasoning<'_>, out: &mut Records) {
        self.delta(choice, out, |line| {
            members!(line; "reasoning_details": [..redacted_detail(thought, line)]);
        });
    }

    fn call(&mut self, choice: u64, call: &ToolCall<'_>, out: &mut Records) {
        self.next_call(choice, out, |line| call_members(call, line));
    }

    fn call_start(&mut self, choice: u64, call: &ToolCallStart, _is_free: bool, out: &mut Records) {
        self.next_call(choice, out, |line| {
            members!(
                line;
                "id": call.id,
                "type": "function",
                "function": { "name": call.name, "arguments": "" },
            );
        });
    }

    fn call_piece(&mut self, choice: u64, delta: &ToolCallDelta<'_>, out: &mut Records) {
        self.last_call(choice, out, |line| {
            members!(line; "function": { "arguments": delta.arguments });
        });
    }

    fn call_stop(&mut self, choice: u64, call: Option<&ToolCall<'_>>, out: &mut Records) {
        if let Some(signature) = call.and_then(|call| call.signature) {
            self.last_call(choice, out, |line| signature_member(signature, line));
        }
    }

    fn finish_choice(
        &mut self,
        choice: u64,
        message: &Message<'_>,
        finish: &Finish<'_>,
        out: &mut Records,
    ) {
        self.last(choice, WRITING.word_of(message, finish), out);
    }

    fn finish(&mut self, message: &Message<'_>, finish: &Finish<'_>, out: &mut Records) {
        self.last(message.choice, WRITING.word_of(message, finish), out);
        self.usage(message, out);
        out.whole("[DONE]");
    }

    fn fail(&mut self, message: &Message<'_>, failure: &Failure<'_>, out: &mut Records) {
        self.usage(message, out);
        out.record("", |line| {
            members!(line; "error": {
                "message": failure.message,
                "type": &*error_type(failure),
                "param": null,
                "code": &*error_word(failure),
            });
        });
    }

    fn body(&mut self, message: &Message<'_>, finish: &Finish<'_>, line: &mut Line) {
        members!(
            line;
            ..head(&message.start, "chat.completion", line),
            "choices": [{
                "index": 0,
                "message": { "role": "assistant", ..message_members(message.parts, line) },
                "logprobs": null,
                "finish_reason": WRITING.word_of(message, finish),
            }],
            ..message.usage.iter().for_each(|usage| usage_member(usage, line)),
        );
    }
}

fn head(start: &Start<'_>, object: &str, line: &mut Line) {
    members!(
        line;
        "id": start.id.unwrap_or("chatcmpl-0"),
        "object": object,
        "created": start.created.unwrap_or(0),
        "model": start.model.unwrap_or(""),
    );
}

/// Adds the detail that holds a signature, in the form of OpenRouter.
fn signature_detail(signature: &str, line: &mut Line) {
    members!(line; {
        "type": "reasoning.text",
        "text": "",
        "signature": signature,
        "format": "unknown",
        "index": 0,
    });
}

fn redacted_detail(thought: &Reasoning<'_>, line: &mut Line) {
    members!(line; {
        "type": "reasoning.encrypted",
        "data": thought.redacted.unwrap_or(""),
        "format": "unknown",
        "index": 0,
    });
}

/// Adds the members of a call. Free text is there twice: as OpenAI sends it, which none of the
/// clients reads in a stream, and as the only member of a function's arguments.
fn call_members(call: &ToolCall<'_>, line: &mut Line) {
    members!(
        line;
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": &*input_object(call.input) },
        ..if let CallInput::Text(text) = call.input {
            members!(line; "custom": { "name": call.name, "input": text });
        },
        ..call.signature.into_iter().for_each(|signature| signature_member(signature, line)),
    );
}

/// Adds the signature of a call, in the form of Gemini's own surface for this format.
fn signature_member(signature: &str, line: &mut Line) {
    members!(line; "extra_content": { "google": { "thought_signature": signature } });
}

/// Adds what a whole message holds.
fn message_members(parts: &[Part], line: &mut Line) {
    let text = texts(parts, |kind| matches!(kind, BlockKind::Text { .. }));
    let refusal = texts(parts, |kind| matches!(kind, BlockKind::Refusal));
    let thoughts = texts(parts, |kind| matches!(kind, BlockKind::Reasoning { .. }));
    let (mut details, mut list) = (Line::default(), Line::default());
    for part in parts {
        match part {
            Part::Block(TextBlock { signature: Some(signature), .. }) => {
                signature_detail(signature, &mut details);
            }
            Part::Redacted(thought) => redacted_detail(&thought.get(), &mut details),
            _ => {}
        }
    }
    for call in calls(parts) {
        let list = &mut list;
        members!(list; { ..call_members(&call, list) });
    }
    members!(
        line;
        "content": OrNull(text.as_deref()),
        "refusal": OrNull(refusal.as_deref()),
        "reasoning_content": thoughts.as_deref(),
        "reasoning_details": ListOf(&details),
        "tool_calls": ListOf(&list),
    );
}

fn usage_member(usage: &Usage<'_>, line: &mut Line) {
    members!(line; "usage": {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": KnownCounts([
            ("cached_tokens", usage.cached_input_tokens),
            ("cache_write_tokens", usage.cache_write_tokens),
        ]),
        "completion_tokens_details": KnownCounts([("reasoning_tokens", usage.reasoning_tokens)]),
    });
}
