//! Results of calls, which may come later than their steps.

use crate::event::{Kind, Output, ToolResult};
use crate::format::gemini_interactions::payload::Step;
use crate::format::support::blocks::GatheredBlock;
use crate::format::support::emit::{Done, EventOut};
use crate::format::support::payload::OptionalStr;
use crate::json::RawJson;

/// The state of a call's result.
#[derive(Debug, Default)]
pub(super) struct StepOutcome {
    id: String,
    name: Option<String>,
    is_emitted: bool,
}

impl StepOutcome {
    /// Takes what a step or a delta knows. An empty result at the start stands
    /// for one that comes later.
    pub(super) fn add(&mut self, step: &Step, out: &mut EventOut) -> Done {
        if let Some(id) = step.call_id.non_empty() {
            id.clone_into(&mut self.id);
        }
        self.name = self.name.take().or_else(|| step.tool().map(str::to_owned));
        let result = step.result.map(RawJson::get);
        if let Some(result) = result.filter(|json| !matches!(*json, "[]" | "{}" | "\"\"")) {
            self.is_emitted = true;
            self.result(result, step.is_error, out)?;
        }
        step.signature.non_empty().map_or(Ok(()), |signature| out.signature(0, signature))
    }

    fn result(&self, json: &str, is_error: Option<bool>, out: &mut EventOut) -> Done {
        let (name, output) = (self.name.as_deref(), Output::Json(json));
        out.emit(
            0,
            Kind::ToolResult(ToolResult {
                id: &self.id,
                name,
                output,
                is_error,
                ..ToolResult::default()
            }),
        )
    }
}

impl GatheredBlock for StepOutcome {
    const NOUN: &'static str = "step";
    const CUT: Option<&'static str> = None;

    /// Emits null for a result that never came.
    fn emit(&self, out: &mut EventOut) -> Done {
        if self.is_emitted { Ok(()) } else { self.result("null", None, out) }
    }
}
