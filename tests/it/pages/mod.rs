//! The command line, and the pages about it.

/// The command line: every option, every exit status.
pub(crate) mod cli;
/// README's examples run; the man page is what the command line is.
pub(crate) mod docs;
/// The examples of the library print what they say.
pub(crate) mod examples;
/// Mistakes, and what people are told.
pub(crate) mod mistakes;
/// README's pictures.
pub(crate) mod pictures;
