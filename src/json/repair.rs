//! Payloads of which a field is wrong: that field is taken out, and said, and
//! the rest is read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_path_to_error::{Path, Segment};

use crate::json::Scanner;

/// JSON text with a field less, and what was wrong with it.
pub struct Mended {
    /// The payload without the field, or with only the last of its doubles.
    pub json: Vec<u8>,
    /// `wrong_type` or `duplicate_key`.
    pub code: &'static str,
    /// A sentence for people.
    pub message: String,
}

/// Takes out of a payload what kept it from being read as the type it should
/// be. Gives nothing if it isn't JSON at all, or if nothing can be taken out.
pub fn mend(json: &[u8], error: &serde_path_to_error::Error<serde_json::Error>) -> Option<Mended> {
    if !error.inner().is_data() {
        return None;
    }
    let (path, reason) = (error.path().to_string(), reason(error.inner()));
    if reason.starts_with("duplicate field") {
        let text = std::str::from_utf8(json).ok()?;
        let message = format!("{reason}: the last one counts");
        return Some(Mended {
            json: last_of_each(text, 0).into_bytes(),
            code: "duplicate_key",
            message,
        });
    }
    let range = locate(json, error.path())?;
    let mut kept = json.get(..range.start)?.to_vec();
    kept.extend_from_slice(json.get(range.end..)?);
    let message = format!("the field {path} was left out: {reason}");
    Some(Mended { json: kept, code: "wrong_type", message })
}

/// The members of a JSON object as (decoded key, value's text), in order.
/// Nothing, if the text isn't an object.
pub fn members(json: &str) -> Vec<(Cow<'_, str>, &RawValue)> {
    serde_json::from_str::<Members<'_>>(json).map(|members| members.0).unwrap_or_default()
}

/// A member of an object or, by its number, an element of an array.
pub fn member<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    let value = match serde_json::from_str::<Vec<&RawValue>>(json) {
        Ok(elements) => elements.get(key.parse::<usize>().ok()?).copied(),
        Err(_) => members(json).into_iter().find(|(name, _)| name == key).map(|(_, value)| value),
    };
    value.map(RawValue::get)
}

struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

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
                while let Some((key, value)) = map.next_entry::<crate::json::Str<'de>, _>()? {
                    members.push((Cow::Owned(key.as_str().to_owned()), value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// What serde_json says, in JSON's words, without the position in a text that
/// users don't see and without the texts that were found.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    let Some((found, wanted)) = text.rsplit_once(", expected ") else { return text.to_owned() };
    let found = found.split(" \"").next().unwrap_or_default();
    let found = found.replace(": map", ": object").replace(": sequence", ": array");
    let wanted = match wanted {
        "a sequence" => "an array",
        "a map" => "an object",
        "u64" => "a whole number, 0 or more",
        "f64" => "a number",
        _ if wanted.starts_with("struct ") => "an object",
        _ => wanted,
    };
    format!("{found}, expected {wanted}")
}

/// JSON text with the last of each object's members of one name. What is nested
/// deeper than anything that is read stays as it is.
fn last_of_each(json: &str, depth: usize) -> String {
    if depth > crate::json::MAX_DEPTH {
        return json.to_owned();
    }
    let members = members(json);
    if members.is_empty() {
        let elements: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
        if elements.is_empty() {
            return json.to_owned();
        }
        let inner: Vec<_> = elements.iter().map(|e| last_of_each(e.get(), depth + 1)).collect();
        return format!("[{}]", inner.join(","));
    }
    let mut last = BTreeMap::new();
    for (at, (key, _)) in members.iter().enumerate() {
        last.insert(key.as_ref(), at);
    }
    let kept =
        members.iter().enumerate().filter(|(at, (key, _))| last.get(key.as_ref()) == Some(at));
    let inner: Vec<_> = kept
        .map(|(_, (key, value))| {
            format!("{}:{}", crate::json::quote(key), last_of_each(value.get(), depth + 1))
        })
        .collect();
    format!("{{{}}}", inner.join(","))
}

/// The bytes of the member or element at a path, with one comma beside it.
fn locate(json: &[u8], path: &Path) -> Option<std::ops::Range<usize>> {
    let mut at = 0;
    let mut found = None;
    for segment in path.iter() {
        let range = match segment {
            Segment::Map { key } => child(json, at, |_, name| name == Some(key.as_str()))?,
            Segment::Seq { index } => child(json, at, |place, _| place == *index)?,
            _ => break,
        };
        at = range.value;
        found = Some(range.start..range.end);
    }
    found
}

struct Child {
    start: usize,
    value: usize,
    end: usize,
}

/// The first child of the container at `at` that `is_it` accepts, by its place
/// and, in objects, its key.
fn child(json: &[u8], at: usize, is_it: impl Fn(usize, Option<&str>) -> bool) -> Option<Child> {
    let open = at + skip_space(json.get(at..)?);
    let is_object = json.get(open) == Some(&b'{');
    let mut cursor = open + 1;
    for place in 0.. {
        let start = cursor;
        cursor += skip_space(json.get(cursor..)?);
        let mut key = None;
        if is_object {
            let end = cursor + Scanner::new(0).push(json.get(cursor..)?);
            key = serde_json::from_slice::<String>(json.get(cursor..end)?).ok();
            cursor = end + skip_space(json.get(end..)?) + 1;
        }
        let value = cursor;
        cursor += skip_space(json.get(cursor..)?);
        cursor += Scanner::new(0).push(json.get(cursor..)?);
        cursor += skip_space(json.get(cursor..)?);
        let is_last = json.get(cursor)? != &b',';
        if is_it(place, key.as_deref()) {
            let end = if is_last { cursor } else { cursor + 1 };
            let start = if is_last && place > 0 { start - 1 } else { start };
            return Some(Child { start, value, end });
        }
        if is_last {
            return None;
        }
        cursor += 1;
    }
    None
}

fn skip_space(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::MAX_DEPTH;

    #[derive(serde::Deserialize, Debug)]
    struct Inner {
        #[allow(dead_code)]
        b: Option<u64>,
    }

    #[derive(serde::Deserialize, Debug)]
    struct Outer {
        #[allow(dead_code)]
        a: Option<Vec<Inner>>,
        #[allow(dead_code)]
        c: Option<u64>,
    }

    #[track_caller]
    fn check(json: &str, expected: &str, code: &str) {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let error = serde_path_to_error::deserialize::<_, Outer>(&mut deserializer).unwrap_err();
        let mended = mend(json.as_bytes(), &error).unwrap();
        assert_eq!((std::str::from_utf8(&mended.json).unwrap(), mended.code), (expected, code));
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
            r#"{"a": [{"b": 1}, {}], "c": 2}"#,
            "wrong_type",
        );
        check(r#"{"a": {"b": 1}, "c": 2}"#, r#"{ "c": 2}"#, "wrong_type");
        check(r#"{"c": 2, "a": [1]}"#, r#"{"c": 2, "a": []}"#, "wrong_type");
        check(r#"{"x": 1, "c": "2"}"#, r#"{"x": 1}"#, "wrong_type");
        check(r#"{ "c"  :  "2"  ,  "a" : [ ] }"#, r#"{  "a" : [ ] }"#, "wrong_type");
        check(r#"{ "a" : [ { } , { "b"  : "x" } ] }"#, r#"{ "a" : [ { } , {} ] }"#, "wrong_type");
    }

    #[test]
    fn the_last_of_two_keys_counts() {
        check(r#"{"c":1,"a":[{"b":2}],"c":3}"#, r#"{"a":[{"b":2}],"c":3}"#, "duplicate_key");
    }

    /// Twice the same name, inside so many arrays and objects.
    fn doubles(levels: usize, inner: &str) -> String {
        let open: String = (0..levels).map(|at| ["{\"x\":", "["][at % 2]).collect();
        let close: String = (0..levels).rev().map(|at| ["}", "]"][at % 2]).collect();
        format!("{open}{inner}{close}")
    }

    #[test]
    fn doubles_are_looked_for_as_deep_as_json_is_read() {
        for depth in [1, 2, MAX_DEPTH - 1, MAX_DEPTH] {
            let twice = doubles(depth, r#"{"c":1,"c":2}"#);
            assert_eq!(last_of_each(&twice, 0), doubles(depth, r#"{"c":2}"#), "{depth}");
        }
        for depth in [MAX_DEPTH + 1, 200] {
            let twice = doubles(depth, r#"{"c":1,"c":2}"#);
            assert_eq!(last_of_each(&twice, 0), twice, "{depth}");
        }
    }
}
