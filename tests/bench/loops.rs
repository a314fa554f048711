//! What `parse` is measured against: bare loops of serde_json over the payloads
//! of a stream.

use std::borrow::Cow;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The payloads of a stream, one a line, whether they came as SSE or as NDJSON.
pub(crate) fn payloads(stream: &[u8]) -> Vec<u8> {
    let lines = stream.split(|&byte| byte == b'\n');
    let lines = lines.map(|line| line.strip_prefix(b"data: ").unwrap_or(line).trim_ascii());
    let objects = lines.filter(|line| line.starts_with(b"{"));
    objects.flat_map(|line| line.iter().copied().chain([b'\n'])).collect()
}

/// Reads each line of a file into a `Value`, or into structs that borrow.
pub(crate) fn run(kind: &str, format: &str, file: &str) {
    let parse: fn(&[u8]) = match (kind, format) {
        ("value", _) => |line| read::<Value>(line),
        (_, name) if name.starts_with("openai-chat") => |line| read::<Chat<'_>>(line),
        (_, "openai-responses") => |line| read::<Response<'_>>(line),
        (_, "gemini") => |line| read::<Gemini<'_>>(line),
        (_, "ollama-chat") => |line| read::<Ollama<'_>>(line),
        _ => |line| read::<Anthropic<'_>>(line),
    };
    let mut reader = BufReader::with_capacity(64 << 10, File::open(file).unwrap());
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).unwrap() > 0 {
        parse(&line);
        line.clear();
    }
}

fn read<'l, T: Deserialize<'l>>(line: &'l [u8]) {
    // Of recorded streams, a record may be another than a loop expects.
    let _ = black_box(serde_json::from_slice::<T>(line));
}

/// A string that is borrowed where it can be.
#[derive(Deserialize)]
struct Text<'a>(
    #[serde(borrow)]
    #[expect(dead_code)]
    Cow<'a, str>,
);

#[derive(Deserialize)]
#[expect(dead_code)]
struct Chat<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    model: Option<Text<'a>>,
    #[serde(borrow)]
    choices: Option<Vec<ChatChoice<'a>>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[expect(dead_code)]
struct ChatChoice<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<ChatDelta<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code)]
struct ChatDelta<'a> {
    #[serde(borrow)]
    content: Option<Text<'a>>,
    #[serde(borrow)]
    reasoning_content: Option<Text<'a>>,
    #[serde(borrow)]
    tool_calls: Option<Vec<ChatCall<'a>>>,
}

#[derive(Deserialize)]
#[expect(dead_code)]
struct ChatCall<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    function: Option<ChatFunction<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code)]
struct ChatFunction<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code)]
struct Response<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    output_index: Option<u64>,
    content_index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Text<'a>>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    part: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[expect(dead_code)]
struct Anthropic<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<AnthropicDelta<'a>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[expect(dead_code)]
struct AnthropicDelta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    partial_json: Option<Text<'a>>,
    #[serde(borrow)]
    stop_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code)]
struct Gemini<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow, rename = "usageMetadata")]
    usage: Option<&'a RawValue>,
    #[serde(borrow, rename = "modelVersion")]
    model: Option<Text<'a>>,
    #[serde(borrow, rename = "responseId")]
    id: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code)]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow, rename = "finishReason")]
    reason: Option<Text<'a>>,
    index: Option<u64>,
}

#[derive(Deserialize)]
#[expect(dead_code)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<Part<'a>>>,
}

#[derive(Deserialize)]
#[expect(dead_code)]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code)]
struct Ollama<'a> {
    #[serde(borrow)]
    model: Option<Text<'a>>,
    #[serde(borrow)]
    message: Option<Said<'a>>,
    done: Option<bool>,
    #[serde(borrow)]
    done_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code)]
struct Said<'a> {
    #[serde(borrow)]
    content: Option<Text<'a>>,
}
