//! What people type that can't be right, and what they are told: the table is `mistakes.txt`.
//! `UPDATE_FIXTURES=mistakes` writes its answers.

use std::fs;

use crate::agents::scene::{calls, says};
use crate::case::{is_updated, root, updated};
use crate::pages::cli::{folder, run_in};

const TABLE: &str = "tests/it/pages/mistakes.txt";

/// The words of a line, those in quotation marks whole.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

#[test]
fn each_mistake_has_its_answer() {
    let table = fs::read_to_string(root().join(TABLE)).unwrap();
    let (answer, call) = (says("There.", "stop"), calls(&[("a", "f", "{}")]));
    let request = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";
    let files = [
        ("answer.sse", answer.as_str()),
        ("call.sse", &call),
        ("request.json", request),
        ("broken.json", "{\"a\": nope}"),
        ("list.json", "[]"),
        ("rows.ndjson", "{\"id\":1,\"body\":\"Hi\"}\n"),
        ("mine.toml", "name = 'mine'\n[tags]\na = 'reason'\n"),
        ("empty", ""),
        ("tools/f", "#!/bin/sh\n"),
    ];
    let folder = folder(&[]);
    fs::create_dir(folder.path().join("tools")).unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    let (mut got, mut count) = (String::new(), 0);
    for line in table.lines() {
        let Some(args) = line.strip_prefix("$ toolstream") else {
            if line.starts_with('#') {
                got.push_str(&format!("{line}\n"));
            }
            continue;
        };
        let args = words(args);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let run = run_in(folder.path(), &args, &answer);
        let said: String = run.err.lines().map(|line| format!("  {line}\n")).collect();
        got.push_str(&format!("{line}\n{}  = {}\n", said.replace("  \n", ""), run.code));
        assert!(run.code != 0 && !said.is_empty(), "{line} is no mistake");
        count += 1;
    }
    assert!(count > 40, "the table is gone");
    if updated().is_some_and(|part| is_updated(&part, "mistakes")) {
        return fs::write(root().join(TABLE), got).unwrap();
    }
    let differs = table.lines().zip(got.lines()).find(|(a, b)| a != b);
    assert!(table == got, "{differs:?}: UPDATE_FIXTURES=mistakes cargo test --test it mistakes");
}
