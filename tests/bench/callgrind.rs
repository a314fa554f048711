//! The instructions that a program takes, as callgrind counts them: no clock is asked, and no other
//! program's work counts.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the instructions that a program takes for a file; nothing without valgrind.
pub(crate) fn instructions(program: &str, args: &[&str], input: &Path) -> Option<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", program]).args(args);
    let output = command.stdin(File::open(input).unwrap()).stdout(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().find_map(|line| line.split_once("Collected : "))?.1.trim().parse().ok()
}
