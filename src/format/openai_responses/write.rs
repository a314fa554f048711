//! Writes the events of a response, and complete responses.
//!
//! What clients need: every item and part announced before its deltas, one id of an item
//! everywhere, and all items once more in the last event.

use crate::event::{
    CallInput, Failure, Finish, FinishReason, Reasoning, Start, ToolCall, ToolCallDelta,
    ToolCallStart, Usage,
};
#[cfg(feature = "cli")]
use crate::format::reply::Trouble;
use crate::format::support::writing::{error_word, texts_of_parts};
use crate::format::write::{
    Block, BlockKind, Carry, Encoder, Envelope, Info, Message, Records, Writing,
};
use crate::json::Line;

pub(super) static WRITING: Writing = Writing {
    envelopes: &[Envelope::NAMED],
    gathers: true,
    has_fragments: true,
    channels: &[COMMENTARY],
    losses: &[
        (Info::InvalidCall, Carry::Lost),
        (Info::OtherFragments, Carry::Error),
        (Info::CallSignature, Carry::Lost),
        (Info::RunCall, Carry::Lost),
        (Info::Result, Carry::Lost),
        (Info::Channel, Carry::Lost),
        (Info::Block, Carry::Lost),
        (Info::Choice, Carry::Lost),
        (Info::FinishRefusal, Carry::As("content_filter")),
        (Info::FinishPause, Carry::As("completed")),
        (Info::FinishOther, Carry::As("completed")),
        (Info::FinishError, Carry::Error),
        (Info::StopSequence, Carry::Lost),
        (Info::NoUsage, Carry::As("null, and zeros for its parts")),
    ],
    ..Writing::new("openai-responses", || Box::new(ResponseEvents::default()))
};

/// The text that is no answer: the only channel with a name here.
const COMMENTARY: &str = "commentary";

#[derive(Default)]
struct ResponseEvents {
    /// The number of events so far.
    sequence: u64,
    /// The items that are complete.
    output: Line,
    /// The place of the item that is open, or of the next one.
    place: u64,
    /// The id of the item that is open.
    id: String,
    /// The number of parts of the thought that is open, and whether the last one is.
    parts: u64,
    is_part_open: bool,
    /// The call that is written in fragments.
    fragmented: Option<Fragmented>,
}

struct Fragmented {
    id: String,
    name: String,
    kind: &'static CallKind,
    text: String,
}

/// The words of a type of call.
struct CallKind {
    item: &'static str,
    prefix: &'static str,
    key: &'static str,
    event: &'static str,
}

static FUNCTION: CallKind = CallKind {
    item: "function_call",
    prefix: "fc",
    key: "arguments",
    event: "response.function_call_arguments",
};

static CUSTOM: CallKind = CallKind {
    item: "custom_tool_call",
    prefix: "ctc",
    key: "input",
    event: "response.custom_tool_call_input",
};

impl CallKind {
    fn of(input: CallInput<'_>) -> &'static Self {
        match input {
            CallInput::Arguments(_) => &FUNCTION,
            CallInput::Text(_) => &CUSTOM,
        }
    }
}

impl ResponseEvents {
    /// Writes an event of this type.
    fn record(&mut self, kind: &str, out: &mut Records, members: impl FnOnce(&Self, &mut Line)) {
        out.record(kind, |line| {
            line.word("type", kind);
            line.number("sequence_number", self.sequence);
            members(self, line);
        });
        self.sequence += 1;
    }

    /// Writes an event of the item that is open.
    fn event(&mut self, kind: &str, out: &mut Records, members: impl FnOnce(&mut Line)) {
        self.record(kind, out, |events, line| {
            line.text("item_id", &events.id);
            line.number("output_index", events.place);
            members(line);
        });
    }

    /// Writes that an item begins; `item` adds its members.
    fn add(&mut self, id: String, out: &mut Records, item: impl FnOnce(&str, &mut Line)) {
        self.id = id;
        self.record("response.output_item.added", out, |events, line| {
            line.number("output_index", events.place);
            line.open_member("item");
            item(&events.id, line);
            line.close();
        });
    }

