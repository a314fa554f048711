//! `--join`: neighbouring deltas become one line, so that the output depends on
//! the bytes alone.

use std::io;

use crate::event::owned::Owned;
use crate::event::{Event, Kind, Pieces, Reasoning};
use crate::sink::{Fused, Sink};

/// Joins neighbouring deltas that differ in their text alone, and hands
/// everything on to another sink. What is held waits for the next event of
/// another kind or for the end, never for a read.
pub struct Join<S> {
    pub(super) inner: Fused<S>,
    /// The choice of the deltas that are being joined, and the delta without
    /// its text.
    held: Option<(u64, Owned<Kind<'static>>)>,
    /// The buffer of the deltas; kept when it is empty.
    text: String,
    /// The time that a log has of the next event, while a delta is held.
    time: Option<u64>,
}

/// Returns what a delta must share with the next one to be joined with it, and
/// its text; none if it joins with nothing before it. A redacted thought is a
/// part of its own.
fn split<'a>(kind: Kind<'a>) -> Option<(Kind<'a>, &'a str)> {
    let text = kind.text()?;
    match kind.with_text("") {
        Kind::Reasoning(Reasoning { redacted: Some(_), .. }) => None,
        Kind::Reasoning(thought) => {
            Some((Kind::Reasoning(Reasoning { signature: None, ..thought }), text))
        }
        shared => Some((shared, text)),
    }
}

impl<S: Sink> Join<S> {
    /// Joins what comes before `inner` takes it.
    pub fn new(inner: S) -> Self {
        Join { inner: Fused::new(inner), held: None, text: String::new(), time: None }
    }

    /// Hands on what is held, closed by a signature if there is one.
    fn release(&mut self, signature: Option<&str>) -> io::Result<()> {
        let Some((choice, shared)) = self.held.take() else { return Ok(()) };
        let kind = match shared.get().with_text(&self.text) {
            Kind::Reasoning(thought) => Kind::Reasoning(Reasoning { signature, ..thought }),
            kind => kind,
        };
        self.inner.feed(&Event::new(choice, kind))?;
        self.text.clear();
        let time = self.time.take();
        time.map_or(Ok(()), |time| self.inner.feed(&Kind::Time(time).into()))
    }
}

impl<S: Sink> Sink for Join<S> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.inner.check()?;
        if let (Kind::Time(time), true) = (event.kind, self.held.is_some()) {
            self.time = Some(time);
            return Ok(());
        }
        let Some((shared, text)) = split(event.kind) else {
            self.release(None)?;
            return self.inner.feed(event);
        };
        // A signature is of the thought before it, whatever part of it came last.
        let closes = matches!(event.kind, Kind::Reasoning(thought) if thought.is_signature());
        let is_next = |(choice, held): &(u64, Owned<Kind<'static>>)| {
            let held = held.get();
            let is_thought = matches!(held, Kind::Reasoning(_));
            *choice == event.choice && (held == shared || (closes && is_thought))
        };
        if !self.held.as_ref().is_some_and(is_next) {
            self.release(None)?;
            self.held = Some((event.choice, Owned::new(shared)));
        }
        self.time = None;
        self.text.push_str(text);
        match event.kind {
            Kind::Reasoning(Reasoning { signature: Some(signature), .. }) => {
                self.release(Some(signature))
            }
            _ => Ok(()),
        }
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        self.feed(&pieces.event)
    }

    fn inner(&mut self) -> Option<&mut dyn Sink> {
        Some(&mut self.inner)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.inner.check()?;
        self.release(None)?;
        self.inner.finish()
    }
}
