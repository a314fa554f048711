//! The markers that are legal in each place of the text, and where they lead.

use std::sync::{Arc, LazyLock};

use crate::dialect::machine::grammar::{
    CallForm, CallId, DoubtForm, DoubtId, ENDS, Grammar, GrammarId, Grammars, RegionForm, RegionId,
    SectionId, ValueForm,
};
use crate::dialect::machine::markdown_context::calm_length;
use crate::dialect::machine::place::{DraftPlace, OpenCall, OpenRegion, OpenSection};
use crate::dialect::results::TAGS;
use crate::dialect::spec::{Body, Ends, Role};
use crate::dialect::turns::OPENERS;
use crate::scan::{self, Captures, MatchStart, Pattern};

/// A marker that is legal in a place, and where it leads.
#[derive(Clone)]
pub(crate) struct MarkerRule {
    pub(crate) pattern: Pattern,
    /// Patterns of which one must follow, after white space, unless the text
    /// ends; anything may if there is none.
    pub(crate) next: Vec<Pattern>,
    /// True if it is none where code is: see
    /// [`crate::dialect::machine::markdown_context`].
    pub(crate) guarded: bool,
    /// True if the end of the text can't stand for what must follow.
    pub(crate) strict: bool,
    /// True if the name in it must be that of a tool in `--tools`.
    pub(crate) known: bool,
    /// True if it's ordinary text, in which the name must be that of a tool where
    /// `--tools` has any.
    pub(crate) plain: bool,
    /// True if it opens what can't be read of a call whose opener begins so: where no other fits.
    pub(crate) is_last: bool,
    pub(crate) go: Go,
}

/// The target of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    Region(RegionId),
    EndRegion,
    /// The closer of a reasoning region that is not open.
    Stray,
    Section(SectionId),
    EndSection,
    Call(CallId),
    EndCall,
    Parameter,
    EndValue,
    /// Markers that are a part of a value: the openers of a call and of a
    /// parameter, and their closers.
    InnerCall,
    InnerParameter,
    InnerEndValue,
    InnerEndCall,
    /// A value's closer, before what looks like a damaged marker of what may follow a value.
    TornEnd,
    /// A closer that would end a value, if none that does came later.
    WeakEnd,
    /// The closer of the section, which would end it and the call, if none came later.
    WeakEndSection,
    /// The opener of a call where none can be read, and what closes it.
    Doubt(DoubtId),
    EndDoubt,
    /// Another call in the same markup.
    Again,
    /// Another object of the same call's body.
    NextObject,
    /// A marker without a meaning, which is dropped.
    Nothing,
    /// What results of calls begin or end with: the model makes them up.
    Results(bool),
    /// The opener of a turn; true if it is the model's own.
    Turn(bool),
}

impl Go {
    /// True if it leads into a call, or to the calls of a section.
    pub(crate) fn opens_call(self) -> bool {
        matches!(self, Go::Call(_) | Go::Section(_))
    }
}

impl MarkerRule {
    pub(crate) fn new(pattern: Pattern, go: Go) -> Self {
        MarkerRule {
            pattern,
            next: Vec::new(),
            guarded: false,
            strict: false,
            known: false,
            plain: false,
            is_last: false,
            go,
        }
    }

    /// The rule, where the opener of what is open had these words.
    fn bind(self, words: &Captures<'_>) -> Self {
        let next = self.next.iter().map(|next| next.bind(words)).collect();
        MarkerRule { pattern: self.pattern.bind(words), next, ..self }
    }

    fn call(form: &CallForm, id: CallId) -> Self {
        let next = form.next.clone();
        MarkerRule { next, known: form.known, ..MarkerRule::new(form.open.clone(), Go::Call(id)) }
    }

    /// True if its marker may begin with a space, after the beginning of the message.
    fn begins_with_space(&self) -> bool {
        self.pattern.place() != scan::MarkerPlace::Start
            && self.pattern.first_bytes().contains(&b' ')
    }

