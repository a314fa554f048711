//! The machine that reads every dialect.
//!
//! It is always in one [`TextPlace`]: the answer's text, a region, a section between
//! calls, or some part of a call. Each place has its rules: the markers that are
//! legal there. The machine looks for the first bytes of one, tries the rules
//! that may begin so, and emits everything before it as the content of the place.
//! What may still become a marker is held back; an attempt remembers how far it
//! has looked, so no byte is looked at twice.

mod blocks;
mod calls;
mod cursor;
mod doubt;
mod draft;
mod find;
pub(crate) mod grammar;
mod inlines;
mod markdown_context;
pub(crate) mod markup_probe;
mod place;
mod quotation_context;
mod quotations;
mod rules;
mod search;
#[cfg(test)]
mod tests;
mod text;
mod verbatim;

use std::io;
use std::sync::{Arc, LazyLock};

use crate::dialect::body::calls::{ChoiceEmit, TextCalls, warn};
use crate::dialect::machine::blocks::TextRegion;
use crate::dialect::machine::cursor::TextCursor;
use crate::dialect::machine::grammar::{Grammar, GrammarId, Grammars, RegionForm};
use crate::dialect::machine::markdown_context::MarkdownContext;
use crate::dialect::machine::place::{CallPlace, OpenRegion, OpenText, RulesKey, TextPlace};
use crate::dialect::machine::rules::{CallRules, Go, MarkerRule};
use crate::dialect::machine::search::{Attempted, Begun, Here, Marker, RuleSet, Search};
use crate::dialect::spec::{Dialect, Ends, Role, StartIn};
use crate::dialect::table::DIALECTS;
use crate::dialect::turns;
use crate::event::{Done, WarningCode};
use crate::scan::Captures;

/// Reads one text.
pub(crate) struct DialectMachine {
    grammars: Grammars,
    /// The grammar that the text is in, once that is known.
    chosen: Option<GrammarId>,
    /// True if the user chose the dialect.
    named: bool,
    place: TextPlace,
    search: Search,
    /// Text that may become a marker.
    held: String,
    context: MarkdownContext,
    calls: TextCalls,
    /// The closers of thoughts where the dialect is not known, once text may be one or was.
    strays: Vec<MarkerRule>,
    /// True once a call in code was warned of.
    has_warned: bool,
    /// True if the text ended inside the opener of a call.
    is_cut: bool,
    /// True in what is read again after a call that lacks its closers.
    is_rest: bool,
    /// True once no thought will close: a call in one ends it.
    drafts_stand: bool,
    /// True if the prompt opened the thought that the text begins in.
    is_prompted: bool,
}

/// What is next in a text.
enum MachineAction<'t> {
    /// The body of a call, which ends by itself.
    Body,
    /// What stands before a call's arguments.
    Head,
    /// The arguments of a call, whose head is over.
    BeginArguments,
    /// A character of content.
    Pass(char),
    /// A character after an object of a call that may have another.
    PassBetween(char),
    /// The first character of a call in code, where it is content.
    PassCode(char),
    /// Content up to the end.
    Rest,
    /// Content up to here, and then what may begin a marker, once there is more of it.
    Hold,
    /// Content up to here, and then what may be a marker or is one.
    Leave(Attempted<'t>),
}

/// Every dialect that `auto` knows, parsed once, and the rules of its text.
static AUTO: LazyLock<(Grammars, Arc<RuleSet>)> = LazyLock::new(|| {
    let grammars = Grammars::new(DIALECTS.iter().copied().filter(|row| row.auto));
    let rules = RuleSet::new(rules::text_rules(grammars.iter(), false, false));
    (grammars, rules)
});

/// Returns the closers of the thoughts of grammars.
fn strays<'g>(grammars: impl Iterator<Item = (GrammarId, &'g Grammar)>) -> Vec<MarkerRule> {
    let thoughts = grammars.flat_map(|(id, grammar)| grammar.regions(id));
    let thoughts = thoughts.filter(|(_, form)| form.role == Role::Reasoning);
    thoughts.flat_map(|(_, form)| rules::strays(form)).collect()
}

