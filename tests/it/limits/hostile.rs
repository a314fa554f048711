//! Inputs that are large or deep where no one has a reason to be: they cost
//! what their bytes cost, and never the stack.

use toolstream::dialect::{Selection, choose};
use toolstream::format;
use toolstream::sink::{Label, Ndjson, Sink};
use toolstream::{Config, Pipeline};

use crate::case::{Case, Print, run};

const START: &str = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",";
const END: &str = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\
                   \"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// A chunk with this delta.
fn chunk(delta: &str) -> String {
    format!("{START}\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n")
}

fn fragment(arguments: &str) -> String {
    let call = format!("{{\"index\":0,\"function\":{{\"arguments\":{arguments}}}}}");
    chunk(&format!("{{\"tool_calls\":[{call}]}}"))
}

/// The input gives this status, and so many lines of a type.
#[track_caller]
fn check(input: &str, status: u8, kind: &str, lines: usize) {
    let run = run(&Config::default(), Print::Joined, input.as_bytes().chunks(64 << 10));
    let start = format!("{{\"type\":\"{kind}\"");
    let found = run.out.lines().filter(|line| line.starts_with(&start)).count();
    assert_eq!((run.status, found), (status, lines), "{}", &run.out[..run.out.len().min(400)]);
}

#[test]
fn one_event_of_64_mib_and_a_byte_is_legal() {
    let image = "A".repeat((64 << 20) + 1);
    check(&format!("{}{END}", chunk(&format!("{{\"content\":\"{image}\"}}"))), 0, "text", 1);
}

#[test]
fn a_million_empty_lines_of_data() {
    check(&"data:\n".repeat(1_000_000), 4, "error", 1);
}

#[test]
fn a_million_keep_alives() {
    check(&": here\n".repeat(1_000_000), 4, "error", 1);
}

#[test]
fn a_hundred_thousand_fragments_of_one_call() {
    let begin = chunk(
        "{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":\\\"\"}}]}",
    );
    for piece in ["\"\"", "\"y\""] {
        let middle = fragment(piece).repeat(100_000);
        let end = fragment("\"\\\"}\"");
        check(&format!("{begin}{middle}{end}{END}"), 0, "tool_call", 1);
    }
}

#[test]
fn a_hundred_thousand_keys() {
    let keys: Vec<String> = (0..100_000).map(|key| format!("\"k{key}\":{key}")).collect();
    let keys = keys.join(",");
    let input = |keys: &str| format!("{START}{keys},\"choices\":[]}}\n\n{}{END}", chunk("{}"));
    check(&input(&keys), 0, "finish_reason", 1);
    // More than a mebibyte of usage is over its limit.
    check(&input(&format!("\"usage\":{{{keys}}}")), 6, "error", 1);
}

#[test]
fn a_key_and_a_number_that_are_a_mebibyte() {
    let (key, number) = ("k".repeat(1 << 20), "1".repeat(1 << 20));
    let input = |more: &str| {
        let text = chunk("{\"content\":\"Hi\"}");
        format!("{START}\"{key}\":{number}{more},\"choices\":[]}}\n\n{text}{END}")
    };
    check(&input(""), 0, "text", 1);
    check(&input(&format!(",\"usage\":{{\"x\":{number}}}")), 6, "error", 1);
}

#[test]
fn more_calls_than_anyone_makes() {
    let call = |index: u64| {
        let call =
            format!("{{\"index\":{index},\"id\":\"i{index}\",\"function\":{{\"name\":\"f\"}}}}");
        chunk(&format!("{{\"tool_calls\":[{call}]}}"))
    };
    let calls: String = (0..100_000).map(|nth| call(nth * 1_000_003)).collect();
    check(&format!("{calls}{END}"), 6, "error", 1);
}

#[test]
fn more_choices_than_anyone_asks_for() {
    let choice = |index: u64| format!("{{\"index\":{index},\"delta\":{{\"content\":\"a\"}}}}");
    let choices: Vec<String> = (0..20_000).map(|nth| choice(nth * 1_000_003)).collect();
    let chunks = choices.iter().map(|choice| format!("{START}\"choices\":[{choice}]}}\n\n"));
    check(&chunks.collect::<String>(), 6, "error", 1);

    let one_chunk = format!("{START}\"choices\":[{}]}}\n\n{END}", choices.join(","));
    check(&one_chunk, 6, "text", 1024);
    let auto = Config { dialect: Selection::Auto, ..Config::default() };
    let run = run(&auto, Print::Joined, [one_chunk.as_bytes()]);
    assert_eq!((run.status, run.out.matches("\"choice\"").count()), (6, 1023));
}

/// What is printed before the input ends.
fn live(config: &Config, pieces: &[&str]) -> String {
    let mut out = Vec::new();
    let mut sink = Ndjson::new(&mut out, Label::default());
    let mut pipeline = Pipeline::new(config);
    pieces.iter().for_each(|piece| pipeline.feed(piece.as_bytes(), &mut sink).unwrap());
    sink.flush().unwrap();
    drop(sink);
    String::from_utf8(out).unwrap()
}

/// How many lines there are before the input ends, and how many of them begin a
/// message.
fn live_lines(config: &Config, input: &str) -> (usize, usize) {
    let out = live(config, &[input]);
    (out.lines().count(), out.matches("{\"type\":\"start\"").count())
}

