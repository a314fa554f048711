//! The examples of README and of the reference run; the man page is the command line and the
//! reference, in the form of a man page. `UPDATE_FIXTURES=README` and `UPDATE_FIXTURES=man` write
//! what they print, and the page.

mod man;

use std::process::{Command, Stdio};
use std::{env, fs};

use assert_cmd::cargo::cargo_bin;

use crate::case::{is_updated, root, updated};

/// The pages whose examples run.
const PAGES: [&str; 3] = ["README.md", "man/guide.md", "man/reference.md"];

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

/// True if this program is there, or a command does not run it.
fn can_run(command: &str, program: &str) -> bool {
    let mut version = Command::new(program);
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    !command.contains(&format!("{program} ")) || version.status().is_ok()
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
    let can_run = |command: &str| ["jq", "curl"].iter().all(|name| can_run(command, name));
    page(text, |command| can_run(command).then(|| shell(command)))
}

#[test]
fn the_examples_of_the_pages_print_what_they_say() {
    for name in PAGES {
        let text = read(name);
        assert!(text.contains("\n$ toolstream "), "the examples of {name} are gone");
        check(name, &text, &answered(&text));
    }
}

/// The scripts of a page.
fn scripts(page: &str) -> Vec<&str> {
    let blocks = page.split("```sh\n").skip(1);
    blocks.filter_map(|rest| Some(rest.split_once("```")?.0)).collect()
}

#[test]
fn scripts_of_the_pages_are_shell() {
    for name in PAGES {
        for script in scripts(&read(name)) {
            let status = Command::new("sh").args(["-n", "-c", script]).status().unwrap();
            assert!(status.success(), "{name}: {script}");
        }
    }
}

/// README's scripts are the guide's, which run; the others build, test and keep a key.
#[test]
fn scripts_in_the_readme_run() {
    let (readme, guide) = (readme(), read("man/guide.md"));
    let is_run = |script: &&str| guide.contains(&format!("```sh\n{script}```"));
    let others: Vec<&str> = scripts(&readme).into_iter().filter(|script| !is_run(script)).collect();
    let first = |script: &&str| script.split_whitespace().next().unwrap_or_default().to_owned();
    assert_eq!(others.iter().map(first).collect::<Vec<_>>(), [".ci/dist", "cargo", "(umask"]);
}

/// What a visitor has read after a minute.
#[test]
fn the_readme_is_short_and_begins_with_what_it_reads() {
    let readme = readme();
    assert!(readme.lines().count() <= 300, "README has {} lines", readme.lines().count());
    let (head, _) = readme.split_once("\n## ").unwrap();
    assert!(head.contains("the stream, the log, the HAR, the cassette") && head.contains(".svg)"));
    for picture in readme.split("](").filter_map(|rest| Some(rest.split_once(".svg)")?.0)) {
        assert!(root().join(format!("{picture}.svg")).exists(), "there is no {picture}.svg");
    }
}

#[test]
fn the_first_commands_of_the_readme_are_the_main_job_and_the_tests() {
    let readme = readme();
    let find =
        |text: &str| readme.find(text).unwrap_or_else(|| panic!("README doesn't say {text:?}"));
    let (install, job) = (find("\ncargo install"), find("$ cargo run -- parse fixtures/"));
    let test = find("```sh\ncargo test\n");
    assert!(install < job && job < test);
}

#[test]
fn the_man_page_is_the_command_line_and_the_reference() {
    let expected = fs::read_to_string(root().join("man/toolstream.1")).unwrap_or_default();
    let got = man::page(&readme(), &answered(&read("man/reference.md")));
    check("man/toolstream.1", &expected, &got);
}
