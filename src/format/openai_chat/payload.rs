//! The fields of a chunk and of a complete body.

use crate::format::support::prelude::*;
use crate::json::{FromJson, ReadError, Reader};

payload! {
    /// `chat.completion.chunk` and `chat.completion`.
    pub(super) struct ChatChunk<'a> {
        pub(super) id: Option<Str<'a>>,
        pub(super) created: Option<RawJson<'a>>,
        pub(super) model: Option<Str<'a>>,
        pub(super) choices: Option<Few<Choice<'a>>>,
        pub(super) usage: Option<RawJson<'a>>,
        error: Option<RawJson<'a>>,
        base_resp: Option<RawJson<'a>>,
        /// Groq repeats the usage here.
        pub(super) x_groq: Option<XGroq<'a>>,
        /// Perplexity and xAI.
        citations: Option<RawJson<'a>>,
        /// Perplexity.
        search_results: Option<RawJson<'a>>,
        /// Z.ai.
        web_search: Option<RawJson<'a>>,
        /// Azure and Copilot: the filter's verdict on the prompt.
        prompt_filter_results: Option<RawJson<'a>>,
    }
}

impl<'a> ChatChunk<'a> {
    /// Returns the error, if the record reports one.
    pub(super) fn failure(&self) -> Option<&'a str> {
        let verdict = self.base_resp.map(RawJson::get).filter(|json| error::is_bad(json));
        let error = self.error.map(RawJson::get).filter(|json| !error::is_nothing(json));
        error.or(verdict)
    }

    /// Returns the sources of the answer, by name.
    pub(super) fn sources(&self) -> [Option<(&'static str, &'a str)>; 3] {
        let named = [
            ("citations", self.citations),
            ("search_results", self.search_results),
            ("web_search", self.web_search),
        ];
        let is_said = |(_, json): &(_, &str)| !json::is_blank(json);
        named.map(|(name, json)| Some((name, json?.get())).filter(is_said))
    }

    /// Returns its choices.
    pub(super) fn all(&self) -> impl Iterator<Item = &Choice<'a>> {
        self.choices.iter().flatten()
    }

    /// True if the delta of a choice names a role, as the first of a message does.
    pub(super) fn has_role(&self) -> bool {
        self.all().any(|choice| choice.delta.as_ref().is_some_and(|delta| delta.role.is_some()))
    }

    /// True if a choice has content, and not only a reason to finish.
    pub(super) fn has_content(&self) -> bool {
        let mut deltas = self.all().filter_map(|it| it.delta.as_ref().or(it.message.as_deref()));
        let has_content = |delta: &Sourced<ChatDelta>| {
            delta.role.is_some() || delta.content.is_some() || delta.tool_calls.is_some()
        };
        deltas.any(has_content)
    }

    /// True if the choices of a body are one: they have no index, and the reason of one speaks of calls
    /// that another one has. Copilot parts Claude's text and its calls so.
    pub(super) fn is_parted(&self) -> bool {
        self.all().all(|choice| choice.index.is_none())
            && self.all().any(Choice::lacks_calls)
            && self.all().any(Choice::has_calls)
    }

    /// True for Azure's first chunk, which holds only the filter's verdict.
    pub(super) fn is_prelude(&self) -> bool {
        let is_empty = self.choices.as_ref().is_none_or(Few::is_empty);
        is_empty
            && self.prompt_filter_results.is_some()
            && self.usage.is_none()
            && self.error.is_none()
    }
}

payload! {
    pub(super) struct XGroq<'a> {
        pub(super) usage: Option<RawJson<'a>>,
    }

    pub(super) struct Choice<'a> {
        pub(super) index: Option<u64>,
        pub(super) delta: Option<Sourced<'a, ChatDelta<'a>>>,
        /// Boxed: a chunk has none, and is moved often.
        pub(super) message: Option<Box<Sourced<'a, ChatDelta<'a>>>>,
        /// Azure's answers from one's own data, until 2024.
        pub(super) messages: Option<RawJson<'a>>,
        pub(super) logprobs: Option<RawJson<'a>>,
        pub(super) finish_reason: Option<Str<'a>>,
        /// OpenRouter: the provider's own reason.
        pub(super) native_finish_reason: Option<Str<'a>>,
        /// Moonshot.
        pub(super) usage: Option<RawJson<'a>>,
        /// OpenRouter.
        pub(super) error: Option<RawJson<'a>>,
    }
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

    /// True if a member of its delta or message that no field reads holds text or an object.
    pub(super) fn passes_text(&self) -> bool {
        self.delta.iter().chain(self.message.as_deref()).any(|delta| delta.passes_text())
    }

    /// True if its delta has words or calls.
    pub(super) fn says_something(&self) -> bool {
        self.delta.as_ref().is_some_and(|delta| !delta.is_blank())
    }

    /// True if it has a reason to finish, and not an empty one.
    pub(super) fn has_reason(&self) -> bool {
        self.finish_reason.reason().is_some()
    }

    /// True if its message has calls.
    fn has_calls(&self) -> bool {
        self.message.as_ref().is_some_and(|message| message.tool_calls.is_some())
    }

    /// True if its reason speaks of calls, and its message has none.
    fn lacks_calls(&self) -> bool {
        self.finish_reason.text() == Some("tool_calls") && !self.has_calls()
    }
}

