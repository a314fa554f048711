//! Mistral's Conversations API: the events of a stream, and complete responses.
//!
//! Source: Mistral's API reference, "Conversations", and the event types of its
//! Python client. The entries of a response are shaped like the events of a
//! stream. No event holds why the model stopped.

use serde_json::value::RawValue;

use crate::event::{CallPart, Executor, Key, Kind, Output, ToolResult};
use crate::format::support::function::Function;
use crate::format::support::many::each;
use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["mistral-agents"],
    about: "Mistral Conversations, stream and body",
    link: "https://docs.mistral.ai/api/endpoint/beta/conversations",
    evidence: &["response_id", "conversation_id", "outputs"],
    sniff,
    ..Format::new("mistral-conversations", |_| {
        Box::new(Conversations { message: Lifecycle::new(&FORMAT, USAGE) })
    })
};

fn sniff(record: &Record) -> bool {
    let kind = record.text("type").unwrap_or_default();
    let is_event = kind.starts_with("conversation.response.")
        || kind.starts_with("tool.execution.")
        || matches!(kind.as_str(), "message.output.delta" | "function.call.delta");
    is_event || record.text("object").as_deref() == Some("conversation.response")
}

/// The tokens of connectors are read by the model, but counted apart.
const USAGE: &[Row] = &[
    ("prompt_tokens", Op::Adds, &[Field::Input]),
    ("connector_tokens", Op::Adds, &[Field::Input]),
    ("completion_tokens", Op::Is, &[Field::Output]),
    ("total_tokens", Op::Is, &[Field::Total]),
];

payload! {
    /// An event of a stream, an entry of a response, or the response.
    struct Event<'a> {
        kind: Option<Str<'a>> = "type",
        conversation_id: Option<Str<'a>>,
        /// The entry that an event belongs to.
        output_index: Option<u64>,
        /// Of an entry, not of a function's call.
        id: Option<Str<'a>>,
        tool_call_id: Option<Str<'a>>,
        name: Option<Str<'a>>,
        arguments: Option<&'a RawValue>,
        /// The output of a tool that Mistral ran.
        info: Option<&'a RawValue>,
        /// A string, a [`Chunk`] or several.
        content: Option<&'a RawValue>,
        outputs: Option<Vec<&'a RawValue>>,
        usage: Option<&'a RawValue>,
    }

    struct Chunk<'a> {
        kind: Option<Str<'a>> = "type",
        text: Option<Str<'a>>,
        /// Again [`Chunk`]s, of text.
        thinking: Option<&'a RawValue>,
    }
}

struct Conversations {
    message: Lifecycle,
}

impl Decoder for Conversations {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return Ok(());
        }
        read!(&frame, out, |event: Event| {
            match &event.outputs {
                Some(entries) => self.response(&frame, event, entries, out),
                None => self.event(&frame, event, out),
            }
        })
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.message.finish(out)
    }
}

impl Conversations {
    fn event(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        match event.kind(frame) {
            "conversation.response.started" => {
                self.message.cut(out)?;
                self.begin(event, out)
            }
            "conversation.response.done" => {
                self.begin(event, out)?;
                self.end(event.usage, out)
            }
            kind if !is_entry(kind) && error::is_error(&Record::new(frame)) => {
                self.begin(event, out)?;
                error::report(&frame.text(), out)?;
                self.end(None, out)
            }
            kind => {
                if is_entry(kind) {
                    self.begin(event, out)?;
                }
                event.emit(frame, event.output_index.map_or(Key::None, Key::Index), out)
            }
        }
    }

    /// A complete response: whole entries.
    fn response(
        &mut self,
        frame: &Frame,
        response: &Event,
        entries: &[&RawValue],
        out: &mut EventOut,
    ) -> Done {
        self.message.cut(out)?;
        self.begin(response, out)?;
        for (json, key) in entries.iter().zip((0..).map(Key::Index)) {
            let frame = frame.part(json);
            read!(&frame, out, |entry: Event| entry.emit(&frame, key, out))?;
        }
        self.end(response.usage, out)
    }

