//! Arguments that come in pieces, each with the path of its place: they become
//! a tree, which is written down when the call is closed.
//!
//! Strings are kept as the JSON text that they came in, so that every escape
//! and the halves of a character fit together again.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::format::gemini::call::PartialArg;
use crate::format::support::prelude::*;

/// The most that one call may hold here, in bytes of paths and values and of
/// the nodes made for them. It is the default of `--max-args`, which the
/// assembler applies to what comes out.
const MAX_SIZE: usize = 64 << 20;

/// The size of a node beside its value and its path, with its place in tables, in bytes.
const NODE_SIZE: usize = 208;

/// The arguments of one call.
#[derive(Debug)]
pub(super) struct ArgumentTree {
    /// The first one is the object that all others are in.
    nodes: Vec<ArgumentNode>,
    size: usize,
    /// The reason why the call must not be run.
    fault: Option<Reason>,
}

#[derive(Debug)]
enum ArgumentNode {
    /// Its place is known, and its value isn't.
    Unset,
    /// The inside of a JSON string, and whether more of it will come.
    Text {
        json: String,
        is_open: bool,
    },
    /// Any other value that is whole at once.
    Scalar(String),
    Array(Vec<usize>),
    Object(ArgumentMembers),
}

/// The members of an object: their keys and nodes, in order of first appearance.
#[derive(Debug, Default)]
struct ArgumentMembers {
    list: Vec<(String, usize)>,
    /// The node of each key, if they are more than [`FEW`].
    places: HashMap<String, usize>,
}

/// The most members that are looked through for a key.
const FEW: usize = 16;

impl ArgumentMembers {
    fn get(&self, key: &str) -> Option<usize> {
        match self.places.is_empty() {
            true => self.list.iter().find(|(known, _)| known == key).map(|(_, node)| *node),
            false => self.places.get(key).copied(),
        }
    }

    fn add(&mut self, key: &str, node: usize) {
        self.list.push((key.to_owned(), node));
        if self.list.len() > FEW {
            let new = self.list.iter().skip(self.places.len());
            self.places.extend(new.map(|(key, node)| (key.clone(), *node)));
        }
    }
}

impl Default for ArgumentTree {
    fn default() -> Self {
        ArgumentTree {
            nodes: vec![ArgumentNode::Object(ArgumentMembers::default())],
            size: 0,
            fault: None,
        }
    }
}

