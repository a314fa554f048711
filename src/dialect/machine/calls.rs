//! Sections and calls.

use std::io;

use crate::dialect::body::calls::{Say, warn};
use crate::dialect::body::values::Opener;
use crate::dialect::body::{BodyForm, BodyReader, Progress};
use crate::dialect::machine::rules;
use crate::dialect::machine::{CallForm, Captures, Go, Machine, Place, Rule};
use crate::dialect::spec::Parameters;
use crate::event::Reason;
use crate::scan;
use crate::scan::{Attempt, Match, Pattern};

impl Machine {
    /// The markers that are legal in some part of the open call.
    pub(crate) fn call_rules(&self, place: Place) -> Vec<Rule> {
        let Some(form) = self.call_form() else { return Vec::new() };
        let words = &self.words;
        let mut ends = rules::bound(&form.close, words, Go::EndCall);
        if let Some((g, s, words)) = &self.section {
            let section = self.grammars.get(*g).and_then(|grammar| grammar.sections.get(*s));
            let close = section.map_or(&[][..], |section| &section.close);
            ends.extend(rules::bound(close, words, Go::EndSection));
        }
        match (place, &form.body) {
            (Place::Value, BodyForm::Parameters { open, close: Some(close), form }) => {
                let open = Rule::new(open.bind(words), Go::Parameter);
                let key = self.keys.last().cloned().unwrap_or_default();
                let close = Rule::new(close.bind(words).bind(&key), Go::EndValue);
                if !form.item.is_empty() {
                    return vec![open, close];
                }
                // Where nothing is escaped, the closer closes the value only
                // if what may follow a value follows, or what ends the call.
                let mut beyond = self.beyond();
                beyond.retain(|rule| {
                    let is_plain = !rule.known && rule.pattern.place() == scan::Place::Any;
                    is_plain && rule.go != Go::Nothing
                });
                let next = [open].into_iter().chain(ends).chain(beyond);
                let next = next.map(|rule| rule.pattern).collect();
                return vec![Rule { next, ..close }];
            }
            (Place::Value, BodyForm::Parameters { open, close: None, .. })
            | (Place::Call, BodyForm::Parameters { open, .. }) => {
                ends.push(Rule::new(open.bind(words), Go::Parameter));
            }
            (Place::Call, BodyForm::Json(envelope)) if envelope.many => {
                let next = Pattern::parse("{").ok();
                ends.extend(next.map(|pattern| Rule::new(pattern, Go::NextObject)));
            }
            _ => {}
        }
        if place == Place::Call {
            ends.extend(self.beyond());
        }
        ends
    }

    /// The markers that are none of the open call: it's over where one comes.
    fn beyond(&self) -> Vec<Rule> {
        let (g, section) = (self.form.0, self.section.as_ref());
        let words = section.map(|(.., words)| words);
        let grammar = self.grammars.get(g);
        grammar.map_or_else(Vec::new, |grammar| rules::beyond_call(grammar, g, words))
    }

    /// A marker that is none of the open call ends it.
    pub(crate) fn leave_call(&mut self, go: Go, say: &mut Say<'_>) -> io::Result<()> {
        self.end_unclosed(say)?;
        self.section = self.section.take().filter(|_| matches!(go, Go::Call(..)));
        self.back_to_text();
        Ok(())
    }

    /// The open call is over and has no closer. It's whole if its body shows
    /// that; of several arguments, more may have been to come.
    fn end_unclosed(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        if self.body.is_none() || self.place != Place::Call {
            self.calls.fault(Reason::Malformed, say)?;
        } else if self.has_closer() && !self.calls.is_faulty() {
            warn("missing_closer", "a call without its closer was ended by what follows it", say)?;
        }
        self.calls.close(say)
    }

    /// The first call or section decides which dialect this is.
    fn settle_on(&mut self, g: usize) -> usize {
        if self.named || self.grammars.len() == 1 {
            return g.min(self.grammars.len().saturating_sub(1));
        }
        self.grammars = self.grammars.get(g).cloned().into_iter().collect();
        self.known.clear();
        0
    }

    pub(crate) fn open_section(
        &mut self,
        g: usize,
        s: usize,
        marker: &str,
        words: Captures,
        say: &mut Say<'_>,
    ) -> io::Result<()> {
        self.leave_text(say)?;
        self.region = None;
        let g = self.settle_on(g);
        self.section = Some((g, s, words));
        self.group = (marker.to_owned(), self.calls.count());
        self.space = Some(String::new());
        self.enter(Place::Section);
        Ok(())
    }

    /// The text ends between the calls of a section; tells whether it was cut.
    /// What is held back is a part of the closer, or of another call's opener.
    pub(crate) fn finish_section(&mut self, held: &str, say: &mut Say<'_>) -> io::Result<bool> {
        let closers = self.legal.rules.iter().filter(|rule| rule.go == Go::EndSection);
        let is_closer =
            |rule: &Rule| Attempt::default().advance(&rule.pattern, held, false) != Match::No;
        let has_calls = self.calls.count() > self.group.1;
        if has_calls && (held.trim_ascii().is_empty() || closers.into_iter().any(is_closer)) {
            return Ok(false);
        }
        let marker = if has_calls { held.to_owned() } else { self.group.0.clone() + held };
        let (g, ..) = self.section.take().unwrap_or_default();
        let source = self.grammars.get(g).map_or("", |grammar| grammar.name);
        self.calls.open_markup(source, &marker, &Captures::default(), "");
        self.calls.cut(say).map(|()| true)
    }

