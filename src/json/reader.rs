//! Reads JSON into structs, as serde_json does, and says which field is not what it
//! should be.
//!
//! Differences to serde_json: text is UTF-8 before it is read, so that no string is checked
//! again; strings that are read as a [`Str`] are passed on as they are, and copied only where
//! they have escapes; the path of an error is gathered as it passes on, and costs nothing where
//! there is none. A struct is a list of keys and a short function that says where the value of a
//! key goes; all structs share [`Reader::object`]. What serde derives for each is kilobytes of
//! code, which a processor's cache does not hold for all the structs of a record.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr;
use serde::de::{Deserialize, Expected, IntoDeserializer, Unexpected};
use serde_json::value::RawValue;
use wide::u8x32;

use crate::cut::Cut as _;
use crate::json::Str;
use crate::json::end::{number_end, value_end, value_length, word_end};
use crate::json::plain::{BLOCK, inside_length, is_space, string_length};

/// The most containers in each other that are read, as many as serde_json reads; in what is passed
/// there may be more.
const MAX_DEPTH: u32 = 127;

/// The key of one of a struct's fields.
pub struct FieldKey {
    name: &'static str,
    others: &'static [&'static str],
    /// The name and the quote after it, if they fit.
    block: [u8; BLOCK],
    /// A bit for each byte of them, the first one lowest; 0 if they do not fit.
    mask: u32,
}

impl FieldKey {
    /// Returns a key that may also be spelled as `others`. Errors call it by its name.
    pub const fn new(name: &'static str, others: &'static [&'static str]) -> Self {
        let (mut block, mut at) = ([b'"'; BLOCK], 0);
        while at < name.len() && at < BLOCK {
            block[at] = name.as_bytes()[at];
            at += 1;
        }
        let mask = if name.len() < BLOCK { u32::MAX >> (BLOCK - 1 - name.len()) } else { 0 };
        FieldKey { name, others, block, mask }
    }

    /// True if a text begins with the name and the quote after it: `bytes` are its first.
    #[inline]
    fn begins(&self, bytes: u8x32) -> bool {
        let is_same = bytes.simd_eq(u8x32::new(self.block)).to_bitmask();
        // Few names are so long that they do not fit: they are found as other spellings are.
        self.mask != 0 && is_same & self.mask == self.mask
    }

    /// Returns the name that errors call it by.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// True if this is one of its spellings.
    pub fn is(&self, key: &[u8]) -> bool {
        // The first byte tells most keys of one length apart.
        let is_key = |name: &&str| {
            let (name, is_long) = (name.as_bytes(), name.len() == key.len());
            is_long && name.first() == key.first() && name == key
        };
        is_key(&self.name) || self.others.iter().any(is_key)
    }
}

/// A value that is read from JSON text, and may borrow from it.
///
/// [`payload!`](crate::format::payload) makes a struct one.
pub trait FromJson<'t>: Sized {
    /// Reads the value that is next.
    ///
    /// # Errors
    ///
    /// The text is no JSON there, or a value of another type.
    fn from_json(reader: &mut Reader<'t>) -> Result<Self>;

    /// Reads the value that is next into a place for it. A struct is read where it stands, as it
    /// is longer than what it is read from.
    ///
    /// # Errors
    ///
    /// Those of [`FromJson::from_json`]; what is in the place then means nothing.
    fn read_into(place: &mut Option<Self>, reader: &mut Reader<'t>) -> Result<()> {
        *place = Some(Self::from_json(reader)?);
        Ok(())
    }

    /// Reads the value that is next onto the end of a list. A struct is read where it stands there.
    ///
    /// # Errors
    ///
    /// Those of [`FromJson::from_json`]; what is at the end of the list then means nothing.
    fn push_onto(list: &mut Vec<Self>, reader: &mut Reader<'t>) -> Result<()> {
        list.push(Self::from_json(reader)?);
        Ok(())
    }

    /// Reads the value that is next into this one.
    ///
    /// # Errors
    ///
    /// Those of [`FromJson::from_json`]; what this one is then means nothing.
    fn fill(&mut self, reader: &mut Reader<'t>) -> Result<()> {
        *self = Self::from_json(reader)?;
        Ok(())
    }
}

/// Reads a whole JSON text as a `T`.
pub(crate) fn read<'t, T: FromJson<'t>>(text: &'t str) -> Result<T> {
    read_as(Source::Text, text)
}

/// Returns the text of a value, if that is a string.
pub(crate) fn as_str(json: &str) -> Option<Str<'_>> {
    json.trim_ascii_start().starts_with('"').then(|| read(json).ok())?
}

