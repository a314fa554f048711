//! One run of the program, in memory: what is printed, and the exit status.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use toolstream::internals::{Status, Witness};
use toolstream::sink::{Classify, Join, Label, Ndjson, Sink, Values};
use toolstream::{Config, Pipeline};

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Print {
    /// Every event, as it comes.
    Events,
    /// Every event, neighbouring deltas joined.
    Joined,
    /// Every event with the values of arguments, neighbouring deltas joined.
    Values,
    /// A summary of each message.
    Summaries,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) out: String,
    pub(crate) status: u8,
}

/// The number of runs so far.
pub(crate) static RUNS: AtomicU64 = AtomicU64::new(0);

/// Reads an input that comes in these pieces.
pub(crate) fn run<'a>(
    config: &Config,
    print: Print,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Run {
    RUNS.fetch_add(1, Ordering::Relaxed);
    let mut out = Vec::new();
    let mut status = Status::new(config.assembly.strict);
    let label = Label::default();
    let sink: Box<dyn Sink + '_> = match print {
        Print::Events => Box::new(Ndjson::new(&mut out, label)),
        Print::Joined => Box::new(Join::new(Ndjson::new(&mut out, label))),
        Print::Values => Box::new(Join::new(Values::new(Ndjson::new(&mut out, label), false))),
        Print::Summaries => {
            Box::new(Classify::new(&mut out, label, config.assembly.choice.unwrap_or(0)))
        }
    };
    let mut sink = Witness::new(sink, &mut status, "case", io::sink());
    let mut pipeline = Pipeline::new(config);
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
        pipeline.feed(piece, &mut sink).unwrap();
        if pipeline.is_stopped() {
            break;
        }
    }
    pipeline.finish(&mut sink).unwrap();
    drop(sink);
    Run { out: String::from_utf8(out).expect("the output is UTF-8"), status: status.code(false) }
}
