//! The integration tests, in one binary.

// A test may fail, and an index be out of range: that is what it's there for. Two of
// the files are the fuzz targets' as well.
#![allow(clippy::unwrap_used, clippy::string_slice, unreachable_pub)]

/// What the tests of the program itself need: its fixture cases, and ways to run one.
mod case;
/// What the fuzz targets check, of any bytes at all.
#[allow(unreachable_pub)]
#[path = "../fuzz/checks.rs"]
mod checks;
/// The command line: every option, every exit status.
mod cli;
/// What fuzzing has found and kept goes through its target again.
mod corpus;
/// Every row of the dialects, tried with what its own fixture shows.
mod dialects;
/// Where others have written a reader of the same thing, it agrees.
mod differential;
/// README's examples run; the man page is what the command line is.
mod docs;
/// The examples of the library print what they say.
mod examples;
/// Every read and every write fails once.
mod faults;
/// Every `case.in` gives its `case.out`.
mod fixtures;
/// Inputs that are larger or deeper than anyone has a reason to send.
mod hostile;
/// A reader of JSON for what the program writes.
mod json;
/// The laws of the output, over every fixture and over random input.
mod laws;
/// Pipes, signals, and output that can't be written.
mod pipes;
/// One run of the program, in memory.
mod run;
/// Every line is what `toolstream schema` says.
mod schema;
/// Records that look like the last one say what decoding them says.
mod templates;
/// What reviewers would repeat: rows, files, fixtures, imports, lines.
mod tidy;
