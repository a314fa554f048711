//! The marks of a line of Claude Code, and its fields.

use crate::format::support::prelude::*;

/// The verdict on a record: such a line, or none.
pub(super) fn is_ours(record: &Record) -> bool {
    let has_session = record.has("session_id") || record.has("sessionId");
    let is_spoken = || record.inner("message").is_some_and(|message| message.has("role"));
    match record.text("type").as_deref() {
        Some("system") => record.has("subtype"),
        Some("assistant" | "user") => record.has("message"),
        Some("stream_event") => record.has("event"),
        Some("result") => record.has("subtype") || record.has("total_cost_usd"),
        Some("summary") => record.has("leafUuid"),
        Some("file-history-snapshot" | "queue-operation") => true,
        Some(kind) => has_session && PASSED_OVER.contains(&kind),
        None => (record.has("sessionId") && is_spoken()) || is_envelope(record),
    }
}

/// True if a record is Happy's, which stores each line in an envelope.
fn is_envelope(record: &Record) -> bool {
    let is_full = || record.inner("content").is_some_and(|it| it.has("role") && it.has("content"));
    record.has("seq") && record.has("createdAt") && is_full()
}

/// Lines about the program's state, without anything of the answer.
pub(super) const PASSED_OVER: [&str; 30] = [
    "system", "summary", "file-history-snapshot", "queue-operation", "rate_limit_event",
    "tool_progress", "tool_use_summary", "auth_status", "prompt_suggestion", "keep_alive",
    "conversation_reset", "control_request", "control_response", "control_cancel_request",
    "progress", "attachment", "last-prompt", "custom-title", "ai-title", "agent-name",
    "permission-mode", "mode", "pr-link", "tag", "atis-latch", "api-request-shape",
    "api-request-blob", "api-request", "tools-used", "cost-state",
];

payload! {
    /// A line of a stream or of a transcript. Which fields it has depends on its
    /// type.
    pub(super) struct ClaudeLine<'a> {
        pub(super) kind: Option<Str<'a>> = "type",
        pub(super) subtype: Option<Str<'a>>,
        session_id: Option<Str<'a>>,
        /// Transcripts write it so.
        pub(super) session_id_of_transcript: Option<Str<'a>> = "sessionId",
        pub(super) model: Option<Str<'a>>,
        /// A message of Anthropic's API, or a user's.
        pub(super) message: Option<RawJson<'a>>,
        /// An event of Anthropic's API.
        pub(super) event: Option<RawJson<'a>>,
        /// A line in an envelope, or the user's words.
        pub(super) content: Option<RawJson<'a>>,
        /// The API's error, in a message that the program wrote in the model's name.
        error: Option<RawJson<'a>>,
        is_api_error: Option<bool> = "isApiErrorMessage" | "is_api_error_message",
        /// The API's HTTP status, in the same line or in a `result`.
        api_error_status: Option<u64> = "apiErrorStatus" | "api_error_status",
        timestamp: Option<RawJson<'a>>,
        /// The call that a subagent works for.
        parent_tool_use_id: Option<Str<'a>>,
        /// The same in a transcript.
        is_sidechain: Option<bool> = "isSidechain",
        is_meta: Option<bool> = "isMeta",
        /// `result`, as are the others.
        pub(super) is_error: Option<bool>,
        pub(super) result: Option<Str<'a>>,
        pub(super) stop_reason: Option<Str<'a>>,
        pub(super) usage: Option<RawJson<'a>>,
        errors: Option<Vec<Str<'a>>>,
        permission_denials: Option<RawJson<'a>>,
        structured_output: Option<RawJson<'a>>,
    }
}

impl ClaudeLine<'_> {
    pub(super) fn is_of_subagent(&self) -> bool {
        self.parent_tool_use_id.is_some() || self.is_sidechain == Some(true)
    }

    /// True if the line is of a transcript: only there lines have a time.
    pub(super) fn is_of_transcript(&self) -> bool {
        let has_time = self.timestamp.is_some() && self.session_id.is_none();
        self.session_id_of_transcript.is_some() || has_time
    }

    /// Returns the code of the error that a message of a transcript reports: no result says it
    /// again there.
    pub(super) fn api_error(&self) -> Option<String> {
        let is_error = self.is_api_error == Some(true) && self.is_of_transcript();
        let code = self.error.map(|json| json::text(json.get()).into_text().into_owned());
        is_error.then(|| code.unwrap_or_default())
    }

    /// True if a message of a stream reports the API's error: a result says it again.
    pub(super) fn is_api_error_of_stream(&self) -> bool {
        self.is_api_error == Some(true) && !self.is_of_transcript()
    }

    /// Returns the HTTP status of the API's error.
    pub(super) fn status(&self) -> Option<u16> {
        self.api_error_status?.try_into().ok()
    }

    /// Text that the program wrote in the user's name.
    pub(super) fn is_meta(&self) -> bool {
        self.is_meta == Some(true)
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.session_id.as_ref().or(self.session_id_of_transcript.as_ref()).and_then(Str::non_empty)
    }

    /// The failure, in the program's words.
    pub(super) fn failure(&self) -> Option<String> {
        let result = self.result.non_empty().map(str::to_owned);
        let errors: Vec<&str> = self.errors.iter().flatten().map(Str::as_str).collect();
        // Qwen Code's.
        let error = self.error.and_then(|json| json::member(json.get(), "message"));
        let words = || error.and_then(json::string);
        result.or(Some(errors.join("; ")).filter(|text| !text.is_empty())).or_else(words)
    }

    /// The other members of a `result` that are not empty.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let named = [
            ("permission_denials", self.permission_denials),
            ("structured_output", self.structured_output),
        ];
        named.into_iter().filter_map(|(name, json)| {
            let json = json?.get();
            (!matches!(json, "null" | "[]")).then_some((name, json))
        })
    }
}
