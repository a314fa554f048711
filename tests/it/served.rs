//! README's recipes, as they stand there, with curl against a server.

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
    /// What of it stands in README's address, and in no other's.
    endpoint: &'static str,
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
            endpoint: "/chat/completions",
            question: json!({"model": "m", "stream": true, "messages": [user]}),
            answers: [calls(&[("call_1", "search_notes", query)]), says("There.", "stop")],
            result: "/messages/2/content",
        },
        Provider {
            path: "/v1/messages",
            endpoint: "/v1/messages",
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
            endpoint: "/v1/responses",
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
            endpoint: ":streamGenerateContent",
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
    let (mut length, mut has_key) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap(),
            _ => has_key |= value.contains("secret"),
        }
    }
    assert!(has_key, "the key was not sent");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    write!(&stream, "{head}content-length: {}\r\n\r\n{answer}", answer.len()).unwrap();
    serde_json::from_slice(&body).unwrap()
}

/// The scripts of a section of README.
fn scripts(section: &str) -> Vec<String> {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, section) = readme.split_once(&format!("\n## {section}\n")).unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let scripts = section.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
    scripts.map(|(script, _)| script.to_owned()).collect()
}

/// Answers the next connections, one after another. Returns where, and what is sent there.
fn server(answers: Vec<String>) -> (String, Arc<Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let sent = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sent);
    // It waits for a request that does not come, until the tests end.
    thread::spawn(move || {
        for answer in answers {
            let (stream, _) = listener.accept().unwrap();
            let request = serve(stream, &answer);
            seen.lock().unwrap().push(request);
        }
    });
    (url, sent)
}

