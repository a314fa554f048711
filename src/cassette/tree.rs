//! JSON and YAML as one stream of nodes, each read when it is asked for.

use crate::cassette::source::{Broken, Why};
use crate::json;

/// The deepest nesting.
pub(super) const MAX_DEPTH: usize = json::MAX_DEPTH;

/// A node of a tree. The keys of a map are nodes like its values, each right before its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TreeNode {
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
    fn next(&mut self) -> Result<Option<TreeNode>, Broken>;

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
pub(super) enum TreeValue {
    Text(Vec<u8>),
    Bare(String),
    List(Vec<TreeValue>),
    /// Members, in order.
    Map(Vec<(Vec<u8>, TreeValue)>),
}

impl TreeValue {
    /// Reads the value that begins with a node.
    pub(super) fn read(first: TreeNode, nodes: &mut dyn Nodes) -> Result<Self, Broken> {
        Ok(match first {
            TreeNode::Text(text) => TreeValue::Text(text),
            // An end that ends nothing does not come.
            TreeNode::End => TreeValue::Bare("null".into()),
            TreeNode::Bare(text) => TreeValue::Bare(text),
            TreeNode::List => {
                let mut list = Vec::new();
                loop {
                    match within(nodes)? {
                        TreeNode::End => break TreeValue::List(list),
                        node => list.push(TreeValue::read(node, nodes)?),
                    }
                }
            }
            TreeNode::Map => {
                let mut members = Vec::new();
                loop {
                    let key = match within(nodes)? {
                        TreeNode::End => break TreeValue::Map(members),
                        node => key(node, nodes)?,
                    };
                    let node = within(nodes)?;
                    members.push((key, TreeValue::read(node, nodes)?));
                }
            }
        })
    }

    /// Returns the value at a place, members of members with points between their names; of a key
    /// that comes twice, the last one. What a map takes over with `<<` is its own; a list stands for
    /// its first element that has the member.
    pub(super) fn at(&self, place: &str) -> Option<&TreeValue> {
        place.split('.').try_fold(self, TreeValue::member)
    }

    fn member<'v>(&'v self, name: &str) -> Option<&'v TreeValue> {
        let members = match self {
            TreeValue::Map(members) => members,
            TreeValue::List(list) => return list.iter().find_map(|value| value.member(name)),
            TreeValue::Text(_) | TreeValue::Bare(_) => return None,
        };
        let own = |name: &str| {
            let found = members.iter().rev().find(|(key, _)| key == name.as_bytes());
            found.map(|(_, value)| value)
        };
        own(name).or_else(|| own("<<")?.member(name))
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, TreeValue::Bare(text) if text == "null")
    }

    /// Returns text, and a number or boolean as its text.
    pub(super) fn text(&self) -> Option<&[u8]> {
        match self {
            TreeValue::Text(text) => Some(text),
            TreeValue::Bare(text) if !self.is_null() => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// Writes the value as JSON, with a space after commas and colons.
    pub(super) fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            TreeValue::Text(text) => quote(text, out),
            TreeValue::Bare(text) => out.extend_from_slice(text.as_bytes()),
            TreeValue::List(list) => {
                out.push(b'[');
                for (at, value) in list.iter().enumerate() {
                    out.extend_from_slice(if at == 0 { b"" } else { b", " });
                    value.write_json(out);
                }
                out.push(b']');
            }
            TreeValue::Map(members) => {
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
pub(super) fn within(nodes: &mut dyn Nodes) -> Result<TreeNode, Broken> {
    match nodes.next()? {
        Some(node) => Ok(node),
        None => Err(Broken::new(Why::Cut, nodes.offset(), "it breaks off")),
    }
}

/// Returns the key that begins with a node. One that is no scalar has no name.
pub(super) fn key(node: TreeNode, nodes: &mut dyn Nodes) -> Result<Vec<u8>, Broken> {
    match TreeValue::read(node, nodes)? {
        TreeValue::Text(text) => Ok(text),
        TreeValue::Bare(text) => Ok(text.into_bytes()),
        TreeValue::List(_) | TreeValue::Map(_) => Ok(Vec::new()),
    }
}

/// Passes over the value that begins with a node.
pub(super) fn skip(first: &TreeNode, nodes: &mut dyn Nodes) -> Result<(), Broken> {
    let mut depth = usize::from(matches!(first, TreeNode::Map | TreeNode::List));
    while depth > 0 {
        match within(nodes)? {
            TreeNode::Map | TreeNode::List => depth += 1,
            TreeNode::End => depth -= 1,
            TreeNode::Text(_) | TreeNode::Bare(_) => {}
        }
    }
    Ok(())
}
