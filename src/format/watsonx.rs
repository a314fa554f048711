//! IBM watsonx.ai: the records of a stream of text, and bodies.
//!
//! Source: IBM watsonx.ai, "Infer text event stream".

use crate::format::format::Format;
use crate::format::support::text_rows::{Shape, Simple};
use crate::format::support::usage::{Field, Op};

pub(super) static FORMAT: Format = Format {
    about: "IBM watsonx.ai text generation, stream and body",
    link: "https://cloud.ibm.com/apidocs/watsonx-ai#text-generation-stream",
    evidence: &["results.0.generated_text"],
    sniff: |record| record.at("results.0.generated_text").is_some(),
    ..Format::new("watsonx", || {
        Simple::boxed(Shape {
            model: "model_id",
            text: "results.0.generated_text",
            finish: "results.0.stop_reason",
            usage: &["results.0"],
            counts: &[
                ("input_token_count", Op::Is, &[Field::Input]),
                ("generated_token_count", Op::Is, &[Field::Output]),
            ],
            ..Shape::of(&FORMAT)
        })
    })
};
