//! Standard input or a file. A read returns when bytes, the end, or a signal come.

use std::io::{self, ErrorKind};

use crate::cut::Cut as _;
use crate::io::{BLOCK, OpenFile, Signals};

/// The name of standard input in messages.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// One input.
pub struct Input<'s> {
    source: InputSource<'s>,
    signals: &'s Signals,
    /// The size of a file that was opened by its name, in bytes; `None` for a pipe or a device.
    size: Option<u64>,
    /// False if there is nothing to wait for, as in a regular file, or if it can't be waited
    /// for; reads then block until bytes come.
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
    /// The bytes after them.
    rest: Vec<u8>,
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
            self.bytes = std::mem::take(&mut self.rest);
            self.at = 0;
            return if self.bytes.is_empty() { self.then.take() } else { self.read(buffer) };
        }
        buffer.clear();
        buffer.extend_from_slice(rest.before(BLOCK));
        self.at += buffer.len();
        Some(Read::Bytes)
    }
}

enum InputSource<'s> {
    File(OpenFile),
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
        let (source, size) = OpenFile::open(name)?;
        Ok(Input {
            source: InputSource::File(source),
            signals,
            size: size.filter(|_| name != "-"),
            can_poll: size.is_none(),
            unread: Unread::default(),
        })
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

    /// Returns an input that is in memory, in two parts.
    pub(crate) fn of(first: Vec<u8>, rest: Vec<u8>, signals: &'s Signals) -> Self {
        let mut input = Input::new(io::empty(), signals);
        input.size = Some((first.len() + rest.len()) as u64);
        input.unread = Unread { bytes: first, rest, ..Unread::default() };
        input
    }

    /// Takes back what was read of it, all from the first byte on: it is read again, and then how
    /// reading ended, if it did.
    pub(crate) fn unread(&mut self, bytes: Vec<u8>, then: Option<Read>) {
        self.unread = Unread { bytes, then, ..Unread::default() };
    }

    /// Blocks until there are bytes, also on a non-blocking descriptor, and reads them in place
    /// of what the buffer holds: at most [`BLOCK`].
    pub fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<Read> {
        if let Some(read) = self.unread.read(buffer) {
            return Ok(read);
        }
        loop {
            if let InputSource::File(source) = &self.source
                && self.can_poll
            {
                self.can_poll = source.wait(self.signals);
            }
            if let Some(signal) = self.signals.caught() {
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
        match &mut self.source {
            InputSource::File(source) => source.read(buffer)?,
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
}
