//! Memory on streams without end: it stays flat, or a limit of its own ends the
//! stream. Records are made while they are fed, in numbers that no machine has
//! the room to keep.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::{fs, thread};

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolstream");

/// The bytes that are fed where records are repeats of each other, which is fast.
const MUCH: usize = 200 << 20;
/// The bytes that are fed where each record is decoded: at a growth of a tenth
/// of a byte a byte, they would be more than [`SPREAD`].
const SOME: usize = 20 << 20;
/// The growth of memory that is none: pages that the allocator keeps.
const SPREAD: usize = 2 << 20;

/// The greatest memory that a process has had, in bytes. It has ended if there is none.
fn peak(child: &Child) -> Option<usize> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let pages: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages << 10)
}

/// A program whose input goes on and on, and whose output nobody keeps.
fn start(args: &[&str]) -> Child {
    let mut command = Command::new(PROGRAM);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Feeds records until there are so many bytes or nobody reads them; returns how
/// many there were.
fn feed(child: &mut Child, from: u64, bytes: usize, record: fn(u64) -> String) -> u64 {
    let stdin = child.stdin.as_mut().unwrap();
    let (mut number, mut fed) = (from, 0);
    while fed < bytes {
        let mut piece = String::new();
        while piece.len() < 64 << 10 {
            piece.push_str(&record(number));
            number += 1;
        }
        fed += piece.len();
        if stdin.write_all(piece.as_bytes()).is_err() {
            break;
        }
    }
    number
}

/// Memory has its size after a fiftieth of the bytes.
#[track_caller]
fn check_flat(args: &[&str], head: &str, bytes: usize, record: fn(u64) -> String) {
    let mut child = start(args);
    child.stdin.as_mut().unwrap().write_all(head.as_bytes()).unwrap();
    let number = feed(&mut child, 0, bytes / 50, record);
    let first = peak(&child).expect("it goes on reading");
    feed(&mut child, number, bytes, record);
    let last = peak(&child).expect("it goes on reading");
    drop(child.stdin.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    child.wait().unwrap();
    assert!(last < first + SPREAD, "{first} bytes became {last}: {stderr}");
}

/// A limit ends the stream, by its name, long before memory could.
#[track_caller]
fn check_limit(args: &[&str], head: &str, limit: &str, record: fn(u64) -> String) {
    let mut child = start(args);
    child.stdin.as_mut().unwrap().write_all(head.as_bytes()).unwrap();
    feed(&mut child, 0, MUCH, record);
    let last = peak(&child);
    drop(child.stdin.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    let code = child.wait().unwrap().code();
    assert_eq!((code, stderr.contains(limit)), (Some(6), true), "{stderr}");
    assert!(last.is_none_or(|last| last < 128 << 20), "{last:?} bytes");
}

fn chunk(members: &str) -> String {
    format!("data: {{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",{members}}}\n\n")
}

fn delta(delta: &str) -> String {
    chunk(&format!("\"choices\":[{{\"index\":0,\"delta\":{delta}}}]"))
}

fn response(kind: &str, members: &str) -> String {
    format!("data: {{\"type\":\"response.{kind}\",{members}}}\n\n")
}

#[test]
fn text_without_end_takes_no_memory() {
    check_flat(&["parse"], "", MUCH, |_| delta("{\"content\":\"word after word \"}"));
}

#[test]
fn records_that_say_nothing_take_no_memory() {
    check_flat(&["parse"], &delta("{\"content\":\"\"}"), SOME, |number| {
        chunk(&format!("\"kind\":\"x{number}\",\"choices\":[]"))
    });
}

#[test]
fn blocks_that_stop_take_no_memory() {
    let head = "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\
                \"content\":[]}}\n\n";
    check_flat(&["parse", "--max-calls", "0"], head, SOME, |number| {
        format!(
            "data: {{\"type\":\"content_block_start\",\"index\":{number},\"content_block\":\
             {{\"type\":\"text\",\"text\":\"a\"}}}}\n\n\
             data: {{\"type\":\"content_block_stop\",\"index\":{number}}}\n\n"
        )
    });
}

#[test]
fn indexes_of_one_call_are_counted() {
    let head = delta("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}}]}");
    check_flat(&["parse"], &head, SOME, |number| {
        delta(&format!("{{\"tool_calls\":[{{\"index\":{number},\"id\":\"a\"}}]}}"))
    });
}

#[test]
fn messages_one_after_another_take_no_memory() {
    check_flat(&["classify"], "", SOME, |number| {
        format!(
            "data: {{\"id\":\"c{number}\",\"object\":\"chat.completion.chunk\",\"choices\":\
             [{{\"index\":0,\"delta\":{{\"content\":\"a\"}},\"finish_reason\":\"stop\"}}]}}\n\n\
             data: [DONE]\n\n"
        )
    });
}

#[test]
fn rows_take_no_memory() {
    check_flat(&["classify", "--rows", "b"], "", SOME, |number| {
        format!("{{\"id\":{number},\"b\":\"A short answer.\"}}\n")
    });
}

#[test]
fn ids_of_calls_that_are_not_followed_have_a_limit() {
    check_limit(&["parse", "--choice", "1"], "", "more than 16384 ids of calls", |number| {
        let call = format!("\"toolCallId\":\"c{number}\",\"toolName\":\"f\"");
        format!("data: {{\"type\":\"tool-input-start\",{call}}}\n\n")
    });
    let head = delta("{\"content\":\"a\"}");
    check_limit(&["parse", "--choice", "1"], &head, "more than 16384 ids of results", |number| {
        let result = format!("{{\"tool_use_id\":\"c{number}\",\"content\":\"\"}}");
        delta(&format!("{{\"provider_specific_fields\":{{\"web_search_results\":[{result}]}}}}"))
    });
}

#[test]
fn usage_has_a_limit() {
    let head = delta("{\"content\":\"a\"}");
    check_limit(&["parse"], &head, "more than 1 MiB of usage", |number| {
        chunk(&format!("\"choices\":[],\"usage\":{{\"k{number}\":1}}"))
    });
}

#[test]
fn items_of_a_response_have_a_limit() {
    let head = response("created", "\"response\":{\"id\":\"r\",\"object\":\"response\"}");
    let limit = "more than 4096 items";
    check_limit(&["parse"], &head, limit, |number| {
        let item = format!("{{\"type\":\"message\",\"id\":\"m{number}\",\"content\":[]}}");
        response("output_item.added", &format!("\"output_index\":{number},\"item\":{item}"))
    });
    check_limit(&["parse"], &head, limit, |number| {
        response("output_text.delta", &format!("\"output_index\":{number},\"delta\":\"a\""))
    });
    check_limit(&["parse"], &head, "more than 256 texts in one item", |number| {
        let index = format!("\"output_index\":0,\"summary_index\":{number}");
        response("reasoning_summary_text.delta", &format!("{index},\"delta\":\"a\""))
    });
}

#[test]
fn open_blocks_have_a_limit() {
    let head = "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\
                \"content\":[]}}\n\n";
    check_limit(&["parse"], head, "more than 1024 open blocks", |number| {
        format!(
            "data: {{\"type\":\"content_block_start\",\"index\":{number},\"content_block\":\
             {{\"type\":\"text\",\"text\":\"\"}}}}\n\n"
        )
    });
}

#[test]
fn what_decoders_remember_has_a_limit() {
    let head = delta("{\"content\":\"a\"}");
    check_limit(&["parse"], &head, "more than 1024 choices", |number| {
        chunk(&format!("\"choices\":[{{\"index\":{number},\"delta\":{{}}}}]"))
    });
    let candidate = |number: u64| format!("data: {{\"candidates\":[{{\"index\":{number}}}]}}\n\n");
    check_limit(&["parse", "-f", "gemini"], "", "more than 1024 choices", candidate);
    let head = "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n";
    check_limit(&["parse"], head, "more than 4096 messages of others", |number| {
        let message = format!("\"messageId\":\"u{number}\",\"role\":\"user\"");
        format!("data: {{\"type\":\"TEXT_MESSAGE_START\",{message}}}\n\n")
    });
    let head = "{\"type\":\"agent_start\"}\n{\"type\":\"message_start\",\"message\":\
                {\"role\":\"assistant\",\"content\":[],\"model\":\"m\"}}\n";
    check_limit(&["parse"], head, "more than 16384 parts in one message", |number| {
        let delta = format!("\"type\":\"text_delta\",\"contentIndex\":{number},\"delta\":\"a\"");
        format!("{{\"type\":\"message_update\",\"assistantMessageEvent\":{{{delta}}}}}\n")
    });
    let head = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n";
    check_limit(&["parse"], head, "more than 16384 blocks", |number| {
        let text = format!("{{\"type\":\"text\",\"text\":\"t{number}\"}}");
        let message = format!("{{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{text}]}}");
        format!("{{\"type\":\"assistant\",\"session_id\":\"s\",\"message\":{message}}}\n")
    });
}

/// Everything that a summary keeps counts, each kind by itself.
#[test]
fn summaries_have_a_limit() {
    let limit = "--max-memory 8388608";
    let args = ["classify", "--max-memory", "8388608", "--max-calls", "0"];
    check_limit(&args, "", limit, |_| delta("{\"content\":\"word after word \"}"));
    check_limit(&args, "", limit, |_| delta("{\"reasoning_content\":\"word after word \"}"));
    check_limit(&args, "", limit, |_| delta("{\"refusal\":\"word after word \"}"));
    check_limit(&args, "", limit, |number| {
        delta(&format!("{{\"reasoning_details\":[{{\"signature\":\"s{number}\"}}]}}"))
    });
    check_limit(&args, "", limit, |number| chunk(&format!("\"choices\":[{number}]")));
    let head = "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\
                \"content\":[]}}\n\n";
    check_limit(&args, head, limit, |number| {
        format!(
            "data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":\
             {{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"t{number}\",\"content\":\
             []}}}}\n\ndata: {{\"type\":\"content_block_stop\",\"index\":0}}\n\n"
        )
    });
}

/// What each format remembers of a message, as records that never repeat: the name, the
/// arguments, what comes first, and a record with a number in the places of `NNN`.
const NEVER: &[(&str, &[&str], &str, &str)] = &[
    (
        "openai-chat: usage",
        &[],
        "",
        r#"data: {"object":"chat.completion.chunk","choices":[],"usage":{"kNNN":1}}"#,
    ),
    (
        "openai-chat: choices",
        &[],
        "",
        r#"data: {"object":"chat.completion.chunk","choices":[{"index":NNN,"delta":{}}]}"#,
    ),
    (
        "openai-chat: calls",
        &[],
        "",
        r#"data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":NNN,"id":"cNNN","function":{"name":"f"}}]}}]}"#,
    ),
    (
        "openai-chat: unknown events",
        &["--raw", "-f", "openai-chat"],
        "",
        r#"data: {"type":"kNNN"}"#,
    ),
    (
        "openai-responses: items",
        &[],
        "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n",
        r#"data: {"type":"response.output_item.added","output_index":NNN,"item":{"type":"message","id":"mNNN","content":[]}}"#,
    ),
    (
        "openai-realtime: items",
        &[],
        "",
        r#"{"type":"response.output_item.added","event_id":"eNNN","output_index":NNN,"item":{"type":"message","id":"mNNN","content":[]}}"#,
    ),
    (
        "openai-assistants: steps",
        &["-f", "openai-assistants"],
        "",
        r#"data: {"object":"thread.run.step.delta","id":"sNNN","delta":{"step_details":{"tool_calls":[{"index":0,"id":"c","function":{"arguments":""}}]}}}"#,
    ),
    (
        "anthropic: blocks",
        &[],
        "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n",
        r#"data: {"type":"content_block_start","index":NNN,"content_block":{"type":"text","text":""}}"#,
    ),
    (
        "anthropic: a summary",
        &[],
        "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n\
         data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":\
         {\"type\":\"compaction\"}}\n\n",
        r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"The summary of what was said before, and of what was done, goes on: NNN. "}}"#,
    ),
    (
        "bedrock-converse: a result",
        &["-f", "bedrock-converse"],
        "",
        r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolResult":[{"text":"What a tool of the provider's has found goes on, line after line: NNN. "}]}}}"#,
    ),
    ("gemini: candidates", &["-f", "gemini"], "", r#"data: {"candidates":[{"index":NNN}]}"#),
    (
        "gemini: arguments",
        &["-f", "gemini"],
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":\
         {\"name\":\"f\",\"willContinue\":true}}]}}]}\n\n",
        r#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"willContinue":true,"partialArgs":[{"jsonPath":"$.kNNN","numberValue":1}]}}]}}]}"#,
    ),
    (
        "gemini-interactions: steps",
        &[],
        "",
        r#"data: {"event_type":"step.start","index":NNN,"step":{"type":"model_output","content":[]}}"#,
    ),
    (
        "dashscope: calls",
        &["-f", "dashscope"],
        "data:{\"output\":{\"choices\":[{\"message\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\
         \"function\":{\"name\":\"f\"}}]}}]}}\n\n",
        r#"data:{"output":{"choices":[{"message":{"tool_calls":[{"index":NNN,"id":"c","function":{"arguments":"{"}}]}}]}}"#,
    ),
    (
        "ai-sdk-ui: calls",
        &[],
        "data: {\"type\":\"start\"}\n\n",
        r#"data: {"type":"tool-input-start","toolCallId":"cNNN","toolName":"f"}"#,
    ),
    (
        "ag-ui: messages of others",
        &[],
        "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n",
        r#"data: {"type":"TEXT_MESSAGE_START","messageId":"uNNN","role":"user"}"#,
    ),
    (
        "cody: calls",
        &["-f", "cody"],
        "",
        "event: completion\ndata: {\"delta_tool_calls\":[{\"id\":\"cNNN\",\"function\":{\"name\":\"f\"}}]}",
    ),
    (
        "pi: blocks",
        &[],
        "{\"type\":\"agent_start\"}\n{\"type\":\"message_start\",\"message\":\
         {\"role\":\"assistant\",\"content\":[]}}\n",
        r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":NNN,"delta":"a"}}"#,
    ),
    (
        "claude-code: blocks",
        &[],
        "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n",
        r#"{"type":"assistant","session_id":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"NNN"}]}}"#,
    ),
    (
        "claude-code: what messages cost",
        &[],
        "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n",
        r#"{"type":"assistant","session_id":"s","message":{"id":"mNNN","role":"assistant","content":[],"usage":{"output_tokens":1}}}"#,
    ),
    (
        "codex: items",
        &[],
        "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n",
        r#"{"type":"item.started","item":{"id":"iNNN","type":"command_execution","command":"ls"}}"#,
    ),
    (
        "codex-rollout: texts",
        &["-f", "codex-rollout"],
        "",
        r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"NNN"}]}}"#,
    ),
    (
        "copilot-cli: what turns cost",
        &["-f", "copilot-cli"],
        "",
        r#"{"type":"assistant.message","data":{"messageId":"mNNN","content":"","outputTokens":5}}"#,
    ),
    (
        "opencode-session: parts without text",
        &[],
        "",
        r#"data: {"type":"message.part.updated","properties":{"part":{"id":"pNNN","sessionID":"s","messageID":"m","type":"text","text":""}}}"#,
    ),
    (
        "acp: calls that wait",
        &[],
        "",
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"cNNN","title":"f","rawInput":{}}}}"#,
    ),
    (
        "kimi: arguments",
        &["-f", "kimi", "--max-args", "1048576"],
        "{\"timestamp\":1,\"message\":{\"type\":\"ToolCall\",\"payload\":\
         {\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\\\"\"}}}}\n",
        r#"{"timestamp":1,"message":{"type":"ToolCallPart","payload":{"arguments_part":"NNN"}}}"#,
    ),
    (
        "events: calls",
        &["-f", "events"],
        "{\"type\":\"start\",\"v\":1,\"format\":\"openai-chat\",\"framing\":\"sse\"}\n",
        r#"{"type":"tool_call","index":NNN,"id":"cNNN","name":"f","arguments":{}}"#,
    ),
    (
        "events: choices",
        &["-f", "events"],
        "{\"type\":\"start\",\"v\":1,\"format\":\"openai-chat\",\"framing\":\"sse\"}\n",
        r#"{"type":"text","text":"a","choice":NNN}"#,
    ),
    (
        "events: remarks after the usage",
        &["-f", "events"],
        "{\"type\":\"start\",\"v\":1,\"format\":\"openai-chat\",\"framing\":\"sse\"}\n\
         {\"type\":\"usage\",\"input_tokens\":1,\"raw\":{}}\n",
        r#"{"type":"warning","code":"unknown_event","message":"NNN"}"#,
    ),
    (
        "text: members of a call",
        &["-f", "text", "-d", "hermes", "--max-args", "1048576"],
        "<tool_call>\n{\"name\":\"f\",\"arguments\":{",
        r#""kNNN":1,"#,
    ),
    (
        "text: calls",
        &["-f", "text", "-d", "hermes"],
        "",
        "<tool_call>\n{\"name\":\"fNNN\",\"arguments\":{}}\n</tool_call>",
    ),
];

