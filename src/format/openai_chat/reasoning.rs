//! Thinking, which compatible servers send under four names, and often under
//! two of them at once.

use crate::event::WarningCode;
use crate::format::openai_chat::payload::{Delta, Detail, Extra};
use crate::format::support::emit::{Done, EventOut};
use crate::format::support::growth::Growth;

/// The state of one choice's `reasoning_details`: some servers repeat all
/// of them on each chunk (MiniMax on some routes), others send what is new.
#[derive(Debug, Default)]
pub(in crate::format) struct Details {
    text: Growth,
    /// True if thoughts have come under another name than their blocks'.
    is_named: bool,
    /// True if the warning that they are repeated has been emitted.
    warned: bool,
}

impl Details {
    /// Emits the thinking of one delta: of several names the first that has
    /// text, so that nothing is doubled.
    pub(super) fn feed(&mut self, choice: u64, delta: &Delta, out: &mut EventOut) -> Done {
        let has_text = match delta.thought() {
            Some(text) => out.reasoning(choice, text).map(|()| true)?,
            None => false,
        };
        for detail in delta.reasoning_details.iter().flatten() {
            self.detail(choice, detail, has_text, out)?;
        }
        self.is_named |= has_text || delta.reasoning_details.is_some();
        for block in delta.thinking_blocks.iter().flatten() {
            if let Some(text) = block.thinking.as_ref().filter(|_| !self.is_named) {
                out.reasoning(choice, text)?;
            }
            if let Some(signature) = &block.signature {
                out.signature(choice, signature.as_str())?;
            }
            if let Some(data) = &block.data {
                out.redacted(choice, data.as_str())?;
            }
        }
        match delta.extra_content.as_ref().and_then(Extra::signature) {
            Some(signature) => out.signature(choice, signature),
            None => Ok(()),
        }
    }

    fn detail(
        &mut self,
        choice: u64,
        detail: &Detail,
        is_emitted: bool,
        out: &mut EventOut,
    ) -> Done {
        if let Some(text) = detail.text.as_ref().or(detail.summary.as_ref()).filter(|_| !is_emitted)
        {
            out.reasoning(choice, &self.text.new_part(text))?;
            if self.text.is_whole() && !std::mem::replace(&mut self.warned, true) {
                out.warn(
                    WarningCode::CumulativeReasoning,
                    "reasoning that is repeated was taken once",
                )?;
            }
        }
        if let Some(signature) = &detail.signature {
            out.signature(choice, signature.as_str())?;
        }
        match &detail.data {
            Some(data)
                if detail
                    .kind
                    .as_ref()
                    .is_some_and(|kind| kind.as_str().ends_with("encrypted")) =>
            {
                out.redacted(choice, data.as_str())
            }
            _ => Ok(()),
        }
    }
}
