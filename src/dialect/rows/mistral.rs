//! Mistral: an array after `[TOOL_CALLS]`, and from tokenizer v11 on the name
//! before the arguments. Nothing closes a call but the end of its JSON.

use crate::dialect::rows::tags;
use crate::dialect::spec::{Body, Call, Dialect, Envelope, Region, Results};

const THINK: Region = Region::reasoning("[THINK]", "[/THINK]");

pub(crate) static JSON: Dialect = Dialect {
    name: "mistral_json",
    aliases: &["mistral"],
    models: &["Mistral 7B v0.3", "Mixtral 8x22B", "Mistral Nemo", "Ministral 8B"],
    auto: true,
    regions: &[THINK, tags::REASONING],
    calls: &[
        Call {
            body: Body::Json(Envelope { id: &["id"], ..Envelope::NEW }),
            ..Call::json("[TOOL_CALLS]", "")
        },
        V11_CALL,
    ],
    drops: &["[/TOOL_CALLS]"],
    results: Results::of(
        "[TOOL_RESULTS] {\"content\": {json}, \"call_id\": \"{id}\"}[/TOOL_RESULTS]",
    ),
    ..Dialect::EMPTY
};

const V11_CALL: Call =
    Call::arguments("[TOOL_CALLS]{ws}{name}{ws}{[}[CALL_ID]{ws}{id}{ws}{]}{[}[ARGS]{]}", "");

pub(crate) static V11: Dialect = Dialect {
    name: "mistral_v11",
    models: &["Mistral Small 3", "Devstral", "Magistral", "Ministral 3"],
    auto: true,
    regions: &[THINK, tags::REASONING],
    calls: &[V11_CALL, Call::unreadable("[TOOL_CALLS]", "")],
    drops: &["[/TOOL_CALLS]"],
    results: Results::of("[TOOL_RESULTS]{id}[TOOL_CONTENT]{output}"),
    ..Dialect::EMPTY
};
