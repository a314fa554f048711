//! Tool calls, or fragments of them.

use serde_json::value::RawValue;

use crate::event::{Arguments, CallPart, Key};
use crate::format::openai_chat::payload::{Delta, Extra};
use crate::format::support::emit::{Done, EventOut};
use crate::format::support::function::Function;
use crate::format::support::payload::OptionalStr;
use crate::json::Str;

/// A tool call, or a fragment of one.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(in crate::format) struct ToolCall<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<Str<'a>>,
    pub(super) function: Option<Function<'a>>,
    pub(super) custom: Option<Custom<'a>>,
    extra_content: Option<Extra<'a>>,
}

impl ToolCall<'_> {
    /// The id, if there is one: Mistral's default is the string "null".
    pub(in crate::format) fn id(&self) -> Option<&str> {
        let id = self.id.text();
        id.filter(|id| !id.trim_ascii().is_empty() && *id != "null")
    }

    pub(in crate::format) fn name(&self) -> Option<&str> {
        let function = self.function.as_ref().and_then(|function| function.name.as_ref());
        let custom = self.custom.as_ref().and_then(|custom| custom.name.as_ref());
        function.and_then(Str::non_empty).or(custom.and_then(Str::non_empty))
    }

    pub(in crate::format) fn signature(&self) -> Option<String> {
        self.extra_content.as_ref()?.signature().map(str::to_owned)
    }

    /// Emits what it adds to the call that `part` names.
    pub(in crate::format) fn emit(&self, choice: u64, part: CallPart, out: &mut EventOut) -> Done {
        // Snowflake sends both, one of them empty.
        let is_function = self.function.as_ref().is_some_and(|function| !function.is_blank());
        if let Some(custom) = self.custom.as_ref().filter(|_| !is_function) {
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

/// A tool that takes free text.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Custom<'a> {
    pub(super) name: Option<Str<'a>>,
    pub(super) input: Option<Str<'a>>,
}

impl Delta<'_> {
    /// The calls that are not in `tool_calls`, by their ids.
    pub(super) fn tool_uses(&self) -> impl Iterator<Item = (Option<&str>, Function<'_>)> {
        let is_call =
            |kind: &Option<Str<'_>>| kind.as_ref().is_some_and(|kind| kind.as_str() == "tool_use");
        let own = (&self.tool_use_id, &self.name, self.input);
        let own = Some(own).filter(|(id, name, input)| {
            is_call(&self.kind) && (id.is_some() || name.is_some() || input.is_some())
        });
        let list = self
            .content_list
            .iter()
            .flatten()
            .filter(move |item| own.is_none() && is_call(&item.kind));
        let list = list.map(|item| item.tool_use.as_deref().unwrap_or(item));
        let list = list.map(|item| (&item.tool_use_id, &item.name, item.input));
        own.into_iter().chain(list).map(|(id, name, arguments)| {
            (id.non_empty(), Function { name: name.clone(), arguments })
        })
    }
}

/// A part of Snowflake's `content_list`. A call is one, or stands inside it.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Listed<'a> {
    #[serde(rename = "type")]
    kind: Option<Str<'a>>,
    tool_use: Option<Box<Listed<'a>>>,
    tool_use_id: Option<Str<'a>>,
    name: Option<Str<'a>>,
    input: Option<&'a RawValue>,
}

/// Emits what a call, or a fragment of one, adds to the choice.
pub(super) fn emit(choice: u64, call: &ToolCall, out: &mut EventOut) -> Done {
    let key = call.index.map_or(Key::None, Key::Index);
    let signature = call.signature();
    let part =
        CallPart { key, id: call.id(), signature: signature.as_deref(), ..CallPart::default() };
    call.emit(choice, part, out)
}
