//! `parse`: prints every event as one line of JSON.

use std::io::{self, Write};

use crate::event::{Event, Pieces};
use crate::json::Line;
use crate::sink::{Fused, Label, Sink, members};

/// The number of bytes of lines that are buffered before they are written.
const PIECE: usize = 64 << 10;

/// Prints events as they come. Those that only decoders emit are not printed.
pub struct Ndjson<W> {
    out: Fused<W>,
    label: Label,
    line: Line,
}

impl<W: Write> Ndjson<W> {
    /// Returns a sink that prints to `out`, and adds `label` to every line.
    pub fn new(out: W, label: Label) -> Self {
        Ndjson { out: Fused::new(out), label, line: Line::default() }
    }
}

impl<W: Write> Ndjson<W> {
    fn line(&mut self, event: &Event<'_>) {
        self.label.see(&event.kind);
        let Some(name) = members::name(&event.kind) else { return };
        let line = &mut self.line;
        line.begin(name);
        members::of(&event.kind, line);
        self.label.end(event.choice, line);
    }

    fn write_if_much(&mut self) -> io::Result<()> {
        if self.line.len() < PIECE { Ok(()) } else { self.line.write_to(&mut self.out) }
    }
}

impl<W: Write> Sink for Ndjson<W> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.out.check()?;
        self.line(event);
        self.write_if_much()
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        self.out.check()?;
        let Event { choice, kind } = pieces.event;
        let begin = self.line.len();
        self.line(&Event::new(choice, kind.with_text("")));
        if let Some(text) = kind.text() {
            self.line.repeat(begin, pieces.texts(), text);
        }
        self.write_if_much()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.line.write_to(&mut self.out)?;
        self.out.flush()
    }
}
