//! What decoders remember of records that never repeat: nothing that grows, or
//! a limit of its own ends the stream. The records are those of the fixtures,
//! with another number in each copy.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use allocation_counter::measure;
use serde_json::{Map, Value, json};
use toolstream::sink::{Label, Ndjson};
use toolstream::{Config, Pipeline};

use crate::case::files;

/// The bytes after which memory has its size, and those that are fed.
const SIZES: [usize; 2] = [100_000, 400_000];
/// The bytes for what may have a limit far off.
const MORE: [usize; 2] = [16_000_000, 32_000_000];
/// The growth that is none.
const SPREAD: u64 = 100_000;

/// An event of a stream, or a line, with the record in it.
#[derive(Clone)]
struct Unit {
    head: String,
    record: Option<Value>,
    text: String,
    end: &'static str,
}

impl Unit {
    fn with(&self, record: &Value) -> String {
        format!("{}{record}{}", self.head, self.end)
    }
}

fn units(text: &str) -> Vec<Unit> {
    let is_sse = text.lines().any(|line| line.starts_with("data:"));
    let (between, end) = if is_sse { ("\n\n", "\n\n") } else { ("\n", "\n") };
    let unit = |text: &str| {
        let at = text.find('{').unwrap_or(text.len());
        let record: Option<Value> = serde_json::from_str(&text[at..]).ok();
        let head = text[..at].to_owned();
        Unit { head, record, text: format!("{text}{end}"), end }
    };
    text.split(between).filter(|text| !text.is_empty()).map(unit).collect()
}

/// Where the scalars of a record stand, and its members.
fn places(value: &Value, path: String, into: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                places(
                    value,
                    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")),
                    into,
                );
            }
            into.push(path);
        }
        Value::Array(elements) => {
            for (at, value) in elements.iter().take(2).enumerate() {
                places(value, format!("{path}/{at}"), into);
            }
        }
        _ => into.push(path),
    }
}

/// The record, with a number that no other copy has: a scalar's, or a member's more.
fn varied(record: &Value, place: &str, number: usize) -> Value {
    let mut record = record.clone();
    match record.pointer_mut(place) {
        Some(Value::Object(members)) => {
            members.insert(format!("k{number}"), json!(number));
        }
        Some(Value::String(text)) => text.push_str(&number.to_string()),
        Some(value) => *value = json!(number),
        None => {}
    }
    record
}

/// The record with this number in each of its ids and indexes.
fn numbered(value: &Value, at: usize) -> Value {
    match value {
        Value::Object(members) => {
            let number = |(key, value): (&String, &Value)| {
                let key_low = key.to_ascii_lowercase();
                let is_key = key_low.ends_with("id") || key_low.ends_with("index");
                let value = match value {
                    Value::Number(_) if is_key => json!(at),
                    Value::String(id) if is_key => json!(format!("{id}{at}")),
                    value => numbered(value, at),
                };
                (key.clone(), value)
            };
            Value::Object(members.iter().map(number).collect::<Map<_, _>>())
        }
        Value::Array(elements) => elements.iter().map(|value| numbered(value, at)).collect(),
        value => value.clone(),
    }
}

/// The most memory while a stream is read, which `more` makes as long as it is.
fn peak(config: &Config, head: &str, more: &dyn Fn(usize) -> String, size: usize) -> u64 {
    let mut sink = Ndjson::new(io::sink(), Label::default());
    let mut pipeline = Pipeline::new(config);
    pipeline.feed(head.as_bytes(), &mut sink).unwrap();
    let (mut number, mut fed, mut most) = (0, 0, 0i64);
    let mut held = 0i64;
    while fed < size && !pipeline.is_stopped() {
        let mut piece = String::new();
        while piece.len() < 64 << 10 {
            piece.push_str(&more(number));
            number += 1;
        }
        fed += piece.len();
        let info = measure(|| pipeline.feed(piece.as_bytes(), &mut sink).unwrap());
        most = most.max(held + info.bytes_max as i64);
        held += info.bytes_current;
    }
    most.max(0) as u64
}

fn config() -> Config {
    let mut config = Config::default();
    config.assembly.max_args = 64 << 10;
    config.max_memory = 1 << 20;
    config
}

fn grows(config: &Config, head: &str, more: &dyn Fn(usize) -> String) -> Option<(u64, u64)> {
    for sizes in [SIZES, MORE] {
        let [first, last] = sizes.map(|size| peak(config, head, more, size));
        if last < first + SPREAD {
            return None;
        }
        if sizes == MORE {
            return Some((first, last));
        }
    }
    None
}

#[test]
#[ignore = "takes minutes: see tests/HARDENING.md"]
fn what_is_remembered_is_bounded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format");
    let config = config();
    let filter = std::env::var("ONLY").unwrap_or_default();
    let (mut seen, mut found, mut count) = (BTreeSet::new(), Vec::new(), 0);
    for path in files(&root) {
        if path.extension().is_none_or(|end| end != "in") || path.with_extension("args").exists() {
            continue;
        }
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if !name.contains(&filter) {
            continue;
        }
        let format = name.split('/').next().unwrap().to_owned();
        let units = units(&text);
        let all: Vec<usize> = (0..units.len())
            .filter(|&at| matches!(units[at].record, Some(Value::Object(_))))
            .collect();
        let mut check = |what: String, head: &str, more: &dyn Fn(usize) -> String| {
            count += 1;
            if let Some((first, last)) = grows(&config, head, more) {
                let line = format!("{name} {what}: {first} -> {last}");
                eprintln!("{line}");
                found.push(line);
            }
        };
        for &at in &all {
            let head: String = units[..at].iter().map(|unit| unit.text.as_str()).collect();
            let unit = &units[at];
            let record = unit.record.as_ref().unwrap();
            let kind = format!("{} {}", unit.head, record["type"].as_str().unwrap_or_default());
            let mut all_places = Vec::new();
            places(record, String::new(), &mut all_places);
            for place in all_places {
                if !seen.insert(format!("{format} {kind} {place}")) {
                    continue;
                }
                check(format!("{at} {kind} {place}"), &head, &|number| {
                    unit.with(&varied(record, &place, number))
                });
            }
            for length in 1..=4 {
                let Some(window) =
                    all.iter().position(|&n| n == at).and_then(|n| all.get(n..n + length))
                else {
                    continue;
                };
                let kinds: Vec<_> = window
                    .iter()
                    .map(|&at| {
                        format!(
                            "{}{}",
                            units[at].head.trim(),
                            units[at].record.as_ref().unwrap()["type"].as_str().unwrap_or_default()
                        )
                    })
                    .collect();
                if !seen.insert(format!(
                    "{format} ids {kinds:?} {}",
                    if kinds.iter().all(|kind| kind.len() < 6) { name.as_str() } else { "" }
                )) {
                    continue;
                }
                check(format!("{at} ids of {length} {kinds:?}"), &head, &|number| {
                    window
                        .iter()
                        .map(|&at| {
                            units[at].with(&numbered(units[at].record.as_ref().unwrap(), number))
                        })
                        .collect()
                });
            }
        }
    }
    eprintln!("{count} streams");
    assert!(found.is_empty(), "{} of {count}:\n{}", found.len(), found.join("\n"));
}
