//! The fields of a chunk and of a complete body.

use serde_json::value::RawValue;

use crate::format::openai_chat::calls::{Listed, ToolCall};
use crate::format::openai_chat::content::Content;
use crate::format::support::finish;
use crate::format::support::function::Function;
use crate::format::support::many::Many;
use crate::format::support::payload::{OptionalStr, payload};
use crate::json;
use crate::json::Str;

/// `chat.completion.chunk` and `chat.completion`.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Chunk<'a> {
    pub(super) id: Option<Str<'a>>,
    pub(super) model: Option<Str<'a>>,
    pub(super) choices: Option<Vec<Choice<'a>>>,
    pub(super) usage: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
    /// Groq repeats the usage here.
    pub(super) x_groq: Option<XGroq<'a>>,
    /// Perplexity and xAI.
    citations: Option<&'a RawValue>,
    /// Perplexity.
    search_results: Option<&'a RawValue>,
    /// Z.ai.
    web_search: Option<&'a RawValue>,
    /// Azure and Copilot: what the filter thinks of the prompt.
    prompt_filter_results: Option<&'a RawValue>,
}

payload!(Chunk);

impl<'a> Chunk<'a> {
    /// Returns the sources of the answer, by name.
    pub(super) fn sources(&self) -> [Option<(&'static str, &'a str)>; 3] {
        let named = [
            ("citations", self.citations),
            ("search_results", self.search_results),
            ("web_search", self.web_search),
        ];
        named.map(|(name, json)| Some((name, json?.get())).filter(|(_, json)| !is_blank(json)))
    }

    /// Azure's first chunk, which holds only the filter's opinion.
    pub(super) fn is_prelude(&self) -> bool {
        let is_empty = self.choices.as_ref().is_none_or(Vec::is_empty);
        is_empty
            && self.prompt_filter_results.is_some()
            && self.usage.is_none()
            && self.error.is_none()
    }
}

#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct XGroq<'a> {
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Choice<'a> {
    pub(super) index: Option<u64>,
    pub(super) delta: Option<Delta<'a>>,
    pub(super) message: Option<Delta<'a>>,
    pub(super) finish_reason: Option<Str<'a>>,
    /// OpenRouter: the provider's own reason.
    pub(super) native_finish_reason: Option<Str<'a>>,
    /// Moonshot.
    pub(super) usage: Option<&'a RawValue>,
    /// OpenRouter.
    pub(super) error: Option<&'a RawValue>,
    pub(super) logprobs: Option<&'a RawValue>,
}

impl Choice<'_> {
    /// True if this is a complete body's choice: it has a message, and no delta,
    /// or, before anything of a stream has come, an empty one (Perplexity).
    pub(super) fn is_whole(&self, is_open: bool) -> bool {
        match (&self.message, &self.delta) {
            (Some(_), None) => true,
            (Some(message), Some(delta)) => !is_open && delta.is_blank() && !message.is_blank(),
            (None, _) => false,
        }
    }

    /// True if it has a reason to finish, and not an empty one.
    pub(super) fn has_reason(&self) -> bool {
        self.finish_reason.text().is_some_and(|raw| !finish::is_none(raw))
    }

    /// True if it has content, and not only a reason to finish.
    pub(super) fn has_content(&self) -> bool {
        self.delta.as_ref().or(self.message.as_ref()).is_some_and(|delta| {
            delta.role.is_some() || delta.content.is_some() || delta.tool_calls.is_some()
        })
    }
}

/// What a chunk adds, or a whole message: `openai-messages` reads it by itself.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(in crate::format) struct Delta<'a> {
    pub(super) role: Option<Str<'a>>,
    pub(super) content: Option<Content<'a>>,
    pub(super) refusal: Option<Str<'a>>,
    /// DeepSeek, Qwen, Z.ai, Moonshot, llama.cpp, SGLang, LiteLLM …
    pub(super) reasoning_content: Option<Str<'a>>,
    /// Groq, OpenRouter, Ollama, Cerebras, vLLM, Together …
    pub(super) reasoning: Option<Str<'a>>,
    /// OpenRouter, Vercel's gateway, MiniMax, Snowflake.
    pub(super) reasoning_details: Option<Vec<Detail<'a>>>,
    /// LiteLLM: thoughts with their signatures, mostly the same ones again.
    pub(super) thinking_blocks: Option<Vec<ThinkingBlock<'a>>>,
    /// TGI sent one call by itself, before 2025.
    pub(in crate::format) tool_calls: Option<Many<ToolCall<'a>>>,
    pub(in crate::format) function_call: Option<Function<'a>>,
    audio: Option<&'a RawValue>,
    /// OpenRouter, LiteLLM.
    images: Option<Vec<&'a RawValue>>,
    /// OpenRouter, OpenAI's search models.
    annotations: Option<Vec<&'a RawValue>>,
    /// Groq: what its own tools did.
    executed_tools: Option<Vec<&'a RawValue>>,
    /// Writer: what it read.
    graph_data: Option<&'a RawValue>,
    /// Gemini's OpenAI surface.
    pub(super) extra_content: Option<Extra<'a>>,
    /// LiteLLM: what another format has, and this one hasn't.
    pub(super) provider_specific_fields: Option<Specific<'a>>,
    /// Snowflake's older endpoint, as are the next four: a fragment of a call
    /// stands in the delta itself, and once more in the list. A body has it in
    /// the list alone.
    #[serde(rename = "type")]
    pub(super) kind: Option<Str<'a>>,
    pub(super) tool_use_id: Option<Str<'a>>,
    pub(super) name: Option<Str<'a>>,
    pub(super) input: Option<&'a RawValue>,
    pub(super) content_list: Option<Vec<Listed<'a>>>,
}

