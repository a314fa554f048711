//! `--values`: what the arguments of calls hold, while they stream.

use std::collections::BTreeMap;
use std::io;

use crate::event::{Event, Kind, Output, Pieces, ToolCallDelta, ToolCallValue};
use crate::json::{FoundValue, ValueReader};
use crate::sink::{Fused, Sink};

/// Reads the deltas of calls, and hands on the values that are complete in them, and strings piece
/// by piece: a [`ToolCallValue`] each. It has to be fed the deltas of calls
/// ([`AssemblerConfig::deltas`](crate::AssemblerConfig::deltas)).
pub struct Values<S> {
    inner: Fused<S>,
    /// True if the deltas are handed on as well.
    keeps_deltas: bool,
    /// A reader for each open call that has had a delta, by choice and index.
    open: BTreeMap<(u64, u64), ValueReader>,
}

impl<S: Sink> Values<S> {
    /// Hands on to `inner`; starts and deltas of calls only if `keeps_deltas`.
    pub fn new(inner: S, keeps_deltas: bool) -> Self {
        Values { inner: Fused::new(inner), keeps_deltas, open: BTreeMap::new() }
    }

    fn delta(&mut self, choice: u64, delta: ToolCallDelta<'_>) -> io::Result<()> {
        let ToolCallDelta { index, arguments, is_free, .. } = delta;
        let inner = &mut self.inner;
        let mut report = |path: &str, value: Output<'_>| {
            let value = ToolCallValue { index, path, value };
            inner.feed(&Event::new(choice, Kind::ToolCallValue(value)))
        };
        let reader = self.open.entry((choice, index)).or_default();
        if is_free {
            return report("", Output::Text(arguments));
        }
        reader.feed(arguments, &mut |path, found| report(path, output(found)))
    }
}

/// Returns what was found as the value of an event.
pub(super) fn output(found: FoundValue<'_>) -> Output<'_> {
    match found {
        FoundValue::Value(json) => Output::Json(json),
        FoundValue::Text(text) => Output::Text(text),
    }
}

impl<S: Sink> Sink for Values<S> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.inner.check()?;
        if let Kind::ToolCallStart(_) | Kind::ToolCallDelta(_) = event.kind
            && self.keeps_deltas
        {
            self.inner.feed(event)?;
        }
        match event.kind {
            Kind::ToolCallStart(_) => return Ok(()),
            Kind::ToolCallDelta(delta) => return self.delta(event.choice, delta),
            // A log that holds both: its delta has given it.
            Kind::ToolCallValue(value) if self.open.contains_key(&(event.choice, value.index)) => {
                return Ok(());
            }
            Kind::Start(_) => self.open.clear(),
            Kind::ToolCall(call) => _ = self.open.remove(&(event.choice, call.index)),
            Kind::InvalidToolCall(call) => _ = self.open.remove(&(event.choice, call.index)),
            _ => {}
        }
        self.inner.feed(event)
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        match pieces.event.kind {
            Kind::ToolCallDelta(_) => pieces.events().try_for_each(|event| self.feed(&event)),
            _ => self.inner.feed_pieces(pieces),
        }
    }

    fn inner(&mut self) -> Option<&mut dyn Sink> {
        Some(&mut self.inner)
    }
}
