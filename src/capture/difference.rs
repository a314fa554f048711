//! Compares two readings of a capture: what differs, by the keys of events, and a unified diff in
//! which texts of several lines are lines, and long ones are cut to what differs.

use std::ops::Range;
use std::time::Duration;

use similar::{
    Algorithm, ChangeTag, DiffOp, DiffTag, TextDiff, capture_diff_slices, group_diff_ops,
};
use unicode_security::skeleton;

use crate::capture::filter::{Compared, kind};
use crate::cut::Cut as _;
use crate::json::{ObjectMembers, make_safe, members};

/// The events before and after a difference that are shown.
const CONTEXT: usize = 2;

/// The most characters that are shown of an event that does not differ, or has no counterpart.
const MAX_LINE: usize = 160;

/// The characters around what differs that are shown.
const MARGIN: usize = 40;

/// The most characters that are shown of a stretch that differs.
const MAX_CHANGE: usize = 200;

/// The most lines that are shown of a text that differs, on each side.
const MAX_LINES: usize = 12;

/// The longest stretch, in bytes, in which words are compared.
const MAX_WORDS: usize = 32 << 10;

/// What differs between two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Diff {
    pub(crate) hunks: Vec<Hunk>,
}

/// Events that differ, and those around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The line of the golden file where it begins to differ.
    pub(crate) line: usize,
    /// What differs: `start.id` for a key, `+text` and `-text` for an event that came or went.
    pub(crate) kinds: Vec<String>,
    pub(crate) was: Vec<String>,
    pub(crate) is: Vec<String>,
    /// The lines in a golden file of the events that are shown: the first one, and how many.
    lines: [(usize, usize); 2],
    rows: Vec<DiffLine>,
}

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DiffLine {
    /// `-`, `+`, or a blank for what does not differ.
    sign: char,
    stretches: Vec<Stretch>,
}

/// A part of a line that is, or is not, in its counterpart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stretch {
    is_change: bool,
    text: String,
}

impl Diff {
    /// Compares what was expected with what came.
    pub(crate) fn new(was: &[Compared], is: &[Compared]) -> Diff {
        let texts = |events: &[Compared]| -> Vec<String> {
            events.iter().map(|event| event.text.clone()).collect()
        };
        let (old, new) = (texts(was), texts(is));
        let groups = group_diff_ops(capture_diff_slices(Algorithm::Myers, &old, &new), CONTEXT);
        let hunks = groups.into_iter().filter_map(|group| {
            let (first, last) = (group.first()?, group.last()?);
            let span = |events: &[Compared], first: Range<usize>, last: Range<usize>| {
                let line = line_of(events, first.start);
                (line, last.end - first.start)
            };
            let mut hunk = Hunk {
                line: 0,
                kinds: Vec::new(),
                was: Vec::new(),
                is: Vec::new(),
                lines: [
                    span(was, first.old_range(), last.old_range()),
                    span(is, first.new_range(), last.new_range()),
                ],
                rows: Vec::new(),
            };
            for operation in &group {
                let range = |events: &[String], range: Range<usize>| events.within(range).to_vec();
                let gone = range(&old, operation.old_range());
                if operation.tag() == DiffTag::Equal {
                    hunk.rows.extend(gone.into_iter().map(|text| DiffLine::of(' ', text)));
                    continue;
                }
                if hunk.line == 0 {
                    hunk.line = line_of(was, operation.old_range().start);
                }
                hunk.changed(gone, range(&new, operation.new_range()));
            }
            Some(hunk)
        });
        Diff { hunks: hunks.collect() }
    }

    /// Returns the diff without the names of the files.
    pub(crate) fn page(&self, has_color: bool) -> String {
        let mut page = Page { text: String::new(), has_color };
        for hunk in &self.hunks {
            let [old, new] = hunk.lines.map(|(line, count)| format!("{line},{count}"));
            let shown =
                hunk.kinds.iter().take(4).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if hunk.kinds.len() > 4 { ", …" } else { "" };
            page.line(
                Some(DiffStyle::Cyan),
                &format!("@@ -{old} +{new} @@ line {}: {shown}{more}", hunk.line),
            );
            hunk.rows.iter().for_each(|row| page.row(row));
        }
        page.text
    }

