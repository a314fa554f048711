//! The Agent Client Protocol: the messages of agents to editors, one JSON-RPC message a
//! line. Gemini CLI, Zed's adapters for Claude Code and Codex, Goose, Kimi,
//! OpenCode and others speak it.
//!
//! Source: agentclientprotocol.com, "Prompt turn" and "Tool calls", and
//! zed-industries/agent-client-protocol, `schema/schema.json`. Both directions
//! may be in a log, or only `session/update`. A call is emitted when it begins to
//! run and its input is there, or has run: its input may come piece by piece before that. The answer to
//! `session/prompt` says why the turn has ended; where the log holds the request
//! and no answer, the turn was cut.

use std::collections::HashSet;

use crate::event::{Arguments, CallPart, Executor, Output, ToolResult};
use crate::format::support::emit::Slot;
use crate::format::support::prelude::*;
use crate::format::support::session::Session;
use crate::json::RawJson;

pub(super) static FORMAT: Format = Format {
    aliases: &["agent-client-protocol"],
    about: "Agent Client Protocol, JSON-RPC with session/update",
    link: "https://agentclientprotocol.com/protocol/prompt-turn",
    evidence: &["params.update.sessionUpdate", "update.sessionUpdate", "sessionUpdate", "method"],
    sniff: is_ours,
    ..Format::new("acp", |_| {
        let (held, begun, request) = Default::default();
        Box::new(Acp { session: Session::new(&FORMAT, USAGE), held, begun, request })
    })
};

fn is_ours(record: &Record) -> bool {
    let is_update = |record: &Record| record.has("sessionUpdate");
    let is_call = record.text("method").is_some_and(|method| method.starts_with("session/"));
    let is_bare =
        is_update(record) || record.inner("update").is_some_and(|inner| is_update(&inner));
    is_bare || (is_call && record.has("params"))
}

const USAGE: &[Row] = &[
    ("inputTokens", Op::Is, &[Field::Input]),
    ("outputTokens", Op::Is, &[Field::Output]),
    ("totalTokens", Op::Is, &[Field::Total]),
    ("cachedReadTokens", Op::Is, &[Field::Cached]),
    ("cachedWriteTokens", Op::Is, &[Field::CacheWrite]),
    ("thoughtTokens", Op::Is, &[Field::Reasoning]),
];

struct Acp {
    session: Session,
    /// The calls that have not begun to run, in order.
    held: Vec<Held>,
    /// The ids of those that have.
    begun: HashSet<String>,
    /// The id of the request that the turn answers.
    request: Option<String>,
}

/// The most calls that may wait to be run. One more begins the first of them.
const MAX_HELD: usize = 1024;

/// The known members of a call. Each value is JSON text.
#[derive(Default)]
struct Held {
    id: String,
    name: Option<String>,
    input: Option<String>,
}

impl Decoder for Acp {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        read!(&frame, out, |raw: RawJson| self.record(&frame, &Object::new(raw.get()), out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        let is_end = self.request.is_none() && self.held.is_empty();
        self.session.finish(is_end, out)
    }
}

impl Acp {
    fn record(&mut self, frame: &Frame, record: &Object, out: &mut EventOut) -> Done {
        if let Some(id) = record.word("params.sessionId|sessionId|result.sessionId") {
            self.session.id = Some(id);
        }
        let id = record.get("id").map(str::to_owned);
        let is_ours = self.request.is_none() || id == self.request;
        match record.word("method").as_deref() {
            Some("session/prompt") => {
                self.request = id;
                self.prompt(out)
            }
            Some("session/update") => self.update(frame, record, out),
            Some(_) => Ok(()),
            None if record.get("params|update|sessionUpdate").is_some() => {
                self.update(frame, record, out)
            }
            None => match (record.word("result.stopReason"), record.get("error")) {
                (Some(reason), _) if is_ours => self.stop(reason, record, out),
                (_, Some(error)) if is_ours && self.session.is_open() => {
                    self.flush(out)?;
                    self.session.fail(error, out)
                }
                _ => Ok(()),
            },
        }
    }

