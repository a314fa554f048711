//! llama.cpp's `/completion`, which LM Studio's own API has taken over: the
//! records of a stream, and bodies.
//!
//! Source: llama.cpp's server, "POST /completion".

use crate::format::format::Format;
use crate::format::support::text_rows::{End, Shape, Simple};
use crate::format::support::usage::{Field, Op};

pub(super) static FORMAT: Format = Format {
    aliases: &["llama-cpp", "lm-studio"],
    about: "llama.cpp's /completion, which LM Studio has too, stream and body",
    link: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
    evidence: &["content", "stop", "stop_type"],
    sniff: |record| {
        let is_flag = matches!(record.get("stop"), Some("true" | "false"));
        (is_flag || record.has("stop_type")) && record.text("content").is_some()
    },
    ..Format::new("llama-completion", || {
        Simple::boxed(Shape {
            model: "model",
            text: "content",
            finish: "stop_type",
            stop_sequence: "stopping_word",
            usage: &[""],
            counts: &[
                ("tokens_evaluated", Op::Is, &[Field::Input]),
                ("tokens_predicted", Op::Is, &[Field::Output]),
            ],
            end: End::At("stop|stop_type"),
            ..Shape::of(&FORMAT)
        })
    })
};
