//! Codex' session files, `~/.codex/sessions/**/rollout-*.jsonl`.
//!
//! Source: openai/codex, `codex-rs/protocol` (`RolloutItem`, `ResponseItem`,
//! `EventMsg`) and `codex-rs/rollout/src/policy.rs`, which decides what is kept. A
//! record is a time, a type and a payload. The items are those of OpenAI's
//! Responses; the events repeat their texts for the program's own display, and
//! some builds keep only one of the two. Builds before September 2025 wrote the
//! items without a record around them. Newer ones say of each item that it is complete: what tools
//! did that a script of the model's called stands there alone.

use crate::format::rows::agents::TEXT;
use crate::format::rows::prelude::*;
use crate::format::support::action;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "codex-rollout",
    aliases: &["codex-session"],
    about: "Codex CLI, session files (rollouts)",
    link: "https://github.com/openai/codex/tree/main/codex-rs/rollout",
    evidence: &["payload", "instructions", "created_at"],
    kind: &["type|record_type|role", "payload.type", "payload.item.type"],
    session: Start {
        id: "payload.session_id|payload.id|id",
        model: "payload.model|model",
        ..Start::NEW
    },
    log: Some(Log::NEW),
    on: &[
        // The oldest builds: their head, and their records.
        Rule {
            kind: "",
            has: &["instructions", "timestamp", "id"],
            not: &["choices", "output"],
            ..Rule::NEW
        },
        Rule { kind: "user", needs: OLD, prompt: true, ..Rule::NEW },
        Rule { kind: "assistant", needs: OLD, whole: true, text: "message|content", ..Rule::NEW },
        Rule {
            kind: "message|reasoning|function_*|custom_tool_*|local_shell_call|web_search_call",
            weak: Weak::Yes,
            each: &[". > item"],
            ..ITEM
        },
        Rule { kind: "response_item*", needs: PAYLOAD, each: &["payload > item"], ..ITEM },
        Rule {
            kind: "event_msg/user_message|event_msg/item_completed/UserMessage",
            needs: PAYLOAD,
            prompt: true,
            ..Rule::NEW
        },
        Rule { kind: "event_msg/agent_message", text: "payload.message", ..EVENT },
        Rule {
            kind: "event_msg/agent_reasoning|event_msg/agent_reasoning_raw_content",
            part: true,
            thought: "payload.text",
            ..EVENT
        },
        // The sum so far: the same counts come again with each change of the limits.
        Rule {
            kind: "event_msg/token_count",
            needs: PAYLOAD,
            at: &["payload.info.total_token_usage.total_tokens"],
            usage: &["payload.info.last_token_usage|payload"],
            ..Rule::NEW
        },
        Rule { kind: "event_msg/tool_call", needs: PAYLOAD, each: &["payload > item"], ..ITEM },
        Rule {
            kind: "event_msg/item_completed/CommandExecution|\
                event_msg/item_completed/McpToolCall|\
                event_msg/item_completed/DynamicToolCall|\
                event_msg/item_completed/CollabAgentToolCall|\
                event_msg/item_completed/FileChange|\
                event_msg/item_completed/ImageView",
            needs: PAYLOAD,
            hook: Some(Hook { at: "payload.item", run: action::take }),
            ..Rule::NEW
        },
        Rule {
            kind: "event_msg/item_completed/Plan",
            block: Some(Block::of("payload.item.type", "payload.item")),
            ..EVENT
        },
        Rule {
            kind: "event_msg/turn_aborted",
            needs: PAYLOAD,
            finish: "payload.reason",
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "event_msg/task_complete|event_msg/turn_complete",
            has: &["payload.error"],
            error: Some(Failure { at: "payload.error", ..Failure::NEW }),
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "event_msg/error|event_msg/stream_error",
            needs: PAYLOAD,
            warn: Some(Warn {
                code: WarningCode::AgentError,
                text: "payload.message|'the agent reported an error'",
            }),
            ..Rule::NEW
        },
        Rule {
            kind: "session_meta*|turn_context*|event_msg*|compacted*",
            needs: PAYLOAD,
            ..Rule::NEW
        },
        Rule {
            kind: "inter_agent_communication*|world_state*|state*|token_usage_record*",
            weak: Weak::Yes,
            ..Rule::NEW
        },
    ],
    groups: &[
        Group { name: "item", kind: &["type", "role"], on: ITEMS, ..Group::NEW },
        Group { name: "part", kind: &["type"], on: &[OUTPUT, TEXT, REFUSAL], ..Group::NEW },
        Group {
            name: "aside",
            kind: &["type"],
            on: &[Rule { channel: "commentary", ..OUTPUT }],
            ..Group::NEW
        },
        Group { name: "thought", on: &[Rule { thought: "text", ..Rule::NEW }], ..Group::NEW },
        Group {
            name: "numbered",
            on: &[Rule { part: true, thought: "text", ..Rule::NEW }],
            ..Group::NEW
        },
    ],
    usage: USAGE,
    ..Spec::NEW
};