    /// Writes that the open item is complete.
    fn done(&mut self, out: &mut Records, item: impl FnOnce(&str, &mut Line)) {
        let mut json = Line::default();
        json.open();
        item(&self.id, &mut json);
        json.close();
        self.output.raw(if self.output.is_empty() { "" } else { "," });
        self.output.raw(&json);
        self.record("response.output_item.done", out, |events, line| {
            line.number("output_index", events.place);
            line.object("item", &json);
        });
        self.place += 1;
    }

    /// The id of the next item, if the source has none.
    fn mint(&self, prefix: &str, known: Option<&str>) -> String {
        known.map_or_else(|| format!("{prefix}_{}", self.place), str::to_owned)
    }

    /// Begins a part of a thought, if none is open.
    fn begin_part(&mut self, out: &mut Records) {
        if std::mem::replace(&mut self.is_part_open, true) {
            return;
        }
        let place = self.parts;
        self.event("response.reasoning_summary_part.added", out, |line| {
            line.number("summary_index", place);
            line.open_member("part");
            summary_members("", line);
            line.close();
        });
    }

    /// Ends the part of a thought that is open.
    fn end_part(&mut self, text: &str, out: &mut Records) {
        if !std::mem::take(&mut self.is_part_open) {
            return;
        }
        let place = self.parts;
        self.parts += 1;
        self.event("response.reasoning_summary_text.done", out, |line| {
            line.number("summary_index", place);
            line.text("text", text);
        });
        self.event("response.reasoning_summary_part.done", out, |line| {
            line.number("summary_index", place);
            line.open_member("part");
            summary_members(text, line);
            line.close();
        });
    }

    fn call_begin(&mut self, kind: &CallKind, item: CallItem<'_>, out: &mut Records) {
        let id = self.mint(kind.prefix, item.item_id);
        self.add(id, out, |id, line| item.members(kind, id, "in_progress", line));
    }

    fn call_end(&mut self, kind: &CallKind, item: CallItem<'_>, status: &str, out: &mut Records) {
        self.event(&format!("{}.done", kind.event), out, |line| {
            line.text(kind.key, item.text);
            line.text("name", item.name);
        });
        self.done(out, |id, line| item.members(kind, id, status, line));
    }

    /// Writes the event that holds the response in this state.
    fn response(&mut self, kind: &str, response: &WrittenResponse<'_>, out: &mut Records) {
        self.record(kind, out, |events, line| {
            line.open_member("response");
            response.members(&events.output, line);
            line.close();
        });
    }
}

impl Encoder for ResponseEvents {
    fn start(&mut self, start: &Start<'_>, out: &mut Records) {
        let response =
            WrittenResponse { start: *start, status: "in_progress", ..WrittenResponse::default() };
        self.response("response.created", &response, out);
        self.response("response.in_progress", &response, out);
    }

    fn open(&mut self, block: &Block, out: &mut Records) {
        let (prefix, known) = id_of(&block.kind);
        let id = self.mint(prefix, known);
        let empty = Block { text: String::new(), signature: None, ..block.clone() };
        self.add(id, out, |id, line| block_members(&empty, id, false, line));
        (self.parts, self.is_part_open) = (0, false);
        if !matches!(block.kind, BlockKind::Reasoning { .. }) {
            self.event("response.content_part.added", out, |line| {
                line.number("content_index", 0);
                line.open_member("part");
                content_members(&empty, line);
                line.close();
            });
        }
    }

