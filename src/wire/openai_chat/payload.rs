//! The fields of a chunk and of a complete body.

use std::fmt;
use std::io;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::super::function::Function;
use super::super::many::Many;
use super::super::{EventOut, out::Payload};
use crate::event::{Arguments, CallPart};
use crate::json::{self, Str};

/// `chat.completion.chunk` and `chat.completion`.
#[derive(serde::Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) model: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    /// Groq repeats the usage here.
    #[serde(borrow)]
    pub(super) x_groq: Option<XGroq<'a>>,
    /// Perplexity and xAI.
    #[serde(borrow)]
    citations: Option<&'a RawValue>,
    /// Perplexity.
    #[serde(borrow)]
    search_results: Option<&'a RawValue>,
    /// Z.ai.
    #[serde(borrow)]
    web_search: Option<&'a RawValue>,
    /// Azure and Copilot: what the filter thinks of the prompt.
    #[serde(borrow)]
    prompt_filter_results: Option<&'a RawValue>,
}

impl<'de> Payload<'de> for Chunk<'static> {
    type Type = Chunk<'de>;
}

impl<'a> Chunk<'a> {
    /// What the answer rests on.
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
pub(super) struct XGroq<'a> {
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
pub(super) struct Choice<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Str<'a>>,
    /// OpenRouter: the provider's own reason.
    #[serde(borrow)]
    pub(super) native_finish_reason: Option<Str<'a>>,
    /// Moonshot.
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    /// OpenRouter.
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

impl Choice<'_> {
    /// A complete body's choice: a message, and no delta.
    pub(super) fn is_whole(&self) -> bool {
        self.message.is_some() && self.delta.is_none()
    }

    /// Whether it has content, and not only a reason to finish.
    pub(super) fn says_something(&self) -> bool {
        self.delta.as_ref().or(self.message.as_ref()).is_some_and(|delta| {
            delta.role.is_some() || delta.content.is_some() || delta.tool_calls.is_some()
        })
    }
}

/// What a chunk adds, or a whole message.
#[derive(serde::Deserialize)]
pub(in crate::wire) struct Delta<'a> {
    #[serde(borrow)]
    pub(super) role: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) content: Option<Content<'a>>,
    #[serde(borrow)]
    pub(super) refusal: Option<Str<'a>>,
    /// DeepSeek, Qwen, Z.ai, Moonshot, llama.cpp, SGLang, LiteLLM …
    #[serde(borrow)]
    pub(super) reasoning_content: Option<Str<'a>>,
    /// Groq, OpenRouter, Ollama, Cerebras, vLLM, Together …
    #[serde(borrow)]
    pub(super) reasoning: Option<Str<'a>>,
    /// OpenRouter, Vercel's gateway, MiniMax, Snowflake.
    #[serde(borrow)]
    pub(super) reasoning_details: Option<Vec<Detail<'a>>>,
    /// LiteLLM: thoughts with their signatures, mostly the same ones again.
    #[serde(borrow)]
    pub(super) thinking_blocks: Option<Vec<ThinkingBlock<'a>>>,
    /// TGI sent one call by itself, before 2025.
    #[serde(borrow)]
    pub(in crate::wire) tool_calls: Option<Many<ToolCall<'a>>>,
    #[serde(borrow)]
    pub(in crate::wire) function_call: Option<Function<'a>>,
    #[serde(borrow)]
    audio: Option<&'a RawValue>,
    /// OpenRouter, LiteLLM.
    #[serde(borrow)]
    images: Option<Vec<&'a RawValue>>,
    /// OpenRouter, OpenAI's search models.
    #[serde(borrow)]
    annotations: Option<Vec<&'a RawValue>>,
    /// Groq: what its own tools did.
    #[serde(borrow)]
    executed_tools: Option<Vec<&'a RawValue>>,
    /// Writer: what it read.
    #[serde(borrow)]
    graph_data: Option<&'a RawValue>,
    /// Gemini's OpenAI surface.
    #[serde(borrow)]
    pub(super) extra_content: Option<Extra<'a>>,
    /// LiteLLM: what another format has, and this one hasn't.
    #[serde(borrow)]
    pub(super) provider_specific_fields: Option<Specific<'a>>,
    /// Snowflake's older endpoint, as are the next four: a fragment of a call
    /// stands in the delta itself, and once more in the list. A body has it in
    /// the list alone.
    #[serde(borrow, rename = "type")]
    kind: Option<Str<'a>>,
    #[serde(borrow)]
    tool_use_id: Option<Str<'a>>,
    #[serde(borrow)]
    name: Option<Str<'a>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    content_list: Option<Vec<Listed<'a>>>,
}

