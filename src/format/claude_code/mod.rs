//! Claude Code: `--output-format stream-json` (with partial messages or not),
//! `--output-format json`, and session transcripts. The Claude Agent SDK and
//! Amp write the same.
//!
//! Source: Claude Code documentation, headless mode, and the types of
//! `@anthropic-ai/claude-agent-sdk`. A run is a message, `init` … `result`: only
//! the run has one end and an exact usage. What streamed isn't emitted again when
//! its snapshot comes. A transcript names no end: each prompt begins a message,
//! and the end of the input is one. The agent ran all calls, and their
//! `tool_result` is after them. Lines of subagents are no part of the answer;
//! `--raw` shows them. In a subagent's own log, all lines are: it is the
//! conversation.

mod line;
mod stream;

use std::borrow::Cow;
use std::collections::HashSet;

use crate::event::ProviderEvent;
use crate::format::anthropic::USAGE;
use crate::format::anthropic::blocks::Blocks;
use crate::format::anthropic::payload::{AnthropicBlock, AnthropicEvent, AnthropicMessage};
use crate::format::support::emit::output;
use crate::format::support::prelude::*;
use crate::format::support::said::SaidStretch;
use crate::format::support::usage::Meter;
use crate::json::{AsIs, object_of};
use line::{ClaudeLine, PASSED_OVER, is_ours};

pub(super) static FORMAT: Format = Format {
    aliases: &["claude-code-transcript", "claude-agent-sdk", "amp"],
    about: "Claude Code, stream-json, json and session transcripts",
    link: "https://code.claude.com/docs/en/headless",
    evidence: &["session_id", "sessionId", "uuid", "message"],
    sniff: is_ours,
    ..Format::new("claude-code", |_| Box::new(ClaudeCode::new()))
};

/// The most blocks of one message of the model.
const MAX_BLOCKS: usize = 1 << 14;
const BLOCKS: &str = "blocks in one message of the model";

#[derive(Default)]
struct ClaudeCode {
    is_open: bool,
    /// True if the lines are of a transcript.
    is_transcript: bool,
    /// The model's message that the last line was of, and its texts so far.
    current: Option<String>,
    seen: HashSet<u64>,
    /// The model's message that streams, or was the last to do so, and its blocks.
    streamed: Option<String>,
    blocks_streamed: Vec<Streamed>,
    /// The API's error that a message reported: a result says it again, if one comes.
    failure: Option<ApiError>,
    /// True if the lines that come first are a subagent's, as all are then.
    is_subagent: Option<bool>,
    /// True if a subagent's line came between the others.
    has_aside: bool,
    /// True if any text of the run has been emitted.
    has_text: bool,
    /// The last reason why the model stopped.
    reason: Option<String>,
    blocks: Blocks,
    meter: Meter,
    /// True if the counts have a total: those of the input hold what the cache held.
    has_totals: bool,
}

/// The API's error, as a message reported it.
#[derive(Default)]
struct ApiError {
    words: String,
    status: Option<u16>,
    json: String,
}

/// A block that streamed: what tells it from others.
struct Streamed {
    index: Option<u64>,
    /// The id of a call.
    id: Option<String>,
    /// Text or a thought.
    said: SaidStretch,
}

/// The counts of Qwen Code, which has a total in them.
const WITH_TOTALS: &[CountRule] = &[
    ("input_tokens", Op::Is, &[Field::Input]),
    ("cache_read_input_tokens", Op::Is, &[Field::Cached]),
    ("cache_creation_input_tokens", Op::Is, &[Field::CacheWrite]),
    ("output_tokens", Op::Is, &[Field::Output]),
    ("total_tokens", Op::Is, &[Field::Total]),
];

impl Decoder for ClaudeCode {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        read!(&frame, out, |line: ClaudeLine| match line.content {
            Some(content) if line.kind.is_none() => self.envelope(&frame, content.get(), out),
            _ => self.line(&frame, line, out),
        })
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if !self.is_open {
            return Ok(());
        }
        if self.is_transcript {
            self.meter.finish(out)?;
            return out.infer_finish_of_log(self.reason.as_deref());
        }
        self.blocks.cut(out)?;
        if let Some(ApiError { words, status, json }) = self.failure.take() {
            error::report_with(Some(&words), None, status, &json, out)?;
            return self.end(out);
        }
        self.meter.finish(out)
    }
}