    fn piece(&mut self, block: &Block, text: &str, out: &mut Records) {
        let is_thought = matches!(block.kind, BlockKind::Reasoning { .. });
        let place = self.parts;
        if is_thought {
            self.begin_part(out);
        }
        let (kind, key) = match block.kind {
            BlockKind::Text { .. } => ("response.output_text.delta", "content_index"),
            BlockKind::Refusal => ("response.refusal.delta", "content_index"),
            BlockKind::Reasoning { .. } => {
                ("response.reasoning_summary_text.delta", "summary_index")
            }
        };
        self.event(kind, out, |line| {
            line.number(key, if is_thought { place } else { 0 });
            line.text("delta", text);
            if let BlockKind::Text { .. } = block.kind {
                line.minified("logprobs", "[]");
            }
        });
    }

    fn part(&mut self, block: &Block, out: &mut Records) {
        self.end_part(texts_of_parts(block).nth_back(1).unwrap_or_default(), out);
    }

    fn close(&mut self, block: &Block, out: &mut Records) {
        let text = block.text.as_str();
        let (kind, key) = match block.kind {
            BlockKind::Text { .. } => ("response.output_text.done", "text"),
            BlockKind::Refusal => ("response.refusal.done", "refusal"),
            BlockKind::Reasoning { .. } => {
                if block.signature.is_some() && text.is_empty() {
                    self.begin_part(out);
                }
                self.end_part(texts_of_parts(block).next_back().unwrap_or_default(), out);
                return self.done(out, |id, line| block_members(block, id, true, line));
            }
        };
        self.event(kind, out, |line| {
            line.number("content_index", 0);
            line.text(key, text);
            if let BlockKind::Text { .. } = block.kind {
                line.minified("logprobs", "[]");
            }
        });
        self.event("response.content_part.done", out, |line| {
            line.number("content_index", 0);
            line.open_member("part");
            content_members(block, line);
            line.close();
        });
        self.done(out, |id, line| block_members(block, id, true, line));
    }

    fn redacted(&mut self, _choice: u64, thought: &Reasoning<'_>, out: &mut Records) {
        let id = self.mint("rs", thought.item_id);
        self.add(id, out, |id, line| redacted_members(thought, id, line));
        self.done(out, |id, line| redacted_members(thought, id, line));
    }

    fn call(&mut self, _choice: u64, call: &ToolCall<'_>, out: &mut Records) {
        let (kind, item) = (CallKind::of(call.input), CallItem::of(call));
        self.call_begin(kind, CallItem { text: "", ..item }, out);
        self.event(&format!("{}.delta", kind.event), out, |line| line.text("delta", item.text));
        self.call_end(kind, item, "completed", out);
    }

    fn call_start(&mut self, _choice: u64, call: &ToolCallStart, is_free: bool, out: &mut Records) {
        let kind = if is_free { &CUSTOM } else { &FUNCTION };
        let (id, name) = (call.id.to_owned(), call.name.to_owned());
        let call = Fragmented { id, name, kind, text: String::new() };
        self.call_begin(kind, call.item(), out);
        self.fragmented = Some(call);
    }

    fn call_piece(&mut self, _choice: u64, delta: &ToolCallDelta<'_>, out: &mut Records) {
        let Some(call) = &mut self.fragmented else { return };
        call.text.push_str(delta.arguments);
        let event = format!("{}.delta", call.kind.event);
        self.event(&event, out, |line| line.text("delta", delta.arguments));
    }

    fn call_left(&mut self) {
        self.fragmented = None;
        self.place += 1;
    }

    fn call_stop(&mut self, _choice: u64, call: Option<&ToolCall<'_>>, out: &mut Records) {
        let Some(cut) = self.fragmented.take() else { return };
        match call {
            Some(call) => self.call_end(cut.kind, CallItem::of(call), "completed", out),
            None => self.call_end(cut.kind, cut.item(), "incomplete", out),
        }
    }

    fn finish(&mut self, message: &Message<'_>, finish: &Finish<'_>, out: &mut Records) {
        let response = WrittenResponse::finished(message, finish);
        if message.usage.is_none_or(|usage| required(&usage).contains(&None)) {
            out.note(Info::NoUsage);
        }
        self.response(&format!("response.{}", response.status), &response, out);
    }