impl DialectMachine {
    /// Creates a machine for text of a dialect that the user chose.
    pub(crate) fn new(row: &'static Dialect, start_in: StartIn, calls: TextCalls) -> Self {
        DialectMachine::of(Grammars::new([row].into_iter()), true, start_in, calls)
    }

    /// Creates a machine that finds the dialect out.
    pub(crate) fn auto(start_in: StartIn, calls: TextCalls) -> Self {
        let (grammars, rules) = LazyLock::force(&AUTO).clone();
        let mut machine = DialectMachine::of(grammars, false, start_in, calls);
        machine.search.add(RulesKey::Text(false), Vec::new(), rules);
        machine.renew();
        machine
    }

    fn of(grammars: Grammars, named: bool, start_in: StartIn, calls: TextCalls) -> Self {
        let undecided = (start_in == StartIn::Auto).then(String::new);
        let text = TextPlace::Text(OpenText { is_start: true, undecided, ..OpenText::default() });
        let mut machine = DialectMachine {
            chosen: grammars.only(),
            grammars,
            named,
            place: text,
            search: Search::default(),
            held: String::new(),
            context: MarkdownContext::default(),
            calls,
            strays: Vec::new(),
            has_warned: false,
            is_cut: false,
            is_rest: false,
            drafts_stand: false,
            is_prompted: start_in == StartIn::Reasoning,
        };
        match start_in {
            StartIn::Reasoning => machine.start_in_reasoning(),
            StartIn::Auto if !named => {
                machine.strays = strays(machine.grammars.iter());
            }
            StartIn::Auto | StartIn::Text => {}
        }
        if named {
            machine.renew();
        }
        machine
    }

    fn start_in_reasoning(&mut self) {
        let thoughts = || {
            let regions = self.grammars.iter().flat_map(|(id, grammar)| grammar.regions(id));
            regions.filter(|(_, form)| form.role == Role::Reasoning)
        };
        let Some((id, first)) = thoughts().find(|(_, form)| self.named || form.ends == Ends::Calls)
        else {
            return;
        };
        let form = match self.named {
            true => Arc::clone(first),
            // Any dialect's closer ends it.
            false => Arc::new(RegionForm {
                open: first.open.clone(),
                close: thoughts().flat_map(|(_, form)| form.close.clone()).collect(),
                ..**first
            }),
        };
        self.place = TextPlace::Region(OpenRegion::new(id, form, Captures::default()));
    }

