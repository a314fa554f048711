//! Reads JSON into structs, as serde_json does, and says which field is not what it
//! should be.
//!
//! Differences to serde_json: text is UTF-8 before it is read, so that no string is checked
//! again; strings that are read as a [`crate::json::Str`] are passed on as they are, and copied
//! only where they have escapes; the path of an error is gathered as it passes on, and costs
//! nothing where there is none.

use std::fmt;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Expected, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::json::plain::{is_space, string_length};

/// The name by which [`serde_json::value::RawValue`] asks for the text of a value.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// The most containers in each other that are read; in what is passed there may be more.
const MAX_DEPTH: u32 = 127;

/// Reads a whole JSON text as a `T`.
pub(crate) fn read<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T> {
    Reader::new(text, false).whole()
}

/// Reads a whole JSON text in which U+FFFD stands for what is no UTF-8: strings say so.
pub(crate) fn read_lossy<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T> {
    Reader::new(text, true).whole()
}

/// The reason that a text was not read.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It is no JSON.
    Syntax,
    /// A field is not what it should be.
    Field(Box<WrongField>),
}

/// A field that is not what it should be.
#[derive(Debug)]
pub(crate) struct WrongField {
    /// The thing that was found, and the one that was expected.
    pub(crate) message: String,
    /// The steps to it, the last one first.
    path: Vec<Step>,
}

/// One step of a path to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A member of an object.
    Key(String),
    /// An element of an array.
    Index(usize),
}

impl WrongField {
    /// Returns the steps from the whole text to the field.
    pub(crate) fn path(&self) -> impl Iterator<Item = &Step> {
        self.path.iter().rev()
    }
}

impl Fault {
    #[cold]
    fn at(mut self, step: impl FnOnce() -> Step) -> Self {
        if let Fault::Field(field) = &mut self {
            field.path.push(step());
        }
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Syntax => f.write_str("not JSON"),
            Fault::Field(field) => f.write_str(&field.message),
        }
    }
}

impl std::error::Error for Fault {}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Fault::Field(Box::new(WrongField { message: message.to_string(), path: Vec::new() }))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Unit => "null".to_owned(),
            Unexpected::Float(number) => {
                let number = serde_json::Number::from_f64(number);
                number.map_or_else(
                    || found.to_string(),
                    |number| format!("floating point `{number}`"),
                )
            }
            found => found.to_string(),
        };
        Fault::custom(format_args!("invalid type: {found}, expected {expected}"))
    }
}

type Result<T> = std::result::Result<T, Fault>;

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The number of containers that are open.
    depth: u32,
    is_lossy: bool,
    /// The last key that had escapes.
    unescaped_key: String,
}

/// A string: most are as they stand in the text.
enum Content<'t> {
    Text(&'t str),
    Unescaped(String),
    /// In generalised UTF-8, with halves of surrogate pairs, or with other bytes that are no
    /// UTF-8.
    Other(Vec<u8>),
}

