//! Qwen Code's session files, `~/.qwen/projects/*/chats/*.jsonl`.
//!
//! Source: QwenLM/qwen-code, `packages/core/src/services/chatRecordingService.ts`
//! (`ChatRecord`). A record holds one of Gemini's contents. The records are a
//! tree; what a rewind left was an answer, and stays.

use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["qwen-code-session"],
    about: "Qwen Code, session files",
    link: "https://github.com/QwenLM/qwen-code",
    evidence: &["sessionId", "uuid", "message.parts", "systemPayload"],
    sniff: is_ours,
    ..Format::new("qwen-code", |_| Box::new(LogDecoder::new(&QWEN)))
};

fn is_ours(record: &Record) -> bool {
    let is_record = record.has("sessionId") && record.has("uuid");
    match record.text("type").as_deref() {
        Some("user" | "assistant" | "tool_result") => {
            is_record && record.inner("message").is_some_and(|message| message.has("parts"))
        }
        Some("system") => is_record && record.has("systemPayload"),
        _ => false,
    }
}

const USAGE: &[Row] = &[
    ("promptTokenCount", Op::Is, &[Field::Input]),
    ("cachedContentTokenCount", Op::Is, &[Field::Cached]),
    // With the thoughts, as OpenAI counts.
    ("candidatesTokenCount", Op::Is, &[Field::Output]),
    ("thoughtsTokenCount", Op::Is, &[Field::Reasoning]),
    ("totalTokenCount", Op::Is, &[Field::Total]),
];

static QWEN: Log = Log {
    format: FORMAT.name,
    steps: &[
        ("user", What::Message, "message"),
        ("assistant", What::Message, "message"),
        ("tool_result", What::Message, "message"),
    ],
    notes: "system",
    aside: "isSidechain",
    usage: ("usageMetadata", USAGE),
    ..LOG
};
