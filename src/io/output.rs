//! Standard output, such that no byte is lost in silence.

use std::io::{self, ErrorKind, Write};
use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, major, minor};
use rustix::io::Errno;
use rustix::stdio::{stderr, stdout};
use signal_hook::consts::SIGPIPE;

use crate::io::{BLOCK, die};

/// Buffers a block, and writes all of it or fails. A reader that has left ends
/// the program by SIGPIPE.
pub struct Output<W = Standard> {
    target: W,
    buffer: Vec<u8>,
}

/// Standard output as the system has it: nothing is kept back.
pub struct Standard;

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match rustix::io::write(stdout(), bytes) {
            Err(Errno::PIPE) => die(SIGPIPE),
            // Whoever tries again waits until there is room.
            Err(Errno::AGAIN) => wait().and(Err(ErrorKind::WouldBlock.into())),
            written => Ok(written?),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    /// Fails if standard output was closed before the program began.
    pub fn open() -> io::Result<Self> {
        if was_closed() {
            return Err(io::Error::new(
                ErrorKind::BrokenPipe,
                "was closed before the program began; a /dev/null that is open for reading as \
                 well looks the same: open it for writing only",
            ));
        }
        Ok(Output::new(Standard))
    }
}

impl<W: Write> Output<W> {
    /// Writes to something else.
    pub fn new(target: W) -> Self {
        Output { target, buffer: Vec::with_capacity(BLOCK) }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > BLOCK {
            self.flush()?;
        }
        if bytes.len() > BLOCK {
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

/// Writes everything, in as many pieces as the system wants, and tries again
/// where a descriptor doesn't wait.
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

fn wait() -> io::Result<()> {
    match poll(&mut [PollFd::new(&stdout(), PollFlags::OUT)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Rust's start-up opens /dev/null in place of a standard descriptor that is
/// closed, and everything written would be lost in silence. A shell's
/// `>/dev/null` is for writing only. Programs that start others may open it
/// for both (as Python's and Node's libraries do), then mostly for standard error
/// as well; nothing tells the two apart, so the message says what to do.
fn was_closed() -> bool {
    is_null_for_both(stdout()) && !is_null_for_both(stderr())
}

/// Whether a descriptor is Linux's /dev/null, open for reading and writing.
fn is_null_for_both(descriptor: BorrowedFd<'_>) -> bool {
    let is_null = fstat(descriptor).is_ok_and(|stat| {
        let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice;
        is_device && (major(stat.st_rdev), minor(stat.st_rdev)) == (1, 3)
    });
    is_null && fcntl_getfl(descriptor).is_ok_and(|flags| flags.contains(OFlags::RDWR))
}