impl ArgumentTree {
    /// True if nothing has come.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.len() == 1 && self.fault.is_none()
    }

    /// Takes one piece. What doesn't fit is remembered as the call's fault.
    pub(super) fn add(&mut self, arg: &PartialArg) {
        if let Err(reason) = self.try_add(arg) {
            self.refuse(reason);
        }
    }

    /// Says why the call must not be run, unless that is known.
    pub(super) fn refuse(&mut self, reason: Reason) {
        self.fault.get_or_insert(reason);
    }

    /// The reason why the call must not be run. A string that was to go on is cut.
    pub(super) fn fault(&self) -> Option<Reason> {
        let is_cut = |node: &ArgumentNode| {
            matches!(node, ArgumentNode::Unset | ArgumentNode::Text { is_open: true, .. })
        };
        self.fault.or_else(|| self.nodes.iter().any(is_cut).then_some(Reason::Truncated))
    }

    /// The object as JSON text; if it was cut, without the ends of what is
    /// open.
    pub(super) fn text(&self, is_cut: bool) -> String {
        let mut out = String::new();
        self.write(0, is_cut, &mut out);
        out
    }

    fn try_add(&mut self, arg: &PartialArg) -> Result<(), Reason> {
        let path = arg.json_path.as_ref().ok_or(Reason::Malformed)?.as_str();
        let value = arg.string_value.map(|json| json.get()).or_else(|| arg.scalar());
        if value.is_none() && arg.passes_value {
            return Err(Reason::Malformed);
        }
        self.size += path.len() + value.map_or(0, str::len);
        if self.size > MAX_SIZE {
            return Err(Reason::TooLarge);
        }
        let at = self.place(path)?;
        let is_open = arg.will_continue == Some(true);
        match (self.nodes.get_mut(at).ok_or(Reason::Malformed)?, value.map(ArgumentValue::new)) {
            (node @ ArgumentNode::Unset, Some(ArgumentValue::Text(json))) => {
                *node = ArgumentNode::Text { json: json.to_owned(), is_open };
            }
            (ArgumentNode::Text { json, is_open: open }, Some(ArgumentValue::Text(more)))
                if *open || more.is_empty() =>
            {
                json.push_str(more);
                *open &= is_open;
            }
            (ArgumentNode::Text { is_open: open, .. }, None) => *open &= is_open,
            (node @ ArgumentNode::Unset, Some(ArgumentValue::Scalar(json))) => {
                *node = ArgumentNode::Scalar(json.to_owned())
            }
            (ArgumentNode::Scalar(known), Some(ArgumentValue::Scalar(json))) if known == json => {}
            (ArgumentNode::Unset, None) if is_open => {}
            (ArgumentNode::Unset, None) => return Err(Reason::Malformed),
            _ => return Err(Reason::Conflict),
        }
        Ok(())
    }

    /// The node at a path, made where there is none yet.
    fn place(&mut self, path: &str) -> Result<usize, Reason> {
        let mut rest = path.strip_prefix('$').ok_or(Reason::Malformed)?;
        let mut at = 0;
        for _ in 0..json::MAX_DEPTH {
            if rest.is_empty() {
                break;
            }
            let (segment, after) = Segment::read(rest).ok_or(Reason::Malformed)?;
            rest = after;
            at = match segment {
                Segment::Key(key) => self.member(at, &key)?,
                Segment::Index(index) => self.element(at, index)?,
            };
        }
        if rest.is_empty() && at != 0 { Ok(at) } else { Err(Reason::Malformed) }
    }

    fn member(&mut self, at: usize, key: &str) -> Result<usize, Reason> {
        let new = self.nodes.len();
        let node = self.nodes.get_mut(at).ok_or(Reason::Conflict)?;
        if let ArgumentNode::Unset = node {
            *node = ArgumentNode::Object(ArgumentMembers::default());
        }
        let ArgumentNode::Object(members) = node else { return Err(Reason::Conflict) };
        if let Some(found) = members.get(key) {
            return Ok(found);
        }
        members.add(key, new);
        Ok(self.push())
    }

    /// An index is never a size: an array grows by one element.
    fn element(&mut self, at: usize, index: usize) -> Result<usize, Reason> {
        let new = self.nodes.len();
        match self.nodes.get_mut(at) {
            Some(ArgumentNode::Array(elements)) => match elements.get(index) {
                Some(&found) => return Ok(found),
                None if index == elements.len() => elements.push(new),
                None => return Err(Reason::Malformed),
            },
            Some(node @ ArgumentNode::Unset) if index == 0 => {
                *node = ArgumentNode::Array(vec![new])
            }
            Some(ArgumentNode::Unset) => return Err(Reason::Malformed),
            _ => return Err(Reason::Conflict),
        }
        Ok(self.push())
    }

    /// Adds a node, and returns its number.
    fn push(&mut self) -> usize {
        self.size += NODE_SIZE;
        self.nodes.push(ArgumentNode::Unset);
        self.nodes.len() - 1
    }

    /// Writes a node. Paths are no longer than [`json::MAX_DEPTH`], so this
    /// goes no deeper. What was cut is the last of each container.
    fn write(&self, at: usize, is_cut: bool, out: &mut String) {
        let close = |out: &mut String, end: char| {
            if !is_cut {
                out.push(end);
            }
        };
        match self.nodes.get(at) {
            None | Some(ArgumentNode::Unset) => {}
            Some(ArgumentNode::Scalar(json)) => out.push_str(json),
            Some(ArgumentNode::Text { json, is_open }) => {
                out.push('"');
                out.push_str(json);
                if !(is_cut && *is_open) {
                    out.push('"');
                }
            }
            Some(ArgumentNode::Array(elements)) => {
                for (place, &element) in elements.iter().enumerate() {
                    out.push(if place == 0 { '[' } else { ',' });
                    self.write(element, is_cut && place + 1 == elements.len(), out);
                }
                close(out, ']');
            }
            Some(ArgumentNode::Object(members)) => {
                out.push('{');
                let members = &members.list;
                for (place, (key, member)) in members.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    json::quote_into(key, out);
                    out.push(':');
                    self.write(*member, is_cut && place + 1 == members.len(), out);
                }
                close(out, '}');
            }
        }
    }
}

