//! The items that are calls: who runs them, their arguments and their results.

use std::borrow::Cow;

use crate::format::openai_responses::payload::{ResponseItem, Whole};
use crate::format::support::prelude::*;

/// The nature of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    /// Its type isn't known.
    Unknown,
    Message,
    Thought,
    /// A call, and who runs it if not the caller.
    Call(Option<Executor>),
    /// The result of a tool.
    Result,
    /// To be returned with the next request, as it is.
    Opaque,
}

/// Built-in tools that the caller runs are calls like any other: who passes
/// them over waits for ever.
static NATURES: &[(Nature, &[&str])] = &[
    (Nature::Message, &["message"]),
    (Nature::Thought, &["reasoning"]),
    (Nature::Call(None), &["function_call", "custom_tool_call", "apply_patch_call"]),
    (Nature::Call(None), &["computer_call", "local_shell_call", "mcp_approval_request"]),
    (Nature::Call(None), &["shell_call", "tool_search_call"]),
    (PROVIDER, &["code_interpreter_call", "file_search_call", "image_generation_call"]),
    (PROVIDER, &["mcp_call", "mcp_list_tools", "program", "web_search_call", "x_search_call"]),
    (Nature::Opaque, &["additional_tools", "compaction", "mcp_approval_response"]),
];

/// A call that the provider runs.
const PROVIDER: Nature = Nature::Call(Some(Executor::Provider));

impl Nature {
    /// The nature of an item.
    pub(super) fn of(item: &ResponseItem) -> Self {
        let environment = item.environment.as_ref().and_then(|place| place.kind.text());
        Nature::of_kind(item.kind(), environment, item.execution.text())
    }

    /// The nature of an item of a type, by the environment of a shell and by the side that searches.
    /// A call of an unknown type is the provider's to run: what nobody asked for is not to be run by
    /// the caller.
    pub(super) fn of_kind(kind: &str, environment: Option<&str>, execution: Option<&str>) -> Self {
        match (kind, environment, execution) {
            ("shell_call", Some(place), _) if place != "local" => PROVIDER,
            ("tool_search_call", _, by) if by != Some("client") => PROVIDER,
            _ => match NATURES.iter().find(|(_, kinds)| kinds.contains(&kind)) {
                Some((nature, _)) => *nature,
                None if kind.ends_with("_output") => Nature::Result,
                None if kind.ends_with("_call") => PROVIDER,
                None => Nature::Unknown,
            },
        }
    }

    /// True if the type of an item stands in the table, or ends with what it is.
    pub(super) fn is_known(kind: &str) -> bool {
        kind.ends_with("_output") || NATURES.iter().any(|(_, kinds)| kinds.contains(&kind))
    }
}

/// A call that is open.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemCall {
    pub(super) key: Key,
    /// The id that was emitted.
    emitted: Option<String>,
    /// The hashes of its id, of its name and of its namespace, as they were when it began.
    id: Option<u64>,
    name: Option<u64>,
    namespace: Option<u64>,
    /// The hash of its arguments, once it is done.
    arguments: Option<u64>,
    /// True if its arguments have been repeated whole.
    pub(super) is_whole: bool,
    /// True once it is done.
    has_ended: bool,
}

impl ItemCall {
    pub(super) fn new(key: Key) -> Self {
        ItemCall { key, ..ItemCall::default() }
    }

    /// True if a call may be this one, by its id.
    pub(super) fn may_be(&self, item: &ResponseItem) -> bool {
        !is_other(self.id, item.call_id())
    }

    /// True if an item is no longer the call that began.
    fn is_another(&self, item: &ResponseItem) -> bool {
        is_other(self.id, item.call_id())
            || is_other(self.name, tool(item))
            || is_other(self.namespace, item.namespace.non_empty())
    }

    /// The call came again after it was done: with another id, name or other arguments, neither may run,
    /// and none that the provider gave up.
    pub(super) fn compare(&self, whole: Whole, out: &mut EventOut) -> Done {
        let given = arguments(whole.item, whole.json).hash();
        let is_other = self.is_another(whole.item)
            || self.arguments.is_some() && given.is_some() && self.arguments != given;
        match &self.emitted {
            Some(id) if is_other || self.has_ended && whole.item.is_given_up() => {
                out.withdraw_call(id)
            }
            _ => Ok(()),
        }
    }

