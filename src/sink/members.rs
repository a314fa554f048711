//! The members of each event in the order of the schema: what a line of
//! [`crate::sink::Ndjson`] and an object inside a summary hold, and what the
//! schema says of them. Each member is named, typed, documented and read here
//! and nowhere else.

use crate::event::words::ClosedWords;
use crate::event::{
    Block, CallInput, Failure, Finish, InvalidToolCall, Kind, Output, Prompt, ProviderEvent,
    Reasoning, RunEnd, Start, Text, ToolCall, ToolCallDelta, ToolCallStart, ToolCallValue,
    ToolResult, Turn, Usage, VERSION, Warning,
};
use crate::json::{Line, Member};

/// Takes the members of one object in their order. A [`Line`] writes their
/// values, [`crate::sink::schema`] their types and documentation.
pub(super) trait Members {
    /// A member that is always there.
    fn required<V: MemberValue>(&mut self, name: &'static str, value: V, about: &'static str);
    /// A member that is absent if there is no value.
    fn optional<V: MemberValue>(
        &mut self,
        name: &'static str,
        value: Option<V>,
        about: &'static str,
    );
    /// Events that stand inside the object.
    fn inner(&mut self, name: &'static str, inner: InnerEvents<'_>, about: &'static str);
}

/// Events of one type inside another object.
pub(super) struct InnerEvents<'a> {
    pub(super) form: Form,
    /// The type of the events.
    pub(super) of: &'static str,
    /// The events, as objects.
    pub(super) items: &'a Line,
}

/// The form in which events stand inside another object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A list that is always there.
    FullList,
    /// A list that is absent if it is empty.
    List,
    /// One object, which is absent if there is none.
    Object,
}

impl Members for Line {
    fn required<V: MemberValue>(&mut self, name: &'static str, value: V, _about: &'static str) {
        value.add(name, self);
    }

    fn optional<V: MemberValue>(
        &mut self,
        name: &'static str,
        value: Option<V>,
        _about: &'static str,
    ) {
        if let Some(value) = value {
            value.add(name, self);
        }
    }

    fn inner(&mut self, name: &'static str, inner: InnerEvents<'_>, _about: &'static str) {
        match inner.form {
            Form::List | Form::Object if inner.items.is_empty() => {}
            Form::FullList | Form::List => self.list(name, inner.items),
            Form::Object => self.object(name, inner.items),
        }
    }
}

/// Hands over members of an object: each with its name, its value and its meaning.
macro_rules! say {
    ($to:ident; $($how:ident $name:literal = $value:expr, $about:expr;)+) => {
        $($to.$how($name, $value, $about);)+
    };
}

/// The value of a member, with its type.
pub(super) trait MemberValue: Member {
    /// Its type, as members of a JSON Schema; empty if it is any value.
    fn schema() -> String;
}

impl MemberValue for &str {
    fn schema() -> String {
        "\"type\": \"string\"".into()
    }
}

impl MemberValue for u64 {
    fn schema() -> String {
        "\"type\": \"integer\", \"minimum\": 0".into()
    }
}

impl MemberValue for bool {
    fn schema() -> String {
        "\"type\": \"boolean\"".into()
    }
}

impl<W: ClosedWords> MemberValue for W {
    fn schema() -> String {
        let words: Vec<String> = W::all().map(|word| format!("\"{word}\"")).collect();
        format!("\"enum\": [{}]", words.join(", "))
    }
}

impl<W: ClosedWords> Member for W {
    fn add(self, key: &str, line: &mut Line) {
        line.word(key, self.word());
    }
}

impl MemberValue for Output<'_> {
    fn schema() -> String {
        String::new()
    }
}

/// The text of a JSON object.
pub(super) struct ObjectText<'a> {
    json: &'a str,
    is_minified: bool,
}

impl MemberValue for ObjectText<'_> {
    fn schema() -> String {
        "\"type\": \"object\"".into()
    }
}

impl Member for ObjectText<'_> {
    fn add(self, key: &str, line: &mut Line) {
        if self.is_minified { line.minified(key, self.json) } else { line.json(key, self.json) }
    }
}

/// The text of a JSON array.
struct List<'a>(&'a str);

impl MemberValue for List<'_> {
    fn schema() -> String {
        "\"type\": \"array\"".into()
    }
}

impl Member for List<'_> {
    fn add(self, key: &str, line: &mut Line) {
        line.json(key, self.0);
    }
}

/// The version of the schema.
struct Version;

impl MemberValue for Version {
    fn schema() -> String {
        format!("\"const\": {VERSION}")
    }
}

impl Member for Version {
    fn add(self, key: &str, line: &mut Line) {
        line.number(key, VERSION);
    }
}

