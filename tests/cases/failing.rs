//! A sink that fails: nothing comes after its error, least of all a call made of what is left.

use std::io;

use toolstream::convert::{self, Converter, Options};
use toolstream::event::Event;
use toolstream::format::{self, Losses};
use toolstream::sink::{Capped, Join, Sink, Values};
use toolstream::{Config, Pipeline};

use crate::case::Case;

/// The most events of a fixture at which the sink fails; of an input that was made, fewer.
const MOST: usize = 256;
const MOST_OF_MADE: usize = 8;

/// Fails once, at one of its calls, and counts those after it.
struct FailsOnce {
    /// The number of calls before the one that fails.
    left: usize,
    has_failed: bool,
    after: usize,
}

impl FailsOnce {
    fn new(left: usize) -> Self {
        FailsOnce { left, has_failed: false, after: 0 }
    }

    fn take(&mut self) -> io::Result<()> {
        self.after += usize::from(self.has_failed);
        if self.left > 0 || self.has_failed {
            self.left = self.left.saturating_sub(1);
            return Ok(());
        }
        self.has_failed = true;
        Err(io::ErrorKind::WouldBlock.into())
    }
}

impl Sink for FailsOnce {
    fn feed(&mut self, _: &Event<'_>) -> io::Result<()> {
        self.take()
    }
}

impl io::Write for FailsOnce {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take().map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Calls the layer, and checks that it keeps failing once it has failed.
fn call(failed: &mut bool, run: impl FnOnce() -> io::Result<()>) {
    let result = run();
    assert!(!*failed || result.is_err(), "an error is forgotten");
    *failed |= result.is_err();
}

/// Reads an input into a sink that fails, through a pipeline that is used to its end all the same.
fn read(config: &Config, input: &[u8], sink: &mut dyn Sink) {
    let mut pipeline = Pipeline::new(config);
    let mut failed = false;
    for piece in input.chunks(input.len().div_ceil(8).max(1)) {
        call(&mut failed, || pipeline.feed(piece, sink));
    }
    call(&mut failed, || pipeline.finish(sink));
    call(&mut failed, || pipeline.interrupt(sink));
}

/// Feeds a layer the events of a pipeline that does not hear of its errors.
struct Deaf<S>(S, bool);

impl<S: Sink> Sink for Deaf<S> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        let Deaf(sink, failed) = self;
        call(failed, || sink.feed(event));
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        let Deaf(sink, failed) = self;
        call(failed, || sink.finish());
        Ok(())
    }
}

/// One way to read an input into what fails after so many calls.
type Way = fn(&Case, &mut FailsOnce);

/// A pipeline, and each layer that has a sink.
const WAYS: &[(&str, Way)] = &[
    ("the pipeline", |case, out| read(&config(case), &case.input, out)),
    ("join", |case, out| {
        read(&config(case), &case.input, &mut Deaf(Join::new(Through(out)), false));
    }),
    ("values", |case, out| {
        read(&config(case), &case.input, &mut Deaf(Values::new(Through(out), true), false));
    }),
    ("capped", |case, out| {
        read(&config(case), &case.input, &mut Deaf(Capped::new(Through(out), 1 << 30), false));
    }),
    ("the converter", |case, out| {
        let Some(target) = format::find("openai-chat").and_then(|row| row.write) else { return };
        let (options, mut losses) = (Options::default(), Losses::default());
        let converter = Converter::new(out, target, &options, &mut losses);
        let config = convert::config(&config(case), &options);
        read(&config, &case.input, &mut Deaf(converter, false));
    }),
];

/// A sink that is lent.
struct Through<'s>(&'s mut FailsOnce);

impl Sink for Through<'_> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.0.feed(event)
    }
}

fn config(case: &Case) -> Config {
    let mut config = case.full_config();
    config.assembly.deltas = true;
    config
}

pub(crate) fn nothing_comes_after_an_error(case: &Case) -> bool {
    let most = if case.is_made { MOST_OF_MADE } else { MOST };
    for (name, way) in WAYS {
        for at in 0..most {
            let mut out = FailsOnce::new(at);
            way(case, &mut out);
            assert_eq!(out.after, 0, "{name}: after the error at event {at}");
            if !out.has_failed {
                break;
            }
        }
    }
    true
}
