//! Captures against their golden files.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;

use crate::agents::scene::{PROGRAM, Scene};
use crate::captures::listening::Server;
use crate::case::{Case, root};
use crate::json;
use crate::pages::cli::{Run, folder, run_in, typed};
use crate::shape::joined;

const CAPTURE: &str = "data: {\"object\":\"chat.completion.chunk\",\"id\":\"c1\",\"choices\":[{\"index\":0,\
                       \"delta\":{\"content\":\"A warm day\"},\"finish_reason\":\"stop\"}]}\n\n\
                       data: [DONE]\n\n";

const SAME: &str = "1 checked: 1 the same\n";

#[track_caller]
fn check(folder: &TempDir, args: &[&str], code: i32, out: &str) -> Run {
    let run = run_in(folder.path(), &[&["check"], args].concat(), "");
    assert_eq!((run.code, run.out.as_str()), (code, out), "{}", run.err);
    // A no is the report's own; of every other status, standard error says why, once.
    assert_eq!(run.err.lines().count(), usize::from(code > 1), "{}", run.err);
    run
}

/// The report of a run that ends with this status.
#[track_caller]
fn report(folder: &TempDir, args: &[&str], code: i32) -> String {
    let run = run_in(folder.path(), &[&["check"], args].concat(), "");
    assert_eq!(run.code, code, "{}{}", run.out, run.err);
    run.out
}

/// What a report says of golden files that can be written anew.
fn otherwise(names: &str) -> String {
    format!(
        "the golden files say otherwise; `toolstream check --update{names}` writes what the captures give now\n"
    )
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
    let none = "a.sse: it has no golden file\ngolden files are missing; `toolstream check --update a.sse` \
                writes them\n1 checked: 1 has no golden file\n";
    check(&folder, &["a.sse"], 1, none);
    let new = "a.sse: its golden file is new\n1 checked: 1 new\n";
    check(&folder, &["--update", "a.sse"], 0, new);
    let parsed = run_in(folder.path(), &["parse", "--join", "a.sse"], "").out;
    let head = "{\"type\":\"golden\",\"v\":1,\"args\":[],\"ignore\":[]}\n";
    assert_eq!(read(&folder, "a.sse.golden"), format!("{head}{parsed}"));
    check(&folder, &["a.sse"], 0, SAME);
    check(&folder, &[], 0, SAME);
    check(&folder, &["--update", "a.sse.golden", "a.sse"], 0, SAME);
    write(&folder, "a.sse", &CAPTURE.replace("warm", "cold"));
    let diff = "--- a.sse.golden\n+++ a.sse\n@@ -2,3 +2,3 @@ line 3: text.text\n \
                {\"type\":\"start\",\"v\":1,\"format\":\"openai-chat\",\"framing\":\"sse\",\"id\":\"c1\"}\n\
                -{\"type\":\"text\",\"text\":\"A warm day\"}\n\
                +{\"type\":\"text\",\"text\":\"A cold day\"}\n \
                {\"type\":\"finish_reason\",\"finish_reason\":\"stop\",\"raw_finish_reason\":\"stop\"}\n      \
                1 × text.text\n";
    check(&folder, &["a.sse"], 1, &format!("{diff}{}1 checked: 1 differs\n", otherwise(" a.sse")));
    check(&folder, &["--ignore", "text", "a.sse"], 0, SAME);
    check(&folder, &["--only", "start,finish_reason", "a.sse"], 0, SAME);
    let json = report(&folder, &["--report", "json", "a.sse"], 1);
    let [capture, sum] = &lines(&json)[..] else { panic!("{json}") };
    assert_eq!((&capture["result"], &sum["differs"]), (&"differs".into(), &1.into()));
    assert_eq!(
        (&capture["changes"][0]["line"], &capture["changes"][0]["keys"][0]),
        (&3.into(), &"text.text".into())
    );
    assert_eq!(capture["changes"][0]["is"][0]["text"], "A cold day");
    let changed = format!("a.sse: its golden file has changed\n{diff}1 checked: 1 changed\n");
    check(&folder, &["--update", "a.sse"], 0, &changed);
    check(&folder, &["a.sse"], 0, SAME);
}

