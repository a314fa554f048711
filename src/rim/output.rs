//! Standard output, such that no byte is lost in silence.

use std::io::{self, ErrorKind, Write};
use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, major, minor};
use rustix::io::Errno;
use rustix::stdio::{stderr, stdout};
use signal_hook::consts::SIGPIPE;

use super::{BLOCK, die};

/// Buffers a block, and writes all of it or fails. A reader that has left ends
/// the program by SIGPIPE.
pub struct Output {
    buffer: Vec<u8>,
}

impl Output {
    /// Fails if standard output was closed before the program began.
    pub fn open() -> io::Result<Self> {
        if was_closed() {
            return Err(io::Error::new(
                ErrorKind::BrokenPipe,
                "was closed before the program began",
            ));
        }
        Ok(Output { buffer: Vec::with_capacity(BLOCK) })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > BLOCK {
            self.flush()?;
        }
        if bytes.len() > BLOCK {
            write_all(bytes)?;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = write_all(&self.buffer);
        self.buffer.clear();
        written
    }
}

/// Writes everything, in as many pieces as the system wants, and waits where a
/// descriptor doesn't.
fn write_all(bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match rustix::io::write(stdout(), rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait()?,
            Err(Errno::PIPE) => die(SIGPIPE),
            Err(error) => return Err(error.into()),
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
/// for both, then mostly for standard error as well.
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
