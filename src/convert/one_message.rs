//! One message of an input that may hold several.

use std::io;

use crate::event::{Event, Kind};
use crate::sink::{Fused, Sink};

/// The number of messages that have begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCount(pub u64);

/// Passes on one message, the records before the first one, and nothing of other messages. Nothing
/// more needs to be read once the next one begins.
pub struct OneMessage<'s, S> {
    inner: Fused<S>,
    /// Its number, from 1.
    wanted: u64,
    seen: &'s mut MessageCount,
}

impl<'s, S: Sink> OneMessage<'s, S> {
    /// Passes on the message of this number, from 1; by default the first. Counts in `seen`.
    pub fn new(inner: S, wanted: Option<u64>, seen: &'s mut MessageCount) -> Self {
        OneMessage { inner: Fused::new(inner), wanted: wanted.unwrap_or(1), seen }
    }
}

impl<S: Sink> Sink for OneMessage<'_, S> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.inner.check()?;
        if let Kind::Start(_) = event.kind {
            self.seen.0 += 1;
        }
        let is_before = self.seen.0 == 0 && event.kind == Kind::Record;
        if is_before || self.seen.0 == self.wanted { self.inner.feed(event) } else { Ok(()) }
    }

    fn inner(&mut self) -> Option<&mut dyn Sink> {
        Some(&mut self.inner)
    }

    fn is_full(&mut self) -> bool {
        self.seen.0 > self.wanted || self.inner.is_full()
    }
}
