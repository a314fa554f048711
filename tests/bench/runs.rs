//! Texts that repeat a byte, two bytes, or the beginning of a marker: each of
//! them may be a marker's beginning at every byte. Lists the slowest:
//! `cargo bench --bench whole -- runs [DIALECT]`.

use std::io;
use std::rc::Rc;
use std::time::Instant;

use toolstream::dialect::{DIALECTS, Dialect, Selection, choose};
use toolstream::format;
use toolstream::sink::{Label, Ndjson};
use toolstream::{Config, Pipeline};

/// The bytes of each text.
const SIZE: usize = 1 << 16;
/// The text in one record of a stream, in bytes: as little as one token, or more.
const PIECES: [usize; 2] = [1, 1000];
/// How often each is read; the best run counts.
const RUNS: usize = 3;
/// How many are listed, and how many of the slowest are read again: most of them
/// were slow because the machine was.
const SHOWN: usize = 25;
const READ_AGAIN: usize = 400;

/// A text that repeats `unit` after `head`.
struct Run {
    name: String,
    config: Rc<Config>,
    head: String,
    unit: String,
    /// The seconds for a megabyte, in the best run so far.
    seconds: f64,
}

/// Prints the slowest texts in `auto`, in a provider's stream, and in each
/// dialect whose name begins with `start`.
pub(crate) fn table(start: &str) {
    let mut runs = Vec::new();
    let mut add = |name: String, config: &Rc<Config>, head: &str, unit: String| {
        let (config, head) = (Rc::clone(config), head.to_owned());
        runs.push(Run { name, config, head, unit, seconds: f64::INFINITY });
    };
    let auto: Vec<&Dialect> = DIALECTS.iter().copied().filter(|row| row.auto).collect();
    if start.is_empty() {
        let text = Rc::new(Config { dialect: Selection::Auto, ..text() });
        let chat = Config { format: format::find("openai-chat"), ..Config::default() };
        let chat = Rc::new(chat);
        for unit in units(&auto) {
            for size in PIECES {
                add(format!("openai-chat {size} {unit:?}"), &chat, "", record(&unit, size));
            }
            add(format!("auto {unit:?}"), &text, "", unit);
        }
    }
    for row in DIALECTS.iter().filter(|row| row.name.starts_with(start)) {
        let config = Rc::new(Config { dialect: choose(row.name).unwrap(), ..text() });
        let units = prefixes(&[row]);
        for head in [String::new()].into_iter().chain(openers(row)) {
            for unit in &units {
                add(format!("{} {head:?} {unit:?}", row.name), &config, &head, unit.clone());
            }
        }
    }
    for count in [runs.len(), READ_AGAIN, READ_AGAIN] {
        runs.iter_mut().take(count).for_each(Run::time);
        runs.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    }
    println!("\n{} texts, of which the slowest are:\n", runs.len());
    println!("| text, repeated | MB/s |\n| --- | --: |");
    runs.iter().take(SHOWN).for_each(|run| println!("| {} | {:.1} |", run.name, 1.0 / run.seconds));
}

fn text() -> Config {
    let mut config = Config { format: format::find("text"), ..Config::default() };
    config.assembly.max_calls = 0;
    config
}

/// Each byte, each pair of bytes, and each beginning of a marker.
fn units(rows: &[&Dialect]) -> Vec<String> {
    let bytes: Vec<char> = (' '..='~').chain(['\t', '\n', '\r', '\u{1}', '\u{ff5c}']).collect();
    let pairs = bytes.iter().flat_map(|&a| bytes.iter().map(move |&b| String::from_iter([a, b])));
    pairs.chain(prefixes(rows)).collect()
}

/// Each beginning of a marker, also as the first thing on a line.
fn prefixes(rows: &[&Dialect]) -> Vec<String> {
    let markers = rows.iter().flat_map(|row| markers(row));
    let starts = markers.flat_map(|marker| {
        let ends: Vec<usize> = marker.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
        ends.into_iter().map(move |end| marker.get(..end).unwrap().to_owned())
    });
    let mut units: Vec<String> = starts.flat_map(|start| [format!("\n{start}"), start]).collect();
    units.sort();
    units.dedup();
    units
}

/// The openers and closers of a dialect, with a letter for each word in them.
fn markers(row: &Dialect) -> Vec<String> {
    let regions = row.regions.iter().flat_map(|region| [region.open, region.close]);
    let sections = row.sections.iter().flat_map(|section| [section.open, section.close]);
    let calls = row.calls.iter().flat_map(|call| [call.open, call.close]);
    let all = regions.chain(sections).chain(calls).chain(row.drops.iter().copied());
    all.flat_map(|marker| marker.split("{|}"))
        .map(spelled)
        .filter(|marker| !marker.is_empty())
        .collect()
}

fn openers(row: &Dialect) -> impl Iterator<Item = String> {
    let regions = row.regions.iter().map(|region| region.open);
    let calls = row.calls.iter().map(|call| call.open);
    let all = regions.chain(row.sections.iter().map(|section| section.open)).chain(calls);
    all.map(spelled).filter(|opener| !opener.is_empty())
}

/// Returns a pattern as a marker that fits it.
fn spelled(pattern: &str) -> String {
    let mut text = String::new();
    for (number, part) in pattern.split(['{', '}']).enumerate() {
        text.push_str(match (number % 2, part) {
            (0, literal) => literal,
            (_, "nl") => "\n",
            (_, "name" | "key" | "id" | "type" | "suffix" | "_" | "number") => "1",
            _ => "",
        });
    }
    text
}

/// Returns a record of a stream that holds at least so many bytes of this text, repeated.
fn record(unit: &str, size: usize) -> String {
    let text = unit.repeat(size.div_ceil(unit.len()));
    let text = serde_json::to_string(&text).unwrap();
    format!(
        "data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{text}}}}}]}}\n\n"
    )
}

impl Run {
    /// Reads the text some times, and keeps the time of the best run.
    fn time(&mut self) {
        let text = self.head.clone() + &self.unit.repeat(SIZE.div_ceil(self.unit.len()));
        for _ in 0..RUNS {
            let begin = Instant::now();
            let mut sink = Ndjson::new(io::sink(), Label::default());
            let mut pipeline = Pipeline::new(&self.config);
            pipeline.feed(text.as_bytes(), &mut sink).unwrap();
            pipeline.finish(&mut sink).unwrap();
            let seconds = begin.elapsed().as_secs_f64() / text.len() as f64 * 1e6;
            self.seconds = self.seconds.min(seconds);
        }
    }
}