enum Number {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, is_lossy: bool) -> Self {
        Reader { text, at: 0, depth: 0, is_lossy, unescaped_key: String::new() }
    }

    fn whole<T: Deserialize<'t>>(mut self) -> Result<T> {
        let value = T::deserialize(&mut self)?;
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if rest.iter().copied().all(is_space) { Ok(value) } else { Err(Fault::Syntax) }
    }

    /// Returns the next byte, if there is one.
    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the text from a place up to here.
    #[inline]
    fn since(&self, start: usize) -> Result<&'t str> {
        self.text.get(start..self.at).ok_or(Fault::Syntax)
    }

    /// Returns the next byte that is no white space, and stays before it.
    #[inline]
    fn peek(&mut self) -> Result<u8> {
        loop {
            match self.byte() {
                Some(byte) if is_space(byte) => self.at += 1,
                Some(byte) => return Ok(byte),
                None => return Err(Fault::Syntax),
            }
        }
    }

    /// Passes a byte, and white space before it.
    #[inline]
    fn pass(&mut self, byte: u8) -> Result<()> {
        if self.peek()? != byte {
            return Err(Fault::Syntax);
        }
        self.at += 1;
        Ok(())
    }

    /// Passes a word.
    fn word(&mut self, word: &str) -> Result<()> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(Fault::Syntax);
        }
        self.at += word.len();
        Ok(())
    }

    /// Passes what means itself in a string, and returns the byte after it.
    #[inline]
    fn run(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += string_length(rest);
        self.byte()
    }

    /// Reads a string from its opening quote on. As serde_json does, takes control characters
    /// and halves of surrogate pairs only `as_bytes`.
    fn string(&mut self, as_bytes: bool) -> Result<Content<'t>> {
        self.at += 1;
        let start = self.at;
        if self.run() == Some(b'"') && !self.is_lossy {
            let text = self.since(start)?;
            self.at += 1;
            return Ok(Content::Text(text));
        }
        let unescaped = self.unescaped(start, as_bytes)?;
        let unescaped = match String::from_utf8(unescaped) {
            Ok(text) if !(self.is_lossy && text.contains(char::REPLACEMENT_CHARACTER)) => {
                return Ok(Content::Unescaped(text));
            }
            Ok(text) => {
                let mut bytes = Vec::with_capacity(text.len());
                for (number, part) in text.split(char::REPLACEMENT_CHARACTER).enumerate() {
                    bytes.extend((number > 0).then_some(0xFF));
                    bytes.extend_from_slice(part.as_bytes());
                }
                bytes
            }
            Err(error) => error.into_bytes(),
        };
        if as_bytes { Ok(Content::Other(unescaped)) } else { Err(Fault::Syntax) }
    }

    /// Reads the rest of a string that has its first backslash here.
    #[inline(never)]
    fn unescaped(&mut self, start: usize, as_bytes: bool) -> Result<Vec<u8>> {
        let mut text = Vec::with_capacity(2 * (self.at - start) + 16);
        let mut run = start;
        loop {
            match self.byte() {
                Some(b'"') => {
                    text.extend_from_slice(self.since(run)?.as_bytes());
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    text.extend_from_slice(self.since(run)?.as_bytes());
                    self.at += 1;
                    self.escape(&mut text)?;
                    run = self.at;
                }
                Some(_) if as_bytes => self.at += 1,
                _ => return Err(Fault::Syntax),
            }
            self.run();
        }
    }

    /// Reads an escape after its backslash.
    fn escape(&mut self, text: &mut Vec<u8>) -> Result<()> {
        let byte = self.byte().ok_or(Fault::Syntax)?;
        self.at += 1;
        text.push(match byte {
            b'"' | b'\\' | b'/' => byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let unit = self.unit()?;
                let after = self.at;
                let low = match unit {
                    0xD800..0xDC00 if self.word("\\u").is_ok() => Some(self.unit()?),
                    _ => None,
                };
                let pair = low.and_then(|low| char::decode_utf16([unit, low]).next()?.ok());
                if pair.is_none() {
                    self.at = after;
                }
                match pair.or(char::from_u32(u32::from(unit))) {
                    Some(char) => {
                        text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    None => text.extend([
                        0xE0 | (unit >> 12) as u8,
                        0x80 | (unit >> 6 & 0x3F) as u8,
                        0x80 | (unit & 0x3F) as u8,
                    ]),
                }
                return Ok(());
            }
            _ => return Err(Fault::Syntax),
        });
        Ok(())
    }

    /// Reads the four digits of a UTF-16 code unit.
    fn unit(&mut self) -> Result<u16> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).ok_or(Fault::Syntax)?;
        self.at += 4;
        digits.iter().try_fold(0, |unit, &digit| {
            let digit = char::from(digit).to_digit(16).ok_or(Fault::Syntax)?;
            Ok(unit << 4 | digit as u16)
        })
    }

    fn number(&mut self) -> Result<Number> {
        let start = self.at;
        self.skip_number()?;
        let text = self.since(start)?;
        if let Ok(number) = text.parse() {
            return Ok(Number::Unsigned(number));
        }
        if let Some(number) = text.parse().ok().filter(|&number| number != 0) {
            return Ok(Number::Signed(number));
        }
        let float = text.parse().ok().filter(|float: &f64| float.is_finite());
        float.map(Number::Float).ok_or(Fault::Syntax)
    }

    /// Passes a value of any kind.
    fn skip(&mut self) -> Result<()> {
        // A bit for each container that is open, the innermost lowest: 1 for an object.
        let (mut open, mut depth) = (0_u64, 0_usize);
        let mut outer = Vec::new();
        loop {
            let opener = self.peek()?;
            match opener {
                b'"' => self.skip_string()?,
                b'{' | b'[' => {
                    self.at += 1;
                    if self.peek()? != opener + 2 {
                        if depth > 0 && depth % 64 == 0 {
                            outer.push(open);
                        }
                        (open, depth) = (open << 1 | u64::from(opener == b'{'), depth + 1);
                        if opener == b'{' {
                            self.skip_key()?;
                        }
                        continue;
                    }
                    self.at += 1;
                }
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => self.skip_number()?,
            }
            loop {
                if depth == 0 {
                    return Ok(());
                }
                match (self.peek()?, open & 1 == 1) {
                    (b',', is_object) => {
                        self.at += 1;
                        if is_object {
                            self.skip_key()?;
                        }
                        break;
                    }
                    (b'}', true) | (b']', false) => {
                        self.at += 1;
                        (open, depth) = (open >> 1, depth - 1);
                        if depth > 0 && depth % 64 == 0 {
                            open = outer.pop().unwrap_or_default();
                        }
                    }
                    _ => return Err(Fault::Syntax),
                }
            }
        }
    }

    /// Reads the key of a member from its opening quote on.
    #[inline(never)]
    fn key(&mut self) -> Result<&str> {
        match self.string(false)? {
            Content::Text(text) => Ok(text),
            Content::Unescaped(text) => {
                self.unescaped_key = text;
                Ok(&self.unescaped_key)
            }
            Content::Other(_) => Err(Fault::Syntax),
        }
    }

    /// Passes the key of a member, and its colon.
    fn skip_key(&mut self) -> Result<()> {
        if self.peek()? != b'"' {
            return Err(Fault::Syntax);
        }
        self.skip_string()?;
        self.pass(b':')
    }

    /// Passes a string from its opening quote on.
    fn skip_string(&mut self) -> Result<()> {
        self.at += 1;
        loop {
            match self.run() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 1,
                _ => return Err(Fault::Syntax),
            }
            match self.byte() {
                Some(b'u') => {
                    self.at += 1;
                    self.unit()?;
                }
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
                _ => return Err(Fault::Syntax),
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Passes a number.
    fn skip_number(&mut self) -> Result<()> {
        let byte = |at: usize| self.text.as_bytes().get(at).copied().unwrap_or_default();
        let digits = |start: usize| {
            let mut end = start;
            while byte(end).is_ascii_digit() {
                end += 1;
            }
            if end == start { Err(Fault::Syntax) } else { Ok(end) }
        };
        let start = self.at + usize::from(byte(self.at) == b'-');
        let mut end = digits(start)?;
        if byte(start) == b'0' && end > start + 1 {
            return Err(Fault::Syntax);
        }
        if byte(end) == b'.' {
            end = digits(end + 1)?;
        }
        if matches!(byte(end), b'e' | b'E') {
            end = digits(end + 1 + usize::from(matches!(byte(end + 1), b'+' | b'-')))?;
        }
        self.at = end;
        Ok(())
    }

    /// Enters a container at its opener.
    fn enter(&mut self) -> Result<Inside<'_, 't>> {
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::Syntax);
        }
        Ok(Inside { reader: self, count: 0, key: 0 })
    }

    /// Leaves the container that was entered last.
    fn leave(&mut self, closer: u8) -> Result<()> {
        self.depth -= 1;
        self.pass(closer)
    }

    /// Returns the error about the value that is next, which is of another type than expected.
    #[cold]
    fn other_type(&mut self, expected: &dyn Expected) -> Fault {
        let text;
        let found = match self.byte() {
            Some(b'n') => self.word("null").map(|()| Unexpected::Unit),
            Some(b't') => self.word("true").map(|()| Unexpected::Bool(true)),
            Some(b'f') => self.word("false").map(|()| Unexpected::Bool(false)),
            Some(b'[') => Ok(Unexpected::Seq),
            Some(b'{') => Ok(Unexpected::Map),
            Some(b'"') => match self.string(false) {
                Ok(Content::Text(text)) => Ok(Unexpected::Str(text)),
                Ok(Content::Unescaped(unescaped)) => {
                    text = unescaped;
                    Ok(Unexpected::Str(&text))
                }
                _ => Err(Fault::Syntax),
            },
            _ => self.number().map(|number| match number {
                Number::Unsigned(number) => Unexpected::Unsigned(number),
                Number::Signed(number) => Unexpected::Signed(number),
                Number::Float(number) => Unexpected::Float(number),
            }),
        };
        match found {
            Ok(found) => serde::de::Error::invalid_type(found, expected),
            Err(fault) => fault,
        }
    }
}

