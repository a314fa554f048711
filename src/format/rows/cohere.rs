//! Cohere's Chat API, version 2: the events of a stream, and complete bodies.
//!
//! Source: Cohere API reference, "Chat (V2)" and "Chat with Streaming (V2)". A
//! stream is `message-start`, blocks of content, a plan, calls and citations,
//! each with its start, deltas and end, and `message-end`; content and calls
//! are counted apart. In deltas stands one object where bodies have an array.

use crate::format::cohere::turn;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format =
    Format { request: Some(&turn::REQUEST), ..Format::of(&SPEC) };

static SPEC: Spec = Spec {
    name: "cohere",
    aliases: &["cohere-v2"],
    about: "Cohere Chat, version 2, stream and body",
    link: "https://docs.cohere.com/v2/reference/chat-stream",
    evidence: &["delta", "message", "finish_reason"],
    kind: &["type|event:"],
    start: Start { id: "id", ..Start::NEW },
    done: Some(Done { warn: Some(WarningCode::NoFinishReason), missing: None }),
    on: &[
        Rule { kind: "message-start", begin: Begin::Cut, ..Rule::NEW },
        Rule {
            kind: "content-start",
            at: &["index"],
            open: true,
            each: &["delta.message > message"],
            ..Rule::NEW
        },
        Rule {
            kind: "content-delta",
            at: &["index"],
            each: &["delta.message > message"],
            ..Rule::NEW
        },
        Rule {
            kind: "tool-plan-delta|citation-start|tool-call-start|tool-call-delta",
            each: &["delta.message > message"],
            ..Rule::NEW
        },
        Rule { kind: "tool-call-end", begin: Begin::No, call_end: "index", ..Rule::NEW },
        Rule { kind: "content-end|citation-end", begin: Begin::No, ..Rule::NEW },
        Rule {
            kind: "debug",
            weak: Weak::Yes,
            begin: Begin::No,
            block: Some(Block::of("kind:", "prompt")),
            ..Rule::NEW
        },
        Rule {
            kind: "message-end",
            has: &["delta.error"],
            usage: &["delta.usage"],
            finish: "delta.finish_reason",
            error: Some(Failure { at: "delta", ..Failure::NEW }),
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "message-end",
            usage: &["delta.usage"],
            finish: "delta.finish_reason",
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "",
            has: &["message{}"],
            needs: &["finish_reason"],
            not: &["done"],
            begin: Begin::Cut,
            whole: true,
            each: &["message{} > message"],
            usage: &["usage"],
            finish: "finish_reason",
            end: End::Yes,
            ..Rule::NEW
        },
    ],
    groups: &[
        // The plan is what the model thinks before its calls.
        Group {
            name: "message",
            on: &[Rule {
                native: ".",
                thought: "tool_plan",
                each: &["content > content", "tool_calls > call", "citations > citation"],
                ..Rule::NEW
            }],
            ..Group::NEW
        },
        Group {
            name: "content",
            native: true,
            on: &[Rule { thought: "thinking", text: "text", ..Rule::NEW }],
            ..Group::NEW
        },
        // The event's index counts calls.
        Group {
            name: "call",
            native: true,
            on: &[Rule {
                call: Some(Call {
                    key: &["/index"],
                    id: "id",
                    name: "function.name",
                    arguments: "function.arguments|function.parameters",
                    ..Call::NEW
                }),
                ..Rule::NEW
            }],
            ..Group::NEW
        },
        Group {
            name: "citation",
            on: &[Rule { block: Some(Block::of("'citation'", ".")), ..Rule::NEW }],
            ..Group::NEW
        },
    ],
    usage: USAGE,
    ..Spec::NEW
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
