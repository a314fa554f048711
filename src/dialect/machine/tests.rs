//! What comes with which read: text is held back only as long as it may become a marker.

use std::fs;
use std::path::Path;

use super::*;
use crate::dialect::table;
use crate::event::{Arguments, CallPart, Event, Kind, Loose};
use crate::scan::{Lookahead, Sight};

fn machine(name: &str, start_in: StartIn) -> DialectMachine {
    let calls = TextCalls::new(None, 0);
    match name {
        "auto" => DialectMachine::auto(start_in, calls),
        name => DialectMachine::new(table::find(name).unwrap(), start_in, calls),
    }
}

/// Feeds a piece; returns what came: text, what was thought in parentheses, arguments in braces.
fn feed(machine: &mut DialectMachine, piece: &str) -> String {
    let mut came = String::new();
    let mut emit = |event: &Event<'_>| {
        came += &match event.kind {
            Kind::Text(text) => text.text.to_owned(),
            Kind::Reasoning(reasoning) => format!("({})", reasoning.text),
            Kind::Loose(Loose::CallPart(CallPart {
                arguments: Arguments::Fragment(text), ..
            })) => {
                format!("{{{text}}}")
            }
            _ => String::new(),
        };
        Ok(())
    };
    machine.feed(piece, &mut ChoiceEmit::new(0, &mut emit)).unwrap();
    came
}

/// Feeds the first text of each pair, of which the second must come at once.
#[track_caller]
fn check(name: &str, pairs: &[(&str, &str)]) {
    let mut machine = machine(name, StartIn::Text);
    for (piece, expected) in pairs {
        assert_eq!(feed(&mut machine, piece), *expected, "of {piece:?} in {name}");
    }
}

#[test]
fn prose() {
    for name in ["auto", "hermes", "kimi_k2", "harmony", "qwen3_coder"] {
        check(name, &[("It is", "It is"), (" 3 <", " 3 "), (" 4", "< 4"), (". ", ". ")]);
        check(name, &[("It is", "It is"), (" <-", " <-"), (" x", " x"), ("\n* ", "\n* ")]);
    }
}

#[test]
fn beginnings_of_markers() {
    check("hermes", &[("a <", "a "), ("tool", ""), ("s", "<tools"), (" >", " >")]);
    check("kimi_k2", &[("a <|", "a "), ("tool_call", ""), ("x", "<|tool_callx"), ("<|t", "")]);
    check("auto", &[("a <thin", "a "), ("!", "<thin!"), (" <|tool_c", " "), ("z", "<|tool_cz")]);
}

#[test]
fn thoughts() {
    let open = ("<think>\n", "");
    check("hermes", &[open, ("So", "(So)"), (" 1 <", "( 1 )"), (" 2", "(< 2)"), ("\n</th", "")]);
    check("kimi_k2", &[open, ("So", "(So)"), (" <|", "( )"), ("x", "(<|x)"), (".", "(.)")]);
}

#[test]
fn arguments_in_json() {
    let open = "<tool_call>\n{\"name\": \"f\", \"arguments\": ";
    let string =
        [("{\"a\": \"", "{{\"a\": \"}"), ("x <", "{x <}"), ("/tool_call>", "{/tool_call>}")];
    let rest = [(" y", "{ y}"), ("\"", "{\"}"), (", \"b\": 1", "{, \"b\": 1}"), ("}", "{}}")];
    check("hermes", &[&[(open, "")][..], &string, &rest].concat());
    let open = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>";
    check("kimi_k2", &[&[(open, "")][..], &string, &rest].concat());
}

#[test]
fn values_that_are_text() {
    check(
        "code_block_agent",
        &[
            ("<code>\n", "{{\"code\":\"}"),
            ("x", "{x}"),
            (" <", "{ }"),
            (" 1", "{< 1}"),
            ("\n", ""),
            ("y", "{\\ny}"),
            (" </cx", "{ </cx}"),
        ],
    );
}

/// True if a text that is held may become a marker, or what must follow one may come.
fn may_become(machine: &DialectMachine, held: &str) -> bool {
    let may_become = |rule: &MarkerRule| {
        let sight = Lookahead::default().advance(&rule.pattern, &rule.next, held, false);
        matches!(sight, Sight::More)
    };
    machine.search.rules().rules.iter().any(may_become)
}

/// Reads two pieces of text; returns what is held after them.
#[track_caller]
fn held_after(name: &str, text: &str, other: &str) -> String {
    let mut machine = machine(name, StartIn::Text);
    feed(&mut machine, text);
    feed(&mut machine, other);
    let held = &machine.held;
    let is_right = held.is_empty() || may_become(&machine, held);
    assert!(is_right, "{held:?} is held in {name} after {text:?} and {other:?}");
    machine.held
}

#[test]
fn what_is_held_may_become_a_marker() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dialect");
    for row in DIALECTS {
        let file = folder.join(row.name).join("one_call.in");
        let Ok(text) = fs::read_to_string(file) else { continue };
        for name in [row.name, "auto"] {
            for (end, _) in text.char_indices() {
                let (begun, _) = text.split_at(end);
                if !held_after(name, begun, "").is_empty() {
                    held_after(name, begun, "x");
                    held_after(name, begun, "\n");
                }
            }
        }
    }
}
