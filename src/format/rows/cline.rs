//! Cline: the lines of its CLI with `--json`, its session files, and `ui_messages.json`, which Roo
//! Code and Kilo Code write, too.
//!
//! Source: cline/cline, `sdk/packages/shared` (`AgentEvent`), its CLI's output, and
//! `src/shared/ExtensionMessage.ts` (`ClineMessage`, `ClineSay`, `ClineAsk`). A run says each text in
//! pieces and whole, and ends with its `run_result`. A message of `ui_messages.json` is something
//! that the agent says, or asks for; one that is partial comes again under its time. The first text
//! is the task. Calls have no ids there, and what a tool gave follows it.

use crate::format::rows::agents::{BLOCKS, GIVEN, USAGE};
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&RUN);
pub(in crate::format) static SESSION: Format = Format::of(&FILE);

static RUN: Spec = Spec {
    name: "cline",
    aliases: &["cline-json"],
    about: "Cline, its CLI with --json",
    link: "https://docs.cline.bot/",
    evidence: &["hookEventName", "event.contentType", "run_result"],
    kind: &["type", "event.type", "event.contentType"],
    session: Start { id: "taskId", model: "model.id", ..Start::NEW },
    detect: Detect { has: &["ts"], not: &[] },
    log: Some(Log { ends: true, ..Log::NEW }),
    on: &[
        Rule { kind: "agent_event/content_start/text", text: "event.text", ..PIECE },
        Rule {
            kind: "agent_event/content_start/reasoning",
            thought: "event.reasoning|event.text",
            ..PIECE
        },
        Rule { kind: "agent_event/content_end/text", whole: true, text: "event.text", ..PIECE },
        Rule {
            kind: "agent_event/content_end/reasoning",
            whole: true,
            thought: "event.reasoning|event.text",
            ..PIECE
        },
        Rule {
            kind: "agent_event/content_start/tool",
            whole: true,
            call: Some(Call {
                id: "event.toolCallId",
                name: "event.toolName",
                arguments: "event.input|'{}'",
                ..Call::NEW
            }),
            ..Rule::NEW
        },
        Rule {
            kind: "agent_event/content_end/tool",
            result: Some(Outcome {
                id: "event.toolCallId",
                name: "event.toolName",
                output: "event.error|event.output",
                is_error: "event.error",
                ..Outcome::NEW
            }),
            ..Rule::NEW
        },
        Rule { kind: "agent_event/usage", usage: &["event"], ..Rule::NEW },
        Rule {
            kind: "agent_event/error",
            warn: Some(Warn {
                code: WarningCode::AgentError,
                text: "event.error.message|event.message|'the agent reported an error'",
            }),
            ..Rule::NEW
        },
        // What a subagent or the program says of itself.
        Rule { kind: "agent_event/*", ..Rule::NEW },
        Rule { kind: "hook_event", needs: &["hookEventName"], ..Rule::NEW },
        Rule {
            kind: "run_result",
            is: &[("finishReason", "error")],
            error: Some(Failure { at: ".", message: "error.message|error|text", code: "" }),
            usage: &["usage"],
            total: true,
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "run_result",
            whole: true,
            origin: "all",
            text: "text",
            usage: &["usage"],
            total: true,
            finish: "finishReason",
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "error",
            weak: Weak::Yes,
            error: Some(Failure { at: "error|.", ..Failure::NEW }),
            end: End::Yes,
            ..Rule::NEW
        },
    ],
    usage: USAGE,
    ..Spec::NEW
};

/// A text that comes in pieces, and then whole.
const PIECE: Rule = Rule { origin: "pieces", ..Rule::NEW };