/// The most memory that any of them may take.
const BOUND: usize = 128 << 20;

/// Feeds 200 MB of each, or what is read of it, and prints what it took.
#[test]
#[ignore = "feeds 6 GB: see tests/HARDENING.md"]
fn what_never_repeats_is_bounded() {
    let mut over = Vec::new();
    for (name, args, head, record) in NEVER {
        let mut child = start(&[&["parse"], *args].concat());
        let mut stdin = child.stdin.take().unwrap();
        // What it says of each invalid call is read as it goes.
        let mut stderr = child.stderr.take().unwrap();
        let reader = thread::spawn(move || io::copy(&mut stderr, &mut io::sink()));
        let end = if record.starts_with('{') || args.contains(&"text") { "\n" } else { "\n\n" };
        let (mut number, mut fed, mut most) = (0, 0, 0);
        let mut is_read = stdin.write_all(head.as_bytes()).is_ok();
        while is_read && fed < MUCH {
            let mut piece = String::new();
            while piece.len() < 1 << 20 {
                piece += &record.replace("NNN", &number.to_string());
                piece += end;
                number += 1;
            }
            is_read = stdin.write_all(piece.as_bytes()).is_ok();
            fed += piece.len();
            most = peak(&child).unwrap_or(0).max(most);
        }
        drop(stdin);
        let status = child.wait().unwrap().code();
        reader.join().unwrap().unwrap();
        let line =
            format!("| {name} | {} | {:.1} | {status:?} |", fed >> 20, most as f64 / 1048576.0);
        eprintln!("{line}");
        over.extend((most > BOUND).then_some(line));
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}
