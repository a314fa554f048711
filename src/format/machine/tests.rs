//! The meaning of a row's words, and what is true of every row.

use std::fs;
use std::path::Path;
use std::string::FromUtf8Error;

use super::*;
use crate::event::{Arguments, CallPart, Event, Kind, Loose};
use crate::format::load::{load, read};
use crate::format::spec::Rule;
use crate::format::support::emit::Halves;
use crate::format::table::FORMATS;
use crate::format::{check, format};
use crate::frame::{self, FRAMINGS, FrameConfig, Framed};

const ACME: &str = r##"
name = "acme"
kind = "type|kind"
done = { ends = true, warn = "no_finish_reason" }
on = [
  { kind = "piece", text = "d.text|text", each = "calls|d.calls > call", error = "problem", end = "last" },
  { kind = "problem", error = "problem", end = true },
  { kind = "call_end", begin = false, call_end = "n" },
  { has = "whole{}", begin = "cut", whole = true, each = "whole{} > whole", end = true },
  { kind = "part", at = "p", text = "t" },
  { kind = "parts", whole = true, each = ["list > part", "lines > line"] },
  { kind = "wrapped", begin = false, each = "json > inner" },
]

[group.call]
on = [{ call = { key = "/n", id = "id", name = "f.name", arguments = "f.in" } }]

[group.whole]
on = [{ text = "text", each = "calls > call", block = { name = "'link'", at = "links" } }]

[group.part]
on = [{ at = "#", text = "t|0.t" }]

[group.line]
on = [{ text = "." }]

[group.inner]
encoded = true
kind = "k"
on = [{ kind = "text", text = "t", end = "last" }]
"##;

/// A record: the name of its frame, and its payload.
type Record = (String, String);

/// Decodes records, and returns how each event is shown.
fn decode(
    format: &'static Format,
    records: &[Record],
    show: impl Fn(&Event<'_>) -> String,
) -> Vec<String> {
    let (mut shown, mut halves) = (Vec::new(), Halves::default());
    let mut decoder = format.decode();
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
    assert_eq!(decode(load(ACME).unwrap(), &records, in_short).join(" "), expected, "{input}");
}

/// Decodes named records with a row of these rules, and compares the events, in short.
#[track_caller]
fn check_rules(rules: &str, records: &[(&str, &str)], expected: &str) {
    check_row(&format!("name = 'x'\nkind = 'event:'\n{rules}"), records, expected);
}

/// Decodes named records with a row, and compares the events, in short.
#[track_caller]
fn check_row(toml: &str, records: &[(&str, &str)], expected: &str) {
    let format = load(toml).unwrap();
    let records = records.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned()));
    let records: Vec<Record> = records.collect();
    assert_eq!(decode(format, &records, in_short).join(" "), expected, "{toml}");
}

/// Returns an event in short. What is of a choice after the first has its number.
fn in_short(event: &Event<'_>) -> String {
    let kind = match &event.kind {
        Kind::Start(_) => "start".to_owned(),
        Kind::Text(text) => text.text.to_owned(),
        Kind::Loose(Loose::CallPart(part)) => {
            let arguments = match part.arguments {
                Arguments::Fragment(text)
                | Arguments::Value(text)
                | Arguments::Placeholder(text) => text.to_owned(),
                Arguments::Done(text) => format!("!{text}"),
                Arguments::Misnamed(text) => format!("?{text}"),
                _ => String::new(),
            };
            format!("{:?}:{}({arguments})", part.key, part.name.unwrap_or_default())
        }
        Kind::Loose(Loose::CallEnd(end)) => format!("{:?}.", end.key),
        Kind::Block(block) => format!("{}={}", block.name, block.text),
        Kind::Warning(warning) => warning.code.name().to_owned(),
        Kind::Error(failure) => format!("error {}", failure.message),
        Kind::Loose(Loose::End) => "end".to_owned(),
        Kind::Loose(Loose::Lost) => "lost".to_owned(),
        Kind::ProviderEvent(_) => "?".to_owned(),
        Kind::Finish(finish) => finish.finish_reason.name().to_owned(),
        other => format!("{other:?}"),
    };
    if event.choice == 0 { kind } else { format!("{}:{kind}", event.choice) }
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
    check(piece, "start Index(0):f(1) Index(0).");
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
    check("{\"type\":\"call_end\",\"n\":1}", "");
}

