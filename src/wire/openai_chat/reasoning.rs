//! Thinking, which compatible servers send under four names, and often under
//! two of them at once.

use std::io;

use super::super::EventOut;
use super::payload::{Delta, Detail, Extra};
use crate::json::Str;

/// What is known of one choice's `reasoning_details`, to tell a server that
/// repeats all of them on each chunk (MiniMax on some routes) from one that
/// sends what is new.
#[derive(Debug, Default)]
pub(super) struct Details {
    /// The length and hash of all text so far.
    length: usize,
    hash: Fnv,
    /// Whether a chunk has shown that the text is sent piece by piece.
    is_incremental: bool,
}

impl Details {
    /// Says the thinking of one delta: of several names the first that has
    /// text, so that nothing is doubled.
    pub(super) fn feed(
        &mut self,
        choice: u64,
        delta: &Delta<'_>,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        let plain = [&delta.reasoning_content, &delta.reasoning].into_iter().flatten();
        let mut plain = plain.filter(|text| **text != Str::default());
        let has_text = match plain.next() {
            Some(text) => out.reasoning(choice, text).map(|()| true)?,
            None => false,
        };
        for detail in delta.reasoning_details.iter().flatten() {
            self.detail(choice, detail, has_text, out)?;
        }
        for block in delta.thinking_blocks.iter().flatten() {
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
        detail: &Detail<'_>,
        is_said: bool,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        if let Some(text) = detail.text.as_ref().or(detail.summary.as_ref()).filter(|_| !is_said) {
            self.text(choice, text, out)?;
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

    fn text(&mut self, choice: u64, piece: &Str<'_>, out: &mut EventOut<'_>) -> io::Result<()> {
        let text = piece.as_str();
        let repeats = !self.is_incremental
            && self.length > 0
            && text.len() > self.length
            && text.get(..self.length).is_some_and(|head| Fnv::default().add(head) == self.hash);
        if repeats {
            let new = text.get(self.length..).unwrap_or_default();
            self.hash = self.hash.add(new);
            self.length = text.len();
            return out.reasoning(choice, &Str::from(new));
        }
        self.is_incremental |= self.length > 0 && !text.is_empty();
        self.hash = self.hash.add(text);
        self.length += text.len();
        out.reasoning(choice, piece)
    }
}

/// The FNV-1a hash of text that comes in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(self, text: &str) -> Self {
        Fnv(text
            .bytes()
            .fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)))
    }
}
