//! OpenAI's server, as it speaks for chat completions.

use crate::format::openai_chat::FORMAT;
use crate::format::reply::{Aside, Known, Reply, Trouble};
use crate::json::object_of;

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&FORMAT],
    headers: &[],
    addresses: &[],
    word,
    body,
    record: |trouble| ("", body(trouble)),
    is_bare: false,
    asides: &[Aside { method: "GET", path: "/models", body: models }],
    idle: None,
};

/// The list of one model, with what clients of OpenAI and of Anthropic look for.
fn models(known: &Known<'_>) -> String {
    object_of!(
        line;
        "object": "list",
        "data": [{
            "id": known.model,
            "object": "model",
            "type": "model",
            "created": 0,
            "created_at": "1970-01-01T00:00:00Z",
            "owned_by": "toolstream",
            "display_name": known.model,
        }],
        "has_more": false,
        "first_id": known.model,
        "last_id": known.model,
    )
}

pub(in crate::format) fn word(status: u16) -> &'static str {
    match status {
        401 => "invalid_api_key",
        403 => "permission_denied",
        404 => "model_not_found",
        429 => "rate_limit_exceeded",
        400..=499 => "invalid_request_error",
        503 | 529 => "overloaded_error",
        _ => "server_error",
    }
}

pub(in crate::format) fn body(trouble: &Trouble<'_>) -> String {
    let kind = match trouble.status {
        429 => "rate_limit_error",
        400..=499 => "invalid_request_error",
        _ => "server_error",
    };
    let Trouble { message, word, .. } = *trouble;
    object_of!(line; "error": { "message": message, "type": kind, "param": null, "code": word })
}
