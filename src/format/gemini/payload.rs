//! The fields of a chunk, of its candidates and of their parts.
//!
//! Servers write `camelCase`; the dumps of SDKs write `snake_case`.

use serde_json::value::RawValue;

use crate::format::gemini::call::{FunctionCall, FunctionResponse, ServerTool};
use crate::format::support::payload::{OptionalStr, payload};
use crate::json::Str;

/// A `GenerateContentResponse`: a chunk of a stream or a complete body.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Chunk<'a> {
    #[serde(alias = "response_id")]
    pub(super) response_id: Option<Str<'a>>,
    #[serde(alias = "model_version")]
    pub(super) model_version: Option<Str<'a>>,
    #[serde(alias = "create_time")]
    pub(super) create_time: Option<&'a RawValue>,
    pub(super) candidates: Option<Vec<Candidate<'a>>>,
    /// A [`Feedback`].
    #[serde(alias = "prompt_feedback")]
    pub(super) prompt_feedback: Option<&'a RawValue>,
    #[serde(alias = "usage_metadata")]
    pub(super) usage_metadata: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
    /// Code Assist, and the lines of a batch: the chunk itself.
    pub(super) response: Option<&'a RawValue>,
}

payload!(Chunk);

impl Chunk<'_> {
    /// True if it has anything that belongs to an answer.
    pub(super) fn is_answer(&self) -> bool {
        self.has_content()
            || self.usage_metadata.is_some()
            || self.response_id.is_some()
            || self.model_version.is_some()
    }

    /// True if it holds more than the cost of the answer.
    pub(super) fn has_content(&self) -> bool {
        self.candidates.is_some() || self.prompt_feedback.is_some()
    }
}

/// The filter's verdict on the prompt.
#[derive(Default, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Feedback<'a> {
    #[serde(alias = "block_reason")]
    pub(super) block_reason: Option<&'a RawValue>,
}

/// One of the alternative answers.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    pub(super) index: Option<u64>,
    pub(super) content: Option<Content<'a>>,
    /// A word, or its number where enums are encoded so.
    #[serde(alias = "finish_reason")]
    pub(super) finish_reason: Option<&'a RawValue>,
    #[serde(alias = "finish_message")]
    finish_message: Option<Str<'a>>,
    #[serde(alias = "citation_metadata")]
    citation_metadata: Option<&'a RawValue>,
    #[serde(alias = "grounding_metadata")]
    grounding_metadata: Option<&'a RawValue>,
    #[serde(alias = "url_context_metadata")]
    url_context_metadata: Option<&'a RawValue>,
    #[serde(alias = "logprobs_result")]
    pub(super) logprobs_result: Option<&'a RawValue>,
    /// With which the next request goes on after `CONTINUATION`.
    #[serde(alias = "continuation_token")]
    continuation_token: Option<Str<'a>>,
}

impl<'a> Candidate<'a> {
    pub(super) fn parts(&self) -> &[Part<'a>] {
        self.content.as_ref().and_then(|content| content.parts.as_deref()).unwrap_or_default()
    }

    /// Metadata of the answer.
    pub(super) fn metadata(&self) -> [(&'static str, Option<&'a RawValue>); 3] {
        [
            ("citation_metadata", self.citation_metadata),
            ("grounding_metadata", self.grounding_metadata),
            ("url_context_metadata", self.url_context_metadata),
        ]
    }

    /// Metadata of its end, beside the reason.
    pub(super) fn remarks(&self) -> [(&'static str, Option<&str>); 2] {
        [
            ("finish_message", self.finish_message.non_empty()),
            ("continuation_token", self.continuation_token.non_empty()),
        ]
    }
}

#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(in crate::format) struct Content<'a> {
    pub(in crate::format) parts: Option<Vec<Part<'a>>>,
}

/// A part of an answer: one of its kinds, and flags.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(in crate::format) struct Part<'a> {
    pub(super) text: Option<Str<'a>>,
    /// True if the text is thinking.
    pub(super) thought: Option<bool>,
    #[serde(alias = "thought_signature")]
    pub(super) thought_signature: Option<Str<'a>>,
    #[serde(alias = "function_call")]
    pub(super) function_call: Option<FunctionCall<'a>>,
    #[serde(alias = "function_response")]
    pub(super) function_response: Option<FunctionResponse<'a>>,
    /// Code that the provider runs, with an [`crate::format::gemini::call::Identified`].
    #[serde(alias = "executable_code")]
    pub(super) executable_code: Option<&'a RawValue>,
    /// Its result, with an [`crate::format::gemini::call::Identified`].
    #[serde(alias = "code_execution_result")]
    pub(super) code_execution_result: Option<&'a RawValue>,
    /// A tool that the provider runs.
    #[serde(alias = "tool_call")]
    pub(super) tool_call: Option<ServerTool<'a>>,
    #[serde(alias = "tool_response")]
    pub(super) tool_response: Option<ServerTool<'a>>,
    #[serde(alias = "inline_data")]
    inline_data: Option<&'a RawValue>,
    #[serde(alias = "file_data")]
    file_data: Option<&'a RawValue>,
    #[serde(alias = "audio_transcription")]
    audio_transcription: Option<&'a RawValue>,
}

impl<'a> Part<'a> {
    pub(super) fn signature(&self) -> Option<&str> {
        self.thought_signature.non_empty()
    }

    /// Media, by their names.
    pub(super) fn media(&self) -> [(&'static str, Option<&'a RawValue>); 3] {
        [
            ("inline_data", self.inline_data),
            ("file_data", self.file_data),
            ("audio_transcription", self.audio_transcription),
        ]
    }

    /// True if it is more than a signature or the empty text that many
    /// streams end with.
    pub(super) fn has_content(&self) -> bool {
        self.text.as_ref().is_some_and(|text| !text.is_empty()) || self.has_data()
    }

    /// True if it is of a kind that has no name here.
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
