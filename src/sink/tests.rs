//! Every kind of line, against its bytes and against the schema.

#[path = "../../tests/cases/fits.rs"]
mod fits;

use std::borrow::Cow;

use super::*;
use crate::event::{
    Block, CallInput, Code, Executor, Failure, Finish, FinishReason, InvalidToolCall, Kind, Loose,
    Output, ProviderEvent, Reason, Reasoning, Start, Text, ToolCall, ToolCallDelta, ToolCallStart,
    ToolResult, Usage, Warning, WarningCode,
};
use crate::frame::{self, Fault, FaultKind, Frame, Framed, Header, HeaderValue};
use fits::misfit;

const START: Start<'_> = Start::new("anthropic", "sse");
const FINISH: Finish<'_> = Finish { raw: Some("end_turn"), ..Finish::new(FinishReason::Stop) };
const CALL: ToolCall<'_> = ToolCall::new(0, "call_0", "f", CallInput::Arguments("{\"a\":1.0}"));
const THOUGHT: Reasoning<'_> = Reasoning::new("t");

fn text(text: &str) -> Kind<'_> {
    Kind::Text(Text::new(text))
}

fn label(file: Option<&str>) -> Label {
    Label::new(file.map(str::to_owned))
}

/// Returns what a sink prints for these events; each line must fit the schema.
#[track_caller]
fn printed(make: impl FnOnce(&mut Vec<u8>) -> Box<dyn Sink + '_>, events: &[Event<'_>]) -> String {
    let mut out = Vec::new();
    let mut sink = make(&mut out);
    events.iter().for_each(|event| sink.feed(event).unwrap());
    sink.finish().unwrap();
    drop(sink);
    let printed = String::from_utf8(out).unwrap();
    let schema = serde_json::from_str(&schema()).unwrap();
    for line in printed.lines() {
        let value = serde_json::from_str(line).unwrap();
        assert_eq!(misfit(&schema, &schema, &value), None, "{line}");
    }
    printed
}

#[track_caller]
fn check_event(event: impl Into<Event<'static>>, expected: &str) {
    let printed = printed(|out| Box::new(Ndjson::new(out, label(None))), &[event.into()]);
    assert_eq!(printed, if expected.is_empty() { String::new() } else { format!("{expected}\n") });
}