#[test]
fn options_are_kept_and_used_again() {
    let folder =
        folder(&[("a.txt", "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>")]);
    let args = ["--update", "-f", "text", "-d", "none", "--ignore", "text", "a.txt"];
    report(&folder, &args, 0);
    let head = || read(&folder, "a.txt.golden").lines().next().unwrap().to_owned();
    let first =
        r#"{"type":"golden","v":1,"args":["--format=text","--dialect=none"],"ignore":["text"]}"#;
    assert_eq!(head(), first);
    check(&folder, &["a.txt"], 0, SAME);
    write(&folder, "a.txt", "<tool_call>");
    check(&folder, &["a.txt"], 0, SAME);
    // Those of the command line take the place of those of their name.
    let out = report(&folder, &["-d", "hermes", "a.txt"], 1);
    assert!(out.contains("\"code\":\"truncated\""), "{out}");
    // What is kept gets more, and is never less, unless it is to be forgotten.
    report(&folder, &["--update", "--ignore", "id,created", "a.txt"], 0);
    assert_eq!(head(), first.replace("[\"text\"]", "[\"text\",\"id\",\"created\"]"));
    report(&folder, &["--update", "."], 0);
    assert_eq!(head(), first.replace("[\"text\"]", "[\"text\",\"id\",\"created\"]"));
    report(&folder, &["--update", "--ignore", "none,usage", "a.txt"], 0);
    assert_eq!(head(), first.replace("[\"text\"]", "[\"usage\"]"));
}

#[test]
fn what_is_wrong_is_said_for_what_it_is() {
    let folder = folder(&[("a", CAPTURE)]);
    report(&folder, &["--update", "--ignore", "id", "a"], 0);
    let golden = read(&folder, "a.golden");
    let newer = golden.replace("\"v\":1,\"args\"", "\"v\":2,\"args\"");
    write(&folder, "a.golden", &newer);
    let message = "a: its golden file is of version 2, and this toolstream reads version 1: a newer one has \
                   written it\ngolden files are newer; `cargo install toolstream` gets a newer one\n\
                   1 checked: 1 has a newer golden file\n";
    check(&folder, &["a"], 1, message);
    check(&folder, &["--update", "a"], 1, message);
    assert_eq!(read(&folder, "a.golden"), newer);
    let (head, events) = golden.split_once('\n').unwrap();
    let conflict = format!("<<<<<<< HEAD\n{head}\n=======\n{head}\n>>>>>>> b\n{events}");
    let with =
        |option: &str| golden.replacen("\"args\":[]", &format!("\"args\":[\"{option}\"]"), 1);
    for (broken, how) in [
        (
            golden.replace(",\"text\":", ", \"text\":"),
            "was edited by hand: line 3 has white space that no event has",
        ),
        (
            with("--fast"),
            "was made with options that can't be used here: unexpected argument '--fast' found",
        ),
        (with("--tools=t.json"), "was made with --tools=t.json, and there is no such file here"),
        ("notes\n".into(), "was edited by hand: line 1 does not say how it was made"),
        (String::new(), "is empty"),
        (golden[..golden.len() - 9].into(), "ends inside line 4: it is not whole"),
        (conflict, "holds a merge conflict that is not resolved, in line 1"),
    ] {
        write(&folder, "a.golden", &broken);
        let message = format!(
            "a: its golden file {how}; `toolstream check --update a` writes it anew\n{}\
             1 checked: 1 has a broken golden file\n",
            otherwise(" a")
        );
        check(&folder, &["a"], 1, &message);
        let mended =
            format!("a: its golden file is mended: its golden file {how}\n1 checked: 1 mended\n");
        check(&folder, &["--update", "a"], 0, &mended);
        // Its settings are kept where they can be read.
        let is_known = !matches!(how, "is empty") && !how.ends_with("how it was made");
        let expected = if is_known { golden.clone() } else { golden.replace("[\"id\"]", "[]") };
        assert_eq!(read(&folder, "a.golden"), expected, "{how}");
        write(&folder, "a.golden", &golden);
    }
    fs::rename(folder.path().join("a"), folder.path().join("b")).unwrap();
    let message = "a: it was renamed: b gives the same events\n\
                   b: it has no golden file; it was a, and was renamed\n\
                   golden files are missing; `toolstream check --update .` writes them\n\
                   2 checked: 1 has no golden file, 1 has no capture\n";
    check(&folder, &["."], 1, message);
    let run = check(&folder, &["c"], 2, "1 checked: 1 can't be read\n");
    assert_eq!(run.err, "toolstream: c: No such file or directory (os error 2)\n");
    check(&folder, &["--tools", "none.json", "b"], 2, "");
    let run = check(&folder, &["--only", "text", "--ignore", "text", "b"], 2, "");
    assert_eq!(run.err, "toolstream: --only text and --ignore text contradict each other\n");
    let pruned = report(&folder, &["--prune", "--update"], 0);
    assert!(pruned.contains("a: its golden file was removed: it was renamed"), "{pruned}");
    check(&folder, &[], 0, SAME);
    assert!(!folder.path().join("a.golden").exists());
}

