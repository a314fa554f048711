//! AI21's Jurassic-2: bodies of completed text.
//!
//! Source: AI21, "J2 Complete API", and Amazon Bedrock user guide, "AI21 Labs
//! Jurassic-2 models".

use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "ai21-j2",
    aliases: &["jurassic", "bedrock-ai21"],
    about: "AI21 Jurassic-2 completions, body",
    link: "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-jurassic2.html",
    evidence: &["completions.0.data.text"],
    kind: &["type|event:"],
    start: Start { id: "id\"\"", ..Start::NEW },
    done: Some(Done { warn: Some(WarningCode::NoFinishReason), missing: None }),
    on: &[Rule {
        has: &["completions.0.data.text"],
        text: "completions.0.data.text",
        finish: "completions.0.finishReason.reason",
        end: End::If("completions.0.finishReason.reason"),
        ..Rule::NEW
    }],
    ..Spec::NEW
};
