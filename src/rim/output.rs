//! Standard output, such that no byte is lost in silence.

use std::io::{self, ErrorKind, Write};

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
            return Err(io::Error::new(ErrorKind::BrokenPipe, "was closed before the program began"));
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

/// Rust's start-up opens /dev/null, for reading as well, in place of a standard
/// descriptor that is closed, and everything written would be lost in silence.
/// A shell's `>/dev/null` is for writing only. Programs that start others also
/// open it for both: Python with O_CLOEXEC, which the start-up doesn't set,
/// Node for standard error as well.
fn was_closed() -> bool {
    let Ok(flags) = fcntl_getfl(stdout()) else { return true };
    is_null(stdout())
        && flags.contains(OFlags::RDWR)
        && !flags.contains(OFlags::CLOEXEC)
        && !(is_null(stderr()) && fcntl_getfl(stderr()).is_ok_and(|flags| flags.contains(OFlags::RDWR)))
}

/// Whether a descriptor is Linux's /dev/null.
fn is_null(descriptor: impl std::os::fd::AsFd) -> bool {
    fstat(descriptor).is_ok_and(|stat| {
        let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice;
        is_device && (major(stat.st_rdev), minor(stat.st_rdev)) == (1, 3)
    })
}
