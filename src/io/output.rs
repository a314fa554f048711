//! Standard output, buffered: every byte is written, or the error is returned.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Instant;

use rustix::fs::{FileType, OFlags, fstat};
use rustix::io::Errno;
use rustix::stdio::stdout;

use crate::cut::Cut as _;
use crate::io::BLOCK;
use crate::io::signals::wait_to_write;

/// Buffers up to 64 KiB of small writes, and writes all of it or fails.
pub struct Output<W = Standard> {
    target: W,
    buffer: Vec<u8>,
}

/// Standard output without a buffer. That the reader has left is the error `BrokenPipe`, of which
/// the program dies by SIGPIPE; that no one reads it when the program is to end, [`Stalled`].
///
/// [`Stalled`]: crate::io::Stalled
pub struct Standard {
    /// The pipe or the terminal once more, so that a write does not block: that of the descriptor
    /// which was inherited is no affair of its own. None if it can't be opened.
    own: Option<File>,
    /// The most bytes of one write. Where it may block, those that a pipe takes once it takes any.
    most: usize,
    /// The time at which output that no one reads is given up.
    until: Option<Instant>,
}

impl Standard {
    fn new() -> Standard {
        let is_file = fstat(stdout()).is_ok_and(|stat| {
            matches!(
                FileType::from_raw_mode(stat.st_mode),
                FileType::RegularFile | FileType::Directory
            )
        });
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
        let open = || File::options().write(true).custom_flags(flags).open("/proc/self/fd/1").ok();
        let own = if is_file { None } else { open() };
        let most = if is_file || own.is_some() { usize::MAX } else { PIPE_BUF };
        Standard { own, most, until: None }
    }
}

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let descriptor = self.own.as_ref().map_or(stdout(), AsFd::as_fd);
        if self.most < usize::MAX {
            wait_to_write(descriptor, self.until)?;
        }
        match rustix::io::write(descriptor, bytes.before(self.most)) {
            // The caller tries again once there is room.
            Err(Errno::AGAIN) => {
                wait_to_write(descriptor, self.until).and(Err(ErrorKind::WouldBlock.into()))
            }
            written => Ok(written?),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes that a pipe takes at once when it takes any.
const PIPE_BUF: usize = 4096;

impl Output {
    /// Returns a buffer before standard output.
    pub(crate) fn standard() -> Self {
        Output::new(Standard::new())
    }

    /// Gives output up that no one reads at this time.
    pub(crate) fn until(mut self, time: Option<Instant>) -> Self {
        self.target.until = time;
        self
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
            Ok(count) => rest = rest.after(count),
            Err(error)
                if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
