//! The laws of the output, of one case.
//!
//! 1. Events, with neighbouring deltas joined, depend on the bytes alone.
//! 2. A `tool_call` line is whole, and closed by its provider.
//! 3. A prefix has a subset of the whole's calls, and ends in an error unless it
//!    holds the end of its message.
//! 4. In plain text nothing is lost.
//! 5. A message begins with `start`, and has one end, with its usage before it.
//! 9. Events, read as an input, give the same events.

use std::env;

use toolstream::dialect::{AtEnd, Selection};
use toolstream::format;
use toolstream::frame::FrameConfig;
use toolstream::internals::{Excuse, explain, other_lines, prefix_of, without_offsets};
use toolstream::{AssemblerConfig, Config};

use crate::case::{Case, Print, run};
use crate::exceptions::Exceptions;
use crate::json::read;
use crate::mutated::places;
use crate::shape::{Message, joined};

/// Inputs up to this size are cut at every byte; larger ones at as many, unless
/// `EVERY_BYTE` is set: that takes minutes.
const MANY: usize = 4096;

/// Inputs that were made are cut at every byte up to this size.
const SHORT: usize = 40;

/// Where an input of this size is cut. The first place differs, so that not all
/// inputs that begin alike are cut alike.
fn cuts(case: &Case) -> Vec<usize> {
    let size = case.input.len();
    if case.is_made && size > SHORT {
        return places(&case.input);
    }
    let step = if env::var_os("EVERY_BYTE").is_some() { 1 } else { size.div_ceil(MANY).max(1) };
    (size % step..size)
        .step_by(step)
        .chain((size.saturating_sub(32)..size).filter(move |_| step > 1))
        .collect()
}

/// Law 1: an input gives the same, however it is cut into reads.
#[track_caller]
fn check_splits(config: &Config, case: &Case) {
    let input = case.input.as_slice();
    let whole = joined(config, [input]);
    let sizes: &[usize] = if case.is_made { &[1, 7] } else { &[1, 2, 3, 7] };
    for &size in sizes {
        assert_eq!(joined(config, input.chunks(size)), whole, "in pieces of {size}");
    }
    for at in cuts(case) {
        let (left, right) = input.split_at(at);
        assert_eq!(joined(config, [left, right]), whole, "split at {at}");
    }
}

/// Laws 2 and 3: what is cut off adds no call and no good end.
#[track_caller]
fn check_prefixes(case: &Case) {
    let (config, input, exceptions) = (&case.full_config(), &case.input, Exceptions::of(case));
    let whole = joined(config, [input.as_slice()]).0;
    // Whoever cuts an input is not the model that stopped by itself.
    let config = &Config { at_end: AtEnd::Cut, ..config.clone() };
    let messages = Message::all(&whole);
    let format = messages.first().map(Message::format).unwrap_or_default();
    let known = format::find(&format).filter(|row| row.name != "error");
    // The record that would have shown the format may be the one that is torn.
    if case.is_made && format == "unknown" && messages.iter().any(Message::is_torn) {
        return;
    }
    for at in cuts(case) {
        let (prefix, _) = input.split_at(at);
        let name = format!("cut at {at}");
        let run = joined(config, [prefix]);
        if format == "text" || !is_text(&run.0) {
            check_prefix(&name, &whole, &run, &exceptions);
            continue;
        }
        // So little came that it may be plain text, unless someone knows better.
        assert!(may_be_text(prefix), "{name}: {format} was taken for text");
        if let Some(format) = known {
            let config = Config { format: Some(format), ..config.clone() };
            check_prefix(&name, &whole, &joined(&config, [prefix]), &exceptions);
        }
    }
}

/// What a prefix gives has no call, no message and no end that the whole doesn't have.
#[track_caller]
fn check_prefix(name: &str, whole: &str, (out, status): &(String, u8), exceptions: &Exceptions) {
    exceptions.check()(name, out, *status);
    let is_excused = |excuse| match excuse {
        Excuse::EndsEarly => exceptions.ends_early(),
        Excuse::LooksWhole => exceptions.looks_whole(),
    };
    if let Err(how) = prefix_of(whole, out, &is_excused) {
        panic!("{name}: {how}");
    }
}

fn is_text(out: &str) -> bool {
    Message::all(out).iter().all(|message| message.format() == "text")
}

/// Whether the beginning of a stream may as well be that of plain text: after
/// the heads of HTTP, no line has come that nobody would write.
fn may_be_text(prefix: &[u8]) -> bool {
    let mut body = prefix.trim_ascii_start();
    let ends: [&[u8]; 2] = [b"\n\n", b"\n\r\n"];
    let end = |body: &[u8], end: &[u8]| body.windows(end.len()).position(|bytes| bytes == end);
    while let Some(end) = ends.iter().filter_map(|ends| end(body, ends)).min()
        && body.starts_with(b"HTTP/")
    {
        body = body[end..].trim_ascii_start();
    }
    let line = body.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
    let marks: [&[u8]; 3] = [b"event:", b"data:", b"HTTP/"];
    !line.ends_with(b"\n") || !marks.iter().any(|mark| line.starts_with(mark))
}

