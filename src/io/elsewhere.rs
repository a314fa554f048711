//! Machines that are not Unix, above all Windows, by what `std` has: reads and writes block, a signal
//! ends the program at once, and no programs are run.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::Instant;
use std::{process, thread};

use anstyle_query::windows::enable_ansi_colors;
use tempfile::NamedTempFile;
use terminal_size::terminal_size_of;

use crate::io::BLOCK;

/// The number of the signal that a program gets whose reader has left.
pub(crate) const SIGPIPE: i32 = 13;

/// None: the first signal ends the program.
pub struct Signals;

impl Signals {
    /// Leaves signals to the system.
    pub fn listen() -> io::Result<Self> {
        Ok(Signals)
    }

    /// Returns none.
    pub fn caught(&self) -> Option<i32> {
        None
    }
}

/// Begins the program: the terminal, if there is one, is asked to take escapes.
pub(crate) fn begin() -> bool {
    let _ = enable_ansi_colors();
    true
}

/// Ends the process with the status that shells of Unix use for a signal.
pub(crate) fn die(signal: i32) -> ! {
    process::exit(128 + signal)
}

/// Standard input or a file.
pub(crate) struct OpenFile(Box<dyn Read>);

impl OpenFile {
    /// Opens a file, or standard input if its name is `-`. Returns also the size of a regular file.
    pub(crate) fn open(name: &str) -> io::Result<(Self, Option<u64>)> {
        if name == "-" {
            return Ok((OpenFile(Box::new(io::stdin())), None));
        }
        let found = fs::metadata(name)?;
        if found.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        let size = found.is_file().then_some(found.len());
        Ok((OpenFile(Box::new(File::open(name)?)), size))
    }

    /// Returns false: a read blocks.
    pub(crate) fn wait(&self, _: &Signals) -> bool {
        false
    }

    /// Reads into an empty buffer.
    pub(crate) fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.resize(BLOCK, 0);
        let count = self.0.read(buffer)?;
        buffer.truncate(count);
        Ok(())
    }
}

/// Fails: standard input blocks by itself.
pub(crate) fn wait_for_input() -> io::Result<()> {
    Err(ErrorKind::WouldBlock.into())
}

/// Returns standard input, which is waited for without an end.
pub(crate) fn input_until(_: &Signals, _: Instant) -> impl Read {
    io::stdin()
}

/// Returns false: it can't be known if a file is standard input.
pub(crate) fn is_standard_input(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// What Windows says of a named pipe whose reader has left (`ERROR_PIPE_NOT_CONNECTED`).
const NOT_CONNECTED: i32 = 233;

/// Standard output without a buffer.
pub struct Standard;

impl Standard {
    /// Returns standard output; its reader is waited for without an end.
    pub(crate) fn new(_: Option<Instant>) -> Self {
        Standard
    }
}

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(error) if error.raw_os_error() == Some(NOT_CONNECTED) => {
                Err(ErrorKind::BrokenPipe.into())
            }
            written => written.map(|()| bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits until a time, or for ever.
pub(crate) fn wait_beside_output(time: Option<Instant>, _: &Signals) -> io::Result<()> {
    match time {
        Some(time) => thread::sleep(time.saturating_duration_since(Instant::now())),
        None => loop {
            thread::park();
        },
    }
    Ok(())
}

/// Returns the width of the terminal that standard output is, in columns, if it is one.
pub(crate) fn columns() -> Option<usize> {
    terminal_size_of(io::stdout()).map(|(width, _)| width.0.into())
}

/// Returns the options of a file. Who may read it, its folder says.
pub(crate) fn private_file() -> OpenOptions {
    OpenOptions::new()
}

/// Does nothing: files here are as their folder has it.
pub(crate) fn share(_: &mut tempfile::Builder<'_, '_>) {}

/// Puts a file in the place of the one at a path, if there is one.
pub(crate) fn replace(file: NamedTempFile, path: &Path, _: Option<&Metadata>) -> io::Result<bool> {
    file.as_file().sync_all()?;
    fs::rename(file.path(), path).map(|()| true)
}

/// Writes to a device or a pipe.
pub(crate) fn write_through(path: &Path, text: &[u8]) -> io::Result<()> {
    File::options().write(true).open(path)?.write_all(text)
}

/// Reads a file. It is not held, as one that is open can't be replaced everywhere: bytes alone decide.
pub(crate) fn hold(path: &Path) -> io::Result<((), Vec<u8>)> {
    Ok(((), fs::read(path)?))
}
