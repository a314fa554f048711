//! The common ground of agents' logs: prompts, the model's answers to them,
//! the calls that the agent ran and their results.
//!
//! A prompt and all that follows it, up to the next one, is a message: agents
//! ask the model as often as tools ask for it. No log has an end of its own but
//! where its format marks one; the end of the input is one. Blocks, items and
//! parts of messages are of a few shapes with many names, and the names of one
//! shape mean nothing else in another: one reader serves them all.

use crate::event::{
    Arguments, CallPart, Executor, FinishReason, Key, Kind, Output, ProviderEvent, ToolResult,
    WarningCode,
};
use crate::format::support::action::Action;
use crate::format::support::calls::Calls;
use crate::format::support::emit::{Done, EventOut, Slot, output};
use crate::format::support::emitted::Emitted;
use crate::format::support::growth::{Joined, hash};
use crate::format::support::object::{Object, string};
use crate::format::support::usage::{Meter, Row};
use crate::format::support::{error, finish};
use crate::json;
use crate::json::Str;
use std::collections::{BTreeSet, HashMap};
use std::io;

/// The most texts of one message that are remembered, where a log repeats them.
const MAX_TEXTS: usize = 1 << 16;

/// The way in which a log repeats a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// It doesn't.
    Never,
    /// A message or part of a known id comes again, as it is now.
    ById,
    /// Its events and its items hold the same texts.
    ByText,
    /// Pieces come one by one, and then as one.
    Joined,
}

/// The origin of a text, of two that may repeat each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A message, an item or a part, whole.
    Item,
    /// A piece of one.
    Delta,
    /// An event about one.
    Event,
}

/// A session of an agent, up to here.
pub(crate) struct Session {
    format: &'static str,
    rows: &'static [Row],
    repeats: Repeats,
    /// The beginning of a user's message that the agent wrote; empty if there is none.
    pub(crate) own_words: &'static str,
    /// Its id, if it has one.
    pub(crate) id: Option<String>,
    /// The model's name, where the log has it.
    pub(crate) model: Option<String>,
    has_prompt: bool,
    is_open: bool,
    turn: Turn,
}

/// The state of the message that is open.
#[derive(Default)]
struct Turn {
    calls: Calls,
    /// The calls of which an action failed, and whose results have not come.
    failed: BTreeSet<String>,
    /// The tool that was called last.
    tool: Option<String>,
    meter: Meter,
    /// The model's message or step that was emitted last.
    part: Option<String>,
    /// The one whose counts came last.
    counted: Option<String>,
    /// Each text, as far as it has been emitted.
    emitted: HashMap<u64, Emitted>,
    /// The balance of each text: its items less its events, of which each
    /// may repeat the other.
    echoes: HashMap<u64, i64>,
    /// The thoughts that came in pieces, by their ids: the message that follows has them again.
    thought_pieces: HashMap<String, String>,
    /// The message that each call came in last.
    called: HashMap<String, Option<String>>,
    /// The pieces since the last call.
    joined: Joined,
    has_text: bool,
    /// The number of thoughts, one right after another.
    thoughts: u64,
    /// The last reason why the model stopped.
    reason: Option<String>,
}

const CALL_ID: &str =
    "call_id|callID|callId|toolCallId|tool_call_id|toolUseId|functionCall.id|toolCall.id|id";
const NAME: &str = "name|toolName|tool_name|tool|function.name|functionCall.name|\
                    toolCall.value.name|toolCall.name|title";
const ARGUMENTS: &str = "arguments|args|input|rawInput|parameters|params|tool_input|\
                         function.arguments|functionCall.args|toolCall.value.arguments|\
                         toolCall.args|state.input|action";
const SIGNATURE: &str = "signature|thinkingSignature|thoughtSignature|encrypted";
const RESULT_ID: &str = "tool_use_id|toolUseId|tool_call_id|toolCallId|call_id|callID|callId|\
                         functionResponse.id";
