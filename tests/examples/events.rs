//! Any provider's stream on standard input, NDJSON events on standard output: what
//! `toolstream parse` does, with the library alone.
//!
//! ```sh
//! cargo run --example events < response.sse
//! ```

use std::io::{self, Read, Write};

use toolstream::sink::{Label, Ndjson, Sink};
use toolstream::{Config, Pipeline};

fn main() -> io::Result<()> {
    run(io::stdin().lock(), io::stdout().lock())
}

/// Writes what each read completed before the next read, so the output is as live as the input.
pub(crate) fn run(mut input: impl Read, output: impl Write) -> io::Result<()> {
    let mut sink = Ndjson::new(output, Label::default());
    let mut pipeline = Pipeline::new(&Config::default());
    let mut buffer = vec![0; 64 << 10];
    loop {
        let length = input.read(&mut buffer)?;
        if length == 0 || pipeline.is_stopped() {
            return pipeline.finish(&mut sink);
        }
        pipeline.feed(buffer.get(..length).unwrap_or_default(), &mut sink)?;
        sink.flush()?;
    }
}
