//! Once something has failed, nothing more is handed on.

use std::io::{self, ErrorKind, Write};

use crate::event::{Event, Pieces};
use crate::sink::Sink;

/// The first error of a layer. What was lost with it is not known, so whatever comes after it could
/// be joined with the wrong text: it gets the same error.
#[derive(Debug, Default)]
pub(crate) struct Latch(Option<(ErrorKind, String)>);

impl Latch {
    /// Returns the first error, if there was one.
    pub(crate) fn check(&self) -> io::Result<()> {
        match &self.0 {
            Some((kind, first)) => {
                Err(io::Error::new(*kind, format!("nothing is written after an error: {first}")))
            }
            None => Ok(()),
        }
    }

    /// Keeps the first error.
    pub(crate) fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            self.0.get_or_insert_with(|| (error.kind(), error.to_string()));
        }
        result
    }
}

/// A sink or a writer that is not used again once it has failed.
#[derive(Debug)]
pub(crate) struct Fused<T> {
    pub(crate) inner: T,
    latch: Latch,
}

impl<T> Fused<T> {
    /// Hands on to `inner` until it fails.
    pub(crate) fn new(inner: T) -> Self {
        Fused { inner, latch: Latch::default() }
    }

    /// Returns the error that it failed with, if it has.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.latch.check()
    }

    fn hand_on<R>(&mut self, run: impl FnOnce(&mut T) -> io::Result<R>) -> io::Result<R> {
        self.latch.check()?;
        let result = run(&mut self.inner);
        self.latch.note(result)
    }
}

impl<S: Sink> Sink for Fused<S> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.hand_on(|inner| inner.feed(event))
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        self.hand_on(|inner| inner.feed_pieces(pieces))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.hand_on(Sink::flush)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.hand_on(Sink::finish)
    }

    fn keeps(&mut self) -> bool {
        self.inner.keeps()
    }

    fn is_full(&mut self) -> bool {
        self.inner.is_full()
    }
}

impl<W: Write> Write for Fused<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.latch.check()?;
        match self.inner.write(bytes) {
            // Nothing was lost: whoever writes tries again.
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
            result => self.latch.note(result),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.hand_on(Write::flush)
    }
}