impl<'t> Deserializer<'t> for &mut Reader<'t> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        match self.peek()? {
            b'"' => self.deserialize_str(visitor),
            b'{' => self.deserialize_map(visitor),
            b'[' => self.deserialize_seq(visitor),
            b't' | b'f' => self.deserialize_bool(visitor),
            b'n' => self.deserialize_unit(visitor),
            _ => self.deserialize_u64(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        if self.peek()? != b'"' {
            return Err(self.other_type(&visitor));
        }
        match self.string(false)? {
            Content::Text(text) => visitor.visit_borrowed_str(text),
            Content::Unescaped(text) => visitor.visit_string(text),
            Content::Other(_) => Err(Fault::Syntax),
        }
    }

    fn deserialize_bytes<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        match self.peek()? {
            b'"' => match self.string(true)? {
                Content::Text(text) => visitor.visit_borrowed_str(text),
                Content::Unescaped(text) => visitor.visit_string(text),
                Content::Other(bytes) => visitor.visit_bytes(&bytes),
            },
            b'[' => self.deserialize_seq(visitor),
            _ => Err(self.other_type(&visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        if self.peek()? != b'{' {
            return Err(self.other_type(&visitor));
        }
        let value = visitor.visit_map(self.enter()?)?;
        self.leave(b'}')?;
        Ok(value)
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_map(visitor)
    }

    fn deserialize_seq<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        if self.peek()? != b'[' {
            return Err(self.other_type(&visitor));
        }
        let value = visitor.visit_seq(self.enter()?)?;
        self.leave(b']')?;
        Ok(value)
    }

    fn deserialize_u64<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        if !matches!(self.peek()?, b'-' | b'0'..=b'9') {
            return Err(self.other_type(&visitor));
        }
        match self.number()? {
            Number::Unsigned(number) => visitor.visit_u64(number),
            Number::Signed(number) => visitor.visit_i64(number),
            Number::Float(number) => visitor.visit_f64(number),
        }
    }

    fn deserialize_bool<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        match self.peek()? {
            b't' => self.word("true").and_then(|()| visitor.visit_bool(true)),
            b'f' => self.word("false").and_then(|()| visitor.visit_bool(false)),
            _ => Err(self.other_type(&visitor)),
        }
    }

    fn deserialize_unit<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        match self.peek()? {
            b'n' => self.word("null").and_then(|()| visitor.visit_unit()),
            _ => Err(self.other_type(&visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        match self.peek()? {
            b'n' => self.word("null").and_then(|()| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        if name != RAW_VALUE {
            return visitor.visit_newtype_struct(self);
        }
        self.peek()?;
        let start = self.at;
        self.skip()?;
        let text = self.since(start)?;
        if self.is_lossy && text.contains(char::REPLACEMENT_CHARACTER) {
            return Err(Fault::Syntax);
        }
        visitor.visit_map(Raw(text))
    }

    fn deserialize_ignored_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        self.skip()?;
        visitor.visit_unit()
    }

    fn deserialize_string<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_str(self.key()?)
    }

    fn deserialize_i64<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_u64(visitor)
    }

    forward_to_deserialize_any! {
        <W: Visitor<'t>>
        i8 i16 i32 i128 u8 u16 u32 u128 f32 f64 char byte_buf unit_struct tuple tuple_struct enum
    }
}

