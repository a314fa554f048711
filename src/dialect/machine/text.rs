//! The answer's text and its regions.

use std::sync::Arc;

use crate::dialect::body::calls::{ChoiceEmit, warn};
use crate::dialect::machine::grammar::{GrammarId, RegionForm, RegionId};
use crate::dialect::machine::markdown_context::MarkdownContext;
use crate::dialect::machine::place::{OpenRegion, OpenText, TextPlace};
use crate::dialect::machine::{DialectMachine, rules, strays};
use crate::dialect::spec::Role;
use crate::event::{Block, Done, Kind, Loose, Reasoning, Text, WarningCode, Withdrawn};
use crate::json;
use crate::scan::{Captures, attributes};

/// The most text that is held back to find out whether it is reasoning, in bytes.
const MAX_UNDECIDED: usize = 64 << 10;

fn emit_text(text: &str, emit: &mut ChoiceEmit) -> Done {
    if text.is_empty() { Ok(()) } else { emit.feed(Kind::Text(Text { text, channel: None })) }
}

pub(crate) fn emit_reasoning(text: &str, emit: &mut ChoiceEmit) -> Done {
    emit.feed(Kind::Reasoning(Reasoning { text, ..Reasoning::default() }))
}

impl DialectMachine {
    /// The white space after the last call, in the text or in a section.
    pub(crate) fn space(&mut self) -> Option<&mut String> {
        match &mut self.place {
            TextPlace::Text(open) => open.space.as_mut(),
            TextPlace::Section(open) => open.space.as_mut(),
            _ => None,
        }
    }

    /// Emits a piece of the answer, or holds it back.
    pub(crate) fn text(&mut self, text: &str, emit: &mut ChoiceEmit) -> Done {
        let space = match &mut self.place {
            TextPlace::Text(OpenText { undecided: Some(undecided), .. }) => {
                undecided.push_str(text);
                let is_over = undecided.len() > MAX_UNDECIDED;
                return if is_over { self.decide_as_text(emit) } else { Ok(()) };
            }
            TextPlace::Text(open) => &mut open.space,
            TextPlace::Section(open) => &mut open.space,
            _ => return Ok(()),
        };
        if let Some(space) = space
            && text.trim_ascii().is_empty()
        {
            space.push_str(text);
            return Ok(());
        }
        if let Some(space) = space.take() {
            emit_text(&space, emit)?;
        }
        emit_text(text, emit)
    }

    /// Emits what was undecided as the answer.
    pub(crate) fn decide_as_text(&mut self, emit: &mut ChoiceEmit) -> Done {
        let TextPlace::Text(open) = &mut self.place else { return Ok(()) };
        let Some(text) = open.undecided.take() else { return Ok(()) };
        self.renew();
        if text.is_empty() { Ok(()) } else { self.text(&text, emit) }
    }

    /// Ends the text before a marker: what was undecided is the answer, unless
    /// it's white space before the first marker.
    pub(crate) fn leave_text(&mut self, emit: &mut ChoiceEmit) -> Done {
        if let TextPlace::Text(open) = &mut self.place {
            open.undecided.take_if(|text| text.trim_ascii().is_empty());
        }
        self.decide_as_text(emit)?;
        self.end_blocks("another marker came inside a block", emit)
    }

    /// Emits the blocks that are open and will have no closer.
    pub(crate) fn end_blocks(&mut self, message: &str, emit: &mut ChoiceEmit) -> Done {
        let mut region = match &mut self.place {
            TextPlace::Region(open) => Some(open),
            _ => None,
        };
        while let Some(open) = region {
            if open.form.role == Role::Block {
                warn(WarningCode::UnclosedBlock, message, emit)?;
                emit_block(open, emit)?;
            }
            region = open.outer.as_deref_mut();
        }
        Ok(())
    }

    pub(crate) fn open_region(
        &mut self,
        id: RegionId,
        words: &Captures<'_>,
        emit: &mut ChoiceEmit,
    ) -> Done {
        let form = Arc::clone(self.grammars.region(id));
        // A block inside a region is a part of it.
        if form.role != Role::Block || !matches!(self.place, TextPlace::Region(_)) {
            self.leave_text(emit)?;
        }
        let mut open = OpenRegion::new(id, form, words.to_static());
        if let TextPlace::Region(outer) = std::mem::take(&mut self.place)
            && open.form.role == Role::Block
        {
            open.outer = Some(Box::new(outer));
        }
        self.enter(TextPlace::Region(open));
        Ok(())
    }