/// What git does to text files is told, and tolerated.
#[test]
fn line_ends_that_were_changed_are_tolerated() {
    let folder = folder(&[("a.sse", CAPTURE)]);
    report(&folder, &["--update"], 0);
    let golden = read(&folder, "a.sse.golden");
    for changed in [golden.replace('\n', "\r\n"), format!("\u{feff}{golden}")] {
        write(&folder, "a.sse.golden", &changed);
        let run = run_in(folder.path(), &["check"], "");
        assert_eq!((run.code, run.out.as_str()), (0, SAME));
        assert!(
            run.err.starts_with("toolstream: a.sse.golden: CR LF or a byte order mark"),
            "{}",
            run.err
        );
        assert!(run.err.contains("`captures/** -text`"), "{}", run.err);
        report(&folder, &["--update"], 0);
        assert_eq!(read(&folder, "a.sse.golden"), golden);
    }
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
    std::os::unix::fs::symlink("self", folder.path().join("self")).unwrap();
    // What is no capture.
    for (name, text) in [
        ("README.md", "# Captures\n\nSee below.\n"),
        ("run.py", "import x\n"),
        ("page.html", "<html>502</html>"),
        ("package.json", "{\"name\":\"x\"}"),
        ("a.sse~", CAPTURE),
        ("a.sse.golden.orig", CAPTURE),
    ] {
        write(&folder, name, text);
    }
    fs::write(folder.path().join("shot.png"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
    Command::new("mkfifo").arg(folder.path().join("pipe.sse")).status().unwrap();
    let expected = ["1.answer", "a.sse", "b.sse", "sub/deep/c"];
    let found = |args: &[&str]| {
        let run = run_in(folder.path(), &[&["check", "--report", "json"], args].concat(), "");
        let lines = lines(&run.out);
        let files = lines.iter().filter_map(|line| line["file"].as_str().map(str::to_owned));
        let sum = lines.last().unwrap()["passed_over"].as_u64().unwrap();
        (files.filter(|file| file != "self").collect::<Vec<_>>(), sum)
    };
    let expected = |passed| (expected.map(str::to_owned).to_vec(), passed);
    assert_eq!(found(&["."]), expected(8));
    // A format is named, and not that all files are in it.
    let named = found(&["-f", "openai-chat", "--exclude", "package.json", "."]);
    assert_eq!(named.0, expected(8).0);
    assert_eq!(found(&["--update", "-j", "3", "."]), expected(8));
    assert_eq!(found(&[".", "./a.sse", "./a.sse.golden", "sub", "sub/"]), expected(8));
    assert_eq!(
        found(&["--exclude", "*.md", "--exclude", "sub/**", "--exclude", "[ab].*"]).0,
        ["1.answer"]
    );
    assert_eq!(found(&["--filter", "deep"]).0, ["sub/deep/c"]);
    assert_eq!(found(&[".hidden"]).0, [".hidden"]);
    fs::create_dir(folder.path().join("none")).unwrap();
    let run = check(&folder, &["none"], 2, "0 checked\n");
    assert_eq!(run.err, "toolstream: none: holds no capture\n");
    let run =
        check(&folder, &["--filter", "none", "."], 2, "0 checked; 3 files were passed over\n");
    assert!(run.err.contains("no capture has \"none\" in its name"), "{}", run.err);
    let run = check(&folder, &["pipe.sse"], 2, "1 checked: 1 can't be read\n");
    assert!(run.err.contains("is a pipe or a device"), "{}", run.err);
    let run = check(&folder, &["self"], 2, "1 checked: 1 can't be read\n");
    assert!(run.err.contains("symbolic links"), "{}", run.err);
    let name = std::ffi::OsStr::from_bytes(b"sub/\xff.sse");
    fs::write(folder.path().join(name), CAPTURE).unwrap();
    let run = run_in(folder.path(), &["check", "sub"], "");
    assert_eq!((run.code, run.out.as_str()), (2, SAME));
    assert!(run.err.contains("its name is not UTF-8: rename it"), "{}", run.err);
}

/// A capture of the same answer as often as it is recorded: its ids, times and counts are others.
fn again(capture: &str, time: u64) -> String {
    let usage = format!("{{\"prompt_tokens\":{time},\"completion_tokens\":3,\"total_tokens\":10}}");
    let capture = capture.replace("\"c1\"", &format!("\"c{time}\",\"created\":{time}"));
    capture.replace("\"choices\"", &format!("\"usage\":{usage},\"choices\""))
}

#[test]
fn what_is_recorded_again_is_the_same() {
    let folder = folder(&[("a.sse", &again(CAPTURE, 8)), ("b.sse", CAPTURE)]);
    report(&folder, &["--update"], 0);
    write(&folder, "a.sse", &again(CAPTURE, 9));
    let out = report(&folder, &[], 1);
    assert!(out.contains("start.id") && out.contains("      1 × start.created\n"), "{out}");
    check(&folder, &["--ignore", "volatile"], 0, "2 checked: 2 the same\n");
    write(&folder, "a.sse", &again(CAPTURE, 9).replace("warm", "cold"));
    let out = report(&folder, &["--ignore", "volatile"], 1);
    assert!(out.contains("cold") && !out.contains("c9"), "{out}");
    // An offset is no difference.
    write(&folder, "a.sse", &CAPTURE.replace("\"stop\"", "null"));
    report(&folder, &["--update"], 0);
    write(&folder, "a.sse", &format!(": hello\n\n{}", CAPTURE.replace("\"stop\"", "null")));
    check(&folder, &[], 0, "2 checked: 2 the same\n");
}

#[test]
fn equal_changes_are_said_once_and_all_are_counted() {
    let names: Vec<String> = (10..70).map(|at| format!("{at}.sse")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), CAPTURE)).collect();
    let folder = folder(&files);
    report(&folder, &["--update", "-j4"], 0);
    for (at, name) in names.iter().enumerate() {
        let id = if at < 30 { "c2".into() } else { format!("d{at}") };
        write(&folder, name, &CAPTURE.replace("c1", &id));
    }
    let out = report(&folder, &["-j4"], 1);
    assert!(out.contains("\nthe same in 29 more: 11.sse, 12.sse, 13.sse, …\n"), "{out}");
    assert!(
        out.contains("     60 × start.id\n") && out.ends_with("60 checked: 60 differ\n"),
        "{out}"
    );
    assert!(
        out.lines().count() < 210 && out.contains(" more lines: --full prints them\n"),
        "{out}"
    );
    assert!(report(&folder, &["--full"], 1).lines().count() > 210);
    let out = report(&folder, &["--fail-fast"], 1);
    assert!(out.ends_with("1 checked: 1 differs\n"), "{out}");
}