    /// True if its marker, which begins so, may stand inside a line of prose where it is guarded.
    pub(super) fn is_inline(&self, starts: &[MatchStart]) -> bool {
        let is_sign =
            |start: &MatchStart| !start.text.first().is_some_and(u8::is_ascii_alphanumeric);
        starts.iter().all(MatchStart::is_token)
            || ((self.go.opens_call()
                || matches!(self.go, Go::Doubt(_) | Go::Results(_) | Go::Turn(_)))
                && starts.iter().all(is_sign))
    }

    /// True if its marker begins with nothing calm, or never in the middle of a line of prose.
    pub(super) fn is_calm(&self, starts: &[MatchStart]) -> bool {
        let is_stop =
            !starts.is_empty() && starts.iter().all(|start| calm_length(&start.text) == 0);
        let is_inline = || self.is_inline(starts);
        is_stop || self.pattern.place() != scan::MarkerPlace::Any || (self.guarded && !is_inline())
    }
}

/// Closers, where their opener had these words.
fn closers<'c>(
    close: &'c [Pattern],
    words: &'c Captures<'static>,
    go: Go,
) -> impl Iterator<Item = MarkerRule> {
    close.iter().map(move |close| MarkerRule::new(close.bind(words), go))
}

/// The openers of turns: a text that has more than one is more than the model's answer.
fn turns(guarded: bool) -> impl Iterator<Item = MarkerRule> {
    let rule = move |(open, is_own): &(Pattern, bool)| MarkerRule {
        guarded,
        ..MarkerRule::new(open.clone(), Go::Turn(*is_own))
    };
    OPENERS.iter().map(rule)
}

/// What results stand between, in any dialect and in the one that the text is in: where calls are
/// looked for, no tool has given them. Prose speaks of tags in its lines, but of no special tokens.
fn results(own: Option<&[Pattern; 2]>) -> Vec<MarkerRule> {
    let mut rules: Vec<MarkerRule> = Vec::new();
    let others = TAGS.iter().filter(|tags| Some(*tags) != own);
    for [open, close] in own.into_iter().chain(others) {
        match open.is_token() {
            true => rules.push(MarkerRule::new(open.clone(), Go::Results(true))),
            false => rules.extend(
                [open.before_line_end(), open.clone().on_a_line()]
                    .map(|open| MarkerRule::new(open, Go::Results(true))),
            ),
        }
        rules.push(MarkerRule::new(close.clone(), Go::Results(false)));
    }
    rules
}

fn drops(grammar: &Grammar) -> impl Iterator<Item = MarkerRule> {
    grammar.drops.iter().map(|drop| MarkerRule::new(drop.clone(), Go::Nothing))
}

/// The markers that open a region, a section or a call of a grammar.
///
/// If the user chose the dialect (`named`), a call may lack the section around
/// it, and markup of a call that can't be read is a call as well. Otherwise only
/// special tokens may lack it, and a call that has no opener must name a known
/// tool.
fn openers(id: GrammarId, grammar: &Grammar, named: bool) -> Vec<MarkerRule> {
    let mut rules = Vec::new();
    for (id, section) in grammar.sections(id) {
        let next = grammar.calls.iter().map(|call| call.open.clone()).collect();
        rules.push(MarkerRule { next, ..MarkerRule::new(section.open.clone(), Go::Section(id)) });
    }
    let needs_section = !grammar.sections.is_empty() && (!named || grammar.requires_sections());
    let mut readable: Vec<Pattern> = Vec::new();
    for (id, call) in grammar.calls(id) {
        let is_readable = call.is_readable();
        let is_own_section = grammar.sections.iter().any(|section| section.open == call.open);
        let is_bare = needs_section
            && (grammar.requires_sections() || !call.open.is_token())
            && !is_own_section
            && is_readable;
        // Prose speaks of tags, but of no headers.
        let is_header =
            || grammar.has_messages() && call.open.without_option().all(|open| open.is_token());
        if !is_bare && (named || is_readable || is_header()) {
            let rule = MarkerRule {
                is_last: !is_readable && readable.contains(&call.open.first_tag()),
                ..MarkerRule::call(call, id)
            };
            rules.push(if named { call.chosen(rule) } else { call.unsolicited(rule) });
        }
        readable.extend(is_readable.then(|| call.open.first_tag()));
    }
    let regions = grammar.regions(id);
    rules.extend(regions.map(|(id, region)| MarkerRule::new(region.open.clone(), Go::Region(id))));
    rules
}

