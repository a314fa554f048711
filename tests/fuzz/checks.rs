//! What must hold for any bytes at all. The fuzz targets look for bytes that it
//! doesn't hold for; what they have kept is in `corpus/TARGET`, and the tests
//! read it again.

use std::collections::BTreeSet;

use serde_json::value::RawValue;
use toolstream::dialect::{Body, DIALECTS, Dialect, Raw, Selection};
use toolstream::event::{
    Arguments, CallPart, Code, Event, Executor, Failure, Finish, FinishReason, Key, Kind, Output,
    Reason, Reasoning, Start, Text, ToolResult, Usage, Warning, WarningCode,
};
use toolstream::format::{self, FORMATS};
use toolstream::frame;
use toolstream::frame::{FrameConfig, Framed};
use toolstream::internals::{Assembler, CallEnd, Loose, describe, exchanges, explain, report_on};
use toolstream::sink::{Frames, Join, Label, Ndjson, Sink};
use toolstream::{AssemblerConfig, Config};

use crate::run::{Print, Run, run};

/// A target: a file in `targets`, a folder in `corpus`.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub static TARGETS: &[Target] = &[
    ("sse", sse),
    ("ndjson", ndjson),
    ("json_array", json_array),
    ("event_stream", event_stream),
    ("detection", detection),
    ("codec_json", codec_json),
    ("codec_arguments", codec_arguments),
    ("codec_parameters", codec_parameters),
    ("codec_python", codec_python),
    ("codec_braces", codec_braces),
    ("codec_raw", codec_raw),
    ("assembly", assembly),
    ("pipeline", pipeline),
    ("output", output),
    ("cassette", cassette),
];

/// Server-sent events.
pub fn sse(bytes: &[u8]) {
    framing("sse", bytes);
}

/// One JSON value a line.
pub fn ndjson(bytes: &[u8]) {
    framing("ndjson", bytes);
}

/// JSON values in an array.
pub fn json_array(bytes: &[u8]) {
    framing("json-array", bytes);
}

/// AWS event streams.
pub fn event_stream(bytes: &[u8]) {
    framing("eventstream", bytes);
}

/// Files of recorded exchanges: these depend on the bytes alone, and their numbers go up by one.
pub fn cassette(bytes: &[u8]) {
    let whole = exchanges(bytes, usize::MAX);
    for piece in [1, 5, 64] {
        assert!(exchanges(bytes, piece) == whole, "in pieces of {piece}");
    }
    let numbers = whole.iter().flat_map(|seen| &seen.exchanges).map(|(number, _)| *number);
    assert!(numbers.eq(1..=whole.as_ref().map_or(0, |seen| seen.exchanges.len() as u64)));
}

/// Frames and faults depend on the bytes alone, whatever the limits.
fn framing(name: &str, bytes: &[u8]) {
    for (strict, max_event) in [(false, 0), (true, 0), (false, 48)] {
        let frames = |pieces: &[&[u8]]| {
            frames(name, FrameConfig { strict, max_event, ..FrameConfig::default() }, pieces)
        };
        let whole = frames(&[bytes]);
        for pieces in cuts(bytes) {
            assert_eq!(frames(&pieces), whole, "strict: {strict}, max_event: {max_event}");
        }
    }
}

/// The lines of a framing's frames, with its faults between them.
fn frames(name: &str, config: FrameConfig, pieces: &[&[u8]]) -> String {
    let Some(row) = frame::find(name) else { panic!("no framing {name}") };
    let mut framer = (row.framer)(config);
    let mut printed = Vec::new();
    let mut sink = Frames::new(&mut printed, Label::default());
    let (mut faults, mut last) = (String::new(), 0);
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut out = |framed: Framed<'_>| {
        let offset = match &framed {
            Framed::Frame(frame) => {
                assert!(frame.offset >= last, "frames out of order");
                last = frame.offset;
                last
            }
            Framed::Comment => 0,
            Framed::Next(offset) => *offset,
            Framed::Fault(fault) => {
                faults.push_str(&format!("{fault:?}\n"));
                fault.offset
            }
        };
        assert!(offset <= length as u64, "an offset after the end");
        sink.feed(&framed)
    };
    for piece in pieces {
        ok(framer.feed(piece, &mut out));
    }
    ok(framer.finish(&mut out));
    text(printed) + &faults
}

