//! The integration tests, in one binary. Those of each fixture are in
//! `tests/cases`, which has some files of both.

// A test may fail, and an index be out of range: that is what it's there for. Two of
// the files are the fuzz targets' as well.
#![allow(clippy::unwrap_used, clippy::string_slice, unreachable_pub)]

/// The loop of an agent, and the scripts of the guide.
mod agents;
/// The instructions that a program takes.
#[path = "../bench/callgrind.rs"]
mod callgrind;
/// Captures: kept, played, converted, held to golden files.
mod captures;
/// What the tests of the program itself need: its fixture cases, and ways to run one.
#[path = "../cases/case.rs"]
#[allow(dead_code)]
mod case;
/// What the fuzz targets check, of any bytes at all.
#[allow(unreachable_pub)]
#[path = "../fuzz/checks.rs"]
mod checks;
/// Which laws a case need not keep.
#[path = "../cases/exceptions.rs"]
#[allow(dead_code)]
mod exceptions;
/// Order in the house: who uses whom, names, rows, what is given away.
mod house;
/// A reader of JSON for what the program writes.
#[path = "../cases/json.rs"]
mod json;
/// Memory, hostile and random input, signals, pipes, full disks.
mod limits;
/// Programs of others: coding agents, SDKs, engines, a proxy.
mod others;
/// The command line, and the pages about it.
mod pages;
/// What is read: dialects, what stands around a stream, rows, and whether others read the same.
mod reading;
/// Records that repeat the last one.
#[path = "../cases/repeat.rs"]
#[allow(dead_code)]
mod repeat;
/// One run of the program, in memory.
#[path = "../cases/run.rs"]
#[allow(dead_code)]
mod run;
/// The shape of a message.
#[path = "../cases/shape.rs"]
#[allow(dead_code)]
mod shape;
