//! The nodes of JSON.

use crate::cassette::source::{BlockReader, Broken, Why};
use crate::cassette::tree::{MAX_DEPTH, Nodes, TreeNode, too_deep};
use crate::json;

/// The nodes of JSON: of one value.
pub(super) struct JsonNodes<'r> {
    source: BlockReader<'r>,
    /// What is open; true for a map.
    open: Vec<bool>,
    expected: Expected,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Value,
    /// A value or the end of a list.
    First,
    /// A key or the end of a map.
    FirstKey,
    Key,
    Colon,
    /// What stands after a value.
    Next,
}

impl<'r> JsonNodes<'r> {
    pub(super) fn new(source: BlockReader<'r>) -> Self {
        JsonNodes { source, open: Vec::new(), expected: Expected::Value }
    }

    /// Returns the next byte that is no white space.
    fn byte(&mut self) -> Result<Option<u8>, Broken> {
        loop {
            let chunk = self.source.chunk()?;
            let blank = chunk.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let byte = chunk.get(blank).copied();
            let is_empty = chunk.is_empty();
            self.source.skip(blank);
            if byte.is_some() || is_empty {
                return Ok(byte);
            }
        }
    }

    fn wrong(&self, what: &str) -> Broken {
        Broken::new(Why::Malformed, self.source.offset(), format!("it is no JSON: {what}"))
    }

    fn cut(&self) -> Broken {
        Broken::new(Why::Cut, self.source.offset(), "it breaks off: the JSON is not whole")
    }

    fn begin(&mut self, is_map: bool) -> Result<TreeNode, Broken> {
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(self.source.offset()));
        }
        self.source.skip(1);
        self.open.push(is_map);
        self.expected = if is_map { Expected::FirstKey } else { Expected::First };
        Ok(if is_map { TreeNode::Map } else { TreeNode::List })
    }

    fn end(&mut self, is_map: bool) -> Result<TreeNode, Broken> {
        if self.open.pop() != Some(is_map) {
            return Err(self.wrong("a bracket closes what another one opened"));
        }
        self.source.skip(1);
        self.expected = Expected::Next;
        Ok(TreeNode::End)
    }

    /// Reads a string, from its opening quote.
    fn string(&mut self) -> Result<Vec<u8>, Broken> {
        self.source.skip(1);
        let mut text = Vec::new();
        // The first half of a character that has two.
        let mut high = None;
        loop {
            let chunk = self.source.chunk()?;
            if high.is_some() && chunk.first() != Some(&b'\\') {
                end_half(&mut high, &mut text);
            }
            let read = if high.is_some() { 0 } else { json::unescape(chunk, &mut text) };
            let sign = chunk.get(read).copied();
            let is_empty = chunk.is_empty();
            self.source.skip(read + usize::from(sign.is_some()));
            match sign {
                None if is_empty => return Err(self.cut()),
                None => {}
                Some(b'"') => return Ok(text),
                Some(b'\\') => self.escape(&mut high, &mut text)?,
                Some(control) => text.push(control),
            }
        }
    }

    /// Reads an escape, after its backslash.
    fn escape(&mut self, high: &mut Option<u16>, text: &mut Vec<u8>) -> Result<(), Broken> {
        let Some(letter) = self.source.peek()? else { return Err(self.cut()) };
        if letter == b'u' {
            self.source.skip(1);
            return self.code_unit(high, text);
        }
        let Some(byte) = json::escaped(letter) else {
            return Err(self.wrong("an escape that JSON does not have"));
        };
        self.source.skip(1);
        end_half(high, text);
        text.push(byte);
        Ok(())
    }

    fn code_unit(&mut self, high: &mut Option<u16>, text: &mut Vec<u8>) -> Result<(), Broken> {
        let digits = self.source.take(4)?;
        if digits.len() < 4 {
            return Err(self.cut());
        }
        let unit =
            str::from_utf8(&digits).ok().and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let Some(unit) = unit else { return Err(self.wrong("an escape without its four digits")) };
        if let (Some(first), 0xdc00..=0xdfff) = (*high, unit) {
            text.extend_from_slice(String::from_utf16_lossy(&[first, unit]).as_bytes());
            *high = None;
            return Ok(());
        }
        end_half(high, text);
        match unit {
            0xd800..=0xdbff => *high = Some(unit),
            _ => push_unit(unit, text),
        }
        Ok(())
    }

    /// Reads a number or a name.
    fn bare(&mut self) -> Result<String, Broken> {
        let mut text = String::new();
        loop {
            let chunk = self.source.chunk()?;
            let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            let length = chunk.iter().take_while(is_part).count();
            text.extend(chunk.iter().take(length).map(|byte| char::from(*byte)));
            let is_over = length < chunk.len() || chunk.is_empty();
            self.source.skip(length);
            if is_over || text.len() > 1024 {
                break;
            }
        }
        let is_end = self.source.peek()?.is_none();
        match json::is_json(&text) {
            true if is_end && !self.open.is_empty() => Err(self.cut()),
            true => Ok(text),
            false if is_end => Err(self.cut()),
            false => Err(self.wrong("a value that JSON does not have")),
        }
    }
}

