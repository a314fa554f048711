//! toolstream reads what a language-model provider sends, finds out which format it is, parses it
//! as it arrives, and emits one kind of events for all of them: text, reasoning, whole tool calls,
//! usage, one ending a message.
//!
//! It is a library, and a program (the feature `cli`, on by default) that writes these events as
//! NDJSON. A program that only parses depends on it with `default-features = false`.
//!
//! # In twenty lines
//!
//! Bytes go into a [`Pipeline`], cut anywhere; events come out at a [`Sink`](sink::Sink). A call is the
//! caller's to run if it has no `executor`, and once the message that it is in has ended well: what comes
//! before may still be taken back.
//!
//! ```
//! use toolstream::event::Kind;
//! use toolstream::{Config, Pipeline, sink};
//!
//! #[derive(serde::Deserialize)]
//! struct Weather {
//!     city: String,
//! }
//!
//! let stream = [
//!     "data: {\"choices\":[{\"delta\":{\"content\":\"I look.\",\"tool_calls\":[{\"index\":0,\"id\":\"a\",",
//!     "\"function\":{\"name\":\"weather\",\"arguments\":\"{\\\"city\\\":\\\"Cork\\\"}\"}}]}}]}\n\n",
//!     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
//! ];
//! let (mut text, mut called, mut to_run) = (String::new(), Vec::new(), Vec::new());
//! let mut sink = sink::from_fn(|event| {
//!     match event.kind {
//!         Kind::Text(piece) => text.push_str(piece.text),
//!         // What has an executor was run by the provider, or by the agent whose log this is.
//!         Kind::ToolCall(call) if call.executor.is_none() && call.name == "weather" => {
//!             called.push(call.parse::<Weather>().map_err(std::io::Error::other)?);
//!         }
//!         // The message has ended well: now its calls may run.
//!         Kind::Finish(_) => to_run.append(&mut called),
//!         // It has not: no call of it may.
//!         Kind::Error(_) => called.clear(),
//!         _ => {}
//!     }
//!     Ok(())
//! });
//! let mut pipeline = Pipeline::new(&Config::default());
//! for piece in stream {
//!     pipeline.feed(piece.as_bytes(), &mut sink)?;
//! }
//! pipeline.finish(&mut sink)?;
//! assert_eq!(text, "I look.");
//! assert_eq!(to_run[0].city, "Cork");
//! # std::io::Result::Ok(())
//! ```
//!
//! A program that has tasks or channels in place of a sink takes owned events, which are `Send` and can
//! be written as JSON: a `Vec` is a sink. With tokio, where `body` is a stream of bytes and `sender` a
//! channel's:
//!
//! ```text
//! while let Some(bytes) = body.next().await {
//!     pipeline.feed(&bytes?, &mut events)?;
//!     for event in events.drain(..) {
//!         sender.send(event).await?;
//!     }
//! } // and the same with `finish`
//! ```
//!
//! The examples under `tests/examples` go on from here: `events` (NDJSON on standard output),
//! `tokio_channel`, `futures_stream` (which also end a message whose connection broke), `own_sink`,
//! `own_format`, `own_dialect`. `proxy` is a package of its own: an HTTP proxy (axum, tokio)
//! that passes streams on and logs the calls in them as soon as they are whole.
//!
//! | for | see |
//! | --- | --- |
//! | the way from bytes to events | [`Pipeline`], [`Config`] |
//! | what happens in a message | [`event::Kind`] |
//! | what becomes of it | [`sink::Sink`]; [`sink::Ndjson`], [`sink::Classify`], [`sink::Join`] |
//! | another provider's stream | [`convert::Converter`], [`convert::convert()`] |
//! | what can be read | [`frame::FRAMINGS`], [`format::FORMATS`], [`dialect::DIALECTS`] |
//! | the caller's tools | [`tools::Tools`] |
//! | a format of one's own | [`format::Format`], [`format::Decoder`], [`format::read`] |
//! | a dialect of one's own | [`dialect::load()`], [`dialect::Dialect`] |
//! | a local program of one's own | [`dressing::load()`], [`dressing::Program`] |
//!
//! Nothing panics on any input, and bad input is no `Err`: it is a [`Kind::Error`](event::Kind)
//! or a [`Kind::Warning`](event::Kind). An `Err` comes from the sink alone.
//!
//! # The flow
//!
//! Every layer has one pair of verbs, `feed` and `finish`. It hands what it has completed to the
//! next layer through a closure, and keeps what it has not; there is no "need more" value.
//!
//! ```text
//! bytes ─ frame ─▶ frames ─ format ─▶ deltas ─ dialect ─▶ deltas ─ assemble ─▶ events ─ sink ─▶ bytes
//! ```
//!
//! Around the dialects lies the layer of plain text's [`dressing`](mod@dressing).
//!
//! `pipeline.rs` says that line in code.
//!
//! # The map
//!
//! | layer | where | from → to | knows nothing of |
//! | --- | --- | --- | --- |
//! | framing | [`mod@frame`] | bytes → [`frame::Frame`] | JSON's meaning, providers |
//! | wire format | [`format`](mod@format) | frame → [`event::Event`] (deltas) | framing, dialects, output |
//! | dialect | [`dialect`] | text → text, reasoning, calls, blocks | providers, output |
//! | dressing | [`dressing`](mod@dressing) | a local program's output → what the model said | markup of calls, output |
//! | assembly | `assemble` | deltas → whole calls, one usage, one ending | syntax of any kind |
//! | output | [`sink`] | events → bytes | input |
//!
//! Beside the layers:
//!
//! | where | what |
//! | --- | --- |
//! | `pipeline.rs` | the layers joined; [`Config`] |
//! | `detect` | the framer and the decoder that choose their own row: they keep the head of the input until a row recognises it, replay it to that row's framer or decoder, and pass on everything from then on |
//! | `repeat` | the record that looks like the last one: compared instead of parsed. It can be taken out; its first page says why it is sound |
//! | `cut` | text and lists cut at a place that a search has found, so that a wrong one loses nothing |
//! | `scan`, `json` | the machines that several layers use: markers in text that comes in pieces, JSON that is not whole yet |
//! | [`tools`] | what `--tools` declares: names, and the types of arguments |
//! | `event/redact.rs` | credentials in messages, masked |
//! | `turns` | the layer of `--turn`: the part of a message that the next request has to hold |
//! | [`convert`] | the events of one message, written as the stream of another provider |
//! | `request` | the next request: REQUEST's own bytes, grown by an answer and the results of its calls |
//! | `agent` | the loop of an agent: rounds, tools, asking, limits |
//! | `approval` | the rules of `--approve` |
//! | `rows` | rows of NDJSON that hold answers, and get their summaries |
//! | `cassette` | files of recorded exchanges: a row a recorder, JSON and YAML as one stream of nodes, one exchange in memory |
//! | `capture` | captures, when their bytes came, and the golden files that they are held to |
//! | `commands` | one file a command; the loop over inputs; `main` |
//! | `cli` | the clap structs |
//! | `io` | descriptors, signals, processes, progress, lines on standard error; all that differs between machines |
//! | `status` | the exit status |
//!
//! From the outside in, `commands/messages.rs` wraps them so for `parse`: `io::pump` reads an
//! `Input` and feeds a `Pipeline`, whose framer is an `AutoFramer` around one [`frame::Framer`] and
//! whose decoder an `AutoDecoder` around one [`format::Decoder`], with `Repeats` beside both. Its
//! sink is a `Witness` (exit status, errors on standard error) around a `Join` (`--join`) around the
//! `Ndjson` that writes into a `BufferedOutput`. `classify` puts a `Capped` (`--max-memory`) before it.
//!
//! # Words
//!
//! | word | meaning |
//! | --- | --- |
//! | message | one answer of a model, from `start` to `finish_reason` or `error` |
//! | choice | one of several alternative answers in a message |
//! | record | what a provider sends at once: one JSON object, mostly |
//! | frame | a record in its framing: name, payload, offset in the input |
//! | payload | the bytes of a frame that are the provider's |
//! | event | one thing that happened in a message; a line of the output |
//! | delta | an event that adds a piece: of text, of reasoning, of a call |
//! | call | a request of the model to run a tool |
//! | argument | one of the values that a call gives to its tool |
//! | fragment | a piece of the JSON text of a call's arguments |
//! | block | metadata beside the answer: a citation, a source, generated media |
//! | region | a stretch of text between markers that is not the answer, or a part of it |
//! | section | the markers around a group of calls |
//! | marker | text that a model writes to say what follows: an opener or a closer |
//! | turn | what the next request must hold of this message |
//! | round | one request of an agent, its answer and the results of its calls |
//! | capture | a file of recorded bytes of a stream |
//!
//! # Invariants
//!
//! - Tables hold the variety, machines hold the difficulty. Framings, wire formats and dialects
//!   are rows of static slices.
//! - Bad input is an event; only I/O is an `Err`.
//! - The bytes alone decide the result, never how they were cut into reads.
//! - A `tool_call` is strictly parsed and was closed by its provider. A prefix of the input never
//!   yields a call that the whole does not, but where a format sends arguments after the end.
//! - No byte is searched twice: a held tail remembers where its search stopped.
//! - A layer that finds out its row is a layer like any other: a pipeline holds it in the place of
//!   the row.
//! - A round is written into a request once each of its calls has a result, and the turn in it is
//!   the provider's own JSON.
//! - No word of a model becomes part of a command line, a path or an environment variable's name.
//! - Data flows one way: no layer asks the one after it.
//!
//! # Adding a wire format
//!
//! 1. Write a TOML file with the fields of a row (`man/reference.md`, "Format files"), and try it
//!    with `-f FILE`. Put it at `src/format/rows/NAME.toml`: the build makes a static of it. The
//!    log of an agent is a row with `log`, as `goose.toml` is. What no row can say is
//!    `src/format/NAME.rs`: structs with every field optional and borrowed ([`format::payload!`]),
//!    and a [`format::Decoder`].
//! 2. Name it in `src/format/table.rs`. Detection takes the first row that recognises a record: a row
//!    whose records are a special case of another one's stands above it. What code adds to a row (a
//!    request, a writer) is named in `src/format/rows.rs`.
//! 3. Add cases: one `CASE.in` for each rule, in `fixtures/format/NAME`.
//! 4. `UPDATE_FIXTURES=NAME cargo test --test cases` writes the answers of the cases that have NAME
//!    in their names; read the difference.
//! 5. Never touch another layer: if the format does not fit, repair the design.
//!
//! # Adding a dialect
//!
//! 1. Write a TOML file with the fields of [`dialect::Dialect`], its markers in the pattern
//!    language (`man/reference.md`, "Dialect files"), and try it with `-d FILE`.
//! 2. The same fields are a row in the file of its family in `src/dialect/rows`, and a line in
//!    `src/dialect/table.rs`.
//! 3. Put `fixtures/dialect/NAME/one_call.in` and `several_calls_and_text.in` beside it, each
//!    with its `.args`: the tests ask for them.
//!
//! # Adding a recorder of exchanges
//!
//! 1. Write a row in `src/cassette/table.rs`: what is seen of its files first, where the exchanges
//!    are, and in each of them method, URL, request, status, headers and body.
//! 2. Put a file of it in `fixtures/cassette/NAME`, with the four exchanges that all others have.
//!
//! # Adding a local program
//!
//! 1. Write a TOML file with the fields of [`dressing::Program`], its texts as the program's source
//!    has them, and try it with `--from FILE`.
//! 2. The same fields are a row in `src/dressing/table.rs`. Add cases in `fixtures/dressing/NAME`.

