//! Output: events in, bytes out. Knows nothing of input, and is the only layer
//! that knows how a line is laid out.
//!
//! [`Ndjson`] prints every event, [`Classify`] one summary a message,
//! [`Frames`] one line a frame. [`Join`], [`Values`] and [`Capped`] are sinks in
//! front of another one. [`schema`] returns the schema of all lines.

mod capped;
mod classify;
mod frames;
mod join;
mod line;
mod members;
mod ndjson;
#[cfg(feature = "cli")]
mod people;
mod schema;
mod values;

use std::cell::OnceCell;
use std::io;
use std::rc::Rc;
use std::time::Instant;

pub use capped::Capped;
pub use classify::Classify;
pub use frames::Frames;
pub(crate) use frames::error_code;
pub use join::Join;
pub use ndjson::Ndjson;
#[cfg(feature = "cli")]
pub use people::{Look, Parts, People};
pub use schema::schema;
pub use values::Values;

use crate::event::{Event, Kind, Pieces};

/// The version of the schema, in the first line of each message.
const VERSION: u64 = 1;

/// The consumer of events. The pipeline pushes: it calls [`feed`](Sink::feed) for each event as
/// soon as its last byte has come, and [`finish`](Sink::finish) once, at the end of the input.
///
/// An event borrows from the input and lives for one call: a sink that keeps text copies it. An
/// `Err` ends the run, and is returned to the caller of the pipeline.
///
/// ```
/// use toolstream::event::{Event, Kind};
/// use toolstream::sink::Sink;
///
/// /// Counts the pieces of the answer.
/// struct Count(usize);
///
/// impl Sink for Count {
///     fn feed(&mut self, event: Event<'_>) -> std::io::Result<()> {
///         self.0 += usize::from(matches!(event.kind, Kind::Text(_)));
///         Ok(())
///     }
/// }
/// ```
pub trait Sink {
    /// Takes the next event. Returns an error only if writing fails.
    fn feed(&mut self, event: Event<'_>) -> io::Result<()>;
    /// Takes two or more pieces of one text, as [`Self::feed`] takes each of them.
    /// A sink that prints or gathers them faster together does so here.
    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        pieces.events().try_for_each(|event| self.feed(event))
    }
    /// Writes out what is complete. Called by whoever reads, before a read that may block; a sink
    /// that buffers nothing has nothing to do.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Emits what was held back, and writes it out: the input has ended.
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
    /// True if a limit was hit: nothing more needs to be fed.
    fn is_full(&self) -> bool {
        false
    }
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    fn feed(&mut self, event: Event<'_>) -> io::Result<()> {
        (**self).feed(event)
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        (**self).feed_pieces(pieces)
    }

    fn flush(&mut self) -> io::Result<()> {
        (**self).flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        (**self).finish()
    }

    fn is_full(&self) -> bool {
        (**self).is_full()
    }
}

/// The members that are added to every line of one input.
#[derive(Clone, Debug, Default)]
pub struct Label {
    /// The input's name, when there are several.
    pub file: Option<String>,
    /// The clock of `--timing`.
    pub clock: Option<Clock>,
    /// The name of the input that a log says that the message is of.
    pub(crate) logged: Option<String>,
}

impl Label {
    /// Returns a label with the input's name, if it is one of several, and a clock.
    pub fn new(file: Option<String>, clock: Option<Clock>) -> Self {
        Label { file, clock, logged: None }
    }

    /// Takes the name that the start of a message of a log has.
    fn see(&mut self, kind: &Kind<'_>) {
        if let Kind::Start(start) = kind {
            self.logged = start.file.map(str::to_owned);
        }
    }
}

/// Counts milliseconds from the first byte. Clones count from the same one.
#[derive(Clone, Debug, Default)]
pub struct Clock(Rc<OnceCell<Instant>>);

impl Clock {
    /// The first byte has come; later calls change nothing.
    pub fn start(&self) {
        self.0.get_or_init(Instant::now);
    }

    fn milliseconds(&self) -> u64 {
        let elapsed = self.0.get_or_init(Instant::now).elapsed();
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests;
