//! Captures against their golden files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::case::{Case, root};
use crate::cli::{Run, folder, run_in};
use crate::json;
use crate::shape::joined;

const CAPTURE: &str = "data: {\"object\":\"chat.completion.chunk\",\"id\":\"c1\",\"choices\":[{\"index\":0,\
                       \"delta\":{\"content\":\"A warm day\"},\"finish_reason\":\"stop\"}]}\n\n\
                       data: [DONE]\n\n";

const SAME: &str = "1 checked: 1 the same\n";

#[track_caller]
fn check(folder: &TempDir, args: &[&str], code: i32, out: &str) -> Run {
    let run = run_in(folder.path(), &[&["check"], args].concat(), "");
    assert_eq!((run.code, run.out.as_str()), (code, out), "{}", run.err);
    // Every status but 0 says why on standard error, once.
    assert_eq!(run.err.lines().count(), usize::from(code != 0), "{}", run.err);
    run
}

/// The lines as JSON, whatever numbers are in them.
fn lines(out: &str) -> Vec<Value> {
    out.lines().map(json::read).collect()
}

fn write(folder: &TempDir, name: &str, text: &str) {
    fs::write(folder.path().join(name), text).unwrap();
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_golden_file_that_cannot_be_written_is_lost_output() {
    let args = ["--update", "-f", "text", "/proc/version"];
    let run = check(&folder(&[]), &args, 8, "1 checked: 1 can't be written\n");
    assert!(run.err.contains("/proc/version.golden: "), "{}", run.err);
}

#[test]
fn a_golden_file_is_written_held_and_written_anew() {
    let folder = folder(&[("a.sse", CAPTURE)]);
    let none = "a.sse: it has no golden file\n1 checked: 1 has no golden file\n";
    let run = check(&folder, &["a.sse"], 1, none);
    assert!(run.err.contains("are missing; `toolstream check --update` writes"), "{}", run.err);
    let written = "a.sse: its golden file was written\n1 checked: 1 written\n";
    check(&folder, &["--update", "a.sse"], 0, written);
    let parsed = run_in(folder.path(), &["parse", "--join", "a.sse"], "").out;
    let head = "{\"type\":\"golden\",\"v\":1,\"args\":[],\"ignore\":[]}\n";
    assert_eq!(read(&folder, "a.sse.golden"), format!("{head}{parsed}"));
    check(&folder, &["a.sse"], 0, SAME);
    check(&folder, &["--update", "a.sse.golden", "a.sse"], 0, SAME);
    write(&folder, "a.sse", &CAPTURE.replace("warm", "cold"));
    let differs = "--- a.sse.golden\n+++ a.sse\n@@ -1,3 +1,3 @@\n \
                   {\"type\":\"start\",\"v\":1,\"format\":\"openai-chat\",\"framing\":\"sse\",\"id\":\"c1\"}\n\
                   -{\"type\":\"text\",\"text\":\"A warm day\"}\n\
                   +{\"type\":\"text\",\"text\":\"A cold day\"}\n \
                   {\"type\":\"finish_reason\",\"finish_reason\":\"stop\",\"raw_finish_reason\":\"stop\"}\n\
                   1 checked: 1 differs\n";
    let run = check(&folder, &["a.sse"], 1, differs);
    assert!(run.err.contains("`toolstream check --update`"), "{}", run.err);
    check(&folder, &["--ignore", "text", "a.sse"], 0, SAME);
    check(&folder, &["--only", "start,finish_reason", "a.sse"], 0, SAME);
    let json = run_in(folder.path(), &["check", "--json", "a.sse"], "");
    let [capture, sum] = &lines(&json.out)[..] else { panic!("{}", json.out) };
    assert_eq!((&capture["result"], &sum["differs"]), (&"differs".into(), &1.into()));
    assert_eq!(capture["changes"][0]["event"], 2);
    assert_eq!(capture["changes"][0]["is"][0]["text"], "A cold day");
    check(&folder, &["--update", "a.sse"], 0, written);
    check(&folder, &["a.sse"], 0, SAME);
}

#[test]
fn options_are_kept_and_used_again() {
    let folder =
        folder(&[("a.txt", "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>")]);
    let written = "a.txt: its golden file was written\n1 checked: 1 written\n";
    check(
        &folder,
        &["--update", "-f", "text", "-d", "none", "--ignore", "text", "a.txt"],
        0,
        written,
    );
    let golden = read(&folder, "a.txt.golden");
    let head =
        r#"{"type":"golden","v":1,"args":["--format=text","--dialect=none"],"ignore":["text"]}"#;
    assert_eq!(golden.lines().next(), Some(head));
    check(&folder, &["a.txt"], 0, SAME);
    write(&folder, "a.txt", "<tool_call>");
    check(&folder, &["a.txt"], 0, SAME);
    // Those of the command line come first.
    let run = run_in(folder.path(), &["check", "-f", "text", "-d", "hermes", "a.txt"], "");
    assert!(run.code == 1 && run.out.contains("\"code\":\"truncated\""), "{}", run.out);
    check(&folder, &["--update", "--ignore", "id", "a.txt"], 0, written);
    assert!(read(&folder, "a.txt.golden").contains(r#""--dialect=none"],"ignore":["id"]}"#));
}

#[test]
fn what_is_wrong_is_said_for_what_it_is() {
    let folder = folder(&[("a", CAPTURE)]);
    run_in(folder.path(), &["check", "--update", "a"], "");
    let golden = read(&folder, "a.golden");
    let newer = golden.replace("\"v\":1,\"args\"", "\"v\":2,\"args\"");
    write(&folder, "a.golden", &newer);
    let message = "a: its golden file is of version 2, and this toolstream reads version 1: a newer \
                   one has written it\n1 checked: 1 has a newer golden file\n";
    check(&folder, &["a"], 1, message);
    check(&folder, &["--update", "a"], 1, message);
    assert_eq!(read(&folder, "a.golden"), newer);
    for (edited, how) in [
        (golden.replace(",\"text\":", ", \"text\":"), "line 3 has white space that no event has"),
        (
            golden.replacen("\"args\":[]", "\"args\":[\"--fast\"]", 1),
            "its args cannot be used: error: unexpected argument '--fast' found",
        ),
        ("notes\n".into(), "line 1 does not say how it was made"),
    ] {
        write(&folder, "a.golden", &edited);
        let message = format!(
            "a: its golden file was edited by hand: {how}\n1 checked: 1 has an edited golden file\n"
        );
        check(&folder, &["a"], 1, &message);
    }
    fs::rename(folder.path().join("a"), folder.path().join("b")).unwrap();
    let message = "./a: its golden file is there, and it is not\n./b: it has no golden file\n\
                   2 checked: 1 has no golden file, 1 has no capture\n";
    check(&folder, &["."], 1, message);
    let run = check(&folder, &["c"], 2, "1 checked: 1 can't be read\n");
    assert_eq!(run.err, "toolstream: c: No such file or directory (os error 2)\n");
    check(&folder, &["--tools", "none.json", "b"], 2, "");
}

#[test]
fn folders_are_searched_for_captures() {
    let names = ["b.sse", "a.sse", ".hidden", "a.sse.times", "1.request.json", "1.answer"];
    let folder = folder(&names.map(|name| (name, CAPTURE)));
    for inner in ["sub/deep", ".git"] {
        fs::create_dir_all(folder.path().join(inner)).unwrap();
        write(&folder, &format!("{inner}/c"), CAPTURE);
    }
    std::os::unix::fs::symlink("..", folder.path().join("sub/up")).unwrap();
    let expected = ["./1.answer", "./a.sse", "./b.sse", "./sub/deep/c"];
    let found = |args: &[&str]| {
        let run = run_in(folder.path(), &[&["check", "--json"], args].concat(), "");
        let lines = lines(&run.out);
        let files = lines.iter().filter_map(|line| line["file"].as_str().map(str::to_owned));
        files.collect::<Vec<_>>()
    };
    assert_eq!(found(&["."]), expected);
    assert_eq!(found(&["--update", "-j", "3", "."]), expected);
    assert_eq!(found(&[".", "./a.sse", "./a.sse.golden"]), expected);
    assert_eq!(found(&[".hidden"]), [".hidden"]);
    fs::create_dir(folder.path().join("none")).unwrap();
    let run = check(&folder, &["none"], 2, "0 checked\n");
    assert_eq!(run.err, "toolstream: none: holds no capture\n");
}

/// Returns the input with one letter changed that some event shows.
fn changed(input: &[u8], events: &str) -> Option<Vec<u8>> {
    let shown = lines(events);
    let texts = shown.iter().filter_map(|event| match event["type"].as_str()? {
        "text" | "reasoning" => Some(event["text"].as_str()?.to_owned()),
        "tool_call" => Some(event["arguments"].to_string()),
        _ => None,
    });
    let texts: Vec<String> = texts.collect();
    let words = texts.iter().flat_map(|text| text.split(|c: char| !c.is_ascii_lowercase()));
    words.filter(|word| word.len() > 3).find_map(|word| {
        let mut places = input.windows(word.len()).enumerate();
        let (at, _) = places.find(|(_, bytes)| bytes == &word.as_bytes())?;
        let mut input = input.to_vec();
        let is_only = places.all(|(_, bytes)| bytes != word.as_bytes());
        input[at + 1] = if input[at + 1] == b'x' { b'y' } else { b'x' };
        is_only.then_some(input)
    })
}

#[test]
fn one_letter_changed_in_each_capture_is_found() {
    let folder = TempDir::new().unwrap();
    let cases = Case::all()
        .into_iter()
        .filter(|case| case.args.is_empty() && case.name.starts_with("fixtures/format/"));
    let cases: BTreeMap<String, Case> =
        cases.map(|case| (case.name.replace('/', "-"), case)).collect();
    for (name, case) in &cases {
        fs::write(folder.path().join(name), &case.input).unwrap();
    }
    assert_eq!(run_in(folder.path(), &["check", "--update", "-j2", "."], "").code, 0);
    let mut mutants = 0;
    for (name, case) in &cases {
        let events = fs::read_to_string(folder.path().join(format!("{name}.golden"))).unwrap();
        // What is sent twice may have been changed where nobody reads it.
        let was = joined(&case.config().0, [case.input.as_slice()]);
        let is_shown = |mutant: &Vec<u8>| joined(&case.config().0, [mutant.as_slice()]) != was;
        let mutant = changed(&case.input, &events).filter(is_shown);
        let path = folder.path().join(name);
        match mutant {
            Some(mutant) => fs::write(path, mutant).unwrap(),
            None => fs::remove_file(path).unwrap(),
        }
        mutants += u64::from(folder.path().join(name).exists());
    }
    let run = run_in(folder.path(), &["check", "--json", "-j2", "."], "");
    let sum = lines(&run.out).pop().unwrap();
    assert!(mutants > 200, "{mutants}");
    assert_eq!((&sum["differs"], &sum["same"]), (&mutants.into(), &0.into()), "{}", run.out);
    for line in lines(&run.out).iter().filter(|line| line["result"] == "differs") {
        assert!(line["changes"][0]["was"][0]["type"].is_string(), "{line}");
    }
}

/// README's job in five lines says yes of what it should, and no of what it should.
#[test]
fn the_job_of_the_readme_checks_captures() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, job) = readme.split_once("```yaml\n").unwrap();
    let (job, _) = job.split_once("```").unwrap();
    assert_eq!(job.lines().count(), 5, "{job}");
    let (_, command) = job.split_once("&& toolstream ").unwrap();
    let args: Vec<&str> = command.split_whitespace().collect();
    let folder = TempDir::new().unwrap();
    let captures = folder.path().join("captures");
    fs::create_dir(&captures).unwrap();
    fs::write(captures.join("a.sse"), CAPTURE).unwrap();
    let code = |args: &[&str]| run_in(Path::new(folder.path()), args, "").code;
    assert_eq!(code(&args), 1);
    assert_eq!(code(&["check", "--update", "captures"]), 0);
    assert_eq!(code(&args), 0);
    fs::write(captures.join("a.sse"), CAPTURE.replace("warm", "cold")).unwrap();
    assert_eq!(code(&args), 1);
}

#[test]
fn captures_keep_the_laws_without_golden_files() {
    let folder = folder(&[("a.sse", CAPTURE)]);
    let kept = "1 checked: 1 has no golden file, 1 keeps the laws\n";
    check(&folder, &["--laws", "a.sse"], 0, kept);
    run_in(folder.path(), &["check", "--update", "a.sse"], "");
    check(&folder, &["--laws", "."], 0, "1 checked: 1 the same, 1 keeps the laws\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn secrets_are_replaced_in_captures_and_reported() {
    let (key, account) = ("sk-proj-aB3dE5fG7hJ9kL1mN3pQ5r", "bob@corp.example.com");
    let head = format!("HTTP/1.1 200 OK\nset-cookie: id={key}9; path=/\n\n");
    let capture = CAPTURE.replace("A warm", &format!("{key} {account}"));
    let capture = format!("{head}{capture}HTTP/1.1 200 OK\nset-cookie: id=aB3dE5fG7hJ9\n\n");
    let folder = folder(&[("a.http", &capture), ("b.sse", CAPTURE)]);
    let run = run_in(folder.path(), &["check", "--update", "--redact", "a.http", "b.sse"], "");
    assert_eq!((run.code, run.out.lines().last()), (0, Some("2 checked: 2 written")));
    assert!(run.err.contains("a.http: replaced a key of OpenAI, once (offset "), "{}", run.err);
    assert!(run.err.contains("a.http: replaced an e-mail address, once (offset "), "{}", run.err);
    assert!(!run.err.contains("b.sse"), "{}", run.err);
    for file in [read(&folder, "a.http"), read(&folder, "a.http.golden"), run.err] {
        assert!(!file.contains("aB3dE5fG7hJ9") && !file.contains("bob@"), "{file}");
    }
    assert_eq!(read(&folder, "a.http").len(), capture.len());
    assert_eq!(read(&folder, "b.sse"), CAPTURE);
    check(&folder, &["--update", "--redact", "a.http"], 0, SAME);
    let run = run_in(folder.path(), &["record", "--redact", "c"], &capture);
    assert_eq!((run.code, run.out.as_str()), (0, capture.as_str()));
    assert!(run.err.contains("c: replaced an e-mail address, once"), "{}", run.err);
    assert_eq!(read(&folder, "c"), read(&folder, "a.http"));
    let times = read(&folder, "c.times");
    assert!(times.ends_with(&format!(" {}\n", capture.len())), "{times}");
    // In pieces, it is found, and stays.
    let (first, last) = key.split_at(16);
    let piece = |text: &str| CAPTURE.replace("A warm day", text).replace("\"stop\"", "null");
    let first = piece(first).replace("data: [DONE]\n\n", "");
    write(&folder, "d", &format!("{first}{}", CAPTURE.replace("A warm day", last)));
    let run = run_in(folder.path(), &["check", "--update", "--redact", "d"], "");
    assert!(run.err.contains("d: a secret is spread over several records"), "{}", run.err);
}
