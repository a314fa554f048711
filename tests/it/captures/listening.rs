//! Captures that are played over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::agents::scene::{Run, Scene, calls, interrupt, says};

/// A server, which is gone at the end.
pub struct Server {
    child: Child,
    pub address: String,
}

impl Server {
    /// Serves what these arguments of `replay` say. `address` is its host and port.
    pub fn start(scene: &Scene, args: &[&str]) -> Self {
        let args = [&["replay", "--listen", "127.0.0.1:0"], args].concat();
        Server::of(&mut scene.program(&args))
    }

    /// Starts a command that is a server.
    pub fn of(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("toolstream: listening on http://");
        let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
        Server { child, address }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    /// Sends these bytes, and returns all that comes back.
    pub fn send(&self, bytes: &str) -> String {
        let mut stream = self.connect();
        // It may be refused before all has been sent.
        let _ = stream.write_all(bytes.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    /// Asks for a path with a body. Returns the head and the body of the answer, whose chunks are
    /// taken off.
    pub fn ask(&self, path: &str, body: &Value) -> (String, String) {
        let body = body.to_string();
        let head = format!("POST {path} HTTP/1.1\r\nAuthorization: Bearer none\r\n");
        let answer = self.send(&format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        if !head.contains("transfer-encoding: chunked") {
            return (head.to_owned(), body.to_owned());
        }
        let (mut whole, mut rest) = (String::new(), body);
        while let Some((size, tail)) = rest.split_once("\r\n") {
            let size = usize::from_str_radix(size, 16).unwrap();
            whole.push_str(&tail[..size]);
            rest = tail.get(size + 2..).unwrap_or_default();
        }
        (head.to_owned(), whole)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A question of chat completions.
fn question() -> Value {
    json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Hi"}]})
}

const CHAT: &str = "/v1/chat/completions";

/// A scene with a call and a text.
fn two_answers() -> Scene {
    Scene::new(&[calls(&[("call_1", "f", "{\"city\":\"Oslo\"}")]), says("There.", "stop")])
}

/// What the program makes of an answer.
fn read(scene: &Scene, body: &str) -> Run {
    scene.write("answer", body);
    scene.run(&["classify", "answer"])
}

fn has_curl() -> bool {
    let has_curl = Command::new("curl").arg("--version").output().is_ok();
    if !has_curl {
        eprintln!("there is no curl: nothing is tested");
    }
    has_curl
}

#[test]
fn a_capture_is_the_answer() {
    let scene = two_answers();
    for args in [&["1.sse"][..], &["--chunk", "1", "1.sse"], &["--tps", "500", "1.sse"]] {
        let (head, body) = Server::start(&scene, args).ask(CHAT, &question());
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert!(head.contains("content-type: text/event-stream\r\n"), "{head}");
        assert_eq!(body, scene.read("1.sse"));
    }
    scene.write("ui.sse", "data: {\"type\":\"start\",\"messageId\":\"a\"}\n\ndata: [DONE]\n\n");
    let (head, _) = Server::start(&scene, &["ui.sse"]).ask("/api/anything", &json!({}));
    assert!(head.contains("x-vercel-ai-ui-message-stream: v1"), "{head}");
}

#[test]
fn a_recorded_head_is_the_head() {
    let scene = Scene::new(&[]);
    let error = "{\"error\":{\"message\":\"slow down\",\"type\":\"tokens\",\"code\":\"rate\"}}";
    let head =
        "HTTP/2 429 \r\ncontent-type: application/json\r\nretry-after: 7\r\ncontent-length: 9";
    scene.write("1.sse", &format!("{head}\r\n\r\n{error}"));
    let (head, body) = Server::start(&scene, &["1.sse"]).ask(CHAT, &question());
    assert_eq!(body, error);
    let expected = "HTTP/1.1 429 \r\ncontent-type: application/json\r\nretry-after: 7\r\n\
                    transfer-encoding: chunked\r\nconnection: close";
    assert_eq!(head, expected);
}

#[test]
fn each_response_of_a_capture_is_an_answer() {
    let scene = two_answers();
    let [one, two] = ["1.sse", "2.sse"].map(|name| scene.read(name));
    let capture = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nx-number: 1\r\n\r\n{one}\r\n\
         HTTP/1.1 503 \r\nretry-after: 7\r\n\r\n\
         HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{}\r\n{:x}\r\n{}\r\n0\r\n\r\n",
        one.len(),
        &two[..9],
        two.len() - 9,
        &two[9..]
    );
    scene.write("all.http", &capture);
    let ms = |time, length| format!("{time} {length}\n");
    scene.write("all.http.times", &(ms(1, 100) + &ms(2, capture.len() - 100)));
    for args in [&[][..], &["--speed", "1"]] {
        let args = [args, &["--by", "request", "all.http"]].concat();
        let server = Server::start(&scene, &args);
        let answers = [0; 4].map(|_| server.ask(CHAT, &question()));
        assert!(answers[0].0.contains("x-number: 1\r\n"), "{answers:?}");
        assert!(answers[1].0.contains("retry-after: 7\r\n"), "{answers:?}");
        assert_eq!(answers.each_ref().map(|(head, _)| &head[9..12]), ["200", "503", "200", "400"]);
        assert_eq!(answers.each_ref().map(|(_, body)| body.as_str())[..3], [&one, "", &two]);
    }
    // Without HTTP, all of its bytes are played.
    assert_eq!(scene.run(&["replay", "all.http"]).out, capture);
}

#[test]
fn a_request_that_is_not_json_is_refused() {
    let scene = two_answers();
    let server = Server::start(&scene, &["--by", "request", "1.sse"]);
    for (path, kind) in [(CHAT, "invalid_request_error"), ("/v1/messages", "invalid_request_error")]
    {
        let head = format!("POST {path} HTTP/1.1\r\nContent-Length: 9\r\n\r\n");
        let answer = server.send(&format!("{head}{{\"model\":"));
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        let error: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(error["error"]["type"], kind, "{error}");
    }
    // It takes no answer from the others.
    assert_eq!(server.ask(CHAT, &question()).1, scene.read("1.sse"));
}

#[test]
fn the_turn_says_which_capture_answers() {
    let scene = two_answers();
    scene.write("3.sse", &says("There.", "stop"));
    scene.write("4.sse", &says("There is more of it.", "stop"));
    let user = json!({"role": "user", "content": "Hi"});
    let says = |text: &str| json!({"role": "assistant", "content": text});
    let calls = |id: &str, arguments: &str| {
        json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "f", "arguments": arguments}}]})
    };
    let (call, other) = (calls("call_1", "{}"), calls("x", "{\"city\": \"Os\\u006co\"}"));
    let (there, more) = (says(" There.\n"), says("There is\nmore of it."));
    let (example, cut) = (says("Hello! What can I do?"), says("There is mo"));
    let server = Server::start(&scene, &["1.sse", "2.sse", "3.sse", "4.sse"]);
    let check = |messages: &[&Value], file: &str| {
        let request = json!({"stream": true, "messages": messages});
        assert_eq!(server.ask(CHAT, &request).1, scene.read(file), "{request}");
    };
    for _ in 0..2 {
        check(&[&user], "1.sse");
        // Examples, the beginning of an answer and what was cut are no answers.
        check(&[&user, &example, &user, &says("{")], "1.sse");
        check(&[&user, &call, &user], "2.sse");
        check(&[&user, &other, &user], "2.sse");
        check(&[&example, &user, &call, &user, &there, &user], "3.sse");
        check(&[&user, &call, &there, &there, &user], "4.sse");
        check(&[&user, &call, &user, &there, &user, &there, &user, &cut, &user], "4.sse");
        // A client may forget the beginning.
        check(&[&user, &there, &user], "3.sse");
    }
    let all = [&user, &call, &user, &there, &user, &there, &user, &more, &user];
    let (head, body) = server.ask(CHAT, &json!({"messages": all}));
    let why = "There are no more answers: this would be number 5.";
    assert!(head.starts_with("HTTP/1.1 400 "), "{head}");
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["error"]["message"], why);
    let server = Server::start(&scene, &["--by", "request", "1.sse", "2.sse"]);
    assert_eq!(server.ask(CHAT, &question()).1, scene.read("1.sse"));
    assert_eq!(server.ask(CHAT, &question()).1, scene.read("2.sse"));
    assert!(server.ask(CHAT, &question()).0.starts_with("HTTP/1.1 400 "));
}

