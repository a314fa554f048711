//! Programs that are run: each in a process group of its own, all of their pipes in one loop.
//!
//! A child ends when its leader has exited and its pipes are closed, or [`LINGER`] after the
//! leader's exit: a grandchild that holds a pipe open can't keep anyone waiting. Whatever is left
//! of its group is killed then. The leader is reaped after that, so its number can't have become
//! another's.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio, read, write};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use signal_hook::SigId;
use signal_hook::consts::SIGCHLD;
use signal_hook::low_level;

use crate::cut::Cut as _;
use crate::io::BLOCK;
use crate::io::unix::signals::{Signals, is_blocked};

/// The time for which the pipes of a child are read after its leader has exited.
const LINGER: Duration = Duration::from_millis(100);

/// The time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// The descriptors beside 0, 1 and 2 that this process was given.
static GIVEN: OnceLock<Vec<RawFd>> = OnceLock::new();

/// The children that run, until they have ended. All are killed when it is dropped.
pub(crate) struct Children<'s> {
    signals: &'s Signals,
    /// Readable once a child has exited.
    exits: UnixStream,
    hook: SigId,
    running: Vec<Child>,
    buffer: Vec<u8>,
    /// The place at which the next search for bytes begins: no child is read alone.
    turn: usize,
    /// True while all of them are being ended: signals are not waited for.
    is_stopping: bool,
    /// True if no signal tells of an exit: then there is a look at them from time to time.
    is_deaf: bool,
}

/// An event of a child, which is named by the number that it was started with.
#[derive(Debug)]
pub(crate) enum Happened<'b> {
    /// It wrote these bytes to standard output or standard error.
    Wrote { child: u64, pipe: Pipe, bytes: &'b [u8] },
    /// It has ended.
    Ended { child: u64, exit: Exit },
    /// Nothing: this signal came.
    Signal(i32),
    /// Nothing: it is time.
    Time,
}

/// A pipe that a child writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pipe {
    /// Its standard output.
    Output,
    /// Its standard error.
    Error,
}

/// The end of a child.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    /// The status of its leader.
    pub(crate) status: ExitStatus,
    /// True if it was ended because its time was over.
    pub(crate) is_late: bool,
    /// The time that it ran.
    pub(crate) took: Duration,
}

struct Child {
    number: u64,
    process: std::process::Child,
    group: Pid,
    /// The bytes that are still to be written to its standard input, and the pipe.
    input: Option<(OwnedFd, Vec<u8>, usize)>,
    pipes: Vec<(Pipe, OwnedFd)>,
    started: Instant,
    /// The time at which its group gets SIGTERM.
    term: Option<Instant>,
    /// The time at which its group gets SIGKILL.
    kill: Option<Instant>,
    is_late: bool,
    /// Until when its pipes are read; known once the leader has exited.
    until: Option<Instant>,
}

impl<'s> Children<'s> {
    /// Returns none. Descriptors that this process was given beside 0, 1 and 2 are closed in all
    /// that it starts from now on, but for what [`Self::start_command`] starts.
    pub(crate) fn new(signals: &'s Signals) -> io::Result<Self> {
        // What this process opens itself is closed in what it starts.
        GIVEN.get_or_init(|| close_fds::iter_open_fds(3).filter(|it| !is_closed(*it)).collect());
        close_fds::set_fds_cloexec(3, &[]);
        let (exits, hook) = UnixStream::pair()?;
        exits.set_nonblocking(true)?;
        Ok(Children {
            signals,
            exits,
            hook: low_level::pipe::register(SIGCHLD, hook)?,
            running: Vec::new(),
            buffer: vec![0; BLOCK],
            turn: 0,
            is_stopping: false,
            is_deaf: is_blocked(SIGCHLD),
        })
    }

    /// Starts a program, which gets `input` on its standard input, and SIGTERM after `timeout`.
    /// Its standard output is read; so is its standard error if the command says that it is piped.
    pub(crate) fn start(
        &mut self,
        number: u64,
        command: &mut Command,
        input: Vec<u8>,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        self.start_with(&[], number, command, input, timeout)
    }

