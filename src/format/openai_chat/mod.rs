//! OpenAI Chat Completions, and the many servers that speak it: chunks of a
//! stream and complete bodies.
//!
//! Source: OpenAI API reference, "The chat completion chunk object". What
//! compatible servers add or leave out is noted beside each field.

pub(super) mod delta;
pub(super) mod payload;
pub(super) mod turn;
mod write;

use std::collections::BTreeSet;

use crate::event::ByChoice;
use crate::format::support::blocks::LatestBlocks;
use crate::format::support::calls::MAX_IDS;
use crate::format::support::prelude::*;
use delta::{ReasoningDetails, emit, emit_call};
use payload::{ChatChunk, ChatContent, ChatDelta, ChatToolCall, Choice, ProviderResult, Specific};

pub(super) static FORMAT: Format = Format {
    aliases: &["openai", "chat", "chat-completions"],
    about: "OpenAI Chat Completions and compatible servers, stream and body",
    link: "https://platform.openai.com/docs/api-reference/chat/streaming",
    evidence: &["choices"],
    sniff,
    request: Some(&turn::REQUEST),
    write: Some(&write::WRITING),
    ..Format::new("openai-chat", |_| {
        let (message, progress) = (Lifecycle::new(&FORMAT, USAGE), ChatProgress::default());
        Box::new(OpenAiChat { message, progress, ended: None, awaits_done: false, repeats: false })
    })
};

fn sniff(record: &Record) -> bool {
    let object = record.text("object").unwrap_or_default();
    let choices = record.get("choices").unwrap_or_default();
    // TGI named chats so before 2.0.
    let is_completion =
        (object == "text_completion" && !are_messages(choices)) || are_texts(choices);
    if object == "list" {
        let first = record.at("data.0.object").unwrap_or_default();
        return first == "\"chat.completion\"";
    }
    (choices.starts_with('[') || object.starts_with("chat.completion")) && !is_completion
}

/// True if these choices are texts, and no chat.
pub(super) fn are_texts(choices: &str) -> bool {
    choices.contains("\"text\"") && !are_messages(choices)
}

fn are_messages(choices: &str) -> bool {
    choices.contains("\"delta\"") || choices.contains("\"message\"")
}

/// The cache is counted in many places: OpenAI and most servers in the details;
/// Moonshot and Together `cached_tokens`; DeepSeek `prompt_cache_hit_tokens`;
/// Mistral `num_cached_tokens`; LiteLLM and Venice as Anthropic does; Copilot
/// `reasoning_tokens` at the top.
pub(super) const USAGE: &[CountRule] = &[
    ("prompt_tokens", Op::Is, &[Field::Input]),
    ("completion_tokens", Op::Is, &[Field::Output]),
    ("total_tokens", Op::Is, &[Field::Total]),
    ("prompt_tokens_details.cached_tokens", Op::Is, &[Field::Cached]),
    ("cached_tokens", Op::Is, &[Field::Cached]),
    ("prompt_cache_hit_tokens", Op::Is, &[Field::Cached]),
    ("num_cached_tokens", Op::Is, &[Field::Cached]),
    ("cache_read_input_tokens", Op::Is, &[Field::Cached]),
    ("prompt_tokens_details.cache_write_tokens", Op::Is, &[Field::CacheWrite]),
    ("prompt_tokens_details.cache_creation_tokens", Op::Is, &[Field::CacheWrite]),
    ("cache_creation_input_tokens", Op::Is, &[Field::CacheWrite]),
    ("completion_tokens_details.reasoning_tokens", Op::Is, &[Field::Reasoning]),
    ("reasoning_tokens", Op::Is, &[Field::Reasoning]),
];

struct OpenAiChat {
    message: Lifecycle,
    progress: ChatProgress,
    /// The hash of the id of the message that ended last.
    ended: Option<u64>,
    /// True if the framing promises a `[DONE]`.
    awaits_done: bool,
    /// True if the last record could repeat: see [`Repeatable`].
    repeats: bool,
}

