//! The machine that reads every dialect.
//!
//! It is always in one place: the answer's text, a region, a section between
//! calls, or some part of a call. Each place has its rules: the markers that
//! are legal there. The machine looks for the first byte of one, tries all
//! rules at that byte, and hands on everything before it as the content of the
//! place. What may still become a marker is held back; an attempt remembers how
//! far it has looked.

use std::io;
use std::rc::Rc;
use std::sync::Arc;

use super::call::{OpenCall, Say};
use super::grammar::{self, BodyForm, Go, Grammar, Rule};
use super::guard::Guard;
use super::{Dialect, Role, StartIn};
use crate::event::{Block, Kind, Reason, Reasoning, Text, Warning};
use crate::json::{self, Status};
use crate::scan::{Captures, Finder, Lookahead, Match};
use crate::tools::Tools;

/// How much text is held back to find out whether it is reasoning, in bytes.
const MAX_UNDECIDED: usize = 64 << 10;

/// Where in the text the machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Text,
    Region,
    Section,
    /// In a call, between its arguments or before its closer.
    Call,
    /// In an argument's value.
    Value,
    /// In a call's JSON.
    Json,
    /// In a call that can't be read, before its closer.
    Broken,
}

pub(super) struct Machine {
    grammars: Vec<Rc<Grammar>>,
    /// Whether the user chose the dialect.
    named: bool,
    tools: Option<Arc<Tools>>,
    place: Place,
    rules: Vec<Rule>,
    finder: Finder,
    /// Text that may become a marker, and the attempts at it, one for each rule.
    held: String,
    attempts: Vec<Lookahead>,
    guard: Guard,
    /// Calls so far.
    count: u64,
    call: Option<OpenCall>,
    /// The form of the open call, and of the open section with its words.
    form: (usize, usize),
    section: Option<(usize, usize, Captures)>,
    region: Option<(usize, usize)>,
    /// The words of the opener of the open region or call.
    words: Captures,
    /// The words of the opener of the open argument.
    key: Captures,
    /// The text of the open block.
    block: String,
    /// White space behind a call: markup, if another call or the end follows.
    space: Option<String>,
    /// Text that may turn out to be reasoning.
    undecided: Option<String>,
}

impl Machine {
    pub(super) fn new(
        rows: &[&Dialect],
        named: bool,
        start_in: StartIn,
        tools: Option<Arc<Tools>>,
    ) -> Self {
        // Built-in rows are read by a test, a user's when it is loaded.
        let grammars: Vec<_> =
            rows.iter().filter_map(|row| Grammar::new(row).ok().map(Rc::new)).collect();
        let mut machine = Machine {
            grammars,
            named,
            tools,
            place: Place::Text,
            rules: Vec::new(),
            finder: Finder::default(),
            held: String::new(),
            attempts: Vec::new(),
            guard: Guard::default(),
            count: 0,
            call: None,
            form: (0, 0),
            section: None,
            region: None,
            words: Captures::default(),
            key: Captures::default(),
            block: String::new(),
            space: None,
            undecided: (start_in == StartIn::Auto).then(String::new),
        };
        machine.enter(Place::Text);
        if start_in == StartIn::Reasoning {
            machine.start_in_reasoning();
        }
        machine
    }

    fn start_in_reasoning(&mut self) {
        for (g, grammar) in self.grammars.iter().enumerate() {
            if let Some(r) =
                grammar.regions.iter().position(|region| region.role == Role::Reasoning)
            {
                self.region = Some((g, r));
                return self.enter(Place::Region);
            }
        }
    }

    /// Takes the next piece of text.
    pub(super) fn feed(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
        if self.held.is_empty() {
            return self.run(text, false, say);
        }
        let mut held = std::mem::take(&mut self.held);
        held.push_str(text);
        self.run(&held, false, say)
    }

    /// The text has ended; tells whether it ended inside a call.
    pub(super) fn finish(mut self, say: &mut Say<'_>) -> io::Result<bool> {
        let held = std::mem::take(&mut self.held);
        self.run(&held, true, say)?;
        self.decide_as_text(say)?;
        if let Some((g, r)) = self.region.take()
            && self.role(g, r) == Role::Block
        {
            warn("unclosed_block", "the text ended inside a block", say)?;
            self.say_block(g, r, say)?;
        }
        match self.call.take() {
            Some(call) => call.cut(say).map(|()| true),
            None => Ok(false),
        }
    }

