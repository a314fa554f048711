//! Sections and calls.

use std::io;

use super::{BodyForm, Captures, Go, Machine, Place, Rule};
use crate::dialect::body::{BodyReader, Progress};
use crate::dialect::call::Say;
use crate::event::Reason;
use crate::scan::Pattern;

impl Machine {
    /// The markers that are legal in some part of the open call.
    pub(super) fn call_rules(&self, place: Place) -> Vec<Rule> {
        let Some(form) = self.call_form() else { return Vec::new() };
        let words = &self.words;
        let close = form.close.as_ref().map(|close| close.bind(words));
        let section = self.section.as_ref().and_then(|(g, s, words)| {
            let section = self.grammars.get(*g).and_then(|grammar| grammar.sections.get(*s));
            section.and_then(|section| section.close.as_ref()).map(|close| close.bind(words))
        });
        let end = close.clone().map(|pattern| Rule::new(pattern, Go::EndCall));
        let lost = section.clone().map(|pattern| Rule::new(pattern, Go::EndSection));
        let mut rules: Vec<Rule> = Vec::new();
        match (place, &form.body) {
            (Place::Value, BodyForm::Parameters { open, close: Some(value_close), item }) => {
                let open = open.bind(words);
                if !item.is_empty() {
                    rules.push(Rule::new(open.clone(), Go::Parameter));
                }
                rules.push(self.value_rule(value_close, open, close, section, !item.is_empty()));
                return rules;
            }
            (Place::Value, BodyForm::Parameters { open, close: None, .. }) | (Place::Call, BodyForm::Parameters { open, .. }) => {
                rules.extend(end);
                rules.push(Rule::new(open.bind(words), Go::Parameter));
            }
            (Place::Call, BodyForm::Json(envelope)) if envelope.many => {
                rules.extend(end);
                rules.extend(Pattern::parse("{").ok().map(|pattern| Rule::new(pattern, Go::NextObject)));
            }
            _ => rules.extend(end),
        }
        rules.extend(lost);
        rules
    }

    /// The closer of a value: where nothing is escaped, it closes the value
    /// only if what may follow a value follows.
    fn value_rule(
        &self,
        close: &Pattern,
        open: Pattern,
        call: Option<Pattern>,
        section: Option<Pattern>,
        is_unique: bool,
    ) -> Rule {
        let key = self.keys.last().cloned().unwrap_or_default();
        let rule = Rule::new(close.bind(&self.words).bind(&key), Go::EndValue);
        if is_unique {
            return rule;
        }
        let next = [Some(open), call, section].into_iter().flatten().collect();
        Rule { next, ..rule }
    }

    /// The first call or section decides which dialect this is.
    fn settle_on(&mut self, g: usize) -> usize {
        if self.named || self.grammars.len() == 1 {
            return g.min(self.grammars.len().saturating_sub(1));
        }
        self.grammars = self.grammars.get(g).cloned().into_iter().collect();
        0
    }

    pub(super) fn open_section(
        &mut self,
        g: usize,
        s: usize,
        words: Captures,
        say: &mut Say<'_>,
    ) -> io::Result<()> {
        self.leave_text(say)?;
        self.region = None;
        let g = self.settle_on(g);
        self.section = Some((g, s, words));
        self.enter(Place::Section);
        Ok(())
    }

    pub(super) fn open_call(
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
        self.form = (g, c);
        self.keys.clear();
        let Some(grammar) = self.grammars.get(g).cloned() else { return Ok(()) };
        let Some(form) = grammar.calls.get(c) else { return Ok(()) };
        let raw = match &form.body {
            BodyForm::Raw(raw) => Some(raw),
            _ => None,
        };
        self.calls.open_markup(grammar.name, marker, &words, raw.map_or("", |raw| raw.name));
        self.words = self.with_section(words);
        self.body = BodyReader::new(&form.body);
        match raw {
            Some(raw) => {
                self.calls.open_value(raw.key, Some("string"), "", say)?;
                self.enter(Place::Value);
            }
            None if self.body.is_some() => self.enter(Place::Body),
            None => {
                self.calls.begin(say)?;
                self.enter(Place::Call);
            }
        }
        Ok(())
    }

