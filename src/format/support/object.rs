//! JSON objects whose members are looked up by name, where many formats call the
//! same thing by many names.

use std::borrow::Cow;
use std::io;

use crate::event::WarningCode;
use crate::format::support::emit::{Done, EventOut};
use crate::json::{self, RawJson, Str, as_str};

/// An object. The places of a value are paths with `|` between them, each of keys joined by dots; `.`
/// is the object itself. The first place that has it counts.
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
        places.split('|').find_map(|path| as_str(self.at(path)?))
    }

    /// The text that stands there; an empty one if there is nothing. A value of another type costs a
    /// warning.
    pub(crate) fn text_or_warn(&self, places: &str, out: &mut EventOut) -> io::Result<Str<'a>> {
        match self.text(places) {
            Some(text) => Ok(text),
            None => self.pass_over(places, "no string", out).map(|()| Str::default()),
        }
    }

    /// The elements of the list that stands there; none if there is nothing. A value of another type
    /// costs a warning.
    pub(crate) fn each_or_warn(
        &self,
        places: &str,
        out: &mut EventOut,
    ) -> io::Result<Vec<&'a str>> {
        match self.each(places) {
            list if list.is_empty() => self.pass_over(places, "no list", out).map(|()| list),
            list => Ok(list),
        }
    }

    /// Warns of what stands there, if anything does.
    fn pass_over(&self, places: &str, what: &str, out: &mut EventOut) -> Done {
        match self.get(places) {
            None | Some("[]") => Ok(()),
            Some(_) => {
                let message = format!("the field {places} was left out: it is {what}");
                out.warn(WarningCode::WrongType, &message)
            }
        }
    }

    /// The first of the values that is a string with anything in it.
    pub(crate) fn word(&self, places: &str) -> Option<String> {
        let words = places.split('|').filter_map(|path| as_str(self.at(path)?));
        words.map(|word| word.as_str().to_owned()).find(|word| !word.trim_ascii().is_empty())
    }

    /// The word that says what it is; empty if it does not say that.
    pub(crate) fn kind(&self, places: &str) -> String {
        self.word(places).unwrap_or_default()
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
