//! What `parse` is measured against: bare loops of serde_json over the payloads
//! of a stream.

use std::borrow::Cow;
use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufRead, BufReader, BufWriter, StdoutLock, Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// The payloads of a stream, one a line, whether they came as SSE or as NDJSON.
pub(crate) fn payloads(stream: &[u8]) -> Vec<u8> {
    let lines = stream.split(|&byte| byte == b'\n');
    let lines = lines.map(|line| line.strip_prefix(b"data: ").unwrap_or(line).trim_ascii());
    let objects = lines.filter(|line| line.starts_with(b"{"));
    objects.flat_map(|line| line.iter().copied().chain([b'\n'])).collect()
}

/// Reads each line of a file into a `Value` or into structs that borrow: of a file of payloads, or
/// of a stream as it came, and then writes what the structs hold as NDJSON.
pub(crate) fn run(kind: &str, format: &str, file: &str) {
    let read: fn(&[u8], Option<&mut Out>) = match (kind, format) {
        ("value", _) => |line, _| drop(black_box(serde_json::from_slice::<Value>(line))),
        (_, name) if name.starts_with("openai-chat") => |line, out| read::<Chat<'_>>(line, out),
        (_, "openai-responses") => |line, out| read::<Response<'_>>(line, out),
        (_, "gemini") => |line, out| read::<Gemini<'_>>(line, out),
        (_, "ollama-chat") => |line, out| read::<Ollama<'_>>(line, out),
        _ => |line, out| read::<Anthropic<'_>>(line, out),
    };
    let mut out = (kind == "written").then(|| Out::with_capacity(64 << 10, io::stdout().lock()));
    let mut reader = BufReader::with_capacity(64 << 10, File::open(file).unwrap());
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).unwrap() > 0 {
        let payload = line.strip_prefix(b"data: ").unwrap_or(&line);
        if payload.starts_with(b"{") {
            read(payload, out.as_mut());
        }
        line.clear();
    }
}

type Out = BufWriter<StdoutLock<'static>>;

fn read<'l, T: Deserialize<'l> + Record>(line: &'l [u8], out: Option<&mut Out>) {
    // Of recorded streams, a record may be another than a loop expects.
    let record = black_box(serde_json::from_slice::<T>(line));
    if let (Ok(record), Some(out)) = (record, out) {
        record.write(out);
    }
}

/// What a plain loop writes of a record: its texts, fragments, usage and finish reason.
trait Record {
    fn write(&self, out: &mut Out);
}

/// Writes `{"type":KIND,KIND:VALUE}` if there is a value.
fn event(out: &mut Out, kind: &str, value: Option<&impl Serialize>) {
    if let Some(value) = value {
        write!(out, "{{\"type\":\"{kind}\",\"{kind}\":").unwrap();
        serde_json::to_writer(&mut *out, value).unwrap();
        out.write_all(b"}\n").unwrap();
    }
}

/// A string that is borrowed where it can be.
#[derive(Deserialize, Serialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct Chat<'a> {
    #[serde(borrow)]
    #[expect(dead_code)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    #[expect(dead_code)]
    model: Option<Text<'a>>,
    #[serde(borrow)]
    choices: Option<Vec<ChatChoice<'a>>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ChatChoice<'a> {
    #[expect(dead_code)]
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<ChatDelta<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct ChatDelta<'a> {
    #[serde(borrow)]
    content: Option<Text<'a>>,
    #[serde(borrow)]
    reasoning_content: Option<Text<'a>>,
    #[serde(borrow)]
    tool_calls: Option<Vec<ChatCall<'a>>>,
}

#[derive(Deserialize)]
struct ChatCall<'a> {
    #[expect(dead_code)]
    index: Option<u64>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    function: Option<ChatFunction<'a>>,
}

#[derive(Deserialize)]
struct ChatFunction<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<Text<'a>>,
}

