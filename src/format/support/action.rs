//! What an agent did, as an item of Codex' session files says it: the call and its result in one
//! object.
//!
//! Source: `TurnItem` in `codex-rs/protocol/src/items.rs`.

use crate::event::{Arguments, CallPart, Executor, Kind, Output, ProviderEvent, ToolResult};
use crate::format::support::calls::Calls;
use crate::format::support::emit::{Done, EventOut, output};
use crate::format::support::object::Object;
use crate::json;

/// Members of an item that are not what its tool was called with.
const NOT_ARGUMENTS: &str = "id type status aggregated_output formatted_output stdout \
    stderr exit_code duration process_id parsed_cmd success content_items result error \
    agents_states";

/// An action of the agent.
struct Action<'a> {
    id: Option<String>,
    name: String,
    arguments: String,
    output: Option<&'a str>,
    /// True if it failed, or was declined.
    is_failed: bool,
}

impl<'a> Action<'a> {
    /// Reads an item. It is named after its type, or after the tool if that has a name.
    fn of(item: &Object<'a>) -> Self {
        let word = |name| item.word(name).unwrap_or_default();
        let kind = snake_case(&word("type"));
        let name = match kind.as_str() {
            "mcp_tool_call" => format!("mcp__{}__{}", word("server"), word("tool")),
            "dynamic_tool_call" => word("tool"),
            _ => kind,
        };
        let has_failed = || matches!(word("status").as_str(), "failed" | "declined");
        let exit_code = item.get("exit_code").is_some_and(|code| code != "0");
        Action {
            id: item.word("id"),
            name,
            arguments: item.get("arguments").map_or_else(|| own(item.json), str::to_owned),
            output: item.get("error|result|content_items|aggregated_output|stdout|status"),
            is_failed: exit_code || item.flag("success") == Some(false) || has_failed(),
        }
    }

    /// Returns its call.
    fn call(&self) -> CallPart<'_> {
        CallPart {
            id: self.id.as_deref(),
            name: Some(&self.name),
            arguments: Arguments::Value(&self.arguments),
            executor: Some(Executor::Agent),
            ..CallPart::default()
        }
    }

    /// Returns its result, if it says anything of that.
    fn result(&self) -> Option<ToolResult<'_>> {
        Some(ToolResult {
            id: self.id.as_deref().unwrap_or_default(),
            output: Output::Json(self.output?),
            is_error: self.is_failed.then_some(true),
            ..ToolResult::default()
        })
    }
}

/// Emits an action: its call, and its result. If the model's own call of that has come, its result
/// comes by itself, and the action says whether that is an error.
pub(crate) fn take(item: &Object, calls: &mut Calls, out: &mut EventOut) -> Done {
    let action = Action::of(item);
    if let Some(id) = action.id.as_deref().filter(|id| calls.has(id)) {
        if action.is_failed {
            calls.fail(id);
        }
        let event = ProviderEvent { event: Some("item_completed"), data: output(item.json) };
        return out.emit(0, Kind::ProviderEvent(event));
    }
    calls.whole(action.call(), out)?;
    action.result().map_or(Ok(()), |result| calls.result(result, out))
}

/// Returns an item's own members, as an object.
fn own(json: &str) -> String {
    let is_own = |key: &str| !NOT_ARGUMENTS.split_ascii_whitespace().any(|name| name == key);
    let members = json::members(json);
    let own = members.iter().filter(|(key, _)| is_own(key));
    json::object(own.map(|(key, value)| (key, value.get())))
}

/// Writes `CommandExecution` as `command_execution`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 2);
    for (at, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
