//! Codex CLI: `codex exec --json`.
//!
//! Source: the types of `@openai/codex-sdk` (events and items). A turn is a
//! message: it has one end and one usage, whatever the number of the agent's
//! remarks in it. Items come whole. What the agent ran is a call, named after
//! its item's type (or `mcp__SERVER__TOOL`), and its `tool_result` after it. The usage of a turn is
//! that of its thread so far (`usage_from_last_total` in `codex-rs/exec`).

use serde_json::value::RawValue;

use crate::event::WarningCode;
use crate::format::support::action::Action;
use crate::format::support::object::Object;
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
        let mut message = Lifecycle::new(&FORMAT, USAGE);
        message.meter.add_up();
        Box::new(Codex { message, thread, calls, error })
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
    }
}

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
                let thread = event.thread_id.non_empty();
                if thread != self.thread.as_deref() {
                    self.thread = thread.map(str::to_owned);
                    self.message.meter.add_up();
                }
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
            "command_execution" | "mcp_tool_call" => self.action(json, is_last, out),
            _ if !is_last => Ok(()),
            "file_change" | "web_search" | "collab_tool_call" => self.action(json, is_last, out),
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

    fn action(&mut self, json: &str, is_last: bool, out: &mut EventOut) -> Done {
        let action = Action::of(&Object::new(json));
        if action.id.as_deref().is_none_or(|id| !self.calls.has(id)) {
            self.calls.whole(action.call(), out)?;
        }
        match action.result().filter(|_| is_last) {
            Some(result) => self.calls.result(result, out),
            None => Ok(()),
        }
    }

    fn begin(&mut self, out: &mut EventOut) -> Done {
        self.message.begin(self.thread.as_deref(), None, out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.calls = Calls::default();
        self.message.end(out)
    }
}
