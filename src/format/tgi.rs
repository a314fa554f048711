//! Hugging Face Text Generation Inference: `/generate`, `/generate_stream`, and
//! hosted inference, whose bodies are an array.
//!
//! Source: Hugging Face, "Text Generation Inference API".

use crate::format::format::Format;
use crate::format::support::text_rows::{End, Shape, Simple};
use crate::format::support::usage::{Field, Op};

pub(super) static FORMAT: Format = Format {
    aliases: &["hugging-face", "text-generation-inference"],
    about: "Hugging Face Text Generation Inference, /generate, stream and body",
    link: "https://huggingface.co/docs/text-generation-inference/reference/api_reference",
    evidence: &["generated_text", "token.text"],
    sniff: |record| record.get("generated_text").is_some(),
    ..Format::new("tgi", || {
        Simple::boxed(Shape {
            text: "token.text|generated_text",
            hidden: "token.special",
            finish: "details.finish_reason",
            usage: &["details"],
            counts: &[
                ("input_length", Op::Is, &[Field::Input]),
                ("generated_tokens", Op::Is, &[Field::Output]),
            ],
            end: End::At("generated_text"),
            ..Shape::of(&FORMAT)
        })
    })
};
