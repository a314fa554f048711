//! Pipes, signals, and output that can't be written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write, pipe};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

#[cfg(target_os = "linux")]
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::agents::scene::is_heard;

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolstream");

/// How long a test may hang; nothing is measured.
const GUARD: Duration = Duration::from_secs(10);

const FIRST: &str = "{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\
                     \"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}";
const LAST: &str = "{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\
                    \"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}";

/// The program with these arguments.
fn program(args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(args);
    command
}

/// A run whose input is still open.
struct Live {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Live {
    fn start(args: &[&str]) -> Self {
        let mut command = program(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || out.lines().try_for_each(|line| sender.send(line.unwrap())));
        Live { stdin: child.stdin.take(), child, lines }
    }

    fn write(&mut self, bytes: &str) {
        self.stdin.as_mut().unwrap().write_all(bytes.as_bytes()).unwrap();
    }

    /// The next line, though the input goes on.
    #[track_caller]
    fn line(&self) -> Value {
        let line = self.lines.recv_timeout(GUARD).expect("a line that is complete is written");
        serde_json::from_str(&line).unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends the input, and gives what is left.
    fn end(mut self) -> (Vec<Value>, ExitStatus, String) {
        drop(self.stdin.take());
        let lines = self.lines.iter().map(|line| serde_json::from_str(&line).unwrap()).collect();
        let mut err = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (lines, self.child.wait().unwrap(), err)
    }
}

/// What a line is, and what it says.
fn said(line: &Value) -> String {
    let text = ["text", "name", "data", "code"].iter().find_map(|key| line.get(key)?.as_str());
    format!("{} {}", line["type"].as_str().unwrap_or("frame"), text.unwrap_or_default())
        .trim_end()
        .to_owned()
}

/// When these bytes have been written, and nothing else, these lines are there.
#[track_caller]
fn check_live(args: &[&str], input: &str, expected: &[&str]) {
    let mut live = Live::start(args);
    live.write(input);
    for expected in expected {
        assert_eq!(said(&live.line()), *expected, "{args:?} {input:?}");
    }
    live.end();
}

#[test]
fn an_event_is_written_before_more_is_read() {
    for end in ["\n", "\r\n", "\r"] {
        check_live(&["parse"], &format!("data: {FIRST}{end}{end}"), &["start", "text Hi"]);
        check_live(
            &["frames"],
            &format!("event: x{end}data: {FIRST}{end}{end}"),
            &[&format!("frame {FIRST}")],
        );
    }
}

#[test]
fn a_value_is_written_before_more_is_read() {
    check_live(&["parse"], &format!("{FIRST}\n"), &["start", "text Hi"]);
    check_live(&["parse"], &format!("[{FIRST}"), &["start", "text Hi"]);
    check_live(&["parse", "-F", "json"], FIRST, &["start", "text Hi"]);
    check_live(&["parse"], &format!("HTTP/2 200 \r\n\r\ndata: {FIRST}\n\n"), &["start", "text Hi"]);
}

#[test]
fn text_is_written_before_more_is_read() {
    check_live(&["parse"], "Hi, ", &["start", "text Hi,"]);
    check_live(&["parse"], "if a < b", &["start", "text if a < b"]);
    // What may become a marker is held back, and nothing before it.
    check_live(&["parse", "-d", "hermes"], "Hi <tool_c", &["start", "text Hi"]);
    check_live(&["parse"], "<think>hm", &["start", "reasoning hm"]);
}

#[test]
fn a_call_is_written_when_it_is_closed() {
    let call = "<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>";
    check_live(&["parse"], call, &["start", "tool_call f"]);
    let call = format!("<function_calls>\n<invoke name=\"{}\">\n</invoke>", "f");
    check_live(&["parse"], &call, &["start", "tool_call f"]);
}

#[test]
fn a_summary_is_written_when_its_message_ends() {
    check_live(&["classify"], &format!("data: {LAST}\n\ndata: [DONE]\n\n"), &["final_answer"]);
}

#[test]
fn every_piece_of_a_live_stream_is_a_line() {
    let mut live = Live::start(&["parse"]);
    live.write(&format!("data: {FIRST}\n\n"));
    assert_eq!((said(&live.line()), said(&live.line())), ("start".into(), "text Hi".into()));
    for _ in 0..3 {
        live.write(&format!("data: {FIRST}\n\n"));
        assert_eq!(said(&live.line()), "text Hi");
    }
    live.write(&format!("data: {LAST}\n\ndata: [DONE]\n\n"));
    assert_eq!(said(&live.line()), "finish_reason");
    let (rest, status, err) = live.end();
    assert_eq!((rest.len(), status.code(), err.as_str()), (0, Some(0), ""));
}

/// A reader that leaves ends the program by SIGPIPE, in silence.
#[test]
fn a_reader_that_leaves() {
    for command in ["parse", "frames"] {
        let mut command = program(&[command]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut stdin, mut out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let feeder =
            thread::spawn(
                move || while stdin.write_all(format!("{FIRST}\n").as_bytes()).is_ok() {},
            );
        out.read_exact(&mut [0; 8]).unwrap();
        drop(out);
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        assert_eq!(output.status.signal(), Some(Signal::PIPE.as_raw()));
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    }
}

const COMMANDS: &[&[&str]] = &[
    &["parse"],
    &["parse", "--join"],
    &["classify"],
    &["classify", "-j", "2"],
    &["frames"],
    &["detect"],
    &["formats"],
    &["schema"],
    &["completions", "bash"],
    &["--help"],
    &["--version"],
];

/// Output that can't be written ends each command with status 8, and is said.
#[track_caller]
fn check_lost(run: impl Fn(&[&str]) -> Output) {
    for args in COMMANDS {
        let output = run(args);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(8), "{args:?}: {err}");
        assert!(err.contains("standard output"), "{args:?}: {err}");
    }
}

/// A file with a short stream.
fn stream() -> (TempDir, String) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("stream").display().to_string();
    fs::write(&path, format!("data: {FIRST}\n\ndata: {LAST}\n\ndata: [DONE]\n\n")).unwrap();
    (folder, path)
}

#[test]
fn a_disk_that_is_full() {
    let (_folder, path) = stream();
    check_lost(|args| {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        program(args).stdin(File::open(&path).unwrap()).stdout(full).output().unwrap()
    });
}

/// Each command ends well with its standard output redirected like this, and says nothing.
#[track_caller]
fn check_unwanted(redirection: &str) {
    let (_folder, path) = stream();
    for args in COMMANDS {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("\"$@\" {redirection}"), "sh", PROGRAM]).args(*args);
        let output = shell.stdin(File::open(&path).unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?} {redirection}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?} {redirection}");
    }
}

