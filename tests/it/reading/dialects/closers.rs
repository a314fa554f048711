//! Markup that is damaged: closers that are left out, calls in values, insides that can't be read,
//! and texts that end after an opener.

use std::collections::BTreeMap;

use serde_json::Value;
use toolstream::Config;
use toolstream::dialect::{Body, Selection};

use super::{Example, is_in};
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
        let whole = run_calls(&example, &example.input);
        if !is_markup(&example) || whole.is_empty() {
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

/// True if a text is another one without some of its characters.
fn is_part(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|char| rest.any(|other| other == char))
}

fn said(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// True if a call may be this one with a piece deleted: it has no argument of another, and nothing
/// in a value that does not stand there; after a closer that is missing, markup of its own may,
/// with the whole of the call that it quotes.
fn is_of(call: &Value, whole: &Value, quoted: &str) -> bool {
    let (own, all) = (call["arguments"].as_object(), whole["arguments"].as_object());
    let is_known = |(key, value): (&String, &Value)| {
        let value = said(value);
        let quotes = || value.contains(quoted) && !value.contains("set_lamp");
        all.and_then(|all| all.get(key)).is_some_and(|all| is_part(&value, &said(all)) || quotes())
    };
    call["name"] == whole["name"] && own.into_iter().flatten().all(is_known)
}

/// True if the calls have their parameters in markup. Of two forms, the examples show the first.
fn is_markup(example: &Example) -> bool {
    let body = example.row.calls.iter().map(|call| &call.body);
    let mut forms = body.filter(|body| !matches!(body, Body::Empty | Body::Arguments));
    matches!(forms.next(), Some(Body::Parameters(_))) && !example.input.contains("{\"")
}

/// Rows whose values hold no calls as text, and why.
const ELEMENTS: &[(&str, &str)] =
    &[("minimax_m3", "what looks like a tag in a value is an element")];

/// A row whose calls have their parameters in markup, with the words of its calls that a call can
/// be put into.
struct Outer {
    example: Example,
    calls: Vec<Value>,
    words: Vec<String>,
}

impl Outer {
    fn all() -> Vec<Outer> {
        let rows = Example::of(&["several_calls_and_text"]).filter(is_markup);
        let outer = rows.map(|example| {
            let calls = run_calls(&example, &example.input);
            let values =
                calls.iter().flat_map(|call| call["arguments"].as_object().unwrap().values());
            let is_place = |word: &&str| example.input.matches(word).count() == 1;
            let words =
                values.filter_map(Value::as_str).filter(is_place).map(str::to_owned).collect();
            Outer { example, calls, words }
        });
        outer.collect()
    }

    /// Returns the text with another one after this word, and the calls that it holds.
    fn with(&self, word: &str, inner: &str) -> (String, Vec<Value>) {
        let whole = format!("{word}\n{inner}.");
        let mut calls = self.calls.clone();
        for call in &mut calls {
            let values = call["arguments"].as_object_mut().unwrap().values_mut();
            values.filter(|value| **value == *word).for_each(|value| *value = whole.clone().into());
        }
        (self.example.input.replacen(word, &whole, 1), calls)
    }
}

/// A value that holds a whole call is that value; whatever closer is left out, no call that is left
/// to run has anything of another one.
#[test]
fn a_call_in_a_value_is_a_part_of_that() {
    let outer = Outer::all();
    let inner = Example::all().filter(is_markup).map(|example| {
        let calls = run_calls(&example, &example.input);
        (example, calls)
    });
    let inner: Vec<(Example, Vec<Value>)> = inner.collect();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (at, outer) in outer.iter().enumerate() {
        for (other, (inner, inner_calls)) in inner.iter().enumerate() {
            let Some(word) = outer.words.get((at + other) % outer.words.len().max(1)) else {
                continue;
            };
            let quoted = inner.input.trim();
            let (input, calls) = outer.with(word, quoted);
            let pair = format!("{} in {} of {}", inner.row.name, word, outer.example.row.name);
            let got = run_calls(&outer.example, &input);
            // In another dialect, it may share tags with the value, and then the call can't be read.
            let is_its = inner.row.name == outer.example.row.name && !is_in(ELEMENTS, inner);
            let is_meant = |call: &Value| calls.contains(call);
            if !got.iter().all(is_meant) || is_its && got.len() < calls.len() {
                wrong.push(format!("{pair}: {got:.300?}"));
            }
            let known: Vec<&Value> = calls.iter().chain(inner_calls).collect();
            for (at, closer) in closers(&input) {
                let damaged = [&input[..at], &input[at + closer.len()..]].concat();
                count += 1;
                let got = run_calls(&outer.example, &damaged);
                let foreign =
                    got.iter().find(|call| !known.iter().any(|known| is_of(call, known, quoted)));
                if let Some(call) = foreign {
                    wrong.push(format!("{pair} without {closer} at {at}: {call:.300}"));
                }
            }
        }
    }
    assert!(wrong.is_empty() && count > 5000, "of {count}:\n{}", wrong.join("\n"));
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
