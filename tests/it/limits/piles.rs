//! What decoders remember of records that never repeat: nothing that grows, or
//! a limit of its own ends the stream. The records are those of the fixtures,
//! with another number in each copy.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io};

use allocation_counter::measure;
use serde_json::{Map, Value, json};
use toolstream::sink::{Label, Ndjson};
use toolstream::{Config, Pipeline};

use crate::case::files;

/// The bytes after which memory has its size, those that are fed, and the growth between them that
/// is none. What grows is fed more: its limit may be far off.
const STAGES: [(usize, usize, u64); 5] = [
    (100_000, 400_000, 20_000),
    (1_000_000, 2_000_000, 50_000),
    (4_000_000, 8_000_000, 100_000),
    (16_000_000, 32_000_000, 100_000),
    (256_000_000, 320_000_000, 100_000),
];

/// Stands for the number of a copy in the text of a record.
const NUMBER: usize = 918_273_645;

/// The time after which a stream is named: none takes so long whose time grows as its length does.
const SLOW: Duration = Duration::from_secs(10);

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

    /// Its record, if that is an object.
    fn object(&self) -> Option<&Value> {
        self.record.as_ref().filter(|record| record.is_object())
    }

    /// What tells it from other kinds of records.
    fn kind(&self) -> String {
        let kind = self.object().and_then(|record| record["type"].as_str());
        format!("{}{}", self.head.trim(), kind.unwrap_or_default())
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

/// The record, with [`NUMBER`] in one place: a scalar's, or a member's more.
fn varied(record: &Value, place: &str) -> Value {
    let mut record = record.clone();
    match record.pointer_mut(place) {
        Some(Value::Object(members)) => {
            members.insert(format!("k{NUMBER}"), json!(NUMBER));
        }
        Some(Value::String(text)) => text.push_str(&NUMBER.to_string()),
        Some(value) => *value = json!(NUMBER),
        None => {}
    }
    record
}

/// The record with [`NUMBER`] in each of its ids and indexes.
fn numbered(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let number = |(key, value): (&String, &Value)| {
                let key_low = key.to_ascii_lowercase();
                let is_key = key_low.ends_with("id") || key_low.ends_with("index");
                let value = match value {
                    Value::Number(_) if is_key => json!(NUMBER),
                    Value::String(id) if is_key => json!(format!("{id}{NUMBER}")),
                    value => numbered(value),
                };
                (key.clone(), value)
            };
            Value::Object(members.iter().map(number).collect::<Map<_, _>>())
        }
        Value::Array(elements) => elements.iter().map(numbered).collect(),
        value => value.clone(),
    }
}

/// The most memory while a stream is read, which goes on with copies of a text, each with another
/// number.
fn peak(config: &Config, head: &str, copied: &str, size: usize) -> u64 {
    let mut sink = Ndjson::new(io::sink(), Label::default());
    let mut pipeline = Pipeline::new(config);
    pipeline.feed(head.as_bytes(), &mut sink).unwrap();
    let (mut number, mut fed, mut most) = (0, 0, 0i64);
    let mut held = 0i64;
    let mark = NUMBER.to_string();
    while fed < size && !pipeline.is_stopped() {
        let mut piece = String::new();
        while piece.len() < 64 << 10 {
            piece.push_str(&copied.replace(&mark, &number.to_string()));
            number += 1;
        }
        fed += piece.len();
        let info = measure(|| pipeline.feed(piece.as_bytes(), &mut sink).unwrap());
        most = most.max(held + info.bytes_max as i64);
        held += info.bytes_current;
    }
    most.max(0) as u64
}

/// How streams are read: with limits that are near, and so that nothing comes out of them, for
/// then no limit of what comes out ends one.
fn configs() -> [(&'static str, Config); 2] {
    let mut config = Config::default();
    config.assembly.max_args = 64 << 10;
    config.max_memory = 1 << 20;
    let mut other = config.clone();
    other.assembly.choice = Some(7);
    [("", config), ("of another choice", other)]
}

/// The most memory before and after the last stage, if it grows in all of them.
fn grows(config: &Config, head: &str, copied: &str) -> Option<(u64, u64)> {
    STAGES.iter().try_fold((0, 0), |_, &(first, last, spread)| {
        let sizes = [first, last].map(|size| peak(config, head, copied, size));
        (sizes[1] >= sizes[0] + spread).then_some((sizes[0], sizes[1]))
    })
}

/// The streams that have been fed, and those that grew.
#[derive(Default)]
struct Streams {
    seen: BTreeSet<String>,
    count: usize,
    grew: Vec<String>,
}

impl Streams {
    /// Feeds a stream that goes on after the units of `head`, unless one like it has been.
    fn check(&mut self, key: String, what: &str, head: &[Unit], copied: &str) {
        if !self.seen.insert(key) {
            return;
        }
        let head: String = head.iter().map(|unit| unit.text.as_str()).collect();
        for (how, config) in configs() {
            self.count += 1;
            let begun = Instant::now();
            if let Some((first, last)) = grows(&config, &head, copied) {
                self.grew.push(format!("{what} {how}: {first} -> {last}"));
                eprintln!("{}", self.grew.last().unwrap());
            }
            if begun.elapsed() > SLOW {
                eprintln!("{what} {how} took {:?}", begun.elapsed());
            }
        }
    }

    /// Feeds the records of a fixture, each with a number in each of its places, and up to four
    /// of them in turn with a number in all of their ids.
    fn check_units(&mut self, name: &str, units: &[Unit]) {
        let format = name.split('/').next().unwrap();
        let objects: Vec<usize> =
            (0..units.len()).filter(|&at| units[at].object().is_some()).collect();
        for (nth, &at) in objects.iter().enumerate() {
            let (unit, head) = (&units[at], &units[..at]);
            let record = unit.object().unwrap();
            let mut all_places = Vec::new();
            places(record, String::new(), &mut all_places);
            for place in all_places {
                let key = format!("{format} {} {place}", unit.kind());
                let what = format!("{name} {at} {} {place}", unit.kind());
                self.check(key, &what, head, &unit.with(&varied(record, &place)));
            }
            for window in (1..=4).filter_map(|length| objects.get(nth..nth + length)) {
                let kinds: Vec<String> = window.iter().map(|&at| units[at].kind()).collect();
                let is_of_no_kind = kinds.iter().all(|kind| kind.len() < 6);
                let file = if is_of_no_kind { name } else { format };
                let records = window.iter().map(|&at| &units[at]);
                let copied: String =
                    records.map(|unit| unit.with(&numbered(unit.object().unwrap()))).collect();
                let key = format!("{file} {kinds:?}");
                self.check(key, &format!("{name} {at} {kinds:?}"), head, &copied);
            }
        }
    }
}

#[test]
#[ignore = "takes minutes: see tests/HARDENING.md"]
fn what_is_remembered_is_bounded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format");
    let filter = std::env::var("ONLY").unwrap_or_default();
    let mut streams = Streams::default();
    for path in files(&root) {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let is_input = path.extension().is_some_and(|end| end == "in");
        if is_input && !path.with_extension("args").exists() && name.contains(&filter) {
            streams.check_units(&name, &units(&fs::read_to_string(&path).unwrap_or_default()));
        }
    }
    let Streams { count, grew, .. } = streams;
    eprintln!("{count} streams");
    assert!(grew.is_empty(), "{} of {count}:\n{}", grew.len(), grew.join("\n"));
}
