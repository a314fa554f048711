//! IBM watsonx.ai: the records of a stream of text, and bodies.
//!
//! Source: IBM watsonx.ai, "Infer text event stream".

use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "watsonx",
    about: "IBM watsonx.ai text generation, stream and body",
    link: "https://cloud.ibm.com/apidocs/watsonx-ai#text-generation-stream",
    evidence: &["results.0.generated_text"],
    kind: &["type|event:"],
    start: Start { model: "model_id", ..Start::NEW },
    done: Some(Done { warn: Some(WarningCode::NoFinishReason), missing: None }),
    on: &[Rule {
        has: &["results.0.generated_text"],
        text: "results.0.generated_text",
        usage: &["results.0"],
        finish: "results.0.stop_reason",
        end: End::If("results.0.stop_reason"),
        ..Rule::NEW
    }],
    usage: &[
        ("input_token_count", Op::Is, &[Field::Input]),
        ("generated_token_count", Op::Is, &[Field::Output]),
    ],
    ..Spec::NEW
};