/// Declares the events that have lines: the type of each, what hands over its members, and what it is.
macro_rules! kinds {
    ($($Variant:ident = $name:literal, $members:ident, $about:literal;)+) => {
        /// The type of an event's line; none for the events of decoders alone.
        pub(super) fn name(kind: &Kind<'_>) -> Option<&'static str> {
            match kind {
                $(Kind::$Variant(_) => Some($name),)+
                Kind::Loose(_) | Kind::Record | Kind::Time(_) => None,
            }
        }

        /// What an event is; nothing is said of the events of decoders alone.
        pub(super) fn about(kind: &Kind<'_>) -> &'static str {
            match kind {
                $(Kind::$Variant(_) => $about,)+
                Kind::Loose(_) | Kind::Record | Kind::Time(_) => "",
            }
        }

        /// Hands over the members of an event; none for the events of decoders alone.
        pub(super) fn of(kind: &Kind<'_>, to: &mut impl Members) {
            match kind {
                $(Kind::$Variant(it) => $members(it, to),)+
                Kind::Loose(_) | Kind::Record | Kind::Time(_) => {}
            }
        }
    };
}

kinds! {
    Start = "start", start, "The first line of each message.";
    Prompt = "prompt", prompt,
        "What the message answers, where the input has it; only with `--prompts`.";
    Text = "text", text, "A piece of the answer. The pieces joined are byte-exact.";
    Reasoning = "reasoning", reasoning, "A piece of the model's thinking.";
    Refusal = "refusal", refusal, "A piece of a refusal.";
    ToolCallStart = "tool_call_start", tool_call_start,
        "A call has a name; only with `--deltas`. It is not safe to run yet.";
    ToolCallDelta = "tool_call_delta", tool_call_delta,
        "A piece of a call's arguments; only with `--deltas`.";
    ToolCallValue = "tool_call_value", tool_call_value,
        "What is known of one place in a call's arguments; only with `--values`. A preview: only \
        a `tool_call` may run.";
    ToolCall = "tool_call", tool_call,
        "A whole call, strictly parsed, from a call that the provider closed: safe to run, unless it \
        has an executor.";
    InvalidToolCall = "invalid_tool_call", invalid_tool_call, "A call that must never be run.";
    ToolResult = "tool_result", tool_result,
        "A result that is in the input: of a tool that the provider or an agent ran.";
    Block = "block", block, "A metadata region, a citation, an annotation, generated media.";
    Warning = "warning", warning, "An inference or a repair: nothing is guessed in silence.";
    ProviderEvent = "provider_event", provider_event,
        "A provider's event that has no meaning here; only with `--raw`.";
    Turn = "turn", turn, "What the next request has to hold of the message; only with `--turn`.";
    Usage = "usage", usage, "What the message cost, in tokens. Absent is not 0.";
    Finish = "finish_reason", finish, "The last line of a good message.";
    Error = "error", failure, "The last line of a bad message.";
    ToolStart = "tool_start", tool_call_start,
        "A tool begins to run; only from `agent` and `next`.";
    RunEnd = "end", run_end, "The last line of `agent`.";
}

const INDEX: &str =
    "Calls counted in order of first appearance, whatever number the provider used.";
const OFFSET: &str = "Where in the input, in bytes.";
const CALL_ID: &str =
    "The provider's id, or `call_` and a number that no other id of the message has.";
const TOOL: &str = "The tool's name.";
const SOURCE: &str = "The dialect, for a call that was found in text.";
const EXECUTOR: &str = "Who runs the call, if it is not the caller: a tool on the \
    provider's side, or the agent whose log this is.";
const ITEM_ID: &str = "The provider's second id, of the item.";

fn start(start: &Start<'_>, to: &mut impl Members) {
    say! { to;
        required "v" = Version, "The version of this schema.";
        required "format" = start.format,
            "The wire format; `unknown` if the message ended before it was found out.";
        required "framing" = start.framing,
            "The framing; `unknown` if the message ended before it was found out.";
        optional "dialect" = start.dialect, "The dialect that was asked for.";
        optional "id" = start.id, "The provider's id of the message.";
        optional "model" = start.model, "The model's name.";
        optional "created" = start.created, "When the message was begun, in seconds since 1970.";
        optional "input_tokens" = start.input_tokens,
            "Everything that the model reads, cached or not, where the provider says so at once.";
        optional "round" = start.round, "Which round of `agent` this is, from 1.";
        optional "attempt" = start.attempt,
            "Which attempt of the round this is, from the second on.";
    }
}

fn refusal(text: &&str, to: &mut impl Members) {
    to.required("text", *text, "The piece.");
}

fn text(text: &Text<'_>, to: &mut impl Members) {
    say! { to;
        required "text" = text.text, "The piece.";
        optional "channel" = text.channel,
            "Which part of the answer this is, where the model tells several apart.";
    }
}

pub(super) fn reasoning(reasoning: &Reasoning<'_>, to: &mut impl Members) {
    let is_bare = reasoning.signature.is_some() || reasoning.redacted.is_some();
    let text = Some(reasoning.text).filter(|text| !is_bare || !text.is_empty());
    say! { to;
        optional "text" = text, "The piece.";
        optional "signature" = reasoning.signature,
            "What the next request must return with the thought.";
        optional "redacted" = reasoning.redacted, "A thought that the provider has encrypted.";
        optional "part" = reasoning.part,
            "Which part of the thought this is, from 1, where it has several.";
        optional "item_id" = reasoning.item_id, ITEM_ID;
    }
}

fn tool_call_start(start: &ToolCallStart<'_>, to: &mut impl Members) {
    to.required("index", start.index, INDEX);
    to.required("id", start.id, CALL_ID);
    to.required("name", start.name, TOOL);
}

fn tool_call_delta(delta: &ToolCallDelta<'_>, to: &mut impl Members) {
    say! { to;
        required "index" = delta.index, INDEX;
        required "arguments" = delta.arguments,
            "A piece of the call's JSON text, or of its free text; joined, the pieces are the whole.";
    }
}

fn tool_call_value(found: &ToolCallValue<'_>, to: &mut impl Members) {
    let (value, text) = match found.value {
        Output::Json(json) => (Some(Output::Json(json)), None),
        Output::Text(text) => (None, Some(text)),
    };
    say! { to;
        required "index" = found.index, INDEX;
        required "path" = found.path,
            "Where: a JSON pointer into the arguments; empty for free text.";
        optional "value" = value,
            "The number, literal or empty container that is complete there.";
        optional "text" = text, "The next piece of the string there.";
    }
}

pub(super) fn tool_call(call: &ToolCall<'_>, to: &mut impl Members) {
    let (arguments, input) = match call.input {
        CallInput::Arguments(json) => (Some(ObjectText { json, is_minified: true }), None),
        CallInput::Text(text) => (None, Some(text)),
    };
    say! { to;
        required "index" = call.index, INDEX;
        required "id" = call.id, CALL_ID;
        optional "namespace" = call.namespace,
            "The set of tools that the name is of, where the provider keeps several apart.";
        required "name" = call.name, TOOL;
        optional "arguments" = arguments,
            "The arguments. Key order, number spelling and escapes are the provider's.";
        optional "input" = input, "The input of a tool that takes free text, in place of arguments.";
        optional "source" = call.source, SOURCE;
        optional "executor" = call.executor, EXECUTOR;
        optional "signature" = call.signature,
            "What the next request must return with the call.";
        optional "kind" = call.kind,
            "The provider's type of the call, if it is no plain function.";
        optional "item_id" = call.item_id, ITEM_ID;
    }
}

pub(super) fn invalid_tool_call(call: &InvalidToolCall<'_>, to: &mut impl Members) {
    say! { to;
        required "index" = call.index, INDEX;
        optional "id" = call.id,
            "The provider's id, if it sent one; of a call that is taken back, its own.";
        optional "name" = call.name, "The tool's name, if it is known.";
        required "arguments_raw" = call.arguments_raw,
            "What came of the arguments, exactly; in text, the markup as well. Empty where the \
                call was printed before, and is taken back.";
        required "reason" = call.reason, "Why it must not be run.";
        optional "source" = call.source, SOURCE;
    }
}

pub(super) fn tool_result(result: &ToolResult<'_>, to: &mut impl Members) {
    say! { to;
        required "id" = result.id, "The id of the call that this answers.";
        optional "name" = result.name, "The tool's name, where the result has it.";
        required "output" = result.output,
            "What the tool gave: text, or the JSON value that it was.";
        optional "is_error" = result.is_error,
            "Whether the tool failed; absent where the result does not say.";
        optional "kind" = result.kind, "The provider's type of the result, if it is no plain one.";
        optional "executor" = result.executor, EXECUTOR;
    }
    let ran = result.ran;
    let exit = ran.and_then(|ran| ran.exit.and_then(|exit| u64::try_from(exit).ok()));
    to.optional("exit", exit, "The exit status of the tool, if it was run and no signal ended it.");
    to.optional("ms", ran.map(|ran| ran.ms), "How long the tool ran, in milliseconds.");
    to.optional(
        "left_out",
        ran.and_then(|ran| ran.left_out),
        "How many bytes of the tool's output were left out, where the result says so.",
    );
}

fn run_end(end: &RunEnd<'_>, to: &mut impl Members) {
    to.required("reason", end.reason, "Why the loop ended.");
    to.required("rounds", end.rounds, "How many answers the model gave.");
    to.required("calls", end.calls, "How many tools were run.");
    to.optional("usage", end.usage.map(UsageMembers), "What all answers cost together, in tokens.");
}

/// The counts of a usage, as an object.
struct UsageMembers<'a>(Usage<'a>);

impl MemberValue for UsageMembers<'_> {
    fn schema() -> String {
        let count = <u64 as MemberValue>::schema();
        let members = Usage::default()
            .counts()
            .map(|(name, _)| format!("\"{name}\": {{{count}}}"))
            .join(", ");
        format!(
            "\"type\": \"object\", \"properties\": {{{members}}}, \"additionalProperties\": false"
        )
    }
}

