//! `fixtures/turn/FORMAT/CASE/`: a `request.json`, the `answer` to it, the `results.ndjson` of its
//! calls, and in `next` the status of `toolstream next` with what it prints: the next request, or
//! the reason why there is none. `UPDATE_FIXTURES=fixtures/turn/FORMAT/CASE` writes `next`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::case::{files, is_updated, root, updated};

fn cases() -> Vec<PathBuf> {
    let paths = files(&root().join("fixtures/turn")).into_iter();
    let requests = paths.filter(|path| path.ends_with("request.json"));
    requests.map(|path| path.parent().unwrap().to_owned()).collect()
}

/// Returns the status, and what was printed.
fn next(folder: &Path) -> String {
    let answer = files(folder).into_iter().find(|path| path.file_stem().unwrap() == "answer");
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolstream"));
    command.current_dir(folder).stdin(Stdio::null()).arg("next");
    if folder.join("results.ndjson").is_file() {
        command.args(["--results", "results.ndjson"]);
    }
    command.arg("request.json").arg(answer.unwrap().file_name().unwrap());
    let output = command.output().unwrap();
    let print = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (print(output.stdout), print(output.stderr));
    let newline = if out.is_empty() || out.ends_with('\n') { "" } else { "\n" };
    format!("exit {}\n{out}{newline}{err}", output.status.code().unwrap())
}

#[test]
fn the_next_request_is_as_it_should_be() {
    let cases = cases();
    assert!(!cases.is_empty(), "there are no turns");
    let updated = updated();
    for folder in cases {
        let name = folder.strip_prefix(root()).unwrap().display().to_string();
        let got = next(&folder);
        if updated.as_ref().is_some_and(|part| is_updated(part, &name)) {
            fs::write(folder.join("next"), &got).unwrap();
        }
        let expected = fs::read_to_string(folder.join("next")).unwrap_or_default();
        assert_eq!(got, expected, "{name}");
        check_kept(&name, &folder, &got);
    }
}

/// What the request held is still there, and its bytes stand before and after what is new.
#[track_caller]
fn check_kept(name: &str, folder: &Path, got: &str) {
    let request = fs::read_to_string(folder.join("request.json")).unwrap();
    let Some(start) =
        got.find('{').filter(|_| got.starts_with("exit 10") || got.starts_with("exit 0"))
    else {
        return;
    };
    let mut values = serde_json::Deserializer::from_str(&got[start..]).into_iter::<Value>();
    let new = values.next().unwrap().unwrap();
    let old: Value = serde_json::from_str(&request).unwrap();
    // By the id of the answer before, the list holds only what is new.
    let is_by_id = request.contains("\"previous_");
    for list in ["messages", "input", "contents"].into_iter().filter(|_| !is_by_id) {
        if let (Some(old), Some(new)) = (old[list].as_array(), new[list].as_array()) {
            assert!(new.len() > old.len() && new.starts_with(old), "{name}: {list} was changed");
        }
    }
}
