//! With tokio: one task reads an answer, another one takes its events from a channel.
//!
//! ```sh
//! cargo run --example tokio_channel < response.sse
//! ```

use std::io::{self, Write};

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::mpsc::{self, Sender};
use toolstream::event::{Code, OwnedEvent};
use toolstream::{Config, Pipeline};

/// Sends the events of a body. One that breaks off ends its message with an error.
async fn read(mut body: impl AsyncRead + Unpin, sender: Sender<OwnedEvent>) -> io::Result<()> {
    let (mut pipeline, mut events) = (Pipeline::new(&Config::default()), Vec::new());
    let mut buffer = vec![0; 16 << 10];
    loop {
        let read = body.read(&mut buffer).await;
        let is_last = !matches!(read, Ok(1..));
        match read {
            Ok(0) => pipeline.finish(&mut events)?,
            Ok(length) => pipeline.feed(&buffer[..length], &mut events)?,
            Err(error) => pipeline.fail(Code::Truncated, &error.to_string(), &mut events)?,
        }
        for event in events.drain(..) {
            sender.send(event).await.map_err(io::Error::other)?;
        }
        if is_last {
            return Ok(());
        }
    }
}

fn main() -> io::Result<()> {
    run(tokio::io::stdin(), io::stdout().lock())
}

/// Prints what comes out of the channel.
pub(crate) fn run(
    body: impl AsyncRead + Unpin + Send + 'static,
    mut output: impl Write,
) -> io::Result<()> {
    tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
        let (sender, mut receiver) = mpsc::channel(16);
        let reader = tokio::spawn(read(body, sender));
        while let Some(event) = receiver.recv().await {
            writeln!(output, "{event}")?;
        }
        reader.await?
    })
}