    fn begin(&mut self, event: &Event, out: &mut EventOut) -> Done {
        self.message.begin(event.conversation_id.non_empty(), None, out)
    }

    fn end(&mut self, usage: Option<&RawValue>, out: &mut EventOut) -> Done {
        out.call_end(0, Key::None)?;
        usage.iter().for_each(|usage| self.message.meter.feed(usage.get()));
        self.message.end(out)
    }
}

/// True for what an entry of the conversation, or a piece of one, is called.
fn is_entry(kind: &str) -> bool {
    ["message.", "function.", "tool.", "agent."].iter().any(|start| kind.starts_with(start))
}

impl Event<'_> {
    fn kind<'k>(&'k self, frame: &Frame<'k>) -> &'k str {
        self.kind.non_empty().unwrap_or(frame.event_type)
    }

    /// Emits an entry, or what an event adds to one.
    fn emit(&self, frame: &Frame, key: Key, out: &mut EventOut) -> Done {
        match self.kind(frame) {
            "message.output.delta" | "message.output" => self.emit_content(frame, out),
            "function.call.delta" | "function.call" => self.emit_call(
                self.tool_call_id.as_ref(),
                CallPart { key, ..CallPart::default() },
                out,
            ),
            "tool.execution.started" | "tool.execution.delta" => self.emit_execution(key, out),
            "tool.execution.done" => self.emit_result(key, out),
            "tool.execution" => {
                self.emit_execution(key, out)?;
                self.emit_result(key, out)
            }
            "agent.handoff.started" | "agent.handoff.done" | "agent.handoff" => {
                out.block(0, "agent_handoff", &frame.text())
            }
            kind => out.unknown(frame, kind),
        }
    }

    fn emit_content(&self, frame: &Frame, out: &mut EventOut) -> Done {
        let Some(content) = self.content else { return Ok(()) };
        if content.get().starts_with('"') {
            return out.text(0, &json::read(content.get()).unwrap_or_default());
        }
        for json in each(content.get()) {
            let frame = frame.with(json.as_bytes());
            read!(&frame, out, |chunk: Chunk| chunk.emit(json, out))?;
        }
        Ok(())
    }

    /// A call, or a fragment of one: each repeats the call's id and name.
    fn emit_call(&self, id: Option<&Str>, part: CallPart, out: &mut EventOut) -> Done {
        let (name, arguments) = (self.name.clone(), self.arguments);
        let function = Function { name, arguments, ..Function::default() };
        function.emit(0, CallPart { id: id.and_then(Str::non_empty), ..part }, out)
    }

    /// A call that Mistral runs.
    fn emit_execution(&self, key: Key, out: &mut EventOut) -> Done {
        let executor = Some(Executor::Provider);
        self.emit_call(self.id.as_ref(), CallPart { key, executor, ..CallPart::default() }, out)
    }

    fn emit_result(&self, key: Key, out: &mut EventOut) -> Done {
        if key != Key::None {
            out.call_end(0, key)?;
        }
        let (Some(id), Some(info)) = (&self.id, self.info) else { return Ok(()) };
        let result = ToolResult {
            id: id.as_str(),
            name: self.name.non_empty(),
            output: Output::Json(info.get()),
            ..ToolResult::default()
        };
        out.emit(0, Kind::ToolResult(result))
    }
}

impl Chunk<'_> {
    fn emit(&self, json: &str, out: &mut EventOut) -> Done {
        if let Some(text) = &self.text {
            return out.text(0, text);
        }
        let Some(thinking) = self.thinking else {
            return out.block(0, self.kind.text().unwrap_or("content"), json);
        };
        let thoughts = each(thinking.get()).into_iter();
        let mut thoughts = thoughts.filter_map(|json| json::read::<Chunk<'_>>(json).ok());
        thoughts.try_for_each(|thought| {
            thought.text.as_ref().map_or(Ok(()), |text| out.reasoning(0, text))
        })
    }
}
