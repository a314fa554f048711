//! Google's server.

use crate::format::gemini::FORMAT;
use crate::format::reply::{Aside, Known, Reply, Trouble};
use crate::json::{Minified, object_of};

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
            body: |known| object_of!(line; "totalTokens": known.input_tokens),
        },
    ],
    idle: None,
};

fn models(known: &Known<'_>) -> String {
    object_of!(line; "models": [{
        "name": &*format!("models/{}", known.model),
        "displayName": known.model,
        "supportedGenerationMethods":
            Minified(r#"["generateContent","streamGenerateContent","countTokens"]"#),
    }])
}

fn body(trouble: &Trouble<'_>) -> String {
    let Trouble { message, word, .. } = *trouble;
    let code = u64::from(trouble.status);
    object_of!(line; "error": { "code": code, "message": message, "status": word })
}