/// The state of one message.
#[derive(Default)]
struct ChatProgress {
    /// For each choice, true if it has finished.
    finished: ByChoice<bool>,
    details: ByChoice<ReasoningDetails>,
    /// The sources of the answer: Perplexity repeats them.
    sources: LatestBlocks,
    /// The provider's calls whose results have come: LiteLLM repeats them.
    answered: BTreeSet<String>,
    /// True after a delta without a role: not every one has it.
    has_gone_on: bool,
    /// The hash of the model's name that the first words or calls came with.
    speaker: Option<u64>,
    /// True if the provider has counted the tokens.
    is_counted: bool,
    /// The calls that do not show that they are whole, by choice and place: they have a name and no
    /// arguments so far, or are free text.
    bare: BTreeSet<(u64, u64)>,
    /// The role of each choice that speaks, if it is not the model.
    others: ByChoice<String>,
}

impl ChatProgress {
    /// Notes if a call has arguments: one that has none yet, or takes free text, is whole only if the
    /// model stopped.
    fn note_arguments(&mut self, place: (u64, u64), call: &ChatToolCall) {
        let function = call.function.as_ref().filter(|function| !function.is_blank());
        let is_bare = match function {
            Some(function) if function.has_arguments() => {
                self.bare.remove(&place);
                false
            }
            Some(function) => function.name.non_empty().is_some(),
            None => call.custom.is_some(),
        };
        if is_bare && self.bare.len() < MAX_IDS {
            self.bare.insert(place);
        }
    }
}

impl Decoder for OpenAiChat {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        self.repeats = false;
        if frame.is_done() {
            self.close_counted(out)?;
            return self.done(out);
        }
        self.awaits_done = frame.framing.ends_with_done;
        if frame.event_type == "error" {
            return self.message.fail(&frame.text(), out);
        }
        read!(&frame, out, |chunk: ChatChunk| self.chunk(&frame, chunk, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if !self.message.is_open() {
            return Ok(());
        }
        if self.progress.finished.are_all() {
            if self.awaits_done && self.message.state != State::Failed {
                let message = "the stream ended without `[DONE]`, after its finish reason";
                out.warn(WarningCode::MissingDone, message)?;
            }
            return self.end(out);
        }
        self.close_finished(out)?;
        self.message.finish(out)
    }

    fn repeatable(&self) -> Option<&'static Repeatable> {
        self.repeats.then_some(&Repeatable {
            texts: &[
                "choices.content", "choices.reasoning", "choices.reasoning_content", "choices.text",
            ],
            unread: &["created", "obfuscation", "choices.token_id"],
            counts: Some("usage"),
            may_be_silent: true,
        })
    }

    fn on_repeat(&mut self, _text: &Str, counts: Option<&str>) {
        counts.into_iter().for_each(|counts| self.message.meter.feed(counts));
    }
}

