//! Standard input, or a file: reads that wait for a signal as well.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;

use crate::io::Signals;

/// How standard input is called in messages.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// One input.
pub struct Input<'s> {
    source: Source<'s>,
    signals: &'s Signals,
    /// Whether the system can't wait for this input: reads just block.
    is_deaf: bool,
}

enum Source<'s> {
    Standard,
    File(File),
    Reader(Box<dyn io::Read + 's>),
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
        let mode = input.descriptor().map(fstat).transpose()?.map_or(0, |stat| stat.st_mode);
        if FileType::from_raw_mode(mode) == FileType::Directory {
            return Err(io::Error::new(ErrorKind::IsADirectory, "is a directory"));
        }
        Ok(input)
    }

    /// What isn't a descriptor, and so can't be waited for.
    pub fn new(reader: impl io::Read + 's, signals: &'s Signals) -> Self {
        Input { source: Source::Reader(Box::new(reader)), signals, is_deaf: false }
    }

    /// Reads what there is, and waits until there is something. Descriptors
    /// that don't block are waited for like those that do.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Read> {
        loop {
            if let Some(signal) = self.wait()? {
                return Ok(Read::Signal(signal));
            }
            match self.read_once(buffer) {
                Ok(0) => return Ok(Read::End),
                Ok(count) => return Ok(Read::Bytes(count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock && !self.is_deaf => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn read_once(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.source {
            Source::Standard => Ok(rustix::io::read(rustix::stdio::stdin(), buffer)?),
            Source::File(file) => io::Read::read(file, buffer),
            Source::Reader(reader) => reader.read(buffer),
        }
    }

    /// The size of a file; nothing for a pipe or a device.
    pub fn size(&self) -> Option<u64> {
        let Source::File(file) = &self.source else { return None };
        file.metadata().ok().filter(|metadata| metadata.is_file()).map(|metadata| metadata.len())
    }

    /// Waits until a read won't block; gives the signal that came instead.
    fn wait(&mut self) -> io::Result<Option<i32>> {
        let Some(descriptor) = self.descriptor().filter(|_| !self.is_deaf) else {
            return Ok(self.signals.caught());
        };
        let mut ready = [
            PollFd::from_borrowed_fd(descriptor, PollFlags::IN),
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

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.source {
            Source::Standard => Some(rustix::stdio::stdin()),
            Source::File(file) => Some(file.as_fd()),
            Source::Reader(_) => None,
        }
    }
}
