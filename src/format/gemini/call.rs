//! The fields of calls and of what came of them.

use crate::format::support::prelude::*;
use crate::json::{FromJson, ReadError, Reader};

payload! {
    /// A call, or a fragment of one: one with nothing in it closes the call.
    pub(super) struct FunctionCall<'a> {
        pub(super) id: Option<Str<'a>>,
        pub(super) name: Option<Str<'a>>,
        pub(super) args: Option<RawJson<'a>>,
        partial_args: Option<Vec<PartialArg<'a>>> = "partialArgs" | "partial_args",
        will_continue: Option<bool> = "willContinue" | "will_continue",
        ; passes_value
    }
}

impl<'a> FunctionCall<'a> {
    pub(super) fn partial_args(&self) -> &[PartialArg<'a>] {
        self.partial_args.as_deref().unwrap_or_default()
    }

    pub(super) fn will_continue(&self) -> bool {
        self.will_continue == Some(true)
    }

    /// True if its arguments may stand in a member that is none of theirs.
    pub(super) fn loses_arguments(&self) -> bool {
        self.passes_value && self.args.is_none() && self.partial_args().is_empty()
    }

    /// True if its arguments come in pieces.
    pub(super) fn is_streamed(&self) -> bool {
        self.will_continue() || !self.partial_args().is_empty()
    }
}

payload! {
    /// A fragment of the argument at a path.
    pub(super) struct PartialArg<'a> {
        pub(super) json_path: Option<Str<'a>> = "jsonPath" | "json_path",
        pub(super) string_value: Option<RawJson<'a>> = "stringValue" | "string_value",
        number_value: Option<RawJson<'a>> = "numberValue" | "number_value",
        bool_value: Option<RawJson<'a>> = "boolValue" | "bool_value",
        null_value: Present = "nullValue" | "null_value",
        pub(super) will_continue: Option<bool> = "willContinue" | "will_continue",
        ; pub(super) passes_value
    }
}

impl<'a> PartialArg<'a> {
    /// The value, if it is one that is whole at once. A number may come in quotes, as protobuf's
    /// JSON has it.
    pub(super) fn scalar(&self) -> Option<&'a str> {
        let number = self.number_value.map(|json| json.get().trim_matches('"'));
        let value = number.or(self.bool_value.map(RawJson::get));
        value.or_else(|| self.null_value.0.then_some("null"))
    }
}

/// True if a member is there, be it null.
#[derive(Default)]
struct Present(bool);

impl<'t> FromJson<'t> for Present {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self, ReadError> {
        reader.skip().map(|()| Present(true))
    }
}

payload! {
    /// The result of a call that the caller ran.
    pub(super) struct FunctionResponse<'a> {
        pub(super) id: Option<Str<'a>>,
        pub(super) name: Option<Str<'a>>,
        pub(super) response: Option<RawJson<'a>>,
    }

    /// A tool on the provider's side: its call or its response.
    pub(super) struct ServerTool<'a> {
        pub(super) id: Option<Str<'a>>,
        pub(super) tool_type: Option<Str<'a>> = "toolType" | "tool_type",
        pub(super) args: Option<RawJson<'a>>,
        pub(super) response: Option<RawJson<'a>>,
    }
}
