//! The fields of a part of the stream.

use serde_json::value::RawValue;

use crate::format::support::prelude::*;

payload! {
    /// One part. Which fields it has depends on its type.
    pub(super) struct Part<'a> {
        pub(super) kind: Option<Str<'a>> = "type",
        pub(super) message_id: Option<Str<'a>> = "messageId",
        pub(super) message_metadata: Option<&'a RawValue> = "messageMetadata",
        pub(super) delta: Option<Str<'a>>,
        pub(super) tool_call_id: Option<Str<'a>> = "toolCallId",
        pub(super) tool_name: Option<Str<'a>> = "toolName",
        pub(super) input_text_delta: Option<Str<'a>> = "inputTextDelta",
        /// `text` for tools that take no JSON.
        input_encoding: Option<Str<'a>> = "inputEncoding",
        input: Option<&'a RawValue>,
        pub(super) output: Option<&'a RawValue>,
        pub(super) preliminary: Option<bool>,
        pub(super) provider_executed: Option<bool> = "providerExecuted",
        pub(super) error_text: Option<Str<'a>> = "errorText",
        pub(super) reason: Option<Str<'a>>,
        pub(super) finish_reason: Option<Str<'a>> = "finishReason",
        provider_metadata: Option<&'a RawValue> = "providerMetadata",
    }
}

impl Part<'_> {
    pub(super) fn is_text(&self) -> bool {
        self.input_encoding.text() == Some("text")
    }

    /// The input's JSON text, if it has one.
    pub(super) fn input(&self) -> Option<&str> {
        self.input.map(RawValue::get)
    }

    /// To be returned in the next request.
    pub(super) fn signature(&self) -> Option<String> {
        self.provider_word(&["signature", "thoughtSignature"])
    }

    /// Thinking that the provider has encrypted.
    pub(super) fn redacted(&self) -> Option<String> {
        self.provider_word(&["redactedData", "reasoningEncryptedContent"])
    }

    /// A string under the name of whichever provider there is.
    fn provider_word(&self, keys: &[&str]) -> Option<String> {
        let providers = json::members(self.provider_metadata?.get());
        let mut members = providers.iter().flat_map(|(_, provider)| json::members(provider.get()));
        let (_, value) = members.find(|(key, _)| keys.contains(&key.as_ref()))?;
        json::read(value.get()).ok()
    }
}
