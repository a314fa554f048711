//! Markup that is damaged: closers that are left out, calls in values, insides that can't be read,
//! and texts that end after an opener.

use std::collections::BTreeMap;

use serde_json::Value;
use toolstream::Config;
use toolstream::dialect::{Body, Selection};

use super::Example;
use crate::case::{Print, kind, run};
use crate::json::read;

/// Returns the closing tags and tokens of a text, with their places.
fn closers(text: &str) -> Vec<(usize, &str)> {
    let tags = text.match_indices('<').filter_map(|(at, _)| {
        let tag = &text[at..=at + text[at..].find('>')?];
        let is_closer = tag.starts_with("</") || tag.contains("end") || tag.contains("close");
        (is_closer && !tag.contains('\n') && tag.len() < 48).then_some((at, tag))
    });
    tags.collect()
}

/// The values of each tool's arguments.
fn values(calls: &[Value]) -> BTreeMap<String, Vec<Value>> {
    let mut values: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for call in calls {
        let known = values.entry(call["name"].as_str().unwrap_or_default().to_owned());
        let members = call["arguments"].as_object().into_iter().flatten();
        known.or_default().extend(members.map(|(_, value)| value.clone()));
    }
    values
}

fn run_calls(example: &Example, input: &str) -> Vec<Value> {
    let mut calls = example.calls(Selection::Row(example.row), input);
    calls.retain(|call| call["type"] == "tool_call");
    calls
}

/// A call that lacks a closer takes nothing from the next one.
#[test]
fn no_call_holds_a_piece_of_another() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for example in Example::every() {
        let has_parameters =
            example.row.calls.iter().any(|call| matches!(call.body, Body::Parameters(_)));
        let whole = run_calls(&example, &example.input);
        if !has_parameters || whole.is_empty() {
            continue;
        }
        // Two calls of the example, one after another.
        let input = format!("{}\n{}", example.input.trim_end(), example.input);
        let known = values(&whole);
        for (at, closer) in closers(&input) {
            let damaged = [&input[..at], &input[at + closer.len()..]].concat();
            count += 1;
            for (name, values) in values(&run_calls(&example, &damaged)) {
                let is_known = |value: &Value| {
                    let is_piece = |known: &Value| {
                        let (text, whole) = (value.as_str(), known.as_str());
                        text.zip(whole).is_some_and(|(text, whole)| text.trim() == whole.trim())
                    };
                    known
                        .get(&name)
                        .is_some_and(|known| known.contains(value) || known.iter().any(is_piece))
                };
                if let Some(value) = values.iter().find(|value| !is_known(value)) {
                    wrong.push(format!("{} without {closer} at {at}: {value}", example.row.name));
                }
            }
        }
    }
    assert!(wrong.is_empty() && count > 200, "of {count}:\n{}", wrong.join("\n"));
}

/// What a model writes between a call's opener and its closer and can't be read is no text.
#[test]
fn unreadable_insides_are_malformed() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for example in Example::all() {
        let calls = example.row.calls.iter();
        let pairs = calls.filter(|call| {
            let is_plain = |text: &str| text.starts_with('<') && !text.contains('{');
            is_plain(call.open) && is_plain(call.close) && !matches!(call.body, Body::Raw(_))
        });
        for call in pairs {
            for inside in ["no call at all", "[!!!]", "{\"name\": \"f\", "] {
                let input = format!("{}\n{inside}\n{}", call.open, call.close);
                let config =
                    Config { dialect: Selection::Row(example.row), ..example.config.clone() };
                let out = run(&config, Print::Events, [input.as_bytes()]).out;
                let kinds: Vec<&str> = out.lines().map(kind).collect();
                let is_invalid = |line: &str| {
                    kind(line) == "invalid_tool_call" && read(line)["reason"] != "truncated"
                };
                count += 1;
                if !out.lines().any(is_invalid) || kinds.contains(&"text") {
                    wrong.push(format!("{}: {input:?} gave {out}", example.row.name));
                }
            }
        }
    }
    assert!(wrong.is_empty() && count > 40, "of {count}:\n{}", wrong.join("\n"));
}

/// A text that ends right after the opener of a call was cut.
#[test]
fn a_text_that_ends_after_an_opener_was_cut() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for example in Example::all() {
        let calls = example.row.calls.iter().filter(|call| {
            call.open.starts_with('<') && !call.known && !matches!(call.body, Body::Empty)
        });
        let sections = example.row.sections.iter().any(|section| section.required);
        for call in calls.filter(|_| !sections) {
            let Some((tag, _)) = call.open.split_once("{ws}") else { continue };
            // Inkling's header may be of any message.
            if tag == "<|message_model|>" {
                continue;
            }
            if tag.contains('{') || !tag.ends_with('>') || call.close.is_empty() {
                continue;
            }
            let config = Config { dialect: Selection::Row(example.row), ..example.config.clone() };
            let out = run(&config, Print::Events, [tag.as_bytes()]).out;
            count += 1;
            if !out.lines().any(|line| kind(line) == "error") {
                wrong.push(format!("{}: {tag:?} gave {out}", example.row.name));
            }
        }
    }
    assert!(wrong.is_empty() && count > 8, "of {count}:\n{}", wrong.join("\n"));
}
