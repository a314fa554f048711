//! Hugging Face Text Generation Inference: `/generate`, `/generate_stream`, and
//! hosted inference, whose bodies are an array.
//!
//! Source: Hugging Face, "Text Generation Inference API".

use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "tgi",
    aliases: &["hugging-face", "text-generation-inference"],
    about: "Hugging Face Text Generation Inference, /generate, stream and body",
    link: "https://huggingface.co/docs/text-generation-inference/reference/api_reference",
    evidence: &["generated_text", "token.text"],
    kind: &["type|event:"],
    done: Some(Done { warn: Some(WarningCode::NoFinishReason), missing: None }),
    on: &[Rule {
        has: &["token.text|generated_text"],
        needs: &["token{}|generated_text\"\""],
        hidden: "token.special",
        text: "token.text|generated_text",
        usage: &["details"],
        finish: "details.finish_reason",
        end: End::If("generated_text"),
        ..Rule::NEW
    }],
    usage: &[
        ("input_length", Op::Is, &[Field::Input]),
        ("generated_tokens", Op::Is, &[Field::Output]),
    ],
    ..Spec::NEW
};
