//! Engines that pipe rows through the program: Spark, DuckDB, GNU parallel. They are installed from
//! their registries, and answer as one process does: `cargo test --test it engines -- --ignored`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::case::{files, root};

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolstream");

/// The number of rows.
const ROWS: usize = 100_000;

/// The Python of a fresh environment that has these packages, kept under target.
fn python(packages: &[&str]) -> PathBuf {
    let folder = root().join("target/engines");
    let python = folder.join("bin/python");
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder));
    }
    run(Command::new(&python).args(["-m", "pip", "install", "-q"]).args(packages));
    python
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let path = std::env::var("PATH").unwrap();
    let here = Path::new(PROGRAM).parent().unwrap().display().to_string();
    let output = command
        .env("PATH", format!("{here}:{path}"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Rows whose bodies are the fixtures of formats, again and again.
fn rows(folder: &Path) -> PathBuf {
    let paths = files(&root().join("fixtures/format"));
    let inputs = paths.into_iter().filter(|path| path.extension().is_some_and(|end| end == "in"));
    let bodies: Vec<String> = inputs.filter_map(|path| fs::read_to_string(path).ok()).collect();
    let path = folder.join("rows.ndjson");
    let row = |id: usize, body: &String| format!("{}\n", json!({"id": id, "body": body}));
    // Other readers of JSON refuse half a surrogate pair, numbers that no double holds, and deep
    // nesting.
    fs::write(&path, bodies.iter().map(|body| row(0, body)).collect::<String>()).unwrap();
    let answers = run(Command::new(PROGRAM).args(["classify", "--rows", "body"]).arg(&path));
    let is_read = |(_, line): &(_, &str)| {
        serde_json::from_str::<Value>(line).is_ok() && !line.contains("inexact_number")
    };
    let bodies = bodies.iter().zip(answers.lines()).filter(is_read);
    let bodies: Vec<&String> = bodies.map(|(body, _)| body).collect();
    assert!(bodies.len() > 500);
    let rows = bodies.into_iter().cycle().take(ROWS).enumerate();
    fs::write(&path, rows.map(|(id, body)| row(id, body)).collect::<String>()).unwrap();
    path
}

/// The answers by the ids of their rows; an answer is an object, or the text of one.
fn answers(text: &str) -> BTreeMap<u64, Value> {
    let answer = |line: &str| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let answer = match row["answer"].take() {
            Value::String(text) => serde_json::from_str(&text).unwrap(),
            answer => answer,
        };
        (row["id"].as_u64().unwrap(), answer)
    };
    text.lines().map(answer).collect()
}

/// Everything that an engine wrote into a folder.
fn parts(folder: &Path) -> String {
    let mut paths = files(folder);
    paths.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("part-"));
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

fn check(name: &str, expected: &BTreeMap<u64, Value>, answer: impl FnOnce() -> String) {
    let start = Instant::now();
    let text = answer();
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("{name}: {:.0} rows a second, {seconds:.1} s", ROWS as f64 / seconds);
    let got = answers(&text);
    assert_eq!(got.len(), ROWS, "{name}");
    for (id, answer) in expected {
        assert_eq!(got.get(id), Some(answer), "{name}: row {id}");
    }
}

#[test]
#[ignore = "installs Spark and DuckDB"]
fn engines_answer_as_one_process_does() {
    let folder = TempDir::new().unwrap();
    let rows = rows(folder.path());
    let script = |name: &str| root().join("tests/engines").join(name);
    let classify = |threads: &str| {
        run(Command::new(PROGRAM).args(["classify", "--rows", "body", "-j", threads]).arg(&rows))
    };
    let expected = answers(&classify("1"));
    check("one process, -j 1", &expected, || classify("1"));
    check("one process, -j 2", &expected, || classify("2"));

    let python = python(&["pyspark", "pandas", "pyarrow", "duckdb"]);
    for how in ["PIPE", "FRAME"] {
        let out = folder.path().join(how);
        check(&format!("Spark, {how}"), &expected, || {
            run(Command::new(&python).arg(script("spark.py")).arg(how).arg(&rows).arg(&out));
            parts(&out)
        });
    }
    let out = folder.path().join("duck.ndjson");
    check("DuckDB", &expected, || {
        let duck = script("duck.py");
        let sums =
            run(Command::new(&python).arg(duck).arg(&rows).arg(&out).current_dir(folder.path()));
        let counts =
            sums.lines().map(|line| line.split(' ').nth(1).unwrap().parse::<usize>().unwrap());
        assert_eq!(counts.sum::<usize>(), ROWS, "{sums}");
        fs::read_to_string(&out).unwrap()
    });
    check("GNU parallel", &expected, || {
        let parallel = "parallel --pipe --block 10M -k toolstream classify --rows body < \"$0\"";
        run(Command::new("sh").args(["-c", parallel]).arg(&rows))
    });
}
