//! The fields of an event and of a message.

use serde_json::value::RawValue;

use crate::format::support::payload::{OptionalStr, payload};
use crate::json::Str;

#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Event<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Option<Str<'a>>,
    pub(super) message: Option<Message<'a>>,
    pub(super) assistant_message_event: Option<Update<'a>>,
    pub(super) tool_call_id: Option<Str<'a>>,
    pub(super) tool_name: Option<Str<'a>>,
    pub(super) result: Option<&'a RawValue>,
    pub(super) is_error: Option<bool>,
}

payload!(Event);

#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Message<'a> {
    pub(super) role: Option<Str<'a>>,
    pub(super) response_id: Option<Str<'a>>,
    pub(super) model: Option<Str<'a>>,
    /// [`Block`]s; a user's may be a string.
    pub(super) content: Option<&'a RawValue>,
    pub(super) usage: Option<&'a RawValue>,
    pub(super) stop_reason: Option<Str<'a>>,
    pub(super) error_message: Option<Str<'a>>,
    pub(super) tool_call_id: Option<Str<'a>>,
    pub(super) tool_name: Option<Str<'a>>,
    pub(super) is_error: Option<bool>,
}

/// A block of content.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Block<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Option<Str<'a>>,
    pub(super) text: Option<Str<'a>>,
    pub(super) thinking: Option<Str<'a>>,
    pub(super) thinking_signature: Option<Str<'a>>,
    pub(super) thought_signature: Option<Str<'a>>,
    pub(super) id: Option<Str<'a>>,
    pub(super) name: Option<Str<'a>>,
    pub(super) arguments: Option<&'a RawValue>,
}

payload!(Block);

/// A piece that an update adds to a block.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Update<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Option<Str<'a>>,
    pub(super) content_index: Option<u64>,
    pub(super) delta: Option<Str<'a>>,
    /// The whole text at a block's end.
    pub(super) content: Option<Str<'a>>,
    pub(super) tool_call: Option<Block<'a>>,
}

impl Message<'_> {
    pub(super) fn is_answer(&self) -> bool {
        self.role.text() == Some("assistant")
    }
}
