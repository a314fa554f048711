//! A sink of one's own: the text of the answer as it comes, and one line for each call that is
//! safe to run.
//!
//! ```sh
//! cargo run --example own_sink < response.sse
//! ```

use std::io::{self, Read, Write};

use toolstream::event::{Event, Kind};
use toolstream::sink::Sink;
use toolstream::{Config, Pipeline};

fn main() -> io::Result<()> {
    run(io::stdin().lock(), io::stdout().lock())
}

pub(crate) fn run(mut input: impl Read, output: impl Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let mut sink = Answer { output, calls: Vec::new() };
    let mut pipeline = Pipeline::new(&Config::default());
    pipeline.feed(&bytes, &mut sink)?;
    pipeline.finish(&mut sink)
}

struct Answer<W> {
    output: W,
    /// The calls of the message that is open.
    calls: Vec<String>,
}

impl<W: Write> Sink for Answer<W> {
    /// An event borrows from the input and lives for this call: what is kept is copied.
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event.kind {
            Kind::Text(piece) => write!(self.output, "{}", piece.text),
            Kind::ToolCall(call) if call.executor.is_none() => {
                self.calls.push(format!("{}({})", call.name, call.input.as_str()));
                Ok(())
            }
            // Only a message that ended well has calls to run.
            Kind::Finish(_) => {
                writeln!(self.output)?;
                self.calls.drain(..).try_for_each(|call| writeln!(self.output, "run {call}"))
            }
            Kind::Error(failure) => {
                self.calls.clear();
                writeln!(self.output, "\nfailed: {}", failure.message)
            }
            _ => Ok(()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
