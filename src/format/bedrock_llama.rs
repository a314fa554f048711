//! Meta Llama, as Bedrock's InvokeModel gives it: records of a stream, and
//! bodies.
//!
//! Source: Amazon Bedrock user guide, "Meta Llama models".

use crate::format::format::Format;
use crate::format::support::text_rows::{Shape, Simple};
use crate::format::support::usage::{Field, Op};

pub(super) static FORMAT: Format = Format {
    about: "Meta Llama on Bedrock, stream and body",
    link: "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html",
    evidence: &["generation", "stop_reason"],
    sniff: |record| record.get("generation").is_some() && record.get("stop_reason").is_some(),
    ..Format::new("bedrock-llama", || {
        Simple::boxed(Shape {
            text: "generation",
            finish: "stop_reason",
            usage: &[""],
            counts: &[
                ("prompt_token_count", Op::Is, &[Field::Input]),
                ("generation_token_count", Op::Is, &[Field::Output]),
            ],
            ..Shape::of(&FORMAT)
        })
    })
};
