//! The command line, as structs. `man/toolstream.1` and the completions are
//! made from these.

mod captures;
mod config;
mod convert;
mod given;
mod value;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{Resettable, StyledStr};
use clap::{
    Arg, ArgAction, ArgMatches, Args, ColorChoice, CommandFactory, FromArgMatches, Parser,
    Subcommand, ValueEnum, ValueHint,
};
use clap_complete::Shell;

pub(crate) use captures::{Check, RecordCommand, Replay, ReportForm};
pub(crate) use convert::{Convert, Ids};
pub(crate) use given::GivenOptions;
pub(crate) use value::{Auto, ChoiceFilter, NONE, Size, event_key, event_type};

use crate::approval::Rules;
use crate::dialect::{AtEnd, Selection, StartIn};
use crate::dressing::From;
use crate::format::Format;
use crate::frame::Framing;
use crate::rows::AnswerPlace;

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

impl Cli {
    /// Returns the command line with the arguments of every command: see [`Late`].
    pub(crate) fn declared() -> clap::Command {
        let mut command = Cli::command();
        command.build();
        command
    }

    /// Reads the arguments of the process. Help lists the commands in their groups.
    pub(crate) fn parse_grouped() -> Result<Cli, clap::Error> {
        let command = Cli::command();
        let header = command.get_styles().get_header().to_owned();
        let mut list = String::new();
        for (title, names) in GROUPS {
            list.push_str(&format!("{header}{title}:{header:#}\n"));
            let rows = names.iter().filter_map(|name| command.find_subcommand(name));
            for row in rows {
                let about = row.get_about().map(ToString::to_string).unwrap_or_default();
                list.push_str(&format!("  {:11} {about}\n", row.get_name()));
            }
            list.push('\n');
        }
        let page = format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n\
             {list}{header}Options:{header:#}\n{{options}}{{after-help}}"
        );
        let mut command = command.help_template(page);
        let mut words: Vec<OsString> = std::env::args_os().collect();
        // A FILE that begins as an option takes all that follows for more of its like.
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        if let Some(words) = words.get_mut(..end) {
            words.sort_by_key(|word| is_exchange_of_input(word));
        }
        let matches = command.try_get_matches_from_mut(words)?;
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// Returns the help of a command: its own options in full, its examples, then in short those that
    /// it shares with others.
    pub(crate) fn help(name: &str) -> Option<StyledStr> {
        let command = Cli::declared().find_subcommand(name)?.clone();
        let is_shared = |arg: &Arg| matches!(arg.get_help_heading(), Some(READING | LIMITS));
        let examples = command.get_after_long_help().map(|text| text.ansi().to_string());
        let own = command.clone().after_long_help("").mut_args(|arg| {
            let is_hidden = is_shared(&arg);
            arg.hide_long_help(is_hidden)
        });
        let shared = command.help_template("{all-args}").mut_args(|arg| {
            let is_hidden = !is_shared(&arg);
            arg.hide_short_help(is_hidden)
        });
        let parts = [
            { own }.render_long_help().ansi().to_string(),
            examples.unwrap_or_default(),
            { shared }.render_help().ansi().to_string(),
        ];
        let parts = parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty());
        Some(format!("{}\n", parts.collect::<Vec<_>>().join("\n\n")).into())
    }
}

/// True for an exchange on standard input, `-#N`, which is no option.
fn is_exchange_of_input(word: &OsStr) -> bool {
    let number = word.to_str().and_then(|word| word.strip_prefix("-#"));
    number.is_some_and(|number| number.parse::<u64>().is_ok())
}