static FILE: Spec = Spec {
    name: "cline-session",
    aliases: &["roo-code", "kilo-code"],
    about: "Cline, session files; Cline, Roo Code and Kilo Code, ui_messages.json",
    link: "https://docs.cline.bot/",
    evidence: &["ts", "say", "ask", "messages"],
    kind: &["type", "say|ask"],
    session: Start { id: "sessionId", model: "modelInfo.id", ..Start::NEW },
    log: Some(Log::NEW),
    on: &[
        Rule {
            kind: "",
            has: &["messages[]"],
            needs: &["sessionId", "agent", "version"],
            each: &["messages > message"],
            ..Rule::NEW
        },
        Rule { kind: "say/text", needs: &["ts"], first: true, prompt: true, ..Rule::NEW },
        Rule {
            kind: "say/task|say/user_feedback|say/user_feedback_diff",
            needs: &["ts"],
            prompt: true,
            ..Rule::NEW
        },
        Rule { kind: "*/text|*/completion_result", text: "text", ..SAID },
        Rule { kind: "say/reasoning", thought: "reasoning|text", ..SAID },
        Rule {
            kind: "*/followup|*/plan_mode_respond",
            is: &[("text", "{*")],
            each: &["text > question"],
            ..SAID
        },
        Rule { kind: "*/followup|*/plan_mode_respond", text: "text", ..SAID },
        // It comes again, whole.
        Rule { kind: "say/*|ask/*", is: &[("partial", "true")], needs: &["ts"], ..Rule::NEW },
        Rule {
            kind: "*/tool|*/use_mcp_server|*/use_mcp_tool|*/browser_action",
            each: &["text > tool"],
            ..SAID
        },
        Rule {
            kind: "*/command|*/execute_command",
            call: Some(Call {
                name: "'execute_command'",
                arguments: "{command: text}",
                ..Call::NEW
            }),
            ..SAID
        },
        Rule {
            kind: "say/command_output|say/mcp_server_response|say/browser_action_result",
            needs: &["ts"],
            result: Some(Outcome { name: "call:", output: "text", ..Outcome::NEW }),
            ..Rule::NEW
        },
        Rule {
            kind: "*/error|*/diff_error|*/api_req_failed",
            needs: &["ts"],
            warn: Some(Warn {
                code: WarningCode::AgentError,
                text: "text|'the agent reported an error'",
            }),
            ..Rule::NEW
        },
        Rule { kind: "say/api_req_started", each: &["text > request"], ..SAID },
        Rule { kind: "say/*|ask/*", needs: &["ts"], ..Rule::NEW },
    ],
    groups: &[
        Group {
            name: "message",
            kind: &["role"],
            on: &[
                Rule { kind: "user", prompt: true, each: &["content[] > given"], ..Rule::NEW },
                Rule {
                    kind: "assistant",
                    whole: true,
                    text: "content\"\"",
                    each: &["content[] > block"],
                    usage: &["metrics"],
                    ..Rule::NEW
                },
            ],
            ..Group::NEW
        },
        BLOCKS,
        GIVEN,
        Group {
            name: "question",
            encoded: true,
            on: &[Rule { text: "question|response", ..Rule::NEW }],
            ..Group::NEW
        },
        Group {
            name: "tool",
            encoded: true,
            on: &[Rule {
                call: Some(Call {
                    name: "tool|toolName|action",
                    arguments: "arguments|.",
                    ..Call::NEW
                }),
                ..Rule::NEW
            }],
            ..Group::NEW
        },
        Group {
            name: "request",
            encoded: true,
            on: &[Rule { usage: &["."], ..Rule::NEW }],
            ..Group::NEW
        },
    ],
    usage: FILE_USAGE,
    ..Spec::NEW
};

const SAID: Rule = Rule { needs: &["ts"], whole: true, at: &["ts"], ..Rule::NEW };

/// Those of messages, and those of `ui_messages.json`, where tokens read from a cache or written to
/// one are not in the input.
const FILE_USAGE: &[Row] = &[
    ("inputTokens", Op::Is, &[Field::Input]),
    ("outputTokens", Op::Is, &[Field::Output]),
    ("cacheReadTokens", Op::Is, &[Field::Cached]),
    ("cacheWriteTokens", Op::Is, &[Field::CacheWrite]),
    ("tokensIn", Op::Adds, &[Field::Input]),
    ("cacheReads", Op::Adds, &[Field::Input, Field::Cached]),
    ("cacheWrites", Op::Adds, &[Field::Input, Field::CacheWrite]),
    ("tokensOut", Op::Is, &[Field::Output]),
];
