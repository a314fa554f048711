//! Kimi Code's session files, `wire.jsonl`, and the wire of Kimi CLI.
//!
//! Source: MoonshotAI/kimi-cli, `docs/en/customization/wire-mode.md` and
//! `src/kimi_cli/wire`. Kimi Code writes a record an event, among them those of
//! the loop in which the model is asked; Kimi CLI wraps each in a message or, on
//! its wire, in a notification of JSON-RPC. The stream of Kimi Code's `--output-format stream-json`
//! has messages of chat completions after a line about the program.

use crate::format::rows::agents::*;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "kimi",
    aliases: &["kimi-cli", "kimi-code", "kimi-wire"],
    about: "Kimi Code and Kimi CLI, session files and wire",
    link: "https://moonshotai.github.io/kimi-cli/en/customization/wire-mode.html",
    evidence: &["protocol_version", "event", "message.payload", "params.payload"],
    kind: &["type|message.type|params.type|role", "event.type"],
    session: Start { id: "sessionId|session_id", model: "model", ..Start::NEW },
    log: Some(Log::NEW),
    on: &[
        Rule { kind: "turn.prompt", needs: &["input"], prompt: true, ..Rule::NEW },
        Rule {
            kind: "context.append_message",
            needs: &["message"],
            each: &["message > message"],
            ..Rule::NEW
        },
        Rule {
            kind: "context.append_loop_event/content.part",
            whole: true,
            each: &["event.part > part"],
            ..Rule::NEW
        },
        Rule {
            kind: "context.append_loop_event/tool.call",
            whole: true,
            call: Some(Call {
                id: "event.toolCallId",
                name: "event.name",
                arguments: "event.args|'{}'",
                ..Call::NEW
            }),
            ..Rule::NEW
        },
        Rule {
            kind: "context.append_loop_event/tool.result",
            result: Some(Outcome {
                id: "event.toolCallId",
                output: "event.result.output|event.result.content|event.result",
                is_error: "event.result.is_error|event.result.isError",
                ..Outcome::NEW
            }),
            ..Rule::NEW
        },
        Rule {
            kind: "context.append_loop_event/step.end",
            at: &["event.uuid"],
            usage: &["event.usage"],
            ..Rule::NEW
        },
        // What the wire of Kimi CLI wraps.
        Rule { kind: "TurnBegin", needs: WIRE, prompt: true, ..Rule::NEW },
        Rule {
            kind: "ContentPart",
            needs: WIRE,
            whole: true,
            each: &["message.payload|params.payload > part"],
            ..Rule::NEW
        },
        Rule {
            kind: "ToolCall",
            needs: WIRE,
            call: Some(Call {
                id: "message.payload.id|params.payload.id",
                name: "message.payload.function.name|params.payload.function.name",
                arguments: "message.payload.function.arguments|params.payload.function.arguments",
                until: true,
                ..Call::NEW
            }),
            ..Rule::NEW
        },
        Rule {
            kind: "ToolCallPart",
            needs: WIRE,
            call: Some(Call {
                arguments: "message.payload.arguments_part|params.payload.arguments_part",
                until: true,
                ..Call::NEW
            }),
            ..Rule::NEW
        },
        Rule {
            kind: "ToolResult",
            needs: WIRE,
            each: &["message.payload|params.payload > result"],
            ..Rule::NEW
        },
        Rule {
            kind: "StatusUpdate",
            needs: WIRE,
            at: &["message.payload.message_id|params.payload.message_id"],
            usage: &["message.payload.token_usage|params.payload.token_usage"],
            ..Rule::NEW
        },
        // Messages of the stream.
        Rule { kind: "assistant", weak: Weak::Yes, ..ASSISTANT },
        Rule { kind: "user", weak: Weak::Yes, prompt: true, ..Rule::NEW },
        Rule { kind: "tool", weak: Weak::Yes, result: Some(CHAT_RESULT), ..Rule::NEW },
        // `state.json`, which lies beside the sessions.
        Rule { kind: "", has: &["agents", "workDir"], ..Rule::NEW },
        Rule { kind: "metadata", needs: &["protocol_version"], ..Rule::NEW },
        Rule { kind: "system.*", is: &[("role", "meta")], ..Rule::NEW },
        Rule { kind: "context.*", needs: &["event"], ..Rule::NEW },
        Rule {
            kind: "session.*|config.*|tools.*|llm.*|permission.*|usage.record|turn.*|runtime.*|\
                profile.*|agent.*|plugin.*",
            weak: Weak::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "Turn*|Step*|Compaction*|Approval*|Hook*|Btw*|SubagentEvent|SteerInput|\
                PlanDisplay|QuestionRequest",
            needs: WIRE,
            ..Rule::NEW
        },
    ],
    groups: &[
        Group {
            name: "message",
            kind: &["role"],
            on: &[Rule { kind: "user", prompt: true, ..Rule::NEW }, ASSISTANT],
            ..Group::NEW
        },
        Group {
            name: "part",
            kind: &["type"],
            on: &[
                TEXT,
                Rule { kind: "think", thought: "think", signature: "encrypted", ..Rule::NEW },
            ],
            ..Group::NEW
        },
        Group { name: "call", on: &[CHAT_CALL], ..Group::NEW },
        Group {
            name: "result",
            on: &[Rule {
                result: Some(Outcome {
                    id: "tool_call_id",
                    output: "return_value.output|return_value",
                    is_error: "return_value.is_error",
                    ..Outcome::NEW
                }),
                ..Rule::NEW
            }],
            ..Group::NEW
        },
    ],
    usage: USAGE,
    ..Spec::NEW
};

/// A record of the wire has its time, or is a notification of JSON-RPC.
const WIRE: &[&str] = &["timestamp|jsonrpc", "message.payload|params.payload"];

const ASSISTANT: Rule = Rule {
    kind: "assistant",
    whole: true,
    text: "content\"\"",
    each: &["content[] > part", "tool_calls|toolCalls > call"],
    ..Rule::NEW
};

/// Tokens read from a cache or written to one are not in the other input.
const USAGE: &[Row] = &[
    ("inputOther|input_other", Op::Adds, &[Field::Input]),
    ("inputCacheRead|input_cache_read", Op::Adds, &[Field::Input, Field::Cached]),
    ("inputCacheCreation|input_cache_creation", Op::Adds, &[Field::Input, Field::CacheWrite]),
    ("output", Op::Is, &[Field::Output]),
];
