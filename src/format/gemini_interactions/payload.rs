//! The fields of events, of interactions and of their steps.

use crate::format::support::payload::{OptionalStr, payload};
use crate::json::{RawJson, Str};

payload! {
    /// One event of a stream. What has a table of its own is read when its type
    /// asks for it.
    pub(super) struct InteractionEvent<'a> {
        pub(super) event_type: Option<Str<'a>>,
        /// A complete interaction has this instead of an event's type.
        pub(super) object: Option<Str<'a>>,
        pub(super) index: Option<u64>,
        /// An [`Interaction`].
        pub(super) interaction: Option<RawJson<'a>>,
        pub(super) interaction_id: Option<Str<'a>>,
        pub(super) status: Option<Str<'a>>,
        /// A [`Step`].
        pub(super) step: Option<RawJson<'a>>,
        /// The same in the first beta.
        pub(super) content: Option<RawJson<'a>>,
        /// The fields that a delta adds to a step: a [`Step`] as well.
        pub(super) delta: Option<RawJson<'a>>,
        /// All that was used so far, whatever event it comes with.
        pub(super) usage: Option<RawJson<'a>>,
        pub(super) error: Option<RawJson<'a>>,
        metadata: Option<Metadata<'a>>,
    }
}

impl<'a> InteractionEvent<'a> {
    /// All that was used so far, as it comes beside a delta.
    pub(super) fn metadata_usage(&self) -> Option<RawJson<'a>> {
        let metadata = self.metadata.as_ref()?;
        metadata.total_usage.or(metadata.usage)
    }
}

payload! {
    struct Metadata<'a> {
        usage: Option<RawJson<'a>>,
        total_usage: Option<RawJson<'a>>,
    }

    /// An interaction: as it is when its stream begins or ends, or complete.
    pub(super) struct Interaction<'a> {
        pub(super) id: Option<Str<'a>>,
        pub(super) model: Option<Str<'a>>,
        pub(super) status: Option<Str<'a>>,
        steps: Option<Vec<RawJson<'a>>>,
        /// The steps in the first beta.
        outputs: Option<Vec<RawJson<'a>>>,
        pub(super) usage: Option<RawJson<'a>>,
        pub(super) error: Option<RawJson<'a>>,
    }
}

impl<'a> Interaction<'a> {
    pub(super) fn steps(&self) -> &[RawJson<'a>] {
        self.steps.as_deref().or(self.outputs.as_deref()).unwrap_or_default()
    }
}

payload! {
    /// A step, a piece of its content, or what a delta adds to it: all are told
    /// by their type.
    pub(super) struct Step<'a> {
        kind: Option<Str<'a>> = "type",
        pub(super) text: Option<Str<'a>>,
        pub(super) annotations: Option<Vec<RawJson<'a>>>,
        /// Of a message a list of pieces, of a thought's summary one piece.
        pub(super) content: Option<RawJson<'a>>,
        /// Pieces of what the model thought.
        pub(super) summary: Option<RawJson<'a>>,
        pub(super) signature: Option<Str<'a>>,
        /// Of a call; it may be blank.
        pub(super) id: Option<Str<'a>>,
        name: Option<Str<'a>>,
        /// An object, or a fragment of its text.
        pub(super) arguments: Option<RawJson<'a>>,
        /// Of the call that a result answers.
        pub(super) call_id: Option<Str<'a>>,
        pub(super) result: Option<RawJson<'a>>,
        pub(super) is_error: Option<bool>,
        pub(super) error: Option<RawJson<'a>>,
    }
}

impl Step<'_> {
    pub(super) fn kind(&self) -> &str {
        self.kind.or_empty()
    }

    /// The tool's name: the provider's own tools have theirs in the type.
    pub(super) fn tool(&self) -> Option<&str> {
        let kind = self.kind();
        let own = kind.strip_suffix("_call").or_else(|| kind.strip_suffix("_result"));
        let own = own.filter(|own| !matches!(*own, "function" | "mcp_server_tool"));
        self.name.non_empty().or(own)
    }
}
