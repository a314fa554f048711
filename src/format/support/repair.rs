//! Repair of payloads in which a field has the wrong type or a key comes twice:
//! that field is removed, a warning says so, and the rest is read.

use crate::cut::until;
use crate::event::WarningCode;
use crate::json::{
    PathStep, ReadError, array, elements, member, members, object, quote, without_doubles,
};

/// JSON text without the field that could not be read.
pub(super) struct Repaired {
    /// The payload without that field, or with only the last of its doubles.
    pub(super) json: String,
    /// `wrong_type` or `duplicate_key`.
    pub(super) code: WarningCode,
    /// A sentence for people.
    pub(super) message: String,
    /// True if what was lost may have been a part of what the model wrote.
    pub(super) is_lost: bool,
}

/// Fields at the top of a record that say nothing of what the model wrote.
const METADATA: &[&str] =
    &["id", "model", "modelVersion", "model_version", "object", "responseId", "response_id"];

/// Removes from a payload what kept it from being read as its type, or writes it as that
/// type. Returns `None` if it isn't JSON, or if nothing can be done.
pub(super) fn repair(json: &str, fault: &ReadError) -> Option<Repaired> {
    let ReadError::Field(field) = fault else { return None };
    let reason = reason(&field.message);
    if reason.starts_with("duplicate field") {
        let message = format!("{reason}: the last one counts");
        return Some(Repaired {
            json: without_doubles(json),
            code: WarningCode::DuplicateKey,
            message,
            is_lost: false,
        });
    }
    let path: Vec<_> = field.path().collect();
    // Where JSON was asked for, Cloudflare's content is the object itself.
    let is_text = matches!(path.last(), Some(PathStep::Key(key)) if key == "content")
        && reason.starts_with("invalid type: object, expected a string");
    let value = path.iter().try_fold(json, |json, step| of(step, json))?;
    let (field, code) = (named(&path), WarningCode::WrongType);
    let (other, message) = match whole_number(value).filter(|_| reason.ends_with(WHOLE_NUMBER)) {
        Some(number) => {
            (Some(number.to_owned()), format!("the field {field} was read as the number {number}"))
        }
        None if is_text => (
            Some(quote(value)),
            format!("the field {field} is an object: its JSON was taken as text"),
        ),
        None => (None, format!("the field {field} was left out: {reason}")),
    };
    let is_metadata =
        matches!(path.as_slice(), [PathStep::Key(key)] if METADATA.contains(&key.as_str()));
    // Some send -1 where there is no index.
    let is_nothing = value == "null" || (value == "-1" && reason.ends_with(WHOLE_NUMBER));
    let is_lost = other.is_none() && !is_metadata && !is_nothing;
    Some(Repaired { json: changed(json, &path, other.as_deref())?, code, message, is_lost })
}

/// Returns the digits of a whole number that is written as a text or as a fraction.
fn whole_number(json: &str) -> Option<&str> {
    let text = json.trim_matches('"');
    let digits = text.strip_suffix(".0").unwrap_or(text);
    digits.parse::<u64>().is_ok_and(|number| number.to_string() == digits).then_some(digits)
}

/// Numbers that are counts or places, in JSON's words.
const WHOLE_NUMBER: &str = "a whole number, 0 or more";

/// Returns serde's message in JSON's words, without the text that was found.
fn reason(text: &str) -> String {
    let Some((found, wanted)) = text.rsplit_once(", expected ") else { return text.to_owned() };
    let found = until(found, " \"").replace(": map", ": object").replace(": sequence", ": array");
    let wanted = match wanted {
        "a sequence" => "an array",
        "a map" => "an object",
        "u64" => WHOLE_NUMBER,
        "f64" => "a number",
        _ if wanted.starts_with("struct ") => "an object",
        _ => wanted,
    };
    format!("{found}, expected {wanted}")
}

