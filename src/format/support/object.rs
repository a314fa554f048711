//! JSON objects whose members are looked up by name, where many formats call the
//! same thing by many names.

use std::borrow::Cow;

use crate::json;
use crate::json::{RawJson, Str};

/// The places of a value: paths with `|` between them, each of keys joined by
/// dots; `.` is the object itself. The first place that has it counts.
pub(crate) type Places = &'static str;

/// An object.
pub(crate) struct Object<'a> {
    /// Its JSON text.
    pub(crate) json: &'a str,
    members: Vec<(Cow<'a, str>, RawJson<'a>)>,
}

impl<'a> Object<'a> {
    /// Reads the top of an object. Of any other value there are no members.
    pub(crate) fn new(json: &'a str) -> Self {
        Object { json, members: json::members(json) }
    }

    /// The JSON text of the value, unless it is null.
    pub(crate) fn get(&self, places: &str) -> Option<&'a str> {
        places.split('|').find_map(|path| self.at(path))
    }

    fn at(&self, path: &str) -> Option<&'a str> {
        if path == "." {
            return Some(self.json);
        }
        let mut keys = path.split('.');
        let first = keys.next()?;
        let (_, top) = self.members.iter().find(|(name, _)| name == first)?;
        keys.try_fold(top.get(), json::member).filter(|json| *json != "null")
    }

    /// The first of the values that is a string.
    pub(crate) fn text(&self, places: &str) -> Option<Str<'a>> {
        places.split('|').find_map(|path| string(self.at(path)?))
    }

    /// The first of the values that is a string with anything in it.
    pub(crate) fn word(&self, places: &str) -> Option<String> {
        let words = places.split('|').filter_map(|path| string(self.at(path)?));
        words.map(|word| word.as_str().to_owned()).find(|word| !word.trim_ascii().is_empty())
    }
    /// The first of the values that is true or false.
    pub(crate) fn flag(&self, places: &str) -> Option<bool> {
        places.split('|').find_map(|path| match self.at(path)? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        })
    }

    /// The elements of the first of the values that is an array.
    pub(crate) fn each(&self, places: &str) -> Vec<&'a str> {
        places.split('|').find_map(|path| json::elements(self.at(path)?)).unwrap_or_default()
    }

    /// The name and the value of the first member.
    pub(crate) fn first(&self) -> Option<(&str, &'a str)> {
        self.members.first().map(|(name, value)| (name.as_ref(), value.get()))
    }
}

/// The text of a string, if the value is one.
pub(crate) fn string(json: &str) -> Option<Str<'_>> {
    json::read(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"a":null,"b":{"c":[{"d":"x"}]},"e":"","f":false,"g":[1,{}]}"#;

    #[track_caller]
    fn check(places: &str, expected: Option<&str>) {
        assert_eq!(Object::new(JSON).get(places), expected);
    }

    #[test]
    fn the_first_place_with_a_value_counts() {
        check("a", None);
        check("a|x|f", Some("false"));
        check("b.c.0.d|f", Some("\"x\""));
        check("b.c.1.d|f", Some("false"));
        check("x|.", Some(JSON));
    }

    #[test]
    fn values_are_asked_for_by_type() {
        let object = Object::new(JSON);
        assert_eq!(object.word("e|f|b.c.0.d"), Some("x".to_owned()));
        assert_eq!(object.text("f|e").as_ref().map(Str::as_str), Some(""));
        assert_eq!(object.flag("e|f"), Some(false));
        assert_eq!(object.each("b|g"), ["1", "{}"]);
        assert_eq!(Object::new("[1]").first(), None);
    }
}