/// Python's `subprocess.DEVNULL` and Node's `ignore` open /dev/null for both, and what is closed
/// when Rust starts becomes the same.
#[test]
fn an_output_that_nobody_wants() {
    check_unwanted(">/dev/null");
    check_unwanted("1<>/dev/null");
    check_unwanted(">&-");
}

#[test]
fn an_input_that_is_closed_is_empty() {
    for command in ["parse", "classify", "frames", "detect"] {
        let output =
            Command::new("sh").args(["-c", "\"$@\" <&-", "sh", PROGRAM, command]).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{command}");
    }
}

#[test]
fn an_input_that_is_a_folder() {
    let folder = TempDir::new().unwrap();
    for command in ["parse", "classify", "frames", "detect"] {
        let output =
            program(&[command]).stdin(File::open(folder.path()).unwrap()).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(8), 0), "{command}");
        assert_eq!(err, "toolstream: standard input: is a directory\n");
    }
}

#[test]
fn an_input_that_does_not_block_and_a_late_writer() {
    let (reader, mut writer) = pipe().unwrap();
    ioctl_fionbio(&reader, true).unwrap();
    let child = program(&["parse"])
        .stdin(reader)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let feeder = thread::spawn(move || {
        for piece in [FIRST, "\n", LAST, "\n"] {
            thread::sleep(Duration::from_millis(50));
            writer.write_all(piece.as_bytes()).unwrap();
        }
    });
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), out.lines().count()), (Some(0), 3), "{out}");
}

#[test]
fn a_request_that_comes_late_from_an_input_that_does_not_block() {
    let (reader, mut writer) = pipe().unwrap();
    ioctl_fionbio(&reader, true).unwrap();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("request");
    fs::write(&path, "{\"messages\":[]}").unwrap();
    let mut command = program(&["next", "--user", "-", path.to_str().unwrap(), "/dev/null"]);
    let child = command.stdin(reader).stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_millis(50));
    writer.write_all(b"Hi").unwrap();
    drop(writer);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.starts_with("toolstream: /dev/null: the input is empty"), "{err}");
}

