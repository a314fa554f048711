//! Memory on streams without end: it stays flat, or a limit of its own ends the
//! stream. Records are made while they are fed, in numbers that no machine has
//! the room to keep.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

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
    check_limit(&["parse"], head, "more than 1024 blocks", |number| {
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
