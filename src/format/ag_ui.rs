//! AG-UI, the protocol between agents and user interfaces.
//!
//! Source: AG-UI documentation, "Events", and the types of `@ag-ui/core`. A run
//! is a message: `RUN_STARTED` … `RUN_FINISHED` or `RUN_ERROR`. Fields are in
//! camel case; some servers in Python send them in snake case. Calls that the
//! agent's backend has run have their result after them; those that have none
//! when the text goes on, or when the run ends, are the caller's to run.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use crate::event::{
    Arguments, CallPart, FinishReason, Kind, Output, ProviderEvent, ToolResult, WarningCode,
};
use crate::format::support::emit::output;
use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["agui"],
    about: "AG-UI, events of an agent's run",
    link: "https://docs.ag-ui.com/concepts/events",
    evidence: &["threadId", "runId", "messageId", "delta"],
    sniff: is_ours,
    ..Format::new("ag-ui", || {
        Box::new(AgUi { message: Lifecycle::new(&FORMAT, USAGE), run: Run::default() })
    })
};

/// Types are written in capitals, as no other format does.
fn is_ours(record: &Record) -> bool {
    let kind = record.text("type").unwrap_or_default();
    let is_upper =
        !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    is_upper && (kind.contains('_') || matches!(kind.as_str(), "RAW" | "CUSTOM"))
}

/// One object for each model that took part.
const USAGE: &[Row] = &[
    ("inputTokens", Op::Is, &[Field::Input]),
    ("outputTokens", Op::Is, &[Field::Output]),
    ("totalTokens", Op::Is, &[Field::Total]),
    ("cachedInputTokens", Op::Is, &[Field::Cached]),
    ("reasoningTokens", Op::Is, &[Field::Reasoning]),
];

payload! {
    /// An event. Which fields it has depends on its type.
    struct Event<'a> {
        kind: Option<Str<'a>> = "type",
        run_id: Option<Str<'a>> = "runId" | "run_id",
        message_id: Option<Str<'a>> = "messageId" | "message_id",
        role: Option<Str<'a>>,
        delta: Option<&'a RawValue>,
        tool_call_id: Option<Str<'a>> = "toolCallId" | "tool_call_id",
        tool_call_name: Option<Str<'a>> = "toolCallName" | "tool_call_name",
        content: Option<&'a RawValue>,
        encrypted_value: Option<Str<'a>> = "encryptedValue" | "encrypted_value",
        message: Option<Str<'a>>,
        code: Option<Str<'a>>,
        result: Option<&'a RawValue>,
        outcome: Option<Outcome<'a>>,
        usage: Option<Vec<&'a RawValue>>,
    }

    struct Outcome<'a> {
        kind: Option<Str<'a>> = "type",
    }
}

impl Event<'_> {
    /// A piece of text; of a state, the delta is no string.
    fn piece(&self) -> Str<'_> {
        self.delta.and_then(|json| json::read(json.get()).ok()).unwrap_or_default()
    }
}

/// The most messages of one run that are not the agent's.
const MAX_FOREIGN: usize = 4096;

struct AgUi {
    message: Lifecycle,
    run: Run,
}

/// The state of one run.
#[derive(Default)]
struct Run {
    calls: Calls,
    /// The call that chunks go on with, which no event of its own ends.
    chunked: Option<String>,
    /// Messages that are not the agent's.
    foreign: BTreeSet<String>,
    /// The text message that chunks without an id go on with.
    latest: String,
}

impl Decoder for AgUi {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return Ok(());
        }
        read!(&frame, out, |event: Event| self.event(&frame, event, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.message.finish(out)
    }
}

