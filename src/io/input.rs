//! Standard input or a file. A read returns when bytes, the end, or a signal come.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
#[cfg(target_os = "linux")]
use std::os::unix::fs::OpenOptionsExt;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, poll};
#[cfg(target_os = "linux")]
use rustix::fs::OFlags;
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;

use crate::cut::Cut as _;
use crate::io::{BLOCK, Signals};

/// The name of standard input in messages.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// One input.
pub struct Input<'s> {
    source: InputSource<'s>,
    signals: &'s Signals,
    /// The size of a file that was opened by its name, in bytes; `None` for a pipe or a device.
    size: Option<u64>,
    /// False if there is nothing to wait for, as in a regular file, or if poll(2) fails on this
    /// descriptor; reads then block until bytes come.
    can_poll: bool,
    /// What was read and is to be read again.
    unread: Unread,
}

/// Bytes that were read before, and how reading ended then, if it did.
#[derive(Default)]
struct Unread {
    bytes: Vec<u8>,
    /// The place of the next byte.
    at: usize,
    then: Option<Read>,
}

impl Unread {
    /// Returns what comes next of it, with bytes in the buffer; nothing if all was read.
    fn read(&mut self, buffer: &mut Vec<u8>) -> Option<Read> {
        if self.at == 0 && (1..=BLOCK).contains(&self.bytes.len()) {
            std::mem::swap(buffer, &mut self.bytes);
            self.bytes.clear();
            return Some(Read::Bytes);
        }
        let rest = self.bytes.after(self.at);
        if rest.is_empty() {
            self.bytes = Vec::new();
            self.at = 0;
            return self.then.take();
        }
        buffer.clear();
        buffer.extend_from_slice(rest.before(BLOCK));
        self.at += buffer.len();
        Some(Read::Bytes)
    }
}

enum InputSource<'s> {
    Standard,
    File(File),
    Reader(Box<dyn io::Read + 's>),
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Bytes, at least one.
    Bytes,
    /// The end of the input.
    End,
    /// No bytes: this signal came.
    Signal(i32),
}

impl<'s> Input<'s> {
    /// Opens a file, or standard input if its name is `-`. Returns an error for a directory.
    pub fn open(name: &str, signals: &'s Signals) -> io::Result<Self> {
        let source =
            if name == "-" { InputSource::Standard } else { InputSource::File(open(name)?) };
        let mut input =
            Input { source, signals, size: None, can_poll: true, unread: Unread::default() };
        let Some(stat) = input.descriptor().map(fstat).transpose()? else { return Ok(input) };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                return Err(io::Error::new(ErrorKind::IsADirectory, "is a directory"));
            }
            FileType::RegularFile => {
                input.can_poll = false;
                let is_named = matches!(input.source, InputSource::File(_));
                input.size = u64::try_from(stat.st_size).ok().filter(|_| is_named);
            }
            _ => {}
        }
        Ok(input)
    }

    /// Returns an input that reads from `reader`, which has no descriptor to poll.
    pub fn new(reader: impl io::Read + 's, signals: &'s Signals) -> Self {
        Input {
            source: InputSource::Reader(Box::new(reader)),
            signals,
            size: None,
            can_poll: true,
            unread: Unread::default(),
        }
    }

    /// Says how many bytes will come.
    pub(crate) fn sized(self, size: u64) -> Self {
        Input { size: Some(size), ..self }
    }

    /// Takes back what was read of it, all from the first byte on: it is read again, and then how
    /// reading ended, if it did.
    pub(crate) fn unread(&mut self, bytes: Vec<u8>, then: Option<Read>) {
        self.unread = Unread { bytes, at: 0, then };
    }

    /// Blocks until there are bytes, also on a non-blocking descriptor, and reads them in place
    /// of what the buffer holds: at most [`BLOCK`].
    pub fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<Read> {
        if let Some(read) = self.unread.read(buffer) {
            return Ok(read);
        }
        loop {
            if let Some(signal) = self.wait()? {
                return Ok(Read::Signal(signal));
            }
            buffer.clear();
            match self.read_once(buffer) {
                Ok(()) if buffer.is_empty() => return Ok(Read::End),
                Ok(()) => return Ok(Read::Bytes),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock && self.can_poll => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads into an empty buffer.
    fn read_once(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.reserve(BLOCK);
        match &mut self.source {
            InputSource::Standard => {
                rustix::io::read(rustix::stdio::stdin(), spare_capacity(buffer))?;
            }
            InputSource::File(file) => {
                rustix::io::read(file, spare_capacity(buffer))?;
            }
            InputSource::Reader(reader) => {
                buffer.resize(BLOCK, 0);
                let count = reader.read(buffer)?;
                buffer.truncate(count);
            }
        }
        Ok(())
    }

    /// Returns the size of a regular file when it was opened by its name, in bytes; `None` for a
    /// pipe or a device.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Blocks until a read would not. Returns the signal that came, if one did.
    fn wait(&mut self) -> io::Result<Option<i32>> {
        let Some(descriptor) = self.descriptor().filter(|_| self.can_poll) else {
            return Ok(self.signals.caught());
        };
        let mut ready = [
            PollFd::from_borrowed_fd(descriptor, PollFlags::IN),
            PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN),
        ];
        let polled = poll(&mut ready, None);
        // Some systems can't poll some devices.
        let is_invalid = ready.iter().any(|fd| fd.revents().contains(PollFlags::NVAL));
        match polled {
            Ok(_) => self.can_poll = !is_invalid,
            Err(Errno::INTR) => return self.wait(),
            Err(_) => self.can_poll = false,
        }
        Ok(self.signals.caught())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.source {
            InputSource::Standard => Some(rustix::stdio::stdin()),
            InputSource::File(file) => Some(file.as_fd()),
            InputSource::Reader(_) => None,
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
