//! How fast the parts are: `cargo bench --bench parts`.

// A benchmark may fail.
#![allow(clippy::unwrap_used, clippy::string_slice, missing_docs, dead_code)]

mod corpus;

use std::hint::black_box;
use std::io;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use toolstream::dialect;
use toolstream::format;
use toolstream::frame::{Fault, Frame, Framer, Settings};
use toolstream::internals::AutoFramer;
use toolstream::sink::{Label, Ndjson};
use toolstream::{Config, Pipeline};

use corpus::CORPORA;

const SIZE: usize = 1_000_000;

/// What is read at once.
const READ: usize = 64 << 10;

fn framing(bytes: &[u8]) {
    let mut framer = AutoFramer::new(None, Settings::default());
    let mut out = |frame: Result<Frame<'_>, Fault<'_>>| {
        let _ = black_box(frame);
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

fn parts(criterion: &mut Criterion) {
    for corpus in CORPORA {
        let bytes = corpus.bytes(SIZE);
        let mut group = criterion.benchmark_group(corpus.name);
        group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(20);
        let mut config = Config::default();
        if corpus.is_text() {
            config.format = format::find("text");
            config.dialect = dialect::Selection::Auto;
            config.assembly.max_calls = 0;
        } else {
            group.bench_function("frames", |bencher| bencher.iter(|| framing(&bytes)));
        }
        group.bench_function("parse", |bencher| bencher.iter(|| parse(&config, &bytes)));
    }
}

criterion_group!(benches, parts);
criterion_main!(benches);
