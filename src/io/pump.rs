//! The read loop: what was read is used up and written before the next read,
//! which may block. There are no timers, and no difference for terminals.

use std::io;

use crate::io::{BLOCK, Input, Progress, Read};

/// What bytes are fed to. Its methods fail only if writing does.
pub trait Task {
    /// Takes the next bytes.
    fn feed(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Writes out what is complete.
    fn flush(&mut self) -> io::Result<()>;
    /// The input has ended.
    fn finish(&mut self) -> io::Result<()>;
    /// A signal stops the program.
    fn interrupt(&mut self) -> io::Result<()>;
    /// Whether nothing more needs to be read.
    fn is_stopped(&self) -> bool;
}

/// Why nothing more is read.
#[derive(Debug)]
pub enum Ended {
    /// The input ended, or what it was fed to had enough.
    Well,
    /// This signal came.
    BySignal(i32),
    /// Reading failed.
    Unreadable(io::Error),
}

/// Feeds an input to a task until it ends. Fails only if writing does.
pub fn pump(input: &mut Input<'_>, task: &mut dyn Task, progress: &Progress) -> io::Result<Ended> {
    let mut buffer = vec![0; BLOCK];
    let ended = loop {
        match input.read(&mut buffer) {
            Ok(Read::Bytes(count)) => {
                task.feed(buffer.get(..count).unwrap_or_default())?;
                task.flush()?;
                progress.advance(count);
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
