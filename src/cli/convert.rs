//! The options of `convert`.

use clap::{Args, ValueEnum};

use crate::cli::{ReadOptions, value};
use crate::format::Format;

/// `toolstream convert`
#[derive(Args, Debug)]
#[command(after_long_help = CONVERT_EXAMPLES)]
pub struct Convert {
    /// The format to write
    #[arg(long, value_name = "FORMAT", value_parser = value::target())]
    pub to: &'static Format,

    /// How to read.
    #[command(flatten)]
    pub reading: ReadOptions,

    /// Write calls in fragments, as they come
    ///
    /// By default a call is written when it is whole: one that is cut never leaves.
    #[arg(long)]
    pub deltas: bool,

    /// Write one body instead of a stream
    #[arg(long)]
    pub whole: bool,

    /// How records are wrapped, where the format has several ways [default: its first]
    ///
    /// gemini: sse, or json-array as without alt=sse.
    #[arg(long, value_name = "NAME", conflicts_with = "whole")]
    pub to_framing: Option<String>,

    /// The message to write, from 1, of an input that holds several
    ///
    /// By default the first is written, and a second one is an error.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub message: Option<u64>,

    /// How many tokens the model reads, for formats that say it at their beginning
    ///
    /// Anthropic does: 0 unless the source said it at its beginning too.
    #[arg(long, value_name = "N")]
    pub input_tokens: Option<u64>,

    /// How to write the ids of calls
    #[arg(long, value_name = "HOW", default_value = "keep", value_enum)]
    pub ids: Ids,

    /// Leave out what the message cost
    #[arg(long)]
    pub no_usage: bool,

    /// Print what the format cannot carry, and read nothing
    #[arg(long)]
    pub explain: bool,
}

/// How ids of calls are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Ids {
    /// They stay as they are
    Keep,
    /// As every client and provider takes them: letters, digits, _ and -, 64 at most, and those of
    /// calls that came without one differ from message to message
    Clean,
}

const CONVERT_EXAMPLES: &str = "\
Examples:
  A client of Anthropic's reads what a server of OpenAI's kind sends:
    curl -sSN \"$URL\" --json @request.json | toolstream convert --to anthropic

  Plain text of a model that writes its calls like Hermes does:
    toolstream convert -f text -d hermes --to openai-chat answer.txt

  What would be lost?
    toolstream convert --to gemini --explain

What is lost is named on standard error, a line each; --strict makes an error of it.";
