//! `detect`: what format this is, and why.

use std::io;

use crate::cli::Detect;
use crate::commands::explain::describe;
use crate::commands::{Inputs, conclude, shown, write_now};
use crate::detect;
use crate::detect::Verdict;
use crate::event::Code;
use crate::io::{Ended, Input, Output, Read, die, report_error, report_on};
use crate::status::{Outcome, Status};

pub(super) fn detect(args: &Detect) -> anyhow::Result<u8> {
    let inputs = Inputs::new(&args.files)?;
    let mut out = Output::standard();
    let mut status = Status::default();
    let mut separator = "";
    for name in &inputs.names {
        let stderr = &mut io::stderr();
        let Some(mut input) = inputs.open(name, stderr, &mut status) else { continue };
        let mut look = Look::default();
        let ended = look.read(&mut input);
        if let Some(signal) = conclude(&ended, name, stderr, &mut status) {
            die(signal);
        }
        if let Ended::Unreadable(_) = ended {
            continue;
        }
        match look.outcome() {
            Some(Outcome::Truncated) => {
                status.note(Outcome::Truncated);
                let message = "the input is empty";
                report_error(stderr, shown(name), Code::Truncated, message, Some(0));
            }
            Some(outcome) => {
                status.note(outcome);
                let message = "the format is not recognised; `toolstream parse -f NAME` reads it \
                               as one that `toolstream formats` lists";
                report_on(stderr, shown(name), message, None);
            }
            None => {}
        }
        let file = if args.json { *name } else { shown(name) };
        let file = Some(file).filter(|_| inputs.names.len() > 1);
        let text = describe(&look.verdict, file, args.json);
        write_now(&mut out, format!("{separator}{text}").as_bytes())?;
        separator = if args.json { "" } else { "\n" };
    }
    Ok(status.code(false))
}

/// The head of an input, and the verdict on it.
#[derive(Default)]
struct Look {
    head: Vec<u8>,
    verdict: Verdict,
}

impl Look {
    /// Reads until the format is known, and at most as much as detection does. Examines the head
    /// again each time that it has doubled, so that the time is linear.
    fn read(&mut self, input: &mut Input<'_>) -> Ended {
        let mut buffer = Vec::new();
        let mut enough = 0;
        loop {
            match input.read(&mut buffer) {
                Ok(Read::Bytes) => self.head.extend_from_slice(&buffer),
                Ok(Read::End) => {
                    self.verdict = detect::explain(&self.head, true);
                    return Ended::Well;
                }
                Ok(Read::Signal(signal)) => return Ended::BySignal(signal),
                Err(error) => return Ended::Unreadable(error),
            }
            let is_all = self.head.len() >= detect::WINDOW;
            if self.head.len() >= enough || is_all {
                self.verdict = detect::explain(&self.head, false);
                enough = self.head.len() * 2;
                if is_all || self.is_known() {
                    return Ended::Well;
                }
            }
        }
    }

    fn is_known(&self) -> bool {
        self.verdict.format != "unknown"
    }

    fn outcome(&self) -> Option<Outcome> {
        match self.is_known() {
            true => None,
            false if self.head.trim_ascii().is_empty() => Some(Outcome::Truncated),
            false => Some(Outcome::Malformed),
        }
    }
}
