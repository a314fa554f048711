//! A function's name and arguments, as OpenAI writes them, and many others.

use crate::event::{Arguments, CallPart};
use crate::format::support::emit::{Done, EventOut};
use crate::format::support::payload::{OptionalStr, payload};
use crate::json::{self, RawJson, Str};

payload! {
    /// A function's name and arguments, or fragments of them.
    pub(crate) struct Function<'a> {
        pub(crate) name: Option<Str<'a>>,
        /// A string of JSON, or what should be in it: LiteLLM's Ollama path, old
        /// TGI and Ollama itself send the object.
        pub(crate) arguments: Option<RawJson<'a>>,
        /// The arguments by the name that Llama's templates and Cohere give them.
        pub(crate) parameters: Option<RawJson<'a>>,
    }
}

impl Function<'_> {
    /// True if any of the arguments are there.
    pub(crate) fn has_arguments(&self) -> bool {
        self.arguments().is_some_and(|json| !matches!(json, "null" | "\"\""))
    }

    /// The JSON of the arguments.
    fn arguments(&self) -> Option<&str> {
        self.arguments.or(self.parameters).map(RawJson::get)
    }

    /// True if it is empty: Snowflake sends all members of all objects,
    /// empty.
    pub(crate) fn is_blank(&self) -> bool {
        let is_empty = |json| matches!(json, "\"\"" | "null");
        self.name.non_empty().is_none() && self.arguments().is_none_or(is_empty)
    }

    /// Emits what the fragment adds to the call that `part` names.
    pub(crate) fn emit(&self, choice: u64, part: CallPart, out: &mut EventOut) -> Done {
        let name = self.name.non_empty();
        emit_arguments(choice, CallPart { name, ..part }, self.arguments(), out)
    }
}

/// Emits what the arguments of a fragment add to the call that `part` names: a string holds a piece
/// of their JSON, any other value is all of them.
pub(crate) fn emit_arguments(
    choice: u64,
    part: CallPart,
    arguments: Option<&str>,
    out: &mut EventOut,
) -> Done {
    let Some(json) = arguments else { return out.call(choice, part) };
    match json::as_str(json) {
        Some(text) => out.call_fragment(choice, part, &text),
        None => out.call(choice, CallPart { arguments: Arguments::Value(json), ..part }),
    }
}