    fn fail(&mut self, message: &Message<'_>, failure: &Failure<'_>, out: &mut Records) {
        let response = WrittenResponse {
            start: message.start,
            status: "failed",
            usage: message.usage,
            error: Some(failure),
            ..WrittenResponse::default()
        };
        match out.is_body() {
            true => out.record("", |line| response.members(&self.output, line)),
            false => self.response("response.failed", &response, out),
        }
    }

    fn body(&mut self, message: &Message<'_>, finish: &Finish<'_>, line: &mut Line) {
        WrittenResponse::finished(message, finish).members(&self.output, line);
    }
}

/// Returns the event of a response that failed.
#[cfg(feature = "cli")]
pub(super) fn failed(trouble: &Trouble<'_>) -> String {
    use crate::event::Code;

    let failure = Failure::new(Code::Provider, trouble.message, None);
    let failure = Failure { provider_code: Some(trouble.word), ..failure };
    let (status, error) = ("failed", Some(&failure));
    let response =
        WrittenResponse { start: trouble.start, status, error, ..WrittenResponse::default() };
    let mut line = Line::default();
    line.open();
    line.word("type", "response.failed");
    line.number("sequence_number", trouble.records as u64);
    line.open_member("response");
    response.members(&Line::default(), &mut line);
    line.close();
    line.close();
    String::from_utf8_lossy(line.as_ref()).into_owned()
}

/// A response in some state.
#[derive(Default)]
struct WrittenResponse<'r> {
    start: Start<'r>,
    status: &'static str,
    /// The reason why it is incomplete.
    reason: Option<&'static str>,
    usage: Option<Usage<'r>>,
    error: Option<&'r Failure<'r>>,
}

impl<'r> WrittenResponse<'r> {
    fn finished(message: &Message<'r>, finish: &Finish<'_>) -> Self {
        let reason = match finish.finish_reason {
            FinishReason::Length => Some("max_output_tokens"),
            FinishReason::ContentFilter | FinishReason::Refusal => Some("content_filter"),
            _ => None,
        };
        let status = if reason.is_some() { "incomplete" } else { "completed" };
        WrittenResponse { start: message.start, status, reason, usage: message.usage, error: None }
    }

    fn members(&self, output: &Line, line: &mut Line) {
        line.text("id", self.start.id.unwrap_or("resp_0"));
        line.word("object", "response");
        line.number("created_at", self.start.created.unwrap_or(0));
        line.word("status", self.status);
        match self.error {
            Some(failure) => {
                line.open_member("error");
                line.text("code", &error_word(failure));
                line.text("message", failure.message);
                line.close();
            }
            None => line.minified("error", "null"),
        }
        match self.reason {
            Some(reason) => {
                line.open_member("incomplete_details");
                line.word("reason", reason);
                line.close();
            }
            None => line.minified("incomplete_details", "null"),
        }
        line.minified("instructions", "null");
        line.text("model", self.start.model.unwrap_or_default());
        line.list("output", output);
        line.flag("parallel_tool_calls", true);
        line.word("tool_choice", "auto");
        line.minified("tools", "[]");
        match &self.usage {
            Some(usage) => usage_member(usage, line),
            None => line.minified("usage", "null"),
        }
        line.minified("metadata", "{}");
    }
}

/// Returns the counts that clients require.
fn required(usage: &Usage<'_>) -> [Option<u64>; 4] {
    let Usage { input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, .. } = *usage;
    [input_tokens, output_tokens, cached_input_tokens, reasoning_tokens]
}

