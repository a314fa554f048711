//! Cline's `ui_messages.json`, and the lines of its CLI with `--json`. Roo Code
//! and Kilo Code write the same.
//!
//! Source: cline/cline, `src/shared/ExtensionMessage.ts` (`ClineMessage`,
//! `ClineSay`, `ClineAsk`). A message is something that the agent says, or asks
//! for; one that is partial comes again under its time. The first text is the
//! task. Calls have no ids, and what a tool gave follows it.

use crate::event::{Executor, WarningCode};
use crate::format::support::emit::Slot;
use crate::format::support::prelude::*;
use crate::format::support::session::{Session, Source};

pub(super) static FORMAT: Format = Format {
    aliases: &["cline-session", "roo-code", "kilo-code"],
    about: "Cline, Roo Code and Kilo Code, ui_messages.json and --json",
    link: "https://docs.cline.bot/",
    evidence: &["ts", "say", "ask"],
    sniff: is_ours,
    ..Format::new("cline", |_| Box::new(Cline::default()))
};

fn is_ours(record: &Record) -> bool {
    match record.text("type").as_deref() {
        Some("say") => record.has("ts") && record.has("say"),
        Some("ask") => record.has("ts") && record.has("ask"),
        _ => false,
    }
}

/// Tokens read from a cache or written to one are not in `tokensIn`.
const USAGE: &[Row] = &[
    ("tokensIn", Op::Adds, &[Field::Input]),
    ("cacheReads", Op::Adds, &[Field::Input, Field::Cached]),
    ("cacheWrites", Op::Adds, &[Field::Input, Field::CacheWrite]),
    ("tokensOut", Op::Is, &[Field::Output]),
];

struct Cline {
    session: Session,
    has_task: bool,
}

impl Default for Cline {
    fn default() -> Self {
        Cline { session: Session::new(FORMAT.name, USAGE, Repeats::ById), has_task: false }
    }
}

impl Decoder for Cline {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        read!(&frame, out, |raw: Raw| self.message(&frame, &Object::new(raw.0.get()), out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.session.finish(true, out)
    }
}

impl Cline {
    fn message(&mut self, frame: &Frame, message: &Object, out: &mut EventOut) -> Done {
        let none = Str::default();
        let text = message.text("text").unwrap_or(none);
        let time = message.get("ts");
        self.session.turn_to(time);
        let kind = message.word("say|ask").unwrap_or_default();
        let is_partial = message.flag("partial") == Some(true);
        if !self.has_task {
            self.has_task = true;
            if matches!(kind.as_str(), "text" | "task") {
                return self.session.prompt(out);
            }
        }
        match kind.as_str() {
            "task" | "user_feedback" | "user_feedback_diff" => self.session.prompt(out),
            "text" | "completion_result" => self.text(Slot::ANSWER, &text, out),
            "reasoning" => {
                let text = message.text("reasoning").unwrap_or(text);
                self.text(Slot::THOUGHT, &text, out)
            }
            "followup" | "plan_mode_respond" => {
                let inner = Object::new(text.as_str());
                let words = inner.text("question|response");
                self.text(Slot::ANSWER, &words.unwrap_or(text.clone()), out)
            }
            _ if is_partial => Ok(()),
            "tool" | "use_mcp_server" | "use_mcp_tool" | "browser_action" => {
                self.call(&kind, text.as_str(), out)
            }
            "command" | "execute_command" => {
                let arguments = format!("{{\"command\":{}}}", json::quote(text.as_str()));
                self.call("execute_command", &arguments, out)
            }
            "command_output" | "mcp_server_response" | "browser_action_result"
                if message.get("say").is_some() =>
            {
                let tool = json::quote(self.session.latest_tool().unwrap_or_default());
                let output = json::quote(text.as_str());
                let result = format!("{{\"toolName\":{tool},\"output\":{output}}}");
                self.session.result(&Object::new(&result), out)
            }
            "error" | "diff_error" | "api_req_failed" => out.warn(
                WarningCode::AgentError,
                text.non_empty().unwrap_or("the agent reported an error"),
            ),
            "api_req_started" => {
                self.session.usage(time, text.as_str());
                Ok(())
            }
            "" => out.unknown(frame, "say"),
            _ => Ok(()),
        }
    }

    fn text(&mut self, slot: Slot, text: &Str, out: &mut EventOut) -> Done {
        self.session.text(slot, Source::Item, 0, text, out)
    }

    /// A call, whose text is an object that names its tool.
    fn call(&mut self, kind: &str, text: &str, out: &mut EventOut) -> Done {
        let object = Object::new(text);
        let name = object.word("tool|toolName|action").unwrap_or_else(|| kind.to_owned());
        let arguments = if object.first().is_some() { text } else { "{}" };
        let arguments = object.get("arguments").unwrap_or(arguments);
        let call = format!("{{\"name\":{},\"arguments\":{arguments}}}", json::quote(&name));
        self.session.call(&Object::new(&call), Executor::Agent, out)
    }
}
