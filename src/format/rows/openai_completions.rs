//! OpenAI's legacy Completions, and the servers that speak it still: chunks of
//! a stream and complete bodies, which look alike.
//!
//! Source: OpenAI API reference, "Completions". Each chunk holds pieces of the
//! text of one or more choices. Together writes `text.completion`, Writer no
//! object at all; TGI an empty reason while there is none.

use crate::format::openai_chat::USAGE;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "openai-completions",
    aliases: &["completions", "text-completion"],
    about: "OpenAI's legacy Completions and compatible servers, stream and body",
    link: "https://platform.openai.com/docs/api-reference/completions",
    evidence: &["choices", "choices.0.text"],
    kind: &["object|event:"],
    start: Start { id: "id", model: "model", ..Start::NEW },
    done: Some(Done {
        warn: Some(WarningCode::NoFinishReason),
        missing: Some(WarningCode::MissingDone),
    }),
    detect: Detect { has: &[], not: &["choices.0.delta|choices.0.message"] },
    on: &[
        // Some proxies end with a chunk of the chat format, without a text.
        Rule {
            has: &["choices.0"],
            needs: &["choices.0.text"],
            begin: Begin::Yes,
            each: &["choices > choice"],
            usage: &["usage"],
            error: Some(Failure { at: "error", ..Failure::NEW }),
            ..Rule::NEW
        },
        Rule {
            has: &["error"],
            weak: Weak::Yes,
            error: Some(Failure { at: "error", ..Failure::NEW }),
            ..Rule::NEW
        },
        // Azure's opinion of the prompt has no choices.
        Rule { kind: "text_completion", has: &["choices"], usage: &["usage"], ..Rule::NEW },
        Rule { has: &["usage"], weak: Weak::Yes, usage: &["usage"], ..Rule::NEW },
    ],
    groups: &[Group {
        name: "choice",
        on: &[Rule {
            choice: "index|'0'",
            text: "text",
            provider_event: "logprobs",
            finish: "finish_reason",
            ..Rule::NEW
        }],
        ..Group::NEW
    }],
    usage: USAGE,
    ..Spec::NEW
};
