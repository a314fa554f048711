//! The guide's recipes, as they stand there, with curl against `replay --listen`.

use std::fs;
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};

use crate::agents::scene::{Scene, calls, says};
use crate::captures::listening::Server;
use crate::case::root;

/// A provider: its endpoint, and a question.
struct Provider {
    path: &'static str,
    format: &'static str,
    /// What of it stands in the guide's address, and in no other's.
    endpoint: &'static str,
    question: Value,
    /// Where the result stands in the second request.
    result: &'static str,
}

fn providers() -> [Provider; 4] {
    let user = json!({"role": "user", "content": "Where?"});
    [
        Provider {
            path: "/v1/chat/completions",
            format: "openai-chat",
            endpoint: "/chat/completions",
            question: json!({"model": "m", "stream": true, "messages": [user]}),
            result: "/messages/2/content",
        },
        Provider {
            path: "/v1/messages",
            format: "anthropic",
            endpoint: "/v1/messages",
            question: json!({"model": "m", "max_tokens": 99, "stream": true, "messages": [user]}),
            result: "/messages/2/content/0/content",
        },
        Provider {
            path: "/v1/responses",
            format: "openai-responses",
            endpoint: "/v1/responses",
            question: json!({"model": "m", "stream": true, "input": [user]}),
            result: "/input/2/output",
        },
        Provider {
            path: "/v1beta/models/m:streamGenerateContent?alt=sse",
            format: "gemini",
            endpoint: ":streamGenerateContent",
            question: json!({"contents": [{"role": "user", "parts": [{"text": "Where?"}]}]}),
            result: "/contents/2/parts/0/functionResponse/response",
        },
    ]
}

/// A folder with a call and a text, which answer the requests to any provider.
fn scene() -> Scene {
    Scene::new(&[
        calls(&[("call_1", "search_notes", "{\"query\":\"Oslo\"}")]),
        says("There.", "stop"),
    ])
}

/// Serves captures of a scene. Returns where.
fn serve(scene: &Scene, captures: &[&str]) -> (Server, String) {
    let server = Server::start(scene, &[&["--log", "log"], captures].concat());
    let url = format!("http://{}", server.address);
    (server, url)
}

/// The requests that were sent, each with its key.
#[track_caller]
fn sent(scene: &Scene) -> Vec<Value> {
    let log = scene.read("log");
    let mut lines: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        let headers = line["headers"].to_string();
        assert!(headers.contains("re") || headers.contains("secret"), "no key: {headers}");
    }
    lines.iter_mut().map(|line| line["body"].take()).collect()
}

