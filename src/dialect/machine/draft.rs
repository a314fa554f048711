//! Calls in thoughts: drafts, if the thought closes after them.
//!
//! From the opener of a call on, a thought's text is kept. Its closer makes all of it a part of the
//! thought; where none comes, the thought was over where the call began, and the text is read as
//! what follows. A closer in a call's value is none, unless that call never ends.

use std::io;
use std::sync::Arc;

use crate::dialect::body::calls::{ChoiceEmit, warn};
use crate::dialect::machine::place::{
    CallPlace, DraftPlace, OpenDraft, OpenText, RulesKey, TextPlace,
};
use crate::dialect::machine::rules::Go;
use crate::dialect::machine::text::emit_reasoning;
use crate::dialect::machine::{AUTO, DialectMachine, MarkdownContext};
use crate::dialect::rows::tags::END_TOKENS;
use crate::dialect::spec::{Ends, StartIn};
use crate::event::{Done, Event, Kind, Reason, Reasoning, Text, WarningCode};
use crate::scan::Captures;

impl DialectMachine {
    /// True where a call may be a draft: in a thought, or in text that may be one.
    pub(crate) fn is_thinking(&self) -> bool {
        !self.drafts_stand
            && match &self.place {
                TextPlace::Region(open) => open.form.may_close_late,
                TextPlace::Text(open) => open.undecided.is_some() && self.has_late_closers(),
                _ => false,
            }
    }

    fn has_late_closers(&self) -> bool {
        let grammars = self.grammars.iter();
        let mut open = grammars.filter(|(id, _)| self.chosen.is_none_or(|chosen| chosen == *id));
        open.any(|(_, grammar)| grammar.regions.iter().any(|form| form.may_close_late))
    }

    /// Begins to keep the text of a thought, with the opener of a call.
    #[cold]
    pub(crate) fn open_draft(&mut self, marker: &str) -> Done {
        let reader = self.reader();
        let outer = match std::mem::take(&mut self.place) {
            TextPlace::Region(open) => DraftPlace::Thought(open),
            TextPlace::Text(open) => DraftPlace::Text(open.undecided.unwrap_or_default()),
            place => {
                self.enter(place);
                return Ok(());
            }
        };
        let draft = OpenDraft { outer, text: String::new(), reader, inner: None };
        self.enter(TextPlace::Draft(Box::new(draft)));
        self.keep_draft(marker)
    }

    /// A machine for the text after a thought.
    fn reader(&self) -> DialectMachine {
        let mut reader = DialectMachine {
            chosen: self.chosen,
            place: TextPlace::default(),
            has_warned: true,
            drafts_stand: true,
            is_prompted: true,
            ..DialectMachine::of(
                self.grammars.clone(),
                self.named,
                StartIn::Text,
                self.calls.another(),
            )
        };
        if self.chosen.is_none() {
            reader.search.add(RulesKey::Text(false), Vec::new(), Arc::clone(&AUTO.1));
        }
        reader.renew();
        reader
    }

    fn keep_draft(&mut self, text: &str) -> Done {
        let TextPlace::Draft(draft) = &mut self.place else { return Ok(()) };
        draft.text.push_str(text);
        draft.reader.feed(text, &mut ChoiceEmit::new(0, &mut |_| Ok(())))
    }