/// Runs a script in the folder of a scene. Returns its standard output and standard error.
fn shell(scene: &Scene, script: &str, url: &str) -> (String, String) {
    let folder = cargo_bin("toolstream").parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(scene.folder()).env("PATH", path).env("URL", url);
    for key in ["KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
        shell.env(key, "secret");
    }
    let output = shell.stdin(Stdio::null()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    assert!(output.status.success(), "{script}: {}", text(output.stderr.clone()));
    (text(output.stdout), text(output.stderr))
}

/// True if the programs are there that the recipes need.
fn can_run() -> bool {
    let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let can_run = is_there("curl") && is_there("jq");
    if !can_run {
        eprintln!("there is no curl or no jq: nothing is tested");
    }
    can_run
}

/// Each question goes to the endpoint of its provider, and its answer is shown.
#[test]
fn the_questions_of_the_readme_are_answered() {
    let scripts = scripts("Ask a model");
    let providers = providers();
    assert_eq!(scripts.len(), providers.len());
    if !can_run() {
        return;
    }
    for provider in &providers {
        let (url, sent) = server(vec![provider.answers[1].clone()]);
        let (path, _) = provider.path.rsplit_once('/').unwrap();
        let (script, host) = scripts
            .iter()
            .filter(|script| script.contains(provider.endpoint))
            .find_map(|script| {
                let (_, rest) = script.split_once("https://")?;
                Some((script, rest.split_once(path)?.0))
            })
            .unwrap_or_else(|| panic!("no script asks {}", provider.path));
        let script = script.replace(&format!("https://{host}"), &url);
        let (out, err) = shell(&Scene::new(&[]), &script, "");
        assert_eq!((out.as_str(), err.as_str()), ("There.", ""), "{script}");
        let sent = sent.lock().unwrap();
        assert!(sent[0].to_string().contains("Why is the sky blue?"), "{}", sent[0]);
    }
}

#[test]
fn the_recipes_of_the_readme_print_what_they_say() {
    if !can_run() {
        return;
    }
    let scene = Scene::new(&[]);
    let check = |script: &str, answer: &str, expected: &str| {
        let (url, _) = server(vec![answer.to_owned()]);
        let (out, _) = shell(&scene, script, &url);
        assert_eq!(out, expected, "{script}");
    };
    let (text, file) = (says("There.", "stop"), "{\"path\":\"a\",\"content\":\"one\\ntwo\"}");
    let read = scripts("Read the answer");
    let [alone, values, log] = &read[..] else { panic!("{read:?}") };
    check(alone, &text, "There.");
    check(values, &calls(&[("a", "write", file)]), "one\ntwo");
    check(log, &text, "There.");
    assert!(scene.read("log.ndjson").contains("\"finish_reason\":\"stop\""));
    let decide = scripts("Decide in a script");
    let [decide] = &decide[..] else { panic!("{decide:?}") };
    check(decide, &text, "There.\n");
    check(decide, &text[..text.len() / 2], "The answer was cut: ask again.\n");
    check(decide, "{\"error\":{\"message\":\"busy\",\"type\":\"overloaded\"}}", "busy\n");
    check(decide, "{\"hello\":1}\n", "It failed: see standard error.\n");
    let call = "{\"index\":0,\"id\":\"a\",\"name\":\"f\",\"arguments\":{\"x\":1}}\n";
    check(decide, &calls(&[("a", "f", "{\"x\":1}")]), call);
    let script = |section: &str| {
        let scripts = scripts(section);
        let [script] = &scripts[..] else { panic!("{section}: {scripts:?}") };
        script.clone()
    };
    fs::create_dir(scene.path("answers")).unwrap();
    scene.write("answers/a.sse", &text);
    scene.write("answers/b.sse", &calls(&[("a", "f", "{}")]));
    let (out, err) = shell(&scene, &script("Many answers"), "");
    let sum =
        "toolstream: 2 messages: 1 final_answer, 1 tool_calls; 3 tokens in, 2 out; calls: f 1\n";
    assert_eq!((out.as_str(), err.as_str()), ("", sum));
    assert_eq!(scene.read("summaries.ndjson").lines().count(), 2);
    scene.write("headers", "x-key: secret\n");
    scene.write("ask.json", "{}");
    let (url, _) = server(vec![text.clone()]);
    let (out, _) = shell(&scene, &script("Captures"), &url);
    assert!(out.starts_with("There.{\n") && out.contains("\"total_ms\""), "{out}");
    assert!(scene.read("answer.sse").starts_with("HTTP/1.1 200"));
    scene.write("answer.txt", "<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>");
    let (url, _) = server(vec![text]);
    let (out, _) = shell(&scene, &script("Another provider's stream"), &url);
    assert!(out.contains("event: message_stop") && out.ends_with("data: [DONE]\n\n"), "{out}");
}

/// Runs a loop with a provider, and checks what was sent and what is left.
#[track_caller]
fn check_loop(provider: &Provider, tool: &str, script: &str) {
    let (host, sent) = server(provider.answers.to_vec());
    let scene = Scene::new(&[]);
    fs::remove_dir(scene.path("tools")).unwrap();
    scene.write("request.json", &provider.question.to_string());
    scene.write("headers", "x-key: secret\n");
    fs::create_dir(scene.path("notes")).unwrap();
    scene.write("notes/a", "The office is in Oslo.\n");
    let url = format!("{host}{}", provider.path);
    let (_, err) = shell(&scene, &format!("{tool}\n{script}"), &url);
    assert!(err.is_empty(), "{}: {err}", provider.path);
    let sent = sent.lock().unwrap();
    assert_eq!(sent.len(), 2, "{}: {err}", provider.path);
    let result = sent[1].pointer(provider.result).unwrap_or(&Value::Null).to_string();
    assert!(result.contains("The office is in Oslo."), "{}: {}", provider.path, sent[1]);
    let last = scene.read("request.json");
    assert!(last.contains("There."), "{last}");
}

#[test]
fn the_agents_of_the_readme_run() {
    let scripts = scripts("Agents");
    let [tool, agent, steps] = &scripts[..] else { panic!("{scripts:?}") };
    assert!(agent.contains("toolstream agent") && steps.contains("toolstream next"));
    for provider in providers().iter().filter(|_| can_run()) {
        check_loop(provider, tool, agent);
        // Tools are declared by `next` only once it knows the provider.
        check_loop(provider, tool, steps);
    }
}