/// Characters that no prose begins with: NUL, a byte order mark, and spaces without width.
const UNSEEN: [&str; 6] = ["\0", "\u{feff}", "\u{200b}", "\u{200c}", "\u{200d}", "\u{2060}"];

/// What a call without an opener begins with, in JSON and in Python.
static NAMED_JSON: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    Pattern::parse_all(&[
        "{{}{ws}\"name\"{ws}:{ws}\"{name}\"",
        "[{ws}{{}{ws}\"name\"{ws}:{ws}\"{name}\"",
    ])
});
static NAMED_PYTHON: LazyLock<Vec<Pattern>> =
    LazyLock::new(|| Pattern::parse_all(&["[{ws}{name}("]));

impl CallForm {
    /// The opener where the user chose this dialect: one that its closer follows, or what no
    /// reader sees, is a call that can't be read.
    fn chosen(&self, mut rule: MarkerRule) -> MarkerRule {
        if !self.has_own_next && matches!(self.body, Body::Json(_) | Body::Literal(_)) {
            rule.next.extend_from_slice(&self.close);
            if !self.open.is_blank() {
                rule.next.extend(Pattern::parse_all(&UNSEEN));
            }
        }
        rule
    }

    /// The opener where the user did not choose this dialect.
    fn unsolicited(&self, rule: MarkerRule) -> MarkerRule {
        let next = match self.body {
            Body::Json(_) if self.open.is_blank() => &NAMED_JSON,
            Body::Python if self.open.is_blank() => &NAMED_PYTHON,
            _ => return MarkerRule { plain: self.narrated, ..rule },
        };
        let next = LazyLock::force(next).clone();
        let known = rule.known || self.open.is_blank();
        MarkerRule { known, plain: self.narrated, next, ..rule }
    }
}

/// The markers that are legal in the answer's text. In a dialect that the user
/// chose (`named`), closers that close nothing are dropped, those of sections
/// once there was a call, and no context is asked for. Otherwise, no marker may
/// begin with a space: every space would have to be looked at.
pub(crate) fn text_rules<'g>(
    grammars: impl Iterator<Item = (GrammarId, &'g Grammar)>,
    named: bool,
    has_calls: bool,
) -> Vec<MarkerRule> {
    let all: Vec<(GrammarId, &Grammar)> = grammars.collect();
    let mut rules = results(match &*all {
        [(_, grammar)] => grammar.result_tags.as_ref(),
        _ => None,
    });
    for (id, grammar) in all.iter().copied() {
        rules.extend(openers(id, grammar, named));
    }
    rules.sort_by_key(|rule| rule.is_last);
    for (_, grammar) in all.iter().copied() {
        rules.extend(drops(grammar));
        if named {
            rules.extend(grammar.regions.iter().flat_map(|region| strays(region)));
            rules.extend(ENDS.iter().map(|end| MarkerRule::new(end.clone(), Go::Nothing)));
        }
        if named && has_calls && !grammar.requires_sections() {
            let sections = grammar.sections.iter().flat_map(|section| &section.close);
            rules.extend(sections.map(|close| MarkerRule::new(close.clone(), Go::Nothing)));
        }
    }
    let may_lack_section = |grammar: &Grammar, doubt: &DoubtForm| {
        doubt.is_section
            || grammar.sections.is_empty()
            || (!grammar.requires_sections() && (named || doubt.open.is_token()))
    };
    let doubts = all.iter().flat_map(|(id, grammar)| {
        let doubts = grammar.doubts(*id);
        doubts.filter(|(_, doubt)| may_lack_section(grammar, doubt))
    });
    for (id, doubt) in doubts {
        // Prose speaks of tags, but of no special tokens.
        let open = match named || doubt.open.is_token() {
            true => doubt.open.clone(),
            false => doubt.open.clone().on_a_line(),
        };
        let is_known = |rule: &MarkerRule| matches!(rule.go, Go::Doubt(_)) && rule.pattern == open;
        if !rules.iter().any(is_known) {
            rules.push(MarkerRule::new(open, Go::Doubt(id)));
        }
    }
    rules.extend(turns(false));
    rules.retain(|rule| named || !rule.begins_with_space());
    rules.iter_mut().for_each(|rule| rule.guarded = !named);
    rules
}

