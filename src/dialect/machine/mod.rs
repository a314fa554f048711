//! The machine that reads every dialect.
//!
//! It is always in one place: the answer's text, a region, a section between
//! calls, or some part of a call. Each place has its rules: the markers that
//! are legal there. The machine looks for the first byte of one, tries all
//! rules at that byte, and hands on everything before it as the content of the
//! place. What may still become a marker is held back; an attempt remembers how
//! far it has looked.

mod calls;
pub(crate) mod grammar;
mod legal;
mod markdown_context;
pub(crate) mod markup_probe;
mod rules;
mod search;
mod text;

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use crate::dialect::body::BodyReader;
use crate::dialect::body::calls::{Calls, Say};
use crate::dialect::machine::grammar::{CallForm, Go, Grammar, Rule};
use crate::dialect::machine::markdown_context::Guard;
use crate::dialect::spec::{Dialect, Role, StartIn};
use crate::dialect::table::DIALECTS;
use crate::scan::{Captures, Lookahead};
use legal::Legal;
use search::Tried;

/// Where in the text the machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Text,
    Region,
    Section,
    /// In a call, between its arguments or before its closer.
    Call,
    /// In an argument's value.
    Value,
    /// In a body that has an end of its own.
    Body,
    /// In a call that can't be read, before its closer.
    Broken,
}

pub(crate) struct Machine {
    grammars: Vec<Rc<Grammar>>,
    /// Whether the user chose the dialect.
    named: bool,
    place: Place,
    legal: Rc<Legal>,
    /// What is legal in the text, and in regions that all begin alike, once that
    /// has been looked up.
    known: BTreeMap<Option<(usize, usize)>, Rc<Legal>>,
    /// Text that may become a marker, and the attempts at it with their rules.
    held: String,
    attempts: Vec<(usize, Lookahead)>,
    guard: Guard,
    /// Whether the message, or the answer behind its reasoning, begins here.
    is_start: bool,
    calls: Calls,
    /// The form of the open call, and its body.
    form: (usize, usize),
    body: Option<BodyReader>,
    section: Option<(usize, usize, Captures)>,
    region: Option<(usize, usize)>,
    /// The closers of thoughts, once one was seen where the dialect is to be
    /// found out: another one means nothing.
    strays: Vec<Rule>,
    /// The open section's opener, and how many calls there were before it.
    group: (String, u64),
    /// The words of the opener of the open region or call.
    words: Captures,
    /// The words of the openers of the open values.
    keys: Vec<Captures>,
    /// The text of the open block.
    block: String,
    /// White space behind a call, or what parts it from the next one: markup, if
    /// another call or the end follows.
    space: Option<String>,
    /// Text that may turn out to be reasoning.
    undecided: Option<String>,
}

thread_local! {
    /// Every dialect that `auto` knows, read once, and what is legal in its text.
    static AUTO: (Vec<Rc<Grammar>>, Rc<Legal>) = {
        let grammars = read(&DIALECTS.iter().copied().filter(|row| row.auto).collect::<Vec<_>>());
        let legal = Rc::new(Legal::new(rules::text_rules(&grammars, false, false)));
        (grammars, legal)
    };
}

/// The patterns of these rows. Built-in rows are read by a test, a user's when
/// it is loaded.
fn read(rows: &[&Dialect]) -> Vec<Rc<Grammar>> {
    rows.iter().filter_map(|row| Grammar::new(row).ok().map(Rc::new)).collect()
}

impl Machine {
    /// A machine for text of a dialect that the user chose.
    pub(crate) fn new(row: &Dialect, start_in: StartIn, calls: Calls) -> Self {
        Machine::of(read(&[row]), None, start_in, calls)
    }

    /// A machine that finds the dialect out.
    pub(crate) fn auto(start_in: StartIn, calls: Calls) -> Self {
        let (grammars, text) = AUTO.with(Clone::clone);
        Machine::of(grammars, Some(text), start_in, calls)
    }