payload! {
    /// The piece that a chunk adds, or a whole message: `openai-messages` reads it by itself.
    pub(in crate::format) struct ChatDelta<'a> {
        pub(super) role: Option<Str<'a>>,
        pub(super) content: Option<ChatContent<'a>>,
        pub(super) refusal: Option<Str<'a>>,
        /// DeepSeek, Qwen, Z.ai, Moonshot, llama.cpp, SGLang, LiteLLM …
        pub(super) reasoning_content: Option<Str<'a>>,
        /// Groq, OpenRouter, Ollama, Cerebras, vLLM, Together …
        pub(super) reasoning: Option<Str<'a>>,
        /// Copilot, with what must go back beside it.
        reasoning_text: Option<Str<'a>>,
        pub(super) reasoning_opaque: Option<Str<'a>>,
        /// Servers that name it as Ollama does.
        thinking: Option<Str<'a>>,
        /// OpenRouter, Vercel's gateway, MiniMax, Snowflake.
        pub(super) reasoning_details: Option<Vec<Sourced<'a, Detail<'a>>>>,
        /// LiteLLM: thoughts with their signatures, mostly the same ones again.
        pub(super) thinking_blocks: Option<Vec<ThinkingBlock<'a>>>,
        /// TGI sent one call by itself, before 2025. Boxed: text has none, and is moved often.
        pub(in crate::format) tool_calls: Option<Box<Many<Sourced<'a, ChatToolCall<'a>>>>>,
        pub(in crate::format) function_call: Option<Sourced<'a, Function<'a>>>,
        audio: Option<RawJson<'a>>,
        /// OpenRouter, LiteLLM.
        images: Option<Vec<RawJson<'a>>>,
        /// OpenRouter, OpenAI's search models.
        annotations: Option<Vec<RawJson<'a>>>,
        /// Groq: what its own tools did.
        executed_tools: Option<Vec<RawJson<'a>>>,
        /// Writer: what it read.
        graph_data: Option<RawJson<'a>>,
        /// Gemini's OpenAI surface.
        pub(super) extra_content: Option<RawJson<'a>>,
        /// LiteLLM: what another format has, and this one hasn't.
        pub(super) provider_specific_fields: Option<Specific<'a>>,
        /// Snowflake's older endpoint, as are the next four: a fragment of a call
        /// stands in the delta itself, and once more in the list. A body has it in
        /// the list alone.
        pub(super) kind: Option<Str<'a>> = "type",
        pub(super) tool_use_id: Option<Str<'a>>,
        pub(super) name: Option<Str<'a>>,
        pub(super) input: Option<RawJson<'a>>,
        /// Of what a tool gave, which some gateways send on.
        pub(super) tool_call_id: Option<Str<'a>>,
        pub(super) content_list: Option<Vec<Listed<'a>>>,
        /// What an SDK made of the content.
        parsed: Option<RawJson<'a>>,
        ; passes_text
    }
}

impl<'a> ChatDelta<'a> {
    /// True if a member that no field reads holds text or an object.
    pub(super) fn passes_text(&self) -> bool {
        self.passes_text
    }

    /// True if it has neither text nor calls.
    fn is_blank(&self) -> bool {
        self.tool_calls.is_none() && self.content.as_ref().is_none_or(ChatContent::is_empty)
    }

    /// Returns the thought that stands beside its details: of several names the
    /// first that has text, so that nothing is doubled.
    pub(super) fn thought(&self) -> Option<&Str<'a>> {
        let ChatDelta { reasoning_content, reasoning, reasoning_text, thinking, .. } = self;
        let plain = [reasoning_content, reasoning, reasoning_text, thinking].into_iter().flatten();
        plain.into_iter().find(|text| !text.is_empty())
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
        blocks.filter(|(_, json)| !json::is_blank(json)).collect::<Vec<_>>().into_iter()
    }

    /// Returns the calls that are not in `tool_calls`, by their ids.
    pub(super) fn tool_uses(&self) -> impl Iterator<Item = (Option<&str>, Function<'_>)> {
        let is_call = |kind: &Option<Str<'_>>| kind.text() == Some("tool_use");
        let own = (&self.tool_use_id, &self.name, self.input);
        let own = Some(own).filter(|(id, name, input)| {
            is_call(&self.kind) && (id.is_some() || name.is_some() || input.is_some())
        });
        let list = self
            .content_list
            .iter()
            .flatten()
            .filter(move |item| own.is_none() && is_call(&item.kind));
        let list = list.map(|item| item.tool_use.as_deref().unwrap_or(item));
        let list = list.map(|item| (&item.tool_use_id, &item.name, item.input));
        own.into_iter().chain(list).map(|(id, name, arguments)| {
            (id.non_empty(), Function { name: name.clone(), arguments, ..Function::default() })
        })
    }
}

