//! The errors of gateways that come as plain text, with no head to tell their
//! status.

use crate::frame::skip_blank;

/// Whole errors, in lower case. A status may stand before one, and a full stop
/// after it.
const WHOLE: &[&[u8]] = &[
    b"bad gateway",
    b"gateway timeout",
    b"gateway time-out",
    b"internal server error",
    b"no healthy upstream",
    b"service temporarily unavailable",
    b"service unavailable",
    b"stream timeout",
    b"too many requests",
    b"upstream request timeout",
];

/// Beginnings of errors of one line, in lower case.
const BEGUN: &[&[u8]] = &[b"error code: 5", b"upstream connect error"];

/// The longest of these errors, in bytes.
const LONGEST: usize = 1024;

/// Returns true if the input is such an error and no more, and nothing while it
/// may still be one: only the end of the input shows it. A model that writes of
/// these errors goes on.
pub(super) fn find(head: &[u8], ended: bool) -> Option<bool> {
    let text = skip_blank(head).trim_ascii_end();
    if text.len() > LONGEST || text.contains(&b'\n') {
        return Some(false);
    }
    let lower = text.to_ascii_lowercase();
    let digits = lower.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let words = match digits {
        3 => lower.get(digits..).unwrap_or_default().trim_ascii_start(),
        _ => &lower,
    };
    let words = words.strip_suffix(b".").unwrap_or(words);
    let is_error = WHOLE.contains(&words) || BEGUN.iter().any(|begun| words.starts_with(begun));
    if ended {
        return Some(is_error);
    }
    let is_begun = |error: &&[u8]| error.starts_with(words);
    let is_status = digits == lower.len() && digits <= 3;
    let may_be = is_error || is_status || WHOLE.iter().chain(BEGUN).any(is_begun);
    if may_be { None } else { Some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        assert_eq!(find(text.as_bytes(), true), Some(expected), "{text:?}");
        // A part of an error is not decided, and what is decided stays so.
        let decided = (0..text.len()).find_map(|cut| find(&text.as_bytes()[..cut], false));
        assert!(!(expected && decided.is_some()), "{text:?}");
    }

    #[test]
    fn errors_are_all_there_is() {
        check("Bad Gateway\n", true);
        check("502 Bad Gateway", true);
        check("Service Unavailable.", true);
        check(
            "upstream connect error or disconnect/reset before headers. reset reason: overflow",
            true,
        );
        check("Bad Gateway errors come from proxies.", false);
        check("upstream connect error\nis what Envoy says", false);
        check("502", false);
        check("A bad gateway", false);
        check("", false);
    }
}
