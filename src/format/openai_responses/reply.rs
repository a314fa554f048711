//! OpenAI's server, as it speaks for responses.

use crate::format::openai_chat::reply::REPLY as CHAT;
use crate::format::openai_responses::FORMAT;
use crate::format::openai_responses::write::failed;
use crate::format::reply::{Aside, Reply};

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&FORMAT],
    record: |trouble| ("response.failed", failed(trouble)),
    asides: &[Aside {
        method: "POST",
        path: "/responses/input_tokens",
        body: |known| {
            let count = known.input_tokens;
            format!("{{\"object\":\"response.input_tokens\",\"input_tokens\":{count}}}")
        },
    }],
    ..CHAT
};
