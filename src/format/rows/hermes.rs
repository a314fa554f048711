//! Hermes' session files, `~/.hermes/sessions/session_*.json`.
//!
//! Source: NousResearch/hermes-agent, the sessions of its agent. A file is an
//! object with the messages of OpenAI's chat, and the thoughts beside each.

use crate::format::rows::agents::*;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "hermes",
    aliases: &["hermes-session"],
    about: "Hermes agent, session files",
    link: "https://github.com/NousResearch/hermes-agent",
    evidence: &["session_id", "session_start", "messages"],
    session: Start { id: "session_id", model: "model", ..Start::NEW },
    detect: Detect { has: &["messages[]", "session_id", "session_start"], not: &[] },
    log: Some(Log::NEW),
    on: &[Rule { has: &["messages"], each: &["messages > message"], ..Rule::NEW }],
    groups: &[
        Group { name: "message", kind: &["role"], on: CHAT, ..Group::NEW },
        Group { name: "call", on: &[CHAT_CALL], ..Group::NEW },
    ],
    ..Spec::NEW
};

const CHAT: &[Rule] = &[
    Rule { kind: "user", prompt: true, ..Rule::NEW },
    Rule {
        kind: "assistant",
        whole: true,
        thought: "reasoning_content|reasoning",
        text: "content",
        each: &["tool_calls > call"],
        finish: "finish_reason",
        ..Rule::NEW
    },
    Rule { kind: "tool", result: Some(CHAT_RESULT), ..Rule::NEW },
    Rule { kind: "system|session_meta", ..Rule::NEW },
];