/// Appends half a character as it stands, as what reads the bytes takes it.
fn end_half(high: &mut Option<u16>, text: &mut Vec<u8>) {
    if let Some(unit) = high.take() {
        push_unit(unit, text);
    }
}

/// Appends a code unit of UTF-16 as UTF-8; half a character in three bytes like any other.
fn push_unit(unit: u16, text: &mut Vec<u8>) {
    match char::from_u32(unit.into()) {
        Some(c) => text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        None => {
            let [first, last] = unit.to_be_bytes();
            let middle = 0x80 | (first & 0x0f) << 2 | last >> 6;
            text.extend_from_slice(&[0xe0 | first >> 4, middle, 0x80 | last & 0x3f]);
        }
    }
}

impl Nodes for JsonNodes<'_> {
    fn next(&mut self) -> Result<Option<TreeNode>, Broken> {
        loop {
            let Some(byte) = self.byte()? else {
                let is_whole = self.open.is_empty() && self.expected == Expected::Next;
                return if is_whole { Ok(None) } else { Err(self.cut()) };
            };
            let is_in_map = self.open.last().copied();
            let node = match (self.expected, byte) {
                (Expected::Value | Expected::First, b'{') => return self.begin(true).map(Some),
                (Expected::Value | Expected::First, b'[') => return self.begin(false).map(Some),
                (Expected::First, b']') => return self.end(false).map(Some),
                (Expected::FirstKey, b'}') => return self.end(true).map(Some),
                (Expected::Value | Expected::First, b'"') => TreeNode::Text(self.string()?),
                (Expected::Value | Expected::First, _) => TreeNode::Bare(self.bare()?),
                (Expected::FirstKey | Expected::Key, b'"') => {
                    let key = self.string()?;
                    self.expected = Expected::Colon;
                    return Ok(Some(TreeNode::Text(key)));
                }
                (Expected::FirstKey | Expected::Key, _) => {
                    return Err(self.wrong("a key that is no text"));
                }
                (Expected::Colon, b':') => {
                    self.source.skip(1);
                    self.expected = Expected::Value;
                    continue;
                }
                (Expected::Colon, _) => return Err(self.wrong("a key without its colon")),
                (Expected::Next, b',') if is_in_map.is_some() => {
                    self.source.skip(1);
                    let is_map = is_in_map == Some(true);
                    self.expected = if is_map { Expected::Key } else { Expected::Value };
                    continue;
                }
                (Expected::Next, b'}') if is_in_map.is_some() => return self.end(true).map(Some),
                (Expected::Next, b']') if is_in_map.is_some() => return self.end(false).map(Some),
                (Expected::Next, _) if is_in_map.is_none() => {
                    return Err(self.wrong("something follows its one value"));
                }
                (Expected::Next, _) => return Err(self.wrong("a comma is missing")),
            };
            self.expected = Expected::Next;
            return Ok(Some(node));
        }
    }

    fn offset(&self) -> u64 {
        self.source.offset()
    }
}
