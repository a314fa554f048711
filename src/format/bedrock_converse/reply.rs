//! The server of AWS Bedrock.

use crate::format::bedrock_agent::FORMAT as AGENT;
use crate::format::bedrock_invoke::FORMAT as INVOKE;
use crate::format::reply::{Reply, Trouble};
use crate::format::rows::BEDROCK_CONVERSE;
use crate::json::object_of;

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&BEDROCK_CONVERSE, &INVOKE, &AGENT],
    headers: &[],
    addresses: &[("/converse-stream", "eventstream"), ("/converse", "json")],
    word,
    body,
    record: |trouble| (word(trouble.status), body(trouble)),
    is_bare: false,
    asides: &[],
    idle: None,
};

fn word(status: u16) -> &'static str {
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

fn body(trouble: &Trouble<'_>) -> String {
    object_of!(line; "message": trouble.message)
}
