//! README's agent and README's loop, as they stand there, with curl against a server.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};

use crate::case::root;
use crate::scene::{Scene, calls, says};

/// A provider: its endpoint, a question, and the answers to it: a call, and a text.
struct Provider {
    path: &'static str,
    question: Value,
    answers: [String; 2],
    /// Where the result stands in the second request.
    result: &'static str,
}

fn events(records: &[Value]) -> String {
    let event = |record: &Value| match record["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {record}\n\n"),
        None => format!("data: {record}\n\n"),
    };
    records.iter().map(event).collect()
}

fn providers() -> [Provider; 4] {
    let query = "{\"query\":\"Oslo\"}";
    let user = json!({"role": "user", "content": "Where?"});
    let message = json!({"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "usage": {"input_tokens": 1, "output_tokens": 1}});
    let anthropic = |block: Value, delta: Value, reason: &str| {
        events(&[
            json!({"type": "message_start", "message": message}),
            json!({"type": "content_block_start", "index": 0, "content_block": block}),
            json!({"type": "content_block_delta", "index": 0, "delta": delta}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
                   "usage": {"output_tokens": 5}}),
            json!({"type": "message_stop"}),
        ])
    };
    let response = |item: Value| {
        let response = |status: &str, output: &[&Value]| {
            json!({"id": "resp_1", "object": "response", "status": status, "model": "m",
                   "output": output})
        };
        events(&[
            json!({"type": "response.created", "response": response("in_progress", &[])}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            json!({"type": "response.completed", "response": response("completed", &[&item])}),
        ])
    };
    let gemini = |part: Value| {
        let content = json!({"role": "model", "parts": [part]});
        events(&[json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "modelVersion": "m", "responseId": "r1"})])
    };
    [
        Provider {
            path: "/v1/chat/completions",
            question: json!({"model": "m", "stream": true, "messages": [user]}),
            answers: [calls(&[("call_1", "search_notes", query)]), says("There.", "stop")],
            result: "/messages/2/content",
        },
        Provider {
            path: "/v1/messages",
            question: json!({"model": "m", "max_tokens": 99, "stream": true, "messages": [user]}),
            answers: [
                anthropic(
                    json!({"type": "tool_use", "id": "toolu_1", "name": "search_notes", "input": {}}),
                    json!({"type": "input_json_delta", "partial_json": query}),
                    "tool_use",
                ),
                anthropic(
                    json!({"type": "text", "text": ""}),
                    json!({"type": "text_delta", "text": "There."}),
                    "end_turn",
                ),
            ],
            result: "/messages/2/content/0/content",
        },
        Provider {
            path: "/v1/responses",
            question: json!({"model": "m", "stream": true, "input": [user]}),
            answers: [
                response(json!({"type": "function_call", "id": "fc_1", "call_id": "call_1",
                    "name": "search_notes", "arguments": query, "status": "completed"})),
                response(json!({"type": "message", "id": "msg_1", "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": "There.", "annotations": []}]})),
            ],
            result: "/input/2/output",
        },
        Provider {
            path: "/v1beta/models/m:streamGenerateContent?alt=sse",
            question: json!({"contents": [{"role": "user", "parts": [{"text": "Where?"}]}]}),
            answers: [
                gemini(
                    json!({"functionCall": {"name": "search_notes", "args": {"query": "Oslo"}}}),
                ),
                gemini(json!({"text": "There."})),
            ],
            result: "/contents/2/parts/0/functionResponse/response",
        },
    ]
}

/// Answers a connection, and returns the body of its request.
fn serve(stream: TcpStream, answer: &str) -> Value {
    let mut reader = BufReader::new(&stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap(),
            "x-key" => assert_eq!(value.trim(), "secret"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    write!(&stream, "{head}content-length: {}\r\n\r\n{answer}", answer.len()).unwrap();
    serde_json::from_slice(&body).unwrap()
}

/// The scripts of README's section on agents: the tool, the agent, the loop.
fn scripts() -> Vec<String> {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, section) = readme.split_once("\n## Agents\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let scripts = section.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
    scripts.map(|(script, _)| script.to_owned()).collect()
}

/// Runs a script with a provider, and checks what was sent and what is left.
#[track_caller]
fn check(provider: &Provider, tool: &str, script: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}{}", listener.local_addr().unwrap(), provider.path);
    let sent = Arc::new(Mutex::new(Vec::new()));
    let (answers, seen) = (provider.answers.clone(), Arc::clone(&sent));
    // It waits for a third request, which does not come, until the tests end.
    thread::spawn(move || {
        for answer in answers {
            let (stream, _) = listener.accept().unwrap();
            let request = serve(stream, &answer);
            seen.lock().unwrap().push(request);
        }
    });
    let scene = Scene::new(&[]);
    fs::remove_dir(scene.path("tools")).unwrap();
    scene.write("request.json", &provider.question.to_string());
    scene.write("headers", "x-key: secret\n");
    fs::create_dir(scene.path("notes")).unwrap();
    scene.write("notes/a", "The office is in Oslo.\n");
    let folder = cargo_bin("toolstream").parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{tool}\n{script}")]).current_dir(scene.folder());
    let output = shell.env("URL", url).env("PATH", path).stdin(Stdio::null()).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && err.is_empty(), "{}: {err}", provider.path);
    let sent = sent.lock().unwrap();
    assert_eq!(sent.len(), 2, "{}: {err}", provider.path);
    let result = sent[1].pointer(provider.result).unwrap_or(&Value::Null).to_string();
    assert!(result.contains("The office is in Oslo."), "{}: {}", provider.path, sent[1]);
    let last = scene.read("request.json");
    assert!(last.contains("There."), "{last}");
}

#[test]
fn the_agents_of_the_readme_run() {
    let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    if !is_there("curl") || !is_there("jq") {
        return eprintln!("there is no curl or no jq: nothing is tested");
    }
    let scripts = scripts();
    let [tool, agent, steps] = &scripts[..] else { panic!("{scripts:?}") };
    assert!(agent.contains("toolstream agent") && steps.contains("toolstream next"));
    for provider in &providers() {
        check(provider, tool, agent);
        // Tools are declared by `next` only once it knows the provider.
        check(provider, tool, steps);
    }
}
