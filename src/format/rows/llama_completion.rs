//! llama.cpp's `/completion`, which LM Studio's own API has taken over: the
//! records of a stream, and bodies.
//!
//! Source: llama.cpp's server, "POST /completion".

use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "llama-completion",
    aliases: &["llama-cpp", "lm-studio"],
    about: "llama.cpp's /completion, which LM Studio has too, stream and body",
    link: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
    evidence: &["content", "stop", "stop_type"],
    kind: &["type|event:"],
    start: Start { model: "model", ..Start::NEW },
    done: Some(Done { warn: Some(WarningCode::NoFinishReason), missing: None }),
    on: &[Rule {
        has: &["content"],
        needs: &["content\"\"", "stop?|stop_type"],
        text: "content",
        usage: &["."],
        finish: "stop_type",
        stop_sequence: "stopping_word",
        end: End::If("stop|stop_type"),
        ..Rule::NEW
    }],
    usage: &[
        ("tokens_evaluated", Op::Is, &[Field::Input]),
        ("tokens_predicted", Op::Is, &[Field::Output]),
    ],
    ..Spec::NEW
};
