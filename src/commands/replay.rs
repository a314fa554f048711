//! `replay`: plays captures.

use std::io::{self, ErrorKind, Write};
use std::time::Instant;

use anyhow::anyhow;
use rustix::stdio::stdout;

use crate::capture::{Capture, Plan, Play, Tempo};
use crate::cli::Replay;
use crate::commands::lost;
use crate::event::Code;
use crate::io::{Output, Signals, Woken, die, report, report_error, wait_until};
use crate::status::Outcome;

pub(super) fn replay(args: &Replay) -> anyhow::Result<u8> {
    let signals = Signals::listen()?;
    let mut plans = Vec::new();
    for (name, left) in args.files.iter().zip((0..args.files.len()).rev()) {
        let play = Play { hangs: args.hang && left == 0, ..args.play() };
        let capture = match Capture::read(name, matches!(play.tempo, Tempo::Recorded(_))) {
            Ok(capture) => capture,
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                report(&mut io::stderr(), &error.to_string());
                return Ok(Outcome::Malformed as u8);
            }
            Err(error) => return Err(error.into()),
        };
        if capture.bytes.is_empty() {
            let message = "the capture is empty";
            report_error(&mut io::stderr(), name, Code::Truncated, message, Some(0));
            return Ok(Outcome::Truncated as u8);
        }
        plans.push(Plan::new(&capture, &play).map_err(|why| anyhow!(why))?);
    }
    let mut out = Output::standard();
    for plan in &plans {
        write(plan, &mut out, &signals).map_err(lost)?;
    }
    if args.hang {
        wait(None, &signals).map_err(lost)?;
    }
    Ok(0)
}

/// Writes what is planned to standard output, each piece when it is due.
fn write(plan: &Plan, out: &mut Output, signals: &Signals) -> io::Result<()> {
    let begin = Instant::now();
    for step in plan.steps() {
        if !step.at.is_zero() {
            wait(begin.checked_add(step.at), signals)?;
        }
        out.write_all(step.bytes)?;
        out.flush()?;
    }
    Ok(())
}

/// Waits until it is `time`, or for ever. Fails if the reader has left; ends the program if a
/// signal comes.
fn wait(time: Option<Instant>, signals: &Signals) -> io::Result<()> {
    match wait_until(stdout(), signals, time)? {
        Woken::Time => Ok(()),
        Woken::Ready => Err(ErrorKind::BrokenPipe.into()),
        Woken::Signal(signal) => die(signal),
    }
}
