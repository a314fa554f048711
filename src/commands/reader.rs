//! An input read into a sink.

use std::io;

use crate::io::Task;
use crate::pipeline::Pipeline;
use crate::sink::{Clock, Sink};

/// The layers of one input, from bytes to lines.
pub(super) struct Reader<S> {
    pub(super) pipeline: Pipeline,
    pub(super) sink: S,
    /// Starts with the first byte.
    pub(super) clock: Option<Clock>,
}

impl<S: Sink> Task for Reader<S> {
    fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(clock) = &self.clock {
            clock.start();
        }
        self.pipeline.feed(bytes, &mut self.sink)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.pipeline.finish(&mut self.sink)
    }

    fn interrupt(&mut self) -> io::Result<()> {
        self.pipeline.interrupt(&mut self.sink)
    }

    fn is_stopped(&self) -> bool {
        self.pipeline.is_stopped() || self.sink.is_full()
    }
}