/// Returns the text that a JSON string holds; nothing of any other value.
pub(crate) fn string(json: &str) -> Option<String> {
    as_str(json).map(|text| text.into_text().into_owned())
}

/// Returns the text of a string; of any other value, its JSON.
pub(crate) fn text(json: &str) -> Str<'_> {
    as_str(json).unwrap_or(Str::from(json))
}

/// Returns the values that a text begins with, up to what is none, as serde_json tells them apart.
pub(crate) fn records(text: &[u8]) -> impl Iterator<Item = RawJson<'_>> {
    let records = serde_json::Deserializer::from_slice(text).into_iter::<&RawValue>();
    records.map_while(std::result::Result::ok).map(|record| RawJson(record.get()))
}

/// Reads the text of a value that was read as a part of another.
pub(crate) fn read_again<'t, T: FromJson<'t>>(json: &'t str) -> Result<T> {
    read_as(Source::Json, json)
}

/// Reads a whole JSON text of which so much is known.
fn read_as<'t, T: FromJson<'t>>(source: Source, text: &'t str) -> Result<T> {
    let mut value = None;
    read_to(&mut value, source, text)?;
    value.ok_or_else(syntax)
}

/// Reads a whole JSON text into a place for its value.
pub(crate) fn read_to<'t, T: FromJson<'t>>(
    place: &mut Option<T>,
    source: Source,
    text: &'t str,
) -> Result<()> {
    read_by(source, text, &mut |reader| T::read_into(place, reader))
}

/// Reads a whole JSON text with a function that reads one value.
pub(crate) fn read_by<'t>(
    source: Source,
    text: &'t str,
    read: &mut impl FnMut(&mut Reader<'t>) -> Result<()>,
) -> Result<()> {
    let mut reader = Reader::new(source, text);
    read(&mut reader)?;
    let rest = text.as_bytes().after(reader.at);
    if rest.iter().copied().all(is_space) { Ok(()) } else { Err(syntax()) }
}

/// What is known of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nothing but that it is one.
    Text,
    /// U+FFFD stands for what is no UTF-8: strings say so.
    Lossy,
    /// It was read before, as a part of another: what no field keeps is not checked again.
    Json,
}

/// The reason that a text was not read.
#[derive(Debug)]
pub enum ReadError {
    /// It is no JSON.
    Syntax,
    /// A field is not what it should be.
    Field(Box<WrongField>),
}

/// A field that is not what it should be.
#[derive(Debug)]
pub struct WrongField {
    /// The thing that was found, and the one that was expected.
    pub(crate) message: String,
    /// The steps to it, the last one first.
    path: Vec<PathStep>,
}

/// One step of a path to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathStep {
    /// A member of an object.
    Key(String),
    /// An element of an array.
    Index(usize),
}

impl WrongField {
    /// Returns the steps from the whole text to the field.
    pub(crate) fn path(&self) -> impl Iterator<Item = &PathStep> {
        self.path.iter().rev()
    }
}

impl ReadError {
    #[cold]
    fn at(mut self, step: impl FnOnce() -> PathStep) -> Self {
        if let ReadError::Field(field) = &mut self {
            field.path.push(step());
        }
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Syntax => f.write_str("not JSON"),
            ReadError::Field(field) => f.write_str(&field.message),
        }
    }
}

impl std::error::Error for ReadError {}

impl serde::de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ReadError::Field(Box::new(WrongField { message: message.to_string(), path: Vec::new() }))
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
        ReadError::custom(format_args!("invalid type: {found}, expected {expected}"))
    }
}

type Result<T> = std::result::Result<T, ReadError>;

/// Returns the reason that a text is no JSON: what leads here is off the usual path.
#[cold]
fn syntax() -> ReadError {
    ReadError::Syntax
}