    fn prompt(&mut self, out: &mut EventOut) -> Done {
        self.flush(out)?;
        self.session.prompt(out)
    }

    fn stop(&mut self, reason: String, record: &Object, out: &mut EventOut) -> Done {
        self.flush(out)?;
        self.request = None;
        if let Some(usage) = record.get("result.usage|result._meta.usage") {
            self.session.usage(None, usage);
        }
        self.session.note_reason(reason);
        self.session.stop(out)
    }

    fn update(&mut self, frame: &Frame, record: &Object, out: &mut EventOut) -> Done {
        let update = Object::new(record.get("params.update|update|.").unwrap_or("{}"));
        let kind = update.kind("sessionUpdate");
        let text = update.text("content.text");
        match (kind.as_str(), text) {
            ("agent_message_chunk", Some(text)) => self.session.piece(Slot::ANSWER, &text, out),
            ("agent_thought_chunk", Some(text)) => self.session.piece(Slot::THOUGHT, &text, out),
            ("agent_message_chunk" | "agent_thought_chunk", None) => match update.get("content") {
                Some(json) => {
                    self.session.begin(out)?;
                    let kind = Object::new(json).word("type");
                    out.block(0, kind.as_deref().unwrap_or("unknown"), json)
                }
                None => Ok(()),
            },
            ("user_message_chunk", _) => self.prompt(out),
            ("tool_call" | "tool_call_update", _) if update.word("toolCallId").is_some() => {
                self.call(&update, out)
            }
            ("plan", _) => {
                self.session.begin(out)?;
                out.block(0, "plan", update.get("entries").unwrap_or("[]"))
            }
            (
                "available_commands_update"
                | "current_mode_update"
                | "config_option_update"
                | "session_info_update"
                | "usage_update",
                _,
            ) => Ok(()),
            (kind, _) => out.unknown(frame, kind),
        }
    }

    /// A call begins, or has come further.
    fn call(&mut self, update: &Object, out: &mut EventOut) -> Done {
        let Some(id) = update.word("toolCallId") else { return Ok(()) };
        let place = self.held.iter().position(|held| held.id == id);
        let mut held = match place {
            Some(place) => self.held.remove(place),
            None => Held { id: id.clone(), ..Held::default() },
        };
        if self.held.len() >= MAX_HELD {
            let first = self.held.remove(0);
            self.emit(&first, out)?;
        }
        let name = update.word("_meta.claudeCode.toolName|title|kind");
        held.name = held.name.or(name);
        let input = update.get("rawInput").filter(|json| *json != "{}");
        held.input = input.map(str::to_owned).or(held.input);
        let status = update.kind("status");
        let is_over = matches!(status.as_str(), "completed" | "failed");
        // Its input may come once it runs.
        let waits = status != "in_progress" || held.input.is_none();
        if !is_over && waits && !self.begun.contains(&id) {
            let last = self.held.len();
            self.held.insert(place.unwrap_or(last).min(last), held);
            return Ok(());
        }
        self.emit(&held, out)?;
        if !is_over {
            return Ok(());
        }
        let output = Output::Json(update.get("rawOutput|content").unwrap_or("null"));
        let is_error = (status == "failed").then_some(true);
        self.session.result(ToolResult { id: &id, output, is_error, ..ToolResult::default() }, out)
    }

    /// Emits a call, unless that was done before.
    fn emit(&mut self, held: &Held, out: &mut EventOut) -> Done {
        self.begun.insert(held.id.clone());
        let call = CallPart {
            id: Some(&held.id),
            name: held.name.as_deref(),
            arguments: Arguments::Value(held.input.as_deref().unwrap_or("{}")),
            executor: Some(Executor::Agent),
            ..CallPart::default()
        };
        self.session.call(call, out)
    }

    /// Emits the calls that never began to run.
    fn flush(&mut self, out: &mut EventOut) -> Done {
        let held = std::mem::take(&mut self.held);
        held.iter().try_for_each(|held| self.emit(held, out))?;
        self.begun.clear();
        Ok(())
    }
}
