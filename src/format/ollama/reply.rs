//! Ollama's server.

use crate::format::openai_chat::reply::REPLY as OPENAI;
use crate::format::reply::{Reply, Trouble};
use crate::format::rows::{OLLAMA_CHAT, OLLAMA_GENERATE};
use crate::json::object_of;

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&OLLAMA_CHAT, &OLLAMA_GENERATE],
    body,
    record: |trouble| ("", body(trouble)),
    ..OPENAI
};

fn body(trouble: &Trouble<'_>) -> String {
    object_of!(line; "error": trouble.message)
}