/// The whole in single bytes, in pieces of three, and in two at places that the
/// bytes themselves decide.
fn cuts(bytes: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut cuts = vec![bytes.chunks(1).collect(), bytes.chunks(3).collect()];
    let sum = bytes.iter().fold(7_usize, |sum, &byte| sum.wrapping_mul(31) ^ usize::from(byte));
    for place in [sum, sum >> 16, bytes.len() / 2] {
        let (left, right) = bytes.split_at(place % (bytes.len() + 1));
        cuts.push(vec![left, right]);
    }
    cuts
}

/// Detection depends on the bytes alone, and says why.
pub fn detection(bytes: &[u8]) {
    let verdict = explain(bytes, true);
    check_safe(&describe(&verdict, Some("\u{1b}"), false));
    check_lines(&describe(&verdict, Some("\u{1b}"), true));
    assert!(!verdict.evidence.is_empty(), "a verdict without evidence");
    whole_and_split(&Config::default(), bytes);
}

/// Calls as JSON with a name and arguments.
pub fn codec_json(bytes: &[u8]) {
    codec(|body| matches!(body, Body::Json(_)), bytes);
}

/// Calls whose inside is their arguments, as JSON.
pub fn codec_arguments(bytes: &[u8]) {
    codec(|body| matches!(body, Body::Arguments), bytes);
}

/// Calls with one element for each argument.
pub fn codec_parameters(bytes: &[u8]) {
    codec(|body| matches!(body, Body::Parameters(_)), bytes);
}

/// Calls in Python's syntax.
pub fn codec_python(bytes: &[u8]) {
    codec(|body| matches!(body, Body::Python | Body::Literal(_)), bytes);
}

/// Calls in braces with bare keys.
pub fn codec_braces(bytes: &[u8]) {
    codec(|body| matches!(body, Body::Braces(_)), bytes);
}

/// Calls that are text as it is, and dialects that are all regions.
pub fn codec_raw(bytes: &[u8]) {
    codec(|body| matches!(body, Body::Raw(_)), bytes);
}

/// The first byte chooses the dialect, of those that have such a body; the rest
/// is its text.
fn codec(is_its: fn(&Body) -> bool, bytes: &[u8]) {
    let Some((first, text)) = bytes.split_first() else { return };
    let rows = codec_rows(is_its);
    let Some(row) = rows.get(usize::from(*first) % rows.len()).copied() else { return };
    let config = Config {
        format: format::find("text"),
        dialect: Selection::Row(row),
        assembly: AssemblerConfig { deltas: true, ..AssemblerConfig::default() },
        ..Config::default()
    };
    let whole = whole_and_split(&config, text);
    let cut = text.len().saturating_sub(usize::from(*first) % 16);
    let prefix = run(&config, Print::Joined, text.get(..cut));
    let calls = calls(&whole.out);
    assert!(self::calls(&prefix.out).is_subset(&calls), "a prefix has a call of its own");
}

/// The dialects with such a body. Those without calls are read with the raw
/// ones.
fn codec_rows(is_its: fn(&Body) -> bool) -> Vec<&'static Dialect> {
    let has_one = |row: &&Dialect| {
        row.calls.iter().any(|call| is_its(&call.body))
            || row.calls.is_empty() && is_its(&Body::Raw(Raw { name: "", key: "" }))
    };
    DIALECTS.iter().copied().filter(has_one).collect()
}

/// What the assembler prints is well-formed, whatever a decoder says.
pub fn assembly(bytes: &[u8]) {
    let Some((flags, script)) = bytes.split_first() else { return };
    let options = AssemblerConfig {
        deltas: flags & 1 != 0,
        raw: flags & 2 != 0,
        strict: flags & 4 != 0,
        choice: (flags & 8 != 0).then_some(0),
        max_calls: if flags & 16 != 0 { 2 } else { 1024 },
        max_args: if flags & 32 != 0 { 8 } else { 0 },
        ..AssemblerConfig::default()
    };
    let mut assembler = Assembler::new(options, None, None);
    let mut printed = Vec::new();
    let mut sink = Join::new(Ndjson::new(&mut printed, Label::default()));
    for step in script.chunks(2) {
        let &[what, which] = step else { break };
        let event = Event::new(u64::from(which >> 7), kind(what, which));
        ok(assembler.feed(&event, &mut |event| sink.feed(event)));
    }
    ok(assembler.finish(bytes.len() as u64, &mut |event| sink.feed(event)));
    ok(sink.finish());
    drop(sink);
    check_messages(&text(printed));
}

