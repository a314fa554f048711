//! The table of formats.

use crate::format::format::Format;
#[cfg(feature = "cli")]
use crate::format::reply::{Aside, Known, Reply};
use crate::format::{
    acp, anthropic, batch, bedrock_agent, bedrock_invoke, claude_code, error, events, gemini,
    openai_chat, openai_messages, openai_realtime, openai_responses, otel, rows, text, workers_ai,
};
#[cfg(feature = "cli")]
use crate::format::{ai_sdk_ui, bedrock_converse, cohere, ollama};

/// Every format. Detection takes the first row whose `sniff` returns yes.
pub static FORMATS: &[&Format] = &[
    &text::FORMAT,
    &events::FORMAT,
    &rows::QWEN_CODE,
    &rows::CODEX_ROLLOUT,
    &rows::COPILOT_CLI,
    &rows::DROID,
    &rows::DROID_SESSION,
    &rows::CURSOR,
    &rows::CURSOR_TRANSCRIPT,
    &rows::GOOSE,
    &rows::GOOSE_SESSION,
    &rows::KIMI,
    &rows::ANTIGRAVITY,
    &rows::HERMES,
    &rows::GEMINI_CLI_SESSION,
    &rows::GROK,
    &rows::GROK_STREAM,
    &rows::OPENCODE_SESSION,
    &acp::FORMAT,
    &rows::CLINE,
    &rows::CLINE_SESSION,
    &rows::LLM_LOGS,
    &rows::CODY,
    &rows::AI_SDK_DATA,
    &rows::AG_UI,
    &rows::AI_SDK_UI,
    &rows::PI,
    &claude_code::FORMAT,
    &rows::CODEX,
    &rows::GEMINI_CLI,
    &rows::OPENCODE,
    &batch::FORMAT,
    &otel::FORMAT,
    &rows::BEDROCK_CONVERSE,
    &bedrock_invoke::FORMAT,
    &bedrock_agent::FORMAT,
    &rows::BEDROCK_TITAN,
    &rows::BEDROCK_LLAMA,
    &rows::BEDROCK_MISTRAL,
    &anthropic::FORMAT,
    &rows::COHERE,
    &rows::COHERE_V1,
    &rows::OLLAMA_CHAT,
    &rows::OLLAMA_GENERATE,
    &rows::TGI,
    &rows::WATSONX,
    &rows::AI21_J2,
    &rows::ANTHROPIC_COMPLETIONS,
    &rows::LLAMA_COMPLETION,
    &rows::WRITER_COMPLETIONS,
    &rows::MISTRAL_CONVERSATIONS,
    &rows::DASHSCOPE,
    &rows::BEDROCK_RAG,
    &rows::REPLICATE,
    &workers_ai::FORMAT,
    &rows::GEMINI_LIVE,
    &rows::GEMINI_INTERACTIONS,
    &gemini::FORMAT,
    &openai_realtime::FORMAT,
    &openai_responses::FORMAT,
    &rows::OPENAI_ASSISTANTS,
    &rows::OPENAI_COMPLETIONS,
    &openai_chat::FORMAT,
    &openai_messages::FORMAT,
    &error::FORMAT,
];

/// Every server that has a form of its own. Formats that are in none speak as OpenAI's does, as
/// most gateways do.
#[cfg(feature = "cli")]
static REPLIES: &[&Reply] = &[
    &ai_sdk_ui::reply::DATA,
    &ai_sdk_ui::reply::REPLY,
    &anthropic::reply::REPLY,
    &bedrock_converse::reply::REPLY,
    &cohere::reply::REPLY,
    &gemini::reply::REPLY,
    &ollama::reply::REPLY,
    &openai_responses::reply::REPLY,
];

/// Returns how the server speaks whose streams are in this format.
#[cfg(feature = "cli")]
pub(crate) fn reply_of(format: Option<&Format>) -> &'static Reply {
    let is_its = |reply: &&&Reply| format.is_some_and(|format| reply.formats.contains(&format));
    REPLIES.iter().find(is_its).copied().unwrap_or(&openai_chat::reply::REPLY)
}

/// Returns what a server answers to a request that is for no model: as that of `format` does, if it
/// knows the path. The row with the longest path counts.
#[cfg(feature = "cli")]
pub(crate) fn aside(
    method: &str,
    path: &str,
    format: Option<&Format>,
) -> Option<fn(&Known<'_>) -> String> {
    let replies = REPLIES.iter().copied().chain([&openai_chat::reply::REPLY, reply_of(format)]);
    let asides = replies.flat_map(|reply| reply.asides);
    let is_asked = |aside: &&Aside| aside.method == method && path.ends_with(aside.path);
    asides.filter(is_asked).max_by_key(|aside| aside.path.len()).map(|aside| aside.body)
}

/// Returns the format of this name or alias; `-` and `_` are the same.
///
/// ```
/// assert_eq!(toolstream::format::find("openai").map(|row| row.name), Some("openai-chat"));
/// ```
pub fn find(name: &str) -> Option<&'static Format> {
    let name = name.replace('_', "-");
    FORMATS.iter().copied().find(|row| row.name == name || row.aliases.contains(&name.as_str()))
}
