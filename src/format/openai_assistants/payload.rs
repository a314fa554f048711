//! The fields of runs, of their steps and of messages. An event's payload is
//! one of these, or a delta of one.

use serde_json::value::RawValue;

use crate::format::support::function::Function;
use crate::format::support::payload::payload;
use crate::json::Str;

payload! {
    pub(super) struct Event<'a> {
        pub(super) object: Option<Str<'a>>,
        pub(super) id: Option<Str<'a>>,
        pub(super) run_id: Option<Str<'a>>,
        pub(super) model: Option<Str<'a>>,
        /// Of a message: who wrote it.
        pub(super) role: Option<Str<'a>>,
        pub(super) status: Option<Str<'a>>,
        pub(super) usage: Option<&'a RawValue>,
        pub(super) last_error: Option<&'a RawValue>,
        incomplete_details: Option<Reason<'a>>,
        /// Of a run that waits for its tools.
        pub(super) required_action: Option<RequiredAction<'a>>,
        /// Of a step.
        pub(super) step_details: Option<ToolCalls<'a>>,
        /// Of a message.
        pub(super) content: Option<Vec<Content<'a>>>,
        pub(super) delta: Option<Delta<'a>>,
    }
}

impl Event<'_> {
    /// The reason of an incomplete run.
    pub(super) fn reason(&self) -> Option<&str> {
        self.incomplete_details
            .as_ref()
            .and_then(|details| details.reason.as_ref())
            .and_then(Str::non_empty)
    }
}

payload! {
    struct Reason<'a> {
        reason: Option<Str<'a>>,
    }

    pub(super) struct RequiredAction<'a> {
        pub(super) submit_tool_outputs: Option<ToolCalls<'a>>,
    }

    /// An addition to a message or to a step.
    pub(super) struct Delta<'a> {
        pub(super) content: Option<Vec<Content<'a>>>,
        pub(super) step_details: Option<ToolCalls<'a>>,
    }

    /// A part of a message, or what is added to one.
    pub(super) struct Content<'a> {
        pub(super) index: Option<u64>,
        pub(super) text: Option<Text<'a>>,
        pub(super) refusal: Option<Str<'a>>,
        image_file: Option<&'a RawValue>,
        image_url: Option<&'a RawValue>,
    }
}

impl<'a> Content<'a> {
    /// An image, by its type.
    pub(super) fn image(&self) -> Option<(&'static str, &'a str)> {
        let file = self.image_file.map(|json| ("image_file", json.get()));
        file.or_else(|| self.image_url.map(|json| ("image_url", json.get())))
    }
}

payload! {
    pub(super) struct Text<'a> {
        pub(super) value: Option<Str<'a>>,
        pub(super) annotations: Option<Vec<&'a RawValue>>,
    }

    pub(super) struct ToolCalls<'a> {
        pub(super) tool_calls: Option<Vec<ToolCall<'a>>>,
    }

    /// A call, or what is added to one.
    pub(super) struct ToolCall<'a> {
        pub(super) index: Option<u64>,
        pub(super) id: Option<Str<'a>>,
        pub(super) function: Option<Function<'a>>,
        /// Tools that the provider runs.
        pub(super) code_interpreter: Option<CodeInterpreter<'a>>,
        pub(super) file_search: Option<FileSearch<'a>>,
    }

    pub(super) struct CodeInterpreter<'a> {
        pub(super) input: Option<&'a RawValue>,
        pub(super) outputs: Option<&'a RawValue>,
    }

    pub(super) struct FileSearch<'a> {
        pub(super) ranking_options: Option<&'a RawValue>,
        pub(super) results: Option<&'a RawValue>,
    }
}
