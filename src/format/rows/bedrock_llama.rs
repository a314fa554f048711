//! Meta Llama, as Bedrock's InvokeModel gives it: records of a stream, and
//! bodies.
//!
//! Source: Amazon Bedrock user guide, "Meta Llama models".

use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "bedrock-llama",
    about: "Meta Llama on Bedrock, stream and body",
    link: "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html",
    evidence: &["generation", "stop_reason"],
    kind: &["type|event:"],
    done: Some(Done { warn: Some(WarningCode::NoFinishReason), missing: None }),
    on: &[Rule {
        has: &["generation"],
        needs: &["generation_token_count|stop_reason"],
        text: "generation",
        usage: &["."],
        finish: "stop_reason",
        end: End::If("stop_reason"),
        ..Rule::NEW
    }],
    usage: &[
        ("prompt_token_count", Op::Is, &[Field::Input]),
        ("generation_token_count", Op::Is, &[Field::Output]),
    ],
    ..Spec::NEW
};
