//! Codex' session files, `~/.codex/sessions/**/rollout-*.jsonl`.
//!
//! Source: openai/codex, `codex-rs/protocol` (`RolloutItem`, `ResponseItem`,
//! `EventMsg`) and `codex-rs/rollout/src/policy.rs`, which decides what is kept. A
//! record is a time, a type and a payload. The items are those of OpenAI's
//! Responses; the events repeat their texts for the program's own display, and
//! some builds keep only one of the two. Builds before September 2025 wrote the
//! items without a record around them. Newer ones say of each item that it is complete: what tools
//! did that a script of the model's called stands there alone.

use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["codex-session"],
    about: "Codex CLI, session files (rollouts)",
    link: "https://github.com/openai/codex/tree/main/codex-rs/rollout",
    evidence: &["payload", "instructions", "created_at"],
    sniff: is_ours,
    ..Format::new("codex-rollout", |_| Box::new(LogDecoder::new(&CODEX)))
};

fn is_ours(record: &Record) -> bool {
    let is_head = record.has("instructions") && record.has("timestamp") && record.has("id");
    match record.text("type").as_deref() {
        Some("session_meta" | "turn_context" | "response_item" | "event_msg" | "compacted") => {
            record.has("payload")
        }
        // The oldest builds: their head, and their records.
        None if record.has("created_at") => record.has("role") && record.has("message"),
        None => is_head && !record.has("choices") && !record.has("output"),
        Some(_) => false,
    }
}

/// Cached input is in the input, and reasoning in the output.
const USAGE: &[Row] = &[
    ("input_tokens", Op::Is, &[Field::Input]),
    ("cached_input_tokens", Op::Is, &[Field::Cached]),
    ("cache_write_input_tokens", Op::Is, &[Field::CacheWrite]),
    ("output_tokens", Op::Is, &[Field::Output]),
    ("reasoning_output_tokens", Op::Is, &[Field::Reasoning]),
    ("total_tokens", Op::Is, &[Field::Total]),
];

static CODEX: Log = Log {
    format: FORMAT.name,
    kind: &["type|record_type|role", "payload.type", "payload.item.type"],
    steps: &[
        ("user", What::Prompt, "."),
        ("assistant", What::Message, "."),
        ("response_item*", What::Block, "payload"),
        ("event_msg/user_message", What::Prompt, "."),
        ("event_msg/agent_message", What::TextEvent, "payload.message"),
        ("event_msg/agent_reasoning", What::ThoughtEvent, "payload.text"),
        ("event_msg/agent_reasoning_raw_content", What::ThoughtEvent, "payload.text"),
        ("event_msg/token_count", What::Usage, "payload.info.last_token_usage|payload"),
        ("event_msg/tool_call", What::Call, "payload"),
        ("event_msg/item_completed/UserMessage", What::Prompt, "."),
        ("event_msg/item_completed/CommandExecution", What::Action, "payload.item"),
        ("event_msg/item_completed/McpToolCall", What::Action, "payload.item"),
        ("event_msg/item_completed/DynamicToolCall", What::Action, "payload.item"),
        ("event_msg/item_completed/CollabAgentToolCall", What::Action, "payload.item"),
        ("event_msg/item_completed/FileChange", What::Action, "payload.item"),
        ("event_msg/item_completed/ImageView", What::Action, "payload.item"),
        ("event_msg/item_completed/Plan", What::Block, "payload.item"),
        ("event_msg/turn_aborted", What::End, "payload"),
        ("event_msg/task_complete", What::Error, "payload.error"),
        ("event_msg/turn_complete", What::Error, "payload.error"),
        ("event_msg/error", What::Warning, "payload.message"),
        ("event_msg/stream_error", What::Warning, "payload.message"),
        ("message", What::Block, "."),
        ("reasoning", What::Block, "."),
        ("function_call*", What::Block, "."),
        ("function_result", What::Block, "."),
        ("custom_tool_call*", What::Block, "."),
        ("local_shell_call", What::Block, "."),
        ("web_search_call", What::Block, "."),
        ("", What::Note, "."),
    ],
    notes: "session_meta*|turn_context*|event_msg*|compacted*|inter_agent_communication*|\
            world_state*|state*|token_usage_record",
    own_words: "<turn_aborted>",
    reason: "payload.reason",
    session: "payload.session_id|payload.id|id",
    model: "payload.model",
    // The sum so far: the same counts come again with each change of the limits.
    part: "payload.info.total_token_usage",
    usage: ("", USAGE),
    repeats: Repeats::ByText,
    ..LOG
};