#[test]
fn the_path_says_which_capture_answers() {
    let scene = two_answers();
    let ollama = "{\"model\":\"m\",\"message\":{\"content\":\"Hi\"},\"done\":true}\n";
    scene.write("ollama", ollama);
    let server = Server::start(&scene, &["--by", "path", "1.sse", "ollama"]);
    assert_eq!(server.ask(CHAT, &question()).1, scene.read("1.sse"));
    assert_eq!(server.ask("/api/chat", &question()).1, ollama);
    assert!(server.ask("/v1/messages", &question()).0.starts_with("HTTP/1.1 400 "));
}

/// The conversation after the first answer, as each API holds it: the call, with or without its id.
#[test]
fn the_turns_of_each_provider_are_found() {
    let scene = two_answers();
    scene.write("1.sse", &scene.read("1.sse").replace("\"c1\"", "\"c0\""));
    let server = Server::start(&scene, &["1.sse", "2.sse"]);
    let (user, city) = (json!({"role": "user", "content": "Hi"}), json!({"city": "Oslo"}));
    let requests = [
        (
            "/v1/messages",
            json!({"messages": [user, {"role": "assistant", "content": [
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "call_1", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1"}]}]}),
        ),
        (
            "/v1/responses",
            json!({"input": [user, {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": ""}]}),
        ),
        // The provider keeps the conversation.
        ("/v1/responses", json!({"previous_response_id": "c0", "input": [user]})),
        (
            "/v1/responses",
            json!({"previous_response_id": "resp_x", "input": [
            {"type": "function_call_output", "call_id": "call_1", "output": ""}]}),
        ),
        (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            json!({"contents": [{"role": "user"},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": city}}]},
            {"role": "user"}]}),
        ),
        (
            "/api/chat",
            json!({"messages": [user, {"role": "assistant", "content": "",
            "tool_calls": [{"function": {"name": "f", "arguments": city}}]}]}),
        ),
    ];
    for (path, mut request) in requests {
        request["stream"] = true.into();
        let (head, body) = server.ask(path, &request);
        assert!(head.starts_with("HTTP/1.1 200 "), "{path} {body}");
        assert!(body.contains("There.") && !body.contains("Oslo"), "{path} {request} {body}");
        request.as_object_mut().unwrap().remove("previous_response_id");
        let list = request.as_object_mut().unwrap().values_mut().find_map(Value::as_array_mut);
        list.unwrap().truncate(1);
        assert!(server.ask(path, &request).1.contains("Oslo"), "{path} {request}");
    }
}

#[test]
fn a_capture_of_several_messages_says_so() {
    let scene = two_answers();
    scene.write("all.sse", &format!("{}{}", scene.read("1.sse"), scene.read("2.sse")));
    let said = |capture: &str| {
        let run = scene.run(&["replay", "--listen", "127.0.0.1:0", capture, "--", "true"]);
        assert_eq!(run.code, Some(0), "{}", run.err);
        run.err
    };
    assert_eq!(said("1.sse"), "");
    let expected = "toolstream: all.sse: it holds several messages: ";
    assert!(said("all.sse").starts_with(expected), "{}", said("all.sse"));
}

#[test]
fn the_endpoint_says_the_format() {
    let scene = two_answers();
    let server = Server::start(&scene, &["1.sse", "2.sse"]);
    for (path, list, format) in [
        (CHAT, "messages", "openai-chat"),
        ("/v1/messages", "messages", "anthropic"),
        ("/v1/responses", "input", "openai-responses"),
        ("/api/chat", "messages", "ollama-chat"),
    ] {
        for stream in [Some(true), Some(false), None] {
            let request = json!({"stream": stream, list: [{"role": "user", "content": "Hi"}]});
            let (head, body) = server.ask(path, &request);
            let is_stream = stream.unwrap_or(path == "/api/chat");
            assert_eq!(head.contains("application/json"), !is_stream, "{path} {head}");
            let run = read(&scene, &body);
            let line = &run.lines[0];
            assert_eq!((line["format"].as_str(), run.code), (Some(format), Some(0)), "{body}");
            assert_eq!(line["tool_calls"][0]["arguments"]["city"], "Oslo", "{path} {body}");
        }
    }
    let (head, body) = server.ask("/v2/chat", &question());
    let why = "1.sse cannot be answered as a stream of cohere, which cannot be written";
    assert!(head.starts_with("HTTP/1.1 400 ") && body.contains(why), "{head} {body}");
    // Of Google, the address says what the answer is.
    for (path, media, begin) in [
        ("streamGenerateContent?alt=sse", "text/event-stream", "data: {"),
        ("streamGenerateContent?key=k", "application/json", "[{\"candidates\""),
        ("generateContent", "application/json", "{\"candidates\""),
    ] {
        let (head, body) =
            server.ask(&format!("/v1beta/models/m:{path}"), &json!({"contents": []}));
        assert!(head.contains(media) && body.trim_start().starts_with(begin), "{head}\n{body}");
        let line = &read(&scene, &body).lines[0];
        assert_eq!(line["format"], "gemini", "{body}");
        assert_eq!(line["tool_calls"][0]["arguments"]["city"], "Oslo", "{body}");
    }
}

#[test]
fn errors_have_the_form_of_the_provider() {
    let scene = two_answers();
    let server = Server::start(&scene, &["--status", "529", "1.sse"]);
    for (path, expected) in [
        (
            CHAT,
            json!({"error": {"message": "Overloaded.", "type": "server_error", "param": null,
            "code": "overloaded_error"}}),
        ),
        (
            "/v1/messages",
            json!({"type": "error",
            "error": {"type": "overloaded_error", "message": "Overloaded."}}),
        ),
        (
            "/v1beta/models/m:streamGenerateContent",
            json!({"error": {"code": 529,
            "message": "Overloaded.", "status": "UNAVAILABLE"}}),
        ),
        ("/api/chat", json!({"error": "Overloaded."})),
    ] {
        let (head, body) = server.ask(path, &question());
        assert!(head.starts_with("HTTP/1.1 529 "), "{head}");
        assert!(head.contains("retry-after: 1\r\n"), "{head}");
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected, "{path}");
    }
    let server = Server::start(&scene, &["--fail", "2:503", "1.sse"]);
    let statuses = [0; 3].map(|_| server.ask(CHAT, &question()).0[9..12].to_owned());
    assert_eq!(statuses, ["503", "503", "200"]);
}

#[test]
fn who_only_looks_takes_no_answer() {
    let scene = two_answers();
    let server = Server::start(&scene, &["--by", "request", "--fail", "1:503", "1.sse", "2.sse"]);
    for look in
        ["GET / HTTP/1.1\r\n\r\n", "HEAD / HTTP/1.1\r\n\r\n", "HEAD /v1/models HTTP/1.1\r\n\r\n"]
    {
        let answer = server.send(look);
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\n"), "{answer}");
    }
    let get = |path: &str, headers: &str| {
        let answer = server.send(&format!("GET {path} HTTP/1.1\r\n{headers}\r\n"));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].to_owned(), serde_json::from_str::<Value>(body).unwrap())
    };
    let (status, models) = get("/v1/models?limit=9", "");
    assert_eq!((status.as_str(), &models["data"][0]["id"]), ("200", &json!("m")), "{models}");
    let (status, models) = get("/v1beta/models", "");
    assert_eq!((status.as_str(), &models["models"][0]["name"]), ("200", &json!("models/m")));
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    assert_eq!(get("/v1/responses", upgrade).0, "426");
    // A client of HTTP/2 asks for it, and goes on without.
    assert_eq!(get("/v1/models", &upgrade.replace("websocket", "h2c")).0, "200");
    let (status, error) = get("/v1/responses/resp_1", "");
    assert_eq!((status.as_str(), &error["error"]["code"]), ("404", &json!("model_not_found")));
    for path in ["/api/show", "/v1/messages/batches", "/v1/embeddings"] {
        assert!(server.ask(path, &question()).0.starts_with("HTTP/1.1 404 "), "{path}");
    }
    assert!(server.ask(CHAT, &question()).0.starts_with("HTTP/1.1 503 "));
    assert!(server.ask(CHAT, &question()).1.contains("Oslo"));
    let count =
        |path: &str| -> Value { serde_json::from_str(&server.ask(path, &question()).1).unwrap() };
    // The usage of the answer that comes next.
    assert_eq!(count("/v1/messages/count_tokens?beta=true"), json!({"input_tokens": 3}));
    assert_eq!(count("/v1beta/models/m:countTokens"), json!({"totalTokens": 3}));
    assert_eq!(count("/v1/responses/input_tokens")["input_tokens"], 3);
    assert!(server.ask(CHAT, &question()).1.contains("There."));
}

/// A capture whose format no endpoint tells is the answer to whatever is posted.
#[test]
fn a_format_without_an_endpoint_has_any() {
    let scene = Scene::new(&[]);
    scene.write("words", "Hello there.");
    let server = Server::start(&scene, &["words"]);
    assert_eq!(server.ask("/generate", &json!({})).1, "Hello there.");
    assert!(server.ask("/v1/messages", &question()).1.contains("event: message_stop"));
    let get = server.send("GET /favicon.ico HTTP/1.1\r\n\r\n");
    assert!(get.starts_with("HTTP/1.1 404 "), "{get}");
}

/// Two answers of a provider whose calls have no ids: a client must not take one call for the other.
#[test]
fn calls_without_ids_get_some_that_differ() {
    let scene = Scene::new(&[]);
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {"city": "Oslo"}}});
    let answer = json!({"candidates": [{"content": {"role": "model", "parts": [call("f"), call("f")]},
        "finishReason": "STOP"}]});
    scene.write("a.json", &answer.to_string());
    let ids = || -> Vec<String> {
        let server = Server::start(&scene, &["--by", "request", "a.json", "a.json"]);
        let bodies = [0; 2].map(|_| server.ask("/v1/messages", &question()).1);
        let lines = bodies.map(|body| read(&scene, &body).lines[0]["tool_calls"].clone());
        lines
            .iter()
            .flat_map(|calls| calls.as_array().unwrap().clone())
            .map(|call| call["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let first = ids();
    let different: std::collections::BTreeSet<_> = first.iter().collect();
    assert_eq!((first.len(), different.len()), (4, 4), "{first:?}");
    assert_eq!(ids(), first);
    // Each id leads to its own answer, though the answers are alike.
    let server = Server::start(&scene, &["a.json", "a.json"]);
    let body = |id: &str| {
        let call = json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
        let messages =
            json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [call]}]);
        server.ask("/v1/messages", &json!({"messages": messages})).1
    };
    assert!(body(&first[0]).contains(&first[2]), "{first:?}");
    assert!(body(&first[2]).contains("There are no more answers"));
}

/// Codex declares a tool that takes free text: it ends at arguments in JSON.
#[test]
fn a_custom_tool_is_called_as_one() {
    let scene = Scene::new(&[]);
    let patch = "*** Begin Patch\n\"ü\"\n";
    let arguments = json!({"input": patch}).to_string();
    scene.write("a.sse", &calls(&[("call_1", "apply_patch", &arguments), ("call_2", "f", "{}")]));
    let server = Server::start(&scene, &["a.sse"]);
    let request = json!({"stream": true, "input": "Hi", "tools": [
        {"type": "custom", "name": "apply_patch"}, {"type": "function", "name": "f"}]});
    let (_, body) = server.ask("/v1/responses", &request);
    assert!(body.contains("response.custom_tool_call_input.done"), "{body}");
    let check = |body: &str| {
        let calls = read(&scene, body).lines[0]["tool_calls"].clone();
        assert_eq!((&calls[0]["input"], &calls[1]["arguments"]), (&json!(patch), &json!({})));
    };
    check(&body);
    let request = json!({"stream": true, "messages": [], "tools": [
        {"type": "custom", "custom": {"name": "apply_patch"}}]});
    check(&server.ask(CHAT, &request).1);
    // So is a call that its own provider wrote otherwise.
    scene.write("b.sse", &server.ask("/v1/responses", &json!({"stream": true, "input": "Hi"})).1);
    assert!(!scene.read("b.sse").contains("custom"));
    let server = Server::start(&scene, &["b.sse"]);
    let request = json!({"stream": true, "input": "Hi", "tools": [{"type": "custom", "name": "apply_patch"}]});
    check(&server.ask("/v1/responses", &request).1);
}

/// The fault is in one answer, whatever form it has, and the next one is whole.
#[test]
fn a_fault_is_in_the_first_requests_alone() {
    let scene = two_answers();
    let paths = [CHAT, "/v1/messages", "/v1/responses", "/api/chat"];
    for (path, stream) in paths.iter().flat_map(|path| [(path, true), (path, false)]) {
        for (fault, code) in [
            (&["--cut", "frame:1"][..], 4),
            (&["--cut", "150"], 4),
            (&["--drop", "--cut", "frame:1"], 4),
            (&["--error", "529@frame:2"], 9),
        ] {
            let by = ["--by", "request", "--first-requests", "1", "2.sse", "2.sse"];
            // Ollama's errors have words alone.
            let code = if (code, *path) == (9, "/api/chat") { 5 } else { code };
            let server = Server::start(&scene, &[fault, &by].concat());
            let [first, next] = [0; 2].map(|_| server.ask(path, &json!({"stream": stream})).1);
            let (first, next) = (read(&scene, &first), read(&scene, &next));
            assert_eq!((first.code, next.code), (Some(code), Some(0)), "{path} {stream} {fault:?}");
            assert_eq!(next.lines[0]["text"], "There.");
        }
    }
    // An error takes the place of a body, with its status.
    for path in paths {
        let server = Server::start(&scene, &["--error", "529@frame:1", "2.sse"]);
        let (head, body) = server.ask(path, &json!({"stream": false}));
        assert!(head.starts_with("HTTP/1.1 529 "), "{path} {head}");
        let (head, stream) = server.ask(path, &json!({"stream": true}));
        assert!(head.starts_with("HTTP/1.1 200 "), "{path} {head}");
        for answer in [body, stream] {
            let code = if path == "/api/chat" { 5 } else { 9 };
            assert_eq!(read(&scene, &answer).code, Some(code), "{path} {answer}");
        }
    }
}

/// The word is one provider's, and the error another's own.
#[test]
fn an_error_is_in_the_words_of_the_endpoint() {
    let scene = two_answers();
    scene.write(
        "a.sse",
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\
         \"message\",\"role\":\"assistant\",\"model\":\"claude\",\"content\":[]}}\n\nevent: message_stop\n\
         data: {\"type\":\"message_stop\"}\n\n",
    );
    let server = Server::start(&scene, &["--error", "overloaded_error@frame:1", "a.sse"]);
    for (path, word) in
        [("/v1/messages", "overloaded_error"), ("/m:streamGenerateContent?alt=sse", "\"code\":529")]
    {
        let (head, body) = server.ask(path, &json!({"stream": true}));
        assert!(head.starts_with("HTTP/1.1 200 ") && body.contains(word), "{path} {head} {body}");
    }
}

#[test]
fn requests_are_logged_without_keys() {
    let scene = two_answers();
    let server = Server::start(&scene, &["--log", "log", "1.sse"]);
    server.ask(CHAT, &json!({"messages": [],  "a": "b\nc"}));
    let key = "sk-ant-abcdefghijklmnop";
    server.ask(&format!("{CHAT}?key={key}"), &json!({"messages": [], "api_key": key, "a": key}));
    server.send("POST /models HTTP/1.1\r\nContent-Length: 3\r\n\r\nHi!");
    let log = scene.read("log");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let headers = json!({"authorization": "Bearer red1", "content-length": "26"});
    assert!(!log.contains("abcdefgh"), "{log}");
    let mode = std::fs::metadata(scene.path("log")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(
        lines[0],
        json!({"method": "POST", "path": CHAT, "headers": headers,
        "body": {"messages": [], "a": "b\nc"}, "status": 200, "file": "1.sse"})
    );
    assert_eq!((&lines[2]["path"], &lines[2]["body"]), (&json!("/models"), &json!("Hi!")));
}

/// What curl says: its exit status, and the body.
fn curl(server: &Server, args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new("curl");
    command.args(["-sSN", &format!("http://{}{CHAT}", server.address)]).args(args);
    if !args.contains(&"--data-binary") {
        command.args(["--data", "{\"stream\":true}"]);
    }
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_cut_is_an_end_and_a_drop_is_none() {
    if !has_curl() {
        return;
    }
    let scene = two_answers();
    let capture = scene.read("1.sse");
    let args = ["--chunk", "random:3", "--cut", "70", "1.sse"];
    assert_eq!(curl(&Server::start(&scene, &args), &[]), (Some(0), capture[..70].into()));
    let args = ["--drop", "--cut", "frame:1", "1.sse"];
    let (end, _) = scene_frames(&capture);
    // 18 is a partial file.
    let server = Server::start(&scene, &args);
    assert_eq!(curl(&server, &[]), (Some(18), capture[..end].into()));
    // Node takes a body that breaks for whole, if the connection was to be closed.
    assert!(!server.ask(CHAT, &question()).0.contains("connection: close"));
    let args = ["--hang", "--keep-alive", "10", "1.sse"];
    let (code, body) = curl(&Server::start(&scene, &args), &["--max-time", "1"]);
    // 28 is a timeout.
    assert_eq!(code, Some(28));
    assert!(body.starts_with(&capture) && body.ends_with(": keep-alive\n\n"), "{body}");
    // curl asks before it sends a megabyte.
    let server = Server::start(&scene, &["1.sse"]);
    scene.write("large", &format!("{{\"stream\":true,\"a\":\"{}\"}}", "x".repeat(2 << 20)));
    let large = format!("@{}", scene.path("large").display());
    assert_eq!(curl(&server, &["--data-binary", &large]), (Some(0), capture));
}

/// The offsets after the first two frames.
fn scene_frames(capture: &str) -> (usize, usize) {
    let mut ends = capture.match_indices("\n\n").map(|(at, _)| at + 2);
    (ends.next().unwrap(), ends.next().unwrap())
}

#[test]
fn an_agent_loops_against_a_server() {
    if !has_curl() {
        return;
    }
    let scene = two_answers().tool("f", "cat");
    let server = Server::start(&scene, &["--fail", "1:503", "--by", "turn", "1.sse", "2.sse"]);
    let url = format!("http://{}{CHAT}", server.address);
    let script = "curl -isSN \"$0\" --json @-";
    let args = [
        &["agent", "-i", "--tools", "tools", "--approve", "auto", "request.json", "--"][..],
        &["sh", "-c", script, &url],
    ];
    let run = scene.run(&args.concat());
    assert_eq!(run.lines.last().unwrap()["reason"], "final_answer", "{}{}", run.out, run.err);
    assert_eq!(scene.results(), ["{\"city\":\"Oslo\"}"]);
    assert!(run.err.contains("again in 1 s"), "{}", run.err);
}

#[test]
fn a_client_may_do_what_it_wants() {
    let scene = two_answers();
    let server = Server::start(&scene, &["--max-event", "1K", "1.sse"]);
    // It leaves before it says anything, in the middle, before the answer.
    drop(server.connect());
    for part in ["POST / HT", "POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\n{"] {
        server.connect().write_all(part.as_bytes()).unwrap();
    }
    let silent = server.connect();
    let half = server.connect();
    (&half).write_all(b"GET /a HTTP/1.1\r\n").unwrap();
    half.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    (&half).read_to_string(&mut answer).unwrap();
    assert!(answer.contains("the request ended inside its head"), "{answer}");
    for (request, status) in [
        (
            format!("POST / HTTP/1.1\r\ncontent-length: 1073741824\r\n\r\n{}", "x".repeat(1 << 20)),
            "413",
        ),
        (format!("GET /a HTTP/1.1\r\na: {}", "x".repeat(1 << 17)), "431"),
        ("\u{16}\u{3}\u{1}\r\n\r\n".to_owned(), "400"),
    ] {
        let answer = server.send(&request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    assert_eq!(server.ask(CHAT, &question()).1, scene.read("1.sse"));
    drop(silent);
}

/// Sends a body of 1 GiB, as long as the server takes it, and returns its answer.
fn flood(server: &Server, head: &str, begin: &str, end: &str) -> String {
    let mut stream = server.connect();
    let mut reader = stream.try_clone().unwrap();
    // What it has not read when it leaves is lost with its answer.
    let answer = std::thread::spawn(move || {
        let mut answer = Vec::new();
        let _ = reader.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    });
    let piece = [begin, &"x".repeat(1 << 16), end].concat();
    let head = format!("POST {CHAT} HTTP/1.1\r\n{head}\r\n\r\n");
    let _ = stream.write_all(head.as_bytes());
    let _ = (0..1 << 14).try_for_each(|_| stream.write_all(piece.as_bytes()));
    drop(stream.shutdown(Shutdown::Write));
    answer.join().unwrap()
}

#[test]
fn a_gigabyte_is_refused() {
    let scene = two_answers();
    let server = Server::start(&scene, &["--max-event", "1M", "1.sse"]);
    for (head, begin, end) in [
        ("content-length: 1073741824", "", ""),
        ("transfer-encoding: chunked", "10000\r\n", "\r\n"),
    ] {
        let answer = flood(&server, head, begin, end);
        assert!(answer.starts_with("HTTP/1.1 413 "), "{head}: {answer}");
        assert!(answer.contains("the body is larger than --max-event 1048576"), "{answer}");
    }
    assert_eq!(server.ask(CHAT, &question()).1, scene.read("1.sse"));
}

#[test]
fn a_server_ends_by_a_signal() {
    let scene = two_answers();
    for signal in [Signal::TERM, interrupt()] {
        let mut server = Server::start(&scene, &["--hang", "1.sse"]);
        let mut stream = server.connect();
        let head = format!("POST {CHAT} HTTP/1.1\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream.read_exact(&mut [0; 20]).unwrap();
        kill_process(Pid::from_child(&server.child), signal).unwrap();
        let status = server.child.wait().unwrap();
        assert_eq!(status.signal(), Some(signal.as_raw()));
    }
}

#[test]
fn what_cannot_be_served() {
    let scene = two_answers();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let all = "--listen 0.0.0.0:0: others could reach it, which --listen-anywhere allows";
    for (args, why) in [
        (&["--listen", &taken, "1.sse"][..], format!("--listen {taken}: Address already in use")),
        (&["--listen", "0.0.0.0:0", "1.sse"], all.to_owned()),
        (
            &["--listen", "127.0.0.1", "1.sse"],
            "--listen 127.0.0.1: name a host and a port, as 127.0.0.1:8080".into(),
        ),
        (&["--listen", "127.0.0.1:0", "--cut", "frame:99", "1.sse"], "1.sse: there are 3".into()),
        (&["--http", "--log", "none/log", "1.sse"], "none/log: No such file".into()),
    ] {
        let run = scene.run(&[&["replay"], args].concat());
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args:?} {}", run.err);
        assert!(run.err.starts_with(&format!("toolstream: {why}")), "{args:?} {}", run.err);
    }
    for args in [&["--drop"][..], &["--status", "200", "--http"], &["--fail", "2", "--http"]] {
        assert_eq!(scene.run(&[&["replay"], args, &["1.sse"]].concat()).code, Some(2), "{args:?}");
    }
    let args = ["--listen", "0.0.0.0:0", "--listen-anywhere", "1.sse"];
    let mut child = scene.program(&[&["replay"], &args[..]].concat()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("toolstream: listening on http://0.0.0.0:"), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A test in one line: COMMAND knows the address, is answered, and its status is the program's.
#[test]
fn a_command_is_run_against_the_captures() {
    let scene = two_answers();
    let run = |script: &str| {
        let args = ["replay", "--listen", "127.0.0.1:0", "--port-file", "port", "1.sse", "--"];
        scene.run(&[&args[..], &["sh", "-c", script]].concat())
    };
    let ran = run("echo $TOOLSTREAM_URL; exit 4");
    assert_eq!((ran.code, ran.err.as_str()), (Some(4), ""));
    assert!(ran.out.starts_with("http://127.0.0.1:") && ran.out == scene.read("port"));
    assert_eq!(run("kill -9 $$").code, Some(137));
    if has_curl() {
        let asked = run("curl -sS $TOOLSTREAM_URL/v1/messages --json '{\"stream\":true}'");
        assert!(asked.out.contains("event: message_stop"), "{}{}", asked.out, asked.err);
    }
    for (args, code, why) in [
        (&["--listen", "127.0.0.1:0", "1.sse", "--", "no-such-program"][..], 7, "export -f"),
        (
            &["--listen", "127.0.0.1:0", "--port-file", "none/p", "1.sse", "--", "true"],
            8,
            "none/p: ",
        ),
        (&["1.sse", "--", "true"], 2, "--listen"),
    ] {
        let run = scene.run(&[&["replay"], args].concat());
        assert_eq!((run.code, run.out.as_str()), (Some(code), ""), "{}", run.err);
        assert!(run.err.contains(why), "{}", run.err);
    }
}

/// Runs `replay --http` with this input.
fn http(scene: &Scene, input: &str, args: &[&str]) -> Run {
    let mut command = scene.program(&[&["replay", "--http"], args, &["1.sse"]].concat());
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Run::new(child.wait_with_output().unwrap())
}

#[test]
fn one_exchange_goes_over_the_standard_streams() {
    let scene = two_answers();
    let run = http(&scene, "POST /v1/messages HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", &[]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    scene.write("answer", &run.out);
    let read = scene.run(&["classify", "answer"]);
    assert_eq!(read.lines[0]["format"], "anthropic");
    assert_eq!(read.lines[0]["tool_calls"][0]["arguments"]["city"], "Oslo");
    // HTTP/1.0 knows no chunks.
    let body = "{\"stream\":true}";
    let request = format!("POST {CHAT} HTTP/1.0\r\nContent-Length: 15\r\n\r\n{body}");
    let run = http(&scene, &request, &[]);
    assert!(run.out.ends_with(&format!("\r\n\r\n{}", scene.read("1.sse"))), "{}", run.out);
    for (input, code, status) in
        [("", 4, ""), ("hello\r\n\r\n", 3, "HTTP/1.1 400 "), ("GET / HT", 3, "HTTP/1.1 400 ")]
    {
        let run = http(&scene, input, &[]);
        assert_eq!(run.code, Some(code), "{input:?} {}", run.err);
        assert!(run.out.starts_with(status) && run.err.starts_with("toolstream: standard input: "));
    }
    let large = "POST / HTTP/1.1\r\nContent-Length: 9999\r\n\r\n";
    assert_eq!(http(&scene, large, &["--max-event", "1K"]).code, Some(6));
    let args = ["--tps", "2"];
    let started = std::time::Instant::now();
    http(&scene, &request, &args);
    assert!(started.elapsed() >= Duration::from_secs(1));
}
