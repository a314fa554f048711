//! Joins the halves of characters that a provider cut over two events.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::{Arguments, CallPart, Key, Kind, Reasoning, Text};
use crate::json::Str;

/// The most texts that end in half a character.
const MAX_HALVES: usize = 1024;

/// Buffered halves of characters, each waiting for its other half.
#[derive(Debug, Default)]
pub struct Halves(pub(crate) BTreeMap<(u64, Slot), u16>);

/// The text that a piece continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Slot {
    /// Of the answer, or of a channel beside it.
    Text(Option<&'static str>),
    /// Of a thought, or of one of its parts.
    Reasoning(Option<u64>),
    Refusal,
    Call(Key),
}

impl Slot {
    /// The answer.
    pub(crate) const ANSWER: Slot = Slot::Text(None);
    /// A thought that has no parts.
    pub(crate) const THOUGHT: Slot = Slot::Reasoning(None);

    /// True for a thought, or a part of one.
    pub(crate) fn is_thought(self) -> bool {
        matches!(self, Slot::Reasoning(_))
    }

    /// Returns the event of a piece of it.
    pub(crate) fn kind<'t>(self, text: &'t str) -> Kind<'t> {
        match self {
            Slot::Text(channel) => Kind::Text(Text { text, channel }),
            Slot::Reasoning(part) => {
                Kind::Reasoning(Reasoning { text, part, ..Reasoning::default() })
            }
            Slot::Refusal => Kind::Refusal(text),
            Slot::Call(key) => Kind::CallPart(CallPart {
                key,
                arguments: Arguments::Fragment(text),
                ..CallPart::default()
            }),
        }
    }
}

impl Halves {
    /// Returns the text with the buffered half before it, and true if anything had
    /// to be replaced. Buffers the half at its end.
    pub(crate) fn join<'t>(&mut self, at: (u64, Slot), piece: &'t Str<'_>) -> (Cow<'t, str>, bool) {
        if self.0.is_empty() && piece.low().is_none() && piece.high().is_none() {
            return (Cow::Borrowed(piece.as_str()), piece.is_replaced());
        }
        let (mut text, mut replaced) = (String::new(), piece.is_replaced());
        if !piece.as_str().is_empty() {
            let units: Vec<u16> = self.0.remove(&at).into_iter().chain(piece.low()).collect();
            replaced |= String::from_utf16(&units).is_err();
            text = String::from_utf16_lossy(&units);
        }
        text.push_str(piece.body());
        match piece.high() {
            Some(high) if self.0.len() < MAX_HALVES => drop(self.0.insert(at, high)),
            Some(_) => {
                text.push(char::REPLACEMENT_CHARACTER);
                replaced = true;
            }
            None => {}
        }
        (Cow::Owned(text), replaced)
    }
}
