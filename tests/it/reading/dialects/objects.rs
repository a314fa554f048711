//! Arguments that a model writes as JSON come back as they were written.

use std::ops::Range;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Deserializer, Value};
use toolstream::dialect::Selection;

use super::Example;
use crate::limits::random::settings;

/// Strings of any characters, of what is syntax in JSON, and of tags.
const TEXT: &str = "\\PC{0,6}|[{}\\[\\]\"'\\\\,:\n\t ]{0,8}|</?[a-z_|]{1,10}>";

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        TEXT.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![vec(inner.clone(), 0..4).prop_map(Value::from), object(inner)]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    btree_map(TEXT, inner, 0..4).prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// Where a text has this object as JSON.
fn place(text: &str, object: &Value) -> Option<Range<usize>> {
    text.match_indices('{').find_map(|(at, _)| {
        let mut values = Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let is_it = values.next()?.ok().as_ref() == Some(object);
        is_it.then(|| at..at + values.byte_offset())
    })
}

proptest! {
    #![proptest_config(settings(48))]

    #[test]
    fn objects_in_json_come_back(object in object(value()), is_pretty: bool) {
        let mut count = 0;
        for example in Example::all() {
            let dialect = Selection::Row(example.row);
            let calls = example.calls(dialect, &example.input);
            let Some(place) = place(&example.input, &calls[0]["arguments"]) else { continue };
            let json = match is_pretty {
                true => serde_json::to_string_pretty(&object).unwrap(),
                false => object.to_string(),
            };
            let mut input = example.input.clone();
            input.replace_range(place, &json);
            let got = example.calls(dialect, &input);
            let got: Vec<_> = got.iter().map(|call| &call["arguments"]).collect();
            prop_assert_eq!(got, [&object], "{}: {}", example.row.name, input);
            count += 1;
        }
        prop_assert!(count >= 20, "only {} rows write JSON", count);
    }
}

/// The end of a JSON string's value, if one of this content stands in a text after a colon.
fn after_member(text: &str, value: &str) -> Option<usize> {
    let quoted = format!("\"{value}\"");
    let places = text.match_indices(&quoted).map(|(at, _)| at);
    let mut values = places.filter(|at| text[..*at].trim_end().ends_with(':'));
    values.next().map(|at| at + quoted.len())
}

/// A name that comes twice is no name: a call of neither may run.
#[test]
fn a_name_that_comes_twice_gives_no_call() {
    let mut count = 0;
    for example in Example::all() {
        let dialect = Selection::Row(example.row);
        let calls = example.calls(dialect, &example.input);
        let name = calls[0]["name"].as_str().unwrap();
        let Some(end) = after_member(&example.input, name) else { continue };
        let key = example.input[..end].rsplit('"').nth(3).unwrap();
        let object_end = example.input[end..].rfind('}').map(|at| end + at).unwrap();
        for at in [end, object_end] {
            let mut input = example.input.clone();
            input.insert_str(at, &format!(",\"{key}\":\"other\""));
            let mut got = example.calls(dialect, &input);
            got.retain(|call| call["type"] == "tool_call");
            assert!(got.is_empty(), "{}: {input} gave {got:?}", example.row.name);
        }
        count += 1;
    }
    assert!(count >= 8, "only {count} rows have the name in JSON");
}
