//! The laws of the output, over every fixture and over random input.
//!
//! 1. Events, with neighbouring deltas joined, depend on the bytes alone.
//! 2. A `tool_call` line is whole, and closed by its provider.
//! 3. A prefix has a subset of the whole's calls, and ends in an error unless it
//!    holds the end of its message.
//! 4. In plain text nothing is lost.
//! 5. A message begins with `start`, and has one end, with its usage before it.

mod nothing_lost;
mod random;
mod shape;

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use toolstream::pipeline::Config;
use toolstream::wire;

use crate::case::{Case, Print, for_each, kind, run};
use crate::json::read;
use shape::Message;

/// Inputs up to this size are cut at every byte; larger ones at as many.
const EVERY_BYTE: usize = 4096;

/// What marks the end of a message, with white space taken out. A format that
/// marks it in several ways has them all at most once a message.
const ENDS: &[(&str, &[&str])] = &[
    ("anthropic", &["\"stop_reason\":\"", "\"message_stop\""]),
    ("openai-chat", &["\"finish_reason\":\"", "[DONE]"]),
    ("text", &[]),
    ("error", &[]),
    ("unknown", &[]),
];

fn joined<'a>(config: &Config, pieces: impl IntoIterator<Item = &'a [u8]>) -> (String, u8) {
    let run = run(config, Print::Joined, pieces);
    (run.out, run.status)
}

/// Where an input of this size is cut.
fn cuts(size: usize) -> impl Iterator<Item = usize> {
    let step = size.div_ceil(EVERY_BYTE).max(1);
    (0..size).filter(move |at| at % step == 0 || size - at < 64)
}

/// Law 1: an input gives the same, however it is cut into reads.
#[track_caller]
fn check_splits(name: &str, config: &Config, input: &[u8]) {
    let whole = joined(config, [input]);
    for size in [1, 2, 3, 7] {
        assert_eq!(joined(config, input.chunks(size)), whole, "{name} in pieces of {size}");
    }
    for at in cuts(input.len()).skip(1) {
        let (left, right) = input.split_at(at);
        assert_eq!(joined(config, [left, right]), whole, "{name} split at {at}");
    }
}

/// Laws 2 and 3: what is cut off adds no call and no good end.
#[track_caller]
fn check_prefixes(name: &str, config: &Config, input: &[u8]) {
    let whole = joined(config, [input]).0;
    let messages = Message::all(&whole);
    let format = messages.first().map(Message::format).unwrap_or_default();
    for at in cuts(input.len()) {
        let (prefix, _) = input.split_at(at);
        let name = format!("{name} cut at {at}");
        let (out, status) = joined(config, [prefix]);
        check_prefix(&name, &whole, &messages, &out, status);
        let cut = Message::all(&out);
        // So little came that it may be plain text, unless someone knows better.
        let is_text = cut.iter().all(|message| message.format() == "text") && format != "text";
        if is_text {
            assert!(
                config.format.is_none() && may_be_text(prefix),
                "{name}: {format} was taken for text"
            );
            continue;
        }
        let good: Vec<_> = cut.iter().filter(|message| message.is_good()).collect();
        good.iter().for_each(|message| check_end(&name, message, prefix, good.len()));
        for (message, whole) in cut.iter().zip(&messages) {
            // What came behind a good end may still have spoilt it.
            let is_same =
                !message.is_good() || !whole.is_good() || message.reason() == whole.reason();
            assert!(is_same, "{name}: {} became {}", message.last(), whole.last());
        }
    }
}

/// Whether the beginning of a stream may as well be that of plain text: behind
/// the heads of HTTP, no line has come that nobody would write.
fn may_be_text(prefix: &[u8]) -> bool {
    let mut body = prefix.trim_ascii_start();
    while let Some(end) = body.windows(2).position(|ends| ends == b"\n\n" || ends == b"\n\r")
        && body.starts_with(b"HTTP/")
    {
        body = body[end..].trim_ascii_start();
    }
    let line = body.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
    let marks: [&[u8]; 3] = [b"event:", b"data:", b"HTTP/"];
    !line.ends_with(b"\n") || !marks.iter().any(|mark| line.starts_with(mark))
}

