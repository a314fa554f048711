//! The command line, as structs. `man/toolstream.1` and the completions are
//! made from these.

mod config;
mod value;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

pub(crate) use value::{Auto, ChoiceFilter, Size, nearest};

use crate::dialect::Selection;
use crate::format::Format;
use crate::frame::Framing;

/// Read the stream of a language model, write NDJSON events or a summary
///
/// Reads the stream of a language model, of whatever provider and format, and writes NDJSON events,
/// or one summary.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, after_long_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  What does the model say? The stream goes in, text comes out as it arrives:
    curl -sN URL -d @request.json | toolstream parse |
      jq --unbuffered -rj 'select(.type==\"text\").text'

  Does it want tools to be run? Exit status 10 says so, 0 is a final answer:
    toolstream classify --exit-code response.sse

  Which format is this, and why?
    toolstream detect response.sse

Exit status:
   0  every message ended well          5  the provider reported an error
   2  usage: bad option or file         6  a limit was hit
   3  malformed, or not recognised      8  reading or writing failed
   4  truncated, or empty              10  tool calls (classify --exit-code)";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Stream in, NDJSON events out
    Parse(Parse),
    /// Stream in, one summary object a message out
    Classify(Classify),
    /// Stream in, one NDJSON line a frame out: framing only, no meaning
    Frames(Frames),
    /// What format this is, and why
    Detect(Detect),
    /// Every framing, wire format and dialect, or all of one
    Formats(Formats),
    /// JSON Schema of the event lines and of the summary
    Schema,
    /// The manual page, as roff: `toolstream man | man -l -` shows it
    Man,
    /// Completions for a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
}

/// `toolstream parse`
#[derive(Args, Debug)]
#[command(after_long_help = PARSE_EXAMPLES)]
pub struct Parse {
    /// How to read.
    #[command(flatten)]
    pub reading: Reading,
}

const PARSE_EXAMPLES: &str = "\
Examples:
  The calls that are safe to run, and nothing else:
    toolstream parse response.sse | jq -c 'select(.type==\"tool_call\")'

  A file to compare later runs with, whatever the network did to the pieces:
    toolstream parse --join response.sse > golden.ndjson

  Plain text of a model that writes its calls like Hermes and Qwen do:
    toolstream parse -f text -d hermes --tools tools.json < answer.txt";

/// `toolstream classify`
#[derive(Args, Debug)]
#[command(after_long_help = CLASSIFY_EXAMPLES)]
pub struct Classify {
    /// How to read.
    #[command(flatten)]
    pub reading: Reading,

    /// Exit with 10 if the last message has tool calls to run, 0 if it's a final answer
    #[arg(long)]
    pub exit_code: bool,

    /// How many FILEs to read at once
    ///
    /// The summaries come in the order of the FILEs.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,
}

