//! Standard output, buffered: every byte is written, or the error is returned.

use std::io::{self, ErrorKind, Write};
use std::time::Instant;

use crate::cut::Cut as _;
use crate::io::{BLOCK, Standard};

/// Buffers up to 64 KiB of small writes, and writes all of it or fails.
pub struct BufferedOutput<W = Standard> {
    target: W,
    buffer: Vec<u8>,
}

impl BufferedOutput {
    /// Returns a buffer before standard output.
    pub(crate) fn standard() -> Self {
        BufferedOutput::standard_until(None)
    }

    /// As [`BufferedOutput::standard`], given up at this time if no one reads it.
    pub(crate) fn standard_until(time: Option<Instant>) -> Self {
        BufferedOutput::new(Standard::new(time))
    }
}

impl<W: Write> BufferedOutput<W> {
    /// Returns a buffer before any other writer.
    pub fn new(target: W) -> Self {
        BufferedOutput { target, buffer: Vec::with_capacity(BLOCK) }
    }
}

impl<W: Write> Write for BufferedOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_large = bytes.len() >= BLOCK / 8;
        if is_large || self.buffer.len() + bytes.len() > BLOCK {
            self.flush()?;
        }
        if is_large {
            write_all(&mut self.target, bytes)?;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = write_all(&mut self.target, &self.buffer);
        self.buffer.clear();
        written
    }
}

/// Writes all bytes. Tries again after an interrupted write, and after one that would block.
fn write_all(target: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match target.write(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => rest = rest.after(count),
            Err(error)
                if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
