//! A wire format of one's own: a row of the table, the struct that is the table of its fields, and
//! a decoder.
//!
//! ```sh
//! cargo run --example own_format < response.sse
//! ```

use std::io::{self, Read, Write};

use toolstream::format::{Decoder, EventOut, Format, payload, read};
use toolstream::frame::Frame;
use toolstream::sink::{Label, Ndjson};
use toolstream::{Config, Pipeline, Str};

/// A stream of `{"t":"piece"}`, and at its end `{"stop":"length"}`.
static TICKER: Format = Format {
    about: "pieces of text, one a record",
    link: "https://example.org/ticker",
    ..Format::new("ticker", |_| Box::new(Ticker::default()))
};

payload! {
    /// Every field is optional: what is missing or of another type costs that field alone.
    struct Tick<'a> {
        text: Option<Str<'a>> = "t",
        stop: Option<Str<'a>>,
    }
}

#[derive(Default)]
struct Ticker {
    is_open: bool,
}

impl Decoder for Ticker {
    fn feed(&mut self, frame: Frame<'_>, out: &mut EventOut<'_>) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_open, true) {
            out.start(TICKER.name, None, None)?;
        }
        read::<Tick<'static>, _>(&frame, out, |tick: &Tick<'_>, out: &mut EventOut<'_>| {
            if let Some(text) = &tick.text {
                out.text(0, text)?;
            }
            if out.finish_if(0, tick.stop.as_ref())? {
                out.end()?;
            }
            Ok(())
        })
    }

    /// An end without `stop` is none: the message is reported as truncated.
    fn finish(&mut self, _out: &mut EventOut<'_>) -> io::Result<()> {
        Ok(())
    }
}

fn main() -> io::Result<()> {
    run(io::stdin().lock(), io::stdout().lock())
}

pub(crate) fn run(mut input: impl Read, output: impl Write) -> io::Result<()> {
    let config = Config { format: Some(&TICKER), ..Config::default() };
    let mut sink = Ndjson::new(output, Label::default());
    let mut pipeline = Pipeline::new(&config);
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    pipeline.feed(&bytes, &mut sink)?;
    pipeline.finish(&mut sink)
}
