//! The fields of a chunk, of its candidates and of their parts.
//!
//! Servers write `camelCase`; the dumps of SDKs write `snake_case`.

use serde::de::{Deserialize, Deserializer, IgnoredAny};
use serde_json::value::RawValue;

use super::super::out::Payload;
use crate::json::Str;

/// A `GenerateContentResponse`: a chunk of a stream or a complete body.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Chunk<'a> {
    #[serde(borrow, alias = "response_id")]
    pub(super) response_id: Option<Str<'a>>,
    #[serde(borrow, alias = "model_version")]
    pub(super) model_version: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) candidates: Option<Vec<Candidate<'a>>>,
    /// A [`Feedback`].
    #[serde(borrow, alias = "prompt_feedback")]
    pub(super) prompt_feedback: Option<&'a RawValue>,
    #[serde(borrow, alias = "usage_metadata")]
    pub(super) usage_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    /// Code Assist, and the lines of a batch: the chunk itself.
    #[serde(borrow)]
    pub(super) response: Option<&'a RawValue>,
}

impl<'de> Payload<'de> for Chunk<'static> {
    type Type = Chunk<'de>;
}

impl Chunk<'_> {
    /// Whether it has anything that belongs to an answer.
    pub(super) fn is_answer(&self) -> bool {
        self.has_content()
            || self.usage_metadata.is_some()
            || self.response_id.is_some()
            || self.model_version.is_some()
    }

    /// Whether it has more to say than what the answer cost.
    pub(super) fn has_content(&self) -> bool {
        self.candidates.is_some() || self.prompt_feedback.is_some()
    }
}

/// What the filter thinks of the prompt.
#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Feedback<'a> {
    #[serde(borrow, alias = "block_reason")]
    pub(super) block_reason: Option<&'a RawValue>,
}

/// One of the alternative answers.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) content: Option<Content<'a>>,
    /// A word, or its number where enums are encoded so.
    #[serde(borrow, alias = "finish_reason")]
    pub(super) finish_reason: Option<&'a RawValue>,
    #[serde(borrow, alias = "finish_message")]
    pub(super) finish_message: Option<Str<'a>>,
    #[serde(borrow, alias = "citation_metadata")]
    citation_metadata: Option<&'a RawValue>,
    #[serde(borrow, alias = "grounding_metadata")]
    grounding_metadata: Option<&'a RawValue>,
    #[serde(borrow, alias = "url_context_metadata")]
    url_context_metadata: Option<&'a RawValue>,
    /// With which the next request goes on behind `CONTINUATION`.
    #[serde(borrow, alias = "continuation_token")]
    continuation_token: Option<&'a RawValue>,
}

impl<'a> Candidate<'a> {
    pub(super) fn parts(&self) -> &[Part<'a>] {
        self.content.as_ref().and_then(|content| content.parts.as_deref()).unwrap_or_default()
    }

    /// What is known about the answer beside it.
    pub(super) fn metadata(&self) -> [(&'static str, Option<&'a RawValue>); 4] {
        [
            ("citation_metadata", self.citation_metadata),
            ("grounding_metadata", self.grounding_metadata),
            ("url_context_metadata", self.url_context_metadata),
            ("continuation_token", self.continuation_token),
        ]
    }
}

#[derive(serde::Deserialize)]
pub(in crate::wire) struct Content<'a> {
    #[serde(borrow)]
    pub(in crate::wire) parts: Option<Vec<Part<'a>>>,
}

/// A part of an answer: one of its kinds, and flags.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::wire) struct Part<'a> {
    #[serde(borrow)]
    pub(super) text: Option<Str<'a>>,
    /// Whether the text is thinking.
    pub(super) thought: Option<bool>,
    #[serde(borrow, alias = "thought_signature")]
    pub(super) thought_signature: Option<Str<'a>>,
    #[serde(borrow, alias = "function_call")]
    pub(super) function_call: Option<FunctionCall<'a>>,
    #[serde(borrow, alias = "function_response")]
    pub(super) function_response: Option<FunctionResponse<'a>>,
    /// Code that the provider runs, with an [`Identified`].
    #[serde(borrow, alias = "executable_code")]
    pub(super) executable_code: Option<&'a RawValue>,
    /// What came of it, with an [`Identified`].
    #[serde(borrow, alias = "code_execution_result")]
    pub(super) code_execution_result: Option<&'a RawValue>,
    /// A tool that the provider runs.
    #[serde(borrow, alias = "tool_call")]
    pub(super) tool_call: Option<ServerTool<'a>>,
    #[serde(borrow, alias = "tool_response")]
    pub(super) tool_response: Option<ServerTool<'a>>,
    #[serde(borrow, alias = "inline_data")]
    inline_data: Option<&'a RawValue>,
    #[serde(borrow, alias = "file_data")]
    file_data: Option<&'a RawValue>,
    #[serde(borrow, alias = "audio_transcription")]
    audio_transcription: Option<&'a RawValue>,
}

impl<'a> Part<'a> {
    pub(super) fn signature(&self) -> Option<&str> {
        self.thought_signature.as_ref().and_then(Str::non_empty)
    }

