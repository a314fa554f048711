//! Grok Build's session files, `chat_history.jsonl`.
//!
//! Source: sessions of Grok CLI, and xAI documentation, "Grok Build". A record
//! is a message, flat: its type is its role.

use crate::format::format::{Format, Record};
use crate::format::support::log::{LOG, Log, LogDecoder, What};

pub(super) static FORMAT: Format = Format {
    name: "grok",
    aliases: &["grok-session", "grok-build"],
    about: "Grok CLI, session files (chat_history.jsonl)",
    link: "https://docs.x.ai/build/overview",
    evidence: &["content", "prompt_index", "model_id"],
    sniff: |record| is_ours(record).into(),
    decoder: || Box::new(LogDecoder::new(&GROK)),
    request: None,
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
        ("system", What::Note, "."),
        ("user", What::Message, "."),
        ("assistant", What::Message, "."),
        ("reasoning", What::Block, "."),
        ("tool_result", What::Result, "."),
        ("backend_tool_call", What::Note, "."),
    ],
    model: "model_id",
    ..LOG
};