    /// Returns what differs, once for each event.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.hunks.iter().flat_map(|hunk| &hunk.kinds).map(String::as_str)
    }
}

/// Returns the line of an event in a golden file, or the line after the last one.
fn line_of(events: &[Compared], at: usize) -> usize {
    let last = events.last().map_or(2, |event| event.line + 1);
    events.get(at).map_or(last, |event| event.line)
}

impl Hunk {
    /// Adds events in place of others: each is compared with the first one of its type that has no
    /// counterpart yet.
    fn changed(&mut self, old: Vec<String>, new: Vec<String>) {
        let mut free: Vec<Option<&String>> = new.iter().map(Some).collect();
        let mut written: Vec<Option<Vec<DiffLine>>> = new.iter().map(|_| None).collect();
        for event in &old {
            let is_like =
                |other: &Option<&String>| other.is_some_and(|other| kind(other) == kind(event));
            let pair = free.iter().position(is_like);
            let Some((at, other)) = pair.and_then(|at| Some((at, free.get_mut(at)?.take()?)))
            else {
                self.kinds.push(format!("-{}", kind(event)));
                self.rows.extend(whole('-', event));
                continue;
            };
            let mut paths = Vec::new();
            paths_between(kind(event), event, other, &mut paths);
            self.kinds.extend(paths);
            let (gone, came) = rows(event, other);
            self.rows.extend(gone);
            written.iter_mut().skip(at).take(1).for_each(|row| *row = Some(came.clone()));
        }
        for (event, came) in new.iter().zip(written) {
            if came.is_none() {
                self.kinds.push(format!("+{}", kind(event)));
            }
            self.rows.extend(came.unwrap_or_else(|| whole('+', event)));
        }
        self.was.extend(old);
        self.is.extend(new);
    }
}

/// Adds the paths of the values that differ between two JSON values.
fn paths_between(path: &str, was: &str, is: &str, paths: &mut Vec<String>) {
    if was == is {
        return;
    }
    let is_object = |text: &str| text.starts_with('{');
    if !is_object(was) || !is_object(is) {
        return paths.push(path.to_owned());
    }
    let (old, new) = (members(was), members(is));
    let value = |of: &ObjectMembers<'_>, key: &str| {
        of.iter().find(|(name, _)| name == key).map(|(_, value)| value.get().to_owned())
    };
    let before = paths.len();
    for (key, text) in &old {
        let path = format!("{path}.{key}");
        match value(&new, key) {
            Some(other) => paths_between(&path, text.get(), &other, paths),
            None => paths.push(path),
        }
    }
    let added = new.iter().filter(|(key, _)| value(&old, key).is_none());
    paths.extend(added.map(|(key, _)| format!("{path}.{key}")));
    if paths.len() == before {
        // The members are the same, and stand in another order.
        paths.push(path.to_owned());
    }
}

impl DiffLine {
    fn of(sign: char, text: String) -> DiffLine {
        DiffLine { sign, stretches: vec![Stretch { is_change: false, text }] }
    }
}

/// Returns the lines of an event without a counterpart.
fn whole(sign: char, event: &str) -> Vec<DiffLine> {
    limited(lines(event).into_iter().map(|line| DiffLine::of(sign, line)).collect(), sign)
}

/// Returns an event as lines: it is broken after each line end in its texts.
fn lines(event: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut rest = event;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        let length = escape.chars().take(2).map(char::len_utf8).sum();
        let (escape, after) = escape.parts(length);
        if let Some(line) = lines.last_mut() {
            line.push_str(before);
            line.push_str(escape);
        }
        if escape == "\\n" && !after.starts_with('"') {
            lines.push("    ".into());
        }
        rest = after;
    }
    if let Some(line) = lines.last_mut() {
        line.push_str(rest);
    }
    lines
}

