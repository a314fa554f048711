//! Cursor: `cursor-agent --print --output-format stream-json`, its transcripts,
//! and the bubbles of its store.
//!
//! Source: Cursor documentation, "Output format"; reifying/cursor-hack,
//! `docs/stream-json-events.md`. A run begins as Claude Code's does, but without
//! a list of tools, and ends with its `result`. With partial output, pieces come
//! one by one, and then as one. A transcript's calls have no ids, and no
//! results.

use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["cursor-agent", "cursor-stream-json"],
    about: "Cursor CLI, --output-format stream-json",
    link: "https://cursor.com/docs/cli/reference/output-format",
    evidence: &["apiKeySource", "tool_call", "call_id"],
    sniff: is_run,
    ..Format::new("cursor", |_| Box::new(LogDecoder::new(&RUN)))
};

pub(super) static TRANSCRIPT: Format = Format {
    aliases: &["cursor-session"],
    about: "Cursor, agents' transcripts and stored bubbles",
    link: "https://cursor.com/docs",
    evidence: &["role", "message.content", "bubble_rows"],
    sniff: is_transcript,
    ..Format::new("cursor-transcript", |_| Box::new(LogDecoder::new(&FILE)))
};

fn is_run(record: &Record) -> bool {
    let is_ours = record.has("session_id");
    match record.text("type").as_deref() {
        Some("system") => {
            is_ours && record.has("apiKeySource") && record.has("subtype") && !record.has("tools")
        }
        Some("tool_call") => is_ours && record.has("tool_call") && record.has("call_id"),
        Some("thinking") => is_ours && record.has("subtype"),
        _ => false,
    }
}

fn is_transcript(record: &Record) -> bool {
    let role = record.text("role").unwrap_or_default();
    let has_content = record.inner("message").is_some_and(|message| message.has("content"));
    match record.text("type").as_deref() {
        None if has_content => matches!(role.as_str(), "user" | "assistant"),
        None => record.has("bubble_rows") || record.has("bubbles"),
        Some(_) => false,
    }
}

const USAGE: &[Row] = &[
    ("inputTokens", Op::Is, &[Field::Input]),
    ("outputTokens", Op::Is, &[Field::Output]),
    ("cacheReadTokens", Op::Is, &[Field::Cached]),
    ("cacheWriteTokens", Op::Is, &[Field::CacheWrite]),
];

static RUN: Log = Log {
    format: FORMAT.name,
    kind: &["type", "subtype"],
    steps: &[
        ("assistant*", What::Message, "message"),
        ("thinking/delta", What::Thought, "text"),
        ("tool_call/*", What::NamedCall, "tool_call"),
        ("result*", What::Whole, "result"),
    ],
    notes: "system*|user*|thinking/completed|interaction_query*|connection*|retry*",
    usage: ("", USAGE),
    total: "usage",
    repeats: Repeats::Joined,
    has_end: true,
    ..LOG
};

static FILE: Log = Log {
    format: TRANSCRIPT.name,
    kind: &["role|type|value.type"],
    steps: &[
        ("1", What::Prompt, "."),
        ("2", What::Answer, "value|."),
        ("user", What::Message, "message"),
        ("assistant", What::Message, "message"),
        ("", What::Records, "bubble_rows|bubbles"),
    ],
    notes: "turn_ended",
    ..LOG
};
