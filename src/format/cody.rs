//! Sourcegraph's completions, as Cody asks for them.
//!
//! Source: sourcegraph/cody, `lib/shared/src/sourcegraph-api/completions`
//! (`types.ts`, `parse.ts`). Events are named `completion`, `error` and `done`.
//! Since version 2 of the API a completion brings a piece of the text; before,
//! it brought all of it so far.

use crate::event::{CallPart, FinishReason, Key};
use crate::format::support::emitted::Emitted;
use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["sourcegraph", "sourcegraph-cody"],
    about: "Sourcegraph Cody, completions stream",
    link: "https://github.com/sourcegraph/cody-public-snapshot",
    evidence: &["deltaText", "completion", "stopReason"],
    sniff: is_ours,
    ..Format::new("cody", |_| {
        Box::new(Cody { message: Lifecycle::new(&FORMAT, &[]), answer: Answer::default() })
    })
};

fn is_ours(record: &Record) -> bool {
    let is_old = record.has("completion") && record.has("stopReason");
    let has_piece = ["deltaText", "delta_tool_calls", "delta_thinking"];
    let is_piece = has_piece.iter().any(|key| record.get(key).is_some());
    record.event_type == "completion" && (is_old || is_piece)
}

struct Cody {
    message: Lifecycle,
    answer: Answer,
}

/// What has come of the answer.
#[derive(Default)]
struct Answer {
    calls: Calls,
    /// The call that pieces without an id continue.
    latest: Option<String>,
    /// The text, as far as it has been emitted.
    emitted: Emitted,
    reason: Option<String>,
}

impl Decoder for Cody {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        read!(&frame, out, |raw: RawJson| {
            let event = Object::new(raw.0.get());
            match frame.event_type {
                "completion" => self.completion(&event, out),
                "error" => self.message.fail(raw.0.get(), out),
                "done" => self.done(out),
                kind => out.unknown(&frame, kind),
            }
        })
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.message.finish(out)
    }
}

impl Cody {
    fn completion(&mut self, event: &Object, out: &mut EventOut) -> Done {
        self.message.begin(None, None, out)?;
        let answer = &mut self.answer;
        if let Some(thought) = event.text("delta_thinking") {
            out.reasoning(0, &thought)?;
        }
        if let Some(piece) = event.text("deltaText") {
            answer.emitted.add(&piece);
            out.text(0, &piece)?;
        } else if let Some(whole) = event.text("completion") {
            match answer.emitted.rest(&whole) {
                Some(rest) => {
                    answer.emitted.add(&rest);
                    out.text(0, &rest)?;
                }
                None => out.revise(0, &whole)?,
            }
        }
        for json in event.each("delta_tool_calls") {
            let call = Object::new(json);
            answer.latest = call.word("id").or(answer.latest.take());
            let name = call.word("function.name");
            let id = answer.latest.as_deref();
            let part = CallPart { id, name: name.as_deref(), ..CallPart::default() };
            answer.calls.fragment(
                part,
                &call.text("function.arguments").unwrap_or_default(),
                out,
            )?;
        }
        answer.reason = event.word("stopReason").or(answer.reason.take());
        Ok(())
    }

    fn done(&mut self, out: &mut EventOut) -> Done {
        let answer = std::mem::take(&mut self.answer);
        if self.message.state == State::Open {
            if !answer.calls.is_empty() {
                out.call_end(0, Key::None)?;
            }
            match answer.reason {
                Some(raw) => out.finish(0, &raw, None)?,
                None => out.infer_finish(0, FinishReason::Stop, None)?,
            }
        }
        self.message.end(out)
    }
}