#[test]
fn folders_have_settings() {
    let folder = folder(&[("a.sse", CAPTURE)]);
    for inner in ["sub/deep", "docs"] {
        fs::create_dir_all(folder.path().join(inner)).unwrap();
    }
    write(
        &folder,
        ".toolstream.toml",
        "ignore = [\"volatile\"]\nexclude = [\"*.log\", \"docs/**\"]\n",
    );
    write(
        &folder,
        "sub/.toolstream.toml",
        "args = [\"--tools=t.json\"]\nonly = [\"start\", \"text\"]\n",
    );
    write(&folder, "sub/t.json", "{\"f\":{\"type\":\"object\"}}");
    for name in ["sub/deep/b.sse", "docs/c.sse", "d.log"] {
        write(&folder, name, &again(CAPTURE, 8));
    }
    write(&folder, "a.sse", &again(CAPTURE, 8));
    let out = report(&folder, &["--update", "--ignore", "tool_call"], 0);
    assert!(out.ends_with("2 checked: 2 new; 1 file was passed over\n"), "{out}");
    // A head holds what differs from the folder's.
    let head = "{\"type\":\"golden\",\"v\":1,\"args\":[],\"ignore\":[\"tool_call\"]}";
    for name in ["a.sse", "sub/deep/b.sse"] {
        assert_eq!(read(&folder, &format!("{name}.golden")).lines().next(), Some(head), "{name}");
        write(&folder, name, &again(CAPTURE, 9).replace("\"stop\"", "\"length\""));
    }
    let out = report(&folder, &[], 1);
    assert!(out.contains("2 checked: 1 the same, 1 differs; 1 file"), "{out}");
    // From within, and by name, they are the same.
    let run = run_in(&folder.path().join("sub/deep"), &["check"], "");
    assert_eq!((run.code, run.out.as_str()), (0, SAME), "{}", run.err);
    check(&folder, &["sub/deep/b.sse"], 0, SAME);
    let out = report(&folder, &["--ignore", "none", "--only", "none", "sub"], 1);
    assert!(out.contains("start.created") && out.contains("finish_reason"), "{out}");
    write(&folder, "sub/.toolstream.toml", "only = [\"start\"]\nignored = [\"id\"]\n");
    let run = check(&folder, &[], 2, "");
    assert!(run.err.contains("sub/.toolstream.toml:2:1: unknown field `ignored`"), "{}", run.err);
}

#[test]
fn what_is_accepted_is_shown() {
    let folder = folder(&[("a.sse", CAPTURE), ("page.sse", "<html>502</html>"), ("empty.sse", "")]);
    write(
        &folder,
        "cut.sse",
        CAPTURE.split("data: [DONE]").next().unwrap().replace("\"stop\"", "null").as_str(),
    );
    write(&folder, "notes", "Buy milk.\n");
    let out = report(&folder, &["--update"], 0);
    for line in [
        "a.sse: its golden file is new",
        "cut.sse: note: it ends in the error truncated: ",
        "empty.sse: note: it holds nothing: no text and no call",
        "page.sse: note: it ends in the error unrecognised: this is an HTML page",
        "notes: it is no stream, log or body, and was passed over",
        "4 checked: 4 new; 1 file was passed over",
    ] {
        assert!(out.lines().any(|other| other.starts_with(line)), "{line}: {out}");
    }
    let out = report(&folder, &["--update", "notes"], 0);
    assert!(out.contains("notes: note: no format was found, so it is read as plain text"), "{out}");
    write(&folder, "a.sse", &CAPTURE.replace("warm", "cold"));
    let out = report(&folder, &["--update"], 0);
    assert!(
        out.contains("a.sse: its golden file has changed\n")
            && out.contains("+{\"type\":\"text\",\"text\":\"A cold day\"}\n"),
        "{out}"
    );
}