/// Reads values from JSON text, one after another.
pub struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The number of containers that are open.
    depth: u32,
    source: Source,
    /// The last key that had escapes.
    unescaped_key: String,
}

/// A string: most are as they stand in the text.
enum StringContent<'t> {
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
    pub(crate) fn new(source: Source, text: &'t str) -> Self {
        Reader { text, at: 0, depth: 0, source, unescaped_key: String::new() }
    }

    /// Returns a reader of the same text, at the same place.
    pub(crate) fn fork(&self) -> Self {
        Reader {
            text: self.text,
            at: self.at,
            depth: self.depth,
            source: self.source,
            unescaped_key: String::new(),
        }
    }

    /// Returns the place of the next byte.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Returns the word that stands in the value that is next, at the end of some keys, or numbers of
    /// elements: a string, or the text of another value but null. Reads no further, and moves nowhere.
    pub(crate) fn word_at(&self, keys: &[FieldKey]) -> Option<Cow<'t, str>> {
        let mut reader = self.fork();
        for key in keys {
            let (mut value, mut number) = (None, 0_usize);
            // It stops where the value begins, as it would at a mistake.
            let mut look = |is_it: bool, reader: &mut Self| match is_it {
                false => reader.skip(),
                true => {
                    value = Some(reader.fork());
                    Err(syntax())
                }
            };
            let _ = match reader.peek().ok()? {
                b'[' => reader.elements(&"an array", &mut |reader| {
                    let is_it = key.name().parse() == Ok(number);
                    number += 1;
                    look(is_it, reader)
                }),
                _ => reader.members(&"an object", &mut |name, reader| {
                    look(key.is(name.as_str().as_bytes()), reader)
                }),
            };
            reader = value?;
        }
        match reader.peek().ok()? {
            b'n' | b'{' | b'[' => None,
            b'"' => Str::from_json(&mut reader).ok().map(Str::into_text),
            _ => {
                let start = reader.at;
                reader.skip().ok()?;
                reader.since(start).ok().map(Cow::Borrowed)
            }
        }
    }

    fn is_lossy(&self) -> bool {
        self.source == Source::Lossy
    }

    /// Returns the next byte, if there is one.
    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the text from a place up to here.
    #[inline]
    pub(crate) fn since(&self, start: usize) -> Result<&'t str> {
        self.text.get(start..self.at).ok_or_else(syntax)
    }

    /// Returns the next byte that is no white space, and stays before it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<u8> {
        match self.byte() {
            Some(byte) if byte > b' ' => Ok(byte),
            _ => self.peek_after_space(),
        }
    }

    #[inline(never)]
    fn peek_after_space(&mut self) -> Result<u8> {
        while self.byte().is_some_and(is_space) {
            self.at += 1;
        }
        self.byte().ok_or_else(syntax)
    }

    /// Passes a byte, and white space before it.
    #[inline]
    fn pass(&mut self, byte: u8) -> Result<()> {
        if self.peek()? != byte {
            return Err(syntax());
        }
        self.at += 1;
        Ok(())
    }

    /// Passes a word.
    fn word(&mut self, word: &str) -> Result<()> {
        let end = word_end(self.text.as_bytes(), self.at, word.as_bytes());
        self.at = end.ok_or_else(syntax)?;
        Ok(())
    }

    /// Passes what means itself in a string, and returns the byte after it.
    #[inline]
    fn run(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().after(self.at);
        self.at += string_length(rest);
        self.byte()
    }

    /// Reads a string if it stands in the text as it is; else stays before it.
    #[inline]
    fn plain_string(&mut self) -> Option<&'t str> {
        let start = self.at + 1;
        let rest = self.text.as_bytes().get(start..)?;
        if self.byte() != Some(b'"') || self.is_lossy() {
            return None;
        }
        let length = string_length(rest);
        if rest.get(length) != Some(&b'"') {
            return None;
        }
        self.at = start + length + 1;
        self.text.get(start..start + length)
    }

    /// Reads a string from its opening quote on. As serde_json does, takes control characters
    /// and halves of surrogate pairs only `as_bytes`.
    fn string(&mut self, as_bytes: bool) -> Result<StringContent<'t>> {
        self.at += 1;
        let start = self.at;
        if self.run() == Some(b'"') && !self.is_lossy() {
            let text = self.since(start)?;
            self.at += 1;
            return Ok(StringContent::Text(text));
        }
        let unescaped = self.unescaped(start, as_bytes)?;
        let unescaped = match String::from_utf8(unescaped) {
            Ok(text) if !(self.is_lossy() && text.contains(char::REPLACEMENT_CHARACTER)) => {
                return Ok(StringContent::Unescaped(text));
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
        if as_bytes { Ok(StringContent::Other(unescaped)) } else { Err(syntax()) }
    }

    /// Reads the rest of a string that has its first backslash here.
    #[inline(never)]
    fn unescaped(&mut self, start: usize, as_bytes: bool) -> Result<Vec<u8>> {
        // An escape is longer than what it stands for.
        let rest = self.text.as_bytes().after(start);
        let mut text = Vec::with_capacity(inside_length(rest));
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
                _ => return Err(syntax()),
            }
            self.run();
        }
    }

    /// Reads an escape after its backslash.
    fn escape(&mut self, text: &mut Vec<u8>) -> Result<()> {
        let byte = self.byte().ok_or_else(syntax)?;
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
            _ => return Err(syntax()),
        });
        Ok(())
    }

    /// Reads the four digits of a UTF-16 code unit.
    fn unit(&mut self) -> Result<u16> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).ok_or_else(syntax)?;
        self.at += 4;
        digits.iter().try_fold(0, |unit, &digit| {
            let digit = char::from(digit).to_digit(16).ok_or_else(syntax)?;
            Ok(unit << 4 | digit as u16)
        })
    }

    fn number(&mut self) -> Result<Number> {
        let start = self.at;
        self.at = number_end(self.text.as_bytes(), self.at).ok_or_else(syntax)?;
        let text = self.since(start)?;
        if let Ok(number) = text.parse() {
            return Ok(Number::Unsigned(number));
        }
        if let Some(number) = text.parse().ok().filter(|&number| number != 0) {
            return Ok(Number::Signed(number));
        }
        let float = text.parse().ok().filter(|float: &f64| float.is_finite());
        float.map(Number::Float).ok_or_else(syntax)
    }

    /// Passes a value of any kind.
    pub(crate) fn skip(&mut self) -> Result<()> {
        let text = self.text.as_bytes();
        self.at = if self.source == Source::Json {
            self.peek()?;
            self.at + value_length(text.after(self.at))
        } else {
            value_end(text, self.at).ok_or_else(syntax)?
        };
        Ok(())
    }

    /// Reads the key of a member from its opening quote on.
    #[inline(never)]
    fn key(&mut self) -> Result<&str> {
        match self.string(false)? {
            StringContent::Text(text) => Ok(text),
            StringContent::Unescaped(text) => {
                self.unescaped_key = text;
                Ok(&self.unescaped_key)
            }
            StringContent::Other(_) => Err(syntax()),
        }
    }

    /// Reads an object: calls `read` with the number of the field before the value of each key of
    /// `keys`, and passes the members that have other keys. `name` is the struct's, for errors.
    /// Returns true if one of those that were passed is a string or an object with anything in it.
    ///
    /// # Errors
    ///
    /// Another value than an object, a field that comes twice, and what `read` returns.
    #[inline]
    pub fn object(
        &mut self,
        name: &'static str,
        keys: &[FieldKey],
        read: &mut impl FnMut(usize, &mut Self) -> Result<()>,
    ) -> Result<bool> {
        let (mut seen, mut next, mut passes_text) = (0_u64, 0, false);
        self.inside(b'{', &Struct(name), |reader, _| {
            let start = reader.at;
            if reader.byte() != Some(b'"') {
                return Err(syntax());
            }
            let Some(field) = reader.find_key(keys, next)? else {
                reader.pass(b':')?;
                passes_text |= reader.begins_text()?;
                return reader.skip();
            };
            if seen >> field & 1 == 1 {
                let name = keys.get(field).map_or("", |key| key.name);
                return Err(serde::de::Error::duplicate_field(name));
            }
            (seen, next) = (seen | 1 << field, field + 1);
            reader.pass(b':')?;
            read(field, reader).map_err(|error| error.at(|| reader.step_to_member(start)))
        })?;
        Ok(passes_text)
    }

    /// True if a string, an object or a list of such that is not empty is next.
    #[inline]
    fn begins_text(&mut self) -> Result<bool> {
        let first = self.peek()?;
        let next = self.text.as_bytes().get(self.at + 1);
        Ok(match first {
            b'"' => next != Some(&b'"'),
            b'{' => next != Some(&b'}'),
            b'[' => matches!(next, Some(b'"' | b'{')),
            _ => false,
        })
    }

    /// Passes the key that is next, and returns the number of its field, if it has one. Tries
    /// `next` first, as members mostly come in the order of the fields.
    #[inline]
    fn find_key(&mut self, keys: &[FieldKey], next: usize) -> Result<Option<usize>> {
        let start = self.at + 1;
        let rest = self.text.as_bytes().after(start);
        let Some(block) = rest.first_chunk() else { return self.find_spelling(keys, start) };
        let block = u8x32::new(*block);
        let (before, after) = keys.split_at(next.min(keys.len()));
        let found = after.iter().position(|key| key.begins(block)).map(|place| next + place);
        let found = found.or_else(|| before.iter().position(|key| key.begins(block)));
        if let Some(key) = found.and_then(|field| keys.get(field)) {
            self.at = start + key.name.len() + 1;
            return Ok(found);
        }
        self.find_spelling(keys, start)
    }

    /// Finds the field of a key that is spelled otherwise, has no field, or stands near the end.
    #[inline(never)]
    fn find_spelling(&mut self, keys: &[FieldKey], start: usize) -> Result<Option<usize>> {
        let rest = self.text.as_bytes().after(start);
        let length = memchr(b'"', rest).ok_or_else(syntax)?;
        let key = rest.before(length);
        let find = |key: &[u8]| keys.iter().position(|of_field| of_field.is(key));
        let found = find(key);
        if found.is_some() || string_length(key) == length {
            self.at = start + length + 1;
            return Ok(found);
        }
        Ok(find(self.key()?.as_bytes()))
    }

    /// Reads an object: calls `read` with the key of each member, before its value.
    pub(crate) fn members(
        &mut self,
        expected: &dyn Expected,
        read: &mut dyn FnMut(Str<'t>, &mut Self) -> Result<()>,
    ) -> Result<()> {
        self.inside(b'{', expected, |reader, _| {
            let start = reader.at;
            if reader.byte() != Some(b'"') {
                return Err(syntax());
            }
            let key = Str::from_json(reader)?;
            reader.pass(b':')?;
            read(key, reader).map_err(|error| error.at(|| reader.step_to_member(start)))
        })
    }

    /// Reads an array: calls `read` before each element.
    #[inline]
    pub(crate) fn elements(
        &mut self,
        expected: &dyn Expected,
        read: &mut impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.inside(b'[', expected, |reader, number| {
            read(reader).map_err(|error| error.at(|| PathStep::Index(number)))
        })
    }

    /// Reads a container: calls `read` before each thing in it, with its number.
    #[inline]
    fn inside(
        &mut self,
        opener: u8,
        expected: &dyn Expected,
        mut read: impl FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        if self.peek()? != opener {
            return Err(self.other_type(expected));
        }
        let closer = opener + 2;
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(syntax());
        }
        let mut count = 0;
        let mut next = self.peek()?;
        while next != closer {
            read(self, count)?;
            count += 1;
            next = self.peek()?;
            if next == b',' {
                self.at += 1;
                self.peek()?;
            } else if next != closer {
                return Err(syntax());
            }
        }
        self.depth -= 1;
        self.at += 1;
        Ok(())
    }

    /// Returns the step to the member whose key begins at a place.
    fn step_to_member(&self, start: usize) -> PathStep {
        let from_key = self.text.after(start);
        let key = from_key.before(value_length(from_key.as_bytes()));
        PathStep::Key(text(key).into_text().into_owned())
    }

    /// Returns the error about the value that is next, which is of another type than expected.
    #[cold]
    fn other_type(&mut self, expected: &dyn Expected) -> ReadError {
        let text;
        let found = match self.byte() {
            Some(b'n') => self.word("null").map(|()| Unexpected::Unit),
            Some(b't') => self.word("true").map(|()| Unexpected::Bool(true)),
            Some(b'f') => self.word("false").map(|()| Unexpected::Bool(false)),
            Some(b'[') => Ok(Unexpected::Seq),
            Some(b'{') => Ok(Unexpected::Map),
            Some(b'"') => match self.string(false) {
                Ok(StringContent::Text(text)) => Ok(Unexpected::Str(text)),
                Ok(StringContent::Unescaped(unescaped)) => {
                    text = unescaped;
                    Ok(Unexpected::Str(&text))
                }
                _ => Err(syntax()),
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

/// What is expected where a struct's object should be.
struct Struct(&'static str);

impl Expected for Struct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "struct {}", self.0)
    }
}

impl<'t> FromJson<'t> for Str<'t> {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self> {
        if reader.peek()? != b'"' {
            return Err(reader.other_type(&"a string"));
        }
        Ok(match reader.string(true)? {
            StringContent::Text(text) => Str::from(text),
            StringContent::Unescaped(text) => Str::from(text),
            StringContent::Other(bytes) => Str::from_bytes(&bytes),
        })
    }

    #[inline]
    fn read_into(place: &mut Option<Self>, reader: &mut Reader<'t>) -> Result<()> {
        reader.peek()?;
        match reader.plain_string() {
            Some(text) => *place = Some(Str::from(text)),
            None => *place = Some(Self::from_json(reader)?),
        }
        Ok(())
    }
}

