//! Anthropic's Text Completions, the API before Messages: the records of a
//! stream, and bodies.
//!
//! Source: Anthropic, "Create a Text Completion (legacy)".

use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "anthropic-completions",
    aliases: &["anthropic-complete"],
    about: "Anthropic Text Completions, the API before Messages, stream and body",
    link: "https://platform.claude.com/docs/en/api/completions/create",
    evidence: &["completion", "stop_reason"],
    kind: &["type|event:"],
    start: Start { id: "id|log_id", model: "model", ..Start::NEW },
    done: Some(Done { warn: Some(WarningCode::NoFinishReason), missing: None }),
    on: &[
        Rule { kind: "ping", weak: Weak::Yes, begin: Begin::No, ..Rule::NEW },
        Rule {
            has: &["completion"],
            needs: &["type|stop_reason|log_id|model"],
            text: "completion",
            finish: "stop_reason",
            stop_sequence: "stop",
            end: End::If("stop_reason"),
            ..Rule::NEW
        },
    ],
    ..Spec::NEW
};
