//! Amazon Titan Text, as Bedrock's InvokeModel gives it: records of a stream,
//! and bodies.
//!
//! Source: Amazon Bedrock user guide, "Amazon Titan Text models".

use crate::event::FinishReason;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "bedrock-titan",
    about: "Amazon Titan Text on Bedrock, stream and body",
    link: "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-text.html",
    evidence: &["outputText", "results.0.outputText"],
    kind: &["type|event:"],
    done: Some(Done { warn: Some(WarningCode::NoFinishReason), missing: None }),
    finish_words: &[("INTERVENED", FinishReason::ContentFilter)],
    on: &[
        // A body that a guardrail wrote in the model's place has no reason of the model's.
        Rule {
            has: &["results.0.outputText"],
            is: &[("amazon-bedrock-guardrailAction", "INTERVENED")],
            text: "results.0.outputText",
            usage: &[".", "results.0"],
            finish: "amazon-bedrock-guardrailAction",
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            has: &["outputText|results.0.outputText"],
            text: "outputText|results.0.outputText",
            usage: &[".", "results.0"],
            finish: "completionReason|results.0.completionReason",
            end: End::If("completionReason|results.0.completionReason"),
            ..Rule::NEW
        },
    ],
    usage: &[
        ("inputTextTokenCount", Op::Is, &[Field::Input]),
        ("totalOutputTextTokenCount|tokenCount", Op::Is, &[Field::Output]),
    ],
    ..Spec::NEW
};
