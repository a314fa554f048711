//! How fast the parts are by themselves, in this process and in memory:
//! `cargo bench --bench whole -- parts`.

use std::hint::black_box;
use std::io;
use std::time::Instant;

use toolstream::frame::{FrameConfig, Framed};
use toolstream::internals::AutoFramer;
use toolstream::sink::{Label, Ndjson};
use toolstream::{Config, Pipeline};
use toolstream::{dialect, format};

use crate::corpus::CORPORA;

const SIZE: usize = 1_000_000;

/// How often each part runs; the best run counts.
const RUNS: usize = 20;

/// What is read at once.
const READ: usize = 64 << 10;

/// A line for each corpus: megabytes a second of its framing alone, and of all.
pub(crate) fn table() {
    println!("| stream | frames, MB/s | parse, MB/s |\n| --- | --: | --: |");
    for corpus in CORPORA {
        let bytes = corpus.bytes(SIZE);
        let mut config = Config::default();
        let mut frames = "-".to_owned();
        if corpus.is_text() {
            config.format = format::find("text");
            config.dialect = dialect::Selection::Auto;
            config.assembly.max_calls = 0;
        } else {
            frames = format!("{:.0}", speed(&bytes, || framing(&bytes)));
        }
        let all = speed(&bytes, || parse(&config, &bytes));
        println!("| {} | {frames} | {all:.0} |", corpus.name);
    }
}

/// Megabytes a second in the best of the runs.
fn speed(bytes: &[u8], part: impl Fn()) -> f64 {
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        part();
        start.elapsed().as_secs_f64()
    });
    bytes.len() as f64 / times.fold(f64::INFINITY, f64::min) / 1e6
}

fn framing(bytes: &[u8]) {
    let mut framer = AutoFramer::new(None, FrameConfig::default());
    let mut out = |framed: Framed<'_>| {
        let _ = black_box(framed);
        Ok(())
    };
    bytes.chunks(READ).for_each(|read| framer.feed(read, &mut out).unwrap());
    framer.finish(&mut out).unwrap();
}

fn parse(config: &Config, bytes: &[u8]) {
    let mut sink = Ndjson::new(io::sink(), Label::default());
    let mut pipeline = Pipeline::new(config);
    bytes.chunks(READ).for_each(|read| pipeline.feed(read, &mut sink).unwrap());
    pipeline.finish(&mut sink).unwrap();
}
