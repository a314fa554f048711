//! Ollama's own API: the records of `/api/chat` and `/api/generate`, streamed
//! or as one body.
//!
//! Source: Ollama's API documentation, and `api/types.go` of its source. Each
//! record is whole: a piece of text or of thinking, or whole calls. The one
//! with `done` is the last; its reason is `stop` for calls, too. A body is a
//! stream of one record.

use crate::format::ollama::{turn, write};
use crate::format::repeatable::Repeatable;
use crate::format::rows::prelude::*;

pub(in crate::format) static CHAT: Format = Format {
    request: Some(&turn::REQUEST),
    write: Some(&write::WRITING),
    ..Format::of(&CHAT_SPEC)
};

pub(in crate::format) static GENERATE: Format = Format::of(&GENERATE_SPEC);

static CHAT_SPEC: Spec = Spec {
    name: "ollama-chat",
    aliases: &["ollama"],
    about: "Ollama's /api/chat, stream and body",
    link: "https://docs.ollama.com/api/chat",
    evidence: &["message", "done"],
    detect: Detect { has: &["message{}", "done?"], not: &[] },
    ..BOTH
};

static GENERATE_SPEC: Spec = Spec {
    name: "ollama-generate",
    about: "Ollama's /api/generate, stream and body",
    link: "https://docs.ollama.com/api/generate",
    evidence: &["response", "done"],
    detect: Detect { has: &["response\"\"", "done?"], not: &[] },
    ..BOTH
};

/// What `/api/chat` has in its `message` stands in the records of `/api/generate` themselves.
const BOTH: Spec = Spec {
    kind: &["status|event:"],
    start: Start { model: "model", created: "created_at", ..Start::NEW },
    on: &[
        Rule {
            has: &["error"],
            usage: &["."],
            error: Some(Failure { at: ".", ..Failure::NEW }),
            end: End::Yes,
            ..REPLY
        },
        Rule { is: &[("done", "true")], usage: &["."], end: End::If("done"), ..REPLY },
        Rule { has: &["done"], ..REPLY },
    ],
    groups: &[
        // Older servers give a call no id, and count from 0 in each record: the count isn't used.
        Group {
            name: "call",
            native: true,
            on: &[Rule {
                call: Some(Call {
                    id: "id",
                    name: "function.name",
                    arguments: "function.arguments|function.parameters",
                    ..Call::NEW
                }),
                ..Rule::NEW
            }],
            ..Group::NEW
        },
    ],
    usage: USAGE,
    repeatable: Some(&Repeatable { unread: &["created_at"], ..Repeatable::TEXT }),
    ..Spec::NEW
};

const REPLY: Rule = Rule {
    whole: true,
    native: "message",
    thought: "message.thinking|thinking",
    text: "message.content|response",
    each: &["message.tool_calls|tool_calls > call"],
    block: Some(Block::of("'image'", "message.images|image")),
    finish: "done_reason",
    ..Rule::NEW
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
