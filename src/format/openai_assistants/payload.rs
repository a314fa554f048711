//! The fields of runs, of their steps and of messages. An event's payload is
//! one of these, or a delta of one.

use serde_json::value::RawValue;

use crate::format::support::function::Function;
use crate::format::support::payload::Payload;
use crate::json::Str;

#[derive(serde::Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    pub(super) object: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) run_id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) model: Option<Str<'a>>,
    /// Of a message: who wrote it.
    #[serde(borrow)]
    pub(super) role: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) status: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) last_error: Option<&'a RawValue>,
    #[serde(borrow)]
    incomplete_details: Option<Reason<'a>>,
    /// Of a run that waits for its tools.
    #[serde(borrow)]
    pub(super) required_action: Option<RequiredAction<'a>>,
    /// Of a step.
    #[serde(borrow)]
    pub(super) step_details: Option<ToolCalls<'a>>,
    /// Of a message.
    #[serde(borrow)]
    pub(super) content: Option<Vec<Content<'a>>>,
    #[serde(borrow)]
    pub(super) delta: Option<Delta<'a>>,
}

impl<'de> Payload<'de> for Event<'static> {
    type Type = Event<'de>;
}

impl Event<'_> {
    /// Why a run is incomplete.
    pub(super) fn reason(&self) -> Option<&str> {
        self.incomplete_details
            .as_ref()
            .and_then(|details| details.reason.as_ref())
            .and_then(Str::non_empty)
    }
}

#[derive(serde::Deserialize)]
struct Reason<'a> {
    #[serde(borrow)]
    reason: Option<Str<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct RequiredAction<'a> {
    #[serde(borrow)]
    pub(super) submit_tool_outputs: Option<ToolCalls<'a>>,
}

/// What a delta adds to a message or to a step.
#[derive(serde::Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    pub(super) content: Option<Vec<Content<'a>>>,
    #[serde(borrow)]
    pub(super) step_details: Option<ToolCalls<'a>>,
}

/// A part of a message, or what is added to one.
#[derive(serde::Deserialize)]
pub(super) struct Content<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) text: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) refusal: Option<Str<'a>>,
    #[serde(borrow)]
    image_file: Option<&'a RawValue>,
    #[serde(borrow)]
    image_url: Option<&'a RawValue>,
}

impl<'a> Content<'a> {
    /// An image, by its type.
    pub(super) fn image(&self) -> Option<(&'static str, &'a str)> {
        let file = self.image_file.map(|json| ("image_file", json.get()));
        file.or_else(|| self.image_url.map(|json| ("image_url", json.get())))
    }
}

#[derive(serde::Deserialize)]
pub(super) struct Text<'a> {
    #[serde(borrow)]
    pub(super) value: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) annotations: Option<Vec<&'a RawValue>>,
}

#[derive(serde::Deserialize)]
pub(super) struct ToolCalls<'a> {
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<ToolCall<'a>>>,
}

/// A call, or what is added to one.
#[derive(serde::Deserialize)]
pub(super) struct ToolCall<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) function: Option<Function<'a>>,
    /// Tools that the provider runs.
    #[serde(borrow)]
    pub(super) code_interpreter: Option<CodeInterpreter<'a>>,
    #[serde(borrow)]
    pub(super) file_search: Option<FileSearch<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct CodeInterpreter<'a> {
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) outputs: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
pub(super) struct FileSearch<'a> {
    #[serde(borrow)]
    pub(super) ranking_options: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) results: Option<&'a RawValue>,
}