/// Returns the first rows of these, and how many more there are.
fn limited(mut rows: Vec<DiffLine>, sign: char) -> Vec<DiffLine> {
    if rows.len() > MAX_LINES + 1 {
        let more = rows.len() - MAX_LINES;
        rows.truncate(MAX_LINES);
        rows.push(DiffLine::of(sign, format!("    … {more} more lines")));
    }
    rows
}

/// Compares two events, line by line. Returns the lines that went, with one before and after them
/// that stayed, and those that came.
fn rows(was: &str, is: &str) -> (Vec<DiffLine>, Vec<DiffLine>) {
    let (old, new) = (lines(was), lines(is));
    if old.len() == 1 && new.len() == 1 {
        let (gone, came) = stretches(was, is);
        return (
            vec![DiffLine { sign: '-', stretches: gone }],
            vec![DiffLine { sign: '+', stretches: came }],
        );
    }
    let mut gone = Vec::new();
    let mut came = Vec::new();
    let operations = capture_diff_slices(Algorithm::Myers, &old, &new);
    for group in group_diff_ops(operations, 1) {
        for operation in &group {
            let take = |lines: &[String], range: Range<usize>| lines.within(range).to_vec();
            let (mine, theirs) =
                (take(&old, operation.old_range()), take(&new, operation.new_range()));
            if let DiffOp::Equal { .. } = operation {
                gone.extend(mine.into_iter().map(|line| DiffLine::of('-', line)));
                came.extend(theirs.into_iter().map(|line| DiffLine::of('+', line)));
                continue;
            }
            let pairs = mine.len().min(theirs.len());
            for (mine, theirs) in mine.iter().zip(&theirs) {
                let (old, new) = stretches(mine, theirs);
                gone.push(DiffLine { sign: '-', stretches: old });
                came.push(DiffLine { sign: '+', stretches: new });
            }
            let alone = |sign, text: String| DiffLine {
                sign,
                stretches: vec![Stretch { is_change: true, text }],
            };
            gone.extend(mine.into_iter().skip(pairs).map(|line| alone('-', line)));
            came.extend(theirs.into_iter().skip(pairs).map(|line| alone('+', line)));
        }
    }
    (limited(gone, '-'), limited(came, '+'))
}

/// The colours of a terminal.
#[derive(Clone, Copy)]
enum DiffStyle {
    Red = 31,
    Green = 32,
    Cyan = 36,
}

struct Page {
    text: String,
    has_color: bool,
}

impl Page {
    fn styled(&mut self, style: Option<DiffStyle>, is_reversed: bool, text: &str) {
        let style = style.filter(|_| self.has_color && !text.is_empty());
        if let Some(style) = style {
            let reversed = if is_reversed { ";7" } else { "" };
            self.text.push_str(&format!("\x1b[{}{reversed}m", style as u8));
        }
        make_safe(text, &mut self.text);
        if style.is_some() {
            self.text.push_str("\x1b[0m");
        }
    }

    fn line(&mut self, style: Option<DiffStyle>, text: &str) {
        self.styled(style, false, text);
        self.text.push('\n');
    }

    fn row(&mut self, row: &DiffLine) {
        let style = match row.sign {
            '-' => Some(DiffStyle::Red),
            '+' => Some(DiffStyle::Green),
            _ => None,
        };
        self.styled(style, false, &row.sign.to_string());
        let last = row.stretches.len().saturating_sub(1);
        for (at, Stretch { is_change, text }) in row.stretches.iter().enumerate() {
            let (before, after) = match is_change {
                true => (MAX_CHANGE / 2, MAX_CHANGE / 2),
                false if last == 0 => (MAX_LINE - MARGIN, MARGIN),
                false => (if at == 0 { 2 * MARGIN } else { MARGIN }, MARGIN),
            };
            self.styled(style, *is_change, &shorten(text, before, after));
        }
        self.text.push('\n');
    }
}

