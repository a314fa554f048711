//! The data stream protocol of Vercel's AI SDK, versions 3 and 4.
//!
//! Source: AI SDK 4 documentation, "Stream Protocols" (data stream), and the
//! package `@ai-sdk/ui-utils`. Each line is a code, a colon and a JSON value;
//! the framing `ai-data` makes the code the frame's name. `e` ends a step, `d`
//! the message; what the application appends (`2`, `8`) may still follow `d`.
//! Calls that were run on the way have their result after them; those that have
//! none when the text goes on, or when the step ends, are the caller's to run.

use serde_json::value::RawValue;

use crate::event::{Arguments, CallPart, Output, ToolResult};
use crate::format::openai_chat::reply::REPLY as OPENAI;
use crate::format::reply::Reply;
use crate::format::support::prelude::*;
use crate::json::quote;

pub(super) static FORMAT: Format = Format {
    aliases: &["ai-sdk-data-v1", "ai-sdk-v4"],
    about: "Vercel AI SDK, data stream (versions 3 and 4)",
    link: "https://ai-sdk.dev/v4/docs/ai-sdk-ui/stream-protocol",
    evidence: &[],
    sniff: |record| record.framing.is_coded(),
    ..Format::new("ai-sdk-data", |_| {
        Box::new(AiSdkData { message: Lifecycle::new(&FORMAT, USAGE), calls: Calls::default() })
    })
};

pub(super) static REPLY: Reply = Reply {
    formats: &[&FORMAT],
    headers: &[("x-vercel-ai-data-stream", "v1")],
    record: |trouble| ("3", quote(trouble.message)),
    ..OPENAI
};

const USAGE: &[Row] = &[
    ("promptTokens", Op::Is, &[Field::Input]),
    ("completionTokens", Op::Is, &[Field::Output]),
    ("totalTokens", Op::Is, &[Field::Total]),
];

payload! {
    /// The values that are objects. Which fields they have depends on the code.
    struct Value<'a> {
        message_id: Option<Str<'a>> = "messageId",
        signature: Option<Str<'a>>,
        data: Option<Str<'a>>,
        tool_call_id: Option<Str<'a>> = "toolCallId",
        tool_name: Option<Str<'a>> = "toolName",
        args_text_delta: Option<Str<'a>> = "argsTextDelta",
        args: Option<&'a RawValue>,
        result: Option<&'a RawValue>,
        finish_reason: Option<Str<'a>> = "finishReason",
        usage: Option<&'a RawValue>,
        /// OpenAI's assistants.
        content: Option<Vec<Content<'a>>>,
    }

    struct Content<'a> {
        text: Option<Text<'a>>,
    }

    struct Text<'a> {
        value: Option<Str<'a>>,
    }
}

/// A message has stopped at its `d`: only the application's own data may follow.
struct AiSdkData {
    message: Lifecycle,
    calls: Calls,
}

impl Decoder for AiSdkData {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        let text = frame.text();
        if matches!(frame.event_type, "0" | "g" | "3" | "d" | "e" | "f") {
            self.calls.release(out)?;
        }
        match frame.event_type {
            "0" | "g" => {
                self.begin(None, out)?;
                match (serde_json::from_slice(frame.data), frame.event_type) {
                    (Ok(text), "g") => out.reasoning(0, &text),
                    (Ok(text), _) => out.text(0, &text),
                    (Err(_), _) => out.malformed(&frame, "a piece of text is not a JSON string"),
                }
            }
            "3" => {
                self.begin(None, out)?;
                error::report(&text, out)
            }
            "2" => self.block("data", &text, out),
            "8" => self.block("annotations", &text, out),
            "6" => self.block("data_message", &text, out),
            "h" => self.block("source", &text, out),
            "k" => self.block("file", &text, out),
            "4" | "5" | "9" | "a" | "b" | "c" | "d" | "e" | "f" | "i" | "j" => {
                read!(&frame, out, |value: Value| self.value(frame.event_type, value, out))
            }
            code => out.unknown(&frame, code),
        }
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.message.finish(out)
    }
}

impl AiSdkData {
    fn value(&mut self, code: &str, value: &Value, out: &mut EventOut) -> Done {
        self.begin(value.message_id.non_empty(), out)?;
        match code {
            "4" => {
                let texts = value
                    .content
                    .iter()
                    .flatten()
                    .filter_map(|part| part.text.as_ref()?.value.as_ref());
                texts.into_iter().try_for_each(|text| out.text(0, text))
            }
            "9" | "a" | "b" | "c" => self.call(code, value, out),
            "d" => {
                // It holds the sum of all steps.
                if let Some(usage) = value.usage.filter(|usage| usage.get().starts_with('{')) {
                    self.message.meter.reset();
                    self.message.meter.feed(usage.get());
                }
                self.message.stop();
                out.finish_if(0, value.finish_reason.as_ref()).map(|_| ())
            }
            "e" => {
                self.message.meter.part();
                self.message.meter.feed(value.usage.map_or("", RawValue::get));
                Ok(())
            }
            "i" => value.data.as_ref().map_or(Ok(()), |data| out.redacted(0, data.as_str())),
            "j" => value
                .signature
                .as_ref()
                .map_or(Ok(()), |signature| out.signature(0, signature.as_str())),
            // `5` and `f` begin a message and a step.
            _ => Ok(()),
        }
    }

    fn call(&mut self, code: &str, value: &Value, out: &mut EventOut) -> Done {
        let id = value.tool_call_id.or_empty();
        let name = value.tool_name.non_empty();
        let call =
            CallPart { id: Some(id), name, is_undecided: code != "c", ..CallPart::default() };
        match code {
            "a" => {
                let output = Output::Json(value.result.map_or("null", RawValue::get));
                self.calls.result(ToolResult { id, output, ..ToolResult::default() }, out)
            }
            "b" => self.calls.part(call, out).map(drop),
            "c" => value
                .args_text_delta
                .as_ref()
                .map_or(Ok(()), |text| self.calls.fragment(call, text, out)),
            _ => {
                let arguments =
                    value.args.map_or(Arguments::None, |json| Arguments::Done(json.get()));
                let key = self.calls.part(CallPart { arguments, ..call }, out)?;
                self.calls.hold(key, out)
            }
        }
    }

    fn block(&mut self, name: &str, json: &str, out: &mut EventOut) -> Done {
        self.message.begin(None, None, out)?;
        out.block(0, name, json)
    }

    /// A message begins, unless one is open.
    fn begin(&mut self, id: Option<&str>, out: &mut EventOut) -> Done {
        if self.message.state == State::Stopped {
            self.end(out)?;
        }
        self.message.begin(id, None, out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.calls = Calls::default();
        self.message.end(out)
    }
}
