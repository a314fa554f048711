//! The fields of a record and of a complete body.

use serde_json::value::RawValue;

use crate::format::support::many::Many;
use crate::format::support::payload::{OptionalStr, payload};
use crate::json::Str;

payload! {
    /// A record of a stream, or a complete body.
    pub(super) struct Event<'a> {
        pub(super) event_type: Option<Str<'a>>,
        pub(super) is_finished: Option<bool>,
        pub(super) id: Option<Str<'a>>,
        pub(super) generation_id: Option<Str<'a>>,
        pub(super) text: Option<Str<'a>>,
        pub(super) tool_call_delta: Option<CallDelta<'a>>,
        pub(super) tool_calls: Option<Many<ToolCall<'a>>>,
        pub(super) citations: Option<&'a RawValue>,
        pub(super) search_queries: Option<&'a RawValue>,
        pub(super) search_results: Option<&'a RawValue>,
        pub(super) documents: Option<&'a RawValue>,
        /// `debug`.
        pub(super) prompt: Option<&'a RawValue>,
        pub(super) finish_reason: Option<Str<'a>>,
        pub(super) error: Option<&'a RawValue>,
        pub(super) meta: Option<&'a RawValue>,
        /// `stream-end`: a complete body, again an [`Event`].
        pub(super) response: Option<&'a RawValue>,
        /// The Generate API: one answer for each choice.
        pub(super) generations: Option<Vec<Generation<'a>>>,
    }
}

impl Event<'_> {
    /// The type of the record; of those without one, only the end is finished.
    pub(super) fn kind(&self) -> Option<&str> {
        let untyped = match self.is_finished {
            Some(true) => Some("stream-end"),
            Some(false) => Some("text-generation"),
            None => None,
        };
        self.event_type.non_empty().or(untyped)
    }

    pub(super) fn is_body(&self) -> bool {
        self.text.is_some() || self.generations.is_some()
    }

    /// True if a complete body says why the model stopped, in one of its choices at least.
    pub(super) fn has_reason(&self) -> bool {
        let of_choices = self.generations.iter().flatten().map(|one| &one.finish_reason);
        of_choices.chain([&self.finish_reason]).any(|raw| raw.reason().is_some())
    }
}

payload! {
    pub(super) struct CallDelta<'a> {
        pub(super) index: Option<u64>,
        pub(super) name: Option<Str<'a>>,
        pub(super) parameters: Option<Str<'a>>,
    }

    pub(super) struct ToolCall<'a> {
        pub(super) name: Option<Str<'a>>,
        pub(super) parameters: Option<&'a RawValue>,
    }

    pub(super) struct Generation<'a> {
        pub(super) text: Option<Str<'a>>,
        pub(super) finish_reason: Option<Str<'a>>,
    }
}
