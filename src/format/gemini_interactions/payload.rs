//! The fields of events, of interactions and of their steps.

use serde_json::value::RawValue;

use crate::format::support::payload::Payload;
use crate::json::Str;

/// One event of a stream. What has a table of its own is read when its type
/// asks for it.
#[derive(serde::Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    pub(super) event_type: Option<Str<'a>>,
    /// A complete interaction has this instead of an event's type.
    #[serde(borrow)]
    pub(super) object: Option<Str<'a>>,
    pub(super) index: Option<u64>,
    /// An [`Interaction`].
    #[serde(borrow)]
    pub(super) interaction: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) interaction_id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) status: Option<Str<'a>>,
    /// A [`Step`].
    #[serde(borrow)]
    pub(super) step: Option<&'a RawValue>,
    /// The same in the first beta.
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    /// What a delta adds to a step: a [`Step`] as well.
    #[serde(borrow)]
    pub(super) delta: Option<&'a RawValue>,
    /// All that was used so far, whatever event it comes with.
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<Metadata<'a>>,
}

impl<'de> Payload<'de> for Event<'static> {
    type Type = Event<'de>;
}

impl<'a> Event<'a> {
    /// All that was used so far, as it comes beside a delta.
    pub(super) fn metadata_usage(&self) -> Option<&'a RawValue> {
        let metadata = self.metadata.as_ref()?;
        metadata.total_usage.or(metadata.usage)
    }
}

#[derive(serde::Deserialize)]
struct Metadata<'a> {
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    total_usage: Option<&'a RawValue>,
}

/// An interaction: as it is when its stream begins or ends, or complete.
#[derive(serde::Deserialize)]
pub(super) struct Interaction<'a> {
    #[serde(borrow)]
    pub(super) id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) model: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) status: Option<Str<'a>>,
    #[serde(borrow)]
    steps: Option<Vec<&'a RawValue>>,
    /// The steps in the first beta.
    #[serde(borrow)]
    outputs: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

impl<'de> Payload<'de> for Interaction<'static> {
    type Type = Interaction<'de>;
}

impl<'a> Interaction<'a> {
    pub(super) fn steps(&self) -> &[&'a RawValue] {
        self.steps.as_deref().or(self.outputs.as_deref()).unwrap_or_default()
    }
}

/// A step, a piece of its content, or what a delta adds to it: all are told
/// by their type.
#[derive(Default, serde::Deserialize)]
pub(super) struct Step<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) annotations: Option<Vec<&'a RawValue>>,
    /// Of a message a list of pieces, of a thought's summary one piece.
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    /// Pieces of what the model thought.
    #[serde(borrow)]
    pub(super) summary: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) signature: Option<Str<'a>>,
    #[serde(borrow)]
    id: Option<Str<'a>>,
    #[serde(borrow)]
    name: Option<Str<'a>>,
    /// An object, or a fragment of its text.
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    call_id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
    pub(super) is_error: Option<bool>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

impl<'de> Payload<'de> for Step<'static> {
    type Type = Step<'de>;
}

impl Step<'_> {
    pub(super) fn kind(&self) -> &str {
        self.kind.as_ref().map(Str::as_str).unwrap_or_default()
    }

    /// The call's id, if it isn't blank.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_ref().map(Str::as_str).filter(|id| !id.trim_ascii().is_empty())
    }

    /// The id of the call that a result answers.
    pub(super) fn call_id(&self) -> Option<&str> {
        self.call_id.as_ref().and_then(Str::non_empty)
    }

    pub(super) fn signature(&self) -> Option<&str> {
        self.signature.as_ref().and_then(Str::non_empty)
    }

    /// The tool's name: the provider's own tools have theirs in the type.
    pub(super) fn tool(&self) -> Option<&str> {
        let kind = self.kind();
        let own = kind.strip_suffix("_call").or_else(|| kind.strip_suffix("_result"));
        let own = own.filter(|own| !matches!(*own, "function" | "mcp_server_tool"));
        self.name.as_ref().and_then(Str::non_empty).or(own)
    }
}
