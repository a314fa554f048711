//! Antigravity CLI's session files.
//!
//! Source: sessions of Google's Antigravity CLI. A record is a step. The
//! planner's are the model's messages; each other step of the model's is what a
//! tool gave, and names no call: results come in the order of the calls.

use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "antigravity",
    aliases: &["antigravity-cli"],
    about: "Google Antigravity CLI, session files",
    link: "https://antigravity.google/docs",
    evidence: &["step_index", "source", "status"],
    kind: &["source", "type"],
    detect: Detect { has: &["step_index", "source", "type", "status"], not: &[] },
    log: Some(Log::NEW),
    on: &[
        Rule { kind: "USER*", prompt: true, ..Rule::NEW },
        Rule {
            kind: "MODEL/PLANNER_RESPONSE",
            whole: true,
            thought: "thinking",
            text: "content",
            each: &["tool_calls > call"],
            ..Rule::NEW
        },
        Rule {
            kind: "MODEL*",
            result: Some(Outcome { output: "content", ..Outcome::NEW }),
            ..Rule::NEW
        },
        Rule { kind: "SYSTEM*", ..Rule::NEW },
    ],
    groups: &[Group {
        name: "call",
        on: &[Rule {
            call: Some(Call { name: "name", arguments: "args|'{}'", ..Call::NEW }),
            ..Rule::NEW
        }],
        ..Group::NEW
    }],
    ..Spec::NEW
};