#[test]
fn reports_for_machines() {
    let folder = folder(&[("a,b.sse", CAPTURE), ("c.sse", CAPTURE)]);
    report(&folder, &["--update"], 0);
    write(&folder, "a,b.sse", &CAPTURE.replace("warm", "<100%>&\\u0001"));
    let github = report(&folder, &["--report", "github"], 1);
    let start = "::error file=a%2Cb.sse.golden,line=3,title=toolstream check::a,b.sse: differs: text.text%0A@@ ";
    assert!(github.starts_with(start) && github.contains("<100%25>&"), "{github}");
    assert_eq!(github.lines().count(), 3, "{github}");
    let junit = report(&folder, &["--report", "junit"], 1);
    assert!(junit.contains("<testsuites tests=\"2\" failures=\"1\" errors=\"0\">"), "{junit}");
    assert!(junit.contains("<testcase classname=\".\" name=\"c.sse\"/>"), "{junit}");
    assert!(junit.contains("&lt;100%&gt;&amp;\\u0001"), "{junit}");
    let mut reader = quick_xml::Reader::from_str(&junit);
    while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
}

#[test]
fn members_that_no_rule_reads_are_compared() {
    let folder = folder(&[("a.sse", CAPTURE)]);
    report(&folder, &["--update", "--unread"], 0);
    check(&folder, &["--unread"], 0, SAME);
    write(&folder, "a.sse", &CAPTURE.replace("\"id\"", "\"safety\":{\"blocked\":true},\"id\""));
    check(&folder, &[], 0, SAME);
    let out = report(&folder, &["--unread"], 1);
    assert!(
        out.contains("+{\"type\":\"unread.safety\"}\n") && out.contains("1 × +unread.safety\n"),
        "{out}"
    );
    report(&folder, &["--update"], 0);
    report(&folder, &["--update", "--unread"], 0);
    check(&folder, &["--unread"], 0, SAME);
}

/// What a run on a terminal shows, where each question is answered; none if there is no script(1).
fn on_terminal(folder: &Path, args: &str, answers: &[&str]) -> Option<String> {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{PROGRAM} {args}"), "/dev/null"]).current_dir(folder);
    let answers: Vec<_> = answers.iter().map(|answer| ("[a/S/q] ", *answer)).collect();
    typed(&mut command, &answers)
}

#[test]
fn differences_are_accepted_one_by_one() {
    let folder = folder(&["a.sse", "b.sse", "c.sse", "d.sse"].map(|name| (name, CAPTURE)));
    report(&folder, &["--update"], 0);
    for name in ["a", "b", "c", "d"] {
        write(&folder, &format!("{name}.sse"), &CAPTURE.replace("warm", name));
    }
    let answers = ["a\n", "what?\n", "\n", "accept\n", "q\n"];
    let Some(seen) = on_terminal(folder.path(), "check --review", &answers) else { return };
    assert!(seen.contains("[1/4] ") && seen.contains("4 checked: 2 changed, 2 differ"), "{seen}");
    let has = |name: &str| {
        read(&folder, &format!("{name}.sse.golden")).contains(&format!("A {name} day"))
    };
    assert_eq!(["a", "b", "c", "d"].map(has), [true, false, true, false]);
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
        // Plain text is passed over.
        let golden = fs::read_to_string(folder.path().join(format!("{name}.golden")));
        let Ok(events) = golden else { continue };
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
    let run = run_in(folder.path(), &["check", "--report", "json", "-j2", "."], "");
    let sum = lines(&run.out).pop().unwrap();
    assert!(mutants > 200, "{mutants}");
    assert_eq!((&sum["differs"], &sum["same"]), (&mutants.into(), &0.into()), "{}", run.out);
    for line in lines(&run.out).iter().filter(|line| line["result"] == "differs") {
        assert!(line["changes"][0]["was"][0]["type"].is_string(), "{line}");
    }
}

/// The blocks of a section of a page that are in this language.
fn blocks(page: &str, section: &str, language: &str) -> Vec<String> {
    let page = fs::read_to_string(root().join(page)).unwrap();
    let (_, section) = page.split_once(&format!("\n## {section}\n")).unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let opener = format!("```{language}\n");
    let blocks = section.split(&opener).skip(1);
    blocks.map(|block| block.split_once("```").unwrap().0.to_owned()).collect()
}

