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
use std::env;

use serde::de::IgnoredAny;
use toolstream::pipeline::Config;
use toolstream::wire;

use crate::case::{Case, Print, for_each, kind, run};
use crate::json::read;
use shape::Message;

/// Inputs up to this size are cut at every byte; larger ones at as many, unless
/// `EVERY_BYTE` is set: that takes minutes.
const MANY: usize = 4096;

/// What marks the end of a message, with white space taken out. A format that
/// marks it in several ways has them all at most once a message.
const ENDS: &[(&str, &[&str])] = &[
    ("anthropic", &["\"stop_reason\":\"", "\"message_stop\""]),
    ("openai-chat", &["\"finish_reason\":\"", "[DONE]"]),
    ("cohere", &["\"finish_reason\":\"", "[DONE]"]),
    ("cohere-v1", &["\"is_finished\":true"]),
    ("ollama-chat", &["\"done\":true"]),
    ("ollama-generate", &["\"done\":true"]),
    ("tgi", &["\"generated_text\":\""]),
    (
        "watsonx",
        &[
            "\"stop_reason\":\"eos_token",
            "\"stop_reason\":\"max_tokens",
            "\"stop_reason\":\"time_limit",
        ],
    ),
    ("anthropic-completions", &["\"stop_reason\":\""]),
    ("llama-completion", &["\"stop\":true"]),
    ("workers-ai", &["\"finish_reason\":\"", "[DONE]"]),
    (
        "dashscope",
        &[
            "\"finish_reason\":\"stop",
            "\"finish_reason\":\"tool_calls",
            "\"finish_reason\":\"length",
        ],
    ),
    ("replicate", &["event:done"]),
    ("mistral-conversations", &["\"conversation.response.done\""]),
    ("ai-sdk-ui", &["\"type\":\"finish\"", "[DONE]"]),
    ("ai-sdk-data", &["d:{\"finishReason\""]),
    ("ag-ui", &["\"RUN_FINISHED\""]),
    // A transcript names no end: its lines are one.
    ("claude-code", &["\"type\":\"result\"", "\"type\":\"assistant\""]),
    ("codex", &["\"turn.completed\""]),
    ("gemini-cli", &["\"type\":\"result\""]),
    ("opencode", &["\"type\":\"step_finish\""]),
    ("pi", &["\"type\":\"message_end\""]),
    (
        "openai-responses",
        &[
            "\"type\":\"response.completed\"",
            "\"type\":\"response.incomplete\"",
            "\"type\":\"response.cancelled\"",
            "\"total_tokens\"",
            "[DONE]",
        ],
    ),
    ("openai-realtime", &["\"type\":\"response.done\""]),
    ("openai-completions", &["\"finish_reason\":\"", "[DONE]"]),
    (
        "openai-assistants",
        &[
            "event:thread.run.completed",
            "event:thread.run.requires_action",
            "event:thread.run.incomplete",
            "event:thread.run.cancelled",
        ],
    ),
    ("text", &[]),
    ("error", &[]),
    ("unknown", &[]),
];

/// Formats that name no end of their own: that of the input is theirs.
const ENDLESS: &[&str] = &["text", "openai-messages", "writer-completions"];

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
    let known = wire::find(&format).filter(|row| row.name != "error");
    for at in cuts(input.len()) {
        let (prefix, _) = input.split_at(at);
        let name = format!("{name} cut at {at}");
        let run = joined(config, [prefix]);
        if format == "text" || !is_text(&run.0) {
            check_prefix(&name, &whole, prefix, &run);
            continue;
        }
        // So little came that it may be plain text, unless someone knows better.
        assert!(may_be_text(prefix), "{name}: {format} was taken for text");
        if let Some(format) = known {
            let config = Config { format: Some(format), ..config.clone() };
            check_prefix(&name, &whole, prefix, &joined(&config, [prefix]));
        }
    }
}

/// What a prefix gives has no call, no message and no end that the whole
/// doesn't have.
#[track_caller]
fn check_prefix(name: &str, whole: &[Message<'_>], prefix: &[u8], (out, status): &(String, u8)) {
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
    let good: Vec<_> = messages.iter().filter(|message| message.is_good()).collect();
    good.iter().for_each(|message| check_end(name, message, prefix, good.len()));
    for (message, whole) in messages.iter().zip(whole) {
        // What came behind a good end may still have spoilt it.
        let is_same = !message.is_good() || !whole.is_good() || message.reason() == whole.reason();
        assert!(is_same, "{name}: {} became {}", message.last(), whole.last());
    }
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

/// The `tool_call` lines, and how often each is there.
fn calls<'a>(messages: &[Message<'a>]) -> BTreeMap<&'a str, usize> {
    let mut calls = BTreeMap::new();
    let lines = messages.iter().flat_map(|message| message.of("tool_call"));
    lines.for_each(|line| *calls.entry(line).or_default() += 1);
    calls
}

/// Messages that ended well had an end: there are as many marks of one as there
/// are messages. Plain text has none, and says so.
#[track_caller]
fn check_end(name: &str, message: &Message<'_>, input: &[u8], count: usize) {
    let format = message.format();
    if ENDLESS.contains(&format.as_str()) {
        return assert_eq!(
            read(message.last())["inferred"],
            true,
            "{name}: {format} names no end of its own"
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
