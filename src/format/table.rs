//! The table of formats.

use crate::format::format::Format;
use crate::format::reply::Reply;
use crate::format::{
    acp, ag_ui, ai_sdk_data, ai_sdk_ui, ai21_j2, anthropic, anthropic_completions, antigravity,
    bedrock_agent, bedrock_converse, bedrock_invoke, bedrock_llama, bedrock_mistral, bedrock_titan,
    claude_code, cline, codex, codex_rollout, cody, cohere, cohere_v1, copilot_cli, cursor,
    dashscope, droid, error, events, gemini, gemini_cli, gemini_cli_session, gemini_interactions,
    gemini_live, goose, grok, hermes, kimi, llama_completion, mistral_conversations, ollama,
    openai_assistants, openai_chat, openai_completions, openai_messages, openai_realtime,
    openai_responses, opencode, opencode_session, pi, qwen_code, replicate, rows, text, tgi,
    watsonx, workers_ai, writer_completions,
};

/// Every format. Detection takes the first row whose `sniff` returns yes.
pub static FORMATS: &[&Format] = &[
    &text::FORMAT,
    &events::FORMAT,
    &qwen_code::FORMAT,
    &codex_rollout::FORMAT,
    &copilot_cli::FORMAT,
    &droid::FORMAT,
    &droid::SESSION,
    &cursor::FORMAT,
    &cursor::TRANSCRIPT,
    &goose::FORMAT,
    &goose::SESSION,
    &kimi::FORMAT,
    &antigravity::FORMAT,
    &hermes::FORMAT,
    &gemini_cli_session::FORMAT,
    &grok::FORMAT,
    &grok::STREAM,
    &opencode_session::FORMAT,
    &acp::FORMAT,
    &cline::FORMAT,
    &cody::FORMAT,
    &ai_sdk_data::FORMAT,
    &ag_ui::FORMAT,
    &ai_sdk_ui::FORMAT,
    &pi::FORMAT,
    &claude_code::FORMAT,
    &codex::FORMAT,
    &gemini_cli::FORMAT,
    &opencode::FORMAT,
    &bedrock_converse::FORMAT,
    &bedrock_invoke::FORMAT,
    &bedrock_agent::FORMAT,
    &bedrock_titan::FORMAT,
    &bedrock_llama::FORMAT,
    &bedrock_mistral::FORMAT,
    &anthropic::FORMAT,
    &rows::cohere::FORMAT,
    &cohere_v1::FORMAT,
    &rows::ollama::CHAT,
    &rows::ollama::GENERATE,
    &tgi::FORMAT,
    &watsonx::FORMAT,
    &ai21_j2::FORMAT,
    &anthropic_completions::FORMAT,
    &llama_completion::FORMAT,
    &writer_completions::FORMAT,
    &mistral_conversations::FORMAT,
    &dashscope::FORMAT,
    &replicate::FORMAT,
    &workers_ai::FORMAT,
    &gemini_live::FORMAT,
    &gemini_interactions::FORMAT,
    &gemini::FORMAT,
    &openai_realtime::FORMAT,
    &openai_responses::FORMAT,
    &openai_assistants::FORMAT,
    &openai_completions::FORMAT,
    &openai_chat::FORMAT,
    &openai_messages::FORMAT,
    &error::FORMAT,
];

/// Every server that has a form of its own. Formats that are in none speak as OpenAI's does, as
/// most gateways do.
static REPLIES: &[&Reply] = &[
    &ai_sdk_data::REPLY,
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

/// Returns the format of this name or alias; `-` and `_` are the same.
///
/// ```
/// assert_eq!(toolstream::format::find("openai").map(|row| row.name), Some("openai-chat"));
/// ```
pub fn find(name: &str) -> Option<&'static Format> {
    let name = name.replace('_', "-");
    FORMATS.iter().copied().find(|row| row.name == name || row.aliases.contains(&name.as_str()))
}