/// Compares two events, word by word between the first and the last character that differ.
fn stretches(was: &str, is: &str) -> (Vec<Stretch>, Vec<Stretch>) {
    let head: usize =
        was.chars().zip(is.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (same, was) = was.parts(head);
    let is = is.after(head);
    let ends = was.chars().rev().zip(is.chars().rev());
    let tail: usize = ends.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (was, end) = was.parts(was.len() - tail);
    let is = is.before(is.len() - tail);
    let (mut old, mut new) = (Vec::new(), Vec::new());
    push(&mut old, false, same);
    push(&mut new, false, same);
    if was.len().max(is.len()) > MAX_WORDS {
        push(&mut old, true, was);
        push(&mut new, true, is);
    } else {
        let words = TextDiff::configure().timeout(Duration::from_millis(500)).diff_words(was, is);
        for change in words.iter_all_changes() {
            match change.tag() {
                ChangeTag::Delete => {
                    push(&mut old, true, change.value());
                    push(&mut new, true, "");
                }
                ChangeTag::Insert => {
                    push(&mut new, true, change.value());
                    push(&mut old, true, "");
                }
                ChangeTag::Equal => {
                    push(&mut old, false, change.value());
                    push(&mut new, false, change.value());
                }
            }
        }
    }
    push(&mut old, false, end);
    push(&mut new, false, end);
    tell_apart(&mut old, &mut new);
    (old, new)
}

/// Writes what differs and looks the same as escapes.
fn tell_apart(old: &mut [Stretch], new: &mut [Stretch]) {
    let look = |stretches: &[Stretch]| -> String {
        let changed = stretches.iter().filter(|stretch| stretch.is_change);
        skeleton(&changed.map(|stretch| stretch.text.as_str()).collect::<String>()).collect()
    };
    if look(old) != look(new) {
        return;
    }
    for stretch in old.iter_mut().chain(new).filter(|stretch| stretch.is_change) {
        let escaped = |c: char| match c.is_ascii() {
            true => c.to_string(),
            false => {
                let mut units = [0; 2];
                let units = c.encode_utf16(&mut units).iter();
                units.map(|unit| format!("\\u{unit:04x}")).collect()
            }
        };
        stretch.text = stretch.text.chars().map(escaped).collect();
    }
}

/// Adds a text. An empty change is the place of what the other side has there.
fn push(stretches: &mut Vec<Stretch>, is_change: bool, text: &str) {
    match stretches.last_mut() {
        Some(last) if last.is_change == is_change => last.text.push_str(text),
        _ if text.is_empty() && !is_change => {}
        _ => stretches.push(Stretch { is_change, text: text.to_owned() }),
    }
}

/// Returns a text with `…` in place of what is more than so many characters from its ends.
pub(crate) fn shorten(text: &str, before: usize, after: usize) -> String {
    let place = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
    let count = text.chars().count();
    if count <= before + after + 1 {
        return text.to_owned();
    }
    format!("{}…{}", text.before(place(before)), text.after(place(count - after)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    fn diff(was: &[&str], is: &[&str]) -> Diff {
        let compared = |events: &[&str]| {
            let events = events.iter().zip(2..);
            events.map(|(text, line)| Compared { line, text: (*text).into() }).collect::<Vec<_>>()
        };
        Diff::new(&compared(was), &compared(is))
    }

    #[track_caller]
    fn check(was: &[&str], is: &[&str], kinds: &[&str], page: &str) {
        let diff = diff(was, is);
        assert_eq!(
            (diff.kinds().collect::<Vec<_>>(), diff.page(false).as_str()),
            (kinds.to_vec(), page)
        );
    }

    fn text(text: &str) -> String {
        format!("{{\"type\":\"text\",\"text\":\"{text}\"}}")
    }

    #[test]
    fn long_texts_are_cut_to_what_differs() {
        let filler = "one two three four five six seven eight nine ten ".repeat(9);
        let long = |word: &str| text(&format!("{filler}{word}{filler}and so on."));
        let start = r#"{"type":"start","v":1}"#;
        let call = r#"{"type":"tool_call","index":0}"#;
        let shown = |word: &str| {
            text(&format!(
                "one two three four five six seven eight nine ten one two …hree four five six seven \
                 eight nine ten {word} one two three four five six seven eight…ve six seven eight nine ten \
                 and so on."
            ))
        };
        let page = format!(
            "@@ -2,2 +2,3 @@ line 3: text.text, +tool_call\n {start}\n-{}\n+{}\n+{call}\n",
            shown("cold"),
            shown("warm")
        );
        let kinds = ["text.text", "+tool_call"];
        check(&[start, &long("cold ")], &[start, &long("warm "), call], &kinds, &page);
        // A word that came or went is shown, and on the other side its place.
        for (was, is) in [("", "warm "), ("warm ", "")] {
            let page = diff(&[&long(was)], &[&long(is)]).page(false);
            assert!(
                page.contains("nine ten warm one two") && page.contains("nine ten one two"),
                "{page}"
            );
        }
    }

    #[test]
    fn texts_of_several_lines_are_lines() {
        let lines = |third: &str| text(&format!("1\\n2\\n{third}\\n4\\\\n\\n6"));
        check(
            &[&lines("cold")],
            &[&lines("warm")],
            &["text.text"],
            "@@ -2,1 +2,1 @@ line 2: text.text\n-    2\\n\n-    cold\\n\n-    4\\\\n\\n\n\
             +    2\\n\n+    warm\\n\n+    4\\\\n\\n\n",
        );
        let (cold, warm) = ("cold\\n".repeat(40), "warm\\n".repeat(40));
        let page = diff(&[&text(&cold)], &[&text(&warm)]).page(false);
        assert_eq!(
            (page.lines().count(), page.matches("28 more lines").count()),
            (27, 2),
            "{page}"
        );
    }

    #[test]
    fn what_looks_the_same_is_written_as_escapes() {
        for (was, is, old, new) in [
            ("caf\u{e9}", "cafe\u{301}", "caf\\u00e9", "cafe\\u0301"),
            ("a b", "a\u{a0}b", "a b", "a\\u00a0b"),
            ("pay", "p\u{430}y", "pay", "p\\u0430y"),
            ("caf\u{e9}", "caf\u{ea}", "caf\u{e9}", "caf\u{ea}"),
        ] {
            let page = diff(&[&text(was)], &[&text(is)]).page(false);
            assert!(page.contains(&format!("-{}\n", text(old))), "{page}");
            assert!(page.contains(&format!("+{}\n", text(new))), "{page}");
        }
    }

    #[test]
    fn kinds_are_the_paths_of_what_differs() {
        let call = |arguments: &str| {
            format!("{{\"type\":\"tool_call\",\"id\":\"a\",\"arguments\":{arguments}}}")
        };
        let kinds = |was: &str, is: &str| {
            let diff = diff(&[&call(was)], &[&call(is)]);
            diff.kinds().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(kinds(r#"{"a":{"b":1}}"#, r#"{"a":{"b":2}}"#), ["tool_call.arguments.a.b"]);
        assert_eq!(
            kinds(r#"{"a":1}"#, r#"{"b":1}"#),
            ["tool_call.arguments.a", "tool_call.arguments.b"]
        );
        assert_eq!(kinds(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#), ["tool_call.arguments"]);
        assert_eq!(kinds(r#"{"a":[1]}"#, r#"{"a":[2]}"#), ["tool_call.arguments.a"]);
    }

    #[test]
    fn colours_show_what_changed() {
        assert_snapshot!(
            diff(&[&text("cold")], &[&text("\u{202e}")]).page(true).replace('\x1b', "ESC"),
            @r#"
        ESC[36m@@ -2,1 +2,1 @@ line 2: text.textESC[0m
        ESC[31m-ESC[0mESC[31m{"type":"text","text":"ESC[0mESC[31;7mcoldESC[0mESC[31m"}ESC[0m
        ESC[32m+ESC[0mESC[32m{"type":"text","text":"ESC[0mESC[32;7m\u202eESC[0mESC[32m"}ESC[0m
        "#
        );
    }

    #[test]
    fn events_that_come_and_go_are_shown() {
        check(
            &["{\"type\":\"a\"}"],
            &[],
            &["-a"],
            "@@ -2,1 +2,0 @@ line 2: -a\n-{\"type\":\"a\"}\n",
        );
    }
}
