//! The integration tests, in one binary. Those of each fixture are in
//! `tests/cases`, which has some files of both.

// A test may fail, and an index be out of range: that is what it's there for. Two of
// the files are the fuzz targets' as well.
#![allow(clippy::unwrap_used, clippy::string_slice, unreachable_pub)]

/// The loop of an agent.
mod agent;
/// Coding agents of others, against captures.
mod agents;
/// What text and calls in text allocate.
mod allocations;
/// Memory on streams without end.
mod bounds;
/// Streams that are kept with their rhythm, and played.
mod captures;
/// What the tests of the program itself need: its fixture cases, and ways to run one.
#[path = "../cases/case.rs"]
#[allow(dead_code)]
mod case;
/// Files of recorded exchanges.
mod cassettes;
/// Captures against their golden files.
mod check;
/// What the fuzz targets check, of any bytes at all.
#[allow(unreachable_pub)]
#[path = "../fuzz/checks.rs"]
mod checks;
/// The command line: every option, every exit status.
mod cli;
/// The providers' own clients, installed from the network.
mod clients;
/// Streams of other providers, written.
mod convert;
/// What fuzzing has found and kept goes through its target again.
mod corpus;
/// Every row of the dialects, tried with what its own fixture shows.
mod dialects;
/// Where others have written a reader of the same thing, it agrees.
mod differential;
/// What is given away, installed.
mod dist;
/// README's examples run; the man page is what the command line is.
mod docs;
/// What local programs print around a model's words.
mod dressing;
/// Signals, deadlines and full disks, in every state.
mod endings;
/// Engines that pipe rows.
mod engines;
/// The examples of the library print what they say.
mod examples;
/// Which laws a case need not keep.
#[path = "../cases/exceptions.rs"]
#[allow(dead_code)]
mod exceptions;
/// Every read and every write fails once.
mod faults;
/// Inputs that are larger or deeper than anyone has a reason to send.
mod hostile;
/// Who uses whom in `src`.
mod imports;
/// A reader of JSON for what the program writes.
#[path = "../cases/json.rs"]
mod json;
/// Lines of other programs before a stream.
mod leading;
/// Captures that are played over HTTP.
mod listening;
/// Mistakes, and what people are told.
mod mistakes;
/// The request after an answer.
mod next;
/// README's pictures.
mod pictures;
/// Records of the fixtures that never repeat take no memory.
mod piles;
/// Pipes, signals, and output that can't be written.
mod pipes;
/// The library in a proxy.
mod proxy;
/// The laws of the output, over random input.
mod random;
/// Records that repeat the last one.
#[path = "../cases/repeat.rs"]
#[allow(dead_code)]
mod repeat;
/// Folders with a request, answers and tools.
mod rows;
/// One run of the program, in memory.
#[path = "../cases/run.rs"]
#[allow(dead_code)]
mod run;
mod scene;
/// The shell scripts of the guide.
mod scripts;
/// The guide's recipes, with curl.
mod served;
/// The shape of a message.
#[path = "../cases/shape.rs"]
#[allow(dead_code)]
mod shape;
/// Fixtures of dialects, joined and spliced.
mod splice;
/// Beginnings of inputs, one after another, cut at every byte.
mod spliced;
/// Random records that repeat the last one.
mod templates;
/// What reviewers would repeat: rows, files, fixtures, imports, lines.
mod tidy;
/// What a request grows by, provider by provider.
mod turn;
/// Every warning code comes in some answer.
mod warnings;
