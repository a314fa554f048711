//! The commands, one a file, and what they share: how inputs are named, opened
//! and ended, and what becomes of output that can't be written.

mod detect;
mod explain;
mod formats;
mod frames;
mod messages;
mod parallel;

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::bail;
use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};
use crate::io::{Ended, Input, Output, STANDARD_INPUT, Signals, report, report_lines, report_on};
use crate::sink::{Clock, Label, SCHEMA};
use crate::status::{Outcome, Status};

pub use explain::describe;

/// Runs the program: reads the arguments of the process and returns its exit status.
pub fn main() -> ExitCode {
    let ran = match Cli::try_parse() {
        Ok(cli) => run(&cli.command),
        Err(error) => answer(&error),
    };
    ExitCode::from(ran.unwrap_or_else(|error| {
        report(&mut io::stderr(), &format!("{error:#}"));
        if error.is::<Lost>() { Outcome::Io as u8 } else { Outcome::Usage as u8 }
    }))
}

/// Runs a command and returns its exit status.
fn run(command: &Command) -> anyhow::Result<u8> {
    match command {
        Command::Parse(args) => messages::parse(args),
        Command::Classify(args) => messages::classify(args),
        Command::Frames(args) => frames::frames(args),
        Command::Detect(args) => detect::detect(args),
        Command::Formats(args) => formats::formats(args),
        Command::Schema => print(SCHEMA),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "toolstream", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
    }
}

/// Prints what `--help` or `--version` asked for, or reports what is wrong with the arguments.
fn answer(error: &clap::Error) -> anyhow::Result<u8> {
    if error.use_stderr() {
        // It repeats arguments, which may have come from anywhere.
        report_lines(&mut io::stderr(), &error.render().to_string());
        return Ok(Outcome::Usage as u8);
    }
    if io::stdout().is_terminal() {
        // If this fails, there is no other place to report it.
        let _ = error.print();
        return Ok(0);
    }
    print(&error.render().to_string())
}

/// Prints a text that is known as a whole.
fn print(text: &str) -> anyhow::Result<u8> {
    let mut out = Output::open().map_err(Lost)?;
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Lost)?;
    Ok(0)
}

/// Output that couldn't be written.
#[derive(Debug)]
struct Lost(io::Error);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "standard output: {}", self.0)
    }
}

impl std::error::Error for Lost {}

/// The inputs of a command, in the order given.
struct Inputs<'a> {
    names: Vec<&'a str>,
    signals: Signals,
}

impl<'a> Inputs<'a> {
    /// Standard input if no file is named, unless someone would have to type.
    fn new(files: &'a [String]) -> anyhow::Result<Self> {
        if files.is_empty() && io::stdin().is_terminal() {
            bail!(
                "standard input is a terminal: name a FILE, pipe a stream in, or say `-` to type one"
            );
        }
        let names =
            if files.is_empty() { vec!["-"] } else { files.iter().map(String::as_str).collect() };
        Ok(Inputs { names, signals: Signals::listen()? })
    }

    /// Opens an input, or says why it can't be read; the others still are.
    fn open(&self, name: &str, stderr: &mut dyn Write, status: &mut Status) -> Option<Input<'_>> {
        let opened = Input::open(name, &self.signals);
        opened
            .inspect_err(|error| {
                report_on(stderr, shown(name), &error.to_string(), None);
                status.note(if name == "-" { Outcome::Io } else { Outcome::Usage });
            })
            .ok()
    }

    /// What every line of an input gets.
    fn label(&self, name: &str, timing: bool) -> Label {
        let file = Some(name.to_owned()).filter(|_| self.names.len() > 1);
        Label { file, clock: timing.then(Clock::default) }
    }
}

/// How an input is called in messages.
fn shown(name: &str) -> &str {
    if name == "-" { STANDARD_INPUT } else { name }
}

/// Settles what the end of an input means: the signal to die by, if there is
/// one.
fn settle(ended: &Ended, name: &str, stderr: &mut dyn Write, status: &mut Status) -> Option<i32> {
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
