//! Tool calls, or fragments of them.

use crate::event::{Arguments, CallPart, Key};
use crate::format::openai_chat::payload::{Custom, ToolCall};
use crate::format::support::emit::{Done, EventOut};
use crate::format::support::payload::OptionalStr;

impl ToolCall<'_> {
    /// Emits what it adds to the call that `part` names.
    pub(in crate::format) fn emit(&self, choice: u64, part: CallPart, out: &mut EventOut) -> Done {
        // Snowflake sends both, one of them empty; `convert` does, for clients that know only one.
        let is_function = self.function.as_ref().is_some_and(|function| !function.is_blank());
        let is_custom = |custom: &&Custom<'_>| custom.name.non_empty().is_some() || !is_function;
        if let Some(custom) = self.custom.as_ref().filter(is_custom) {
            let name = custom.name.non_empty();
            let input = custom.input.as_ref();
            let arguments = input.map_or(Arguments::None, |input| Arguments::Free(input.as_str()));
            return out.call(choice, CallPart { name, arguments, ..part });
        }
        match &self.function {
            Some(function) => function.emit(choice, part, out),
            None => out.call(choice, part),
        }
    }
}

/// Emits what a call, or a fragment of one, adds to the choice.
pub(super) fn emit(choice: u64, call: &ToolCall, out: &mut EventOut) -> Done {
    let key = call.index.map_or(Key::None, Key::Index);
    let signature = call.signature();
    let part =
        CallPart { key, id: call.id(), signature: signature.as_deref(), ..CallPart::default() };
    call.emit(choice, part, out)
}
