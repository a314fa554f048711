//! JSON and YAML as one stream of nodes, each read when it is asked for.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use saphyr_parser::{BufferedInput, Event, Parser, ScalarStyle, ScanError, Tag};

use crate::cassette::source::{Broken, Source, Why};
use crate::json;
use crate::json::PlainScalar;

/// The deepest nesting.
const MAX_DEPTH: usize = json::MAX_DEPTH;

/// The most bytes that the aliases of a file may stand for, and that its anchors may keep; a node
/// counts as [`NODE`].
const MAX_ALIASED: usize = 64 << 20;

/// What a node counts as, in bytes.
const NODE: usize = 64;

/// A node of a tree. The keys of a map are nodes like its values, each right before its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// A map begins.
    Map,
    /// A list begins.
    List,
    /// The map or list that began last ends.
    End,
    /// Text, or bytes that are none.
    Text(Vec<u8>),
    /// A number, a boolean or null, as JSON spells it.
    Bare(String),
}

/// A stream of nodes.
pub(super) trait Nodes {
    /// Returns the next node, and `None` after the last.
    fn next(&mut self) -> Result<Option<Node>, Broken>;

    /// The place up to which the file was read, in bytes.
    fn offset(&self) -> u64;
}

/// The nodes of JSON: of one value.
pub(super) struct JsonNodes<'r> {
    source: Source<'r>,
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
    pub(super) fn new(source: Source<'r>) -> Self {
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

    fn begin(&mut self, is_map: bool) -> Result<Node, Broken> {
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(self.source.offset()));
        }
        self.source.skip(1);
        self.open.push(is_map);
        self.expected = if is_map { Expected::FirstKey } else { Expected::First };
        Ok(if is_map { Node::Map } else { Node::List })
    }

    fn end(&mut self, is_map: bool) -> Result<Node, Broken> {
        if self.open.pop() != Some(is_map) {
            return Err(self.wrong("a bracket closes what another one opened"));
        }
        self.source.skip(1);
        self.expected = Expected::Next;
        Ok(Node::End)
    }

    /// Reads a string, from its opening quote.
    fn string(&mut self) -> Result<Vec<u8>, Broken> {
        self.source.skip(1);
        let mut text = Vec::new();
        // The first half of a character that has two.
        let mut high = None;
        loop {
            let chunk = self.source.chunk()?;
            if chunk.is_empty() {
                return Err(self.cut());
            }
            let plain = memchr::memchr2(b'"', b'\\', chunk).unwrap_or(chunk.len());
            if plain > 0 {
                end_half(&mut high, &mut text);
                text.extend_from_slice(chunk.get(..plain).unwrap_or_default());
            }
            let sign = chunk.get(plain).copied();
            self.source.skip(plain + usize::from(sign.is_some()));
            match sign {
                None => {}
                Some(b'"') => {
                    end_half(&mut high, &mut text);
                    return Ok(text);
                }
                Some(_) => self.escape(&mut high, &mut text)?,
            }
        }
    }

    /// Reads an escape, after its backslash.
    fn escape(&mut self, high: &mut Option<u16>, text: &mut Vec<u8>) -> Result<(), Broken> {
        let Some(letter) = self.source.peek()? else { return Err(self.cut()) };
        let plain = match letter {
            b'u' => {
                self.source.skip(1);
                return self.code_unit(high, text);
            }
            b'"' | b'\\' | b'/' => letter,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            _ => return Err(self.wrong("an escape that JSON does not have")),
        };
        self.source.skip(1);
        end_half(high, text);
        text.push(plain);
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
            let both = char::decode_utf16([first, unit]).find_map(Result::ok).unwrap_or_default();
            text.extend_from_slice(both.encode_utf8(&mut [0; 4]).as_bytes());
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

fn too_deep(offset: u64) -> Broken {
    Broken::new(Why::Limit, offset, format!("it is nested deeper than {MAX_DEPTH} levels"))
}

impl Nodes for JsonNodes<'_> {
    fn next(&mut self) -> Result<Option<Node>, Broken> {
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
                (Expected::Value | Expected::First, b'"') => Node::Text(self.string()?),
                (Expected::Value | Expected::First, _) => Node::Bare(self.bare()?),
                (Expected::FirstKey | Expected::Key, b'"') => {
                    let key = self.string()?;
                    self.expected = Expected::Colon;
                    return Ok(Some(Node::Text(key)));
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

/// The characters of a file for YAML's parser, which can't be told why they end.
struct Chars<'r>(Rc<RefCell<Reading<'r>>>);

struct Reading<'r> {
    source: Source<'r>,
    broken: Option<Broken>,
    /// The number of characters that were read.
    chars: u64,
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let Reading { source, broken, chars } = &mut *self.0.borrow_mut();
        *chars += 1;
        let read = source.peek().and_then(|byte| match byte {
            None => Ok(None),
            Some(byte @ ..0x80) => {
                source.skip(1);
                Ok(Some(char::from(byte)))
            }
            Some(byte) => long_char(source, byte).map(Some),
        });
        read.unwrap_or_else(|error| {
            *broken = Some(error);
            None
        })
    }
}