/// A piece's value.
enum ArgumentValue<'a> {
    /// The inside of a JSON string.
    Text(&'a str),
    Scalar(&'a str),
}

impl<'a> ArgumentValue<'a> {
    fn new(json: &'a str) -> Self {
        let inside = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        inside.map_or(ArgumentValue::Scalar(json), ArgumentValue::Text)
    }
}

/// One step of a path (RFC 9535, only what names one place).
#[derive(Debug, PartialEq, Eq)]
enum Segment<'a> {
    Key(Cow<'a, str>),
    Index(usize),
}

impl<'a> Segment<'a> {
    /// The first step of a path, and what is after it.
    fn read(path: &'a str) -> Option<(Self, &'a str)> {
        if let Some(rest) = path.strip_prefix('.') {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (key, rest) = rest.split_at(end);
            return Some((Segment::Key(key.into()), rest)).filter(|_| !key.is_empty());
        }
        let rest = path.strip_prefix('[')?;
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '\'' | '"')) {
            let (key, rest) = quoted(rest.get(1..)?, quote)?;
            return Some((Segment::Key(key), rest.strip_prefix(']')?));
        }
        let (index, rest) = rest.split_once(']')?;
        Some((Segment::Index(index.parse().ok()?), rest))
    }
}

/// A key in quotes, from after the first of them.
fn quoted(text: &str, quote: char) -> Option<(Cow<'_, str>, &str)> {
    let mut is_escaped = false;
    let end = text.find(|c| {
        let is_end = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    let (inside, rest) = text.split_at(end);
    let rest = rest.get(1..)?;
    if !inside.contains('\\') {
        return Some((inside.into(), rest));
    }
    let inside = if quote == '"' {
        inside.to_owned()
    } else {
        inside.replace("\\'", "'").replace('"', "\\\"")
    };
    Some((json::read::<String>(&format!("\"{inside}\"")).ok()?.into(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(args: &str) -> ArgumentTree {
        let args: Vec<PartialArg<'_>> = json::read(args).unwrap();
        let mut tree = ArgumentTree::default();
        args.iter().for_each(|arg| tree.add(arg));
        tree
    }

    #[track_caller]
    fn check(args: &str, expected: &str) {
        let tree = tree(args);
        assert_eq!((tree.text(false).as_str(), tree.fault()), (expected, None));
    }

    #[track_caller]
    fn check_fault(args: &str, text: &str, reason: Reason) {
        let tree = tree(args);
        assert_eq!((tree.text(true).as_str(), tree.fault()), (text, Some(reason)));
    }

    #[test]
    fn values_of_every_kind() {
        check(r#"[{"jsonPath":"$.a","numberValue":"12"}]"#, r#"{"a":12}"#);
        check(
            r#"[{"jsonPath":"$.a","numberValue":1.50},{"jsonPath":"$.b","boolValue":false},
                {"jsonPath":"$.c","nullValue":null},{"json_path":"$.d","string_value":"x"}]"#,
            r#"{"a":1.50,"b":false,"c":null,"d":"x"}"#,
        );
        check("[]", "{}");
    }

    #[test]
    fn text_goes_on_until_a_piece_without_will_continue() {
        check(
            r#"[{"jsonPath":"$.a","stringValue":"x\ud83d","willContinue":true},
                {"jsonPath":"$.a","stringValue":"\ude00\n","willContinue":true},
                {"jsonPath":"$.a","stringValue":""}]"#,
            r#"{"a":"x\ud83d\ude00\n"}"#,
        );
        check(
            r#"[{"jsonPath":"$.a","willContinue":true},{"jsonPath":"$.a","stringValue":"x","willContinue":true},
                {"jsonPath":"$.a"}]"#,
            r#"{"a":"x"}"#,
        );
    }

    #[test]
    fn paths() {
        check(
            r#"[{"jsonPath":"$.a.b[0].c","numberValue":1},{"jsonPath":"$.a.b[1]","numberValue":2},
                {"jsonPath":"$.d[0][0]","numberValue":3},{"jsonPath":"$.a.b[0].e","numberValue":4}]"#,
            r#"{"a":{"b":[{"c":1,"e":4},2]},"d":[[3]]}"#,
        );
        check(
            r#"[{"jsonPath":"$['a.b']","numberValue":1},{"jsonPath":"$[\"c d\"].e-f","numberValue":2},
                {"jsonPath":"$['it\\'s \"so\"']","numberValue":3}]"#,
            r#"{"a.b":1,"c d":{"e-f":2},"it's \"so\"":3}"#,
        );
        assert_eq!(Segment::read("[18446744073709551616]"), None);
    }

    #[test]
    fn many_members() {
        let key = |number: usize| format!("k{}", number % 40);
        let args = (0..80).map(|number| {
            let key = key(number);
            format!(
                r#"{{"jsonPath":"$.{key}.{key}","stringValue":"{number}","willContinue":true}}"#
            )
        });
        let args = args.collect::<Vec<_>>().join(",");
        let members = (0..40).map(|number| {
            let key = key(number);
            format!(r#""{key}":{{"{key}":"{number}{}"}}"#, number + 40)
        });
        let members = members.collect::<Vec<_>>().join(",");
        assert_eq!(tree(&format!("[{args}]")).text(false), format!("{{{members}}}"));
    }

    #[test]
    fn what_does_not_fit() {
        let conflict =
            r#"[{"jsonPath":"$.a","numberValue":1},{"jsonPath":"$.a.b","numberValue":2}]"#;
        check_fault(conflict, r#"{"a":1"#, Reason::Conflict);
        let again =
            r#"[{"jsonPath":"$.a","stringValue":"x"},{"jsonPath":"$.a","stringValue":"y"}]"#;
        check_fault(again, r#"{"a":"x""#, Reason::Conflict);
        check_fault(r#"[{"jsonPath":"$.a[7]","numberValue":1}]"#, r#"{"a":"#, Reason::Malformed);
        check_fault(r#"[{"jsonPath":"$","numberValue":1}]"#, "{", Reason::Malformed);
        check_fault(r#"[{"jsonPath":"a","numberValue":1}]"#, "{", Reason::Malformed);
        check_fault(r#"[{"jsonPath":"$.a"}]"#, r#"{"a":"#, Reason::Malformed);
        check_fault(r#"[{"numberValue":1}]"#, "{", Reason::Malformed);
    }

    #[test]
    fn what_was_cut() {
        let cut = r#"[{"jsonPath":"$.a[0].b","numberValue":1},
                {"jsonPath":"$.a[1].c","stringValue":"x","willContinue":true}]"#;
        check_fault(cut, r#"{"a":[{"b":1},{"c":"x"#, Reason::Truncated);
    }

    #[test]
    fn depth_is_limited() {
        let path = |depth| format!(r#"[{{"jsonPath":"${}","numberValue":1}}]"#, ".a".repeat(depth));
        assert_eq!(tree(&path(128)).fault(), None);
        assert_eq!(tree(&path(129)).fault(), Some(Reason::Malformed));
        assert_eq!(tree(&path(1_000_000)).fault(), Some(Reason::Malformed));
    }
}
