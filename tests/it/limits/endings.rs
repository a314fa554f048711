//! Signals in every state of the program: it ends by the signal, and no process, no half-written
//! file and no lost request is left.

use std::fs;
use std::io::{BufRead, BufReader, Read as _};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::agents::scene::{PROGRAM, Run, Scene, calls, is_heard, says};

/// The time after which the program counts as one that does not end.
const GUARD: Duration = Duration::from_secs(60);

const SIGNALS: [Signal; 5] = [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT, Signal::ALARM];

/// What the program does when the signal comes: a tool, COMMAND, and what is awaited before it.
struct State {
    name: &'static str,
    tool: &'static str,
    command: &'static str,
    /// The type of the last line that is read; none if no output is read.
    line: Option<&'static str>,
}

const STUBBORN: &str = "trap '' TERM INT HUP QUIT ALRM; echo $$ >> ../pids; echo $$ >> pids; \
                        while :; do sleep 0.1; done";

const STATES: &[State] = &[
    State { name: "waiting", tool: "true", command: "STUBBORN", line: None },
    State {
        name: "streaming",
        tool: "true",
        command: "head -c 60000 1.sse; STUBBORN",
        line: Some("start"),
    },
    State {
        name: "tool running",
        tool: "STUBBORN",
        command: "cat 1.sse",
        line: Some("tool_start"),
    },
    State {
        name: "output stalled",
        tool: "STUBBORN",
        command: "(STUBBORN) & cat flood",
        line: None,
    },
];