impl OpenAiChat {
    fn chunk(&mut self, frame: &Frame, chunk: &ChatChunk, out: &mut EventOut) -> Done {
        if chunk.is_prelude() {
            return Ok(());
        }
        if chunk.choices.is_none() && chunk.usage.is_none() && chunk.failure().is_none() {
            return self.stray(frame, out);
        }
        let is_open = self.message.is_open();
        let is_body = chunk.all().any(|choice| choice.is_whole(is_open));
        self.turn_to(chunk, is_body, out)?;
        let (id, model) = (chunk.id.non_empty(), chunk.model.non_empty());
        // The rest of a message that has ended, once more.
        let is_rest = !chunk.has_role() && !is_body && id.is_some() && id.map(hash) == self.ended;
        let begins = chunk.failure().is_some() || chunk.has_content() && !is_rest;
        if !begins && self.message.passes_over(out)? {
            return Ok(());
        }
        self.message.head.created = chunk.created.and_then(|json| time(json.get()));
        self.message.begin(id, model, out)?;
        if self.progress.speaker.is_none() && chunk.all().any(Choice::says_something) {
            self.progress.speaker = model.map(hash);
        }
        if let Some(id) = id {
            self.message.rename(id);
        }
        let is_parted = is_body && chunk.is_parted();
        if is_parted {
            let message =
                "choices without an index, of which one lacks its calls, were read as one";
            out.warn(WarningCode::MissingIndex, message)?;
        }
        let numbered = || {
            chunk.all().zip(0..).map(|(choice, place)| match is_parted {
                true => (choice, 0),
                false => (choice, choice.index.unwrap_or(place)),
            })
        };
        for (choice, number) in numbered() {
            self.choice(choice, number, is_body, out)?;
        }
        self.extras(chunk, out)?;
        if chunk.all().any(Choice::passes_text) {
            self.unread(frame, out)?;
        }
        if let Some(error) = chunk.failure() {
            self.message.fail(error, out)?;
        }
        if !is_body {
            return Ok(());
        }
        for (choice, number) in numbered().filter(|(choice, _)| !choice.has_reason()) {
            match choice.finish_reason {
                // Snowflake's reason is always empty: its calls are whole.
                Some(_) => out.call_end(number, Key::None)?,
                // Without one, a body may have been cut: so are its calls.
                None => out.infer_finish(number, FinishReason::Other, None)?,
            }
        }
        self.done(out)
    }

    /// Ends the open message if a chunk is of another one.
    fn turn_to(&mut self, chunk: &ChatChunk, is_body: bool, out: &mut EventOut) -> Done {
        let id = chunk.id.non_empty();
        let is_other = self.message.is_open() && id.is_some() && id != self.message.id();
        let has_finished = self.progress.finished.are_all();
        // A new id with a role, after deltas that had none, or from another model than the one that has
        // spoken: the first stream broke, and another one came after it.
        let ChatProgress { has_gone_on, speaker, .. } = self.progress;
        let is_other_speaker = || speaker.is_some() && speaker != chunk.model.non_empty().map(hash);
        let is_cut = is_other
            && !has_finished
            && (is_body || chunk.has_role() && (has_gone_on || is_other_speaker()));
        // After all choices, no `[DONE]` is needed. (Avian changes the id of one message in its middle.)
        let is_next = is_other && has_finished && chunk.has_content();
        if is_cut {
            self.close(out)?;
            self.message.cut(out)?;
        } else if is_next || is_body && self.message.is_open() {
            self.end(out)?;
        }
        self.progress.has_gone_on |= !chunk.has_role() && chunk.all().next().is_some();
        Ok(())
    }

    /// A record that is none of this format's.
    fn stray(&mut self, frame: &Frame, out: &mut EventOut) -> Done {
        let record = Record::new(frame);
        if error::is_error(&record) {
            return self.message.fail(&frame.text(), out);
        }
        let name = record.text("object").or(record.text("type")).unwrap_or_default();
        let stored = record.get("data").filter(|_| name == "list").and_then(json::elements);
        if let Some(stored) = stored.filter(|stored| !stored.is_empty()) {
            return stored.into_iter().try_for_each(|json| {
                let frame = frame.with(json.as_bytes());
                read!(&frame, out, |chunk: ChatChunk| self.chunk(&frame, chunk, out))
            });
        }
        // Some proxies keep a stream alive with empty chunks.
        let is_empty_chunk = name.starts_with("chat.completion") || record.get("choices").is_some();
        if is_empty_chunk { Ok(()) } else { out.unknown(frame, &name) }
    }

    fn choice(&mut self, choice: &Choice, number: u64, is_body: bool, out: &mut EventOut) -> Done {
        self.progress.finished.or_default(number);
        out.check_choices(self.progress.finished.len())?;
        // Perplexity and Writer send a `message` beside each `delta`.
        let whole = choice.message.as_deref().filter(|_| is_body);
        if let Some(delta) = whole.or(choice.delta.as_ref()).or(choice.message.as_deref()) {
            self.delta(number, delta, whole.is_some(), out)?;
        }
        if let Some(json) = choice.messages {
            out.block(number, "messages", json.get())?;
        }
        if let Some(json) = choice.logprobs {
            self.repeats &= !out.raw_member(number, "logprobs", json.get())?;
        }
        self.usage(choice.usage);
        if let Some(raw) = choice.finish_reason.reason() {
            self.progress.finished.insert(number, true);
            out.finish_as(number, normalise(raw, choice), raw, None)?;
        }
        match choice.error {
            Some(error) => self.message.fail(error.get(), out),
            None => Ok(()),
        }
    }