#[track_caller]
fn check_joined(kinds: &[Kind<'_>], expected: &[&str]) {
    let events: Vec<_> = kinds.iter().map(|kind| (*kind).into()).collect();
    let printed = printed(|out| Box::new(Join::new(Ndjson::new(out, label(None)))), &events);
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

#[track_caller]
fn check_summary(max_memory: usize, kinds: &[Kind<'_>], expected: &[&str]) {
    let events: Vec<_> = kinds.iter().map(|kind| (*kind).into()).collect();
    let printed = printed(
        |out| Box::new(Capped::new(Classify::new(out, label(None), 0), max_memory)),
        &events,
    );
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

#[track_caller]
fn check_frame(framed: &Framed<'_>, expected: &str) {
    let mut out = Vec::new();
    Frames::new(&mut out, label(None)).feed(framed).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn lines_of_a_message() {
    let start = Start { dialect: Some("d"), id: Some("i"), model: Some("m"), ..START };
    check_event(
        Kind::Start(start),
        r#"{"type":"start","v":1,"format":"anthropic","framing":"sse","dialect":"d","id":"i","model":"m"}"#,
    );
    let more = Start { created: Some(1), input_tokens: Some(2), round: Some(3), ..START };
    check_event(
        Kind::Start(more),
        r#"{"type":"start","v":1,"format":"anthropic","framing":"sse","created":1,"input_tokens":2,"round":3}"#,
    );
    let usage = Usage {
        input_tokens: Some(3),
        reasoning_tokens: Some(0),
        raw: "{ \"a\": 1e2 }",
        ..Usage::default()
    };
    check_event(
        Kind::Usage(usage),
        r#"{"type":"usage","input_tokens":3,"reasoning_tokens":0,"raw":{"a":1e2}}"#,
    );
    check_event(
        Kind::Finish(Finish { stop_sequence: Some("\n"), inferred: true, ..FINISH }),
        r#"{"type":"finish_reason","finish_reason":"stop","raw_finish_reason":"end_turn","stop_sequence":"\n","inferred":true}"#,
    );
    let raw = Some(Output::Json("{\"x\": []}"));
    let failure = Failure {
        provider_code: Some("429"),
        retryable: Some(true),
        raw,
        ..Failure::new(Code::Provider, "m", Some(9))
    };
    check_event(
        Kind::Error(failure),
        r#"{"type":"error","code":"provider","message":"m","offset":9,"provider_code":"429","retryable":true,"raw":{"x":[]}}"#,
    );
}

#[test]
fn lines_of_text() {
    check_event(text("a\u{1b}\u{202e}\""), r#"{"type":"text","text":"a\u001b\u202e\""}"#);
    check_event(
        Event::new(2, Kind::Text(Text { text: "a", channel: Some("c") })),
        r#"{"type":"text","text":"a","channel":"c","choice":2}"#,
    );
    check_event(Kind::Reasoning(THOUGHT), r#"{"type":"reasoning","text":"t"}"#);
    let bare = Reasoning { text: "", signature: Some("s"), ..THOUGHT };
    check_event(Kind::Reasoning(bare), r#"{"type":"reasoning","signature":"s"}"#);
    check_event(Kind::Refusal("no"), r#"{"type":"refusal","text":"no"}"#);
    let attributes = Some("{\"a\": \"\u{200b}\"}");
    check_event(
        Kind::Block(Block { name: "sources", text: "s", attributes }),
        r#"{"type":"block","name":"sources","text":"s","attributes":{"a":"\u200b"}}"#,
    );
}

#[test]
fn lines_of_calls() {
    check_event(
        Kind::ToolCallStart(ToolCallStart { index: 1, id: "i", name: "f" }),
        r#"{"type":"tool_call_start","index":1,"id":"i","name":"f"}"#,
    );
    check_event(
        Kind::ToolCallDelta(ToolCallDelta {
            index: 1,
            arguments: "{\"",
            is_free: false,
            is_ours: true,
        }),
        r#"{"type":"tool_call_delta","index":1,"arguments":"{\""}"#,
    );
    let call = ToolCall {
        source: Some("d"),
        executor: Some(Executor::Agent),
        signature: Some("s"),
        ..CALL
    };
    check_event(
        Kind::ToolCall(call),
        r#"{"type":"tool_call","index":0,"id":"call_0","name":"f","arguments":{"a":1.0},"source":"d","executor":"agent","signature":"s"}"#,
    );
    let free = ToolCall {
        input: CallInput::Text("a\n"),
        kind: Some("custom_tool_call"),
        item_id: Some("ctc_1"),
        ..CALL
    };
    check_event(
        Kind::ToolCall(free),
        r#"{"type":"tool_call","index":0,"id":"call_0","name":"f","input":"a\n","kind":"custom_tool_call","item_id":"ctc_1"}"#,
    );
    let invalid = InvalidToolCall {
        index: 0,
        id: None,
        name: Some("f"),
        arguments_raw: "{",
        reason: Reason::Truncated,
        source: None,
    };
    check_event(
        Kind::InvalidToolCall(invalid),
        r#"{"type":"invalid_tool_call","index":0,"name":"f","arguments_raw":"{","reason":"truncated"}"#,
    );
    let result = ToolResult {
        id: "i",
        output: Output::Json("[1, 2]"),
        is_error: Some(false),
        ..ToolResult::default()
    };
    check_event(
        Kind::ToolResult(result),
        r#"{"type":"tool_result","id":"i","output":[1,2],"is_error":false}"#,
    );
}

#[test]
fn lines_of_the_unknown() {
    check_event(
        Kind::Warning(Warning {
            code: WarningCode::RepeatedId,
            message: "m",
            offset: Some(0),
            index: Some(1),
        }),
        r#"{"type":"warning","code":"repeated_id","message":"m","offset":0,"index":1}"#,
    );
    check_event(
        Kind::ProviderEvent(ProviderEvent { event: Some("ping"), data: Output::Text("{}") }),
        r#"{"type":"provider_event","event":"ping","data":"{}"}"#,
    );
    check_event(Kind::Loose(Loose::End), "");
}

#[test]
fn lines_name_their_file_and_time() {
    let clock = Clock::default();
    clock.read();
    let label = Label::new(Some("a\n".into())).timed(Some(clock));
    let printed = printed(
        |out| Box::new(Ndjson::new(out, label)),
        &[Kind::Start(START).into(), text("t").into()],
    );
    assert!(printed.contains(r#""framing":"sse","file":"a\n","t_ms":"#), "{printed}");
    assert!(printed.contains(r#""text":"t","file":"a\n","t_ms":"#), "{printed}");
}

#[test]
fn neighbours_are_joined() {
    let delta = |index, arguments| {
        Kind::ToolCallDelta(ToolCallDelta { index, arguments, is_free: false, is_ours: true })
    };
    check_joined(
        &[
            text("a"),
            text("b"),
            Kind::Text(Text { text: "c", channel: Some("x") }),
            Kind::Refusal("d"),
            Kind::Refusal("e"),
        ],
        &[
            r#"{"type":"text","text":"ab"}"#,
            r#"{"type":"text","text":"c","channel":"x"}"#,
            r#"{"type":"refusal","text":"de"}"#,
        ],
    );
    check_joined(
        &[delta(0, "{"), delta(0, "}"), delta(1, "{}")],
        &[
            r#"{"type":"tool_call_delta","index":0,"arguments":"{}"}"#,
            r#"{"type":"tool_call_delta","index":1,"arguments":"{}"}"#,
        ],
    );
}

#[test]
fn a_signature_closes_a_thought() {
    let signed = Reasoning { text: "u", signature: Some("s"), ..THOUGHT };
    let redacted = Reasoning { text: "", redacted: Some("r"), ..THOUGHT };
    check_joined(
        &[THOUGHT, THOUGHT, signed, THOUGHT, redacted, redacted].map(Kind::Reasoning),
        &[
            r#"{"type":"reasoning","text":"ttu","signature":"s"}"#,
            r#"{"type":"reasoning","text":"t"}"#,
            r#"{"type":"reasoning","redacted":"r"}"#,
            r#"{"type":"reasoning","redacted":"r"}"#,
        ],
    );
    check_joined(
        &[Kind::Reasoning(Reasoning { text: "", ..signed }); 2],
        &[r#"{"type":"reasoning","signature":"s"}"#; 2],
    );
    let part = |part| Kind::Reasoning(Reasoning { part: Some(part), ..THOUGHT });
    check_joined(
        &[part(1), part(1), part(2)],
        &[
            r#"{"type":"reasoning","text":"tt","part":1}"#,
            r#"{"type":"reasoning","text":"t","part":2}"#,
        ],
    );
}

#[test]
fn summaries() {
    check_summary(
        0,
        &[Kind::Start(START), text("a"), text("b"), Kind::Finish(FINISH)],
        &[
            r#"{"type":"final_answer","text":"ab","tool_calls":[],"finish_reason":"stop","raw_finish_reason":"end_turn","format":"anthropic","complete":true}"#,
        ],
    );
    let usage = Usage { output_tokens: Some(1), raw: "{}", ..Usage::default() };
    let warning = Warning::new(WarningCode::RepeatedId, "m");
    let agents = ToolCall { index: 1, executor: Some(Executor::Agent), ..CALL };
    check_summary(
        0,
        &[
            Kind::Start(Start { id: Some("i"), model: Some("m"), ..START }),
            Kind::Reasoning(THOUGHT),
            Kind::ToolCall(CALL),
            Kind::ToolCall(agents),
            Kind::Warning(warning),
            Kind::Usage(usage),
            Kind::Finish(Finish {
                raw: None,
                finish_reason: FinishReason::ToolCalls,
                wants_tools: true,
                ..FINISH
            }),
        ],
        &[concat!(
            r#"{"type":"tool_calls","text":"","reasoning":"t","tool_calls":["#,
            r#"{"index":0,"id":"call_0","name":"f","arguments":{"a":1.0}},"#,
            r#"{"index":1,"id":"call_0","name":"f","arguments":{"a":1.0},"executor":"agent"}],"#,
            r#""finish_reason":"tool_calls","usage":{"output_tokens":1,"raw":{}},"id":"i","model":"m","#,
            r#""format":"anthropic","complete":true,"warnings":[{"code":"repeated_id","message":"m"}]}"#,
        )],
    );
}

#[test]
fn summaries_of_thoughts() {
    let signed = Reasoning { signature: Some("s"), ..THOUGHT };
    check_summary(
        0,
        &[
            Kind::Start(START),
            Kind::Reasoning(THOUGHT),
            Kind::Reasoning(signed),
            Kind::Reasoning(THOUGHT),
            Kind::ToolResult(ToolResult::default()),
            Kind::Finish(Finish { inferred: true, raw: None, ..FINISH }),
        ],
        &[concat!(
            r#"{"type":"final_answer","text":"","reasoning":"ttt","reasoning_parts":["#,
            r#"{"text":"tt","signature":"s"},{"text":"t"}],"tool_calls":[],"#,
            r#""tool_results":[{"id":"","output":""}],"finish_reason":"stop","inferred":true,"#,
            r#""format":"anthropic","complete":true}"#,
        )],
    );
}

#[test]
fn summaries_of_failures() {
    let end = Kind::Error(Failure::new(Code::Truncated, "m", None));
    check_summary(
        0,
        &[Kind::Start(START), Kind::ToolCall(CALL), end, Kind::Start(START), Kind::Finish(FINISH)],
        &[
            concat!(
                r#"{"type":"error","text":"","tool_calls":[{"index":0,"id":"call_0","name":"f","arguments":{"a":1.0}}],"#,
                r#""format":"anthropic","complete":false,"error":{"code":"truncated","message":"m","retryable":true}}"#,
            ),
            r#"{"type":"final_answer","text":"","tool_calls":[],"finish_reason":"stop","raw_finish_reason":"end_turn","format":"anthropic","complete":true}"#,
        ],
    );
}

#[test]
fn memory_has_a_limit() {
    check_summary(
        3,
        &[Kind::Start(START), text("ab"), text("cd"), text("e"), Kind::Finish(FINISH)],
        &[concat!(
            r#"{"type":"error","text":"abc","tool_calls":[],"format":"anthropic","complete":false,"#,
            r#""error":{"code":"limit","message":"the message is larger than --max-memory 3"}}"#,
        )],
    );
}

#[test]
fn frames() {
    let frame = Frame {
        event_type: "message",
        id: "7",
        ..Frame::new(frame::find("sse").unwrap(), b"a\xE2\x82", 3)
    };
    check_frame(&Framed::Frame(frame), "{\"data\":\"a\u{FFFD}\",\"id\":\"7\",\"offset\":3}\n");
    check_frame(
        &Framed::Frame(Frame { event_type: "e", id: "", ..frame }),
        "{\"event\":\"e\",\"data\":\"a\u{FFFD}\",\"offset\":3}\n",
    );
    let name = |name: &'static str| Cow::Borrowed(name);
    let headers = [
        Header { name: name(":t\n"), value: HeaderValue::Text(name("\u{1b}")) },
        Header { name: name("b"), value: HeaderValue::Bytes(Cow::Borrowed(b"\xFF")) },
        Header { name: name("u"), value: HeaderValue::Uuid(*b"0123456789abcdef") },
        Header { name: name("f"), value: HeaderValue::Flag(true) },
        Header { name: name("n"), value: HeaderValue::Number(-1) },
    ];
    check_frame(
        &Framed::Frame(Frame {
            framing: frame::find("eventstream").unwrap(),
            event_type: "e",
            id: "",
            headers: &headers,
            ..frame
        }),
        concat!(
            r#"{"headers":{":t\n":"\u001b","b":"/w==","u":"30313233-3435-3637-3839-616263646566","f":true,"n":-1},"#,
            r#""data_base64":"YeKC","offset":3}"#,
            "\n"
        ),
    );
    check_frame(
        &Framed::Frame(Frame {
            framing: frame::find("eventstream").unwrap(),
            id: "",
            data: b"{}",
            ..frame
        }),
        "{\"headers\":{},\"data\":\"{}\",\"offset\":3}\n",
    );
    let fault = Fault::new(FaultKind::Limit, "m", 1);
    check_frame(
        &Framed::Fault(fault.clone()),
        "{\"type\":\"error\",\"code\":\"limit\",\"message\":\"m\",\"offset\":1}\n",
    );
    let note = Fault { kind: FaultKind::Note(WarningCode::NotJson), ..fault };
    check_frame(&Framed::Fault(note), "");
}