    /// Goes through text that begins with what was held back.
    fn run(&mut self, text: &str, ended: bool, say: &mut Say<'_>) -> io::Result<()> {
        // Content that hasn't been handed on begins at `from`; markers are
        // looked for from `at`; the guard has seen what is before `seen`.
        let (mut from, mut at, mut seen) = (0, 0, 0);
        loop {
            if self.place == Place::Json {
                at += self.json(text.get(at..).unwrap_or_default(), say)?;
                (from, seen) = (at, at);
                if at == text.len() {
                    return Ok(());
                }
                continue;
            }
            let Some(start) = self.finder.find(text, at) else { break };
            if self.attempts.is_empty() {
                self.guard_feed(text, seen, start);
                seen = start;
                self.begin_attempts();
            }
            match self.attempt(text.get(start..).unwrap_or_default(), ended) {
                Tried::More => {
                    self.content(text.get(from..start).unwrap_or_default(), say)?;
                    self.held = text.get(start..).unwrap_or_default().to_owned();
                    return Ok(());
                }
                Tried::No => at = start + 1,
                Tried::Yes(rule, length, words) => {
                    self.content(text.get(from..start).unwrap_or_default(), say)?;
                    let end = start + length;
                    self.marker(rule, text.get(start..end).unwrap_or_default(), words, say)?;
                    (from, at, seen) = (end, end, end);
                }
            }
        }
        self.guard_feed(text, seen, text.len());
        self.content(text.get(from..).unwrap_or_default(), say)
    }

    fn guard_feed(&mut self, text: &str, from: usize, to: usize) {
        if !self.named && self.place == Place::Text {
            self.guard.feed(text.get(from..to).unwrap_or_default());
        }
    }

    fn begin_attempts(&mut self) {
        let allows = self.guard.allows();
        let attempts =
            self.rules.iter().map(|rule| Lookahead::new(!rule.guarded || allows, rule.next.len()));
        self.attempts.extend(attempts);
    }

    /// Looks on with all rules; the first one in their order that fits counts.
    fn attempt(&mut self, text: &str, ended: bool) -> Tried {
        for (number, (rule, attempt)) in self.rules.iter().zip(&mut self.attempts).enumerate() {
            match attempt.advance(&rule.pattern, &rule.next, rule.end, text, ended) {
                Match::No => {}
                Match::More => return Tried::More,
                Match::Yes(length) => {
                    let words = attempt.captures(&rule.pattern, text).unwrap_or_default();
                    self.attempts.clear();
                    return Tried::Yes(number, length, words);
                }
            }
        }
        self.attempts.clear();
        Tried::No
    }

    /// Moves to a place and its rules.
    fn enter(&mut self, place: Place) {
        self.place = place;
        self.rules = match place {
            Place::Text => grammar::text_rules(&self.grammars, self.named),
            Place::Region => match self.region {
                Some((g, r)) => grammar::region_rules(&self.grammars, g, r, &self.words),
                None => Vec::new(),
            },
            Place::Section => match &self.section {
                Some((g, s, words)) => grammar::section_rules(&self.grammars, *g, *s, words),
                None => Vec::new(),
            },
            Place::Json => Vec::new(),
            Place::Call | Place::Value | Place::Broken => self.call_rules(place),
        };
        self.finder = Finder::new(self.rules.iter().map(|rule| &rule.pattern));
    }

    /// The markers that are legal in some part of the open call.
    fn call_rules(&self, place: Place) -> Vec<Rule> {
        let Some(grammar) = self.grammars.get(self.form.0) else { return Vec::new() };
        let Some(form) = grammar.calls.get(self.form.1) else { return Vec::new() };
        let words = &self.words;
        let close = form.close.bind(words);
        let section = self.section.as_ref().and_then(|(_, s, words)| {
            grammar.sections.get(*s).map(|section| section.close.bind(words))
        });
        let parameter = match &form.body {
            BodyForm::Parameters { open, close } => Some((open.bind(words), close)),
            _ => None,
        };
        let end = Rule::new(close.clone(), Go::EndCall);
        let lost = section.clone().map(|pattern| Rule::new(pattern, Go::EndSection));
        match (place, parameter) {
            (Place::Value, Some((open, value_close))) => {
                let next = [Some(open), Some(close), section].into_iter().flatten().collect();
                let rule = Rule::new(value_close.bind(words).bind(&self.key), Go::EndValue);
                vec![Rule { next, end: true, ..rule }]
            }
            (Place::Call, Some((open, _))) => {
                [end, Rule::new(open, Go::Parameter)].into_iter().chain(lost).collect()
            }
            _ => [end].into_iter().chain(lost).collect(),
        }
    }

