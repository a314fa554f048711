//! The meaning of a row's words, and what is true of every row.

use std::fs;
use std::path::Path;

use super::*;
use crate::event::{Arguments, Event, Kind};
use crate::format::rows::{cohere, ollama};
use crate::format::support::emit::Halves;
use crate::frame::FRAMINGS;

static ACME: Format = Format::new("acme", || Machine::boxed(&ACME, &SPEC));

static SPEC: Spec = Spec {
    kind: "type|kind",
    on: &[
        Rule {
            kind: &["piece"],
            part: Part { text: "d.text|text", each: &[("calls|d.calls", &CALL)], ..Part::NEW },
            error: "problem",
            error_in: "problem",
            end: End::If("last"),
            ..Rule::NEW
        },
        Rule {
            kind: &["call_end"],
            begin: Begin::No,
            part: Part { call_end: "n", ..Part::NEW },
            ..Rule::NEW
        },
        Rule {
            has: "whole{}",
            begin: Begin::Anew,
            whole: true,
            part: Part { each: &[("whole{}", &WHOLE)], ..Part::NEW },
            end: End::Always,
            ..Rule::NEW
        },
    ],
    done: Some("it was done"),
    ..Spec::NEW
};

static CALL: Part = Part {
    call: Some(Call { key: "/n", id: "id", name: "f.name", arguments: "f.in" }),
    ..Part::NEW
};

static WHOLE: Part =
    Part { text: "text", each: &[("calls", &CALL)], block: ("link", "links"), ..Part::NEW };

/// A record: the name of its frame, and its payload.
type Record = (String, String);

/// Decodes records, and returns how each event is shown.
fn decode(
    format: &'static Format,
    spec: &'static Spec,
    records: &[Record],
    show: impl Fn(&Event<'_>) -> String,
) -> Vec<String> {
    let (mut shown, mut halves) = (Vec::new(), Halves::default());
    let mut decoder = Machine::boxed(format, spec);
    let mut emit = |event: &Event<'_>| {
        shown.push(show(event));
        Ok(())
    };
    let mut out = EventOut::new(&mut emit, &mut halves, 0);
    for (event_type, data) in records {
        let frame = Frame { event_type, ..Frame::new(FRAMINGS[0], data.as_bytes(), 0) };
        decoder.feed(frame, &mut out).unwrap();
    }
    decoder.finish(&mut out).unwrap();
    shown
}

/// Decodes records, one a line, of [`ACME`], and compares the events, in short.
#[track_caller]
fn check(input: &str, expected: &str) {
    let records: Vec<Record> =
        input.lines().map(|line| (String::new(), line.trim().to_owned())).collect();
    let show = |event: &Event<'_>| match &event.kind {
        Kind::Start(_) => "start".to_owned(),
        Kind::Text(text) => text.text.to_owned(),
        Kind::CallPart(part) => {
            let arguments = match part.arguments {
                Arguments::Fragment(text) | Arguments::Value(text) => text,
                _ => "",
            };
            format!("{:?}:{}({arguments})", part.key, part.name.unwrap_or_default())
        }
        Kind::CallEnd(end) => format!("{:?}.", end.key),
        Kind::Block(block) => format!("{}={}", block.name, block.text),
        Kind::Warning(warning) => warning.code.name().to_owned(),
        Kind::Error(failure) => format!("error {}", failure.message),
        Kind::End => "end".to_owned(),
        Kind::Lost => "lost".to_owned(),
        Kind::ProviderEvent(_) => "?".to_owned(),
        other => format!("{other:?}"),
    };
    assert_eq!(decode(&ACME, &SPEC, &records, show).join(" "), expected, "{input}");
}