impl ClaudeCode {
    fn new() -> Self {
        ClaudeCode { blocks: Blocks::of_agent(), meter: Meter::new(USAGE), ..ClaudeCode::default() }
    }

    fn line(&mut self, frame: &Frame, line: &ClaudeLine, out: &mut EventOut) -> Done {
        let speaker = line.message.and_then(|json| json::member(json.get(), "role"));
        let kind = match &line.kind {
            Some(kind) => kind.as_str(),
            None => speaker.unwrap_or_default().trim_matches('"'),
        };
        let is_aside = line.is_of_subagent();
        if line.message.is_some() && self.is_subagent.is_none() {
            self.is_subagent = Some(is_aside && line.is_of_transcript());
        }
        if is_aside && self.is_subagent != Some(true) {
            return self.aside(frame, line, out);
        }
        match (kind, line.message, line.event) {
            ("system", ..) if line.subtype.text() == Some("init") => self.begin(line, None, out),
            ("assistant", Some(json), _) => {
                let json = in_blocks(json.get());
                let frame = frame.with(json.as_bytes());
                read!(&frame, out, |message: AnthropicMessage| {
                    self.begin(line, message.model.non_empty(), out)?;
                    match line.api_error() {
                        Some(code) => self.fail(&frame, message, &code, line.status(), out),
                        None if line.is_api_error_of_stream() => {
                            let (status, json) = (line.status(), frame.text().into_owned());
                            self.failure = Some(ApiError { words: words(message), status, json });
                            Ok(())
                        }
                        None => self.snapshot(&frame, message, out),
                    }
                })
            }
            ("user", Some(json), _) => self.user(frame, line, json, out),
            ("tool" | "tool_use" | "tool_result", message, _) => {
                self.begin(line, None, out)?;
                let text = frame.text();
                self.tool(frame, &Object::new(message.map_or(&text, RawJson::get)), out)
            }
            ("stream_event", _, Some(json)) => {
                self.begin(line, None, out)?;
                let frame = frame.part(json);
                read!(&frame, out, |event: AnthropicEvent| self.stream(&frame, event, out))
            }
            ("result", ..) => {
                self.begin(line, None, out)?;
                self.result(frame, line, out)
            }
            _ if PASSED_OVER.contains(&kind) => Ok(()),
            _ => out.unknown(frame, kind),
        }
    }

    /// A subagent's line in the log of who called it.
    fn aside(&mut self, frame: &Frame, line: &ClaudeLine, out: &mut EventOut) -> Done {
        if !self.is_open {
            return Ok(());
        }
        if line.is_of_transcript() && !std::mem::replace(&mut self.has_aside, true) {
            out.warn(WarningCode::Subagent, "what subagents said is passed over: --raw shows it")?;
        }
        let data = frame.text();
        let event = ProviderEvent { event: Some("subagent"), data: output(&data) };
        out.emit(0, Kind::ProviderEvent(event))
    }

    fn begin(&mut self, line: &ClaudeLine, model: Option<&str>, out: &mut EventOut) -> Done {
        if std::mem::replace(&mut self.is_open, true) {
            return Ok(());
        }
        self.is_transcript = line.is_of_transcript();
        out.start(FORMAT.name, line.session(), model.or(line.model.non_empty()))
    }

    /// Turns to another of the model's messages, or goes on with the
    /// one before.
    fn turn_to(&mut self, id: Option<&str>) {
        if id.is_none() || id != self.current.as_deref() {
            self.meter.begin_part();
            self.seen.clear();
            self.reason = None;
            self.current = id.map(str::to_owned);
        }
    }

