//! Gemini Interactions: the events of a stream, and complete interactions.
//!
//! Source: Gemini API reference, "Interactions". A stream is
//! `interaction.created`, steps, each with its start, deltas and stop, and
//! `interaction.completed`, which doesn't repeat them. The first beta called
//! the steps content; its names are read as well.

mod content;
mod outcome;
mod payload;
mod steps;
mod turn;

use crate::event::{Code, Failure, FinishReason, Kind, WarningCode};
use crate::format::support::answered::Answered;
use crate::format::support::finish;
use crate::format::support::prelude::*;
use crate::json::RawJson;
use payload::{Interaction, InteractionEvent};
use steps::Steps;

pub(super) static FORMAT: Format = Format {
    aliases: &["google-interactions", "interactions"],
    about: "Gemini Interactions, stream and body",
    link: "https://ai.google.dev/api/interactions-api",
    evidence: &["interaction", "step", "content"],
    sniff,
    request: Some(&turn::REQUEST),
    ..Format::new("gemini-interactions", |_| {
        Box::new(GeminiInteractions {
            message: Lifecycle::new(&FORMAT, USAGE),
            steps: Steps::default(),
        })
    })
};

fn sniff(record: &Record) -> bool {
    let is_event = record.text("event_type").is_some_and(|kind| {
        ["interaction.", "step.", "content."].iter().any(|start| kind.starts_with(start))
    });
    let is_body = record.text("object").as_deref() == Some("interaction");
    is_event || is_body
}

/// Thinking is not in `total_output_tokens`, nor what tools have read in
/// `total_input_tokens`.
const USAGE: &[Row] = &[
    ("total_input_tokens", Op::Adds, &[Field::Input]),
    ("total_tool_use_tokens", Op::Adds, &[Field::Input]),
    ("total_output_tokens", Op::Adds, &[Field::Output]),
    ("total_thought_tokens", Op::Adds, &[Field::Output, Field::Reasoning]),
    ("total_cached_tokens", Op::Is, &[Field::Cached]),
    ("total_tokens", Op::Is, &[Field::Total]),
];

struct GeminiInteractions {
    message: Lifecycle,
    steps: Steps,
}

impl Decoder for GeminiInteractions {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return self.done(out);
        }
        read!(&frame, out, |event: InteractionEvent| self.event(&frame, event, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        match self.message.state {
            State::Stopped => self.end_incomplete(out),
            State::Closed | State::Open | State::Failed => self.message.finish(out),
        }
    }
}

impl GeminiInteractions {
    fn event(&mut self, frame: &Frame, event: &InteractionEvent, out: &mut EventOut) -> Done {
        let kind = event.event_type.non_empty().unwrap_or(frame.event_type);
        self.usage(event.metadata_usage());
        match kind {
            "interaction.created" | "interaction.start" => self.interaction(frame, event, out),
            "interaction.completed" | "interaction.complete" => {
                self.interaction(frame, event, out)?;
                self.stop(out)
            }
            "interaction.status_update" => {
                self.begin_late(event.interaction_id.non_empty(), out)?;
                self.usage(event.usage);
                self.status(event.status.as_ref(), out)
            }
            "step.start" | "content.start" => {
                self.begin_late(None, out)?;
                self.steps.start(frame, event, out)
            }
            "step.delta" | "content.delta" => {
                self.begin_late(None, out)?;
                self.steps.delta(frame, event, out)
            }
            "step.stop" | "content.stop" => {
                self.begin_late(None, out)?;
                self.usage(event.usage);
                self.steps.stop(event.index, out)
            }
            "error" => self.fail(frame, out),
            "done" => self.done(out),
            kind => self.other(frame, event, kind, out),
        }
    }

    /// A record without an event's name: a complete interaction, or an error.
    fn other(
        &mut self,
        frame: &Frame,
        event: &InteractionEvent,
        kind: &str,
        out: &mut EventOut,
    ) -> Done {
        if event.object.text() == Some("interaction") {
            return read!(frame, out, |body: Interaction| self.body(frame, body, out));
        }
        let is_error =
            event.error.is_some() || (kind.is_empty() && error::is_error(&Record::new(frame)));
        if is_error { self.fail(frame, out) } else { out.unknown(frame, kind) }
    }

