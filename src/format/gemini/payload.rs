//! The fields of a chunk, of its candidates and of their parts.
//!
//! Servers write `camelCase`; the dumps of SDKs write `snake_case`.

use crate::format::gemini::call::{FunctionCall, FunctionResponse, ServerTool};
use crate::format::support::prelude::*;

payload! {
    /// A `GenerateContentResponse`: a chunk of a stream or a complete body.
    pub(super) struct GeminiChunk<'a> {
        pub(super) candidates: Option<Few<GeminiCandidate<'a>>>,
        pub(super) prompt_feedback: Option<Sourced<'a, Feedback<'a>>>
            = "promptFeedback" | "prompt_feedback",
        pub(super) usage_metadata: Option<RawJson<'a>> = "usageMetadata" | "usage_metadata",
        pub(super) model_version: Option<Str<'a>> = "modelVersion" | "model_version",
        pub(super) create_time: Option<RawJson<'a>> = "createTime" | "create_time",
        pub(super) response_id: Option<Str<'a>> = "responseId" | "response_id",
        pub(super) error: Option<RawJson<'a>>,
        /// Code Assist, and the lines of a batch: the chunk itself.
        pub(super) response: Option<RawJson<'a>>,
    }
}

impl GeminiChunk<'_> {
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

payload! {
    /// The filter's verdict on the prompt.
    pub(super) struct Feedback<'a> {
        pub(super) block_reason: Option<RawJson<'a>> = "blockReason" | "block_reason",
    }

    /// One of the alternative answers.
    pub(super) struct GeminiCandidate<'a> {
        pub(super) content: Option<GeminiContent<'a>>,
        /// A word, or its number where enums are encoded so.
        pub(super) finish_reason: Option<RawJson<'a>> = "finishReason" | "finish_reason",
        pub(super) index: Option<u64>,
        finish_message: Option<Str<'a>> = "finishMessage" | "finish_message",
        citation_metadata: Option<RawJson<'a>> = "citationMetadata" | "citation_metadata",
        grounding_metadata: Option<RawJson<'a>> = "groundingMetadata" | "grounding_metadata",
        url_context_metadata: Option<RawJson<'a>> = "urlContextMetadata" | "url_context_metadata",
        pub(super) logprobs_result: Option<RawJson<'a>> = "logprobsResult" | "logprobs_result",
        /// With which the next request goes on after `CONTINUATION`.
        continuation_token: Option<Str<'a>> = "continuationToken" | "continuation_token",
    }
}

impl<'a> GeminiCandidate<'a> {
    pub(super) fn parts(&self) -> impl Iterator<Item = &Sourced<'a, GeminiPart<'a>>> {
        self.content.iter().flat_map(|content| &content.parts).flatten()
    }

    /// Metadata of the answer.
    pub(super) fn metadata(&self) -> [(&'static str, Option<RawJson<'a>>); 3] {
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

payload! {
    pub(super) struct GeminiContent<'a> {
        pub(super) parts: Option<Few<Sourced<'a, GeminiPart<'a>>>>,
        /// `model`, unless a gateway sends on what the model was sent.
        pub(super) role: Option<Str<'a>>,
    }

    /// A part of an answer: one of its kinds, and flags.
    pub(super) struct GeminiPart<'a> {
        pub(super) text: Option<Str<'a>>,
        /// True if the text is thinking.
        pub(super) thought: Option<bool>,
        pub(super) thought_signature: Option<Str<'a>> = "thoughtSignature" | "thought_signature",
        pub(super) function_call: Option<FunctionCall<'a>> = "functionCall" | "function_call",
        pub(super) function_response: Option<Box<FunctionResponse<'a>>>
            = "functionResponse" | "function_response",
        /// Code that the provider runs.
        pub(super) executable_code: Option<RawJson<'a>> = "executableCode" | "executable_code",
        /// Its result.
        pub(super) code_execution_result: Option<RawJson<'a>>
            = "codeExecutionResult" | "code_execution_result",
        /// A tool that the provider runs.
        pub(super) tool_call: Option<Box<ServerTool<'a>>> = "toolCall" | "tool_call",
        pub(super) tool_response: Option<Box<ServerTool<'a>>> = "toolResponse" | "tool_response",
        inline_data: Option<RawJson<'a>> = "inlineData" | "inline_data",
        file_data: Option<RawJson<'a>> = "fileData" | "file_data",
        audio_transcription: Option<RawJson<'a>> = "audioTranscription" | "audio_transcription",
        ; pub(super) passes_text
    }
}

impl<'a> GeminiPart<'a> {
    /// True for a call, the caller's or the provider's.
    pub(super) fn is_call(&self) -> bool {
        self.function_call.is_some() || self.executable_code.is_some() || self.tool_call.is_some()
    }

    pub(super) fn signature(&self) -> Option<&str> {
        self.thought_signature.non_empty()
    }

    /// Media, by their names.
    pub(super) fn media(&self) -> [(&'static str, Option<RawJson<'a>>); 3] {
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
