//! Keys in the messages of providers: what looks like one is not repeated.

use crate::event::secrets::SHAPES;

/// The shortest rest of a key after its prefix.
const MIN_REST: usize = 8;

/// The shortest token after `Bearer`; shorter ones are words.
const MIN_TOKEN: usize = 16;

/// The text with `***` for all but the prefix of each key.
pub(crate) fn mask(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_after_bearer = false;
    for piece in text.split_inclusive(|c: char| !is_key_char(c)) {
        let end = piece.trim_end_matches(|c| !is_key_char(c)).len();
        let (word, after) = piece.split_at(end);
        match shown(word, is_after_bearer) {
            Some(prefix) => {
                out.push_str(prefix);
                out.push_str("***");
            }
            None => out.push_str(word),
        }
        out.push_str(after);
        is_after_bearer =
            word.eq_ignore_ascii_case("bearer") || (is_after_bearer && word.is_empty());
    }
    out
}

/// The part of a key that may be shown; none if the word is no key.
fn shown(word: &str, is_after_bearer: bool) -> Option<&str> {
    let is_web_token = word.starts_with("eyJ") && word.matches('.').count() == 2;
    if word.len() < MIN_REST && !is_web_token {
        return None;
    }
    let first = word.as_bytes().first();
    let mut likely = SHAPES.iter().filter(|shape| shape.prefix.as_bytes().first() == first);
    let known = likely.find(|shape| match shape.is_word {
        true => shape.rest(word.as_bytes()).is_some(),
        false => word.strip_prefix(shape.prefix).is_some_and(|rest| rest.len() >= MIN_REST),
    });
    let is_token = is_after_bearer && word.len() >= MIN_TOKEN;
    match known {
        Some(shape) => Some(shape.prefix),
        None if is_token || is_web_token => Some(""),
        None => None,
    }
}

/// Keys are words of these; a mask of asterisks in one is part of it.
fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*' | '+' | '/' | '~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(mask(text), expected);
    }

    #[test]
    fn keys_are_masked() {
        check(
            "Incorrect API key provided: sk-proj-ab***********wxyz.",
            "Incorrect API key provided: sk-***",
        );
        check("key=AIzaSyA1234567890,next", "key=AIza***,next");
        check("\"hf_abcdefghijkl\" (AKIAIOSFODNN7EXAMPLE)", "\"hf_***\" (AKIA***)");
        check("ghp_0123456789abcdef ghs_0123456789abcdef", "ghp_*** ghs_***");
        check("Authorization: Bearer abcdef/0123456789+xyz==", "Authorization: Bearer ***==");
        check("token eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl", "token ***");
    }

    #[test]
    fn words_are_not() {
        check("a task-force of risk-takers, sk-1", "a task-force of risk-takers, sk-1");
        check("the Bearer token is missing", "the Bearer token is missing");
        check("\u{e9}\u{2014} 1.2.3 ", "\u{e9}\u{2014} 1.2.3 ");
    }
}