    /// Starts a program of the user's own, as a shell would: the descriptors that this process was
    /// given are its own as well.
    pub(crate) fn start_command(
        &mut self,
        number: u64,
        command: &mut Command,
        input: Vec<u8>,
    ) -> io::Result<()> {
        self.start_with(GIVEN.get().map_or(&[], Vec::as_slice), number, command, input, None)
    }

    fn start_with(
        &mut self,
        given: &[RawFd],
        number: u64,
        command: &mut Command,
        input: Vec<u8>,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut groups = self.signals.groups();
        given.iter().for_each(|descriptor| set_closed(*descriptor, false));
        let started = command.spawn();
        given.iter().for_each(|descriptor| set_closed(*descriptor, true));
        let mut process = started?;
        groups.add(Pid::from_child(&process));
        drop(groups);
        let started = Instant::now();
        let input = match process.stdin.take() {
            Some(stdin) if !input.is_empty() => {
                ioctl_fionbio(&stdin, true)?;
                Some((stdin.into(), input, 0))
            }
            _ => None,
        };
        let output = process.stdout.take().map(|pipe| (Pipe::Output, pipe.into()));
        let error = process.stderr.take().map(|pipe| (Pipe::Error, pipe.into()));
        let group = Pid::from_child(&process);
        let pipes = output.into_iter().chain(error).collect();
        let term = timeout.and_then(|timeout| started.checked_add(timeout));
        let (kill, is_late, until) = (None, false, None);
        self.running.push(Child {
            number,
            process,
            group,
            input,
            pipes,
            started,
            term,
            kill,
            is_late,
            until,
        });
        Ok(())
    }