/// The members or elements of the container that was entered last.
struct Inside<'r, 't> {
    reader: &'r mut Reader<'t>,
    /// The number of those that have begun.
    count: usize,
    /// The place at which the key of the last member begins.
    key: usize,
}

impl Inside<'_, '_> {
    /// Passes the comma before the next member or element; returns false if `closer` is
    /// there in its place.
    #[inline]
    fn next(&mut self, closer: u8) -> Result<bool> {
        if self.reader.peek()? == closer {
            return Ok(false);
        }
        if self.count > 0 {
            self.reader.pass(b',')?;
            self.reader.peek()?;
        }
        self.count += 1;
        Ok(true)
    }

    /// Returns the step to the last member.
    fn step(&self) -> Step {
        let from_key = self.reader.text.get(self.key..).unwrap_or_default();
        let mut reader = Reader::new(from_key, false);
        Step::Key(String::deserialize(&mut reader).unwrap_or_default())
    }
}

impl<'t> MapAccess<'t> for Inside<'_, 't> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'t>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if !self.next(b'}')? {
            return Ok(None);
        }
        self.key = self.reader.at;
        if self.reader.byte() != Some(b'"') {
            return Err(Fault::Syntax);
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }

    /// Is one function for each type, and not a part of every struct that has such a member:
    /// the code of a record's structs fits the processor's cache.
    #[inline(never)]
    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value> {
        self.reader.pass(b':')?;
        seed.deserialize(&mut *self.reader).map_err(|fault| fault.at(|| self.step()))
    }
}