impl Member for UsageMembers<'_> {
    fn add(self, key: &str, line: &mut Line) {
        line.open_member(key);
        self.0.counts().into_iter().for_each(|(name, count)| count.add(name, line));
        line.close();
    }
}

fn block(block: &Block<'_>, to: &mut impl Members) {
    to.required("name", block.name, "What it is: the tag's name, or the provider's type.");
    to.required("text", block.text, "What is in it; a JSON value stands here as its text.");
    let attributes = block.attributes.map(|json| ObjectText { json, is_minified: false });
    to.optional("attributes", attributes, "The tag's attributes.");
}

pub(super) fn warning(warning: &Warning<'_>, to: &mut impl Members) {
    to.required("code", warning.code, "What it is about. The manual says when each comes.");
    to.required("message", warning.message, "A sentence for people.");
    to.optional("offset", warning.offset, OFFSET);
    to.optional("index", warning.index, INDEX);
}

fn prompt(prompt: &Prompt<'_>, to: &mut impl Members) {
    to.required("text", prompt.text, "What was said.");
    to.optional("role", prompt.role, "Whose words they are, if not the user's.");
    to.optional("media", prompt.media, "How many pictures, sounds and files came with it.");
}

fn provider_event(event: &ProviderEvent<'_>, to: &mut impl Members) {
    to.optional("event", event.event, "The event's name, where the framing has one.");
    to.required("data", event.data, "Its payload: a JSON value, or text as a string.");
}