impl<'t> FromJson<'t> for String {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self> {
        if reader.peek()? != b'"' {
            return Err(reader.other_type(&"a string"));
        }
        match reader.string(false)? {
            StringContent::Text(text) => Ok(text.to_owned()),
            StringContent::Unescaped(text) => Ok(text),
            StringContent::Other(_) => Err(syntax()),
        }
    }
}

impl<'t> FromJson<'t> for bool {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self> {
        match reader.peek()? {
            b't' => reader.word("true").map(|()| true),
            b'f' => reader.word("false").map(|()| false),
            _ => Err(reader.other_type(&"a boolean")),
        }
    }
}

macro_rules! from_number {
    ($($Number:ident)+) => {$(
        impl<'t> FromJson<'t> for $Number {
            fn from_json(reader: &mut Reader<'t>) -> Result<Self> {
                if !matches!(reader.peek()?, b'-' | b'0'..=b'9') {
                    return Err(reader.other_type(&stringify!($Number)));
                }
                match reader.number()? {
                    Number::Unsigned(number) => Self::deserialize(number.into_deserializer()),
                    Number::Signed(number) => Self::deserialize(number.into_deserializer()),
                    Number::Float(number) => Self::deserialize(number.into_deserializer()),
                }
            }
        }
    )+};
}

