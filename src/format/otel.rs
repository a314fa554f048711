//! Traces and logs of OpenTelemetry, as OTLP's JSON has them: the messages of its conventions for
//! generative AI.
//!
//! Source: OpenTelemetry, "Semantic conventions for generative client AI spans" and "… events", and
//! the JSON schema of `gen_ai.output.messages`; "OTLP/JSON". Each span, and each record of a log, that
//! has such messages is an answer: whole, with parts. Attributes are a list of keys and values, and
//! messages are a value of OTLP, or JSON in a string. What was asked, `gen_ai.input.messages`, is what
//! the answer's prompts are: in it are the calls and results of before, which nobody has to run.

use crate::event::Prompt;
use crate::format::support::emit::{Slot, output};
use crate::format::support::prelude::*;
use crate::format::support::usage::Meter;

pub(super) static FORMAT: Format = Format {
    aliases: &["opentelemetry", "otlp"],
    about: "OpenTelemetry's traces and logs (OTLP JSON) with messages of generative AI",
    link: "https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/",
    evidence: &["resourceSpans", "resourceLogs"],
    sniff: |record| {
        let tops = ["resourceSpans", "resourceLogs"];
        tops.iter().any(|top| record.get(top).is_some_and(|json| json.starts_with('[')))
    },
    ..Format::new("otel", |_| Box::<Otel>::default())
};

const USAGE: &[CountRule] = &[
    ("input_tokens", Op::Is, &[Field::Input]),
    ("output_tokens", Op::Is, &[Field::Output]),
    ("cache_read.input_tokens", Op::Is, &[Field::Cached]),
    ("cache_creation.input_tokens", Op::Is, &[Field::CacheWrite]),
];

#[derive(Default)]
struct Otel {
    /// What was asked last, a message each. The next span of a conversation asks it again.
    asked: Vec<String>,
}

