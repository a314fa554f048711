//! Antigravity CLI's session files.
//!
//! Source: sessions of Google's Antigravity CLI. A record is a step. The
//! planner's are the model's messages; each other step of the model's is what a
//! tool gave, and names no call: results come in the order of the calls.

use crate::format::format::{Format, Record};
use crate::format::support::log::{LOG, Log, LogDecoder, What};

pub(super) static FORMAT: Format = Format {
    aliases: &["antigravity-cli"],
    about: "Google Antigravity CLI, session files",
    link: "https://antigravity.google/docs",
    evidence: &["step_index", "source", "status"],
    sniff: is_ours,
    ..Format::new("antigravity", |_| Box::new(LogDecoder::new(&ANTIGRAVITY)))
};

fn is_ours(record: &Record) -> bool {
    ["step_index", "source", "type", "status"].iter().all(|key| record.has(key))
}

static ANTIGRAVITY: Log = Log {
    format: FORMAT.name,
    kind: &["source", "type"],
    steps: &[
        ("USER*", What::Prompt, "."),
        ("MODEL/PLANNER_RESPONSE", What::Answer, "."),
        ("MODEL*", What::Result, "."),
        ("", What::Note, "."),
    ],
    notes: "SYSTEM*",
    ..LOG
};
