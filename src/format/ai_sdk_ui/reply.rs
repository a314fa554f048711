//! Servers that speak the AI SDK's streams: that of UI messages, and that of data.

use crate::format::openai_chat::reply::REPLY as OPENAI;
use crate::format::reply::Reply;
use crate::format::rows::{AI_SDK_DATA, AI_SDK_UI};
use crate::json::{object_of, quote};

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&AI_SDK_UI],
    headers: &[("x-vercel-ai-ui-message-stream", "v1")],
    record: |trouble| ("", object_of!(line; "type": "error", "errorText": trouble.message)),
    ..OPENAI
};

pub(in crate::format) static DATA: Reply = Reply {
    formats: &[&AI_SDK_DATA],
    headers: &[("x-vercel-ai-data-stream", "v1")],
    record: |trouble| ("3", quote(trouble.message)),
    ..OPENAI
};
