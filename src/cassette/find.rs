//! Whether a file is a cassette, and whose, by its first bytes.
//!
//! Nothing is held back that can't be one: a file is no cassette once its first value, or the first
//! element of its list, has ended, or if it begins with a member that no row names; what is no JSON is
//! none from the first line on that stands at the left and begins no member or element of YAML.

use crate::cassette::json::JsonNodes;
use crate::cassette::source::{BlockReader, Broken, MARK, Why};
use crate::cassette::table::{FileLayout, HTTPRR, RECORDERS, Recorder, WIRE};
use crate::cassette::tree::{Nodes, TreeNode, key, skip, within};
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
    /// As JSON, or as YAML.
    Tree { layout: &'static FileLayout, is_yaml: bool },
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
    if let Some(b'{' | b'[') = text.trim_ascii_start().first() {
        let source = BlockReader::new(Box::new(text));
        return search(&mut JsonNodes::new(source), false);
    }
    let (lines, is_over) = yaml_lines(text);
    let mut nodes = YamlNodes::new(BlockReader::new(Box::new(lines)));
    match search(&mut nodes, true) {
        CassetteVerdict::Yes(row, shape) => CassetteVerdict::Yes(row, shape),
        _ if is_over => CassetteVerdict::No,
        CassetteVerdict::No if nodes.offset() == lines.len() as u64 => CassetteVerdict::Maybe,
        verdict => verdict,
    }
}

/// Returns the lines that may be YAML of a recorder, and whether one follows that is none.
fn yaml_lines(text: &[u8]) -> (&[u8], bool) {
    let (mut end, mut is_first) = (0, true);
    while end < text.len() {
        let rest = text.after(end);
        let length = memchr::memchr(b'\n', rest);
        let (line, is_whole) = (rest.before(length.unwrap_or(rest.len())), length.is_some());
        let may_be = match line.trim_ascii_end() {
            [] | [b'#' | b'%', ..] => Some(true),
            [b'-', b'-'] if !is_whole => None,
            [b'-', b'-', b'-', after @ ..] => {
                Some(matches!(after.trim_ascii(), [] | [b'#' | b'!', ..]))
            }
            line => {
                let is_first = std::mem::take(&mut is_first);
                match line {
                    // The first member may stand in the next line.
                    [b'-'] => Some(true),
                    [b' ' | b'\t', ..] | [b'-', b' ', ..] if !is_first => Some(true),
                    [b'-', b' ', item @ ..] => {
                        begins_member(item.trim_ascii_start(), is_whole, is_first)
                    }
                    _ => begins_member(line, is_whole, is_first),
                }
            }
        };
        match may_be {
            Some(true) => end += line.len() + usize::from(is_whole),
            may_be => return (text.before(end), may_be == Some(false)),
        }
    }
    (text, false)
}

/// The fields of an event stream, which are members of YAML, too, if they have no value.
const FIELDS: [&[u8]; 3] = [b"data", b"event", b"retry"];