#[test]
fn an_output_that_does_not_block_and_a_slow_reader() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("stream");
    let lines = 20_000;
    fs::write(&path, format!("{}{LAST}\n", format!("{FIRST}\n").repeat(lines))).unwrap();
    let (mut reader, writer) = pipe().unwrap();
    ioctl_fionbio(&writer, true).unwrap();
    let mut child = {
        let mut command = program(&["parse"]);
        command.stdin(File::open(&path).unwrap()).stdout(writer).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    // The pipe is full long before anybody reads.
    thread::sleep(Duration::from_millis(200));
    let mut out = String::new();
    reader.read_to_string(&mut out).unwrap();
    assert_eq!(out.lines().count(), lines + 2);
    assert!(out.lines().all(|line| line.starts_with('{') && line.ends_with('}')));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A signal ends the open message, if one is open, and then the program.
#[track_caller]
fn check_signal(args: &[&str], signal: Signal, input: &str, expected: &[&str]) {
    let mut live = Live::start(args);
    live.write(input);
    let mut got = Vec::new();
    if args == ["parse"] {
        got.push(said(&live.line()));
    } else {
        // Nothing tells that a summary has begun: a little time has to do.
        thread::sleep(Duration::from_millis(200));
    }
    live.signal(signal);
    let rest: Vec<_> = live.lines.iter().map(|line| serde_json::from_str(&line).unwrap()).collect();
    got.extend(rest.iter().map(said));
    let (_, status, err) = live.end();
    assert_eq!(got, expected, "{signal:?}");
    assert_eq!(status.signal(), Some(signal.as_raw()), "{signal:?}");
    let is_cut = expected.last().is_some_and(|last| last.starts_with("error"));
    assert_eq!(err.contains("signal"), is_cut, "{err}");
    if is_cut && args == ["classify"] {
        let error = rest.last().and_then(|line| line["error"]["code"].as_str());
        assert_eq!(error, Some("interrupted"));
    }
}

#[test]
fn a_signal_in_mid_stream() {
    let input = format!("data: {FIRST}\n\ndata: {{\"id\"");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP].into_iter().filter(|s| is_heard(*s)) {
        check_signal(&["parse"], signal, &input, &["start", "text Hi", "error interrupted"]);
        check_signal(&["classify"], signal, &input, &["error Hi"]);
    }
}

/// No message is open: there is none to end.
#[test]
fn a_signal_between_messages() {
    let input = format!("data: {FIRST}\n\ndata: {LAST}\n\ndata: [DONE]\n\n");
    let expected = ["start", "text Hi", "finish_reason"];
    check_signal(&["parse"], Signal::TERM, &input, &expected);
    check_signal(&["classify"], Signal::TERM, &input, &["final_answer Hi"]);
}

#[test]
fn a_signal_inside_a_call() {
    let call = "<function_calls>\n<invoke name=\"f\">\n<parameter name=\"x\">1";
    let expected = ["start", "invalid_tool_call f", "error interrupted"];
    check_signal(&["parse"], Signal::TERM, call, &expected);
}

/// A named pipe is read when a writer comes; a signal ends the wait for one.
#[cfg(target_os = "linux")]
#[test]
fn a_named_pipe_without_a_writer() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("pipe");
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
    let args = ["parse", path.to_str().unwrap()];
    let live = Live::start(&args);
    thread::sleep(Duration::from_millis(200));
    live.signal(Signal::TERM);
    let (lines, status, _) = live.end();
    assert_eq!(lines.last().unwrap()["code"], "interrupted");
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()));

    let live = Live::start(&args);
    let mut writer = OpenOptions::new().write(true).open(&path).unwrap();
    for part in [format!("data: {FIRST}\n"), format!("\ndata: {LAST}\n\ndata: [DONE]\n\n")] {
        writer.write_all(part.as_bytes()).unwrap();
        thread::sleep(Duration::from_millis(50));
    }
    drop(writer);
    let (lines, status, err) = live.end();
    assert_eq!(lines.iter().map(said).collect::<Vec<_>>(), ["start", "text Hi", "finish_reason"]);
    assert_eq!((status.code(), err.as_str()), (Some(0), ""));
}

