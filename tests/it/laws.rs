//! The laws of the output, over every fixture and over random input.
//!
//! 1. Events, with neighbouring deltas joined, depend on the bytes alone.
//! 2. A `tool_call` line is whole, and closed by its provider.
//! 3. A prefix has a subset of the whole's calls, and ends in an error unless it
//!    holds the end of its message.
//! 4. In plain text nothing is lost.
//! 5. A message begins with `start`, and has one end, with its usage before it.

mod accounted;
mod nothing_lost;
mod random;
mod shape;

use std::collections::BTreeMap;
use std::env;

use toolstream::Config;
use toolstream::format;

use crate::case::{Case, Print, for_each, kind, run};
use crate::json::read;
pub(crate) use random::{settings, words};
use shape::Message;

/// Inputs up to this size are cut at every byte; larger ones at as many, unless
/// `EVERY_BYTE` is set: that takes minutes.
const MANY: usize = 4096;

/// Formats that name no end of their own, or that say it more than once: the end
/// of the input may be theirs wherever it comes.
const ENDLESS: &[&str] =
    &["text", "openai-messages", "writer-completions", "bedrock-agent", "claude-code", "gemini"];

fn joined<'a>(config: &Config, pieces: impl IntoIterator<Item = &'a [u8]>) -> (String, u8) {
    let run = run(config, Print::Joined, pieces);
    (run.out, run.status)
}

/// Where an input of this size is cut. The first place differs, so that not all
/// inputs that begin alike are cut alike.
fn cuts(size: usize) -> impl Iterator<Item = usize> {
    let step = if env::var_os("EVERY_BYTE").is_some() { 1 } else { size.div_ceil(MANY).max(1) };
    (size % step..size)
        .step_by(step)
        .chain((size.saturating_sub(32)..size).filter(move |_| step > 1))
}

/// Law 1: an input gives the same, however it is cut into reads.
#[track_caller]
fn check_splits(name: &str, config: &Config, input: &[u8]) {
    let whole = joined(config, [input]);
    for size in [1, 2, 3, 7] {
        assert_eq!(joined(config, input.chunks(size)), whole, "{name} in pieces of {size}");
    }
    for at in cuts(input.len()) {
        let (left, right) = input.split_at(at);
        assert_eq!(joined(config, [left, right]), whole, "{name} split at {at}");
    }
}

/// Laws 2 and 3: what is cut off adds no call and no good end.
#[track_caller]
fn check_prefixes(name: &str, config: &Config, input: &[u8]) {
    let whole = joined(config, [input]).0;
    let whole = Message::all(&whole);
    let format = whole.first().map(Message::format).unwrap_or_default();
    let known = format::find(&format).filter(|row| row.name != "error");
    for at in cuts(input.len()) {
        let (prefix, _) = input.split_at(at);
        let name = format!("{name} cut at {at}");
        let run = joined(config, [prefix]);
        if format == "text" || !is_text(&run.0) {
            check_prefix(&name, &whole, &run);
            continue;
        }
        // So little came that it may be plain text, unless someone knows better.
        assert!(may_be_text(prefix), "{name}: {format} was taken for text");
        if let Some(format) = known {
            let config = Config { format: Some(format), ..config.clone() };
            check_prefix(&name, &whole, &joined(&config, [prefix]));
        }
    }
}

/// What a prefix gives has no call, no message and no end that the whole
/// doesn't have.
#[track_caller]
fn check_prefix(name: &str, whole: &[Message<'_>], (out, status): &(String, u8)) {
    check_shape(name, out, *status);
    let messages = Message::all(out);
    let wanted = calls(whole);
    for (call, count) in calls(&messages) {
        let is_known = wanted.get(call) >= Some(&count);
        assert!(is_known, "{name}: a call that the whole doesn't have: {call}");
    }
    // Bytes that are no message of their own are one that went wrong.
    let is_empty = messages.iter().skip(whole.len()).all(Message::is_mere_error);
    assert!(is_empty, "{name}: more messages than the whole has");
    for (message, whole) in messages.iter().zip(whole).filter(|(message, _)| message.is_good()) {
        check_end(name, message, whole);
    }
}

/// A prefix that ends well holds the end that the whole has, but for what came
/// behind it and spoilt it.
#[track_caller]
fn check_end(name: &str, message: &Message<'_>, whole: &Message<'_>) {
    let (end, whole) = (read(message.last()), read(whole.last()));
    let is_same = match whole["code"].as_str() {
        Some("truncated") => ENDLESS.contains(&message.format().as_str()),
        Some(_) => true,
        None => ["raw_finish_reason", "inferred"].iter().all(|key| end[*key] == whole[*key]),
    };
    assert!(is_same, "{name}: {end} became {whole}");
}

fn is_text(out: &str) -> bool {
    Message::all(out).iter().all(|message| message.format() == "text")
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

/// The one dialect whose calls have no closer but the end of the text: there a
/// cut can't be seen.
const CLOSED_BY_THE_END: &str = "\"source\":\"langchain_xml_agent\"";

/// The `tool_call` lines, and how often each is there.
fn calls<'a>(messages: &[Message<'a>]) -> BTreeMap<&'a str, usize> {
    let mut calls = BTreeMap::new();
    let lines = messages.iter().flat_map(|message| message.of("tool_call"));
    let lines = lines.filter(|line| !line.contains(CLOSED_BY_THE_END));
    lines.for_each(|line| *calls.entry(line).or_default() += 1);
    calls
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
fn every_message_has_one_end() {
    both(|name, config, input| {
        let (out, status) = joined(config, [input]);
        check_shape(name, &out, status);
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
