//! AI21's Jurassic-2: bodies of completed text.
//!
//! Source: AI21, "J2 Complete API", and Amazon Bedrock user guide, "AI21 Labs
//! Jurassic-2 models".

use crate::format::format::Format;
use crate::format::support::text_rows::{Shape, Simple};

pub(super) static FORMAT: Format = Format {
    aliases: &["jurassic", "bedrock-ai21"],
    about: "AI21 Jurassic-2 completions, body",
    link: "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-jurassic2.html",
    evidence: &["completions.0.data.text"],
    sniff: |record| record.at("completions.0.data.text").is_some(),
    ..Format::new("ai21-j2", || {
        Simple::boxed(Shape {
            id: "id",
            text: "completions.0.data.text",
            finish: "completions.0.finishReason.reason",
            ..Shape::of(&FORMAT)
        })
    })
};