    /// The text ends inside the opener of a call.
    pub(super) fn begin_cut_call(&mut self, marker: &str) {
        let source = self.section.as_ref().and_then(|(g, ..)| self.grammars.get(*g)).map_or("", |g| g.name);
        self.calls.open_markup(source, marker, &Captures::default(), "");
        self.place = Place::Broken;
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
    pub(super) fn feed_body(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<usize> {
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
        let form = self.call_form();
        let has_closer = form.is_some_and(|form| form.close.is_some());
        let has_more = form.is_some_and(|form| matches!(&form.body, BodyForm::Json(envelope) if envelope.many));
        if has_closer || has_more {
            self.enter(Place::Call);
            return Ok(());
        }
        self.end_call("", say)
    }

    pub(super) fn next_object(&mut self, marker: &str, say: &mut Say<'_>) -> io::Result<()> {
        self.body = self.call_form().and_then(|form| BodyReader::new(&form.body));
        self.enter(Place::Body);
        match &mut self.body {
            Some(body) => body.feed_all(marker, &mut self.calls, say),
            None => Ok(()),
        }
    }

    /// Text inside a call that is neither marker nor value.
    pub(super) fn call_content(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
        let is_blank = text.bytes().all(|byte| byte.is_ascii_whitespace() || matches!(byte, b';' | b','));
        let has_closer = self.call_form().is_some_and(|form| form.close.is_some());
        if self.place == Place::Call && !has_closer && !is_blank {
            // What is no further object of the call is the answer's.
            self.end_call("", say)?;
            return self.text(text, say);
        }
        self.calls.raw.push_str(text);
        if text.trim_ascii().is_empty() || (is_blank && !has_closer) {
            return Ok(());
        }
        self.calls.fault(Reason::Malformed, say)
    }

    pub(super) fn open_value(&mut self, marker: &str, words: Captures, say: &mut Say<'_>) -> io::Result<()> {
        let item = match self.call_form().map(|form| &form.body) {
            Some(BodyForm::Parameters { item, .. }) => *item,
            _ => "",
        };
        if !item.is_empty() && self.place == Place::Value && !self.calls.may_nest() {
            return self.calls.feed_value(marker, say);
        }
        if item.is_empty() && self.calls.has_value() {
            self.calls.close_value(say)?;
            self.keys.pop();
        }
        self.calls.raw.push_str(marker);
        let key = words.get("key").unwrap_or_default();
        self.calls.open_value(key, words.get("type"), item, say)?;
        self.keys.push(words);
        self.enter(Place::Value);
        Ok(())
    }

    pub(super) fn end_value(&mut self, marker: &str, say: &mut Say<'_>) -> io::Result<()> {
        self.calls.close_value(say)?;
        self.calls.raw.push_str(marker);
        self.keys.pop();
        self.enter(if self.calls.has_value() { Place::Value } else { Place::Call });
        Ok(())
    }

    pub(super) fn end_call(&mut self, marker: &str, say: &mut Say<'_>) -> io::Result<()> {
        self.calls.raw.push_str(marker);
        self.calls.close(say)?;
        if self.section.is_some() {
            self.enter(Place::Section);
        } else {
            self.back_to_text();
        }
        Ok(())
    }

    /// The section's closer; inside a call, that lacks its own.
    pub(super) fn end_section(&mut self, marker: &str, say: &mut Say<'_>) -> io::Result<()> {
        if self.place != Place::Section {
            self.calls.raw.push_str(marker);
            self.calls.fault(Reason::Malformed, say)?;
            self.calls.close(say)?;
        }
        self.section = None;
        self.back_to_text();
        Ok(())
    }
}