impl Record for Chat<'_> {
    fn write(&self, out: &mut Out) {
        for choice in self.choices.iter().flatten() {
            if let Some(delta) = &choice.delta {
                event(out, "reasoning", delta.reasoning_content.as_ref());
                event(out, "text", delta.content.as_ref());
                for call in delta.tool_calls.iter().flatten() {
                    event(out, "id", call.id.as_ref());
                    if let Some(function) = &call.function {
                        event(out, "name", function.name.as_ref());
                        event(out, "arguments", function.arguments.as_ref());
                    }
                }
            }
            event(out, "finish_reason", choice.finish_reason.as_ref());
        }
        event(out, "usage", self.usage.as_ref());
    }
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow, rename = "type")]
    #[expect(dead_code)]
    kind: Option<Text<'a>>,
    #[expect(dead_code)]
    output_index: Option<u64>,
    #[expect(dead_code)]
    content_index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Text<'a>>,
    #[serde(borrow)]
    #[expect(dead_code)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    #[expect(dead_code)]
    part: Option<&'a RawValue>,
    #[serde(borrow)]
    #[expect(dead_code)]
    response: Option<&'a RawValue>,
}

impl Record for Response<'_> {
    fn write(&self, out: &mut Out) {
        event(out, "delta", self.delta.as_ref());
        event(out, "item", self.item.as_ref());
    }
}

#[derive(Deserialize)]
struct Anthropic<'a> {
    #[serde(borrow, rename = "type")]
    #[expect(dead_code)]
    kind: Option<Text<'a>>,
    #[expect(dead_code)]
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<AnthropicDelta<'a>>,
    #[serde(borrow)]
    #[expect(dead_code)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct AnthropicDelta<'a> {
    #[serde(borrow, rename = "type")]
    #[expect(dead_code)]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
    #[serde(borrow)]
    partial_json: Option<Text<'a>>,
    #[serde(borrow)]
    stop_reason: Option<Text<'a>>,
}

impl Record for Anthropic<'_> {
    fn write(&self, out: &mut Out) {
        event(out, "block", self.content_block.as_ref());
        if let Some(delta) = &self.delta {
            event(out, "reasoning", delta.thinking.as_ref());
            event(out, "text", delta.text.as_ref());
            event(out, "arguments", delta.partial_json.as_ref());
            event(out, "finish_reason", delta.stop_reason.as_ref());
        }
        event(out, "usage", self.usage.as_ref());
    }
}

#[derive(Deserialize)]
struct Gemini<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow, rename = "usageMetadata")]
    usage: Option<&'a RawValue>,
    #[serde(borrow, rename = "modelVersion")]
    #[expect(dead_code)]
    model: Option<Text<'a>>,
    #[serde(borrow, rename = "responseId")]
    #[expect(dead_code)]
    id: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow, rename = "finishReason")]
    reason: Option<Text<'a>>,
    #[expect(dead_code)]
    index: Option<u64>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<Part<'a>>>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow, rename = "functionCall")]
    call: Option<&'a RawValue>,
}

impl Record for Gemini<'_> {
    fn write(&self, out: &mut Out) {
        for candidate in self.candidates.iter().flatten() {
            let parts = candidate.content.iter().flat_map(|content| &content.parts);
            for part in parts.flatten() {
                event(out, "text", part.text.as_ref());
                event(out, "call", part.call.as_ref());
            }
            event(out, "finish_reason", candidate.reason.as_ref());
        }
        event(out, "usage", self.usage.as_ref());
    }
}

#[derive(Deserialize)]
struct Ollama<'a> {
    #[serde(borrow)]
    #[expect(dead_code)]
    model: Option<Text<'a>>,
    #[serde(borrow)]
    message: Option<Said<'a>>,
    #[expect(dead_code)]
    done: Option<bool>,
    #[serde(borrow)]
    done_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
    #[serde(borrow)]
    content: Option<Text<'a>>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
}

impl Record for Ollama<'_> {
    fn write(&self, out: &mut Out) {
        if let Some(said) = &self.message {
            event(out, "reasoning", said.thinking.as_ref());
            event(out, "text", said.content.as_ref());
            event(out, "calls", said.tool_calls.as_ref());
        }
        event(out, "finish_reason", self.done_reason.as_ref());
    }
}
