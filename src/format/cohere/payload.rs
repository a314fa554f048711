//! The fields of an event and of a complete body, and the events of a message.

use serde_json::value::RawValue;

use crate::event::{CallPart, Key};
use crate::format::support::function::Function;
use crate::format::support::many::{Many, each};
use crate::format::support::prelude::*;

payload! {
    /// An event of a stream, or a complete body.
    pub(super) struct Event<'a> {
        pub(super) kind: Option<Str<'a>> = "type",
        pub(super) id: Option<Str<'a>>,
        pub(super) index: Option<u64>,
        pub(super) delta: Option<Delta<'a>>,
        /// `debug`.
        pub(super) prompt: Option<&'a RawValue>,
        /// Bodies, as are the next two: a [`Message`]. Errors: what went wrong.
        pub(super) message: Option<&'a RawValue>,
        pub(super) finish_reason: Option<Str<'a>>,
        pub(super) usage: Option<&'a RawValue>,
    }

    pub(super) struct Delta<'a> {
        pub(super) message: Option<Message<'a>>,
        /// `message-end`, as are the next two.
        pub(super) finish_reason: Option<Str<'a>>,
        pub(super) usage: Option<&'a RawValue>,
        pub(super) error: Option<&'a RawValue>,
    }

    /// A whole message, or what an event adds to one.
    pub(super) struct Message<'a> {
        pub(super) content: Option<Many<Content<'a>>>,
        pub(super) tool_plan: Option<Str<'a>>,
        pub(super) tool_calls: Option<Many<ToolCall<'a>>>,
        pub(super) citations: Option<&'a RawValue>,
    }

    pub(super) struct Content<'a> {
        pub(super) text: Option<Str<'a>>,
        pub(super) thinking: Option<Str<'a>>,
    }

    pub(super) struct ToolCall<'a> {
        pub(super) id: Option<Str<'a>>,
        pub(super) function: Option<Function<'a>>,
    }
}

impl Message<'_> {
    /// Emits what an event adds. `key` is the event's index, which counts calls
    /// where it is one of a call.
    pub(super) fn emit(&self, key: Key, out: &mut EventOut) -> Done {
        self.emit_words(out)?;
        for call in self.tool_calls.iter().flatten() {
            call.emit(key, out)?;
        }
        self.emit_citations(out)
    }

    /// Emits a complete message, whose calls are whole.
    pub(super) fn emit_whole(&self, out: &mut EventOut) -> Done {
        self.emit_words(out)?;
        let calls = self.tool_calls.iter().flatten();
        for (call, key) in calls.zip((0..).map(Key::Index)) {
            call.emit(key, out)?;
            out.call_end(0, key)?;
        }
        self.emit_citations(out)
    }

    /// The plan is what the model thinks before its calls.
    fn emit_words(&self, out: &mut EventOut) -> Done {
        if let Some(plan) = &self.tool_plan {
            out.reasoning(0, plan)?;
        }
        for content in self.content.iter().flatten() {
            if let Some(thinking) = &content.thinking {
                out.reasoning(0, thinking)?;
            }
            if let Some(text) = &content.text {
                out.text(0, text)?;
            }
        }
        Ok(())
    }

    fn emit_citations(&self, out: &mut EventOut) -> Done {
        self.citations.into_iter().flat_map(each).try_for_each(|one| out.block(0, "citation", one))
    }
}

impl ToolCall<'_> {
    fn emit(&self, key: Key, out: &mut EventOut) -> Done {
        let id = self.id.non_empty();
        let part = CallPart { key, id, ..CallPart::default() };
        match &self.function {
            Some(function) => function.emit(0, part, out),
            None => out.call(0, part),
        }
    }
}