#[test]
fn what_has_no_message_does_not_pile_up() {
    let anthropic = Config { format: format::find("anthropic"), ..Config::default() };
    let unknown: String =
        (0..10_000).map(|nth| format!("data: {{\"type\":\"x{nth}\"}}\n\n")).collect();
    assert_eq!(live_lines(&anthropic, &unknown), (10_001, 1));

    let after = |record: &str| {
        let (lines, starts) =
            live_lines(&Config::default(), &format!("{END}{}", record.repeat(10_000)));
        assert!((9_000..10_005).contains(&lines), "all but the last few: {lines}");
        starts
    };
    assert_eq!(after(&format!("{START}\"choices\":[]}}\n\n")), 1, "warnings need no message");
    assert_eq!(after(&format!("{START}\"choices\":[}}\n\n")), 2, "errors do");
}

#[test]
fn text_that_may_be_a_thought_is_held_back_no_longer_than_64_kib() {
    let Ok(dialect) = choose("think_tags") else { panic!("no think_tags") };
    let config = Config { format: format::find("text"), dialect, ..Config::default() };
    assert_eq!(live(&config, &[&"a".repeat(64 << 10)]).lines().count(), 1, "it may be");
    let text = "a".repeat((64 << 10) + 2);
    let (first, second) = text.split_at(100);
    assert!(live(&config, &[first, second]).len() > 64 << 10, "it is none");
}

/// How deep: frames of a hundred bytes each would be more than a test's stack.
const DEPTH: usize = 30_000;

#[test]
fn json_that_is_nested_deeply_in_every_format() {
    for open in ["[", "{\"a\":", "[{\"text\":"] {
        let deep = open.repeat(DEPTH);
        for row in format::FORMATS {
            let config = Config { format: Some(row), ..Config::default() };
            for head in [
                "", "{\"choices\":", "{\"type\":\"x\",\"message\":", "{\"content\":", "{\"error\":",
            ] {
                run(&config, Print::Summaries, [format!("{head}{deep}\n").as_bytes()]);
            }
        }
    }
}

/// The cases of each dialect with one thing repeated in their midst.
#[test]
fn text_that_is_nested_deeply_in_every_dialect() {
    let cases = Case::all();
    for row in toolstream::dialect::DIALECTS {
        let folder = format!("fixtures/dialect/{}/", row.name);
        let case = cases.iter().find(|case| case.name.starts_with(&folder)).unwrap();
        let config = Config {
            format: format::find("text"),
            dialect: choose(row.name).unwrap_or(Selection::None),
            ..Config::default()
        };
        let text = String::from_utf8_lossy(&case.input);
        for (part, open) in ["[", "{\"a\":", "{a:", "f(", "<a>", "- ", "[("].iter().enumerate() {
            let at = text.floor_char_boundary(text.len() * (part + 1) / 8);
            let (left, right) = text.split_at(at);
            let input = format!("{left}{}{right}", open.repeat(DEPTH / 10));
            run(&config, Print::Summaries, [input.as_bytes()]);
        }
    }
}

/// A call's text is kept only as far as its arguments may reach, with some
/// markup around; what is after the call is the answer again.
#[test]
fn a_call_in_text_is_no_larger_than_its_arguments_may_be() {
    let long = "x".repeat(1 << 20);
    let spaces = " ".repeat(1 << 20);
    let many: String = (0..1 << 16).map(|n| format!("<parameter=k{n}>v</parameter>")).collect();
    let key = "]<]minimax[>[";
    for (dialect, input) in [
        (
            "hermes",
            format!("<tool_call>{{\"name\":\"f\",\"arguments\":{{\"a\":\"{long}\"}}}}</tool_call>"),
        ),
        (
            "hermes",
            format!("<tool_call>{{\"arguments\":{{\"a\":\"{long}\"}},\"name\":\"f\"}}</tool_call>"),
        ),
        ("hermes", format!("<tool_call>{{\"name\":\"f\",{spaces}\"arguments\":{{}}}}</tool_call>")),
        (
            "qwen3_coder",
            format!(
                "<tool_call><function=f><parameter=a>{long}</parameter></function></tool_call>"
            ),
        ),
        ("qwen3_coder", format!("<tool_call><function=f>{many}</function></tool_call>")),
        (
            "minimax_m3",
            format!(
                "{key}<tool_call>{key}<invoke name=\"f\">{key}<a>{long}{key}</a>{key}</invoke>{key}</tool_call>"
            ),
        ),
        ("lfm2", format!("<|tool_call_start|>[f(a='{long}')]<|tool_call_end|>")),
        ("sarashina", format!("<|tool_calls|>[{{'name': 'f', 'arguments': {{'a': '{long}'}}}}]")),
        ("gemma4", format!("<|tool_call>call:f{{a:<|\"|>{long}<|\"|>}}<tool_call|>")),
        ("code_block_agent", format!("<code>{long}</code>")),
    ] {
        let mut config = Config {
            format: format::find("text"),
            dialect: choose(dialect).unwrap(),
            ..Config::default()
        };
        config.assembly.max_args = 1000;
        let input = input + "done";
        let run = run(&config, Print::Joined, input.as_bytes().chunks(4096));
        let lines: Vec<&str> = run.out.lines().collect();
        let kinds: Vec<&str> = lines.iter().map(|line| crate::case::kind(line)).collect();
        assert_eq!(kinds, ["start", "invalid_tool_call", "text", "finish_reason"], "{dialect}");
        assert!(lines[1].contains("too_large") && lines[1].len() < 80_000, "{dialect}");
        assert!(lines[2].contains("done") && run.status == 6, "{dialect}");
    }
}