    fn usage(&mut self, usage: Option<RawJson<'_>>) {
        if let Some(json) = usage.map(RawJson::get) {
            self.progress.is_counted |= json.starts_with('{');
            self.message.meter.feed(json);
        }
    }

    /// Takes note of a call's fragment. After a finish reason, a name begins another call, which
    /// needs a reason of its own: those before it are as complete as they will ever be.
    fn reopen(&mut self, number: u64, function: Option<&Function>, out: &mut EventOut) -> Done {
        if function.is_none_or(|function| function.name.non_empty().is_none()) {
            return Ok(());
        }
        match self.progress.finished.insert(number, false) {
            Some(true) => out.call_end(number, Key::None),
            _ => Ok(()),
        }
    }

    fn delta(
        &mut self,
        number: u64,
        delta: &Sourced<ChatDelta>,
        is_whole: bool,
        out: &mut EventOut,
    ) -> Done {
        if delta.role.is_some() {
            self.progress.others.remove(number);
            if let Some(role) = delta.role.other_role() {
                self.progress.others.insert(number, role.to_owned());
            }
        }
        if self.progress.others.contains(number) {
            return self.other(number, delta, out);
        }
        // Details may be cumulative: what comes of them depends on those before,
        // unless the thought stands beside them.
        let has_details = delta.reasoning_details.iter().flatten().next().is_some();
        self.repeats = !has_details || delta.thought().is_some();
        out.native(number, Of::Message, Piece::new(delta.json, is_whole))?;
        emit(number, delta, is_whole, self.progress.details.or_default(number), out)?;
        for (call, place) in delta.tool_calls.iter().flat_map(|calls| &calls.0).zip(0..) {
            self.reopen(number, call.function.as_ref(), out)?;
            // Each call of a whole message is another one, whatever its id.
            let index = if is_whole { Some(place) } else { call.index };
            self.progress.note_arguments((number, index.unwrap_or(place)), call);
            emit_call(number, index, call, is_whole, out)?;
        }
        for (id, function) in delta.tool_uses() {
            self.reopen(number, Some(&function), out)?;
            function.emit(number, CallPart { id, ..CallPart::default() }, out)?;
        }
        if let Some(function) = delta.function_call.as_ref().filter(|call| !call.is_blank()) {
            self.reopen(number, Some(function), out)?;
            let native = Some(Piece::new(function.json, is_whole));
            let part = CallPart { key: Key::Index(0), native, ..CallPart::default() };
            function.emit(number, CallPart { has_name_pieces: true, ..part }, out)?;
        }
        let specific = delta.provider_specific_fields.as_ref();
        for given in specific.into_iter().flat_map(Specific::results) {
            self.result(number, given, out)?;
        }
        for (name, json) in delta.blocks() {
            out.block(number, name, json)?;
        }
        Ok(())
    }

    /// Takes what is not the model's: words that it was sent, or what a tool gave it.
    #[cold]
    fn other(&mut self, number: u64, delta: &Sourced<ChatDelta>, out: &mut EventOut) -> Done {
        self.repeats = false;
        let role = self.progress.others.get(number).map_or("", String::as_str);
        match (role, &delta.content) {
            ("tool" | "function", Some(ChatContent::Text(text))) => {
                let (id, output) = (delta.tool_call_id.or_empty(), Output::Text(text.as_str()));
                let name = delta.name.non_empty();
                let result = ToolResult { id, name, output, ..ToolResult::default() };
                out.emit(number, Kind::ToolResult(result))
            }
            _ => out.block(number, role, delta.json),
        }
    }

