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

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io};

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

pub use capped::Capped;
pub use classify::Classify;
#[cfg(feature = "cli")]
pub(crate) use counted::Counted;
pub use frames::Frames;
pub(crate) use frames::error_code;
pub(crate) use fused::{Fused, Latch};
pub use join::Join;
pub use ndjson::Ndjson;
#[cfg(feature = "cli")]
pub(crate) use people::{Look, Parts, People};
pub use schema::schema;
#[cfg(feature = "cli")]
pub(crate) use sum::grouped;
#[cfg(feature = "cli")]
pub(crate) use sum::{Sum, Summed};
pub use values::Values;

use crate::event::{Event, Kind, OwnedEvent, Pieces};
#[cfg(feature = "cli")]
use crate::event::{Failure, Start};
use crate::json::{Line, members};

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

/// Implements [`Sink`] for what stands for another one: every method is that one's.
macro_rules! stands_for {
    ($($type:ty)+) => {$(
        impl<S: Sink + ?Sized> Sink for $type {
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
    )+};
}

stands_for!(Box<S> &mut S);

/// A sink that calls a closure: see [`from_fn`].
pub struct FromFn<F>(F);

/// Returns a sink that calls a closure for each event.
///
/// ```
/// use toolstream::event::Kind;
/// use toolstream::{Config, Pipeline, sink};
///
/// let mut text = String::new();
/// let mut sink = sink::from_fn(|event| {
///     if let Kind::Text(piece) = event.kind {
///         text.push_str(piece.text);
///     }
///     Ok(())
/// });
/// let mut pipeline = Pipeline::new(&Config::default());
/// pipeline.feed(b"{\"message\":{\"content\":\"Hi\"},\"done\":true}", &mut sink)?;
/// pipeline.finish(&mut sink)?;
/// assert_eq!(text, "Hi");
/// # std::io::Result::Ok(())
/// ```
pub fn from_fn<F: FnMut(&Event<'_>) -> io::Result<()>>(feed: F) -> FromFn<F> {
    FromFn(feed)
}

impl<F: FnMut(&Event<'_>) -> io::Result<()>> Sink for FromFn<F> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        (self.0)(event)
    }
}

/// Keeps the events that are printed, pieces of text as they come.
impl Sink for Vec<OwnedEvent> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        if members::name(&event.kind).is_some() {
            self.push(OwnedEvent::new(event));
        }
        Ok(())
    }
}

/// The object that `parse` prints, without the line's end.
impl fmt::Display for OwnedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (event, mut line) = (self.get(), Line::default());
        line.begin(members::name(&event.kind).unwrap_or("unknown"));
        members::of(&event.kind, &mut line);
        Label::default().end(event.choice, &mut line);
        let mut text = Vec::new();
        line.write_to(&mut text).map_err(|_| fmt::Error)?;
        f.write_str(String::from_utf8_lossy(&text).trim_end())
    }
}

/// As the object that `parse` prints. It is for `serde_json`, whose numbers stay as they were sent.
impl Serialize for OwnedEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.to_string()).map_err(S::Error::custom)?.serialize(serializer)
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
    pub(crate) clock: Option<Clock>,
    /// The name of the input that a log says that the message is of.
    pub(crate) logged: Option<String>,
    /// The time that a log has of the next line.
    pub(crate) time: Option<u64>,
}

impl Label {
    /// Returns a label with the input's name, if it is one of several.
    pub fn new(file: Option<String>) -> Self {
        Label { file, ..Label::default() }
    }

    /// Adds the time of this clock to every line.
    #[cfg(any(test, feature = "cli"))]
    pub(crate) fn timed(self, clock: Option<Clock>) -> Self {
        Label { clock, ..self }
    }

    /// Ends a line with the members that every line of the input has. The choice
    /// is one of them unless it is 0.
    fn end(&mut self, choice: u64, line: &mut Line) {
        let logged = self.time.take();
        if choice != 0 {
            line.number("choice", choice);
        }
        let time = self.clock.as_ref().map(Clock::milliseconds);
        members!(
            line;
            "file": self.file.as_deref().or(self.logged.as_deref()),
            "t_ms": time.or(logged),
        );
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
pub(crate) struct Clock(Arc<Mutex<Times>>);

#[derive(Debug)]
struct Times {
    /// The time at which the input was first waited for.
    #[cfg_attr(not(feature = "cli"), expect(dead_code))]
    began: Instant,
    /// The times from then to the first byte, and to the last one.
    first: Option<Duration>,
    now: Duration,
    /// The number of times that each gap between two reads came, in milliseconds, since the gaps
    /// were last taken.
    gaps: BTreeMap<u64, usize>,
}

impl Default for Clock {
    /// Returns a clock of an input that is waited for from now on.
    fn default() -> Self {
        let (first, now, gaps) = (None, Duration::ZERO, BTreeMap::new());
        Clock(Arc::new(Mutex::new(Times { began: Instant::now(), first, now, gaps })))
    }
}

impl Clock {
    fn times(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes come now.
    #[cfg(any(test, feature = "cli"))]
    pub(crate) fn read(&self) {
        let began = self.times().began;
        self.read_at(began.elapsed());
    }

    /// Bytes are read that came at this time, counted from when the input was first waited for.
    #[cfg(any(test, feature = "cli"))]
    pub(crate) fn read_at(&self, time: Duration) {
        let Times { first, now, gaps, .. } = &mut *self.times();
        let gap = time.saturating_sub(*now);
        *now += gap;
        match first {
            None => *first = Some(time),
            Some(_) => *gaps.entry(milliseconds(gap)).or_default() += 1,
        }
    }

    /// The input has ended, now.
    #[cfg(any(test, feature = "cli"))]
    pub(crate) fn end(&self) {
        let mut times = self.times();
        times.now = times.began.elapsed();
    }

    /// Returns the milliseconds since the first byte.
    fn milliseconds(&self) -> u64 {
        self.waited() - self.first_byte()
    }

    /// Returns the milliseconds since the input was first waited for.
    fn waited(&self) -> u64 {
        milliseconds(self.times().now)
    }

    /// Returns how many milliseconds the input was waited for until its first byte.
    fn first_byte(&self) -> u64 {
        milliseconds(self.times().first.unwrap_or_default())
    }

    /// Returns the gaps between reads, in milliseconds, since this was last asked for: each with
    /// how often it came.
    fn take_gaps(&self) -> BTreeMap<u64, usize> {
        std::mem::take(&mut self.times().gaps)
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
