//! Replicate: the events of a stream, whose data is plain text, and bodies of
//! predictions.
//!
//! Source: Replicate's documentation, "Streaming output" and "Get a
//! prediction". A stream is `output` events, `logs` beside them, perhaps an
//! `error`, and `done`. White space at the beginning of the data is the
//! model's.

use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "replicate",
    about: "Replicate, stream of plain text and prediction body",
    link: "https://replicate.com/docs/topics/predictions/streaming",
    evidence: &["urls", "version", "status", "output"],
    kind: &["event:"],
    start: Start { id: "id", model: "model", ..Start::NEW },
    on: &[
        Rule { kind: "output", text: "data:", ..Rule::NEW },
        Rule {
            kind: "logs",
            weak: Weak::Yes,
            block: Some(Block { name: "kind:", text: "data:", ..Block::NEW }),
            ..Rule::NEW
        },
        Rule {
            kind: "error",
            weak: Weak::Yes,
            error: Some(Failure { at: "data:", ..Failure::NEW }),
            ..Rule::NEW
        },
        Rule { kind: "done", weak: Weak::Yes, finish: "reason", end: End::Yes, ..Rule::NEW },
        Rule { is: &[("status", "starting|processing")], ..PREDICTION },
        Rule { has: &["error"], error: Some(Failure { at: ".", ..Failure::NEW }), ..ENDED },
        ENDED,
    ],
    groups: &[Group {
        name: "piece",
        on: &[
            Rule { has: &[".\"\""], text: ".\"\"", ..Rule::NEW },
            Rule { block: Some(Block::of("'output'", ".")), ..Rule::NEW },
        ],
        ..Group::NEW
    }],
    usage: &[
        ("input_token_count", Op::Is, &[Field::Input]),
        ("output_token_count", Op::Is, &[Field::Output]),
        ("predict_time", Op::Is, &[]),
        ("total_time", Op::Is, &[]),
    ],
    ..Spec::NEW
};

/// A prediction as it is polled.
const PREDICTION: Rule = Rule {
    kind: "",
    has: &["status"],
    needs: &["output|error|input", "urls.get|urls.stream|version"],
    begin: Begin::Cut,
    each: &["output > piece"],
    block: Some(Block { name: "'logs'", text: "logs", ..Block::NEW }),
    usage: &["metrics"],
    ..Rule::NEW
};

const ENDED: Rule = Rule { finish: "status", end: End::Yes, ..PREDICTION };
