//! GitHub Copilot CLI: `~/.copilot/session-state/*/events.jsonl`, and what its
//! SDK and `--output-format json` print.
//!
//! Source: github/copilot-sdk, `docs/features/streaming-events.md`, and the
//! types generated from its schema. An event is a type and its data. Deltas
//! aren't kept in files; where they come, the whole message that follows
//! repeats them. An event with an `agentId` is a subagent's.

use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["copilot-cli-events", "copilot-sdk"],
    about: "GitHub Copilot CLI, session events",
    link: "https://github.com/github/copilot-sdk/blob/main/docs/features/streaming-events.md",
    evidence: &["data", "history", "prompt", "output"],
    sniff: is_ours,
    ..Format::new("copilot-cli", |_| Box::new(LogDecoder::new(&COPILOT)))
};

fn is_ours(record: &Record) -> bool {
    let kind = record.text("type").unwrap_or_default();
    let family = kind.split('.').next().unwrap_or_default();
    let is_family = matches!(family, "session" | "user" | "assistant" | "tool" | "system");
    let is_event = record.has("data") && record.has("id") && record.has("timestamp");
    let is_old = record.has("session_id") && (record.has("prompt") || record.has("output"));
    match kind.as_str() {
        // Before the CLI, the extension kept its history so.
        "" => record.has("history") && record.has("workspacePath"),
        kind => is_family && kind.contains('.') && (is_event || is_old),
    }
}

const USAGE: &[Row] = &[
    ("inputTokens", Op::Is, &[Field::Input]),
    ("outputTokens", Op::Is, &[Field::Output]),
    ("reasoningTokens", Op::Is, &[Field::Reasoning]),
    ("cacheReadTokens", Op::Is, &[Field::Cached]),
    ("cacheWriteTokens", Op::Is, &[Field::CacheWrite]),
];

static COPILOT: Log = Log {
    format: FORMAT.name,
    kind: &["type|role"],
    steps: &[
        ("", What::Records, "history"),
        ("user.message", What::Prompt, "."),
        ("assistant.message", What::Answer, "data|."),
        ("assistant.message_delta", What::Text, "data.deltaContent"),
        ("assistant.reasoning", What::ThoughtEvent, "data.content"),
        ("assistant.reasoning_delta", What::Thought, "data.deltaContent"),
        ("assistant.usage", What::Usage, "data"),
        ("session.usage_record", What::Usage, "data.usage"),
        ("tool.execution_start", What::Call, "data"),
        ("tool.execution_complete", What::Result, "data"),
        ("session.error", What::Error, "data"),
        ("abort", What::Warning, "data.reason"),
        ("human", What::Prompt, "."),
        ("user", What::Prompt, "."),
        ("assistant", What::Answer, "."),
    ],
    notes: "session.*|assistant.*|tool.*|system.*|permission.*|user_input.*|elicitation.*|\
            external_tool.*|subagent.*|skill.*|hook.*|command.*|pending_messages.*",
    session: "data.sessionId|session_id",
    model: "data.selectedModel|data.newModel|data.model",
    part: "data.messageId|data.reasoningId",
    aside: "agentId|data.parentToolCallId",
    usage: ("data", USAGE),
    repeats: Repeats::ById,
    ..LOG
};