#[test]
fn the_first_place_with_a_value_counts() {
    check(r#"{"type":"piece","text":"b","d":{"text":"a"}}"#, "start a");
    check(r#"{"d":{"text":null},"kind":"piece","text":"b"}"#, "start b");
}

#[test]
fn pieces_of_a_call_have_the_key_of_their_record() {
    let piece = r#"{"calls":{"f":{"in":"1","name":"f"}},"type":"piece","n":3}
        {"type":"call_end","n":3}"#;
    check(piece, "start Index(3):f(1) Index(3).");
}

#[test]
fn whole_calls_are_numbered_and_end() {
    let whole = r#"{"whole":{"calls":[{"f":{"name":"f","in":{}}},{}],"links":[1,{"a":2}]}}"#;
    let call = "Index(0):f({}) Index(0). Index(1):() Index(1).";
    check(whole, &format!("start {call} link=1 link={{\"a\":2}} end"));
}

#[test]
fn a_message_begins_late_or_anew() {
    let two = "{\"type\":\"piece\",\"text\":\"a\"}\n{\"whole\":{\"text\":\"b\"}}";
    let cut = "error a second message began before the first had ended";
    check(two, &format!("start a {cut} end start b end"));
    check("{\"type\":\"call_end\",\"n\":1}", "Index(1).");
}

#[test]
fn a_message_ends_with_a_flag_an_error_or_done() {
    check(r#"{"type":"piece","last":true}"#, "start end");
    check(r#"{"type":"piece","last":false}"#, "start");
    check(r#"{"type":"piece","problem":{"message":"m"},"text":"a"}"#, "start a error m end");
    check("{\"type\":\"piece\"}\n[DONE]", "start no_finish_reason end");
    check("[DONE]", "");
}

#[test]
fn records_of_no_rule_are_errors_or_unknown() {
    check(r#"{"error":"m"}"#, "start error m end");
    check(r#"{"type":"other","whole":"no object"}"#, "? unknown_event");
}

#[test]
fn a_value_of_another_type_costs_itself_and_open_calls() {
    check(r#"{"type":"piece","text":7,"calls":[]}"#, "wrong_type start lost");
}

/// Every format that is a row.
fn rows() -> [(&'static Format, &'static Spec); 3] {
    [
        (&cohere::FORMAT, &cohere::SPEC),
        (&ollama::CHAT, &ollama::SPEC),
        (&ollama::GENERATE, &ollama::SPEC),
    ]
}

/// The records of each fixture of a format, but for those that come over HTTP.
fn fixtures(format: &Format) -> Vec<Vec<Record>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format").join(format.name);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let inputs = paths.filter(|path| path.extension().is_some_and(|end| end == "in"));
    let texts = inputs.filter_map(|path| fs::read_to_string(path).ok());
    texts.filter(|text| !text.starts_with("HTTP/")).map(|text| records(&text)).collect()
}

fn records(text: &str) -> Vec<Record> {
    if json::is_json(text) {
        return vec![(String::new(), text.to_owned())];
    }
    let (mut records, mut event_type) = (Vec::new(), String::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("event:") {
            name.trim().clone_into(&mut event_type);
        } else if let Some(data) = line.strip_prefix("data:") {
            records.push((std::mem::take(&mut event_type), data.trim().to_owned()));
        } else if line.starts_with('{') {
            records.push((String::new(), line.to_owned()));
        }
    }
    records
}

fn shown(event: &Event<'_>) -> String {
    format!("{:?}", event.kind)
}

/// Members whose JSON is passed on as it is.
const PASSED_ON: &[&str] = &["usage", "citations", "arguments", "parameters", "error", "prompt"];

/// Turns the order of the members around, and puts one that is unknown before each.
fn disturbed(value: &str) -> String {
    if let Some(elements) = json::elements(value) {
        return json::array(elements.into_iter().map(disturbed));
    }
    if !value.starts_with('{') {
        return value.to_owned();
    }
    let mut text = String::new();
    for (at, (key, value)) in json::members(value).iter().rev().enumerate() {
        let is_passed_on = PASSED_ON.contains(&key.as_ref());
        let value = if is_passed_on { value.get().to_owned() } else { disturbed(value.get()) };
        let unknown = "{\"type\":\"x\",\"text\":\"x\",\"done\":true,\"message\":[]}";
        let unknown = if at % 2 == 0 { unknown } else { "[1,\"}\"]" };
        let comma = if at == 0 { "" } else { "," };
        text += &format!("{comma}\"unknown_{at}\":{unknown}, {}:{value}", json::quote(key));
    }
    format!("{{{text}}}")
}

#[test]
fn neither_order_nor_unknown_members_change_what_a_record_says() {
    // Counts that are members of the record are passed on in its order: letters are compared.
    let sorted = |events: Vec<String>| -> Vec<String> {
        let sort = |event: String| {
            let mut letters: Vec<char> = event.chars().collect();
            letters.sort_unstable();
            letters.into_iter().collect()
        };
        events.into_iter().map(sort).collect()
    };
    for (format, spec) in rows() {
        let mut count = 0;
        for records in fixtures(format) {
            let events = decode(format, spec, &records, shown);
            // An error is quoted with all its members, and so is what has no meaning.
            let quotes = |event: &String| event.starts_with("Err") || event.starts_with("Prov");
            if records.iter().any(|(_, data)| !json::is_json(data)) || events.iter().any(quotes) {
                continue;
            }
            count += 1;
            let change = |(name, data): &Record| (name.clone(), disturbed(data.trim()));
            let disturbed: Vec<Record> = records.iter().map(change).collect();
            let got = decode(format, spec, &disturbed, shown);
            assert_eq!(sorted(got), sorted(events), "{disturbed:?}");
        }
        assert!(count > 4, "{}: {count} fixtures", format.name);
    }
}

#[test]
fn every_rule_and_every_kind_is_needed_by_a_fixture() {
    for (format, spec) in rows() {
        let fixtures = fixtures(format);
        let events = |spec: &'static Spec| -> Vec<Vec<String>> {
            fixtures.iter().map(|records| decode(format, spec, records, shown)).collect()
        };
        let whole = events(spec);
        let is_needed = |on: Vec<Rule>| {
            whole != events(Box::leak(Box::new(Spec { on: Vec::leak(on), ..*spec })))
        };
        for (at, rule) in spec.on.iter().enumerate() {
            let mut without = spec.on.to_vec();
            without.remove(at);
            assert!(is_needed(without), "{}: no fixture needs rule {at}", format.name);
            for kind in rule.kind {
                let mut without = spec.on.to_vec();
                let others = rule.kind.iter().copied().filter(|other| other != kind);
                // A rule without kinds is of all.
                let others: Vec<_> = others.chain(["another"]).collect();
                without[at].kind = Vec::leak(others);
                assert!(is_needed(without), "{}: no fixture needs {kind}", format.name);
            }
        }
    }
}
