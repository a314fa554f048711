//! Compactions: the summary that takes a long conversation's place.

use crate::event;
use crate::format::anthropic::payload::{AnthropicBlock, AnthropicDelta};
use crate::format::support::blocks::GatheredBlock;
use crate::format::support::prelude::*;

/// The summary of the conversation so far. The next request must return
/// all of it.
#[derive(Debug, Default)]
pub(super) struct Compaction {
    text: String,
    encrypted: Option<String>,
    signature: Option<String>,
}

impl Compaction {
    /// Returns what its block holds at its start, or complete.
    pub(super) fn of(block: &AnthropicBlock) -> Self {
        Compaction {
            text: block.summary().into_text().into_owned(),
            encrypted: block.encrypted_content.text().map(str::to_owned),
            signature: block.signature.text().map(str::to_owned),
        }
    }

    /// Takes what a delta adds.
    pub(super) fn add(&mut self, delta: &AnthropicDelta) {
        self.text.push_str(delta.content.or_empty());
        if let Some(encrypted) = delta.encrypted_content.text() {
            self.encrypted = Some(encrypted.to_owned());
        }
    }
}

impl GatheredBlock for Compaction {
    /// Emits it as a block: its text, and in the attributes what is opaque.
    fn emit(&self, out: &mut EventOut) -> Done {
        let members = [("encrypted_content", &self.encrypted), ("signature", &self.signature)];
        let members = members.into_iter();
        let attributes = json::object(
            members.filter_map(|(key, value)| Some((key, json::quote(value.as_deref()?)))),
        );
        let attributes = Some(attributes.as_str()).filter(|attributes| *attributes != "{}");
        out.emit(0, Kind::Block(event::Block { name: "compaction", text: &self.text, attributes }))
    }

    fn cut(&self, out: &mut EventOut) -> Done {
        out.warn(WarningCode::CutBlock, "a compaction was cut")?;
        self.emit(out)
    }
}
