//! Standard input or a file, as a descriptor that is waited for.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
#[cfg(target_os = "linux")]
use std::os::unix::fs::OpenOptionsExt;
use std::time::Instant;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, poll};
#[cfg(target_os = "linux")]
use rustix::fs::OFlags;
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use rustix::stdio::stdin;

use crate::io::BLOCK;
use crate::io::unix::signals::{Signals, Woken, die, wait_for};

/// Standard input or a file.
pub(crate) enum OpenFile {
    Standard,
    File(File),
}

impl OpenFile {
    /// Opens a file, or standard input if its name is `-`. Returns also the size of a regular file.
    pub(crate) fn open(name: &str) -> io::Result<(Self, Option<u64>)> {
        let source = if name == "-" { OpenFile::Standard } else { OpenFile::File(open(name)?) };
        let stat = fstat(source.descriptor())?;
        let size = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => return Err(ErrorKind::IsADirectory.into()),
            FileType::RegularFile => Some(stat.st_size.cast_unsigned()),
            _ => None,
        };
        Ok((source, size))
    }

    /// Blocks until a read would not, or a signal comes. Returns false if poll(2) fails on it.
    pub(crate) fn wait(&self, signals: &Signals) -> bool {
        loop {
            let mut ready = [
                PollFd::from_borrowed_fd(self.descriptor(), PollFlags::IN),
                PollFd::from_borrowed_fd(signals.descriptor(), PollFlags::IN),
            ];
            match poll(&mut ready, None) {
                // Some systems can't poll some devices.
                Ok(_) => return !ready.iter().any(|fd| fd.revents().contains(PollFlags::NVAL)),
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    /// Reads into an empty buffer.
    pub(crate) fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.reserve(BLOCK);
        rustix::io::read(self.descriptor(), spare_capacity(buffer))?;
        Ok(())
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            OpenFile::Standard => stdin(),
            OpenFile::File(file) => file.as_fd(),
        }
    }
}

/// Opens a file. A named pipe that nobody writes to yet does not block, where poll(2) waits for its
/// writer: so a signal ends the wait.
fn open(name: &str) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(target_os = "linux")]
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    options.open(name)
}

/// True if a file is standard input as well.
pub(crate) fn is_standard_input(file: &File) -> io::Result<bool> {
    let (file, input) = (fstat(file)?, fstat(stdin())?);
    Ok((file.st_dev, file.st_ino) == (input.st_dev, input.st_ino))
}

/// Blocks until standard input, which does not block, can be read.
pub(crate) fn wait_for_input() -> io::Result<()> {
    match poll(&mut [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns standard input, which is waited for until a time. A signal ends the program.
pub(crate) fn input_until(signals: &Signals, until: Instant) -> impl io::Read {
    AwaitedInput { signals, until }
}

struct AwaitedInput<'s> {
    signals: &'s Signals,
    until: Instant,
}

impl io::Read for AwaitedInput<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match wait_for(stdin(), self.signals, Some(self.until))? {
            Woken::Ready => Ok(rustix::io::read(stdin(), buffer)?),
            Woken::Time => Err(ErrorKind::TimedOut.into()),
            Woken::Signal(signal) => die(signal),
        }
    }
}
