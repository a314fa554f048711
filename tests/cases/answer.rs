//! The answer that stands beside a case. `UPDATE_FIXTURES` writes it.

use std::fs;

use assert_cmd::Command;
use similar::TextDiff;

use crate::case::{Case, Print, run, updated};

fn answer(case: &Case) -> String {
    let (config, print) = case.config();
    run(&config, print, [case.input.as_slice()]).out
}

#[track_caller]
fn check(case: &Case, got: &str) {
    let Ok(expected) = fs::read_to_string(case.path.with_extension("out")) else {
        let name = case.name.trim_start_matches("fixtures/");
        panic!("no answer: `UPDATE_FIXTURES={name} cargo test --test cases` writes it");
    };
    let differs = TextDiff::from_lines(expected.as_str(), got);
    let shown = differs.unified_diff().context_radius(1).header("expected", "came").to_string();
    assert!(got == expected, "{}.out is not what came\n{shown}", case.name);
}

/// `case.in` gives `case.out`.
pub(crate) fn in_memory(case: &Case) -> bool {
    let got = answer(case);
    if updated().is_some() {
        fs::write(case.path.with_extension("out"), &got).unwrap();
    }
    check(case, &got);
    true
}

/// `toolstream parse < case.in | diff - case.out`
pub(crate) fn in_the_shell(case: &Case) -> bool {
    let mut command = Command::cargo_bin("toolstream").unwrap();
    command
        .arg("parse")
        .args(&case.args)
        .current_dir(case.folder())
        .write_stdin(case.input.as_slice());
    let output = command.output().unwrap();
    check(case, &String::from_utf8(output.stdout).unwrap());
    let (config, _) = case.config();
    let status = run(&config, Print::Events, [case.input.as_slice()]).status;
    assert_eq!(output.status.code(), Some(status.into()), "exit status");
    true
}
