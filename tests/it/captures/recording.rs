//! Captures: `record`, and the times beside them.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::agents::scene::{Run, Scene, interrupt, says};

/// A recording whose input is still open.
struct Recording {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
}

impl Recording {
    fn start(scene: &Scene, args: &[&str]) -> Self {
        let mut command = scene.program(&["record", "a.sse"]);
        command.args(args);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Recording { child, stdin, stdout }
    }

    /// Writes, and reads the same from the other end while the input is open.
    fn pass(&mut self, bytes: &[u8]) {
        self.stdin.write_all(bytes).unwrap();
        let mut passed = vec![0; bytes.len()];
        self.stdout.read_exact(&mut passed).unwrap();
        assert_eq!(passed, bytes);
    }

    fn end(self) -> Output {
        drop((self.stdin, self.stdout));
        self.child.wait_with_output().unwrap()
    }
}

/// The lines of a file of times.
fn times(scene: &Scene) -> Vec<(u64, u64)> {
    let numbers = |line: &str| {
        let (time, length) = line.split_once(' ').unwrap();
        (time.parse().unwrap(), length.parse().unwrap())
    };
    scene.read("a.sse.times").lines().map(numbers).collect()
}

/// Runs `record a.sse` with this input.
fn record(scene: &Scene, input: &str) -> Run {
    scene.write("in", input);
    let mut command = scene.program(&["record", "a.sse"]);
    Run::new(command.stdin(File::open(scene.path("in")).unwrap()).output().unwrap())
}

#[test]
fn a_stream_is_kept_as_it_passes() {
    let scene = Scene::new(&[]);
    scene.write("a.sse", "what was there is gone, though it is longer");
    let mut recording = Recording::start(&scene, &[]);
    recording.pass(b"data: \xff\0");
    thread::sleep(Duration::from_millis(100));
    recording.pass(b"\r\n\n");
    assert_eq!(recording.end().status.code(), Some(0));
    assert_eq!(fs::read(scene.path("a.sse")).unwrap(), b"data: \xff\0\r\n\n");
    let [(first, 8), (second, 3)] = times(&scene)[..] else { panic!("{:?}", times(&scene)) };
    assert!(second >= first + 100, "{first} {second}");
}

#[test]
fn a_signal_leaves_what_came() {
    let scene = Scene::new(&[]);
    let mut recording = Recording::start(&scene, &[]);
    recording.pass(b"data: {}\n\n");
    kill_process(Pid::from_child(&recording.child), interrupt()).unwrap();
    let status = recording.child.wait().unwrap();
    assert_eq!(status.signal(), Some(interrupt().as_raw()));
    assert_eq!((scene.read("a.sse").as_str(), times(&scene).len()), ("data: {}\n\n", 1));
}

#[test]
fn a_reader_that_leaves_ends_the_recording() {
    for args in [&[][..], &["--redact"]] {
        let scene = Scene::new(&[]);
        let Recording { child, mut stdin, stdout } = Recording::start(&scene, args);
        drop(stdout);
        stdin.write_all(b"data: {}\n\n").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(Signal::PIPE.as_raw()), "{args:?}");
        assert_eq!((scene.read("a.sse").as_str(), output.stderr.len()), ("data: {}\n\n", 0));
        assert_eq!(times(&scene).len(), 1);
    }
}

#[test]
fn no_file_is_left_where_the_other_cannot_be() {
    let scene = Scene::new(&[]);
    fs::create_dir(scene.path("a.sse.times")).unwrap();
    let run = record(&scene, "data: {}\n\n");
    assert!(run.code == Some(2) && run.err.contains("a.sse.times: Is a directory"), "{}", run.err);
    assert!(!scene.path("a.sse").exists());
    scene.write("a.sse", "old");
    assert_eq!(record(&scene, "data: {}\n\n").code, Some(2));
    assert_eq!(scene.read("a.sse"), "old");
}

#[test]
fn a_capture_that_cannot_be_written_costs_no_stream() {
    let scene = Scene::new(&[]);
    symlink("/dev/full", scene.path("a.sse")).unwrap();
    let run = record(&scene, "data: {}\n\n");
    assert_eq!((run.code, run.out.as_str()), (Some(8), "data: {}\n\n"));
    let why = "toolstream: a.sse: No space left on device (os error 28); the stream is passed on, \
               and no longer kept (offset 0)\n";
    assert_eq!(run.err, why);
    assert!(times(&scene).is_empty());
}

