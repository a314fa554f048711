//! Sourcegraph's completions, as Cody asks for them.
//!
//! Source: sourcegraph/cody, `lib/shared/src/sourcegraph-api/completions`
//! (`types.ts`, `parse.ts`). Events are named `completion`, `error` and `done`.
//! Since version 2 of the API a completion brings a piece of the text; before,
//! it brought all of it so far.

use crate::event::{CallPart, FinishReason, Key};
use crate::format::format::{Decoder, Format, Record};
use crate::format::support::calls::Calls;
use crate::format::support::emit::{Done, EventOut};
use crate::format::support::error;
use crate::format::support::log::Raw;
use crate::format::support::object::Object;
use crate::format::support::payload::read;
use crate::frame::Frame;
use crate::json::Str;

pub(super) static FORMAT: Format = Format {
    aliases: &["sourcegraph", "sourcegraph-cody"],
    about: "Sourcegraph Cody, completions stream",
    link: "https://github.com/sourcegraph/cody-public-snapshot",
    evidence: &["deltaText", "completion", "stopReason"],
    sniff: is_ours,
    ..Format::new("cody", || Box::new(Cody::default()))
};

fn is_ours(record: &Record) -> bool {
    let is_old = record.has("completion") && record.has("stopReason");
    let has_piece = ["deltaText", "delta_tool_calls", "delta_thinking"];
    let is_piece = has_piece.iter().any(|key| record.get(key).is_some());
    record.event_type == "completion" && (is_old || is_piece)
}

#[derive(Default)]
struct Cody {
    is_open: bool,
    has_failed: bool,
    calls: Calls,
    /// The call that pieces without an id continue.
    latest: Option<String>,
    /// The bytes of the text that have been emitted.
    emitted: usize,
    reason: Option<String>,
}

impl Decoder for Cody {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        read!(&frame, out, |raw: Raw| {
            let event = Object::new(raw.0.get());
            match frame.event_type {
                "completion" => self.completion(&event, out),
                "error" => {
                    self.begin(out)?;
                    self.has_failed = true;
                    error::report(raw.0.get(), out)
                }
                "done" => self.done(out),
                kind => out.unknown(&frame, kind),
            }
        })
    }

    fn finish(&mut self, _: &mut EventOut) -> Done {
        Ok(())
    }
}

impl Cody {
    fn begin(&mut self, out: &mut EventOut) -> Done {
        if std::mem::replace(&mut self.is_open, true) {
            return Ok(());
        }
        out.start(FORMAT.name, None, None)
    }

    fn completion(&mut self, event: &Object, out: &mut EventOut) -> Done {
        self.begin(out)?;
        if let Some(thought) = event.text("delta_thinking") {
            out.reasoning(0, &thought)?;
        }
        if let Some(piece) = event.text("deltaText") {
            self.emitted += piece.as_str().len();
            out.text(0, &piece)?;
        } else if let Some(whole) = event.text("completion") {
            let text = whole.as_str();
            let emitted = std::mem::replace(&mut self.emitted, text.len());
            out.text(0, &Str::from(text.get(emitted..).unwrap_or_default()))?;
        }
        for json in event.each("delta_tool_calls") {
            let call = Object::new(json);
            self.latest = call.word("id").or(self.latest.take());
            let name = call.word("function.name");
            let id = self.latest.as_deref();
            let part = CallPart { id, name: name.as_deref(), ..CallPart::default() };
            self.calls.fragment(part, &call.text("function.arguments").unwrap_or_default(), out)?;
        }
        self.reason = event.word("stopReason").or(self.reason.take());
        Ok(())
    }

    fn done(&mut self, out: &mut EventOut) -> Done {
        if !self.is_open {
            return Ok(());
        }
        if !self.calls.is_empty() && !self.has_failed {
            out.call_end(0, Key::None)?;
        }
        match self.reason.take() {
            _ if self.has_failed => {}
            Some(raw) => out.finish(0, &raw, None)?,
            None => out.infer_finish(0, FinishReason::Stop, None)?,
        }
        *self = Cody::default();
        out.end()
    }
}
