//! Kimi Code's session files, `wire.jsonl`, and the wire of Kimi CLI.
//!
//! Source: MoonshotAI/kimi-cli, `docs/en/customization/wire-mode.md` and
//! `src/kimi_cli/wire`. Kimi Code writes a record an event, among them those of
//! the loop in which the model is asked; Kimi CLI wraps each in a message or, on
//! its wire, in a notification of JSON-RPC. The stream of Kimi Code's `--output-format stream-json`
//! has messages of chat completions after a line about the program.

use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["kimi-cli", "kimi-code", "kimi-wire"],
    about: "Kimi Code and Kimi CLI, session files and wire",
    link: "https://moonshotai.github.io/kimi-cli/en/customization/wire-mode.html",
    evidence: &["protocol_version", "event", "message.payload", "params.payload"],
    sniff: is_ours,
    ..Format::new("kimi", |_| Box::new(LogDecoder::new(&KIMI)))
};

fn is_ours(record: &Record) -> bool {
    let is_event = |record: Record| record.has("type") && record.has("payload");
    match record.text("type").as_deref() {
        // The first line of `--output-format stream-json`.
        Some(kind) if kind.starts_with("system.") => record.text("role").as_deref() == Some("meta"),
        Some("metadata") => record.has("protocol_version"),
        Some("context.append_loop_event") => record.has("event"),
        Some("context.append_message") => record.has("message"),
        Some("turn.prompt") => record.has("input"),
        Some(_) => false,
        None if record.has("agents") && record.has("workDir") => true,
        None if record.has("timestamp") => record.inner("message").is_some_and(is_event),
        None => {
            let is_notification = record.has("jsonrpc") && record.has("method");
            is_notification && record.inner("params").is_some_and(is_event)
        }
    }
}

/// Tokens read from a cache or written to one are not in the other input.
const USAGE: &[Row] = &[
    ("inputOther|input_other", Op::Adds, &[Field::Input]),
    ("inputCacheRead|input_cache_read", Op::Adds, &[Field::Input, Field::Cached]),
    ("inputCacheCreation|input_cache_creation", Op::Adds, &[Field::Input, Field::CacheWrite]),
    ("output", Op::Is, &[Field::Output]),
];

static KIMI: Log = Log {
    format: FORMAT.name,
    kind: &["type|message.type|params.type|role", "event.type"],
    steps: &[
        ("turn.prompt", What::Prompt, "."),
        ("context.append_message", What::Message, "message"),
        ("context.append_loop_event/content.part", What::Block, "event.part"),
        ("context.append_loop_event/tool.call", What::Call, "event"),
        ("context.append_loop_event/tool.result", What::Result, "event"),
        ("context.append_loop_event/step.end", What::Usage, "event.usage"),
        ("TurnBegin", What::Prompt, "."),
        ("ContentPart", What::Block, "message.payload|params.payload"),
        ("ToolCall", What::OpenCall, "message.payload|params.payload"),
        (
            "ToolCallPart",
            What::CallPart,
            "message.payload.arguments_part|params.payload.arguments_part",
        ),
        ("ToolResult", What::Result, "message.payload|params.payload"),
        ("StatusUpdate", What::Usage, "message.payload.token_usage|params.payload.token_usage"),
        // Messages of the stream.
        ("assistant", What::Answer, "."),
        ("user", What::Prompt, "."),
        ("tool", What::Message, "."),
        // `state.json`, which lies beside the sessions.
        ("", What::Note, "."),
    ],
    notes: "metadata|system.*|session.*|config.*|tools.*|llm.*|context.*|permission.*|usage.record|turn.*|Turn*|\
            Step*|Compaction*|Approval*|Hook*|Btw*|SubagentEvent|SteerInput|PlanDisplay|\
            QuestionRequest",
    part: "event.stepUuid|event.uuid|message.payload.message_id|params.payload.message_id",
    usage: ("", USAGE),
    ..LOG
};
