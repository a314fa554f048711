//! The way out: the events of one message become the stream of another provider.
//!
//! [`Converter`] is the sink. It puts the events into the order that every format needs (one block
//! after another, one end), names what is lost, and leaves the records to the format's
//! [`Encoder`](crate::format::Encoder). [`OneMessage`] stands before it: a stream holds one message.

mod converter;
mod followed;
mod ids;
mod one_message;

use std::io;

pub use converter::{Converter, Options};
#[cfg(feature = "cli")]
pub(crate) use ids::UniqueIds;
pub use one_message::OneMessage;

use crate::format::{Losses, Writing};
use crate::pipeline::{Config, Pipeline};
use crate::sink::{Capped, Sink};

/// Returns the configuration of a pipeline whose events are to be written: it marks where records
/// and comments end.
pub fn config(config: &Config, options: &Options) -> Config {
    let mut config = Config { records: true, ..config.clone() };
    config.frame.comments = true;
    config.assembly.deltas = options.deltas;
    config
}

/// Converts an input that is in memory: the first message of it.
///
/// ```
/// use toolstream::convert::{Options, convert};
/// use toolstream::{Config, format};
///
/// let body = br#"{"model":"m","message":{"role":"assistant","content":"Hi"},"done":true}"#;
/// let target = format::find("openai-chat").and_then(|row| row.write).unwrap();
/// let (stream, _) = convert(body, &Config::default(), target, &Options::default());
/// assert!(String::from_utf8_lossy(&stream).ends_with("data: [DONE]\n\n"));
/// ```
pub fn convert(
    input: &[u8],
    config: &Config,
    target: &'static Writing,
    options: &Options,
) -> (Vec<u8>, Losses) {
    let (mut out, mut seen, mut losses) = (Vec::new(), 0, Losses::default());
    // Writing to memory does not fail.
    let _ = through(input, config, target, options, &mut seen, &mut losses, &mut out);
    (out, losses)
}

fn through(
    input: &[u8],
    config: &Config,
    target: &'static Writing,
    options: &Options,
    seen: &mut u64,
    losses: &mut Losses,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let converter = Converter::new(out, target, options, losses);
    let mut sink = OneMessage::new(Capped::new(converter, config.max_memory), None, seen);
    let mut pipeline = Pipeline::new(&self::config(config, options));
    pipeline.feed(input, &mut sink)?;
    pipeline.finish(&mut sink)?;
    sink.flush()
}
