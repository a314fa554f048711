//! The fields of calls and of what came of them.

use serde::de::{Deserialize, Deserializer, IgnoredAny};
use serde_json::value::RawValue;

use crate::format::support::payload::{OptionalStr, word};
use crate::json::Str;

/// A call, or a fragment of one: one with nothing in it closes the call.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(in crate::format) struct FunctionCall<'a> {
    id: Option<Str<'a>>,
    name: Option<Str<'a>>,
    args: Option<&'a RawValue>,
    #[serde(alias = "partial_args")]
    partial_args: Option<Vec<PartialArg<'a>>>,
    #[serde(alias = "will_continue")]
    will_continue: Option<bool>,
}

impl<'a> FunctionCall<'a> {
    pub(super) fn id(&self) -> Option<&str> {
        self.id.non_blank()
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.non_empty()
    }

    pub(super) fn args(&self) -> Option<&'a str> {
        self.args.map(RawValue::get)
    }

    pub(super) fn partial_args(&self) -> &[PartialArg<'a>] {
        self.partial_args.as_deref().unwrap_or_default()
    }

    pub(super) fn will_continue(&self) -> bool {
        self.will_continue == Some(true)
    }

    /// True if its arguments come in pieces.
    pub(super) fn is_streamed(&self) -> bool {
        self.will_continue() || !self.partial_args().is_empty()
    }
}

/// A fragment of the argument at a path.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(in crate::format) struct PartialArg<'a> {
    #[serde(alias = "json_path")]
    pub(super) json_path: Option<Str<'a>>,
    #[serde(alias = "string_value")]
    pub(super) string_value: Option<&'a RawValue>,
    #[serde(alias = "number_value")]
    number_value: Option<&'a RawValue>,
    #[serde(alias = "bool_value")]
    bool_value: Option<&'a RawValue>,
    #[serde(default, alias = "null_value")]
    null_value: Present,
    #[serde(alias = "will_continue")]
    pub(super) will_continue: Option<bool>,
}

impl<'a> PartialArg<'a> {
    /// The value, if it is one that is whole at once.
    pub(super) fn scalar(&self) -> Option<&'a str> {
        let value = self.number_value.or(self.bool_value).map(RawValue::get);
        value.or_else(|| self.null_value.0.then_some("null"))
    }
}

/// True if a member is there, be it null.
#[derive(Default)]
struct Present(bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Present(true))
    }
}

/// The result of a call that the caller ran.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(in crate::format) struct FunctionResponse<'a> {
    pub(super) id: Option<Str<'a>>,
    pub(super) name: Option<Str<'a>>,
    pub(super) response: Option<&'a RawValue>,
}

/// A tool on the provider's side: its call or its response.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(in crate::format) struct ServerTool<'a> {
    id: Option<Str<'a>>,
    #[serde(alias = "tool_type")]
    tool_type: Option<Str<'a>>,
    pub(super) args: Option<&'a RawValue>,
    pub(super) response: Option<&'a RawValue>,
}

impl ServerTool<'_> {
    pub(super) fn id(&self) -> Option<&str> {
        self.id.non_blank()
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.tool_type.non_empty()
    }
}

/// The members that code and its result share.
#[derive(Default, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Identified<'a> {
    id: Option<Str<'a>>,
    outcome: Option<&'a RawValue>,
}

impl Identified<'_> {
    pub(super) fn id(&self) -> Option<&str> {
        self.id.non_blank()
    }

    /// True if the code failed; `None` where the result has no outcome.
    pub(super) fn is_error(&self) -> Option<bool> {
        let outcome = word(self.outcome?);
        Some(!(outcome.ends_with("OUTCOME_OK") || outcome == "1"))
    }
}
