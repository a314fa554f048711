//! Reading and writing: descriptors, signals, standard error. Knows nothing of
//! what is read or written.
//!
//! What a filter must get right and `std` doesn't: reads that a signal leaves
//! at once ([`Signals`], [`Input`]); descriptors that don't block; output that
//! is lost in silence, because standard output was full, or closed before the
//! program began ([`Output`]); a reader that left; words on standard error that
//! could harm a terminal or hold a key ([`report()`]).

mod input;
mod output;
mod progress;
mod pump;
mod report;
mod signals;

pub(crate) use input::STANDARD_INPUT;
pub use input::{Input, Read};
pub use output::Output;
pub use progress::Progress;
pub use pump::{Ended, Task, pump};
pub use report::report_on;
pub(crate) use report::{report, report_lines};
pub use signals::Signals;
pub(crate) use signals::die;

/// How much is read, or written, at once: what a pipe holds.
const BLOCK: usize = 64 << 10;
