//! `classify --rows`: rows in, the same rows with their summaries out.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use assert_cmd::Command;
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolstream");

const ANSWER: &str = "{\"type\":\"final_answer\",\"text\":\"Hi\",\"tool_calls\":[],\"finish_reason\":\"stop\",\
    \"inferred\":true,\"format\":\"text\",\"complete\":true}";

fn run(args: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut command = Command::new(PROGRAM);
    let output = command.arg("classify").args(args).write_stdin(input).output().unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// The row that comes out; `@` is the summary of the text "Hi".
#[track_caller]
fn check(args: &[&str], row: &str, expected: &str) {
    let (code, out, err) = run(args, row.as_bytes());
    assert_eq!(
        (out.trim_end_matches('\n'), err.as_str(), code),
        (&*expected.replace('@', ANSWER), "", 0)
    );
}

/// The error of a row's answer, and what it is besides; the run is a success without --exit-code.
#[track_caller]
fn check_bad(args: &[&str], row: &[u8], code: &str, message: &str, expected: &Value) {
    let err = check_error(0, args, row, code, message, expected);
    assert!(err.ends_with("1 of 1 rows hold no good answer\n"), "{err}");
}

/// The same of a run in which no row has the field, which is a mistake.
#[track_caller]
fn check_without(args: &[&str], row: &[u8], message: &str, expected: &Value) {
    let err = check_error(3, args, row, "malformed", message, expected);
    assert!(err.ends_with(": none has the field that --rows names\n"), "{err}");
}

#[track_caller]
fn check_error(
    status: i32,
    args: &[&str],
    row: &[u8],
    code: &str,
    message: &str,
    expected: &Value,
) -> String {
    let (ended, out, err) = run(args, row);
    assert_eq!(ended, status, "{err}");
    assert!(err.contains("row 1: "), "{err}");
    let mut got: Value = serde_json::from_str(&out).unwrap();
    let answer = got.as_object_mut().unwrap().remove("answer").unwrap();
    assert_eq!(answer["type"], "error");
    assert_eq!(answer["error"]["code"], code);
    let text = answer["error"]["message"].as_str().unwrap();
    assert!(text.contains(message), "{text}");
    assert_eq!(&got, expected);
    err
}

#[test]
fn what_is_guessed_of_a_row_is_warned_of() {
    let codes = |row: &str| {
        let (code, out, _) = run(&["--rows", "/a/b"], row.as_bytes());
        let row: Value = serde_json::from_str(&out).unwrap();
        let answer = &row["a"]["answer"];
        assert_eq!((code, answer["type"].as_str()), (0, Some("final_answer")), "{out}");
        let warnings = answer["warnings"].as_array().cloned().unwrap_or_default();
        let codes = warnings.iter().map(|warning| warning["code"].clone()).collect();
        (answer["text"].as_str().unwrap().to_owned(), Value::Array(codes))
    };
    let check = |row: &str, text: &str, expected: Value| {
        assert_eq!(codes(row), (text.to_owned(), expected), "{row}");
    };
    check(r#"{"a":{"b":"Hi"}}"#, "Hi", json!([]));
    check(r#"{"a":{"b":"Hi \ud83d"}}"#, "Hi \u{fffd}", json!(["invalid_text"]));
    check(r#"{"a":{"b":"Ho","b":"Hi"}}"#, "Hi", json!(["duplicate_key"]));
    check(r#"{"a":{"b":"Ho"},"a":{"b":"Hi"}}"#, "Hi", json!(["duplicate_key"]));
    check(r#"{"x":1,"x":2,"a":{"b":"Hi"}}"#, "Hi", json!([]));
}

#[test]
fn all_other_bytes_of_a_row_stay() {
    check(&["--rows", "b"], r#"{"b":"Hi"}"#, r#"{"answer":@}"#);
    check(
        &["--rows", "b"],
        " { \"a\" : 1.50 ,\t\"b\" : \"Hi\" , \"c\":[1e2, \"\\u0041\"] } \r\n",
        " { \"a\" : 1.50 ,\t\"answer\":@ , \"c\":[1e2, \"\\u0041\"] } \r",
    );
    check(&["--rows", "answer"], r#"{"answer":"Hi"}"#, r#"{"answer":@}"#);
    check(&["--rows", "a b"], r#"{"a\u0020b":"Hi"}"#, r#"{"answer":@}"#);
    check(&["--rows", "b"], "\u{feff}{\"b\":\"Hi\"}", r#"{"answer":@}"#);
    check(&["--rows", "b"], "\n \n", "\n ");
}

#[test]
fn a_pointer_leads_into_objects_and_arrays() {
    check(&["--rows", "/a/b"], r#"{"a":{"b":"Hi"}}"#, r#"{"a":{"answer":@}}"#);
    check(&["--rows", "/a/1/b"], r#"{"a":[0,{"b":"Hi"}]}"#, r#"{"a":[0,{"answer":@}]}"#);
    check(&["--rows", "/a/1"], r#"{"a":[0,"Hi" ]}"#, r#"{"a":[0,@ ]}"#);
    check(&["--rows", "/a~1b~0c"], r#"{"a/b~c":"Hi"}"#, r#"{"answer":@}"#);
}

#[test]
fn answers_are_text_bodies_or_base64() {
    check(&["--rows", "b", "--base64"], r#"{"b":"SGk="}"#, r#"{"answer":@}"#);
    check(&["--rows", "b", "--base64"], r#"{"b":"SG\r\nk"}"#, r#"{"answer":@}"#);
    let body = json!({"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]});
    for row in [json!({"b": body}), json!({"b": body.to_string()})] {
        let (code, out, err) = run(&["--rows", "b"], row.to_string().as_bytes());
        let answer: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((answer["answer"]["format"].as_str(), code), (Some("openai-chat"), 0), "{err}");
    }
}

#[test]
fn a_bad_row_costs_nothing_else() {
    let rows = ["--rows", "b"];
    check_without(&rows, br#"{"id":1}"#, "the row has no `b`; it has \"id\"", &json!({"id": 1}));
    check_without(&rows, b"{ }", "the row has no `b`, and no other member", &json!({}));
    check_without(&["--rows", "/b/c"], br#"{"b":1}"#, "no `/b/c`", &json!({"b": 1}));
    let body = json!({"id": 1, "body": "Hi", "more": {"body": "Hi"}});
    for (field, hint) in [
        (".body", "the row has no `.body`: here it is `body`"),
        (".more.body", "here it is `/more/body`"),
        ("boddy", "the row has no `boddy`; it has \"body\""),
    ] {
        check_without(&["--rows", field], body.to_string().as_bytes(), hint, &body);
    }
    check_bad(&rows, br#"{"id":1,"b":null}"#, "malformed", "is not text", &json!({"id": 1}));
    check_bad(&rows, br#"{"b":7}"#, "malformed", "is not text", &json!({}));
    check_bad(&rows, br#"{"b":"","z":1}"#, "truncated", "empty", &json!({"z": 1}));
    check_without(&rows, b"[1]", "no JSON object", &json!({}));
    check_without(&rows, b"{\"b\":\"Hi\"", "not JSON", &json!({}));
    check_bad(&rows, b"{\"b\":\"\xff\"}", "malformed", "not UTF-8", &json!({}));
    check_bad(&rows, br#"{"answer":1,"b":"Hi"}"#, "malformed", "already", &json!({}));
    check_bad(&["--rows", "b", "--base64"], br#"{"b":"%"}"#, "malformed", "base64", &json!({}));
    check_bad(&["--rows", "b", "--base64"], br#"{"b":{}}"#, "malformed", "not text", &json!({}));
    let message = r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;
    let two = json!({"b": format!("{message}\n{message}\n"), "z": 1}).to_string();
    check_bad(&rows, two.as_bytes(), "malformed", "2 messages", &json!({"z": 1}));
}

#[test]
fn a_row_that_is_too_large_is_left_out() {
    let large = "x".repeat(300_000);
    let input = format!("{{\"b\":\"Hi\"}}\n{{\"b\":\"{large}\"}}\n{{\"b\":\"Hi\"}}\n");
    for limit in ["40", "200k"] {
        let (code, out, err) = run(&["--rows", "b", "--max-event", limit], input.as_bytes());
        let rows: Vec<Value> = out.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
        let kinds: Vec<_> =
            rows.iter().map(|row| row["answer"]["type"].as_str().unwrap()).collect();
        assert_eq!(
            (kinds.as_slice(), code),
            (&["final_answer", "error", "final_answer"][..], 0),
            "{err}"
        );
        assert_eq!(rows[1]["answer"]["error"]["code"], "limit");
        assert!(err.contains("row 2: the row is larger than --max-event"), "{err}");
    }
}

#[test]
fn rows_stay_in_order_and_are_the_same_for_any_number_of_threads() {
    let mut input = String::new();
    for id in 0..3000_usize {
        let text = "word ".repeat(1 + id * 7919 % 60);
        writeln!(input, "{{\"id\":{id},\"b\":\"{text}\"}}").unwrap();
    }
    let (code, out, err) = run(&["--rows", "b"], input.as_bytes());
    assert_eq!((code, err.as_str()), (0, ""));
    for (id, row) in out.lines().enumerate() {
        assert!(row.starts_with(&format!("{{\"id\":{id},\"answer\":{{\"type\"")), "{row}");
    }
    for threads in ["2", "3", "16"] {
        assert!(run(&["--rows", "b", "-j", threads], input.as_bytes()).1 == out, "-j {threads}");
    }
}

#[test]
fn only_exit_code_makes_failures_of_rows() {
    let rows =
        "{\"b\":\"Hi\"}\n{\"b\":\"data: {\\\"error\\\":{\\\"message\\\":\\\"no\\\"}}\\n\\n\"}\n";
    assert_eq!(run(&["--rows", "b"], rows.as_bytes()).0, 0);
    assert_eq!(run(&["--rows", "b", "--exit-code"], rows.as_bytes()).0, 5);
    assert_eq!(run(&["--rows", "b", "nowhere.ndjson"], b"").0, 2);
    assert_eq!(run(&["--rows", "b", "--timing"], b"").0, 2);
    assert_eq!(run(&["--base64"], b"").0, 2);
}

#[test]
fn ten_bad_rows_are_named_and_the_rest_are_counted() {
    let (code, _, err) = run(&["--rows", "b"], "{}\n".repeat(1000).as_bytes());
    assert_eq!((err.lines().count(), code), (11, 3), "{err}");
    let sum = "toolstream: 1000 of 1000 rows hold no good answer: none has the field";
    assert!(err.lines().last().unwrap().starts_with(sum), "{err}");
}

#[test]
fn a_sum_counts_the_messages_of_rows() {
    let rows = "{\"b\":\"Hi\"}\n{\"b\":{\"choices\":[{\"message\":{\"content\":\"Hi\"},\
                \"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1200}}}\n{}\n";
    let sum = "toolstream: 3 messages: 1 error, 2 final_answer; 1,200 tokens in, 0 out \
               (2 messages without usage)";
    for threads in ["1", "3"] {
        let (code, _, err) = run(&["--rows", "b", "--sum", "-j", threads], rows.as_bytes());
        assert_eq!((err.lines().last(), code), (Some(sum), 0), "{err}");
    }
}

#[test]
fn each_row_is_written_before_the_next_one_is_there() {
    for threads in ["1", "2"] {
        let mut child = Process::new(PROGRAM)
            .args(["classify", "--rows", "b", "-j", threads])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for _ in 0..3 {
            stdin.write_all(b"{\"b\":\"Hi\"}\n").unwrap();
            assert_eq!(lines.next().unwrap().unwrap(), format!("{{\"answer\":{ANSWER}}}"));
        }
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn a_reader_that_leaves_and_a_full_disk_end_it() {
    let input = "{\"b\":\"Hi\"}\n".repeat(200_000);
    let script = "\"$0\" classify --rows b -j 2 | head -1 > /dev/null; echo ${PIPESTATUS[0]}";
    let mut command = Command::new("bash");
    command
        .args(["-c", script, PROGRAM])
        .timeout(Duration::from_secs(60))
        .write_stdin(input.clone());
    assert_eq!(String::from_utf8(command.output().unwrap().stdout).unwrap(), "141\n");
    let mut command = Command::new("bash");
    command.args(["-c", "\"$0\" classify --rows b -j 2 > /dev/full", PROGRAM]);
    let output = command.timeout(Duration::from_secs(60)).write_stdin(input).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(8), "{err}");
    assert!(err.contains("standard output"), "{err}");
}
