//! Streams as providers send them today, of any size: the same bytes each
//! time. One corpus is many messages, one after another.

use std::fmt::Write as _;

/// A kind of stream, and how to write one.
pub(crate) struct Corpus {
    /// What it is called in the table.
    pub(crate) name: &'static str,
    /// What `parse` is told; nothing if it finds out.
    pub(crate) args: &'static [&'static str],
    /// Appends one message; `pieces` are what the model says.
    message: fn(&mut String, &mut Model),
    /// Whether one message is the whole corpus, so large.
    is_one: bool,
}

/// Every corpus of the table.
pub(crate) const CORPORA: &[Corpus] = &[
    many("openai-chat", |out, model| chat(out, model, "content")),
    many("openai-chat-reasoning", |out, model| chat(out, model, "reasoning_content")),
    Corpus { is_one: true, ..many("openai-chat-one-call", |out, model| calls(out, model, 1)) },
    many("openai-chat-1000-calls", |out, model| calls(out, model, 1000)),
    many("openai-responses", responses),
    many("anthropic", |out, model| anthropic(out, model, false)),
    Corpus { is_one: true, ..many("anthropic-one-call", |out, model| anthropic(out, model, true)) },
    many("gemini", gemini),
    many("ollama-chat", ollama),
    text("text-no-markup", |out, model| prose(out, model, ("", ""))),
    text("text-hermes", |out, model| {
        prose(
            out,
            model,
            ("<tool_call>\n{\"name\": \"search\", \"arguments\": ", "}\n</tool_call>\n"),
        );
    }),
    text("text-qwen3-coder", |out, model| {
        prose(
            out,
            model,
            (
                "<tool_call>\n<function=search>\n<parameter=options>\n",
                "\n</parameter>\n</function>\n</tool_call>\n",
            ),
        );
    }),
    text("text-glm", |out, model| {
        prose(
            out,
            model,
            (
                "<tool_call>search\n<arg_key>options</arg_key>\n<arg_value>",
                "</arg_value>\n</tool_call>\n",
            ),
        );
    }),
    text("text-anthropic-xml", |out, model| {
        prose(
            out,
            model,
            (
                "<function_calls>\n<invoke name=\"search\">\n<parameter name=\"options\">",
                "</parameter>\n</invoke>\n</function_calls>\n",
            ),
        );
    }),
    text("text-think", |out, model| prose(out, model, ("<think>\n", "\n</think>\n"))),
];

const fn many(name: &'static str, message: fn(&mut String, &mut Model)) -> Corpus {
    Corpus { name, args: &[], message, is_one: false }
}

const fn text(name: &'static str, message: fn(&mut String, &mut Model)) -> Corpus {
    Corpus { name, args: &["-f", "text", "-d", "auto", "--max-calls", "0"], message, is_one: false }
}

impl Corpus {
    /// About so many bytes of it.
    pub(crate) fn bytes(&self, size: usize) -> Vec<u8> {
        let mut out = String::with_capacity(size + (1 << 20));
        let mut model = Model { state: 7, pieces: 800, count: 0 };
        if self.is_one {
            // A fragment of four bytes takes about so many bytes of the stream.
            model.pieces = size / if self.name.starts_with("openai") { 260 } else { 130 };
        }
        while out.len() < size {
            (self.message)(&mut out, &mut model);
            if self.is_one {
                break;
            }
        }
        out.into_bytes()
    }

    /// Whether it is plain text.
    pub(crate) fn is_text(&self) -> bool {
        self.name.starts_with("text")
    }
}

/// Says something, a token at a time.
pub(crate) struct Model {
    state: u64,
    /// How many tokens a message has.
    pieces: usize,
    /// How many messages there have been.
    count: u64,
}

const WORDS: &[&str] = &[
    "The", " sea", " is", " calm", " to", "night", ",", " and", " the", " tide", " comes", " in",
    " slowly", ".", " Between", " two", " harbours", " there", " are", " **", "lamps", "**",
    " that", " nobody", " counted", ";", " we", " should", " look", " at", " them", " again", " (",
    "or", " not", ").", " caf\u{e9}", "s", " open", " at", " 7", ":", "30", " \u{2014}", " late",
];

const RARE: &[&str] = &["\\n\\n", "\\n", " \\\"", "```\\n", "\\n- "];

impl Model {
    fn random(&mut self, below: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % 1_000_003).unwrap_or_default() % below
    }

    /// The next token, as the inside of a JSON string. One in thirty needs an
    /// escape.
    fn token(&mut self) -> &'static str {
        let list = if self.random(30) == 0 { RARE } else { WORDS };
        list[self.random(list.len())]
    }

    /// Four bytes of a long string in arguments.
    fn fragment(&mut self) -> &'static str {
        ["abcd", "efgh", "ij k", "lmno", "pq, ", "r st"][self.random(6)]
    }

    fn hex(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(b"0123456789abcdef"[self.random(16)])).collect()
    }

    fn begin(&mut self) -> u64 {
        self.count += 1;
        1_763_700_000 + self.count * 7
    }
}

/// Writing to a string can't fail.
macro_rules! say {
    ($out:expr, $($arg:tt)*) => { let _ = writeln!($out, $($arg)*); };
}