    /// Hands on what stood before a marker.
    fn content(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        match self.place {
            Place::Text => self.text(text, say),
            Place::Region => self.region_content(text, say),
            Place::Section if text.trim_ascii().is_empty() => Ok(()),
            Place::Section => say(Kind::Text(Text { text, channel: None })),
            Place::Json => Ok(()),
            Place::Call | Place::Value | Place::Broken => {
                let Some(call) = &mut self.call else { return Ok(()) };
                if self.place == Place::Value {
                    return call.feed_value(text, say);
                }
                call.raw.push_str(text);
                if !text.trim_ascii().is_empty() {
                    call.fault.get_or_insert(Reason::Malformed);
                }
                Ok(())
            }
        }
    }

    fn text(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
        if let Some(undecided) = &mut self.undecided {
            undecided.push_str(text);
            return if undecided.len() > MAX_UNDECIDED { self.decide_as_text(say) } else { Ok(()) };
        }
        if let Some(space) = &mut self.space {
            if text.trim_ascii().is_empty() {
                space.push_str(text);
                return Ok(());
            }
            let space = self.space.take().unwrap_or_default();
            if !space.is_empty() {
                say(Kind::Text(Text { text: &space, channel: None }))?;
            }
        }
        say(Kind::Text(Text { text, channel: None }))
    }

    /// What was held back is the answer.
    fn decide_as_text(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        match self.undecided.take() {
            Some(text) if !text.is_empty() => say(Kind::Text(Text { text: &text, channel: None })),
            _ => Ok(()),
        }
    }

    fn role(&self, g: usize, r: usize) -> Role {
        self.grammars
            .get(g)
            .and_then(|grammar| grammar.regions.get(r))
            .map_or(Role::Text, |region| region.role)
    }

