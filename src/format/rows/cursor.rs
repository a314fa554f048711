//! Cursor: `cursor-agent --print --output-format stream-json`, its transcripts,
//! and the bubbles of its store.
//!
//! Source: Cursor documentation, "Output format"; reifying/cursor-hack,
//! `docs/stream-json-events.md`. A run begins as Claude Code's does, but without
//! a list of tools, and ends with its `result`. With partial output, pieces come
//! one by one, and then as one. A transcript's calls have no ids, and no
//! results.

use crate::format::rows::agents::{BLOCK_RESULT, TEXT, THINKING, TOOL_USE, USAGE, WORDS};
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&RUN);
pub(in crate::format) static TRANSCRIPT: Format = Format::of(&FILE);

static RUN: Spec = Spec {
    name: "cursor",
    aliases: &["cursor-agent", "cursor-stream-json"],
    about: "Cursor CLI, --output-format stream-json",
    link: "https://cursor.com/docs/cli/reference/output-format",
    evidence: &["apiKeySource", "tool_call", "call_id"],
    kind: &["type", "subtype"],
    session: Start { id: "session_id", model: "model", ..Start::NEW },
    detect: Detect { has: &["session_id"], not: &["tools"] },
    log: Some(Log { ends: true, ..Log::NEW }),
    on: &[
        Rule {
            kind: "assistant*",
            has: &["timestamp_ms"],
            weak: Weak::Yes,
            each: &["message.content > piece"],
            ..Rule::NEW
        },
        Rule {
            kind: "assistant*",
            weak: Weak::Yes,
            whole: true,
            each: &["message.content > piece"],
            ..Rule::NEW
        },
        Rule { kind: "thinking/delta", thought: "text", ..Rule::NEW },
        Rule {
            kind: "tool_call/*",
            needs: &["tool_call", "call_id"],
            whole: true,
            each: &["tool_call > tool"],
            ..Rule::NEW
        },
        Rule {
            kind: "result*",
            is: &[("is_error", "true")],
            weak: Weak::Yes,
            error: Some(Failure { at: "result", ..Failure::NEW }),
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "result*",
            weak: Weak::Yes,
            whole: true,
            origin: "all",
            text: "result",
            usage: &["usage"],
            total: true,
            end: End::Yes,
            ..Rule::NEW
        },
        Rule { kind: "system*", needs: &["apiKeySource"], ..Rule::NEW },
        Rule { kind: "thinking/completed", ..Rule::NEW },
        Rule { kind: "user*|interaction_query*|connection*|retry*", weak: Weak::Yes, ..Rule::NEW },
    ],
    groups: &[
        // What came in pieces comes once more, as one.
        Group {
            name: "piece",
            kind: &["type"],
            on: &[Rule { origin: "pieces", ..TEXT }],
            ..Group::NEW
        },
        Group {
            name: "tool",
            kind: &["key:"],
            on: &[
                Rule { has: &["result.success"], result: Some(RESULT), ..TOOL },
                Rule {
                    has: &["result"],
                    result: Some(Outcome { is_error: "'true'", ..RESULT }),
                    ..TOOL
                },
                TOOL,
            ],
            ..Group::NEW
        },
    ],
    usage: USAGE,
    ..Spec::NEW
};

/// A call, which is named after its tool.
const TOOL: Rule = Rule {
    kind: "*ToolCall",
    call: Some(Call { id: "/call_id", name: "kind:*", arguments: "args|'{}'", ..Call::NEW }),
    ..Rule::NEW
};

const RESULT: Outcome =
    Outcome { id: "/call_id", name: "kind:*", output: "result", ..Outcome::NEW };

static FILE: Spec = Spec {
    name: "cursor-transcript",
    aliases: &["cursor-session"],
    about: "Cursor, agents' transcripts and stored bubbles",
    link: "https://cursor.com/docs",
    evidence: &["role", "message.content", "bubble_rows"],
    kind: &["role|type|value.type"],
    session: Start { id: "sessionId", model: "model", ..Start::NEW },
    detect: Detect { has: &[], not: &["type"] },
    log: Some(Log::NEW),
    on: &[
        Rule {
            kind: "user",
            needs: &["message.content"],
            prompt: true,
            each: &["message.content[] > given"],
            ..Rule::NEW
        },
        Rule {
            kind: "assistant",
            needs: &["message.content"],
            whole: true,
            text: "message.content\"\"",
            each: &["message.content[] > block"],
            ..Rule::NEW
        },
        Rule {
            kind: "",
            has: &["bubble_rows|bubbles"],
            each: &["bubble_rows|bubbles > bubble"],
            ..Rule::NEW
        },
        Rule { kind: "turn_ended", weak: Weak::Yes, ..Rule::NEW },
    ],
    groups: &[
        Group {
            name: "block",
            kind: &["type"],
            on: &[TEXT, THINKING, Rule { kind: "tool_use|tool_call", ..TOOL_USE }],
            ..Group::NEW
        },
        Group {
            name: "given",
            kind: &["type"],
            on: &[
                Rule {
                    kind: "tool_result|tool-result",
                    result: Some(Outcome { name: "name", ..BLOCK_RESULT }),
                    ..Rule::NEW
                },
                WORDS,
            ],
            ..Group::NEW
        },
        Group {
            name: "bubble",
            kind: &["value.type|type"],
            on: &[
                Rule { kind: "1", prompt: true, ..Rule::NEW },
                Rule { kind: "2", whole: true, text: "value.text|text", ..Rule::NEW },
            ],
            ..Group::NEW
        },
    ],
    ..Spec::NEW
};
