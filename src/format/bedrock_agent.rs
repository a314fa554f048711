//! Agents for Amazon Bedrock: the answer of InvokeAgent.
//!
//! Source: Amazon Bedrock API reference, "InvokeAgent". Chunks hold the answer's
//! text as base64, `returnControl` the functions that the caller is to run,
//! `files` what the agent has written, `trace` how it came to all that. The
//! stream has no end of its own.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::event::Text;
use crate::format::bedrock_invoke::CHUNK;
use crate::format::support::prelude::*;
use crate::format::support::usage::Meter;
use crate::format::text::is_prefix;

pub(super) static FORMAT: Format = Format {
    aliases: &["bedrock-agents", "invoke-agent"],
    about: "Agents for Amazon Bedrock, InvokeAgent's stream",
    link: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_InvokeAgent.html",
    evidence: &["bytes", "trace", "files", "invocationInputs"],
    sniff,
    ..Format::new("bedrock-agent", |_| {
        Box::new(BedrockAgent { meter: Meter::new(USAGE), ..BedrockAgent::default() })
    })
};

/// A chunk is an agent's if it isn't a model's.
fn sniff(record: &Record) -> bool {
    let is_event = matches!(record.event_type, CHUNK | "trace" | "returnControl" | "files");
    record.has_headers && !record.is_failure && is_event
}

payload! {
    /// The members of all events.
    struct AgentEvent<'a> {
        /// `chunk`, as is the next one.
        bytes: Option<Str<'a>>,
        attribution: Option<Attribution<'a>>,
        /// `returnControl`, as is the next one.
        invocation_id: Option<Str<'a>> = "invocationId",
        invocation_inputs: Option<Vec<Invocation<'a>>> = "invocationInputs",
        files: Option<Vec<RawJson<'a>>>,
    }

    struct Attribution<'a> {
        citations: Option<Vec<RawJson<'a>>>,
    }

    /// A call for the caller to run: a function, or a request to an API.
    struct Invocation<'a> {
        function_invocation_input: Option<AgentFunction<'a>> = "functionInvocationInput",
        api_invocation_input: Option<Api<'a>> = "apiInvocationInput",
    }

    struct AgentFunction<'a> {
        function: Option<Str<'a>>,
        parameters: Option<Vec<Parameter<'a>>>,
    }

    struct Api<'a> {
        http_method: Option<Str<'a>> = "httpMethod",
        api_path: Option<Str<'a>> = "apiPath",
        parameters: Option<Vec<Parameter<'a>>>,
        request_body: Option<AgentBody<'a>> = "requestBody",
    }

    /// A request's body: by media type, its [`Properties`].
    struct AgentBody<'a> {
        content: Option<RawJson<'a>>,
    }

    /// A value, which is always a string, and the type that the tool asks for.
    struct Parameter<'a> {
        name: Option<Str<'a>>,
        kind: Option<Str<'a>> = "type",
        value: Option<Str<'a>>,
    }

    struct Properties<'a> {
        properties: Option<Vec<Parameter<'a>>>,
    }
}

/// The usage of each model that the agent has asked.
const USAGE: &[CountRule] =
    &[("inputTokens", Op::Is, &[Field::Input]), ("outputTokens", Op::Is, &[Field::Output])];

#[derive(Default)]
struct BedrockAgent {
    started: bool,
    failed: bool,
    /// The beginning of a character whose other bytes haven't come.
    held: Vec<u8>,
    /// The number of calls so far.
    calls: u64,
    meter: Meter,
}

impl Decoder for BedrockAgent {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if !std::mem::replace(&mut self.started, true) {
            out.start(FORMAT.name, None, None)?;
        }
        if frame.is_failure() {
            self.failed = true;
            return error::report_failure(&frame, out);
        }
        if frame.event_type == "trace" {
            return self.trace(&frame, out);
        }
        read!(&frame, out, |event: AgentEvent| {
            match frame.event_type {
                CHUNK => self.chunk(&frame, event, out),
                "returnControl" => self.return_control(&frame, event, out),
                "files" => event
                    .files
                    .iter()
                    .flatten()
                    .try_for_each(|file| out.block(0, "file", file.get())),
                name => out.unknown(&frame, name),
            }
        })
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if !self.held.is_empty() {
            self.held.clear();
            replace("the answer ended inside a character", out)?;
        }
        self.meter.finish(out)?;
        if !self.started || self.failed {
            return Ok(());
        }
        out.infer_finish(0, FinishReason::Stop, None)
    }
}

impl BedrockAgent {
    /// A piece of the answer, and what it rests on.
    fn chunk(&mut self, frame: &Frame, event: &AgentEvent, out: &mut EventOut) -> Done {
        match event.bytes.as_ref().map(|bytes| BASE64.decode(bytes.as_str())) {
            Some(Ok(bytes)) => self.emit(&bytes, out)?,
            Some(Err(_)) => out.malformed(frame, "the bytes of a chunk are not base64")?,
            None if event.attribution.is_none() => out.malformed(frame, "a chunk has no bytes")?,
            None => {}
        }
        let citations =
            event.attribution.iter().flat_map(|attribution| attribution.citations.iter().flatten());
        citations.map(|citation| citation.get()).try_for_each(|json| out.block(0, "citation", json))
    }