    /// A message as it is now: a line for each of its blocks, each with the
    /// same usage.
    fn snapshot(&mut self, frame: &Frame, message: &AnthropicMessage, out: &mut EventOut) -> Done {
        let id = message.id.non_empty();
        if id.is_some() && id == self.streamed.as_deref() {
            return Ok(());
        }
        let content: Vec<RawJson<'_>> = message.content.iter().flatten().copied().collect();
        let rest: Vec<RawJson<'_>> =
            content.iter().copied().filter(|json| !self.has_streamed(json.get())).collect();
        // Qwen Code gives each block of a message that streamed an id of its own.
        let is_of_stream = rest.is_empty() && !content.is_empty();
        if !is_of_stream {
            self.turn_to(id);
        }
        self.count(message.usage);
        self.note_reason(message.ending().reason);
        for json in rest {
            if !self.seen.insert(hash(json.get())) {
                let message = "a block that its message had said before was passed over";
                out.warn(WarningCode::RepeatedBlock, message)?;
                continue;
            }
            self.block(frame, json, out)?;
        }
        out.check_limit(self.seen.len(), MAX_BLOCKS, BLOCKS)
    }

    /// True if a block of a message is one that streamed.
    fn has_streamed(&self, json: &str) -> bool {
        if self.blocks_streamed.is_empty() {
            return false;
        }
        let block = Object::new(json);
        let said = block.text("text|thinking").as_ref().map(SaidStretch::of);
        let id = block.word("id");
        let is_it = |streamed: &Streamed| match (&id, &streamed.id) {
            (None, None) => said == Some(streamed.said),
            (own, known) => own == known,
        };
        self.blocks_streamed.iter().any(is_it)
    }

    /// Takes a provider's usage object.
    fn count(&mut self, usage: Option<RawJson<'_>>) {
        let usage = usage.map_or("", RawJson::get);
        if !self.has_totals && json::member(usage, "total_tokens").is_some() {
            self.has_totals = true;
            self.meter = Meter::new(WITH_TOTALS);
        }
        self.meter.feed(usage);
    }

    fn block(&mut self, frame: &Frame, json: RawJson<'_>, out: &mut EventOut) -> Done {
        read!(&frame.part(json), out, |block: AnthropicBlock| {
            self.has_text |= block.text.is_some();
            self.blocks.whole(block, json.get(), out)
        })
    }

    /// Results, or a prompt: in a transcript, a new message.
    fn user(
        &mut self,
        frame: &Frame,
        line: &ClaudeLine,
        json: RawJson<'_>,
        out: &mut EventOut,
    ) -> Done {
        let content = json::member(json.get(), "content");
        let blocks: Option<Many<RawJson<'_>>> = content.and_then(|json| json::read(json).ok());
        let (results, others): (Vec<RawJson<'_>>, Vec<RawJson<'_>>) =
            blocks.into_iter().flat_map(|Many(all)| all).partition(|block| is_result(block.get()));
        if !results.is_empty() {
            self.begin(line, None, out)?;
        }
        self.blocks_streamed.clear();
        results.into_iter().try_for_each(|block| self.block(frame, block, out))?;
        let is_text = content.is_some_and(|json| json.starts_with('"'));
        let is_prompt = is_text || !others.is_empty();
        if is_prompt && !line.is_meta() { self.prompt(out) } else { Ok(()) }
    }

    /// The user's words: in a transcript, a new message.
    fn prompt(&mut self, out: &mut EventOut) -> Done {
        if !self.is_open || !self.is_transcript {
            return Ok(());
        }
        out.infer_finish_of_log(self.reason.as_deref())?;
        self.end(out)
    }

    /// A line in the envelope of an application, or the user's words in one.
    fn envelope(&mut self, frame: &Frame, content: &str, out: &mut EventOut) -> Done {
        let content = Object::new(content);
        match (content.get("content.data"), content.get("role")) {
            (Some(json), _) => {
                let frame = frame.with(json.as_bytes());
                read!(&frame, out, |line: ClaudeLine| self.line(&frame, line, out))
            }
            (None, Some("\"user\"")) => self.prompt(out),
            _ => out.unknown(frame, ""),
        }
    }

