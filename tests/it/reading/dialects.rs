//! Every row of the dialects, tried with what its own fixture shows.

mod closers;
mod markers;
mod objects;
mod prose;
mod thoughts;

use std::sync::Arc;

use serde_json::Value;
use toolstream::Config;
use toolstream::dialect::{DIALECTS, Dialect, Selection};
use toolstream::tools::Tools;

use crate::case::{Case, Print, kind, root, run};
use crate::exceptions::Exceptions;
use crate::json::read;

/// A row, and its fixture of one call.
struct Example {
    row: &'static Dialect,
    input: String,
    config: Config,
    exceptions: Exceptions,
}

/// Rows without calls, and so without a fixture of one.
const WITHOUT_CALLS: &[&str] = &["think_tags", "kimi_think_legacy"];

impl Example {
    /// One call of each row.
    fn all() -> impl Iterator<Item = Example> {
        Example::of(&["one_call"])
    }

    /// One call and several calls with text, of each row.
    fn every() -> impl Iterator<Item = Example> {
        Example::of(&["one_call", "several_calls_and_text"])
    }

    fn of(cases: &'static [&'static str]) -> impl Iterator<Item = Example> {
        let rows = DIALECTS.iter().filter(|row| !WITHOUT_CALLS.contains(&row.name));
        rows.flat_map(|row| cases.iter().map(|case| Example::read(row, case)))
    }

    fn read(row: &'static Dialect, case: &str) -> Example {
        let path = root().join(format!("fixtures/dialect/{}/{case}.in", row.name));
        assert!(path.is_file(), "{} has no fixture {case}", row.name);
        let case = Case::read(path);
        let input = String::from_utf8(case.input.clone()).unwrap();
        Example { row, input, config: case.config().0, exceptions: Exceptions::of(&case) }
    }

    /// The calls in a text, also those that can't be run.
    fn calls(&self, dialect: Selection, input: &str) -> Vec<Value> {
        let config = Config { dialect, ..self.config.clone() };
        let out = run(&config, Print::Events, [input.as_bytes()]).out;
        out.lines().filter(|line| kind(line).ends_with("tool_call")).map(read).collect()
    }
}

/// True if an example's row is one of these, which have their reasons.
fn is_in(rows: &[(&str, &str)], example: &Example) -> bool {
    rows.iter().any(|(name, _)| *name == example.row.name)
}

/// What a pattern stands for: what may be missing is, and words are there.
fn spelt(pattern: &str) -> String {
    spelt_with(pattern, |_| String::new())
}

/// The same, with what stands at each place where there may be white space (`ws`, `sp`, `nl`).
fn spelt_with(pattern: &str, mut joint: impl FnMut(&str) -> String) -> String {
    let pattern = pattern.split("{|}").next().unwrap_or_default();
    let (mut text, mut rest, mut missing) = (String::new(), pattern, 0);
    while let Some((literal, tail)) = rest.split_once('{') {
        let (word, tail) = tail.split_once('}').unwrap_or((tail, ""));
        let stands_for = match word {
            "[" => {
                missing += 1;
                text.push_str(if missing == 1 { literal } else { "" });
                rest = tail;
                continue;
            }
            "]" => {
                missing -= 1;
                rest = tail;
                continue;
            }
            "ws" | "sp" | "nl" if missing == 0 => joint(word),
            "start" | "line" | "ws" | "sp" | "nl" | "ns" | ")" => String::new(),
            "number" => "0".into(),
            "{" => "{".into(),
            _ if word.starts_with('*') || word.ends_with('(') => String::new(),
            _ => match word.strip_prefix('@') {
                Some(list) => list.split(',').map(attribute).collect(),
                None => "lookup".into(),
            },
        };
        if missing == 0 {
            text.extend([literal, &stands_for]);
        }
        rest = tail;
    }
    text + rest
}

fn attribute(item: &str) -> String {
    let name = item.rsplit('=').next().unwrap_or_default().trim_end_matches(['?', '&']);
    format!(" {name}=\"lookup\"")
}

fn arguments(calls: &[Value]) -> Vec<&Value> {
    calls.iter().map(|call| &call["arguments"]).collect()
}

