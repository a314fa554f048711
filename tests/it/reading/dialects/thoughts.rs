//! Reasoning, in each family that writes it: where it begins and ends, and
//! what of it is a call.

use toolstream::Config;
use toolstream::dialect::{DIALECTS, Dialect, Role, Selection, StartIn, TagRole};
use toolstream::format;

use super::{Example, spelt};
use crate::case::{Print, kind, run};
use crate::json::read;

/// A reasoning region of a row.
struct Thought {
    row: &'static Dialect,
    open: String,
    close: String,
    /// Whether its opener stands only where the message begins.
    is_first: bool,
}

impl Thought {
    fn all() -> Vec<Thought> {
        DIALECTS.iter().flat_map(|row| Thought::of(row)).collect()
    }

    fn of(row: &'static Dialect) -> Vec<Thought> {
        let regions = row.regions.iter().filter(|region| region.role == Role::Reasoning);
        let regions = regions.map(|region| Thought {
            row,
            open: spelt(region.open),
            close: spelt(region.close),
            is_first: region.open.starts_with("{start}"),
        });
        let tags = row.tags.iter().filter(|tag| tag.role == TagRole::Reasoning);
        let tags = tags.map(|tag| Thought {
            row,
            open: format!("<{}>", tag.name),
            close: format!("</{}>", tag.name),
            is_first: false,
        });
        regions.chain(tags).collect()
    }

    fn said(&self, start_in: Option<StartIn>, input: &str) -> Said {
        let config = Config {
            dialect: Selection::Row(self.row),
            format: format::find("text"),
            start_in,
            ..Config::default()
        };
        Said::of(&config, input)
    }
}

/// What a text says: its parts in their order, and how many calls it has.
#[derive(Debug, Default, PartialEq)]
struct Said {
    parts: Vec<(&'static str, String)>,
    calls: usize,
}

impl Said {
    fn of(config: &Config, input: &str) -> Said {
        let out = run(config, Print::Joined, [input.as_bytes()]).out;
        let mut said = Said::default();
        for line in out.lines() {
            match kind(line) {
                "text" => said.push("text", line),
                "reasoning" => said.push("reasoning", line),
                "tool_call" => said.calls += 1,
                _ => {}
            }
        }
        said
    }

    /// Adds to the last part, if it's of the same kind: warnings may be between.
    fn push(&mut self, part: &'static str, line: &str) {
        let text = read(line)["text"].as_str().unwrap().to_owned();
        match self.parts.last_mut() {
            Some((last, known)) if *last == part => known.push_str(&text),
            _ => self.parts.push((part, text)),
        }
    }

