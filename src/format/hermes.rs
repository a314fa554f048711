//! Hermes' session files, `~/.hermes/sessions/session_*.json`.
//!
//! Source: NousResearch/hermes-agent, the sessions of its agent. A file is an
//! object with the messages of OpenAI's chat, and the thoughts beside each.

use crate::format::format::{Format, Record};
use crate::format::support::log::{LOG, Log, LogDecoder, What};

pub(super) static FORMAT: Format = Format {
    aliases: &["hermes-session"],
    about: "Hermes agent, session files",
    link: "https://github.com/NousResearch/hermes-agent",
    evidence: &["session_id", "session_start", "messages"],
    sniff: is_ours,
    ..Format::new("hermes", |_| Box::new(LogDecoder::new(&HERMES)))
};

fn is_ours(record: &Record) -> bool {
    let is_list = record.get("messages").is_some_and(|json| json.starts_with('['));
    is_list && record.has("session_id") && record.has("session_start")
}

static HERMES: Log = Log {
    format: FORMAT.name,
    kind: &["role"],
    steps: &[
        ("", What::Records, "messages"),
        ("user", What::Message, "."),
        ("assistant", What::Message, "."),
        ("tool", What::Message, "."),
    ],
    notes: "system|session_meta",
    ..LOG
};
