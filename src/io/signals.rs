//! The signals that end the program. They are caught, the output is completed, and then the
//! process dies by the signal, so that a shell sees the cause.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;
use signal_hook::{flag, low_level};

/// Listens for SIGINT, SIGTERM and SIGHUP.
pub struct Signals {
    /// The number of the last signal that came; 0 if none has.
    caught: Arc<AtomicUsize>,
    /// A pipe that is readable from the first signal on, and never read: it wakes up `poll`.
    wakeup: SignalDelivery<UnixStream, SignalOnly>,
}

impl Signals {
    /// Installs the handlers. The first signal is only recorded; a second one kills at once. A
    /// signal that was ignored when the program began stays ignored, as `nohup` requires.
    pub fn listen() -> io::Result<Self> {
        let caught = Arc::new(AtomicUsize::new(0));
        let is_second = Arc::new(AtomicBool::new(false));
        let ignored = ignored();
        let is_heard = |signal: &i32| ignored & (1 << (signal - 1)) == 0;
        let signals: Vec<i32> = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(is_heard).collect();
        for &signal in &signals {
            // In this order: the signal that sets the flag does not count as the second, and its
            // number is stored before the pipe wakes anyone up.
            flag::register_conditional_default(signal, Arc::clone(&is_second))?;
            flag::register(signal, Arc::clone(&is_second))?;
            flag::register_usize(
                signal,
                Arc::clone(&caught),
                usize::try_from(signal).unwrap_or_default(),
            )?;
        }
        let (wakeup, hook) = UnixStream::pair()?;
        let wakeup = SignalDelivery::with_pipe(wakeup, hook, SignalOnly, &signals)?;
        Ok(Signals { caught, wakeup })
    }

    /// Returns the signal that came, if one has.
    pub fn caught(&self) -> Option<i32> {
        let signal = self.caught.load(Ordering::SeqCst);
        i32::try_from(signal).ok().filter(|&signal| signal != 0)
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.wakeup.get_read().as_fd()
    }
}

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// There are bytes to be read, or the end.
    Ready,
    /// This signal came.
    Signal(i32),
    /// It is time.
    Time,
}

/// Blocks until a descriptor can be read, a signal comes, or it is `time`.
pub(crate) fn wait_for(
    descriptor: impl AsFd,
    signals: &Signals,
    time: Option<Instant>,
) -> io::Result<Woken> {
    wait(descriptor, PollFlags::IN, signals, time)
}

/// Blocks until nobody reads any more what a descriptor writes, which is `Ready`, a signal comes, or
/// it is `time`.
pub(crate) fn wait_until(
    descriptor: impl AsFd,
    signals: &Signals,
    time: Option<Instant>,
) -> io::Result<Woken> {
    wait(descriptor, PollFlags::empty(), signals, time)
}

fn wait(
    descriptor: impl AsFd,
    flags: PollFlags,
    signals: &Signals,
    time: Option<Instant>,
) -> io::Result<Woken> {
    loop {
        if let Some(signal) = signals.caught() {
            return Ok(Woken::Signal(signal));
        }
        let now = Instant::now();
        if time.is_some_and(|time| time <= now) {
            return Ok(Woken::Time);
        }
        let left = time.map(|time| time - now + Duration::from_millis(1));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut ready = [
            PollFd::new(&descriptor, flags),
            PollFd::from_borrowed_fd(signals.descriptor(), PollFlags::IN),
        ];
        match poll(&mut ready, left.as_ref()) {
            Ok(_) if !ready[0].revents().is_empty() => return Ok(Woken::Ready),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Ends the process by the default action of a signal.
pub(crate) fn die(signal: i32) -> ! {
    // It fails only for signals that do not exist, and returns only if the default action does not
    // kill: then the process exits with the status that shells use for the signal.
    let _ = low_level::emulate_default_handler(signal);
    std::process::exit(128 + signal)
}

/// Returns the signals that were ignored when the program began, as a set of bits; empty where
/// there is no /proc.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default()
}