/// The commands in their groups.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Reading", &["parse", "classify", "show", "frames", "detect"]),
    ("Agents", &["next", "agent", "tools"]),
    ("Transcoding", &["convert"]),
    ("Captures", &["record", "replay", "check"]),
    ("About", &["formats", "schema", "man", "completions", "help"]),
];

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
   1  a difference was found (check)    6  a limit was hit
   2  usage: bad option or file         7  COMMAND failed (agent)
   3  malformed, or not recognised      8  reading or writing failed
   4  truncated, or empty               9  the provider's error goes away:
                                           try again
                                       10  tool calls (classify --exit-code),
                                           a request to be sent (next)";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Stream in, NDJSON events out
    Parse(Late<Parse>),
    /// Stream in, one summary object a message out
    Classify(Late<Classify>),
    /// Stream in, the answer as a person reads it
    Show(Late<Show>),
    /// Stream in, one NDJSON line a frame out: framing only, no meaning
    Frames(Late<Frames>),
    /// What format this is, and why
    Detect(Late<Detect>),
    /// The request that comes after an answer
    Next(Late<Next>),
    /// The loop: ask, run the tools, ask again
    Agent(Late<Agent>),
    /// What tools there are, as a request declares them
    Tools(Late<Tools>),
    /// Any provider's stream in, another provider's stream out
    Convert(Late<Convert>),
    /// Pass a stream on, and keep it with its rhythm
    Record(Late<RecordCommand>),
    /// Play captures: their rhythm, in pieces, with faults
    Replay(Late<Replay>),
    /// Captures against their golden files
    Check(Late<Check>),
    /// Every framing, wire format, dialect and local program, or all of one
    Formats(Late<Formats>),
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

/// The arguments of one command, declared once it is the one that runs, or once all are asked
/// for with [`clap::Command::build`]: to declare those of every command takes a third of a start.
#[derive(Debug)]
pub struct Late<T>(pub T);

/// Declares the arguments, and keeps the description of the command. A FILE begins as options do only
/// where it is an exchange on standard input.
fn declare<T: Args>(command: clap::Command) -> clap::Command {
    let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
    let has_exchange = std::env::args_os().any(|word| is_exchange_of_input(&word));
    let command = T::augment_args(command).mut_args(|arg| match arg.get_id().as_str() {
        "file" | "files" if has_exchange => arg.allow_hyphen_values(true),
        _ => arg,
    });
    command.about(Resettable::from(about)).long_about(Resettable::from(long_about))
}

impl<T: Args> Args for Late<T> {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.defer(declare::<T>)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command.defer(declare::<T>)
    }
}

impl<T: FromArgMatches> FromArgMatches for Late<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches(matches).map(Late)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches_mut(matches).map(Late)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// `toolstream parse`
#[derive(Args, Debug)]
#[command(after_long_help = PARSE_EXAMPLES)]
pub struct Parse {
    /// How to read.
    #[command(flatten)]
    pub reading: ReadOptions,

    /// What to print.
    #[command(flatten)]
    pub printing: Printing,
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
    pub reading: ReadOptions,

    /// What to print.
    #[command(flatten)]
    pub printing: Printing,

    /// Exit with 10 if the last message has tool calls to run, 0 if it's a final answer
    #[arg(long)]
    pub exit_code: bool,

    /// End with a line on standard error that counts: messages by type, tokens, calls by name
    ///
    /// It comes by itself if there are several FILEs and standard error is a terminal.
    #[arg(long)]
    pub sum: bool,

    /// The input is NDJSON rows: print each with the summary, as `answer`, in place of this field
    ///
    /// A key or a JSON pointer. The field is an answer as text, or a body as JSON; all else in the
    /// row stays as it is. A row that can't be read gets an answer of type `error`, and only
    /// --exit-code makes a failure of it.
    #[arg(long, value_name = "FIELD", conflicts_with = "timing")]
    pub rows: Option<AnswerPlace>,

    /// The field of --rows is base64
    #[arg(long, requires = "rows")]
    pub base64: bool,

    /// How many FILEs, or rows, to read at once
    ///
    /// The summaries come in the order of the FILEs, or rows.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,
}