    /// Takes what an event holds of the interaction as a whole.
    fn interaction(&mut self, frame: &Frame, event: &InteractionEvent, out: &mut EventOut) -> Done {
        let Some(json) = event.interaction.filter(|json| json.get().starts_with('{')) else {
            return self.begin_late(None, out);
        };
        let frame = frame.part(json);
        read!(&frame, out, |interaction: Interaction| {
            self.begin(interaction, out)?;
            self.usage(interaction.usage);
            self.status(interaction.status.as_ref(), out)
        })
    }

    /// A complete interaction. One that is still in progress has no end.
    fn body(&mut self, frame: &Frame, body: &Interaction, out: &mut EventOut) -> Done {
        self.begin(body, out)?;
        let answered = Answered::by("_result", body.steps());
        let is_over = reason(body.status.as_ref()).is_some();
        for &json in body.steps() {
            self.steps.whole(frame, json, &answered, is_over, out)?;
        }
        self.usage(body.usage);
        if let Some(error) = body.error {
            self.message.fail(error.get(), out)?;
        }
        self.status(body.status.as_ref(), out)?;
        if self.message.state == State::Open { Ok(()) } else { self.end(out) }
    }

    fn usage(&mut self, usage: Option<RawJson<'_>>) {
        usage.into_iter().for_each(|usage| self.message.meter.feed(usage.get()));
    }

    /// An interaction is known. If another one was open, that one ends now:
    /// well, if only its `interaction.completed` was missing.
    fn begin(&mut self, interaction: &Interaction, out: &mut EventOut) -> Done {
        let id = interaction.id.non_empty();
        match self.message.state {
            State::Closed => {}
            _ if id.is_none() || self.message.id().is_none() || id == self.message.id() => {
                return Ok(());
            }
            State::Stopped => self.end_incomplete(out)?,
            State::Failed => self.end(out)?,
            State::Open => {
                let message = "a second interaction began before the first had ended";
                let failure = Failure::new(Code::Malformed, message, Some(out.offset));
                out.emit(0, Kind::Error(failure))?;
                self.end(out)?;
            }
        }
        self.message.begin(id, interaction.model.non_empty(), out)
    }

    /// A part of an interaction came: if none has begun, the input's beginning
    /// is missing, as it is where a stream was resumed.
    fn begin_late(&mut self, id: Option<&str>, out: &mut EventOut) -> Done {
        let warning = (
            WarningCode::MissingStart,
            "a part of an interaction came without `interaction.created`",
        );
        self.message.begin_late(id, warning, out)
    }

    /// Takes the interaction's status.
    fn status(&mut self, status: Option<&Str>, out: &mut EventOut) -> Done {
        let Some((reason, raw)) = reason(status) else { return Ok(()) };
        self.message.stop();
        out.finish_as(0, reason, raw, None)
    }

    fn fail(&mut self, frame: &Frame, out: &mut EventOut) -> Done {
        self.message.fail(&frame.text(), out)
    }

    /// `interaction.completed`.
    fn stop(&mut self, out: &mut EventOut) -> Done {
        if self.message.state == State::Open {
            let message = "the interaction was completed without a final status";
            out.warn(WarningCode::NoFinishReason, message)?;
        }
        self.end(out)
    }

    /// `[DONE]`, which comes after `interaction.completed`.
    fn done(&mut self, out: &mut EventOut) -> Done {
        match self.message.state {
            State::Closed => Ok(()),
            State::Failed => self.end(out),
            State::Open | State::Stopped => self.end_incomplete(out),
        }
    }

    fn end_incomplete(&mut self, out: &mut EventOut) -> Done {
        let message = "the interaction ended without `interaction.completed`";
        out.warn(WarningCode::MissingCompleted, message)?;
        self.end(out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.steps = Steps::default();
        self.message.end(out)
    }
}

/// Returns the reason to finish that a status is, and its word; only one that is final is one.
fn reason<'a>(status: Option<&'a Str>) -> Option<(FinishReason, &'a str)> {
    let status = status?.as_str();
    let reason = match status {
        "" | "in_progress" | "queued" => return None,
        "incomplete" => FinishReason::Length,
        "requires_continuation" => FinishReason::Pause,
        "cancelled" => FinishReason::Other,
        raw => finish::normalise(raw),
    };
    Some((reason, status))
}
