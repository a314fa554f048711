//! opencode's sessions: the messages and parts that it stores, what `opencode
//! export` and its server print of them, and the events of its bus.
//!
//! Source: anomalyco/opencode, `packages/opencode/src/session/message-v2.ts`
//! (messages and parts) and its server's `/event`. An event brings a message or
//! a part as it is now, or a piece of a part's text. What belongs to a user's
//! message is a prompt. Each step of the model's is a message with its own
//! counts; a prompt and all steps after it are one message here.

use crate::event::{Arguments, CallPart, Executor, Output, ToolResult};
use crate::format::rows;
use crate::format::support::emit::Slot;
use crate::format::support::object::Places;
use crate::format::support::prelude::*;
use crate::format::support::session::Session;
use crate::json::RawJson;
use std::collections::{HashMap, VecDeque};

pub(super) static FORMAT: Format = Format {
    aliases: &["opencode-storage", "opencode-export", "opencode-bus"],
    about: "opencode, stored sessions, exports and its server's events",
    link: "https://opencode.ai/docs/server/",
    evidence: &["messageID", "sessionID", "info", "properties"],
    sniff: is_ours,
    ..Format::new("opencode-session", |_| {
        // The counts are those of `opencode run`.
        let usage = rows::OPENCODE.row.map_or(&[][..], |row| row.spec.usage);
        let (prompts, slots, is_bus) = Default::default();
        Box::new(OpenCodeSession { session: Session::new(&FORMAT, usage), prompts, slots, is_bus })
    })
};

fn is_ours(record: &Record) -> bool {
    let is_timed = record.inner("time").is_some_and(|time| time.has("start"));
    let is_part = record.has("type") && (record.has("messageID") || is_timed && record.has("id"));
    let is_message = record.has("sessionID") && record.has("role");
    let is_info =
        record.inner("info").is_some_and(|info| info.has("sessionID") || info.has("projectID"));
    let is_whole = is_info && (record.has("parts") || record.has("messages"));
    let is_event = |event: &Record| {
        event.has("properties") && event.text("type").is_some_and(|kind| family(&kind).is_some())
    };
    let is_global = record.inner("payload").is_some_and(|event| is_event(&event));
    // All that a session's own file holds.
    let is_head = ["projectID", "directory", "time"].iter().all(|key| record.has(key));
    is_part || is_message || is_whole || is_event(record) || is_global || is_head
}

/// The subjects of the bus's events, but for those that are read here.
const FAMILIES: &str = "server session message permission question file lsp todo pty tui vcs \
    project mcp installation";

/// The most messages of the user's that are known again when more comes of them.
const MAX_PROMPTS: usize = 64;
/// The most texts and thoughts of one message.
const MAX_PARTS: usize = 1 << 14;

/// The family of an event of this type, if it's one of the bus.
fn family(kind: &str) -> Option<&str> {
    let (family, _) = kind.split_once('.')?;
    FAMILIES.split_ascii_whitespace().find(|known| *known == family)
}

struct OpenCodeSession {
    session: Session,
    /// The user's last messages, the newest first.
    prompts: VecDeque<Option<String>>,
    /// Parts of the model's that are thoughts, or text.
    slots: HashMap<Option<String>, Slot>,
    /// True if the session has events of the bus, which mark when it is idle.
    is_bus: bool,
}

impl Decoder for OpenCodeSession {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        read!(&frame, out, |raw: RawJson| self.record(&frame, &Object::new(raw.get()), out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.session.finish(!self.is_bus, out)
    }
}

impl OpenCodeSession {
    fn record(&mut self, frame: &Frame, record: &Object, out: &mut EventOut) -> Done {
        let kind = record.kind("type|payload.type");
        let Some(properties) = record.get("properties|payload.properties") else {
            return self.stored(frame, record, out);
        };
        self.is_bus = true;
        let event = Object::new(properties);
        let Some(value) = event.get("info|part|error|.").map(Object::new) else { return Ok(()) };
        match kind.as_str() {
            "message.updated" => self.message(&value, out),
            "message.part.updated" => self.part(&value, out),
            "message.part.delta" => self.delta(&event, out),
            "session.idle" if self.session.is_open() => self.session.stop(out),
            "session.error" => self.failed(&value, out),
            kind if family(kind).is_some() => Ok(()),
            kind => out.unknown(frame, kind),
        }
    }

    /// A message, a part, a message with its parts, or a session with both.
    fn stored(&mut self, frame: &Frame, record: &Object, out: &mut EventOut) -> Done {
        let is_info = record.get("role|messages|info").is_some();
        if record.get("messageID").is_some() || (record.get("type").is_some() && !is_info) {
            return self.part(record, out);
        }
        if record.get("role").is_some() {
            return self.message(record, out);
        }
        match record.get("info") {
            _ if record.get("messages").is_some() => {
                let mut messages = record.listed("messages", out)?.into_iter();
                messages.try_for_each(|json| self.with_parts(&Object::new(json), out))
            }
            Some(_) => self.with_parts(record, out),
            None if record.get("projectID|directory|time").is_some() => Ok(()),
            None => out.unknown(frame, ""),
        }
    }

