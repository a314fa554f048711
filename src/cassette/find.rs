//! Whether a file is a cassette, and whose, by its first bytes.
//!
//! Nothing is held back that can't be one: JSON is no cassette once its first value, or the first
//! element of its list, has ended, or a member stands at its top that no row names; anything else is
//! none unless its first line could begin a row's YAML.

use crate::cassette::json::JsonNodes;
use crate::cassette::source::{BlockReader, MARK, Why};
use crate::cassette::table::{FileLayout, HTTPRR, RECORDERS, Recorder, WIRE};
use crate::cassette::tree::{Nodes, TreeNode, key};
use crate::cassette::yaml::YamlNodes;
use crate::cut::Cut as _;

/// The most bytes that are looked at.
pub(super) const WINDOW: usize = 1 << 20;

/// What the first bytes of a file say.
#[derive(Clone, Copy, Debug)]
pub(super) enum CassetteVerdict {
    No,
    /// More has to come.
    Maybe,
    Yes(&'static Recorder, FileShape),
}

/// How a file is to be read.
#[derive(Clone, Copy, Debug)]
pub(super) enum FileShape {
    Json(&'static FileLayout),
    Yaml(&'static FileLayout),
    /// As httprr.
    Wire,
}

/// Returns what a file is that begins with `head`, and is no longer if `ended`.
pub(super) fn find(head: &[u8], ended: bool) -> CassetteVerdict {
    let is_over = ended || head.len() >= WINDOW;
    let verdict = look(head);
    if is_over && matches!(verdict, CassetteVerdict::Maybe) { CassetteVerdict::No } else { verdict }
}

/// Returns what the first bytes say by themselves. What YAML says at their end says nothing: any text
/// of it may go on.
fn look(head: &[u8]) -> CassetteVerdict {
    if MARK.starts_with(head) {
        return CassetteVerdict::Maybe;
    }
    let text = head.strip_prefix(MARK).unwrap_or(head);
    let shared = text.len().min(HTTPRR.len());
    if text.get(..shared) == HTTPRR.get(..shared) {
        let is_whole = shared == HTTPRR.len();
        return if is_whole {
            CassetteVerdict::Yes(&WIRE, FileShape::Wire)
        } else {
            CassetteVerdict::Maybe
        };
    }
    let source = BlockReader::new(Box::new(head));
    match text.trim_ascii_start().first() {
        Some(b'{' | b'[') => search(&mut JsonNodes::new(source), false),
        _ => match may_be_yaml(text) {
            Some(true) => {
                let mut nodes = YamlNodes::new(source);
                let verdict = search(&mut nodes, true);
                let is_end = nodes.offset() == head.len() as u64;
                if is_end && matches!(verdict, CassetteVerdict::No) {
                    CassetteVerdict::Maybe
                } else {
                    verdict
                }
            }
            Some(false) => CassetteVerdict::No,
            None => CassetteVerdict::Maybe,
        },
    }
}

/// True if the first line of YAML that says something begins as those of the rows do; `None` if it
/// has not come.
fn may_be_yaml(text: &[u8]) -> Option<bool> {
    let mut rest = text;
    loop {
        let end = memchr::memchr(b'\n', rest);
        let line = rest.before(end.unwrap_or(rest.len()));
        let is_mark = ["#", "%", "---"].iter().any(|mark| {
            let may_go_on = end.is_none() && mark.as_bytes().starts_with(line);
            line.starts_with(mark.as_bytes()) || may_go_on
        });
        match end {
            Some(end) if is_mark || line.trim_ascii().is_empty() => {
                let after = line.strip_prefix(b"---").map(<[u8]>::trim_ascii);
                if !matches!(after, None | Some([] | [b'#' | b'!', ..])) {
                    return Some(false);
                }
                rest = rest.after(end + 1);
            }
            None if is_mark => return None,
            _ => return begins_row(rest, line, end.is_some()),
        }
    }
}

/// True if a line is the first of a list of maps, or has a key that a row names.
fn begins_row(rest: &[u8], line: &[u8], is_whole: bool) -> Option<bool> {
    let begins = |line: &[u8], is_whole: bool, word: &str| match line.strip_prefix(word.as_bytes())
    {
        Some(rest) if rest.is_empty() && !is_whole => None,
        Some(rest) => Some(rest.trim_ascii_start().starts_with(b":")),
        None => Some(false).filter(|_| is_whole || !word.as_bytes().starts_with(line)),
    };
    let any = |words: &mut dyn Iterator<Item = Option<bool>>| {
        let mut found = Some(false);
        for word in words {
            match word {
                Some(true) => return Some(true),
                None => found = None,
                Some(false) => {}
            }
        }
        found
    };
    if let Some(item) = line.strip_prefix(b"-") {
        // The map may begin in the next line.
        let (item, is_whole) = match (item.trim_ascii().is_empty(), is_whole) {
            (true, false) => return None,
            (true, true) => {
                let next = rest.after(line.len() + 1);
                let end = memchr::memchr(b'\n', next);
                (next.before(end.unwrap_or(next.len())), end.is_some())
            }
            (false, is_whole) if item.starts_with(b" ") => (item, is_whole),
            _ => return Some(false),
        };
        let item = item.trim_ascii_start();
        return any(&mut ["request", "response"].iter().map(|word| begins(item, is_whole, word)));
    }
    let line = line.strip_prefix(b"\"").or(line.strip_prefix(b"'")).unwrap_or(line);
    let rows = RECORDERS.iter().filter(|row| row.is_yaml);
    let tops = rows.flat_map(|row| row.layouts).flat_map(|layout| layout.top);
    any(&mut tops.map(|word| begins(line, is_whole, word)))
}

/// A row's shape, and which of its signs were seen: a bit for each place.
struct Candidate {
    row: &'static Recorder,
    layout: &'static FileLayout,
    seen: Vec<u32>,
}

impl Candidate {
    /// Notes what is at a place. Returns true if that makes the shape certain.
    fn see(&mut self, place: &str) -> bool {
        let lines = self.layout.signs.iter().zip(&mut self.seen);
        lines.into_iter().any(|(signs, seen)| {
            for (at, sign) in signs.iter().enumerate() {
                *seen |= u32::from(*sign == place) << at;
            }
            seen.count_ones() as usize == signs.len()
        })
    }
}

/// What is open: its place, and whether it is a map.
struct OpenPlace {
    place: String,
    is_map: bool,
}

/// Looks for the signs of the rows in the nodes of a file's beginning.
fn search(nodes: &mut dyn Nodes, is_yaml: bool) -> CassetteVerdict {
    let rows = RECORDERS.iter().filter(|row| row.is_yaml || !is_yaml);
    let all = rows.flat_map(|row| row.layouts.iter().map(move |layout| (row, layout)));
    let mut candidates: Vec<Candidate> = all
        .map(|(row, layout)| Candidate { row, layout, seen: vec![0; layout.signs.len()] })
        .collect();
    let mut open: Vec<OpenPlace> = Vec::new();
    loop {
        let mut node = match nodes.next() {
            Ok(Some(node)) => node,
            Ok(None) => return CassetteVerdict::Maybe,
            Err(broken) if matches!(broken.why, Why::Cut | Why::Io(_)) || is_yaml => {
                return CassetteVerdict::Maybe;
            }
            Err(_) => return CassetteVerdict::No,
        };
        let mut place = String::new();
        match open.last() {
            None => {}
            Some(OpenPlace { is_map: false, place: list }) => place.clone_from(list),
            Some(OpenPlace { is_map: true, place: map }) if node != TreeNode::End => {
                let Ok(name) = key(node, nodes) else { return CassetteVerdict::Maybe };
                let name = String::from_utf8_lossy(&name);
                if open.len() == 1 && map.is_empty() {
                    candidates.retain(|one| one.layout.top.contains(&&*name));
                    if candidates.is_empty() {
                        return CassetteVerdict::No;
                    }
                }
                place = if map.is_empty() { name.into_owned() } else { format!("{map}.{name}") };
                node = match nodes.next() {
                    Ok(Some(node)) => node,
                    _ => return CassetteVerdict::Maybe,
                };
            }
            Some(_) => {}
        }
        if open.is_empty() {
            candidates.retain(|one| one.layout.top.is_empty() == (node == TreeNode::List));
        }
        let end = match node {
            TreeNode::Map => "{}",
            TreeNode::List => "[]",
            TreeNode::End => {
                open.pop();
                // The first value, or the first element of a list, says what it is.
                let is_over =
                    open.is_empty() || (open.len() == 1 && open.iter().all(|it| !it.is_map));
                if is_over {
                    return CassetteVerdict::No;
                }
                continue;
            }
            TreeNode::Text(_) | TreeNode::Bare(_) => "",
        };
        let shown = format!("{place}{end}");
        if let Some(found) = candidates.iter_mut().find_map(|one| one.see(&shown).then_some(&*one))
        {
            let shape = if is_yaml { FileShape::Yaml } else { FileShape::Json };
            return CassetteVerdict::Yes(found.row, shape(found.layout));
        }
        let is_scalar = end.is_empty();
        if candidates.is_empty()
            || (is_scalar && open.len() <= 1 && open.iter().all(|it| !it.is_map))
        {
            return CassetteVerdict::No;
        }
        if !is_scalar {
            let place = if end == "[]" { shown } else { place };
            open.push(OpenPlace { place, is_map: end == "{}" });
        }
    }
}
