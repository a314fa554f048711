//! JSON as it is written: members in their order, also those that come twice, and
//! every leaf by its spelling.

use std::fmt;

/// A JSON value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Members: the key with its quotes, and the value.
    Object(Vec<(String, Value)>),
    Array(Vec<Value>),
    /// A text with its quotes, a number or a word; also what is none of these, once
    /// it was changed.
    Leaf(String),
}

impl Value {
    /// Reads a whole text; nothing if it isn't JSON.
    pub(super) fn read(text: &str) -> Option<Value> {
        let mut rest = text;
        let value = value(&mut rest, 0)?;
        rest.trim_start().is_empty().then_some(value)
    }

    /// Returns a text as a value.
    pub(super) fn text(text: &str) -> Value {
        Value::Leaf(serde_json::Value::from(text).to_string())
    }

    /// Returns the text that this value is, without its escapes.
    pub(super) fn as_text(&self) -> Option<String> {
        let Value::Leaf(leaf) = self else { return None };
        serde_json::from_str(leaf).ok()
    }

    /// Returns the number of values that it holds, itself among them.
    pub(super) fn size(&self) -> usize {
        1 + match self {
            Value::Object(members) => members.iter().map(|(_, value)| value.size()).sum(),
            Value::Array(elements) => elements.iter().map(Value::size).sum::<usize>(),
            Value::Leaf(_) => 0,
        }
    }

    /// Returns the value of this number, counted from the outside in.
    pub(super) fn nth(&mut self, nth: usize) -> Option<&mut Value> {
        let Some(mut nth) = nth.checked_sub(1) else { return Some(self) };
        let inner: Vec<&mut Value> = match self {
            Value::Object(members) => members.iter_mut().map(|(_, value)| value).collect(),
            Value::Array(elements) => elements.iter_mut().collect(),
            Value::Leaf(_) => Vec::new(),
        };
        for value in inner {
            match nth.checked_sub(value.size()) {
                None => return value.nth(nth),
                Some(left) => nth = left,
            }
        }
        None
    }

    /// Returns the values of members with these keys, wherever they stand.
    pub(super) fn members(&mut self, keys: &[&str]) -> Vec<&mut Value> {
        let mut found = Vec::new();
        match self {
            Value::Object(members) => {
                for (key, value) in members {
                    match keys.contains(&key.as_str()) && matches!(value, Value::Leaf(_)) {
                        true => found.push(value),
                        false => found.extend(value.members(keys)),
                    }
                }
            }
            Value::Array(elements) => {
                found.extend(elements.iter_mut().flat_map(|value| value.members(keys)));
            }
            Value::Leaf(_) => {}
        }
        found
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Leaf(leaf) => f.write_str(leaf),
            Value::Array(elements) => {
                f.write_str("[")?;
                for (at, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if at > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Value::Object(members) => {
                f.write_str("{")?;
                for (at, (key, value)) in members.iter().enumerate() {
                    write!(f, "{}{key}:{value}", if at > 0 { "," } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

/// The deepest value that is read.
const DEEPEST: usize = 64;

fn value(rest: &mut &str, depth: usize) -> Option<Value> {
    *rest = rest.trim_start();
    match rest.as_bytes().first().filter(|_| depth < DEEPEST)? {
        b'{' => {
            let member = |rest: &mut &str| {
                *rest = rest.trim_start();
                let key = leaf(rest)?;
                take(rest, ":")?;
                Some((key, value(rest, depth + 1)?))
            };
            list(rest, "}", member).map(Value::Object)
        }
        b'[' => list(rest, "]", |rest| value(rest, depth + 1)).map(Value::Array),
        _ => leaf(rest).map(Value::Leaf),
    }
}

/// Reads items with commas between them, after a bracket, until another one.
fn list<T>(rest: &mut &str, close: &str, item: impl Fn(&mut &str) -> Option<T>) -> Option<Vec<T>> {
    *rest = rest.get(1..)?;
    let mut items = Vec::new();
    while take(rest, close).is_none() {
        if !items.is_empty() {
            take(rest, ",")?;
        }
        items.push(item(rest)?);
    }
    Some(items)
}

/// Takes this text, after white space.
fn take(rest: &mut &str, text: &str) -> Option<()> {
    *rest = rest.trim_start().strip_prefix(text)?;
    Some(())
}

/// Takes a text, a number or a word.
fn leaf(rest: &mut &str) -> Option<String> {
    let bytes = rest.as_bytes();
    let mut end = 1;
    if bytes.first() == Some(&b'"') {
        while *bytes.get(end)? != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        end += 1;
    } else {
        end =
            bytes.iter().position(|byte| b",:{}[]\" \t\r\n".contains(byte)).unwrap_or(bytes.len());
    }
    let (leaf, left) = rest.split_at_checked(end).filter(|(leaf, _)| !leaf.is_empty())?;
    *rest = left;
    Some(leaf.to_owned())
}
