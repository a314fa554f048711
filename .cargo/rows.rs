//! Writes the rows of `src/format/rows` as Rust. A row that is a constant costs nothing at the
//! program's start; its file has the language that a user's own format has, which
//! `src/format/spec.rs` defines and `src/format/load.rs` reads. What is no such row is found when
//! what is written here is compiled, and by the tests, which read each file as a user's.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::named;

/// Writes a row for each file of a folder into `to`, and its format, named after it.
///
/// # Panics
///
/// A file can't be read, or is no TOML.
pub(crate) fn write(folder: &Path, to: &Path) {
    let files = fs::read_dir(folder).expect("the folder of rows");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a file of it").path()).collect();
    paths.sort();
    let rows: String = paths.iter().map(|path| row(path)).collect();
    let formats: String = paths.iter().map(|path| format_of(&name(path))).collect();
    let all = format!("pub(super) mod row {{ use super::*; {rows} }}\n{formats}");
    fs::write(to, all).expect("the folder for what a build writes");
}

fn row(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a row is text");
    let parse = |text: &str| -> Table {
        text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let mut table = parse(&text);
    if let Some(Value::Table(places)) = table.remove("places") {
        let places = places.iter().map(|(name, places)| (name.clone(), word(places).to_owned()));
        table = parse(&named::expand(&text, &places.collect::<BTreeMap<_, _>>()));
        table.remove("places");
    }
    let (name, spec) = (name(path), structure("Spec", &table));
    format!(
        "pub(in crate::format) static {name}: Row = {{ static TABLES: OnceLock<RowTables> = OnceLock::new(); \
         Row {{ spec: &{spec}, toml: include_str!({path:?}), tables: &TABLES }} }};\n"
    )
}

fn format_of(name: &str) -> String {
    format!("pub(in crate::format) static {name}: Format = Format::of(row::{name});\n")
}

/// Returns the name of the static for a file.
fn name(path: &Path) -> String {
    let name = path.file_stem().expect("its name").to_string_lossy();
    name.replace('-', "_").to_uppercase()
}

/// A struct of this type: what a table doesn't have is as in `NEW`. A warning has all.
fn structure(of: &str, table: &Table) -> String {
    let fields: String = table.iter().map(|(key, value)| field(of, key, value)).collect();
    let rest = if of == "WarnSpec" { String::new() } else { format!("..{of}::NEW") };
    format!("{of} {{ {fields} {rest} }}")
}

fn field(of: &str, key: &str, value: &Value) -> String {
    let rust = match (of, key, value) {
        ("Spec", "start", Value::Table(inner)) => structure("StartSpec", inner),
        ("Spec" | "Rule", "session", Value::Table(inner)) => structure("StartSpec", inner),
        ("Spec", "detect", Value::Table(inner)) => structure("DetectSpec", inner),
        ("Spec", "done", Value::Table(inner)) => some("DoneSpec", inner),
        ("Spec", "log", Value::Table(inner)) => some("LogSpec", inner),
        ("Spec", "usage", Value::Table(inner)) => counts(inner),
        ("Spec", "group", Value::Table(inner)) => return format!("groups: {},", groups(inner)),
        ("Spec", "finish_words", Value::Table(inner)) => list(
            inner
                .iter()
                .map(|(word, reason)| format!("({word:?}, {})", variant("FinishReason", reason))),
        ),
        ("Spec", "unread", members) => {
            let unread = words(members);
            return format!(
                "repeatable: Some(&Repeatable {{ unread: {unread}, ..Repeatable::TEXT }}),"
            );
        }
        ("Spec", "executor", word) => format!("Some({})", variant("Executor", word)),
        ("StartSpec", "late", code) | ("DoneSpec", "warn" | "missing", code) => {
            format!("Some({})", variant("WarningCode", code))
        }
        ("DoneSpec", "ends", _) => return String::new(),
        ("WarnSpec", "code", code) => variant("WarningCode", code),
        ("Rule", "call", Value::Table(inner)) => some("CallSpec", inner),
        ("Rule", "result", Value::Table(inner)) => some("ResultSpec", inner),
        ("Rule", "block" | "rest", Value::Table(inner)) => some("BlockSpec", inner),
        ("Rule", "warn", Value::Table(inner)) => some("WarnSpec", inner),
        ("Rule", "wraps", Value::Table(inner)) => some("WrapSpec", inner),
        ("Rule", "error", Value::Table(inner)) => some("FailureSpec", inner),
        ("Rule", "error", at) => {
            format!("Some(FailureSpec {{ at: {}, ..FailureSpec::NEW }})", text(at))
        }
        ("Rule", "hook", Value::Table(inner)) => {
            format!("Some(Hook {{ at: {}, run: {} }})", text(&inner["at"]), word(&inner["run"]))
        }
        ("Rule", "is", Value::Table(inner)) => {
            list(inner.iter().map(|(places, word)| format!("({places:?}, {})", text(word))))
        }
        ("Rule", "begin", said) => said_as("Begin", said),
        ("Rule", "cumulative", said) => said_as("Cumulative", said),
        ("Rule", "total", said) => said_as("Total", said),
        ("Rule", "end", said) | ("LogSpec", "ends", said) => said_as("End", said),
        ("Rule", "call_end", said) => said_as("CallEnds", said),
        ("Rule", "weak", said) => said_as("Weak", said),
        ("Rule", "part", _) | ("CallSpec", "until", _) => "true".to_owned(),
        ("CallSpec", "type", places) => return format!("of_type: {},", text(places)),
        ("ResultSpec", "if", flag) => return format!("condition: {},", text(flag)),
        (_, "on", Value::Array(rules)) => list(
            rules.iter().map(|rule| structure("Rule", rule.as_table().expect("a rule is a table"))),
        ),
        (_, _, Value::Boolean(flag)) => flag.to_string(),
        // Made of places.
        (_, _, Value::Table(inner)) => {
            let members: Vec<_> =
                inner.iter().map(|(key, places)| format!("{key}: {}", word(places))).collect();
            format!("{:?}", format!("{{{}}}", members.join(", ")))
        }
        (_, _, Value::Array(_)) => words(value),
        (_, _, _) if is_list(of, key) => words(value),
        (_, _, one) => text(one),
    };
    format!("{key}: {rust},")
}

/// True if a field is a list: one word stands for a list of one.
fn is_list(of: &str, key: &str) -> bool {
    let lists: &[&str] = match of {
        "Spec" | "Group" => &["kind"],
        "DetectSpec" => &["has", "not"],
        "Rule" => &["has", "not", "needs", "only", "at", "each", "blocks", "usage"],
        "CallSpec" => &["key"],
        "WrapSpec" => &["formats"],
        _ => &[],
    };
    lists.contains(&key)
}

/// The places of the counts: `+` is between those that make a sum. Of what is kept, all is passed
/// on.
fn counts(table: &Table) -> String {
    let fields = ["input", "output", "total", "cached", "cache_write", "reasoning", "keep"];
    list(fields.iter().flat_map(|key| match table.get(*key) {
        None => Vec::new(),
        Some(Value::Array(kept)) => {
            kept.iter().map(|places| format!("({}, Op::Is, &[])", text(places))).collect()
        }
        Some(places) => {
            let places = word(places);
            let op = if places.contains('+') { "Adds" } else { "Is" };
            let count =
                |place: &str| format!("({:?}, Op::{op}, &[Field::{}])", place.trim(), camel(key));
            places.split('+').map(count).collect()
        }
    }))
}

fn groups(table: &Table) -> String {
    list(table.iter().map(|(name, group)| {
        let group = match group {
            Value::Table(group) => structure("Group", group),
            rules => format!("Group {{ {} ..Group::NEW }}", field("Group", "on", rules)),
        };
        group.replacen("Group {", &format!("Group {{ name: {name:?},"), 1)
    }))
}

/// True, false, or a word, as a variant.
fn said_as(of: &str, said: &Value) -> String {
    match (of, said) {
        (_, Value::Boolean(flag)) => format!("{of}::{}", if *flag { "Yes" } else { "No" }),
        ("End", places) if word(places) != "stopped" => format!("End::If({})", text(places)),
        ("CallEnds", places) => format!("CallEnds::Of({})", text(places)),
        ("Weak", places) => format!("Weak::Without({})", text(places)),
        (of, word) => variant(of, word),
    }
}

/// A variant of a list of words.
fn variant(of: &str, word_of_it: &Value) -> String {
    format!("{of}::{}", camel(word(word_of_it)))
}

fn camel(word: &str) -> String {
    let parts = word.split('_').map(|part| {
        let (first, rest) = part.split_at(1);
        first.to_uppercase() + rest
    });
    parts.collect()
}

fn some(of: &str, table: &Table) -> String {
    format!("Some({})", structure(of, table))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("&[{}]", items.collect::<Vec<_>>().join(", "))
}

/// Several words, or one.
fn words(value: &Value) -> String {
    match value {
        Value::Array(all) => list(all.iter().map(text)),
        one => list([text(one)].into_iter()),
    }
}

fn text(value: &Value) -> String {
    format!("{:?}", word(value))
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value:?} is no word"))
}
