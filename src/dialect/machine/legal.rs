//! The markers that are legal in a place, and where they may begin.

use crate::dialect::machine::grammar::Rule;
use crate::dialect::machine::markdown_context::Guard;
use crate::scan;
use crate::scan::Finder;

/// The rules of a place, and what finds the bytes that their markers begin with.
#[derive(Default)]
pub(crate) struct Legal {
    pub(crate) rules: Vec<Rule>,
    finder: Finder,
    /// Each first byte of each rule, with the rule's number, in order.
    firsts: Vec<(u8, usize)>,
    /// Which rules' markers are spelled as special tokens are.
    tokens: Vec<bool>,
    /// Whether every rule is legal only where prose is not.
    pub(crate) is_guarded: bool,
}

impl Legal {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        let numbered = || rules.iter().map(|rule| &rule.pattern).enumerate();
        let firsts = numbered()
            .flat_map(|(n, pattern)| pattern.first_bytes().into_iter().map(move |byte| (byte, n)));
        let mut firsts: Vec<_> = firsts.collect();
        firsts.sort_unstable();
        firsts.dedup();
        let finder = Finder::new(rules.iter().map(|rule| &rule.pattern));
        let is_guarded = rules.iter().all(|rule| rule.guarded);
        let tokens = rules.iter().map(|rule| rule.pattern.is_token()).collect();
        Legal { rules, finder, firsts, tokens, is_guarded }
    }

    /// The first byte at or behind `from` that a marker may begin with.
    pub(crate) fn find(&self, text: &str, from: usize) -> Option<usize> {
        self.finder.find(text, from)
    }

    /// Whether a marker may begin with this byte.
    pub(crate) fn begins_with(&self, byte: u8) -> bool {
        self.firsts.binary_search_by(|&(first, _)| first.cmp(&byte)).is_ok()
    }

    /// The numbers of the rules that this text may begin with, in their order.
    pub(crate) fn at(
        &self,
        text: &str,
        guard: Guard,
        is_start: bool,
    ) -> impl Iterator<Item = usize> {
        let (is_line, is_code) = (guard.is_line(), guard.is_code());
        let byte = text.bytes().next();
        let begin = self.firsts.partition_point(|&(first, _)| Some(first) < byte);
        let here = self.firsts.get(begin..).unwrap_or_default().iter();
        let here = here.take_while(move |&&(first, _)| Some(first) == byte).map(|&(_, n)| n);
        // Where a message begins, the first byte may be any.
        let all = if is_start { 0..self.rules.len() } else { 0..0 };
        let here = here.take(if is_start { 0 } else { usize::MAX });
        here.chain(all).filter(move |&n| {
            self.rules.get(n).is_some_and(|rule| {
                let fits = match rule.pattern.place() {
                    scan::Place::Any => true,
                    scan::Place::Line => is_line,
                    scan::Place::Start => is_start,
                };
                // No one writes the spelling of a token but in code.
                let is_prose = is_code || !(is_line || self.tokens.get(n) == Some(&true));
                fits && !(rule.guarded && is_prose) && rule.pattern.may_begin(text)
            })
        })
    }
}
