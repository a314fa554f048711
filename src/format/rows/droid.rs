//! Factory's Droid: `droid exec --output-format stream-json`, and its session
//! files, `~/.factory/sessions/*.jsonl`.
//!
//! Source: Factory documentation, "Droid Exec", and Factory-AI/examples. A run
//! ends with its `completion`, which repeats the last text. It begins as Claude
//! Code's runs do, whose lines are read, too. A session file holds
//! messages of Anthropic's shape, and no end.

use crate::format::rows::agents::{BLOCKS, GIVEN};
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&RUN);
pub(in crate::format) static SESSION: Format = Format::of(&FILE);

static RUN: Spec = Spec {
    name: "droid",
    aliases: &["droid-stream-json", "factory-droid"],
    about: "Factory Droid, droid exec --output-format stream-json",
    link: "https://docs.factory.ai/cli/droid-exec/overview",
    evidence: &["session_id", "finalText", "toolName"],
    kind: &["type", "role"],
    session: Start { id: "session_id", model: "model", ..Start::NEW },
    // Claude Code's runs and Cursor's begin with a system record as well.
    detect: Detect {
        has: &["session_id"],
        not: &["mcp_servers", "permissionMode", "apiKeySource", "uuid", "slash_commands"],
    },
    log: Some(Log { ends: true, ..Log::NEW }),
    on: &[
        Rule { kind: "message/user", needs: &["text"], prompt: true, ..Rule::NEW },
        Rule {
            kind: "message/assistant",
            needs: &["text"],
            whole: true,
            text: "text",
            ..Rule::NEW
        },
        Rule { kind: "reasoning", weak: Weak::Yes, whole: true, thought: "text", ..Rule::NEW },
        Rule {
            kind: "tool_call",
            needs: &["toolName|toolId"],
            whole: true,
            call: Some(Call {
                id: "toolCallId|id",
                name: "toolName|toolId",
                arguments: "parameters|'{}'",
                ..Call::NEW
            }),
            ..Rule::NEW
        },
        Rule {
            kind: "tool_result",
            needs: &["value|isError"],
            result: Some(Outcome {
                id: "toolCallId|id",
                output: "value|error",
                is_error: "isError",
                ..Outcome::NEW
            }),
            ..Rule::NEW
        },
        Rule { kind: "completion", needs: &["finalText"], text: "finalText", ..END },
        Rule {
            kind: "error",
            weak: Weak::Yes,
            error: Some(Failure { at: ".", ..Failure::NEW }),
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "user",
            weak: Weak::Yes,
            prompt: true,
            each: &["message.content[] > given"],
            ..Rule::NEW
        },
        Rule {
            kind: "assistant",
            weak: Weak::Yes,
            whole: true,
            each: &["message.content > block"],
            ..Rule::NEW
        },
        Rule {
            kind: "result",
            is: &[("is_error", "true")],
            weak: Weak::Yes,
            error: Some(Failure { at: "result", ..Failure::NEW }),
            end: End::Yes,
            ..Rule::NEW
        },
        Rule { kind: "result", weak: Weak::Yes, text: "result", ..END },
        Rule { kind: "system", has: &["subtype"], needs: &["cwd", "tools", "model"], ..Rule::NEW },
        Rule { kind: "system", not: &["subtype"], needs: &["model"], ..Rule::NEW },
    ],
    groups: &[BLOCKS, GIVEN],
    usage: USAGE,
    ..Spec::NEW
};

/// The end, which says the last text once more.
const END: Rule =
    Rule { whole: true, origin: "end", usage: &["usage"], total: true, end: End::Yes, ..Rule::NEW };

static FILE: Spec = Spec {
    name: "droid-session",
    aliases: &["factory-session"],
    about: "Factory Droid, session files",
    link: "https://docs.factory.ai/",
    evidence: &["id", "cwd"],
    kind: &["type", "message.role"],
    session: Start { id: "id", model: "model", ..Start::NEW },
    log: Some(Log::NEW),
    on: &[
        Rule {
            kind: "message/user",
            weak: Weak::Yes,
            prompt: true,
            each: &["message.content[] > given"],
            ..Rule::NEW
        },
        Rule {
            kind: "message/assistant",
            weak: Weak::Yes,
            whole: true,
            each: &["message.content > block"],
            usage: &["message.usage"],
            ..Rule::NEW
        },
        Rule { kind: "session_start", needs: &["id"], ..Rule::NEW },
        Rule { kind: "todo_state|session_end|compaction_state", weak: Weak::Yes, ..Rule::NEW },
    ],
    groups: &[BLOCKS, GIVEN],
    usage: USAGE,
    ..Spec::NEW
};

const USAGE: &[Row] = &[
    ("input_tokens", Op::Adds, &[Field::Input]),
    ("cache_read_input_tokens", Op::Adds, &[Field::Input, Field::Cached]),
    ("cache_creation_input_tokens", Op::Adds, &[Field::Input, Field::CacheWrite]),
    ("output_tokens", Op::Is, &[Field::Output]),
];
