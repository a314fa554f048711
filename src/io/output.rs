//! Standard output, buffered: every byte is written, or the error is returned.

use std::io::{self, ErrorKind, Write};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio::stdout;

use crate::io::BLOCK;

/// Buffers up to 64 KiB of small writes, and writes all of it or fails.
pub struct Output<W = Standard> {
    target: W,
    buffer: Vec<u8>,
}

/// Standard output without a buffer. That the reader has left is the error `BrokenPipe`, of which
/// the program dies by SIGPIPE.
pub struct Standard;

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match rustix::io::write(stdout(), bytes) {
            // The caller tries again once there is room.
            Err(Errno::AGAIN) => wait().and(Err(ErrorKind::WouldBlock.into())),
            written => Ok(written?),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    /// Returns a buffer before standard output.
    ///
    /// Rust's start-up opens /dev/null in place of a standard descriptor that is closed, for
    /// reading and writing, as Python's `subprocess.DEVNULL` and Node's `ignore` do. Nothing sets
    /// these apart, so output to a closed descriptor is dropped like output to /dev/null.
    pub(crate) fn standard() -> Self {
        Output::new(Standard)
    }
}

impl<W: Write> Output<W> {
    /// Returns a buffer before any other writer.
    pub fn new(target: W) -> Self {
        Output { target, buffer: Vec::with_capacity(BLOCK) }
    }
}

impl<W: Write> Write for Output<W> {
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
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(error)
                if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Blocks until standard output takes more bytes.
fn wait() -> io::Result<()> {
    match poll(&mut [PollFd::new(&stdout(), PollFlags::OUT)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