    fn parts(parts: &[(&'static str, &str)]) -> Said {
        let parts = parts.iter().map(|(part, text)| (*part, (*text).to_owned()));
        Said { parts: parts.collect(), calls: 0 }
    }
}

/// Rows whose thoughts have no closer, and end at the next label.
const LABELLED: &[&str] = &["react", "nexusraven"];

#[track_caller]
fn check(
    start_in: Option<StartIn>,
    input: impl Fn(&Thought) -> Option<String>,
    parts: &[(&'static str, &str)],
) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for thought in Thought::all().iter().filter(|thought| !LABELLED.contains(&thought.row.name)) {
        let Some(input) = input(thought) else { continue };
        let said = thought.said(start_in, &input);
        count += 1;
        if said != Said::parts(parts) {
            wrong.push(format!("{}: {input:?} said {said:?}", thought.row.name));
        }
    }
    assert!(wrong.is_empty() && count > 40, "of {count}:\n{}", wrong.join("\n"));
}

#[test]
fn a_thought_is_no_answer() {
    let input = |thought: &Thought| Some(format!("{}plan{}answer", thought.open, thought.close));
    check(None, input, &[("reasoning", "plan"), ("text", "answer")]);
    let cut = |thought: &Thought| Some(format!("{}plan", thought.open));
    check(None, cut, &[("reasoning", "plan")]);
}

/// Rule 2: markers that come twice mean nothing.
#[test]
fn markers_that_come_twice_are_dropped() {
    let twice = |Thought { open, close, is_first, .. }: &Thought| {
        (!is_first).then(|| format!("{open}plan{open} on{close}answer{close}more"))
    };
    check(None, twice, &[("reasoning", "plan on"), ("text", "answermore")]);
}

/// Rule 5: thoughts and answers may take turns.
#[test]
fn thoughts_and_answers_take_turns() {
    let turns = |Thought { open, close, is_first, .. }: &Thought| {
        (!is_first).then(|| format!("{open}one{close}two {open}three{close}four"))
    };
    let parts = [("reasoning", "one"), ("text", "two "), ("reasoning", "three"), ("text", "four")];
    check(None, turns, &parts);
}

/// Rows whose closer by itself doesn't tell what it closes.
const MESSAGES: &[(&str, &str)] = &[
    ("muse_atem", "it closes answers as well"),
    ("beam", "it closes answers as well"),
    ("solar_open", "it closes answers as well"),
    ("inkling", "it closes answers as well"),
    ("harmony", "it closes answers as well"),
    ("hyperclovax", "it closes answers as well"),
];

/// Rule 1: the opener may be in the prompt.
#[test]
fn a_thought_may_begin_in_the_prompt() {
    let is_first_of_its_row =
        |thought: &Thought| Thought::of(thought.row)[0].close == thought.close;
    let lone = |thought: &Thought| {
        is_first_of_its_row(thought).then(|| format!("plan{}answer", thought.close))
    };
    check(Some(StartIn::Reasoning), lone, &[("reasoning", "plan"), ("text", "answer")]);
    let undecided = |thought: &Thought| {
        lone(thought).filter(|_| !MESSAGES.iter().any(|(name, _)| *name == thought.row.name))
    };
    check(Some(StartIn::Auto), undecided, &[("reasoning", "plan"), ("text", "answer")]);
    let endless = |thought: &Thought| is_first_of_its_row(thought).then(|| "plan".to_owned());
    check(Some(StartIn::Reasoning), endless, &[("reasoning", "plan")]);
    check(Some(StartIn::Auto), endless, &[("text", "plan")]);
    let both = |Thought { open, close, .. }: &Thought| Some(format!("{open}plan{close}answer"));
    check(Some(StartIn::Auto), both, &[("reasoning", "plan"), ("text", "answer")]);
}

/// Rule 3: one line end after the opener, and one before and two after the
/// closer are the template's, where it writes any.
#[test]
fn line_ends_around_a_thought_are_framing() {
    for row in DIALECTS {
        for region in row.regions.iter().filter(|region| region.open.ends_with(">{nl}")) {
            let thought = Thought::of(row).remove(0);
            let (open, close) = (spelt(region.open), spelt(region.close));
            let said = thought.said(None, &format!("{open}\n\nplan\n\n{close}\n\n\nanswer\n"));
            let trailing =
                if region.close.ends_with("{nl}{nl}") { "\nanswer\n" } else { "\n\nanswer\n" };
            let parts = [("reasoning", "\nplan\n"), ("text", trailing)];
            assert_eq!(said, Said::parts(&parts), "{}", row.name);
        }
    }
}

/// Rows whose call begins where the message does, or at a label.
const ELSEWHERE: &[(&str, &str)] = &[
    ("xlam", "its array begins the message"),
    ("tool_calls_json_array", "its thought begins the message, and its fixture is Jamba's"),
];

/// Rows whose thoughts are messages: a call's header ends them, whatever comes after it.
const FRAMED: &[&str] =
    &["react", "nexusraven", "harmony", "beam", "muse_atem", "inkling", "hyperclovax"];

/// Rule 4: the opener of a call ends a thought that nothing closes; in one that closes after it, it
/// is a draft, which never runs.
#[test]
fn calls_in_a_thought() {
    let mut wrong = Vec::new();
    let mut drafts = 0;
    for example in Example::all() {
        let row = example.row;
        for Thought { open, close, .. } in Thought::of(row) {
            if ELSEWHERE.iter().any(|(name, _)| *name == row.name) {
                continue;
            }
            let config =
                Config { start_in: None, dialect: Selection::Row(row), ..example.config.clone() };
            let thought = format!("{open}plan\n\n{}", example.input);
            let said = Said::of(&config, &thought);
            if said.calls == 0 {
                wrong.push(format!("{}: {said:?}", row.name));
            }
            if FRAMED.contains(&row.name) {
                continue;
            }
            drafts += 1;
            let is_auto = row.auto && config.tools.is_none();
            let auto = Config { dialect: Selection::Auto, ..config.clone() };
            for config in [Some(config), is_auto.then_some(auto)].into_iter().flatten() {
                let said = Said::of(&config, &format!("{thought} but no.{close}Hi."));
                let answer = said.parts.last().map(|(part, text)| (*part, text.as_str()));
                if said.calls > 0 || answer != Some(("text", "Hi.")) {
                    wrong.push(format!("{} closed: {said:?}", row.name));
                }
            }
        }
    }
    assert!(wrong.is_empty() && drafts > 20, "of {drafts} drafts:\n{}", wrong.join("\n"));
}
