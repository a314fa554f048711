//! The process groups that this process started, and a process beside it that kills what is left of
//! them when this one is gone: also where it was killed, and had no time to do that by itself.
//!
//! A signal of the kernel for that (`PR_SET_PDEATHSIG`) is set in the child, between fork and exec,
//! which takes unsafe code, and reaches the child alone, not what that has started. So this program
//! runs once more, by the name [`NAME`], and reads a pipe: it ends with the process that writes it.

use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

/// The name that this program has as a leash.
const NAME: &str = "toolstream-leash";

/// The groups that run.
#[derive(Default)]
pub(super) struct Groups {
    running: Vec<Pid>,
    leash: Option<ChildStdin>,
}

impl Groups {
    /// Returns none, with a leash; without it where there is no way to start one.
    pub(super) fn on_leash() -> Groups {
        let mut command = Command::new("/proc/self/exe");
        command.arg0(NAME).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env_clear().current_dir("/").process_group(0);
        let leash = command.spawn().ok().and_then(|leash| leash.stdin);
        Groups { running: Vec::new(), leash }
    }

    pub(super) fn add(&mut self, group: Pid) {
        self.running.push(group);
        self.tell(b'+', group);
    }

    pub(super) fn remove(&mut self, group: Pid) {
        self.running.retain(|running| *running != group);
        self.tell(b'-', group);
    }

    fn tell(&mut self, sign: u8, group: Pid) {
        let [a, b, c, d] = group.as_raw_nonzero().get().to_le_bytes();
        let told = self.leash.as_mut().map(|leash| leash.write_all(&[sign, a, b, c, d]));
        if told.is_some_and(|told| told.is_err()) {
            self.leash = None;
        }
    }

    /// Kills all. That no one is left in a group is no error.
    pub(super) fn kill(&self) {
        for &group in &self.running {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// True if this process is a leash.
pub(super) fn is_leash(name: Option<&OsStr>) -> bool {
    name == Some(OsStr::new(NAME))
}

/// Holds the groups that standard input tells of, until that ends.
pub(super) fn hold() {
    let (mut input, mut message, mut groups) = (io::stdin(), [0; 5], Groups::default());
    while input.read_exact(&mut message).is_ok() {
        let [sign, a, b, c, d] = message;
        let Some(group) = Pid::from_raw(i32::from_le_bytes([a, b, c, d])) else { continue };
        match sign {
            b'+' => groups.add(group),
            _ => groups.remove(group),
        }
    }
    groups.kill();
}
