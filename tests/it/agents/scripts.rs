//! The shell scripts of the guide, each against `replay`.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::agents::scene::{PROGRAM, Run, Scene, calls, says};
use crate::agents::served::can_run;
use crate::case::root;

/// The scripts, in the guide's order.
const NAMES: [&str; 8] =
    ["chat", "history", "agent", "commit", "review", "retry", "variables", "functions"];

/// The path and the format that a script is told of.
const ENDPOINTS: [(&str, &str); 4] = [
    ("/v1/chat/completions", "openai-chat"),
    ("/v1/messages", "anthropic"),
    ("/v1/responses", "openai-responses"),
    ("/v1beta/models/m:streamGenerateContent?alt=sse", "gemini"),
];

/// A run of a script.
struct Script<'a> {
    scene: Scene,
    name: &'a str,
    args: &'a [&'a str],
    stdin: &'a str,
    endpoint: (&'a str, &'a str),
    /// Options of `replay`.
    played: &'a [&'a str],
}

impl<'a> Script<'a> {
    /// A script that these answers are given to.
    fn new(name: &'a str, answers: &[String]) -> Self {
        let scene = Scene::new(answers);
        scene.write("headers", "x-api-key: secret\n");
        let request = "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";
        scene.write("request.json", request);
        Script { scene, name, args: &[], stdin: "", endpoint: ENDPOINTS[0], played: &[] }
    }

    fn run(&self) -> Run {
        let answers = (1..).map(|at| format!("{at}.sse"));
        let answers: Vec<_> = answers.take_while(|name| self.scene.path(name).exists()).collect();
        let (path, format) = self.endpoint;
        let script = root().join(format!("tests/examples/shell/{}.sh", self.name));
        let (programs, _) = PROGRAM.rsplit_once('/').unwrap();
        let mut command =
            self.scene.program(&["replay", "--listen", "127.0.0.1:0", "--log", "log"]);
        command.args(self.played).args(answers).args(["--", "sh", "-c"]);
        command.arg(format!("URL=$TOOLSTREAM_URL'{path}' exec \"$0\" \"$@\"")).arg(script);
        command.args(self.args).env("FORMAT", format).env("MODEL", "m").env("APPROVE", "auto");
        command.env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap()));
        command.env("RETRIES", "0").env("GIT_EDITOR", "true").env("OPENWEATHER_API_KEY", "k1");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "n").env(format!("GIT_{role}_EMAIL"), "e");
        }
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(self.stdin.as_bytes());
        Run::new(child.wait_with_output().unwrap())
    }

    /// Prints this, says nothing else, and ends well.
    #[track_caller]
    fn prints(&self, out: &str) {
        let run = self.run();
        let said = match self.endpoint.1 {
            "gemini" => {
                "toolstream: --for gemini: its address names the model, not the request: \
                         --model is not used\n"
            }
            _ => "",
        };
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), out, said));
    }

    /// Fails with this status, and prints this.
    #[track_caller]
    fn fails(&self, code: i32, out: &str) {
        let run = self.run();
        assert_eq!((run.code, run.out.as_str()), (Some(code), out), "{}", run.err);
        assert!(!run.err.is_empty());
    }

    /// The bodies that were sent.
    fn sent(&self) -> Vec<String> {
        let log = self.scene.read("log");
        let line = |line: &str| serde_json::from_str::<Value>(line).unwrap()["body"].to_string();
        log.lines().map(line).collect()
    }

    /// Runs a line of shell in the folder.
    #[track_caller]
    fn shell(&self, line: &str) -> String {
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(self.scene.folder())
            .envs(["AUTHOR", "COMMITTER"].map(|role| (format!("GIT_{role}_NAME"), "n")))
            .envs(["AUTHOR", "COMMITTER"].map(|role| (format!("GIT_{role}_EMAIL"), "e")))
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// True if these programs are there, besides curl and jq.
fn has(programs: &[&str]) -> bool {
    let is_there = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    can_run() && programs.iter().all(is_there)
}

fn half() -> String {
    says("Half of", "length")
}

#[test]
fn the_guide_shows_the_scripts_as_they_are() {
    let guide = fs::read_to_string(root().join("man/guide.md")).unwrap();
    let (_, section) = guide.split_once("\n## Scripts\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let shown: Vec<_> = section
        .split("\n```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.split_once('\n'))
        .collect();
    assert_eq!(shown.len(), NAMES.len());
    for (name, (_, shown)) in NAMES.iter().zip(shown) {
        let path = root().join(format!("tests/examples/shell/{name}.sh"));
        let script = fs::read_to_string(path).unwrap();
        assert_eq!(format!("{shown}\n"), script, "the guide and {name}.sh");
        assert!(script.lines().count() <= 12 && !script.contains("eval"), "{name}");
    }
}

#[test]
fn a_chat_on_any_provider() {
    for endpoint in ENDPOINTS.into_iter().filter(|_| has(&[])) {
        let stdin = "Why is the sky \"blue\"?\n";
        let script = Script { endpoint, stdin, ..Script::new("chat", &[says("Air.", "stop")]) };
        script.prints("Air.\n");
        assert!(script.sent()[0].contains("Why is the sky \\\"blue\\\"?"), "{:?}", script.sent());
        Script { endpoint, stdin, ..Script::new("chat", &[half()]) }.fails(3, "Half of\n");
    }
}

#[test]
fn a_chat_with_a_history() {
    for endpoint in ENDPOINTS.into_iter().filter(|_| has(&[])) {
        let answers = [says("One.", "stop"), says("Two.", "stop")];
        let mut script = Script::new("history", &answers);
        (script.endpoint, script.args, script.stdin) =
            (endpoint, &["chat.json"], "First\n\n-\n--third $(x)\n");
        let run = script.run();
        assert_eq!((run.code, run.out.as_str()), (Some(0), "One.\nTwo.\n"), "{}", run.err);
        assert!(run.err.contains("That did not count"), "{}", run.err);
        let sent = script.sent();
        assert!(sent[1].contains("First") && sent[1].contains("One."), "{}", sent[1]);
        // The third has no answer, and leaves no trace.
        let kept = script.scene.read("chat.json");
        assert!(sent[2].contains("--third $(x)") && !kept.contains("third"), "{kept}");
        assert!(kept.contains("Two."), "{kept}");
    }
}

#[test]
fn an_agent_with_tools() {
    let answers = [calls(&[("a", "t", "{\"x\":1}")]), says("Done.", "stop")];
    for endpoint in ENDPOINTS.into_iter().filter(|_| has(&[])) {
        let args: &[&str] = &["task.json", "Do it"];
        let script = Script { endpoint, args, ..Script::new("agent", &answers) };
        let scene = script.scene.tool("t", "jq .x");
        let script = Script { scene, ..script };
        script.prints("▸ t  x: 1\n◂ t\n  1\n\n── round 2 ──\nDone.\n");
        assert!(script.scene.read("task.json").contains("Done."));
    }
}

/// A script in a repository of git with a commit on `base`, and a change that is staged.
fn in_git<'a>(name: &'a str, answers: &[String]) -> Script<'a> {
    let script = Script::new(name, answers);
    script.shell(
        "git init -qb main . && echo a > a && git add a && git commit -qm a && git branch base \
         && echo 'b \"$(x)\"' > a && git add a",
    );
    script
}

#[test]
fn a_commit_message() {
    if !has(&["git"]) {
        return;
    }
    let message = "Say b, not a\n\nIt's \"$(better)\".";
    let script = in_git("commit", &[says(message, "stop")]);
    let run = script.run();
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(script.shell("git log -1 --format=%B").trim_end(), message);
    assert!(script.sent()[0].contains("+b"), "{:?}", script.sent());
    for half in [half(), says("Whole?", "content_filter")] {
        let script = in_git("commit", &[half]);
        script.fails(3, "");
        assert_eq!(script.shell("git log --format=%s"), "a\n");
    }
    let script = in_git("commit", &[says("None.", "stop")]);
    script.shell("git commit -qm b");
    script.fails(1, "");
}

#[test]
fn a_review_in_ci() {
    if !has(&["git"]) {
        return;
    }
    let review = |answer: String, played: &'static [&'static str]| {
        let script = in_git("review", &[answer]);
        script.shell("git commit -qm b");
        Script { args: &["base"], played, ..script }
    };
    review(says("Good.\nPASS", "stop"), &[]).prints("Good.\nPASS\n");
    let run = review(says("Bad: PASS\nFAIL", "stop"), &[]).run();
    assert_eq!((run.code, run.out.as_str()), (Some(1), "Bad: PASS\nFAIL\n"), "{}", run.err);
    review(says("PASS", "length"), &[]).fails(1, "");
    review(says("PASS", "stop"), &["--status", "401"]).fails(1, "");
    review(says("PASS", "stop"), &["--status", "529"])
        .fails(0, "The provider is busy: no review.\n");
}

