//! Standard output, which does not block for longer than it should.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Instant;

use rustix::fs::{FileType, OFlags, fstat};
use rustix::io::Errno;
use rustix::stdio::stdout;
use rustix::termios::tcgetwinsize;

use crate::cut::Cut as _;
use crate::io::unix::signals::{Signals, Woken, die, wait_to_write, wait_until};

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
    /// Returns standard output, which is given up at this time if no one reads it.
    pub(crate) fn new(until: Option<Instant>) -> Standard {
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
        Standard { own, most, until }
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

/// Waits until a time, or for ever. Fails as soon as no one reads standard output any more. A signal
/// ends the program.
pub(crate) fn wait_beside_output(time: Option<Instant>, signals: &Signals) -> io::Result<()> {
    match wait_until(stdout(), signals, time)? {
        Woken::Time => Ok(()),
        Woken::Ready => Err(ErrorKind::BrokenPipe.into()),
        Woken::Signal(signal) => die(signal),
    }
}

/// Returns the width of the terminal that standard output is, in columns, if it is one and has a
/// width.
pub(crate) fn columns() -> Option<usize> {
    tcgetwinsize(stdout()).ok().map(|size| size.ws_col.into()).filter(|&columns| columns > 0)
}
