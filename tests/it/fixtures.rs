//! Every `case.in` gives its `case.out`. `UPDATE_FIXTURES=1` writes the
//! answers; their difference is read like code.

use std::env;
use std::fs;

use assert_cmd::Command;

use crate::case::{Case, Print, files, for_each, run};

fn answer(case: &Case) -> String {
    let (config, join) = case.config();
    run(&config, if join { Print::Joined } else { Print::Events }, [case.input.as_slice()]).out
}

#[track_caller]
fn check(case: &Case, got: &str) {
    let path = case.path.with_extension("out");
    let Ok(expected) = fs::read_to_string(&path) else {
        panic!("{}.out is missing: `UPDATE_FIXTURES=1 cargo test fixtures` writes it", case.name);
    };
    let differs = || expected.lines().zip(got.lines()).position(|(a, b)| a != b);
    assert!(
        got == expected,
        "{}.out, line {:?}, is not what came:\n{got}",
        case.name,
        differs().map(|line| line + 1)
    );
}

#[test]
fn every_case_gives_its_answer() {
    if env::var_os("UPDATE_FIXTURES").is_some() {
        for_each(|case| fs::write(case.path.with_extension("out"), answer(case)).unwrap());
    }
    for_each(|case| check(case, &answer(case)));
}

/// `toolstream parse < case.in | diff - case.out`
#[test]
fn every_case_gives_its_answer_in_the_shell() {
    if env::var_os("UPDATE_FIXTURES").is_some() {
        return; // The answers are being written.
    }
    for_each(|case| {
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
        assert_eq!(output.status.code(), Some(status.into()), "{}: exit status", case.name);
    });
}

#[test]
fn no_answer_is_without_its_question() {
    let root = Case::all().first().expect("there is a case").folder().join("../..");
    for path in files(&root) {
        let is_case =
            path.extension().is_some_and(|extension| extension == "out" || extension == "args");
        assert!(!is_case || path.with_extension("in").is_file(), "{} has no .in", path.display());
    }
}
