//! OpenAI's server, as it speaks for responses.

use crate::format::openai_chat::reply::REPLY as CHAT;
use crate::format::openai_responses::FORMAT;
use crate::format::reply::Reply;
use crate::json::quote;

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&FORMAT],
    record: |trouble| {
        let (code, message) = (quote(trouble.word), quote(trouble.message));
        let record = format!(
            "{{\"type\":\"error\",\"code\":{code},\"message\":{message},\"param\":null,\
             \"sequence_number\":{}}}",
            trouble.records
        );
        ("error", record)
    },
    ..CHAT
};