payload!(Delta);

impl<'a> Delta<'a> {
    /// True if it has neither text nor calls.
    fn is_blank(&self) -> bool {
        self.tool_calls.is_none() && self.content.as_ref().is_none_or(Content::is_empty)
    }

    /// Returns what is neither text nor call, by name.
    pub(in crate::format) fn blocks(&self) -> impl Iterator<Item = (&'static str, &'a str)> {
        let specific = self.provider_specific_fields.as_ref();
        let named = [
            ("audio", self.audio),
            ("graph_data", self.graph_data),
            ("citation", specific.and_then(|specific| specific.citation)),
            ("citations", specific.and_then(|specific| specific.citations)),
        ];
        let listed = [
            ("image", &self.images),
            ("annotation", &self.annotations),
            ("executed_tool", &self.executed_tools),
        ];
        let listed = listed
            .into_iter()
            .flat_map(|(name, list)| list.iter().flatten().map(move |json| (name, *json)));
        let named = named.into_iter().filter_map(|(name, json)| Some((name, json?)));
        let blocks = named.chain(listed).map(|(name, json)| (name, json.get()));
        blocks.filter(|(_, json)| !is_blank(json)).collect::<Vec<_>>().into_iter()
    }
}

/// True if a value says nothing, or only empty members do: servers that send
/// all that there can be send it so.
fn is_blank(json: &str) -> bool {
    let is_empty = |json: &str| matches!(json, "null" | "\"\"" | "0" | "false" | "[]" | "{}");
    let members = json::members(json);
    is_empty(json)
        || (!members.is_empty() && members.iter().all(|(_, value)| is_empty(value.get())))
}

/// Fields that LiteLLM passes on beside its own.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Specific<'a> {
    citation: Option<&'a RawValue>,
    citations: Option<&'a RawValue>,
    /// Anthropic's blocks of what the provider's tools gave.
    tool_results: Option<Vec<Given<'a>>>,
    /// The results of its search so far, all of them each time.
    web_search_results: Option<Vec<Given<'a>>>,
}

impl<'a> Specific<'a> {
    /// Returns the results of the provider's tools.
    pub(super) fn results(&self) -> impl Iterator<Item = &Given<'a>> {
        self.tool_results.iter().chain(&self.web_search_results).flatten()
    }
}

/// The result of a call of the provider's.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Given<'a> {
    pub(super) tool_use_id: Option<Str<'a>>,
    pub(super) content: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Detail<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Option<Str<'a>>,
    pub(super) text: Option<Str<'a>>,
    pub(super) summary: Option<Str<'a>>,
    pub(super) data: Option<Str<'a>>,
    pub(super) signature: Option<Str<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct ThinkingBlock<'a> {
    pub(super) thinking: Option<Str<'a>>,
    pub(super) signature: Option<Str<'a>>,
    pub(super) data: Option<Str<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Extra<'a> {
    google: Option<Google<'a>>,
}

impl Extra<'_> {
    pub(super) fn signature(&self) -> Option<&str> {
        self.google.as_ref()?.thought_signature.as_ref()?.non_empty()
    }

    /// True if the content beside it is a thought.
    pub(super) fn is_thought(&self) -> bool {
        self.google.as_ref().is_some_and(|google| google.thought == Some(true))
    }
}

#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Google<'a> {
    thought_signature: Option<Str<'a>>,
    thought: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_two_levels_down_is_borrowed() {
        let json = r#"{"choices":[{"delta":{"reasoning":"why"}}]}"#;
        let chunk: Chunk<'_> = serde_json::from_str(json).unwrap();
        let choices = chunk.choices.unwrap();
        let text = choices[0].delta.as_ref().unwrap().reasoning.as_ref().unwrap().as_str();
        assert_eq!(text, "why");
        assert!(json.as_bytes().as_ptr_range().contains(&text.as_ptr()), "the text was copied");
    }
}