/// Reads a character that begins with this byte.
fn long_char(source: &mut Source<'_>, first: u8) -> Result<char, Broken> {
    let offset = source.offset();
    let length = (first.leading_ones() as usize).clamp(2, 4);
    let bytes = source.take(length)?;
    let text = str::from_utf8(&bytes).ok().and_then(|text| text.chars().next());
    text.ok_or_else(|| Broken::new(Why::Malformed, offset, "it is not UTF-8"))
}

/// The nodes of YAML: of one document after another. An alias is the nodes that it stands for.
pub(super) struct YamlNodes<'r> {
    reading: Rc<RefCell<Reading<'r>>>,
    parser: Parser<'r, BufferedInput<Chars<'r>>>,
    depth: usize,
    anchors: HashMap<usize, Rc<[Kept]>>,
    /// The anchors whose nodes have not ended: their numbers, the depth they are at, their nodes.
    kept: Vec<(usize, usize, Vec<Kept>)>,
    /// The nodes of aliases that are being read, and the place of the next.
    aliased: Vec<(Rc<[Kept]>, usize)>,
    /// What aliases stand for and anchors keep, in bytes.
    size: usize,
}

/// A node of an anchor.
#[derive(Clone)]
enum Kept {
    Node(Node),
    /// Those of another one.
    Alias(usize),
}

impl<'r> YamlNodes<'r> {
    pub(super) fn new(source: Source<'r>) -> Self {
        let reading = Rc::new(RefCell::new(Reading { source, broken: None, chars: 0 }));
        let parser = Parser::new_from_iter(Chars(Rc::clone(&reading)));
        let (anchors, kept, aliased) = Default::default();
        YamlNodes { reading, parser, depth: 0, anchors, kept, aliased, size: 0 }
    }

    fn wrong(&self, why: Why, message: impl Into<String>) -> Broken {
        Broken::new(why, self.offset(), message)
    }

    /// Returns why the parser ended early.
    fn failed(&self, error: &ScanError) -> Broken {
        let mut reading = self.reading.borrow_mut();
        if let Some(broken) = reading.broken.take() {
            return broken;
        }
        let (mark, read) = (error.marker().index() as u64, reading.source.offset());
        // What the parser looks at ahead of its place are a few characters.
        let offset = read.saturating_sub(reading.chars.saturating_sub(mark));
        let is_end = reading.source.peek().is_ok_and(|byte| byte.is_none());
        let message = format!("it is no YAML: {}", error.info());
        let why = if is_end { Why::Cut } else { Why::Malformed };
        Broken::new(why, offset, message)
    }

    /// Counts what is kept or repeated.
    fn count(&mut self, node: &Node) -> Result<(), Broken> {
        self.size += NODE + if let Node::Text(text) = node { text.len() } else { 0 };
        if self.size > MAX_ALIASED {
            let message =
                format!("its anchors and aliases stand for more than {MAX_ALIASED} bytes");
            return Err(self.wrong(Why::Limit, message));
        }
        Ok(())
    }