from_number!(u64 i64 u16 i32);

/// The text of a value, as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawJson<'t>(&'t str);

impl<'t> RawJson<'t> {
    /// Returns the text.
    pub(crate) fn get(self) -> &'t str {
        self.0
    }
}

impl<'t> FromJson<'t> for RawJson<'t> {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self> {
        reader.peek()?;
        let start = reader.at;
        reader.skip()?;
        let text = reader.since(start)?;
        if reader.is_lossy() && text.contains(char::REPLACEMENT_CHARACTER) {
            return Err(syntax());
        }
        Ok(RawJson(text))
    }
}

/// Any value, which is passed.
impl<'t> FromJson<'t> for () {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self> {
        reader.skip()
    }
}

impl<'t, T: FromJson<'t>> FromJson<'t> for Option<T> {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self> {
        match reader.peek()? {
            b'n' => reader.word("null").map(|()| None),
            _ => T::from_json(reader).map(Some),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'t>) -> Result<()> {
        match reader.peek()? {
            b'n' => {
                *self = None;
                reader.word("null")
            }
            _ => T::read_into(self, reader),
        }
    }
}

impl<'t, T: FromJson<'t>> FromJson<'t> for Box<T> {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self> {
        T::from_json(reader).map(Box::new)
    }
}

impl<'t, T: FromJson<'t>> FromJson<'t> for Vec<T> {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self> {
        let mut all = Vec::new();
        reader.elements(&"a sequence", &mut |reader| {
            // Most lists have one element.
            all.reserve_exact(usize::from(all.is_empty()));
            T::push_onto(&mut all, reader)
        })?;
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    crate::format::payload! {
        /// A bit of everything that payloads hold, as serde reads it too.
        #[derive(Debug, serde::Deserialize)]
        #[serde(bound(deserialize = "'de: 'a"))]
        struct Everything<'a> {
            text: Option<Str<'a>>,
            #[serde(alias = "other_name")]
            name: Option<String> = "name" | "other_name",
            raw: Option<RawJson<'a>>,
            number: Option<u64>,
            signed: Option<i64>,
            flag: Option<bool>,
            list: Option<Vec<Everything<'a>>>,
            inner: Option<Box<Everything<'a>>>,
        }
    }

    impl<'de: 'a, 'a> Deserialize<'de> for RawJson<'a> {
        fn deserialize<D: serde::Deserializer<'de>>(
            from: D,
        ) -> std::result::Result<Self, D::Error> {
            <&RawValue>::deserialize(from).map(|value| RawJson(value.get()))
        }
    }

    /// Holds what is read of a text to what serde_json makes of it: the value, or its message
    /// and the field. What is JSON is read the same when it is read again.
    fn check<'t, T: FromJson<'t> + Deserialize<'t> + fmt::Debug>(text: &'t str) {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let expected = T::deserialize(&mut deserializer);
        let expected = expected.and_then(|value| deserializer.end().map(|()| value));
        match (read::<T>(text), expected) {
            // serde_json takes an array for a struct.
            (Err(ReadError::Field(field)), _)
                if field.message.starts_with("invalid type: sequence, expected struct") => {}
            (Ok(value), Ok(expected)) => {
                assert_eq!(format!("{value:?}"), format!("{expected:?}"), "{text}");
            }
            (Err(ReadError::Syntax), Err(expected)) => {
                assert!(!expected.is_data(), "{expected}: {text}")
            }
            (Err(ReadError::Field(field)), Err(expected)) => {
                assert!(expected.is_data(), "{}, {expected}: {text}", field.message);
                let expected = expected.to_string();
                let expected = expected.rsplit_once(" at line ").map_or("", |(before, _)| before);
                assert_eq!(field.message, expected, "{text}");
            }
            (value, expected) => panic!("{value:?}, not {expected:?}: {text}"),
        }
        if serde_json::from_str::<RawJson<'_>>(text).is_ok() {
            let (first, again) = (read::<T>(text), read_again::<T>(text));
            assert_eq!(format!("{again:?}"), format!("{first:?}"), "{text}");
        }
    }

    const TEXTS: &[&str] = &[
        r#"{"text":"a\n\u00e9\ud83d\ude00","name":"b","raw":{"a":[1, 2.5e-3,"\"]"]},"number":18446744073709551615}"#,
        r#" { "signed" : -9223372036854775808 , "flag" : true , "list" : [ { } , { "text" : null } ] } "#,
        r#"{"list":[],"inner":{"inner":{"raw":"\ud83d"}},"unknown":[[],{},-0.0,1E5]}"#,
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
            check::<RawJson<'_>>(text);
            check::<Str<'_>>(text);
        }
        for depth in [63, 64, 65, 126, 127, 128, 129, 200] {
            let deep = "[".repeat(depth) + &"]".repeat(depth);
            check::<RawJson<'_>>(&deep);
            let mixed = "[{\"a\":".repeat(depth) + "1" + &"}]".repeat(depth);
            check::<RawJson<'_>>(&mixed);
            check::<RawJson<'_>>(&mixed.replacen("}]", "]}", 1));
        }
    }

    #[test]
    fn a_fault_names_the_field() {
        let read = read::<Everything<'_>>(r#"{"list":[{},{"inner":{"te\u0078t":5}}]}"#);
        let Err(ReadError::Field(field)) = read else { panic!("{read:?}") };
        let key = |key: &str| PathStep::Key(key.to_owned());
        let path = [key("list"), PathStep::Index(1), key("inner"), key("text")];
        assert!(field.path().eq(&path), "{field:?}");
    }

    fn read_lossy<'t, T: FromJson<'t>>(text: &'t str) -> Result<T> {
        read_as(Source::Lossy, text)
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
            check::<RawJson<'_>>(&changed);
        }
    }
}
