//! One message of an input that may hold several.

use std::io;

use crate::event::{Event, Kind};
use crate::sink::{Fused, Sink};

/// Passes on one message, the records before the first one, and nothing of other messages. Nothing
/// more needs to be read once the next one begins.
pub struct OneMessage<'s, S> {
    inner: Fused<S>,
    /// Its number, from 1.
    wanted: u64,
    seen: &'s mut u64,
}

impl<'s, S: Sink> OneMessage<'s, S> {
    /// Passes on the message of this number, from 1; by default the first. `seen` grows by one at each
    /// message that begins.
    pub fn new(inner: S, wanted: Option<u64>, seen: &'s mut u64) -> Self {
        OneMessage { inner: Fused::new(inner), wanted: wanted.unwrap_or(1), seen }
    }
}

impl<S: Sink> Sink for OneMessage<'_, S> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.inner.check()?;
        if let Kind::Start(_) = event.kind {
            *self.seen += 1;
        }
        let is_before = *self.seen == 0 && event.kind == Kind::Record;
        if is_before || *self.seen == self.wanted { self.inner.feed(event) } else { Ok(()) }
    }

    fn inner(&mut self) -> Option<&mut dyn Sink> {
        Some(&mut self.inner)
    }

    fn is_full(&mut self) -> bool {
        *self.seen > self.wanted || self.inner.is_full()
    }
}
