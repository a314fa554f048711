//! Standard input, or a file: reads that wait for a signal as well.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;

use super::Signals;

/// How standard input is called in messages.
pub const STANDARD_INPUT: &str = "standard input";

/// One input.
pub struct Input<'s> {
    source: Source,
    signals: &'s Signals,
    /// Whether the system can't wait for this input: reads just block.
    is_deaf: bool,
}

enum Source {
    Standard,
    File(File),
}

/// What a read gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// So many bytes, and at least one.
    Bytes(usize),
    /// The end of the input.
    End,
    /// Nothing, for this signal came.
    Signal(i32),
}

impl<'s> Input<'s> {
    /// Opens a file, or standard input if its name is `-`. Fails with a
    /// sentence if there is nothing that can be read.
    pub fn open(name: &str, signals: &'s Signals) -> io::Result<Self> {
        let source = if name == "-" { Source::Standard } else { Source::File(File::open(name)?) };
        let input = Input { source, signals, is_deaf: false };
        let mode = fstat(input.descriptor())?.st_mode;
        if FileType::from_raw_mode(mode) == FileType::Directory {
            return Err(io::Error::new(ErrorKind::IsADirectory, "is a directory"));
        }
        Ok(input)
    }

    /// Reads what there is, and waits until there is something. Descriptors
    /// that don't block are waited for like those that do.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Read> {
        loop {
            if let Some(signal) = self.wait()? {
                return Ok(Read::Signal(signal));
            }
            match rustix::io::read(self.descriptor(), &mut *buffer) {
                Ok(0) => return Ok(Read::End),
                Ok(count) => return Ok(Read::Bytes(count)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if !self.is_deaf => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The size of a file; nothing for a pipe or a device.
    pub fn size(&self) -> Option<u64> {
        let Source::File(file) = &self.source else { return None };
        file.metadata().ok().filter(|metadata| metadata.is_file()).map(|metadata| metadata.len())
    }

    /// Waits until a read won't block; gives the signal that came instead.
    fn wait(&mut self) -> io::Result<Option<i32>> {
        if self.is_deaf {
            return Ok(self.signals.caught());
        }
        let mut ready = [
            PollFd::from_borrowed_fd(self.descriptor(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN),
        ];
        let polled = poll(&mut ready, None);
        // Some systems can't poll some devices.
        let is_deaf = ready.iter().any(|fd| fd.revents().contains(PollFlags::NVAL));
        match polled {
            Ok(_) => self.is_deaf = is_deaf,
            Err(Errno::INTR) => return self.wait(),
            Err(_) => self.is_deaf = true,
        }
        Ok(self.signals.caught())
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        match &self.source {
            Source::Standard => rustix::stdio::stdin(),
            Source::File(file) => file.as_fd(),
        }
    }
}
