//! Qwen Code's session files, `~/.qwen/projects/*/chats/*.jsonl`.
//!
//! Source: QwenLM/qwen-code, `packages/core/src/services/chatRecordingService.ts`
//! (`ChatRecord`). A record holds one of Gemini's contents. The records are a
//! tree; what a rewind left was an answer, and stays.

use crate::format::rows::agents::*;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "qwen-code",
    aliases: &["qwen-code-session"],
    about: "Qwen Code, session files",
    link: "https://github.com/QwenLM/qwen-code",
    evidence: &["sessionId", "uuid", "message.parts", "systemPayload"],
    kind: &["type"],
    session: Start { id: "sessionId", model: "model", ..Start::NEW },
    detect: Detect { has: &["sessionId", "uuid"], not: &[] },
    log: Some(Log { subagent: "isSidechain", ..Log::NEW }),
    on: &[
        Rule {
            kind: "user|tool_result",
            needs: &["message.parts"],
            prompt: true,
            each: &["message.parts > given"],
            ..Rule::NEW
        },
        Rule {
            kind: "assistant",
            needs: &["message.parts"],
            whole: true,
            each: &["message.parts > part"],
            usage: &["usageMetadata"],
            ..Rule::NEW
        },
        Rule { kind: "system", needs: &["systemPayload"], ..Rule::NEW },
    ],
    groups: &[
        Group { name: "given", on: &[FUNCTION_RESPONSE], ..Group::NEW },
        Group { name: "part", on: &[FUNCTION_CALL, THOUGHT_PART, TEXT_PART], ..Group::NEW },
    ],
    usage: USAGE,
    ..Spec::NEW
};

const USAGE: &[Row] = &[
    ("promptTokenCount", Op::Is, &[Field::Input]),
    ("cachedContentTokenCount", Op::Is, &[Field::Cached]),
    // With the thoughts, as OpenAI counts.
    ("candidatesTokenCount", Op::Is, &[Field::Output]),
    ("thoughtsTokenCount", Op::Is, &[Field::Reasoning]),
    ("totalTokenCount", Op::Is, &[Field::Total]),
];
