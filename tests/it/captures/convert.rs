//! `fixtures/convert/TARGET/CASE/`: `args` for `toolstream convert --to TARGET`, one a line, the
//! last one a file beside them or elsewhere in `fixtures`; `stream`, which is written; `said`, the
//! status and what is on standard error. `UPDATE_FIXTURES=fixtures/convert/TARGET/CASE` writes the
//! answers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use assert_cmd::assert::OutputAssertExt;
use toolstream::format::{FORMATS, Info};

use crate::case::{files, is_updated, root, updated};

fn cases() -> Vec<PathBuf> {
    let paths = files(&root().join("fixtures/convert")).into_iter();
    let args = paths.filter(|path| path.ends_with("args"));
    args.map(|path| path.parent().unwrap().to_owned()).collect()
}

fn convert(args: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolstream"));
    command.current_dir(folder).stdin(Stdio::null()).arg("convert").args(args).output().unwrap()
}

#[test]
fn streams_are_as_they_should_be() {
    let cases = cases();
    let targets: BTreeSet<_> =
        cases.iter().map(|case| case.parent().unwrap().file_name().unwrap().to_owned()).collect();
    let rows: BTreeSet<_> =
        FORMATS.iter().filter(|row| row.write.is_some()).map(|row| row.name.into()).collect();
    assert_eq!(targets, rows, "fixtures/convert and the formats that can be written");
    let updated = updated();
    let mut wrong = Vec::new();
    for folder in cases {
        let name = folder.strip_prefix(root()).unwrap().display().to_string();
        let to = folder.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let args = fs::read_to_string(folder.join("args")).unwrap();
        let args: Vec<_> = ["--to", to].into_iter().chain(args.lines()).collect();
        let output = convert(&args, &folder);
        let said = String::from_utf8(output.stderr).unwrap();
        let said = format!("exit {}\n{said}", output.status.code().unwrap()).into_bytes();
        for (file, got) in [("stream", output.stdout), ("said", said)] {
            let path = folder.join(file);
            if updated.as_ref().is_some_and(|part| is_updated(part, &name)) {
                fs::write(&path, &got).unwrap();
            }
            if fs::read(&path).unwrap_or_default() != got {
                let got = String::from_utf8_lossy(&got);
                wrong.push(format!("{name}/{file} is not what came:\n{got}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every loss of every table is named in some answer, and `--explain` prints them all.
#[test]
fn the_tables_of_losses_are_true() {
    for writing in FORMATS.iter().filter_map(|row| row.write) {
        let folder = root().join("fixtures/convert").join(writing.name);
        let said = files(&folder).into_iter().filter(|path| path.ends_with("said"));
        let said: String = said.map(|path| fs::read_to_string(path).unwrap()).collect();
        let output = convert(&["--to", writing.name, "--explain"], root());
        let explained = String::from_utf8(output.stdout).unwrap();
        let lost = Info::ALL.iter().filter(|info| writing.loss(**info).is_some());
        for name in lost.clone().map(|info| info.name()) {
            assert!(explained.contains(&format!("\n  {name}  ")), "{name} of {}", writing.name);
        }
        let is_named = |info: &&Info| {
            let name = info.name();
            said.contains(&format!("cannot carry {name} ("))
                || said.contains(&format!("carries {name} as "))
        };
        let missing: Vec<_> = lost.filter(|info| !is_named(info)).collect();
        assert!(missing.is_empty(), "no case of {} loses {missing:?}", writing.name);
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    let folder = root().join("fixtures/format");
    let file = "openai-chat/weather_in_two_cities.in";
    let refused = |args: &[&str], why: &str| {
        let assert = convert(args, &folder).assert().code(2).stdout("");
        let said = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(said.contains(why), "{args:?}: {said}");
    };
    refused(&["--to", "cohere", file], "possible values: ");
    refused(&["--to", "antropic", file], "a similar value exists: 'anthropic'");
    refused(&[file], "--to <FORMAT>");
    refused(&["--to", "ai-sdk-ui", "--whole", file], "ai-sdk-ui has no body");
    refused(&["--to", "anthropic", "--choice", "all", file], "--choice takes a number");
    refused(&["--to", "gemini", "--to-framing", "ndjson", file], "has sse, json-array");
    refused(&["--to", "anthropic", file, file], "one stream comes of one FILE");
    refused(&["--to", "anthropic", "no such file"], "No such file");
}