impl Decoder for Otel {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        let text = frame.text();
        let top = Object::new(&text);
        let resources = top.each("resourceSpans|resourceLogs");
        if resources.is_empty() && top.get("resourceSpans|resourceLogs").is_none() {
            return out.unknown(&frame, "unknown");
        }
        for resource in resources {
            for scope in Object::new(resource).each("scopeSpans|scopeLogs") {
                for span in Object::new(scope).each("spans|logRecords") {
                    self.answer(&frame, &Object::new(span), out)?;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &mut EventOut) -> Done {
        Ok(())
    }
}

impl Otel {
    /// Emits the answer of a span, if it has one.
    fn answer(&mut self, frame: &Frame, span: &Object, out: &mut EventOut) -> Done {
        let attributes = span.each("attributes");
        let find = |wanted: &str| {
            let mut all = attributes.iter().map(|json| Object::new(json));
            let attribute = all.find(|one| one.word("key").as_deref() == Some(wanted))?;
            plain_at(attribute.get("value")?, 0)
        };
        let word = |wanted: &str| json::string(&find(wanted)?);
        let find_messages = |wanted| Some(json::text(&find(wanted)?).into_text().into_owned());
        let Some(messages) = find_messages("gen_ai.output.messages") else { return Ok(()) };
        let id = word("gen_ai.response.id").or_else(|| span.word("spanId"));
        let model = word("gen_ai.response.model").or_else(|| word("gen_ai.request.model"));
        out.start(FORMAT.name, id.as_deref(), model.as_deref())?;
        if let Some(asked) = find_messages("gen_ai.input.messages") {
            self.prompts(&asked, out)?;
        }
        let reasons = find("gen_ai.response.finish_reasons");
        let reasons = reasons.as_deref().and_then(json::elements);
        let Some(list) = json::elements(&messages) else {
            let message = "the answer's messages are no list: the exporter may have cut them";
            out.malformed(&frame.with(messages.as_bytes()), message)?;
            return out.end();
        };
        for (choice, json) in list.into_iter().enumerate() {
            let message = Object::new(json);
            let number = choice as u64;
            out.check_choices(choice)?;
            let reason = message.word("finish_reason");
            let reason = reason.or_else(|| json::string(reasons.as_ref()?.get(choice)?));
            let mut calls = Calls::of(number);
            let mut read = |out: &mut EventOut| {
                let mut parts = message.each_or_warn("parts", out)?.into_iter();
                parts.try_for_each(|part| emit(number, &Object::new(part), &mut calls, out))
            };
            // Without a reason it may have been cut: so are its calls.
            match reason {
                Some(_) => read(out)?,
                None => out.unclosed(read)?,
            }
            match reason.as_deref() {
                Some(raw) => out.finish(number, raw, None)?,
                None => {
                    out.warn(WarningCode::NoFinishReason, "the message has no finish reason")?;
                    out.infer_finish(number, FinishReason::Other, None)?;
                }
            }
        }
        usage(&find).finish(out)?;
        out.end()
    }

    /// Emits what is new in the messages that were asked.
    fn prompts(&mut self, messages: &str, out: &mut EventOut) -> Done {
        let Some(messages) = json::elements(messages) else {
            let message = "the prompts were left out: the attribute is no list of messages";
            return out.warn(WarningCode::WrongType, message);
        };
        let asked = messages.iter().zip(&self.asked).take_while(|(a, b)| a == b).count();
        for json in messages.iter().skip(asked) {
            let message = Object::new(json);
            let (mut texts, mut media) = (Vec::new(), 0);
            for part in message.each_or_warn("parts", out)? {
                let part = Object::new(part);
                match part.kind("type").as_str() {
                    "text" => {
                        texts.push(part.text_or_warn("content", out)?.into_text().into_owned())
                    }
                    "tool_call_response" => {
                        let result = part.get("response|result|content").map(json::text);
                        texts.extend(result.map(|text| text.into_text().into_owned()));
                    }
                    "tool_call" | "reasoning" | "thinking" => {}
                    _ => media += 1,
                }
            }
            let (text, role) = (texts.join("\n"), message.word("role"));
            let role = role.as_deref().filter(|role| *role != "user");
            let media = Some(media).filter(|count| *count > 0);
            if !text.is_empty() || media.is_some() {
                out.emit(0, Kind::Prompt(Prompt { text: &text, role, media }))?;
            }
        }
        self.asked = messages.into_iter().map(str::to_owned).collect();
        Ok(())
    }
}

/// Returns what an answer has cost, by the attributes that say it.
fn usage(find: &dyn Fn(&str) -> Option<String>) -> Meter {
    let mut meter = Meter::new(USAGE);
    let names = ["input_tokens", "output_tokens"];
    let counts = names.into_iter().filter_map(|name| Some((name, count(find, name)?)));
    let cache = ["cache_read", "cache_creation"].into_iter().filter_map(|name| {
        let count = count(find, &format!("{name}.input_tokens"))?;
        Some((name, json::object([("input_tokens", count)])))
    });
    let all: Vec<_> = counts.chain(cache).collect();
    if !all.is_empty() {
        meter.feed(&json::object(all));
    }
    meter
}

fn count(find: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    let json = find(&format!("gen_ai.usage.{name}"))?;
    // What is no count is the meter's to say.
    Some(json).filter(|json| json != "null")
}

/// Emits a part of a message.
fn emit(choice: u64, part: &Object, calls: &mut Calls, out: &mut EventOut) -> Done {
    let (kind, id, name) = (part.kind("type"), part.word("id"), part.word("name"));
    match kind.as_str() {
        "text" | "reasoning" | "thinking" => {
            let slot = if kind == "text" { Slot::ANSWER } else { Slot::THOUGHT };
            let text = part.text_or_warn("content", out)?;
            out.piece(choice, slot, &text)
        }
        "tool_call" => {
            let json = part.get("arguments");
            let text = json.and_then(json::string);
            let arguments = match (&text, json) {
                (Some(text), _) => Arguments::Fragment(text.as_str()),
                (None, Some(json)) => Arguments::Value(json),
                (None, None) => Arguments::None,
            };
            let (id, name) = (id.as_deref(), name.as_deref());
            let native = Some(Piece::whole(part.json));
            calls.whole(CallPart { id, name, arguments, native, ..CallPart::default() }, out)
        }
        "tool_call_response" => {
            let json = part.get("response|result|content").unwrap_or("null");
            let id = id.as_deref().unwrap_or_default();
            let result = ToolResult { id, output: output(json), ..ToolResult::default() };
            calls.result(result, out)
        }
        kind => out.block(choice, kind, part.json),
    }
}

/// The deepest value that is read.
const MAX_DEPTH: usize = 64;

/// Returns a value of OTLP as JSON, unless it is of no known kind.
fn plain_at(value: &str, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    let plain = |value| plain_at(value, depth + 1);
    let value = Object::new(value);
    let (kind, json) = value.first()?;
    Some(match kind {
        // 64 bits are a string in JSON.
        "intValue" => match json::string(json) {
            Some(text) if json::is_number(&text) => text,
            _ => json.to_owned(),
        },
        "stringValue" | "doubleValue" | "boolValue" => json.to_owned(),
        "arrayValue" => {
            let list = Object::new(json).each("values").into_iter().filter_map(plain);
            json::array(list)
        }
        "kvlistValue" => {
            let members = Object::new(json).each("values").into_iter().filter_map(|json| {
                let member = Object::new(json);
                Some((member.word("key")?, plain(member.get("value")?)?))
            });
            let members: Vec<(String, String)> = members.collect();
            json::object(members.iter().map(|(name, json)| (name.as_str(), json.clone())))
        }
        _ => return None,
    })
}
