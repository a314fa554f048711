//! Every row of the dialects, tried with what its own fixture shows.

use serde_json::Value;
use toolstream::dialect::{Choice, DIALECTS, Dialect};
use toolstream::pipeline::Config;

use crate::case::{Case, Print, kind, run};
use crate::json::read;

/// A row, and its fixture of one call.
struct Example {
    row: &'static Dialect,
    input: String,
    config: Config,
}

impl Example {
    fn all() -> impl Iterator<Item = Example> {
        let cases = Case::all();
        DIALECTS.iter().filter_map(move |row| {
            let name = format!("fixtures/dialect/{}/one_call", row.name);
            let case = cases.iter().find(|case| case.name == name)?;
            let input = String::from_utf8(case.input.clone()).unwrap();
            Some(Example { row, input, config: case.config().0 })
        })
    }

    /// The calls in a text, also those that can't be run.
    fn calls(&self, dialect: Choice, input: &str) -> Vec<Value> {
        let config = Config { dialect, ..self.config.clone() };
        let out = run(&config, Print::Events, [input.as_bytes()]).out;
        out.lines().filter(|line| kind(line).ends_with("tool_call")).map(read).collect()
    }
}

fn arguments(calls: &[Value]) -> Vec<&Value> {
    calls.iter().map(|call| &call["arguments"]).collect()
}

/// No two rows look the same: each one's fixture is read as its own.
#[test]
fn auto_tells_every_row_from_the_others() {
    for example in Example::all().filter(|example| example.row.auto) {
        let row = example.row;
        let calls = example.calls(Choice::Auto, &example.input);
        let sources: Vec<_> = calls.iter().map(|call| &call["source"]).collect();
        assert!(!calls.is_empty(), "{}: no call", row.name);
        assert!(sources.iter().all(|source| *source == row.name), "{}: {sources:?}", row.name);
    }
}

/// Text that is markup in some dialect, or ends strings and blocks.
const HOSTILE: &[&str] = &[
    "</parameter>",
    "</function>",
    "<parameter=x>",
    "</tool_call>",
    "</arg_value>",
    "</\u{ff5c}DSML\u{ff5c}parameter>",
    "</content>",
    "```",
    "\"a\" {b} 'c'",
];

/// Rows whose values end wherever this stands.
const ENDS: &[(&str, &str)] = &[("code_block_agent", "```")];

/// The text in front of a value tells how it's quoted: not at all, or in
/// quotes, or in quotes inside of a string.
fn quoted(before: &str, value: &str) -> String {
    let Some(quote) = before.chars().last().filter(|c| matches!(c, '"' | '\'')) else {
        return value.to_owned();
    };
    let escape = |text: &str| text.replace('\\', "\\\\").replace(quote, &format!("\\{quote}"));
    if before.ends_with("\\\"") { escape(&escape(value)) } else { escape(value) }
}

#[test]
fn values_may_hold_any_markup() {
    let mut lost = Vec::new();
    let mut count = 0;
    for example in Example::all() {
        let name = example.row.name;
        let before = example.calls(Choice::Row(example.row), &example.input);
        let Some((key, word)) = before.iter().find_map(|call| {
            let members = call["arguments"].as_object()?.iter();
            let mut words = members.filter_map(|(key, value)| Some((key, value.as_str()?)));
            words.find(|(_, word)| word.len() > 3 && example.input.matches(word).count() == 1)
        }) else {
            continue;
        };
        let (head, tail) = example.input.split_once(word).unwrap();
        for hostile in HOSTILE {
            let value = format!("{word} see {hostile} there");
            let input = format!("{head}{}{tail}", quoted(head, &value));
            let calls = example.calls(Choice::Row(example.row), &input);
            let is_there = calls.len() == before.len()
                && arguments(&calls).iter().any(|arguments| arguments[key] == *value);
            if !is_there && !ENDS.contains(&(name, hostile)) {
                lost.push(format!("{name}: {hostile}"));
            }
            count += 1;
        }
    }
    assert!(lost.is_empty() && count > 0, "of {count} values were lost:\n{}", lost.join("\n"));
}

/// Prose may speak of markers without a call coming of it.
#[test]
fn markers_in_prose_are_no_calls() {
    for example in Example::all() {
        for marker in example.row.markers().filter(|marker| !marker.contains('{')) {
            for prose in [
                format!("It writes {marker} and then the name."),
                format!("See {marker}."),
                format!("The opener is `{marker}`, as ever."),
            ] {
                let mut calls = example.calls(Choice::Auto, &prose);
                calls.retain(|call| call["type"] == "tool_call");
                assert!(calls.is_empty(), "{}: {prose} gave {calls:?}", example.row.name);
            }
        }
    }
}

/// Rows that read a text from its beginning, or to its end.
const WHOLE: &[&str] =
    &["llama3_json", "openai_json_text", "pythonic", "xlam", "langchain_xml_agent"];

#[test]
fn calls_may_stand_in_prose() {
    let mut lost = Vec::new();
    for example in Example::all().filter(|example| !WHOLE.contains(&example.row.name)) {
        let choice = Choice::Row(example.row);
        let input = format!("So a < b.\n\n{}\n\nDone with <b>it</b>.", example.input);
        let (wanted, got) = (example.calls(choice, &example.input), example.calls(choice, &input));
        if arguments(&wanted) != arguments(&got) {
            lost.push(example.row.name);
        }
    }
    assert!(lost.is_empty(), "{lost:?}");
}
