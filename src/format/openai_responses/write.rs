//! Writes the events of a response, and complete responses.
//!
//! What clients need: every item and part announced before its deltas, one id of an item
//! everywhere, and all items once more in the last event.

#[cfg(feature = "cli")]
use crate::format::reply::ReplyFailure;
use crate::format::support::write_prelude::*;

pub(super) static WRITING: Writing = Writing {
    envelopes: &[RecordEnvelope::NAMED],
    gathers: true,
    has_fragments: true,
    channels: &[COMMENTARY],
    losses: &[
        (Info::OtherFragments, Carry::Error),
        (Info::CallSignature, Carry::Lost),
        (Info::RunCall, Carry::Lost),
        (Info::NoUsage, Carry::As("null, and zeros for its parts")),
        (Info::Namespace, Carry::Whole),
        (Info::ItemId, Carry::Whole),
    ],
    reasons: &[
        (FinishReason::Stop, COMPLETED),
        (FinishReason::Length, "max_output_tokens"),
        (FinishReason::ContentFilter, "content_filter"),
        (FinishReason::Refusal, "content_filter"),
    ],
    ..Writing::new("openai-responses", || Box::new(ResponseEvents::default()))
};

/// The status of a response that is not incomplete.
const COMPLETED: &str = "completed";

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
    fn record(&mut self, kind: &str, out: &mut Records, add: impl FnOnce(&Self, &mut Line)) {
        out.record(kind, |line| {
            members!(line; "type": kind, "sequence_number": self.sequence, ..add(self, line));
        });
        self.sequence += 1;
    }

    /// Writes an event of the item that is open.
    fn event(&mut self, kind: &str, out: &mut Records, add: impl FnOnce(&mut Line)) {
        self.record(kind, out, |events, line| {
            let (id, place) = (events.id.as_str(), events.place);
            members!(line; "item_id": id, "output_index": place, ..add(line));
        });
    }

    /// Writes that an item begins; `item` adds its members.
    fn add(&mut self, id: String, out: &mut Records, item: impl FnOnce(&str, &mut Line)) {
        self.id = id;
        self.record("response.output_item.added", out, |events, line| {
            members!(line; "output_index": events.place, "item": { ..item(&events.id, line) });
        });
    }

    /// Writes that the open item is complete.
    fn done(&mut self, out: &mut Records, item: impl FnOnce(&str, &mut Line)) {
        let json = object_of!(object; ..item(&self.id, object));
        self.output.more(&json);
        self.record("response.output_item.done", out, |events, line| {
            members!(line; "output_index": events.place, "item": Minified(&json));
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
            members!(line; "summary_index": place, "part": { ..summary_members("", line) });
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
            members!(line; "summary_index": place, "text": text);
        });
        self.event("response.reasoning_summary_part.done", out, |line| {
            members!(line; "summary_index": place, "part": { ..summary_members(text, line) });
        });
    }

    fn call_begin(&mut self, kind: &CallKind, item: CallItem<'_>, out: &mut Records) {
        let id = self.mint(kind.prefix, item.item_id);
        self.add(id, out, |id, line| item.members(kind, id, "in_progress", line));
    }

    fn call_end(&mut self, kind: &CallKind, item: CallItem<'_>, status: &str, out: &mut Records) {
        self.event(&format!("{}.done", kind.event), out, |line| {
            let key = kind.key;
            members!(line; key: item.text, "name": item.name);
        });
        self.done(out, |id, line| item.members(kind, id, status, line));
    }

    /// Writes the event that holds the response in this state.
    fn response(&mut self, kind: &str, response: &WrittenResponse<'_>, out: &mut Records) {
        self.record(kind, out, |events, line| {
            members!(line; "response": { ..response.members(&events.output, line) });
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

    fn open(&mut self, block: &TextBlock, out: &mut Records) {
        let (prefix, known) = id_of(&block.kind);
        let id = self.mint(prefix, known);
        let empty = TextBlock { text: String::new(), signature: None, ..block.clone() };
        self.add(id, out, |id, line| block_members(&empty, id, false, line));
        (self.parts, self.is_part_open) = (0, false);
        if !matches!(block.kind, BlockKind::Reasoning { .. }) {
            self.event("response.content_part.added", out, |line| {
                members!(line; "content_index": 0, "part": { ..content_members(&empty, line) });
            });
        }
    }

    fn piece(&mut self, block: &TextBlock, text: &str, out: &mut Records) {
        let (kind, key, place) = match block.kind {
            BlockKind::Text { .. } => ("response.output_text.delta", "content_index", 0),
            BlockKind::Refusal => ("response.refusal.delta", "content_index", 0),
            BlockKind::Reasoning { .. } => {
                self.begin_part(out);
                ("response.reasoning_summary_text.delta", "summary_index", self.parts)
            }
        };
        self.event(kind, out, |line| {
            members!(line; key: place, "delta": text, ..no_logprobs(block, line));
        });
    }

    fn begin_part(&mut self, block: &TextBlock, out: &mut Records) {
        self.end_part(texts_of_parts(block).nth_back(1).unwrap_or_default(), out);
    }

    fn close(&mut self, block: &TextBlock, out: &mut Records) {
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
            members!(line; "content_index": 0, key: text, ..no_logprobs(block, line));
        });
        self.event("response.content_part.done", out, |line| {
            members!(line; "content_index": 0, "part": { ..content_members(block, line) });
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
pub(in crate::format) fn failed(failed: &ReplyFailure<'_>) -> String {
    use crate::event::Code;

    let failure = Failure::new(Code::Provider, failed.message, None);
    let failure = Failure { provider_code: Some(failed.word), ..failure };
    let (status, error) = ("failed", Some(&failure));
    let response =
        WrittenResponse { start: failed.start, status, error, ..WrittenResponse::default() };
    object_of!(line;
        "type": "response.failed",
        "sequence_number": failed.records as u64,
        "response": { ..response.members(&Line::default(), line) },
    )
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
        let word = WRITING.known_word(finish.finish_reason);
        let reason = Some(word).filter(|word| *word != COMPLETED);
        let status = if reason.is_some() { "incomplete" } else { COMPLETED };
        WrittenResponse { start: message.start, status, reason, usage: message.usage, error: None }
    }

    fn members(&self, output: &Line, line: &mut Line) {
        let error = self.error.map(
            |failure| object_of!(line; "code": &*error_word(failure), "message": failure.message),
        );
        let reason = self.reason.map(|reason| object_of!(line; "reason": reason));
        let usage = self.usage.as_ref().map(usage_object);
        members!(
            line;
            "id": self.start.id.unwrap_or("resp_0"),
            "object": "response",
            "created_at": self.start.created.unwrap_or(0),
            "status": self.status,
            "error": OrNull(error.as_deref().map(Minified)),
            "incomplete_details": OrNull(reason.as_deref().map(Minified)),
            "instructions": null,
            "model": self.start.model.unwrap_or(""),
            "output": [..line.raw(output)],
            "parallel_tool_calls": true,
            "tool_choice": "auto",
            "tools": [],
            "usage": OrNull(usage.as_deref().map(Minified)),
            "metadata": {},
        );
    }
}

/// Returns the counts that clients require.
fn required(usage: &Usage<'_>) -> [Option<u64>; 4] {
    let Usage { input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, .. } = *usage;
    [input_tokens, output_tokens, cached_input_tokens, reasoning_tokens]
}

fn usage_object(usage: &Usage<'_>) -> String {
    let Usage { input_tokens, output_tokens, total_tokens, .. } = *usage;
    let other = |one: Option<u64>| total_tokens?.checked_sub(one?);
    object_of!(line;
        "input_tokens": input_tokens.or(other(output_tokens)).unwrap_or(0),
        "input_tokens_details": {
            "cached_tokens": usage.cached_input_tokens.unwrap_or(0),
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": output_tokens.or(other(input_tokens)).unwrap_or(0),
        "output_tokens_details": { "reasoning_tokens": usage.reasoning_tokens.unwrap_or(0) },
        "total_tokens": total_tokens,
    )
}

/// Returns the beginning of the id of a block's item, and the id that the source gave it.
fn id_of(kind: &BlockKind) -> (&'static str, Option<&str>) {
    match kind {
        BlockKind::Reasoning { item_id } => ("rs", item_id.as_deref()),
        BlockKind::Text { .. } | BlockKind::Refusal => ("msg", None),
    }
}

/// Adds the members of a block's item.
fn block_members(block: &TextBlock, id: &str, is_done: bool, line: &mut Line) {
    if let BlockKind::Reasoning { .. } = block.kind {
        // A signature that is not of an empty text would be a thought that is not shown.
        let is_signed = block.signature.is_some() && block.text.is_empty();
        members!(
            line;
            "id": id,
            "type": "reasoning",
            "summary": [
                ..for text in texts_of_parts(block).filter(|text| is_signed || !text.is_empty()) {
                    members!(line; { ..summary_members(text, line) });
                },
            ],
            "encrypted_content": block.signature.as_deref(),
        );
        return;
    }
    let channel = match &block.kind {
        BlockKind::Text { channel } => channel.as_deref(),
        _ => None,
    };
    members!(
        line;
        "id": id,
        "type": "message",
        "status": if is_done { "completed" } else { "in_progress" },
        "role": "assistant",
        "phase": channel.filter(|channel| *channel == COMMENTARY),
        "content": [
            ..if is_done {
                members!(line; { ..content_members(block, line) });
            },
        ],
    );
}

/// Adds the probabilities of a text, which no source has.
fn no_logprobs(block: &TextBlock, line: &mut Line) {
    if let BlockKind::Text { .. } = block.kind {
        members!(line; "logprobs": []);
    }
}

/// Adds the members of the only part of a message.
fn content_members(block: &TextBlock, line: &mut Line) {
    let text = block.text.as_str();
    match block.kind {
        BlockKind::Refusal => {
            members!(line; "type": "refusal", "refusal": text);
        }
        BlockKind::Text { .. } | BlockKind::Reasoning { .. } => {
            members!(line; "type": "output_text", "text": text, "annotations": [], "logprobs": []);
        }
    }
}

fn summary_members(text: &str, line: &mut Line) {
    members!(line; "type": "summary_text", "text": text);
}

fn redacted_members(thought: &Reasoning<'_>, id: &str, line: &mut Line) {
    let encrypted = thought.redacted.unwrap_or("");
    members!(line; "id": id, "type": "reasoning", "summary": [], "encrypted_content": encrypted);
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
        let Fragmented { id, name, text, .. } = self;
        CallItem { id, namespace: None, name, text, item_id: None }
    }
}

impl<'c> CallItem<'c> {
    fn of(call: &ToolCall<'c>) -> Self {
        let ToolCall { id, namespace, name, input, item_id, .. } = *call;
        CallItem { id, namespace, name, text: input.as_str(), item_id }
    }

    fn members(&self, kind: &CallKind, id: &str, status: &str, line: &mut Line) {
        members!(
            line;
            "id": id,
            "type": kind.item,
            "status": status,
            "call_id": self.id,
            "namespace": self.namespace,
            "name": self.name,
            (kind.key): self.text,
        );
    }
}
