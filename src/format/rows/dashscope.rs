//! Alibaba's DashScope in its own format: the records of a stream, and
//! complete bodies.
//!
//! Source: Alibaba Cloud Model Studio, "DashScope API reference". A record of a
//! stream is shaped like a body. Unless `incremental_output` was asked for,
//! each holds all of the answer so far; nothing but the text shows which. While it
//! runs, the reason to stop is the string `null`.

use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "dashscope",
    aliases: &["qwen", "model-studio"],
    about: "Alibaba DashScope's own format, stream and body",
    link: "https://www.alibabacloud.com/help/en/model-studio/qwen-api-via-dashscope",
    evidence: &["output.choices", "output.text", "request_id"],
    kind: &["event:"],
    start: Start { id: "request_id", ..Start::NEW },
    on: &[Rule {
        has: &["output.choices|output.text"],
        needs: &["request_id"],
        cumulative: true,
        each: &["output.choices|output{} > choice"],
        block: Some(Block::of("'search_info'", "output.search_info")),
        usage: &["usage"],
        end: End::Stopped,
        ..Rule::NEW
    }],
    groups: &[
        // An answer that is only text is its output itself.
        Group {
            name: "choice",
            on: &[Rule {
                choice: "index|'0'",
                thought: "message.reasoning_content",
                text: "text|message.content\"\"",
                each: &["message.content[]|message.content{} > part", "message.tool_calls > call"],
                finish: "finish_reason",
                ..Rule::NEW
            }],
            ..Group::NEW
        },
        // Models of images and sound write their text in parts.
        Group { name: "part", on: &[Rule { text: "text", ..Rule::NEW }], ..Group::NEW },
        Group {
            name: "call",
            on: &[Rule {
                call: Some(Call {
                    key: &["index|#"],
                    id: "id",
                    name: "function.name",
                    arguments: "function.arguments|function.parameters",
                    ..Call::NEW
                }),
                ..Rule::NEW
            }],
            ..Group::NEW
        },
    ],
    usage: &[
        ("input_tokens", Op::Is, &[Field::Input]),
        ("output_tokens", Op::Is, &[Field::Output]),
        ("total_tokens", Op::Is, &[Field::Total]),
        ("prompt_tokens_details.cached_tokens", Op::Is, &[Field::Cached]),
        ("output_tokens_details.reasoning_tokens", Op::Is, &[Field::Reasoning]),
    ],
    ..Spec::NEW
};
