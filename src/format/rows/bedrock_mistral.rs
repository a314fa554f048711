//! Mistral's text completion, as Bedrock's InvokeModel gives it: records of a
//! stream, and bodies.
//!
//! Source: Amazon Bedrock user guide, "Mistral AI text completion".

use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "bedrock-mistral",
    about: "Mistral text completion on Bedrock, stream and body",
    link: "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-mistral-text-completion.html",
    evidence: &["outputs.0.text"],
    kind: &["type|event:"],
    done: Some(Done { warn: Some(WarningCode::NoFinishReason), missing: None }),
    on: &[Rule {
        has: &["outputs.0.text"],
        // The answer of a guardrail that was asked about a text has them, too.
        not: &["assessments|guardrailCoverage"],
        text: "outputs.0.text",
        finish: "outputs.0.stop_reason",
        end: End::If("outputs.0.stop_reason"),
        ..Rule::NEW
    }],
    ..Spec::NEW
};