/// Pieces of arguments.
const ARGUMENTS: &[&str] =
    &["", "{", "}", "{}", "{\"a\":1}", "\"a\":1", "[1]", "\"{}\"", "\\u", " ", "1e400", "\u{202e}"];

fn kind(what: u8, which: u8) -> Kind<'static> {
    let piece = ARGUMENTS[usize::from(which) % ARGUMENTS.len()];
    let value = ["{}", "{\"a\":[1]}", "[]", "\"{}\"", "null"][usize::from(which) % 5];
    let id = ["a", "b"][usize::from(which) % 2];
    let name = (which & 8 != 0).then_some(["f", "g"][usize::from(which >> 4) % 2]);
    let part = |arguments| CallPart {
        key: key(which),
        id: (which & 4 != 0).then_some(id),
        name,
        arguments,
        executor: (which & 32 != 0).then_some(Executor::Provider),
        ..CallPart::default()
    };
    let fault = (which & 64 != 0).then_some((Reason::Malformed, piece));
    match what % 20 {
        0 => Kind::Start(Start { format: "openai-chat", id: Some(id), ..Start::default() }),
        1 => Kind::Text(Text::new(piece)),
        2 => Kind::Reasoning(Reasoning { text: piece, signature: name, ..Reasoning::default() }),
        3 => Kind::Refusal(piece),
        4 => Kind::Loose(Loose::CallPart(part(Arguments::None))),
        5 | 6 => Kind::Loose(Loose::CallPart(part(Arguments::Fragment(piece)))),
        7 => Kind::Loose(Loose::CallPart(part(Arguments::Repaired(piece)))),
        8 => Kind::Loose(Loose::CallPart(part(Arguments::Value(value)))),
        9 => Kind::Loose(Loose::CallPart(part(Arguments::Placeholder(value)))),
        10 => Kind::Loose(Loose::CallPart(part(Arguments::Done(piece)))),
        11 => Kind::Loose(Loose::CallPart(part(Arguments::Free(piece)))),
        12 | 13 => Kind::Loose(Loose::CallEnd(CallEnd { key: key(which), fault })),
        14 => {
            let output = Output::Json(value);
            Kind::ToolResult(ToolResult { id, name, output, ..ToolResult::default() })
        }
        15 => Kind::Warning(Warning::new(WarningCode::UnknownEvent, piece)),
        16 => Kind::Usage(Usage { input_tokens: Some(1), raw: "{}", ..Usage::default() }),
        17 => Kind::Finish(Finish {
            raw: name,
            inferred: which & 64 != 0,
            ..Finish::new(FinishReason::ALL[usize::from(which) % 3])
        }),
        18 => Kind::Error(Failure::new(Code::Provider, piece, None)),
        _ => Kind::Loose(Loose::End),
    }
}

fn key(which: u8) -> Key {
    match which % 3 {
        0 => Key::default(),
        1 => Key::Index(u64::from(which >> 4)),
        _ => Key::Text(u64::from(which >> 4)),
    }
}

/// The first two bytes choose the options, the rest is the input.
pub fn pipeline(bytes: &[u8]) {
    let Some((&[format, flags], input)) = bytes.split_first_chunk() else { return };
    let mut config = Config {
        format: FORMATS.get(usize::from(format)).copied(),
        dialect: if flags & 1 != 0 { Selection::Auto } else { Selection::Default },
        assembly: AssemblerConfig {
            deltas: flags & 2 != 0,
            raw: flags & 4 != 0,
            strict: flags & 8 != 0,
            ..AssemblerConfig::default()
        },
        ..Config::default()
    };
    config.frame.strict = flags & 8 != 0;
    whole_and_split(&config, input);
    config.assembly.choice = Some(0);
    let whole = run(&config, Print::Summaries, [input]);
    check_lines(&whole.out);
    assert_eq!(run(&config, Print::Summaries, input.chunks(5)), whole);
}