    /// Warns of the members of deltas that nothing here reads, and that hold text or an object.
    #[cold]
    fn unread(&mut self, frame: &Frame, out: &mut EventOut) -> Done {
        self.repeats = false;
        let text = frame.text();
        let choices = json::member(&text, "choices").and_then(json::elements).unwrap_or_default();
        for choice in choices {
            let number = json::member(choice, "index").and_then(|index| index.parse().ok());
            let deltas =
                ["delta", "message"].into_iter().filter_map(|key| json::member(choice, key));
            for delta in deltas {
                out.unread(number.unwrap_or(0), delta, ChatDelta::reads)?;
            }
        }
        Ok(())
    }

    /// Takes the members beside the choices.
    fn extras(&mut self, chunk: &ChatChunk, out: &mut EventOut) -> Done {
        self.usage(chunk.usage);
        self.usage(chunk.x_groq.as_ref().and_then(|groq| groq.usage));
        for (name, json) in chunk.sources().into_iter().flatten() {
            self.progress.sources.feed(0, name, json, out)?;
        }
        Ok(())
    }

    /// Emits a result of the provider's own tools, whose calls are among the others.
    fn result(&mut self, number: u64, given: &ProviderResult, out: &mut EventOut) -> Done {
        let id = given.tool_use_id.or_empty();
        if !self.progress.answered.insert(id.to_owned()) {
            return Ok(());
        }
        out.check_limit(self.progress.answered.len(), MAX_IDS, "ids of results in one message")?;
        let executor = Some(Executor::Provider);
        let output = output_of(given.content);
        let result = ToolResult { id, output, executor, ..ToolResult::default() };
        out.emit(number, Kind::ToolResult(result))
    }

    /// `[DONE]`, or a whole body: the end of the message, whether or not it
    /// gave a reason. Calls are final only with one.
    fn done(&mut self, out: &mut EventOut) -> Done {
        if !self.message.is_open() {
            return Ok(());
        }
        if self.progress.finished.values().any(|&finished| !finished)
            && self.message.state != State::Failed
        {
            out.warn(WarningCode::NoFinishReason, "the message ended without a finish reason")?;
        }
        self.end(out)
    }

    /// `[DONE]` after the usage: the provider counted what the model wrote, so it was done. The calls
    /// of a choice without a reason end here (recorded of gpt-audio).
    fn close_counted(&mut self, out: &mut EventOut) -> Done {
        if !self.progress.is_counted || self.message.state == State::Failed {
            return Ok(());
        }
        let ChatProgress { finished, bare, .. } = &self.progress;
        let is_bare = |choice: u64| bare.range((choice, 0)..=(choice, u64::MAX)).next().is_some();
        let open = finished.iter().filter(|(choice, finished)| !**finished && !is_bare(*choice));
        open.map(|(choice, _)| choice).try_for_each(|choice| out.call_end(choice, Key::None))
    }

    fn close_finished(&mut self, out: &mut EventOut) -> Done {
        let finished = self.progress.finished.iter().filter(|(_, finished)| **finished);
        finished.map(|(choice, _)| choice).try_for_each(|choice| out.call_end(choice, Key::None))
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.close(out)?;
        self.message.end(out)
    }

    /// Closes the choices that have finished, and forgets what is of one message.
    fn close(&mut self, out: &mut EventOut) -> Done {
        self.close_finished(out)?;
        self.ended = self.message.id().map(hash);
        self.progress = ChatProgress::default();
        Ok(())
    }
}

/// OpenRouter writes `tool_calls` for calls that its provider cut, and `stop` for what failed or was
/// filtered, and holds the truth beside it.
fn normalise(raw: &str, choice: &Choice) -> FinishReason {
    let native = choice.native_finish_reason.text();
    match native.map(finish::normalise) {
        Some(reason) if reason == FinishReason::Length || reason.is_failure() => reason,
        _ => finish::normalise(raw),
    }
}
