//! OpenAI's server, as it speaks for responses.

use crate::format::openai_chat::reply::REPLY as CHAT;
use crate::format::openai_responses::FORMAT;
use crate::format::openai_responses::write::failed;
use crate::format::reply::{Aside, Reply};
use crate::json::object_of;

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&FORMAT],
    record: |trouble| ("response.failed", failed(trouble)),
    asides: &[Aside {
        method: "POST",
        path: "/responses/input_tokens",
        body: |known| {
            let object = "response.input_tokens";
            object_of!(line; "object": object, "input_tokens": known.input_tokens)
        },
    }],
    ..CHAT
};
