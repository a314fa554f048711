//! Grok Build: `grok -p … --output-format streaming-json` or `json`, and its
//! session files, `chat_history.jsonl`.
//!
//! Source: sessions of Grok CLI, and xAI documentation, "Grok Build" and
//! "Headless & Scripting". A run comes in pieces of text and thought, and its
//! `end` is the last event; as `json`, it is one record. A session's record is a
//! message, flat: its type is its role.

use crate::format::rows::agents::{CALL, CHAT_RESULT};
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&FILE);
pub(in crate::format) static STREAM: Format = Format::of(&RUN);

static RUN: Spec = Spec {
    name: "grok-stream",
    aliases: &["grok-json", "grok-streaming-json"],
    about: "Grok CLI, --output-format streaming-json and json",
    link: "https://docs.x.ai/build/cli/headless-scripting",
    evidence: &["data", "stopReason", "sessionId"],
    kind: &["type"],
    session: Start { id: "sessionId", ..Start::NEW },
    log: Some(Log { ends: true, ..Log::NEW }),
    on: &[
        Rule { kind: "text", needs: &["data\"\""], text: "data", ..Rule::NEW },
        Rule { kind: "thought", needs: &["data\"\""], thought: "data", ..Rule::NEW },
        Rule {
            kind: "tool_call",
            needs: &["toolCallId", "rawInput"],
            whole: true,
            call: Some(Call {
                id: "toolCallId",
                name: "toolName",
                arguments: "rawInput|'{}'",
                ..Call::NEW
            }),
            ..Rule::NEW
        },
        Rule {
            kind: "tool_call_update",
            has: &["rawOutput|content"],
            weak: Weak::Yes,
            result: Some(Outcome {
                id: "toolCallId",
                output: "rawOutput|content",
                is_error: "status=failed|error|declined",
                ..Outcome::NEW
            }),
            ..Rule::NEW
        },
        Rule {
            kind: "max_turns_reached",
            weak: Weak::Yes,
            warn: Some(Warn { code: WarningCode::AgentError, text: "kind:" }),
            ..Rule::NEW
        },
        Rule { kind: "end", needs: &["stopReason"], ..END },
        // All of a run, with `json`.
        Rule {
            kind: "",
            has: &["text", "stopReason", "sessionId"],
            whole: true,
            thought: "thought",
            text: "text",
            ..END
        },
        Rule {
            kind: "tool_call_update|usage|auto_compact*|image_compressed",
            weak: Weak::Yes,
            ..Rule::NEW
        },
    ],
    usage: USAGE,
    ..Spec::NEW
};

const END: Rule =
    Rule { usage: &["usage"], total: true, finish: "stopReason", end: End::Yes, ..Rule::NEW };

static FILE: Spec = Spec {
    name: "grok",
    aliases: &["grok-session", "grok-build"],
    about: "Grok CLI, session files (chat_history.jsonl)",
    link: "https://docs.x.ai/build/overview",
    evidence: &["content", "prompt_index", "model_id"],
    kind: &["type"],
    session: Start { model: "model_id", ..Start::NEW },
    detect: Detect {
        has: &[],
        not: &["message", "role", "session_id", "sessionId", "timestamp", "uuid"],
    },
    log: Some(Log::NEW),
    on: &[
        Rule { kind: "user", needs: &["content", "prompt_index"], prompt: true, ..Rule::NEW },
        Rule {
            kind: "assistant",
            needs: &["model_id"],
            whole: true,
            text: "content",
            each: &["tool_calls > call"],
            ..Rule::NEW
        },
        Rule {
            kind: "reasoning",
            has: &["summary.0.text"],
            weak: Weak::Yes,
            whole: true,
            each: &["summary > summary"],
            signature: "encrypted_content",
            ..Rule::NEW
        },
        Rule {
            kind: "reasoning",
            weak: Weak::Yes,
            whole: true,
            redacted: "encrypted_content",
            ..Rule::NEW
        },
        Rule { kind: "tool_result", weak: Weak::Yes, result: Some(CHAT_RESULT), ..Rule::NEW },
        Rule {
            kind: "backend_tool_call",
            weak: Weak::Yes,
            whole: true,
            block: Some(Block::of("kind:", ".")),
            ..Rule::NEW
        },
        Rule { kind: "system", needs: &["content\"\""], ..Rule::NEW },
    ],
    groups: &[
        Group { name: "summary", on: &[Rule { thought: "text", ..Rule::NEW }], ..Group::NEW },
        Group { name: "call", on: &[Rule { call: Some(CALL), ..Rule::NEW }], ..Group::NEW },
    ],
    ..Spec::NEW
};

const USAGE: &[Row] = &[
    ("input_tokens", Op::Is, &[Field::Input]),
    ("cache_read_input_tokens", Op::Is, &[Field::Cached]),
    ("output_tokens", Op::Is, &[Field::Output]),
    ("reasoning_tokens", Op::Is, &[Field::Reasoning]),
    ("total_tokens", Op::Is, &[Field::Total]),
];
