//! The fields of events, of complete answers and of their blocks.

use serde_json::value::RawValue;

use crate::format::support::payload::{OptionalStr, payload};
use crate::json::Str;

/// One event of a stream, whatever its name.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Event<'a> {
    pub(super) content_block_index: Option<u64>,
    pub(super) start: Option<Start<'a>>,
    pub(super) delta: Option<Delta<'a>>,
    /// `messageStop`, as is the next one.
    pub(super) stop_reason: Option<Str<'a>>,
    pub(super) additional_model_response_fields: Option<&'a RawValue>,
    /// `metadata`, as is the next one.
    pub(super) usage: Option<&'a RawValue>,
    pub(super) trace: Option<&'a RawValue>,
}

payload!(Event);

/// The start of a block.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Start<'a> {
    pub(super) tool_use: Option<ToolUse<'a>>,
    pub(super) tool_result: Option<ToolResult<'a>>,
    pub(super) image: Option<&'a RawValue>,
}

/// An addition to a block.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Delta<'a> {
    pub(super) text: Option<Str<'a>>,
    pub(super) tool_use: Option<ToolInput<'a>>,
    pub(super) reasoning_content: Option<Reasoning<'a>>,
    pub(super) citation: Option<&'a RawValue>,
    pub(super) tool_result: Option<Vec<&'a RawValue>>,
    pub(super) image: Option<&'a RawValue>,
}

/// Arguments, which come in pieces of JSON.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct ToolInput<'a> {
    pub(super) input: Option<Str<'a>>,
}

/// Thinking: in deltas its fields stand here, in complete answers the text and
/// its signature one level deeper.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Reasoning<'a> {
    pub(super) text: Option<Str<'a>>,
    pub(super) signature: Option<Str<'a>>,
    pub(super) redacted_content: Option<Str<'a>>,
    pub(super) reasoning_text: Option<ReasoningText<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct ReasoningText<'a> {
    pub(super) text: Option<Str<'a>>,
    pub(super) signature: Option<Str<'a>>,
}

/// A call: its beginning, or all of it.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct ToolUse<'a> {
    pub(super) tool_use_id: Option<Str<'a>>,
    pub(super) name: Option<Str<'a>>,
    pub(super) input: Option<&'a RawValue>,
    /// `server_tool_use` if the tool is the provider's own.
    #[serde(rename = "type")]
    pub(super) kind: Option<Str<'a>>,
}

/// A result: its beginning, or all of it.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct ToolResult<'a> {
    pub(super) tool_use_id: Option<Str<'a>>,
    status: Option<Str<'a>>,
    pub(super) content: Option<Vec<&'a RawValue>>,
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

/// A complete answer.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Body<'a> {
    output: Option<Output<'a>>,
    pub(super) stop_reason: Option<Str<'a>>,
    pub(super) additional_model_response_fields: Option<&'a RawValue>,
    pub(super) usage: Option<&'a RawValue>,
    pub(super) trace: Option<&'a RawValue>,
}

payload!(Body);

#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Output<'a> {
    message: Option<Message<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Message<'a> {
    /// Each of them a [`Block`].
    content: Option<Vec<&'a RawValue>>,
}

impl<'a> Body<'a> {
    pub(super) fn content(&self) -> &[&'a RawValue] {
        let message = self.output.as_ref().and_then(|output| output.message.as_ref());
        message.and_then(|message| message.content.as_deref()).unwrap_or_default()
    }
}

/// A block of a complete answer.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Block<'a> {
    pub(super) text: Option<Str<'a>>,
    pub(super) tool_use: Option<ToolUse<'a>>,
    pub(super) tool_result: Option<ToolResult<'a>>,
    pub(super) reasoning_content: Option<Reasoning<'a>>,
    pub(super) citations_content: Option<Citations<'a>>,
}

payload!(Block);

/// Text, and where it is from.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Citations<'a> {
    pub(super) content: Option<Vec<Cited<'a>>>,
    pub(super) citations: Option<Vec<&'a RawValue>>,
}

#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Cited<'a> {
    pub(super) text: Option<Str<'a>>,
}