const CLASSIFY_EXAMPLES: &str = "\
Examples:
  Many captures, eight at a time, and what they are together:
    toolstream classify -j 8 --sum captures/*.sse | jq -r '[.file, .type] | @tsv'

  Are there calls to run? The status is 10, or 0 for a final answer:
    toolstream classify --exit-code response.sse > summary.json

  The rows of a gateway's log, with a summary in place of each response:
    toolstream classify --rows /response/body -j 2 log.ndjson > answers.ndjson";

/// `toolstream show`
#[derive(Args, Debug)]
#[command(after_long_help = SHOW_EXAMPLES)]
pub struct Show {
    /// How to read.
    #[command(flatten)]
    pub reading: ReadOptions,

    /// Which parts to show, with commas between them
    ///
    /// [default: all on a terminal, else text]
    #[arg(long = "with", value_name = "PARTS", value_enum, value_delimiter = ',')]
    pub parts: Vec<ShownPart>,

    /// When to use colours
    ///
    /// `auto` is on a terminal, unless NO_COLOR is set.
    #[arg(long, value_name = "WHEN", default_value = "auto", value_enum)]
    pub color: ColorChoice,

    /// Leave text as it is on a terminal too: no lines broken between words, no styles for Markdown
    #[arg(long)]
    pub plain: bool,
}

/// A part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShownPart {
    /// The answer
    Text,
    /// The model's thinking
    Reasoning,
    /// Calls, valid or not
    Calls,
    /// The results of tools
    Results,
    /// The model, tokens and times, as a last line
    Usage,
    /// All of these
    All,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  Read the answer while it comes:
    curl -sSN URL -d @request.json | toolstream show

  The answer alone, byte for byte:
    toolstream show response.sse > answer.md

  The log of an agent, in a pager:
    toolstream show --with all --color always session.jsonl | less -R";

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
    toolstream frames -F sse response.sse | jq -r .data

  How many events are there, whatever is in them?
    toolstream frames response.sse | wc -l

  The event types of Bedrock's binary stream:
    toolstream frames response.bin | jq -r '.headers[\":event-type\"]'";

/// `toolstream detect`
#[derive(Args, Debug)]
#[command(after_long_help = DETECT_EXAMPLES)]
pub struct Detect {
    /// The formats that are tried before the others.
    #[command(flatten)]
    pub formats: GivenFormats,

    /// Print an object instead of text
    #[arg(long)]
    pub json: bool,

    /// What to read; `-`, or nothing, is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<String>,
}

const DETECT_EXAMPLES: &str = "\
Examples:
  What is this file, and how do you know?
    toolstream detect response.sse

  The formats of many captures:
    toolstream detect --json captures/* | jq -r '[.file, .format] | @tsv'

  Does the format file of your own fit?
    toolstream detect -f mine.toml response.sse";

/// `toolstream formats`
#[derive(Args, Debug)]
#[command(after_long_help = FORMATS_EXAMPLES)]
pub struct Formats {
    /// Print an object instead of a table
    #[arg(long)]
    pub json: bool,

    /// Print the row that a format is, as TOML: a file to start your own from
    #[arg(long, conflicts_with = "json", requires = "name")]
    pub row: bool,

    /// The framing, format, dialect, program or cassette to print all of, by any of its names, or a format file of your
    /// own to check
    #[arg(value_name = "NAME|FILE")]
    pub name: Option<String>,
}

const FORMATS_EXAMPLES: &str = "\
Examples:
  All that is known of one format:
    toolstream formats anthropic

  The names of the dialects, for a script:
    toolstream formats --json | jq -r '.dialects[].name'

  A format of your own begins as a copy of one that is like it:
    toolstream formats --row ollama-chat > mine.toml";

/// `toolstream next`
#[derive(Args, Debug)]
#[command(after_long_help = NEXT_EXAMPLES)]
pub struct Next {
    /// How the answer is read.
    #[command(flatten)]
    pub wire: Wire,

    /// Which choice to append when there are several
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub choice: u64,

    /// The results of the calls: NDJSON or an array of id or index, output, is_error
    ///
    /// `-` is standard input; the answer is then FILE. By default the results are those of the
    /// events that FILE holds.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "tools")]
    pub results: Option<String>,

    /// Where the request is written, and how tools are run.
    #[command(flatten)]
    pub running: Running,

    /// Send the id of the answer in place of the conversation
    ///
    /// OpenAI's Responses and Gemini's Interactions keep it; the list then holds only what is new.
    #[arg(long)]
    pub by_id: bool,

    /// The user's next words, after the answer; `-` is standard input
    ///
    /// Exit status 10 then says: send it.
    #[arg(long, value_name = "TEXT")]
    pub user: Option<String>,

    /// Leave a forced tool_choice as it is
    ///
    /// By default it becomes auto, with a line on standard error: forced, a loop would never end.
    #[arg(long)]
    pub keep_choice: bool,

    /// The request that was answered; `-` is standard input, and the answer is then FILE
    #[arg(value_name = "REQUEST", value_hint = ValueHint::FilePath)]
    pub request: String,

    /// The answer, or its events; `-`, or nothing, is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<String>,
}

const NEXT_EXAMPLES: &str = "\
Examples:
  The loop of an agent, with tools that are executables in ./tools:
    while
        curl -sSN \"$URL\" -H @headers --json @request.json |
            toolstream next --tools ./tools --approve auto request.json -i >> events.ndjson
        status=$?
        [ $status = 9 ] && sleep 5
        [ $status = 9 ] || [ $status = 10 ]
    do :; done

  With results of your own:
    toolstream next --results results.ndjson request.json response.sse > next.json

  After a final answer, the user's next words:
    toolstream next -i --user 'And in Lima?' request.json response.sse

Exit status 10 says: send it. 0: the answer was final, and is appended.";

/// `toolstream agent`
#[derive(Args, Debug)]
#[command(after_long_help = AGENT_EXAMPLES)]
pub struct Agent {
    /// How answers are read.
    #[command(flatten)]
    pub wire: Wire,

    /// Where the request is written, and how tools are run.
    #[command(flatten)]
    pub running: Running,

    /// The most rounds in which tools run
    ///
    /// One more answer may follow, for which calls are forbidden where the provider has a way to.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub max_rounds: u64,

    /// The most tools to run in all; 0 is no limit
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub max_calls: u64,

    /// How often a call may have the same result before the model is told; 0 is no limit
    ///
    /// Twice more, and the loop ends.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub max_repeats: u32,

    /// The time of the whole run; 0 is no limit
    #[arg(long, value_name = "SECONDS", value_parser = value::seconds)]
    pub deadline: Option<Duration>,

    /// How often COMMAND is run again, if it failed or its answer broke
    ///
    /// After 1 and 2 seconds and so on, or as long as the provider asks for in retry-after; never
    /// once a tool of the round has run.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub retries: u32,

    /// Begin a call when it is complete, before its message has ended
    ///
    /// For tools without side effects: the message may still fail. Those that have to be asked
    /// about wait.
    #[arg(long)]
    pub eager: bool,

    /// The user's next words, in the request's own form; `-` is standard input
    ///
    /// With -i nothing is kept of them if no round came whole.
    #[arg(long, value_name = "TEXT")]
    pub user: Option<String>,

    /// The system's text, if the request has none
    #[arg(long, value_name = "TEXT")]
    pub system: Option<String>,

    /// Begin with a new request of this provider in place of REQUEST, or where -i names no file yet:
    /// `toolstream formats` lists them
    #[arg(long = "for", value_name = "FORMAT", value_parser = value::format(), hide_possible_values = true, requires = "user")]
    pub form: Option<Auto<Format>>,

    /// The model that a new request names
    #[arg(long, value_name = "NAME", requires = "form")]
    pub model: Option<String>,

    /// Print for people instead of events: the answers, calls and results as `show` prints them
    ///
    /// In a pipe it is the last answer alone, once it counts.
    #[arg(long)]
    pub show: bool,

    /// Which parts to show, with commas between them
    ///
    /// [default: all on a terminal, else text]
    #[arg(
        long = "with",
        value_name = "PARTS",
        value_enum,
        value_delimiter = ',',
        requires = "show"
    )]
    pub parts: Vec<ShownPart>,

    /// Leave text as it is on a terminal too: no lines broken between words, no styles for Markdown
    #[arg(long, requires = "show")]
    pub plain: bool,

    /// Keep each round's request and raw answer in this directory, which holds no earlier run's
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub log: Option<PathBuf>,

    /// The first request; `-` is standard input
    #[arg(value_name = "REQUEST", value_hint = ValueHint::FilePath, required_unless_present = "form")]
    pub request: Option<String>,

    /// What asks the model: the request on its standard input, the answer on its standard output
    #[arg(value_name = "COMMAND", last = true, required = true, num_args = 1.., value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

const AGENT_EXAMPLES: &str = "\
Examples:
  One question, in any provider's form:
    toolstream agent --show --for openai-chat --model NAME --user 'Why is the sky blue?' -- \
        curl -sSN \"$URL\" -H @headers --json @-

  An agent; keys and addresses are curl's alone:
    toolstream agent --tools ./tools ask.json -- curl -sSN \"$URL\" -H @headers --json @-

  The same to look at, with the conversation kept in ask.json:
    toolstream agent --show -i --tools ./tools ask.json -- curl -sSN \"$URL\" -H @headers --json @-

Exit status: 0 final answer; 3 length, refusal, filter; 4, 5, 9 the answer failed; 6 a limit;
7 COMMAND failed.";

/// `toolstream tools`
#[derive(Args, Debug)]
#[command(after_long_help = TOOLS_EXAMPLES)]
pub struct Tools {
    /// The provider whose form it is: `toolstream formats` lists them [default: MCP's]
    #[arg(long = "for", value_name = "FORMAT", default_value = "auto", value_parser = value::format(), hide_possible_values = true, hide_default_value = true)]
    pub form: Auto<Format>,

    /// Print this request with the tools declared in it; `-` is standard input
    ///
    /// Its form is found out, unless --for names it. A request that declares tools stays as it is.
    #[arg(long, value_name = "REQUEST", value_hint = ValueHint::FilePath)]
    pub into: Option<String>,

    /// The directory of the tools
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
}

const TOOLS_EXAMPLES: &str = "\
Examples:
  What does a model see of the tools in this folder?
    toolstream tools ./tools --for anthropic | jq .

  Put them into a request:
    toolstream tools ./tools --into ask.json > request.json

  Definitions for `parse --tools`:
    toolstream tools ./tools > tools.json";

/// How tools are run, and where the request is written.
#[derive(Args, Debug)]
pub struct Running {
    /// Run the calls: each tool is an executable in this directory
    ///
    /// A tool is named like its file, without an extension; NAME.json beside it declares it. The
    /// arguments come on standard input as JSON; the result is what is written to standard output.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub tools: Option<PathBuf>,

    /// Declare the tools as this file does: a list, or the `tools` of a request
    ///
    /// In place of each tool's NAME.json.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tools")]
    pub declare: Option<PathBuf>,

    /// How a tool gets its arguments: on standard input, or as its one argument
    #[arg(long, value_name = "HOW", value_enum, default_value = "stdin")]
    pub args: Passing,

    /// Which calls may run: auto, ask, deny, or NAME=auto,NAME=ask,… [default: ask on a terminal,
    /// else deny]
    #[arg(long, value_name = "RULE")]
    pub approve: Option<Rules>,

    /// The time of one tool; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = value::seconds)]
    pub timeout: Duration,

    /// How many tools run at once
    #[arg(short, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,

    /// The most bytes of one result; 0 is no limit
    ///
    /// Head and tail are kept, with a note of what was left out between them.
    #[arg(long, value_name = "SIZE", default_value = "64K", help_heading = LIMITS)]
    pub max_output: Size,

    /// Variables that tools see, with commas between them, beside PATH HOME LANG LC_* TZ TMPDIR
    /// TERM USER
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub env: Vec<String>,

    /// Write the request into REQUEST, whole or not at all
    #[arg(short, long, conflicts_with = "output")]
    pub in_place: bool,

    /// Write the request into this file, whole or not at all
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// How a tool gets the arguments of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Passing {
    /// On standard input
    Stdin,
    /// As the one argument of its command line
    Argv,
}

/// How to print markup that is no readable call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnMalformed {
    /// An invalid_tool_call, with the markup as it came
    Invalid,
    /// Text again
    Text,
}

/// The headings of the options that commands share.
const READING: &str = "Reading";
const LIMITS: &str = "Limits";

/// The formats that an input may be in.
#[derive(Args, Clone, Debug)]
pub struct GivenFormats {
    /// The wire format: `toolstream formats` lists them
    ///
    /// `text` is plain text. A FILE is a format of your own in TOML: `toolstream formats FILE` checks
    /// it. By default the format is found out; `toolstream detect` says which it is, and why. Of
    /// several `-f`, or `-f FILE -f auto`, it is found out, too, and these are tried first.
    #[arg(short, long, value_name = "NAME|FILE", default_value = "auto", value_parser = value::format_or_file(), hide_possible_values = true, help_heading = READING)]
    pub format: Vec<Auto<Format>>,
}

/// How a stream is read.
#[derive(Args, Debug)]
pub struct Wire {
    /// The formats that it may be in.
    #[command(flatten)]
    pub formats: GivenFormats,

    /// How records are separated
    #[arg(short = 'F', long, value_name = "NAME", default_value = "auto", value_parser = value::framing(), help_heading = READING)]
    pub framing: Auto<Framing>,

    /// How tool calls and reasoning are written inside text: `toolstream formats` lists them
    ///
    /// `auto` finds it out, `none` reads text as text. A FILE is a dialect of your own in TOML, or
    /// in JSON the response_template of a tokenizer. [default: auto for plain text, none for
    /// provider formats]
    #[arg(short, long, value_name = "NAME|FILE", value_parser = value::dialect(), hide_possible_values = true, help_heading = READING)]
    pub dialect: Option<Selection>,

    /// The local program that printed plain text: `toolstream formats` lists them
    ///
    /// Its banners, prompts, marks of thoughts and statistics are no part of the answer. `auto` knows it
    /// by its first or last lines, `none` takes all for the model's words. A FILE is a program of your
    /// own in TOML.
    #[arg(long, value_name = "NAME|FILE", default_value = "auto", value_parser = value::program(), hide_possible_values = true, help_heading = READING)]
    pub from: From,

    /// Treat warnings as errors
    #[arg(long, help_heading = READING)]
    pub strict: bool,

    /// The largest line, event or frame, in bytes; 0 is no limit
    #[arg(long, value_name = "SIZE", default_value = "256M", help_heading = LIMITS)]
    pub max_event: Size,

    /// The largest arguments of one call, in bytes; 0 is no limit
    #[arg(long, value_name = "SIZE", default_value = "64M", help_heading = LIMITS)]
    pub max_args: Size,

    /// How deeply JSON may be nested; 0 is no limit
    ///
    /// Calls inside text go no deeper than 128.
    #[arg(long, value_name = "N", default_value_t = crate::json::MAX_DEPTH, help_heading = LIMITS)]
    pub max_depth: usize,

    /// The most bytes that one message's summary, or its turn, may gather; 0 is no limit
    #[arg(long, value_name = "SIZE", default_value = "1G", help_heading = LIMITS)]
    pub max_memory: Size,
}

/// The inputs of a command, and how their messages are read.
#[derive(Args, Debug)]
pub struct ReadOptions {
    /// How bytes are read.
    #[command(flatten)]
    pub wire: Wire,

    /// Tool definitions: types for untyped arguments, and names to trust
    ///
    /// OpenAI's, Anthropic's, Gemini's, the answer to MCP's tools/list, a map of names to JSON
    /// Schemas, or the whole request that has them. [default: none]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = READING)]
    pub tools: Option<String>,

    /// Where the text begins [default: as the dialect says]
    #[arg(long, value_name = "WHERE", value_enum, help_heading = READING)]
    pub start_in: Option<StartIn>,

    /// The meaning of the end of plain text
    #[arg(long, value_name = "WHAT", default_value = "cut", help_heading = READING)]
    pub at_end: AtEnd,

    /// How to print a call inside text that can't be read
    ///
    /// With --deltas, one whose start has been printed is invalid in any case.
    #[arg(long, value_name = "WHAT", default_value = "invalid", help_heading = READING)]
    pub on_malformed: OnMalformed,

    /// Which choice to follow when there are several
    ///
    /// [default: all for parse, 0 for classify]
    #[arg(long, value_name = "N|all", help_heading = READING)]
    pub choice: Option<ChoiceFilter>,

    /// The most calls in one message; 0 is no limit
    #[arg(long, value_name = "N", default_value_t = 1024, help_heading = LIMITS)]
    pub max_calls: usize,

    /// What to read; `-`, or nothing, is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, action = ArgAction::Append)]
    pub files: Vec<String>,
}

/// What else is printed of a message.
#[derive(Args, Debug)]
pub struct Printing {
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

    /// Also print provider events that are unrecognised or can't be read
    ///
    /// Each is a provider_event.
    #[arg(long)]
    pub raw: bool,

    /// Also print prompt: what the message answers, where the input has it
    ///
    /// Of plain text: the prompt that a local program printed again.
    #[arg(long)]
    pub prompts: bool,

    /// Also print turn: what the next request has to hold of the message
    ///
    /// In the provider's own JSON: the elements that its list of messages, items or contents grows
    /// by, and the members to set. Of one choice: the one that --choice names, or the first.
    #[arg(long)]
    pub turn: bool,

    /// Add t_ms, milliseconds since the first byte, to every line
    ///
    /// classify also adds timing: when the first byte, text and call came and the end, counted from
    /// when the input was first waited for, and the gaps between reads. Of a FILE with a FILE.times
    /// beside it, as `toolstream record` writes it, these are the times of the recording.
    #[arg(long)]
    pub timing: bool,
}
