//! Cloudflare Workers AI in its own format: the records of a stream, and the
//! bodies of its REST API.
//!
//! Source: Cloudflare, "Workers AI: text generation", and the models' schemas.
//! A record holds a piece of text, or calls: whole ones without an index, or
//! OpenAI's. REST wraps an answer, which newer models give in a format of
//! another provider, in `result`.

use crate::event::{CallPart, Key, WarningCode};
use crate::format::openai_chat::USAGE;
use crate::format::support::function::Function;
use crate::format::support::many::Many;
use crate::format::support::prelude::*;
use crate::format::{anthropic, gemini, openai_chat, openai_messages, openai_responses, rows};
use crate::json::RawJson;

pub(super) static FORMAT: Format = Format {
    aliases: &["cloudflare"],
    about: "Cloudflare Workers AI's own format, stream and REST body",
    link: "https://developers.cloudflare.com/workers-ai/",
    evidence: &["response", "tool_calls", "success", "result"],
    sniff: |record| is_record(record) || is_wrapper(record),
    ..Format::new("workers-ai", |_| {
        Box::new(WorkersAi { message: Lifecycle::new(&FORMAT, USAGE), calls: 0 })
    })
};

/// The members of a record, and those of a call.
const MEMBERS: [&str; 5] = ["response", "tool_calls", "finish_reason", "usage", "p"];
const CALL_MEMBERS: [&str; 7] =
    ["index", "id", "type", "function", "name", "arguments", "parameters"];

/// True for a record of a stream. Others have a list of calls as well, which were run, or are asked
/// about: with one, a record has nothing that is not ours.
fn is_record(record: &Record) -> bool {
    let is_text = record.get("response").is_some_and(|json| json.starts_with('"'));
    let Some(calls) = record.at("tool_calls") else {
        let others = ["type", "role", "model", "message", "done"];
        return is_text && !others.iter().any(|key| record.has(key));
    };
    let is_call = |call: &&str| {
        json::members(call).iter().all(|(key, _)| CALL_MEMBERS.contains(&key.as_ref()))
    };
    record.names().all(|name| MEMBERS.contains(&name))
        && json::elements(calls).is_some_and(|calls| calls.iter().all(is_call))
}

fn is_wrapper(record: &Record) -> bool {
    let is_answer = |result: Record<'_>| {
        result.has("response") || result.has("tool_calls") || other_format(&result).is_some()
    };
    record.get("success") == Some("true") && record.inner("result").is_some_and(is_answer)
}

/// The formats of other providers that an answer may be in.
static OTHERS: [&Format; 8] = [
    &anthropic::FORMAT,
    &rows::TGI,
    &rows::GEMINI_INTERACTIONS,
    &gemini::FORMAT,
    &openai_responses::FORMAT,
    &rows::OPENAI_COMPLETIONS,
    &openai_chat::FORMAT,
    &openai_messages::FORMAT,
];

/// The format of another provider that an answer is in.
fn other_format(result: &Record) -> Option<&'static Format> {
    OTHERS.into_iter().find(|row| row.accepts(result))
}

payload! {
    /// A record of a stream, or a body.
    struct WorkersReply<'a> {
        /// A string; with a JSON schema, what the model wrote as JSON, and a number
        /// where the model wrote nothing else.
        response: Option<RawJson<'a>>,
        tool_calls: Option<Many<WorkersToolCall<'a>>>,
        finish_reason: Option<Str<'a>>,
        usage: Option<RawJson<'a>>,
        /// Padding, against those who measure the records' lengths.
        p: Option<RawJson<'a>>,
        /// REST: the answer.
        result: Option<RawJson<'a>>,
    }
}

impl WorkersReply<'_> {
    fn is_ours(&self) -> bool {
        self.response.is_some()
            || self.tool_calls.is_some()
            || self.finish_reason.is_some()
            || self.usage.is_some()
            || self.p.is_some()
    }
}

payload! {
    /// A call with its function beside it, as OpenAI has it, or in itself.
    struct WorkersToolCall<'a> {
        index: Option<u64>,
        id: Option<Str<'a>>,
        function: Option<Function<'a>>,
        name: Option<Str<'a>>,
        arguments: Option<RawJson<'a>>,
        parameters: Option<RawJson<'a>>,
    }
}

struct WorkersAi {
    message: Lifecycle,
    /// The number of calls without an index so far.
    calls: u64,
}

impl Decoder for WorkersAi {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return self.end(out);
        }
        read!(&frame, out, |reply: WorkersReply| {
            match reply.result.filter(|_| !self.message.is_open()) {
                Some(result) => self.result(&frame.part(result), out),
                None => self.reply(&frame, reply, out),
            }
        })
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if self.message.state != State::Stopped {
            return self.message.finish(out);
        }
        let message = "the stream ended without `[DONE]`, after its finish reason";
        out.warn(WarningCode::MissingDone, message)?;
        self.end(out)
    }
}

impl WorkersAi {
    /// The answer of a REST body: in this format or, if one knows it, in
    /// another.
    fn result(&mut self, frame: &Frame, out: &mut EventOut) -> Done {
        if let Some(row) = other_format(&Record::new(frame)) {
            let mut decoder = row.decode();
            decoder.feed(*frame, out)?;
            return decoder.finish(out);
        }
        read!(frame, out, |reply: WorkersReply| {
            self.reply(frame, reply, out)?;
            self.end(out)
        })
    }

    fn reply(&mut self, frame: &Frame, reply: &WorkersReply, out: &mut EventOut) -> Done {
        if !reply.is_ours() {
            let is_error = self.message.stray(frame, frame.event_type, out)?;
            return if is_error { self.end(out) } else { Ok(()) };
        }
        self.message.begin(None, None, out)?;
        if let Some(json) = reply.response {
            out.text(0, &json::text(json.get()))?;
        }
        for call in reply.tool_calls.iter().flatten() {
            self.tool_call(call, out)?;
        }
        reply.usage.iter().for_each(|usage| self.message.meter.feed(usage.get()));
        if out.finish_if(0, reply.finish_reason.as_ref())? {
            self.message.stop();
        }
        Ok(())
    }

    /// A call with an index may come in pieces; any other is whole.
    fn tool_call(&mut self, call: &WorkersToolCall, out: &mut EventOut) -> Done {
        let key = Key::Index(call.index.unwrap_or(self.calls));
        let id = call.id.non_empty();
        let (arguments, parameters) = (call.arguments, call.parameters);
        let bare = Function { name: call.name.clone(), arguments, parameters };
        let part = CallPart { key, id, ..CallPart::default() };
        call.function.as_ref().unwrap_or(&bare).emit(0, part, out)?;
        if call.index.is_some() {
            return Ok(());
        }
        self.calls += 1;
        out.call_end(0, key)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        if self.message.is_open() {
            out.call_end(0, Key::None)?;
        }
        self.calls = 0;
        self.message.end(out)
    }
}
