//! Emits what a delta or a message adds: text, refusals, thoughts, calls.
//!
//! Compatible servers send thoughts under four names, and often under two of them at once.

use crate::format::openai_chat::payload::{
    ChatContent, ChatDelta, ChatToolCall, Custom, Detail, SIGNATURE,
};
use crate::format::support::prelude::*;
use crate::format::support::said::{NewText, SaidText};

/// Emits what a delta or a message holds but calls and blocks. Gemini's mark
/// makes a delta a thought; a message that has it begins with one.
pub(in crate::format) fn emit(
    number: u64,
    delta: &ChatDelta,
    is_whole: bool,
    details: &mut ReasoningDetails,
    out: &mut EventOut,
) -> Done {
    details.feed(number, delta, out)?;
    let extra = delta.extra_content.filter(|_| !is_whole);
    let is_thought =
        extra.is_some_and(|extra| Object::new(extra.get()).flag("google.thought") == Some(true));
    match &delta.content {
        Some(ChatContent::Text(text)) if is_thought => out.reasoning(number, text)?,
        Some(ChatContent::Text(text)) => out.text(number, text)?,
        Some(ChatContent::Parts(parts)) => {
            for part in parts {
                emit_part(part.get(), number, out)?;
            }
        }
        None => {}
    }
    delta.refusal.as_ref().map_or(Ok(()), |refusal| out.refusal(number, refusal))
}

payload! {
    /// One part of the content.
    struct ChatPart<'a> {
        kind: Option<Str<'a>> = "type",
        text: Option<Str<'a>>,
        refusal: Option<Str<'a>>,
        /// Mistral.
        thinking: Option<Vec<ChatPart<'a>>>,
        /// Databricks.
        summary: Option<Vec<ChatPart<'a>>>,
        signature: Option<Str<'a>>,
    }
}

/// Emits a part of the content as what its type makes of it. One that is neither
/// text nor thought is a block: a reference, an image.
fn emit_part(json: &str, choice: u64, out: &mut EventOut) -> Done {
    match json::read::<ChatPart<'_>>(json) {
        Err(_) if json.starts_with('"') => out.text(choice, &json::text(json)),
        Ok(part) if part.has_text() => part.emit(choice, out),
        Ok(ChatPart { kind: Some(kind), .. }) => out.block(choice, kind.as_str(), json),
        _ => out.block(choice, "content", json),
    }
}

impl ChatPart<'_> {
    fn has_text(&self) -> bool {
        let has_thoughts = self.thinking.is_some() || self.summary.is_some();
        self.text.is_some() || self.refusal.is_some() || has_thoughts || self.signature.is_some()
    }

    /// Emits the part as what its type makes of it.
    fn emit(&self, choice: u64, out: &mut EventOut) -> Done {
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

/// The state of one choice's `reasoning_details`: some servers repeat all
/// of them on each chunk (MiniMax on some routes), others send what is new.
#[derive(Debug, Default)]
pub(in crate::format) struct ReasoningDetails {
    text: SaidText,
    /// True if thoughts have come under another name than their blocks'.
    is_named: bool,
    /// True if the warning that they are repeated has been emitted.
    warned: bool,
}

impl ReasoningDetails {
    /// Emits the thinking of one delta: of several names the first that has
    /// text, so that nothing is doubled.
    fn feed(&mut self, choice: u64, delta: &ChatDelta, out: &mut EventOut) -> Done {
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
        let given = delta.extra_content.and_then(|extra| Object::new(extra.get()).word(SIGNATURE));
        out.signature(choice, given.as_deref().unwrap_or(delta.reasoning_opaque.or_empty()))
    }

    fn detail(
        &mut self,
        choice: u64,
        detail: &Sourced<Detail>,
        is_emitted: bool,
        out: &mut EventOut,
    ) -> Done {
        if let Some(text) = detail.text.as_ref().or(detail.summary.as_ref()).filter(|_| !is_emitted)
        {
            match self.text.grow(text) {
                NewText::Piece(new) => out.reasoning(choice, &new)?,
                // A revision stands in place of the answer.
                NewText::Changed => out.reasoning(choice, text)?,
            }
            if self.text.is_whole() && !std::mem::replace(&mut self.warned, true) {
                let message = "reasoning that is repeated was taken once";
                out.warn(WarningCode::CumulativeReasoning, message)?;
            }
        }
        if let Some(signature) = &detail.signature {
            out.signature(choice, signature.as_str())?;
        }
        let is_encrypted = detail.kind.text().is_some_and(|kind| kind.ends_with("encrypted"));
        match &detail.data {
            Some(data) if is_encrypted => out.redacted(choice, data.as_str()),
            None if detail.text.is_some() || detail.summary.is_some() => Ok(()),
            None if detail.signature.is_some() => Ok(()),
            _ => out.unread(choice, detail.json, |key| ["type", "id", "format"].contains(&key)),
        }
    }
}

impl ChatToolCall<'_> {
    /// Emits what it adds to the call that `part` names.
    pub(in crate::format) fn emit(&self, choice: u64, part: CallPart, out: &mut EventOut) -> Done {
        let part = CallPart { has_name_pieces: true, ..part };
        // Snowflake sends both, one of them empty; `convert` does, for clients that know only one.
        let is_function = self.function.as_ref().is_some_and(|function| !function.is_blank());
        let is_custom = |custom: &&Custom<'_>| custom.name.non_empty().is_some() || !is_function;
        if let Some(custom) = self.custom.as_ref().filter(is_custom) {
            let name = custom.name.non_empty();
            let arguments = Arguments::Free(custom.input.or_empty());
            return out.call(choice, CallPart { name, arguments, ..part });
        }
        match &self.function {
            Some(function) => function.emit(choice, part, out),
            None => out.call(choice, part),
        }
    }
}

/// Emits what a call, or a fragment of one, adds to the choice.
pub(super) fn emit_call(
    choice: u64,
    index: Option<u64>,
    call: &Sourced<ChatToolCall>,
    is_whole: bool,
    out: &mut EventOut,
) -> Done {
    let key = index.map_or(Key::None, Key::Index);
    let signature = call.signature();
    let part =
        CallPart { key, id: call.id(), signature: signature.as_deref(), ..CallPart::default() };
    let part = CallPart { native: Some(Piece::new(call.json, is_whole)), ..part };
    call.emit(choice, part, out)
}
