//! Google's server.

use crate::format::gemini::FORMAT;
use crate::format::reply::{Reply, Trouble};
use crate::json::quote;

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&FORMAT],
    headers: &[],
    addresses: &[
        (":generateContent", "json"),
        ("alt=sse", "sse"),
        (":streamGenerateContent", "json-array"),
    ],
    word: |status| match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        400..=499 => "INVALID_ARGUMENT",
        503 | 529 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "INTERNAL",
    },
    body,
    record: |trouble| ("", body(trouble)),
    idle: None,
};

fn body(trouble: &Trouble<'_>) -> String {
    format!(
        "{{\"error\":{{\"code\":{},\"message\":{},\"status\":{}}}}}",
        trouble.status,
        quote(trouble.message),
        quote(trouble.word)
    )
}
