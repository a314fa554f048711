//! The laws, over random input. The seed is fixed, so that a failure comes
//! again; `PROPTEST_RNG_SEED=N` takes another one, `PROPTEST_CASES=N` more.

use std::fmt;
use std::ops::Range;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config as Settings, RngSeed};
use serde_json::{Map, Value, json};
use toolstream::Config;
use toolstream::dialect::{Selection, choose};
use toolstream::format;

use crate::case::{Case, Print, kind, run};
use crate::json::read;
use crate::shape::{check_shape, joined, text};

pub(crate) fn settings(cases: u32) -> Settings {
    let seed = match Settings::default().rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed => fixed,
    };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() {
        Settings::default().cases
    } else {
        cases
    };
    Settings { cases, rng_seed: seed, failure_persistence: None, ..Settings::default() }
}

/// Cuts bytes at these places.
fn pieces<'a>(bytes: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect()
}

/// Things that people write, and that are no marker of any dialect.
const WORDS: &[&str] = &[
    "The", "answer", "is", "42.", "\n", "\n\n", "a < b", "x<y>z", "<b>bold</b>", "`code`",
    "{\"a\": 1}", "[1, 2]", "na\u{ef}ve", "\u{65e5}\u{672c}\u{8a9e}", "\u{1f600}", "</", "<<",
    "<tool",
];