/// Runs a script in a folder, where `toolstream` is the one that was built.
fn shell(folder: &Path, script: &str, url: &str) -> (Option<i32>, String) {
    let (programs, _) = PROGRAM.rsplit_once('/').unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(folder).env("URL", url).stdin(Stdio::null());
    shell.env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap()));
    for role in ["AUTHOR", "COMMITTER"] {
        shell.env(format!("GIT_{role}_NAME"), "n").env(format!("GIT_{role}_EMAIL"), "e");
    }
    let output = shell.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

/// Each of the guide's six lines says yes of what it should, and no of what it should.
#[test]
fn the_lines_of_the_guide_keep_captures() {
    let blocks = blocks("man/guide.md", "Captures under test", "sh");
    let lines: Vec<&str> = blocks.iter().flat_map(|block| block.lines()).collect();
    let [attributes, settings, update, check, review, github] = lines[..] else {
        panic!("{lines:?}")
    };
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("captures")).unwrap();
    fs::write(folder.path().join("captures/a.sse"), again(CAPTURE, 8)).unwrap();
    let code = |script: &str| shell(folder.path(), script, "").0;
    assert_eq!(
        [attributes, settings, check, update, check, github].map(code),
        [0, 0, 1, 0, 0, 0].map(Some)
    );
    fs::write(folder.path().join("captures/a.sse"), again(CAPTURE, 9)).unwrap();
    assert_eq!(code(check), Some(0));
    fs::write(folder.path().join("captures/a.sse"), CAPTURE.replace("warm", "cold")).unwrap();
    assert_eq!([check, github].map(code), [Some(1); 2]);
    let (command, _) = review.split_once('#').unwrap();
    if on_terminal(folder.path(), command.trim().strip_prefix("toolstream ").unwrap(), &["a\n"])
        .is_some()
    {
        assert_eq!(code(check), Some(0));
    }
}

/// The reference's page, from the first capture to the review of a change.
#[test]
fn the_page_of_the_reference_keeps_a_repository() {
    let page = |language| blocks("man/reference.md", "Golden tests in a repository", language);
    let [first, hook, change] = &page("sh")[..] else { panic!("{:?}", page("sh")) };
    let [job] = &page("yaml")[..] else { panic!("{:?}", page("yaml")) };
    let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    if !["git", "curl", "script"].into_iter().all(is_there) {
        return eprintln!("there is no git, curl or script: nothing is tested");
    }
    let scene = Scene::new(&[CAPTURE.replace("day", "day for sk-proj-aB3dE5fG7hJ9kL1mN3pQ5r")]);
    let server = Server::start(&scene, &["1.sse"]);
    let url = format!("http://{}/v1/chat/completions", server.address);
    let run = |script: &str| shell(scene.folder(), script, &url);
    scene.write("headers", "x-key: secret\n");
    scene.write(
        "ask.json",
        "{\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}",
    );
    assert_eq!(run("git init -q . && git config core.autocrlf true").0, Some(0));
    let ran = run(first);
    assert_eq!(ran.0, Some(0), "{}", ran.1);
    assert!(!scene.read("captures/weather.http").contains("aB3dE5fG7hJ9"));
    assert!(scene.read("captures/weather.http.golden").contains("A warm day"));
    // Git has changed nothing.
    assert_eq!(
        run("rm -r captures && git checkout -q captures && toolstream check captures").0,
        Some(0)
    );
    scene.write(".git/hooks/pre-commit", hook);
    let commit = "chmod +x .git/hooks/pre-commit && git commit -q --allow-empty -m x";
    assert_eq!(run(commit).0, Some(0));
    let jobs: Vec<&str> =
        job.lines().filter_map(|line| line.split_once("- run: ")).map(|(_, run)| run).collect();
    let [install, check] = jobs[..] else { panic!("{jobs:?}") };
    assert!(install == "cargo install toolstream" && run(check).0 == Some(0), "{install}");
    let capture = scene.read("captures/weather.http");
    scene.write("captures/weather.http", &capture.replace("warm", "cold"));
    scene.write("captures/gone.sse.golden", &scene.read("captures/weather.http.golden"));
    let (code, said) = run(check);
    assert!(
        code == Some(1) && said.contains("::error file=captures/weather.http.golden,line="),
        "{said}"
    );
    assert_eq!(run(commit).0, Some(1));
    let (review, commit) = change.split_once('\n').unwrap();
    let review = review.strip_prefix("toolstream ").unwrap();
    let seen = on_terminal(scene.folder(), review, &["a\n"]).unwrap();
    assert!(seen.contains("1 changed, 1 removed"), "{seen}");
    let ran = run(commit);
    assert_eq!(ran.0, Some(0), "{}", ran.1);
    assert_eq!(run("git status --porcelain captures").1, "");
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
    assert_eq!((run.code, run.out.lines().last()), (0, Some("2 checked: 2 new")));
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
}

