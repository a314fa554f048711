//! The content of a delta or a message without its calls: thoughts, text,
//! refusals.

use crate::format::openai_chat::payload::{Content, Delta, Extra};
use crate::format::openai_chat::reasoning::Details;
use crate::format::support::emit::{Done, EventOut};
use crate::format::support::payload::OptionalStr;
use crate::json;
use crate::json::Str;

/// Emits what a delta or a message holds but calls and blocks. Gemini's mark
/// makes a delta a thought; a message that has it begins with one.
pub(in crate::format) fn emit(
    number: u64,
    delta: &Delta,
    is_whole: bool,
    details: &mut Details,
    out: &mut EventOut,
) -> Done {
    details.feed(number, delta, out)?;
    let is_thought = !is_whole && delta.extra_content.as_ref().is_some_and(Extra::is_thought);
    match &delta.content {
        Some(Content::Text(text)) if is_thought => out.reasoning(number, text)?,
        Some(Content::Text(text)) => out.text(number, text)?,
        Some(Content::Parts(parts)) => {
            for part in parts {
                emit_part(part.get(), number, out)?;
            }
        }
        None => {}
    }
    delta.refusal.as_ref().map_or(Ok(()), |refusal| out.refusal(number, refusal))
}

/// One part of the content.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Part<'a> {
    #[serde(rename = "type")]
    kind: Option<Str<'a>>,
    text: Option<Str<'a>>,
    refusal: Option<Str<'a>>,
    /// Mistral.
    thinking: Option<Vec<Part<'a>>>,
    /// Databricks.
    summary: Option<Vec<Part<'a>>>,
    signature: Option<Str<'a>>,
}

/// Emits a part of the content as what its type makes of it. One that is neither
/// text nor thought is a block: a reference, an image.
pub(super) fn emit_part(json: &str, choice: u64, out: &mut EventOut) -> Done {
    match json::read::<Part<'_>>(json) {
        Ok(part) if part.has_text() => part.emit(choice, out),
        Ok(Part { kind: Some(kind), .. }) => out.block(choice, kind.as_str(), json),
        _ => out.block(choice, "content", json),
    }
}

impl Part<'_> {
    fn has_text(&self) -> bool {
        let has_thoughts = self.thinking.is_some() || self.summary.is_some();
        self.text.is_some() || self.refusal.is_some() || has_thoughts || self.signature.is_some()
    }

    /// Emits the part as what its type makes of it.
    pub(super) fn emit(&self, choice: u64, out: &mut EventOut) -> Done {
        let is_thought = matches!(self.kind.text(), Some("thinking" | "reasoning"));
        match &self.text {
            Some(text) if is_thought => out.reasoning(choice, text)?,
            Some(text) => out.text(choice, text)?,
            None => {}
        }
        if let Some(refusal) = &self.refusal {
            out.refusal(choice, refusal)?;
        }
        for thought in self.thinking.iter().chain(&self.summary).flatten() {
            if let Some(text) = &thought.text {
                out.reasoning(choice, text)?;
            }
            if let Some(signature) = &thought.signature {
                out.signature(choice, signature.as_str())?;
            }
        }
        match &self.signature {
            Some(signature) => out.signature(choice, signature.as_str()),
            None => Ok(()),
        }
    }
}
