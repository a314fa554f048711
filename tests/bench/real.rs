//! Recorded streams of providers, shuffled, where they are beside the project; in their place the
//! fixtures of each format, repeated, which are shorter and stranger than what providers send.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{TOOLSTREAM, loops, time};

/// The formats, and what the recordings are called.
const FORMATS: &[(&str, &str)] = &[
    ("openai-chat", "openai"),
    ("anthropic", "anthropic"),
    ("openai-responses", "responses"),
    ("gemini", "gemini"),
    ("ollama-chat", "ollama"),
];

/// Prints how fast each format is read, beside a loop over the stream that writes what its structs
/// hold, and loops over the payloads that write nothing.
pub(crate) fn table(size: usize) {
    let folder = tempfile::tempdir().unwrap();
    println!("| stream | MB/s | structs, written | structs | `Value` |");
    println!("| --- | --: | --: | --: | --: |");
    for (format, name) in FORMATS {
        let (from, bytes) = recorded(name, size)
            .map_or_else(|| ("fixtures", repeated(format, size)), |bytes| ("recorded", bytes));
        let (stream, payloads) = (folder.path().join("stream"), folder.path().join("payloads"));
        fs::write(&stream, &bytes).unwrap();
        fs::write(&payloads, loops::payloads(&bytes)).unwrap();
        let own = time(&TOOLSTREAM, &["parse", "-f", format], &stream).unwrap();
        let this = std::env::current_exe().unwrap();
        let ratio = |kind, file: &Path| {
            let args = ["loop", kind, format, file.to_str().unwrap()];
            time(this.to_str().unwrap(), &args, file).unwrap() / own
        };
        let speed = bytes.len() as f64 / own / 1e6;
        let written = ratio("written", &stream);
        let (structs, value) = (ratio("structs", &payloads), ratio("value", &payloads));
        println!("| {format}, {from} | {speed:.0} | {written:.2} | {structs:.2} | {value:.2} |");
    }
}

/// The recorded streams of a format.
fn recorded(name: &str, size: usize) -> Option<Vec<u8>> {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/bin/real-corpus");
    let output = Command::new("python3").arg(tool).args([name, &size.to_string()]).output().ok()?;
    Some(output.stdout).filter(|bytes| output.status.success() && !bytes.is_empty())
}

/// The fixtures of a format that come without options, over and over.
fn repeated(format: &str, size: usize) -> Vec<u8> {
    let mut paths = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format");
    inputs(&root.join(format), &mut paths);
    paths.sort();
    let all: Vec<u8> = paths.iter().flat_map(|path| fs::read(path).unwrap()).collect();
    all.iter().copied().cycle().take(size).collect()
}

fn inputs(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            inputs(&path, into);
        } else if path.extension().is_some_and(|end| end == "in")
            && !path.with_extension("args").exists()
        {
            into.push(path);
        }
    }
}
