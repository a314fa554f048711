//! Every line is what `toolstream schema` says.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};
use toolstream::sink::SCHEMA;

use crate::case::{Print, for_each, run};
use crate::json::read;

/// A part of the schema, as a schema of its own.
fn part(name: &str) -> Validator {
    let mut schema = read(SCHEMA);
    schema.as_object_mut().unwrap().remove("oneOf");
    schema["$ref"] = json!(format!("#/$defs/{name}"));
    jsonschema::validator_for(&schema).unwrap()
}

static LINE: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&read(SCHEMA)).unwrap());
static EVENT: LazyLock<Validator> = LazyLock::new(|| part("event"));
static SUMMARY: LazyLock<Validator> = LazyLock::new(|| part("summary"));

#[track_caller]
fn check(validator: &Validator, line: &str) {
    let value = read(line);
    // An error of `oneOf` names no reason: the type's own part does.
    let reason = || {
        let name = value["type"].as_str().unwrap_or_default().to_owned();
        let own =
            if read(SCHEMA)["$defs"].get(&name).is_some() { part(&name) } else { part("summary") };
        own.iter_errors(&value).map(|error| error.to_string()).collect::<Vec<_>>().join("; ")
    };
    assert!(validator.is_valid(&value), "{line}\n{}", reason());
    assert!(LINE.is_valid(&value), "not a line of any kind: {line}");
}

#[test]
fn every_event_fits() {
    let seen = Mutex::new(BTreeSet::new());
    for_each(|case| {
        let (config, _) = case.config();
        for config in [&config, &case.full_config()] {
            let out = run(config, Print::Events, [case.input.as_slice()]).out;
            out.lines().for_each(|line| check(&EVENT, line));
            let kinds = out.lines().map(|line| crate::case::kind(line).to_owned());
            seen.lock().unwrap().extend(kinds);
        }
    });
    let all = read(SCHEMA);
    let all = all["$defs"]["event"]["oneOf"].as_array().unwrap().iter();
    let all: BTreeSet<_> =
        all.map(|row| row["$ref"].as_str().unwrap().replace("#/$defs/", "")).collect();
    let seen = seen.into_inner().unwrap();
    assert!(all == seen, "no fixture has {:?}", all.difference(&seen).collect::<Vec<_>>());
}

#[test]
fn every_summary_fits() {
    for_each(|case| {
        let (mut config, _) = case.config();
        config.assembly.choice.get_or_insert(0);
        let out = run(&config, Print::Summaries, [case.input.as_slice()]).out;
        assert!(!out.is_empty());
        out.lines().for_each(|line| check(&SUMMARY, line));
    });
}

#[test]
fn a_key_too_many_or_too_few_does_not_fit() {
    let good = json!({"type": "tool_call", "index": 0, "id": "a", "name": "f", "arguments": {}});
    check(&EVENT, &good.to_string());
    let with = |key: &str, value: Value| {
        let mut line = good.clone();
        line[key] = value;
        line
    };
    for bad in [
        with("color", json!(1)),
        with("arguments", json!("{}")),
        with("index", json!(-1)),
        with("id", json!(null)),
    ] {
        assert!(!EVENT.is_valid(&bad), "{bad}");
    }
    for key in ["index", "id", "name", "arguments"] {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(key);
        assert!(!EVENT.is_valid(&bad), "{bad}");
    }
}
