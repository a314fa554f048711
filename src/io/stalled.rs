//! Output that no one reads.

use std::{error, fmt, io};

/// The reason why output was given up that no one reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stalled {
    /// This signal came.
    Signal(i32),
    /// It is time.
    Time,
}

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no one reads the output")
    }
}

impl error::Error for Stalled {}

impl Stalled {
    /// Returns why output was given up, if this error says so.
    pub(crate) fn of(error: &io::Error) -> Option<Stalled> {
        error.get_ref()?.downcast_ref().copied()
    }
}
