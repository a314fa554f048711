//! Gemini CLI's session files, `~/.gemini/tmp/*/chats/session-*.json` and
//! `.jsonl`, and its checkpoints.
//!
//! Source: google-gemini/gemini-cli,
//! `packages/core/src/services/chatRecordingTypes.ts`. A file is an object with
//! all messages, or, since 2026, a record a line: what is true of the session,
//! messages, which come again when they have grown, and changes (`$set`,
//! `$rewindTo`). What was rewound was said, and stays. A checkpoint is a list of
//! Gemini's contents.

use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["gemini-session"],
    about: "Gemini CLI, session files and checkpoints",
    link: "https://geminicli.com/docs/cli/session-management/",
    evidence: &["projectHash", "messages", "history", "parts"],
    sniff: is_ours,
    ..Format::new("gemini-cli-session", |_| Box::new(LogDecoder::new(&GEMINI)))
};

fn is_ours(record: &Record) -> bool {
    let is_list = |key| record.get(key).is_some_and(|json| json.starts_with('['));
    let is_session = record.has("lastUpdated") || record.has("startTime");
    match record.text("type").as_deref() {
        Some("gemini") => record.has("content") || record.has("parts"),
        Some("user") => record.has("id") && record.has("timestamp") && record.has("content"),
        Some(_) => false,
        None if record.has("projectHash") && record.has("sessionId") => true,
        None if is_list("messages") || is_list("history") => is_session,
        None => {
            matches!(record.text("role").as_deref(), Some("user" | "model")) && is_list("parts")
        }
    }
}

/// Thoughts are not in the output.
const USAGE: &[Row] = &[
    ("input", Op::Is, &[Field::Input]),
    ("output", Op::Adds, &[Field::Output]),
    ("thoughts", Op::Adds, &[Field::Output, Field::Reasoning]),
    ("cached", Op::Is, &[Field::Cached]),
    ("total", Op::Is, &[Field::Total]),
];

static GEMINI: Log = Log {
    format: FORMAT.name,
    kind: &["type|role"],
    steps: &[
        ("", What::Records, "messages|history"),
        ("user", What::Message, "."),
        ("gemini", What::Message, "."),
        ("model", What::Message, "."),
        ("error", What::Warning, "content"),
        ("warning", What::Warning, "content"),
    ],
    notes: "info",
    model: "model|meta.model",
    part: "id",
    usage: ("tokens", USAGE),
    repeats: Repeats::ById,
    ..LOG
};
