//! `--values`: the values that a call's arguments have while they stream are those that they have
//! in the end.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::case::{Case, Print, run};
use crate::exceptions::Exceptions;
use crate::json::read;
use crate::shape::Message;

pub(crate) fn are_those_of_the_whole(case: &Case) -> bool {
    if Exceptions::of(case).has_no_deltas() {
        return false;
    }
    let config = case.full_config();
    let whole = run(&config, Print::Values, [case.input.as_slice()]).out;
    let bytewise = run(&config, Print::Values, case.input.chunks(1)).out;
    assert_eq!(whole, bytewise, "reads make a difference to the values");
    let messages = Message::all(&whole);
    messages.iter().map(check).sum::<usize>() > 0
}

/// Compares each whole call with its values; returns how many calls were compared.
fn check(message: &Message<'_>) -> usize {
    let key = |line: &Value| (line["choice"].as_u64(), line["index"].as_u64());
    let mut values: BTreeMap<_, BTreeMap<String, String>> = BTreeMap::new();
    for line in message.of("tool_call_value").map(read) {
        let path = line["path"].as_str().unwrap().to_owned();
        let value = match line.get("text").or(line.get("value")).unwrap() {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        values.entry(key(&line)).or_default().entry(path).or_default().push_str(&value);
    }
    // What comes twice, or what the provider takes back, was printed when it came.
    let warnings: Vec<Value> = message.of("warning").map(read).collect();
    let is_taken_back = |line: &Value| {
        let codes = ["duplicate_key", "arguments_mismatch"].map(Value::from);
        warnings.iter().any(|warning| key(warning) == key(line) && codes.contains(&warning["code"]))
    };
    let calls: Vec<Value> = message.of("tool_call").map(read).collect();
    let calls: Vec<&Value> = calls.iter().filter(|call| !is_taken_back(call)).collect();
    for call in &calls {
        let mut expected = BTreeMap::new();
        match call.get("input") {
            Some(input) => add(input, "", &mut expected),
            None => add(&call["arguments"], "", &mut expected),
        }
        let got = values.remove(&key(call)).unwrap_or_default();
        // Free text that is empty has no piece.
        expected.retain(|path, value| !path.is_empty() || !value.is_empty());
        assert_eq!(with_halves(got), with_halves(expected), "the values of {call}");
    }
    calls.len()
}

/// Returns values with one character for half of one: how many there are is the reader's
/// choice.
fn with_halves(values: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let halves = "\u{FFFD}\u{FFFD}";
    let with_halves = |mut text: String| {
        while text.contains(halves) {
            text = text.replace(halves, "\u{FFFD}");
        }
        text
    };
    values.into_iter().map(|(path, value)| (with_halves(path), with_halves(value))).collect()
}

/// Adds the scalars and the empty containers of a value, each under its JSON pointer.
fn add(value: &Value, path: &str, to: &mut BTreeMap<String, String>) {
    let below = |key: &str| format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(key, value)| add(value, &below(key), to));
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(at, item)| add(item, &below(&at.to_string()), to));
        }
        Value::String(text) => _ = to.insert(path.to_owned(), text.clone()),
        _ => _ = to.insert(path.to_owned(), value.to_string()),
    }
}
