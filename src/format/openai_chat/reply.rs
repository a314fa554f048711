//! OpenAI's server, as it speaks for chat completions.

use crate::format::openai_chat::FORMAT;
use crate::format::reply::{Reply, Trouble};
use crate::json::quote;

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&FORMAT],
    headers: &[],
    addresses: &[],
    word,
    body,
    record: |trouble| ("", body(trouble)),
    idle: None,
};

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
    format!(
        "{{\"error\":{{\"message\":{},\"type\":\"{kind}\",\"param\":null,\"code\":{}}}}}",
        quote(trouble.message),
        quote(trouble.word)
    )
}
