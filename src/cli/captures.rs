//! The options of the commands that keep and play captures.

use clap::{Args, ColorChoice, ValueHint};

use crate::cli::Reading;
use crate::cli::value;

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

/// `toolstream check`
#[derive(Args, Debug)]
#[command(after_long_help = CHECK_EXAMPLES)]
#[command(mut_arg("files", |arg| arg.value_name("FILE|DIR").required(true)
    .help("What to check; in a DIR, every file that is not hidden, and no golden file")
    .long_help("What to check\n\nIn a DIR and below it, every file is a capture but those that are \
        hidden, golden files, FILE.times and the requests of `agent --log`.")))]
pub struct Check {
    /// How captures are read.
    #[command(flatten)]
    pub reading: Reading,

    /// Write the golden files that are missing or differ
    ///
    /// Each whole or not at all. It keeps the options that say how to read, --only and --ignore:
    /// the next check uses them where the command line has none.
    #[arg(long)]
    pub update: bool,

    /// Which keys not to compare, with commas between them: id, or usage.raw in one type of event
    ///
    /// The name of a type stands for all keys of such events.
    #[arg(long, value_name = "KEYS", value_delimiter = ',', value_parser = value::event_key)]
    pub ignore: Vec<String>,

    /// Which types of events to compare, with commas between them
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = value::event_type)]
    pub only: Vec<String>,

    /// Print an object for each capture, and one for the sum
    #[arg(long)]
    pub json: bool,

    /// When to use colours
    ///
    /// `auto` is on a terminal, unless NO_COLOR is set.
    #[arg(long, value_name = "WHEN", default_value = "auto", value_enum)]
    pub color: ColorChoice,

    /// How many captures to read at once
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  Keep what captures give now, and commit it:
    toolstream check --update captures

  Is it still the same? Exit status 1 says no, and a diff of the events what:
    toolstream check -j 4 captures

  Captures that are recorded anew each time:
    toolstream check --update --ignore id,signature,usage,raw,text captures";
