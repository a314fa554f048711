//! Steps: their fields at their start, those that deltas add, and those that are
//! emitted at their stop.

use std::io;

use crate::event::{Arguments, CallPart, Executor, Key, Piece, WarningCode};
use crate::format::gemini_interactions::content::{piece, pieces, thought};
use crate::format::gemini_interactions::outcome::StepOutcome;
use crate::format::gemini_interactions::payload::{InteractionEvent, Step};
use crate::format::support::answered::Answered;
use crate::format::support::blocks::{self, IndexedBlocks};
use crate::format::support::function::emit_arguments;
use crate::format::support::prelude::*;
use crate::json::RawJson;

/// The steps of one interaction.
#[derive(Debug, Default)]
pub(super) struct Steps {
    steps: IndexedBlocks<StepOutcome>,
}

/// A step that has started and not stopped. A result may come later than its step.
type Open = blocks::OpenIndexedBlock<StepOutcome>;

/// The extent of a step in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// The start, or a delta, of the step of this index.
    Piece(u64),
    /// All of it.
    Whole,
}

impl Steps {
    /// `step.start`.
    pub(super) fn start(
        &mut self,
        frame: &Frame,
        event: &InteractionEvent,
        out: &mut EventOut,
    ) -> Done {
        let Some(json) = event.step.or(event.content) else {
            return out.unknown(frame, "step.start");
        };
        let index = self.steps.place_new(event.index, out)?;
        let frame = frame.part(json);
        read!(&frame, out, |step: Step| {
            let piece = Piece::part(json.get());
            let open = self.emit(step, piece, Extent::Piece(index), out)?;
            self.native(&open, Extent::Piece(index), piece, out)?;
            self.steps.insert(index, open, out)
        })
    }

    /// A step of a complete interaction, in which these calls are answered. Unless it is over, it
    /// closes no call that the caller would have to run.
    pub(super) fn whole(
        &mut self,
        frame: &Frame,
        json: RawJson<'_>,
        answered: &Answered,
        is_over: bool,
        out: &mut EventOut,
    ) -> Done {
        let frame = frame.part(json);
        read!(&frame, out, |step: Step| {
            let is_function = step.kind() == "function_call";
            let is_answered = is_function && answered.mark(step.id.non_blank(), out)?;
            let piece = Piece::whole(json.get());
            let open = self.emit(step, piece, Extent::Whole, out)?;
            self.native(&open, Extent::Whole, piece, out)?;
            if is_over || is_answered || !is_function { open.close(out) } else { Ok(()) }
        })
    }

    /// `step.delta`.
    pub(super) fn delta(
        &mut self,
        frame: &Frame,
        event: &InteractionEvent,
        out: &mut EventOut,
    ) -> Done {
        let index = self.steps.place(event.index, out)?;
        let Some(json) = event.delta else {
            self.steps.pass_over(index, out)?;
            return out.unknown(frame, "step.delta");
        };
        let frame = frame.part(json);
        read!(&frame, out, |delta: Step| self.add(index, delta, Piece::part(json.get()), out))
    }

    /// `step.stop`.
    pub(super) fn stop(&mut self, index: Option<u64>, out: &mut EventOut) -> Done {
        let index = self.steps.place(index, out)?;
        self.steps.stop(index).map_or(Ok(()), |open| open.close(out))
    }

    /// Emits the JSON of a step that is no call, or of a piece of one.
    fn native(&mut self, open: &Open, extent: Extent, piece: Piece, out: &mut EventOut) -> Done {
        let of = match (open, extent) {
            (Open::Call(_), _) => return Ok(()),
            (_, Extent::Piece(index)) => self.steps.object_at(Some(index)),
            (_, Extent::Whole) => self.steps.object_at(None),
        };
        out.native(0, of, piece)
    }

    /// Takes what a delta adds. Nothing is lost if its step never started: the
    /// type of the delta says what it is.
    fn add(&mut self, index: u64, delta: &Step, piece: Piece, out: &mut EventOut) -> Done {
        let kind = delta.kind();
        if kind.is_empty() {
            self.steps.pass_over(index, out)?;
        }
        let mut open = match self.steps.remove(index) {
            Some(open) => open,
            None => {
                out.warn(WarningCode::OrphanDelta, "a delta came for a step that had not started")?;
                let key = self.steps.next_key();
                if is_call(kind) { Open::Call(key) } else { Open::Plain }
            }
        };
        let extent = Extent::Piece(index);
        self.native(&open, extent, piece, out)?;
        match (&mut open, kind) {
            (Open::Call(key), _) if is_call(kind) => call_part(*key, delta, piece, extent, out)?,
            (Open::Gathered(outcome), _) if kind.ends_with("_result") => outcome.add(delta, out)?,
            (Open::Plain, _) => open = self.emit(delta, piece, extent, out)?,
            _ => {
                self.steps.insert(index, open, out)?;
                return self.emit(delta, piece, extent, out).map(drop);
            }
        }
        self.steps.insert(index, open, out)
    }

    /// Emits what a step holds, or what a delta adds that needs no step.
    fn emit(
        &mut self,
        step: &Step,
        native: Piece,
        extent: Extent,
        out: &mut EventOut,
    ) -> io::Result<Open> {
        let json = native.json;
        let key = self.steps.next_key();
        match step.kind() {
            "model_output" => {
                pieces(step.content, out)?;
                if let Some(error) = step.error {
                    error::report(error.get(), out)?;
                }
            }
            // The user's words are no part of the answer.
            "user_input" => {}
            "text" | "text_annotation_delta" | "image" | "audio" | "document" | "video" => {
                piece(step, json, out)?;
            }
            "thought" | "thought_summary" | "thought_signature" => thought(step, out)?,
            kind if is_call(kind) => {
                call_part(key, step, native, extent, out)?;
                return Ok(Open::Call(key));
            }
            kind if kind.ends_with("_result") => {
                let mut outcome = StepOutcome::default();
                outcome.add(step, out)?;
                return Ok(Open::Gathered(outcome));
            }
            kind => {
                if let Extent::Piece(index) = extent {
                    self.steps.pass_over(index, out)?;
                }
                out.block(0, kind, json)?;
                let message = format!("a step of type {} has no meaning here", json::quote(kind));
                out.warn(WarningCode::UnknownStep, &message)?;
            }
        }
        Ok(Open::Plain)
    }
}

fn is_call(kind: &str) -> bool {
    kind.ends_with("_call") || kind == "arguments_delta"
}

/// Emits what a step or a delta knows of a call. The arguments at the start are
/// a placeholder for what comes in fragments, and are whole if nothing comes.
fn call_part(key: Key, step: &Step, native: Piece, extent: Extent, out: &mut EventOut) -> Done {
    let is_fragment = step.kind() == "arguments_delta";
    let executor =
        Some(Executor::Provider).filter(|_| !is_fragment && step.kind() != "function_call");
    let part = CallPart {
        key,
        id: step.id.non_blank(),
        name: step.tool(),
        executor,
        signature: step.signature.non_empty(),
        native: Some(native),
        ..CallPart::default()
    };
    match step.arguments.map(RawJson::get) {
        None if is_fragment => {
            out.lost()?;
            out.call(0, part)
        }
        None | Some("\"\"") => out.call(0, part),
        Some("{}") if extent != Extent::Whole => {
            out.call(0, CallPart { arguments: Arguments::Placeholder("{}"), ..part })
        }
        json => emit_arguments(0, part, json, out),
    }
}