    /// Returns the dialect's name, once it is known.
    pub(crate) fn dialect(&self) -> Option<&'static str> {
        self.chosen.map(|id| self.grammars.get(id).name)
    }

    /// True in text after so many calls.
    pub(crate) fn has_made(&self, calls: u64) -> bool {
        matches!(self.place, TextPlace::Text(_)) && self.calls.count() >= calls
    }

    /// Returns the length of what is text and no marker at the beginning of this
    /// text, as far as can be seen at once.
    pub(crate) fn calm_length(&self, text: &str) -> usize {
        let is_plain = matches!(&self.place, TextPlace::Text(open) if !open.is_start);
        let may_skip = is_plain && self.search.rules().is_calm && self.held.is_empty();
        if may_skip { self.context.calm_length(text.as_bytes()) } else { 0 }
    }

    /// Takes text that is no longer than [`DialectMachine::calm_length`], and emits nothing.
    pub(crate) fn skip(&mut self, text: &str) {
        self.context.skip(text.as_bytes());
    }

    /// Takes the next piece of text.
    pub(crate) fn feed(&mut self, text: &str, emit: &mut ChoiceEmit) -> Done {
        if !text.is_empty() && self.calm_length(text) == text.len() {
            self.skip(text);
            return self.text(text, emit);
        }
        if self.held.is_empty() {
            self.run(text, false, emit)?;
        } else {
            let mut held = std::mem::take(&mut self.held);
            held.push_str(text);
            self.run(&held, false, emit)?;
        }
        self.calls.flush(emit)
    }

    /// Ends the text; returns true if it was cut inside a call or a thought. Where the model
    /// stopped by itself, only closers may be missing: a call whose arguments are
    /// whole is closed. Where the provider says that it was cut, no call of a thought counts.
    pub(crate) fn finish(
        mut self,
        (stopped, was_cut): (bool, bool),
        emit: &mut ChoiceEmit,
    ) -> io::Result<bool> {
        let mut held = std::mem::take(&mut self.held);
        if !matches!(self.place, TextPlace::Section(_)) {
            self.run(&held, true, emit)?;
            held = std::mem::take(&mut self.held);
        }
        if self.finish_doubt(emit)? {
            return Ok(true);
        }
        // A thought that was cut may have gone on after a call in it.
        if was_cut || (!stopped && self.thought_goes_on()?) {
            self.leave_draft(usize::MAX, emit)?;
        }
        if let Some(rest) = self.end_draft(emit)? {
            self.run(&rest, false, emit)?;
            return self.finish((stopped, was_cut), emit);
        }
        // Once: what is text after one call is not looked at again for each.
        if !self.is_rest
            && let Some(rest) = self.end_at_closer(&held, emit)?
        {
            self.is_rest = true;
            self.run(&rest, false, emit)?;
            return self.finish((stopped, was_cut), emit);
        }
        if self.is_cut {
            return Ok(true);
        }
        if matches!(self.place, TextPlace::Section(_)) {
            return self.finish_section(&held, emit);
        }
        self.decide_as_text(emit)?;
        self.end_blocks("the text ended inside a block", emit)?;
        match &self.place {
            TextPlace::Call(_) => self.finish_call(&held, stopped, emit),
            TextPlace::Region(open) => {
                // Engines that know their dialect, or that the prompt opened the thought, take it for
                // whole.
                let may_be_cut = !self.named && !self.is_prompted && !stopped;
                Ok(may_be_cut && open.form.role == Role::Reasoning)
            }
            _ => Ok(false),
        }
    }

    /// Goes through text that begins with what was held back.
    fn run(&mut self, text: &str, ended: bool, emit: &mut ChoiceEmit) -> Done {
        let mut cursor = TextCursor::new(text);
        loop {
            match self.step(&mut cursor, ended) {
                MachineAction::Body => {
                    cursor.take(self.feed_body(cursor.rest(), emit)?);
                    if cursor.is_over() && self.is_in_body() {
                        return Ok(());
                    }
                }
                MachineAction::Head => {
                    cursor.take(self.feed_head(cursor.rest()));
                    if cursor.is_over() {
                        return Ok(());
                    }
                }
                MachineAction::BeginArguments => self.leave_head(),
                MachineAction::Pass(c) => cursor.pass(c.len_utf8()),
                MachineAction::PassBetween(c) => {
                    cursor.pass_between(self.pass_after_object(c, emit)?)
                }
                MachineAction::PassCode(c) => {
                    if self.pass_code(cursor.content(), emit)? {
                        cursor.emitted();
                    }
                    cursor.pass(c.len_utf8());
                }
                MachineAction::Rest => break,
                MachineAction::Hold => {
                    self.content(cursor.content(), emit)?;
                    return self.hold(cursor.rest());
                }
                MachineAction::Leave(found) => {
                    self.content(cursor.content(), emit)?;
                    cursor.emitted();
                    self.leave_before(&found, emit)?;
                    match &found {
                        Attempted::Header(marker) if !self.is_in_call() => {
                            return self.cut_header(marker, cursor.rest(), emit);
                        }
                        // The rest is a part of a closer, or may be the opener of another call.
                        Attempted::Header(_) | Attempted::Cut | Attempted::No => {
                            return self.hold(cursor.rest());
                        }
                        // The content led to another place, which has other markers.
                        _ if self.search.is_idle() => {}
                        Attempted::More => return self.hold(cursor.rest()),
                        Attempted::Marker(marker) => {
                            let text = cursor.head(marker.length);
                            self.search.reset();
                            self.leave_start();
                            self.marker(marker, text, emit)?;
                            cursor.take(marker.length);
                        }
                    }
                }
            }
        }
        self.follow(cursor.see_rest());
        self.content(cursor.content(), emit)
    }

    /// Says what is next in the text, and moves to where that is.
    fn step<'t>(&mut self, cursor: &mut TextCursor<'t>, ended: bool) -> MachineAction<'t> {
        let idle = self.search.is_idle();
        if self.is_in_body() {
            return MachineAction::Body;
        }
        if idle && self.is_in_head() {
            return MachineAction::Head;
        }
        if idle
            && self.is_after_object()
            && let Some(c) = cursor.rest().chars().next()
            && matches!(self.begin_here(cursor.rest().as_bytes(), false), Begun::None)
        {
            return MachineAction::PassBetween(c);
        }
        match self.begin(cursor, ended) {
            Begun::None => return MachineAction::Rest,
            Begun::Later => return MachineAction::Hold,
            Begun::Now => {}
        }
        // Text that may still become a section's marker is read when the section is over.
        let ended = ended && !matches!(self.place, TextPlace::Section(_));
        let found = self.search.advance(cursor.rest(), ended, self.calls.tools.as_deref());
        if matches!(found, Attempted::No) {
            self.leave_start();
            if self.is_in_head() {
                return MachineAction::BeginArguments;
            }
        }
        match (found, cursor.rest().chars().next()) {
            (Attempted::No, None) => MachineAction::Rest,
            (Attempted::No, Some(c)) if self.is_after_object() => MachineAction::PassBetween(c),
            (Attempted::No, Some(c)) => MachineAction::Pass(c),
            (Attempted::Cut, _) if !self.is_in_call() => MachineAction::Rest,
            (Attempted::Marker(marker) | Attempted::Header(marker), Some(c))
                if self.is_code(&marker) =>
            {
                MachineAction::PassCode(c)
            }
            (found, _) => MachineAction::Leave(found),
        }
    }

    /// Leaves what a marker ends before it begins anything.
    fn leave_before(&mut self, found: &Attempted, emit: &mut ChoiceEmit) -> Done {
        match found {
            Attempted::Marker(Marker { go: Go::InnerCall, .. }) => self.end_before_call(emit),
            Attempted::Marker(Marker { go: Go::EndDoubt, .. }) => Ok(()),
            Attempted::Marker(_) | Attempted::Header(_) => self.leave_doubt(emit),
            _ => Ok(()),
        }
    }

    fn hold(&mut self, text: &str) -> Done {
        text.clone_into(&mut self.held);
        Ok(())
    }

    /// True if a marker that begins here is code.
    fn is_code(&self, marker: &Marker<'_>) -> bool {
        marker.guarded && self.context.region() != TextRegion::Prose
    }

    /// Passes over the beginning of a call in code, after this content. Emits that and a warning, if
    /// it is the first one; returns true if so.
    #[cold]
    fn pass_code(&mut self, before: &str, emit: &mut ChoiceEmit) -> io::Result<bool> {
        self.search.reset();
        self.context.enter_call();
        if std::mem::replace(&mut self.has_warned, true) {
            return Ok(false);
        }
        self.content(before, emit)?;
        let message = "the markup of a call in code or in quotation marks is text";
        warn(WarningCode::MarkupInCode, message, emit)?;
        Ok(true)
    }

    /// Begins to try the rules of the next marker, unless one is under way, and moves to where that
    /// may begin: where the message begins, or at bytes that begin one. The context sees the text up
    /// to it.
    fn begin(&mut self, cursor: &mut TextCursor<'_>, ended: bool) -> Begun {
        if !self.search.is_idle() {
            return Begun::Now;
        }
        if self.is_start() && !cursor.is_over() {
            self.follow(cursor.see(cursor.at));
            self.begin_here(cursor.rest().as_bytes(), false);
            return Begun::Now;
        }
        if self.is_followed() && self.search.rules().is_calm {
            self.follow(cursor.see(cursor.at));
            return self.begin_in_prose(cursor, ended);
        }
        let mut from = cursor.at;
        while let Some(found) = self.search.find(cursor.text.as_bytes(), from) {
            self.follow(cursor.see(found));
            match self.begin_here(cursor.rest().as_bytes(), false) {
                Begun::None => from = found + 1,
                begun => return begun,
            }
        }
        Begun::None
    }

    /// Finds the next marker in prose: the context is shown the text up to it, and tells where none
    /// may begin.
    fn begin_in_prose(&mut self, cursor: &mut TextCursor<'_>, ended: bool) -> Begun {
        loop {
            let rest = cursor.rest().as_bytes();
            let calm = self.context.take_calm(rest, |rest| self.search.may_begin(rest));
            cursor.skip(calm);
            let rest = cursor.rest().as_bytes();
            if rest.is_empty() {
                return Begun::None;
            }
            if self.search.may_begin(rest)
                && let begun @ (Begun::Now | Begun::Later) = self.begin_here(rest, !ended)
            {
                return begun;
            }
            cursor.skip(self.context.take_char(rest));
        }
    }

    /// Begins to try the rules that are legal here; later, if it `may_wait` for more text.
    fn begin_here(&mut self, text: &[u8], may_wait: bool) -> Begun {
        let (is_start, warns) = (self.is_start(), !self.has_warned);
        let here = Here { context: &mut self.context, is_start, warns };
        self.search.begin_here(text, may_wait, self.calls.tools.is_some(), here)
    }

    fn is_in_call(&self) -> bool {
        matches!(self.place, TextPlace::Call(_))
    }

    fn is_in_body(&self) -> bool {
        matches!(&self.place, TextPlace::Call(call) if matches!(call.part, CallPlace::Body(_)))
    }

    fn is_in_head(&self) -> bool {
        matches!(&self.place, TextPlace::Call(call) if matches!(call.part, CallPlace::Head))
    }

    fn is_start(&self) -> bool {
        matches!(&self.place, TextPlace::Text(open) if open.is_start)
    }

    fn leave_start(&mut self) {
        if let TextPlace::Text(open) = &mut self.place {
            open.is_start = false;
        }
    }

    /// True if this is prose whose context matters.
    fn is_followed(&self) -> bool {
        matches!(self.place, TextPlace::Text(_) | TextPlace::Region(_) | TextPlace::Doubt(_))
    }

    /// Lets the context see text that may be prose.
    fn follow(&mut self, text: &str) {
        if self.is_followed() {
            self.context.feed(text);
        }
    }

    /// Moves to a place; the search begins anew, with its rules.
    fn enter(&mut self, place: TextPlace) {
        self.place = place;
        self.renew();
    }

    /// Moves to a part of the open call.
    fn enter_part(&mut self, part: CallPlace) {
        if let TextPlace::Call(call) = &mut self.place {
            call.part = part;
        }
        self.renew();
    }

    /// Begins the search anew, with the rules of the place.
    fn renew(&mut self) {
        let Some((key, words)) = self.place.rules_key() else { return self.search.leave() };
        if !self.search.enter(key, &words) {
            let words = words.into_iter().flatten().cloned().collect();
            self.search.add(key, words, RuleSet::new(self.place_rules()));
        }
    }

    /// The rules of the text are other ones from here on.
    fn forget_text_rules(&mut self) {
        self.search.forget(|key| matches!(key, RulesKey::Text(_) | RulesKey::Doubt(..)));
    }

    fn text_rules(&self, open: &OpenText) -> Vec<MarkerRule> {
        let is_open = |id| self.chosen.is_none_or(|chosen| chosen == id);
        let grammars = self.grammars.iter().filter(|(id, _)| is_open(*id));
        let mut rules = rules::text_rules(grammars, self.named, self.calls.count() > 0);
        // A thought ends at its closer, whatever code is open in it.
        let guarded = open.undecided.is_none();
        rules.extend(self.strays.iter().cloned().map(|rule| MarkerRule { guarded, ..rule }));
        rules
    }

    fn place_rules(&self) -> Vec<MarkerRule> {
        let is_open = |id| self.chosen.is_none_or(|chosen| chosen == id);
        match &self.place {
            TextPlace::Text(open) => self.text_rules(open),
            TextPlace::Doubt(doubt) => {
                let mut rules = rules::doubt_rules(self.grammars.doubt(doubt.id));
                let others = self.text_rules(&doubt.outer).into_iter();
                rules.extend(others.filter(|rule| !matches!(rule.go, Go::Doubt(_))));
                rules
            }
            TextPlace::Region(open) => {
                let grammars = self.grammars.iter().filter(|(id, _)| is_open(*id));
                rules::region_rules(&self.grammars, grammars, open, self.named)
            }
            TextPlace::Draft(draft) => {
                let grammars = self.grammars.iter().filter(|(id, _)| is_open(*id));
                rules::draft_rules(grammars.map(|(_, grammar)| grammar), &draft.outer)
            }
            TextPlace::Section(open) => {
                let grammar = self.grammars.get(open.id.0);
                rules::section_rules(grammar, open)
            }
            TextPlace::Call(call) => {
                let grammar = self.grammars.get(call.id.0);
                let rules = CallRules { grammar, call };
                match &call.part {
                    CallPlace::Body(_) => Vec::new(),
                    CallPlace::Between(_) => rules.between_rules(),
                    CallPlace::Value(value) => {
                        rules.value_rules(value.keys.last().unwrap_or(&Captures::default()))
                    }
                    CallPlace::Head | CallPlace::Loose | CallPlace::Broken => rules.closing_rules(),
                }
            }
        }
    }

    /// Emits what stood before a marker.
    fn content(&mut self, text: &str, emit: &mut ChoiceEmit) -> Done {
        if text.is_empty() {
            return Ok(());
        }
        match &self.place {
            TextPlace::Text(_) | TextPlace::Section(_) => self.text(text, emit),
            TextPlace::Region(_) => self.region_content(text, emit),
            TextPlace::Draft(_) => self.draft_content(text, emit),
            TextPlace::Doubt(_) => self.doubt_content(text, emit),
            TextPlace::Call(call) => match &call.part {
                CallPlace::Body(_) | CallPlace::Head => Ok(()),
                CallPlace::Loose => {
                    self.calls.push_raw(text);
                    self.calls.fragment(text, emit)
                }
                CallPlace::Value(_) => self.calls.feed_value(text, emit),
                CallPlace::Between(_) | CallPlace::Broken => self.call_content(text, emit),
            },
        }
    }

    /// Goes where a marker leads.
    #[inline(never)]
    fn marker(&mut self, marker: &Marker<'_>, text: &str, emit: &mut ChoiceEmit) -> Done {
        let &Marker { go, ref words, .. } = marker;
        if let Go::Doubt(id) = go {
            self.follow(text);
            self.open_doubt(id, text);
            return Ok(());
        }
        self.context.marker();
        if self.calls.is_others && turns::opens_answer(text) {
            self.calls.is_others = false;
        }
        let opens_call = go.opens_call();
        if opens_call && self.is_thinking() {
            return self.open_draft(text);
        }
        let is_beyond = opens_call || matches!(go, Go::Region(_) | Go::Stray | Go::Nothing);
        match &self.place {
            TextPlace::Call(_) if is_beyond => self.leave_call(go, emit)?,
            TextPlace::Text(OpenText { undecided: Some(_), .. }) | TextPlace::Region(_)
                if opens_call =>
            {
                self.leave_text(emit)?;
            }
            _ => {}
        }
        match go {
            Go::Nothing => {
                // White space before it, after a call, is markup as well.
                if let Some(space) = self.space() {
                    space.clear();
                }
                Ok(())
            }
            Go::Doubt(_) => Ok(()),
            Go::EndDoubt => self.close_doubt(text, emit),
            Go::Region(id) => self.open_region(id, words, emit),
            Go::EndRegion | Go::Stray if matches!(self.place, TextPlace::Draft(_)) => {
                self.close_draft(go, text, emit)
            }
            Go::EndRegion => self.end_region(emit),
            Go::Stray => self.stray(emit),
            Go::Section(id) => {
                self.open_section(id, text, words);
                Ok(())
            }
            Go::EndSection => self.end_section(text, emit),
            Go::Call(id) => self.open_call(id, text, words, emit),
            Go::Parameter => self.open_value(text, words, emit),
            Go::EndValue => self.end_value(text, emit),
            Go::InnerCall
            | Go::InnerParameter
            | Go::InnerEndValue
            | Go::InnerEndCall
            | Go::TornEnd
            | Go::WeakEnd
            | Go::WeakEndSection => self.inner_marker(go, text, emit),
            Go::NextObject => self.next_object(text, emit),
            Go::Results(begin) => self.forge(begin, text, emit),
            Go::Turn(is_own) => self.turn(is_own, text, emit),
            Go::Again => self.open_another(text, words, emit),
            Go::EndCall => self.end_call(text, emit),
        }
    }
}
