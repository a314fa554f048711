//! OpenAI Assistants: the events of a run, and runs as they are polled.
//!
//! Source: OpenAI API reference, "Assistants streaming". A run takes steps: a
//! step makes a message or calls tools. The events' names say what has
//! happened, their payloads are the run, the step or the message itself.

mod payload;
mod steps;

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::event::{FinishReason, WarningCode};
use crate::format::openai_responses::Emitted;
use crate::format::support::prelude::*;
use payload::{Content, Event};
use steps::Steps;

pub(super) static FORMAT: Format = Format {
    aliases: &["assistants"],
    about: "OpenAI Assistants: the stream of a run, and runs as they are polled",
    link: "https://platform.openai.com/docs/api-reference/assistants-streaming/events",
    evidence: &["id", "thread_id"],
    sniff,
    ..Format::new("openai-assistants", || {
        let message = Lifecycle::new(&FORMAT, USAGE);
        Box::new(Assistants { message, steps: Steps::default(), parts: BTreeMap::new() })
    })
};

fn sniff(record: &Record) -> bool {
    let object = record.text("object").unwrap_or_default();
    object == "thread" || object.starts_with("thread.run") || object.starts_with("thread.message")
}

const USAGE: &[Row] = &[
    ("prompt_tokens", Op::Is, &[Field::Input]),
    ("completion_tokens", Op::Is, &[Field::Output]),
    ("total_tokens", Op::Is, &[Field::Total]),
    ("prompt_token_details.cached_tokens", Op::Is, &[Field::Cached]),
    ("completion_tokens_details.reasoning_tokens", Op::Is, &[Field::Reasoning]),
];

/// The most parts of one message.
const MAX_PARTS: usize = 1024;

struct Assistants {
    message: Lifecycle,
    steps: Steps,
    /// The parts of the message that is being made, as far as they have been emitted.
    parts: BTreeMap<u64, Part>,
}

/// One part of a message, as far as it has been emitted.
#[derive(Debug, Default)]
struct Part {
    emitted: Emitted,
    annotations: usize,
    is_emitted: bool,
}

impl Decoder for Assistants {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        // It comes after the run's own end.
        if frame.is_done() {
            return Ok(());
        }
        if frame.event_type == "error" {
            return self.message.fail(&frame.text(), out);
        }
        read!(&frame, out, |event: Event| self.event(&frame, event, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.message.finish(out)
    }
}

impl Assistants {
    fn event(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        let object = event.object.or_empty();
        let status = event.status.or_empty();
        match (object, status) {
            // The thread that the run is in.
            ("thread", _) => Ok(()),
            ("thread.run", _) => self.run(event, status, out),
            ("thread.run.step", _) => {
                self.begin(event, out)?;
                self.steps.step(event, status, out)
            }
            ("thread.run.step.delta", _) => {
                self.begin(event, out)?;
                self.steps.delta(event, out)
            }
            ("thread.message.delta", _) => {
                self.begin(event, out)?;
                let content = event.delta.as_ref().and_then(|delta| delta.content.as_deref());
                (0..).zip(content.unwrap_or_default()).try_for_each(|(place, part)| {
                    self.piece(part.index.unwrap_or(place), part, out)
                })
            }
            // The question that the run answers.
            ("thread.message", _) if event.role.text() == Some("user") => Ok(()),
            ("thread.message", "in_progress") => {
                self.parts.clear();
                self.begin(event, out)
            }
            ("thread.message", _) => {
                self.begin(event, out)?;
                let content = event.content.as_deref().unwrap_or_default();
                (0..).zip(content).try_for_each(|(place, part)| self.whole(place, part, out))
            }
            _ if error::is_error(&Record::new(frame)) => self.message.fail(&frame.text(), out),
            _ => out.unknown(frame, if object.is_empty() { frame.event_type } else { object }),
        }
    }

    /// Takes the run's state: it goes on, or ends with a reason.
    fn run(&mut self, event: &Event, status: &str, out: &mut EventOut) -> Done {
        self.begin(event, out)?;
        event.usage.iter().for_each(|usage| self.message.meter.feed(usage.get()));
        match status {
            "queued" | "in_progress" | "cancelling" => return Ok(()),
            "requires_action" => {
                self.steps.required(event, out)?;
                out.finish(0, status, None)?;
            }
            "incomplete" => out.finish(0, event.reason().unwrap_or(status), None)?,
            "failed" | "expired" => {
                let bare = format!("{{\"message\":\"the run {status}\",\"code\":\"{status}\"}}");
                error::report(event.last_error.map_or(bare.as_str(), RawValue::get), out)?;
            }
            // By its caller: it didn't fail.
            "cancelled" => out.finish_as(0, FinishReason::Other, status, None)?,
            status => out.finish(0, status, None)?,
        }
        (self.steps, self.parts) = (Steps::default(), BTreeMap::new());
        self.message.end(out)
    }

    /// A run begins, or goes on after its tools have been run.
    fn begin(&mut self, event: &Event, out: &mut EventOut) -> Done {
        let is_run = event.object.text() == Some("thread.run");
        let id = if is_run { event.id.as_ref() } else { event.run_id.as_ref() };
        self.message.begin(id.and_then(Str::non_empty), event.model.non_empty(), out)
    }

    /// Emits what a delta adds to a part of the message.
    fn piece(&mut self, place: u64, content: &Content, out: &mut EventOut) -> Done {
        out.check_limit(self.parts.len(), MAX_PARTS, "parts in one message")?;
        let part = self.parts.entry(place).or_default();
        part.is_emitted = true;
        if let Some(text) = content.text.as_ref().and_then(|text| text.value.as_ref()) {
            part.emitted.add(text);
            out.text(0, text)?;
        }
        if let Some(refusal) = &content.refusal {
            part.emitted.add(refusal);
            out.refusal(0, refusal)?;
        }
        for json in content.text.iter().flat_map(|text| &text.annotations).flatten() {
            part.annotations += 1;
            out.block(0, "annotation", json.get())?;
        }
        content.image().map_or(Ok(()), |(name, json)| out.block(0, name, json))
    }

    /// A part of a whole message: what its deltas have emitted is not emitted again.
    fn whole(&mut self, place: u64, content: &Content, out: &mut EventOut) -> Done {
        let Some(part) = self.parts.remove(&place).filter(|part| part.is_emitted) else {
            return self.piece(place, content, out);
        };
        let text = content.text.as_ref().and_then(|text| text.value.as_ref());
        let rest = text.or(content.refusal.as_ref()).map(|whole| part.emitted.rest(whole));
        match rest {
            Some(Some(rest)) if text.is_some() => out.text(0, &rest)?,
            Some(Some(rest)) => out.refusal(0, &rest)?,
            Some(None) => out.warn(
                WarningCode::TextMismatch,
                "a text was repeated at its end, but not as its pieces had it",
            )?,
            None => {}
        }
        let annotations = content.text.iter().flat_map(|text| &text.annotations).flatten();
        annotations
            .skip(part.annotations)
            .try_for_each(|json| out.block(0, "annotation", json.get()))
    }
}
