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
    /// Takes what its block holds at its start, or complete.
    pub(super) fn start(&mut self, block: &AnthropicBlock) {
        self.text.push_str(block.summary().as_str());
        self.encrypted = block.encrypted_content.as_ref().map(owned);
        self.signature = block.signature.as_ref().map(owned);
    }

    /// Takes what a delta adds.
    pub(super) fn add(&mut self, delta: &AnthropicDelta) {
        self.text.push_str(delta.content.or_empty());
        if let Some(encrypted) = &delta.encrypted_content {
            self.encrypted = Some(owned(encrypted));
        }
    }
}

impl GatheredBlock for Compaction {
    /// Emits it as a block: its text, and in the attributes what is opaque.
    fn emit(&self, out: &mut EventOut) -> Done {
        let members = [("encrypted_content", &self.encrypted), ("signature", &self.signature)];
        let members = members.iter();
        let members =
            members.filter_map(|(key, value)| Some((key, json::quote(value.as_deref()?))));
        let attributes = json::object(members);
        let attributes = Some(attributes.as_str()).filter(|attributes| *attributes != "{}");
        out.emit(0, Kind::Block(event::Block { name: "compaction", text: &self.text, attributes }))
    }

    fn cut(&self, out: &mut EventOut) -> Done {
        out.warn(WarningCode::CutBlock, "a compaction was cut")?;
        self.emit(out)
    }
}

fn owned(text: &Str) -> String {
    text.as_str().to_owned()
}
