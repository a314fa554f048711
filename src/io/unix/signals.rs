//! The signals that end the program. They are caught, the output is completed, and then the
//! process dies by the signal, so that a shell sees the cause.

use std::io::{self, ErrorKind, Read as _};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

use nix::sys::select::{FD_SETSIZE, FdSet, select};
use nix::sys::time::{TimeVal, TimeValLike as _};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
pub(crate) use signal_hook::consts::SIGPIPE;
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;
use signal_hook::{flag, low_level};

use crate::io::Stalled;
use crate::io::unix::leash::{Groups, hold, is_leash};

/// The signals that end the program.
const ENDING: [i32; 5] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM];

/// The time that output which was begun may take after a signal.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// The longest wait of one select(2).
const MAX_SELECT: Duration = Duration::from_hours(24);

/// Listens for the signals that end the program.
pub struct Signals {
    /// The number of the last signal that came; 0 if none has.
    caught: Arc<AtomicUsize>,
    /// A pipe that is readable from the first signal on, and never read: it wakes up `poll`.
    wakeup: SignalDelivery<UnixStream, SignalOnly>,
    /// The process groups that are killed before a second signal ends the program.
    groups: Arc<Mutex<Groups>>,
}

/// What output that is stalled waits for beside its reader: the signals of the process.
struct Heard {
    caught: Arc<AtomicUsize>,
    wakeup: OwnedFd,
    since: OnceLock<Instant>,
}

static HEARD: OnceLock<Heard> = OnceLock::new();