#[test]
fn a_secret_in_pieces_goes_as_a_whole_or_is_reported() {
    let key = "sk-proj-aB3dE5fG7hJ9kL1mN3pQ5r";
    let in_pieces = |size: usize, member: &str| -> String {
        let chunk = |at: usize| {
            let piece = &key[at..key.len().min(at + size)];
            let text = CAPTURE.replace("A warm day", piece).replace("\"stop\"", "null");
            text.replace("data: [DONE]\n\n", "").replace("\"content\"", member)
        };
        (0..key.len()).step_by(size).map(chunk).collect::<String>() + CAPTURE
    };
    for (size, member) in [(4, "\"content\""), (20, "\"content\""), (5, "\"unknown\"")] {
        let capture = in_pieces(size, member);
        let folder = folder(&[("a.sse", &capture)]);
        check_update(&folder, &["a.sse"], 0, "1 checked: 1 new");
        let redacted = read(&folder, "a.sse");
        assert_eq!(redacted.len(), capture.len());
        for piece in key.as_bytes()[8..].chunks(4) {
            let piece = format!("\"{}\"", str::from_utf8(piece).unwrap());
            assert!(!redacted.contains(&piece), "{piece} {redacted}");
        }
        check_update(&folder, &["a.sse"], 0, SAME.trim_end());
        let run = run_in(folder.path(), &["record", "--redact", "b"], &capture);
        assert_eq!((run.code, read(&folder, "b")), (0, redacted), "{}", run.err);
    }
    // So it does in a string of a cassette.
    let exchange = |content: serde_json::Value, headers: serde_json::Value| {
        serde_json::json!({"log": {"version": "1.2", "entries": [{
            "request": {"method": "POST", "url": "https://a.example/", "headers": []},
            "response": {"status": 200, "headers": headers, "content": content},
        }]}})
        .to_string()
    };
    let text = in_pieces(16, "\"content\"");
    let whole = exchange(serde_json::json!({ "text": text }), serde_json::json!([]));
    let folder = folder(&[("c", &whole)]);
    check_update(&folder, &["c"], 0, "1 checked: 1 new");
    assert!(!read(&folder, "c").contains("kL1mN3"), "{}", read(&folder, "c"));
    assert_eq!(read(&folder, "c").len(), whole.len());
    // What is compressed stays, and is written nowhere else.
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let body = STANDARD.encode(gzip.finish().unwrap());
    let packed = exchange(
        serde_json::json!({"encoding": "base64", "text": body}),
        serde_json::json!([{"name": "content-encoding", "value": "gzip"}]),
    );
    fs::write(folder.path().join("d"), &packed).unwrap();
    let out = report(&folder, &["--update", "--redact", "d"], 1);
    assert!(out.starts_with("d: has a secret that was not replaced, since it is spread"), "{out}");
    assert!(out.ends_with("no golden file is written\n1 checked: 1 has a secret\n"), "{out}");
    assert!(!folder.path().join("d.golden").exists());
    let run = run_in(folder.path(), &["record", "--redact", "e"], &packed);
    assert_eq!((run.code, run.out), (1, packed), "{}", run.err);
    assert!(run.err.contains("e: has a secret that was not replaced"), "{}", run.err);
}

#[test]
fn secrets_are_replaced_in_what_is_coded_and_in_what_is_compressed() {
    let key = "sk-proj-aB3dE5fG7hJ9kL1mN3pQ5r";
    let stream = CAPTURE.replace("A warm", key);
    let body = STANDARD.encode(&stream);
    let har = serde_json::json!({"log": {"version": "1.2", "creator": {"name": "a"}, "entries": [{
        "request": {"method": "POST", "url": format!("https://a.example/?api_key={key}"), "headers": []},
        "response": {
            "status": 200, "headers": [{"name": "content-type", "value": "text/event-stream"}],
            "content": {"mimeType": "text/event-stream", "encoding": "base64", "text": body},
        },
    }]}});
    let har = har.to_string();
    let folder = folder(&[("a.har", &har)]);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(har.as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("b.har.gz"), &packed).unwrap();
    check_update(&folder, &["a.har", "b.har.gz"], 0, "2 checked: 2 new");
    let mut unpacked = String::new();
    MultiGzDecoder::new(&*fs::read(path("b.har.gz")).unwrap())
        .read_to_string(&mut unpacked)
        .unwrap();
    assert_eq!(read(&folder, "a.har"), unpacked);
    assert_eq!(unpacked.len(), har.len());
    let goldens = ["a.har.golden", "b.har.gz.golden"].map(|name| read(&folder, name));
    for text in [&unpacked, &goldens[0], &goldens[1]] {
        assert!(!text.contains("aB3dE5fG7hJ9") && !text.contains(&body), "{text}");
    }
    assert!(goldens[0].contains("\"text\":\"sk-proj-redacted"), "{}", goldens[0]);
    let before = fs::read(path("b.har.gz")).unwrap();
    check_update(&folder, &["a.har", "b.har.gz"], 0, "2 checked: 2 the same");
    assert_eq!(fs::read(path("b.har.gz")).unwrap(), before);
    // What can't be unpacked is left, and said.
    let cut = &packed[..packed.len() - 9];
    fs::write(path("c.har.gz"), cut).unwrap();
    let run = check_update(&folder, &["c.har.gz"], 8, "1 checked: 1 can't be written");
    assert!(
        run.err.contains("c.har.gz: is compressed, and its secrets could not be"),
        "{}",
        run.err
    );
    assert!(!path("c.har.gz.golden").exists() && fs::read(path("c.har.gz")).unwrap() == cut);
}