    /// Emits text that may end inside a character.
    fn emit(&mut self, bytes: &[u8], out: &mut EventOut) -> Done {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            emit(chunk.valid(), out)?;
            match chunk.invalid() {
                [] => {}
                invalid if chunks.peek().is_none() && is_prefix(invalid) => {
                    self.held = invalid.to_vec()
                }
                _ => replace("bytes that are not UTF-8 were replaced", out)?,
            }
        }
        Ok(())
    }

    /// Functions that the caller is to run. Their results must name what
    /// stands beside them in the event: it's passed on too.
    fn return_control(&mut self, frame: &Frame, event: &AgentEvent, out: &mut EventOut) -> Done {
        out.block(0, "returnControl", &frame.text())?;
        for invocation in event.invocation_inputs.iter().flatten() {
            let (name, arguments) = match invocation {
                Invocation { function_invocation_input: Some(function), .. } => (
                    function.function.as_ref().map(|name| name.as_str().to_owned()),
                    object(function.parameters.iter().flatten(), out)?,
                ),
                Invocation { api_invocation_input: Some(api), .. } => {
                    (api.name(), api.arguments(out)?)
                }
                _ => {
                    let message = "something to run is neither a function nor a request";
                    out.warn(WarningCode::UnknownInvocation, message)?;
                    continue;
                }
            };
            let key = Key::Index(self.calls);
            self.calls += 1;
            let name = name.as_deref();
            let arguments = match &arguments {
                Ok(json) => Arguments::Value(json),
                Err(json) => Arguments::Repaired(json),
            };
            let signature = event.invocation_id.non_empty();
            out.call(0, CallPart { key, name, arguments, signature, ..CallPart::default() })?;
            out.call_end(0, key)?;
        }
        Ok(())
    }

    /// Takes a step of the agent's: its thoughts, the usage of its models,
    /// and all else as it is.
    fn trace(&mut self, frame: &Frame, out: &mut EventOut) -> Done {
        let record = Record::new(frame);
        let Some(trace) = record.at("trace") else {
            let text = frame.text();
            return match json::is_json(&text) {
                true => out.unknown(frame, frame.event_type),
                false => out.malformed(frame, "a record is not JSON"),
            };
        };
        for (stage, json) in json::members(trace) {
            let at = |path: &str| path.split('.').try_fold(json.get(), json::member);
            if let Some(usage) = at("modelInvocationOutput.metadata.usage") {
                self.meter.feed(usage);
                self.meter.begin_part();
            }
            let thought = at("rationale.text")
                .or(at("modelInvocationOutput.reasoningContent.reasoningText.text"));
            let thought = thought.and_then(|json| json::read::<Str<'_>>(json).ok());
            if let Some(text) = &thought {
                out.reasoning(0, text)?;
            }
            if at("rationale").is_none() || thought.is_none() {
                out.block(0, &stage, json.get())?;
            }
        }
        Ok(())
    }
}

impl Api<'_> {
    /// Returns the name of a request: its method and path.
    fn name(&self) -> Option<String> {
        let path = self.api_path.text()?;
        let method = self.http_method.or_empty();
        Some(format!("{method} {path}").trim_ascii().to_owned())
    }

    /// The parameters, and the properties of the body.
    fn arguments(&self, out: &mut EventOut) -> io::Result<Result<String, String>> {
        let content = self.request_body.as_ref().and_then(|body| body.content);
        let content = content.map_or("{}", RawJson::get);
        let bodies: Result<Vec<Properties<'_>>, _> =
            json::members(content).into_iter().map(|(_, value)| json::read(value.get())).collect();
        let Some(bodies) = bodies.ok().filter(|_| content.starts_with('{')) else {
            return Ok(Err(content.to_owned()));
        };
        let properties = bodies.iter().flat_map(|body| body.properties.iter().flatten());
        object(self.parameters.iter().flatten().chain(properties), out)
    }
}

/// Returns parameters as an object: a value that is of its type stands in it as such. It is an
/// error if one lacks its name or its value.
fn object<'p>(
    parameters: impl Iterator<Item = &'p Parameter<'p>>,
    out: &mut EventOut,
) -> io::Result<Result<String, String>> {
    let (mut members, mut is_whole) = (Vec::new(), true);
    for parameter in parameters {
        is_whole &= parameter.name.non_empty().is_some() && parameter.value.is_some();
        let (name, value) = (parameter.name.or_empty(), parameter.value.or_empty());
        let is_typed = match parameter.kind.text().unwrap_or("string") {
            "boolean" => matches!(value, "true" | "false"),
            "integer" | "number" => json::is_number(value),
            "array" => json::is_json(value) && value.trim_ascii_start().starts_with('['),
            "object" => json::is_json(value) && value.trim_ascii_start().starts_with('{'),
            _ => {
                members.push((name, json::quote(value)));
                continue;
            }
        };
        if !is_typed {
            let message = "a parameter that is not of its type was taken as text";
            out.warn(WarningCode::WrongType, message)?;
        }
        members.push((name, if is_typed { value.to_owned() } else { json::quote(value) }));
    }
    let json = json::object(members);
    Ok(if is_whole { Ok(json) } else { Err(json) })
}

fn emit(text: &str, out: &mut EventOut) -> Done {
    if text.is_empty() { Ok(()) } else { out.emit(0, Kind::Text(Text::new(text))) }
}

fn replace(message: &str, out: &mut EventOut) -> Done {
    out.warn(WarningCode::InvalidUtf8, message)?;
    emit("\u{FFFD}", out)
}