    /// The call begins. The id of a search for tools may still change.
    pub(super) fn start(
        &mut self,
        item: &ResponseItem,
        executor: Option<Executor>,
        out: &mut EventOut,
    ) -> Done {
        let id = item.id().filter(|_| item.kind() != "tool_search_call");
        let name = tool(item);
        self.emitted = id.map(str::to_owned);
        self.id = id.and(item.call_id()).map(hash);
        self.name = name.map(hash);
        self.namespace = item.namespace.non_empty().map(hash);
        let arguments = if item.input().is_some() { Arguments::Free("") } else { Arguments::None };
        let (key, item_id, namespace) = (self.key, item.item_id(), item.namespace.non_empty());
        let part = CallPart { key, id, name, arguments, executor, ..CallPart::default() };
        out.call(0, CallPart { item_id, namespace, ..part })
    }

    /// A piece of its arguments.
    pub(super) fn piece(
        &mut self,
        piece: &Sourced<Str>,
        is_free: bool,
        out: &mut EventOut,
    ) -> Done {
        let native = Some(Piece::part(piece.json));
        let part = CallPart { key: self.key, native, ..CallPart::default() };
        if is_free { out.call_free(0, part, piece) } else { out.call_fragment(0, part, piece) }
    }

    /// Its arguments, repeated at their end. A repetition that is empty takes
    /// nothing back.
    pub(super) fn repeat(&mut self, whole: &Str, is_free: bool, out: &mut EventOut) -> Done {
        self.is_whole = true;
        let part = CallPart { key: self.key, ..CallPart::default() };
        if is_free {
            out.call(0, CallPart { arguments: Arguments::Free(""), ..part })?;
        }
        if whole.is_empty() { Ok(()) } else { out.call_done(0, part, whole) }
    }

    /// The call is whole. What the item says counts more than what came before
    /// it, but an item that says nothing takes nothing back.
    pub(super) fn finish(
        &mut self,
        whole: Whole,
        executor: Option<Executor>,
        out: &mut EventOut,
    ) -> Done {
        let item = whole.item;
        let (key, id) = (self.key, item.id().filter(|_| self.emitted.is_none()));
        // By its id alone, a name that comes late finds its call.
        out.call(0, CallPart { key, id, ..CallPart::default() })?;
        let name = tool(item).filter(|_| self.name.is_none());
        let signature = item.fingerprint.non_empty();
        let (kind, item_id) = (item.own_kind(), item.item_id());
        let part = CallPart { key, id, name, executor, signature, ..CallPart::default() };
        let namespace = item.namespace.non_empty();
        let native = Some(whole.piece());
        out.call(0, CallPart { kind, item_id, namespace, native, ..part })?;
        let given = arguments(item, whole.json);
        self.arguments = given.hash();
        self.emitted = self.emitted.take().or(id.map(str::to_owned));
        if self.is_another(item) {
            return out.call_fault(0, key, Reason::Conflict, given.text());
        }
        match given {
            ItemInput::Text(text) => self.repeat(&text, false, out)?,
            ItemInput::Free(text) => self.repeat(&text, true, out)?,
            ItemInput::Json(json) => {
                let arguments = Arguments::Done(&json);
                out.call(0, CallPart { key: self.key, arguments, ..CallPart::default() })?;
            }
            ItemInput::Nothing => {}
        }
        // A call that the provider itself gave up stays open, and so is cut; not one that it ran, and
        // that failed.
        if item.is_given_up() && (executor.is_none() || item.status.text() == Some("incomplete")) {
            return Ok(());
        }
        self.has_ended = true;
        out.call_end(0, self.key)?;
        let checks = item.pending_safety_checks.filter(|_| item.action().is_some());
        if let Some(json) = checks.map(RawJson::get).filter(|json| *json != "[]") {
            out.block(0, "pending_safety_checks", json)?;
        }
        if executor.is_some() { result(item, out) } else { Ok(()) }
    }
}

/// True if a word is there, and is not the one of this hash.
fn is_other(known: Option<u64>, word: Option<&str>) -> bool {
    known.zip(word).is_some_and(|(known, word)| known != hash(word))
}