    /// Media, by their names.
    pub(super) fn media(&self) -> [(&'static str, Option<&'a RawValue>); 3] {
        [
            ("inline_data", self.inline_data),
            ("file_data", self.file_data),
            ("audio_transcription", self.audio_transcription),
        ]
    }

    /// Whether it is more than a signature or the empty text that many
    /// streams end with.
    pub(super) fn says_something(&self) -> bool {
        self.text.as_ref().is_some_and(|text| *text != Str::default()) || self.has_data()
    }

    /// Whether it is of a kind that has no name here.
    pub(super) fn is_unknown(&self) -> bool {
        let has_flag = self.thought.is_some() || self.thought_signature.is_some();
        self.text.is_none() && !has_flag && !self.has_data()
    }

    fn has_data(&self) -> bool {
        let has_call = self.function_call.is_some() || self.tool_call.is_some();
        let has_response = self.function_response.is_some() || self.tool_response.is_some();
        let has_code = self.executable_code.is_some() || self.code_execution_result.is_some();
        let has_media = self.media().iter().any(|(_, json)| json.is_some());
        has_call || has_response || has_code || has_media
    }
}

/// A call, or a fragment of one: nothing in it closes the call.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::wire) struct FunctionCall<'a> {
    #[serde(borrow)]
    id: Option<Str<'a>>,
    #[serde(borrow)]
    name: Option<Str<'a>>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow, alias = "partial_args")]
    partial_args: Option<Vec<PartialArg<'a>>>,
    #[serde(alias = "will_continue")]
    will_continue: Option<bool>,
}

impl<'a> FunctionCall<'a> {
    pub(super) fn id(&self) -> Option<&str> {
        non_blank(self.id.as_ref())
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_ref().and_then(Str::non_empty)
    }

    pub(super) fn args(&self) -> Option<&'a str> {
        self.args.map(RawValue::get)
    }

    pub(super) fn partial_args(&self) -> &[PartialArg<'a>] {
        self.partial_args.as_deref().unwrap_or_default()
    }

    pub(super) fn will_continue(&self) -> bool {
        self.will_continue == Some(true)
    }

    /// Whether its arguments come in pieces.
    pub(super) fn is_streamed(&self) -> bool {
        self.will_continue() || !self.partial_args().is_empty()
    }
}

/// What a fragment says of the argument at a path.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::wire) struct PartialArg<'a> {
    #[serde(borrow, alias = "json_path")]
    pub(super) json_path: Option<Str<'a>>,
    #[serde(borrow, alias = "string_value")]
    pub(super) string_value: Option<&'a RawValue>,
    #[serde(borrow, alias = "number_value")]
    number_value: Option<&'a RawValue>,
    #[serde(borrow, alias = "bool_value")]
    bool_value: Option<&'a RawValue>,
    #[serde(default, alias = "null_value")]
    null_value: Present,
    #[serde(alias = "will_continue")]
    pub(super) will_continue: Option<bool>,
}

impl<'a> PartialArg<'a> {
    /// The value, if it is one that is whole at once.
    pub(super) fn scalar(&self) -> Option<&'a str> {
        let value = self.number_value.or(self.bool_value).map(RawValue::get);
        value.or_else(|| self.null_value.0.then_some("null"))
    }
}

/// Whether a member is there, be it null.
#[derive(Default)]
struct Present(bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Present(true))
    }
}

/// The result of a call that the caller ran.
#[derive(serde::Deserialize)]
pub(in crate::wire) struct FunctionResponse<'a> {
    #[serde(borrow)]
    pub(super) id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) response: Option<&'a RawValue>,
}

/// A tool on the provider's side: its call or its response.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::wire) struct ServerTool<'a> {
    #[serde(borrow)]
    id: Option<Str<'a>>,
    #[serde(borrow, alias = "tool_type")]
    tool_type: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) args: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) response: Option<&'a RawValue>,
}

impl ServerTool<'_> {
    pub(super) fn id(&self) -> Option<&str> {
        non_blank(self.id.as_ref())
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.tool_type.as_ref().and_then(Str::non_empty)
    }
}

/// What code and its result have in common.
#[derive(Default, serde::Deserialize)]
pub(super) struct Identified<'a> {
    #[serde(borrow)]
    id: Option<Str<'a>>,
    #[serde(borrow)]
    outcome: Option<&'a RawValue>,
}

impl Identified<'_> {
    pub(super) fn id(&self) -> Option<&str> {
        non_blank(self.id.as_ref())
    }

    /// Whether the code failed, where the result says how it went.
    pub(super) fn is_error(&self) -> Option<bool> {
        let outcome = word(self.outcome?);
        Some(!(outcome.ends_with("OUTCOME_OK") || outcome == "1"))
    }
}

fn non_blank<'t>(text: Option<&'t Str<'_>>) -> Option<&'t str> {
    text.map(Str::as_str).filter(|text| !text.trim_ascii().is_empty())
}

/// An enum's value: its word, or its number as text.
pub(in crate::wire) fn word(json: &RawValue) -> String {
    let text: Option<Str<'_>> = serde_json::from_str(json.get()).ok();
    text.map_or_else(|| json.get().to_owned(), |text| text.as_str().to_owned())
}