/// What a prefix gives has the shape of messages, and no call and no message
/// that the whole doesn't have.
#[track_caller]
fn check_prefix(name: &str, whole: &str, messages: &[Message<'_>], out: &str, status: u8) {
    check_shape(name, out, status);
    let calls = calls(whole);
    for (call, count) in self::calls(out) {
        assert!(
            calls.get(call) >= Some(&count),
            "{name}: a call that the whole doesn't have: {call}"
        );
    }
    // Bytes that are no message of their own are one that went wrong.
    let is_empty = Message::all(out).iter().skip(messages.len()).all(Message::is_mere_error);
    assert!(is_empty, "{name}: more messages than the whole has");
}

/// The same where the format is known: nothing is taken for plain text then.
#[track_caller]
fn check_known_prefixes(name: &str, config: &Config, input: &[u8]) {
    let whole = joined(config, [input]).0;
    let format = Message::all(&whole).first().map(Message::format).unwrap_or_default();
    let Some(format) = wire::find(&format).filter(|row| row.name != "error") else { return };
    check_prefixes(name, &Config { format: Some(format), ..config.clone() }, input);
}

/// The `tool_call` lines, and how often each is there.
fn calls(out: &str) -> BTreeMap<&str, usize> {
    let mut calls = BTreeMap::new();
    out.lines()
        .filter(|line| kind(line) == "tool_call")
        .for_each(|line| *calls.entry(line).or_default() += 1);
    calls
}

/// Messages that ended well had an end: there are as many marks of one as there
/// are messages. Plain text has none, and says so.
#[track_caller]
fn check_end(name: &str, message: &Message<'_>, input: &[u8], count: usize) {
    let format = message.format();
    if format == "text" {
        return assert_eq!(
            read(message.last())["inferred"],
            true,
            "{name}: text names no end of its own"
        );
    }
    let Some((_, marks)) = ENDS.iter().find(|(row, _)| *row == format) else {
        panic!("{name}: ENDS has to say what marks the end of a message of {format}");
    };
    let bare: Vec<u8> = input.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bare = String::from_utf8_lossy(&bare).replace("\\\"", "\"");
    let seen = marks.iter().map(|mark| bare.matches(mark).count()).max().unwrap_or_default();
    // The end of a message that came as a whole is its last brace.
    let is_whole = serde_json::from_slice::<IgnoredAny>(input).is_ok();
    assert!(is_whole || seen >= count, "{name}: {count} messages ended well, but {seen} ends came");
}

/// Law 5, and that the exit status tells whether every message ended well.
#[track_caller]
fn check_shape(name: &str, out: &str, status: u8) {
    let messages = Message::all(out);
    assert!(!messages.is_empty(), "{name}: no message");
    messages.iter().for_each(|message| message.check(name));
    let is_good = messages.iter().all(Message::is_good);
    assert!(is_good || status != 0, "{name}: exit status 0 in spite of an error");
    let is_faultless =
        is_good && !out.lines().any(|line| matches!(kind(line), "invalid_tool_call" | "warning"));
    assert!(!is_faultless || status == 0, "{name}: exit status {status} without a reason");
}

fn both(check: impl Fn(&str, &Config, &[u8]) + Sync) {
    for_each(|case: &Case| check(&case.name, &case.full_config(), &case.input));
}

#[test]
fn reads_make_no_difference() {
    both(check_splits);
}

#[test]
fn what_is_cut_adds_nothing() {
    both(check_prefixes);
}

#[test]
fn what_is_cut_adds_nothing_to_a_known_format() {
    both(check_known_prefixes);
}

#[test]
fn every_message_has_one_end() {
    both(|name, config, input| {
        let (out, status) = joined(config, [input]);
        check_shape(name, &out, status);
        Message::all(&out).iter().filter(|message| message.is_good()).for_each(|message| {
            check_end(name, message, input, 1);
        });
    });
}

#[test]
fn arguments_are_the_joined_deltas() {
    both(|name, config, input| {
        let (out, _) = joined(config, [input]);
        for message in Message::all(&out) {
            message.check_deltas(name);
        }
    });
}

/// The summary says what the events say.
#[test]
fn summaries_are_the_events() {
    both(|name, config, input| {
        let mut config = config.clone();
        config.assembly.choice.get_or_insert(0);
        let (out, status) = joined(&config, [input]);
        let summaries = run(&config, Print::Summaries, [input]);
        assert_eq!(summaries.status, status, "{name}: exit status");
        let messages = Message::all(&out);
        assert_eq!(summaries.out.lines().count(), messages.len(), "{name}: one summary a message");
        for (summary, message) in summaries.out.lines().zip(&messages) {
            message.check_summary(name, &read(summary));
        }
    });
}