const RESULT_NAME: &str = "toolName|tool_name|functionResponse.name|name";
const OUTPUT: &str = "output|tool_output|functionResponse.response.output|\
                      functionResponse.response|toolResult.value.content|toolResult.error|\
                      toolResult|return_value.output|result.0.functionResponse.response.output|\
                      result.0.functionResponse.response|result.output|result.content|rawOutput|\
                      state.output|state.error|result|value|content|response|error";
const IS_ERROR: &str = "is_error|isError|return_value.is_error|result.is_error|result.isError|\
                        toolResult.value.isError|toolResult.isError";
const STATUS: &str = "status|toolResult.status|state.status";
/// The places of a message's thoughts, beside its content.
const THOUGHTS: &str = "reasoning_content|reasoning|thinking|reasoningText";
const CONTENT: &str = "content|parts|text|message|result|output|body";
const CALLS: &str = "tool_calls|toolCalls|toolRequests";
const REASON: &str = "stopReason|stop_reason|finish_reason|finishReason|finish";

/// The meaning of a block, an item or a part, by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Text,
    Thought,
    Refusal,
    Call(Executor),
    Result,
    Message,
    /// It holds nothing of the answer.
    Nothing,
}

/// The types, with who writes them: Anthropic's blocks (Claude Code, Cline,
/// Cursor, Droid), OpenAI's items (Codex), and those of pi, Goose, Kimi,
/// opencode and the AI SDK.
static SHAPES: &[(Shape, &[&str])] = &[
    (Shape::Text, &["text", "output_text", "input_text", "summary_text"]),
    (Shape::Thought, &["thinking", "think", "reasoning", "thought", "reasoning_text"]),
    (Shape::Thought, &["redacted_thinking", "redactedThinking"]),
    (Shape::Refusal, &["refusal"]),
    (Shape::Call(Executor::Agent), &["tool_use", "toolCall", "tool_call", "tool-call", "tool"]),
    (Shape::Call(Executor::Agent), &["toolRequest", "frontendToolRequest", "function"]),
    (Shape::Call(Executor::Agent), &["function_call", "custom_tool_call", "local_shell_call"]),
    (Shape::Call(Executor::Provider), &["server_tool_use", "web_search_call", "mcp_tool_use"]),
    (Shape::Call(Executor::Provider), &["image_generation_call", "tool_search_call"]),
    (Shape::Result, &["tool_result", "toolResult", "tool-result", "toolResponse"]),
    (Shape::Result, &["function_call_output", "custom_tool_call_output", "function_result"]),
    (Shape::Message, &["message", "agent_message"]),
    (Shape::Nothing, &["step-start", "snapshot", "patch", "agent", "retry", "ghost_snapshot"]),
    (Shape::Nothing, &["compaction", "context_compaction", "toolConfirmationRequest"]),
    (Shape::Nothing, &["actionRequired", "systemNotification", "additional_tools"]),
];

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    Model,
    Tool,
    /// Of a role that writes nothing of the answer.
    Other,
}

static ROLES: &[(Role, &[&str])] = &[
    (Role::User, &["user", "human"]),
    (Role::Model, &["assistant", "model", "gemini", "agent", "ai"]),
    (Role::Tool, &["tool", "toolResult", "tool_result", "function"]),
];

/// The role of this name.
pub(crate) fn role(name: &str) -> Role {
    let row = ROLES.iter().find(|(_, names)| names.contains(&name));
    row.map_or(Role::Other, |(role, _)| *role)
}

impl Turn {
    fn new(rows: &'static [Row]) -> Self {
        Turn { meter: Meter::new(rows), ..Turn::default() }
    }
}

impl Session {
    pub(crate) fn new(format: &'static str, rows: &'static [Row], repeats: Repeats) -> Self {
        let (id, model, turn) = (None, None, Turn::new(rows));
        let (own_words, has_prompt, is_open) = ("", false, false);
        Session { format, rows, repeats, own_words, id, model, has_prompt, is_open, turn }
    }

