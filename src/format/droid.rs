//! Factory's Droid: `droid exec --output-format stream-json`, and its session
//! files, `~/.factory/sessions/*.jsonl`.
//!
//! Source: Factory documentation, "Droid Exec", and Factory-AI/examples. A run
//! ends with its `completion`, which repeats the last text. It begins as Claude
//! Code's runs do, whose lines are read, too. A session file holds
//! messages of Anthropic's shape, and no end.

use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["droid-stream-json", "factory-droid"],
    about: "Factory Droid, droid exec --output-format stream-json",
    link: "https://docs.factory.ai/cli/droid-exec/overview",
    evidence: &["session_id", "finalText", "toolName"],
    sniff: is_run,
    ..Format::new("droid", |_| Box::new(LogDecoder::new(&RUN)))
};

pub(super) static SESSION: Format = Format {
    aliases: &["factory-session"],
    about: "Factory Droid, session files",
    link: "https://docs.factory.ai/",
    evidence: &["id", "cwd"],
    sniff: is_session,
    ..Format::new("droid-session", |_| Box::new(LogDecoder::new(&FILE)))
};

fn is_run(record: &Record) -> bool {
    let is_ours = record.has("session_id");
    // The first record of Claude Code's runs has these as well.
    let others = ["mcp_servers", "permissionMode", "apiKeySource", "uuid", "slash_commands"];
    let is_other = others.iter().any(|key| record.has(key));
    match record.text("type").as_deref() {
        Some("system") if record.has("subtype") => {
            is_ours && !is_other && ["cwd", "tools", "model"].iter().all(|key| record.has(key))
        }
        Some("system") => is_ours && record.has("model"),
        Some("message") => is_ours && record.has("role") && record.has("text"),
        Some("tool_call") => is_ours && (record.has("toolName") || record.has("toolId")),
        Some("tool_result") => is_ours && (record.has("value") || record.has("isError")),
        Some("completion") => is_ours && record.has("finalText"),
        _ => false,
    }
}

fn is_session(record: &Record) -> bool {
    record.text("type").as_deref() == Some("session_start") && record.has("id")
}

const USAGE: &[Row] = &[
    ("input_tokens", Op::Adds, &[Field::Input]),
    ("cache_read_input_tokens", Op::Adds, &[Field::Input, Field::Cached]),
    ("cache_creation_input_tokens", Op::Adds, &[Field::Input, Field::CacheWrite]),
    ("output_tokens", Op::Is, &[Field::Output]),
];

static RUN: Log = Log {
    format: FORMAT.name,
    steps: &[
        ("message", What::Message, "."),
        ("reasoning", What::Block, "."),
        ("tool_call", What::Call, "."),
        ("tool_result", What::Result, "."),
        ("completion", What::Whole, "finalText"),
        ("error", What::Error, "."),
        ("user", What::Message, "message"),
        ("assistant", What::Message, "message"),
        ("result", What::Whole, "result"),
    ],
    notes: "system",
    usage: ("", USAGE),
    total: "usage",
    repeats: Repeats::ByText,
    has_end: true,
    ..LOG
};

static FILE: Log = Log {
    format: SESSION.name,
    steps: &[("message", What::Message, "message")],
    notes: "session_start|todo_state|session_end|compaction_state",
    session: "id",
    usage: ("message.usage", USAGE),
    ..LOG
};
