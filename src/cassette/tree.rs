//! JSON and YAML as one stream of nodes, each read when it is asked for.

use crate::cassette::source::{Broken, Why};
use crate::json;

/// The deepest nesting.
pub(super) const MAX_DEPTH: usize = json::MAX_DEPTH;

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

pub(super) fn too_deep(offset: u64) -> Broken {
    Broken::new(Why::Limit, offset, format!("it is nested deeper than {MAX_DEPTH} levels"))
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
