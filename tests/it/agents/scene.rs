//! A folder with a request, answers and tools: what an agent needs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_toolstream");

/// Asks the model: keeps what it was sent, and prints the answer of the round. Past the last
/// answer, that comes again. Ends where there is none: its agent may be killed, and the folder gone.
pub const COMMAND: &str = "cat > sent-$TOOLSTREAM_ROUND.json; n=$TOOLSTREAM_ROUND; \
     while [ $n -gt 0 ] && ! [ -e $n.sse ]; do n=$((n - 1)); done; cat $n.sse";

/// A folder that is gone at the end.
pub struct Scene(TempDir);

/// What came of a run.
pub struct Run {
    pub code: Option<i32>,
    pub lines: Vec<Value>,
    pub out: String,
    pub err: String,
}

impl Scene {
    /// A request of openai-chat, and these answers in the order of the rounds.
    pub fn new(answers: &[String]) -> Self {
        let scene = Scene(TempDir::new().unwrap());
        scene.write(
            "request.json",
            "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}\n",
        );
        for (at, answer) in answers.iter().enumerate() {
            scene.write(&format!("{}.sse", at + 1), answer);
        }
        fs::create_dir(scene.path("tools")).unwrap();
        scene
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A file as JSON.
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// A tool: a line of shell.
    pub fn tool(self, name: &str, script: &str) -> Self {
        let path = self.path("tools").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// The program in the folder.
    pub fn program(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(args).current_dir(self.folder()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::new(self.program(args).output().unwrap())
    }

    /// The arguments of a loop with the tools of the folder, all approved.
    pub fn args<'a>(&self, args: &[&'a str]) -> Vec<&'a str> {
        let first = ["agent", "-f", "openai-chat", "-i", "--tools", "tools", "--approve", "auto"];
        let last = ["request.json", "--", "sh", "-c", COMMAND];
        [&first[..], args, &last[..]].concat()
    }

    pub fn agent(&self, args: &[&str]) -> Run {
        self.run(&self.args(args))
    }

    /// The messages of the request.
    pub fn messages(&self) -> Vec<Value> {
        self.json("request.json")["messages"].as_array().unwrap().clone()
    }

    /// The results that were sent, in their order.
    pub fn results(&self) -> Vec<String> {
        let results = self.messages().into_iter().filter(|message| message["role"] == "tool");
        results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    }
}

impl Run {
    pub fn new(output: Output) -> Self {
        let out = String::from_utf8(output.stdout).unwrap();
        let lines = out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let err = String::from_utf8(output.stderr).unwrap();
        Run { code: output.status.code(), lines, out, err }
    }

    /// The types of the lines.
    pub fn kinds(&self) -> Vec<&str> {
        self.lines.iter().map(|line| line["type"].as_str().unwrap()).collect()
    }

    /// The lines of this type.
    pub fn of(&self, kind: &str) -> Vec<&Value> {
        self.lines.iter().filter(|line| line["type"] == kind).collect()
    }

    /// Ended with this status and this reason in the last line. A status but 0 is explained.
    #[track_caller]
    pub fn check(&self, code: i32, reason: &str) {
        let last = self.lines.last().unwrap_or(&Value::Null);
        let got = (self.code, last["type"].as_str(), last["reason"].as_str());
        assert_eq!(got, (Some(code), Some("end"), Some(reason)), "{}{}", self.out, self.err);
        assert_eq!(code == 0, self.err.is_empty(), "{}", self.err);
    }
}

/// An event of a chat completion.
pub fn chunk(delta: Value, finish_reason: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
    let record = json!({
        "id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice],
    });
    format!("data: {record}\n\n")
}

/// An answer of text, with this finish reason.
pub fn says(text: &str, finish_reason: &str) -> String {
    let usage = json!({
        "id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    });
    let text = chunk(json!({"role": "assistant", "content": text}), None);
    format!("{text}{}data: {usage}\n\ndata: [DONE]\n\n", chunk(json!({}), Some(finish_reason)))
}

/// An answer of calls: their ids, names and arguments.
pub fn calls(calls: &[(&str, &str, &str)]) -> String {
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, (id, name, arguments))| {
            json!({"index": index, "id": id, "type": "function",
                   "function": {"name": name, "arguments": arguments}})
        })
        .collect();
    let calls = chunk(json!({"role": "assistant", "tool_calls": calls}), None);
    format!("{calls}{}data: [DONE]\n\n", chunk(json!({}), Some("tool_calls")))
}

/// True if a request ends closed: each call of its last turn has one result, in order.
#[track_caller]
pub fn check_closed(request: &Value) {
    let messages = request["messages"].as_array().unwrap();
    let mut open: Vec<&Value> = Vec::new();
    for message in messages {
        match message["role"].as_str().unwrap() {
            "tool" => assert_eq!(open.remove(0), &message["tool_call_id"], "{request}"),
            role => {
                assert!(open.is_empty(), "{request}");
                assert_eq!(
                    role == "user",
                    message.get("tool_calls").is_none() && role != "assistant"
                );
                let calls = message["tool_calls"].as_array().into_iter().flatten();
                open = calls.map(|call| &call["id"]).collect();
            }
        }
    }
    assert!(open.is_empty(), "{request}");
}

/// Whether a signal isn't ignored here, as SIGHUP is under `nohup`: then the
/// program ignores it as well.
pub fn is_heard(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.map_or(0, |hex| u64::from_str_radix(hex.trim(), 16).unwrap());
    ignored & (1 << (signal.as_raw() - 1)) == 0
}

/// The signal of Ctrl-C, or that of `kill` where Ctrl-C is ignored, as it is in the background of a
/// script.
pub fn interrupt() -> Signal {
    if is_heard(Signal::INT) { Signal::INT } else { Signal::TERM }
}
