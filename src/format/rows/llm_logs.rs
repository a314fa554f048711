//! The log of the command `llm`: `llm logs --json`.
//!
//! Source: simonw/llm, documentation, "Logging to SQLite", and `llm/cli.py` (`logs_list`). A record is
//! a response with the prompt before it; what tools gave stands in the record of the response that
//! they were sent for.

use crate::format::rows::agents::CALL;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "llm-logs",
    aliases: &["llm"],
    about: "The command llm, llm logs --json",
    link: "https://llm.datasette.io/en/stable/logging.html",
    evidence: &["prompt", "response", "conversation_id", "datetime_utc"],
    session: Start { id: "conversation_id", model: "model", ..Start::NEW },
    detect: Detect {
        has: &["prompt\"\"", "response\"\"", "conversation_id", "datetime_utc"],
        not: &[],
    },
    log: Some(Log::NEW),
    on: &[Rule { each: &[". > asked", "tool_results > result", ". > answered"], ..Rule::NEW }],
    groups: &[
        Group {
            name: "asked",
            on: &[
                Rule { has: &["tool_results.0"], begin: Begin::No, ..Rule::NEW },
                Rule { prompt: true, ..Rule::NEW },
            ],
            ..Group::NEW
        },
        Group {
            name: "result",
            on: &[Rule {
                result: Some(Outcome {
                    id: "tool_call_id",
                    name: "name",
                    output: "output",
                    is_error: "exception",
                    ..Outcome::NEW
                }),
                ..Rule::NEW
            }],
            ..Group::NEW
        },
        Group {
            name: "answered",
            on: &[Rule {
                whole: true,
                thought: "reasoning",
                text: "response",
                each: &["tool_calls > call"],
                usage: &["."],
                ..Rule::NEW
            }],
            ..Group::NEW
        },
        Group {
            name: "call",
            on: &[Rule { call: Some(Call { id: "tool_call_id", ..CALL }), ..Rule::NEW }],
            ..Group::NEW
        },
    ],
    usage: USAGE,
    ..Spec::NEW
};

const USAGE: &[Row] = &[
    ("input_tokens", Op::Is, &[Field::Input]),
    ("output_tokens", Op::Is, &[Field::Output]),
    ("token_details.prompt_tokens_details.cached_tokens", Op::Is, &[Field::Cached]),
    ("token_details.completion_tokens_details.reasoning_tokens", Op::Is, &[Field::Reasoning]),
];