const OLD: &[&str] = &["created_at", "message"];

const PAYLOAD: &[&str] = &["payload"];

const ITEM: Rule = Rule { whole: true, ..Rule::NEW };

/// An event says what an item says, too.
const EVENT: Rule = Rule { needs: PAYLOAD, whole: true, origin: "event", ..Rule::NEW };

const ITEMS: &[Rule] = &[
    // The program's words.
    Rule { kind: "message/user|user", is: &[("content.0.text", "<turn_aborted>*")], ..Rule::NEW },
    Rule { kind: "message/user|user", prompt: true, ..Rule::NEW },
    Rule {
        kind: "message/assistant",
        is: &[("phase", "commentary")],
        each: &["content > aside"],
        ..Rule::NEW
    },
    Rule { kind: "message/assistant|assistant", each: &["content > part"], ..Rule::NEW },
    Rule { has: &["summary.1"], each: &["summary > numbered"], ..REASONING },
    Rule {
        has: &["summary.0|content.0"],
        each: &["summary > thought", "content > thought"],
        ..REASONING
    },
    Rule { kind: "reasoning", redacted: "encrypted_content", ..Rule::NEW },
    Rule {
        kind: "function_call|tool_call",
        call: Some(Call {
            id: "call_id|id",
            name: "name|function.name",
            arguments: "arguments|input|'{}'",
            ..Call::NEW
        }),
        ..Rule::NEW
    },
    Rule {
        kind: "custom_tool_call",
        call: Some(Call {
            id: "call_id",
            name: "name",
            arguments: "input",
            free: "'true'",
            ..Call::NEW
        }),
        ..Rule::NEW
    },
    Rule {
        kind: "local_shell_call",
        call: Some(Call { id: "call_id|id", name: "kind:", arguments: "action|'{}'", ..Call::NEW }),
        ..Rule::NEW
    },
    Rule {
        kind: "web_search_call|image_generation_call|tool_search_call",
        call: Some(Call {
            id: "call_id|id",
            name: "kind:",
            arguments: "action|arguments|'{}'",
            provider: "'true'",
            ..Call::NEW
        }),
        ..Rule::NEW
    },
    Rule {
        kind: "function_call_output|custom_tool_call_output|function_result|tool_result",
        result: Some(Outcome {
            id: "call_id|tool_call_id|id",
            name: "name",
            output: "output|content|result",
            ..Outcome::NEW
        }),
        ..Rule::NEW
    },
    Rule { kind: "message/*|compaction|context_compaction|ghost_snapshot", ..Rule::NEW },
];

const OUTPUT: Rule = Rule { kind: "output_text", text: "text", ..Rule::NEW };

const REFUSAL: Rule = Rule { kind: "refusal", refusal: "refusal", ..Rule::NEW };

const REASONING: Rule = Rule { kind: "reasoning", signature: "encrypted_content", ..Rule::NEW };

/// Cached input is in the input, and reasoning in the output.
const USAGE: &[Row] = &[
    ("input_tokens", Op::Is, &[Field::Input]),
    ("cached_input_tokens", Op::Is, &[Field::Cached]),
    ("cache_write_input_tokens", Op::Is, &[Field::CacheWrite]),
    ("output_tokens", Op::Is, &[Field::Output]),
    ("reasoning_output_tokens", Op::Is, &[Field::Reasoning]),
    ("total_tokens", Op::Is, &[Field::Total]),
];
