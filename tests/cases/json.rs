//! A reader of JSON that is as strict as the standard and no stricter: where
//! serde_json has limits (depth, huge numbers, halves of characters), it has
//! none. It knows nothing of how the program writes.

use serde_json::{Map, Number, Value};

/// Reads a whole text. A number that is too large for a machine becomes its
/// text, half a character U+FFFD.
#[track_caller]
pub(crate) fn read(text: &str) -> Value {
    if let Ok(value) = serde_json::from_str(text) {
        return value;
    }
    let mut reader = Reader { rest: text };
    let value = reader.value().filter(|_| reader.rest.trim_matches(BLANK).is_empty());
    value.unwrap_or_else(|| panic!("no JSON from {:?} on: {text}", reader.rest))
}

const BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// Takes this text, after white space.
    fn take(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.trim_start_matches(BLANK).strip_prefix(text)?;
        Some(())
    }

    fn next_is(&mut self, text: &str) -> bool {
        self.rest.trim_start_matches(BLANK).starts_with(text)
    }

    fn value(&mut self) -> Option<Value> {
        self.rest = self.rest.trim_start_matches(BLANK);
        match self.rest.as_bytes().first()? {
            b'{' => self.object(),
            b'[' => self.array(),
            b'"' => self.string().map(Value::String),
            b'-' | b'0'..=b'9' => self.number(),
            _ => ["true", "false", "null"].into_iter().find_map(|word| {
                self.take(word)?;
                serde_json::from_str(word).ok()
            }),
        }
    }

    fn object(&mut self) -> Option<Value> {
        self.take("{")?;
        let mut members = Map::new();
        while !self.next_is("}") {
            if !members.is_empty() {
                self.take(",")?;
            }
            self.rest = self.rest.trim_start_matches(BLANK);
            let key = self.string()?;
            self.take(":")?;
            members.insert(key, self.value()?);
        }
        self.take("}")?;
        Some(Value::Object(members))
    }

    fn array(&mut self) -> Option<Value> {
        self.take("[")?;
        let mut items = Vec::new();
        while !self.next_is("]") {
            if !items.is_empty() {
                self.take(",")?;
            }
            items.push(self.value()?);
        }
        self.take("]")?;
        Some(Value::Array(items))
    }

    fn string(&mut self) -> Option<String> {
        let mut at = 1;
        let bytes = self.rest.as_bytes();
        while *bytes.get(at)? != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        let (string, rest) = self.rest.split_at_checked(at + 1)?;
        self.rest = rest;
        if string.contains(|c| c < ' ') {
            return None;
        }
        // Bytes may hold halves of characters where text may not.
        let wide: Vec<u8> = serde_json::from_str::<Bytes>(string).ok()?.0;
        Some(String::from_utf8_lossy(&wide).into_owned())
    }

    fn number(&mut self) -> Option<Value> {
        let end = self.rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let (number, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        let is_number = serde_json::from_str::<&serde_json::value::RawValue>(number).is_ok();
        let value = serde_json::from_str::<Number>(number)
            .map_or_else(|_| Value::from(number), Value::Number);
        Some(value).filter(|_| is_number)
    }
}

/// A string as bytes: serde_json gives halves of characters as three.
struct Bytes(Vec<u8>);

impl<'de> serde::Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Bytes;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Visitor)
    }
}

#[test]
fn as_strict_as_the_standard_and_no_stricter() {
    assert_eq!(
        read(r#"{"a":[1e400,"x\ud83d"]}"#).to_string(),
        "{\"a\":[\"1e400\",\"x\u{fffd}\u{fffd}\u{fffd}\"]}"
    );
    assert_eq!(read(&format!("{}{}", "[".repeat(300), "]".repeat(300))).to_string().len(), 600);
    let half = "\"\\ud83d\u{1}\"";
    for bad in [
        "", "{", "[1,]", "{\"a\":1,}", "01e999", "1e400 2", "\"\\x\"", "{'a':1e400}", "[1e400",
        half,
    ] {
        assert!(std::panic::catch_unwind(|| read(bad)).is_err(), "{bad}");
    }
}
