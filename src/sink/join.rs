//! `--join`: neighbouring deltas become one line, so that the output depends on
//! the bytes alone.

use std::io;

use crate::event::{Event, Kind, Pieces, Reasoning, Text, ToolCallDelta};
use crate::sink::Sink;

/// Joins neighbouring deltas of the same choice, kind, channel and call, and
/// hands everything on to another sink. What is held waits for the next event
/// of another kind or for the end, never for a read.
pub struct Join<S> {
    inner: S,
    held: Option<Held>,
    /// The buffer of the deltas; kept when it is empty.
    text: String,
}

/// The deltas that are being joined.
struct Held {
    choice: u64,
    part: Part,
}

/// What a delta must share with the next one to be joined with it.
#[derive(PartialEq, Eq)]
enum Part {
    Text(Option<String>),
    Reasoning,
    Refusal,
    Arguments(u64),
}

impl Part {
    /// What kind of delta this is, and its text; none if it joins with nothing
    /// before it. A redacted thought is a part of its own.
    fn split<'a>(kind: &Kind<'a>) -> Option<(Part, &'a str)> {
        match *kind {
            Kind::Text(text) => Some((Part::Text(text.channel.map(str::to_owned)), text.text)),
            Kind::Reasoning(thought) if thought.redacted.is_none() => {
                Some((Part::Reasoning, thought.text))
            }
            Kind::Refusal(text) => Some((Part::Refusal, text)),
            Kind::ToolCallDelta(delta) => Some((Part::Arguments(delta.index), delta.arguments)),
            _ => None,
        }
    }
}

impl<S: Sink> Join<S> {
    /// Joins what comes before `inner` hears it.
    pub fn new(inner: S) -> Self {
        Join { inner, held: None, text: String::new() }
    }

    /// Hands on what is held, closed by a signature if there is one.
    fn release(&mut self, signature: Option<&str>) -> io::Result<()> {
        let Some(Held { choice, part }) = self.held.take() else { return Ok(()) };
        let text = self.text.as_str();
        let kind = match &part {
            Part::Text(channel) => Kind::Text(Text { text, channel: channel.as_deref() }),
            Part::Reasoning => Kind::Reasoning(Reasoning { text, signature, redacted: None }),
            Part::Refusal => Kind::Refusal(text),
            Part::Arguments(index) => {
                Kind::ToolCallDelta(ToolCallDelta { index: *index, arguments: text })
            }
        };
        self.inner.feed(Event::new(choice, kind))?;
        self.text.clear();
        Ok(())
    }
}

impl<S: Sink> Sink for Join<S> {
    fn feed(&mut self, event: Event<'_>) -> io::Result<()> {
        let Some((part, text)) = Part::split(&event.kind) else {
            self.release(None)?;
            return self.inner.feed(event);
        };
        let choice = event.choice;
        if self.held.as_ref().is_some_and(|held| held.choice != choice || held.part != part) {
            self.release(None)?;
        }
        self.held.get_or_insert(Held { choice, part });
        self.text.push_str(text);
        match event.kind {
            Kind::Reasoning(Reasoning { signature: Some(signature), .. }) => {
                self.release(Some(signature))
            }
            _ => Ok(()),
        }
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        self.feed(pieces.event)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.release(None)?;
        self.inner.finish()
    }

    fn is_full(&self) -> bool {
        self.inner.is_full()
    }
}
