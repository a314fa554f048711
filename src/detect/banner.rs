//! The lines that agents and their launchers print before a log on the same
//! standard output.

use memchr::memchr;

use crate::detect::decoder::{candidates, see_record};
use crate::format::table::FORMATS;
use crate::frame::{Frame, NDJSON, skip_blank};

/// The beginnings of the lines of launchers. Other text than these and those of the formats is not
/// waited for.
const BANNERS: &[&str] = &[
    // npm, npx, Node and shells with `set -x`
    "npm ",
    "> ",
    "(node:",
    "(Use `node",
    "+ ",
    // Loggers
    "DEBUG",
    "INFO",
    "WARN",
    "Warning: ",
];

/// The most of such lines, and the longest, in bytes.
const MOST: usize = 16;
const LONGEST: usize = 1024;

/// Returns true if such lines come before a record of a known format, and
/// nothing while they may still do so.
pub(super) fn is_before_log(head: &[u8], ended: bool) -> Option<bool> {
    let mut rest = skip_blank(head);
    for count in 0..=MOST {
        let end = memchr(b'\n', rest);
        let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        if line.starts_with(b"{") {
            let is_known = || count > 0 && is_record(line);
            return (end.is_some() || ended || count == 0).then(is_known);
        }
        let is_begun = |banner: &[u8]| end.is_none() && banner.starts_with(line);
        let mut banners = FORMATS.iter().flat_map(|format| format.banners).chain(BANNERS);
        let is_banner = banners
            .any(|banner| line.starts_with(banner.as_bytes()) || is_begun(banner.as_bytes()));
        if !is_banner || line.len() > LONGEST {
            return Some(false);
        }
        let Some(end) = end else { return ended.then_some(false) };
        rest = rest.get(end + 1..).unwrap_or_default().trim_ascii_start();
    }
    Some(false)
}

/// True if a line is a record of a known format.
fn is_record(line: &[u8]) -> bool {
    let frame = Frame::new(NDJSON, line.trim_ascii(), 0);
    see_record(&frame, |record| candidates(record).any(|row| !row.is_of_errors()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        assert_eq!(is_before_log(text.as_bytes(), true), Some(expected), "{text:?}");
        for cut in 0..text.len() {
            let found = is_before_log(&text.as_bytes()[..cut], false);
            assert!(found.is_none_or(|found| found == expected), "{text:?} up to {cut}");
        }
    }

    #[test]
    fn a_log_comes_after_the_lines_of_its_agent() {
        let record = r#"{"type":"thread.started","thread_id":"t"}"#;
        check(&format!("Reading prompt from stdin...\n{record}\n"), true);
        check(&format!("> a@1 b\n> c\n\n{record}"), true);
        check(&format!("A log:\n{record}\n"), false);
        check(&format!("{record}\n"), false);
        check("Reading prompt from stdin...\n{\"name\":\"f\",\"arguments\":{}}\n", false);
        check("Reading prompt from stdin...\n", false);
        check("", false);
    }
}
