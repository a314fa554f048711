//! The part of events that is compared.

use crate::cut::until;
use crate::json;

/// What changes when the same answer is recorded again: ids, times, signatures, fingerprints, counts.
const VOLATILE: &[&str] = &[
    "id",
    "item_id",
    "signature",
    "created",
    "t_ms",
    "start.input_tokens",
    "usage",
    "error.raw",
    "tool_result.ms",
    "turn.**.id",
    "turn.**.call_id",
    "turn.**.item_id",
    "turn.**.tool_call_id",
    "turn.**.tool_use_id",
    "turn.**.signature",
    "turn.**.thoughtSignature",
    "turn.**.encrypted_content",
    "provider_event.data.**.id",
    "provider_event.data.**.created",
    "provider_event.data.**.system_fingerprint",
    "provider_event.data.**.obfuscation",
];

/// An offset counts bytes, not what they say.
const NEVER: &[&str] = &["offset"];

/// An event as it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Compared {
    /// Its line in a golden file, from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// Which events are compared, and which of their keys are not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// The types of the events, all if there are none.
    only: Vec<String>,
    /// The keys: `KEY` of every event, `TYPE.KEY` and deeper paths of those of a type, and of a type
    /// all keys `TYPE`.
    ignore: Vec<String>,
}

impl Filter {
    /// Returns the filter of these settings.
    pub(crate) fn new(only: &[String], ignore: &[String]) -> Self {
        let words = ignore.iter().flat_map(|word| match word.as_str() {
            "volatile" => VOLATILE.to_vec(),
            word => vec![word],
        });
        let ignore = words.chain(NEVER.iter().copied()).map(str::to_owned).collect();
        Filter { only: only.to_vec(), ignore }
    }

    /// Returns what is compared of the events of a golden file.
    pub(crate) fn apply(&self, events: &str) -> Vec<Compared> {
        let lines = events.lines().zip(2..);
        lines.filter_map(|(text, line)| Some(Compared { line, text: self.event(text)? })).collect()
    }

    fn event(&self, event: &str) -> Option<String> {
        let (members, kind) = (json::members(event), kind(event));
        if !self.only.is_empty() && !self.only.iter().any(|only| only == kind) {
            return None;
        }
        let paths = self.ignore.iter().filter_map(|word| match word.split_once('.') {
            Some((of, path)) => (of == kind).then_some(path),
            None if word == kind => Some("*"),
            None => Some(word.as_str()),
        });
        let paths: Vec<Vec<&str>> = paths.map(|path| path.split('.').collect()).collect();
        let kept = members.iter().filter_map(|(key, value)| match key.as_ref() {
            "type" => Some(("type", value.get().to_owned())),
            key => Some((key, without_under(key, value.get(), &paths)?)),
        });
        Some(json::object(kept))
    }
}

/// Returns the type of an event's line, without reading the rest of it.
pub(crate) fn kind(line: &str) -> &str {
    until(line.strip_prefix("{\"type\":\"").unwrap_or(line), "\"")
}

/// Returns a JSON value without the members at these paths. In a path, `*` is any member, `**` any
/// number of them, and the elements of an array have the path of the array.
pub(crate) fn without(value: &str, paths: &[Vec<&str>]) -> String {
    if paths.is_empty() {
        return value.to_owned();
    }
    if let Some(elements) = json::elements(value) {
        return json::array(elements.into_iter().map(|element| without(element, paths)));
    }
    if !value.trim_ascii_start().starts_with('{') {
        return value.to_owned();
    }
    let members = json::members(value);
    json::object(
        members
            .iter()
            .filter_map(|(key, value)| Some((key, without_under(key, value.get(), paths)?))),
    )
}

/// Returns the value of a member, without what the paths take of it; none if they take it whole.
fn without_under(key: &str, value: &str, paths: &[Vec<&str>]) -> Option<String> {
    let mut inner = Vec::new();
    for path in paths {
        let rests = match path.split_first() {
            Some((&"**", rest)) => vec![Some(path.clone()), below(key, rest)],
            _ => vec![below(key, path)],
        };
        inner.extend(rests.into_iter().flatten());
    }
    (!inner.iter().any(Vec::is_empty)).then(|| without(value, &inner))
}

/// Returns what is left of a path below this key, if it leads there.
fn below<'p>(key: &str, path: &[&'p str]) -> Option<Vec<&'p str>> {
    let (first, rest) = path.split_first()?;
    (*first == key || *first == "*").then(|| rest.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(only: &[&str], ignore: &[&str], expected: &[&str]) {
        let owned =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let start = r#"{"type":"start","v":1,"id":"a"}"#;
        let call =
            r#"{"type":"tool_call","id":"b","arguments":{"id": 1.0,"l":[{"id":2}]},"offset":3}"#;
        let events = format!("{start}\n{call}\n");
        let filter = Filter::new(&owned(only), &owned(ignore));
        let compared: Vec<_> = filter.apply(&events).into_iter().map(|event| event.text).collect();
        assert_eq!(compared, expected, "{ignore:?}");
    }

    #[test]
    fn keys_are_left_out_and_types_are_chosen() {
        let start = r#"{"type":"start","v":1,"id":"a"}"#;
        let call = r#"{"type":"tool_call","id":"b","arguments":{"id": 1.0,"l":[{"id":2}]}}"#;
        check(&["tool_call"], &[], &[call]);
        check(&[], &["tool_call"], &[start, "{\"type\":\"tool_call\"}"]);
        check(&[], &["start.id"], &["{\"type\":\"start\",\"v\":1}", call]);
        check(&["start"], &["id"], &["{\"type\":\"start\",\"v\":1}"]);
        check(&["start"], &["volatile"], &["{\"type\":\"start\",\"v\":1}"]);
        let left = |arguments: &str| {
            format!("{{\"type\":\"tool_call\",\"id\":\"b\",\"arguments\":{arguments}}}")
        };
        for (path, arguments) in [
            ("tool_call.arguments.id", "{\"l\":[{\"id\":2}]}"),
            ("tool_call.arguments.l.id", "{\"id\":1.0,\"l\":[{}]}"),
            ("tool_call.arguments.**.id", "{\"l\":[{}]}"),
            ("tool_call.arguments.*", "{}"),
            ("tool_call.arguments.none.id", "{\"id\":1.0,\"l\":[{\"id\":2}]}"),
        ] {
            check(&["tool_call"], &[path], &[&left(arguments)]);
        }
    }
}
