//! Every line is what `toolstream schema` says.

use std::sync::LazyLock;

use serde_json::{Value, json};
use toolstream::sink::schema;

use crate::case::{Case, Print, run};
use crate::fits::{misfit, part};
use crate::json::read;

static WHOLE: LazyLock<Value> = LazyLock::new(|| read(&schema()));

/// Returns why a value is not what this part of the schema says.
#[track_caller]
fn reason(name: &str, value: &Value) -> Option<String> {
    misfit(&WHOLE, part(&WHOLE, name), value)
}

#[track_caller]
fn check(kind: &str, line: &str) {
    let value = read(line);
    if reason(kind, &value).is_some() {
        // `oneOf` lists the reasons of all types: that of the line's own says more.
        let own = value["type"].as_str().filter(|name| WHOLE["$defs"].get(name).is_some());
        panic!("{line}\n{:?}", reason(own.unwrap_or(kind), &value));
    }
    assert_eq!(misfit(&WHOLE, &WHOLE, &value), None, "not a line of any kind: {line}");
}

pub(crate) fn events_fit(case: &Case) -> bool {
    let (config, _) = case.config();
    for config in [&config, &case.full_config()] {
        let out = run(config, Print::Events, [case.input.as_slice()]).out;
        out.lines().for_each(|line| check("event", line));
    }
    true
}

pub(crate) fn summaries_fit(case: &Case) -> bool {
    let (mut config, _) = case.config();
    config.assembly.choice.get_or_insert(0);
    let out = run(&config, Print::Summaries, [case.input.as_slice()]).out;
    assert!(!out.is_empty());
    out.lines().for_each(|line| check("summary", line));
    true
}

pub(crate) fn a_key_too_many_or_too_few() {
    let good = json!({"type": "tool_call", "index": 0, "id": "a", "name": "f", "arguments": {}});
    check("event", &good.to_string());
    let is_good = |line: &Value| reason("event", line).is_none();
    let with = |key: &str, value: Value| {
        let mut line = good.clone();
        line[key] = value;
        line
    };
    for bad in [
        with("color", json!(1)),
        with("arguments", json!("{}")),
        with("index", json!(-1)),
        with("index", json!(0.5)),
        with("id", json!(null)),
        with("executor", json!("me")),
        with("type", json!("tool_calls")),
    ] {
        assert!(!is_good(&bad), "{bad}");
    }
    for key in ["type", "index", "id", "name", "arguments"] {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(key);
        assert!(!is_good(&bad), "{bad}");
    }
    let bare = json!({"type": "reasoning"});
    assert!(!is_good(&bare), "anyOf: {bare}");
}