/// The scripts of a section of the guide.
fn scripts(section: &str) -> Vec<String> {
    let guide = fs::read_to_string(root().join("man/guide.md")).unwrap();
    let (_, section) = guide.split_once(&format!("\n## {section}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let scripts = section.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
    scripts.map(|(script, _)| script.to_owned()).collect()
}

/// A script in the folder of a scene.
fn command(scene: &Scene, script: &str) -> Command {
    let folder = cargo_bin("toolstream").parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(scene.folder()).env("PATH", path).stdin(Stdio::null());
    shell
}

/// Runs a script. Returns its standard output and standard error.
fn shell(scene: &Scene, script: &str, url: &str) -> (String, String) {
    let mut shell = command(scene, script);
    shell.env("URL", url);
    for key in ["KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
        shell.env(key, "secret");
    }
    let output = shell.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    assert!(output.status.success(), "{script}: {}", text(output.stderr.clone()));
    (text(output.stdout), text(output.stderr))
}

/// True if the programs are there that the recipes need.
pub fn can_run() -> bool {
    let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let can_run = is_there("curl") && is_there("jq");
    if !can_run {
        eprintln!("there is no curl or no jq: nothing is tested");
    }
    can_run
}

/// Each question goes to the endpoint of its provider, and its answer is shown.
#[test]
fn the_questions_of_the_guide_are_answered() {
    let scripts = scripts("Ask a model");
    let providers = providers();
    assert_eq!(scripts.len(), providers.len());
    if !can_run() {
        return;
    }
    for provider in &providers {
        let scene = scene();
        let (_server, url) = serve(&scene, &["2.sse"]);
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
        let (out, err) = shell(&scene, &script, "");
        assert_eq!((out.as_str(), err.as_str()), ("There.\n", ""), "{script}");
        let sent = sent(&scene);
        assert!(sent[0].to_string().contains("Why is the sky blue?"), "{}", sent[0]);
    }
}

#[test]
fn the_recipes_of_the_guide_print_what_they_say() {
    if !can_run() {
        return;
    }
    let scene = Scene::new(&[]);
    scene.write("request.json", "{\"stream\":true}");
    let check = |script: &str, answer: &str, expected: &str| {
        scene.write("answer", answer);
        let (_server, url) = serve(&scene, &["answer"]);
        let (out, _) = shell(&scene, script, &format!("{url}/v1/chat/completions"));
        assert_eq!(out, expected, "{script}");
    };
    let (text, file) = (says("There.", "stop"), "{\"path\":\"a\",\"content\":\"one\\ntwo\"}");
    let read = scripts("Read the answer");
    let [alone, values, log] = &read[..] else { panic!("{read:?}") };
    check(alone, &text, "There.");
    check(values, &calls(&[("a", "write", file)]), "one\ntwo");
    check(log, &text, "There.\n");
    assert!(scene.read("log.ndjson").contains("\"finish_reason\":\"stop\""));
    let decide = scripts("Decide in a script");
    let [decide] = &decide[..] else { panic!("{decide:?}") };
    check(decide, &text, "There.\n");
    let again = "The answer was cut, or the provider is busy: ask again.\n";
    check(decide, &text[..text.len() / 2], again);
    check(decide, "{\"error\":{\"message\":\"busy\",\"code\":529}}", again);
    check(decide, "{\"error\":{\"message\":\"no\",\"code\":401}}", "no\n");
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
    let sum = "toolstream: 2 messages: 1 final_answer, 1 tool_calls; 3 tokens in, 2 out \
               (1 message without usage); calls: f 1\n";
    assert_eq!((out.as_str(), err.as_str()), ("", sum));
    assert_eq!(scene.read("summaries.ndjson").lines().count(), 2);
    scene.write("headers", "x-key: secret\n");
    scene.write("ask.json", "{\"stream\":true}");
    scene.write("answer", &text);
    scene.write("answer.txt", "<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>");
    let (_server, url) = serve(&scene, &["answer"]);
    let endpoint = format!("{url}/v1/chat/completions");
    let (out, _) = shell(&scene, &script("Another provider's stream"), &endpoint);
    assert!(out.contains("event: message_stop") && out.ends_with("data: [DONE]\n\n"), "{out}");
}

/// Runs a loop with a provider, and checks what was sent and what is left.
#[track_caller]
fn check_loop(provider: &Provider, tool: &str, script: &str) {
    let scene = scene();
    let (_server, host) = serve(&scene, &["1.sse", "2.sse"]);
    fs::remove_dir(scene.path("tools")).unwrap();
    scene.write("request.json", &provider.question.to_string());
    scene.write("headers", "x-key: secret\n");
    fs::create_dir(scene.path("notes")).unwrap();
    scene.write("notes/a", "The office is in Oslo.\n");
    let url = format!("{host}{}", provider.path);
    let (_, err) = shell(&scene, &format!("{tool}\n{script}"), &url);
    assert!(err.is_empty(), "{}: {err}", provider.path);
    let sent = sent(&scene);
    assert_eq!(sent.len(), 2, "{}: {err}", provider.path);
    // The model can't call what it is not told of: each request declares the tool.
    for body in &sent {
        let tools = body["tools"].to_string();
        assert!(tools.contains("search_notes"), "{}: {body}", provider.path);
    }
    let result = sent[1].pointer(provider.result).unwrap_or(&Value::Null).to_string();
    assert!(result.contains("The office is in Oslo."), "{}: {}", provider.path, sent[1]);
    let last = scene.read("request.json");
    assert!(last.contains("There."), "{last}");
}

#[test]
fn the_agents_of_the_guide_run() {
    let scripts = scripts("Agents");
    let [tool, agent, steps] = &scripts[..] else { panic!("{scripts:?}") };
    assert!(agent.contains("toolstream agent") && steps.contains("toolstream next"));
    for provider in providers().iter().filter(|_| can_run()) {
        check_loop(provider, tool, agent);
        check_loop(provider, tool, &steps.replace("openai-chat", provider.format));
    }
}

#[test]
fn the_captures_of_the_guide_play() {
    let scripts = scripts("Captures");
    let [record, play, listen, ..] = &scripts[..] else { panic!("{scripts:?}") };
    if !can_run() {
        return;
    }
    let scene = scene();
    scene.write("headers", "x-key: secret\n");
    scene.write("ask.json", &providers()[0].question.to_string());
    let (_server, url) = serve(&scene, &["2.sse"]);
    let (out, err) = shell(&scene, record, &format!("{url}/v1/chat/completions"));
    assert!(scene.read("answer.sse").starts_with("HTTP/1.1 200"));
    let (text, rest) = out.split_at(out.find('{').unwrap());
    let (timing, checked) = rest.split_at(rest.rfind('}').unwrap() + 1);
    assert_eq!((text, err.as_str()), ("There.\n", ""), "{out}");
    assert!(serde_json::from_str::<Value>(timing).unwrap()["total_ms"].is_u64(), "{timing}");
    assert!(checked.ends_with("1 checked: 1 new\n"), "{checked}");
    assert!(scene.read("answer.sse.golden").contains("There."));
    assert_eq!(shell(&scene, play, ""), ("There.\n".into(), String::new()));
    let server = Server::of(&mut command(&scene, &format!("exec {listen}")));
    let statuses = [0; 2].map(|_| server.ask("/v1/messages", &json!({})).0[9..12].to_owned());
    assert_eq!(statuses, ["529", "200"]);
    assert_eq!(scene.read("requests.ndjson").lines().count(), 2);
}

#[test]
fn the_conversions_of_the_guide_run() {
    let scripts = scripts("Another provider's stream");
    let [script] = &scripts[..] else { panic!("{scripts:?}") };
    if !can_run() {
        return;
    }
    let scene = scene();
    let (_server, url) = serve(&scene, &["1.sse"]);
    scene.write("headers", "x-key: secret\n");
    scene.write("ask.json", &providers()[0].question.to_string());
    let call = "{\"name\": \"search_notes\", \"arguments\": {\"query\": \"Bergen\"}}";
    scene.write("answer.txt", &format!("<tool_call>\n{call}\n</tool_call>"));
    let (out, err) = shell(&scene, script, &format!("{url}/v1/chat/completions"));
    let end = "data: {\"type\":\"message_stop\"}\n\n";
    let (live, plain) = out.split_at(out.find(end).unwrap() + end.len());
    for (stream, format, city) in [(live, "anthropic", "Oslo"), (plain, "openai-chat", "Bergen")] {
        scene.write("stream", stream);
        let run = scene.run(&["classify", "stream"]);
        let line = &run.lines[0];
        assert_eq!((&line["format"], &line["type"]), (&json!(format), &json!("tool_calls")));
        assert_eq!(line["tool_calls"][0]["arguments"]["query"], city, "{stream}\n{err}");
    }
}
