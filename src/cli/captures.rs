//! The options of the commands that keep and play captures.

use clap::{Args, ValueHint};

/// `toolstream record`
#[derive(Args, Debug)]
#[command(after_long_help = RECORD_EXAMPLES)]
pub struct Record {
    /// Where the stream is kept; its rhythm goes into FILE.times
    ///
    /// FILE.times has a line `MILLISECONDS LENGTH` for each read: the time since record began to
    /// wait, so that the first one is the time to the first byte, and the number of bytes. Files
    /// that are there are overwritten. If they cannot be written to the end, that is reported, and
    /// the stream is still passed on.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: String,
}

const RECORD_EXAMPLES: &str = "\
Examples:
  Keep a stream while it is used, with its head and its rhythm:
    curl -isSN URL -d @request.json | toolstream record answer.sse | toolstream show

  When did the text begin, and how long were the gaps?
    toolstream classify --timing answer.sse | jq .timing";
