//! The search for the next marker.

use super::{Machine, Place, Rule};
use crate::scan::{self, Captures, Lookahead, Match};
use crate::tools::Tools;

impl Machine {
    /// Where the next marker may begin: where attempts are under way, where
    /// the message begins, or at a byte that begins one.
    pub(super) fn candidate(&mut self, text: &str, at: usize) -> Option<usize> {
        let is_start = self.is_start && self.place == Place::Text && at < text.len();
        if !self.attempts.is_empty() || is_start {
            return Some(at);
        }
        self.finder.find(text, at)
    }

    pub(super) fn guard_feed(&mut self, text: &str, from: usize, to: usize) {
        if matches!(self.place, Place::Text | Place::Region) {
            self.guard.feed(text.get(from..to).unwrap_or_default());
        }
    }

    pub(super) fn begin_attempts(&mut self) {
        let (guard, is_start) = (self.guard, self.is_start);
        let (is_line, is_code) = (guard.is_line(), guard.is_code());
        let attempts = self.rules.iter().map(|rule| {
            let fits = match rule.pattern.place() {
                scan::Place::Any => true,
                scan::Place::Line => is_line,
                scan::Place::Start => is_start,
            };
            // No one writes the spelling of a token but in code.
            let is_prose = is_code || !(is_line || rule.pattern.is_token());
            Lookahead::new(fits && !(rule.guarded && is_prose))
        });
        self.attempts.extend(attempts);
    }

    /// Looks on with all rules; the first one in their order that fits counts.
    pub(super) fn attempt(&mut self, text: &str, ended: bool) -> Tried {
        // What a section's markers may still become is looked at when it's over.
        let ended = ended && self.place != Place::Section;
        for (number, (rule, attempt)) in self.rules.iter().zip(&mut self.attempts).enumerate() {
            match attempt.advance(&rule.pattern, &rule.next, text, ended) {
                Match::No => {}
                Match::More => return Tried::More,
                Match::Yes(length) => {
                    let words = attempt.captures(&rule.pattern, text).unwrap_or_default();
                    if is_unknown(rule, &words, self.calls.tools.as_deref()) {
                        continue;
                    }
                    self.attempts.clear();
                    return Tried::Yes(number, length, words);
                }
            }
        }
        self.attempts.clear();
        Tried::No
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
pub(super) enum Tried {
    No,
    More,
    /// The rule's number, the marker's length, and its words.
    Yes(usize, usize, Captures),
}
