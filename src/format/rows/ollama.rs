//! Ollama's own API: the records of `/api/chat` and `/api/generate`, streamed
//! or as one body.
//!
//! Source: Ollama's API documentation, and `api/types.go` of its source. Each
//! record is whole: a piece of text or of thinking, or whole calls. The one
//! with `done` is the last; its reason is `stop` for calls, too. A body is a
//! stream of one record.

use crate::format::format::Repeatable;
use crate::format::machine::Machine;
use crate::format::ollama::{turn, write};
use crate::format::spec::{Call, End, Part, Rule, Spec};
use crate::format::support::prelude::*;

pub(in crate::format) static CHAT: Format = Format {
    aliases: &["ollama"],
    about: "Ollama's /api/chat, stream and body",
    link: "https://docs.ollama.com/api/chat",
    evidence: &["message", "done"],
    sniff: |record| sniff(record, "message", '{'),
    request: Some(&turn::REQUEST),
    write: Some(&write::WRITING),
    ..Format::new("ollama-chat", || Machine::boxed(&CHAT, &SPEC))
};

pub(in crate::format) static GENERATE: Format = Format {
    about: "Ollama's /api/generate, stream and body",
    link: "https://docs.ollama.com/api/generate",
    evidence: &["response", "done"],
    sniff: |record| sniff(record, "response", '"'),
    ..Format::new("ollama-generate", || Machine::boxed(&GENERATE, &SPEC))
};

fn sniff(record: &Record, key: &str, start: char) -> bool {
    let is_record = matches!(record.get("done"), Some("true" | "false"));
    let has_content = record.get(key).is_some_and(|content| content.starts_with(start));
    is_record && has_content
}

/// What `/api/chat` has in its `message` stands in the records of `/api/generate` themselves.
pub(in crate::format) static SPEC: Spec = Spec {
    kind: "status",
    model: "model",
    created: "created_at",
    on: &[Rule {
        has: "done|error",
        whole: true,
        part: Part {
            thought: "message.thinking|thinking",
            text: "message.content|response",
            each: &[("message.tool_calls|tool_calls", &CALL)],
            block: ("image", "message.images|image"),
            ..Part::NEW
        },
        usage: ".",
        finish: "done_reason",
        error: "error",
        end: End::If("done"),
        ..Rule::NEW
    }],
    usage: USAGE,
    repeatable: Some(&Repeatable { unread: &["created_at"], ..Repeatable::TEXT }),
    ..Spec::NEW
};

/// Older servers give a call no id, and count from 0 in each record: the count isn't used.
static CALL: Part = Part {
    call: Some(Call {
        key: "",
        id: "id",
        name: "function.name",
        arguments: "function.arguments|function.parameters",
    }),
    ..Part::NEW
};

/// The count of a prompt that was in the cache is not sent. Durations are in
/// nanoseconds.
const USAGE: &[Row] = &[
    ("prompt_eval_count", Op::Is, &[Field::Input]),
    ("eval_count", Op::Is, &[Field::Output]),
    ("total_duration", Op::Is, &[]),
    ("load_duration", Op::Is, &[]),
    ("prompt_eval_duration", Op::Is, &[]),
    ("eval_duration", Op::Is, &[]),
];