/// What a model says in its dialect is a message that ends well.
#[test]
fn every_example_ends_well() {
    for example in Example::every() {
        let ran = run(&example.config, Print::Events, [example.input.as_bytes()]);
        assert_eq!(ran.status, 0, "{}: {}", example.row.name, ran.out);
    }
}

/// Rows whose calls `auto` finds only if `--tools` names the tool: they have no
/// marker of their own.
const OF_KNOWN_TOOLS: &[&str] = &["llama3_json", "pythonic"];

/// No two rows look the same: each one's fixture is read as its own.
#[test]
fn auto_tells_every_row_from_the_others() {
    for mut example in Example::every().filter(|example| example.row.auto) {
        let row = example.row;
        if OF_KNOWN_TOOLS.contains(&row.name) {
            assert_eq!(example.calls(Selection::Auto, &example.input).len(), 0, "{}", row.name);
            let calls = example.calls(Selection::Row(row), &example.input);
            let tools: Vec<_> = calls.iter().map(|call| format!("{}:{{}}", call["name"])).collect();
            let tools = Tools::parse(&format!("{{{}}}", tools.join(","))).unwrap();
            example.config.tools = Some(Arc::new(tools));
        }
        let calls = example.calls(Selection::Auto, &example.input);
        let sources: Vec<_> = calls.iter().map(|call| &call["source"]).collect();
        assert!(!calls.is_empty(), "{}: no call", row.name);
        assert!(sources.iter().all(|source| *source == row.name), "{}: {sources:?}", row.name);
    }
}

/// Text that is markup in some dialect, or ends strings and blocks.
const HOSTILE: &[&str] = &[
    "</parameter>",
    "</function>",
    "<parameter=x>1</parameter>",
    "</tool_call>",
    "</arg_value>",
    "</\u{ff5c}DSML\u{ff5c}parameter>",
    "</content>",
    "```",
    "\"a\" {b} 'c'",
];

/// The text in front of a value tells how it's quoted: not at all, or in
/// quotes, or in quotes inside of a string.
fn quoted(before: &str, value: &str) -> String {
    let Some(quote) = before.chars().last().filter(|c| matches!(c, '"' | '\'')) else {
        return value.to_owned();
    };
    let escape = |text: &str| text.replace('\\', "\\\\").replace(quote, &format!("\\{quote}"));
    if before.ends_with("\\\"") { escape(&escape(value)) } else { escape(value) }
}

/// Rows whose one call has no text to put markup into.
const WITHOUT_TEXT: &[&str] = &[];

#[test]
fn values_may_hold_any_markup() {
    let (mut lost, mut without_text) = (Vec::new(), Vec::new());
    let mut count = 0;
    for example in Example::all() {
        let name = example.row.name;
        let before = example.calls(Selection::Row(example.row), &example.input);
        let Some((key, word)) = before.iter().find_map(|call| {
            let members = call["arguments"].as_object()?.iter();
            let mut words = members.filter_map(|(key, value)| Some((key, value.as_str()?)));
            words.find(|(_, word)| word.len() > 3 && example.input.matches(word).count() == 1)
        }) else {
            without_text.push(name);
            continue;
        };
        let (head, tail) = example.input.split_once(word).unwrap();
        for hostile in HOSTILE {
            let value = format!("{word} see {hostile} there");
            let input = format!("{head}{}{tail}", quoted(head, &value));
            let calls = example.calls(Selection::Row(example.row), &input);
            let is_there = calls.len() == before.len()
                && arguments(&calls).iter().any(|arguments| arguments[key] == *value);
            let is_end = example.exceptions.values_end_at.iter().any(|end| end == hostile);
            match (is_there, is_end) {
                (false, false) => lost.push(format!("{name}: {hostile}")),
                (true, true) => lost.push(format!("{name} needs no exception for {hostile}")),
                _ => {}
            }
            count += 1;
        }
    }
    assert_eq!(without_text, WITHOUT_TEXT);
    assert!(lost.is_empty() && count > 0, "of {count} values were lost:\n{}", lost.join("\n"));
}