impl<'a> Delta<'a> {
    /// What is neither text nor call.
    pub(in crate::wire) fn blocks(&self) -> impl Iterator<Item = (&'static str, &'a str)> {
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

impl Delta<'_> {
    /// The calls that are not in `tool_calls`, by their ids.
    pub(super) fn tool_uses(&self) -> impl Iterator<Item = (Option<&str>, Function<'_>)> {
        let is_call =
            |kind: &Option<Str<'_>>| kind.as_ref().is_some_and(|kind| kind.as_str() == "tool_use");
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
            (id.as_ref().and_then(Str::non_empty), Function { name: name.clone(), arguments })
        })
    }
}

/// A part of Snowflake's `content_list`. A call is one, or stands inside it.
#[derive(serde::Deserialize)]
pub(super) struct Listed<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Str<'a>>,
    #[serde(borrow)]
    tool_use: Option<Box<Listed<'a>>>,
    #[serde(borrow)]
    tool_use_id: Option<Str<'a>>,
    #[serde(borrow)]
    name: Option<Str<'a>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// Whether a value says nothing, or only empty members do: servers that send
/// all that there can be send it so.
fn is_blank(json: &str) -> bool {
    let is_empty = |json: &str| matches!(json, "null" | "\"\"" | "0" | "false" | "[]" | "{}");
    let members = json::members(json);
    is_empty(json)
        || (!members.is_empty() && members.iter().all(|(_, value)| is_empty(value.get())))
}

/// What LiteLLM passes on beside its own fields.
#[derive(serde::Deserialize)]
pub(super) struct Specific<'a> {
    #[serde(borrow)]
    citation: Option<&'a RawValue>,
    #[serde(borrow)]
    citations: Option<&'a RawValue>,
    /// Anthropic's blocks of what the provider's tools gave.
    #[serde(borrow)]
    tool_results: Option<Vec<Given<'a>>>,
    /// The same of its search: all so far.
    #[serde(borrow)]
    web_search_results: Option<Vec<Given<'a>>>,
}

impl<'a> Specific<'a> {
    /// What the provider's tools gave.
    pub(super) fn results(&self) -> impl Iterator<Item = &Given<'a>> {
        self.tool_results.iter().chain(&self.web_search_results).flatten()
    }
}

/// What a call of the provider's gave.
#[derive(serde::Deserialize)]
pub(super) struct Given<'a> {
    #[serde(borrow)]
    pub(super) tool_use_id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
pub(super) struct Detail<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) summary: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) data: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) signature: Option<Str<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct ThinkingBlock<'a> {
    #[serde(borrow)]
    pub(super) thinking: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) signature: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) data: Option<Str<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct Extra<'a> {
    #[serde(borrow)]
    google: Option<Google<'a>>,
}

impl Extra<'_> {
    pub(super) fn signature(&self) -> Option<&str> {
        self.google.as_ref()?.thought_signature.as_ref()?.non_empty()
    }

    /// Whether the content beside it is a thought.
    pub(super) fn is_thought(&self) -> bool {
        self.google.as_ref().is_some_and(|google| google.thought == Some(true))
    }
}

#[derive(serde::Deserialize)]
struct Google<'a> {
    #[serde(borrow)]
    thought_signature: Option<Str<'a>>,
    thought: Option<bool>,
}

/// Text, or parts of it: Mistral and Databricks send either.
pub(super) enum Content<'a> {
    Text(Str<'a>),
    Parts(Vec<&'a RawValue>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;
        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = Content<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of parts")
            }

            fn visit_borrowed_bytes<E: serde::de::Error>(
                self,
                bytes: &'de [u8],
            ) -> Result<Self::Value, E> {
                Ok(Content::Text(Str::from_borrowed(bytes)))
            }

            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Content::Text(Str::from_bytes(bytes)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = seq.next_element()? {
                    parts.push(part);
                }
                Ok(Content::Parts(parts))
            }
        }
        deserializer.deserialize_bytes(ContentVisitor)
    }
}