    /// True in a thought that the text itself opened, and that has gone on after a call in it: where
    /// nothing says that the model stopped, it was cut there.
    pub(crate) fn thought_goes_on(&self) -> io::Result<bool> {
        let TextPlace::Draft(draft) = &self.place else { return Ok(false) };
        if self.is_prompted || matches!(draft.outer, DraftPlace::Text(_)) {
            return Ok(false);
        }
        let (mut reader, mut words) = (self.reader(), String::new());
        let mut emit = |event: &Event<'_>| {
            if let Kind::Text(Text { text, .. }) | Kind::Reasoning(Reasoning { text, .. }) =
                event.kind
            {
                words.push_str(text);
            }
            Ok(())
        };
        reader.feed(&draft.text, &mut ChoiceEmit::new(0, &mut emit))?;
        reader.finish((true, false), &mut ChoiceEmit::new(0, &mut emit))?;
        let words = END_TOKENS.iter().fold(words, |words, end| words.replace(end, ""));
        Ok(!words.trim_ascii().is_empty())
    }

    /// Takes text after the opener of a call in a thought. What is longer than a call may be is the
    /// thought's.
    pub(crate) fn draft_content(&mut self, text: &str, emit: &mut ChoiceEmit) -> Done {
        self.keep_draft(text)?;
        match &self.place {
            TextPlace::Draft(draft) if self.calls.is_too_long(draft.text.len()) => {
                self.leave_draft(usize::MAX, emit).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Takes a closer of the thought, which ends it unless it stands in a value.
    pub(crate) fn close_draft(&mut self, go: Go, marker: &str, emit: &mut ChoiceEmit) -> Done {
        let TextPlace::Draft(draft) = &mut self.place else { return Ok(()) };
        // Where markers frame messages, one that comes in a call breaks that off.
        let broken = match &draft.outer {
            DraftPlace::Thought(open) if draft.reader.is_in_call() => {
                Some(open.id.0).filter(|_| open.form.ends == Ends::Anything)
            }
            _ => None,
        };
        match broken {
            Some(id) => self.break_draft(self.grammars.get(id).name, emit)?,
            None if draft.reader.is_in_value() => {
                draft.inner.get_or_insert(draft.text.len());
                return self.keep_draft(marker);
            }
            None => self.leave_draft(usize::MAX, emit).map(drop)?,
        }
        if go == Go::Stray { self.stray(emit) } else { self.end_region(emit) }
    }

    /// Takes the draft that is open, and leaves text in its place.
    fn take_draft(&mut self) -> Option<Box<OpenDraft>> {
        match std::mem::take(&mut self.place) {
            TextPlace::Draft(draft) => Some(draft),
            place => {
                self.place = place;
                None
            }
        }
    }

    /// Takes what was kept as a call that can't be read, and goes back to the thought.
    fn break_draft(&mut self, source: &'static str, emit: &mut ChoiceEmit) -> Done {
        let Some(draft) = self.take_draft() else { return Ok(()) };
        self.calls.open_markup(source, &draft.text, &Captures::default(), "");
        self.calls.fault(Reason::Malformed, emit)?;
        self.calls.close(emit)?;
        if let DraftPlace::Thought(open) = draft.outer {
            self.enter(TextPlace::Region(open));
        }
        Ok(())
    }

    /// Takes what was kept up to `end` as a part of the thought, and goes back to that. Returns the
    /// rest.
    pub(crate) fn leave_draft(&mut self, end: usize, emit: &mut ChoiceEmit) -> io::Result<String> {
        let Some(draft) = self.take_draft() else { return Ok(String::new()) };
        let OpenDraft { outer, mut text, .. } = *draft;
        let rest = text.split_off(end.min(text.len()));
        let message = "a call in a thought that goes on after it was not made";
        warn(WarningCode::MarkupInReasoning, message, emit)?;
        self.enter(match outer {
            DraftPlace::Thought(open) => {
                emit_reasoning(&text, emit)?;
                TextPlace::Region(open)
            }
            DraftPlace::Text(undecided) => TextPlace::Text(OpenText {
                undecided: Some(undecided + &text),
                ..OpenText::default()
            }),
        });
        Ok(rest)
    }

    /// Ends the text in a thought after the opener of a call. Returns what is to be read once more:
    /// all of it, after the thought, or the rest of the thought, if its closer stands in a call that
    /// never ended.
    pub(crate) fn end_draft(&mut self, emit: &mut ChoiceEmit) -> io::Result<Option<String>> {
        let TextPlace::Draft(draft) = &mut self.place else { return Ok(None) };
        let inner = draft.inner.filter(|_| draft.reader.is_in_call());
        if let Some(inner) = inner
            && !std::mem::replace(&mut self.drafts_stand, true)
        {
            return self.leave_draft(inner, emit).map(Some);
        }
        self.drafts_stand = true;
        let Some(draft) = self.take_draft() else { return Ok(None) };
        let undecided = match draft.outer {
            DraftPlace::Thought(open) => {
                self.expect_closers(&open.form);
                None
            }
            DraftPlace::Text(undecided) => Some(undecided),
        };
        self.context = MarkdownContext::default();
        self.enter(TextPlace::Text(OpenText { undecided, ..OpenText::default() }));
        self.decide_as_text(emit)?;
        Ok(Some(draft.text))
    }

    /// True in a value of a call, where markup is text.
    fn is_in_value(&self) -> bool {
        match &self.place {
            TextPlace::Call(call) => match &call.part {
                CallPlace::Value(_) => true,
                CallPlace::Body(body) => body.is_in_string(),
                _ => false,
            },
            _ => false,
        }
    }
}
