//! The commands, one a file, and what they share: naming, opening and ending inputs, and the error
//! of output that cannot be written.

#[cfg(unix)]
mod agent;
mod check;
mod convert;
mod detect;
#[cfg(not(unix))]
mod elsewhere;
mod exchanges;
mod formats;
mod frames;
#[cfg(unix)]
mod listen;
mod messages;
mod mistakes;
mod next;
mod parallel;
mod reader;
mod record;
mod redact;
mod replay;
mod request;
mod rows;
mod service;
#[cfg(unix)]
mod tools;

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::{env, fmt};

use anyhow::bail;
use clap::{ColorChoice, CommandFactory};

use crate::cli::{Cli, Command, Late};
use crate::detect::KnownFormats;
use crate::io::{
    BufferedOutput, Ended, Input, SIGPIPE, STANDARD_INPUT, Signals, Stalled, begin, die, report,
    report_lines, report_on,
};
use crate::request::Refused;
use crate::sink::schema;
use crate::status::{Outcome, Status};

pub use detect::describe;
pub use reader::InputReader;
#[cfg(not(unix))]
use {elsewhere as agent, elsewhere as listen, elsewhere as tools};

/// The manual page; a test compares it with the command line.
const MAN: &str = include_str!("../../man/toolstream.1");

/// Runs the program: reads the arguments of the process and returns its exit status.
pub fn main() -> ExitCode {
    if !begin() {
        return ExitCode::SUCCESS;
    }
    let ran = match Cli::parse_grouped() {
        Ok(cli) => run(&cli.command),
        Err(error) => answer(error),
    };
    ExitCode::from(ran.unwrap_or_else(|error| {
        let refused = error.downcast_ref::<Refused>();
        if refused.is_none_or(|refused| !refused.why.is_empty()) {
            report(&mut io::stderr(), &format!("{error:#}"));
        }
        match refused {
            Some(refused) => refused.outcome as u8,
            None if error.is::<Lost>() => Outcome::Io as u8,
            None => Outcome::Usage as u8,
        }
    }))
}

/// Runs a command and returns its exit status.
fn run(command: &Command) -> anyhow::Result<u8> {
    match command {
        Command::Parse(Late(args)) => messages::parse(args),
        Command::Classify(Late(args)) => messages::classify(args),
        Command::Show(Late(args)) => messages::show(args),
        Command::Frames(Late(args)) => frames::frames(args),
        Command::Detect(Late(args)) => detect::detect(args),
        Command::Next(Late(args)) => next::next(args),
        Command::Agent(Late(args)) => agent::agent(args),
        Command::Tools(Late(args)) => tools::tools(args),
        Command::Convert(Late(args)) => convert::convert(args),
        Command::Record(Late(args)) => record::record(args),
        Command::Check(Late(args)) => check::check(args),
        Command::Replay(Late(args)) => replay::replay(args),
        Command::Formats(Late(args)) => formats::formats(args),
        Command::Schema => print(&schema()),
        Command::Man => print(MAN),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "toolstream", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
    }
}

/// Prints what `--help` or `--version` asked for, or reports what is wrong with the arguments.
fn answer(error: clap::Error) -> anyhow::Result<u8> {
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        && env::args_os().len() < 2
        && !io::stdin().is_terminal()
    {
        bail!(
            "no command: `toolstream parse` reads what comes through a pipe, and \
             `toolstream --help` lists the commands"
        );
    }
    if error.kind() == clap::error::ErrorKind::InvalidUtf8
        && let Some(word) = env::args_os().find(|word| word.to_str().is_none())
    {
        bail!(
            "{}: this argument is not UTF-8; `toolstream COMMAND < FILE` reads a file of such a name",
            word.display()
        );
    }
    if error.use_stderr() {
        // It repeats arguments, which may have come from anywhere.
        report_lines(&mut io::stderr(), &mistakes::with_way_out(error).render().to_string());
        return Ok(Outcome::Usage as u8);
    }
    let words: Vec<_> = env::args_os().skip(1).collect();
    let is_long = words.iter().any(|word| word == "--help" || word == "help");
    let names = words.iter().filter_map(|word| word.to_str());
    let page = names.filter(|_| is_long && error.kind() == clap::error::ErrorKind::DisplayHelp);
    let page =
        page.into_iter().find(|word| !word.starts_with('-') && *word != "help").and_then(Cli::help);
    let page = page.unwrap_or_else(|| error.render());
    print(&match has_color(ColorChoice::Auto) {
        true => page.ansi().to_string(),
        false => page.to_string(),
    })
}

