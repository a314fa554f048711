//! Records of every format with one part grown a thousandfold: an object with
//! more members, a list with more elements, a longer text, the record again and
//! again. Twice as much may take no more than about twice as long.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, io};

use serde_json::{Map, Value, json};
use toolstream::sink::{Label, Ndjson};
use toolstream::{Config, Pipeline};

/// About how large the inputs are, in bytes: these, and twice as much.
const SIZE: usize = 100_000;
/// How many of the slowest are printed.
const SHOWN: usize = 12;
/// Fields that tell calls, choices and items apart.
const KEYS: &[&str] =
    &["index", "id", "call_id", "tool_call_id", "item_id", "output_index", "content_index"];

/// Where in a record something stands.
type Place = Vec<String>;

/// Prints what grew most, and how much there was.
pub(crate) fn table() {
    let mut rows: Vec<(f64, f64, String)> = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, text) in fixtures() {
        for (at, line) in text.lines().enumerate() {
            let prefix = if line.starts_with("data: ") { "data: " } else { "" };
            let Ok(Value::Object(record)) = serde_json::from_str(&line[prefix.len()..]) else {
                continue;
            };
            let record = Value::Object(record);
            let kind = record["type"].as_str().unwrap_or_default();
            for place in places(&record) {
                let seen_as: Vec<_> =
                    place.iter().filter(|key| key.parse::<u8>().is_err()).collect();
                if !seen.insert(format!("{} {kind} {seen_as:?}", name.split('/').next().unwrap())) {
                    continue;
                }
                let make = |size| input(&text, at, &grown(&record, &place, size), prefix);
                rows.push(measure(&make, format!("{name}, {}", place.join("."))));
            }
            if seen.insert(format!("{name} {kind} again")) {
                let make = |size| input(&text, at, &again(&record, size), prefix);
                rows.push(measure(&make, format!("{name}, the record again")));
            }
        }
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("\n{} grown inputs; the slowest:\n", rows.len());
    println!("| ns a byte | for twice as much | what grew |");
    println!("| --: | --: | --- |");
    for (cost, ratio, name) in rows.iter().take(SHOWN) {
        println!("| {cost:.1} | {ratio:.2} | {name} |");
    }
}

/// The fixtures of the formats, by name.
fn fixtures() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format");
    let mut cases: Vec<_> = files(&root)
        .into_iter()
        .filter(|file| file.extension().is_some_and(|end| end == "in"))
        .filter(|file| !file.with_extension("args").exists())
        .filter_map(|file| {
            let name = file.strip_prefix(&root).unwrap().display().to_string();
            Some((name, fs::read_to_string(&file).ok()?))
        })
        .collect();
    cases.sort();
    cases
}

/// Every file in a folder and in those below it.
fn files(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Where the objects, lists and texts of a record stand.
fn places(record: &Value) -> Vec<Place> {
    let inner: Vec<(String, &Value)> = match record {
        Value::Object(members) => members.iter().map(|(key, v)| (key.clone(), v)).collect(),
        Value::Array(elements) => {
            elements.iter().take(1).enumerate().map(|(at, v)| (at.to_string(), v)).collect()
        }
        Value::String(_) => Vec::new(),
        _ => return Vec::new(),
    };
    let inner = inner.into_iter().flat_map(|(key, value)| {
        places(value).into_iter().map(move |place| [vec![key.clone()], place].concat())
    });
    [Vec::new()].into_iter().chain(inner).collect()
}

/// The record, larger by about so many bytes at a place.
fn grown(record: &Value, place: &Place, size: usize) -> Vec<Value> {
    let mut grown = record.clone();
    let path: String = place.iter().map(|key| format!("/{}", key.replace('/', "~1"))).collect();
    match grown.pointer_mut(&path) {
        Some(Value::Object(members)) => {
            members.extend((0..size / 12).map(|at| (format!("k{at}"), json!(at))));
        }
        Some(Value::Array(elements)) => {
            if let Some(first) = elements.first().cloned() {
                let length = first.to_string().len() + 1;
                *elements = (0..size / length + 1).map(|at| numbered(&first, at)).collect();
            }
        }
        Some(Value::String(text)) => text.push_str(&"\"a\n".repeat(size / 5)),
        _ => {}
    }
    vec![grown]
}

/// The record many times, each time of another call, choice or item.
fn again(record: &Value, size: usize) -> Vec<Value> {
    let length = record.to_string().len() + 1;
    (0..size / length + 1).map(|at| numbered(record, at)).collect()
}

fn numbered(value: &Value, at: usize) -> Value {
    match value {
        Value::Object(members) => {
            let number = |(key, value): (&String, &Value)| {
                let value = match value {
                    Value::Number(_) if KEYS.contains(&key.as_str()) => json!(at),
                    Value::String(id) if KEYS.contains(&key.as_str()) => json!(format!("{id}{at}")),
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

/// The input with these records in the place of a line.
fn input(text: &str, at: usize, records: &[Value], prefix: &str) -> String {
    let end = if prefix.is_empty() { "\n" } else { "\n\n" };
    let records: String = records.iter().map(|record| format!("{prefix}{record}{end}")).collect();
    let lines = text.lines().enumerate();
    lines.map(|(n, line)| if n == at { records.clone() } else { format!("{line}\n") }).collect()
}

/// The time a byte, in nanoseconds, how it grows, and for what.
fn measure(make: &dyn Fn(usize) -> String, name: String) -> (f64, f64, String) {
    let (one, two) = (make(SIZE), make(2 * SIZE));
    let (first, second) = (time(&one), time(&two));
    (second / two.len() as f64, second / first, name)
}

/// The time that an input takes, in nanoseconds, the best of three.
fn time(input: &str) -> f64 {
    let run = || {
        let mut sink = Ndjson::new(io::sink(), Label::default());
        let begin = Instant::now();
        let mut pipeline = Pipeline::new(&Config::default());
        input.as_bytes().chunks(64 << 10).for_each(|read| pipeline.feed(read, &mut sink).unwrap());
        pipeline.finish(&mut sink).unwrap();
        begin.elapsed().as_nanos() as f64
    };
    run().min(run()).min(run())
}
