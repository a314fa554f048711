//! Arguments → pipeline → exit status.

mod commands;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use commands::Lost;
use toolstream::cli;
use toolstream::cli::{Cli, Command};
use toolstream::io::{report, report_lines};
use toolstream::sink::SCHEMA;
use toolstream::status::Outcome;

fn main() -> ExitCode {
    let ran = match Cli::try_parse() {
        Ok(cli) => run(&cli.command),
        Err(error) => answer(&error),
    };
    ExitCode::from(ran.unwrap_or_else(|error| {
        report(&mut io::stderr(), &format!("{error:#}"));
        if error.is::<Lost>() { Outcome::Io as u8 } else { Outcome::Usage as u8 }
    }))
}

/// Runs a command and gives its exit status.
fn run(command: &Command) -> anyhow::Result<u8> {
    match command {
        Command::Parse(args) => commands::parse(args),
        Command::Classify(args) => commands::classify(args),
        Command::Frames(args) => commands::frames(args),
        Command::Detect(args) => commands::detect(args),
        Command::Formats(args) if args.json => commands::print(&cli::listing_as_json()),
        Command::Formats(_) => commands::print(&cli::listing()),
        Command::Schema => commands::print(SCHEMA),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "toolstream", &mut script);
            commands::print(&String::from_utf8_lossy(&script))
        }
    }
}

/// Prints what `--help` or `--version` asked for, or says what is wrong with
/// the arguments.
fn answer(error: &clap::Error) -> anyhow::Result<u8> {
    if error.use_stderr() {
        // It repeats arguments, which may have come from anywhere.
        report_lines(&mut io::stderr(), &error.render().to_string());
        return Ok(Outcome::Usage as u8);
    }
    if io::stdout().is_terminal() {
        // There is nowhere left to say that it couldn't be said.
        let _ = error.print();
        return Ok(0);
    }
    commands::print(&error.render().to_string())
}
