//! The integration tests, in one binary.

// A test may fail, and an index be out of range: that is what it's there for.
#![allow(clippy::unwrap_used, clippy::string_slice)]

/// What the tests of the program itself need: its fixture cases, and ways to run one.
mod case;
/// The command line: every option, every exit status.
mod cli;
/// README's examples run; the man page is what the command line is.
mod docs;
/// Every `case.in` gives its `case.out`.
mod fixtures;
/// A reader of JSON for what the program writes.
mod json;
/// The laws of the output, over every fixture and over random input.
mod laws;
/// Pipes, signals, and output that can't be written.
mod pipes;
/// Every line is what `toolstream schema` says.
mod schema;
/// What reviewers would repeat: rows, files, fixtures, imports, lines.
mod tidy;
