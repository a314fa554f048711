//! Cohere's Chat API, version 2: the events of a stream, and complete bodies.
//!
//! Source: Cohere API reference, "Chat (V2)" and "Chat with Streaming (V2)". A
//! stream is `message-start`, blocks of content, a plan, calls and citations,
//! each with its start, deltas and end, and `message-end`; content and calls
//! are counted apart. In deltas stands one object where bodies have an array.

use crate::format::cohere::turn;
use crate::format::machine::Machine;
use crate::format::spec::{Begin, Call, End, Part, Rule, Spec};
use crate::format::support::prelude::*;

pub(in crate::format) static FORMAT: Format = Format {
    aliases: &["cohere-v2"],
    about: "Cohere Chat, version 2, stream and body",
    link: "https://docs.cohere.com/v2/reference/chat-stream",
    evidence: &["delta", "message", "finish_reason"],
    sniff,
    request: Some(&turn::REQUEST),
    ..Format::new("cohere", || Machine::boxed(&FORMAT, &SPEC))
};

fn sniff(record: &Record) -> bool {
    match record.text("type").as_deref() {
        Some("debug") => false,
        Some(kind) => SPEC.on.iter().any(|rule| rule.kind.contains(&kind)),
        None => {
            let is_message = record.get("message").is_some_and(|message| message.starts_with('{'));
            is_message && record.has("finish_reason") && !record.has("done")
        }
    }
}

pub(in crate::format) static SPEC: Spec = Spec {
    kind: "type",
    id: "id",
    on: &[
        Rule { kind: &["message-start"], begin: Begin::Anew, ..Rule::NEW },
        Rule {
            kind: &[
                "content-start",
                "content-delta",
                "tool-plan-delta",
                "tool-call-start",
                "tool-call-delta",
                "citation-start",
            ],
            part: Part { each: &[("delta.message", &MESSAGE)], ..Part::NEW },
            ..Rule::NEW
        },
        Rule {
            kind: &["tool-call-end"],
            begin: Begin::No,
            part: Part { call_end: "index", ..Part::NEW },
            ..Rule::NEW
        },
        Rule { kind: &["content-end", "citation-end"], begin: Begin::No, ..Rule::NEW },
        Rule {
            kind: &["debug"],
            begin: Begin::No,
            part: Part { block: ("debug", "prompt"), ..Part::NEW },
            ..Rule::NEW
        },
        Rule {
            kind: &["message-end"],
            usage: "delta.usage",
            finish: "delta.finish_reason",
            error: "delta.error",
            error_in: "delta",
            end: End::Always,
            ..Rule::NEW
        },
        // A complete body, which has no type.
        Rule {
            has: "message{}",
            begin: Begin::Anew,
            whole: true,
            part: Part { each: &[("message{}", &MESSAGE)], ..Part::NEW },
            usage: "usage",
            finish: "finish_reason",
            end: End::Always,
            ..Rule::NEW
        },
    ],
    usage: USAGE,
    done: Some("`[DONE]` came without `message-end`"),
    ..Spec::NEW
};

/// The plan is what the model thinks before its calls.
static MESSAGE: Part = Part {
    thought: "tool_plan",
    each: &[("content", &CONTENT), ("tool_calls", &CALL)],
    block: ("citation", "citations"),
    ..Part::NEW
};

static CONTENT: Part = Part { thought: "thinking", text: "text", ..Part::NEW };

/// The event's index counts calls.
static CALL: Part = Part {
    call: Some(Call {
        key: "/index",
        id: "id",
        name: "function.name",
        arguments: "function.arguments|function.parameters",
    }),
    ..Part::NEW
};

/// The billed tokens are fewer than those that were read; old bodies have only them.
pub(in crate::format) const USAGE: &[Row] = &[
    ("tokens.input_tokens", Op::Is, &[Field::Input]),
    ("billed_units.input_tokens", Op::Is, &[Field::Input]),
    ("tokens.output_tokens", Op::Is, &[Field::Output]),
    ("billed_units.output_tokens", Op::Is, &[Field::Output]),
    ("cached_tokens", Op::Is, &[Field::Cached]),
    ("tokens.reasoning_tokens", Op::Is, &[Field::Reasoning]),
];
