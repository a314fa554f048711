//! Answers in a format of the user's own: they go on in the request's form.

use serde_json::{Value, json};

use crate::agents::scene::{COMMAND, Scene, check_closed};

/// A format whose ids are numbers.
const FORMAT: &str = r#"
name = "gate"
kind = "type"
start = { id = "id" }
on = [
  { kind = "begin", begin = true },
  { kind = "text", text = "text" },
  { kind = "call", whole = true, call = { id = "id", name = "tool", arguments = "args" } },
  { kind = "end", end = true, stop = true },
]
"#;

fn answer(records: &[Value]) -> String {
    let ends = (json!({"type": "begin", "id": 17}), json!({"type": "end"}));
    let all = [&[ends.0], records, &[ends.1]].concat();
    all.iter().map(|record| format!("{record}\n")).collect()
}

/// Two rounds: two calls of the tool `t`, and the answer.
fn scene() -> Scene {
    let call = |id: u64| json!({"type": "call", "id": id, "tool": "t", "args": {"n": id}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let scene = Scene::new(&[
        answer(&[text("Let me "), text("see."), call(3), call(4)]),
        answer(&[text("Done.")]),
    ]);
    scene.write("gate.toml", FORMAT);
    scene.tool("t", "cat")
}

#[test]
fn an_answer_is_written_as_the_requests_provider_has_it() {
    let scene = scene();
    let user = json!([{"role": "user", "content": "Hi"}]);
    let contents = json!([{"role": "user", "parts": [{"text": "Hi"}]}]);
    for (request, list, call) in [
        (json!({"messages": user}), "messages", "tool_calls"),
        (json!({"messages": user, "system": "Be."}), "messages", "tool_use"),
        (json!({"input": "Hi"}), "input", "function_call"),
        (json!({"contents": contents}), "contents", "functionCall"),
    ] {
        scene.write("request.json", &request.to_string());
        let tools = ["--tools", "tools", "--approve", "auto", "-i"];
        let args = [&["next", "-f", "gate.toml"], &tools[..], &["request.json", "1.sse"]].concat();
        let run = scene.run(&args);
        assert_eq!((run.code, run.err.as_str()), (Some(10), ""), "{request}");
        let grown = scene.read("request.json");
        for part in [call, "Let me see.", "\"3\"", "\"4\""] {
            assert!(grown.contains(part), "{part}: {grown}");
        }
        let elements = scene.json("request.json")[list].as_array().unwrap().len();
        assert!(elements > 2, "{grown}");
        let run = scene.run(&["next", "-f", "gate.toml", "-i", "request.json", "2.sse"]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{request}");
        assert!(scene.read("request.json").contains("Done."), "{}", scene.read("request.json"));
    }
}

#[test]
fn a_request_whose_answers_cannot_be_written() {
    let scene = scene();
    let content = json!([{"text": "Hi"}]);
    let request = json!({"messages": [{"role": "user", "content": content}], "toolConfig": {}});
    scene.write("request.json", &request.to_string());
    let run = scene.run(&["next", "-f", "gate.toml", "request.json", "2.sse"]);
    assert_eq!((run.code, run.out.as_str()), (Some(3), ""));
    assert!(run.err.contains("the formats that `convert --to` writes"), "{}", run.err);
}

#[test]
fn a_loop() {
    let scene = scene();
    let first = ["agent", "-f", "gate.toml", "-i", "--tools", "tools", "--approve", "auto"];
    let run = scene.run(&[&first[..], &["request.json", "--", "sh", "-c", COMMAND]].concat());
    run.check(0, "final_answer");
    assert!(run.of("warning").is_empty(), "{}", run.out);
    check_closed(&scene.json("request.json"));
    assert_eq!(scene.results(), ["{\"n\":3}", "{\"n\":4}"]);
    assert_eq!(scene.messages().last().unwrap()["content"], "Done.");
}

/// The form of the request is the one that was named, whatever it looks like.
#[test]
fn a_loop_from_a_named_form() {
    let scene = scene();
    let first = ["agent", "-f", "gate.toml", "--for", "anthropic", "--model", "m", "--user", "Hi"];
    let rest = ["-i", "--tools", "tools", "--approve", "auto", "new.json", "--", "sh", "-c"];
    let run = scene.run(&[&first[..], &rest, &[COMMAND]].concat());
    run.check(0, "final_answer");
    let request = scene.read("new.json");
    assert!(request.contains("tool_use") && request.contains("Done."), "{request}");
}

/// A call that must not be run is answered; one that was found in text is a call as any other.
#[test]
fn calls_that_can_not_be_written_as_they_came() {
    let scene = scene();
    let call = |id: u64, args: Value| json!({"type": "call", "id": id, "tool": "t", "args": args});
    scene.write("1.sse", &answer(&[call(3, json!([1])), call(4, json!({"n": 2}))]));
    let markup = "<tool_call>\n{\"name\":\"t\",\"arguments\":{\"n\":1}}\n</tool_call>";
    scene.write("2.sse", &answer(&[json!({"type": "text", "text": markup})]));
    let next = ["next", "-f", "gate.toml", "--tools", "tools", "--approve", "auto", "-i"];
    for (args, answer, results) in [(&[][..], "1.sse", 2), (&["-d", "hermes"], "2.sse", 1)] {
        scene.write("request.json", "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}");
        let run = scene.run(&[&next[..], args, &["request.json", answer]].concat());
        assert_eq!(run.code, Some(10), "{answer}: {}", run.err);
        check_closed(&scene.json("request.json"));
        assert_eq!(scene.results().len(), results, "{answer}");
    }
}

/// The format inside has requests of its own.
#[test]
fn an_answer_in_an_envelope_stays_as_its_provider_sent_it() {
    let scene = scene();
    scene.write(
        "gate.toml",
        "name = \"gate\"\non = [{ wraps = { at = \"chunk\", formats = [\"openai-chat\"] } }]\n",
    );
    let call = json!({"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call], "own": 1});
    let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
    let body = json!({"id": "c", "object": "chat.completion", "choices": [choice]});
    scene.write("1.sse", &json!({ "chunk": body }).to_string());
    scene.write("results", "{\"id\":\"a\",\"output\":\"x\"}\n");
    let run =
        scene.run(&["next", "-f", "gate.toml", "--results", "results", "request.json", "1.sse"]);
    assert_eq!((run.code, run.err.as_str()), (Some(10), ""));
    assert!(run.out.contains("\"own\":1"), "{}", run.out);
}

#[test]
fn several_formats_are_found_out() {
    let scene = scene();
    scene.write("chat.ndjson", "{\"message\":{\"content\":\"Hi\"},\"done\":true}\n");
    let found = |formats: &[&str], name: &str| {
        let run = scene.run(&[&["detect", "--json"], formats, &[name]].concat());
        let verdict: Value = serde_json::from_str(&run.out).unwrap();
        verdict["format"].as_str().unwrap().to_owned()
    };
    for formats in [["-f", "gate.toml", "-f", "auto"], ["-f", "auto", "-f", "gate.toml"]] {
        assert_eq!(found(&formats, "2.sse"), "gate");
        assert_eq!(found(&formats, "chat.ndjson"), "ollama-chat");
    }
    scene.write("other.toml", &format!("{FORMAT}\n# Another file."));
    let run = scene.run(&["parse", "-f", "gate.toml", "-f", "other.toml", "2.sse"]);
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("two of the files have the name `gate`"), "{}", run.err);
}

/// A line before a stream is no answer, and a stream is no text: of an own format, too.
#[test]
fn lines_before_a_stream_of_an_own_format() {
    let scene = scene();
    scene.write("led.ndjson", &format!("gate 2.1\n{}", scene.read("2.sse")));
    let run = scene.run(&["classify", "-f", "gate.toml", "-f", "auto", "led.ndjson"]);
    assert_eq!(run.code, Some(3), "{}", run.out);
    assert!(run.err.contains("a record of gate stands in"), "{}", run.err);
    scene.write("gate.toml", &format!("banners = [\"gate \"]\n{FORMAT}"));
    let run = scene.run(&["classify", "-f", "gate.toml", "led.ndjson"]);
    assert!(run.out.contains("\"text\":\"Done.\""), "{}{}", run.out, run.err);
}

/// After a message, the next one may be of another format, the user's own or not.
#[test]
fn streams_of_an_own_format_and_of_others_in_one_input() {
    let scene = scene();
    let chat = "{\"model\":\"m\",\"message\":{\"content\":\"Hi\"},\"done\":true}\n";
    let (calls, done) = (scene.read("1.sse"), scene.read("2.sse"));
    for all in [[&calls, chat, &done], [chat, &calls, chat], [&done, &calls, chat]] {
        scene.write("all.ndjson", &all.concat());
        let args = ["classify", "-f", "gate.toml", "-f", "auto", "all.ndjson"];
        let run = scene.run(&args);
        let expected = all.map(|part| match part {
            _ if part == chat => ("ollama-chat", "Hi", 0),
            _ if part == done => ("gate", "Done.", 0),
            _ => ("gate", "Let me see.", 2),
        });
        let lines: Vec<Value> =
            run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let word = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
        let said = lines.iter().map(|line| {
            let calls = line["tool_calls"].as_array().unwrap().len();
            (word(line, "format"), word(line, "text"), calls)
        });
        let expected = expected.map(|(format, text, n)| (format.to_owned(), text.to_owned(), n));
        assert_eq!(said.collect::<Vec<_>>(), expected, "{}", run.err);
    }
}

/// What any rule of the format is for is its own, though another format's records look so too; and
/// where an agent runs the calls, no record beside its messages makes one of the caller's.
#[test]
fn a_record_after_a_message_of_an_own_format() {
    let scene = scene();
    let call = "{\"function\":{\"name\":\"erase\",\"arguments\":{}}}";
    let chat =
        format!("{{\"model\":\"m\",\"message\":{{\"tool_calls\":[{call}]}},\"done\":true}}\n");
    scene.write("all.ndjson", &(scene.read("2.sse") + &chat));
    let weak =
        "on = [\n{ kind = \"\", weak = true, has = \"message\", provider_event = \"message\" },";
    for format in [FORMAT.replace("on = [", weak), format!("executor = \"agent\"\n{FORMAT}")] {
        scene.write("gate.toml", &format);
        let run = scene.run(&["classify", "-f", "gate.toml", "-f", "auto", "all.ndjson"]);
        assert_eq!(run.out.lines().count(), 1, "{}", run.out);
        assert!(run.out.contains("\"text\":\"Done.\",\"tool_calls\":[]"), "{}", run.out);
    }
}

/// A call behind what is no field of an event stream is not passed over, though it proves nothing.
#[test]
fn a_torn_line_of_an_own_format() {
    let scene = scene();
    scene.write("gate.toml", &FORMAT.replace("whole = true,", "whole = true, weak = true,"));
    let lines = scene.read("1.sse");
    let mut lines: Vec<String> = lines.lines().map(|line| format!("data: {line}\n\n")).collect();
    lines[3] = format!("foo {}", lines[3]);
    scene.write("torn.sse", &lines.concat());
    let run = scene.run(&["classify", "-f", "gate.toml", "torn.sse"]);
    assert_eq!(run.code, Some(3), "{}", run.out);
    assert!(run.err.contains("a record stands in a line after something else"), "{}", run.err);
}

/// Its frames are counted, and its answers played one after the other, in any form.
#[test]
fn captures_of_an_own_format_are_played() {
    let scene = scene();
    let cut = scene.run(&["replay", "-f", "gate.toml", "--cut", "frame:1", "2.sse"]);
    assert_eq!((cut.code, cut.out.lines().count()), (Some(0), 1), "{}", cut.err);
    let server = ["replay", "-f", "gate.toml", "--by", "request", "--listen", "127.0.0.1:0"];
    let ask = "for n in 1 2; do curl -sS $TOOLSTREAM_URL/v1/gate -d '{\"messages\":[]}'; done";
    let run = scene.run(&[&server[..], &["1.sse", "2.sse", "--", "sh", "-c", ask]].concat());
    assert_eq!(run.out, scene.read("1.sse") + &scene.read("2.sse"), "{}", run.err);
    let ask = "curl -sS $TOOLSTREAM_URL/v1/messages -d '{\"messages\":[],\"stream\":true}'";
    let run = scene.run(&[&server[..], &["1.sse", "--", "sh", "-c", ask]].concat());
    assert!(run.out.contains("event: message_start"), "{}{}", run.out, run.err);
    assert_eq!(run.out.matches("\"type\":\"tool_use\"").count(), 2, "{}{}", run.out, run.err);
}