    /// Returns the next node of an alias.
    fn repeated(&mut self) -> Result<Option<Node>, Broken> {
        while let Some((nodes, at)) = self.aliased.last_mut() {
            let next = nodes.get(*at).cloned();
            *at += 1;
            match next {
                None => drop(self.aliased.pop()),
                Some(Kept::Alias(anchor)) => self.repeat(anchor)?,
                Some(Kept::Node(node)) => {
                    self.count(&node)?;
                    return Ok(Some(node));
                }
            }
        }
        Ok(None)
    }

    fn repeat(&mut self, anchor: usize) -> Result<(), Broken> {
        let Some(nodes) = self.anchors.get(&anchor) else {
            return Err(self.wrong(Why::Malformed, "an alias is within its own anchor"));
        };
        if self.aliased.len() >= MAX_DEPTH {
            return Err(too_deep(self.offset()));
        }
        self.aliased.push((Rc::clone(nodes), 0));
        Ok(())
    }

    /// Keeps a node for the anchors that it is a part of, and those that end with it.
    fn keep(&mut self, anchor: usize, node: &Node) -> Result<(), Broken> {
        if anchor != 0 {
            self.kept.push((anchor, self.depth, Vec::new()));
        }
        for at in 0..self.kept.len() {
            self.count(node)?;
            if let Some((_, _, nodes)) = self.kept.get_mut(at) {
                nodes.push(Kept::Node(node.clone()));
            }
        }
        Ok(())
    }

    /// Ends the anchors whose nodes are whole.
    fn end_anchors(&mut self) {
        while let Some((anchor, _, nodes)) = self.kept.pop_if(|(_, depth, _)| *depth == self.depth)
        {
            self.anchors.insert(anchor, nodes.into());
        }
    }

    fn begin(&mut self, anchor: usize, node: Node) -> Result<Node, Broken> {
        self.keep(anchor, &node)?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep(self.offset()));
        }
        Ok(node)
    }
}

impl Nodes for YamlNodes<'_> {
    fn next(&mut self) -> Result<Option<Node>, Broken> {
        loop {
            if let Some(node) = self.repeated()? {
                return Ok(Some(node));
            }
            let event = match self.parser.next_event() {
                None => return Ok(None),
                Some(Ok((event, _))) => event,
                Some(Err(error)) => return Err(self.failed(&error)),
            };
            let node = match event {
                Event::StreamEnd => {
                    let broken = self.reading.borrow_mut().broken.take();
                    return broken.map_or(Ok(None), Err);
                }
                Event::MappingStart(anchor, _) => self.begin(anchor, Node::Map)?,
                Event::SequenceStart(anchor, _) => self.begin(anchor, Node::List)?,
                Event::MappingEnd | Event::SequenceEnd => {
                    self.keep(0, &Node::End)?;
                    self.depth = self.depth.saturating_sub(1);
                    self.end_anchors();
                    Node::End
                }
                Event::Scalar(text, style, anchor, tag) => {
                    let node = scalar(text, style, tag.as_deref());
                    self.keep(anchor, &node)?;
                    self.end_anchors();
                    node
                }
                Event::Alias(anchor) => {
                    self.repeat(anchor)?;
                    for (_, _, kept) in &mut self.kept {
                        kept.push(Kept::Alias(anchor));
                    }
                    self.end_anchors();
                    continue;
                }
                Event::Nothing
                | Event::StreamStart
                | Event::DocumentStart(_)
                | Event::DocumentEnd => continue,
            };
            return Ok(Some(node));
        }
    }

    fn offset(&self) -> u64 {
        self.reading.borrow().source.offset()
    }
}

/// Returns what a scalar means: by its tag, or in the core schema of YAML 1.2.
fn scalar(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>) -> Node {
    let word = tag.map(|tag| tag.suffix.as_str());
    if word == Some("binary")
        && let Some(bytes) = unpacked(&text)
    {
        return Node::Text(bytes);
    }
    let is_text = style != ScalarStyle::Plain || matches!(word, Some("str" | "" | "binary"));
    match is_text {
        false if let PlainScalar::Json(json) = json::plain_scalar(&text) => Node::Bare(json),
        _ => Node::Text(text.into_owned().into_bytes()),
    }
}

/// Returns the bytes of base64 that may stand in lines.
pub(super) fn unpacked(text: &str) -> Option<Vec<u8>> {
    let packed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    json::decode_base64(&packed)
}

