//! What readers of the same JSON disagree about.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::json::scanner::{Scanner, Token};
use crate::json::string::Str;

/// What is in a JSON text that some readers take for something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ambiguities {
    /// An object has a key twice: some readers take the first member, some the last.
    pub duplicate_key: bool,
    /// A string has one half of a surrogate pair, which UTF-8 can't encode.
    pub lone_surrogate: bool,
    /// A double doesn't hold a number: it's an integer of too many digits, or too
    /// large or too small.
    pub inexact_number: bool,
}

/// Looks through a whole JSON value once.
pub(crate) fn ambiguities(json: &str) -> Ambiguities {
    let mut found = Ambiguities::default();
    let mut scanner = Scanner::new(0);
    // The keys of the objects that are open; arrays have none.
    let mut keys: Vec<HashSet<Cow<'_, str>>> = Vec::new();
    let (mut from, mut at, mut last) = (0, 0, Token::Other);
    while let Some(&byte) = json.as_bytes().get(at) {
        let token = scanner.token(byte);
        if token != last {
            found.look(last, json.get(from..at).unwrap_or_default(), &mut keys);
            (from, last) = (at, token);
        }
        match (token, byte) {
            (Token::Other, b'{' | b'[') => keys.push(HashSet::new()),
            (Token::Other, b'}' | b']') => keys.truncate(keys.len().saturating_sub(1)),
            _ => {}
        }
        match scanner.advance(json.as_bytes().get(at..).unwrap_or_default()) {
            0 => break,
            taken => at += taken,
        }
    }
    found.look(last, json.get(from..at).unwrap_or_default(), &mut keys);
    found
}

impl Ambiguities {
    fn look<'j>(&mut self, token: Token, text: &'j str, keys: &mut [HashSet<Cow<'j, str>>]) {
        match token {
            Token::Key | Token::Text => {
                let decode = || serde_json::from_str::<Str<'_>>(text).unwrap_or_default();
                self.lone_surrogate |= text.contains("\\u") && {
                    let text = decode();
                    text.low.is_some() || text.high.is_some() || text.replaced
                };
                if token == Token::Key
                    && let Some(keys) = keys.last_mut()
                {
                    let key = match text.contains('\\') {
                        true => Cow::Owned(decode().as_str().to_owned()),
                        false => Cow::Borrowed(text.trim_matches('"')),
                    };
                    self.duplicate_key |= !keys.insert(key);
                }
            }
            Token::Number => self.inexact_number |= !is_exact(text),
            Token::Other => {}
        }
    }
}

/// True if a double holds this number: an integer exactly, any other to its
/// precision.
fn is_exact(number: &str) -> bool {
    let Ok(double) = number.parse::<f64>() else { return false };
    if number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return number.len() < 16 || format!("{double:.0}") == number;
    }
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    double.is_finite() && (double != 0.0 || is_zero)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, duplicate_key: bool, lone_surrogate: bool, inexact_number: bool) {
        let expected = Ambiguities { duplicate_key, lone_surrogate, inexact_number };
        assert_eq!(ambiguities(json), expected, "{json}");
    }

    #[test]
    fn what_every_reader_takes_alike() {
        check(r#"{"a":{"a":1},"b":[{"a":1},{"a":2}],"A":"a"}"#, false, false, false);
        check(r#"{"a":["\ud83d\ude00","\\ud83d","\"a\""]}"#, false, false, false);
        check("[0.1,-0,0e999,1e308,9007199254740993.5,1234567890123456768]", false, false, false);
        check("12", false, false, false);
    }

    #[test]
    fn keys_that_come_twice() {
        check(r#"{"a":1,"b":2,"a":3}"#, true, false, false);
        check(r#"{"b":[{"a":1,"\u0061":3}]}"#, true, false, false);
        check(r#"{"":1,"":1}"#, true, false, false);
    }

    #[test]
    fn halves_of_surrogate_pairs() {
        check(r#"["\ud83d"]"#, false, true, false);
        check(r#"{"\ude00":1}"#, false, true, false);
        check(r#"["\ude00\ud83d"]"#, false, true, false);
    }

    #[test]
    fn numbers_that_no_double_holds() {
        for number in ["9007199254740993", "1e999", "-1E400", "1e-999", "123456789012345678901"] {
            check(&format!("[{number}]"), false, false, true);
            check(number, false, false, true);
        }
    }
}
