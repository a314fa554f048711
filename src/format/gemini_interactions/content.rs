//! The texts and thoughts of the model, as steps and deltas hold them.

use crate::format::gemini_interactions::payload::Step;
use crate::format::support::many::each;
use crate::format::support::prelude::*;
use crate::json::RawJson;

/// Emits what the model thought.
pub(super) fn thought(step: &Step, out: &mut EventOut) -> Done {
    for json in step.summary.iter().chain(&step.content).flat_map(|json| each(json.get())) {
        match json::read::<Step<'_>>(json) {
            Ok(Step { text: Some(text), .. }) => out.reasoning(0, &text)?,
            _ => out.block(0, "thought_summary", json)?,
        }
    }
    if let Some(text) = &step.text {
        out.reasoning(0, text)?;
    }
    step.signature.non_empty().map_or(Ok(()), |signature| out.signature(0, signature))
}

/// Emits the content of a message.
pub(super) fn pieces(content: Option<RawJson<'_>>, out: &mut EventOut) -> Done {
    for json in content.into_iter().flat_map(|json| each(json.get())) {
        match json::read(json) {
            Ok(step) => piece(&step, json, out)?,
            Err(_) => out.block(0, "", json)?,
        }
    }
    Ok(())
}

/// Emits text with its annotations, or media as they are.
pub(super) fn piece(step: &Step, json: &str, out: &mut EventOut) -> Done {
    match (step.kind(), &step.text) {
        ("text", text) => out.text(0, text.as_ref().unwrap_or(&Str::default()))?,
        ("text_annotation_delta", _) => {}
        (kind, _) => out.block(0, kind, json)?,
    }
    for annotation in step.annotations.iter().flatten() {
        out.block(0, "annotation", annotation.get())?;
    }
    Ok(())
}
