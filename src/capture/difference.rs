//! Compares two readings of a capture: a unified diff of their events, in which long texts are
//! cut to what differs.

use std::ops::Range;
use std::time::Duration;

use similar::{Algorithm, ChangeTag, DiffOp, TextDiff, capture_diff_slices, group_diff_ops};

use crate::json::{make_safe, members};

/// The events before and after a difference that are shown.
const CONTEXT: usize = 2;

/// The most characters that are shown of an event that does not differ, or has no counterpart.
const MAX_LINE: usize = 160;

/// The characters around what differs that are shown.
const MARGIN: usize = 40;

/// The most characters that are shown of a stretch that differs.
const MAX_CHANGE: usize = 400;

/// The longest stretch, in bytes, in which words are compared.
const MAX_WORDS: usize = 32 << 10;

/// Events of one reading in place of those of another.
pub(crate) struct Difference {
    /// The places among the events that were expected.
    pub(crate) was: Range<usize>,
    /// The places among the events that came.
    pub(crate) is: Range<usize>,
}

fn operations(was: &[String], is: &[String]) -> Vec<DiffOp> {
    capture_diff_slices(Algorithm::Myers, was, is)
}

/// Returns the places where events differ.
pub(crate) fn changes(was: &[String], is: &[String]) -> Vec<Difference> {
    let operations = operations(was, is);
    let changed = operations.iter().filter(|operation| !matches!(operation, DiffOp::Equal { .. }));
    changed
        .map(|operation| Difference { was: operation.old_range(), is: operation.new_range() })
        .collect()
}

/// The colours of a terminal.
#[derive(Clone, Copy)]
enum Style {
    Bold = 1,
    Red = 31,
    Green = 32,
    Cyan = 36,
}

/// Returns a unified diff of events, with their numbers, from 1 on.
pub(crate) fn unified(
    names: (&str, &str),
    was: &[String],
    is: &[String],
    has_color: bool,
) -> String {
    let mut page = Page { text: String::new(), has_color };
    page.line(Style::Bold, &format!("--- {}", names.0));
    page.line(Style::Bold, &format!("+++ {}", names.1));
    let line = |lines: &[String], at: usize| lines.get(at).cloned().unwrap_or_default();
    for group in group_diff_ops(operations(was, is), CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let range = |first: Range<usize>, last: Range<usize>| {
            let length = last.end - first.start;
            format!("{},{length}", first.start + usize::from(length > 0))
        };
        let old = range(first.old_range(), last.old_range());
        let new = range(first.new_range(), last.new_range());
        page.line(Style::Cyan, &format!("@@ -{old} +{new} @@"));
        for operation in &group {
            let (old, new) = (operation.old_range(), operation.new_range());
            if let DiffOp::Equal { .. } = operation {
                old.for_each(|at| page.kept(&line(was, at)));
                continue;
            }
            let old: Vec<String> = old.map(|at| line(was, at)).collect();
            let new: Vec<String> = new.map(|at| line(is, at)).collect();
            page.changed(&old, &new);
        }
    }
    page.text
}

struct Page {
    text: String,
    has_color: bool,
}

impl Page {
    fn styled(&mut self, style: Style, is_reversed: bool, text: &str) {
        if self.has_color {
            let reversed = if is_reversed { ";7" } else { "" };
            self.text.push_str(&format!("\x1b[{}{reversed}m", style as u8));
        }
        make_safe(text, &mut self.text);
        if self.has_color {
            self.text.push_str("\x1b[0m");
        }
    }

    fn line(&mut self, style: Style, text: &str) {
        self.styled(style, false, text);
        self.text.push('\n');
    }

    /// Shows an event that does not differ.
    fn kept(&mut self, event: &str) {
        self.text.push(' ');
        make_safe(&shorten(event, MAX_LINE - MARGIN, MARGIN), &mut self.text);
        self.text.push('\n');
    }

    /// Shows events in place of others: each is compared with the first one of its type that has
    /// no counterpart yet.
    fn changed(&mut self, old: &[String], new: &[String]) {
        let mut free: Vec<Option<&String>> = new.iter().map(Some).collect();
        let mut written: Vec<Option<Vec<Stretch>>> = new.iter().map(|_| None).collect();
        for event in old {
            let is_like =
                |other: &Option<&String>| other.is_some_and(|other| kind(other) == kind(event));
            let pair = free.iter().position(is_like);
            let other = pair.and_then(|at| free.get_mut(at)?.take());
            let (mine, theirs) = match other {
                Some(other) => stretches(event, other),
                None => (alone(event), Vec::new()),
            };
            self.event('-', Style::Red, &mine);
            if let Some(place) = pair.and_then(|at| written.get_mut(at)) {
                *place = Some(theirs);
            }
        }
        for (event, stretches) in new.iter().zip(written) {
            self.event('+', Style::Green, &stretches.unwrap_or_else(|| alone(event)));
        }
    }

