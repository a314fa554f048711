//! Gemini Live: the records of its WebSocket, one a line.
//!
//! Source: Live API reference, "BidiGenerateContentServerMessage". A turn of
//! the model is a message. It ends with `turnComplete`; and with the calls that
//! the model makes, for it waits for their results, and what it writes then is
//! another message. What the client sends may stand in between.

mod payload;

use crate::event::{Block, Code, Failure, Finish, FinishReason, Kind, WarningCode};
use crate::format::gemini::{FunctionResponse, GeminiParts, USAGE};
use crate::format::support::finish;
use crate::format::support::payload::word;
use crate::format::support::prelude::*;
use payload::{LiveMessage, ServerContent, Transcription};

pub(super) static FORMAT: Format = Format {
    aliases: &["google-live"],
    about: "Gemini Live, a dump of its events",
    link: "https://ai.google.dev/api/live",
    evidence: &[
        "setupComplete", "setup_complete", "serverContent", "server_content", "clientContent",
        "client_content", "realtimeInput", "realtime_input", "toolCall", "tool_call", "setup",
    ],
    sniff,
    ..Format::new("gemini-live", |_| {
        let message = Lifecycle::new(&FORMAT, USAGE);
        let (model, parts) = (None, GeminiParts::default());
        Box::new(GeminiLive { message, model, is_interrupted: false, parts })
    })
};

fn sniff(record: &Record) -> bool {
    let is_object = |key| record.get(key).is_some_and(|json| json.starts_with('{'));
    let calls = ["toolCall", "tool_call"].into_iter().find_map(|key| record.get(key));
    let has_calls =
        calls.is_some_and(|json| json.contains("functionCalls") || json.contains("function_calls"));
    let setup = record.get("setup").is_some_and(|json| json.contains("\"model\""));
    let is_ours = [
        "setupComplete", "setup_complete", "serverContent", "server_content", "clientContent",
        "client_content", "realtimeInput", "realtime_input",
    ]
    .into_iter()
    .any(is_object);
    is_ours || has_calls || setup
}

struct GeminiLive {
    message: Lifecycle,
    /// The model, if the session's setup was seen.
    model: Option<String>,
    /// True if the user spoke into the turn.
    is_interrupted: bool,
    parts: GeminiParts,
}

impl Decoder for GeminiLive {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return Ok(());
        }
        if frame.event_type == "error" {
            return self.fail(&frame.text(), out);
        }
        read!(&frame, out, |message: LiveMessage| self.message(&frame, message, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.message.finish(out)
    }
}

impl GeminiLive {
    fn message(&mut self, frame: &Frame, message: &LiveMessage, out: &mut EventOut) -> Done {
        if message.is_setup() {
            self.set_up(message, out)?;
        }
        for response in message.tool_responses() {
            self.tool_response(response, out)?;
        }
        if let Some(ids) = message.tool_call_cancellation {
            self.begin(out)?;
            out.block(0, "tool_call_cancellation", ids.get())?;
        }
        if let Some(content) = &message.server_content {
            self.content(frame, content, out)?;
        }
        if let Some(usage) = message.usage_metadata {
            self.usage(message, usage.get(), out)?;
        }
        if let Some(content) = &message.server_content {
            self.content_end(content, out)?;
        }
        if message.tool_call.is_some() {
            self.tool_call(message, out)?;
        }
        match message.error {
            Some(_) => self.fail(&frame.text(), out),
            None if message.is_named() => Ok(()),
            None if error::is_error(&Record::new(frame)) => self.fail(&frame.text(), out),
            None => out.unknown(frame, Record::new(frame).first_key()),
        }
    }

    /// A session begins: what was open will not go on.
    fn set_up(&mut self, message: &LiveMessage, out: &mut EventOut) -> Done {
        match self.message.state {
            State::Closed => {}
            State::Stopped | State::Failed => self.end(out)?,
            State::Open => {
                let text = "a second session began before a turn of the first had ended";
                out.emit(0, Kind::Error(Failure::new(Code::Malformed, text, Some(out.offset))))?;
                self.end(out)?;
            }
        }
        if let Some(model) = message.model() {
            self.model = Some(model.to_owned());
        }
        Ok(())
    }