/// The closers of a region that is not open. The opener of a thought may have
/// been in the prompt; the closer of an answer makes no difference.
pub(crate) fn strays(region: &RegionForm) -> Vec<MarkerRule> {
    let go = match region.role {
        Role::Reasoning => Go::Stray,
        Role::Text => Go::Nothing,
        Role::Block | Role::Drop => return Vec::new(),
    };
    closers(&region.close, &Captures::default(), go).collect()
}

/// The markers that are legal inside a region; `open` are the grammars that the
/// text may still be in. As in text, none of those of other dialects begins with a space, unless
/// the user chose the dialect (`named`).
pub(crate) fn region_rules<'g>(
    grammars: &Grammars,
    open: impl Iterator<Item = (GrammarId, &'g Grammar)>,
    region: &OpenRegion,
    named: bool,
) -> Vec<MarkerRule> {
    let OpenRegion { id, form, words, .. } = region;
    let mut rules: Vec<MarkerRule> = closers(&form.close, words, Go::EndRegion).collect();
    if form.role == Role::Reasoning && form.ends != Ends::Anything {
        rules.push(MarkerRule::new(form.open.bind(words), Go::Nothing));
    }
    if form.ends == Ends::Closer {
        return rules;
    }
    let is_thought = form.role == Role::Reasoning;
    // The markers around messages show which dialect this is.
    let is_its = |grammar: &Grammar| grammar.regions.iter().any(|other| other.open == form.open);
    let open = open.filter(|(_, grammar)| form.ends != Ends::Anything || is_its(grammar));
    let may_begin =
        |rule: &MarkerRule| named || form.ends == Ends::Anything || !rule.begins_with_space();
    let others = open.flat_map(|(id, grammar)| openers(id, grammar, named)).filter(may_begin);
    let others = others.filter(|rule| match rule.go {
        Go::Call(call) => !(is_thought && grammars.get(call.0).is_narration(call)),
        Go::Section(_) => true,
        Go::Region(other) => {
            form.ends == Ends::Anything || grammars.region(other).role == Role::Block
        }
        _ => false,
    });
    rules.extend(others.map(|rule| MarkerRule { guarded: !named, ..rule }));
    rules.sort_by_key(|rule| rule.is_last);
    if form.ends == Ends::Anything || grammars.get(id.0).has_blocks() {
        rules.extend(drops(grammars.get(id.0)));
    }
    rules.extend(turns(!named));
    rules
}

/// The markers that are legal after the opener of a call in a thought: the thought's own closers,
/// and those of the dialect's other thoughts.
pub(crate) fn draft_rules<'g>(
    open: impl Iterator<Item = &'g Grammar>,
    outer: &DraftPlace,
) -> Vec<MarkerRule> {
    let (mut rules, go): (Vec<MarkerRule>, Go) = match outer {
        DraftPlace::Thought(open) => {
            (closers(&open.form.close, &open.words, Go::EndRegion).collect(), Go::EndRegion)
        }
        DraftPlace::Text(_) => (Vec::new(), Go::Stray),
    };
    let thoughts = open.flat_map(|grammar| &grammar.regions).filter(|form| form.may_close_late);
    rules.extend(
        thoughts.flat_map(|form| &form.close).map(|close| MarkerRule::new(close.clone(), go)),
    );
    rules
}

