//! Law 4: in plain text every byte is text, reasoning, part of a call or of a
//! block, or a marker; joined text is exact.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use toolstream::dialect::{Body, Choice, DIALECTS, Dialect, Role, TagRole};
use toolstream::pipeline::Config;
use toolstream::wire;

use super::joined;
use super::shape::{Message, text};
use crate::case::{for_each, read};

/// Any input is the text that it is, if it is said to be text and nothing else.
#[test]
fn text_without_a_dialect_is_exact() {
    let config = Config { format: wire::find("text"), dialect: Choice::None, ..Config::default() };
    for_each(|case| {
        let (out, status) = joined(&config, case.input.chunks(5));
        let got: String = out.lines().map(|line| text(&read(line), "text")).collect();
        assert_eq!(got, String::from_utf8_lossy(&case.input), "{}", case.name);
        assert_eq!(status, if case.input.is_empty() { 4 } else { 0 }, "{}", case.name);
    });
}

/// The rows that may read a text.
fn rows(choice: Choice) -> Vec<&'static Dialect> {
    match choice {
        Choice::Default | Choice::Auto => DIALECTS.iter().copied().filter(|row| row.auto).collect(),
        Choice::Row(row) => vec![row],
        Choice::None => Vec::new(),
    }
}

/// The pieces of an output stand in the input in their order, byte for byte;
/// between them there is nothing but markers and the calls that are printed.
#[track_caller]
fn check(name: &str, rows: &[&'static Dialect], input: &str, out: &str) {
    let known: BTreeSet<&str> = rows.iter().flat_map(|row| patterns(row)).flat_map(words).collect();
    let mut rest = input;
    let mut between = String::new();
    for line in out.lines().map(read) {
        let piece = match line["type"].as_str().unwrap_or_default() {
            "text" | "reasoning" | "block" => text(&line, "text"),
            "invalid_tool_call" => text(&line, "arguments_raw"),
            _ => String::new(),
        };
        between.push_str(&line.to_string());
        strings(&line, &mut between);
        if piece.is_empty() {
            continue;
        }
        let Some((gap, behind)) = rest.split_once(&piece) else {
            panic!("{name}: {piece:?} is not in what is left of the input: {rest:?}");
        };
        check_gap(name, gap, &known, &between);
        (rest, between) = (behind, String::new());
        // A block's attributes stand in front of it or behind; a call's end may
        // be followed by more of its section.
        between.push_str(&line.to_string());
        strings(&line, &mut between);
    }
    check_gap(name, rest, &known, &between);
}

/// Every word of a gap is a marker's, or is printed.
#[track_caller]
fn check_gap(name: &str, gap: &str, known: &BTreeSet<&str>, printed: &str) {
    let printed: BTreeSet<&str> = words(printed).collect();
    for word in words(gap) {
        let is_namespace = gap.contains(&format!("{word}:"));
        assert!(
            known.contains(word) || printed.contains(word) || is_namespace,
            "{name}: {word:?} was lost in {gap:?}"
        );
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Everything that a row's markers consist of.
fn patterns(row: &'static Dialect) -> Vec<&'static str> {
    let mut patterns: Vec<&str> = row.tags.iter().map(|tag| tag.name).collect();
    patterns.extend(row.regions.iter().flat_map(|region| [region.open, region.close]));
    patterns.extend(row.sections.iter().flat_map(|section| [section.open, section.close]));
    for call in row.calls {
        patterns.extend([call.open, call.close]);
        match call.body {
            Body::Json(envelope) => patterns.extend(envelope.name.iter().chain(envelope.arguments)),
            Body::Parameters(parameters) => patterns.extend([parameters.open, parameters.close]),
            _ => {}
        }
    }
    patterns
}

/// Adds every string in a value, without its escapes, and every key.
fn strings(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push('\n');
            out.push_str(text);
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(members) => {
            for (key, value) in members {
                out.push('\n');
                out.push_str(key);
                strings(value, out);
            }
        }
        _ => {}
    }
}

#[test]
fn text_in_a_dialect_loses_nothing() {
    let count = AtomicUsize::new(0);
    for_each(|case| {
        let (config, _) = case.config();
        let rows = rows(config.dialect);
        let drops = |row: &&Dialect| {
            row.tags.iter().any(|tag| tag.role == TagRole::Drop)
                || row.regions.iter().any(|region| region.role == Role::Drop)
        };
        let (out, _) = joined(&config, [case.input.as_slice()]);
        let is_text = Message::all(&out).iter().all(|message| message.format() == "text");
        if !is_text || case.input.starts_with(b"HTTP/") || rows.iter().any(drops) {
            return;
        }
        count.fetch_add(1, Ordering::Relaxed);
        check(&case.name, &rows, &String::from_utf8_lossy(&case.input), &out);
    });
    assert!(count.into_inner() > 0, "no fixture is plain text");
}
