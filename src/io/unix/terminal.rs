//! Questions on the terminal that the program was started from.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::time::Instant;

use rustix::termios::{QueueSelector, tcflush};

use crate::cut::Cut as _;
use crate::io::unix::signals::{Signals, Woken, wait_for_terminal};

/// The terminal.
pub(crate) struct Terminal(File);

/// What came of a question.
pub(crate) enum TerminalAnswer {
    /// A line, without white space around it. It is empty if there is none.
    Answer(String),
    Signal(i32),
    Time,
}

impl Terminal {
    /// Opens the terminal, if there is one.
    pub(crate) fn open() -> Option<Self> {
        OpenOptions::new().read(true).write(true).open("/dev/tty").ok().map(Terminal)
    }

    /// Writes a question, and waits for a line until a time.
    pub(crate) fn ask(
        &mut self,
        question: &str,
        signals: &Signals,
        until: Option<Instant>,
    ) -> io::Result<TerminalAnswer> {
        let Terminal(terminal) = self;
        // What was typed before the question is no answer to it.
        let _ = tcflush(&*terminal, QueueSelector::IFlush);
        let mut exchange = terminal.write_all(question.as_bytes());
        let mut answer = Vec::new();
        while exchange.is_ok() && !answer.contains(&b'\n') {
            match wait_for_terminal(&*terminal, signals, until)? {
                Woken::Signal(signal) => return Ok(TerminalAnswer::Signal(signal)),
                Woken::Time => return Ok(TerminalAnswer::Time),
                Woken::Ready => {}
            }
            let mut bytes = [0; 256];
            match terminal.read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => answer.extend_from_slice(bytes.before(count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => exchange = Err(error),
            }
        }
        if exchange.is_err() {
            answer.clear();
        }
        Ok(TerminalAnswer::Answer(String::from_utf8_lossy(&answer).trim().to_owned()))
    }
}
