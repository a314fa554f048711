//! A server that speaks the AI SDK's UI message stream.

use crate::format::openai_chat::reply::REPLY as OPENAI;
use crate::format::reply::Reply;
use crate::format::rows::ai_sdk_ui::FORMAT;
use crate::json::quote;

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&FORMAT],
    headers: &[("x-vercel-ai-ui-message-stream", "v1")],
    record: |trouble| {
        ("", format!("{{\"type\":\"error\",\"errorText\":{}}}", quote(trouble.message)))
    },
    ..OPENAI
};
