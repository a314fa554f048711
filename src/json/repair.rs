//! Repair of payloads in which a field has the wrong type or a key comes twice:
//! that field is removed, a warning says so, and the rest is read.

use std::borrow::Cow;
#[cfg(feature = "cli")]
use std::fmt;
use std::ops::Range;

#[cfg(feature = "cli")]
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::event::WarningCode;
#[cfg(any(feature = "cli", test))]
use crate::json::Str;
use crate::json::reader::{Fault, FromJson, Reader, Step, read};
use crate::json::{array, object, quote, without_doubles};

/// JSON text without the field that could not be read.
pub(crate) struct Repaired {
    /// The payload without that field, or with only the last of its doubles.
    pub json: String,
    /// `wrong_type` or `duplicate_key`.
    pub code: WarningCode,
    /// A sentence for people.
    pub message: String,
    /// True if what was lost may have been a part of what the model wrote.
    pub is_lost: bool,
}

/// Fields at the top of a record that say nothing of what the model wrote.
const METADATA: &[&str] =
    &["id", "model", "modelVersion", "model_version", "object", "responseId", "response_id"];

/// Removes from a payload what kept it from being read as its type, or writes it as that
/// type. Returns `None` if it isn't JSON, or if nothing can be done.
pub(crate) fn repair(json: &str, fault: &Fault) -> Option<Repaired> {
    let Fault::Field(field) = fault else { return None };
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
    let is_text = matches!(path.last(), Some(Step::Key(key)) if key == "content")
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
        matches!(path.as_slice(), [Step::Key(key)] if METADATA.contains(&key.as_str()));
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

/// Returns the members of a JSON object as (decoded key, value's text), in order;
/// nothing if the text isn't an object.
pub(crate) fn members(json: &str) -> Vec<(Cow<'_, str>, &RawValue)> {
    read::<Members<'_>>(json).unwrap_or_default().0
}

/// Returns the members of an object in order, or why the text is none.
#[cfg(feature = "cli")]
pub(crate) fn try_members(json: &str) -> serde_json::Result<Vec<(Cow<'_, str>, &RawValue)>> {
    serde_json::from_str::<Members<'_>>(json).map(|members| members.0)
}

/// Returns the elements of a JSON array, if the text is one.
pub(crate) fn elements(json: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = read(json).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// Returns a member of an object or, by its number, an element of an array.
pub(crate) fn member<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    match elements(json) {
        Some(elements) => elements.get(key.parse::<usize>().ok()?).copied(),
        None => Some(members(json).into_iter().find(|(name, _)| name == key)?.1.get()),
    }
}

/// Returns where a part that was borrowed from a text stands in it.
pub(crate) fn place(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    start..start + part.len()
}

#[derive(Default)]
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'t> FromJson<'t> for Members<'t> {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self, Fault> {
        let mut members = Vec::new();
        reader.members(&"an object", &mut |key, reader| {
            members.push((key.into_text(), <&RawValue>::from_json(reader)?));
            Ok(())
        })?;
        Ok(Members(members))
    }
}

#[cfg(feature = "cli")]
impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<Str<'de>, _>()? {
                    members.push((key.into_text(), value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Numbers that are counts or places, in JSON's words.
const WHOLE_NUMBER: &str = "a whole number, 0 or more";

/// Returns serde's message in JSON's words, without the text that was found.
fn reason(text: &str) -> String {
    let Some((found, wanted)) = text.rsplit_once(", expected ") else { return text.to_owned() };
    let found = found.split(" \"").next().unwrap_or_default();
    let found = found.replace(": map", ": object").replace(": sequence", ": array");
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
fn named(path: &[&Step]) -> String {
    let mut named = String::new();
    for step in path {
        match step {
            Step::Key(key) if named.is_empty() => named.push_str(key),
            Step::Key(key) => named.extend([".", key]),
            Step::Index(index) => named.extend(["[", &index.to_string(), "]"]),
        }
    }
    if named.is_empty() { ".".to_owned() } else { named }
}

/// Returns the value that a step leads to.
fn of<'j>(step: &Step, json: &'j str) -> Option<&'j str> {
    match step {
        Step::Key(key) => member(json, key),
        Step::Index(at) => member(json, &at.to_string()),
    }
}

/// Returns JSON text with another value at a path, or without any.
fn changed(json: &str, path: &[&Step], other: Option<&str>) -> Option<String> {
    let (step, rest) = path.split_first()?;
    let child = |value: &str| match rest {
        [] => Some(other.map(str::to_owned)),
        rest => changed(value, rest, other).map(Some),
    };
    match step {
        Step::Key(key) => {
            let (members, mut kept) = (members(json), Vec::new());
            let at = members.iter().position(|(name, _)| name == key)?;
            for (n, (name, value)) in members.iter().enumerate() {
                let value = value.get();
                let value = if n == at { child(value)? } else { Some(value.to_owned()) };
                kept.extend(value.map(|value| (name, value)));
            }
            Some(object(kept))
        }
        Step::Index(at) => {
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
    fn members_are_found_by_key_and_elements_by_number() {
        assert_eq!(member(r#"{"a":1,"b":{"c":2}}"#, "b"), Some(r#"{"c":2}"#));
        assert_eq!(member("[1, [2]]", "1"), Some("[2]"));
        assert_eq!(member("[1]", "a"), None);
        assert_eq!(member("\"a\"", "a"), None);
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
