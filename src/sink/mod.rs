//! Output: events in, bytes out. Knows nothing of input, and is the only layer
//! that knows how a line is laid out.
//!
//! [`Ndjson`] prints every event, [`Classify`] one summary a message,
//! [`Frames`] one line a frame. [`Join`], [`Values`] and [`Capped`] are sinks in
//! front of another one. [`schema`] returns the schema of all lines.

mod capped;
mod classify;
#[cfg(feature = "cli")]
mod counted;
mod frames;
mod fused;
mod join;
mod members;
mod ndjson;
#[cfg(feature = "cli")]
mod people;
mod schema;
#[cfg(feature = "cli")]
mod sum;
mod timing;
mod values;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

pub use capped::Capped;
pub use classify::Classify;
#[cfg(feature = "cli")]
pub use counted::Counted;
pub use frames::Frames;
pub(crate) use frames::error_code;
pub(crate) use fused::{Fused, Latch};
pub use join::Join;
pub use ndjson::Ndjson;
#[cfg(feature = "cli")]
pub use people::{Look, Parts, People};
pub use schema::schema;
#[cfg(feature = "cli")]
pub(crate) use sum::grouped;
#[cfg(feature = "cli")]
pub use sum::{Sum, Summed};
pub use values::Values;

use crate::event::{Event, Kind, Pieces};
#[cfg(feature = "cli")]
use crate::event::{Failure, Start};
use crate::json::Line;

/// The consumer of events. The pipeline pushes: it calls [`feed`](Sink::feed) for each event as
/// soon as its last byte has come, and [`finish`](Sink::finish) once, at the end of the input.
///
/// An event borrows from the input and lives for one call: a sink that keeps text copies it. An
/// `Err` ends the run, and is returned to the caller of the pipeline: nothing more is handed on, and
/// whatever is fed after it gets the same error.
///
/// ```
/// use toolstream::event::{Event, Kind};
/// use toolstream::sink::Sink;
///
/// /// Counts the pieces of the answer.
/// struct Count(usize);
///
/// impl Sink for Count {
///     fn feed(&mut self, event: &Event<'_>) -> std::io::Result<()> {
///         self.0 += usize::from(matches!(event.kind, Kind::Text(_)));
///         Ok(())
///     }
/// }
/// ```
pub trait Sink {
    /// Takes the next event. Returns an error only if writing fails.
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()>;
    /// Takes two or more pieces of one text, as [`Self::feed`] takes each of them.
    /// A sink that prints or gathers them faster together does so here.
    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        pieces.events().try_for_each(|event| self.feed(&event))
    }
    /// Returns the sink that this one hands on to, if there is one: it is flushed and finished with
    /// this one.
    fn inner(&mut self) -> Option<&mut dyn Sink> {
        None
    }
    /// Writes out what is complete. Called by whoever reads, before a read that may block; a sink
    /// that buffers nothing has nothing to do.
    fn flush(&mut self) -> io::Result<()> {
        self.inner().map_or(Ok(()), |inner| inner.flush())
    }
    /// Emits what was held back, and writes it out: the input has ended.
    fn finish(&mut self) -> io::Result<()> {
        match self.inner() {
            Some(inner) => inner.finish(),
            None => self.flush(),
        }
    }
    /// True if what is fed now stays in memory, for all that the sink knows.
    fn keeps(&mut self) -> bool {
        self.inner().is_none_or(|inner| inner.keeps())
    }
    /// True if a limit was hit: nothing more needs to be fed.
    fn is_full(&mut self) -> bool {
        self.inner().is_some_and(|inner| inner.is_full())
    }
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        (**self).feed(event)
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        (**self).feed_pieces(pieces)
    }

    fn inner(&mut self) -> Option<&mut dyn Sink> {
        (**self).inner()
    }

    fn flush(&mut self) -> io::Result<()> {
        (**self).flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        (**self).finish()
    }

    fn keeps(&mut self) -> bool {
        (**self).keeps()
    }

    fn is_full(&mut self) -> bool {
        (**self).is_full()
    }
}