/// Waits for what must come, or gives up.
#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < GUARD, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[track_caller]
fn ended(child: &mut Child, what: &str) -> ExitStatus {
    let mut status = None;
    until(what, || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap()
}

/// True if a process runs: what was killed may not have been reaped yet.
fn runs(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[track_caller]
fn check_nothing_left(scene: &Scene, what: &str) {
    let pids = fs::read_to_string(scene.path("pids")).unwrap_or_default();
    for pid in pids.lines() {
        until(&format!("{what}: {pid} is left"), || !runs(pid));
    }
    let names = fs::read_dir(scene.folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.as_encoded_bytes().starts_with(b".")).collect();
    assert!(left.is_empty(), "{what}: {left:?}");
}

/// Runs an agent into a state and sends it a signal, again and again if `times` is 2.
#[track_caller]
fn check(state: &State, signal: Signal, times: usize) {
    let what = format!("{}, {signal:?} {times}", state.name);
    let answer = calls(&[("c1", "t", "{}")]);
    let scene = Scene::new(&[answer]).tool("t", &state.tool.replace("STUBBORN", STUBBORN));
    scene.write("flood", &says(&"x".repeat(1 << 20), "stop").repeat(4));
    let old = scene.read("request.json");
    let command = state.command.replace("STUBBORN", STUBBORN).replace("../pids", "pids");
    let args = ["agent", "-f", "openai-chat", "-i", "--tools", "tools", "--approve", "auto"];
    let args = [&args[..], &["request.json", "--", "sh", "-c", &command]].concat();
    let mut child = scene.program(&args).stderr(Stdio::null()).spawn().unwrap();
    let out = child.stdout.take().unwrap();
    let mut lines = BufReader::new(out);
    if let Some(kind) = state.line {
        let mut line = String::new();
        while !line.starts_with(&format!("{{\"type\":\"{kind}\"")) {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "{what}");
        }
    }
    let needs_pid = state.name != "streaming";
    until(&what, || {
        !needs_pid || fs::metadata(scene.path("pids")).is_ok_and(|file| file.len() > 0)
    });
    if state.name == "output stalled" {
        // The pipe is full.
        thread::sleep(Duration::from_millis(300));
    }
    let pid = Pid::from_child(&child);
    for _ in 0..times {
        // It may have ended by the first one.
        let _ = kill_process(pid, signal);
        thread::sleep(Duration::from_millis(50));
    }
    let status = ended(&mut child, &what);
    assert_eq!(status.signal(), Some(signal.as_raw()), "{what}");
    check_nothing_left(&scene, &what);
    assert_eq!(scene.read("request.json"), old, "{what}");
}

#[test]
fn signals_end_an_agent_and_all_that_it_started() {
    thread::scope(|scope| {
        for state in STATES {
            scope.spawn(move || {
                for signal in SIGNALS.into_iter().filter(|signal| is_heard(*signal)) {
                    check(state, signal, 2);
                }
                check(state, Signal::TERM, 1);
            });
        }
    });
}

/// Not even KILL leaves anything: the leash is pulled.
#[test]
fn what_runs_dies_with_a_program_that_is_killed() {
    let scene = Scene::new(&[calls(&[("c1", "t", "{}")])]).tool("t", STUBBORN);
    let mut child = scene.program(&scene.args(&[])).stdout(Stdio::null()).spawn().unwrap();
    until("the tool", || fs::metadata(scene.path("pids")).is_ok_and(|file| file.len() > 0));
    child.kill().unwrap();
    child.wait().unwrap();
    let pids = scene.read("pids");
    until("the tool is left", || pids.lines().all(|pid| !runs(pid)));
}

#[test]
fn a_signal_ends_what_no_one_reads() {
    let scene = Scene::new(&[]);
    scene.write("a.sse", &says(&"x".repeat(1 << 20), "stop").repeat(2));
    for args in [&["parse"][..], &["show"], &["frames"], &["record", "kept"], &["replay", "-"]] {
        for signal in [Signal::TERM, Signal::INT, Signal::QUIT] {
            if !is_heard(signal) {
                continue;
            }
            let mut command = scene.program(args);
            let input = fs::File::open(scene.path("a.sse")).unwrap();
            let mut child = command.stdin(input).spawn().unwrap();
            // The first bytes come, and no more is read.
            let mut out = child.stdout.take().unwrap();
            out.read_exact(&mut [0]).unwrap();
            thread::sleep(Duration::from_millis(200));
            kill_process(Pid::from_child(&child), signal).unwrap();
            let status = ended(&mut child, &format!("{args:?} {signal:?}"));
            assert_eq!(status.signal(), Some(signal.as_raw()), "{args:?}");
        }
    }
}

#[test]
fn a_deadline_ends_what_no_one_reads() {
    let scene = Scene::new(&[]);
    scene.write("flood", &says(&"x".repeat(1 << 20), "stop").repeat(2));
    let args = ["agent", "--deadline", "0.5", "request.json", "--", "cat", "flood"];
    let mut child = scene.program(&args).spawn().unwrap();
    let _out = child.stdout.take().unwrap();
    let status = ended(&mut child, "--deadline");
    assert_eq!(status.code(), Some(6));
}

#[test]
fn a_request_in_a_pipe_is_not_written_in_place() {
    let scene = Scene::new(&[]);
    let made = Command::new("mkfifo").arg(scene.path("fifo")).status().unwrap();
    assert!(made.success());
    let run = scene.run(&["agent", "-i", "fifo", "--", "cat", "1.sse"]);
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("-i: fifo"), "{}", run.err);
}

#[test]
fn a_child_is_heard_though_its_signal_is_blocked() {
    let scene = Scene::new(&[says("Hi", "stop")]);
    let script = "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD]); \
                  os.execv(sys.argv[1], sys.argv[1:])";
    let mut command = Command::new("python3");
    command.args(["-c", script, PROGRAM, "agent", "request.json", "--", "cat", "1.sse"]);
    command.current_dir(scene.folder()).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert_eq!(ended(&mut child, "SIGCHLD is blocked").code(), Some(0));
}

