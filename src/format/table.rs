//! The table of formats.

use crate::format::format::Format;
use crate::format::{
    acp, anthropic, bedrock_agent, bedrock_invoke, claude_code, error, events, gemini, openai_chat,
    openai_messages, openai_responses, otel, rows, text,
};

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
    &rows::BATCH,
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
    &rows::WORKERS_AI,
    &rows::GEMINI_LIVE,
    &rows::GEMINI_INTERACTIONS,
    &gemini::FORMAT,
    &rows::OPENAI_REALTIME,
    &openai_responses::FORMAT,
    &rows::OPENAI_ASSISTANTS,
    &rows::OPENAI_COMPLETIONS,
    &openai_chat::FORMAT,
    &openai_messages::FORMAT,
    &error::FORMAT,
];

/// Returns the format of this name or alias; `-` and `_` are the same.
///
/// ```
/// assert_eq!(toolstream::format::find("openai").map(|row| row.name), Some("openai-chat"));
/// ```
pub fn find(name: &str) -> Option<&'static Format> {
    let name = name.replace('_', "-");
    FORMATS.iter().copied().find(|row| row.name == name || row.aliases.contains(&name.as_str()))
}

/// True if a message in a format of this name is in one of the user's own.
pub(crate) fn is_own(name: &str) -> bool {
    find(name).is_none()
}
