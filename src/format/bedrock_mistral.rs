//! Mistral's text completion, as Bedrock's InvokeModel gives it: records of a
//! stream, and bodies.
//!
//! Source: Amazon Bedrock user guide, "Mistral AI text completion".

use crate::format::format::Format;
use crate::format::support::text_rows::{Shape, Simple};

pub(super) static FORMAT: Format = Format {
    about: "Mistral text completion on Bedrock, stream and body",
    link: "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-mistral-text-completion.html",
    evidence: &["outputs.0.text"],
    sniff: |record| record.at("outputs.0.text").is_some(),
    ..Format::new("bedrock-mistral", || {
        Simple::boxed(Shape {
            text: "outputs.0.text",
            finish: "outputs.0.stop_reason",
            ..Shape::of(&FORMAT)
        })
    })
};
