//! Arguments under a name that their format does not have: a call that lacks its own must not run
//! with none.

use crate::event::{Arguments, CallPart, Event, Kind, Loose};
use crate::frame::Frame;
use crate::json::{self, FromJson, RawJson, ReadError, Reader, Str};

/// The names that one format or another has for a tool's name.
const NAMES: [&str; 3] = ["name", "toolName", "tool_name"];

/// The names that one format or another has for arguments.
const ARGUMENTS: [&str; 8] =
    ["arguments", "args", "input", "inputs", "parameters", "params", "kwargs", "tool_input"];

/// The likeness to one of them from which on a name is one that is misspelt, from 0 to 1.
const MIN_LIKENESS: f64 = 0.93;

/// The members that hold declarations of tools, and no calls.
const DECLARATIONS: [&str; 3] = ["tools", "functions", "request"];

/// The arguments in one record that may be misnamed: each with the name beside it.
pub(crate) struct Misnamed<'f> {
    frame: &'f Frame<'f>,
    /// Unknown until a call asks.
    found: Option<Vec<FoundName>>,
}

type FoundName = (String, String);

impl<'f> Misnamed<'f> {
    pub(crate) fn new(frame: &'f Frame<'f>) -> Self {
        Misnamed { frame, found: None }
    }

    /// Returns a fragment that begins a call without arguments, with what may be its arguments.
    #[inline]
    pub(crate) fn complete<'e>(&'e mut self, event: &Event<'e>) -> Option<Event<'e>> {
        let Kind::Loose(Loose::CallPart(part)) = event.kind else { return None };
        let (Some(name), Arguments::None, None) = (part.name, part.arguments, part.executor) else {
            return None;
        };
        let part = CallPart { arguments: self.of(name), ..part };
        Some(Event::new(event.choice, Kind::Loose(Loose::CallPart(part))))
    }

    #[cold]
    fn of(&mut self, name: &str) -> Arguments<'_> {
        let found = self.found.get_or_insert_with(|| find(&self.frame.text()));
        let found = found.iter().find(|(beside, _)| beside == name);
        found.map_or(Arguments::None, |(_, json)| Arguments::Misnamed(json))
    }
}

/// Returns what may be the arguments in the JSON of a fragment that adds none to its call.
#[inline]
pub(crate) fn in_fragment(part: &CallPart<'_>) -> Option<String> {
    match part {
        CallPart { arguments: Arguments::None, executor: None, native, .. } => {
            native.and_then(|piece| first(piece.json))
        }
        _ => None,
    }
}

#[cold]
fn first(json: &str) -> Option<String> {
    find(json).into_iter().next().map(|(_, json)| json)
}

/// Finds the objects under a name of arguments that are not empty, also in a string, and stand
/// beside a name; where none does, also pieces of such a string. JSON that is nested deeper than
/// records may be holds none.
fn find(json: &str) -> Vec<FoundName> {
    let mut found = Vec::new();
    if walk(&mut Reader::new(json::Source::Text, json), &mut found).is_err() {
        found.clear();
    }
    found
}

/// Reads a value; returns the name in it, if it is an object that has one and no arguments.
fn walk<'t>(
    reader: &mut Reader<'t>,
    found: &mut Vec<FoundName>,
) -> Result<Option<Str<'t>>, ReadError> {
    let (mut name, mut arguments) = (None, None);
    match reader.peek()? {
        b'[' => reader.elements(&"", &mut |reader| walk(reader, found).map(drop))?,
        b'{' => reader.members(&"", &mut |key, reader| {
            let key = key.as_str();
            if NAMES.contains(&key) {
                let value = RawJson::from_json(reader)?;
                name = json::read(value.get()).ok().or(name.take());
                return Ok(());
            }
            match reader.peek()? {
                b'{' | b'[' if DECLARATIONS.contains(&key) => reader.skip()?,
                b'[' => drop(walk(reader, found)?),
                // `{"function": {"name": …}, "arguments": …}`
                b'{' if !is_like_arguments(key) => name = name.take().or(walk(reader, found)?),
                _ => {
                    let value = RawJson::from_json(reader)?;
                    if is_filled(value) && is_like_arguments(key) {
                        arguments = Some(value);
                    }
                }
            }
            Ok(())
        })?,
        _ => reader.skip()?,
    }
    let Some(arguments) = arguments else { return Ok(name) };
    // A piece of some goes on with a call that was named before.
    if name.is_none() || holds_members(arguments) {
        let name = name.as_ref().map_or("", Str::as_str);
        found.push((name.to_owned(), arguments.get().to_owned()));
    }
    Ok(None)
}

/// True for a name of arguments, also if it is misspelt after its first letter. Few keys come so
/// far as to be compared.
fn is_like_arguments(key: &str) -> bool {
    let is_near = |known: &str| {
        key.len().abs_diff(known.len()) <= 2
            && key.as_bytes().first().map(u8::to_ascii_lowercase) == known.bytes().next()
            && strsim::jaro_winkler(&key.to_lowercase(), known) >= MIN_LIKENESS
    };
    ARGUMENTS.into_iter().any(|known| known == key || is_near(known))
}

/// True for a text or an object that is not empty.
fn is_filled(json: RawJson<'_>) -> bool {
    json.get().starts_with(['"', '{']) && !matches!(json.get(), "\"\"" | "{}")
}

/// True for an object with members, also in a string.
pub(in crate::format) fn holds_members(json: RawJson<'_>) -> bool {
    let is_filled = |object: &str| {
        object
            .trim_ascii_start()
            .strip_prefix('{')
            .is_some_and(|rest| !rest.trim_ascii_start().starts_with('}'))
    };
    match json.get().starts_with('"') {
        true => json::read::<Str<'_>>(json.get()).is_ok_and(|text| is_filled(text.as_str())),
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
                found.iter().map(|(name, json)| (name.as_str(), json.as_str())).collect();
            assert_eq!(found, expected, "{json}");
        };
        check(r#"{"name":"f","args":{"x":1}}"#, &[("f", r#"{"x":1}"#)]);
        check(r#"[{"a":{"input":" {\"x\":1}","name":"f"}}]"#, &[("f", r#"" {\"x\":1}""#)]);
        check(r#"{"function":{"name":"f"},"params":{"x":1}}"#, &[("f", r#"{"x":1}"#)]);
        check(r#"{"name":"f","args":{ },"input":"{}","inputs":[1],"params":null}"#, &[]);
        check(r#"{"name":"f","Argument":{"x":1}}"#, &[("f", r#"{"x":1}"#)]);
        check(r#"{"function":{"args":"\"x\":"}}"#, &[("", r#""\"x\":""#)]);
        check(r#"{"name":"f","args":"x","input_tokens":{"x":1}}"#, &[]);
        check(r#"{"tools":[{"name":"f","parameters":{"type":"object"}}]}"#, &[]);
        check(r#"{"name":"f","args":{"x":1}"#, &[]);
    }
}
