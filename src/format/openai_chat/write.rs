//! Writes chunks of a chat completion, and complete bodies.
//!
//! What clients need: the role in the first delta of each choice, the places of calls without a
//! gap, and their id, type and name in the first fragment; an error record ends a stream without
//! `[DONE]`.

use crate::event::{
    ByChoice, CallInput, Failure, Finish, FinishReason, Reasoning, Start, ToolCall, ToolCallDelta,
    ToolCallStart, Usage,
};
use crate::format::support::writing::{calls, error_type, error_word, input_object, texts};
use crate::format::write::{
    Block, BlockKind, Carry, Encoder, Envelope, Info, Message, Part, Records, Writing,
};
use crate::json::Line;

pub(super) static WRITING: Writing = Writing {
    envelopes: &[Envelope::SSE],
    has_choices: true,
    has_fragments: true,
    losses: &[
        (Info::CallPlace, Carry::As("calls after the text")),
        (Info::BodyOrder, Carry::As("thoughts, texts, calls")),
        (Info::ClosedCall, Carry::Lost),
        (Info::FailedBody, Carry::Lost),
        (Info::InvalidCall, Carry::Lost),
        (Info::OtherFragments, Carry::Error),
        (Info::Namespace, Carry::As("namespace__name")),
        (Info::FreeInput, Carry::As("an object with the member input, beside itself")),
        (Info::RunCall, Carry::Lost),
        (Info::Result, Carry::Lost),
        (Info::Part, Carry::Lost),
        (Info::ItemId, Carry::Lost),
        (Info::Channel, Carry::Lost),
        (Info::Block, Carry::Lost),
        (Info::Choice, Carry::Lost),
        (Info::FinishRefusal, Carry::As("content_filter")),
        (Info::FinishPause, Carry::As("stop")),
        (Info::FinishOther, Carry::As("stop")),
        (Info::StopSequence, Carry::Lost),
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
    fn delta(&mut self, choice: u64, out: &mut Records, members: impl FnOnce(&mut Line)) {
        let is_first = !self.choices.contains(choice);
        if is_first {
            self.choices.insert(choice, 0);
        }
        out.record("", |line| {
            line.raw(&self.head);
            line.open_list("choices");
            line.open();
            line.number("index", choice);
            line.open_member("delta");
            if is_first {
                line.word("role", "assistant");
            }
            members(line);
            line.raw("},\"logprobs\":null,\"finish_reason\":null}]");
        });
    }

    /// Writes a chunk with one call, or a fragment of one.
    fn call_delta(&mut self, choice: u64, out: &mut Records, members: impl FnOnce(&mut Line)) {
        self.delta(choice, out, |line| {
            line.open_list("tool_calls");
            line.open();
            members(line);
            line.close();
            line.close_list();
        });
    }

    /// Returns the place of the next call of a choice.
    fn next_place(&self, choice: u64) -> u64 {
        self.choices.get(choice).copied().unwrap_or(0)
    }

    /// Writes the chunk that says what the message cost, if that is known.
    fn usage(&self, message: &Message<'_>, out: &mut Records) {
        if let Some(usage) = &message.usage {
            out.record("", |line| {
                line.raw(&self.head);
                line.open_list("choices");
                line.close_list();
                usage_member(usage, line);
            });
        }
    }

    fn add_call(&mut self, choice: u64) {
        *self.choices.or_default(choice) += 1;
    }

    fn last(&mut self, choice: u64, reason: &str, out: &mut Records) {
        if !self.choices.contains(choice) {
            self.delta(choice, out, |_| {});
        }
        out.record("", |line| {
            line.raw(&self.head);
            line.open_list("choices");
            line.open();
            line.number("index", choice);
            line.open_member("delta");
            line.close();
            line.raw(",\"logprobs\":null");
            line.text("finish_reason", reason);
            line.close();
            line.close_list();
        });
    }
}

impl Encoder for ChatChunks {
    fn start(&mut self, start: &Start<'_>, _out: &mut Records) {
        self.head.clear();
        head(start, "chat.completion.chunk", &mut self.head);
    }

    fn piece(&mut self, block: &Block, text: &str, out: &mut Records) {
        let key = match block.kind {
            BlockKind::Text { .. } => "content",
            BlockKind::Reasoning { .. } => "reasoning_content",
            BlockKind::Refusal => "refusal",
        };
        self.delta(block.choice, out, |line| line.text(key, text));
    }

    fn close(&mut self, block: &Block, out: &mut Records) {
        if let Some(signature) = &block.signature {
            self.delta(block.choice, out, |line| {
                line.open_list("reasoning_details");
                signature_detail(signature, line);
                line.close_list();
            });
        }
    }

    fn redacted(&mut self, choice: u64, thought: &Reasoning<'_>, out: &mut Records) {
        self.delta(choice, out, |line| {
            line.open_list("reasoning_details");
            redacted_detail(thought, line);
            line.close_list();
        });
    }

    fn call(&mut self, choice: u64, call: &ToolCall<'_>, out: &mut Records) {
        let place = self.next_place(choice);
        self.call_delta(choice, out, |line| {
            line.number("index", place);
            call_members(call, line);
        });
        self.add_call(choice);
    }

    fn call_start(&mut self, choice: u64, call: &ToolCallStart, _is_free: bool, out: &mut Records) {
        let place = self.next_place(choice);
        self.call_delta(choice, out, |line| {
            line.number("index", place);
            line.text("id", call.id);
            line.word("type", "function");
            line.open_member("function");
            line.text("name", call.name);
            line.word("arguments", "");
            line.close();
        });
        self.add_call(choice);
    }

    fn call_piece(&mut self, choice: u64, delta: &ToolCallDelta<'_>, out: &mut Records) {
        let place = self.next_place(choice).saturating_sub(1);
        self.call_delta(choice, out, |line| {
            line.number("index", place);
            line.open_member("function");
            line.text("arguments", delta.arguments);
            line.close();
        });
    }

    fn call_stop(&mut self, choice: u64, call: Option<&ToolCall<'_>>, out: &mut Records) {
        let Some(signature) = call.and_then(|call| call.signature) else { return };
        let place = self.next_place(choice).saturating_sub(1);
        self.call_delta(choice, out, |line| {
            line.number("index", place);
            signature_member(signature, line);
        });
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
            line.open_member("error");
            line.text("message", failure.message);
            line.text("type", &error_type(failure));
            line.raw(",\"param\":null");
            line.text("code", &error_word(failure));
            line.close();
        });
    }

    fn body(&mut self, message: &Message<'_>, finish: &Finish<'_>, line: &mut Line) {
        head(&message.start, "chat.completion", line);
        line.open_list("choices");
        line.open();
        line.number("index", 0);
        line.open_member("message");
        line.word("role", "assistant");
        message_members(message.parts, line);
        line.close();
        line.raw(",\"logprobs\":null");
        line.text("finish_reason", WRITING.word_of(message, finish));
        line.close();
        line.close_list();
        if let Some(usage) = &message.usage {
            usage_member(usage, line);
        }
    }
}

