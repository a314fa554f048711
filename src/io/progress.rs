//! The progress bar of long runs, on standard error.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::json;

/// The smallest file that gets a bar, in bytes.
const MIN_SIZE: u64 = 64 << 20;

/// The time that a run takes before the bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

const TEMPLATE: &str = "{prefix} {wide_bar} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}";

/// The longest name that is shown whole, in characters.
const MAX_NAME: usize = 32;

/// A progress bar, or nothing. There is one only if standard error is a terminal, standard output
/// is not, and the input is a large file.
pub struct Progress {
    bar: Option<ProgressBar>,
    is_shown: Cell<bool>,
    since: Instant,
}

impl Progress {
    /// Returns a bar for an input of this name and size, if a bar is due.
    pub fn new(name: &str, size: Option<u64>) -> Self {
        let is_seen = || io::stderr().is_terminal() && !io::stdout().is_terminal();
        let size = size.filter(|&size| size > MIN_SIZE && is_seen());
        let bar = size.map(|size| {
            let style = ProgressStyle::with_template(TEMPLATE)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::with_draw_target(Some(size), ProgressDrawTarget::hidden())
                .with_style(style)
                .with_prefix(short(name))
        });
        Progress { bar, is_shown: Cell::new(false), since: Instant::now() }
    }

    /// Returns none.
    pub fn none() -> Self {
        Progress { bar: None, is_shown: Cell::new(false), since: Instant::now() }
    }

    /// Counts bytes that have been read.
    pub(super) fn advance(&self, count: usize) {
        let Some(bar) = &self.bar else { return };
        bar.inc(count as u64);
        if !self.is_shown.get() && self.since.elapsed() > PATIENCE {
            self.is_shown.set(true);
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Clears the bar from the screen.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Returns standard error; lines written to it appear above the bar.
    pub fn stderr(&self) -> impl Write + use<> {
        Beside(self.bar.clone())
    }
}

/// Standard error, which hides the bar while it writes.
struct Beside(Option<ProgressBar>);

impl Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0 {
            Some(bar) => bar.suspend(|| io::stderr().write(bytes)),
            None => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Returns a name as a terminal can show it: escaped, and of a long one the end.
fn short(name: &str) -> String {
    let mut safe = String::new();
    json::make_safe(name, &mut safe);
    let count = safe.chars().count();
    match count.checked_sub(MAX_NAME) {
        None | Some(0) => safe,
        Some(over) => ['…'].into_iter().chain(safe.chars().skip(over + 1)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        assert_eq!(short(name), expected);
    }

    #[test]
    fn names_fit_the_bar_and_are_harmless() {
        check("a.sse", "a.sse");
        check("a\u{1b}[2J", "a\\u001b[2J");
        check(&"x".repeat(32), &"x".repeat(32));
        check(&format!("{}.sse", "é".repeat(40)), &format!("…{}.sse", "é".repeat(27)));
    }
}
