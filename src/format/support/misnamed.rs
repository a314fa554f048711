//! Arguments under a name that their format does not have: a call that lacks its own must not run
//! with none.

use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::event::{Arguments, Kind};
use crate::frame::Frame;
use crate::json::Str;

/// The names that one format or another has for a tool's name.
const NAMES: [&str; 3] = ["name", "toolName", "tool_name"];

/// The names that one format or another has for arguments.
const ARGUMENTS: [&str; 8] =
    ["arguments", "args", "input", "inputs", "parameters", "params", "kwargs", "tool_input"];

/// The members that hold declarations of tools, and no calls.
const DECLARATIONS: [&str; 3] = ["tools", "functions", "request"];

/// The arguments in one record that may be misnamed: each with the name beside it.
pub(crate) struct Misnamed<'f> {
    frame: &'f Frame<'f>,
    /// Unknown until a call asks.
    found: Option<Vec<Found>>,
}

type Found = (String, Box<RawValue>);

impl<'f> Misnamed<'f> {
    pub(crate) fn new(frame: &'f Frame<'f>) -> Self {
        Misnamed { frame, found: None }
    }

    /// Adds what may be its arguments to a fragment that begins a call without any.
    #[inline]
    pub(crate) fn complete<'e>(&'e mut self, kind: &mut Kind<'e>) {
        if let Kind::CallPart(part) = kind
            && let (Some(name), Arguments::None, None) = (part.name, part.arguments, part.executor)
        {
            part.arguments = self.of(name);
        }
    }

    #[cold]
    fn of(&mut self, name: &str) -> Arguments<'_> {
        let found = self.found.get_or_insert_with(|| find(&self.frame.text()));
        let found = found.iter().find(|(beside, _)| beside == name);
        found.map_or(Arguments::None, |(_, json)| Arguments::Misnamed(json.get()))
    }
}

/// Finds the objects under a name of arguments that are not empty, also in a string, and stand
/// beside a name. JSON that is nested deeper than serde_json reads holds none.
fn find(json: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let read = Walk(&mut found).deserialize(&mut serde_json::Deserializer::from_str(json));
    if read.is_err() {
        found.clear();
    }
    found
}

/// Reads a value; returns the name in it, if it is an object that has one and no arguments.
struct Walk<'w>(&'w mut Vec<Found>);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Option<String>;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = Option<String>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        while from.next_element_seed(Walk(self.0))?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let (mut name, mut arguments) = (None, None);
        while let Some(key) = from.next_key::<String>()? {
            if NAMES.contains(&key.as_str()) {
                let value: &RawValue = from.next_value()?;
                name = serde_json::from_str(value.get()).ok().or(name);
            } else if ARGUMENTS.contains(&key.as_str()) {
                let value: Box<RawValue> = from.next_value()?;
                arguments = Some(value).filter(|value| holds_members(value)).or(arguments);
            } else if DECLARATIONS.contains(&key.as_str()) {
                from.next_value::<IgnoredAny>()?;
            } else {
                // `{"function": {"name": …}, "arguments": …}`
                let inside = from.next_value_seed(Walk(self.0))?;
                name = name.or(inside);
            }
        }
        match (name, arguments) {
            (Some(name), Some(arguments)) => {
                self.0.push((name, arguments));
                Ok(None)
            }
            (name, _) => Ok(name),
        }
    }
}

/// True for an object with members, also in a string.
fn holds_members(json: &RawValue) -> bool {
    let is_filled = |object: &str| {
        object
            .trim_ascii_start()
            .strip_prefix('{')
            .is_some_and(|rest| !rest.trim_ascii_start().starts_with('}'))
    };
    match json.get().starts_with('"') {
        true => {
            serde_json::from_str::<Str<'_>>(json.get()).is_ok_and(|text| is_filled(text.as_str()))
        }
        false => is_filled(json.get()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beside_a_name() {
        let check = |json: &str, expected: &[(&str, &str)]| {
            let found = find(json);
            let found: Vec<_> =
                found.iter().map(|(name, json)| (name.as_str(), json.get())).collect();
            assert_eq!(found, expected, "{json}");
        };
        check(r#"{"name":"f","args":{"x":1}}"#, &[("f", r#"{"x":1}"#)]);
        check(r#"[{"a":{"input":" {\"x\":1}","name":"f"}}]"#, &[("f", r#"" {\"x\":1}""#)]);
        check(r#"{"function":{"name":"f"},"params":{"x":1}}"#, &[("f", r#"{"x":1}"#)]);
        check(r#"{"name":"f","args":{ },"input":"{}","inputs":[1],"params":null}"#, &[]);
        check(r#"{"tools":[{"name":"f","parameters":{"type":"object"}}]}"#, &[]);
        check(r#"{"name":"f","args":{"x":1}"#, &[]);
    }
}