fn usage_member(usage: &Usage<'_>, line: &mut Line) {
    let Usage { input_tokens, output_tokens, total_tokens, .. } = *usage;
    let other = |one: Option<u64>| total_tokens?.checked_sub(one?);
    line.open_member("usage");
    line.number("input_tokens", input_tokens.or(other(output_tokens)).unwrap_or(0));
    line.open_member("input_tokens_details");
    line.number("cached_tokens", usage.cached_input_tokens.unwrap_or(0));
    line.maybe_number("cache_write_tokens", usage.cache_write_tokens);
    line.close();
    line.number("output_tokens", output_tokens.or(other(input_tokens)).unwrap_or(0));
    line.open_member("output_tokens_details");
    line.number("reasoning_tokens", usage.reasoning_tokens.unwrap_or(0));
    line.close();
    line.maybe_number("total_tokens", total_tokens);
    line.close();
}

/// Returns the beginning of the id of a block's item, and the id that the source gave it.
fn id_of(kind: &BlockKind) -> (&'static str, Option<&str>) {
    match kind {
        BlockKind::Reasoning { item_id } => ("rs", item_id.as_deref()),
        BlockKind::Text { .. } | BlockKind::Refusal => ("msg", None),
    }
}

/// Adds the members of a block's item.
fn block_members(block: &Block, id: &str, is_done: bool, line: &mut Line) {
    line.text("id", id);
    let BlockKind::Reasoning { .. } = block.kind else {
        line.word("type", "message");
        line.word("status", if is_done { "completed" } else { "in_progress" });
        line.word("role", "assistant");
        if let BlockKind::Text { channel: Some(channel) } = &block.kind
            && channel == COMMENTARY
        {
            line.word("phase", COMMENTARY);
        }
        line.open_list("content");
        if is_done {
            line.open();
            content_members(block, line);
            line.close();
        }
        return line.close_list();
    };
    line.word("type", "reasoning");
    line.open_list("summary");
    // A signature that is not of an empty text would be a thought that is not shown.
    let is_signed = block.signature.is_some() && block.text.is_empty();
    for text in texts_of_parts(block).filter(|text| is_signed || !text.is_empty()) {
        line.open();
        summary_members(text, line);
        line.close();
    }
    line.close_list();
    line.maybe_text("encrypted_content", block.signature.as_deref());
}

/// Adds the members of the only part of a message.
fn content_members(block: &Block, line: &mut Line) {
    match block.kind {
        BlockKind::Refusal => {
            line.word("type", "refusal");
            line.text("refusal", &block.text);
        }
        BlockKind::Text { .. } | BlockKind::Reasoning { .. } => {
            line.word("type", "output_text");
            line.text("text", &block.text);
            line.minified("annotations", "[]");
            line.minified("logprobs", "[]");
        }
    }
}

fn summary_members(text: &str, line: &mut Line) {
    line.word("type", "summary_text");
    line.text("text", text);
}

fn redacted_members(thought: &Reasoning<'_>, id: &str, line: &mut Line) {
    line.text("id", id);
    line.word("type", "reasoning");
    line.minified("summary", "[]");
    line.text("encrypted_content", thought.redacted.unwrap_or_default());
}

/// The members of a call's item.
#[derive(Clone, Copy)]
struct CallItem<'c> {
    id: &'c str,
    namespace: Option<&'c str>,
    name: &'c str,
    text: &'c str,
    item_id: Option<&'c str>,
}

impl Fragmented {
    fn item(&self) -> CallItem<'_> {
        CallItem {
            id: &self.id,
            namespace: None,
            name: &self.name,
            text: &self.text,
            item_id: None,
        }
    }
}

impl<'c> CallItem<'c> {
    fn of(call: &ToolCall<'c>) -> Self {
        let ToolCall { id, namespace, name, input, item_id, .. } = *call;
        CallItem { id, namespace, name, text: input.as_str(), item_id }
    }

    fn members(&self, kind: &CallKind, id: &str, status: &str, line: &mut Line) {
        line.text("id", id);
        line.word("type", kind.item);
        line.word("status", status);
        line.text("call_id", self.id);
        self.namespace.into_iter().for_each(|namespace| line.text("namespace", namespace));
        line.text("name", self.name);
        line.text(kind.key, self.text);
    }
}
