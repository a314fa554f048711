//! What goes back to the model of an answer that was damaged on its way.

use std::collections::BTreeSet;

use serde_json::Value;
use toolstream::format;

use crate::case::{Case, Print, run};
use crate::json::read;
use crate::shape::Message;

/// A turn holds the text of its events, in their order, also where a record has no index or a text
/// is of another type. It may hold more, as markup. White space aside: blank parts are refused.
pub(crate) fn turns_hold_the_text(case: &Case) -> bool {
    let (mut config, _) = case.config();
    config.turn = true;
    config.assembly.choice.get_or_insert(0);
    let turns = |input: &[u8]| -> Vec<bool> {
        let out = run(&config, Print::Joined, [input]).out;
        Message::all(&out).iter().filter_map(holds_its_text).collect()
    };
    let whole = turns(&case.input);
    // A log has the turns that it was written with. Results that a model makes up are cut off.
    let is_log = case.name.contains("format/events/");
    if is_log || whole.is_empty() || whole.contains(&false) {
        return false;
    }
    for input in damaged(&case.input) {
        assert!(!turns(&input).contains(&false), "{}", String::from_utf8_lossy(&input));
    }
    true
}

/// A turn holds the calls that its message has left for the caller, with their names and arguments;
/// beside them only those that are answered with an error.
pub(crate) fn turns_hold_the_calls(case: &Case) -> bool {
    let (mut config, _) = case.config();
    config.turn = true;
    config.assembly.choice.get_or_insert(0);
    let out = run(&config, Print::Joined, [case.input.as_slice()]).out;
    // A log has the turns that it was written with.
    let is_log = case.name.contains("format/events/");
    !is_log && Message::all(&out).iter().filter_map(holds_its_calls).count() > 0
}

/// Returns nothing for a message without a turn. Panics if the turn has other calls.
fn holds_its_calls(message: &Message<'_>) -> Option<()> {
    let turn = read(message.of("turn").next()?);
    let start = read(message.of("start").next()?);
    let request = format::find(start["format"].as_str()?)?.request?;
    let append: Vec<String> = turn["append"].as_array()?.iter().map(Value::to_string).collect();
    let is_native = |line: &&str| !line.contains("\"source\":");
    let all = |kind| message.of(kind).filter(is_native).map(read).collect::<Vec<_>>();
    let (calls, invalid) = (all("tool_call"), all("invalid_tool_call"));
    let is_left = |call: &&Value| invalid.iter().all(|other| other["index"] != call["index"]);
    let (ours, others): (Vec<_>, Vec<_>) =
        calls.iter().filter(is_left).partition(|call| call.get("executor").is_none());
    let mut held = (request.calls)(&append);
    for call in ours {
        // Half a character is replaced by one, or by one a byte.
        let is_name = |name: &str| {
            let own = call["name"].as_str().unwrap();
            name.trim_end_matches('\u{FFFD}') == own.trim_end_matches('\u{FFFD}')
        };
        let is_it = |other: &format::NativeCall| {
            let is_same = || call.get("arguments").is_none_or(|own| arguments(&other.json) == *own);
            is_name(&other.name) && (other.kind.is_some() || is_same())
        };
        let place = held
            .iter()
            .position(|other| other.id.as_deref() == call["id"].as_str() && is_it(other));
        let place = place.or_else(|| held.iter().position(is_it));
        let place = place.unwrap_or_else(|| panic!("no {call} in {append:?}"));
        held.remove(place);
    }
    assert!(held.len() <= invalid.len() + others.len(), "calls that were not read: {held:?}");
    Some(())
}

/// The arguments of a call in the provider's own JSON.
fn arguments(json: &str) -> Value {
    let call = read(json);
    let inner = call.get("function").unwrap_or(&call);
    let given = ["arguments", "input", "args"].iter().find_map(|key| inner.get(key));
    match given {
        Some(Value::String(text)) if text.trim().is_empty() => {
            Value::Object(serde_json::Map::new())
        }
        Some(Value::String(text)) => read(text),
        Some(given) => given.clone(),
        None => Value::Object(serde_json::Map::new()),
    }
}

/// True if the turn of a message, if it has one, holds its text.
fn holds_its_text(message: &Message<'_>) -> Option<bool> {
    let turn = read(message.of("turn").next()?);
    let (mut held, mut said) = (String::new(), String::new());
    texts(&turn["append"], &mut held);
    message.of("text").for_each(|line| said.push_str(&text(&read(line)["text"])));
    let mut held = visible(&held);
    Some(visible(&said).all(|c| held.any(|other| other == c)))
}

/// Returns inputs that lack one index, or have a number for one text.
fn damaged(input: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut inputs = BTreeSet::new();
    let text = String::from_utf8_lossy(input);
    for key in ["index", "contentBlockIndex", "output_index", "text", "content"] {
        let key = format!("\"{key}\":");
        for (at, _) in text.match_indices(&key) {
            let rest = &text[at + key.len()..];
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            let Some(Ok(value)) = values.next() else { continue };
            let end = at + key.len() + values.byte_offset();
            let tail = &text[end..];
            let damaged = match value {
                Value::String(_) => format!("{}{key}5{tail}", &text[..at]),
                Value::Number(_) => {
                    let tail = tail.strip_prefix(',').unwrap_or(tail);
                    format!("{}{tail}", text[..at].trim_end_matches(','))
                }
                _ => continue,
            };
            inputs.insert(damaged.into_bytes());
        }
    }
    inputs
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The characters of a text that say anything.
fn visible(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_whitespace() && *c != char::REPLACEMENT_CHARACTER)
}

/// Appends the texts of a turn: of thoughts, calls and results none.
fn texts(value: &Value, held: &mut String) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| texts(value, held)),
        Value::Object(object) => {
            let kind = text(&value["type"]);
            let is_text = !["think", "thought", "reason", "call", "tool", "result"]
                .iter()
                .any(|word| kind.contains(word));
            if !is_text || object.get("thought") == Some(&Value::Bool(true)) {
                return;
            }
            for (key, value) in object {
                match (key.as_str(), value) {
                    ("text" | "content" | "transcript", Value::String(text)) => held.push_str(text),
                    ("content" | "parts" | "citationsContent", value) => texts(value, held),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}
