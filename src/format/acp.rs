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

use crate::format::support::emit::Slot;
use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["agent-client-protocol"],
    about: "Agent Client Protocol, JSON-RPC with session/update",
    link: "https://agentclientprotocol.com/protocol/prompt-turn",
    evidence: &["params.update.sessionUpdate", "update.sessionUpdate", "sessionUpdate", "method"],
    sniff: is_ours,
    ..Format::new("acp", |_| {
        let (session, has_prompt, request, held, calls) = Default::default();
        let message = Lifecycle::new(&FORMAT, USAGE);
        Box::new(Acp { message, session, has_prompt, request, held, calls })
    })
};

fn is_ours(record: &Record) -> bool {
    let is_update = |record: &Record| record.has("sessionUpdate");
    let is_call = record.text("method").is_some_and(|method| method.starts_with("session/"));
    let is_bare =
        is_update(record) || record.inner("update").is_some_and(|inner| is_update(&inner));
    is_bare || (is_call && record.has("params"))
}

const USAGE: &[CountRule] = &[
    ("inputTokens", Op::Is, &[Field::Input]),
    ("outputTokens", Op::Is, &[Field::Output]),
    ("totalTokens", Op::Is, &[Field::Total]),
    ("cachedReadTokens", Op::Is, &[Field::Cached]),
    ("cachedWriteTokens", Op::Is, &[Field::CacheWrite]),
    ("thoughtTokens", Op::Is, &[Field::Reasoning]),
];

struct Acp {
    message: Lifecycle,
    /// The id of the session.
    session: Option<String>,
    /// True if a prompt has come that has no answer yet.
    has_prompt: bool,
    /// The id of the request that the turn answers.
    request: Option<String>,
    /// The calls that have not begun to run, in order.
    held: Vec<Held>,
    /// The calls that run, or have run.
    calls: Calls,
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
        if !self.message.is_open() && self.has_prompt {
            return self.begin(out);
        }
        let is_end = self.request.is_none() && self.held.is_empty() && self.message.is_open();
        if is_end { out.infer_finish(0, FinishReason::Stop, None) } else { Ok(()) }
    }
}

impl Acp {
    fn record(&mut self, frame: &Frame, record: &Object, out: &mut EventOut) -> Done {
        if let Some(id) = record.word("params.sessionId|sessionId|result.sessionId") {
            self.session = Some(id);
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
                (Some(reason), _) if is_ours => self.stop(&reason, record, out),
                (_, Some(error)) if is_ours && self.message.is_open() => {
                    self.flush(out)?;
                    error::report(error, out)?;
                    self.end(out)
                }
                _ => Ok(()),
            },
        }
    }

    fn begin(&mut self, out: &mut EventOut) -> Done {
        self.message.begin(self.session.as_deref(), None, out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        (self.has_prompt, self.calls) = Default::default();
        self.message.end(out)
    }

    fn prompt(&mut self, out: &mut EventOut) -> Done {
        self.flush(out)?;
        self.has_prompt = true;
        if !self.message.is_open() {
            return Ok(());
        }
        out.infer_finish(0, FinishReason::Stop, None)?;
        self.end(out)
    }

    fn stop(&mut self, reason: &str, record: &Object, out: &mut EventOut) -> Done {
        self.flush(out)?;
        self.request = None;
        if let Some(usage) = record.get("result.usage|result._meta.usage") {
            self.message.meter.pick(usage);
        }
        self.begin(out)?;
        if finish::is_none(reason) {
            out.infer_finish(0, FinishReason::Stop, None)?;
        } else {
            out.finish(0, reason, None)?;
        }
        self.end(out)
    }

    /// Emits a piece of a text.
    fn piece(&mut self, slot: Slot, text: &Str, out: &mut EventOut) -> Done {
        if text.is_empty() {
            return Ok(());
        }
        self.begin(out)?;
        out.piece(0, slot, text)
    }

    fn update(&mut self, frame: &Frame, record: &Object, out: &mut EventOut) -> Done {
        let update = Object::new(record.get("params.update|update|.").unwrap_or("{}"));
        let kind = update.kind("sessionUpdate");
        let text = update.text("content.text");
        match (kind.as_str(), text) {
            ("agent_message_chunk", Some(text)) => self.piece(Slot::ANSWER, &text, out),
            ("agent_thought_chunk", Some(text)) => self.piece(Slot::THOUGHT, &text, out),
            ("agent_message_chunk" | "agent_thought_chunk", None) => match update.get("content") {
                Some(json) => {
                    self.begin(out)?;
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
                self.begin(out)?;
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
        if !is_over && waits && !self.calls.has(&id) {
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
        if self.calls.is_answered(&id) {
            return Ok(());
        }
        self.calls.result(ToolResult { id: &id, output, is_error, ..ToolResult::default() }, out)
    }

    /// Emits a call, unless that was done before.
    fn emit(&mut self, held: &Held, out: &mut EventOut) -> Done {
        self.begin(out)?;
        if self.calls.has(&held.id) {
            return Ok(());
        }
        let call = CallPart {
            id: Some(&held.id),
            name: held.name.as_deref(),
            arguments: Arguments::Value(held.input.as_deref().unwrap_or("{}")),
            executor: Some(Executor::Agent),
            ..CallPart::default()
        };
        self.calls.whole(call, out)
    }

    /// Emits the calls that never began to run.
    fn flush(&mut self, out: &mut EventOut) -> Done {
        let held = std::mem::take(&mut self.held);
        held.iter().try_for_each(|held| self.emit(held, out))
    }
}