    fn with_parts(&mut self, message: &Object, out: &mut EventOut) -> Done {
        let info = Object::new(message.get("info").unwrap_or("{}"));
        self.note(&info, out)?;
        let parts = message.listed("parts", out)?;
        parts.into_iter().try_for_each(|json| self.part(&Object::new(json), out))?;
        self.message(&info, out)
    }

    /// Notes whose message it is, before its parts.
    fn note(&mut self, info: &Object, out: &mut EventOut) -> Done {
        let id = info.word("id");
        if let Some(session) = info.word("sessionID") {
            self.session.id.get_or_insert(session);
        }
        let is_prompt = info.word("role").as_deref() == Some("user");
        if is_prompt && !self.prompts.contains(&id) {
            self.prompts.truncate(MAX_PROMPTS - 1);
            self.prompts.push_front(id);
            self.slots.clear();
            return self.session.prompt(out);
        }
        if let Some(model) = info.word("modelID|model.modelID") {
            self.session.model = Some(model);
        }
        Ok(())
    }

    fn message(&mut self, info: &Object, out: &mut EventOut) -> Done {
        self.note(info, out)?;
        let id = info.word("id");
        match info.word("role").as_deref() {
            Some("assistant") => {}
            Some("tool") => return self.result(info, "content", out),
            _ => return Ok(()),
        }
        if let Some(text) = info.text("content") {
            self.session.part((&id, Slot::ANSWER), true, &text, out)?;
        }
        for json in info.listed("tool_calls", out)? {
            self.call(&Object::new(json), "arguments", out)?;
        }
        if let Some(reason) = info.word("finish") {
            self.session.note_reason(reason);
        }
        if let Some(tokens) = info.get("tokens") {
            self.session.usage(id, tokens);
        }
        match info.get("error").map(Object::new) {
            Some(error) => self.failed(&error, out),
            None => Ok(()),
        }
    }

    fn part(&mut self, part: &Object, out: &mut EventOut) -> Done {
        let message = part.word("messageID");
        if self.prompts.contains(&message) {
            return Ok(());
        }
        let (id, kind) = (part.word("id|partID"), part.kind("type"));
        match kind.as_str() {
            "step-finish" => {
                if let Some(reason) = part.word("reason") {
                    self.session.note_reason(reason);
                }
                self.session.usage(message, part.get("tokens").unwrap_or("{}"));
                Ok(())
            }
            "tool" => {
                let is_begun = part.word("state.status").is_some_and(|status| status != "pending");
                if !is_begun {
                    return Ok(());
                }
                self.call(part, "state.input", out)?;
                match part.get("state.output|state.error") {
                    Some(_) => self.result(part, "state.output|state.error", out),
                    None => Ok(()),
                }
            }
            "text" | "reasoning" => {
                let slot = if kind == "text" { Slot::ANSWER } else { Slot::THOUGHT };
                self.slots.insert(id.clone(), slot);
                out.check_limit(self.slots.len(), MAX_PARTS, "parts in one message")?;
                let text = part.said("text", out)?;
                self.session.part((&id, slot), true, &text, out)
            }
            "step-start" | "snapshot" | "patch" | "agent" | "retry" | "compaction" => Ok(()),
            _ => {
                self.session.begin(out)?;
                out.block(0, if kind.is_empty() { "unknown" } else { &kind }, part.json)
            }
        }
    }

    /// A piece of a part's text.
    fn delta(&mut self, event: &Object, out: &mut EventOut) -> Done {
        let message = event.word("messageID");
        if self.prompts.contains(&message) || event.word("field").as_deref() != Some("text") {
            return Ok(());
        }
        let id = event.word("partID");
        let slot = self.slots.get(&id).copied().unwrap_or(Slot::ANSWER);
        let text = event.said("delta", out)?;
        self.session.part((&id, slot), false, &text, out)
    }

    fn call(&mut self, call: &Object, arguments: Places, out: &mut EventOut) -> Done {
        let (id, name) = (call.word("callID|id"), call.word("tool|name"));
        let call = CallPart {
            id: id.as_deref(),
            name: name.as_deref(),
            arguments: Arguments::Value(call.get(arguments).unwrap_or("{}")),
            executor: Some(Executor::Agent),
            ..CallPart::default()
        };
        self.session.call(call, out)
    }

    fn result(&mut self, result: &Object, output: Places, out: &mut EventOut) -> Done {
        let id = result.word("callID|tool_call_id|id").unwrap_or_default();
        let is_error = result.word("state.status").filter(|status| status == "error");
        let result = ToolResult {
            id: &id,
            output: Output::Json(result.get(output).unwrap_or("null")),
            is_error: is_error.map(|_| true),
            ..ToolResult::default()
        };
        self.session.result(result, out)
    }

    /// The session failed. Its name for that is less than the provider's status.
    fn failed(&mut self, problem: &Object, out: &mut EventOut) -> Done {
        self.session.begin(out)?;
        let message = problem.word("data.message|message");
        let status = problem.get("data.statusCode").map(str::to_owned);
        let code = status.or(problem.word("name"));
        error::report_as(message.as_deref(), code.as_deref(), problem.json, out)?;
        self.session.end(out)
    }
}
