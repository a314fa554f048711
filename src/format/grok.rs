//! Grok Build: `grok -p … --output-format streaming-json` or `json`, and its
//! session files, `chat_history.jsonl`.
//!
//! Source: sessions of Grok CLI, and xAI documentation, "Grok Build" and
//! "Headless & Scripting". A run comes in pieces of text and thought, and its
//! `end` is the last event; as `json`, it is one record. A session's record is a
//! message, flat: its type is its role.

use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["grok-session", "grok-build"],
    about: "Grok CLI, session files (chat_history.jsonl)",
    link: "https://docs.x.ai/build/overview",
    evidence: &["content", "prompt_index", "model_id"],
    sniff: is_ours,
    ..Format::new("grok", |_| Box::new(LogDecoder::new(&GROK)))
};

pub(super) static STREAM: Format = Format {
    aliases: &["grok-json", "grok-streaming-json"],
    about: "Grok CLI, --output-format streaming-json and json",
    link: "https://docs.x.ai/build/cli/headless-scripting",
    evidence: &["data", "stopReason", "sessionId"],
    sniff: is_run,
    ..Format::new("grok-stream", |_| Box::new(LogDecoder::new(&RUN)))
};

fn is_run(record: &Record) -> bool {
    match record.text("type").as_deref() {
        Some("text" | "thought") => record.names().eq(["type", "data"]),
        Some("end") => record.has("stopReason"),
        Some("tool_call") => record.has("toolCallId") && record.has("rawInput"),
        Some(_) => false,
        None => record.has("text") && record.has("stopReason") && record.has("sessionId"),
    }
}

const USAGE: &[Row] = &[
    ("input_tokens", Op::Is, &[Field::Input]),
    ("cache_read_input_tokens", Op::Is, &[Field::Cached]),
    ("output_tokens", Op::Is, &[Field::Output]),
    ("reasoning_tokens", Op::Is, &[Field::Reasoning]),
    ("total_tokens", Op::Is, &[Field::Total]),
];

static RUN: Log = Log {
    format: STREAM.name,
    steps: &[
        ("text", What::Text, "data"),
        ("thought", What::Thought, "data"),
        ("tool_call", What::Call, "."),
        ("tool_call_update", What::Update, "."),
        ("max_turns_reached", What::Warning, "type"),
        ("error", What::Error, "."),
        ("end", What::End, "."),
        ("", What::Whole, "text"),
    ],
    notes: "usage|auto_compact*|image_compressed",
    reason: "stopReason",
    usage: ("", USAGE),
    total: "usage",
    has_end: true,
    ..LOG
};

fn is_ours(record: &Record) -> bool {
    let has_content = record.get("content").is_some_and(|json| json.starts_with(['"', '[']));
    let is_other = ["message", "role", "session_id", "sessionId", "timestamp", "uuid"]
        .iter()
        .any(|key| record.has(key));
    match record.text("type").as_deref() {
        Some("system") => record.names().eq(["type", "content"]),
        Some("user") => has_content && !is_other && record.has("prompt_index"),
        Some("assistant") => has_content && !is_other && record.has("model_id"),
        _ => false,
    }
}

static GROK: Log = Log {
    format: FORMAT.name,
    steps: &[
        ("user", What::Message, "."),
        ("assistant", What::Message, "."),
        ("reasoning", What::Block, "."),
        ("tool_result", What::Result, "."),
        ("backend_tool_call", What::Block, "."),
    ],
    notes: "system",
    model: "model_id",
    ..LOG
};
