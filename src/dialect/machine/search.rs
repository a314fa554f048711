//! The search for the next marker.

use crate::dialect::machine::{Machine, Place, Rule};
use crate::scan::{Captures, Lookahead, Match};
use crate::tools::Tools;

impl Machine {
    /// Where the next marker may begin: where attempts are under way, where
    /// the message begins, or at a byte that begins one.
    pub(crate) fn candidate(&mut self, text: &str, at: usize) -> Option<usize> {
        let is_start = self.is_start && self.place == Place::Text && at < text.len();
        if !self.attempts.is_empty() || is_start {
            return Some(at);
        }
        self.legal.find(text, at)
    }

    pub(crate) fn guard_feed(&mut self, text: &str, from: usize, to: usize) {
        if matches!(self.place, Place::Text | Place::Region) {
            self.guard.feed(text.get(from..to).unwrap_or_default());
        }
    }

    /// Begins to try the rules that fit at a place.
    pub(crate) fn begin_attempts(&mut self, text: &str, start: usize) {
        let text = text.get(start..).unwrap_or_default();
        let fitting = self.legal.at(text, self.guard, self.is_start);
        self.attempts.extend(fitting.map(|rule| (rule, Lookahead::default())));
    }

    /// Where a marker may begin next, where none begins at `start`: in prose, at
    /// the next line or token, and behind code.
    pub(crate) fn next_place(&self, text: &str, start: usize) -> usize {
        let rest = text.get(start..).unwrap_or_default();
        let next = start + rest.chars().next().map_or(1, char::len_utf8);
        if !self.legal.is_guarded {
            return next;
        }
        if self.guard.is_code() {
            let end = memchr::memchr2(b'\n', b'`', rest.as_bytes());
            return start + end.map_or(rest.len(), |end| end + 1);
        }
        let behind = text.as_bytes().get(next..).unwrap_or_default();
        // What a line begins with, white space aside, is a marker or it's prose.
        let is_blank = rest.starts_with(|c: char| c.is_ascii_whitespace());
        let begins_line = rest.starts_with('\n') || (is_blank && self.guard.is_line());
        let is_blank = |&&byte: &&u8| byte != b'\n' && byte.is_ascii_whitespace();
        let blank = if begins_line { behind.iter().take_while(is_blank).count() } else { 0 };
        let line = behind.get(blank..).unwrap_or_default();
        match line.first() {
            Some(&byte) if begins_line && self.legal.begins_with(byte) => next + blank,
            _ => {
                text.len() - line.len()
                    + memchr::memchr3(b'\n', b'<', b']', line).unwrap_or(line.len())
            }
        }
    }

    /// Looks on with all rules; the first one in their order that fits counts.
    pub(crate) fn attempt(&mut self, text: &str, ended: bool) -> Tried {
        // What a section's markers may still become is looked at when it's over.
        let ended = ended && self.place != Place::Section;
        let mut is_cut = false;
        for (number, attempt) in &mut self.attempts {
            let Some(rule) = self.legal.rules.get(*number) else { continue };
            let mut found = attempt.advance(&rule.pattern, &rule.next, text, false);
            if found == Match::More && ended {
                found = attempt.advance(&rule.pattern, &rule.next, text, true);
                is_cut |= found == Match::No;
            }
            match found {
                Match::No => {}
                Match::More => return Tried::More,
                Match::Yes(length) => {
                    let words = attempt.captures(&rule.pattern, text).unwrap_or_default();
                    if is_unknown(rule, &words, self.calls.tools.as_deref()) {
                        continue;
                    }
                    let number = *number;
                    self.attempts.clear();
                    return Tried::Yes(number, length, words);
                }
            }
        }
        self.attempts.clear();
        if is_cut { Tried::Cut } else { Tried::No }
    }
}

/// Whether a call's opener names a tool that there isn't, where that tells
/// markup from prose.
fn is_unknown(rule: &Rule, words: &Captures, tools: Option<&Tools>) -> bool {
    let name = words.get("name");
    match (name, tools) {
        (Some(name), Some(tools)) => (rule.known || rule.guarded) && !tools.has(name),
        (Some(_), None) => rule.known,
        (None, _) => false,
    }
}

/// What came of all rules at one place.
pub(crate) enum Tried {
    No,
    /// None has come, but the text ended too soon to tell: what is behind could
    /// be a part of one, and no marker of its own.
    Cut,
    More,
    /// The rule's number, the marker's length, and its words.
    Yes(usize, usize, Captures),
}