/// Checks what `check --update --redact` ends with.
#[track_caller]
fn check_update(folder: &TempDir, names: &[&str], code: i32, last: &str) -> Run {
    let run = run_in(folder.path(), &[&["check", "--update", "--redact"], names].concat(), "");
    assert_eq!((run.code, run.out.lines().last()), (code, Some(last)), "{}", run.err);
    run
}

/// They are in a repository, as the captures are.
#[test]
fn a_golden_file_is_for_whom_the_user_lets_read_it() {
    for (mask, mode) in [("022", 0o644), ("077", 0o600)] {
        let folder = folder(&[("a.sse", CAPTURE)]);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("umask {mask}; exec \"$0\" check --update")]);
        let command = command.arg(env!("CARGO_BIN_EXE_toolstream")).current_dir(folder.path());
        assert!(command.output().unwrap().status.success());
        let golden = fs::metadata(folder.path().join("a.sse.golden")).unwrap();
        assert_eq!(golden.permissions().mode() & 0o777, mode, "{mask}");
    }
}

#[test]
fn options_of_a_folder_may_be_letters_and_words() {
    for args in ["\"-d\", \"hermes\"", "\"-dhermes\"", "\"--dialect\", \"hermes\", \"--strict\""] {
        let call = "<tool_call>{\"name\":\"t\",\"arguments\":{}}</tool_call>";
        let settings = format!("args = [{args}]\n");
        let folder = folder(&[("a.log", call), (".toolstream.toml", &settings)]);
        report(&folder, &["--update", "a.log"], 0);
        let golden = read(&folder, "a.log.golden");
        assert!(golden.contains("\"args\":[]") && golden.contains("\"hermes\""), "{args} {golden}");
        report(&folder, &["-d", "none", "a.log"], 1);
    }
}

/// The golden file says so, as `parse` does: what it said of a body that was whole differs.
#[test]
fn an_exchange_that_cannot_be_decoded_is_a_difference() {
    let har = |body: &str| {
        let entry = |text: &str, encoding: &str| {
            serde_json::json!({
                "request": {"method": "POST", "url": "/v1/chat/completions"},
                "response": {"status": 200, "headers": [], "content": {"text": text, "encoding": encoding}},
            })
        };
        let entries = [entry(CAPTURE, ""), entry(body, "base64")];
        serde_json::json!({"log": {"version": "1.2", "creator": {}, "entries": entries}})
            .to_string()
    };
    let folder = folder(&[("a.har", &har(&STANDARD.encode(CAPTURE)))]);
    report(&folder, &["--update"], 0);
    write(&folder, "a.har", &har("ZGF0YTog?*!"));
    let out = report(&folder, &[], 1);
    assert!(out.contains("its body is no base64, as it says"), "{out}");
    let out = report(&folder, &["--update"], 0);
    assert!(out.contains("it ends in the error malformed: "), "{out}");
    let parsed = run_in(folder.path(), &["parse", "--join", "a.har"], "");
    let events = parsed.out.replace("a.har#", "#");
    assert!(read(&folder, "a.har.golden").ends_with(&events) && parsed.code == 3, "{events}");
    fs::remove_file(folder.path().join("a.har.golden")).unwrap();
    assert!(report(&folder, &[], 1).contains("a.har: it has no golden file"));
}

#[test]
fn names_with_control_characters_are_printed_as_escapes() {
    let folder = folder(&[("a\u{1b}[2Jb.sse", CAPTURE)]);
    let out = report(&folder, &["a\u{1b}[2Jb.sse"], 1);
    assert!(out.contains("a\\u001b[2Jb.sse") && !out.contains('\u{1b}'), "{out}");
}
