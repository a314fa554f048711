//! The bytes of a file, read as they are needed, and why a file can't be read to its end.

use std::fmt;
use std::io::{self, ErrorKind, Read};

use crate::cut::Cut as _;

/// The byte order mark.
pub(super) const MARK: &[u8] = b"\xef\xbb\xbf";

/// The size of one read, in bytes.
const BLOCK: usize = 64 << 10;

/// The reason why nothing more is read of a file.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) why: Why,
    /// A sentence for people.
    pub(crate) message: String,
    /// The place in the file, or in what it unpacks to, in bytes.
    pub(crate) offset: u64,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            Why::Io(error) => write!(f, "{error}"),
            _ => write!(f, "{} (offset {})", self.message, self.offset),
        }
    }
}

/// What is wrong with a file.
#[derive(Debug)]
pub(crate) enum Why {
    /// It ends where more has to come.
    Cut,
    /// It is not what it begins as.
    Malformed,
    /// A limit of ours was hit.
    Limit,
    /// Reading failed.
    Io(io::Error),
}

impl Broken {
    pub(super) fn new(why: Why, offset: u64, message: impl Into<String>) -> Self {
        Broken { why, message: message.into(), offset }
    }
}

/// Bytes that are read block by block, and looked at where they are.
pub(super) struct BlockReader<'r> {
    reader: Box<dyn Read + 'r>,
    buffer: Vec<u8>,
    /// The place in the buffer of the next byte, and that after the last one.
    at: usize,
    end: usize,
    /// The offset of the buffer's first byte.
    base: u64,
}

impl<'r> BlockReader<'r> {
    /// Reads `reader` from its first byte, which a byte order mark may stand before.
    pub(super) fn new(reader: Box<dyn Read + 'r>) -> Self {
        BlockReader { reader, buffer: Vec::new(), at: 0, end: 0, base: 0 }
    }

    /// Returns the bytes that are at hand, at least one but at the end, after reading if there were
    /// none.
    pub(super) fn chunk(&mut self) -> Result<&[u8], Broken> {
        if self.at == self.end {
            self.base += self.end as u64;
            (self.at, self.end) = (0, 0);
            self.buffer.resize(BLOCK, 0);
            let count = loop {
                match self.reader.read(&mut self.buffer) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    read => break read,
                }
            };
            self.end = count.map_err(|error| self.unreadable(error))?;
            if self.base == 0 && self.buffer.starts_with(MARK) && self.end >= MARK.len() {
                self.at = MARK.len();
                return self.chunk();
            }
        }
        Ok(self.buffer.within(self.at..self.end))
    }

    /// Returns the next byte, which stays; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, Broken> {
        match self.buffer.get(self.at) {
            Some(byte) if self.at < self.end => Ok(Some(*byte)),
            _ => Ok(self.chunk()?.first().copied()),
        }
    }

    /// Passes over bytes that are at hand.
    pub(super) fn skip(&mut self, count: usize) {
        self.at = self.end.min(self.at + count);
    }

    /// Takes back the bytes that were passed over last.
    pub(super) fn back(&mut self, bytes: &[u8]) {
        // Those of the blocks before are gone.
        let gone = bytes.len().saturating_sub(self.at);
        self.buffer.splice(..0, bytes.iter().copied().take(gone));
        self.base -= gone as u64;
        self.end += gone;
        self.at -= bytes.len() - gone;
    }

    /// The offset of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Returns so many bytes, or those up to the end.
    pub(super) fn take(&mut self, count: usize) -> Result<Vec<u8>, Broken> {
        let mut taken = Vec::new();
        while taken.len() < count {
            let chunk = self.chunk()?.before(count - taken.len());
            let length = chunk.len();
            if length == 0 {
                break;
            }
            taken.extend_from_slice(chunk);
            self.skip(length);
        }
        Ok(taken)
    }

    fn unreadable(&self, error: io::Error) -> Broken {
        let is_packing = matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData);
        let why = match error.kind() {
            ErrorKind::UnexpectedEof => Why::Cut,
            _ if is_packing => Why::Malformed,
            _ => return Broken::new(Why::Io(error), self.offset(), "it can't be read"),
        };
        Broken::new(why, self.offset(), format!("what is packed in it can't be unpacked: {error}"))
    }
}
