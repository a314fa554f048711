//! The fields of a record and of a complete body.

use serde_json::value::RawValue;

use crate::format::support::payload::Payload;
use crate::json::Str;

/// A record of a stream, or a complete body.
#[derive(serde::Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    pub(super) event_type: Option<Str<'a>>,
    pub(super) is_finished: Option<bool>,
    #[serde(borrow)]
    pub(super) id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) generation_id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) tool_call_delta: Option<CallDelta<'a>>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<ToolCall<'a>>>,
    #[serde(borrow)]
    pub(super) citations: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) search_queries: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) search_results: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) documents: Option<&'a RawValue>,
    /// `debug`.
    #[serde(borrow)]
    pub(super) prompt: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) meta: Option<&'a RawValue>,
    /// `stream-end`: a complete body, again an [`Event`].
    #[serde(borrow)]
    pub(super) response: Option<&'a RawValue>,
    /// The Generate API: one answer for each choice.
    #[serde(borrow)]
    pub(super) generations: Option<Vec<Generation<'a>>>,
}

impl<'de> Payload<'de> for Event<'static> {
    type Type = Event<'de>;
}

impl Event<'_> {
    /// What the record is; of those without a type, only the end is finished.
    pub(super) fn kind(&self) -> Option<&str> {
        let untyped = match self.is_finished {
            Some(true) => Some("stream-end"),
            Some(false) => Some("text-generation"),
            None => None,
        };
        self.event_type.as_ref().and_then(Str::non_empty).or(untyped)
    }

    pub(super) fn is_body(&self) -> bool {
        self.text.is_some() || self.generations.is_some()
    }
}

#[derive(serde::Deserialize)]
pub(super) struct CallDelta<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) parameters: Option<Str<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct ToolCall<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) parameters: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
pub(super) struct Generation<'a> {
    #[serde(borrow)]
    pub(super) text: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Str<'a>>,
}