    fn event(&mut self, sign: char, style: Style, stretches: &[Stretch]) {
        self.styled(style, false, &sign.to_string());
        let last = stretches.len().saturating_sub(1);
        for (at, Stretch { is_change, text }) in stretches.iter().enumerate() {
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

/// A part of an event that is, or is not, in its counterpart.
struct Stretch {
    is_change: bool,
    text: String,
}

/// An event without a counterpart.
fn alone(event: &str) -> Vec<Stretch> {
    vec![Stretch { is_change: false, text: event.to_owned() }]
}

/// Compares two events, word by word between the first and the last character that differ.
fn stretches(was: &str, is: &str) -> (Vec<Stretch>, Vec<Stretch>) {
    let head: usize =
        was.chars().zip(is.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (same, was) = was.split_at_checked(head).unwrap_or(("", was));
    let is = is.get(head..).unwrap_or_default();
    let ends = was.chars().rev().zip(is.chars().rev());
    let tail: usize = ends.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (was, end) = was.split_at_checked(was.len() - tail).unwrap_or((was, ""));
    let is = is.get(..is.len() - tail).unwrap_or_default();
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
                ChangeTag::Delete => push(&mut old, true, change.value()),
                ChangeTag::Insert => push(&mut new, true, change.value()),
                ChangeTag::Equal => {
                    push(&mut old, false, change.value());
                    push(&mut new, false, change.value());
                }
            }
        }
    }
    push(&mut old, false, end);
    push(&mut new, false, end);
    (old, new)
}

fn push(stretches: &mut Vec<Stretch>, is_change: bool, text: &str) {
    match stretches.last_mut() {
        Some(last) if last.is_change == is_change => last.text.push_str(text),
        _ if text.is_empty() => {}
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
    let (head, tail) = (text.get(..place(before)), text.get(place(count - after)..));
    format!("{}…{}", head.unwrap_or_default(), tail.unwrap_or_default())
}

/// The type of an event.
fn kind(event: &str) -> String {
    members(event).first().map(|(_, value)| value.get().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    fn diff(was: &[&str], is: &[&str], has_color: bool) -> String {
        let owned =
            |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        unified(("a.golden", "a"), &owned(was), &owned(is), has_color)
    }

    #[test]
    fn long_texts_are_cut_to_what_differs() {
        let text = |word: &str| {
            let filler = "one two three four five six seven eight nine ten ".repeat(9);
            format!("{{\"type\":\"text\",\"text\":\"{filler}{word} {filler}and {word}.\"}}")
        };
        let start = r#"{"type":"start","v":1}"#;
        let call = r#"{"type":"tool_call","index":0}"#;
        let shown = |word: &str| {
            format!(
                "{{\"type\":\"text\",\"text\":\"one two three four five six seven eight nine ten one two \
                 …hree four five six seven eight nine ten {word} one two three four five six seven \
                 eight… four five six seven eight nine ten and {word}.\"}}"
            )
        };
        assert_eq!(
            diff(&[start, &text("cold")], &[start, &text("warm"), call], false),
            format!(
                "--- a.golden\n+++ a\n@@ -1,2 +1,3 @@\n {start}\n-{}\n+{}\n+{call}\n",
                shown("cold"),
                shown("warm")
            )
        );
    }

    #[test]
    fn colours_show_what_changed() {
        assert_snapshot!(
            diff(&[r#"{"type":"text","text":"cold"}"#], &["{\"type\":\"text\",\"text\":\"\u{202e}\"}"], true)
                .replace('\x1b', "ESC"),
            @r#"
            ESC[1m--- a.goldenESC[0m
            ESC[1m+++ aESC[0m
            ESC[36m@@ -1,1 +1,1 @@ESC[0m
            ESC[31m-ESC[0mESC[31m{"type":"text","text":"ESC[0mESC[31;7mcoldESC[0mESC[31m"}ESC[0m
            ESC[32m+ESC[0mESC[32m{"type":"text","text":"ESC[0mESC[32;7m\u202eESC[0mESC[32m"}ESC[0m
            "#
        );
    }

    #[test]
    fn events_that_come_and_go_are_shown() {
        assert_snapshot!(diff(&["{\"type\":\"a\"}"], &[], false), @r#"
        --- a.golden
        +++ a
        @@ -1,1 +0,0 @@
        -{"type":"a"}
        "#);
        assert_eq!(changes(&[], &["x".to_owned()]).len(), 1);
    }
}