    /// True if a message is open.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// True if any text of the open message has been emitted.
    pub(crate) fn has_text(&self) -> bool {
        self.turn.has_text
    }

    /// Returns the slot of the next thought in a row: a part of its own, where
    /// an event holds it and names no message.
    pub(crate) fn next_thought(&mut self) -> Slot {
        self.turn.thoughts += 1;
        let part = Some(self.turn.thoughts).filter(|_| self.repeats == Repeats::ByText);
        Slot::Reasoning(part)
    }

    /// Begins a message, unless one is open.
    pub(crate) fn begin(&mut self, out: &mut EventOut) -> Done {
        if std::mem::replace(&mut self.is_open, true) {
            return Ok(());
        }
        out.start(self.format, self.id.as_deref(), self.model.as_deref())
    }

    /// A prompt of the user's: ends the message before it.
    pub(crate) fn prompt(&mut self, out: &mut EventOut) -> Done {
        self.has_prompt = true;
        if !self.is_open {
            return Ok(());
        }
        out.infer_finish_of_log(self.turn.reason.as_deref())?;
        self.end(out)
    }

    /// Turns to this message or step of the model's, to which what follows belongs;
    /// `None` if the log names none.
    pub(crate) fn turn_to(&mut self, part: Option<&str>) {
        if part != self.turn.part.as_deref() {
            self.turn.part = part.map(str::to_owned);
        }
    }

    /// Emits a text, or the rest that has not been emitted. `place` counts the texts of
    /// a message.
    pub(crate) fn text(
        &mut self,
        slot: Slot,
        source: Source,
        place: usize,
        text: &Str,
        out: &mut EventOut,
    ) -> Done {
        let repeats = self.repeats;
        let text = match repeats {
            Repeats::ById | Repeats::ByText if self.is_echo(slot, source, text) => return Ok(()),
            Repeats::ById if slot.is_thought() && self.is_in_pieces(source, text) => return Ok(()),
            Repeats::ById => self.beyond(slot, source, place, text, out)?,
            Repeats::Joined if self.is_joined(slot, text) => return Ok(()),
            _ => text.clone(),
        };
        let texts = self.turn.emitted.len() + self.turn.echoes.len();
        out.check_limit(texts, MAX_TEXTS, "texts in one message")?;
        if text.is_empty() {
            return Ok(());
        }
        self.begin(out)?;
        if !slot.is_thought() {
            self.turn.has_text = true;
            self.turn.thoughts = 0;
        }
        out.piece(0, slot, &text)?;
        if source == Source::Delta { Ok(()) } else { out.flush() }
    }