// Without `cli`, the tests' own way in is closed, and what it leads to is public for no one.
#![cfg_attr(not(feature = "cli"), allow(unreachable_pub))]
// Without Unix no programs are run, and what only that takes is used by no one.
#![cfg_attr(not(unix), allow(dead_code, unused_imports))]

pub mod convert;
pub mod dialect;
pub mod dressing;
pub mod event;
pub mod format;
pub mod frame;
pub mod sink;
pub mod tools;

#[cfg(all(feature = "cli", unix))]
mod agent;
#[cfg(feature = "cli")]
mod approval;
mod assemble;
#[cfg(feature = "cli")]
mod capture;
#[cfg(feature = "cli")]
mod cassette;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod commands;
mod cut;
mod detect;
#[cfg(feature = "cli")]
mod io;
mod json;
mod leak;
mod nearest;
mod pipeline;
mod repeat;
#[cfg(feature = "cli")]
mod request;
mod row_error;
#[cfg(feature = "cli")]
mod rows;
mod scan;
#[cfg(feature = "cli")]
mod status;
mod turns;

pub use assemble::AssemblerConfig;
#[doc(hidden)]
#[cfg(feature = "cli")]
pub use commands::main;
pub use json::Str;
pub use pipeline::{Config, Pipeline};

/// The inner parts that the tests, benchmarks and fuzz targets of this package use, which have the
/// feature `cli`. They may change in any version.
#[doc(hidden)]
#[cfg(feature = "cli")]
pub mod internals {
    pub use crate::{
        assemble::Assembler,
        capture::{
            Dice, Excuse, Split, other_lines, prefix_of, shrink, stretch, stretches,
            without_offsets,
        },
        cassette::{Seen, exchanges, recorder_names},
        cli::{Cli, Command},
        commands::{InputReader, describe},
        detect::{AutoFramer, Verdict, explain},
        event::loose::{CallEnd, Loose},
        io::{BufferedOutput, Ended, Input, Progress, Read, Signals, Task, pump, report_on},
        json::{JsonStatus, Scanner},
        status::{Status, Witness},
    };
}