/// Blocks until a descriptor takes bytes. Fails with [`Stalled`] if it does not by `time`, or soon
/// after a signal.
pub(super) fn wait_to_write(descriptor: impl AsFd, time: Option<Instant>) -> io::Result<()> {
    let heard = HEARD.get();
    loop {
        let signal =
            heard.and_then(|heard| i32::try_from(heard.caught.load(Ordering::SeqCst)).ok());
        let signal = signal.filter(|&signal| signal != 0);
        let last = heard
            .filter(|_| signal.is_some())
            .and_then(|heard| heard.since.get_or_init(Instant::now).checked_add(LAST_OUTPUT));
        let now = Instant::now();
        match (signal, last) {
            (Some(signal), Some(last)) if last <= now => {
                return Err(io::Error::other(Stalled::Signal(signal)));
            }
            _ if time.is_some_and(|time| time <= now) => {
                return Err(io::Error::other(Stalled::Time));
            }
            _ => {}
        }
        let left =
            last.into_iter().chain(time).min().map(|time| time.saturating_duration_since(now));
        let left = left.and_then(|left| Timespec::try_from(left + Duration::from_millis(1)).ok());
        let mut ready = vec![PollFd::new(&descriptor, PollFlags::OUT)];
        if let Some(heard) = heard.filter(|_| signal.is_none()) {
            ready.push(PollFd::new(&heard.wakeup, PollFlags::IN));
        }
        match poll(&mut ready, left.as_ref()) {
            Ok(_) if ready.first().is_some_and(|fd| !fd.revents().is_empty()) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

impl Signals {
    /// Installs the handlers. The first signal is only recorded; a second one kills at once. A
    /// signal that was ignored when the program began stays ignored, as `nohup` requires.
    pub fn listen() -> io::Result<Self> {
        Self::heard(false)
    }

    /// As [`Signals::listen`], but the second signal first kills the process groups of
    /// [`Signals::groups`], in whatever the program is then.
    pub(crate) fn listen_for_children() -> io::Result<Self> {
        Self::heard(true)
    }

    fn heard(has_children: bool) -> io::Result<Self> {
        let caught = Arc::new(AtomicUsize::new(0));
        let is_second = Arc::new(AtomicBool::new(false));
        let ignored = bits("SigIgn:");
        let is_heard = |signal: &i32| ignored & (1 << (signal - 1)) == 0;
        let signals: Vec<i32> = ENDING.into_iter().filter(is_heard).collect();
        for &signal in &signals {
            // In this order: the signal that sets the flag does not count as the second, and its
            // number is stored before the pipe wakes anyone up.
            if !has_children {
                flag::register_conditional_default(signal, Arc::clone(&is_second))?;
            }
            flag::register(signal, Arc::clone(&is_second))?;
            flag::register_usize(
                signal,
                Arc::clone(&caught),
                usize::try_from(signal).unwrap_or_default(),
            )?;
        }
        let (wakeup, hook) = UnixStream::pair()?;
        let wakeup = SignalDelivery::with_pipe(wakeup, hook, SignalOnly, &signals)?;
        let groups = if has_children { Groups::on_leash() } else { Groups::default() };
        let groups = Arc::new(Mutex::new(groups));
        if has_children {
            kill_at_second(&signals, Arc::clone(&caught), Arc::clone(&groups))?;
        }
        let descriptor = wakeup.get_read().as_fd().try_clone_to_owned()?;
        let heard =
            Heard { caught: Arc::clone(&caught), wakeup: descriptor, since: OnceLock::new() };
        // Of several in one process, which only tests have, the first one is heard.
        let _ = HEARD.set(heard);
        Ok(Signals { caught, wakeup, groups })
    }

    /// Returns the process groups that are killed before a second signal ends the program.
    pub(super) fn groups(&self) -> MutexGuard<'_, Groups> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Starts the thread that waits for the second signal, kills the groups and ends the program.
fn kill_at_second(
    signals: &[i32],
    caught: Arc<AtomicUsize>,
    groups: Arc<Mutex<Groups>>,
) -> io::Result<()> {
    let (mut came, hook) = UnixStream::pair()?;
    for &signal in signals {
        low_level::pipe::register(signal, hook.try_clone()?)?;
    }
    thread::Builder::new().name("second signal".into()).spawn(move || {
        // Each signal is a byte.
        let mut bytes = [0; 2];
        if came.read_exact(&mut bytes).is_ok() {
            groups.lock().unwrap_or_else(PoisonError::into_inner).kill();
            die(i32::try_from(caught.load(Ordering::SeqCst)).unwrap_or(SIGTERM));
        }
    })?;
    Ok(())
}

/// Waits for a moment. Fails with [`Stalled`] if a signal has come.
pub(super) fn wait_a_moment() -> io::Result<()> {
    thread::sleep(Duration::from_millis(20));
    let caught = HEARD.get().map_or(0, |heard| heard.caught.load(Ordering::SeqCst));
    match i32::try_from(caught) {
        Ok(0) | Err(_) => Ok(()),
        Ok(signal) => Err(io::Error::other(Stalled::Signal(signal))),
    }
}

/// Begins the program. Returns false if it was a leash, which has ended.
pub(crate) fn begin() -> bool {
    if is_leash(env::args_os().next().as_deref()) {
        hold();
        return false;
    }
    // A file that may not grow becomes an error of the write, as a full disk is. If this fails, it ends
    // the program by its signal, as it would any other.
    let _ = flag::register(SIGXFSZ, Arc::default());
    true
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
    let descriptor = descriptor.as_fd();
    wait(signals, time, |left| is_polled(descriptor, PollFlags::IN, signals, left))
}

/// As [`wait_for`], of the terminal that /dev/tty names: poll(2) of a Mac does not take it.
pub(super) fn wait_for_terminal(
    terminal: impl AsFd,
    signals: &Signals,
    time: Option<Instant>,
) -> io::Result<Woken> {
    let terminal = terminal.as_fd();
    wait(signals, time, |left| is_selected(terminal, signals, left))
}

/// Blocks until nobody reads any more what a descriptor writes, which is `Ready`, a signal comes, or
/// it is `time`.
pub(super) fn wait_until(
    descriptor: impl AsFd,
    signals: &Signals,
    time: Option<Instant>,
) -> io::Result<Woken> {
    let descriptor = descriptor.as_fd();
    wait(signals, time, |left| is_polled(descriptor, PollFlags::empty(), signals, left))
}

/// Waits with `is_ready`, which takes the time that is left, and returns early when a signal comes.
fn wait(
    signals: &Signals,
    time: Option<Instant>,
    mut is_ready: impl FnMut(Option<Duration>) -> io::Result<bool>,
) -> io::Result<Woken> {
    loop {
        if let Some(signal) = signals.caught() {
            return Ok(Woken::Signal(signal));
        }
        let now = Instant::now();
        if time.is_some_and(|time| time <= now) {
            return Ok(Woken::Time);
        }
        match is_ready(time.map(|time| time - now + Duration::from_millis(1))) {
            Ok(true) => return Ok(Woken::Ready),
            Ok(false) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Waits with poll(2).
fn is_polled(
    descriptor: BorrowedFd<'_>,
    flags: PollFlags,
    signals: &Signals,
    left: Option<Duration>,
) -> io::Result<bool> {
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    let mut ready = [
        PollFd::from_borrowed_fd(descriptor, flags),
        PollFd::from_borrowed_fd(signals.descriptor(), PollFlags::IN),
    ];
    poll(&mut ready, left.as_ref())?;
    Ok(!ready[0].revents().is_empty())
}

/// Waits with select(2), until a descriptor can be read; with poll(2) for numbers that a set does not
/// hold.
fn is_selected(
    descriptor: BorrowedFd<'_>,
    signals: &Signals,
    left: Option<Duration>,
) -> io::Result<bool> {
    let both = [descriptor, signals.descriptor()];
    if both.iter().any(|fd| usize::try_from(fd.as_raw_fd()).is_ok_and(|fd| fd >= FD_SETSIZE)) {
        return is_polled(descriptor, PollFlags::IN, signals, left);
    }
    let mut ready = FdSet::new();
    both.into_iter().for_each(|fd| ready.insert(fd));
    // Longer waits are not valid everywhere: this one is begun again.
    let left = left.map(|left| left.min(MAX_SELECT).as_millis());
    let mut left = left.map(|left| TimeVal::milliseconds(i64::try_from(left).unwrap_or(1)));
    select(None, &mut ready, None, None, left.as_mut())?;
    Ok(ready.contains(descriptor))
}

/// Ends the process by the default action of a signal.
pub(crate) fn die(signal: i32) -> ! {
    // It fails only for signals that do not exist, and returns only if the default action does not
    // kill: then the process exits with the status that shells use for the signal.
    let _ = low_level::emulate_default_handler(signal);
    std::process::exit(128 + signal)
}

/// True if a signal is blocked: whoever started the program has left it so.
pub(super) fn is_blocked(signal: i32) -> bool {
    bits("SigBlk:") & (1 << (signal - 1)) != 0
}

/// Returns a set of signals as a set of bits, of the process as it is now; empty where there is no
/// /proc.
fn bits(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix(name));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default()
}
