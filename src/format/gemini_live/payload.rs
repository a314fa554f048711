//! The fields of a record, of a turn's content and of what the client sends.

use crate::format::gemini::{FunctionCall, FunctionResponse, GeminiContent, GeminiPart};
use crate::format::support::payload::{OptionalStr, payload};
use crate::json::{RawJson, Sourced, Str};

payload! {
    /// A record of either side: one of its kinds, and what it cost.
    pub(super) struct LiveMessage<'a> {
        setup_complete: Option<RawJson<'a>> = "setupComplete" | "setup_complete",
        pub(super) server_content: Option<ServerContent<'a>> = "serverContent" | "server_content",
        pub(super) tool_call: Option<LiveToolCall<'a>> = "toolCall" | "tool_call",
        pub(super) tool_call_cancellation: Option<RawJson<'a>>
            = "toolCallCancellation" | "tool_call_cancellation",
        pub(super) usage_metadata: Option<RawJson<'a>> = "usageMetadata" | "usage_metadata",
        pub(super) error: Option<RawJson<'a>>,
        /// The client's.
        setup: Option<Setup<'a>>,
        /// The client's: what came of calls.
        tool_response: Option<ToolResponse<'a>> = "toolResponse" | "tool_response",
        /// The client's, as are the next two.
        client_content: Option<RawJson<'a>> = "clientContent" | "client_content",
        realtime_input: Option<RawJson<'a>> = "realtimeInput" | "realtime_input",
        context_update: Option<RawJson<'a>> = "contextUpdate" | "context_update",
        /// Of the session, as are all that follow.
        go_away: Option<RawJson<'a>> = "goAway" | "go_away",
        session_resumption_update: Option<RawJson<'a>>
            = "sessionResumptionUpdate" | "session_resumption_update",
        voice_activity: Option<RawJson<'a>> = "voiceActivity" | "voice_activity",
        voice_activity_detection_signal: Option<RawJson<'a>>
            = "voiceActivityDetectionSignal" | "voice_activity_detection_signal",
    }
}

impl<'a> LiveMessage<'a> {
    /// True if a session begins.
    pub(super) fn is_setup(&self) -> bool {
        self.setup.is_some() || self.setup_complete.is_some()
    }

    pub(super) fn model(&self) -> Option<&str> {
        self.setup.as_ref()?.model.non_empty()
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &FunctionCall<'a>> {
        self.tool_call.iter().flat_map(|call| &call.function_calls).flatten()
    }

    pub(super) fn tool_responses(&self) -> impl Iterator<Item = &FunctionResponse<'a>> {
        self.tool_response.iter().flat_map(|response| &response.function_responses).flatten()
    }

    /// True if it emits what was used, and nothing else.
    pub(super) fn is_only_usage(&self) -> bool {
        self.usage_metadata.is_some() && self.server_content.is_none() && self.tool_call.is_none()
    }

    /// True if it is of a kind that has a name here.
    pub(super) fn is_named(&self) -> bool {
        let is_client = self.client_content.is_some()
            || self.realtime_input.is_some()
            || self.context_update.is_some()
            || self.tool_response.is_some();
        let is_session = self.go_away.is_some()
            || self.session_resumption_update.is_some()
            || self.voice_activity.is_some()
            || self.voice_activity_detection_signal.is_some();
        let is_turn = self.server_content.is_some()
            || self.tool_call.is_some()
            || self.tool_call_cancellation.is_some()
            || self.usage_metadata.is_some();
        is_client || is_session || is_turn || self.is_setup()
    }
}

payload! {
    struct Setup<'a> {
        model: Option<Str<'a>>,
    }

    pub(super) struct LiveToolCall<'a> {
        function_calls: Option<Vec<FunctionCall<'a>>> = "functionCalls" | "function_calls",
    }

    struct ToolResponse<'a> {
        function_responses: Option<Vec<FunctionResponse<'a>>>
            = "functionResponses" | "function_responses",
    }

    /// The part of a record that adds to a turn.
    pub(super) struct ServerContent<'a> {
        model_turn: Option<GeminiContent<'a>> = "modelTurn" | "model_turn",
        /// The answer, where it is spoken.
        pub(super) output_transcription: Option<Transcription<'a>>
            = "outputTranscription" | "output_transcription",
        /// A transcript of the user's speech.
        pub(super) input_transcription: Option<Transcription<'a>>
            = "inputTranscription" | "input_transcription",
        pub(super) turn_complete: Option<bool> = "turnComplete" | "turn_complete",
        pub(super) turn_complete_reason: Option<RawJson<'a>>
            = "turnCompleteReason" | "turn_complete_reason",
        pub(super) interrupted: Option<bool>,
        grounding_metadata: Option<RawJson<'a>> = "groundingMetadata" | "grounding_metadata",
        url_context_metadata: Option<RawJson<'a>> = "urlContextMetadata" | "url_context_metadata",
    }
}

impl<'a> ServerContent<'a> {
    pub(super) fn parts(&self) -> impl Iterator<Item = &Sourced<'a, GeminiPart<'a>>> {
        self.model_turn.iter().flat_map(|turn| &turn.parts).flatten()
    }

    /// Metadata of the turn.
    pub(super) fn metadata(&self) -> [(&'static str, Option<RawJson<'a>>); 2] {
        [
            ("grounding_metadata", self.grounding_metadata),
            ("url_context_metadata", self.url_context_metadata),
        ]
    }
}

payload! {
    /// Speech as text, piece by piece.
    pub(super) struct Transcription<'a> {
        text: Option<Str<'a>>,
    }
}

impl<'a> Transcription<'a> {
    pub(super) fn text(&self) -> Option<&Str<'a>> {
        self.text.as_ref().filter(|text| !text.is_empty())
    }
}
