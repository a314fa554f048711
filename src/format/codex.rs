//! Codex CLI: `codex exec --json`.
//!
//! Source: the types of `@openai/codex-sdk` (events and items). A turn is a
//! message: it has one end and one usage, whatever the number of the agent's
//! remarks in it. Items come whole. What the agent ran is a call, named after
//! its item's type (or `mcp__SERVER__TOOL`), and its `tool_result` after it.

use serde_json::value::RawValue;

use crate::event::{Arguments, CallPart, Executor, Output, ToolResult, WarningCode};
use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["codex-exec", "codex-cli"],
    about: "Codex CLI, codex exec --json",
    link: "https://developers.openai.com/codex/noninteractive",
    evidence: &["thread_id", "item"],
    banners: &[
        "Reading additional input from stdin",
        "Reading prompt from stdin",
        "OpenAI Codex v",
    ],
    sniff: |record| is_ours(&record.text("type").unwrap_or_default()),
    ..Format::new("codex", |_| {
        let (thread, calls, error) = Default::default();
        Box::new(Codex { message: Lifecycle::new(&FORMAT, USAGE), thread, calls, error })
    })
};

fn is_ours(kind: &str) -> bool {
    matches!(kind, "thread.started" | "turn.started" | "turn.completed" | "turn.failed")
        || kind.starts_with("item.")
}

const USAGE: &[Row] = &[
    ("input_tokens", Op::Is, &[Field::Input]),
    ("output_tokens", Op::Is, &[Field::Output]),
    ("cached_input_tokens", Op::Is, &[Field::Cached]),
    ("cache_write_input_tokens", Op::Is, &[Field::CacheWrite]),
    ("reasoning_output_tokens", Op::Is, &[Field::Reasoning]),
];

payload! {
    struct Event<'a> {
        kind: Option<Str<'a>> = "type",
        thread_id: Option<Str<'a>>,
        /// An [`Item`].
        item: Option<&'a RawValue>,
        usage: Option<&'a RawValue>,
        error: Option<&'a RawValue>,
        message: Option<Str<'a>>,
    }

    /// A thought, a text or an action of the agent.
    struct Item<'a> {
        id: Option<Str<'a>>,
        /// Old builds call it `item_type`.
        kind: Option<Str<'a>> = "type" | "item_type",
        text: Option<Str<'a>>,
        phase: Option<Str<'a>>,
        message: Option<Str<'a>>,
        status: Option<Str<'a>>,
        aggregated_output: Option<Str<'a>>,
        exit_code: Option<i64>,
        server: Option<Str<'a>>,
        tool: Option<Str<'a>>,
        arguments: Option<&'a RawValue>,
        result: Option<&'a RawValue>,
        error: Option<&'a RawValue>,
    }
}

/// Members of an item that are not what its tool was called with.
const NOT_ARGUMENTS: [&str; 9] = [
    "id",
    "type",
    "item_type",
    "status",
    "aggregated_output",
    "exit_code",
    "result",
    "error",
    "agents_states",
];

struct Codex {
    message: Lifecycle,
    thread: Option<String>,
    calls: Calls,
    /// An error that is final only if nothing comes after it: the program
    /// reports each try to reconnect as one.
    error: Option<String>,
}

impl Decoder for Codex {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        read!(&frame, out, |event: Event| self.event(&frame, event, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if let Some(json) = self.error.take() {
            error::report(&json, out)?;
        }
        self.message.finish(out)
    }
}

impl Codex {
    fn event(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        let kind = event.kind.or_empty();
        self.error = None;
        match kind {
            "thread.started" => {
                self.thread = event.thread_id.non_empty().map(str::to_owned);
                Ok(())
            }
            "turn.started" => self.begin(out),
            "item.started" | "item.updated" | "item.completed" => {
                self.begin(out)?;
                let Some(json) = event.item else { return out.unknown(frame, kind) };
                read!(&frame.part(json), out, |item: Item| {
                    self.item(frame, item, json.get(), kind == "item.completed", out)
                })
            }
            // The item is repeated, whole.
            "item.plan.delta" => Ok(()),
            "turn.completed" => {
                self.begin(out)?;
                self.message.meter.feed(event.usage.map_or("", RawValue::get));
                self.end(out)
            }
            "turn.failed" => {
                self.begin(out)?;
                error::report(event.error.map_or("null", RawValue::get), out)?;
                self.end(out)
            }
            "error" => {
                self.begin(out)?;
                self.error = Some(frame.text().into_owned());
                out.warn(
                    WarningCode::AgentError,
                    event.message.text().unwrap_or("the agent reported an error"),
                )
            }
            kind => out.unknown(frame, kind),
        }
    }

