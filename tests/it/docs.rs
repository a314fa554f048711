//! The examples of README and of the reference run; the man page is the command line and the
//! reference, in the form of a man page. `UPDATE_FIXTURES=README` and `UPDATE_FIXTURES=man` write
//! what they print, and the page.

mod man;

use std::env;
use std::fs;
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;

use crate::case::{is_updated, root, updated};

/// The pages whose examples run.
const PAGES: [&str; 2] = ["README.md", "man/reference.md"];

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

fn readme() -> String {
    read("README.md")
}

/// The lines of a page, with what a shell says to its `$ ` lines put in.
fn page(readme: &str, answer: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut is_console = false;
    let mut is_answered = false;
    for line in readme.lines() {
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => {
                (is_console, is_answered) = (line == "```console", false)
            }
            Some(command) if is_console => {
                let said = answer(command);
                is_answered = said.is_some();
                out.push_str(&format!("{line}\n{}", said.unwrap_or_default()));
                continue;
            }
            _ if is_console && is_answered => continue,
            _ => {}
        }
        out.push_str(&format!("{line}\n"));
    }
    out
}

/// Runs a command in the root, where `toolstream` is the one that was built.
fn shell(command: &str) -> String {
    let command = command.replace("cargo run --", "toolstream");
    let bin = cargo_bin("toolstream");
    let path = env::join_paths(
        [bin.parent().unwrap().to_owned()]
            .into_iter()
            .chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &command])
        .current_dir(root())
        .env("PATH", path.unwrap())
        .stdin(Stdio::null());
    let output = shell.stderr(Stdio::null()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn has_jq() -> bool {
    Command::new("jq").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

#[track_caller]
fn check(name: &str, expected: &str, got: &str) {
    if updated().is_some_and(|part| is_updated(&part, name)) {
        return fs::write(root().join(name), got).unwrap();
    }
    let differs = expected.lines().zip(got.lines()).find(|(a, b)| a != b);
    let differs = differs.map(|(a, b)| format!("is\n{a}\nbut should be\n{b}\n"));
    assert!(
        expected == got,
        "{name} {}`UPDATE_FIXTURES={name} cargo test --test it docs` writes it",
        differs.unwrap_or_default()
    );
}

/// A page as it should be.
fn answered(text: &str) -> String {
    let has_jq = has_jq();
    page(text, |command| (has_jq || !command.contains("jq ")).then(|| shell(command)))
}

#[test]
fn the_examples_of_the_pages_print_what_they_say() {
    for name in PAGES {
        let text = read(name);
        assert!(text.contains("\n$ toolstream "), "the examples of {name} are gone");
        check(name, &text, &answered(&text));
    }
}

#[test]
fn scripts_in_the_readme_are_shell() {
    let readme = readme();
    let scripts: Vec<_> =
        readme.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```")).collect();
    assert!(scripts.len() > 2);
    for (script, _) in scripts {
        let status = Command::new("sh").args(["-n", "-c", script]).status().unwrap();
        assert!(status.success(), "{script}");
    }
}

#[test]
fn the_first_commands_of_the_readme_are_the_main_job_and_the_tests() {
    let readme = readme();
    let find =
        |text: &str| readme.find(text).unwrap_or_else(|| panic!("README doesn't say {text:?}"));
    let (install, job) = (find("```sh\ncargo install"), find("$ cargo run -- parse fixtures/"));
    let test = find("```sh\ncargo test\n");
    assert!(install < job && job < test);
}

#[test]
fn the_man_page_is_the_command_line_and_the_reference() {
    let expected = fs::read_to_string(root().join("man/toolstream.1")).unwrap_or_default();
    let got = man::page(&readme(), &answered(&read("man/reference.md")));
    check("man/toolstream.1", &expected, &got);
}