#[test]
fn retries_by_hand() {
    if !has(&[]) {
        return;
    }
    let retry = |answer: String, played| Script { played, ..Script::new("retry", &[answer]) };
    let script = retry(says("There.", "stop"), &["--fail", "1:529"]);
    script.fails(0, "There.\n");
    assert_eq!(script.sent().len(), 2);
    let script = retry(half(), &[]);
    script.fails(1, "");
    assert_eq!(script.sent().len(), 1);
}

#[test]
fn tokens_in_variables() {
    if !has(&["bash"]) {
        return;
    }
    let text = "It's\n\t$(touch ran) `x` \"y\"\\n";
    let script = Script::new("variables", &[says(text, "stop")]);
    let run = script.run();
    let (out, err) = (format!("{text}\n"), "3 tokens in, 2 out\n");
    assert_eq!((run.code, run.out, run.err.as_str()), (Some(0), out, err));
    assert!(!script.scene.path("ran").exists());
    Script { scene: Script::new("variables", &[half()]).scene, ..script }.fails(3, "");
}

#[test]
fn the_tools_of_llm_functions() {
    if !has(&[]) {
        return;
    }
    let answers = [calls(&[("a", "get", "{\"city\":\"O'slo\"}")]), says("Done.", "stop")];
    let script = Script { args: &["Go"], ..Script::new("functions", &answers) };
    script.scene.write(
        "functions.json",
        "[{\"name\":\"get\",\"description\":\"d\",\"parameters\":{\"type\":\"object\",\"properties\":\
          {\"city\":{\"type\":\"string\"}}},\"agent\":false}]",
    );
    script.shell(
        "mkdir bin && printf '#!/bin/sh\\necho \"$# $1 $OPENWEATHER_API_KEY $MODEL\"' > bin/get && chmod +x bin/get",
    );
    script.prints("Done.\n");
    let sent = script.sent();
    assert!(sent[0].contains("\"parameters\""), "{}", sent[0]);
    assert!(sent[1].contains("1 {\\\"city\\\":\\\"O'slo\\\"} k1 \\n"), "{}", sent[1]);
}
