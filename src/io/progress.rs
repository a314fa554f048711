//! The progress bar of long runs, on standard error.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The smallest file that is worth a bar.
const MIN_SIZE: u64 = 64 << 20;

/// How long a run takes before it is worth one.
const PATIENCE: Duration = Duration::from_secs(1);

const TEMPLATE: &str = "{bar:40} {bytes}/{total_bytes} {eta}";

/// A bar, or nothing. It is there only if standard error is a terminal,
/// standard output is none, and the input is a large file.
pub struct Progress {
    bar: Option<ProgressBar>,
    is_shown: Cell<bool>,
    since: Instant,
}

impl Progress {
    /// A bar for an input of this size, if it deserves one.
    pub fn new(size: Option<u64>) -> Self {
        let is_seen = io::stderr().is_terminal() && !io::stdout().is_terminal();
        let size = size.filter(|&size| is_seen && size > MIN_SIZE);
        let bar = size.map(|size| {
            let style = ProgressStyle::with_template(TEMPLATE)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::with_draw_target(Some(size), ProgressDrawTarget::hidden())
                .with_style(style)
        });
        Progress { bar, is_shown: Cell::new(false), since: Instant::now() }
    }

    /// No bar.
    pub fn none() -> Self {
        Progress { bar: None, is_shown: Cell::new(false), since: Instant::now() }
    }

    /// So many more bytes have been read.
    pub(super) fn advance(&self, count: usize) {
        let Some(bar) = &self.bar else { return };
        bar.inc(count as u64);
        if !self.is_shown.get() && self.since.elapsed() > PATIENCE {
            self.is_shown.set(true);
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Takes the bar off the screen.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Standard error, for lines that don't run into the bar.
    pub fn stderr(&self) -> impl Write + use<> {
        Beside(self.bar.clone())
    }
}

/// Standard error beside a bar.
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
