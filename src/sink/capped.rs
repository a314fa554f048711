//! `--max-memory`: the limit of what a summary may gather.

use std::io;

use crate::cut::Cut as _;
use crate::event::owned::BorrowsText;
use crate::event::{Code, Event, Failure, Kind, Output, Pieces, Reasoning, Text};
use crate::sink::{Fused, Sink};

/// The cost of one object beside its text, in bytes.
const OBJECT: usize = 64;

/// Counts what a sink that gathers has to keep of one message. At the limit
/// the message ends with an error, and nothing more is handed on.
pub struct Capped<S> {
    inner: Fused<S>,
    /// In bytes; 0 is no limit.
    max: usize,
    kept: usize,
    is_full: bool,
}

impl<S: Sink> Capped<S> {
    /// Hands on to `inner` while a message takes no more than `max` bytes.
    pub fn new(inner: S, max: usize) -> Self {
        Capped { inner: Fused::new(inner), max, kept: 0, is_full: false }
    }
}

impl<S: Sink> Capped<S> {
    /// Hands on what still fits of a piece of text that is so many bytes too
    /// long.
    fn feed_part(&mut self, event: &Event<'_>, over: usize) -> io::Result<()> {
        let kind = match event.kind {
            Kind::Text(text) => {
                let kept = text.text.before(text.text.len().saturating_sub(over));
                Kind::Text(Text { text: kept, ..text })
            }
            Kind::Reasoning(thought) if thought.signature.is_none() => {
                // It counts twice.
                let end = thought.text.len().saturating_sub(over.div_ceil(2));
                let kept = thought.text.before(end);
                Kind::Reasoning(Reasoning { text: kept, ..thought })
            }
            _ => return Ok(()),
        };
        self.inner.feed(&Event::new(event.choice, kind))
    }
}

impl<S: Sink> Sink for Capped<S> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.inner.check()?;
        if self.is_full {
            return Ok(());
        }
        if matches!(event.kind, Kind::Start(_)) || !self.inner.keeps() {
            self.kept = 0;
        }
        self.kept += size(&event.kind);
        if self.max != 0 && self.kept > self.max {
            self.is_full = true;
            self.feed_part(event, self.kept - self.max)?;
            let message = format!("the message is larger than --max-memory {}", self.max);
            return self.inner.feed(&Kind::Error(Failure::new(Code::Limit, &message, None)).into());
        }
        self.inner.feed(event)
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        if !self.inner.keeps() {
            self.kept = 0;
        }
        let kept = self.kept + size(&pieces.event.kind);
        if self.is_full || (self.max != 0 && kept > self.max) {
            return pieces.events().try_for_each(|event| self.feed(&event));
        }
        self.kept = kept;
        self.inner.feed_pieces(pieces)
    }

    fn inner(&mut self) -> Option<&mut dyn Sink> {
        Some(&mut self.inner)
    }

    fn is_full(&mut self) -> bool {
        self.is_full
    }
}

/// Returns the number of bytes that a summary keeps of an event.
fn size(kind: &Kind<'_>) -> usize {
    let mut texts = 0;
    kind.map_texts(&mut |text| {
        texts += text.len();
        ""
    });
    match kind {
        Kind::Text(_) | Kind::Refusal(_) => texts,
        // Once with the others, and once as the part that it is.
        Kind::Reasoning(thought) if thought.signature.is_none() && thought.redacted.is_none() => {
            2 * texts
        }
        Kind::Reasoning(thought) => OBJECT + thought.text.len() + texts,
        Kind::Start(start) => start.id.map_or(0, str::len) + start.model.map_or(0, str::len),
        Kind::Error(Failure { raw: Some(Output::Text(raw) | Output::Json(raw)), .. }) => raw.len(),
        Kind::ToolCall(_)
        | Kind::InvalidToolCall(_)
        | Kind::ToolResult(_)
        | Kind::Warning(_)
        | Kind::Turn(_)
        | Kind::Usage(_) => OBJECT + texts,
        // Events that are not kept, and the last line.
        _ => 0,
    }
}
