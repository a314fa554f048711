//! Built-in formats whose records a user's row would take, too: it is tried before them.

use serde_json::{Map, Value};

use crate::cut::until;
use crate::format::format::{Format, Record};
use crate::format::machine::evidence;
use crate::format::spec::{Places, Rule, Spec, Weak, is_keyed, paths, split_flag, split_test};
use crate::format::table::FORMATS;
use crate::frame::{Frame, NDJSON};

impl Format {
    /// Returns the names of the built-in rows of which a user's row takes a record, too.
    pub(crate) fn overlaps(&self) -> Vec<&'static str> {
        let Some(own) = self.row() else { return Vec::new() };
        let is_taken = |format: &&&Format| {
            let samples = format.row().into_iter().flat_map(|row| samples(row.spec));
            let mut samples = samples.map(|(event, sample)| (event, sample.to_string()));
            samples.any(|(event, sample)| {
                let record = record(&event, sample.as_bytes());
                format.accepts(&record) && evidence::proves(own.spec, &record)
            })
        };
        FORMATS.iter().filter(is_taken).map(|format| format.name).collect()
    }
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
