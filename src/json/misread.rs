//! What is wrong with a text that should be JSON, for people.

use serde_json::Error;

use crate::cut::Cut as _;
use crate::json::quote_start;

/// What serde_json says, and what that means.
const WORDS: &[(&str, &str)] = &[
    ("expected value", "no value begins so"),
    ("expected ident", "no value begins so"),
    ("trailing characters", "something follows the value"),
    ("trailing comma", "a comma stands before the end"),
    ("key must be a string", "a key stands in quotation marks"),
    ("control character", "a line end or tab in a string is written as \\n or \\t"),
];

/// Returns what is wrong with a text, and where: its line and column, and what stands there.
pub(crate) fn misread(text: &str, error: &Error) -> String {
    let (line, column) = (error.line(), error.column());
    let whole = error.to_string();
    if error.is_eof() {
        return format!("it ends too early, at line {line}, column {column}");
    }
    let said = whole.split_once(" at line ").map_or(whole.as_str(), |(said, _)| said);
    let known = WORDS.iter().find(|(words, _)| said.starts_with(words));
    let why = known.map_or(said, |(_, why)| why);
    let found = text.split('\n').nth(line.saturating_sub(1)).map(|rest| {
        // The place of a word is where it goes wrong.
        let before = rest.before(column.saturating_sub(1));
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        (start, rest.after(start).trim_end())
    });
    match found {
        Some((start, rest)) if !rest.is_empty() => {
            format!("{why}, at line {line}, column {}: {}", start + 1, quote_start(rest))
        }
        _ => format!("{why}, at line {line}, column {column}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let error = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
        assert_eq!(misread(text, &error), expected);
    }

    #[test]
    fn it_says_what_and_where() {
        check("nxt", "no value begins so, at line 1, column 1: \"nxt\"");
        check("data: {}", "no value begins so, at line 1, column 1: \"data: {}\"");
        check("{\"a\":\n  nope}", "no value begins so, at line 2, column 3: \"nope}\"");
        check("{\"a\":1", "it ends too early, at line 1, column 6");
        check("{'a':1}", "a key stands in quotation marks, at line 1, column 2: \"'a':1}\"");
        check("{} {}", "something follows the value, at line 1, column 4: \"{}\"");
        check("", "it ends too early, at line 1, column 0");
    }
}
