//! Cohere's server.

use crate::format::openai_chat::reply::REPLY as OPENAI;
use crate::format::reply::Reply;
use crate::format::rows::COHERE;
use crate::json::object_of;

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&COHERE],
    body: |trouble| object_of!(line; "message": trouble.message),
    record: |trouble| {
        let (kind, message) = ("message-end", trouble.message);
        let record = object_of!(
            line;
            "type": kind,
            "delta": { "finish_reason": "ERROR", "error": message },
        );
        (kind, record)
    },
    ..OPENAI
};