    /// Returns the rest of a text that was not emitted under its id. One that does not begin with
    /// what was is told, and passed over.
    fn beyond<'t>(
        &mut self,
        slot: Slot,
        source: Source,
        place: usize,
        text: &'t Str<'t>,
        out: &mut EventOut,
    ) -> io::Result<Str<'t>> {
        let Some(part) = &self.turn.part else { return Ok(text.clone()) };
        let emitted = self.turn.emitted.entry(hash(&(part, slot, place))).or_default();
        let rest = match source {
            Source::Delta => Some(text.clone()),
            Source::Item | Source::Event => emitted.rest(text),
        };
        let Some(rest) = rest else {
            return out.revise(0, text).map(|()| Str::default());
        };
        emitted.add(&rest);
        Ok(rest)
    }

    /// True if a thought of a message is one that came in pieces, under an id of its own.
    fn is_in_pieces(&mut self, source: Source, text: &Str) -> bool {
        let turn = &mut self.turn;
        match (source, &turn.part) {
            (Source::Delta, Some(part)) => {
                turn.thought_pieces.entry(part.clone()).or_default().push_str(text.as_str());
                false
            }
            (Source::Item, part) => {
                let is_it = |(id, pieces): &(&String, &String)| {
                    Some(*id) != part.as_ref() && pieces.as_str() == text.as_str()
                };
                let found = turn.thought_pieces.iter().find(is_it).map(|(id, _)| id.clone());
                found.is_some_and(|id| turn.thought_pieces.remove(&id).is_some())
            }
            _ => false,
        }
    }

    /// True if this text has come from the other of two origins.
    fn is_echo(&mut self, slot: Slot, source: Source, text: &Str) -> bool {
        if source == Source::Delta {
            return false;
        }
        let is_thought = slot.is_thought();
        let balance = self.turn.echoes.entry(hash(&(is_thought, text.as_str()))).or_default();
        let step = if source == Source::Event { -1 } else { 1 };
        let is_echo = balance.signum() == -step;
        *balance += step;
        is_echo
    }

    /// True if a text is the pieces since the last call, joined.
    fn is_joined(&mut self, slot: Slot, text: &Str) -> bool {
        if slot.is_thought() {
            return false;
        }
        let is_joined = self.turn.joined.is(text.as_str());
        match is_joined {
            true => self.turn.joined = Joined::default(),
            false => self.turn.joined.add(text.as_str()),
        }
        is_joined
    }

    /// A message of the model's, of the user's or of a tool's.
    pub(crate) fn message(&mut self, role: Role, message: &Object, out: &mut EventOut) -> Done {
        match role {
            Role::Other => Ok(()),
            Role::User if self.is_own(message) => Ok(()),
            Role::User | Role::Tool => {
                let blocks = blocks(message);
                let results: Vec<_> = blocks.iter().filter(|block| is_result(block)).collect();
                match (role, results.is_empty()) {
                    (Role::Tool, true) => self.result(message, out),
                    (_, true) => self.prompt(out),
                    _ => results.into_iter().try_for_each(|block| self.result(block, out)),
                }
            }
            Role::Model => self.answer(message, out),
        }
    }

    /// True if the agent wrote a user's message.
    fn is_own(&self, message: &Object) -> bool {
        let first = message.word("content|content.0.text").unwrap_or_default();
        !self.own_words.is_empty() && first.starts_with(self.own_words)
    }

    fn answer(&mut self, message: &Object, out: &mut EventOut) -> Done {
        let is_aside = message.word("phase").is_some_and(|phase| phase == "commentary");
        let slot = if is_aside { Slot::Text(Some("commentary")) } else { Slot::ANSWER };
        if let Some(thought) = message.text(THOUGHTS) {
            self.text(Slot::THOUGHT, Source::Item, 0, &thought, out)?;
        }
        for (place, json) in message.each("thoughts").into_iter().enumerate() {
            let thought = Object::new(json);
            let text = thought.text("description|text").unwrap_or_default();
            let subject = thought.word("subject").map_or(String::new(), |word| word + "\n");
            let text = Str::from_bytes(format!("{subject}{}", text.as_str()).as_bytes());
            let part = Some(place as u64 + 1);
            self.text(Slot::Reasoning(part), Source::Item, place, &text, out)?;
        }
        if let Some(redacted) = message.word("reasoningOpaque|encryptedContent") {
            self.begin(out)?;
            out.redacted(0, &redacted)?;
        }
        match message.get(CONTENT) {
            Some(json) if json.starts_with('[') => {
                for (place, block) in blocks(message).iter().enumerate() {
                    self.block_in(slot, place, block, out)?;
                }
            }
            Some(json) if json.starts_with('{') => {
                self.block_in(slot, 0, &Object::new(json), out)?
            }
            Some(json) => match string(json) {
                Some(text) => self.text(slot, Source::Item, 0, &text, out)?,
                None => {
                    out.warn(WarningCode::WrongType, "the content of a message was left out")?
                }
            },
            None => {}
        }
        for json in message.each(CALLS) {
            self.call(&Object::new(json), Executor::Agent, out)?;
        }
        if let Some(reason) = message.word(REASON) {
            self.note_reason(reason);
        }
        Ok(())
    }

    /// A block, an item or a part by itself.
    pub(crate) fn block(&mut self, place: usize, block: &Object, out: &mut EventOut) -> Done {
        self.block_in(Slot::ANSWER, place, block, out)
    }

    fn block_in(&mut self, slot: Slot, place: usize, block: &Object, out: &mut EventOut) -> Done {
        let shape = shape(block);
        if shape == Some(Shape::Nothing) {
            return Ok(());
        }
        if shape != Some(Shape::Message) {
            self.begin(out)?;
        }
        match shape {
            Some(Shape::Text) => {
                let text = block.text("text|content").unwrap_or_default();
                self.text(slot, Source::Item, place, &text, out)
            }
            Some(Shape::Refusal) => {
                let text = block.text("refusal|text").unwrap_or_default();
                self.text(Slot::Refusal, Source::Item, place, &text, out)
            }
            Some(Shape::Thought) => self.thought(place, block, out),
            Some(Shape::Call(executor)) => self.call(block, executor, out),
            Some(Shape::Result) => self.result(block, out),
            Some(Shape::Message) => {
                self.message(role(&block.word("role").unwrap_or_default()), block, out)
            }
            Some(Shape::Nothing) | None => {
                let kind = block.word("type").unwrap_or_else(|| "unknown".to_owned());
                out.block(0, &kind, block.json)
            }
        }
    }

    fn thought(&mut self, place: usize, block: &Object, out: &mut EventOut) -> Done {
        let mut is_shown = false;
        for json in [block.get("summary"), block.get("content")].into_iter().flatten() {
            let parts = json::elements(json).unwrap_or_default();
            let has_several = parts.len() > 1;
            for (part, json) in (1..).zip(parts) {
                let text = Object::new(json).text("text").unwrap_or_default();
                is_shown |= !text.is_empty();
                let slot = Slot::Reasoning(Some(part).filter(|_| has_several));
                self.text(slot, Source::Item, place, &text, out)?;
            }
        }
        if let Some(text) = block.text("thinking|think|reasoning|text|summary|content") {
            is_shown |= !text.is_empty();
            self.text(Slot::THOUGHT, Source::Item, place, &text, out)?;
        }
        match block.word("data|encrypted_content") {
            Some(data) if !is_shown => out.redacted(0, &data)?,
            Some(signature) => out.signature(0, &signature)?,
            None => {}
        }
        block.word(SIGNATURE).map_or(Ok(()), |signature| out.signature(0, &signature))
    }

    /// A call, and its result where that stands in it.
    pub(crate) fn call(&mut self, call: &Object, executor: Executor, out: &mut EventOut) -> Done {
        self.begin(out)?;
        let id = call.word(CALL_ID);
        if !id.as_deref().is_some_and(|id| self.is_known(id)) {
            self.turn.joined = Joined::default();
            let key = self.begin_call(call, executor, Arguments::Value("{}"), out)?;
            self.turn.calls.end_key(key, out)?;
        }
        let status = call.word(STATUS);
        let is_over = status
            .is_some_and(|status| !matches!(status.as_str(), "pending" | "running"))
            || call.get("result").is_some();
        let has_output = call.get("state.output|state.error|result|output").is_some();
        let is_answered = id.as_deref().is_some_and(|id| self.turn.calls.is_answered(id));
        if is_over && has_output && !is_answered { self.result(call, out) } else { Ok(()) }
    }

    /// An action of the agent. If the model's own call of that has come, its result comes by itself:
    /// the action says whether that is an error.
    pub(crate) fn action(&mut self, item: &Object, out: &mut EventOut) -> Done {
        let action = Action::of(item);
        let known = action.id.as_deref().filter(|id| self.turn.calls.has(id));
        if let Some(id) = known {
            if action.is_failed && !self.turn.calls.is_answered(id) {
                self.turn.failed.insert(id.to_owned());
            }
            let event = ProviderEvent { event: Some("item_completed"), data: output(item.json) };
            return out.emit(0, Kind::ProviderEvent(event));
        }
        self.begin(out)?;
        self.turn.joined = Joined::default();
        self.turn.calls.whole(action.call(), out)?;
        action.result().map_or(Ok(()), |result| self.turn.calls.result(result, out))
    }

    /// A call whose arguments may go on. Returns its key, and its arguments so far; `None` if
    /// it is one that comes again.
    pub(crate) fn open_call(
        &mut self,
        call: &Object,
        out: &mut EventOut,
    ) -> io::Result<Option<(Key, String)>> {
        self.begin(out)?;
        if call.word(CALL_ID).is_some_and(|id| self.is_known(&id)) {
            return Ok(None);
        }
        self.turn.joined = Joined::default();
        let key = self.begin_call(call, Executor::Agent, Arguments::None, out)?;
        let json = call.get(ARGUMENTS).unwrap_or_default();
        let text = string(json).map(|text| text.as_str().to_owned());
        Ok(Some((key, text.unwrap_or_else(|| json.to_owned()))))
    }

    /// The call of this key has all of its arguments.
    pub(crate) fn end_call(&mut self, key: Key, out: &mut EventOut) -> Done {
        self.turn.calls.end_key(key, out)
    }

    /// True if a call of this id is not another one: it has no result yet, or it
    /// is in the message that comes again.
    fn is_known(&self, id: &str) -> bool {
        let turn = &self.turn;
        let is_again = || self.repeats == Repeats::ById && turn.called.get(id) == Some(&turn.part);
        turn.calls.has(id) && (!turn.calls.is_answered(id) || is_again())
    }

    /// Emits a call, which has the arguments `missing` if it says none.
    fn begin_call(
        &mut self,
        call: &Object,
        executor: Executor,
        missing: Arguments,
        out: &mut EventOut,
    ) -> io::Result<Key> {
        let id = call.word(CALL_ID);
        self.turn.thoughts = 0;
        let kind = call.word("type").unwrap_or_default();
        let name = call.word(NAME).or_else(|| {
            Some(kind.clone())
                .filter(|kind| kind.ends_with("_call") && kind.as_str() != "tool_call")
        });
        let signature = call.word("thoughtSignature|signature");
        let part = CallPart {
            id: id.as_deref(),
            name: name.as_deref(),
            executor: Some(executor),
            signature: signature.as_deref(),
            ..CallPart::default()
        };
        let part = self.turn.calls.place(part, out)?;
        if let Some(id) = &id {
            self.turn.called.insert(id.clone(), self.turn.part.clone());
        }
        match call.get(ARGUMENTS) {
            Some(json) if json.starts_with('"') => {
                let text = string(json).unwrap_or_default();
                if kind.starts_with("custom") {
                    out.call_free(0, part, &text)?;
                } else {
                    out.call_fragment(0, part, &text)?;
                }
            }
            json => {
                let arguments = json.map_or(missing, Arguments::Value);
                out.call(0, CallPart { arguments, ..part })?;
            }
        }
        let key = part.key;
        self.turn.tool = name;
        Ok(key)
    }

    /// A result, whether or not it names its call.
    pub(crate) fn result(&mut self, result: &Object, out: &mut EventOut) -> Done {
        self.begin(out)?;
        self.turn.joined = Joined::default();
        let name = result.word(RESULT_NAME);
        let calls = &self.turn.calls;
        let own = result.word(RESULT_ID).or_else(|| result.word("id").filter(|id| calls.has(id)));
        let id = own.unwrap_or_default();
        if self.repeats == Repeats::ById && calls.is_answered(&id) {
            return Ok(());
        }
        let failed = |status: String| matches!(status.as_str(), "error" | "failed" | "declined");
        let is_error = result
            .flag(IS_ERROR)
            .or(result.flag("success|toolResult.success|output.success").map(|success| !success))
            .or(result.word(STATUS).map(failed))
            .or(Some(self.turn.failed.remove(&id)))
            .filter(|is_error| *is_error);
        let output = Output::Json(result.get(OUTPUT).unwrap_or("null"));
        let result = ToolResult {
            id: &id,
            name: name.as_deref(),
            output,
            is_error,
            ..ToolResult::default()
        };
        self.turn.calls.result(result, out)
    }

    /// Adds the cost of a message or step of the model's. Where the log names it, its
    /// counts may come again.
    pub(crate) fn usage(&mut self, part: Option<&str>, json: &str) {
        if part.is_none() || part != self.turn.counted.as_deref() {
            self.turn.meter.part();
            self.turn.counted = part.map(str::to_owned);
        }
        self.turn.meter.pick(json);
    }

    /// Sets the cost of the whole message, in place of that of its parts.
    pub(crate) fn total(&mut self, json: Option<&str>) {
        if let Some(json) = json {
            self.turn.meter.reset();
            self.turn.meter.pick(json);
        }
    }

    /// The tool that was called last.
    pub(crate) fn latest_tool(&self) -> Option<&str> {
        self.turn.tool.as_deref()
    }

    /// Notes why the model stopped, and goes on.
    pub(crate) fn note_reason(&mut self, reason: String) {
        if !finish::is_none(&reason) {
            self.turn.reason = Some(reason);
        }
    }

    /// The provider or the agent failed, and the message with it.
    pub(crate) fn fail(&mut self, json: &str, out: &mut EventOut) -> Done {
        self.begin(out)?;
        error::report(json, out)?;
        self.end(out)
    }

    /// Ends the message where its log marks the end.
    pub(crate) fn stop(&mut self, out: &mut EventOut) -> Done {
        self.begin(out)?;
        match self.turn.reason.take() {
            Some(raw) => out.finish(0, &raw, None)?,
            None => out.infer_finish(0, FinishReason::Stop, None)?,
        }
        self.end(out)
    }

    /// The input has ended. That's the end of the message, if `is_end`.
    pub(crate) fn finish(&mut self, is_end: bool, out: &mut EventOut) -> Done {
        if !self.is_open && self.has_prompt {
            // There is a prompt, and no answer.
            return self.begin(out);
        }
        if !self.is_open {
            return Ok(());
        }
        self.turn.meter.finish(out)?;
        if is_end { out.infer_finish_of_log(self.turn.reason.as_deref()) } else { Ok(()) }
    }

    /// Ends the message.
    pub(crate) fn end(&mut self, out: &mut EventOut) -> Done {
        self.turn.meter.finish(out)?;
        self.turn = Turn::new(self.rows);
        self.is_open = false;
        self.has_prompt = false;
        out.end()
    }
}

fn shape(block: &Object) -> Option<Shape> {
    if let Some(kind) = block.word("type") {
        let row = SHAPES.iter().find(|(_, names)| names.contains(&kind.as_str()));
        return row.map(|(shape, _)| *shape);
    }
    // Gemini's parts have no type, nor have Codex' oldest messages.
    let is_thought = block.flag("thought") == Some(true);
    match () {
        () if block.get("functionCall").is_some() => Some(Shape::Call(Executor::Agent)),
        () if block.get("functionResponse").is_some() => Some(Shape::Result),
        () if block.get("role").is_some() => Some(Shape::Message),
        () if block.text("text").is_some() && is_thought => Some(Shape::Thought),
        () if block.text("text").is_some() => Some(Shape::Text),
        () => None,
    }
}

fn is_result(block: &&Object) -> bool {
    shape(block) == Some(Shape::Result)
}

/// The blocks of a message whose content is an array.
fn blocks<'a>(message: &Object<'a>) -> Vec<Object<'a>> {
    message.each(CONTENT).into_iter().map(Object::new).collect()
}
