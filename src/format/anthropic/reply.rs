//! Anthropic's server.

use crate::format::anthropic::FORMAT;
use crate::format::reply::{Aside, Known, Reply, Trouble};
use crate::json::object_of;

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&FORMAT],
    headers: &[],
    addresses: &[],
    word: |status| match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        400..=499 => "invalid_request_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        _ => "api_error",
    },
    body,
    record: |trouble| ("error", body(trouble)),
    is_bare: false,
    // On Vertex AI, a model counts.
    asides: &[
        Aside { method: "POST", path: "/messages/count_tokens", body: count },
        Aside { method: "POST", path: "/count-tokens:rawPredict", body: count },
    ],
    idle: Some(("ping", "{\"type\": \"ping\"}")),
};

fn count(known: &Known<'_>) -> String {
    object_of!(line; "input_tokens": known.input_tokens)
}

fn body(trouble: &Trouble<'_>) -> String {
    let Trouble { message, word, .. } = *trouble;
    object_of!(line; "type": "error", "error": { "type": word, "message": message })
}