/// The markers that close what can't be read.
pub(crate) fn doubt_rules(doubt: &DoubtForm) -> Vec<MarkerRule> {
    closers(&doubt.close, &Captures::default(), Go::EndDoubt).collect()
}

/// The markers that are legal between the calls of a section whose opener had
/// these words. A call's opener can be nothing else there: what follows it only
/// separates its forms.
pub(crate) fn section_rules(grammar: &Grammar, section: &OpenSection) -> Vec<MarkerRule> {
    let OpenSection { id, form, words, .. } = section;
    let calls = || grammar.calls(id.0);
    let mut rules: Vec<MarkerRule> =
        calls().map(|(id, call)| MarkerRule::call(call, id).bind(words)).collect();
    let last = calls().filter(|(_, call)| call.is_readable()).map(|(id, _)| Go::Call(id)).last();
    let last = rules.iter_mut().find(|rule| Some(rule.go) == last);
    last.into_iter().for_each(|last| last.next.clear());
    rules.extend(closers(&form.close, words, Go::EndSection));
    rules.extend(turns(false));
    rules
}

/// An open call, and the grammar that it is of.
pub(crate) struct CallRules<'c> {
    pub(crate) grammar: &'c Grammar,
    pub(crate) call: &'c OpenCall,
}

impl CallRules<'_> {
    /// The closers of the call, and of its section.
    fn ends(&self) -> Vec<MarkerRule> {
        let OpenCall { form, words, section, .. } = self.call;
        let ends = closers(&form.close, words, Go::EndCall);
        let section = section.iter();
        let section =
            section.flat_map(|open| closers(&open.form.close, &open.words, Go::EndSection));
        ends.chain(section).collect()
    }

    /// The markers that can't be a part of the call: other calls, what frames
    /// messages, and what has no meaning. The call is over where one comes.
    fn beyond(&self) -> Vec<MarkerRule> {
        let grammar = self.grammar;
        let mut rules = openers(self.call.id.0, grammar, true);
        rules.retain(|rule| match rule.go {
            Go::Region(id) => grammar.region(id).ends == Ends::Anything,
            Go::Call(id) => grammar.call(id).is_readable(),
            _ => true,
        });
        for rule in &mut rules {
            rule.strict = rule.go.opens_call();
        }
        if let Some(section) = &self.call.section {
            let bind = |rule: MarkerRule| match rule.go {
                Go::Call(_) => rule.bind(&section.words),
                _ => rule,
            };
            rules = rules.into_iter().map(bind).collect();
        }
        rules.extend(drops(grammar));
        let strays = grammar.regions.iter().flat_map(|region| strays(region));
        rules.extend(strays.filter(|rule| rule.pattern.is_token()));
        rules
    }

    /// The markers that are legal between the call's arguments, or before its
    /// closer.
    pub(crate) fn between_rules(&self) -> Vec<MarkerRule> {
        let mut rules = self.ends();
        match &self.call.form.value {
            Some(ValueForm { open, .. }) => {
                rules.push(MarkerRule::new(open.bind(&self.call.words), Go::Parameter));
            }
            _ if self.call.form.again.is_some() => {
                let again = self.call.form.again.iter().cloned();
                rules.extend(again.map(|pattern| MarkerRule::new(pattern, Go::Again)));
            }
            _ if self.call.form.may_repeat() => {
                let next = Pattern::parse("{").ok();
                rules.extend(next.map(|pattern| MarkerRule::new(pattern, Go::NextObject)));
            }
            _ => {}
        }
        rules.extend(self.beyond());
        rules
    }

    /// The markers that are legal in a value; `key` are the words of its opener.
    pub(crate) fn value_rules(&self, key: &Captures<'_>) -> Vec<MarkerRule> {
        let mut ends = self.ends();
        let Some(ValueForm { open, close, form }) = &self.call.form.value else {
            if self.call.form.is_one_value() {
                // The value may have lines of its own: its end is one that more of the dialect
                // follows. Where the text ends, another line may have been to come.
                for rule in ends.iter_mut().filter(|rule| rule.pattern.is_line_end()) {
                    let beyond = self.beyond().into_iter().map(|rule| rule.pattern);
                    rule.next = beyond.chain(self.grammar.results.clone()).collect();
                    rule.strict = true;
                }
                ends.extend(self.inner_texts());
            }
            return ends;
        };
        let open = MarkerRule::new(open.bind(&self.call.words), Go::Parameter);
        let Some(close) = close else {
            ends.push(open);
            return ends;
        };
        let close = MarkerRule::new(close.bind(&self.call.words).bind(key), Go::EndValue);
        if !form.item.is_empty() {
            // No text has such tags: where the call ends, a value lacks its closer.
            let ends = ends.into_iter().filter(|rule| rule.go == Go::EndCall);
            return [open, close].into_iter().chain(ends).collect();
        }
        // Where nothing is escaped, the closer closes the value only if what may
        // follow a value follows, or what ends the call.
        let mut beyond = self.beyond();
        beyond.retain(|rule| !rule.known && rule.pattern.place() == scan::MarkerPlace::Any);
        let (weak, beyond): (Vec<MarkerRule>, Vec<MarkerRule>) =
            beyond.into_iter().partition(|rule| matches!(rule.go, Go::Nothing | Go::Stray));
        let patterns = |rules: &[&[MarkerRule]]| -> Vec<Pattern> {
            rules.iter().copied().flatten().map(|rule| rule.pattern.clone()).collect()
        };
        // What follows may be damaged after its first tag.
        let tag = [MarkerRule::new(open.pattern.first_tag(), Go::Parameter)];
        let open = [open];
        let damaged = open.iter().chain(&ends).flat_map(|rule| rule.pattern.damaged()).collect();
        let next = patterns(&[&tag, &ends, &beyond]);
        let mut rules = vec![MarkerRule { next, ..close.clone() }];
        // The value lacks its closer where the call's comes before what follows a
        // call: other text may quote that, but no special token.
        let section: Vec<MarkerRule> =
            ends.iter().filter(|rule| rule.go == Go::EndSection).cloned().collect();
        for end in &ends {
            let next = match end.pattern.is_token() {
                true => patterns(&[&section, &beyond]),
                false if end.go == Go::EndCall => patterns(&[&section]),
                false => continue,
            };
            // Without a section, the text's end follows.
            let next = if next.is_empty() { Pattern::never() } else { next };
            rules.push(MarkerRule { next, ..end.clone() });
        }
        let tokens = weak.iter().filter(|rule| rule.pattern.is_token()).cloned();
        let tokens: Vec<MarkerRule> = tokens.collect();
        if !tokens.is_empty() {
            rules.push(MarkerRule { next: patterns(&[&tokens]), go: Go::WeakEnd, ..close.clone() });
        }
        let sections = section.iter().filter(|rule| rule.pattern.is_token());
        rules.extend(sections.map(|end| MarkerRule { go: Go::WeakEndSection, ..end.clone() }));
        rules.extend(self.inner_calls());
        // What precedes the tag that the closer belongs to may be damaged.
        let inner =
            open.map(|rule| MarkerRule { pattern: rule.pattern.last_tag().bind(key), ..rule });
        rules.extend(inner.map(|rule| MarkerRule { go: Go::InnerParameter, ..rule }));
        let torn = MarkerRule { next: damaged, go: Go::TornEnd, ..close.clone() };
        rules.extend(Some(torn).filter(|rule| !rule.next.is_empty()));
        rules.push(MarkerRule { go: Go::InnerEndValue, ..close });
        rules
    }

    /// The openers of calls that end as this one, whose inside is a value. Source may hold a bare
    /// tag, but not on a line of its own.
    fn inner_texts(&self) -> impl Iterator<Item = MarkerRule> {
        let OpenCall { id, form, .. } = self.call;
        let ends_alike =
            |call: &&Arc<CallForm>| call.close.iter().any(|close| form.close.contains(close));
        self.grammar.calls.iter().filter(ends_alike).filter_map(|call| {
            let is_bare = !call.open.has_word("name") && !call.open.is_token();
            let pattern = if is_bare { call.open.after_line_end() } else { call.open.clone() };
            let rule = MarkerRule { strict: true, ..MarkerRule::call(call, *id) };
            let is_known = pattern.place() == scan::MarkerPlace::Any;
            is_known.then_some(MarkerRule { pattern, go: Go::InnerCall, known: false, ..rule })
        })
    }

    /// The openers and closers of calls that a value may hold. Where a closer has the call's name
    /// in it, only those of that name.
    fn inner_calls(&self) -> Vec<MarkerRule> {
        let OpenCall { id, form, words, .. } = self.call;
        let is_by_name = form.close.iter().any(|close| close.has_word("name"));
        let is_call = |call: &&Arc<CallForm>| {
            let is_counted = call.is_readable() && !call.close.is_empty() && !call.known;
            is_counted && call.open.place() == scan::MarkerPlace::Any
        };
        let inner = |call: &CallForm| {
            let mut rule = MarkerRule { strict: true, ..MarkerRule::call(call, *id) };
            if let Some(ValueForm { open, .. }) = &call.value {
                // No prose has such a token: whatever follows, it opens a call.
                match call.open.is_token() {
                    true => rule.next.clear(),
                    false => rule.next.push(open.first_tag()),
                }
            }
            MarkerRule { go: Go::InnerCall, known: false, ..rule }
        };
        let end = |pattern: Pattern| MarkerRule::new(pattern, Go::InnerEndCall);
        if is_by_name {
            let close = form.close.iter().map(|close| end(close.bind(words)));
            return [inner(form).bind(words)].into_iter().chain(close).collect();
        }
        let calls = || self.grammar.calls.iter().filter(is_call);
        let mut ends: Vec<&Pattern> = Vec::new();
        for close in calls().flat_map(|call| &call.close) {
            if !ends.contains(&close) {
                ends.push(close);
            }
        }
        let ends = ends.into_iter().map(|close| end(close.clone()));
        calls().map(|call| inner(call)).chain(ends).collect()
    }

    /// The markers that are legal in a call that can't be read, or before its body.
    pub(crate) fn closing_rules(&self) -> Vec<MarkerRule> {
        let ends = self.ends();
        if ends.is_empty() { self.beyond() } else { ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::table::DIALECTS;

    #[test]
    fn no_marker_of_unknown_text_begins_in_calm_text() {
        let grammars = Grammars::new(DIALECTS.iter().copied().filter(|row| row.auto));
        for rule in text_rules(grammars.iter(), false, false) {
            assert!(rule.is_calm(&rule.pattern.starts()), "{:?}", rule.pattern);
        }
    }

    #[test]
    fn no_marker_of_another_dialect_begins_in_a_calm_thought() {
        let grammars = Grammars::new(DIALECTS.iter().copied().filter(|row| row.auto));
        let regions = grammars.iter().flat_map(|(id, grammar)| grammar.regions(id));
        for (id, form) in regions.filter(|(_, form)| form.ends == Ends::Calls) {
            let open = OpenRegion::new(id, Arc::clone(form), Captures::default());
            let rules = region_rules(&grammars, grammars.iter(), &open, false);
            for rule in rules.iter().filter(|rule| rule.guarded) {
                let starts = rule.pattern.starts();
                assert!(rule.is_calm(&starts), "{:?} in {:?}", rule.pattern, form.open);
            }
        }
    }
}