    fn begin(&mut self, out: &mut EventOut) -> Done {
        if self.message.state == State::Failed {
            self.end(out)?;
        }
        self.message.begin(None, self.model.as_deref(), out)
    }

    /// Emits what a record adds to the turn.
    fn content(&mut self, frame: &Frame, content: &ServerContent, out: &mut EventOut) -> Done {
        for part in content.parts() {
            self.begin(out)?;
            self.parts.part(part, frame, out)?;
        }
        if let Some(text) = content.output_transcription.as_ref().and_then(Transcription::text) {
            self.begin(out)?;
            out.text(0, text)?;
        }
        if let Some(text) = content.input_transcription.as_ref().and_then(Transcription::text) {
            self.begin(out)?;
            let text = text.as_str();
            let block = Block { name: "input_transcription", text, attributes: None };
            out.emit(0, Kind::Block(block))?;
        }
        for (name, json) in content.metadata() {
            if let Some(json) = json.filter(|json| json.get() != "{}") {
                self.begin(out)?;
                out.block(0, name, json.get())?;
            }
        }
        Ok(())
    }

    /// Ends the turn, if a record ends it.
    fn content_end(&mut self, content: &ServerContent, out: &mut EventOut) -> Done {
        self.is_interrupted |= content.interrupted == Some(true);
        if content.turn_complete != Some(true) {
            return Ok(());
        }
        self.begin(out)?;
        match content.turn_complete_reason.map(word).as_deref() {
            _ if self.is_interrupted => self.stop(FinishReason::Other, Some("interrupted"), out),
            Some(raw) if !finish::is_none(raw) => self.stop(normalise(raw), Some(raw), out),
            _ => self.stop(FinishReason::Stop, None, out),
        }
    }

    fn usage(&mut self, message: &LiveMessage, usage: &str, out: &mut EventOut) -> Done {
        let is_late = self.message.state == State::Closed && message.is_only_usage();
        if is_late {
            return out.warn(WarningCode::LateUsage, "usage came after the end of its turn");
        }
        self.message.meter.feed(usage);
        Ok(())
    }

    /// The model wants calls to be run, and waits.
    fn tool_call(&mut self, message: &LiveMessage, out: &mut EventOut) -> Done {
        self.begin(out)?;
        for call in message.calls() {
            self.parts.function_call(call, None, None, out)?;
        }
        self.stop(FinishReason::ToolCalls, None, out)
    }

    fn tool_response(&mut self, response: &FunctionResponse, out: &mut EventOut) -> Done {
        self.begin(out)?;
        self.parts.function_response(response, out)
    }

    fn fail(&mut self, json: &str, out: &mut EventOut) -> Done {
        self.begin(out)?;
        self.message.fail(json, out)
    }

    fn stop(&mut self, finish_reason: FinishReason, raw: Option<&str>, out: &mut EventOut) -> Done {
        let inferred = raw.is_none();
        self.parts.finish(false, out)?;
        let (stop_sequence, wants_tools) = (None, false);
        let finish = Finish { finish_reason, raw, stop_sequence, inferred, wants_tools };
        out.emit(0, Kind::Finish(finish))?;
        self.end(out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        (self.is_interrupted, self.parts) = (false, GeminiParts::default());
        self.message.end(out)
    }
}

/// The prefixes of reasons that name what a filter has found, in the input
/// or in what was generated.
const FILTERS: &[&str] =
    &["INPUT_", "IMAGE_", "GENERATED_", "OUTPUT_", "PROHIBITED_", "UNSAFE_", "RESPONSE_REJECTED"];

/// Our word for the reason of a turn's end.
fn normalise(raw: &str) -> FinishReason {
    let is_filter = FILTERS.iter().any(|start| raw.starts_with(start));
    if is_filter { FinishReason::ContentFilter } else { finish::normalise(raw) }
}
