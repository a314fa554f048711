//! What local programs print around a model's words: their lines count only where they stand, and
//! nothing waits for them that can't be one.

use toolstream::dialect::{self, Selection};
use toolstream::dressing::{From, PROGRAMS};
use toolstream::{Config, Pipeline, format};

use crate::case::{Case, Print, kind, run};
use crate::json::read;

/// The fixtures of programs.
fn cases() -> Vec<Case> {
    let cases = Case::all().into_iter();
    cases.filter(|case| case.name.starts_with("fixtures/dressing/")).collect()
}

/// Returns what the lines of the output say, but for warnings.
fn said(config: &Config, input: &str) -> Vec<String> {
    let out = run(config, Print::Joined, [input.as_bytes()]).out;
    let lines = out.lines().filter(|line| kind(line) != "warning");
    lines.map(str::to_owned).collect()
}

#[test]
fn lines_in_the_middle_of_an_answer_are_a_part_of_it() {
    for case in cases() {
        let text = String::from_utf8(case.input.clone()).unwrap();
        // Lines that were broken are joined wherever they are.
        if text.contains("\x1b[K") {
            continue;
        }
        let input = format!("This is what it prints:\n{text}\nThat was it.\n");
        for format in [None, format::find("text")] {
            let (config, _) = case.config();
            let config = Config { from: From::Auto, format, ..config };
            let bare = Config { from: From::None, ..config.clone() };
            assert_eq!(said(&config, &input), said(&bare, &input), "{}", case.name);
        }
    }
}

#[test]
fn one_program_s_lines_are_not_those_of_another() {
    let cases = cases();
    let program = |case: &Case| case.name.split('/').nth(2).unwrap().to_owned();
    for first in cases.iter().filter(|case| case.args.is_empty()) {
        for second in cases.iter().filter(|second| program(second) != program(first)) {
            let input = [first.input.as_slice(), b"\n", &second.input].concat();
            let config = Config::default();
            let whole = run(&config, Print::Joined, [input.as_slice()]);
            let pieces = run(&config, Print::Joined, input.chunks(1));
            assert_eq!(whole, pieces, "{} and {}", first.name, second.name);
        }
    }
}

/// Checks which pieces come at once.
#[track_caller]
fn check(from: From, pieces: &[(&str, &str)]) {
    use std::cell::RefCell;
    use std::io;
    use toolstream::event::{Event, Kind};
    use toolstream::sink::Sink;

    struct Texts<'t>(&'t RefCell<String>);

    impl Sink for Texts<'_> {
        fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
            self.0.borrow_mut().push_str(event.kind.text().unwrap_or_default());
            if let Kind::Error(failure) = event.kind {
                panic!("{}", failure.message);
            }
            Ok(())
        }
    }

    let came = RefCell::new(String::new());
    let dialect = dialect::choose("hermes").unwrap();
    let config = Config { from, dialect, format: format::find("text"), ..Config::default() };
    let mut pipeline = Pipeline::new(&config);
    for (piece, expected) in pieces {
        pipeline.feed(piece.as_bytes(), &mut Texts(&came)).unwrap();
        assert_eq!(came.take(), *expected, "of {piece:?}");
    }
}

#[test]
fn only_what_may_be_such_a_line_waits() {
    check(From::Auto, &[("At", "At"), (" ni", " ni"), ("ne", "ne"), ("\nOr", "\nOr")]);
    check(From::Auto, &[("Think", ""), ("ers", "Thinkers"), (" think", " think")]);
    check(From::Auto, &[("A\nB\n=", "A\nB"), ("===", ""), ("\nB", "\n====\nB"), ("C", "C")]);
    check(From::Auto, &[("It is", "It is"), (" [end", ""), ("ing)", " [ending)")]);
    check(From::Auto, &[("==========\n", ""), ("At", "At"), (" nine\n", " nine"), ("Or", "\nOr")]);
    check(
        From::Auto,
        &[("Thinking...\n", ""), ("A", "A"), (" b\n", " b"), ("...d", ""), ("!", "\n...d!")],
    );
    check(From::None, &[("Think", "Think"), ("ing...", "ing..."), ("\n====", "\n====")]);
}

#[test]
fn the_thought_of_a_program_runs_no_call() {
    let call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>\n";
    let marks: Vec<_> = PROGRAMS.iter().filter_map(|row| Some((row.name, row.thought?))).collect();
    assert!(marks.len() > 2);
    for (name, marks) in marks {
        let close = marks.close.replace("{[}", "").replace("{]}", "");
        let input = format!("{}Perhaps\n{call}, or not.\n{close}At nine.", marks.open);
        let out = run(&Config::default(), Print::Joined, [input.as_bytes()]).out;
        assert!(!out.contains("\"tool_call\""), "{name}: {out}");
        let text: String = out
            .lines()
            .filter(|line| kind(line) == "text")
            .map(|line| read(line)["text"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(text.trim(), "At nine.", "{name}: {out}");
        assert!(out.contains("markup_in_reasoning"), "{name}: {out}");
    }
}

#[test]
fn text_without_a_dialect_or_a_program_is_left_alone() {
    let input = "Thinking...\nA.\n...done thinking.\n\nB. [end of text]\n";
    let config =
        Config { dialect: Selection::None, format: format::find("text"), ..Config::default() };
    let out = run(&config, Print::Joined, [input.as_bytes()]).out;
    let text = out.lines().find(|line| kind(line) == "text").unwrap();
    assert_eq!(read(text)["text"].as_str(), Some(input));
}