    /// Blocks until something happens, at most until `time`.
    pub(crate) fn next(&mut self, time: Option<Instant>) -> io::Result<Happened<'_>> {
        loop {
            if let Some(signal) = self.signals.caught().filter(|_| !self.is_stopping) {
                return Ok(Happened::Signal(signal));
            }
            self.notice_exits();
            let now = Instant::now();
            for child in &mut self.running {
                child.urge(now);
            }
            if let Some(at) = self.running.iter().position(|child| child.is_done(now)) {
                let child = self.running.remove(at);
                let number = child.number;
                return Ok(Happened::Ended { child: number, exit: child.end(self.signals)? });
            }
            if time.is_some_and(|time| time <= now) {
                return Ok(Happened::Time);
            }
            if let Some((child, pipe, count)) = self.wait(now, time)? {
                let bytes = self.buffer.before(count);
                return Ok(Happened::Wrote { child, pipe, bytes });
            }
        }
    }

    /// Ends one, as its timeout would.
    pub(crate) fn end(&mut self, number: u64) {
        let now = Instant::now();
        let child = self.running.iter_mut().find(|child| child.number == number);
        child.into_iter().for_each(|child| child.term = child.kill.is_none().then_some(now));
    }

    /// Ends all: SIGTERM, and SIGKILL after two seconds to those that go on.
    pub(crate) fn stop(&mut self) -> io::Result<()> {
        let now = Instant::now();
        for child in &mut self.running {
            child.term = child.kill.is_none().then_some(now);
        }
        self.is_stopping = true;
        while !self.running.is_empty() {
            self.next(None)?;
        }
        self.is_stopping = false;
        Ok(())
    }

    /// Notes which leaders have exited.
    fn notice_exits(&mut self) {
        let mut woken = false;
        while matches!(read(&self.exits, &mut [0; 64]), Ok(1..)) {
            woken = true;
        }
        if !woken && !self.is_deaf {
            return;
        }
        let now = Instant::now();
        for child in self.running.iter_mut().filter(|child| child.until.is_none()) {
            // Its number stays its own until it is reaped.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            match waitid(WaitId::Pid(child.group), options) {
                Ok(None) | Err(Errno::INTR) => {}
                Ok(Some(_)) | Err(_) => child.until = Some(now + LINGER),
            }
        }
    }

    /// Waits for bytes, exits, signals or the next point in time. Reads what one pipe holds, and
    /// writes what others take.
    fn wait(
        &mut self,
        now: Instant,
        time: Option<Instant>,
    ) -> io::Result<Option<(u64, Pipe, usize)>> {
        let look = (self.is_deaf && !self.running.is_empty()).then(|| now + LINGER / 2);
        let next =
            self.running.iter().flat_map(Child::times).flatten().chain(time).chain(look).min();
        let timeout = next.map(|next| {
            let left = next.saturating_duration_since(now) + Duration::from_millis(1);
            Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 })
        });
        let mut ready = vec![PollFd::from_borrowed_fd(self.exits.as_fd(), PollFlags::IN)];
        if !self.is_stopping {
            ready.push(PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN));
        }
        let fixed = ready.len();
        let mut places = Vec::new();
        for (at, child) in self.running.iter().enumerate() {
            for (descriptor, flags, place) in child.descriptors() {
                ready.push(PollFd::from_borrowed_fd(descriptor, flags));
                places.push((at, place));
            }
        }
        match poll(&mut ready, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let is_ready = ready.iter().skip(fixed).map(|fd| !fd.revents().is_empty());
        let mut ready: Vec<_> =
            places.into_iter().zip(is_ready).filter(|(_, is)| *is).map(|(at, _)| at).collect();
        let middle = ready.partition_point(|(at, _)| *at < self.turn);
        ready.rotate_left(middle);
        let mut closed = Vec::new();
        let mut got = None;
        for (at, place) in ready {
            let Some(child) = self.running.get_mut(at) else { continue };
            let Some(place) = place else {
                child.write();
                continue;
            };
            if got.is_some() {
                continue;
            }
            let Some((pipe, descriptor)) = child.pipes.get(place) else { continue };
            match read(descriptor, &mut *self.buffer) {
                Ok(0) => closed.push((at, *pipe)),
                Ok(count) => {
                    got = Some((child.number, *pipe, count));
                    self.turn = at + 1;
                }
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => closed.push((at, *pipe)),
            }
        }
        for (at, pipe) in closed {
            if let Some(child) = self.running.get_mut(at) {
                child.pipes.retain(|(open, _)| *open != pipe);
            }
        }
        Ok(got)
    }
}

/// True if a descriptor is closed in what this process starts.
fn is_closed(descriptor: RawFd) -> bool {
    let flags = fcntl(descriptor, FcntlArg::F_GETFD);
    flags.is_ok_and(|flags| FdFlag::from_bits_truncate(flags).contains(FdFlag::FD_CLOEXEC))
}

/// Says if a descriptor is closed in what this process starts. One that is not open is none there
/// either.
fn set_closed(descriptor: RawFd, is_closed: bool) {
    let flags = if is_closed { FdFlag::FD_CLOEXEC } else { FdFlag::empty() };
    let _ = fcntl(descriptor, FcntlArg::F_SETFD(flags));
}

impl Drop for Children<'_> {
    fn drop(&mut self) {
        for child in self.running.drain(..) {
            // There is no one left to tell.
            let _ = child.end(self.signals);
        }
        low_level::unregister(self.hook);
    }
}

impl Child {
    /// Sends the signals that are due.
    fn urge(&mut self, now: Instant) {
        if self.until.is_some() {
            return;
        }
        if self.term.is_some_and(|term| term <= now) {
            (self.term, self.kill, self.is_late) = (None, Some(now + GRACE), true);
            self.signal(Signal::TERM);
            // A group that was stopped acts on it only when it goes on.
            self.signal(Signal::CONT);
        }
        if self.kill.is_some_and(|kill| kill <= now) {
            self.kill = None;
            self.signal(Signal::KILL);
        }
    }