    fn of(
        grammars: Vec<Rc<Grammar>>,
        text: Option<Rc<Legal>>,
        start_in: StartIn,
        calls: Calls,
    ) -> Self {
        let mut machine = Machine {
            grammars,
            named: text.is_none(),
            place: Place::Text,
            legal: Rc::default(),
            known: text.into_iter().map(|text| (None, text)).collect(),
            held: String::new(),
            attempts: Vec::new(),
            guard: Guard::default(),
            is_start: true,
            calls,
            form: (0, 0),
            body: None,
            section: None,
            group: (String::new(), 0),
            region: None,
            strays: Vec::new(),
            words: Captures::default(),
            keys: Vec::new(),
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

    /// The dialect, once that is known.
    pub(crate) fn dialect(&self) -> Option<&'static str> {
        let mut grammars = self.grammars.iter();
        grammars.next().filter(|_| grammars.next().is_none()).map(|grammar| grammar.name)
    }

    /// Whether no marker may stand in what follows while it's calm.
    pub(crate) fn is_in_line(&self) -> bool {
        let is_plain = self.place == Place::Text && !self.is_start && self.legal.is_guarded;
        is_plain && self.held.is_empty() && self.guard.is_in_line()
    }

    /// Takes the next piece of text.
    pub(crate) fn feed(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
        if self.is_in_line() && Guard::calm_length(text) == text.len() {
            return self.text(text, say);
        }
        if self.held.is_empty() {
            return self.run(text, false, say);
        }
        let mut held = std::mem::take(&mut self.held);
        held.push_str(text);
        self.run(&held, false, say)
    }

    /// The text has ended; tells whether it ended inside a call. Where the model
    /// stopped by itself, that closes the calls whose closers are stop words.
    pub(crate) fn finish(mut self, stopped: bool, say: &mut Say<'_>) -> io::Result<bool> {
        let held = std::mem::take(&mut self.held);
        if self.place == Place::Section {
            return self.finish_section(&held, say);
        }
        self.run(&held, true, say)?;
        if self.place == Place::Section {
            let held = std::mem::take(&mut self.held);
            return self.finish_section(&held, say);
        }
        self.end_text(say)?;
        match self.place {
            Place::Text | Place::Region | Place::Section => Ok(false),
            Place::Body | Place::Call if self.is_between_calls() => Ok(false),
            Place::Value | Place::Call if self.closes_at_end(stopped) => {
                self.calls.close(say).map(|()| false)
            }
            _ => self.calls.cut(say).map(|()| true),
        }
    }

    /// Goes through text that begins with what was held back.
    fn run(&mut self, text: &str, ended: bool, say: &mut Say<'_>) -> io::Result<()> {
        // Content that hasn't been handed on begins at `from`; markers are
        // looked for from `at`; the guard has seen what is before `seen`.
        let (mut from, mut at, mut seen) = (0, 0, 0);
        loop {
            if self.place == Place::Body {
                at += self.feed_body(text.get(at..).unwrap_or_default(), say)?;
                (from, seen) = (at, at);
                if at == text.len() && self.place == Place::Body {
                    return Ok(());
                }
                continue;
            }
            let Some(start) = self.candidate(text, at) else { break };
            if self.attempts.is_empty() {
                self.guard_feed(text, seen, start);
                seen = start;
                self.begin_attempts(text, start);
            }
            match self.attempt(text.get(start..).unwrap_or_default(), ended) {
                Tried::More => {
                    self.content(text.get(from..start).unwrap_or_default(), say)?;
                    self.held = text.get(start..).unwrap_or_default().to_owned();
                    return Ok(());
                }
                Tried::Cut => break,
                Tried::No => {
                    self.is_start = false;
                    at = self.next_place(text, start);
                }
                Tried::Yes(rule, length, words) => {
                    let was = self.place;
                    self.content(text.get(from..start).unwrap_or_default(), say)?;
                    (from, at) = (start, start);
                    // Content may lead elsewhere; then the marker is looked at anew.
                    if self.place == was {
                        let end = start + length;
                        self.is_start = false;
                        self.marker(rule, text.get(start..end).unwrap_or_default(), words, say)?;
                        (from, at, seen) = (end, end, end);
                    }
                }
            }
        }
        self.guard_feed(text, seen, text.len());
        self.content(text.get(from..).unwrap_or_default(), say)
    }

    fn closes_at_end(&self, stopped: bool) -> bool {
        self.call_form().is_some_and(|form| form.closes_at_end(self.place == Place::Value, stopped))
    }

    /// Whether calls have come that need no closer, and none is open.
    fn is_between_calls(&self) -> bool {
        let is_between =
            self.place == Place::Call || self.body.as_ref().is_some_and(BodyReader::is_between);
        is_between && self.calls.has_closed() && !self.has_closer()
    }

    fn has_closer(&self) -> bool {
        self.call_form().is_some_and(|form| !form.close.is_empty())
    }

    fn call_form(&self) -> Option<&CallForm> {
        self.grammars.get(self.form.0).and_then(|grammar| grammar.calls.get(self.form.1))
    }

    /// Moves to a place and its rules.
    fn enter(&mut self, place: Place) {
        self.place = place;
        let key = match place {
            Place::Text => Some(None),
            Place::Region if self.words.words.is_empty() => self.region.map(Some),
            _ => None,
        };
        let known = key.and_then(|key| self.known.get(&key)).cloned();
        self.legal = known.unwrap_or_else(|| Rc::new(Legal::new(self.place_rules(place))));
        key.into_iter().for_each(|key| {
            self.known.entry(key).or_insert_with(|| Rc::clone(&self.legal));
        });
    }

    fn place_rules(&self, place: Place) -> Vec<Rule> {
        match place {
            Place::Text => {
                let mut rules =
                    rules::text_rules(&self.grammars, self.named, self.calls.count() > 0);
                rules.extend_from_slice(&self.strays);
                rules
            }
            Place::Region => match self.region {
                Some(region) => {
                    rules::region_rules(&self.grammars, region, &self.words, self.named)
                }
                None => Vec::new(),
            },
            Place::Section => match &self.section {
                Some((g, s, words)) => rules::section_rules(&self.grammars, *g, *s, words),
                None => Vec::new(),
            },
            Place::Body => Vec::new(),
            Place::Call | Place::Value | Place::Broken => self.call_rules(place),
        }
    }

    /// Hands on what stood before a marker.
    fn content(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        match self.place {
            Place::Text | Place::Section => self.text(text, say),
            Place::Region => self.region_content(text, say),
            Place::Body => Ok(()),
            Place::Value => self.calls.feed_value(text, say),
            Place::Call | Place::Broken => self.call_content(text, say),
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
        let Some(go) = self.legal.rules.get(rule).map(|rule| rule.go) else { return Ok(()) };
        self.guard.marker();
        let is_beyond = matches!(go, Go::Region(..) | Go::Section(..) | Go::Call(..) | Go::Nothing);
        if is_beyond && self.place == Place::Call {
            self.leave_call(go, say)?;
        }
        match go {
            Go::Nothing => {
                // White space before it, behind a call, is markup as well.
                if let Some(space) = &mut self.space {
                    space.clear();
                }
                Ok(())
            }
            Go::Region(g, r) => self.open_region(g, r, words, say),
            Go::EndRegion => self.end_region(say),
            Go::Stray => self.stray(say),
            Go::Section(g, s) => self.open_section(g, s, marker, words, say),
            Go::EndSection => self.end_section(marker, say),
            Go::Call(g, c) => self.open_call(g, c, marker, words, say),
            Go::Parameter => self.open_value(marker, words, say),
            Go::EndValue => self.end_value(marker, say),
            Go::NextObject => self.next_object(marker, say),
            Go::EndCall => self.end_call(marker, say),
        }
    }
}
