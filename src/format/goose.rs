//! Goose: `goose run --output-format stream-json`, the stream of its server, and
//! its session files and exports.
//!
//! Source: block/goose, `crates/goose/src/conversation/message.rs`, and the
//! events of `goose-cli` and `goose-server`. A message of a stream is a piece of
//! the answer: several of one id are one. Calls and results wrap what MCP calls
//! them in a status.

use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["goose-stream-json"],
    about: "Goose, --output-format stream-json and its server's stream",
    link: "https://block.github.io/goose/docs/guides/goose-cli-commands",
    evidence: &["message", "extension_id", "token_state"],
    sniff: is_run,
    ..Format::new("goose", |_| Box::new(LogDecoder::new(&RUN)))
};

pub(super) static SESSION: Format = Format {
    aliases: &["goose-export"],
    about: "Goose, session files and exports",
    link: "https://block.github.io/goose/docs/guides/sessions/",
    evidence: &["working_dir", "conversation", "created"],
    sniff: is_session,
    ..Format::new("goose-session", |_| Box::new(LogDecoder::new(&FILE)))
};

fn is_run(record: &Record) -> bool {
    match record.text("type").as_deref() {
        Some("message" | "Message") => {
            record.inner("message").is_some_and(|message| is_message(&message))
        }
        Some("Finish") => record.has("reason") && record.has("token_state"),
        Some("notification") => record.has("extension_id"),
        _ => false,
    }
}

fn is_session(record: &Record) -> bool {
    let is_head = record.has("working_dir") && !record.has("type");
    is_head && (record.has("message_count") || record.has("conversation"))
        || is_message(record) && !record.has("type")
}

/// True if a record is a message: its time is a number beside its content.
fn is_message(record: &Record) -> bool {
    let is_list = record.get("content").is_some_and(|json| json.starts_with('['));
    let is_time = record.get("created").is_some_and(|json| !json.starts_with('"'));
    record.has("role") && is_list && is_time
}

const USAGE: &[Row] = &[
    ("total_tokens|totalTokens", Op::Is, &[Field::Total]),
    ("input_tokens|inputTokens", Op::Is, &[Field::Input]),
    ("output_tokens|outputTokens", Op::Is, &[Field::Output]),
];

static RUN: Log = Log {
    format: FORMAT.name,
    steps: &[
        ("message", What::Message, "message"),
        ("Message", What::Message, "message"),
        ("complete", What::End, "."),
        ("Finish", What::End, "."),
        ("error", What::Error, "error"),
        ("Error", What::Error, "error"),
    ],
    notes: "notification|Notification|model_change|ModelChange|Ping|ActiveRequests|\
            UpdateConversation",
    usage: ("", USAGE),
    total: "token_state|.",
    has_end: true,
    ..LOG
};

static FILE: Log = Log {
    format: SESSION.name,
    kind: &["role"],
    steps: &[
        ("", What::Records, "conversation|messages"),
        ("user", What::Message, "."),
        ("assistant", What::Message, "."),
    ],
    session: "id",
    model: "model_config.model_name",
    ..LOG
};
