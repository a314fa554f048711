//! The members of objects and the elements of arrays, as the text that they came in.

use std::borrow::Cow;
use std::ops::Range;

#[cfg(feature = "cli")]
use serde::de::IgnoredAny;

use crate::json::reader::{FromJson, RawJson, ReadError, Reader, read, text};
use crate::json::scanner::is_json;
use crate::json::write::{array, minify, object, quote};

/// The members of an object: their decoded keys, and the text of their values.
pub(crate) type ObjectMembers<'a> = Vec<(Cow<'a, str>, RawJson<'a>)>;

/// Returns the members of a JSON object as (decoded key, value's text), in order;
/// nothing if the text isn't an object.
pub(crate) fn members(json: &str) -> ObjectMembers<'_> {
    read::<MemberList<'_>>(json).unwrap_or_default().0
}

/// Returns the members of an object in order, nothing of other JSON, or why the text is none.
#[cfg(feature = "cli")]
pub(crate) fn try_members(json: &str) -> serde_json::Result<Option<ObjectMembers<'_>>> {
    serde_json::from_str::<IgnoredAny>(json)?;
    Ok(json.trim_ascii_start().starts_with('{').then(|| members(json)))
}

/// Returns the elements of a JSON array, if the text is one.
pub(crate) fn elements(json: &str) -> Option<Vec<&str>> {
    let elements: Vec<RawJson<'_>> = read(json).ok()?;
    Some(elements.into_iter().map(RawJson::get).collect())
}

/// Returns a member of an object, the last one of a key that comes twice, or, by its number, an element
/// of an array.
pub(crate) fn member<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    match elements(json) {
        Some(elements) => elements.get(key.parse::<usize>().ok()?).copied(),
        None => Some(members(json).into_iter().rfind(|(name, _)| name == key)?.1.get()),
    }
}

/// The deepest value of which the spelling is looked through.
const MAX_SPELLED: usize = 64;

/// Returns JSON in a spelling that is the same for texts of one value: members in the order of their
/// names, strings as we write them, no white space. A number keeps its own, and so does what is no
/// JSON.
pub(crate) fn spelled(json: &str) -> String {
    if is_json(json) { spelled_at(json, 0) } else { minify(json) }
}

fn spelled_at(json: &str, depth: usize) -> String {
    let inner = |value: &str| spelled_at(value, depth + 1);
    match json.trim_ascii_start().bytes().next() {
        Some(b'{' | b'[') if depth == MAX_SPELLED => minify(json),
        Some(b'{') => {
            let mut members = members(json);
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            object(members.iter().map(|(key, value)| (key.as_ref(), inner(value.get()))))
        }
        Some(b'[') => array(elements(json).into_iter().flatten().map(inner)),
        Some(b'"') => quote(text(json).as_str()),
        _ => json.trim_ascii().to_owned(),
    }
}

/// Returns where a part that was borrowed from a text stands in it.
pub(crate) fn place(text: &[u8], part: &str) -> Range<usize> {
    let start = part.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    start..start + part.len()
}

#[derive(Default)]
struct MemberList<'a>(ObjectMembers<'a>);

impl<'t> FromJson<'t> for MemberList<'t> {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self, ReadError> {
        let mut members = Vec::new();
        reader.members(&"an object", &mut |key, reader| {
            members.push((key.into_text(), RawJson::from_json(reader)?));
            Ok(())
        })?;
        Ok(MemberList(members))
    }
}

/// True for a value that holds nothing: programs that send all members there can be send those so.
pub(crate) fn is_empty(json: &str) -> bool {
    matches!(json, "null" | "false" | "0" | "\"\"" | "[]" | "{}")
}

/// True if a value is empty, or has only empty members.
pub(crate) fn is_blank(json: &str) -> bool {
    let members = members(json);
    is_empty(json)
        || (!members.is_empty() && members.iter().all(|(_, value)| is_empty(value.get())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_key_and_elements_by_number() {
        assert_eq!(member(r#"{"a":1,"b":{"c":2}}"#, "b"), Some(r#"{"c":2}"#));
        assert_eq!(member(r#"{"a":1,"\u0061":2,"b":3}"#, "a"), Some("2"));
        assert_eq!(member("[1, [2]]", "1"), Some("[2]"));
        assert_eq!(member("[1]", "a"), None);
        assert_eq!(member("\"a\"", "a"), None);
    }
}
