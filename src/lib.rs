//! toolstream reads what a language-model provider really sends, finds out
//! which format it is, parses it as it arrives, and writes NDJSON events or one
//! summary.
//!
//! # The flow
//!
//! Bytes, frames, text and events are all handled by one verb pair, `feed` and
//! `finish`. A layer hands what it has completed to the next through a closure,
//! and keeps what it has not; there is no "need more" value anywhere.
//!
//! ```text
//! bytes ─ frame ─▶ frames ─ wire ─▶ deltas ─ dialect ─▶ deltas ─ assemble ─▶ events ─ sink ─▶ bytes
//! ```
//!
//! That line is the whole program, and [`pipeline`] says it in code.
//!
//! # The map
//!
//! | layer | where | from → to | knows nothing of |
//! | --- | --- | --- | --- |
//! | framing | [`mod@frame`] | bytes → [`frame::Frame`] | JSON's meaning, providers |
//! | wire format | [`format`](mod@format) | frame → [`event::Event`] (deltas) | framing, dialects, output |
//! | dialect | [`dialect`] | text → text, reasoning, calls, blocks | providers, output |
//! | assembly | [`assemble`] | deltas → whole calls, one usage, one ending | syntax of any kind |
//! | output | [`sink`] | events → bytes | input |
//!
//! [`detect`] holds the layers that choose their own row, [`scan`] and [`json`]
//! the machines that several layers use, [`tools`] what `--tools` says, [`io`](mod@io)
//! the reading and writing, [`status`] the exit status, [`cli`] the command
//! line.
//!
//! # Invariants
//!
//! - Tables hold the variety, machines hold the difficulty. Framings, wire
//!   formats and dialects are rows of static slices.
//! - Bad input is an event; only I/O is an `Err`.
//! - The bytes alone decide the result, never how they were cut into reads.
//! - A `tool_call` line is strictly parsed and was closed by its provider. A
//!   prefix of the input never yields a call that the whole doesn't.
//! - No byte is searched twice: a held tail remembers where its search stopped.
//! - Detection is a layer like any other: the pipeline doesn't know of it.
//!
//! # Adding a wire format
//!
//! 1. Write `src/format/NAME.rs`: a `FORMAT` row, serde structs with every
//!    field optional and borrowed ([`json::Str`]), and a [`format::Decoder`].
//! 2. Name the file and its row in `src/format/table.rs`: two lines.
//! 3. Put `fixtures/wire/NAME/CASE.in` beside it, one for each rule.
//! 4. `UPDATE_FIXTURES=1 cargo test` writes the answers; read the difference.
//! 5. Never touch another layer: if the format doesn't fit, mend the design.
//!
//! # Adding a dialect
//!
//! 1. Write a TOML file with the fields of [`dialect::Dialect`], its markers in
//!    the pattern language of [`scan`], and try it with `-d FILE`.
//! 2. The same fields are a row of a family's file in `src/dialect/rows`, and a line
//!    in the table of `src/dialect/table.rs`.
//! 3. Put `fixtures/dialect/NAME/one_call.in` and `several_calls_and_text.in`
//!    beside it, each with its `.args`: the tests ask for them.

pub mod assemble;
pub mod cli;
pub mod detect;
pub mod dialect;
pub mod event;
pub mod format;
pub mod frame;
#[doc = include_str!("hardening.md")]
pub mod hardening {}
pub mod io;
pub mod json;
pub mod pipeline;
pub mod repeat;
pub mod scan;
pub mod sink;
pub mod status;
pub mod tools;