fn chat_chunk(out: &mut String, id: &str, created: u64, delta: &str, end: &str, pad: &str) {
    say!(
        out,
        "data: {{\"id\":\"chatcmpl-{id}\",\"object\":\"chat.completion.chunk\",\"created\":{created},\
         \"model\":\"gpt-5.1-2025-11-13\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_{}\",\
         \"choices\":[{{\"index\":0,\"delta\":{{{delta}}},\"logprobs\":null,\"finish_reason\":{end}}}],\
         \"usage\":null,\"obfuscation\":\"{pad}\"}}\n",
        &id[..10]
    );
}

fn chat_end(out: &mut String, id: &str, created: u64, reason: &str) {
    chat_chunk(out, id, created, "", &format!("\"{reason}\""), "");
    say!(
        out,
        "data: {{\"id\":\"chatcmpl-{id}\",\"object\":\"chat.completion.chunk\",\"created\":{created},\
         \"model\":\"gpt-5.1-2025-11-13\",\"choices\":[],\"usage\":{{\"prompt_tokens\":31,\
         \"completion_tokens\":800,\"total_tokens\":831}}}}\n\ndata: [DONE]\n"
    );
}

fn chat(out: &mut String, model: &mut Model, key: &str) {
    let (created, id) = (model.begin(), model.hex(29));
    chat_chunk(out, &id, created, "\"role\":\"assistant\",\"content\":\"\"", "null", "a1");
    for at in 0..model.pieces {
        let pads = model.random(9) + 1;
        let pad = model.hex(pads);
        // What was thought comes first, and is nine tenths.
        let key = if at * 10 >= model.pieces * 9 { "content" } else { key };
        let delta = format!("\"{key}\":\"{}\"", model.token());
        chat_chunk(out, &id, created, &delta, "null", &pad);
    }
    chat_end(out, &id, created, "stop");
}

fn calls(out: &mut String, model: &mut Model, calls: usize) {
    let (created, id) = (model.begin(), model.hex(29));
    chat_chunk(out, &id, created, "\"role\":\"assistant\",\"content\":null", "null", "a1");
    for call in 0..calls {
        let key = model.hex(24);
        let start = format!(
            "\"tool_calls\":[{{\"index\":{call},\"id\":\"call_{key}\",\"type\":\"function\",\
             \"function\":{{\"name\":\"write\",\"arguments\":\"\"}}}}]"
        );
        chat_chunk(out, &id, created, &start, "null", "b2");
        let pieces = if calls == 1 { model.pieces } else { 20 };
        for at in 0..pieces {
            let piece = match at {
                0 => "{\\\"text\\\":\\\"",
                at if at + 1 == pieces => "\\\"}",
                _ => model.fragment(),
            };
            let delta = format!(
                "\"tool_calls\":[{{\"index\":{call},\"function\":{{\"arguments\":\"{piece}\"}}}}]"
            );
            let pads = model.random(9) + 1;
            let pad = model.hex(pads);
            chat_chunk(out, &id, created, &delta, "null", &pad);
        }
    }
    chat_end(out, &id, created, "tool_calls");
}

fn responses(out: &mut String, model: &mut Model) {
    let (created, id) = (model.begin(), model.hex(48));
    let head = format!(
        "\"id\":\"resp_{id}\",\"object\":\"response\",\"created_at\":{created},\"model\":\"gpt-5.1-2025-11-13\""
    );
    let item = format!("msg_{id}");
    let mut number = 0;
    let mut event = |out: &mut String, kind: &str, rest: &str| {
        say!(
            out,
            "event: {kind}\ndata: {{\"type\":\"{kind}\",\"sequence_number\":{number},{rest}}}\n"
        );
        number += 1;
    };
    for kind in ["response.created", "response.in_progress"] {
        let rest = format!(
            "\"response\":{{{head},\"status\":\"in_progress\",\"output\":[],\"usage\":null}}"
        );
        event(out, kind, &rest);
    }
    let rest = format!(
        "\"output_index\":0,\"item\":{{\"id\":\"{item}\",\"type\":\"message\",\"status\":\"in_progress\",\
         \"content\":[],\"role\":\"assistant\"}}"
    );
    event(out, "response.output_item.added", &rest);
    let place = format!("\"item_id\":\"{item}\",\"output_index\":0,\"content_index\":0");
    let rest = format!(
        "{place},\"part\":{{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"\"}}"
    );
    event(out, "response.content_part.added", &rest);
    let mut whole = String::new();
    for _ in 0..model.pieces {
        let token = model.token();
        whole.push_str(token);
        let pads = model.random(16) + 1;
        let pad = model.hex(pads);
        let rest =
            format!("{place},\"delta\":\"{token}\",\"logprobs\":[],\"obfuscation\":\"{pad}\"");
        event(out, "response.output_text.delta", &rest);
    }
    let part = format!(
        "{{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"{whole}\"}}"
    );
    let rest = format!("{place},\"text\":\"{whole}\",\"logprobs\":[]");
    event(out, "response.output_text.done", &rest);
    event(out, "response.content_part.done", &format!("{place},\"part\":{part}"));
    let item = format!(
        "{{\"id\":\"{item}\",\"type\":\"message\",\"status\":\"completed\",\"content\":[{part}],\
         \"role\":\"assistant\"}}"
    );
    event(out, "response.output_item.done", &format!("\"output_index\":0,\"item\":{item}"));
    let rest = format!(
        "\"response\":{{{head},\"status\":\"completed\",\"output\":[{item}],\"usage\":{{\"input_tokens\":31,\
         \"output_tokens\":800,\"total_tokens\":831}}}}"
    );
    event(out, "response.completed", &rest);
}