#[test]
fn a_signal_before_anything_came() {
    let live = Live::start(&["parse"]);
    thread::sleep(Duration::from_millis(200));
    live.signal(Signal::TERM);
    let rest: Vec<_> = live.lines.iter().collect();
    let (_, status, _) = live.end();
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()));
    assert!(rest.last().is_some_and(|line| line.contains("\"interrupted\"")), "{rest:?}");
}

/// Little memory, few descriptors, no home and no language: what the program
/// needs is there all the same.
#[test]
fn an_environment_that_has_nothing() {
    let (_folder, path) = stream();
    let expected = program(&["parse", &path]).output().unwrap().stdout;
    for limit in ["ulimit -v 200000", "ulimit -n 8", "ulimit -s 256", "cd /"] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{limit}; \"$@\""), "sh", PROGRAM, "parse", &path]);
        let output = shell.env_clear().env("TMPDIR", "/proc").output().unwrap();
        assert_eq!((output.status.code(), &output.stdout), (Some(0), &expected), "{limit}");
    }
}

/// Standard output holds lines of JSON only, and an error is on both streams.
#[track_caller]
fn check_streams(input: &[u8], code: &str) {
    for args in [&["parse"][..], &["parse", "--deltas", "--raw"], &["classify"]] {
        let output =
            assert_cmd::Command::new(PROGRAM).args(args).write_stdin(input).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Value> =
            out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.iter().all(|line| line["type"].is_string()), "{out}");
        assert!(out.bytes().all(|byte| byte == b'\n' || !byte.is_ascii_control()), "{out:?}");
        let last = lines.last().unwrap();
        let error = if args == ["classify"] { &last["error"] } else { last };
        assert_eq!(error["code"].as_str(), Some(code), "{out}");
        let err = String::from_utf8(output.stderr).unwrap();
        // As in the line, nothing in it reaches the terminal as it is.
        let message = error["message"].to_string();
        let message = message.trim_matches('"');
        assert!(err.starts_with("toolstream: standard input: ") && err.contains(message), "{err}");
    }
}

#[test]
fn an_error_is_on_both_streams() {
    check_streams(b"", "truncated");
    check_streams(format!("{FIRST}\n").as_bytes(), "truncated");
    check_streams(b"{\"error\":{\"message\":\"gone\"}}", "provider");
    check_streams(b"event: error\ndata: gone\x1b[2J\n\n", "provider");
    check_streams(b"\x1f\x8b\x08\x00", "unrecognised");
    check_streams(format!("{FIRST}\n{{\"choices\":[}}\n{LAST}\n").as_bytes(), "malformed");
}

/// What is wrong with the run itself is said on standard error only.
#[test]
fn a_mistake_is_on_standard_error_only() -> io::Result<()> {
    let output = program(&["parse", "/none"]).stdin(Stdio::null()).output()?;
    assert_eq!((output.stdout.len(), output.status.code()), (0, Some(2)));
    assert!(!output.stderr.is_empty());
    Ok(())
}

/// Behind a limit nothing is read any more, though the input goes on.
#[test]
fn a_limit_ends_the_reading() {
    let mut live = Live::start(&["parse", "--max-calls", "1"]);
    let call = |index: u64| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":{index},\
             \"id\":\"c{index}\",\"function\":{{\"name\":\"f\"}}}}]}}}}]}}\n\n"
        )
    };
    live.write(&call(0));
    assert_eq!(said(&live.line()), "start");
    live.write(&call(1));
    assert_eq!(said(&live.line()), "invalid_tool_call f");
    assert_eq!(said(&live.line()), "error limit");
    assert_eq!(live.lines.recv_timeout(GUARD), Err(RecvTimeoutError::Disconnected));
    assert_eq!(live.child.wait().unwrap().code(), Some(6));
}

/// The first signal waits for a reader that has stopped reading; a second one
/// doesn't.
#[test]
fn a_second_signal_ends_at_once() {
    let mut live = program(&["parse"]);
    live.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = live.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || {
        stdin.write_all(format!("data: {FIRST}\n\n").repeat(100_000).as_bytes())
    });
    let pid = Pid::from_child(&child);
    thread::sleep(Duration::from_millis(300));
    kill_process(pid, Signal::TERM).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
    assert!(writer.join().unwrap().is_err());
}
