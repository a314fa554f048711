//! The reasons to stop: every provider's words, and ours.

use crate::event::FinishReason;
use crate::event::FinishReason::{
    ContentFilter, Error, Length, Other, Pause, Refusal, Stop, ToolCalls,
};

/// Our word for a provider's. Case doesn't matter; an unknown word is `other`.
pub(crate) fn normalise(raw: &str) -> FinishReason {
    TABLE
        .iter()
        .find(|(_, words)| words.iter().any(|word| word.eq_ignore_ascii_case(raw)))
        .map_or(Other, |(reason, _)| *reason)
}

/// Reasons that mean that there is none yet: DashScope writes null as a
/// string, watsonx has a word for it.
pub(crate) fn is_none(raw: &str) -> bool {
    matches!(raw, "" | "null" | "not_finished")
}

/// The words for each reason, which may have several rows.
static TABLE: &[(FinishReason, &[&str])] = &[
    (Stop, &["stop", "eos", "eos_token", "endoftext", "end_turn", "endturn", "stop_sequence"]),
    (Stop, &["complete", "completed", "finish", "finished", "stop_criteria_met", "success"]),
    (Stop, &["succeeded", "word", "load", "unload", "eosfound", "stopstringfound"]),
    (ToolCalls, &["tool_calls", "tool-calls", "function_call", "tool_use", "tool_call"]),
    (ToolCalls, &["requires_action", "tooluse"]),
    (Length, &["length", "max_tokens", "max_output_tokens", "max_completion_tokens"]),
    (Length, &["max_prompt_tokens", "max_messages", "model_length", "token_limit", "limit"]),
    (Length, &["model_context_window_exceeded", "continuation", "error_limit"]),
    (Length, &["exceed_context_size", "maxpredictedtokensreached", "contextlengthreached"]),
    (ContentFilter, &["content_filter", "content-filter", "content_filtered", "safety"]),
    (ContentFilter, &["recitation", "language", "blocklist", "prohibited_content", "spii"]),
    (ContentFilter, &["image_safety", "image_prohibited_content", "image_recitation"]),
    (ContentFilter, &["model_armor", "jailbreak", "escalation", "pup_limited_disabled"]),
    (ContentFilter, &["guardrail_intervened", "error_toxic", "sensitive"]),
    (ContentFilter, &["blacklist"]),
    (Refusal, &["refusal"]),
    (Pause, &["pause_turn", "compaction"]),
    (Error, &["error", "timeout", "failed", "malformed_function_call", "malformed_response"]),
    (Error, &["unexpected_tool_call", "too_many_tool_calls", "missing_thought_signature"]),
    (Error, &["malformed_model_output", "malformed_tool_use", "network_error"]),
    (Error, &["insufficient_system_resource", "abort", "aborted", "error_during_execution"]),
    (Error, &["error_max_turns", "error_max_budget_usd", "error_max_structured_output_retries"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_in_any_case() {
        assert_eq!(normalise("MAX_TOKENS"), Length);
        assert_eq!(normalise("tool_use"), ToolCalls);
        assert_eq!(normalise("something new"), Other);
    }

    #[test]
    fn no_word_stands_twice() {
        let mut words: Vec<_> = TABLE.iter().flat_map(|(_, words)| *words).collect();
        let count = words.len();
        words.sort();
        words.dedup();
        assert_eq!(words.len(), count);
    }
}