/// A write that fails in the middle leaves times that fit.
#[test]
fn a_capture_that_is_too_large_is_cut_where_its_times_end() {
    let scene = Scene::new(&[]);
    let shell = "trap '' XFSZ; ulimit -f 1; (printf a; sleep 0.1; cat in) | \"$0\" record a.sse";
    let input = "x".repeat(5000);
    scene.write("in", &input);
    let mut command = Command::new("sh");
    command.args(["-c", shell, env!("CARGO_BIN_EXE_toolstream")]).current_dir(scene.folder());
    let run = Run::new(command.output().unwrap());
    assert_eq!((run.code, run.out), (Some(8), format!("a{input}")), "{}", run.err);
    assert_eq!((scene.read("a.sse").as_str(), times(&scene).len()), ("a", 1));
}

#[test]
fn what_cannot_be_recorded() {
    let scene = Scene::new(&[]);
    let run = record(&scene, "");
    let hint = "the program before the pipe may have failed (`curl -sS` shows why)";
    let empty = format!("toolstream: standard input: the input is empty: {hint}\n");
    assert_eq!((run.code, run.err), (Some(4), empty));
    for (name, why) in [
        ("none/a.sse", "none/a.sse: No such file or directory"),
        ("tools", "tools: Is a directory"),
        ("in", "in: is standard input as well"),
        ("-", "name a FILE to keep the stream in"),
    ] {
        scene.write("in", "data: {}\n\n");
        let mut command = scene.program(&["record", name]);
        let run = Run::new(command.stdin(File::open(scene.path("in")).unwrap()).output().unwrap());
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{name}");
        assert!(run.err.starts_with(&format!("toolstream: {why}")), "{}", run.err);
        assert_eq!(scene.read("in"), "data: {}\n\n");
    }
}

/// A capture of an answer, read as these times say.
fn timed(times: &str) -> Scene {
    let scene = Scene::new(&[]);
    scene.write("a.sse", &says("There.", "stop"));
    scene.write("a.sse.times", times);
    scene
}

/// The lengths of the four events of the capture: a text, the reason, the usage, the end.
fn lengths() -> Vec<usize> {
    says("There.", "stop").split_inclusive("\n\n").map(str::len).collect()
}

fn rhythm() -> String {
    let [text, reason, usage, done] = lengths()[..] else { panic!("four events") };
    format!("300 {text}\n420 {reason}\n1300 {}\n", usage + done)
}

#[test]
fn the_recorded_rhythm_is_the_time() {
    let scene = timed(&rhythm());
    let run = scene.run(&["parse", "--timing", "a.sse"]);
    let times: Vec<_> = run.lines.iter().map(|line| line["t_ms"].as_u64().unwrap()).collect();
    assert_eq!(run.kinds(), ["start", "text", "usage", "finish_reason"]);
    assert_eq!(times, [0, 0, 1000, 1000]);
    let run = scene.run(&["classify", "--timing", "a.sse"]);
    let timing = serde_json::json!({
        "first_byte_ms": 300, "first_text_ms": 300, "total_ms": 1300, "output_tokens_per_s": 2,
        "gap_ms": {"p50": 120, "p99": 880, "max": 880},
    });
    assert_eq!(run.lines[0]["timing"], timing);
    let run = scene.run(&["show", "--with", "usage", "a.sse"]);
    assert_eq!(run.out, "m · 3 in · 2 out · first text 0.30 s · 2 tokens/s\n");
    let run = scene.run(&["show", "a.sse"]);
    assert_eq!(run.out, "There.\n");
    assert_eq!(scene.run(&["classify", "a.sse"]).lines[0].get("timing"), None);
}

#[test]
fn times_that_do_not_fit_say_where() {
    let past = "a.sse.times: line 1: the length goes past the";
    for (times, why) in [("0 9999\n", past), ("0\n", "a.sse.times: line 1: expected")] {
        let scene = timed(times);
        for args in
            [&["parse", "--timing"][..], &["classify", "--timing"], &["show", "--with", "all"]]
        {
            let run = scene.run(&[args, &["a.sse"]].concat());
            assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{args:?}");
            assert!(run.err.starts_with(&format!("toolstream: {why}")), "{}", run.err);
        }
        // Nobody asked for the time.
        assert_eq!(scene.run(&["parse", "a.sse"]).code, Some(0));
    }
}

#[test]
fn a_live_stream_is_timed_as_it_comes() {
    let scene = timed("");
    let shell = "(sleep 0.2; head -c 150 a.sse; sleep 0.3; tail -c +151 a.sse) | \
                 \"$0\" classify --timing";
    let mut command = Command::new("sh");
    command.args(["-c", shell, env!("CARGO_BIN_EXE_toolstream")]).current_dir(scene.folder());
    let run = Run::new(command.output().unwrap());
    let timing = &run.lines[0]["timing"];
    let number = |path: &str| timing.pointer(path).and_then(Value::as_u64).unwrap();
    // The program is started together with the shell's sleep; times are cut to milliseconds.
    assert!((100..400).contains(&number("/first_byte_ms")), "{timing}");
    assert!(number("/total_ms") >= number("/first_byte_ms") + 290, "{timing}");
    assert!(number("/gap_ms/max") >= 290, "{timing}");
}

