//! `<tool_call>` with a JSON object, as Hermes introduced it and Qwen made it
//! common.

use super::{Body, Call, Dialect, Envelope, tags};

pub(super) static HERMES: Dialect = Dialect {
    name: "hermes",
    aliases: &["qwen", "qwen25", "qwen3_json", "granite4", "trinity"],
    models: &["Hermes 2 and 3", "Qwen 2.5", "Qwen 3", "QwQ", "Granite 4", "SmolLM 3"],
    auto: true,
    regions: &[tags::REASONING],
    calls: &[Call {
        open: "<tool_call>",
        close: "</tool_call>",
        body: Body::Json(Envelope::NEW),
        ..Call::NEW
    }],
    ..Dialect::EMPTY
};
