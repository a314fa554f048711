//! GitHub Copilot CLI: `~/.copilot/session-state/*/events.jsonl`, and what its
//! SDK and `--output-format json` print.
//!
//! Source: github/copilot-sdk, `docs/features/streaming-events.md`, and the
//! types generated from its schema. An event is a type and its data. Deltas
//! aren't kept in files; where they come, the whole message that follows
//! repeats them. An event with an `agentId` is a subagent's.

use crate::format::rows::agents::CALL;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "copilot-cli",
    aliases: &["copilot-cli-events", "copilot-sdk"],
    about: "GitHub Copilot CLI, session events",
    link: "https://github.com/github/copilot-sdk/blob/main/docs/features/streaming-events.md",
    evidence: &["data", "history", "prompt", "output"],
    kind: &["type|role"],
    session: Start {
        id: "data.sessionId|session_id",
        model: "data.selectedModel|data.newModel|data.model",
        ..Start::NEW
    },
    log: Some(Log { subagent: "agentId|data.parentToolCallId", ..Log::NEW }),
    on: &[
        // Before the CLI, the extension kept its history so.
        Rule {
            kind: "",
            has: &["history"],
            needs: &["workspacePath"],
            each: &["history > turn"],
            ..Rule::NEW
        },
        Rule { kind: "user.message", needs: EVENT, prompt: true, ..Rule::NEW },
        Rule {
            kind: "assistant.message",
            needs: EVENT,
            whole: true,
            at: &["data.messageId"],
            thought: "data.reasoningText",
            text: "data.content|output",
            redacted: "data.reasoningOpaque|data.encryptedContent",
            each: &["data.toolRequests > call"],
            usage: &[COUNTS],
            ..Rule::NEW
        },
        Rule {
            kind: "assistant.message_delta",
            needs: EVENT,
            at: &["data.messageId"],
            text: "data.deltaContent",
            ..Rule::NEW
        },
        Rule {
            kind: "assistant.reasoning",
            needs: EVENT,
            whole: true,
            origin: "event",
            thought: "data.content",
            ..Rule::NEW
        },
        Rule {
            kind: "assistant.reasoning_delta",
            needs: EVENT,
            origin: "pieces",
            thought: "data.deltaContent",
            ..Rule::NEW
        },
        Rule { kind: "assistant.usage", needs: EVENT, usage: &[COUNTS], ..Rule::NEW },
        Rule { kind: "session.usage_record", needs: EVENT, usage: &["data.usage"], ..Rule::NEW },
        Rule {
            kind: "tool.execution_start",
            needs: EVENT,
            whole: true,
            call: Some(Call {
                id: "data.toolCallId",
                name: "data.toolName",
                arguments: "data.arguments|'{}'",
                ..Call::NEW
            }),
            ..Rule::NEW
        },
        Rule {
            kind: "tool.execution_complete",
            needs: EVENT,
            result: Some(Outcome {
                id: "data.toolCallId",
                output: "data.result.content|data.result|data.error",
                is_error: "data.success=false",
                ..Outcome::NEW
            }),
            ..Rule::NEW
        },
        Rule {
            kind: "session.error",
            needs: EVENT,
            error: Some(Failure { at: "data", ..Failure::NEW }),
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "abort",
            weak: Weak::Yes,
            warn: Some(Warn {
                code: WarningCode::AgentError,
                text: "data.reason|'the agent reported an error'",
            }),
            ..Rule::NEW
        },
        Rule { kind: "session.*|assistant.*|tool.*|system.*|user.*", needs: EVENT, ..Rule::NEW },
        Rule {
            kind: "permission.*|user_input.*|elicitation.*|external_tool.*|subagent.*|skill.*|\
                hook.*|command.*|pending_messages.*",
            weak: Weak::Yes,
            ..Rule::NEW
        },
    ],
    groups: &[
        Group {
            name: "turn",
            kind: &["role"],
            on: &[
                Rule { kind: "human|user", prompt: true, ..Rule::NEW },
                Rule { kind: "assistant", whole: true, text: "result|content", ..Rule::NEW },
            ],
            ..Group::NEW
        },
        Group {
            name: "call",
            on: &[Rule { call: Some(Call { id: "toolCallId", ..CALL }), ..Rule::NEW }],
            ..Group::NEW
        },
    ],
    usage: USAGE,
    ..Spec::NEW
};

/// An event, or a record of an old build.
const EVENT: &[&str] = &["data|session_id", "id|prompt|output", "timestamp|session_id"];

/// The counts among an event's members.
const COUNTS: &str = "{inputTokens: data.inputTokens, outputTokens: data.outputTokens, \
    reasoningTokens: data.reasoningTokens, cacheReadTokens: data.cacheReadTokens, \
    cacheWriteTokens: data.cacheWriteTokens}";

const USAGE: &[Row] = &[
    ("inputTokens", Op::Is, &[Field::Input]),
    ("outputTokens", Op::Is, &[Field::Output]),
    ("reasoningTokens", Op::Is, &[Field::Reasoning]),
    ("cacheReadTokens", Op::Is, &[Field::Cached]),
    ("cacheWriteTokens", Op::Is, &[Field::CacheWrite]),
];
