//! Reading and writing: descriptors, signals, standard error. Knows nothing of
//! what is read or written.
//!
//! What a filter must get right and `std` does not: reads that end at once when a signal comes
//! ([`Signals`], [`Input`]); descriptors that do not block; output that a full disk or a reader that
//! left would lose ([`BufferedOutput`]); programs that are run, and what they leave behind
//! (`unix/children.rs`, `unix/leash.rs`); text on standard error that could harm a terminal or reveal a
//! credential ([`report()`]).
//!
//! What machines have in common is here. What only Unix has is in `unix`; `elsewhere.rs` has the same
//! names, but for what no other machine can do: programs run, and questions on a terminal.

#[cfg(not(unix))]
mod elsewhere;
pub(crate) mod http;
mod input;
mod output;
mod progress;
mod pump;
mod report;
mod stalled;
#[cfg(unix)]
mod unix;
mod whole;

#[cfg(not(unix))]
pub use elsewhere::Signals;
#[cfg(not(unix))]
pub(crate) use elsewhere::{
    OpenFile, SIGPIPE, Standard, begin, columns, die, hold, input_until, is_standard_input,
    private_file, replace, share, wait_beside_output, wait_for_input, write_through,
};
pub(crate) use input::STANDARD_INPUT;
pub use input::{Input, Read};
pub use output::BufferedOutput;
pub use progress::Progress;
pub use pump::{Ended, Task, pump};
pub use report::report_on;
pub(crate) use report::{report, report_error, report_lines};
pub(crate) use stalled::Stalled;
#[cfg(unix)]
pub use unix::Signals;
#[cfg(unix)]
pub(crate) use unix::{
    Children, Exit, Happened, OpenFile, Pipe, SIGPIPE, Standard, Terminal, TerminalAnswer, Woken,
    begin, columns, die, hold, input_until, is_standard_input, private_file, replace, share,
    wait_beside_output, wait_for, wait_for_input, write_through,
};
pub(crate) use whole::{Original, can_write, read_whole, write_shared, write_whole};

/// The size of one read or write, in bytes: the capacity of a pipe.
const BLOCK: usize = 64 << 10;
