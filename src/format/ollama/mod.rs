//! Ollama's own API: the records of `/api/chat` and `/api/generate`, streamed
//! or as one body.
//!
//! Source: Ollama's API documentation, and `api/types.go` of its source. Each
//! record is whole: a piece of text or of thinking, or whole calls. The one
//! with `done` is the last; its reason is `stop` for calls, too. A body is a
//! stream of one record.

pub(super) mod reply;
mod turn;
mod write;

use serde_json::value::RawValue;

use crate::event::{CallPart, Key};
use crate::format::format::Repeatable;
use crate::format::support::function::Function;
use crate::format::support::many::Many;
use crate::format::support::payload::time;
use crate::format::support::prelude::*;

pub(super) static CHAT: Format = Format {
    aliases: &["ollama"],
    about: "Ollama's /api/chat, stream and body",
    link: "https://docs.ollama.com/api/chat",
    evidence: &["message", "done"],
    sniff: |record| sniff(record, "message", '{'),
    request: Some(&turn::REQUEST),
    write: Some(&write::WRITING),
    ..Format::new("ollama-chat", || Box::new(Ollama::new(&CHAT)))
};

pub(super) static GENERATE: Format = Format {
    about: "Ollama's /api/generate, stream and body",
    link: "https://docs.ollama.com/api/generate",
    evidence: &["response", "done"],
    sniff: |record| sniff(record, "response", '"'),
    ..Format::new("ollama-generate", || Box::new(Ollama::new(&GENERATE)))
};

fn sniff(record: &Record, key: &str, start: char) -> bool {
    let is_record = matches!(record.get("done"), Some("true" | "false"));
    let has_content = record.get(key).is_some_and(|content| content.starts_with(start));
    is_record && has_content
}

/// The count of a prompt that was in the cache is not sent. Durations are in
/// nanoseconds.
const USAGE: &[Row] = &[
    ("prompt_eval_count", Op::Is, &[Field::Input]),
    ("eval_count", Op::Is, &[Field::Output]),
    ("total_duration", Op::Is, &[]),
    ("load_duration", Op::Is, &[]),
    ("prompt_eval_duration", Op::Is, &[]),
    ("eval_duration", Op::Is, &[]),
];

payload! {
    /// A record of a stream, or a body.
    struct Reply<'a> {
        model: Option<Str<'a>>,
        created_at: Option<&'a RawValue>,
        /// `/api/chat`.
        message: Option<Message<'a>>,
        /// `/api/generate`, as are the next three.
        response: Option<Str<'a>>,
        thinking: Option<Str<'a>>,
        tool_calls: Option<Many<ToolCall<'a>>>,
        image: Option<&'a RawValue>,
        done: Option<bool>,
        done_reason: Option<Str<'a>>,
        error: Option<&'a RawValue>,
    }

    struct Message<'a> {
        content: Option<Str<'a>>,
        thinking: Option<Str<'a>>,
        tool_calls: Option<Many<ToolCall<'a>>>,
        images: Option<Vec<&'a RawValue>>,
    }

    /// A whole call. Older servers give it no id, and count from 0 in each record:
    /// the count isn't used.
    struct ToolCall<'a> {
        id: Option<Str<'a>>,
        function: Option<Function<'a>>,
    }
}

struct Ollama {
    message: Lifecycle,
    /// The number of calls so far.
    calls: u64,
    /// True if the last record could repeat: see [`Repeatable`].
    repeats: bool,
}

impl Decoder for Ollama {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        self.repeats = false;
        if frame.is_done() {
            return Ok(());
        }
        read!(&frame, out, |reply: Reply| self.reply(&frame, reply, out))
    }

    fn finish(&mut self, _: &mut EventOut) -> Done {
        Ok(())
    }

    fn repeatable(&self) -> Option<&'static Repeatable> {
        self.repeats.then_some(&Repeatable { unread: &["created_at"], ..Repeatable::TEXT })
    }
}

impl Ollama {
    fn new(row: &'static Format) -> Self {
        Ollama { message: Lifecycle::new(row, USAGE), calls: 0, repeats: false }
    }

    fn reply(&mut self, frame: &Frame, reply: &Reply, out: &mut EventOut) -> Done {
        if reply.done.is_none() && reply.error.is_none() {
            return out.unknown(frame, &Record::new(frame).text("status").unwrap_or_default());
        }
        if !self.message.is_open() {
            self.message.head.created = time(reply.created_at);
        }
        self.message.begin(None, reply.model.non_empty(), out)?;
        self.message(reply, out)?;
        if reply.error.is_none() && reply.done != Some(true) {
            return Ok(());
        }
        let text = frame.text();
        self.message.meter.pick(&text);
        if reply.error.is_some() {
            error::report(&text, out)?;
            return self.end(out);
        }
        out.finish_if(0, reply.done_reason.as_ref())?;
        self.end(out)
    }

    fn message(&mut self, reply: &Reply, out: &mut EventOut) -> Done {
        self.repeats = true;
        let (content, thinking, calls) = match &reply.message {
            Some(message) => (&message.content, &message.thinking, &message.tool_calls),
            None => (&reply.response, &reply.thinking, &reply.tool_calls),
        };
        thinking.iter().try_for_each(|thinking| out.reasoning(0, thinking))?;
        content.iter().try_for_each(|content| out.text(0, content))?;
        let images = reply.message.iter().flat_map(|message| &message.images).flatten();
        for image in images.chain(&reply.image) {
            out.block(0, "image", image.get())?;
        }
        for call in calls.iter().flatten() {
            let key = Key::Index(self.calls);
            self.calls += 1;
            let id = call.id.non_empty();
            let part = CallPart { key, id, ..CallPart::default() };
            match &call.function {
                Some(function) => function.emit(0, part, out)?,
                None => out.call(0, part)?,
            }
            out.call_end(0, key)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.calls = 0;
        self.message.end(out)
    }
}