    /// Sends a signal to the group. That no one is left in it is no error.
    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.group, signal);
    }

    /// True if nothing more is to be read of it.
    fn is_done(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| self.pipes.is_empty() || until <= now)
    }

    /// The points in time at which something is to be done.
    fn times(&self) -> [Option<Instant>; 3] {
        let [term, kill] = [self.term, self.kill].map(|at| at.filter(|_| self.until.is_none()));
        [term, kill, self.until]
    }

    /// The descriptors to wait for: standard input, and the pipes by their places.
    fn descriptors(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags, Option<usize>)> {
        let input = self.input.iter().map(|(pipe, _, _)| (pipe.as_fd(), PollFlags::OUT, None));
        let pipes = self.pipes.iter().enumerate();
        input.chain(pipes.map(|(place, (_, pipe))| (pipe.as_fd(), PollFlags::IN, Some(place))))
    }

    /// Writes what standard input takes. A program that does not read is not at fault.
    fn write(&mut self) {
        let Some((pipe, bytes, written)) = &mut self.input else { return };
        let rest = bytes.after(*written);
        match write(&*pipe, rest.before(BLOCK)) {
            Ok(count) => *written += count,
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => *written = bytes.len(),
        }
        if *written == bytes.len() {
            self.input = None;
        }
    }

    /// Kills what is left of the group, and reaps the leader.
    fn end(mut self, signals: &Signals) -> io::Result<Exit> {
        self.signal(Signal::KILL);
        signals.groups().remove(self.group);
        let took = self.started.elapsed();
        let status = loop {
            match self.process.wait() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                waited => break waited?,
            }
        };
        Ok(Exit { status, is_late: self.is_late, took })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a line of shell, and returns what it wrote, how it ended, and when.
    fn run(script: &str, input: &str, timeout: Duration) -> (String, Exit) {
        let signals = Signals::listen().unwrap();
        let mut children = Children::new(&signals).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).stderr(Stdio::piped());
        children.start(7, &mut command, input.into(), Some(timeout)).unwrap();
        let mut out = Vec::new();
        loop {
            match children.next(None).unwrap() {
                Happened::Wrote { bytes, child: 7, .. } => out.extend_from_slice(bytes),
                Happened::Ended { exit, child: 7 } => {
                    assert!(children.running.is_empty());
                    return (String::from_utf8(out).unwrap(), exit);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    const LONG: Duration = Duration::from_secs(60);

    #[track_caller]
    fn check(script: &str, input: &str, expected: &str, code: Option<i32>) {
        let (out, exit) = run(script, input, LONG);
        assert_eq!((out.as_str(), exit.status.code()), (expected, code), "{script}");
        assert!(!exit.is_late && exit.took < LONG / 2, "{script}: {exit:?}");
    }

    #[test]
    fn a_program_is_given_its_input_and_read_to_its_end() {
        check("cat; echo b >&2; exit 3", "a\n", "a\nb\n", Some(3));
        let much = "x".repeat(1 << 20);
        check("cat", &much, &much, Some(0));
    }

    #[test]
    fn a_program_need_not_read() {
        check("exec <&-; echo a", &"x".repeat(1 << 20), "a\n", Some(0));
        check("echo a", &"x".repeat(1 << 20), "a\n", Some(0));
    }

    #[test]
    fn what_it_leaves_behind_holds_no_one() {
        check("sleep 60 & echo a", "", "a\n", Some(0));
        check("(trap '' TERM; sleep 60) & echo a; kill -KILL $$", "", "a\n", None);
    }

    #[test]
    fn late_programs_are_ended_with_all_that_they_started() {
        let timeout = Duration::from_millis(50);
        let (out, exit) = run("echo a; sleep 60 | cat", "", timeout);
        assert_eq!(out, "a\n");
        assert!(exit.is_late && exit.took < GRACE, "{exit:?}");
        let (_, exit) = run("trap '' TERM; while :; do sleep 1; done", "", timeout);
        assert!(exit.is_late && exit.took >= GRACE && exit.took < LONG / 2, "{exit:?}");
    }
}
