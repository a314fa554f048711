//! The table of formats.

use crate::format::format::Format;
use crate::format::reply::{Aside, Known, Reply};
use crate::format::{
    acp, ai_sdk_ui, anthropic, batch, bedrock_agent, bedrock_converse, bedrock_invoke, claude_code,
    codex, cody, cohere, error, events, gemini, gemini_cli, gemini_interactions, gemini_live,
    ollama, openai_chat, openai_messages, openai_realtime, openai_responses, opencode,
    opencode_session, otel, pi, rows, text, workers_ai,
};

/// Every format. Detection takes the first row whose `sniff` returns yes.
pub static FORMATS: &[&Format] = &[
    &text::FORMAT,
    &events::FORMAT,
    &rows::qwen_code::FORMAT,
    &rows::codex_rollout::FORMAT,
    &rows::copilot_cli::FORMAT,
    &rows::droid::FORMAT,
    &rows::droid::SESSION,
    &rows::cursor::FORMAT,
    &rows::cursor::TRANSCRIPT,
    &rows::goose::FORMAT,
    &rows::goose::SESSION,
    &rows::kimi::FORMAT,
    &rows::antigravity::FORMAT,
    &rows::hermes::FORMAT,
    &rows::gemini_cli_session::FORMAT,
    &rows::grok::FORMAT,
    &rows::grok::STREAM,
    &opencode_session::FORMAT,
    &acp::FORMAT,
    &rows::cline::FORMAT,
    &rows::cline::SESSION,
    &rows::llm_logs::FORMAT,
    &cody::FORMAT,
    &rows::ai_sdk_data::FORMAT,
    &rows::ag_ui::FORMAT,
    &rows::ai_sdk_ui::FORMAT,
    &pi::FORMAT,
    &claude_code::FORMAT,
    &codex::FORMAT,
    &gemini_cli::FORMAT,
    &opencode::FORMAT,
    &batch::FORMAT,
    &otel::FORMAT,
    &rows::bedrock_converse::FORMAT,
    &bedrock_invoke::FORMAT,
    &bedrock_agent::FORMAT,
    &rows::bedrock_titan::FORMAT,
    &rows::bedrock_llama::FORMAT,
    &rows::bedrock_mistral::FORMAT,
    &anthropic::FORMAT,
    &rows::cohere::FORMAT,
    &rows::cohere_v1::FORMAT,
    &rows::ollama::CHAT,
    &rows::ollama::GENERATE,
    &rows::tgi::FORMAT,
    &rows::watsonx::FORMAT,
    &rows::ai21_j2::FORMAT,
    &rows::anthropic_completions::FORMAT,
    &rows::llama_completion::FORMAT,
    &rows::writer_completions::FORMAT,
    &rows::mistral_conversations::FORMAT,
    &rows::dashscope::FORMAT,
    &rows::bedrock_rag::FORMAT,
    &rows::replicate::FORMAT,
    &workers_ai::FORMAT,
    &gemini_live::FORMAT,
    &gemini_interactions::FORMAT,
    &gemini::FORMAT,
    &openai_realtime::FORMAT,
    &openai_responses::FORMAT,
    &rows::openai_assistants::FORMAT,
    &rows::openai_completions::FORMAT,
    &openai_chat::FORMAT,
    &openai_messages::FORMAT,
    &error::FORMAT,
];

/// Every server that has a form of its own. Formats that are in none speak as OpenAI's does, as
/// most gateways do.
static REPLIES: &[&Reply] = &[
    &rows::ai_sdk_data::REPLY,
    &ai_sdk_ui::reply::REPLY,
    &anthropic::reply::REPLY,
    &bedrock_converse::reply::REPLY,
    &cohere::reply::REPLY,
    &gemini::reply::REPLY,
    &ollama::reply::REPLY,
    &openai_responses::reply::REPLY,
];

/// Returns how the server speaks whose streams are in this format.
pub fn reply_of(format: Option<&Format>) -> &'static Reply {
    let is_its = |reply: &&&Reply| format.is_some_and(|format| reply.formats.contains(&format));
    REPLIES.iter().find(is_its).copied().unwrap_or(&openai_chat::reply::REPLY)
}

/// Returns what a server answers to a request that is for no model: as that of `format` does, if it
/// knows the path. The row with the longest path counts.
pub fn aside(
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