#[test]
fn six_runs_at_once_lose_no_answer() {
    let scene = Scene::new(&[says("Hi", "stop")]);
    scene.write(
        "go.sh",
        "cat > /dev/null; echo >> started; \
        while [ $(wc -l < started) -lt 6 ]; do sleep 0.05; done; cat 1.sse",
    );
    let args = ["agent", "-f", "openai-chat", "-i", "request.json", "--", "sh", "go.sh"];
    let children: Vec<_> = (0..6).map(|_| scene.program(&args).spawn().unwrap()).collect();
    let runs = children.into_iter().map(|child| Run::new(child.wait_with_output().unwrap()));
    let mut codes: Vec<_> = runs
        .map(|run| {
            let is_said = run.err.contains("another has written or removed it");
            assert_eq!(is_said, run.code == Some(8), "{}", run.err);
            run.code
        })
        .collect();
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(8), Some(8), Some(8), Some(8), Some(8)]);
    assert_eq!(scene.messages().len(), 2);
}

#[test]
fn what_is_edited_or_removed_meanwhile_stays_so() {
    for (edit, left) in
        [("echo edited > request.json", Some("edited\n")), ("rm request.json", None)]
    {
        let scene = Scene::new(&[says("Hi", "stop")]);
        let command = format!("cat > /dev/null; {edit}; cat 1.sse");
        let args = ["agent", "-f", "openai-chat", "-i", "request.json", "--", "sh", "-c", &command];
        let run = scene.run(&args);
        run.check(8, "error");
        assert!(run.err.contains("another has written or removed it"), "{}", run.err);
        assert_eq!(fs::read_to_string(scene.path("request.json")).ok().as_deref(), left);
    }
}

#[test]
fn links_to_a_request_stay() {
    let scene = Scene::new(&[says("Hi", "stop")]);
    fs::hard_link(scene.path("request.json"), scene.path("hard")).unwrap();
    symlink("request.json", scene.path("soft")).unwrap();
    let run = scene.run(&["agent", "-i", "soft", "--", "cat", "1.sse"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(scene.read("hard"), scene.read("request.json"));
    assert!(scene.read("hard").contains("assistant"));
    assert!(fs::symlink_metadata(scene.path("soft")).unwrap().is_symlink());
}

/// A file that may not grow is a full disk: an error, and nothing half written.
#[test]
fn a_full_disk_is_an_error() {
    let scene = Scene::new(&[says(&"x".repeat(5000), "stop")]);
    let shell = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", line, PROGRAM]).current_dir(scene.folder()).stdin(Stdio::null());
        Run::new(command.output().unwrap())
    };
    let old = scene.read("request.json");
    let run = shell("ulimit -f 1; \"$0\" agent -i request.json -- cat 1.sse");
    assert_eq!((run.code, scene.read("request.json")), (Some(8), old), "{}", run.err);
    check_nothing_left(&scene, "agent -i");
    let run = shell("ulimit -f 1; \"$0\" parse 1.sse > out");
    assert_eq!(run.code, Some(8), "{}", run.err);
    let run =
        shell("ulimit -f 1; (cat request.json; sleep 0.2; cat 1.sse) | \"$0\" record kept | wc -c");
    assert!(run.err.contains("no longer kept"), "{}", run.err);
    let whole = scene.read("request.json").len() + scene.read("1.sse").len();
    assert_eq!(run.out.trim(), whole.to_string(), "the stream is passed on");
    let times: usize = scene
        .read("kept.times")
        .lines()
        .map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap())
        .sum();
    assert_eq!(times, scene.read("kept").len(), "{}", scene.read("kept.times"));
    scene.write("kept", "old");
    scene.write("kept.times", "1 3\n");
    fs::create_dir(scene.path("other.times")).unwrap();
    scene.write("other", "old");
    let run = shell("printf 'data: {}\\n\\n' | \"$0\" record other");
    assert_eq!((run.code, scene.read("other").as_str()), (Some(2), "old"), "{}", run.err);
    let run = shell("\"$0\" record kept < /dev/null");
    assert_eq!((run.code, scene.read("kept").as_str()), (Some(4), "old"), "{}", run.err);
    assert_eq!(scene.read("kept.times"), "1 3\n");
}
