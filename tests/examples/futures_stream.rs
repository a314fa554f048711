//! As a `futures::Stream`: a stream of bytes becomes one of events.
//!
//! ```sh
//! cargo run --example futures_stream < response.sse
//! ```

use std::io::{self, Read, Write};
use std::pin::pin;

use futures_util::stream::{self, Stream, StreamExt as _};
use toolstream::event::{Code, OwnedEvent};
use toolstream::{Config, Pipeline};

/// Returns the events of a body. One that breaks off ends its message with an error.
fn events(
    body: impl Stream<Item = io::Result<Vec<u8>>>,
) -> impl Stream<Item = io::Result<OwnedEvent>> {
    let mut pipeline = Pipeline::new(&Config::default());
    let end = stream::iter([None]);
    body.map(Some).chain(end).flat_map(move |piece| {
        let mut events = Vec::new();
        let result = match piece {
            Some(Ok(bytes)) => pipeline.feed(&bytes, &mut events),
            Some(Err(error)) => pipeline.fail(Code::Truncated, &error.to_string(), &mut events),
            None => pipeline.finish(&mut events),
        };
        stream::iter(events.into_iter().map(Ok).chain(result.err().map(Err)))
    })
}

fn main() -> io::Result<()> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    run(bytes.chunks(1 << 10).map(|piece| Ok(piece.to_vec())), io::stdout().lock())
}

/// Prints the events of a body that comes in these pieces.
pub(crate) fn run(
    pieces: impl Iterator<Item = io::Result<Vec<u8>>>,
    mut output: impl Write,
) -> io::Result<()> {
    let mut events = pin!(events(stream::iter(pieces)));
    tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
        while let Some(event) = events.next().await {
            writeln!(output, "{}", event?)?;
        }
        Ok(())
    })
}