/// One part of the content.
#[derive(serde::Deserialize)]
pub(super) struct Part<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Str<'a>>,
    #[serde(borrow)]
    text: Option<Str<'a>>,
    #[serde(borrow)]
    refusal: Option<Str<'a>>,
    /// Mistral.
    #[serde(borrow)]
    thinking: Option<Vec<Part<'a>>>,
    /// Databricks.
    #[serde(borrow)]
    summary: Option<Vec<Part<'a>>>,
    #[serde(borrow)]
    signature: Option<Str<'a>>,
}

/// Says a part of the content as what its type makes of it. One that is neither
/// text nor thought is a block: a reference, an image.
pub(super) fn say_part(json: &str, choice: u64, out: &mut EventOut<'_>) -> io::Result<()> {
    match serde_json::from_str::<Part<'_>>(json) {
        Ok(part) if part.has_text() => part.say(choice, out),
        Ok(Part { kind: Some(kind), .. }) => out.block(choice, kind.as_str(), json),
        _ => out.block(choice, "content", json),
    }
}

impl Part<'_> {
    fn has_text(&self) -> bool {
        let has_thoughts = self.thinking.is_some() || self.summary.is_some();
        self.text.is_some() || self.refusal.is_some() || has_thoughts || self.signature.is_some()
    }

    /// Says the part as what its type makes of it.
    pub(super) fn say(&self, choice: u64, out: &mut EventOut<'_>) -> io::Result<()> {
        let is_thought =
            matches!(self.kind.as_ref().map(Str::as_str), Some("thinking" | "reasoning"));
        match &self.text {
            Some(text) if is_thought => out.reasoning(choice, text)?,
            Some(text) => out.text(choice, text)?,
            None => {}
        }
        if let Some(refusal) = &self.refusal {
            out.refusal(choice, refusal)?;
        }
        for thought in self.thinking.iter().chain(&self.summary).flatten() {
            if let Some(text) = &thought.text {
                out.reasoning(choice, text)?;
            }
            if let Some(signature) = &thought.signature {
                out.signature(choice, signature.as_str())?;
            }
        }
        match &self.signature {
            Some(signature) => out.signature(choice, signature.as_str()),
            None => Ok(()),
        }
    }
}

/// A tool call, or a fragment of one.
#[derive(serde::Deserialize)]
pub(in crate::wire) struct ToolCall<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) function: Option<Function<'a>>,
    #[serde(borrow)]
    pub(super) custom: Option<Custom<'a>>,
    #[serde(borrow)]
    extra_content: Option<Extra<'a>>,
}

impl ToolCall<'_> {
    /// The id, if there is one: Mistral's default is the string "null".
    pub(in crate::wire) fn id(&self) -> Option<&str> {
        let id = self.id.as_ref().map(Str::as_str);
        id.filter(|id| !id.trim_ascii().is_empty() && *id != "null")
    }

    pub(in crate::wire) fn name(&self) -> Option<&str> {
        let function = self.function.as_ref().and_then(|function| function.name.as_ref());
        let custom = self.custom.as_ref().and_then(|custom| custom.name.as_ref());
        function.and_then(Str::non_empty).or(custom.and_then(Str::non_empty))
    }

    pub(in crate::wire) fn signature(&self) -> Option<String> {
        self.extra_content.as_ref()?.signature().map(str::to_owned)
    }

    /// Says what it adds to the call that `part` names.
    pub(in crate::wire) fn say(
        &self,
        choice: u64,
        part: CallPart<'_>,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        // Snowflake sends both, one of them empty.
        let is_function = self.function.as_ref().is_some_and(|function| !function.is_blank());
        if let Some(custom) = self.custom.as_ref().filter(|_| !is_function) {
            let name = custom.name.as_ref().and_then(Str::non_empty);
            let input = custom.input.as_ref();
            let arguments = input.map_or(Arguments::None, |input| Arguments::Free(input.as_str()));
            return out.call(choice, CallPart { name, arguments, ..part });
        }
        match &self.function {
            Some(function) => function.say(choice, part, out),
            None => out.call(choice, part),
        }
    }
}

/// A tool that takes free text.
#[derive(serde::Deserialize)]
pub(super) struct Custom<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) input: Option<Str<'a>>,
}
