//! Calls among other text: prose makes no call, and loses none.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;
use toolstream::Config;
use toolstream::dialect::Selection;

use super::{Example, is_in, spelt};
use crate::case::{Print, kind, run};
use crate::json::read;
use crate::limits::random::{settings, words};

/// Rows in which an opener by itself is a call, if they are chosen by name.
const CALLS: &[(&str, &str)] = &[
    ("deepseek_v32", "a tag that closes itself is a call without arguments"),
    ("deepseek_v4", "a tag that closes itself is a call without arguments"),
];

/// Prose may speak of markers without a call coming of it.
#[test]
fn markers_in_prose_are_no_calls() {
    let mut faults = Vec::new();
    for example in Example::all() {
        for marker in example.row.markers().map(|marker| spelt(&marker)) {
            let marker = marker.trim();
            if marker.is_empty() {
                // Of these rows, only the beginning of a message is a marker.
                continue;
            }
            // A marker that closes itself is a whole call, which may stand in a line.
            if marker.ends_with("/>") {
                continue;
            }
            for prose in [
                format!("It writes {marker} and then the name."),
                format!("See {marker}."),
                format!("The opener is `{marker}`, as ever."),
            ] {
                let is_call = is_in(CALLS, &example);
                let named = (!is_call).then_some(Selection::Row(example.row));
                for choice in [Selection::Auto].into_iter().chain(named) {
                    let mut calls = example.calls(choice, &prose);
                    calls.retain(|call| call["type"] == "tool_call");
                    if !calls.is_empty() {
                        faults.push(format!(
                            "{} by {}: {prose} gave {calls:?}",
                            example.row.name,
                            name(choice)
                        ));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Rows that can't stand in prose, and why.
const ALONE: &[(&str, &str)] = &[
    ("llama3_json", "a bare object begins the message"),
    ("openai_json_text", "a bare object begins the message"),
    ("pythonic", "a bare list begins the message"),
    ("llama4_pythonic", "a bare list begins the message"),
    ("xlam", "a bare list begins the message"),
    ("sarashina", "a bare list begins the message"),
    ("functionary_v32", "the first header begins the message"),
    ("functionary_v2", "the first header begins the message"),
];

/// Rows that `auto` finds only where a message begins.
const ALONE_IN_AUTO: &[(&str, &str)] = &[
    ("kimi_k3", "the closer of its thought takes back what comes before it, as nothing opens that"),
    ("muse_atem", "its later headers begin with a space, which is no sign of anything"),
];

/// What begins like markers and is none.
const BEGINNINGS: &[&str] =
    &["<func", "<|", "[TOOL", "f(x)", "call", "tool:", "\u{2728}", "<\u{ff5c}"];

/// Prose that begins and ends with a word: white space beside markup may be the
/// template's.
fn prose() -> impl Strategy<Value = String> {
    words(BEGINNINGS, 0..6).prop_map(|words| format!("So {words} it is"))
}

/// Rows of which an example has only the closer of its thought: what stands
/// before is a part of that.
const BEGUN: &[(&str, &str)] =
    &[("ernie45", "its opener is in the prompt"), ("kimi_k3", "its opener is in the prompt")];

/// Names and arguments of the calls, and all text, in the order of the events.
fn said(config: &Config, pieces: Vec<&[u8]>, with_thoughts: bool) -> (Vec<(Value, Value)>, String) {
    let out = run(config, Print::Joined, pieces).out;
    let mut calls = Vec::new();
    let mut text = String::new();
    for line in out.lines() {
        match kind(line) {
            "tool_call" => {
                calls.push((read(line)["name"].clone(), read(line)["arguments"].clone()))
            }
            "reasoning" if !with_thoughts => {}
            "text" | "reasoning" => text.push_str(read(line)["text"].as_str().unwrap()),
            _ => {}
        }
    }
    (calls, text)
}

/// What is wrong with an example's calls and text, where they stand in prose.
fn fault(
    example: &Example,
    choice: Selection,
    prose: &[String; 3],
    cuts: &[Index],
) -> Option<String> {
    let config = Config { dialect: choice, ..example.config.clone() };
    let with_thoughts = is_in(BEGUN, example);
    let (calls, text) = said(&config, vec![example.input.as_bytes()], with_thoughts);
    let [before, between, after] = prose;
    let markup = &example.input;
    let input = format!("{before}\n\n{markup}\n{between}\n\n{markup}\n{after}");
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(input.len() + 1)).collect();
    places.extend([0, input.len()]);
    places.sort_unstable();
    let pieces = places.windows(2).map(|ends| &input.as_bytes()[ends[0]..ends[1]]).collect();
    let (got, all) = said(&config, pieces, with_thoughts);
    if got != [calls.clone(), calls].concat() {
        return Some(format!("{got:?}"));
    }
    let mut rest = all.as_str();
    for piece in [before.as_str(), text.trim(), between, text.trim(), after] {
        match rest.trim_start().strip_prefix(piece) {
            Some(after) => rest = after,
            None => return Some(format!("{piece:?} is not in {all:?}")),
        }
    }
    (!rest.trim().is_empty()).then(|| format!("{rest:?} is too much"))
}

proptest! {
    #![proptest_config(settings(32))]

    /// Every example of every row, in random prose, at random cuts.
    #[test]
    fn calls_stand_in_prose(around in [prose(), prose(), prose()], cuts: [Index; 4]) {
        let mut faults = Vec::new();
        for example in Example::every().filter(|example| !is_in(ALONE, example)) {
            let is_found = example.row.auto && !is_in(ALONE_IN_AUTO, &example);
            let auto = is_found.then_some(Selection::Auto);
            for choice in [Selection::Row(example.row)].into_iter().chain(auto) {
                let fault = fault(&example, choice, &around, &cuts);
                faults.extend(fault.map(|fault| format!("{} by {}: {fault}", example.row.name, name(choice))));
            }
        }
        prop_assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}

fn name(choice: Selection) -> &'static str {
    if matches!(choice, Selection::Auto) { "auto" } else { "name" }
}

/// What can't stand in prose isn't lost in it: it's text.
#[test]
fn what_begins_a_message_is_text_elsewhere() {
    for example in Example::all().filter(|example| is_in(ALONE, example)) {
        let calls = example.calls(Selection::Row(example.row), &example.input);
        assert!(!calls.is_empty(), "{}", example.row.name);
    }
}
