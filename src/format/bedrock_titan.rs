//! Amazon Titan Text, as Bedrock's InvokeModel gives it: records of a stream,
//! and bodies.
//!
//! Source: Amazon Bedrock user guide, "Amazon Titan Text models".

use crate::format::format::Format;
use crate::format::support::text_rows::{Shape, Simple};
use crate::format::support::usage::{Field, Op};

pub(super) static FORMAT: Format = Format {
    about: "Amazon Titan Text on Bedrock, stream and body",
    link: "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-text.html",
    evidence: &["outputText", "results.0.outputText"],
    sniff: |record| {
        record.get("outputText").is_some() || record.at("results.0.outputText").is_some()
    },
    ..Format::new("bedrock-titan", || {
        Simple::boxed(Shape {
            text: "outputText|results.0.outputText",
            finish: "completionReason|results.0.completionReason",
            usage: &["", "results.0"],
            counts: &[
                ("inputTextTokenCount", Op::Is, &[Field::Input]),
                ("totalOutputTextTokenCount|tokenCount", Op::Is, &[Field::Output]),
            ],
            ..Shape::of(&FORMAT)
        })
    })
};
