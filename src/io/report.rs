//! Lines on standard error. Parts of them come from outside: credentials are masked, and
//! characters that could harm a terminal are escaped. An error of writing them is ignored: there
//! is no other place to report it.

use std::io::Write;

use crate::event::{Code, redact};
use crate::io::STANDARD_INPUT;
use crate::json;

/// Writes `toolstream: MESSAGE`.
pub(crate) fn report(stderr: &mut dyn Write, message: &str) {
    let mut line = "toolstream: ".to_owned();
    json::make_safe(&redact::mask(message), &mut line);
    line.push('\n');
    let _ = stderr.write_all(line.as_bytes());
}

/// Writes a text of several lines, masked and escaped.
pub(crate) fn report_lines(stderr: &mut dyn Write, text: &str) {
    let mut lines = String::new();
    for line in text.lines() {
        json::make_safe(&redact::mask(line), &mut lines);
        lines.push('\n');
    }
    let _ = stderr.write_all(lines.as_bytes());
}

/// Writes a message about an input: `toolstream: NAME: MESSAGE (offset N)`.
pub fn report_on(stderr: &mut dyn Write, name: &str, message: &str, offset: Option<u64>) {
    match offset {
        Some(offset) => report(stderr, &format!("{name}: {message} (offset {offset})")),
        None => report(stderr, &format!("{name}: {message}")),
    }
}

/// Writes an error of a message. The words of a provider are introduced as such; if nothing came
/// through a pipe, names the place to look for the cause.
pub(crate) fn report_error(
    stderr: &mut dyn Write,
    name: &str,
    code: Code,
    message: &str,
    offset: Option<u64>,
) {
    if (name, code, offset) == (STANDARD_INPUT, Code::Truncated, Some(0)) {
        let why = "the program before the pipe may have failed (`curl -sS` shows why)";
        return report_on(stderr, name, &format!("{message}: {why}"), None);
    }
    match code {
        Code::Provider => {
            report_on(stderr, name, &format!("the provider reported: {message}"), None)
        }
        _ => report_on(stderr, name, message, offset),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, message: &str, offset: Option<u64>, expected: &str) {
        let mut out = Vec::new();
        report_on(&mut out, name, message, offset);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn names_and_messages_are_harmless() {
        check("a", "bad", Some(7), "toolstream: a: bad (offset 7)\n");
        check("a\nb", "\u{1b}[2J\u{202e}", None, "toolstream: a\\nb: \\u001b[2J\\u202e\n");
        check("a", "no key sk-abcdefgh12345678", None, "toolstream: a: no key sk-***\n");
    }
}
