//! The fields of an event and of a message.

use serde_json::value::RawValue;

use crate::format::support::payload::{OptionalStr, payload};
use crate::json::Str;

payload! {
    pub(super) struct PiEvent<'a> {
        pub(super) kind: Option<Str<'a>> = "type",
        pub(super) message: Option<PiMessage<'a>>,
        pub(super) assistant_message_event: Option<Update<'a>> = "assistantMessageEvent",
        pub(super) tool_call_id: Option<Str<'a>> = "toolCallId",
        pub(super) tool_name: Option<Str<'a>> = "toolName",
        pub(super) result: Option<&'a RawValue>,
        pub(super) is_error: Option<bool> = "isError",
    }

    pub(super) struct PiMessage<'a> {
        pub(super) role: Option<Str<'a>>,
        pub(super) response_id: Option<Str<'a>> = "responseId",
        pub(super) model: Option<Str<'a>>,
        /// [`PiBlock`]s; a user's may be a string.
        pub(super) content: Option<&'a RawValue>,
        pub(super) usage: Option<&'a RawValue>,
        pub(super) stop_reason: Option<Str<'a>> = "stopReason",
        pub(super) error_message: Option<Str<'a>> = "errorMessage",
        pub(super) tool_call_id: Option<Str<'a>> = "toolCallId",
        pub(super) tool_name: Option<Str<'a>> = "toolName",
        pub(super) is_error: Option<bool> = "isError",
    }

    /// A block of content.
    pub(super) struct PiBlock<'a> {
        pub(super) kind: Option<Str<'a>> = "type",
        pub(super) text: Option<Str<'a>>,
        pub(super) thinking: Option<Str<'a>>,
        pub(super) thinking_signature: Option<Str<'a>> = "thinkingSignature",
        pub(super) thought_signature: Option<Str<'a>> = "thoughtSignature",
        pub(super) id: Option<Str<'a>>,
        pub(super) name: Option<Str<'a>>,
        pub(super) arguments: Option<&'a RawValue>,
    }

    /// A piece that an update adds to a block.
    pub(super) struct Update<'a> {
        pub(super) kind: Option<Str<'a>> = "type",
        pub(super) content_index: Option<u64> = "contentIndex",
        pub(super) delta: Option<Str<'a>>,
        /// The whole text at a block's end.
        pub(super) content: Option<Str<'a>>,
        pub(super) tool_call: Option<PiBlock<'a>> = "toolCall",
    }
}

impl PiMessage<'_> {
    pub(super) fn is_answer(&self) -> bool {
        self.role.text() == Some("assistant")
    }
}
