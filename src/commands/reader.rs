//! An input read into a sink.

use std::io;

use crate::capture::Rhythm;
use crate::io::Task;
use crate::pipeline::Pipeline;
use crate::sink::{Clock, Sink};

/// The layers of one input, from bytes to lines.
pub struct InputReader<'s> {
    pipeline: Pipeline,
    sink: &'s mut dyn Sink,
    clock: Option<Clock>,
    rhythm: Option<Rhythm>,
    /// The number of bytes that have been fed.
    offset: u64,
}

impl<'s> InputReader<'s> {
    /// Reads into `sink`.
    pub fn new(pipeline: Pipeline, sink: &'s mut dyn Sink) -> Self {
        InputReader { pipeline, sink, clock: None, rhythm: None, offset: 0 }
    }

    /// Returns the layers from bytes to events.
    pub(super) fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Adds the clock that the sink has, if any, and of a capture where it is known when the bytes
    /// came.
    pub(super) fn timed(self, clock: Option<Clock>, rhythm: Option<Rhythm>) -> Self {
        InputReader { clock, rhythm, ..self }
    }
}

impl Task for InputReader<'_> {
    fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let came = self.rhythm.as_ref().and_then(|rhythm| rhythm.read_of(self.offset));
            match (&self.clock, came) {
                (Some(clock), Some(came)) => clock.read_at(came.time),
                (Some(clock), None) => clock.read(),
                (None, _) => {}
            }
            let length = came.and_then(|came| usize::try_from(came.end - self.offset).ok());
            let (piece, tail) = rest.split_at(length.unwrap_or(rest.len()).min(rest.len()));
            self.pipeline.feed(piece, self.sink)?;
            self.offset += piece.len() as u64;
            rest = tail;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        if let (Some(clock), None) = (&self.clock, &self.rhythm) {
            clock.end();
        }
        self.pipeline.finish(self.sink)
    }

    fn interrupt(&mut self) -> io::Result<()> {
        self.pipeline.interrupt(self.sink)
    }

    fn is_stopped(&mut self) -> bool {
        self.pipeline.is_stopped() || self.sink.is_full()
    }
}
