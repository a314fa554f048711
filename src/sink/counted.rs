//! The answer of an agent's run, for whoever takes the text alone.

use std::io;

use crate::event::{Event, Failure, Kind, OwnedEvent, Pieces, Start};
use crate::sink::{Fused, Sink};

/// Hands on what counted of the messages of a run, each of which is one of its rounds: nothing of
/// an attempt that was made again, and where only the answer is wanted, the last message alone, once
/// the run has ended. Messages of no run go through as they come.
pub(crate) struct Counted<S> {
    inner: Fused<S>,
    /// True if only the last message is wanted.
    only_last: bool,
    /// The events of the message that may count.
    held: Vec<OwnedEvent>,
    /// True in a message of a run.
    is_run: bool,
}

impl<S: Sink> Counted<S> {
    /// Hands on to `inner` what counted; if `only_last`, of the last message alone.
    pub(crate) fn new(inner: S, only_last: bool) -> Self {
        Counted { inner: Fused::new(inner), only_last, held: Vec::new(), is_run: false }
    }

    fn release(&mut self) -> io::Result<()> {
        self.held.drain(..).try_for_each(|event| self.inner.feed(&event.get()))
    }
}

impl<S: Sink> Sink for Counted<S> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.inner.check()?;
        match event.kind {
            Kind::Start(Start { round, .. }) => {
                if self.only_last {
                    self.held.clear();
                } else {
                    self.release()?;
                }
                self.is_run = round.is_some();
            }
            Kind::Error(Failure { retried: true, .. }) => {
                self.held.clear();
                return Ok(());
            }
            Kind::RunEnd(_) => {
                self.release()?;
                self.is_run = false;
            }
            _ => {}
        }
        if !self.is_run {
            return self.inner.feed(event);
        }
        self.held.push(event.into_owned());
        match event.kind {
            Kind::Finish(_) | Kind::Error(_) if !self.only_last => self.release(),
            _ => Ok(()),
        }
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        if self.is_run { self.feed(&pieces.event) } else { self.inner.feed_pieces(pieces) }
    }

    fn inner(&mut self) -> Option<&mut dyn Sink> {
        Some(&mut self.inner)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.inner.check()?;
        self.release()?;
        self.inner.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Code, EndReason, Finish, FinishReason, RunEnd, Text};

    struct Texts(String);

    impl Sink for Texts {
        fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
            if let Kind::Text(text) = event.kind {
                self.0.push_str(text.text);
            }
            Ok(())
        }
    }

    #[track_caller]
    fn check(only_last: bool, kinds: &[Kind<'_>], expected: &str) {
        let mut counted = Counted::new(Texts(String::new()), only_last);
        kinds.iter().try_for_each(|kind| counted.feed(&(*kind).into())).unwrap();
        counted.finish().unwrap();
        assert_eq!(counted.inner.inner.0, expected);
    }

    #[test]
    fn attempts_that_were_made_again_do_not_count() {
        let start = Kind::Start(Start { round: Some(1), ..Start::default() });
        let text = |text| Kind::Text(Text::new(text));
        let again =
            Kind::Error(Failure { retried: true, ..Failure::new(Code::Truncated, "cut", None) });
        let stop = Kind::Finish(Finish::new(FinishReason::Stop));
        let end = Kind::RunEnd(RunEnd {
            reason: EndReason::FinalAnswer,
            rounds: 2,
            calls: 0,
            usage: None,
        });
        let run = [start, text("a"), again, start, text("b"), stop, start, text("c"), stop, end];
        check(false, &run, "bc");
        check(true, &run, "c");
        check(true, &run[..6], "b");
        check(true, &[Kind::Start(Start::default()), text("a"), stop, text("b")], "ab");
    }
}