fn anthropic(out: &mut String, model: &mut Model, is_call: bool) {
    model.begin();
    let id = model.hex(24);
    let event = |out: &mut String, kind: &str, rest: &str| {
        say!(out, "event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n");
    };
    let rest = format!(
        ",\"message\":{{\"model\":\"claude-sonnet-4-5-20250929\",\"id\":\"msg_{id}\",\"type\":\"message\",\
         \"role\":\"assistant\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\
         \"usage\":{{\"input_tokens\":31,\"output_tokens\":1}}}}"
    );
    event(out, "message_start", &rest);
    let block = if is_call {
        format!("{{\"type\":\"tool_use\",\"id\":\"toolu_{id}\",\"name\":\"write\",\"input\":{{}}}}")
    } else {
        "{\"type\":\"text\",\"text\":\"\"}".to_owned()
    };
    event(out, "content_block_start", &format!(",\"index\":0,\"content_block\":{block}"));
    event(out, "ping", "");
    for at in 0..model.pieces {
        let delta = if is_call {
            let piece = match at {
                0 => "{\\\"text\\\":\\\"",
                at if at + 1 == model.pieces => "\\\"}",
                _ => model.fragment(),
            };
            format!("\"input_json_delta\",\"partial_json\":\"{piece}\"")
        } else {
            format!("\"text_delta\",\"text\":\"{}\"", model.token())
        };
        event(out, "content_block_delta", &format!(",\"index\":0,\"delta\":{{\"type\":{delta}}}"));
    }
    event(out, "content_block_stop", ",\"index\":0");
    let reason = if is_call { "tool_use" } else { "end_turn" };
    let rest = format!(
        ",\"delta\":{{\"stop_reason\":\"{reason}\",\"stop_sequence\":null}},\"usage\":{{\"output_tokens\":800}}"
    );
    event(out, "message_delta", &rest);
    event(out, "message_stop", "");
}

fn gemini(out: &mut String, model: &mut Model) {
    model.begin();
    let id = model.hex(22);
    let mut tokens = 0;
    let chunks = model.pieces / 8;
    for at in 0..chunks {
        let text: String = (0..8).map(|_| model.token()).collect();
        tokens += 8;
        let end = if at + 1 == chunks { ",\"finishReason\":\"STOP\"" } else { "" };
        say!(
            out,
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{text}\"}}],\"role\":\"model\"}}{end},\
             \"index\":0}}],\"usageMetadata\":{{\"promptTokenCount\":31,\"candidatesTokenCount\":{tokens},\
             \"totalTokenCount\":{},\"promptTokensDetails\":[{{\"modality\":\"TEXT\",\"tokenCount\":31}}]}},\
             \"modelVersion\":\"gemini-2.5-pro\",\"responseId\":\"{id}\"}}\r\n\r",
            tokens + 31
        );
    }
}

fn ollama(out: &mut String, model: &mut Model) {
    let second = model.begin();
    let head = |model: &mut Model| {
        let nanos = model.random(1_000_000) * 997;
        format!(
            "\"model\":\"llama3.2\",\"created_at\":\"2026-11-21T14:{:02}:{:02}.{nanos:09}Z\"",
            second / 60 % 60,
            second % 60
        )
    };
    for _ in 0..model.pieces {
        let head = head(model);
        let token = model.token();
        say!(
            out,
            "{{{head},\"message\":{{\"role\":\"assistant\",\"content\":\"{token}\"}},\"done\":false}}"
        );
    }
    let head = head(model);
    say!(
        out,
        "{{{head},\"message\":{{\"role\":\"assistant\",\"content\":\"\"}},\"done\":true,\"done_reason\":\"stop\",\
         \"total_duration\":9000,\"prompt_eval_count\":31,\"eval_count\":800}}"
    );
}

/// Prose with some code in it, and something between markers now and then.
fn prose(out: &mut String, model: &mut Model, (open, close): (&str, &str)) {
    model.begin();
    for _ in 0..40 {
        let length = 20 + model.random(60);
        for _ in 0..length {
            out.push_str(WORDS[model.random(WORDS.len())]);
        }
        out.push_str("\n\n");
    }
    out.push_str("```c\nif (a < b && c[i] > 0) { return a << 2; }\n```\n");
    if !open.is_empty() {
        let length = 1 + model.random(40);
        let words: Vec<&str> = (0..length).map(|_| WORDS[model.random(WORDS.len())]).collect();
        say!(out, "{open}{{\"query\": \"{}\", \"limit\": 3}}{close}", words.concat());
    }
}
