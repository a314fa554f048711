//! The command line: every option, every exit status.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use assert_cmd::Command;
use clap::CommandFactory;
use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;
use toolstream::internals::Cli;

use crate::case::kind;

/// How long a run may hang; nothing is measured.
const GUARD: Duration = Duration::from_secs(60);

/// What came of a run.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a program on a terminal by script(1), and types each answer once its question is there. Returns
/// what the terminal showed; nothing if there is no script(1).
pub(crate) fn typed(
    script: &mut std::process::Command,
    answers: &[(&str, &str)],
) -> Option<String> {
    let Ok(mut child) = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        eprintln!("there is no script(1): nothing is tested");
        return None;
    };
    let (mut stdin, mut out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut seen = Vec::new();
    for (question, answer) in answers {
        let count = seen.len();
        while !String::from_utf8_lossy(&seen[count..]).contains(question) {
            let mut bytes = [0; 256];
            let got = out.read(&mut bytes).unwrap();
            assert!(got > 0, "{}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(&bytes[..got]);
        }
        stdin.write_all(answer.as_bytes()).unwrap();
    }
    out.read_to_end(&mut seen).unwrap();
    child.wait().unwrap();
    Some(String::from_utf8(seen).unwrap())
}

/// Runs the program in this folder.
pub(crate) fn run_in(folder: &Path, args: &[&str], input: &str) -> Run {
    let mut command = Command::cargo_bin("toolstream").unwrap();
    command.timeout(GUARD);
    let output = command.args(args).current_dir(folder).write_stdin(input).output().unwrap();
    Run {
        code: output.status.code().expect("the program ends by itself"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn run(args: &[&str], input: &str) -> Run {
    run_in(Path::new("."), args, input)
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// The lines as JSON.
fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The types of the lines.
fn kinds(out: &str) -> Vec<&str> {
    out.lines().map(kind).collect()
}

/// An event of a chat completion with this delta and finish reason.
fn chunk(delta: &str, finish_reason: &str) -> String {
    format!(
        "data: {{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{{\
         \"index\":0,\"delta\":{delta},\"finish_reason\":{finish_reason}}}]}}\n\n"
    )
}

fn text(text: &str) -> String {
    chunk(&format!("{{\"content\":{text:?}}}"), "null")
}

/// Fragments of calls, each `(index, name, arguments)`.
fn calls(calls: &[(u64, &str, &str)]) -> String {
    let calls: Vec<_> = calls
        .iter()
        .map(|(index, name, arguments)| {
            format!(
                "{{\"index\":{index},\"id\":\"call_{name}\",\"function\":{{\"name\":\"{name}\",\
                 \"arguments\":{arguments:?}}}}}"
            )
        })
        .collect();
    chunk(&format!("{{\"tool_calls\":[{}]}}", calls.join(",")), "null")
}

const DONE: &str = "data: [DONE]\n\n";

/// Whole streams, and what is wrong with some.
struct Streams {
    good: String,
    with_call: String,
    malformed: String,
    truncated: String,
    failed: String,
    unknown: &'static str,
}

fn streams() -> Streams {
    let (stop, bad) = (chunk("{}", "\"stop\""), "data: {\"choices\":[}\n\n");
    Streams {
        good: format!("{}{stop}{DONE}", text("Hi")),
        with_call: format!("{}{stop}{DONE}", calls(&[(0, "f", "{\"x\": 1}")])),
        malformed: format!("{}{bad}{stop}{DONE}", text("Hi")),
        truncated: text("Hi"),
        failed: format!(
            "{}data: {{\"error\":{{\"message\":\"gone\",\"code\":503}}}}\n\n",
            text("Hi")
        ),
        unknown: "{\"hello\":\"world\"}\n",
    }
}

/// Both commands end with this status, and an error is on both streams.
#[track_caller]
fn check_status(input: &str, expected: i32) {
    for command in ["parse", "classify"] {
        let run = run(&[command], input);
        assert_eq!(run.code, expected, "{command}: {}{}", run.out, run.err);
        assert_eq!(expected == 0, run.err.is_empty(), "{command}: {}", run.err);
        let last = lines(&run.out).pop().unwrap();
        let error = if command == "parse" { Some(&last) } else { last.get("error") };
        let code = error.and_then(|error| error.get("code"));
        assert_eq!(expected != 0, code.is_some(), "{command}: {last}");
    }
}

#[test]
fn plain_text_that_was_not_announced_is_told() {
    let told = |args: &[&str]| run(args, "Hello.").err;
    assert!(told(&["parse"]).contains("read as plain text"), "{}", told(&["parse"]));
    for args in
        [&["parse", "-f", "text"][..], &["show", "-d", "hermes"], &["classify", "-F", "text"]]
    {
        assert_eq!(told(args), "", "{args:?}");
    }
}

#[test]
fn every_end_has_its_status() {
    let streams = streams();
    check_status(&streams.good, 0);
    check_status(&streams.with_call, 0);
    check_status(&streams.malformed, 3);
    check_status(streams.unknown, 3);
    check_status(&streams.truncated, 4);
    check_status("", 4);
    check_status(&streams.failed, 9);
    let err = run(&["parse"], &streams.failed).err;
    assert_eq!(err, "toolstream: standard input: the provider reported: gone\n");
}

#[test]
fn a_finish_reason_that_is_an_error_is_the_providers() {
    let input = format!("{}{}{DONE}", text("Hi"), chunk("{}", "\"network_error\""));
    for command in ["parse", "classify"] {
        let run = run(&[command], &input);
        let expected = "toolstream: standard input: the provider reported: the finish reason is \
                        network_error\n";
        assert_eq!((run.code, run.err.as_str()), (5, expected), "{command}");
    }
    assert!(!run(&["classify"], &input).out.contains("\"final_answer\""));
}

#[test]
fn calls_that_cannot_be_run_alone_are_malformed() {
    let input = format!("{}{}{DONE}", calls(&[(0, "f", "{\"x\"")]), chunk("{}", "\"tool_calls\""));
    let run = run(&["parse"], &input);
    assert_eq!(
        (run.code, kinds(&run.out)),
        (3, vec!["start", "invalid_tool_call", "finish_reason"])
    );
    let input = input.replace("{\\\"x\\\"", "[]");
    let run = self::run(&["classify"], &input);
    assert_eq!(
        (run.code, run.err.as_str()),
        (3, "toolstream: standard input: call 0 (f) is invalid: its arguments are not an object\n")
    );
}

#[test]
fn the_worst_of_one_input_counts() {
    let streams = streams();
    let cut = format!("{}data: {{\"choices\":[}}\n\n", streams.truncated);
    check_status(&cut, 4);
    let error = "data: {\"error\":{\"message\":\"gone\"}}\n\n";
    check_status(&format!("{cut}{error}"), 5);
    let limited =
        run(&["parse", "--max-event", "300"], &format!("{cut}{error}: {}\n\n", "x".repeat(400)));
    assert_eq!(limited.code, 6, "{}", limited.err);
}

/// Several inputs, named by what is wrong with them, end with this status.
#[track_caller]
fn check_files(names: &[&str], expected: i32) {
    let streams = streams();
    let folder = folder(&[
        ("good", &streams.good),
        ("malformed", &streams.malformed),
        ("truncated", &streams.truncated),
        ("failed", &streams.failed),
        ("limited", &calls(&[(0, "f", "{}"), (1, "g", "{}"), (2, "h", "{}")])),
    ]);
    for command in ["parse", "classify"] {
        let args = [&[command, "--max-calls", "2"], names].concat();
        let run = run_in(folder.path(), &args, "");
        assert_eq!(run.code, expected, "{command} {names:?}: {}", run.err);
    }
}

#[test]
fn the_worst_of_several_inputs_counts() {
    check_files(&["good", "good"], 0);
    check_files(&["good", "missing"], 2);
    check_files(&["missing", "malformed", "good"], 3);
    check_files(&["missing", "malformed", "truncated"], 4);
    check_files(&["failed", "malformed", "truncated", "good"], 9);
    check_files(&["truncated", "limited", "failed"], 6);
}

#[test]
fn several_files_are_named_in_each_line() {
    let streams = streams();
    let folder = folder(&[("a", &streams.good), ("b", &streams.truncated)]);
    let run = run_in(folder.path(), &["parse", "a", "-", "b"], &streams.with_call);
    let names: Vec<_> =
        lines(&run.out).iter().map(|line| line["file"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["a", "a", "a", "-", "-", "-", "b", "b", "b"]);
    assert_eq!(run.code, 4);
    assert!(run.err.starts_with("toolstream: b: "), "{}", run.err);
}

#[test]
fn one_file_is_not_named() {
    let folder = folder(&[("a", &streams().good)]);
    for command in ["parse", "classify"] {
        let run = run_in(folder.path(), &[command, "a"], "");
        assert!(lines(&run.out).iter().all(|line| line.get("file").is_none()), "{}", run.out);
    }
}

#[test]
fn summaries_come_in_the_order_of_the_files() {
    let streams = streams();
    let long = format!("{}{}", text("Hi").repeat(5000), streams.good);
    let names: Vec<String> = (0..12).map(|number| number.to_string()).collect();
    let inputs = [long.as_str(), &streams.good].into_iter().cycle();
    let files: Vec<_> = names.iter().map(String::as_str).zip(inputs).collect();
    let folder = folder(&files);
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let one = run_in(folder.path(), &[&["classify"], names.as_slice()].concat(), "");
    let two = run_in(folder.path(), &[&["classify", "-j", "2"], names.as_slice()].concat(), "");
    let got: Vec<_> =
        lines(&two.out).iter().map(|line| line["file"].as_str().unwrap().to_owned()).collect();
    assert_eq!(got, names);
    assert_eq!((one.out, one.code), (two.out, two.code));
}

#[test]
fn a_file_that_cannot_be_read_does_not_stop_the_others() {
    let folder = folder(&[("a", &streams().good)]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    for jobs in ["1", "2"] {
        let run = run_in(folder.path(), &["classify", "-j", jobs, "none", "a", "empty"], "");
        assert_eq!((run.code, run.out.lines().count()), (2, 1));
        assert!(run.err.contains("toolstream: none: No such file"), "{}", run.err);
        assert!(run.err.contains("toolstream: empty: is a directory"), "{}", run.err);
    }
}

/// A folder stands for the captures in it, as it does for `check`; what holds no stream is passed over.
#[test]
fn a_folder_is_the_captures_in_it() {
    let good = streams().good;
    let folder = folder(&[]);
    fs::create_dir_all(folder.path().join("caps/more")).unwrap();
    let files = [
        ("caps/a.sse", good.as_str()),
        ("caps/more/b", &good),
        ("caps/a.sse.golden", "{}"),
        ("caps/README", "How these were made.\n"),
        ("caps/.hidden", &good),
    ];
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    for command in ["classify", "parse", "show", "frames", "detect"] {
        let run = run_in(folder.path(), &[command, "caps"], "");
        let said = "toolstream: caps: 1 file was passed over\n";
        assert_eq!((run.code, run.err.as_str()), (0, said), "{command}");
    }
    let run = run_in(folder.path(), &["classify", "-j", "2", "caps", "caps/a.sse"], "");
    let files: Vec<Value> = lines(&run.out).iter().map(|line| line["file"].clone()).collect();
    assert_eq!(files, ["caps/a.sse", "caps/more/b", "caps/a.sse"]);
    fs::create_dir(folder.path().join("none")).unwrap();
    let run = run_in(folder.path(), &["classify", "none"], "");
    assert_eq!((run.code, run.err.as_str()), (2, "toolstream: none: is a directory\n"));
}

/// Nothing is read, and standard error tells the way out.
#[track_caller]
fn check_usage(args: &[&str], parts: &[&str]) {
    let folder = folder(&[
        ("empty.json", "[]"),
        ("no.json", "{"),
        ("bad.toml", "name = 'x'\n[tags]\na = 'reason'\n"),
        ("empty.toml", "name = 'x'\n"),
    ]);
    let run = run_in(folder.path(), args, &streams().good);
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}: {}", run.err);
    for part in parts {
        assert!(run.err.contains(part), "{args:?} says nothing of {part:?}: {}", run.err);
    }
    let said: Vec<_> = run.err.trim_end().split(": ").collect();
    assert!(said.windows(2).all(|pair| pair[0] != pair[1]), "said twice: {}", run.err);
}

#[test]
fn mistakes_are_told_with_the_way_out() {
    check_usage(&[], &["no command", "`toolstream parse`", "`toolstream --help`"]);
    check_usage(&["no.json"], &["'no.json'", "`toolstream parse no.json`"]);
    check_usage(&["-"], &["`toolstream parse -`"]);
    check_usage(&["pars"], &["'pars'", "'parse'"]);
    check_usage(&["parse", "--dialct", "auto"], &["'--dialct'", "'--dialect'"]);
    check_usage(&["parse", "-f", "nosuch"], &["'nosuch'", "`toolstream formats`"]);
    check_usage(&["parse", "-f", "antropic"], &["'antropic'", "'anthropic'"]);
    check_usage(&["parse", "-d", "hermse"], &["'hermse'", "'hermes'", "`toolstream formats`"]);
    check_usage(&["parse", "-F", "xml"], &["'xml'", "sse", "ndjson", "json-array"]);
    check_usage(&["parse", "-d", "nosuch"], &["nosuch", "`toolstream formats`"]);
    check_usage(&["parse", "-d", "none.toml"], &["none.toml", "No such file"]);
    check_usage(&["parse", "-d", "bad.toml"], &["bad.toml", "line 3", "`reason`", "`reasoning`"]);
    check_usage(&["parse", "-d", "empty.toml"], &["empty.toml", "[tags]"]);
    check_usage(&["parse", "--tools", "none.json"], &["none.json", "No such file"]);
    check_usage(&["parse", "--tools", "no.json"], &["no.json", "not JSON"]);
    check_usage(&["parse", "--tools", "empty.json"], &["empty.json", "no tool definitions", "MCP"]);
    check_usage(&["parse", "--max-args", "12X"], &["'12X'", "64K"]);
    check_usage(&["parse", "--choice", "one"], &["'one'", "`all`"]);
    check_usage(&["parse", "--start-in", "there"], &["'there'", "reasoning"]);
    check_usage(&["parse", "--exit-code"], &["'--exit-code'", "option of `toolstream classify`"]);
    check_usage(
        &["schema", "-F", "sse"],
        &[
            "'-F'",
            "`toolstream parse`, `toolstream classify`, `toolstream show`, `toolstream frames`",
        ],
    );
    check_usage(&["parse", "--nonsense"], &["'--nonsense'"]);
    check_usage(&["formats", "antropic"], &["antropic", "similar: anthropic"]);
    check_usage(
        &["formats", "zzz"],
        &["no framing, format, dialect, program or cassette is named zzz"],
    );
    check_usage(&["classify", "--choice", "all"], &["--choice", "number"]);
    check_usage(&["classify", "-j", "0"], &["'0'", "--jobs"]);
    check_usage(&["completions", "tcsh"], &["'tcsh'", "bash"]);
    check_usage(&["parse", "none.sse"], &["none.sse", "No such file"]);
}

#[test]
fn a_name_that_is_not_utf_8_is_named() {
    let mut command = Command::cargo_bin("toolstream").unwrap();
    let output = command.arg("parse").arg(OsStr::from_bytes(b"caf\xe9")).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(err.starts_with("toolstream: caf\u{fffd}: this argument is not UTF-8; "), "{err}");
}

#[test]
fn names_have_aliases() {
    let streams = streams();
    for name in ["openai-chat", "openai_chat", "openai"] {
        assert_eq!(run(&["parse", "-f", name], &streams.good).code, 0, "{name}");
    }
    assert_eq!(run(&["parse", "-F", "json_array"], "[]").code, 4);
    assert_eq!(run(&["parse", "-d", "anthropic-xml"], "Hi").code, 0);
}

#[track_caller]
fn check_exit_code(input: &str, expected: i32) {
    let run = run(&["classify", "--exit-code"], input);
    assert_eq!(run.code, expected, "{}", run.out);
}

#[test]
fn the_exit_code_tells_calls_from_answers() {
    let streams = streams();
    check_exit_code(&streams.good, 0);
    check_exit_code(&streams.with_call, 10);
    check_exit_code("<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>\n", 10);
    // The last message counts.
    check_exit_code(&format!("{}{}", streams.with_call, streams.good.replace("c1", "c2")), 0);
    check_exit_code(&format!("{}{}", streams.good, streams.with_call.replace("c1", "c2")), 10);
    // A failure counts more than anything.
    check_exit_code(&streams.with_call.replace(DONE, "").replace("\"stop\"", "null"), 4);
    check_exit_code(&streams.malformed, 3);
    check_exit_code(&streams.failed, 9);
    check_exit_code("", 4);
}

/// A limit ends the run with this status, and is named on both streams.
#[track_caller]
fn check_limit(args: &[&str], input: &str, code: i32, part: &str) {
    let run = run(args, input);
    assert_eq!(run.code, code, "{args:?}: {}{}", run.out, run.err);
    assert!(run.out.contains(part), "{args:?}: {}", run.out);
    assert!(run.err.contains(args[1]), "{args:?}: {}", run.err);
    let mut off = args.to_vec();
    *off.last_mut().unwrap() = "0";
    assert_eq!(self::run(&off, input).code, 0, "{off:?}: 0 turns the limit off");
}

#[test]
fn limits_are_named_where_they_are_hit() {
    let streams = streams();
    let two =
        format!("{}{}{DONE}", calls(&[(0, "f", "{}"), (1, "g", "{}")]), chunk("{}", "\"stop\""));
    let deep = streams.with_call.replace("{\\\"x\\\": 1}", "{\\\"x\\\":[[[[1]]]]}");
    for command in ["parse", "classify"] {
        check_limit(&[command, "--max-event", "64"], &streams.good, 6, "--max-event 64");
        check_limit(
            &[command, "--max-args", "4"],
            &streams.with_call,
            6,
            "\"reason\":\"too_large\"",
        );
        check_limit(&[command, "--max-calls", "1"], &two, 6, "--max-calls 1");
        check_limit(&[command, "--max-depth", "4"], &deep, 3, "\"reason\":\"malformed\"");
    }
    check_limit(&["classify", "--max-memory", "1"], &streams.good, 6, "--max-memory 1");
    let frames = run(&["frames", "--max-event", "64"], &streams.good);
    assert_eq!(frames.code, 6);
    assert!(frames.out.contains("--max-event 64") && frames.err.contains("--max-event 64"));
}

#[test]
fn limits_take_units() {
    for size in ["1", "64k", "1M", "2GiB", "0"] {
        let code = run(&["parse", "--max-args", size], &streams().good).code;
        assert_eq!(code, 0, "{size}");
    }
}

#[test]
fn what_was_gathered_before_a_limit_is_printed() {
    // The id and the model take three bytes.
    let run = run(&["classify", "--max-memory", "7"], &format!("{}{}", text("abcd"), text("e")));
    let summary = lines(&run.out).pop().unwrap();
    assert_eq!(
        (summary["text"].as_str(), summary["complete"].as_bool()),
        (Some("abcd"), Some(false))
    );
    assert_eq!(summary["error"]["code"], "limit");
}

#[test]
fn white_space_beyond_the_window_is_text() {
    let run = run(&["parse", "--join"], &" ".repeat(70 << 10));
    assert_eq!((run.code, lines(&run.out)[1]["text"].as_str().map(str::len)), (0, Some(70 << 10)));
}

#[test]
fn strict_makes_warnings_errors() {
    let input = streams().good.replace(DONE, "");
    assert_eq!(run(&["parse"], &input).code, 0);
    let strict = run(&["parse", "--strict"], &input);
    assert_eq!((strict.code, *kinds(&strict.out).last().unwrap()), (3, "error"));
    assert!(strict.err.contains("--strict"), "{}", strict.err);
    // In a log, the message has its end already.
    let log = run(&["parse"], &input).out;
    let of_log = run(&["parse", "--strict"], &log);
    assert_eq!((of_log.code, of_log.err), (3, strict.err));
}

/// The status of `--strict` has its reason, and what no summary holds is not lost in silence.
#[test]
fn a_warning_after_the_last_message_is_told_once() {
    let input = streams().good + "data: {\"type\":\"late\"}\n\ndata: {\"type\":\"later\"}\n\n";
    for (args, code) in [
        (&["parse"][..], 0),
        (&["parse", "--strict"], 3),
        (&["classify"], 0),
        (&["classify", "--strict"], 3),
        (&["show"], 0),
        (&["convert", "--to", "gemini", "--strict"], 3),
    ] {
        let run = run(args, &input);
        let said = "toolstream: standard input: after a message: unknown_event: ";
        assert_eq!((run.code, run.err.matches(said).count()), (code, 1), "{args:?} {}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{args:?} {}", run.err);
    }
}

#[test]
fn a_choice_can_be_followed() {
    let two =
        streams().good + &streams().good.replace("\"index\":0", "\"index\":1").replace("Hi", "Ho");
    let two = two.replacen(DONE, "", 1);
    let all = run(&["parse"], &two).out;
    assert_eq!(run(&["parse", "--choice", "all"], &two).out, all);
    let texts = |out: &str| -> Vec<String> {
        lines(out).iter().filter_map(|line| Some(line.get("text")?.as_str()?.to_owned())).collect()
    };
    assert_eq!(texts(&all), ["Hi", "Ho"]);
    assert_eq!(texts(&run(&["parse", "--choice", "1"], &two).out), ["Ho"]);
    assert_eq!(texts(&run(&["classify"], &two).out), ["Hi"]);
    assert_eq!(texts(&run(&["classify", "--choice", "1"], &two).out), ["Ho"]);
}

#[test]
fn raw_shows_what_has_no_meaning() {
    let input = streams().good.replace(DONE, "data: {\"type\":\"billing\"}\n\ndata: [DONE]\n\n");
    assert!(!kinds(&run(&["parse"], &input).out).contains(&"provider_event"));
    assert!(kinds(&run(&["parse", "--raw"], &input).out).contains(&"provider_event"));
}

#[test]
fn timing_is_in_every_line_and_never_falls() {
    for command in ["parse", "classify"] {
        let run = run(&[command, "--timing"], &streams().with_call);
        let times: Vec<_> =
            lines(&run.out).iter().map(|line| line["t_ms"].as_u64().unwrap()).collect();
        assert!(times.is_sorted(), "{times:?}");
    }
}

#[test]
fn deltas_are_joined_on_demand() {
    let input =
        streams().good.replacen("data:", &format!("{}{}data:", text("Hi"), text(" there, ")), 1);
    let texts = |out: &str| kinds(out).iter().filter(|kind| **kind == "text").count();
    assert_eq!(texts(&run(&["parse"], &input).out), 3);
    assert_eq!(texts(&run(&["parse", "--join"], &input).out), 1);
}

#[test]
fn deltas_of_calls_are_printed_on_demand() {
    let input = &streams().with_call;
    assert_eq!(kinds(&run(&["parse"], input).out), ["start", "tool_call", "finish_reason"]);
    assert_eq!(
        kinds(&run(&["parse", "--deltas"], input).out),
        ["start", "tool_call_start", "tool_call_delta", "tool_call", "finish_reason"]
    );
}

#[test]
fn values_of_arguments_are_printed_while_they_stream() {
    let arguments = r#"{"file":"a.txt","lines":[1,"tw"#;
    let input = [calls(&[(0, "edit", arguments)]), calls(&[(0, "edit", r#"o"]}"#)])].concat();
    let values = |args: &[&str]| {
        let out = run(args, &input).out;
        out.lines()
            .filter(|line| line.contains("tool_call_"))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    assert_snapshot!(values(&["parse", "--values"]), @r#"
    {"type":"tool_call_value","index":0,"path":"/file","text":"a.txt"}
    {"type":"tool_call_value","index":0,"path":"/lines/0","value":1}
    {"type":"tool_call_value","index":0,"path":"/lines/1","text":"tw"}
    {"type":"tool_call_value","index":0,"path":"/lines/1","text":"o"}
    "#);
    assert_snapshot!(values(&["parse", "--values", "--join"]), @r#"
    {"type":"tool_call_value","index":0,"path":"/file","text":"a.txt"}
    {"type":"tool_call_value","index":0,"path":"/lines/0","value":1}
    {"type":"tool_call_value","index":0,"path":"/lines/1","text":"two"}
    "#);
}

/// Its deltas give the values again.
#[test]
fn values_of_a_log_with_deltas_come_once() {
    let log = run(&["parse", "--deltas", "--values"], &streams().with_call).out;
    assert_eq!(run(&["parse", "--deltas", "--values"], &log).out, log);
    assert_snapshot!(run(&["show", "--with", "calls"], &log).out, @"▸ f  x: 1");
}

#[test]
fn show_is_for_people() {
    let streams = streams();
    assert_eq!(run(&["show"], &streams.good).out, "Hi\n");
    let input = [text("Wait."), streams.with_call].concat();
    assert_eq!(run(&["show"], &input).out, "Wait.\n");
    assert_snapshot!(run(&["show", "--with", "text,calls"], &input).out, @"
    Wait.
    ▸ f  x: 1
    ");
    let colored = run(&["show", "--with", "calls", "--color", "always"], &input).out;
    assert_eq!(colored, "\u{1b}[2m▸ \u{1b}[0m\u{1b}[1mf\u{1b}[0m  \u{1b}[2mx: \u{1b}[0m1\n");
    let truncated = run(&["show"], &streams.truncated);
    assert_eq!((truncated.code, truncated.out.as_str()), (4, "Hi\n"));
    assert!(truncated.err.contains("the input ended before"), "{}", truncated.err);
}

#[test]
fn files_are_shown_apart() {
    let folder = folder(&[("a", &streams().good), ("b", &text("Ho"))]);
    assert_eq!(run_in(folder.path(), &["show", "a", "b"], "").out, "Hi\nHo\n");
    let all = run_in(folder.path(), &["show", "--with", "text,usage", "a", "b"], "").out;
    assert_snapshot!(all, @"
    ── a ──
    Hi
    m
    ── b ──
    Ho
    m
    ");
}

#[test]
fn detect_says_why() {
    let streams = streams();
    assert_snapshot!(run(&["detect"], &streams.good).out, @r#"
    format   openai-chat
    framing  sse
    because  the framing is server-sent events
             the first record has object "chat.completion.chunk"
             the first record has choices
    "#);
    assert_snapshot!(run(&["detect"], "Hello.\n").out, @"
    format   text
    framing  text
    because  the framing is plain text, as it comes
    ");
}

#[test]
fn detect_as_json() {
    let folder = folder(&[("a", &streams().good), ("b", "Hello.\n")]);
    let run = run_in(folder.path(), &["detect", "--json", "a", "b"], "");
    let rows: Vec<_> = lines(&run.out);
    let row = |row: &Value| {
        ["file", "format", "framing"].map(|key| row[key].as_str().unwrap().to_owned()).join(" ")
    };
    assert_eq!(rows.iter().map(row).collect::<Vec<_>>(), ["a openai-chat sse", "b text text"]);
    assert!(rows.iter().all(|row| row["evidence"].is_array() && row["alternatives"].is_array()));
}

#[test]
fn detect_has_the_status_of_what_it_found() {
    assert_eq!(run(&["detect"], &streams().truncated).code, 0);
    assert_eq!(run(&["detect"], streams().unknown).code, 3);
    assert_eq!(run(&["detect"], "").code, 4);
    assert_eq!(run(&["detect", "none"], "").code, 2);
}

#[test]
fn frames_are_lines() {
    let input = "event: a\nid: 7\ndata: x\ndata: y\n\n: ping\n\ndata: {\"z\":1}\n\n";
    let run = run(&["frames", "-F", "sse"], input);
    assert_snapshot!(run.out, @r#"
    {"event":"a","data":"x\ny","id":"7","offset":0}
    {"data":"{\"z\":1}","id":"7","offset":40}
    "#);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
}

#[test]
fn frames_of_values() {
    let expected = "{\"data\":\"{\\\"a\\\":1}\",\"offset\":0}\n";
    assert_eq!(run(&["frames"], "{\"a\":1}\n").out, expected);
    assert_eq!(run(&["frames"], "[{\"a\":1}]").out, expected.replace(":0}", ":1}"));
    assert_eq!(run(&["frames"], "{\"a\":1}").out, expected);
}

#[test]
fn frames_end_with_an_error_where_the_framing_breaks() {
    for (input, code) in [("", 4), ("data: {}\n\ndata: {\"a", 4), ("<!DOCTYPE html>\n", 3)] {
        let run = run(&["frames"], input);
        assert_eq!(run.code, code, "{input:?}: {}", run.out);
        assert_eq!(
            code != 0,
            run.out.lines().last().is_some_and(|line| kind_or_none(line) == "error")
        );
    }
    let strict = run(&["frames", "--strict"], "data: {}\n\ndata: {}");
    let frames = strict.out.lines().filter(|line| kind_or_none(line) != "error").count();
    assert_eq!(frames, 1, "what the end cut is dropped: {}", strict.out);
}

fn kind_or_none(line: &str) -> &str {
    if line.starts_with("{\"type\"") { kind(line) } else { "" }
}

/// The line on standard error counts what all inputs hold; without it, there is none.
#[test]
fn a_sum_counts_all_inputs() {
    let usage = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\
                 \"choices\":[],\"usage\":{\"prompt_tokens\":1200,\"completion_tokens\":3}}\n\n";
    let call = "{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\
                \"arguments\":\"{}\"}}]}";
    let text = format!("{}{usage}", chunk("{\"content\":\"Hi\"}", "\"stop\""));
    let call = chunk(call, "\"tool_calls\"");
    let folder = folder(&[("a", &text), ("b", &call), ("c", &text), ("d", &call[..60])]);
    let names = ["a", "b", "c", "d"];
    for jobs in ["1", "3"] {
        let args = [&["classify", "--sum", "-j", jobs], &names[..]].concat();
        let run = run_in(folder.path(), &args, "");
        let sum = "toolstream: 4 messages: 1 error, 2 final_answer, 1 tool_calls; \
                   2,400 tokens in, 6 out (2 messages without usage); calls: f 1";
        assert_eq!(run.err.lines().last(), Some(sum), "{}", run.err);
        assert_eq!((run.code, run.out.lines().count()), (4, 4));
    }
    let run = run_in(folder.path(), &["classify", "a", "c"], "");
    assert_eq!(run.err, "");
}

/// A log that was written with --timing is read as it was, and what is joined has the first time.
#[test]
fn times_of_a_log_are_printed_again() {
    let stream = streams().good;
    for args in [&["parse", "--timing"][..], &["parse", "--timing", "--deltas", "--values"]] {
        let log = run(args, &stream).out;
        assert!(lines(&log).iter().all(|line| line["t_ms"].is_u64()), "{log}");
        assert_eq!(run(&["parse"], &log).out, log);
    }
    let at = |time: u64, line: &str| line.replace('}', &format!(",\"t_ms\":{time}}}\n"));
    let log = [
        at(1, r#"{"type":"start","v":1,"format":"openai-chat","framing":"sse"}"#),
        at(2, r#"{"type":"text","text":"H"}"#),
        at(3, r#"{"type":"text","text":"i"}"#),
        at(4, r#"{"type":"usage","input_tokens":3,"raw":0}"#),
        at(5, r#"{"type":"finish_reason","finish_reason":"stop"}"#),
    ]
    .concat();
    assert_eq!(run(&["parse"], &log).out, log);
    let times = |args: &[&str]| -> Vec<u64> {
        lines(&run(args, &log).out).iter().filter_map(|line| line["t_ms"].as_u64()).collect()
    };
    assert_eq!(times(&["parse", "--join"]), [1, 2, 4, 5]);
    assert_eq!(times(&["classify"]), [5]);
}

/// Usage comes before the end of the first choice, which is the last; others have it as well.
#[test]
fn a_choice_of_a_log_keeps_its_usage() {
    let log = [
        r#"{"type":"start","v":1,"format":"openai-chat","framing":"sse"}"#,
        r#"{"type":"text","text":"Hi"}"#,
        r#"{"type":"text","text":"Ho","choice":1}"#,
        r#"{"type":"finish_reason","finish_reason":"length","choice":1}"#,
        r#"{"type":"usage","input_tokens":3,"raw":{}}"#,
        r#"{"type":"finish_reason","finish_reason":"stop"}"#,
    ]
    .map(|line| format!("{line}\n"))
    .concat();
    assert_eq!(run(&["parse"], &log).out, log);
    for (choice, text, reason) in [("0", "Hi", "stop"), ("1", "Ho", "length")] {
        let run = run(&["classify", "--choice", choice], &log);
        let summary = &lines(&run.out)[0];
        let got = (&summary["text"], &summary["finish_reason"], &summary["usage"]["input_tokens"]);
        assert_eq!(got, (&text.into(), &reason.into(), &3.into()), "{}", run.out);
        assert_eq!(run.out.lines().count(), 1);
    }
    assert_eq!(run(&["classify", "--choice", "2"], &log).code, 4);
}

#[test]
fn formats_name_every_row() {
    let table = run(&["formats"], "").out;
    let json: Value = serde_json::from_str(&run(&["formats", "--json"], "").out).unwrap();
    for list in ["framings", "formats", "dialects", "programs"] {
        let rows = json[list].as_array().unwrap();
        assert!(!rows.is_empty(), "{list}");
        for row in rows {
            let name = row["name"].as_str().unwrap();
            assert!(table.lines().any(|line| line.starts_with(name)), "{name}");
        }
    }
}

#[test]
fn formats_of_a_name_are_all_of_it() {
    assert_snapshot!(run(&["formats", "google_gemini"], "").out, @"
    format       gemini
    also called  google, google-gemini, vertex
    about        Google Gemini generateContent, stream and body
    written by   convert --to, next and agent
    told by      candidates, usageMetadata, promptFeedback, response, modelVersion, responseId
    see          https://ai.google.dev/api/generate-content
    ");
    assert_snapshot!(run(&["formats", "mlx-lm"], "").out, @"
    program      mlx_lm
    also called  mlx_lm.generate
    about        mlx_lm.generate
    see          https://github.com/ml-explore/mlx-lm/blob/main/mlx_lm/generate.py
    ");
    assert_snapshot!(run(&["formats", "text"], "").out, @"
    framing      text
    about        plain text, as it comes

    format       text
    also called  plain, plain-text
    about        plain text, as a model's process prints it
    written by   next and agent
    see          https://www.unicode.org/versions/latest/core-spec/chapter-3/#G31703
    ");
    let json: Value =
        serde_json::from_str(&run(&["formats", "--json", "qwen3_coder"], "").out).unwrap();
    assert_eq!(json["dialects"][0]["name"], "qwen3_coder");
    assert_eq!(
        (&json["formats"], &json["framings"]),
        (&Value::Array(vec![]), &Value::Array(vec![]))
    );
}

#[test]
fn the_manual_is_the_manual() {
    let man = run(&["man"], "");
    assert!(man.code == 0 && man.out.contains(".TH TOOLSTREAM 1"), "{}", man.out);
}

#[test]
fn an_empty_pipe_says_where_to_look() {
    for command in ["parse", "classify", "frames", "detect"] {
        let run = run(&[command], "");
        assert_eq!(
            run.err,
            "toolstream: standard input: the input is empty: the program before the pipe may have \
             failed (`curl -sS` shows why)\n",
            "{command}"
        );
        let folder = folder(&[("a", "")]);
        let file = run_in(folder.path(), &[command, "a"], "");
        assert!(file.code == 4 && !file.err.contains("curl"), "{command}: {}", file.err);
    }
    let unknown = run(&["detect"], streams().unknown).err;
    assert!(unknown.contains("not recognised") && unknown.contains("-f NAME"), "{unknown}");
    let page = run(&["detect"], "<html>502 Bad Gateway</html>").err;
    assert!(page.contains("HTML") && !page.contains("-f NAME"), "{page}");
}

#[test]
fn the_schema_is_a_schema() {
    let run = run(&["schema"], "");
    let schema: Value = serde_json::from_str(&run.out).unwrap();
    assert!(schema["$schema"].as_str().unwrap().contains("json-schema.org"));
    assert_eq!(run.code, 0);
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = run(&["completions", shell], "");
        assert_eq!(run.code, 0, "{shell}");
        assert!(run.out.contains("toolstream") && run.out.contains("classify"), "{shell}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell], "").out;
        for word in ["openai-chat", "ai-data", "hermes"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

/// Help has the commands in their groups, and of a command its own options, three examples, then what
/// it shares with others.
#[test]
fn help_is_scanned_from_above() {
    let page = run(&["--help"], "").out;
    let find = |page: &str, text: &str| {
        page.find(text).unwrap_or_else(|| panic!("there is no {text:?} in:\n{page}"))
    };
    let titles =
        ["Reading:", "Agents:", "Transcoding:", "Captures:", "About:", "Options:", "Examples:"];
    assert!(titles.map(|title| find(&page, &format!("\n{title}\n"))).is_sorted(), "{page}");
    let command = Cli::command();
    for command in command.get_subcommands().map(|command| command.get_name()) {
        find(&page, &format!("\n  {command} "));
        let help = run(&[command, "--help"], "").out;
        assert_eq!(help, run(&["help", command], "").out);
        if matches!(command, "schema" | "man" | "completions") {
            continue;
        }
        let (_, rest) =
            help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{command}: {help}"));
        let examples = rest.split("\n\n").take_while(|part| part.starts_with("  ")).count();
        assert!(examples >= 3, "{command} has {examples} examples: {help}");
        let places = ["\nUsage: ", "\nOptions:\n", "\nExamples:\n"].map(|part| find(&help, part));
        assert!(places.is_sorted(), "{help}");
        if let (Some(reading), Some(limits)) = (help.find("\nReading:\n"), help.find("\nLimits:\n"))
        {
            assert!(places[2] < reading && reading < limits, "{help}");
        }
    }
}

#[test]
fn help_teaches() {
    let short = run(&["-h"], "").out;
    assert!(short.contains("classify") && !short.contains("Examples:"), "{short}");
    for command in ["parse", "classify", "frames"] {
        let short = run(&[command, "-h"], "").out;
        let long = run(&[command, "--help"], "").out;
        assert!(short.contains("ai-data") && long.contains("ai-data"), "{command}: {short}");
        assert!(short.lines().count() < long.lines().count(), "{command}: {short}");
        assert!(long.lines().count() < 130, "{command}: {}", long.lines().count());
    }
    let help = run(&["--help"], "");
    for part in ["Examples:", "Exit status:", "parse", "classify", "detect", "curl -sN"] {
        assert!(help.out.contains(part), "{part}: {}", help.out);
    }
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    for command in ["parse", "classify", "frames"] {
        let help = run(&[command, "--help"], "").out;
        assert!(help.contains("Examples:") && help.contains("--max-event"), "{command}: {help}");
    }
    for command in ["detect", "formats", "schema", "man", "completions"] {
        assert_eq!(run(&[command, "--help"], "").code, 0, "{command}");
    }
    assert_eq!(
        run(&["--version"], "").out,
        concat!("toolstream ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn messages_are_harmless() {
    let folder = folder(&[]);
    let name = "a\u{1b}[2J\u{202e}";
    let run = run_in(folder.path(), &["parse", name], "");
    assert!(run.err.contains("a\\u001b[2J\\u202e") && !run.err.contains('\u{1b}'), "{}", run.err);
    let word = "\u{1b}]0;x\u{7}\u{202e}sk-abcdefgh12345678";
    for args in [["parse", "--format", word], ["--max-depth", word, "parse"], [word, "", ""]] {
        let run = self::run(&args, "");
        let is_harmful = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(run.code == 2 && !run.err.contains(is_harmful), "{:?}", run.err);
        assert!(!run.err.contains("12345678"), "{:?}", run.err);
    }
    let body = "{\"error\":{\"message\":\"bad key sk-abcdefgh12345678 \\u001b[2J\"}}";
    let failed = self::run(&["parse"], body);
    assert!(failed.err.contains("sk-*** \\u001b[2J"), "{}", failed.err);
}