    /// `is_last` is true if the item is complete.
    fn item(
        &mut self,
        frame: &Frame,
        item: &Item,
        json: &str,
        is_last: bool,
        out: &mut EventOut,
    ) -> Done {
        let none = Str::default();
        let text = item.text.as_ref().unwrap_or(&none);
        let kind = item.kind.or_empty();
        match kind {
            // Their arguments are known when they start.
            "command_execution" | "mcp_tool_call" => self.call(kind, item, json, is_last, out),
            _ if !is_last => Ok(()),
            "file_change" | "web_search" | "collab_tool_call" => {
                self.call(kind, item, json, is_last, out)
            }
            "agent_message" | "assistant_message" => {
                let is_aside = item.phase.text() == Some("commentary");
                out.text_on(0, Some("commentary").filter(|_| is_aside), text)?;
                out.flush()
            }
            "reasoning" => {
                out.reasoning(0, text)?;
                out.flush()
            }
            "todo_list" | "plan" => out.block(0, kind, json),
            "error" => out.warn(
                WarningCode::AgentError,
                item.message.text().unwrap_or("the agent reported an error"),
            ),
            kind => out.unknown(frame, kind),
        }
    }

    fn call(
        &mut self,
        kind: &str,
        item: &Item,
        json: &str,
        is_last: bool,
        out: &mut EventOut,
    ) -> Done {
        let id = item.id.non_empty();
        if id.is_none_or(|id| !self.calls.has(id)) {
            let [server, tool] = [&item.server, &item.tool].map(|word| word.or_empty());
            let name = if kind == "mcp_tool_call" {
                format!("mcp__{server}__{tool}")
            } else {
                kind.to_owned()
            };
            let arguments =
                item.arguments.map_or_else(|| arguments(json), |json| json.get().to_owned());
            let (name, arguments) = (Some(name.as_str()), Arguments::Value(&arguments));
            let executor = Some(Executor::Agent);
            self.calls
                .whole(CallPart { id, name, arguments, executor, ..CallPart::default() }, out)?;
        }
        if !is_last {
            return Ok(());
        }
        let status = item.status.or_empty();
        let failed =
            matches!(status, "failed" | "declined") || item.exit_code.is_some_and(|code| code != 0);
        let is_null = |json: &&RawValue| json.get() != "null";
        let output = match (
            item.error.filter(is_null).or(item.result.filter(is_null)),
            &item.aggregated_output,
        ) {
            (Some(json), _) => Output::Json(json.get()),
            (None, Some(text)) => Output::Text(text.as_str()),
            (None, None) if status.is_empty() => return Ok(()),
            (None, None) => Output::Text(status),
        };
        let id = id.unwrap_or_default();
        self.calls.result(
            ToolResult { id, output, is_error: failed.then_some(true), ..ToolResult::default() },
            out,
        )
    }

    fn begin(&mut self, out: &mut EventOut) -> Done {
        self.message.begin(self.thread.as_deref(), None, out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.calls = Calls::default();
        self.message.end(out)
    }
}

/// Returns an item's own members, as an object.
fn arguments(json: &str) -> String {
    let members = json::members(json);
    let own = members.iter().filter(|(key, _)| !NOT_ARGUMENTS.contains(&key.as_ref()));
    json::object(own.map(|(key, value)| (key, value.get())))
}