impl AgUi {
    fn event(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        let kind = event.kind.or_empty();
        if !self.message.is_open() && is_ours(&Record::new(frame)) {
            self.begin(event, kind, out)?;
        }
        if !matches!(kind, "TOOL_CALL_CHUNK" | "RAW") {
            self.end_chunked(out)?;
        }
        if matches!(
            kind,
            "TEXT_MESSAGE_START" | "TEXT_MESSAGE_CHUNK" | "RUN_FINISHED" | "RUN_ERROR"
        ) {
            self.run.calls.release(out)?;
        }
        let text = frame.text();
        match kind {
            "RUN_FINISHED" => self.run_finished(event, out),
            "RUN_ERROR" => {
                let [message, code] = [&event.message, &event.code].map(|word| word.non_empty());
                error::report_as(message, code, &text, out)?;
                self.end(out)
            }
            "TEXT_MESSAGE_START" | "TEXT_MESSAGE_CONTENT" | "TEXT_MESSAGE_CHUNK" => {
                self.text(event, out)
            }
            "TOOL_CALL_START" | "TOOL_CALL_ARGS" | "TOOL_CALL_CHUNK" | "TOOL_CALL_END" => {
                self.call(kind, event, out)
            }
            "TOOL_CALL_RESULT" => {
                let id = event.tool_call_id.or_empty();
                let output = Output::Json(event.content.map_or("null", RawValue::get));
                self.run.calls.result(ToolResult { id, output, ..ToolResult::default() }, out)
            }
            "THINKING_TEXT_MESSAGE_CONTENT"
            | "REASONING_MESSAGE_CONTENT"
            | "REASONING_MESSAGE_CHUNK" => out.reasoning(0, &event.piece()),
            "REASONING_ENCRYPTED_VALUE" => event
                .encrypted_value
                .as_ref()
                .map_or(Ok(()), |value| out.signature(0, value.as_str())),
            "STATE_SNAPSHOT" | "STATE_DELTA" | "ACTIVITY_SNAPSHOT" | "ACTIVITY_DELTA"
            | "CUSTOM" => out.block(0, kind, &text),
            // The provider's own events, beside ours that were made of them.
            "RAW" => {
                let event = ProviderEvent { event: Some(kind), data: output(&text) };
                out.emit(0, Kind::ProviderEvent(event))
            }
            // Events without content, and the history that a client is sent anew.
            "RUN_STARTED" | "STEP_STARTED" | "STEP_FINISHED" | "TEXT_MESSAGE_END"
            | "MESSAGES_SNAPSHOT" => out.flush(),
            "THINKING_START"
            | "THINKING_END"
            | "THINKING_TEXT_MESSAGE_START"
            | "THINKING_TEXT_MESSAGE_END" => out.flush(),
            "REASONING_START"
            | "REASONING_END"
            | "REASONING_MESSAGE_START"
            | "REASONING_MESSAGE_END" => out.flush(),
            kind => out.unknown(frame, kind),
        }
    }

    fn begin(&mut self, event: &Event, kind: &str, out: &mut EventOut) -> Done {
        if matches!(kind, "RUN_STARTED" | "RUN_ERROR") {
            return self.message.begin(event.run_id.non_empty(), None, out);
        }
        let warning =
            (WarningCode::MissingRunStarted, "an event came without `RUN_STARTED` before it");
        self.message.begin_late(event.run_id.non_empty(), warning, out)
    }

    /// A piece of a text message, unless it is a message of the user's.
    fn text(&mut self, event: &Event, out: &mut EventOut) -> Done {
        if let Some(id) = event.message_id.non_empty() {
            self.run.latest = id.to_owned();
        }
        if event.role.as_ref().is_some_and(|role| role.as_str() != "assistant") {
            self.run.foreign.insert(self.run.latest.clone());
            out.check_limit(self.run.foreign.len(), MAX_FOREIGN, "messages of others in one run")?;
        }
        if self.run.foreign.contains(&self.run.latest) {
            return Ok(());
        }
        out.text(0, &event.piece())
    }

    fn call(&mut self, kind: &str, event: &Event, out: &mut EventOut) -> Done {
        let is_chunk = kind == "TOOL_CALL_CHUNK";
        let given = event.tool_call_id.non_empty();
        if is_chunk && given.is_some() && given != self.run.chunked.as_deref() {
            self.end_chunked(out)?;
            self.run.chunked = given.map(str::to_owned);
        }
        let chunked = self.run.chunked.clone().filter(|_| is_chunk);
        let id = given.or(chunked.as_deref());
        if kind == "TOOL_CALL_END" {
            return self.run.calls.hold_id(id.unwrap_or_default(), out);
        }
        let name = event.tool_call_name.non_empty();
        let is_undecided = name.is_some();
        let part = CallPart { id, name, is_undecided, ..CallPart::default() };
        // What is no text is no piece of arguments either: as a value, it is not lost.
        match event.delta.map(RawValue::get).filter(|json| !json.starts_with(['"', 'n'])) {
            Some(json) => {
                let arguments = Arguments::Value(json);
                self.run.calls.part(CallPart { arguments, ..part }, out).map(drop)
            }
            None => self.run.calls.fragment(part, &event.piece(), out),
        }
    }

    /// Chunks of a call end where something else comes.
    fn end_chunked(&mut self, out: &mut EventOut) -> Done {
        self.run.chunked.take().map_or(Ok(()), |id| self.run.calls.hold_id(&id, out))
    }

    fn run_finished(&mut self, event: &Event, out: &mut EventOut) -> Done {
        for usage in event.usage.iter().flatten() {
            self.message.meter.feed(usage.get());
            self.message.meter.part();
        }
        if let Some(result) = event.result {
            out.block(0, "result", result.get())?;
        }
        match event.outcome.as_ref().and_then(|outcome| outcome.kind.text()) {
            Some("interrupt") => out.finish_as(0, FinishReason::Other, "interrupt", None)?,
            Some(raw) => out.finish(0, raw, None)?,
            None => {}
        }
        self.end(out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.run = Run::default();
        self.message.end(out)
    }
}
