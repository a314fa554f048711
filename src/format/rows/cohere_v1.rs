//! Cohere's Chat API, version 1, and the Generate API before it: the records of
//! a stream, and complete bodies.
//!
//! Source: Cohere API reference, "Chat (V1)" and "Generate". A stream is
//! `stream-start`, pieces of text, of calls and of what was searched and cited,
//! and `stream-end`, whose response repeats all of it. Bedrock sends the text
//! of the Generate API in records without a type.

use crate::format::rows::cohere::USAGE;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "cohere-v1",
    aliases: &["cohere-generate"],
    about: "Cohere Chat, version 1, and Generate, stream and body",
    link: "https://docs.cohere.com/v1/reference/chat-stream",
    evidence: &["is_finished", "generation_id", "response_id", "generations", "text"],
    kind: &["event_type|event:"],
    start: Start { id: "generation_id|id", ..Start::NEW },
    on: &[
        Rule { kind: "stream-start", begin: Begin::Cut, ..Rule::NEW },
        Rule { kind: "text-generation|tool-calls-chunk", ..PIECE },
        // Its text repeats that of the chunks before it.
        Rule { kind: "tool-calls-generation", ..WHOLE },
        Rule {
            kind: "citation-generation|search-queries-generation|search-results",
            at: &["'it'"],
            ..BLOCKS
        },
        Rule {
            kind: "stream-end",
            has: &["error"],
            error: Some(Failure { at: ".", ..Failure::NEW }),
            ..END
        },
        Rule { kind: "stream-end", ..END },
        Rule {
            kind: "debug",
            weak: Weak::Yes,
            begin: Begin::No,
            block: Some(Block::of("kind:", "prompt")),
            ..Rule::NEW
        },
        Rule { kind: "", is: &[("is_finished", "false")], ..PIECE },
        Rule { kind: "", is: &[("is_finished", "true")], ..END },
        Rule {
            kind: "",
            has: &["generations[]"],
            begin: Begin::Cut,
            at: &[],
            each: &["generations[] > generation"],
            end: End::Yes,
            ..WHOLE
        },
        Rule {
            kind: "",
            has: &["text"],
            needs: &["text\"\"", "generation_id|response_id"],
            begin: Begin::Cut,
            finish: "finish_reason",
            end: End::Yes,
            ..WHOLE
        },
    ],
    groups: &[
        Group { name: "body", on: &[WHOLE], ..Group::NEW },
        Group {
            name: "generation",
            on: &[Rule { choice: "#", text: "text", finish: "finish_reason", ..Rule::NEW }],
            ..Group::NEW
        },
        Group {
            name: "call",
            on: &[Rule {
                call: Some(Call {
                    key: &["index|#"],
                    name: "name",
                    arguments: "parameters",
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

const PIECE: Rule =
    Rule { at: &["'it'"], text: "text", each: &["tool_call_delta > call"], ..Rule::NEW };

const BLOCKS: Rule = Rule {
    each: &["citations > citation"],
    blocks: &["search_queries", "search_results", "documents"],
    ..Rule::NEW
};

/// What pieces have had is not emitted again.
const WHOLE: Rule = Rule {
    whole: true,
    at: &["'it'"],
    text: "text",
    each: &["citations > citation", "tool_calls > call"],
    usage: &[
        "{billed_units: meta.billed_units, tokens: meta.tokens, cached_tokens: meta.cached_tokens}",
    ],
    ..BLOCKS
};

const END: Rule = Rule {
    each: &["response > body"],
    finish: "finish_reason",
    error: Some(Failure { at: "error", ..Failure::NEW }),
    end: End::Yes,
    ..Rule::NEW
};
