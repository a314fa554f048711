//! The read loop: what was read is parsed and written before the next read, which may block.
//! There are no timers, and terminals are treated like pipes.

use std::io;

use crate::io::{Input, Progress, Read};

/// A consumer of bytes. Its methods return an error only if writing fails.
pub trait Task {
    /// Takes the next bytes.
    fn feed(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Writes out what is complete.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Ends: the input has ended.
    fn finish(&mut self) -> io::Result<()>;
    /// Ends: a signal stops the program.
    fn interrupt(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// True if nothing more needs to be read.
    fn is_stopped(&mut self) -> bool {
        false
    }
}

/// The reason why reading ended.
#[derive(Debug)]
pub enum Ended {
    /// The input ended, or the task was stopped.
    Well,
    /// A signal came: its number.
    BySignal(i32),
    /// Reading failed.
    Unreadable(io::Error),
}

/// Feeds an input to a task until it ends. Returns an error only if writing fails.
pub fn pump(input: &mut Input<'_>, task: &mut dyn Task, progress: &Progress) -> io::Result<Ended> {
    let mut buffer = Vec::new();
    let ended = loop {
        match input.read(&mut buffer) {
            Ok(Read::Bytes) => {
                task.feed(&buffer)?;
                task.flush()?;
                progress.advance(buffer.len());
            }
            Ok(Read::End) => break Ended::Well,
            Ok(Read::Signal(signal)) => break Ended::BySignal(signal),
            Err(error) => break Ended::Unreadable(error),
        }
        if task.is_stopped() {
            break Ended::Well;
        }
    };
    match ended {
        Ended::BySignal(_) => task.interrupt()?,
        Ended::Well | Ended::Unreadable(_) => task.finish()?,
    }
    task.flush()?;
    progress.finish();
    Ok(ended)
}