impl<'t> SeqAccess<'t> for Inside<'_, 't> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'t>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if !self.next(b']')? {
            return Ok(None);
        }
        let element = seed.deserialize(&mut *self.reader);
        element.map(Some).map_err(|fault| fault.at(|| Step::Index(self.count - 1)))
    }
}

/// The text of a value, as the only member of an object: so a `RawValue` asks for it.
struct Raw<'t>(&'t str);

impl<'t> MapAccess<'t> for Raw<'t> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'t>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        seed.deserialize(BorrowedStrDeserializer::new(RAW_VALUE)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(BorrowedStrDeserializer::new(self.0))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;
    use crate::json::Str;

    /// A bit of everything that payloads hold.
    #[derive(Debug, serde::Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    #[expect(dead_code)]
    struct Everything<'a> {
        text: Option<Str<'a>>,
        #[serde(alias = "other_name")]
        name: Option<String>,
        raw: Option<&'a RawValue>,
        number: Option<u64>,
        signed: Option<i64>,
        flag: Option<bool>,
        list: Option<Vec<Everything<'a>>>,
        map: Option<BTreeMap<String, Value>>,
        inner: Option<Box<Everything<'a>>>,
    }

    /// Holds what is read of a text to what serde_json makes of it: the value, or its message
    /// and the field.
    fn check<'t, T: Deserialize<'t> + fmt::Debug>(text: &'t str) {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let expected = T::deserialize(&mut deserializer);
        let expected = expected.and_then(|value| deserializer.end().map(|()| value));
        match (read::<T>(text), expected) {
            // serde_json takes an array for a struct.
            (Err(Fault::Field(field)), _)
                if field.message.starts_with("invalid type: sequence, expected struct") => {}
            (Ok(value), Ok(expected)) => {
                assert_eq!(format!("{value:?}"), format!("{expected:?}"), "{text}");
            }
            (Err(Fault::Syntax), Err(expected)) => {
                assert!(!expected.is_data(), "{expected}: {text}")
            }
            (Err(Fault::Field(field)), Err(expected)) => {
                assert!(expected.is_data(), "{}, {expected}: {text}", field.message);
                let expected = expected.to_string();
                let expected = expected.rsplit_once(" at line ").map_or("", |(before, _)| before);
                assert_eq!(field.message, expected, "{text}");
            }
            (value, expected) => panic!("{value:?}, not {expected:?}: {text}"),
        }
    }

    const TEXTS: &[&str] = &[
        r#"{"text":"a\n\u00e9\ud83d\ude00","name":"b","raw":{"a":[1, 2.5e-3,"\"]"]},"number":18446744073709551615}"#,
        r#" { "signed" : -9223372036854775808 , "flag" : true , "list" : [ { } , { "text" : null } ] } "#,
        r#"{"map":{"a":[],"b":{},"c":"d"},"inner":{"inner":{"raw":"\ud83d"}},"unknown":[[],{},-0.0,1E5]}"#,
        r#"{"other_name":"a long text, of more bytes than any block that is searched at once, with é in it","raw":null}"#,
        "{\"text\":\"\u{e9}\\\\\\/\\b\\f\\r\\t\\ud83d\",\"list\":[{\"number\":1.5}]}",
    ];

    #[test]
    fn values_and_messages_are_those_of_serde_json() {
        for text in [
            "",
            "{",
            "{}x",
            "{}{}",
            "{\"text\":\"\\ud83d\"}",
            "{\"text\":\"\\udc00a\\ud83d\"}",
            "{\"text\":\"\\ud83d\\ud83d\\ude00\"}",
            "{\"name\":\"\\ud83d\"}",
            "{\"text\":5}",
            "{\"text\":\"\u{1}\"}",
            "{\"name\":\"\u{1}\"}",
            "{\"raw\":\"\u{1}\"}",
            "{\"number\":-1}",
            "{\"number\":1.0}",
            "{\"number\":01}",
            "{\"signed\":-0}",
            "{\"signed\":-1}",
            "{\"number\":1e999}",
            "{\"number\":18446744073709551616}",
            "{\"signed\":-9223372036854775809}",
            "{\"flag\":True}",
            "{\"flag\":true,}",
            "{,}",
            "{\"a\" 1}",
            "{\"a\":}",
            "{\"list\":[{},]}",
            "{\"list\":[}",
            "{\"raw\":[1}}",
            "{\"raw\":[01]}",
            "{\"raw\":[1.]}",
            "{\"raw\":1e}",
            "{\"raw\":-}",
            "{\"raw\":\"\\x\"}",
            "{\"raw\":tru}",
            "{\"text\":\"\\u12\"}",
            "{\"text\":\"\\u+123\"}",
            "{\"number\":1,\"number\":2}",
            "{\"name\":\"a\",\"other_name\":\"b\"}",
            "{\"name\":null}",
            "{\"list\":{}}",
            "{\"list\":null}",
            "{\"map\":[]}",
            "{\"map\":true}",
            "{\"flag\":\"a\\n\"}",
            "{\"text\":[1]}",
            "{\"text\":{}}",
            "{\"inner\":7}",
            "[]",
            "null",
            "5",
            "\"a\"",
        ] {
            check::<Everything<'_>>(text);
            check::<Value>(text);
            check::<&RawValue>(text);
            check::<Str<'_>>(text);
        }
        for depth in [63, 64, 65, 126, 127, 128, 129, 200] {
            let deep = "[".repeat(depth) + &"]".repeat(depth);
            check::<&RawValue>(&deep);
            check::<Value>(&deep);
            let mixed = "[{\"a\":".repeat(depth) + "1" + &"}]".repeat(depth);
            check::<&RawValue>(&mixed);
            check::<&RawValue>(&mixed.replacen("}]", "]}", 1));
        }
    }

    #[test]
    fn a_fault_names_the_field() {
        let read = read::<Everything<'_>>(r#"{"list":[{},{"inner":{"te\u0078t":5}}]}"#);
        let Err(Fault::Field(field)) = read else { panic!("{read:?}") };
        let key = |key: &str| Step::Key(key.to_owned());
        let path = [key("list"), Step::Index(1), key("inner"), key("text")];
        assert!(field.path().eq(&path), "{field:?}");
    }

    #[test]
    fn replaced_bytes_are_told() {
        let text = "{\"text\":\"a\u{fffd}\\n\"}";
        let everything: Everything<'_> = read_lossy(text).unwrap();
        assert_eq!(everything.text, Some(Str::from_bytes(b"a\xFF\n")));
        assert!(read_lossy::<Everything<'_>>("{\"raw\":\"\u{fffd}\"}").is_err());
        assert!(read_lossy::<Everything<'_>>("{\"name\":\"\u{fffd}\"}").is_err());
        assert!(read_lossy::<Everything<'_>>("{\"unknown\":\"\u{fffd}\"}").is_ok());
    }

    proptest! {
        #[test]
        fn what_is_changed_is_read_as_serde_json_reads_it(
            text in 0..TEXTS.len(),
            other in 0..TEXTS.len(),
            at in 0..150_usize,
            from in 0..150_usize,
            length in 0..20_usize,
            put in "[\\[\\]{}\",:\\\\u0-9eE.+ tfn-]{0,3}",
        ) {
            let (text, other) = (TEXTS[text], TEXTS[other]);
            let split = |text: &'static str, at: usize| text.split_at(text.floor_char_boundary(at));
            let ((before, _), (_, after)) = (split(text, at), split(text, at + length));
            let (piece, _) = split(split(other, from).1, length);
            let changed = format!("{before}{put}{piece}{after}");
            check::<Everything<'_>>(&changed);
            check::<Value>(&changed);
            check::<&RawValue>(&changed);
        }
    }
}