/// True if a line begins with a key, the first one with a key that a row names; `None` if it may go
/// on so.
fn begins_member(line: &[u8], is_whole: bool, is_first: bool) -> Option<bool> {
    let quote = line.first().filter(|sign| matches!(sign, b'"' | b'\''));
    let line = line.after(quote.iter().len());
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let (key, after) = line.split_at(line.iter().take_while(is_part).count());
    let may_go_on = after.is_empty() && !is_whole;
    let mut tops = RECORDERS.iter().flat_map(|row| row.layouts).flat_map(|layout| layout.top);
    let is_key = match (is_first, may_go_on) {
        (true, false) => tops.any(|top| top.as_bytes() == key),
        (true, true) => tops.any(|top| top.as_bytes().starts_with(key)),
        (false, _) => may_go_on || !key.is_empty(),
    };
    let signs = quote.into_iter().chain(b":");
    let begun = after.iter().zip(signs.clone()).take_while(|(byte, sign)| byte == sign).count();
    let value = after.after(begun);
    match (begun == signs.count(), value) {
        _ if !is_key => Some(false),
        (_, []) if !is_whole => None,
        (true, [] | [b' ' | b'\t', ..]) => Some(value.is_empty() || !FIELDS.contains(&key)),
        _ => Some(false),
    }
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

impl FileLayout {
    fn is_list(&self) -> bool {
        self.exchanges.starts_with("[]")
    }

    /// True if a sign may stand at a place or within it.
    fn is_within(&self, place: &str) -> bool {
        self.signs.iter().flat_map(|signs| *signs).any(|sign| sign.starts_with(place))
    }
}

/// Returns what the nodes of a file's beginning say. Members that no row names may follow the first one
/// in JSON; text that looks like YAML would wait for them.
fn search(nodes: &mut dyn Nodes, is_yaml: bool) -> CassetteVerdict {
    match find_signs(nodes, is_yaml) {
        Ok(Some(Candidate { row, layout, .. })) => {
            CassetteVerdict::Yes(row, FileShape::Tree { layout, is_yaml })
        }
        Err(broken) if matches!(broken.why, Why::Cut | Why::Io(_)) => CassetteVerdict::Maybe,
        Ok(None) | Err(_) => CassetteVerdict::No,
    }
}

/// Looks for the signs of the rows. Returns nothing if none can come.
fn find_signs(nodes: &mut dyn Nodes, is_yaml: bool) -> Result<Option<Candidate>, Broken> {
    let all = RECORDERS.iter().flat_map(|row| row.layouts.iter().map(move |layout| (row, layout)));
    let mut candidates: Vec<Candidate> = all
        .map(|(row, layout)| Candidate { row, layout, seen: vec![0; layout.signs.len()] })
        .collect();
    let mut open: Vec<OpenPlace> = Vec::new();
    let mut is_first = true;
    loop {
        let mut node = within(nodes)?;
        let mut place = String::new();
        match open.last() {
            None => candidates.retain(|one| one.layout.is_list() == (node == TreeNode::List)),
            Some(OpenPlace { is_map: false, place: list }) => place.clone_from(list),
            Some(OpenPlace { is_map: true, place: map }) if node != TreeNode::End => {
                let name = key(node, nodes)?;
                let name = String::from_utf8_lossy(&name);
                if matches!(map.as_str(), "" | "[]") {
                    let is_first = std::mem::take(&mut is_first);
                    candidates.retain(|Candidate { layout, .. }| {
                        layout.top.contains(&&*name)
                            || (layout.is_open && !is_first && !(is_yaml && map.is_empty()))
                    });
                    if candidates.is_empty() {
                        return Ok(None);
                    }
                }
                place = if map.is_empty() { name.into_owned() } else { format!("{map}.{name}") };
                node = within(nodes)?;
            }
            Some(_) => {}
        }
        let end = match node {
            TreeNode::Map => "{}",
            TreeNode::List => "[]",
            TreeNode::End => {
                open.pop();
                // The first value, or the first element of a list, says what it is.
                if open.iter().all(|it| !it.is_map) && open.len() <= 1 {
                    return Ok(None);
                }
                continue;
            }
            TreeNode::Text(_) | TreeNode::Bare(_) => "",
        };
        let shown = format!("{place}{end}");
        if let Some(found) = candidates.iter_mut().position(|one| one.see(&shown)) {
            return Ok(Some(candidates.swap_remove(found)));
        }
        let is_scalar = end.is_empty();
        if candidates.is_empty()
            || (is_scalar && open.len() <= 1 && open.iter().all(|it| !it.is_map))
        {
            return Ok(None);
        }
        let place = if end == "[]" { shown } else { place };
        match candidates.iter().any(|one| one.layout.is_within(&place)) {
            _ if is_scalar => {}
            true => open.push(OpenPlace { place, is_map: end == "{}" }),
            false => skip(&node, nodes)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a beginning of an input, and of all that it begins with.
    #[track_caller]
    fn check(head: &str, expected: Option<&str>) {
        let found = |end: usize| match find(&head.as_bytes()[..end], false) {
            CassetteVerdict::Yes(row, _) => Some(Some(row.name)),
            CassetteVerdict::No => Some(None),
            CassetteVerdict::Maybe => None,
        };
        let first = (0..=head.len()).find_map(found);
        assert_eq!(first, Some(expected), "{head}");
        assert_eq!(found(head.len()), first, "{head}");
    }

    #[test]
    fn nothing_is_held_back_that_can_be_none() {
        for head in [
            "data: {\"id\":1",
            "data:{",
            "event: message\n",
            "id: 1\ndata: {\"id\":1",
            "id: 1\nevent: message\n",
            ": hi",
            "Sure",
            "metal",
            "Note: this",
            "log: all is well\n{\"id\":1",
            "name: a\nThe rest",
            "- thing",
            "{\"answer\":",
            "{\"id\": 1, \"object\":",
            "[{\"id\":",
            "{\"request\": {\"method\": \"POST\"}, \"time\":",
        ] {
            check(head, None);
        }
    }

    #[test]
    fn the_members_of_a_file_may_stand_in_any_order() {
        let begin = "{\"interactions\": [{\"request\": {";
        check(begin, Some("vcr"));
        let begin = "{\"version\": 1, \"tags\": [\"a\"], \"interactions\": [{\"response\": {";
        check(begin, Some("vcr"));
        check("metadata:\n  tags: [a]\ninteractions:\n- request:\n    uri: a\n", Some("vcr"));
        // Text would wait for its end.
        check("version: 1\nservices:\n  a:\n    image: b\n", None);
        check("meta:\n  a: 1\ndata:\n  pairs:\n  - request:\n", Some("hoverfly"));
        check("id: a\nrequest:\n  method: GET\nresponse:\n  status: 200\n", Some("wiremock"));
    }
}
