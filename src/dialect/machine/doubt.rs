//! Openers of calls after which no call can be read.
//!
//! With a closer, such markup is a call that can't be read; with nothing after it, one that was
//! cut. Without a closer it is text, as where an answer speaks of the opener; so it is not after the
//! opener of a section if a call was closed.

use std::io;

use crate::cut::Cut as _;
use crate::dialect::body::calls::ChoiceEmit;
use crate::dialect::machine::DialectMachine;
use crate::dialect::machine::grammar::DoubtId;
use crate::dialect::machine::place::{OpenDoubt, TextPlace};
use crate::event::{Done, Reason};
use crate::scan::{Attempt, Captures, Match, Pattern};

/// The most text that is held back to see whether a closer comes, in bytes.
const MAX_DOUBT: usize = 64 << 10;

impl DialectMachine {
    pub(crate) fn open_doubt(&mut self, id: DoubtId, marker: &str) {
        match std::mem::take(&mut self.place) {
            TextPlace::Text(outer) => {
                let (text, opener) = (marker.to_owned(), marker.len());
                self.enter(TextPlace::Doubt(Box::new(OpenDoubt { id, outer, text, opener })));
            }
            place => self.enter(place),
        }
    }

    pub(crate) fn doubt_content(&mut self, text: &str, emit: &mut ChoiceEmit) -> Done {
        let TextPlace::Doubt(doubt) = &mut self.place else { return Ok(()) };
        doubt.text.push_str(text);
        if doubt.text.len() > MAX_DOUBT { self.leave_doubt(emit) } else { Ok(()) }
    }

    /// Takes the closer: what it closes can't be read.
    pub(crate) fn close_doubt(&mut self, marker: &str, emit: &mut ChoiceEmit) -> Done {
        let Some(doubt) = self.end_doubt() else { return Ok(()) };
        self.break_doubt(doubt, marker, emit)
    }

    /// Takes what was held back, and the marker after it, as a call that can't be read.
    fn break_doubt(&mut self, doubt: OpenDoubt, marker: &str, emit: &mut ChoiceEmit) -> Done {
        self.open_unreadable(doubt, emit)?;
        self.calls.push_raw(marker);
        self.calls.fault(Reason::Malformed, emit)?;
        if self.calls.count() == 1 {
            self.forget_text_rules();
        }
        self.calls.close(emit)?;
        self.back_to_text();
        Ok(())
    }

    /// True if a call was closed in a section in which none could be read.
    fn holds_call(&self, doubt: &OpenDoubt) -> bool {
        let grammar = self.grammars.get(doubt.id.0);
        let rest = doubt.text.after(doubt.opener);
        let closes = |close: &Pattern| {
            let close = close.last_tag();
            let is_here = |(at, _)| {
                let fit = Attempt::default().advance(&close, rest.after(at).as_bytes(), true);
                matches!(fit, Match::Yes(..))
            };
            rest.match_indices('<').any(is_here)
        };
        self.grammars.doubt(doubt.id).is_section
            && grammar.calls.iter().flat_map(|call| &call.close).any(closes)
    }

    /// Takes what was held back as text, if any was and no call ended in it.
    pub(crate) fn leave_doubt(&mut self, emit: &mut ChoiceEmit) -> Done {
        let Some(doubt) = self.end_doubt() else { return Ok(()) };
        if self.holds_call(&doubt) {
            return self.break_doubt(doubt, "", emit);
        }
        self.enter(TextPlace::Text(doubt.outer));
        self.text(&doubt.text, emit)
    }

    /// Ends the text after an opener; returns true if nothing followed that.
    pub(crate) fn finish_doubt(&mut self, emit: &mut ChoiceEmit) -> io::Result<bool> {
        let is_cut = |doubt: &OpenDoubt| {
            doubt.text.get(doubt.opener..).is_some_and(|rest| rest.trim_ascii().is_empty())
        };
        match &self.place {
            TextPlace::Doubt(doubt) if is_cut(doubt) => {}
            _ => return self.leave_doubt(emit).map(|()| false),
        }
        let Some(doubt) = self.end_doubt() else { return Ok(false) };
        self.open_unreadable(doubt, emit)?;
        self.calls.cut(emit).map(|()| true)
    }

    /// Leaves text for a call of which no more is known than its markup.
    fn open_unreadable(&mut self, doubt: OpenDoubt, emit: &mut ChoiceEmit) -> Done {
        self.enter(TextPlace::Text(doubt.outer));
        self.leave_text(emit)?;
        let source = self.grammars.get(doubt.id.0).name;
        self.calls.open_markup(source, &doubt.text, &Captures::default(), "");
        Ok(())
    }

    fn end_doubt(&mut self) -> Option<OpenDoubt> {
        match std::mem::take(&mut self.place) {
            TextPlace::Doubt(doubt) => Some(*doubt),
            place => {
                self.place = place;
                None
            }
        }
    }
}
