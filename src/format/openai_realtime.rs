//! OpenAI Realtime: the server's events of a session, one a line.
//!
//! Source: OpenAI API reference, "Realtime server events". A session holds
//! several responses, whose events are those of the Responses API. The events
//! about the session, the conversation and the user's speech hold nothing that
//! the model spoke.

use crate::format::openai_responses::{ResponseEvent, Responses};
use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["realtime", "voice-live"],
    about: "OpenAI Realtime: a dump of a session's server events",
    link: "https://platform.openai.com/docs/api-reference/realtime-server-events",
    evidence: &["event_id", "session", "response"],
    sniff,
    ..Format::new("openai-realtime", |_| {
        Box::new(Realtime { responses: Responses::new(&FORMAT), error: None })
    })
};

/// Responses have `sequence_number` where Realtime has `event_id`.
fn sniff(record: &Record) -> bool {
    let is_ours = |kind: String| is_about_session(&kind) || kind.starts_with("response.");
    record.has("event_id") && record.text("type").is_some_and(is_ours)
}

struct Realtime {
    responses: Responses,
    /// An error that came in the middle of a response, which may yet end well.
    error: Option<String>,
}

impl Decoder for Realtime {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        read!(&frame, out, |event: ResponseEvent| self.event(&frame, event, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if let Some(error) = self.error.take() {
            self.responses.fail(&error, out)?;
        }
        self.responses.finish(out)
    }
}

impl Realtime {
    fn event(&mut self, frame: &Frame, event: &ResponseEvent, out: &mut EventOut) -> Done {
        let model = event.session.as_ref().and_then(|session| session.model.as_ref());
        if let Some(model) = model.and_then(Str::non_empty) {
            self.responses.model = Some(model.to_owned());
        }
        match event.kind.or_empty() {
            kind if is_about_session(kind) => Ok(()),
            "error" => self.fail(&frame.text(), out),
            _ => {
                self.responses.event(frame, event, out)?;
                self.error = self.error.take().filter(|_| self.responses.is_open());
                Ok(())
            }
        }
    }

    /// An error: of the client's last event, as a rule, and not of the response
    /// that goes on meanwhile. True if that failed is emitted at its end.
    fn fail(&mut self, json: &str, out: &mut EventOut) -> Done {
        if self.responses.is_open() {
            self.error = Some(json.to_owned());
            let message =
                format!("an error came while the response went on: {}", json::minify(json));
            return out.warn(WarningCode::ErrorEvent, &message);
        }
        self.responses.fail(json, out)?;
        self.responses.finish(out)
    }
}

/// Events without anything of a response: of these, only what the model spoke
/// is reported.
fn is_about_session(kind: &str) -> bool {
    const STARTS: [&str; 6] = [
        "session.", "conversation.", "input_audio_buffer.", "output_audio_buffer.", "rate_limits.",
        "mcp_list_tools.",
    ];
    kind == "ping" || STARTS.iter().any(|start| kind.starts_with(start))
}