/// Returns a path as people write it: `choices[0].delta`.
fn named(path: &[&PathStep]) -> String {
    let mut named = String::new();
    for step in path {
        match step {
            PathStep::Key(key) if named.is_empty() => named.push_str(key),
            PathStep::Key(key) => named.extend([".", key]),
            PathStep::Index(index) => named.extend(["[", &index.to_string(), "]"]),
        }
    }
    if named.is_empty() { ".".to_owned() } else { named }
}

/// Returns the value that a step leads to.
fn of<'j>(step: &PathStep, json: &'j str) -> Option<&'j str> {
    match step {
        PathStep::Key(key) => member(json, key),
        PathStep::Index(at) => member(json, &at.to_string()),
    }
}

/// Returns JSON text with another value at a path, or without any.
fn changed(json: &str, path: &[&PathStep], other: Option<&str>) -> Option<String> {
    let (step, rest) = path.split_first()?;
    let child = |value: &str| match rest {
        [] => Some(other.map(str::to_owned)),
        rest => changed(value, rest, other).map(Some),
    };
    match step {
        PathStep::Key(key) => {
            let (members, mut kept) = (members(json), Vec::new());
            let at = members.iter().position(|(name, _)| name == key)?;
            for (n, (name, value)) in members.iter().enumerate() {
                let value = value.get();
                let value = if n == at { child(value)? } else { Some(value.to_owned()) };
                kept.extend(value.map(|value| (name, value)));
            }
            Some(object(kept))
        }
        PathStep::Index(at) => {
            let (elements, mut kept) = (elements(json)?, Vec::new());
            elements.get(*at)?;
            for (n, value) in elements.into_iter().enumerate() {
                kept.extend(if n == *at { child(value)? } else { Some(value.to_owned()) });
            }
            Some(array(kept))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Str, read};

    crate::format::payload! {
        #[derive(Debug)]
        struct Inner<'a> {
            b: Option<u64>,
            text: Option<Str<'a>>,
        }

        #[derive(Debug)]
        struct Outer<'a> {
            a: Option<Vec<Inner<'a>>>,
            c: Option<u64>,
        }
    }

    #[track_caller]
    fn check(json: &str, expected: &str, code: WarningCode) {
        let fault = read::<Outer<'_>>(json).unwrap_err();
        let repaired = repair(json, &fault).unwrap();
        assert_eq!((repaired.json.as_str(), repaired.code), (expected, code));
    }

    #[test]
    fn the_wrong_field_is_taken_out() {
        check(
            r#"{"a": [{"b": 1}, {"b": "x"}], "c": 2}"#,
            r#"{"a":[{"b": 1},{}],"c":2}"#,
            WarningCode::WrongType,
        );
        check(r#"{"a": {"b": 1}, "c": 2}"#, r#"{"c":2}"#, WarningCode::WrongType);
        check(r#"{"c": 2, "a": [1]}"#, r#"{"c":2,"a":[]}"#, WarningCode::WrongType);
        check(r#"{"x": 1, "c": "y"}"#, r#"{"x":1}"#, WarningCode::WrongType);
        check(r#"{ "c"  :  "y"  ,  "a" : [ ] }"#, r#"{"a":[ ]}"#, WarningCode::WrongType);
        check(r#"{ "a" : [ { } , { "b"  : "x" } ] }"#, r#"{"a":[{ },{}]}"#, WarningCode::WrongType);
    }

    #[test]
    fn a_whole_number_is_read_however_it_is_written() {
        check(r#"{"c": "2"}"#, r#"{"c":2}"#, WarningCode::WrongType);
        check(r#"{"a": [{"b": 2.0}]}"#, r#"{"a":[{"b":2}]}"#, WarningCode::WrongType);
        for value in ["\"02\"", "\"\"", "-2", "2.5", "18446744073709551616"] {
            check(&format!(r#"{{"c": {value}}}"#), "{}", WarningCode::WrongType);
        }
    }

    #[test]
    fn the_last_of_two_keys_counts() {
        check(
            r#"{"c":1,"a":[{"b":2}],"c":3}"#,
            r#"{"a":[{"b":2}],"c":3}"#,
            WarningCode::DuplicateKey,
        );
    }
}
