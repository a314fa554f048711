//! Google's server.

use crate::format::gemini::FORMAT;
use crate::format::reply::{Aside, Known, Reply, Trouble};
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
    is_bare: true,
    asides: &[
        Aside { method: "GET", path: "/v1beta/models", body: models },
        Aside {
            method: "POST",
            path: ":countTokens",
            body: |known| format!("{{\"totalTokens\":{}}}", known.input_tokens),
        },
    ],
    idle: None,
};

fn models(known: &Known<'_>) -> String {
    format!(
        "{{\"models\":[{{\"name\":{},\"displayName\":{},\"supportedGenerationMethods\":\
         [\"generateContent\",\"streamGenerateContent\",\"countTokens\"]}}]}}",
        quote(&format!("models/{}", known.model)),
        quote(known.model)
    )
}

fn body(trouble: &Trouble<'_>) -> String {
    format!(
        "{{\"error\":{{\"code\":{},\"message\":{},\"status\":{}}}}}",
        trouble.status,
        quote(trouble.message),
        quote(trouble.word)
    )
}
