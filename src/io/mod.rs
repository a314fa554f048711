//! Reading and writing: descriptors, signals, standard error. Knows nothing of
//! what is read or written.
//!
//! What a filter must get right and `std` does not: reads that end at once when a signal comes
//! ([`Signals`], [`Input`]); descriptors that do not block; output that a full disk or a reader that
//! left would lose ([`Output`]); programs that are run, and what they leave behind
//! (`children.rs`, `leash.rs`); text on standard error that could harm a terminal or reveal a
//! credential ([`report()`]).

mod children;
pub(crate) mod http;
mod input;
pub(crate) mod leash;
mod output;
mod progress;
mod pump;
mod report;
mod signals;
mod terminal;
mod whole;

pub(crate) use children::{Children, Exit, Happened, Pipe};
pub(crate) use input::STANDARD_INPUT;
pub use input::{Input, Read};
pub use output::Output;
pub use progress::Progress;
pub use pump::{Ended, Task, pump};
pub use report::report_on;
pub(crate) use report::{report, report_error, report_lines};
pub use signals::Signals;
pub(crate) use signals::{Stalled, Woken, catch_full_files, die, wait_for, wait_until};
pub(crate) use terminal::{Terminal, TerminalAnswer};
pub(crate) use whole::{Original, can_write, read_whole, write_whole};

/// The size of one read or write, in bytes: the capacity of a pipe.
const BLOCK: usize = 64 << 10;