    pub(crate) fn open_call(
        &mut self,
        g: usize,
        c: usize,
        marker: &str,
        words: Captures,
        say: &mut Say<'_>,
    ) -> io::Result<()> {
        self.leave_text(say)?;
        self.region = None;
        let g = self.settle_on(g);
        if self.calls.count() == 0 {
            self.known.remove(&None);
        }
        self.form = (g, c);
        self.keys.clear();
        let Some(grammar) = self.grammars.get(g).cloned() else { return Ok(()) };
        let Some(form) = grammar.calls.get(c) else { return Ok(()) };
        let name = if let BodyForm::Raw(raw) = &form.body { raw.name } else { "" };
        self.calls.open_markup(grammar.name, marker, &words, name);
        self.words = self.with_section(words);
        self.body = BodyReader::new(&form.body);
        match &form.body {
            _ if self.body.is_some() => self.enter(Place::Body),
            BodyForm::Raw(raw) => {
                let opener = Opener { key: raw.key, kind: Some("string"), form: Parameters::TEXT };
                self.calls.open_value(&opener, say)?;
                self.enter(Place::Value);
            }
            BodyForm::Yaml => {
                self.calls.open_yaml(say)?;
                self.enter(Place::Value);
            }
            BodyForm::Empty if form.close.is_empty() => {
                self.calls.begin(say)?;
                self.end_call("", say)?;
            }
            _ => {
                self.calls.begin(say)?;
                self.enter(Place::Call);
            }
        }
        Ok(())
    }

    /// The words of a call's opener, with those of its section.
    fn with_section(&self, mut words: Captures) -> Captures {
        for (name, word) in self.section.iter().flat_map(|(.., words)| &words.words) {
            if words.get(name).is_none() {
                words.words.push((name.clone(), word.clone()));
            }
        }
        words
    }

    /// Takes what belongs to the call's body; tells how many bytes.
    pub(crate) fn feed_body(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<usize> {
        let Some(body) = &mut self.body else { return Ok(text.len()) };
        let (taken, progress) = body.feed(text, &mut self.calls, say)?;
        match progress {
            Progress::Open => {}
            Progress::Whole => self.body_is_whole(say)?,
            Progress::Bad => {
                self.calls.fault(Reason::Malformed, say)?;
                self.enter(Place::Broken);
            }
        }
        Ok(taken)
    }

    /// Where the body shows where the call ends, it ends here.
    fn body_is_whole(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        let may_repeat =
            |form: &CallForm| matches!(&form.body, BodyForm::Json(envelope) if envelope.many);
        if self.has_closer() || self.call_form().is_some_and(may_repeat) {
            self.enter(Place::Call);
            return Ok(());
        }
        self.end_call("", say)
    }

    pub(crate) fn next_object(&mut self, marker: &str, say: &mut Say<'_>) -> io::Result<()> {
        self.space = None;
        self.body = self.call_form().and_then(|form| BodyReader::new(&form.body));
        self.enter(Place::Body);
        match &mut self.body {
            Some(body) => body.feed_all(marker, &mut self.calls, say),
            None => Ok(()),
        }
    }

    /// Text inside a call that is neither marker nor value.
    pub(crate) fn call_content(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
        if self.place == Place::Call && !self.has_closer() {
            let space = self.space.get_or_insert_default();
            if text.chars().all(|c| c.is_ascii_whitespace() || matches!(c, ';' | ',')) {
                space.push_str(text);
                return Ok(());
            }
            // What is no further object of the call is the answer's.
            let space = std::mem::take(space);
            self.end_call("", say)?;
            self.text(&space, say)?;
            return self.text(text, say);
        }
        self.calls.push_raw(text);
        if text.trim_ascii().is_empty() { Ok(()) } else { self.calls.fault(Reason::Malformed, say) }
    }

    pub(crate) fn open_value(
        &mut self,
        marker: &str,
        words: Captures,
        say: &mut Say<'_>,
    ) -> io::Result<()> {
        let form = match self.call_form().map(|form| &form.body) {
            Some(BodyForm::Parameters { form, .. }) => *form,
            _ => Parameters::TEXT,
        };
        let is_nested = !form.item.is_empty();
        if is_nested && self.place == Place::Value && !self.calls.may_nest() {
            return self.calls.feed_value(marker, say);
        }
        if !is_nested && self.calls.has_value() {
            self.calls.close_value(say)?;
            self.keys.pop();
        }
        self.calls.push_raw(marker);
        let (key, kind) = (words.get("key").unwrap_or_default(), words.get("type"));
        self.calls.open_value(&Opener { key, kind, form }, say)?;
        self.keys.push(words);
        self.enter(Place::Value);
        Ok(())
    }

    pub(crate) fn end_value(&mut self, marker: &str, say: &mut Say<'_>) -> io::Result<()> {
        if self.calls.is_in_string() {
            return self.calls.feed_value(marker, say);
        }
        self.calls.close_value(say)?;
        self.calls.push_raw(marker);
        self.keys.pop();
        self.enter(if self.calls.has_value() { Place::Value } else { Place::Call });
        Ok(())
    }

    pub(crate) fn end_call(&mut self, marker: &str, say: &mut Say<'_>) -> io::Result<()> {
        self.calls.push_raw(marker);
        self.calls.close(say)?;
        if self.section.is_some() {
            self.space = Some(String::new());
            self.enter(Place::Section);
        } else {
            self.back_to_text();
        }
        Ok(())
    }

    /// The section's closer; inside a call, that lacks its own.
    pub(crate) fn end_section(&mut self, marker: &str, say: &mut Say<'_>) -> io::Result<()> {
        if self.place != Place::Section {
            self.calls.push_raw(marker);
            self.end_unclosed(say)?;
        }
        self.section = None;
        self.back_to_text();
        Ok(())
    }
}