fn head(start: &Start<'_>, object: &str, line: &mut Line) {
    line.raw("\"id\":");
    line.value(start.id.unwrap_or("chatcmpl-0"));
    line.word("object", object);
    line.number("created", start.created.unwrap_or(0));
    line.text("model", start.model.unwrap_or_default());
}

/// Adds the detail that holds a signature, in the form of OpenRouter.
fn signature_detail(signature: &str, line: &mut Line) {
    line.open();
    line.word("type", "reasoning.text");
    line.word("text", "");
    line.text("signature", signature);
    line.word("format", "unknown");
    line.number("index", 0);
    line.close();
}

fn redacted_detail(thought: &Reasoning<'_>, line: &mut Line) {
    line.open();
    line.word("type", "reasoning.encrypted");
    line.text("data", thought.redacted.unwrap_or_default());
    line.word("format", "unknown");
    line.number("index", 0);
    line.close();
}

/// Adds the members of a call. Free text is there twice: as OpenAI sends it, which none of the
/// clients reads in a stream, and as the only member of a function's arguments.
fn call_members(call: &ToolCall<'_>, line: &mut Line) {
    line.text("id", call.id);
    line.word("type", "function");
    line.open_member("function");
    line.text("name", call.name);
    line.text("arguments", &input_object(call.input));
    line.close();
    if let CallInput::Text(text) = call.input {
        line.open_member("custom");
        line.text("name", call.name);
        line.text("input", text);
        line.close();
    }
    if let Some(signature) = call.signature {
        signature_member(signature, line);
    }
}

/// Adds the signature of a call, in the form of Gemini's own surface for this format.
fn signature_member(signature: &str, line: &mut Line) {
    line.open_member("extra_content");
    line.open_member("google");
    line.text("thought_signature", signature);
    line.close();
    line.close();
}

/// Adds what a whole message holds.
fn message_members(parts: &[Part], line: &mut Line) {
    line.nullable("content", &texts(parts, |kind| matches!(kind, BlockKind::Text { .. })));
    line.nullable("refusal", &texts(parts, |kind| matches!(kind, BlockKind::Refusal)));
    let thoughts = texts(parts, |kind| matches!(kind, BlockKind::Reasoning { .. }));
    if !thoughts.is_empty() {
        line.text("reasoning_content", &thoughts);
    }
    let (mut details, mut list) = (Line::default(), Line::default());
    for part in parts {
        match part {
            Part::Block(Block { signature: Some(signature), .. }) => {
                signature_detail(signature, &mut details);
            }
            Part::Redacted(thought) => redacted_detail(&thought.get(), &mut details),
            _ => {}
        }
    }
    for call in calls(parts) {
        list.open();
        call_members(&call, &mut list);
        list.close();
    }
    for (key, list) in [("reasoning_details", details), ("tool_calls", list)] {
        if !list.is_empty() {
            line.list(key, &list);
        }
    }
}

fn usage_member(usage: &Usage<'_>, line: &mut Line) {
    line.open_member("usage");
    line.maybe_number("prompt_tokens", usage.input_tokens);
    line.maybe_number("completion_tokens", usage.output_tokens);
    line.maybe_number("total_tokens", usage.total_tokens);
    line.maybe_object(
        "prompt_tokens_details",
        &[
            ("cached_tokens", usage.cached_input_tokens),
            ("cache_write_tokens", usage.cache_write_tokens),
        ],
    );
    line.maybe_object("completion_tokens_details", &[("reasoning_tokens", usage.reasoning_tokens)]);
    line.close();
}