#[test]
fn a_message_ends_with_a_flag_an_error_or_done() {
    check(r#"{"type":"piece","last":true}"#, "start end");
    check(r#"{"type":"piece","last":false}"#, "start");
    check(r#"{"type":"piece","problem":{"message":"m"},"text":"a"}"#, "start a error m");
    check(r#"{"type":"problem","problem":{"message":"m"}}"#, "start error m end");
    check("{\"type\":\"piece\"}\n[DONE]", "start no_finish_reason end");
    check("[DONE]", "");
}

#[test]
fn of_a_part_that_comes_again_only_what_is_new_is_emitted() {
    let pieces = "{\"type\":\"part\",\"p\":0,\"t\":\"ab\"}\n";
    let again = |text: &str| format!(r#"{pieces}{{"type":"parts","list":[{{"t":"{text}"}}]}}"#);
    check(&again("abc"), "start ab c");
    check(&again("ab"), "start ab");
    check(&again("xb"), "start ab text_mismatch revision=xb");
}

#[test]
fn elements_of_lists_are_places_and_objects() {
    check(r#"{"type":"parts","lines":["a","b"]}"#, "start a b");
    check(r#"{"type":"parts","list":{"0":1,"t":"a"}}"#, "start a");
}

#[test]
fn a_message_has_stopped_when_all_of_its_choices_have() {
    let rules = "on = [{ has = 'all', each = 'all > choice', end = 'stopped' }]\n\
                 [group.choice]\n\
                 on = [{ choice = 'n', text = 't', each = 'call > call', finish = 'why' }]\n\
                 [group.call]\non = [{ call = { key = 'c', name = 'f', arguments = 'a' } }]";
    let call = |n| format!(r#""call":{{"c":{n},"f":"f"}}"#);
    let first =
        format!(r#"{{"all":[{{"t":"a",{},"why":"stop"}},{{"n":1,{}}}]}}"#, call(0), call(0));
    let before = "start a Index(0):f() stop 1:Index(0):f()";
    check_rules(rules, &[("", &first)], before);
    let second = r#"{"all":[{"n":1,"call":{"c":0},"why":"length"}]}"#;
    let after = format!("{before} 1:Index(0):() 1:length None. 1:None. end");
    check_rules(rules, &[("", &first), ("", second)], &after);
}

#[test]
fn records_may_be_text_or_any_json() {
    let rules = "on = [{ kind = 'said', text = 'data:' }, { kind = 'word', text = '.' },\n\
                 { kind = 'log', block = { name = 'kind:', text = 'data:' } },\n\
                 { kind = 'list', block = { name = 'kind:', at = '.' } }, { kind = 'last', end = true }]";
    let records = [("said", " {\"a\":1"), ("word", "\"b\""), ("log", "c"), ("list", "[1,2]")];
    check_rules(rules, &records, "start  {\"a\":1 b log=c list=1 list=2");
    let malformed = "error an event's data is not the JSON that its format asks for";
    check_rules(rules, &[("word", "1")], malformed);
    check_rules(rules, &[("other", "a")], "? unknown_event");
}

#[test]
fn calls_whose_end_no_rule_names_end_with_their_message() {
    let rules = "on = [{ kind = 'call', call = { key = 'n', name = 'f', arguments = 'a' } },\n\
                 { kind = 'last', finish = 'why', end = true }, { kind = 'fault', error = '.', end = true }]";
    let (begun, goes_on) = (("call", r#"{"n":1,"f":"f","a":"{"}"#), ("call", r#"{"n":1,"a":"}"}"#));
    let pieces = "start Index(0):f({) Index(0):(})";
    check_rules(rules, &[begun, goes_on, ("last", "{}")], &format!("{pieces} None. end"));
    check_rules(rules, &[begun, goes_on], pieces);
    let fails = ("fault", r#"{"message":"m"}"#);
    check_rules(rules, &[begun, goes_on, fails], &format!("{pieces} error m end"));
    // Where blocks end, a call ends with its own.
    let rules = format!("{rules}\n[group.unused]\non = []").replace(
        "on = [{ kind = 'call'",
        "on = [{ kind = 'stop', close = true, at = 'n' }, { kind = 'call', each = 'x > unused'",
    );
    check_rules(&rules, &[begun, goes_on, ("last", "{}")], &format!("{pieces} end"));
}

#[test]
fn arguments_at_another_place_are_not_taken_for_none() {
    let rules = "on = [{ kind = 'call', whole = true, call = { id = 'i', name = 'c.f', arguments = 'c.b' } },\n\
                 { kind = 'piece', call = { key = 'n', name = 'f', arguments = 'b' } },\n\
                 { kind = 'last', end = true }]";
    let whole = |rest: &str| format!(r#"{{"i":"1","x":{{"y":1}},"c":{{"f":"f"{rest}}}}}"#);
    let check = |data: &str, arguments: &str| {
        let expected = format!("start Index(0):f({arguments}) Index(0).");
        check_rules(rules, &[("call", data)], &expected);
    };
    check(&whole(r#","a":{"x":1}"#), "?{\"x\":1}");
    check(&whole(r#","a":"{\"x\":1}""#), r#"?"{\"x\":1}""#);
    // They hold nothing, or are beside neither the name nor the arguments.
    check(&whole(r#","a":{},"d":"e","f2":[1]"#), "");
    check(&whole(r#","a":{"x":1},"b":{}"#), "{}");
    let pieces =
        [("piece", r#"{"n":1,"f":"f","m":{"x":1}}"#), ("piece", r#"{"n":1,"a":"{\"x\""}"#)];
    check_rules(rules, &pieces, r#"start Index(0):f() Index(0):(?"{\"x\"")"#);
}

#[test]
fn a_whole_call_that_is_repeated_is_one_call() {
    let rules = |top: &str| {
        format!(
            "{top}\non = [{{ kind = 'piece', call = {{ key = 'n', id = 'i', name = 'f', arguments = 'a' }} }},\n\
             {{ kind = 'done', call_end = 'n' }},\n\
             {{ kind = 'call', whole = true, call = {{ key = 'n', id = 'i', name = 'f', arguments = 'a' }},\n\
             result = {{ if = 'r', id = 'i', output = 'r' }} }}]"
        )
    };
    let call = |arguments: &str| format!(r#"{{"n":0,"i":"c","f":"f","a":{arguments}}}"#);
    let (object, spaced) = (call(r#"{"x":1}"#), call(r#""{\"x\": 1}""#));
    let (other, piece, done) = (call(r#"{"x":2}"#), call(r#""{\"x\": 1""#), ("done", r#"{"n":0}"#));
    let rest = ("piece", r#"{"n":0,"a":"}"}"#);
    for top in ["done = { ends = true }", "log = { ends = false }"] {
        let rules = rules(top);
        let check = |records: &[(&str, &str)], expected: &str| {
            check_rules(&rules, records, &format!("start {expected}"));
        };
        let whole = r#"Index(0):f({"x":1}) Index(0)."#;
        let end = if top.starts_with("log") { " stop" } else { "" };
        check(&[("call", &object), ("call", &spaced), ("call", &object)], &format!("{whole}{end}"));
        let pieces = r#"Index(0):f({"x": 1) Index(0):(})"#;
        let in_pieces = [("piece", &*piece), rest, done, ("call", &*object)];
        check(&in_pieces, &format!("{pieces} Index(0).{end}"));
        let open = [("piece", &*piece), rest, ("call", &*object), ("call", &*spaced)];
        check(&open, &format!("{pieces} Index(0):f(!{{\"x\":1}}) Index(0).{end}"));
        // A log says a call again in other words.
        let is_log = top.starts_with("log");
        let two = if is_log { "" } else { r#" Index(0):f(!{"x":2}) Index(0)."# };
        check(&[("call", &object), ("call", &other)], &format!("{whole}{two}{end}"));
    }
}

#[test]
fn a_call_beside_a_text_may_be_missing() {
    let rules = "on = [{ kind = 'say', whole = true, text = 't',\n\
                 call = { key = '#', id = 'c.id', name = 'c.f', arguments = 'c.a' },\n\
                 result = { id = 'r.id', output = 'r.out' } }, { kind = 'last', end = true }]";
    check_rules(rules, &[("say", r#"{"t":"a"}"#), ("last", "{}")], "start a end");
    let call = r#"{"t":"a","c":{"f":"f"}}"#;
    check_rules(rules, &[("say", call)], "start a Index(0):f() Index(0).");
}

#[test]
fn a_text_that_holds_all_so_far_may_change() {
    let rules =
        "on = [{ kind = 'say', cumulative = true, text = 't' }, { kind = 'last', end = true }]";
    let say = |text: &str| format!(r#"{{"t":"{text}"}}"#);
    let all = ["It", "It is 5", "It is 6", "It is 6 am"].map(say);
    let all: Vec<_> = all.iter().map(|data| ("say", data.as_str())).collect();
    let expected = "start It  is 5 repeated_text text_mismatch revision=It is 6  am";
    check_rules(rules, &all, expected);
}

#[test]
fn a_text_that_always_holds_all_so_far_is_no_piece() {
    let rules =
        "on = [{ kind = 'say', cumulative = 'always', text = 't' }, { kind = 'last', end = true }]";
    let all = ["No", "No", "No, I"].map(|text| format!(r#"{{"t":"{text}"}}"#));
    let all: Vec<_> = all.iter().map(|data| ("say", data.as_str())).collect();
    check_rules(rules, &all, "start No , I");
}

#[test]
fn a_body_does_not_end_the_calls_of_a_stream() {
    let rules = "on = [{ kind = 'piece', call = { id = 'i', name = 'f', arguments = 'a' } },\n\
                 { kind = 'last', end = true },\n\
                 { kind = 'body', whole = true, each = 'calls > call', end = true }]\n\
                 [group]\ncall = [{ call = { id = 'i', name = 'f', arguments = 'a' } }]";
    let piece = r#"{"i":"1","f":"f","a":"{}"}"#;
    let expected = "start Index(0):f({}) None. end";
    check_rules(rules, &[("piece", piece), ("last", "{}")], expected);
}

#[test]
fn a_whole_message_says_its_results_once_more() {
    let rules = "on = [{ kind = 'call', whole = true, call = { id = 'i', name = 'f', arguments = 'a' } },\n\
                 { kind = 'result', result = { id = 'i', output = 'o' } },\n\
                 { kind = 'all', whole = true, result = { id = 'i', output = 'o' } },\n\
                 { kind = 'last', end = true }]";
    let (call, result) = (r#"{"i":"1","f":"f","a":{}}"#, r#"{"i":"1","o":"x"}"#);
    let twice = [("call", call), ("result", result), ("all", result), ("last", "{}")];
    let result = "ToolResult(ToolResult { id: \"1\", name: None, output: Text(\"x\"), is_error: None, \
                  kind: None, executor: None, ran: None })";
    check_rules(rules, &twice, &format!("start Index(0):f({{}}) Index(0). {result} end"));
}

#[test]
fn a_whole_text_says_its_pieces_once_more() {
    let rules = "on = [{ kind = 'piece', text = 't' }, { kind = 'all', whole = true, text = 't' },\n\
                 { kind = 'grow', cumulative = true, text = 't' },\n\
                 { kind = 'instead', replaces = true, text = 't' }, { kind = 'last', end = true }]";
    let check = |records: &str, expected: &str| {
        let records: Vec<_> = records
            .split(' ')
            .map(|record| record.split_once(':').unwrap_or((record, "")))
            .map(|(kind, text)| (kind, format!(r#"{{"t":"{text}"}}"#)))
            .collect();
        let records: Vec<_> = records.iter().map(|(kind, data)| (*kind, data.as_str())).collect();
        check_rules(rules, &records, &format!("start {expected}"));
    };
    check("piece:a piece:b all:ab all:abc", "a b c");
    check("piece:a all:ab piece:c all:c all:abc", "a b c");
    // It is none of them; of one without pieces, it is another text.
    check("piece:a piece:b all:cd all:cde", "a b text_mismatch revision=cd e");
    check("all:a all:ab", "a ab");
    check("grow:a grow:ab all:ab", "a b repeated_text");
    check("piece:a grow:ab piece:c grow:abcd", "a b repeated_text c d");
    check("piece:a grow:bc piece:d", "a text_mismatch revision=bc repeated_text d");
    check("instead:a piece:b instead:c piece:d", "a b text_mismatch revision=c d");
    let part = "on = [{ kind = 'piece', at = 'n', text = 't' },\n\
                { kind = 'all', at = 'n', whole = true, text = 't' },\n\
                { kind = 'instead', at = 'n', replaces = true, text = 't' }]\ndone = { ends = true }";
    let [a, b, c] = ["a", "b", "bc"].map(|text| format!(r#"{{"n":0,"t":"{text}"}}"#));
    let records = [("piece", a.as_str()), ("instead", &b), ("all", &c)];
    check_rules(part, &records, "start a text_mismatch revision=b c");
    let inside = "name = 'x'\nkind = 'type'\ndone = { ends = true }\n\
                  on = [{ kind = 'piece', text = 't' }, { kind = 'all', each = '. > said' }]\n\
                  [group]\nsaid = [{ whole = true, text = 't' }]";
    let [piece, all] = [r#"{"type":"piece","t":"a"}"#, r#"{"type":"all","t":"ab"}"#];
    check_row(inside, &[("", piece), ("", all)], "start a b");
    // Both lead to one group; in a log as well.
    let shared = inside.replace("text = 't' }, {", "each = '. > said' }, {");
    let shared = shared.replace("{ kind = 'all',", "{ kind = 'all', whole = true,");
    let shared = shared.replace("said = [{ whole = true,", "said = [{");
    check_row(&shared, &[("", piece), ("", all)], "start a b");
    let log = shared.replace("done = { ends = true }", "log = {}");
    let all = r#"{"type":"all","t":"aa"}"#;
    check_row(&log, &[("", piece), ("", piece), ("", all), ("", all)], "start a a aa stop");
}

#[test]
fn a_place_may_be_in_any_element() {
    let row = "name = 'x'\non = [{ has = 'turns.*.calls', each = 'turns.*.calls > call' },\n\
               { has = 'turns.1.t', text = \"turns.1.t + ' ' + turns.*.n\" }]\ndone = { ends = true }\n\
               [group.call]\non = [{ call = { id = \"'c' + #\", name = 'f', arguments = \"'{}'\" } }]";
    let calls = r#"{"turns":[{"t":"a"},{"calls":[{"f":"f"},{"f":"g"}]},{"calls":[{"f":"h"}]}]}"#;
    let expected = "start Index(0):f({}) Index(1):g({}) Index(2):h({})";
    check_row(row, &[("", calls)], expected);
    check_row(row, &[("", r#"{"turns":[{"n":7},{"t":"a","n":8}]}"#)], "start a 7");
}

#[test]
fn where_a_message_begins_stands_in_its_record() {
    let row = "name = 'x'\nkind = 'key:'\nstart = { id = '*.id|id' }\n\
               on = [{ kind = 'say', text = 't' }, { kind = 'last', end = true }]";
    let format = load(row).unwrap();
    let records = [(String::new(), r#"{"s":"x","l":[1],"say":{"t":"a","id":"7"}}"#.to_owned())];
    let id = |event: &Event<'_>| match &event.kind {
        Kind::Start(start) => start.id.unwrap_or_default().to_owned(),
        _ => in_short(event),
    };
    assert_eq!(decode(format, &records, id), ["7", "a"]);
}

#[test]
fn members_of_one_pattern_are_records_each() {
    let row = "name = 'x'\nkind = 'key:'\non = [{ kind = 't_*', text = 't' },\n\
               { kind = 'c_*', call = { id = 'i', name = 'n', arguments = 'a' }, whole = true },\n\
               { kind = 'last', end = true }]";
    let calls = r#"{"c_1":{"i":"1","n":"f","a":{}},"t_1":{"t":"a"},"c_2":{"i":"2","n":"g","a":{}},"t_2":{"t":"b"}}"#;
    check_row(row, &[("", calls)], "start a b Index(0):f({}) Index(0). Index(1):g({}) Index(1).");
    let twice = r#"{"t_1":{"t":"a"},"t_2":null,"t_1":{"t":"b"}}"#;
    check_row(row, &[("", twice)], "duplicate_key start b");
    let no_text = r#"{"t_1":{"t":"a"},"t_2":{"t":5}}"#;
    check_row(row, &[("", no_text)], "wrong_type start a lost");
}

#[test]
fn a_condition_may_be_a_flag() {
    let row =
        "name = 'x'\non = [{ has = 't=a|b', not = 'n=1', text = 'd' }, { has = 't', end = true }]";
    let records = [
        ("", r#"{"t":"a","d":"1"}"#),
        ("", r#"{"t":"b","n":1,"d":"2"}"#),
        ("", r#"{"t":"b","n":2,"d":"3"}"#),
        ("", r#"{"t":"c","d":"4"}"#),
    ];
    check_row(row, &records, "start 1 end start 3 end");
    let loaded = load(row).unwrap();
    let proves = |data: &str| {
        let frame = Frame::new(FRAMINGS[0], data.as_bytes(), 0);
        loaded.accepts(&format::Record::new(&frame))
    };
    assert!(proves(r#"{"t":"a"}"#) && !proves(r#"{"n":1}"#));
}

#[test]
fn a_name_may_say_all() {
    let rules = "on = [{ kind = 'said', text = 't' }, { kind = 'last', end = true }]";
    let piece = ("said", r#"{"t":"a"}"#);
    for word in ["null", "bye", "\"bye\"", "1", "", "{}"] {
        check_rules(rules, &[piece, ("said", "null"), ("last", word)], "start a end");
    }
    let malformed = "error an event's data is not the JSON that its format asks for start a end";
    check_rules(rules, &[("said", "1"), piece, ("last", "1")], malformed);
    let row = "name = 'x'\nkind = ['event:', 'type']\non = [{ kind = 'said/a', text = 't' },\n\
               { kind = 'last', end = true }]";
    check_row(row, &[("said", r#"{"type":"a","t":"a"}"#), ("last", "1")], "start a end");
}

#[test]
fn records_may_be_lists() {
    let row = "name = 'x'\nkind = ['event:', '0.type']\nstart = { model = '1.model' }\n\
               on = [{ kind = 'messages/ai', text = '0.t', each = '0.calls > call' },\n\
               { kind = 'messages/*' }, { kind = 'end*', end = true }]\n\
               [group.call]\non = [{ call = { key = 'n', name = 'f', arguments = 'a' } }]";
    let records = [
        ("messages", r#"[{"t":"a","calls":[{"n":1,"f":"f"}],"type":"ai"},{"model":"m"}]"#),
        ("messages", r#"[{"t":"b","type":"human"}]"#),
        ("other", "[]"),
        ("end", "{}"),
    ];
    check_row(row, &records, "start a Index(0):f() ? unknown_event None. end");
}

#[test]
fn where_the_beginning_of_a_message_is_looked_for_may_be_anything() {
    let row = "name = 'x'\nkind = 'type'\nsession = { id = 'data.id' }\n\
               on = [{ kind = 'word', text = 'data' }, { kind = 'asks', text = 'data.t' },\n\
               { kind = 'end', end = true }]";
    let word = ("", r#"{"type":"word","data":"a"}"#);
    let end = ("", r#"{"type":"end","data":"[DONE]"}"#);
    check_row(row, &[word, end], "start a end");
    let asks = ("", r#"{"type":"asks","data":"a"}"#);
    check_row(row, &[asks, end], "wrong_type start lost end");
}

#[test]
fn a_record_in_a_string_is_one_of_its_own() {
    let inner = r#"{\"k\":\"text\",\"t\":\"a\",\"last\":true}"#;
    check(&format!(r#"{{"type":"wrapped","json":"{inner}"}}"#), "start a end");
    check(
        r#"{"type":"wrapped","json":"{"}"#,
        "error an event's data is not the JSON that its format asks for",
    );
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
fn rows() -> impl Iterator<Item = (&'static Format, &'static Spec)> {
    FORMATS.iter().filter_map(|format| Some((*format, format.row()?.spec)))
}

/// The records of each fixture of a format, but for those that come over HTTP or fail in a frame.
fn fixtures(format: &Format) -> Vec<Vec<Record>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format").join(format.name);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let inputs = paths.filter(|path| path.extension().is_some_and(|end| end == "in"));
    let inputs = inputs.map(|path| String::from_utf8(fs::read(path).unwrap()));
    let read = |input: Result<String, FromUtf8Error>| match input {
        Ok(text) => (!text.starts_with("HTTP/")).then(|| records(&text)),
        Err(bytes) => messages(bytes.as_bytes()),
    };
    inputs.filter_map(read).collect()
}

/// The records of an AWS event stream, unless one is a failure.
fn messages(bytes: &[u8]) -> Option<Vec<Record>> {
    let mut framer = (frame::find("eventstream")?.framer)(FrameConfig::default());
    let (mut records, mut fails) = (Vec::new(), false);
    let mut take = |framed: Framed<'_>| {
        let Framed::Frame(frame) = framed else { return Ok(()) };
        fails |= frame.is_failure();
        records.push((frame.event_type.to_owned(), frame.text().into_owned()));
        Ok(())
    };
    framer.feed(bytes, &mut take).unwrap();
    framer.finish(&mut take).unwrap();
    (!fails).then_some(records)
}

fn records(text: &str) -> Vec<Record> {
    if let Some(elements) = json::elements(text.trim()) {
        return elements.into_iter().map(|json| (String::new(), json.to_owned())).collect();
    }
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
        } else if let Some((code, data)) = line.split_once(':').filter(|(code, _)| code.len() == 1)
        {
            records.push((code.to_owned(), data.to_owned()));
        }
    }
    records
}

fn shown(event: &Event<'_>) -> String {
    format!("{:?}", event.kind)
}

/// Members whose JSON is passed on as it is.
const PASSED_ON: &[&str] = &[
    "usage", "total_usage", "citations", "args", "arguments", "parameters", "error", "prompt",
    "input", "output", "content", "outputs", "response", "results", "messageMetadata",
    "annotations", "toolResult", "trace", "meta", "metrics", "result", "usageMetadata",
    "usage_metadata", "stats", "changes", "tokens", "token_usage", "token_state",
    "last_token_usage", "token_details", "rawInput", "rawOutput", "action", "item",
];

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
    // What is unknown beside a call without arguments may be them.
    let named = |event: &Event<'_>| match &event.kind {
        Kind::Loose(Loose::CallPart(part)) => {
            let is_misnamed = matches!(part.arguments, Arguments::Misnamed(_));
            let arguments = if is_misnamed { Arguments::None } else { part.arguments };
            let part = CallPart { arguments, ..*part };
            shown(&Event::new(event.choice, Kind::Loose(Loose::CallPart(part))))
        }
        _ => shown(event),
    };
    for (format, _) in rows() {
        let mut count = 0;
        for records in fixtures(format) {
            let events = decode(format, &records, named);
            // An error is quoted with all its members, and so is what has no meaning.
            let quotes = |event: &String| {
                let is_json = ["text: \"{", "text: \"["].iter().any(|start| event.contains(start));
                let is_object = event.starts_with("Block") && is_json;
                is_object || event.starts_with("Err") || event.starts_with("Prov")
            };
            if records.iter().any(|(_, data)| !json::is_json(data)) || events.iter().any(quotes) {
                continue;
            }
            count += 1;
            let change = |(name, data): &Record| (name.clone(), disturbed(data.trim()));
            let disturbed: Vec<Record> = records.iter().map(change).collect();
            let mut got = decode(format, &disturbed, named);
            // Where a text is missing, what is unknown is told of: it may hold it.
            got.retain(|event| !event.contains("UnknownField") && !event.starts_with("Prov"));
            assert_eq!(sorted(got), sorted(events), "{disturbed:?}");
        }
        assert!(count > 1, "{}: {count} fixtures", format.name);
    }
}

#[test]
fn the_build_and_the_loader_read_a_row_alike() {
    for (format, spec) in rows() {
        // A user's row has no functions.
        let toml = format.row().unwrap().toml();
        let hook = toml.lines().find(|line| line.contains("hook = {"));
        let toml = hook.map_or(toml.to_owned(), |line| toml.replace(line, ""));
        let on = spec.on.iter().map(|rule| Rule { hook: None, ..*rule }).collect::<Vec<_>>();
        let written = Spec { on: on.leak(), ..*spec };
        let read = read(&toml).unwrap_or_else(|error| panic!("{}: {error}", format.name));
        assert_eq!(format!("{read:#?}"), format!("{written:#?}"));
        let renamed = Box::leak(Box::new(Spec { name: "own", aliases: &[], ..read }));
        let mistake = check::mistake(renamed, &toml).map(|mistake| mistake.to_string());
        assert_eq!(mistake, None, "{}", format.name);
    }
}

/// The format with other rules for its records, or for one of its groups.
fn with_rules(spec: &Spec, group: Option<usize>, on: Vec<Rule>) -> &'static Format {
    let on: &'static [Rule] = on.leak();
    let mut spec = *spec;
    match group {
        None => spec.on = on,
        Some(at) => {
            let mut groups = spec.groups.to_vec();
            groups[at].on = on;
            spec.groups = groups.leak();
        }
    }
    Box::leak(Box::new(Format::of(Row::loaded(spec, ""))))
}

#[test]
fn every_rule_and_every_kind_is_needed_by_a_fixture() {
    let mut missing = Vec::new();
    for (format, spec) in rows() {
        let fixtures = fixtures(format);
        let events = |format: &'static Format| -> Vec<Vec<String>> {
            fixtures.iter().map(|records| decode(format, records, shown)).collect()
        };
        let whole = events(format);
        let of_groups = spec.groups.iter().enumerate().map(|(at, group)| (Some(at), group.on));
        for (group, on) in std::iter::once((None, spec.on)).chain(of_groups) {
            let is_needed = |on: Vec<Rule>| whole != events(with_rules(spec, group, on));
            for (at, rule) in on.iter().enumerate() {
                let mut without = on.to_vec();
                without.remove(at);
                if !is_needed(without) {
                    missing.push(format!("{}: rule {at} of {group:?}", format.name));
                }
                for kind in rule.kind.split('|').filter(|_| rule.kind.contains('|')) {
                    let others: Vec<&str> = rule.kind.split('|').filter(|it| *it != kind).collect();
                    let mut without = on.to_vec();
                    without[at].kind = others.join("|").leak();
                    if !is_needed(without) {
                        missing.push(format!("{}: the kind {kind}", format.name));
                    }
                }
            }
        }
    }
    assert!(missing.is_empty(), "no fixture needs {missing:#?}");
}