/// Feeds a message that is an error alone, of an input that nothing is known of.
#[cfg(feature = "cli")]
pub(crate) fn fail(sink: &mut dyn Sink, failure: Failure<'_>) -> io::Result<()> {
    sink.feed(&Kind::Start(Start::new("unknown", "unknown")).into())?;
    sink.feed(&Kind::Error(failure).into())?;
    sink.finish()
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
    /// The time that a log has of the next line.
    pub(crate) time: Option<u64>,
}

impl Label {
    /// Returns a label with the input's name, if it is one of several, and a clock.
    pub fn new(file: Option<String>, clock: Option<Clock>) -> Self {
        Label { file, clock, logged: None, time: None }
    }

    /// Ends a line with the members that every line of the input has. The choice
    /// is one of them unless it is 0.
    fn end(&mut self, choice: u64, line: &mut Line) {
        let logged = self.time.take();
        if choice != 0 {
            line.number("choice", choice);
        }
        line.maybe_text("file", self.file.as_deref().or(self.logged.as_deref()));
        let time = self.clock.as_ref().map(Clock::milliseconds);
        line.maybe_number("t_ms", time.or(logged));
        line.close();
        line.raw("\n");
    }

    /// Takes what a log says: the name that the start of a message has, the time of a line.
    fn see(&mut self, kind: &Kind<'_>) {
        match kind {
            Kind::Start(start) => self.logged = start.file.map(str::to_owned),
            Kind::Time(time) => self.time = Some(*time),
            _ => {}
        }
    }
}

/// The time of what is being read, set by the reader. Clones share it.
#[derive(Clone, Debug)]
pub struct Clock(Rc<Times>);

#[derive(Debug)]
struct Times {
    /// The time at which the input was first waited for.
    began: Instant,
    /// The times from then to the first byte, and to the last one.
    first: Cell<Option<Duration>>,
    now: Cell<Duration>,
    /// The number of times that each gap between two reads came, in milliseconds, since the gaps
    /// were last taken.
    gaps: RefCell<BTreeMap<u64, usize>>,
}

impl Default for Clock {
    /// Returns a clock of an input that is waited for from now on.
    fn default() -> Self {
        let (first, now) = (Cell::new(None), Cell::new(Duration::ZERO));
        Clock(Rc::new(Times { began: Instant::now(), first, now, gaps: RefCell::default() }))
    }
}

impl Clock {
    /// Bytes come now.
    pub fn read(&self) {
        self.read_at(self.0.began.elapsed());
    }

    /// Bytes are read that came at this time, counted from when the input was first waited for.
    pub fn read_at(&self, time: Duration) {
        let Times { first, now, gaps, .. } = &*self.0;
        let gap = time.saturating_sub(now.get());
        now.set(now.get() + gap);
        match first.get() {
            None => first.set(Some(time)),
            Some(_) => *gaps.borrow_mut().entry(milliseconds(gap)).or_default() += 1,
        }
    }

    /// The input has ended, now.
    pub fn end(&self) {
        self.0.now.set(self.0.began.elapsed());
    }

    /// Returns the milliseconds since the first byte.
    fn milliseconds(&self) -> u64 {
        self.waited() - self.first_byte()
    }

    /// Returns the milliseconds since the input was first waited for.
    fn waited(&self) -> u64 {
        milliseconds(self.0.now.get())
    }

    /// Returns how many milliseconds the input was waited for until its first byte.
    fn first_byte(&self) -> u64 {
        milliseconds(self.0.first.get().unwrap_or_default())
    }

    /// Returns the gaps between reads, in milliseconds, since this was last asked for: each with
    /// how often it came.
    fn take_gaps(&self) -> BTreeMap<u64, usize> {
        self.0.gaps.take()
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
