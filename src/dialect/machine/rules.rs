//! The markers that are legal in each place of the text.

use std::rc::Rc;

use crate::dialect::machine::grammar::{Go, Grammar, RegionForm, Rule};
use crate::dialect::spec::{Ends, Role};
use crate::scan::{Captures, Pattern, Place};

/// The markers that open a region, a section or a call, grammar by grammar. If
/// the user chose the dialect, a call may lack the section around it.
fn openers(g: usize, grammar: &Grammar, named: bool) -> Vec<Rule> {
    let mut rules = Vec::new();
    for (s, section) in grammar.sections.iter().enumerate() {
        let next = grammar.calls.iter().map(|call| call.open.clone()).collect();
        rules.push(Rule { next, ..Rule::new(section.open.clone(), Go::Section(g, s)) });
    }
    if grammar.sections.is_empty() || (named && !grammar.requires_sections()) {
        let calls = grammar.calls.iter().enumerate();
        rules.extend(calls.map(|(c, call)| call.rule(None, Go::Call(g, c))));
    }
    let regions = grammar.regions.iter().enumerate();
    rules.extend(regions.map(|(r, region)| Rule::new(region.open.clone(), Go::Region(g, r))));
    rules
}

/// The markers that are legal in the answer's text. `named` if the user chose
/// the dialect: then closers that close nothing are dropped, those of sections
/// if there was a call, and no context is asked for. In any text, a marker that
/// begins with a space would have every space looked at.
pub(crate) fn text_rules(grammars: &[Rc<Grammar>], named: bool, has_calls: bool) -> Vec<Rule> {
    let mut rules = Vec::new();
    for (g, grammar) in grammars.iter().enumerate() {
        rules.extend(openers(g, grammar, named));
        rules.extend(grammar.drops());
        if named {
            rules.extend(grammar.regions.iter().flat_map(strays));
        }
        if named && has_calls && !grammar.requires_sections() {
            let sections = grammar.sections.iter().flat_map(|section| &section.close);
            rules.extend(sections.map(|close| Rule::new(close.clone(), Go::Nothing)));
        }
    }
    let begins_with_space = |rule: &Rule| {
        rule.pattern.place() != Place::Start && rule.pattern.first_bytes().contains(&b' ')
    };
    rules.retain(|rule| named || !begins_with_space(rule));
    rules.iter_mut().for_each(|rule| rule.guarded = !named);
    rules
}

/// The closers of a region that isn't open: of thoughts, the opener may have
/// been in the prompt, and of the answer it makes no difference.
pub(crate) fn strays(region: &RegionForm) -> Vec<Rule> {
    let go = match region.role {
        Role::Reasoning => Go::Stray,
        Role::Text => Go::Nothing,
        Role::Block | Role::Drop => return Vec::new(),
    };
    bound(&region.close, &Captures::default(), go)
}

/// The markers that are legal inside a region.
pub(crate) fn region_rules(
    grammars: &[Rc<Grammar>],
    (g, r): (usize, usize),
    words: &Captures,
    named: bool,
) -> Vec<Rule> {
    let Some(grammar) = grammars.get(g) else { return Vec::new() };
    let Some(region) = grammar.regions.get(r) else { return Vec::new() };
    let mut rules = bound(&region.close, words, Go::EndRegion);
    if region.role == Role::Reasoning && region.ends != Ends::Anything {
        rules.push(Rule::new(region.open.bind(words), Go::Nothing));
    }
    if region.ends == Ends::Closer {
        return rules;
    }
    let is_thought = region.role == Role::Reasoning;
    let others = grammars.iter().enumerate().flat_map(|(g, grammar)| openers(g, grammar, named));
    let others = others.filter(|rule| match rule.go {
        Go::Section(..) | Go::Call(..) => !(is_thought && is_narrated(grammars, rule.go)),
        _ => region.ends == Ends::Anything,
    });
    rules.extend(others.map(|rule| Rule { guarded: !named, ..rule }));
    if region.role == Role::Text && region.ends == Ends::Anything {
        rules.extend(grammar.drops());
    }
    rules
}

/// Whether the opener of a call, or of a section, is narration in a thought.
fn is_narrated(grammars: &[Rc<Grammar>], go: Go) -> bool {
    let narrated = match go {
        Go::Call(g, c) => grammars.get(g).and_then(|grammar| grammar.calls.get(c)?.narrated.into()),
        Go::Section(g, s) => {
            grammars.get(g).and_then(|grammar| grammar.sections.get(s)?.narrated.into())
        }
        _ => None,
    };
    narrated == Some(true)
}

/// The markers that are legal between the calls of a section.
pub(crate) fn section_rules(
    grammars: &[Rc<Grammar>],
    g: usize,
    s: usize,
    words: &Captures,
) -> Vec<Rule> {
    let Some(grammar) = grammars.get(g) else { return Vec::new() };
    // Inside a section, a call's opener can be nothing else: what follows only
    // tells its forms apart.
    let last = grammar.calls.len().saturating_sub(1);
    let calls = grammar.calls.iter().enumerate().map(|(c, call)| {
        let mut rule = call.rule(Some(words), Go::Call(g, c));
        rule.next.truncate(if c == last { 0 } else { usize::MAX });
        rule
    });
    let close = grammar.sections.get(s).map(|section| bound(&section.close, words, Go::EndSection));
    calls.chain(close.into_iter().flatten()).collect()
}

/// The markers that can't be a part of an open call, inside a section that has
/// begun with these words: other calls, what frames messages, and what means
/// nothing.
pub(crate) fn beyond_call(grammar: &Grammar, g: usize, section: Option<&Captures>) -> Vec<Rule> {
    let mut rules = openers(g, grammar, true);
    rules.retain(|rule| match rule.go {
        Go::Region(_, r) => {
            grammar.regions.get(r).is_some_and(|region| region.ends == Ends::Anything)
        }
        _ => true,
    });
    for rule in &mut rules {
        if let (Go::Call(..), Some(words)) = (rule.go, section) {
            rule.pattern = rule.pattern.bind(words);
            rule.next = rule.next.iter().map(|next| next.bind(words)).collect();
        }
    }
    rules.extend(grammar.drops());
    rules
}

/// Closers, where their opener had these words.
pub(crate) fn bound(close: &[Pattern], words: &Captures, go: Go) -> Vec<Rule> {
    close.iter().map(|close| Rule::new(close.bind(words), go)).collect()
}