/// A part of a tree in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(Vec<u8>),
    Bare(String),
    List(Vec<Value>),
    /// Members, in order.
    Map(Vec<(Vec<u8>, Value)>),
}

impl Value {
    /// Reads the value that begins with a node.
    pub(super) fn read(first: Node, nodes: &mut dyn Nodes) -> Result<Self, Broken> {
        Ok(match first {
            Node::Text(text) => Value::Text(text),
            // An end that ends nothing does not come.
            Node::End => Value::Bare("null".into()),
            Node::Bare(text) => Value::Bare(text),
            Node::List => {
                let mut list = Vec::new();
                loop {
                    match within(nodes)? {
                        Node::End => break Value::List(list),
                        node => list.push(Value::read(node, nodes)?),
                    }
                }
            }
            Node::Map => {
                let mut members = Vec::new();
                loop {
                    let key = match within(nodes)? {
                        Node::End => break Value::Map(members),
                        node => key(node, nodes)?,
                    };
                    let node = within(nodes)?;
                    members.push((key, Value::read(node, nodes)?));
                }
            }
        })
    }

    /// Returns the value at a place, members of members with points between their names; of a key
    /// that comes twice, the last one. What a map takes over with `<<` is its own; a list stands for
    /// its first element that has the member.
    pub(super) fn at(&self, place: &str) -> Option<&Value> {
        place.split('.').try_fold(self, Value::member)
    }

    fn member<'v>(&'v self, name: &str) -> Option<&'v Value> {
        let members = match self {
            Value::Map(members) => members,
            Value::List(list) => return list.iter().find_map(|value| value.member(name)),
            Value::Text(_) | Value::Bare(_) => return None,
        };
        let own = |name: &str| {
            let found = members.iter().rev().find(|(key, _)| key == name.as_bytes());
            found.map(|(_, value)| value)
        };
        own(name).or_else(|| own("<<")?.member(name))
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Value::Bare(text) if text == "null")
    }

    /// Returns text, and a number or boolean as its text.
    pub(super) fn text(&self) -> Option<&[u8]> {
        match self {
            Value::Text(text) => Some(text),
            Value::Bare(text) if !self.is_null() => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// Writes the value as JSON, with a space after commas and colons.
    pub(super) fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Value::Text(text) => quote(text, out),
            Value::Bare(text) => out.extend_from_slice(text.as_bytes()),
            Value::List(list) => {
                out.push(b'[');
                for (at, value) in list.iter().enumerate() {
                    out.extend_from_slice(if at == 0 { b"" } else { b", " });
                    value.write_json(out);
                }
                out.push(b']');
            }
            Value::Map(members) => {
                out.push(b'{');
                for (at, (key, value)) in members.iter().enumerate() {
                    out.extend_from_slice(if at == 0 { b"" } else { b", " });
                    quote(key, out);
                    out.extend_from_slice(b": ");
                    value.write_json(out);
                }
                out.push(b'}');
            }
        }
    }
}

fn quote(text: &[u8], out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(out, &String::from_utf8_lossy(text));
}

/// Returns the next node of a map or list that is open.
fn within(nodes: &mut dyn Nodes) -> Result<Node, Broken> {
    match nodes.next()? {
        Some(node) => Ok(node),
        None => Err(Broken::new(Why::Cut, nodes.offset(), "it breaks off")),
    }
}

/// Returns the key that begins with a node. One that is no scalar has no name.
pub(super) fn key(node: Node, nodes: &mut dyn Nodes) -> Result<Vec<u8>, Broken> {
    match Value::read(node, nodes)? {
        Value::Text(text) => Ok(text),
        Value::Bare(text) => Ok(text.into_bytes()),
        Value::List(_) | Value::Map(_) => Ok(Vec::new()),
    }
}

/// Passes over the value that begins with a node.
pub(super) fn skip(first: &Node, nodes: &mut dyn Nodes) -> Result<(), Broken> {
    let mut depth = usize::from(matches!(first, Node::Map | Node::List));
    while depth > 0 {
        match within(nodes)? {
            Node::Map | Node::List => depth += 1,
            Node::End => depth -= 1,
            Node::Text(_) | Node::Bare(_) => {}
        }
    }
    Ok(())
}
