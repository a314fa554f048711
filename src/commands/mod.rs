//! The commands, one a file, and what they share: how inputs are named, opened
//! and ended, and what becomes of output that can't be written.

mod detect;
mod frames;
mod messages;
mod parallel;

use std::fmt;
use std::io::{self, IsTerminal, Write};

use anyhow::bail;
use toolstream::io::{Ended, Input, Output, STANDARD_INPUT, Signals, report_on};
use toolstream::sink::{Clock, Label};
use toolstream::status::{Outcome, Status};

pub(crate) use detect::detect;
pub(crate) use frames::frames;
pub(crate) use messages::{classify, parse};

/// Prints a text that is known as a whole.
pub(crate) fn print(text: &str) -> anyhow::Result<u8> {
    let mut out = Output::open().map_err(Lost)?;
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Lost)?;
    Ok(0)
}

/// Output that couldn't be written.
#[derive(Debug)]
pub(crate) struct Lost(io::Error);

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
