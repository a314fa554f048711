//! Cohere's server.

use crate::format::openai_chat::reply::REPLY as OPENAI;
use crate::format::reply::Reply;
use crate::format::rows::COHERE;
use crate::json::quote;

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&COHERE],
    body: |trouble| format!("{{\"message\":{}}}", quote(trouble.message)),
    record: |trouble| {
        let record = format!(
            "{{\"type\":\"message-end\",\"delta\":{{\"finish_reason\":\"ERROR\",\"error\":{}}}}}",
            quote(trouble.message)
        );
        ("message-end", record)
    },
    ..OPENAI
};