    /// A call, a result, or both in one line, as converters of logs write them.
    fn tool(&mut self, frame: &Frame, tool: &Object, out: &mut EventOut) -> Done {
        let input = tool.get("tool_input|input");
        let output = tool.get("tool_output|output|content");
        let [id, name] =
            ["tool_use_id|id", "tool_name|name"].map(|places| tool.get(places).unwrap_or("\"\""));
        let is_error = tool.word("status").is_some_and(|status| status == "error");
        let call = input.or(output.is_none().then_some("null")).map(|input| {
            let (id, name, input) = (AsIs(id), AsIs(name), AsIs(input));
            object_of!(line; "type": "tool_use", "id": id, "name": name, "input": input)
        });
        let result = output.map(|output| {
            let (id, content) = (AsIs(id), AsIs(output));
            object_of!(line; "type": "tool_result", "tool_use_id": id, "content": content,
                "is_error": is_error)
        });
        for block in [call, result].into_iter().flatten() {
            let frame = frame.with(block.as_bytes());
            read!(&frame, out, |read: AnthropicBlock| self.blocks.whole(read, &block, out))?;
        }
        Ok(())
    }

    /// The API's error, in the program's words.
    fn fail(
        &mut self,
        frame: &Frame,
        message: &AnthropicMessage,
        code: &str,
        status: Option<u16>,
        out: &mut EventOut,
    ) -> Done {
        let code = Some(code).filter(|code| !code.is_empty());
        let words = Some(words(message)).filter(|words| !words.is_empty());
        error::report_with(words.as_deref(), code, status, &frame.text(), out)?;
        self.end(out)
    }

    fn note_reason(&mut self, reason: Option<&Str>) {
        if let Some(raw) = reason.map(Str::as_str).filter(|raw| !finish::is_none(raw)) {
            self.reason = Some(raw.to_owned());
        }
    }

    /// The end of the run.
    fn result(&mut self, frame: &Frame, line: &ClaudeLine, out: &mut EventOut) -> Done {
        self.blocks.cut(out)?;
        if let Some(usage) = line.usage.filter(|usage| usage.get().starts_with('{')) {
            self.meter.reset();
            self.count(Some(usage));
        }
        for (name, json) in line.blocks() {
            out.block(0, name, json)?;
        }
        let subtype = line.subtype.non_empty();
        let failure = self.failure.take();
        if line.is_error == Some(true) {
            let said = failure.as_ref().map(|failure| failure.words.clone());
            let message = line.failure().or(said.filter(|said| !said.is_empty()));
            let code = subtype.filter(|subtype| *subtype != "success");
            let status = line.status().or(failure.and_then(|failure| failure.status));
            let message = message.as_deref().or(subtype);
            error::report_with(message, code, status, &frame.text(), out)?;
            return self.end(out);
        }
        // It repeats the last text, and is all there is without the stream.
        if let (false, Some(text)) = (self.has_text, &line.result) {
            out.text(0, text)?;
        }
        self.note_reason(line.stop_reason.as_ref());
        if let Some(raw) = self.reason.as_deref().or(subtype) {
            out.finish(0, raw, None)?;
        }
        self.end(out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.meter.finish(out)?;
        *self = ClaudeCode { is_subagent: self.is_subagent, ..ClaudeCode::new() };
        out.end()
    }
}

/// Returns the texts of a message.
fn words(message: &AnthropicMessage) -> String {
    let blocks = message.content.iter().flatten();
    let words = blocks.filter_map(|json| json::string(json::member(json.get(), "text")?));
    words.collect::<Vec<_>>().join("\n")
}

/// A message whose content is in blocks: a text by itself becomes one.
fn in_blocks(message: &str) -> Cow<'_, str> {
    let members = json::members(message);
    let is_text = |key: &str, json: &str| key == "content" && json.starts_with('"');
    if !members.iter().any(|(key, value)| is_text(key, value.get())) {
        return Cow::Borrowed(message);
    }
    let members = members.iter().map(|(key, value)| match value.get() {
        text if is_text(key, text) => {
            (key, Cow::Owned(format!("[{{\"type\":\"text\",\"text\":{text}}}]")))
        }
        json => (key, Cow::Borrowed(json)),
    });
    Cow::Owned(json::object(members))
}

/// True if a block is the result of a tool.
fn is_result(block: &str) -> bool {
    let kind = json::member(block, "type").and_then(json::string);
    kind.is_some_and(|kind| kind.as_str().ends_with("tool_result"))
}