/// Nothing that any command prints of an input can harm a terminal.
pub fn output(bytes: &[u8]) {
    let mut config = Config::default();
    config.assembly.deltas = true;
    config.assembly.raw = true;
    for format in [None, format::find("text")] {
        let config = Config { format, ..config.clone() };
        for print in [Print::Events, Print::Joined, Print::Summaries] {
            check_lines(&run(&config, print, [bytes]).out);
        }
    }
    let message = String::from_utf8_lossy(bytes);
    let mut said = Vec::new();
    report_on(&mut said, &message, &message, Some(0));
    let said = text(said);
    check_safe(&said);
    assert_eq!(said.lines().count(), 1, "a message is one line");
    for row in frame::FRAMINGS {
        let out = frames(row.name, FrameConfig::default(), &[bytes]);
        // Faults stand after the lines as they are in memory.
        let lines = out.split_inclusive('\n').take_while(|line| !line.starts_with("Fault {"));
        check_lines(&lines.collect::<String>());
    }
}

/// The whole and its pieces give the same, and that is well-formed.
fn whole_and_split(config: &Config, bytes: &[u8]) -> Run {
    let whole = run(config, Print::Joined, [bytes]);
    check_messages(&whole.out);
    let has_error = whole.out.lines().any(|line| kind_of(line) == "error");
    assert!(!has_error || whole.status != 0, "status 0 in spite of an error");
    for pieces in cuts(bytes) {
        let got = run(config, Print::Joined, pieces);
        assert_eq!(got.out, whole.out, "the pieces make a difference");
        assert_eq!(got.status, whole.status, "the pieces make a difference to the status");
    }
    whole
}

/// Every message begins with `start`, its last line is its end, and its calls
/// are objects or free text.
fn check_messages(out: &str) {
    check_lines(out);
    let mut last = "error";
    for line in out.lines() {
        let kind = kind_of(line);
        let is_between = matches!(last, "finish_reason" | "error");
        assert!(kind != "start" || is_between, "in the middle of a message: {line}");
        let is_whole = line.contains("\"arguments\":{") || line.contains("\"input\":\"");
        assert!(kind != "tool_call" || is_whole, "{line}");
        // The other choices end before the first one does, and what never came
        // to be part of a message stands after the last one.
        let is_note = is_between && matches!(kind, "usage" | "warning" | "provider_event");
        let may_follow = is_note || matches!(kind, "start" | "finish_reason" | "error");
        assert!(may_follow || !is_between, "after the end: {line}");
        last = if is_note { last } else { kind };
    }
    assert!(matches!(last, "finish_reason" | "error"), "the last message has no end: {out}");
}

fn calls(out: &str) -> BTreeSet<&str> {
    out.lines().filter(|line| kind_of(line) == "tool_call").collect()
}

fn kind_of(line: &str) -> &str {
    let rest = line.strip_prefix("{\"type\":\"").unwrap_or_default();
    rest.split('"').next().unwrap_or_default()
}

/// Lines of JSON objects, and harmless.
fn check_lines(out: &str) {
    check_safe(out);
    assert!(out.is_empty() || out.ends_with('\n'), "a line without an end: {out}");
    for line in out.lines() {
        let is_json = serde_json::from_str::<&RawValue>(line).is_ok();
        assert!(is_json && line.starts_with('{'), "no JSON: {line}");
    }
}

/// No control character but LF, and none that hides text or changes its order.
fn check_safe(out: &str) {
    let harm = out.chars().find(|c| {
        matches!(c,
            '\0'..='\t' | '\u{B}'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{61C}'
            | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}'
            | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
    });
    assert_eq!(harm, None, "{out:?}");
}

fn text(printed: Vec<u8>) -> String {
    String::from_utf8(printed).unwrap_or_else(|error| panic!("no UTF-8: {error}"))
}

/// Writing to memory never fails.
fn ok(written: std::io::Result<()>) {
    assert!(written.is_ok());
}