/// Text, or parts of it: Mistral and Databricks send either.
pub(super) enum ChatContent<'a> {
    Text(Str<'a>),
    Parts(Vec<RawJson<'a>>),
}

impl ChatContent<'_> {
    /// True if it holds no text and no part.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            ChatContent::Text(text) => text.is_empty(),
            ChatContent::Parts(parts) => parts.is_empty(),
        }
    }
}

impl<'t> FromJson<'t> for ChatContent<'t> {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self, ReadError> {
        if reader.peek()? == b'"' {
            return Str::from_json(reader).map(ChatContent::Text);
        }
        let mut parts = Vec::new();
        reader.elements(&"a string or an array of parts", &mut |reader| {
            parts.push(FromJson::from_json(reader)?);
            Ok(())
        })?;
        Ok(ChatContent::Parts(parts))
    }
}

payload! {
    /// A tool call, or a fragment of one.
    pub(in crate::format) struct ChatToolCall<'a> {
        pub(super) index: Option<u64>,
        pub(super) id: Option<Str<'a>>,
        pub(super) function: Option<Function<'a>>,
        pub(super) custom: Option<Custom<'a>>,
        extra_content: Option<RawJson<'a>>,
    }
}

impl ChatToolCall<'_> {
    pub(in crate::format) fn id(&self) -> Option<&str> {
        self.id.non_blank()
    }

    pub(in crate::format) fn name(&self) -> Option<&str> {
        let function = self.function.as_ref().and_then(|function| function.name.non_empty());
        function.or_else(|| self.custom.as_ref().and_then(|custom| custom.name.non_empty()))
    }

    pub(in crate::format) fn signature(&self) -> Option<String> {
        Object::new(self.extra_content?.get()).word(SIGNATURE)
    }
}

payload! {
    /// A tool that takes free text.
    pub(super) struct Custom<'a> {
        pub(super) name: Option<Str<'a>>,
        pub(super) input: Option<Str<'a>>,
    }

    /// A part of Snowflake's `content_list`. A call is one, or stands inside it.
    pub(super) struct Listed<'a> {
        kind: Option<Str<'a>> = "type",
        tool_use: Option<Box<Listed<'a>>>,
        tool_use_id: Option<Str<'a>>,
        name: Option<Str<'a>>,
        input: Option<RawJson<'a>>,
    }

    /// Fields that LiteLLM passes on beside its own.
    pub(super) struct Specific<'a> {
        citation: Option<RawJson<'a>>,
        citations: Option<RawJson<'a>>,
        /// Anthropic's blocks of what the provider's tools gave.
        tool_results: Option<Vec<ProviderResult<'a>>>,
        /// The results of its search so far, all of them each time.
        web_search_results: Option<Vec<ProviderResult<'a>>>,
    }
}

impl<'a> Specific<'a> {
    /// Returns the results of the provider's tools.
    pub(super) fn results(&self) -> impl Iterator<Item = &ProviderResult<'a>> {
        self.tool_results.iter().chain(&self.web_search_results).flatten()
    }
}

payload! {
    /// The result of a call of the provider's.
    pub(super) struct ProviderResult<'a> {
        pub(super) tool_use_id: Option<Str<'a>>,
        pub(super) content: Option<RawJson<'a>>,
    }

    pub(super) struct Detail<'a> {
        pub(super) kind: Option<Str<'a>> = "type",
        pub(super) text: Option<Str<'a>>,
        pub(super) summary: Option<Str<'a>>,
        pub(super) data: Option<Str<'a>>,
        pub(super) signature: Option<Str<'a>>,
    }

    pub(super) struct ThinkingBlock<'a> {
        pub(super) thinking: Option<Str<'a>>,
        pub(super) signature: Option<Str<'a>>,
        pub(super) data: Option<Str<'a>>,
    }
}

/// The place of a signature in what Gemini's OpenAI surface adds.
pub(super) const SIGNATURE: &str = "google.thought_signature";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_two_levels_down_is_borrowed() {
        let json = r#"{"choices":[{"delta":{"reasoning":"why"}}]}"#;
        let chunk: ChatChunk<'_> = json::read(json).unwrap();
        let choice = chunk.choices.unwrap().into_iter().next().unwrap();
        let text = choice.delta.as_ref().unwrap().reasoning.as_ref().unwrap().as_str();
        assert_eq!(text, "why");
        assert!(json.as_bytes().as_ptr_range().contains(&text.as_ptr()), "the text was copied");
    }
}
