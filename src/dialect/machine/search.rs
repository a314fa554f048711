//! The search for the next marker of one place.

use std::sync::Arc;

use crate::dialect::machine::rules::{Go, Here, Rule, RuleSet};
use crate::scan::{Captures, Lookahead, Sight};
use crate::tools::Tools;

/// The rules of a place, and the attempts at a marker that may have begun. Each
/// place has its own: attempts never outlive the place whose rules they follow.
#[derive(Default)]
pub(crate) struct Search {
    pub(crate) rules: Arc<RuleSet>,
    /// The numbers of rules, and how far they fit.
    attempts: Vec<(usize, Fit)>,
    /// The rules that may begin where a marker was found.
    fits: Vec<usize>,
}

/// The length to which a rule fits.
#[derive(Default)]
enum Fit {
    /// It was not tried.
    #[default]
    Unknown,
    /// It fits so far.
    Open(Box<Lookahead>),
    No,
}

/// The result of all attempts at one place.
pub(crate) enum Found<'t> {
    /// No marker begins here.
    No,
    /// No marker begins here, but only because the text ended too soon: what
    /// follows may be a part of one, and no marker by itself.
    Cut,
    /// The text ended inside the opener of a call or a section.
    Header(Marker<'t>),
    /// More text will tell.
    More,
    Marker(Marker<'t>),
}

/// A marker that was found.
pub(crate) struct Marker<'t> {
    pub(crate) go: Go,
    /// True if it's none where code is.
    pub(crate) guarded: bool,
    /// In bytes.
    pub(crate) length: usize,
    pub(crate) words: Captures<'t>,
}

impl Search {
    /// True if no marker is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.attempts.is_empty()
    }

    /// Goes on with the rules of another place; keeps the buffers.
    pub(crate) fn enter(&mut self, rules: Arc<RuleSet>) {
        self.rules = rules;
        self.attempts.clear();
    }

    /// Returns the first place at or after `from` where a marker may begin.
    pub(crate) fn find(&mut self, text: &str, from: usize, has_tools: bool) -> Option<usize> {
        self.fits.clear();
        self.rules.find(text, from, has_tools, &mut self.fits)
    }

    /// Looks which markers may begin with `text`; where the message begins if `is_start`.
    pub(crate) fn look(&mut self, text: &str, is_start: bool, has_tools: bool) {
        self.fits.clear();
        self.rules.fit(text.as_bytes(), has_tools, &mut self.fits);
        if is_start {
            self.rules.fit_start(text.as_bytes(), has_tools, &mut self.fits);
        }
    }

    /// True if a marker may begin where was looked last.
    pub(crate) fn fits(&self) -> bool {
        !self.fits.is_empty()
    }

    /// Begins to try the rules that may begin where was looked last, at a text with this first
    /// byte.
    pub(crate) fn begin(&mut self, first: Option<u8>, here: &Here<'_>) {
        let fits = self.fits.iter().copied();
        let legal = fits.filter(|&number| self.rules.is_legal(number, first, here));
        self.attempts.extend(legal.map(|number| (number, Fit::Unknown)));
    }

    /// Begins to try the rules that are legal here in prose and may begin with `text`. Returns
    /// false if there is none.
    pub(crate) fn begin_here(&mut self, text: &[u8], has_tools: bool, here: &Here<'_>) -> bool {
        if !self.rules.may_begin(text) {
            return false;
        }
        self.fits.clear();
        self.rules.fit_here(text, has_tools, here, &mut self.fits);
        self.attempts.extend(self.fits.iter().map(|&number| (number, Fit::Unknown)));
        !self.fits.is_empty()
    }

    /// Gives up all attempts.
    pub(crate) fn reset(&mut self) {
        self.attempts.clear();
    }

    /// Looks at the bytes that are new. The first rule in their order that fits
    /// counts; its attempts stay until [`Search::reset`].
    pub(crate) fn advance<'t>(
        &mut self,
        text: &'t str,
        ended: bool,
        tools: Option<&Tools>,
    ) -> Found<'t> {
        let mut is_cut = false;
        for (number, fit) in &mut self.attempts {
            let rule = &self.rules.rules[*number];
            let mut begun = Lookahead::default();
            let attempt = match fit {
                Fit::No => continue,
                Fit::Unknown => &mut begun,
                Fit::Open(attempt) => &mut **attempt,
            };
            let mut sight = attempt.advance(&rule.pattern, &rule.next, text, false);
            if matches!(sight, Sight::More) && ended {
                if attempt.is_inside() && matches!(rule.go, Go::Call(_)) {
                    let words = attempt.captures(&rule.pattern, text);
                    let (go, guarded) = (rule.go, rule.guarded);
                    return Found::Header(Marker { go, guarded, length: text.len(), words });
                }
                sight = match rule.strict {
                    true => Sight::No,
                    false => attempt.advance(&rule.pattern, &rule.next, text, true),
                };
                is_cut |= matches!(sight, Sight::No);
            }
            match sight {
                Sight::No => {}
                Sight::More => {
                    if matches!(fit, Fit::Unknown) {
                        *fit = Fit::Open(Box::new(begun));
                    }
                    return Found::More;
                }
                Sight::Yes(length, words) => {
                    let name = words.get("name").or(attempt.name().filter(|_| rule.known));
                    if !is_unknown(rule, name, tools) {
                        let (go, guarded) = (rule.go, rule.guarded);
                        return Found::Marker(Marker { go, guarded, length, words });
                    }
                }
            }
            *fit = Fit::No;
        }
        self.reset();
        if is_cut { Found::Cut } else { Found::No }
    }
}

/// True if a call's opener names a tool that is not in `--tools`, where that
/// tells markup from prose.
fn is_unknown(rule: &Rule, name: Option<&str>, tools: Option<&Tools>) -> bool {
    match (name, tools) {
        (Some(name), Some(tools)) => (rule.known || rule.plain) && !tools.has(name),
        (Some(_), None) => rule.known,
        (None, _) => false,
    }
}