pub(super) fn turn(turn: &Turn<'_>, to: &mut impl Members) {
    to.required(
        "append",
        List(turn.append),
        "What the request's list of messages, items or contents grows by, in the provider's own JSON.",
    );
    let set = turn.set.map(|json| ObjectText { json, is_minified: false });
    to.optional("set", set, "The members of the request to set.");
}

pub(super) fn usage(usage: &Usage<'_>, to: &mut impl Members) {
    say! { to;
        optional "input_tokens" = usage.input_tokens,
            "Everything that the model read, cached or not.";
        optional "output_tokens" = usage.output_tokens,
            "Everything that it wrote, reasoning included.";
        optional "total_tokens" = usage.total_tokens, "The provider's total, or the sum.";
        optional "cached_input_tokens" = usage.cached_input_tokens,
            "The part of the input that was read from a cache.";
        optional "cache_write_tokens" = usage.cache_write_tokens,
            "The part of the input that was written to a cache.";
        optional "reasoning_tokens" = usage.reasoning_tokens,
            "The part of the output that was reasoning.";
    }
    let raw = Output::Json(if usage.raw.is_empty() { "{}" } else { usage.raw });
    to.required("raw", raw, "The provider's own value; of several, the last one of each field.");
}

fn finish(finish: &Finish<'_>, to: &mut impl Members) {
    to.required("finish_reason", finish.finish_reason, FINISH_REASON);
    to.optional("raw_finish_reason", finish.raw, RAW_FINISH_REASON);
    to.optional("stop_sequence", finish.stop_sequence, "The stop sequence that was met.");
    to.optional("inferred", finish.inferred.then_some(true), INFERRED);
}

pub(super) const FINISH_REASON: &str = "Why the model stopped. A raw `stop` becomes \
    `tool_calls` if the caller has calls to run; no other reason is ever upgraded.";
pub(super) const RAW_FINISH_REASON: &str = "The provider's word for it.";
pub(super) const INFERRED: &str = "Whether the format has no reason of its own.";

pub(super) fn failure(failure: &Failure<'_>, to: &mut impl Members) {
    say! { to;
        required "code" = failure.code, "What kind of failure.";
        required "message" = failure.message, "A sentence for people.";
        optional "offset" = failure.offset, OFFSET;
        optional "provider_code" = failure.provider_code, "The provider's word or number for it.";
        optional "status" = failure.status.map(u64::from),
            "The HTTP status, where a head was read.";
        optional "retryable" = failure.retryable,
            "Whether the same request may succeed later; absent where that is not known.";
        optional "retried" = failure.retried.then_some(true),
            "Whether `agent` asks again: what came of this attempt does not count.";
        optional "raw" = failure.raw.filter(|raw| *raw != Output::Json("null")),
            "The provider's own value, or as a string the bytes that can't be read.";
    }
}