/// Emits a tool's result, in the item of its call or in one of its own.
pub(super) fn result(item: &ResponseItem, out: &mut EventOut) -> Done {
    let Some(json) = item.result() else { return Ok(()) };
    let text = json::read::<Str<'_>>(json);
    let output = text.as_ref().map_or(Output::Json(json), |text| Output::Text(text.as_str()));
    let is_error = Some(true).filter(|_| item.error.is_some());
    // A search for tools and its result have two ids, and nothing that ties them: it is of the oldest
    // that waits for one.
    let is_search = item.kind() == "tool_search_output" && item.call_id().is_none();
    let name = Some("tool_search").filter(|_| is_search);
    let id = item.id().filter(|_| !is_search).unwrap_or_default();
    let kind = Some(item.kind()).filter(|kind| *kind != "function_call_output");
    out.emit(
        0,
        Kind::ToolResult(ToolResult { id, name, output, is_error, kind, ..ToolResult::default() }),
    )
}

/// The tool's name: of a built-in tool, its type. The name in a request for
/// approval is not of the tool that the caller has to run.
fn tool<'i>(item: &'i ResponseItem) -> Option<&'i str> {
    let kind = item.kind();
    let name = item.name.non_empty().filter(|_| kind != "mcp_approval_request");
    match (name, kind) {
        (Some(name), _) => Some(name),
        // A function without a name is not called `function`.
        (None, "function_call" | "custom_tool_call" | "mcp_call") => None,
        (None, kind) => Some(kind.strip_suffix("_call").unwrap_or(kind)),
    }
}

/// The arguments of a whole call.
enum ItemInput<'i> {
    Nothing,
    /// JSON that came in a string.
    Text(Str<'i>),
    Free(Str<'i>),
    Json(Cow<'i, str>),
}

impl ItemInput<'_> {
    /// Returns a hash of arguments that stand in a member of their own.
    fn hash(&self) -> Option<u64> {
        match self {
            // A repetition that is empty takes nothing back.
            ItemInput::Text(text) => text.non_empty().map(|text| hash(&json::spelled(text))),
            ItemInput::Free(text) => text.non_empty().map(hash),
            ItemInput::Json(Cow::Borrowed(json)) => Some(hash(&json::spelled(json))),
            ItemInput::Json(Cow::Owned(_)) | ItemInput::Nothing => None,
        }
    }

    fn text(&self) -> &str {
        match self {
            ItemInput::Nothing => "",
            ItemInput::Text(text) => text.as_str(),
            ItemInput::Free(text) => text.as_str(),
            ItemInput::Json(json) => json,
        }
    }
}

fn arguments<'i>(item: &'i ResponseItem<'i>, json: &'i str) -> ItemInput<'i> {
    let arguments =
        item.arguments.map(RawJson::get).filter(|_| item.kind() != "mcp_approval_request");
    match (arguments, item.input(), item.action()) {
        (Some(json), ..) => match json::read(json) {
            Ok(text) if json.starts_with('"') => ItemInput::Text(text),
            _ => ItemInput::Json(Cow::Borrowed(json)),
        },
        (None, Some(input), _) => ItemInput::Free(input.clone()),
        (None, None, Some(json)) => ItemInput::Json(Cow::Borrowed(json)),
        (None, None, None) => match item.kind() {
            "custom_tool_call" => ItemInput::Free(Str::default()),
            "function_call" | "mcp_call" => ItemInput::Nothing,
            _ => ItemInput::Json(Cow::Owned(others(item, json))),
        },
    }
}

/// Members of every item, and others that are no arguments.
const NO_ARGUMENTS: [&str; 14] = [
    "id", "type", "status", "call_id", "namespace", "execution", "caller", "fingerprint", "output",
    "outputs", "result", "results", "tools", "error",
];

/// An object of what an item has and others don't: the arguments of a tool
/// that has no member for them.
fn others(item: &ResponseItem, json: &str) -> String {
    let is_named = item.kind() == "mcp_approval_request";
    let is_argument = |key: &str| !NO_ARGUMENTS.contains(&key) && (key != "name" || is_named);
    let members = json::members(json);
    let members = members.iter().filter(|(key, _)| is_argument(key));
    json::object(members.map(|(key, value)| (key, value.get())))
}
