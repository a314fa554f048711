//! The reasons to end a run at once, wherever it is.

use std::io;

/// The reason why a run ends early. Only what was not written into the request is lost.
#[derive(Debug)]
pub(crate) enum Stop {
    /// This signal came.
    Signal(i32),
    /// The time of `--deadline` is over.
    Deadline,
    /// Standard output can't be written.
    Lost(io::Error),
    /// Something that the run needs can't be read or written: its name stands in the error.
    Failed(io::Error),
}

impl Stop {
    /// Returns the failure of what has a name.
    pub(crate) fn failed(name: impl std::fmt::Display) -> impl FnOnce(io::Error) -> Self {
        move |error| Stop::Failed(io::Error::new(error.kind(), format!("{name}: {error}")))
    }
}