    fn region_name(&self, g: usize, r: usize) -> &'static str {
        self.grammars
            .get(g)
            .and_then(|grammar| grammar.regions.get(r))
            .map_or("", |region| region.name)
    }

    fn region_content(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
        let Some((g, r)) = self.region else { return Ok(()) };
        match self.role(g, r) {
            Role::Text => {
                let channel = Some(self.region_name(g, r)).filter(|name| !name.is_empty());
                say(Kind::Text(Text { text, channel }))
            }
            Role::Reasoning => say(Kind::Reasoning(Reasoning { text, ..Reasoning::default() })),
            Role::Block => {
                self.block.push_str(text);
                Ok(())
            }
            Role::Drop => Ok(()),
        }
    }

    /// Goes where a marker leads.
    fn marker(
        &mut self,
        rule: usize,
        marker: &str,
        words: Captures,
        say: &mut Say<'_>,
    ) -> io::Result<()> {
        let Some(go) = self.rules.get(rule).map(|rule| rule.go) else { return Ok(()) };
        self.guard.marker();
        match go {
            Go::Nothing => Ok(()),
            Go::Region(g, r) => {
                self.leave_text(say)?;
                self.region = Some((g, r));
                self.words = words;
                self.enter(Place::Region);
                Ok(())
            }
            Go::EndRegion => self.end_region(say),
            Go::Stray(g, r) => self.stray(g, r, say),
            Go::Section(g, s) => {
                self.leave_text(say)?;
                self.settle_on(g);
                self.section = Some((if self.grammars.len() == 1 { 0 } else { g }, s, words));
                self.enter(Place::Section);
                Ok(())
            }
            Go::EndSection => self.end_section(marker, say),
            Go::Call(g, c) => self.open_call(g, c, marker, words, say),
            Go::Parameter => self.open_value(marker, &words, say),
            Go::EndValue => {
                if let Some(call) = &mut self.call {
                    call.close_value(say)?;
                    call.raw.push_str(marker);
                }
                self.enter(Place::Call);
                Ok(())
            }
            Go::EndCall => self.end_call(marker, say),
        }
    }

    /// The text before a marker is complete: what was undecided is the answer,
    /// unless it's white space before the first marker.
    fn leave_text(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        self.space = None;
        match &self.undecided {
            Some(text) if text.trim_ascii().is_empty() => {
                self.undecided = None;
                Ok(())
            }
            _ => self.decide_as_text(say),
        }
    }

    /// A closer without its opener: all text before it was reasoning, if that
    /// was undecided, or else the closer means nothing.
    fn stray(&mut self, _g: usize, _r: usize, say: &mut Say<'_>) -> io::Result<()> {
        match self.undecided.take() {
            Some(text) if text.is_empty() => Ok(()),
            Some(text) => say(Kind::Reasoning(Reasoning { text: &text, ..Reasoning::default() })),
            None => {
                warn("stray_closer", "a closer of reasoning that was not open was dropped", say)
            }
        }
    }

    fn end_region(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        if let Some((g, r)) = self.region.take()
            && self.role(g, r) == Role::Block
        {
            self.say_block(g, r, say)?;
        }
        self.enter(Place::Text);
        Ok(())
    }

    fn say_block(&mut self, g: usize, r: usize, say: &mut Say<'_>) -> io::Result<()> {
        let text = std::mem::take(&mut self.block);
        let attributes = &self.words.attributes;
        let members: Vec<_> = attributes
            .iter()
            .map(|(key, value)| format!("{}:{}", json::quote(key), json::quote(value)))
            .collect();
        let attributes = (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")));
        let name = self.region_name(g, r);
        say(Kind::Block(Block { name, text: &text, attributes: attributes.as_deref() }))
    }

    /// The first call or section decides which dialect this is.
    fn settle_on(&mut self, g: usize) {
        if !self.named && self.grammars.len() > 1 {
            self.grammars = self.grammars.get(g).cloned().into_iter().collect();
        }
    }

    fn open_call(
        &mut self,
        g: usize,
        c: usize,
        marker: &str,
        words: Captures,
        say: &mut Say<'_>,
    ) -> io::Result<()> {
        self.leave_text(say)?;
        self.region = None;
        self.settle_on(g);
        let g = if self.grammars.len() == 1 { 0 } else { g };
        let Some(grammar) = self.grammars.get(g).cloned() else { return Ok(()) };
        let mut call = OpenCall::new(self.count, grammar.name, words.get("name"), say)?;
        call.raw.push_str(marker);
        self.count += 1;
        self.call = Some(call);
        self.form = (g, c);
        self.words = self.with_section(words);
        let is_json = grammar
            .calls
            .get(c)
            .is_some_and(|form| !matches!(form.body, BodyForm::Parameters { .. }));
        self.enter(if is_json { Place::Json } else { Place::Call });
        Ok(())
    }

    /// The words of a call's opener, with the namespace of its section.
    fn with_section(&self, mut words: Captures) -> Captures {
        let namespace = self.section.as_ref().and_then(|(.., words)| words.get("ns"));
        if let (None, Some(namespace)) = (words.get("ns"), namespace) {
            words.words.push(("ns".into(), namespace.to_owned()));
        }
        words
    }

    fn open_value(&mut self, marker: &str, words: &Captures, say: &mut Say<'_>) -> io::Result<()> {
        let Some(call) = &mut self.call else { return Ok(()) };
        call.raw.push_str(marker);
        call.open_value(words.get("key").unwrap_or_default(), self.tools.as_deref(), say)?;
        self.key = words.clone();
        self.enter(Place::Value);
        Ok(())
    }

    /// Takes the call's JSON; tells how many bytes.
    fn json(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<usize> {
        let form =
            self.grammars.get(self.form.0).and_then(|grammar| grammar.calls.get(self.form.1));
        let body = form.map(|form| match form.body {
            BodyForm::Json(names, arguments) => Some((names, arguments)),
            _ => None,
        });
        let (Some(call), Some(envelope)) = (&mut self.call, body) else { return Ok(text.len()) };
        let (taken, status) = call.feed_json(text);
        match status {
            Status::Whole => {
                match envelope {
                    Some((names, arguments)) => call.take_envelope(names, arguments, say)?,
                    None => call.take_arguments(say)?,
                }
                self.enter(Place::Call);
            }
            Status::Bad | Status::TooDeep => {
                call.fault = Some(Reason::Malformed);
                self.enter(Place::Broken);
            }
            Status::Empty | Status::Open => {}
        }
        Ok(taken)
    }

    fn end_call(&mut self, marker: &str, say: &mut Say<'_>) -> io::Result<()> {
        if let Some(mut call) = self.call.take() {
            call.raw.push_str(marker);
            call.close(say)?;
        }
        if self.section.is_some() {
            self.enter(Place::Section);
        } else {
            self.back_to_text();
        }
        Ok(())
    }

    /// The section's closer; inside a call, that lacks its own.
    fn end_section(&mut self, marker: &str, say: &mut Say<'_>) -> io::Result<()> {
        if let Some(mut call) = self.call.take() {
            call.raw.push_str(marker);
            call.fault.get_or_insert(Reason::Malformed);
            call.close(say)?;
        }
        self.section = None;
        self.back_to_text();
        Ok(())
    }

    fn back_to_text(&mut self) {
        self.space = Some(String::new());
        self.enter(Place::Text);
    }
}

/// What came of all rules at one place.
enum Tried {
    No,
    More,
    /// The rule's number, the marker's length, and its words.
    Yes(usize, usize, Captures),
}

pub(super) fn warn(code: &str, message: &str, say: &mut Say<'_>) -> io::Result<()> {
    say(Kind::Warning(Warning { code, message, offset: None, index: None }))
}
