//! Calls in quotation marks.

use toolstream::Config;
use toolstream::dialect::Selection;
use toolstream::format;

use crate::case::{Case, kind};
use crate::shape::joined;

/// The marks around a quotation, as languages have them.
const MARKS: [(&str, &str); 14] = [
    ("\"", "\""),
    ("'", "'"),
    ("“", "”"),
    ("”", "”"),
    ("„", "“"),
    ("‘", "’"),
    ("‚", "‘"),
    ("«", "»"),
    ("»", "«"),
    ("‹", "›"),
    ("« ", " »"),
    ("「", "」"),
    ("『", "』"),
    ("＂", "＂"),
];

/// Returns what a text gives in a dialect that is found out.
fn out_of(text: &str) -> String {
    let config =
        Config { format: format::find("text"), dialect: Selection::Auto, ..Config::default() };
    joined(&config, [text.as_bytes()]).0
}

/// Returns the types of the lines but the first and the last.
fn kinds(out: &str) -> Vec<&str> {
    out.lines().map(kind).filter(|kind| !matches!(*kind, "start" | "finish_reason")).collect()
}

/// Between quotation marks, once or twice, no call is one to run; after them, it is.
pub(crate) fn calls_are_text(case: &Case) -> bool {
    let Ok(text) = str::from_utf8(&case.input) else { return false };
    let text = text.trim();
    // A blank line ends a paragraph, and what is open in it.
    let is_one_paragraph = !text.contains("\n\n") && !text.contains('`');
    if !(case.name.starts_with("fixtures/dialect/") && is_one_paragraph) {
        return false;
    }
    let alone = out_of(&format!("So: {text}"));
    let call = kinds(&alone);
    let before = alone.lines().find(|line| kind(line) == "text").unwrap_or_default();
    // A quotation without a call ends with its line.
    if !call.starts_with(&["text", "tool_call"]) || before.contains("\\n") {
        return false;
    }
    for (open, close) in MARKS {
        let quoted = format!("{open}{text}{close}");
        for text in [
            format!("Write {quoted} here."),
            format!("Write {open}so: {text}{close} here."),
            format!("Write {open}{text} and {text}{close} here."),
            format!("Write {quoted} or {quoted}."),
            format!("He said: 『use {quoted}, or {quoted}』"),
        ] {
            assert_eq!(kinds(&out_of(&text)), ["text", "warning", "text"], "in {text:?}");
        }
        let after = format!("Write {quoted} here.\n\nSo: {text}");
        assert!(kinds(&out_of(&after)).ends_with(&call), "after {after:?}");
    }
    true
}