/// Some of these words and of others.
pub(crate) fn words(others: &[&'static str], count: Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(select([WORDS, others].concat()), count).prop_map(|words| words.join(" "))
}

fn prose() -> impl Strategy<Value = String> {
    words(&["<", "</think", "<function", "&lt;"], 1..8).prop_map(|words| format!("So {words} then"))
}

/// A name of a tool or of an argument.
fn name() -> impl Strategy<Value = String> {
    "[a-z]{1,4}_[a-z]{1,4}"
}

/// Text as arguments hold it: with everything that has a meaning elsewhere.
fn content() -> impl Strategy<Value = String> {
    let bits = [
        "a", "\"", "\\", "\n", "{", "}", "[", "]", "<", ">", "</", "<b>", ",", ":", "\u{e9}",
        "\u{1f600}", "\u{202e}", "\t", "'", "12", "true", "null", "data: ", "tool_call",
    ];
    prop::collection::vec(select(bits.to_vec()), 0..8).prop_map(|bits| bits.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        content().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(name(), inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A call: its name and arguments.
type Wanted = (String, Map<String, Value>);

fn calls(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Vec<Wanted>> {
    let arguments = prop::collection::btree_map(name(), value, 0..4);
    let arguments = arguments.prop_map(|map| map.into_iter().collect::<Map<_, _>>());
    prop::collection::vec((name(), arguments), 1..4)
}

/// Arguments that a dialect of untyped values can say: text that has no white
/// space at its ends and looks like nothing but text.
fn plain_calls() -> impl Strategy<Value = Vec<Wanted>> {
    calls(content().prop_map(|text| Value::from(format!("v{}.", text.replace("</", "<")))))
}

fn hermes(calls: &[Wanted]) -> String {
    let call = |(name, arguments): &Wanted| {
        format!("<tool_call>\n{}\n</tool_call>", json!({"name": name, "arguments": arguments}))
    };
    calls.iter().map(call).collect::<Vec<_>>().join("\n")
}

fn anthropic_xml(calls: &[Wanted]) -> String {
    let parameter = |(key, value): (&String, &Value)| {
        format!("<parameter name=\"{key}\">{}</parameter>\n", value.as_str().unwrap())
    };
    let call = |(name, arguments): &Wanted| {
        format!(
            "<invoke name=\"{name}\">\n{}</invoke>\n",
            arguments.iter().map(parameter).collect::<String>()
        )
    };
    format!("<function_calls>\n{}</function_calls>", calls.iter().map(call).collect::<String>())
}

fn anthropic_xml_legacy(calls: &[Wanted]) -> String {
    let parameter =
        |(key, value): (&String, &Value)| format!("<{key}>{}</{key}>\n", value.as_str().unwrap());
    let call = |(name, arguments): &Wanted| {
        let inside: String = arguments.iter().map(parameter).collect();
        format!(
            "<invoke>\n<tool_name>{name}</tool_name>\n<parameters>\n{inside}</parameters>\n</invoke>\n"
        )
    };
    format!("<function_calls>\n{}</function_calls>", calls.iter().map(call).collect::<String>())
}

/// Prose, calls, prose: the calls come out as they were put in, and the prose
/// as well, but for the white space around calls.
fn check_embedded(
    dialect: &str,
    calls: &[Wanted],
    written: &str,
    around: &[String; 2],
    cuts: &[Index],
) {
    let [before, after] = around;
    let input = format!("{before}\n{written}\n{after}");
    for choice in [choose(dialect).unwrap(), Selection::Auto] {
        let config = Config { format: format::find("text"), dialect: choice, ..Config::default() };
        let (out, status) = joined(&config, pieces(input.as_bytes(), cuts));
        check_shape(&input, &out, status);
        assert_calls(&input, &out, calls);
        let prose: String = out
            .lines()
            .filter(|line| kind(line) == "text")
            .map(|line| text(&read(line), "text"))
            .collect();
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&prose), words(&format!("{before} {after}")), "{input}\n{out}");
        assert_eq!(joined(&config, [input.as_bytes()]), (out, status), "{input}");
    }
}

/// The calls of an output are these.
fn assert_calls(input: &str, out: &str, calls: &[Wanted]) {
    let got: Vec<Value> = out.lines().filter(|line| kind(line) == "tool_call").map(read).collect();
    let got: Vec<_> = got
        .iter()
        .map(|call| (call["index"].clone(), call["name"].clone(), call["arguments"].clone()))
        .collect();
    let wanted = calls.iter().enumerate();
    let wanted: Vec<_> =
        wanted.map(|(at, (name, arguments))| (json!(at), json!(name), json!(arguments))).collect();
    assert_eq!(got, wanted, "{input}\n{out}");
}

proptest! {
    #![proptest_config(settings(128))]

    #[test]
    fn calls_in_hermes(calls in calls(value()), around in [prose(), prose()], cuts: [Index; 6]) {
        check_embedded("hermes", &calls, &hermes(&calls), &around, &cuts);
    }

    #[test]
    fn calls_in_anthropic_xml(calls in plain_calls(), around in [prose(), prose()], cuts: [Index; 6]) {
        check_embedded("anthropic_xml", &calls, &anthropic_xml(&calls), &around, &cuts);
    }

    #[test]
    fn calls_in_anthropic_xml_legacy(calls in plain_calls(), around in [prose(), prose()], cuts: [Index; 6]) {
        check_embedded("anthropic_xml_legacy", &calls, &anthropic_xml_legacy(&calls), &around, &cuts);
    }

    #[test]
    fn reasoning_in_tags(thought in prose(), answer in prose(), cuts: [Index; 6]) {
        let input = format!("<think>\n{thought}\n</think>\n\n{answer}");
        let dialect = choose("think_tags").unwrap();
        let config = Config { format: format::find("text"), dialect, ..Config::default() };
        let (out, _) = joined(&config, pieces(input.as_bytes(), &cuts));
        let all = |wanted: &str| -> String {
            out.lines().filter(|line| kind(line) == wanted).map(|line| text(&read(line), "text")).collect()
        };
        prop_assert_eq!((all("reasoning"), all("text")), (thought, answer), "{}", out);
    }
}

/// A call that is sent in fragments, among those of others.
#[derive(Clone, Debug)]
struct Sent {
    name: String,
    arguments: Map<String, Value>,
    cuts: Vec<Index>,
    spaced: bool,
}

fn sent() -> impl Strategy<Value = Sent> {
    let arguments = prop::collection::btree_map(name(), value(), 0..4);
    (name(), arguments, prop::collection::vec(any::<Index>(), 0..6), any::<bool>()).prop_map(
        |(name, arguments, cuts, spaced)| Sent {
            name,
            arguments: arguments.into_iter().collect(),
            cuts,
            spaced,
        },
    )
}

impl Sent {
    /// The `tool_calls` items that send it: the first one has its id and name.
    fn fragments(&self, index: usize) -> Vec<Value> {
        let object = Value::Object(self.arguments.clone());
        let whole = if self.spaced {
            serde_json::to_string_pretty(&object).unwrap()
        } else {
            object.to_string()
        };
        let chars: Vec<char> = whole.chars().collect();
        let mut places: Vec<usize> =
            self.cuts.iter().map(|cut| cut.index(chars.len() + 1)).collect();
        places.extend([0, chars.len()]);
        places.sort_unstable();
        let rest = places.windows(2).map(|ends| chars[ends[0]..ends[1]].iter().collect::<String>());
        let first = json!({
            "index": index, "id": format!("id_{index}"), "type": "function",
            "function": {"name": self.name, "arguments": ""},
        });
        let rest = rest.map(|piece| json!({"index": index, "function": {"arguments": piece}}));
        [first].into_iter().chain(rest).collect()
    }
}

/// What may stand between two events.
const BETWEEN: &[&str] =
    &["\n\n", "\r\n\r\n", "\n\n: keep-alive\n\n", "\n\nevent: ping\ndata: {}\n\n"];

/// A stream of chunks. Fragments of several calls take turns as `turns` says;
/// each call's own stay in order.
fn stream(sent: &[Sent], turns: &[Index], between: &str) -> String {
    let chunk = |delta: Value, finish: Value| {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        let chunk =
            json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": choices});
        format!("data: {chunk}{between}")
    };
    let mut queues: Vec<Vec<Value>> = Vec::new();
    let mut out = chunk(json!({"role": "assistant", "content": "On it."}), Value::Null);
    let mut waiting = sent.iter().enumerate().map(|(index, call)| call.fragments(index));
    let mut turns = turns.iter().cycle();
    loop {
        queues.retain(|queue| !queue.is_empty());
        let turn = turns.next().map_or(0, |turn| turn.index(queues.len() + 1));
        let fragment = match queues.get_mut(turn) {
            Some(queue) => queue.remove(0),
            None => match waiting.next() {
                Some(mut queue) => {
                    let first = queue.remove(0);
                    queues.push(queue);
                    first
                }
                None if queues.is_empty() => break,
                None => queues[0].remove(0),
            },
        };
        out.push_str(&chunk(json!({"tool_calls": [fragment]}), Value::Null));
    }
    out.push_str(&chunk(json!({}), json!("tool_calls")));
    out.push_str("data: [DONE]\n\n");
    out
}

proptest! {
    #![proptest_config(settings(192))]

    #[test]
    fn calls_in_chunks(
        sent in prop::collection::vec(sent(), 1..4),
        turns in prop::collection::vec(any::<Index>(), 1..20),
        between in select(BETWEEN),
        cuts: [Index; 8],
    ) {
        let input = stream(&sent, &turns, between);
        let config = Config::default();
        let (out, status) = joined(&config, pieces(input.as_bytes(), &cuts));
        check_shape(&input, &out, status);
        prop_assert_eq!(status, 0);
        let wanted: Vec<Wanted> = sent.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect();
        assert_calls(&input, &out, &wanted);
        prop_assert_eq!(joined(&config, [input.as_bytes()]), (out, status));
    }
}

/// A stored conversation: a message with calls of these ids, and results of these ids.
fn conversation(calls: &[Option<&str>], results: &[Option<&str>], in_blocks: bool) -> String {
    let id = |key: &str, id: &Option<&str>| id.map(|id| (key.to_owned(), json!(id)));
    let with = |rest: Value, id: Option<(String, Value)>| {
        let mut members: Map<String, Value> = id.into_iter().collect();
        members.extend(rest.as_object().unwrap().clone());
        Value::Object(members)
    };
    let call = |(at, call): (usize, &Option<&str>)| match in_blocks {
        true => {
            with(json!({"type": "tool_use", "name": "roll", "input": {"n": at}}), id("id", call))
        }
        false => {
            let arguments = format!("{{\"n\":{at}}}");
            let function = json!({"name": "roll", "arguments": arguments});
            with(json!({"type": "function", "function": function}), id("id", call))
        }
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let answer = match in_blocks {
        true => json!({"role": "assistant", "content": calls}),
        false => json!({"role": "assistant", "content": null, "tool_calls": calls}),
    };
    let result = |result: &Option<&str>| match in_blocks {
        true => {
            let block = json!({"type": "tool_result", "content": "4"});
            json!({"role": "user", "content": [with(block, id("tool_use_id", result))]})
        }
        false => with(json!({"role": "tool", "content": "4"}), id("tool_call_id", result)),
    };
    let lines = std::iter::once(answer).chain(results.iter().map(result));
    lines.map(|line| format!("{line}\n")).collect()
}

proptest! {
    #![proptest_config(settings(256))]

    /// A result ends one call, the first of its id that has none; the others are to be run.
    #[test]
    fn results_of_held_calls(
        calls in prop::collection::vec(select(vec![None, Some("a"), Some("b")]), 1..5),
        results in prop::collection::vec(select(vec![None, Some("a"), Some("b")]), 0..5),
        in_blocks: bool,
        cuts: [Index; 4],
    ) {
        let input = conversation(&calls, &results, in_blocks);
        let config = Config { format: format::find("openai-messages"), ..Config::default() };
        let (out, status) = joined(&config, pieces(input.as_bytes(), &cuts));
        check_shape(&input, &out, status);
        let mut to_run: Vec<(usize, Option<&str>)> = calls.iter().copied().enumerate().collect();
        for id in &results {
            let place = to_run.iter().position(|(_, of)| id.is_none() || of == id);
            place.map(|place| to_run.remove(place));
        }
        let lines: Vec<Value> = out.lines().map(read).collect();
        let of_caller = lines.iter().filter(|line| line["type"] == "tool_call" && line["executor"].is_null());
        let found: Vec<u64> = of_caller.map(|line| line["arguments"]["n"].as_u64().unwrap()).collect();
        let wanted: Vec<u64> = to_run.iter().map(|(at, _)| *at as u64).collect();
        prop_assert_eq!(found, wanted, "{}{}", input, out);
        prop_assert_eq!(joined(&config, [input.as_bytes()]), (out, status));
    }
}

/// No line can harm a terminal, and each is JSON.
fn check_safe(out: &str) {
    for c in out.chars() {
        let is_safe = match c {
            '\n' => true,
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => false,
            '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}' => false,
            '\u{e0000}'..='\u{e007f}' => false,
            _ => true,
        };
        assert!(is_safe, "{c:?} in {out:?}");
    }
    assert!(out.is_empty() || out.ends_with('\n'));
    out.lines().for_each(|line| {
        read(line);
    });
}

/// Bytes that are shown as one literal.
#[derive(Clone)]
struct Bytes(Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

/// Bytes with what parsers stumble over among them.
fn noise() -> impl Strategy<Value = Bytes> {
    let bits: Vec<&'static [u8]> = vec![
        b"data: ",
        b"\n",
        b"\n\n",
        b"\r",
        b"event: error\n",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b"\\u0007",
        b"\\ud83d",
        b"null",
        b"{\"choices\":[{\"delta\":{\"content\":\"",
        b"\"}}]}",
        b"<think>",
        b"</think>",
        b"<tool_call>",
        b"</tool_call>",
        b"{\"type\":\"message_start\"}",
        b"\x1b[2J",
        b"\x00",
        b"\x7f",
        b"\xff",
        b"\xc2\x9b",
        b"\xe2\x80\xae",
        b"\xe2\x80\x8b",
        b"\xf3\xa0\x81\x81",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"\xed\xa0\x80",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"text",
        b",",
        b":",
    ];
    let bit = prop_oneof![
        4 => select(bits).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 1..6),
    ];
    prop::collection::vec(bit, 0..24).prop_map(|bits| Bytes(bits.concat()))
}

/// A fixture with some of its bytes replaced by noise, or lost.
fn damaged() -> impl Strategy<Value = Bytes> {
    let cases: Vec<Vec<u8>> = Case::all().into_iter().map(|case| case.input).collect();
    let wounds = prop::collection::vec((any::<Index>(), 0..12usize, noise()), 1..3);
    (select(cases), wounds).prop_map(|(mut input, wounds)| {
        for (at, lost, noise) in wounds {
            let at = at.index(input.len() + 1);
            let end = input.len().min(at + lost);
            input.splice(at..end, noise.0);
        }
        Bytes(input)
    })
}

/// Whatever comes in, what goes out is safe and has its shape, and how it came
/// makes no difference.
fn check_any(input: &[u8], format: Option<&str>, dialect: Selection, cuts: &[Index]) {
    let mut config = Config { format: format.and_then(format::find), dialect, ..Config::default() };
    config.assembly.deltas = true;
    config.assembly.raw = true;
    let name = String::from_utf8_lossy(input);
    let whole = joined(&config, [input]);
    check_safe(&whole.0);
    check_shape(&name, &whole.0, whole.1);
    assert_eq!(joined(&config, pieces(input, cuts)), whole, "{name:?}");
    config.assembly.choice = Some(0);
    check_safe(&run(&config, Print::Summaries, [input]).out);
}

fn any_format() -> impl Strategy<Value = Option<&'static str>> {
    let names = format::FORMATS.iter().map(|row| Some(row.name));
    select([None, None, None].into_iter().chain(names).collect::<Vec<_>>())
}

fn any_dialect() -> impl Strategy<Value = Selection> {
    let rows = toolstream::dialect::DIALECTS.iter().map(|row| Selection::Row(row));
    select([Selection::Default, Selection::Auto].into_iter().chain(rows).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(settings(512))]

    #[test]
    fn noise_does_no_harm(input in noise(), format in any_format(), dialect in any_dialect(), cuts: [Index; 4]) {
        check_any(&input.0, format, dialect, &cuts);
    }

    #[test]
    fn damage_does_no_harm(input in damaged(), format in any_format(), dialect in any_dialect(), cuts: [Index; 4]) {
        check_any(&input.0, format, dialect, &cuts);
    }
}
