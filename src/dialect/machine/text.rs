//! The answer's text and its regions.

use std::io;

use crate::dialect::body::calls::{Say, warn};
use crate::dialect::machine::rules;
use crate::dialect::machine::{Guard, Machine, Place, Rule};
use crate::dialect::spec::Role;
use crate::event::{Block, Kind, Reasoning, Text};
use crate::json;
use crate::scan::Captures;

/// How much text is held back to find out whether it is reasoning, in bytes.
const MAX_UNDECIDED: usize = 64 << 10;

impl Machine {
    pub(crate) fn text(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
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

    /// The text before a marker is complete: what was undecided is the answer,
    /// unless it's white space before the first marker.
    pub(crate) fn leave_text(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        self.space = None;
        match &self.undecided {
            Some(text) if text.trim_ascii().is_empty() => {
                self.undecided = None;
                Ok(())
            }
            _ => self.decide_as_text(say),
        }
    }

    pub(crate) fn back_to_text(&mut self) {
        self.space = Some(String::new());
        self.enter(Place::Text);
    }

    /// The text has ended.
    pub(crate) fn end_text(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        self.decide_as_text(say)?;
        match self.region.take() {
            Some((g, r)) if self.role(g, r) == Role::Block => {
                warn("unclosed_block", "the text ended inside a block", say)?;
                self.say_block(g, r, say)
            }
            _ => Ok(()),
        }
    }

    fn role(&self, g: usize, r: usize) -> Role {
        let region = self.grammars.get(g).and_then(|grammar| grammar.regions.get(r));
        region.map_or(Role::Text, |region| region.role)
    }

    fn region_name(&self, g: usize, r: usize) -> &'static str {
        let region = self.grammars.get(g).and_then(|grammar| grammar.regions.get(r));
        region.map_or("", |region| region.name)
    }

    pub(crate) fn open_region(
        &mut self,
        g: usize,
        r: usize,
        words: Captures,
        say: &mut Say<'_>,
    ) -> io::Result<()> {
        self.leave_text(say)?;
        self.region = Some((g, r));
        self.words = words;
        self.enter(Place::Region);
        Ok(())
    }

    pub(crate) fn region_content(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
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

    pub(crate) fn end_region(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        if let Some((g, r)) = self.region.take() {
            match self.role(g, r) {
                Role::Block => self.say_block(g, r, say)?,
                Role::Reasoning => self.end_thought(g, r),
                Role::Text | Role::Drop => {}
            }
        }
        self.enter(Place::Text);
        Ok(())
    }

    /// Behind a thought the answer begins, whatever code was open in it.
    fn end_thought(&mut self, g: usize, r: usize) {
        self.is_start = true;
        self.guard = Guard::default();
        let region = self.grammars.get(g).and_then(|grammar| grammar.regions.get(r));
        if let Some(region) = region.filter(|_| !self.named && self.strays.is_empty()) {
            let strays = rules::strays(region).into_iter();
            self.strays = strays.map(|rule| Rule { guarded: true, ..rule }).collect();
            self.known.remove(&None);
        }
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

    /// A closer without its opener: all text before it was reasoning, if that
    /// was undecided, or else the closer means nothing.
    pub(crate) fn stray(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        self.is_start = true;
        match self.undecided.take() {
            Some(text) if text.is_empty() => Ok(()),
            Some(text) => say(Kind::Reasoning(Reasoning { text: &text, ..Reasoning::default() })),
            None => {
                warn("stray_closer", "a closer of reasoning that was not open was dropped", say)
            }
        }
    }
}