const CLASSIFY_EXAMPLES: &str = "\
Examples:
  The loop of an agent:
    curl -sN URL -d @request.json | toolstream classify --exit-code > turn.json
    case $? in 10) run_tools < turn.json ;; 0) jq -r .text turn.json ;; esac

  Many captures, eight at a time:
    toolstream classify -j 8 captures/*.sse | jq -r '[.file, .type] | @tsv'";

/// `toolstream frames`
#[derive(Args, Debug)]
#[command(after_long_help = FRAMES_EXAMPLES)]
pub struct Frames {
    /// How records are separated
    #[arg(short = 'F', long, value_name = "NAME", default_value = "auto", value_parser = value::framing())]
    pub framing: Auto<Framing>,

    /// Follow the framing's specification to the letter
    ///
    /// Nothing is repaired, and what the end of the input cut is dropped.
    #[arg(long)]
    pub strict: bool,

    /// The largest line, event or frame, in bytes; 0 is no limit
    #[arg(long, value_name = "SIZE", default_value = "256M", help_heading = LIMITS)]
    pub max_event: Size,

    /// What to read; `-`, or nothing, is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<String>,
}

const FRAMES_EXAMPLES: &str = "\
Examples:
  The payloads of a stream of server-sent events:
    toolstream frames -F sse response.sse | jq -r .data";

/// `toolstream detect`
#[derive(Args, Debug)]
pub struct Detect {
    /// Print an object instead of text
    #[arg(long)]
    pub json: bool,

    /// What to read; `-`, or nothing, is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<String>,
}

/// `toolstream formats`
#[derive(Args, Debug)]
pub struct Formats {
    /// Print an object instead of a table
    #[arg(long)]
    pub json: bool,

    /// The framing, format or dialect to print all of, by any of its names
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// Where the text of a model begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StartIn {
    /// In the answer
    Text,
    /// In the model's thinking: the prompt has already opened it
    Reasoning,
    /// In the thinking if that is closed without having been opened
    Auto,
}

/// The meaning of the end of plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AtEnd {
    /// It may have been cut
    Cut,
    /// The model stopped by itself: a call that lacks only its closer is closed
    Stop,
}

/// What becomes of markup that turns out to be no readable call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnMalformed {
    /// An invalid_tool_call, with the markup as it came
    Invalid,
    /// Text again
    Text,
}

const LIMITS: &str = "Limits";

/// The options of `parse` and `classify`.
#[derive(Args, Debug)]
pub struct Reading {
    /// The wire format: `toolstream formats` lists them
    ///
    /// `text` is plain text. By default the format is found out; `toolstream detect` says which it
    /// is, and why.
    #[arg(short, long, value_name = "NAME", default_value = "auto", value_parser = value::format(), hide_possible_values = true)]
    pub format: Auto<Format>,

    /// How records are separated
    #[arg(short = 'F', long, value_name = "NAME", default_value = "auto", value_parser = value::framing())]
    pub framing: Auto<Framing>,

    /// How tool calls and reasoning are written inside text: `toolstream formats` lists them
    ///
    /// `auto` finds it out, `none` reads text as text. A FILE is a dialect of your own in TOML, or
    /// in JSON the response_template of a tokenizer. [default: auto for plain text, none for
    /// provider formats]
    #[arg(short, long, value_name = "NAME|FILE", value_parser = value::DialectName, hide_possible_values = true)]
    pub dialect: Option<Selection>,

    /// Tool definitions: types for untyped arguments, and names to trust
    ///
    /// OpenAI's, Anthropic's, Gemini's, the answer to MCP's tools/list, a map of names to JSON
    /// Schemas, or the whole request that has them. [default: none]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub tools: Option<String>,

    /// Where the text begins [default: as the dialect says]
    #[arg(long, value_name = "WHERE", value_enum)]
    pub start_in: Option<StartIn>,

    /// The meaning of the end of plain text
    #[arg(long, value_name = "WHAT", default_value = "cut")]
    pub at_end: AtEnd,

    /// What becomes of a call inside text that can't be read
    ///
    /// With --deltas, one whose start has been printed is invalid in any case.
    #[arg(long, value_name = "WHAT", default_value = "invalid")]
    pub on_malformed: OnMalformed,

    /// Also print tool_call_start and tool_call_delta
    #[arg(long)]
    pub deltas: bool,

    /// Also print tool_call_value: the values of arguments while they stream
    ///
    /// Each has a path into the arguments, and the value there or the next piece of a string. A
    /// preview: only a tool_call may run.
    #[arg(long)]
    pub values: bool,

    /// Join neighbouring deltas into one line
    ///
    /// The output then depends on the bytes alone, as a golden file needs.
    #[arg(long)]
    pub join: bool,

    /// Which choice to follow when there are several
    ///
    /// [default: all for parse, 0 for classify]
    #[arg(long, value_name = "N|all")]
    pub choice: Option<ChoiceFilter>,

    /// Also print provider events that are unrecognised or can't be read
    ///
    /// Each is a provider_event.
    #[arg(long)]
    pub raw: bool,

    /// Also print turn: what the next request has to hold of the message
    ///
    /// In the provider's own JSON: the elements that its list of messages, items or contents grows
    /// by, and the members to set. Of one choice: the one that --choice names, or the first.
    #[arg(long)]
    pub turn: bool,

    /// Add t_ms, milliseconds since the first byte, to every line
    #[arg(long)]
    pub timing: bool,

    /// Make errors of warnings
    #[arg(long)]
    pub strict: bool,

    /// The largest line, event or frame, in bytes; 0 is no limit
    #[arg(long, value_name = "SIZE", default_value = "256M", help_heading = LIMITS)]
    pub max_event: Size,

    /// The largest arguments of one call, in bytes; 0 is no limit
    #[arg(long, value_name = "SIZE", default_value = "64M", help_heading = LIMITS)]
    pub max_args: Size,

    /// The most calls in one message; 0 is no limit
    #[arg(long, value_name = "N", default_value_t = 1024, help_heading = LIMITS)]
    pub max_calls: usize,

    /// How deeply JSON may be nested; 0 is no limit
    ///
    /// Calls inside text go no deeper than 128.
    #[arg(long, value_name = "N", default_value_t = crate::json::MAX_DEPTH, help_heading = LIMITS)]
    pub max_depth: usize,

    /// The most bytes that one message's summary, or its turn, may gather; 0 is no limit
    #[arg(long, value_name = "SIZE", default_value = "1G", help_heading = LIMITS)]
    pub max_memory: Size,

    /// What to read; `-`, or nothing, is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, action = ArgAction::Append)]
    pub files: Vec<String>,
}
