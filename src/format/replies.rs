//! The table of servers: how each answers beside its streams.

use crate::format::format::Format;
use crate::format::openai_responses::write::failed;
use crate::format::reply::{Aside, Known, Reply, ReplyFailure};
use crate::format::{
    anthropic, bedrock_agent, bedrock_invoke, gemini, openai_chat, openai_responses, rows,
};
use crate::json::{Minified, object_of, quote};

/// Every server that has a form of its own. Formats that are in none speak as OpenAI's does, as
/// most gateways do.
static REPLIES: &[&Reply] =
    &[&AI_SDK_DATA, &AI_SDK_UI, &ANTHROPIC, &BEDROCK, &COHERE, &GEMINI, &OLLAMA, &OPENAI_RESPONSES];

/// Returns how the server speaks whose streams are in this format.
pub(crate) fn reply_of(format: Option<&Format>) -> &'static Reply {
    let is_its = |reply: &&&Reply| format.is_some_and(|format| reply.formats.contains(&format));
    REPLIES.iter().find(is_its).copied().unwrap_or(&OPENAI_CHAT)
}

/// Returns what a server answers to a request that is for no model: as that of `format` does, if it
/// knows the path. The row with the longest path counts.
pub(crate) fn aside(
    method: &str,
    path: &str,
    format: Option<&Format>,
) -> Option<fn(&Known<'_>) -> String> {
    let replies = REPLIES.iter().copied().chain([&OPENAI_CHAT, reply_of(format)]);
    let asides = replies.flat_map(|reply| reply.asides);
    let is_asked = |aside: &&Aside| aside.method == method && path.ends_with(aside.path);
    asides.filter(is_asked).max_by_key(|aside| aside.path.len()).map(|aside| aside.body)
}

/// OpenAI, as it speaks for chat completions.
static OPENAI_CHAT: Reply = Reply {
    formats: &[&openai_chat::FORMAT],
    headers: &[],
    addresses: &[],
    word: openai_word,
    body: openai_error,
    record: |failure| ("", openai_error(failure)),
    is_bare: false,
    asides: &[Aside { method: "GET", path: "/models", body: openai_models }],
    idle: None,
};

/// The list of one model, with what clients of OpenAI and of Anthropic look for.
fn openai_models(known: &Known<'_>) -> String {
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

fn openai_word(status: u16) -> &'static str {
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

fn openai_error(failure: &ReplyFailure<'_>) -> String {
    let kind = match failure.status {
        429 => "rate_limit_error",
        400..=499 => "invalid_request_error",
        _ => "server_error",
    };
    let ReplyFailure { message, word, .. } = *failure;
    object_of!(line; "error": { "message": message, "type": kind, "param": null, "code": word })
}

static OPENAI_RESPONSES: Reply = Reply {
    formats: &[&openai_responses::FORMAT],
    record: |failure| ("response.failed", failed(failure)),
    asides: &[Aside {
        method: "POST",
        path: "/responses/input_tokens",
        body: |known| {
            let object = "response.input_tokens";
            object_of!(line; "object": object, "input_tokens": known.input_tokens)
        },
    }],
    ..OPENAI_CHAT
};

/// The AI SDK's stream of UI messages.
static AI_SDK_UI: Reply = Reply {
    formats: &[&rows::AI_SDK_UI],
    headers: &[("x-vercel-ai-ui-message-stream", "v1")],
    record: |failure| ("", object_of!(line; "type": "error", "errorText": failure.message)),
    ..OPENAI_CHAT
};

/// The AI SDK's stream of data.
static AI_SDK_DATA: Reply = Reply {
    formats: &[&rows::AI_SDK_DATA],
    headers: &[("x-vercel-ai-data-stream", "v1")],
    record: |failure| ("3", quote(failure.message)),
    ..OPENAI_CHAT
};

static ANTHROPIC: Reply = Reply {
    formats: &[&anthropic::FORMAT],
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
    body: anthropic_error,
    record: |failure| ("error", anthropic_error(failure)),
    // On Vertex AI, a model counts.
    asides: &[
        Aside { method: "POST", path: "/messages/count_tokens", body: anthropic_count },
        Aside { method: "POST", path: "/count-tokens:rawPredict", body: anthropic_count },
    ],
    idle: Some(("ping", "{\"type\": \"ping\"}")),
    ..OPENAI_CHAT
};

fn anthropic_count(known: &Known<'_>) -> String {
    object_of!(line; "input_tokens": known.input_tokens)
}

fn anthropic_error(failure: &ReplyFailure<'_>) -> String {
    let ReplyFailure { message, word, .. } = *failure;
    object_of!(line; "type": "error", "error": { "type": word, "message": message })
}

static BEDROCK: Reply = Reply {
    formats: &[&rows::BEDROCK_CONVERSE, &bedrock_invoke::FORMAT, &bedrock_agent::FORMAT],
    addresses: &[("/converse-stream", "eventstream"), ("/converse", "json")],
    word: bedrock_word,
    body: message,
    record: |failure| (bedrock_word(failure.status), message(failure)),
    ..OPENAI_CHAT
};

fn bedrock_word(status: u16) -> &'static str {
    match status {
        401 | 403 => "accessDeniedException",
        404 => "resourceNotFoundException",
        429 => "throttlingException",
        400..=499 => "validationException",
        503 | 529 => "serviceUnavailableException",
        504 => "modelTimeoutException",
        _ => "internalServerException",
    }
}

/// The error of AWS and of Cohere.
fn message(failure: &ReplyFailure<'_>) -> String {
    object_of!(line; "message": failure.message)
}

static COHERE: Reply = Reply {
    formats: &[&rows::COHERE],
    body: message,
    record: |failure| {
        let (kind, message) = ("message-end", failure.message);
        let record = object_of!(
            line;
            "type": kind,
            "delta": { "finish_reason": "ERROR", "error": message },
        );
        (kind, record)
    },
    ..OPENAI_CHAT
};

static GEMINI: Reply = Reply {
    formats: &[&gemini::FORMAT],
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
    body: gemini_error,
    record: |failure| ("", gemini_error(failure)),
    is_bare: true,
    asides: &[
        Aside { method: "GET", path: "/v1beta/models", body: gemini_models },
        Aside {
            method: "POST",
            path: ":countTokens",
            body: |known| object_of!(line; "totalTokens": known.input_tokens),
        },
    ],
    ..OPENAI_CHAT
};

fn gemini_models(known: &Known<'_>) -> String {
    object_of!(line; "models": [{
        "name": &*format!("models/{}", known.model),
        "displayName": known.model,
        "supportedGenerationMethods":
            Minified(r#"["generateContent","streamGenerateContent","countTokens"]"#),
    }])
}

fn gemini_error(failure: &ReplyFailure<'_>) -> String {
    let ReplyFailure { message, word, .. } = *failure;
    let code = u64::from(failure.status);
    object_of!(line; "error": { "code": code, "message": message, "status": word })
}

static OLLAMA: Reply = Reply {
    formats: &[&rows::OLLAMA_CHAT, &rows::OLLAMA_GENERATE],
    body: ollama_error,
    record: |failure| ("", ollama_error(failure)),
    ..OPENAI_CHAT
};

fn ollama_error(failure: &ReplyFailure<'_>) -> String {
    object_of!(line; "error": failure.message)
}