pub(crate) fn reads_make_no_difference(case: &Case) -> bool {
    check_splits(&case.full_config(), case);
    true
}

pub(crate) fn what_is_cut_adds_nothing(case: &Case) -> bool {
    check_prefixes(case);
    true
}

pub(crate) fn every_message_has_one_end(case: &Case) -> bool {
    let (out, status) = joined(&case.full_config(), [case.input.as_slice()]);
    Exceptions::of(case).check()("whole", &out, status);
    true
}

pub(crate) fn arguments_are_the_joined_deltas(case: &Case) -> bool {
    if Exceptions::of(case).has_no_deltas() {
        return false;
    }
    let (out, _) = joined(&case.full_config(), [case.input.as_slice()]);
    Message::all(&out).iter().for_each(|message| message.check_deltas("whole"));
    true
}

/// Between server-sent events, line ends of another kind and comments mean nothing.
pub(crate) fn line_ends_and_comments_mean_nothing(case: &Case) -> bool {
    let config = case.full_config();
    let (out, status) = joined(&config, [case.input.as_slice()]);
    let is_plain = config.frame.max_event == FrameConfig::default().max_event
        // A log says of its messages which framing they came in.
        && !Exceptions::of(case).is_log();
    let others = if is_plain { other_lines(&case.input, &out) } else { Vec::new() };
    for other in &others {
        let got = joined(&config, [other.as_slice()]);
        let expected = (without_offsets(&out), status);
        assert_eq!(
            (without_offsets(&got.0), got.1),
            expected,
            "{}",
            String::from_utf8_lossy(other)
        );
    }
    !others.is_empty()
}

/// `detect` knows the format if `parse` does, and its reasons are the same however much has come.
pub(crate) fn detection_is_the_reading(case: &Case) -> bool {
    let (config, _) = case.config();
    let is_told = config.format.is_some() || config.framing.is_some();
    if is_told || config.frame.strict || config.frame.max_event != FrameConfig::default().max_event
    {
        return false;
    }
    let (out, _) = joined(&config, [case.input.as_slice()]);
    let verdict = explain(&case.input, true);
    let step = (case.input.len() / 32).max(1);
    for length in (0..case.input.len()).step_by(step) {
        let early = explain(&case.input[..length], false);
        assert!(!early.is_final() || early == verdict, "after {length} bytes: {early:?}");
    }
    let is_nothing = Message::all(&out).iter().all(|message| message.format() == "unknown");
    let is_foreign = out.contains("\"code\":\"unrecognised\"");
    match verdict.format.as_str() {
        // Who names a dialect says that it is text.
        "unknown" if matches!(config.dialect, Selection::Row(_)) => {}
        "unknown" => assert!(is_nothing, "{verdict:?} of {out}"),
        _ => assert!(!is_foreign || !is_nothing, "{verdict:?} of {out}"),
    }
    true
}

/// So many bytes of output, and so many for each byte of input, are enough.
pub(crate) fn the_output_is_not_much_more_than_the_input(case: &Case) -> bool {
    let (out, _) = joined(&case.full_config(), [case.input.as_slice()]);
    let (length, most) = (out.len(), 4096 + 200 * case.input.len());
    assert!(length <= most, "{length} bytes of {}", case.input.len());
    true
}

/// Law 9: events, read as an input, give the same events.
pub(crate) fn events_are_read_back(case: &Case) -> bool {
    let (own, _) = case.config();
    for config in [&own, &case.full_config()] {
        let written = run(config, Print::Events, [case.input.as_slice()]);
        let bytes = written.out.as_bytes();
        let strict = config.assembly.strict;
        let reader = |choice| Config {
            turn: config.turn,
            assembly: AssemblerConfig { choice, strict, ..AssemblerConfig::default() },
            ..Config::default()
        };
        assert_eq!(run(&reader(None), Print::Events, [bytes]), written, "read at once");
        assert_eq!(run(&reader(None), Print::Events, bytes.chunks(7)), written, "in pieces");
        let mut first = config.clone();
        first.assembly.choice.get_or_insert(0);
        let written = run(&first, Print::Events, [case.input.as_slice()]);
        let summary = run(&first, Print::Summaries, [case.input.as_slice()]);
        let reader = reader(first.assembly.choice);
        let read = run(&reader, Print::Summaries, [written.out.as_bytes()]);
        assert_eq!(read, summary, "the summary");
    }
    true
}

/// The summary says what the events say.
pub(crate) fn summaries_are_the_events(case: &Case) -> bool {
    let mut config = case.full_config();
    config.assembly.choice.get_or_insert(0);
    let input = case.input.as_slice();
    let (out, status) = joined(&config, [input]);
    let summaries = run(&config, Print::Summaries, [input]);
    assert_eq!(summaries.status, status, "exit status");
    let messages = Message::all(&out);
    assert_eq!(summaries.out.lines().count(), messages.len(), "one summary a message");
    for (summary, message) in summaries.out.lines().zip(&messages) {
        message.check_summary("whole", &read(summary));
    }
    true
}