/// Plays a capture with these options.
fn replay(scene: &Scene, args: &[&str]) -> Run {
    scene.run(&[&["replay"], args, &["a.sse"]].concat())
}

#[test]
fn a_capture_is_played_as_it_is() {
    let scene = timed(&rhythm());
    let capture = scene.read("a.sse");
    for args in
        [&[][..], &["--chunk", "1"], &["--tps", "1000"], &["--speed", "20", "--chunk", "random:1"]]
    {
        let run = replay(&scene, args);
        assert_eq!((run.code, &run.out, run.err.as_str()), (Some(0), &capture, ""), "{args:?}");
    }
    let mut piped = scene.program(&["replay", "--chunk", "9", "-"]);
    piped.stdin(File::open(scene.path("a.sse")).unwrap());
    assert_eq!(Run::new(piped.output().unwrap()).out, capture);
    let http = scene.run(&["replay", "--http", "-"]);
    assert!(http.code == Some(2) && http.err.contains("of --http and a capture"), "{}", http.err);
    let twice = scene.run(&["replay", "a.sse", "a.sse"]);
    assert_eq!(twice.out, capture.repeat(2));
    assert_eq!(replay(&scene, &["--cut", "70"]).out, capture[..70]);
    let run = replay(&scene, &["--error", "529@frame:1"]);
    assert!(
        run.out.starts_with(&capture[..lengths()[0]]) && run.out.contains("overloaded"),
        "{}",
        run.out
    );
}

/// What is recorded of what is played has the rhythm of the capture.
#[test]
fn a_recording_of_a_replay_has_its_rhythm() {
    let scene = timed(&rhythm());
    let shell = "\"$0\" replay --speed 2 a.sse | \"$0\" record b.sse > /dev/null";
    let mut command = Command::new("sh");
    command.args(["-c", shell, env!("CARGO_BIN_EXE_toolstream")]).current_dir(scene.folder());
    assert!(command.status().unwrap().success());
    assert_eq!(scene.read("b.sse"), scene.read("a.sse"));
    let gap = |file: &str| -> u64 {
        let run = scene.run(&["classify", "--timing", file]);
        run.lines[0]["timing"]["gap_ms"]["max"].as_u64().unwrap()
    };
    assert_eq!(gap("a.sse"), 880);
    assert!((430..880).contains(&gap("b.sse")), "{}", gap("b.sse"));
}

#[test]
fn a_stream_that_hangs_ends_when_its_reader_leaves() {
    let scene = timed("");
    for args in [&["--hang"][..], &["--hang", "--keep-alive", "20"]] {
        let args = [&["replay"], args, &["a.sse"]].concat();
        let mut child = scene.program(&args).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let mut bytes = vec![0; scene.read("a.sse").len()];
        stdout.read_exact(&mut bytes).unwrap();
        thread::sleep(Duration::from_millis(50));
        assert!(child.try_wait().unwrap().is_none(), "{args:?} goes on");
        drop(stdout);
        assert_eq!(child.wait().unwrap().signal(), Some(Signal::PIPE.as_raw()));
        let child = scene.program(&args).spawn().unwrap();
        thread::sleep(Duration::from_millis(100));
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(Signal::TERM.as_raw()));
    }
}

#[test]
fn what_cannot_be_played() {
    let scene = timed("0 5\n");
    scene.write("empty", "");
    scene.write("binary", "\u{1}\u{2}");
    for (args, code, why) in [
        (&["none"][..], 2, "none: No such file or directory"),
        (&["empty"], 4, "empty: the capture is empty"),
        (&["--speed", "1", "a.sse"], 3, "a.sse.times: line 1: the times end after 5 of the"),
        (&["--speed", "1", "1.sse"], 2, "1.sse: No such file"),
        (&["--cut", "frame:9", "a.sse"], 2, "a.sse: there are 4 frames"),
        (&["--error", "teapot@frame:1", "a.sse"], 2, "teapot is no code of an error: one is"),
        (&["--tps", "9", "binary"], 2, "binary: its frames are not known"),
        (&["--speed", "1", "binary"], 2, "binary.times is missing: `toolstream record` writes it"),
    ] {
        let run = scene.run(&[&["replay"], args].concat());
        assert_eq!((run.code, run.out.as_str()), (Some(code), ""), "{args:?} {}", run.err);
        assert!(run.err.starts_with(&format!("toolstream: {why}")), "{args:?} {}", run.err);
    }
    for wrong in [&["--speed", "0"][..], &["--tps", "x"], &["--chunk", "0"], &["--keep-alive", "0"]]
    {
        assert_eq!(replay(&scene, wrong).code, Some(2), "{wrong:?}");
    }
}
