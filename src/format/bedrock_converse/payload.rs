//! The fields of events, of complete answers and of their blocks.

use serde_json::value::RawValue;

use crate::format::support::payload::{OptionalStr, payload};
use crate::json::Str;

payload! {
    /// One event of a stream, whatever its name.
    pub(super) struct Event<'a> {
        pub(super) content_block_index: Option<u64> = "contentBlockIndex",
        pub(super) start: Option<Start<'a>>,
        pub(super) delta: Option<Delta<'a>>,
        /// `messageStop`, as is the next one.
        pub(super) stop_reason: Option<Str<'a>> = "stopReason",
        pub(super) additional_model_response_fields: Option<&'a RawValue>
            = "additionalModelResponseFields",
        /// `metadata`, as is the next one.
        pub(super) usage: Option<&'a RawValue>,
        pub(super) trace: Option<&'a RawValue>,
    }

    /// The start of a block.
    pub(super) struct Start<'a> {
        pub(super) tool_use: Option<ToolUse<'a>> = "toolUse",
        pub(super) tool_result: Option<ToolResult<'a>> = "toolResult",
        pub(super) image: Option<&'a RawValue>,
    }

    /// An addition to a block.
    pub(super) struct Delta<'a> {
        pub(super) text: Option<Str<'a>>,
        pub(super) tool_use: Option<ToolInput<'a>> = "toolUse",
        pub(super) reasoning_content: Option<Reasoning<'a>> = "reasoningContent",
        pub(super) citation: Option<&'a RawValue>,
        pub(super) tool_result: Option<Vec<&'a RawValue>> = "toolResult",
        pub(super) image: Option<&'a RawValue>,
    }

    /// Arguments, which come in pieces of JSON.
    pub(super) struct ToolInput<'a> {
        pub(super) input: Option<Str<'a>>,
    }

    /// Thinking: in deltas its fields stand here, in complete answers the text and
    /// its signature one level deeper.
    pub(super) struct Reasoning<'a> {
        pub(super) text: Option<Str<'a>>,
        pub(super) signature: Option<Str<'a>>,
        pub(super) redacted_content: Option<Str<'a>> = "redactedContent",
        pub(super) reasoning_text: Option<ReasoningText<'a>> = "reasoningText",
    }

    pub(super) struct ReasoningText<'a> {
        pub(super) text: Option<Str<'a>>,
        pub(super) signature: Option<Str<'a>>,
    }

    /// A call: its beginning, or all of it.
    pub(super) struct ToolUse<'a> {
        pub(super) tool_use_id: Option<Str<'a>> = "toolUseId",
        pub(super) name: Option<Str<'a>>,
        pub(super) input: Option<&'a RawValue>,
        /// `server_tool_use` if the tool is the provider's own.
        pub(super) kind: Option<Str<'a>> = "type",
    }

    /// A result: its beginning, or all of it.
    pub(super) struct ToolResult<'a> {
        pub(super) tool_use_id: Option<Str<'a>> = "toolUseId",
        status: Option<Str<'a>>,
        pub(super) content: Option<Vec<&'a RawValue>>,
    }
}

impl ToolResult<'_> {
    /// True if the tool failed; `None` where the result does not state it.
    pub(super) fn is_error(&self) -> Option<bool> {
        match self.status.text() {
            Some("error") => Some(true),
            Some("success") => Some(false),
            _ => None,
        }
    }
}

payload! {
    /// A complete answer.
    pub(super) struct Body<'a> {
        output: Option<Output<'a>>,
        pub(super) stop_reason: Option<Str<'a>> = "stopReason",
        pub(super) additional_model_response_fields: Option<&'a RawValue>
            = "additionalModelResponseFields",
        pub(super) usage: Option<&'a RawValue>,
        pub(super) trace: Option<&'a RawValue>,
    }

    struct Output<'a> {
        message: Option<Message<'a>>,
    }

    struct Message<'a> {
        /// Each of them a [`Block`].
        content: Option<Vec<&'a RawValue>>,
    }
}

impl<'a> Body<'a> {
    pub(super) fn content(&self) -> &[&'a RawValue] {
        let message = self.output.as_ref().and_then(|output| output.message.as_ref());
        message.and_then(|message| message.content.as_deref()).unwrap_or_default()
    }
}

payload! {
    /// A block of a complete answer.
    pub(super) struct Block<'a> {
        pub(super) text: Option<Str<'a>>,
        pub(super) tool_use: Option<ToolUse<'a>> = "toolUse",
        pub(super) tool_result: Option<ToolResult<'a>> = "toolResult",
        pub(super) reasoning_content: Option<Reasoning<'a>> = "reasoningContent",
        pub(super) citations_content: Option<Citations<'a>> = "citationsContent",
    }

    /// Text, and where it is from.
    pub(super) struct Citations<'a> {
        pub(super) content: Option<Vec<Cited<'a>>>,
        pub(super) citations: Option<Vec<&'a RawValue>>,
    }

    pub(super) struct Cited<'a> {
        pub(super) text: Option<Str<'a>>,
    }
}