/// Prints a text that is known as a whole.
fn print(text: &str) -> anyhow::Result<u8> {
    write_now(&mut BufferedOutput::standard(), text.as_bytes())?;
    Ok(0)
}

/// Writes what is complete, at once.
fn write_now(out: &mut BufferedOutput, bytes: &[u8]) -> Result<(), Lost> {
    out.write_all(bytes).and_then(|()| out.flush()).map_err(lost)
}

/// True if standard output gets colours.
fn has_color(when: ColorChoice) -> bool {
    match when {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            io::stdout().is_terminal()
                && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

/// The error of output that cannot be written.
#[derive(Debug)]
struct Lost(io::Error);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "standard output: {}", self.0)
    }
}

impl std::error::Error for Lost {}

/// Returns the error of output that cannot be written. Does not return if its reader has left: the
/// program dies by SIGPIPE, in silence. Nor if a signal came and no one reads the output.
fn lost(error: io::Error) -> Lost {
    match Stalled::of(&error) {
        Some(Stalled::Signal(signal)) => die(signal),
        _ if error.kind() == ErrorKind::BrokenPipe => die(SIGPIPE),
        _ => Lost(error),
    }
}

/// Fails if standard input is a terminal. `hint` says what else it can be.
fn needs_pipe(hint: &str) -> anyhow::Result<()> {
    if io::stdin().is_terminal() {
        bail!("standard input is a terminal: {hint}");
    }
    Ok(())
}

/// The inputs of a command, in the order given.
struct Inputs<'a> {
    names: Vec<Cow<'a, str>>,
    signals: Signals,
}

impl<'a> Inputs<'a> {
    /// Takes standard input if no file is named, unless it is a terminal.
    fn new(files: &'a [String]) -> anyhow::Result<Self> {
        if files.is_empty() {
            needs_pipe("name a FILE, pipe a stream in, or say `-` to type one")?;
        }
        let names = match files {
            [] => vec!["-".into()],
            files => files.iter().map(|name| name.as_str().into()).collect(),
        };
        Ok(Inputs { names, signals: Signals::listen()? })
    }

    /// Takes the captures in each folder that is named, as `check` does, in its place.
    fn with_folders(files: &'a [String], formats: &KnownFormats) -> anyhow::Result<Self> {
        let mut inputs = Inputs::new(files)?;
        if files.iter().any(|name| Path::new(name).is_dir()) {
            inputs.names =
                check::with_captures(files, formats)?.into_iter().map(Cow::Owned).collect();
        }
        Ok(inputs)
    }

    /// Opens an input, or reports why it cannot be read; the others are still read.
    fn open(&self, name: &str, stderr: &mut dyn Write, status: &mut Status) -> Option<Input<'_>> {
        let opened = Input::open(name, &self.signals);
        opened
            .inspect_err(|error| {
                report_on(stderr, shown(name), &error.to_string(), None);
                status.note(if name == "-" { Outcome::Io } else { Outcome::Usage });
            })
            .ok()
    }
}

/// The result of reading one input or several.
#[derive(Default)]
struct HasRead {
    status: Status,
    /// The signal that ended it.
    signal: Option<i32>,
}

/// Returns the name of an input in messages.
fn shown(name: &str) -> &str {
    if name == "-" { STANDARD_INPUT } else { name }
}

/// Reports an input that could not be read to its end. Returns the signal to die by, if one came.
fn conclude(ended: &Ended, name: &str, stderr: &mut dyn Write, status: &mut Status) -> Option<i32> {
    match ended {
        Ended::Well => None,
        Ended::BySignal(signal) => Some(*signal),
        Ended::Unreadable(error) => {
            report_on(stderr, shown(name), &error.to_string(), None);
            status.note(Outcome::Io);
            None
        }
    }
}