    pub(crate) fn region_content(&mut self, text: &str, emit: &mut ChoiceEmit) -> Done {
        let TextPlace::Region(open) = &mut self.place else { return Ok(()) };
        match open.form.role {
            Role::Text => {
                let channel = Some(open.form.name).filter(|name| !name.is_empty());
                emit.feed(Kind::Text(Text { text, channel }))
            }
            Role::Reasoning => emit_reasoning(text, emit),
            Role::Block => {
                open.block.push_str(text);
                Ok(())
            }
            Role::Drop => Ok(()),
        }
    }

    pub(crate) fn end_region(&mut self, emit: &mut ChoiceEmit) -> Done {
        let mut text = OpenText::default();
        if let TextPlace::Region(open) = &mut self.place {
            match open.form.role {
                Role::Block => emit_block(open, emit)?,
                Role::Reasoning => {
                    text.is_start = true;
                    let form = Arc::clone(&open.form);
                    self.end_thought(&form);
                }
                Role::Text | Role::Drop => {}
            }
        }
        let place = match &mut self.place {
            TextPlace::Region(open) => open.outer.take().map(|outer| TextPlace::Region(*outer)),
            _ => None,
        };
        self.enter(place.unwrap_or(TextPlace::Text(text)));
        Ok(())
    }

    /// After a thought the answer begins, whatever code was open in it.
    fn end_thought(&mut self, form: &RegionForm) {
        self.context = MarkdownContext::default();
        self.expect_closers(form);
    }

    /// The closers of thoughts may come after a call: where the prompt opened the thought, they are all
    /// which shows it. Tags are any dialect's, special tokens that of the call alone.
    pub(crate) fn expect_any_closer(&mut self, id: GrammarId) {
        if !self.named && self.strays.is_empty() {
            self.strays = strays(self.grammars.iter().filter(|(own, _)| *own == id));
            let others = strays(self.grammars.iter().filter(|(other, _)| *other != id));
            self.strays.extend(others.into_iter().filter(|rule| !rule.pattern.is_token()));
        }
    }

    /// The closers of a thought may come once it is left. In a dialect that the user chose, they
    /// always may.
    pub(crate) fn expect_closers(&mut self, form: &RegionForm) {
        if !self.named && self.strays.is_empty() {
            self.strays = rules::strays(form);
            self.forget_text_rules();
        }
    }

    /// Takes a closer without its opener: all text before it was reasoning, which is emitted so if it
    /// was undecided. Calls that came before it were drafts.
    pub(crate) fn stray(&mut self, emit: &mut ChoiceEmit) -> Done {
        let TextPlace::Text(open) = &mut self.place else { return Ok(()) };
        open.is_start = true;
        let undecided = open.undecided.take();
        // The thought spoke of results.
        self.calls.is_forged &= undecided.is_none();
        self.renew();
        match undecided {
            Some(text) if text.is_empty() => Ok(()),
            Some(text) => emit_reasoning(&text, emit),
            None if self.calls.count() > 0 => {
                let message = "a closer of reasoning that was not open came after a call, which is \
                    taken back: the prompt may have opened it (`--start-in reasoning`)";
                warn(WarningCode::StrayCloser, message, emit)?;
                emit.feed(Kind::Loose(Loose::Withdrawn(Withdrawn::OfText)))
            }
            None => warn(
                WarningCode::StrayCloser,
                "a closer of reasoning that was not open was dropped",
                emit,
            ),
        }
    }
}

fn emit_block(open: &mut OpenRegion, emit: &mut ChoiceEmit) -> Done {
    let text = std::mem::take(&mut open.block);
    let members = attributes(&open.words.attributes);
    let attributes = json::object(members.map(|(key, value)| (key, json::quote(value))));
    let attributes = Some(attributes.as_str()).filter(|attributes| *attributes != "{}");
    emit.feed(Kind::Block(Block { name: open.form.name, text: &text, attributes }))
}
