//! Built-in formats whose records a user's row would take, too: it is tried before them.

use serde_json::{Map, Value};

use crate::cut::until;
use crate::format::check::USUAL;
use crate::format::format::{Format, Record};
use crate::format::machine::evidence;
use crate::format::spec::{Places, Rule, Spec, Weak, is_keyed, paths, split_flag, split_test};
use crate::format::table::FORMATS;
use crate::frame::{Frame, NDJSON};

impl Format {
    /// Returns the names of the built-in formats of which a user's row takes a record, too, as far as
    /// their first records in short show.
    pub(crate) fn overlaps(&self) -> Vec<&'static str> {
        let Some(own) = self.row() else { return Vec::new() };
        let taken = FORMATS.iter().filter(|format| takes(own.spec, format));
        taken.map(|format| format.name).collect()
    }
}

/// True if a row proves itself by a first record of a built-in format.
fn takes(own: &Spec, format: &Format) -> bool {
    let is_taken = |event: &str, sample: &str| {
        let record = record(event, sample.as_bytes());
        format.accepts(&record) && evidence::proves(own, &record)
    };
    let mut of_row = format.row().into_iter().flat_map(|row| samples(row.spec));
    let mut of_code = USUAL.iter().chain(&OTHERS).filter(|(name, _)| *name == format.name);
    of_code.any(|(_, sample)| is_taken("", sample))
        || of_row.any(|(event, sample)| is_taken(&event, &sample.to_string()))
}

fn record<'r>(event_type: &'r str, data: &'r [u8]) -> Record<'r> {
    Record::new(&Frame { event_type, ..Frame::new(NDJSON, data, 0) })
}

/// Returns for each rule of a row a record that has what proves the format, and no more.
fn samples(spec: &Spec) -> impl Iterator<Item = (String, Value)> {
    let rules = spec.on.iter().filter(|rule| rule.weak != Weak::Yes && rule.wraps.is_none());
    rules.flat_map(|rule| paths(rule.kind).map(|word| sample(spec, rule, &word.replace('*', "x"))))
}

/// Returns the name of the event, and its record.
fn sample(spec: &Spec, rule: &Rule, kind: &str) -> (String, Value) {
    let (mut event, mut record) = (String::new(), Value::Object(Map::new()));
    let base = if is_keyed(spec.kind) { kind } else { "" };
    let places = spec.kind.iter().filter(|_| base.is_empty() && rule.is_named());
    for (places, word) in places.zip(kind.split('/')) {
        match paths(places).next() {
            Some("event:") => word.clone_into(&mut event),
            _ => set(&mut record, "", places, word.into()),
        }
    }
    spec.detect.has.iter().for_each(|places| set(&mut record, "", places, Value::Null));
    let has = rule.has.iter().chain(rule.needs);
    has.for_each(|places| set(&mut record, base, places, Value::Null));
    rule.is.iter().for_each(|(places, words)| set(&mut record, base, places, first(words).into()));
    (event, record)
}

fn first(words: &str) -> &str {
    until(words, "|")
}

/// Puts a value at the first of some places, in a member of the record if `base` names one; in place
/// of null, what the place asks for.
fn set(record: &mut Value, base: &str, places: Places, value: Value) {
    let (places, words) = split_flag(places);
    let (path, begins) = split_test(first(places));
    let value = match (value, words, begins.chars().next()) {
        (Value::Null, Some(words), _) if !words.is_empty() => first(words).into(),
        (Value::Null, _, Some('{')) => Value::Object(Map::new()),
        (Value::Null, _, Some('[')) => Value::Array(Vec::new()),
        (Value::Null, _, Some('t')) => true.into(),
        (Value::Null, ..) => "x".into(),
        (value, ..) => value,
    };
    let path = path.strip_prefix('/').unwrap_or(path);
    let keys = [base].into_iter().chain(path.split('.'));
    let mut at = record;
    for key in keys.filter(|key| !key.is_empty()) {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(members) = at else { return };
        at = members.entry(key.replace('*', "x")).or_insert(Value::Null);
    }
    if at.is_null() {
        *at = value;
    }
}

/// First records of others that have no row, and of bodies.
const OTHERS: [(&str, &str); 9] = [
    (
        "openai-chat",
        r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"stop"}]}"#,
    ),
    (
        "openai-responses",
        r#"{"id":"r","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"i","role":"assistant","content":[]}]}"#,
    ),
    (
        "anthropic",
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1}}"#,
    ),
    (
        "claude-code",
        r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/","tools":[],"model":"m"}"#,
    ),
    (
        "claude-code",
        r#"{"type":"assistant","sessionId":"s","message":{"id":"m","role":"assistant","content":[]}}"#,
    ),
    ("events", r#"{"type":"start","v":1,"format":"text","framing":"text"}"#),
    (
        "openai-messages",
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
    ),
    (
        "acp",
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}}}}"#,
    ),
    ("otel", r#"{"resourceSpans":[]}"#),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_without_a_row_has_a_first_record() {
        // Errors come in any format, and plain text is what is left. Bedrock's records have headers.
        let has_none = |it: &Format| {
            it.row().is_some()
                || it.is_of_errors()
                || it.name == "text"
                || it.name.starts_with("bedrock-")
        };
        for format in FORMATS.iter().filter(|format| !has_none(format)) {
            let mut all =
                USUAL.iter().chain(&OTHERS).filter(|(name, _)| *name == format.name).peekable();
            assert!(all.peek().is_some(), "{}", format.name);
            all.for_each(|(_, it)| assert!(format.accepts(&record("", it.as_bytes())), "{it}"));
        }
    }
}
