//! Openers of calls after which no call can be read.
//!
//! With a closer, such markup is a call that can't be read; with nothing after it, one that was
//! cut. Without a closer it is text, as where an answer speaks of the opener.

use std::io;

use crate::dialect::body::calls::ChoiceEmit;
use crate::dialect::machine::Machine;
use crate::dialect::machine::grammar::DoubtId;
use crate::dialect::machine::place::{OpenDoubt, TextPlace};
use crate::event::Reason;
use crate::scan::Captures;

/// The most text that is held back to see whether a closer comes, in bytes.
const MAX_DOUBT: usize = 64 << 10;

impl Machine {
    pub(crate) fn open_doubt(&mut self, id: DoubtId, marker: &str) {
        match std::mem::take(&mut self.place) {
            TextPlace::Text(outer) => {
                let (text, opener) = (marker.to_owned(), marker.len());
                self.enter(TextPlace::Doubt(Box::new(OpenDoubt { id, outer, text, opener })));
            }
            place => self.enter(place),
        }
    }

    pub(crate) fn doubt_content(
        &mut self,
        text: &str,
        emit: &mut ChoiceEmit<'_>,
    ) -> io::Result<()> {
        let TextPlace::Doubt(doubt) = &mut self.place else { return Ok(()) };
        doubt.text.push_str(text);
        if doubt.text.len() > MAX_DOUBT { self.leave_doubt(emit) } else { Ok(()) }
    }

    /// Takes the closer: what it closes can't be read.
    pub(crate) fn close_doubt(
        &mut self,
        marker: &str,
        emit: &mut ChoiceEmit<'_>,
    ) -> io::Result<()> {
        let Some(doubt) = self.end_doubt() else { return Ok(()) };
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

    /// Takes what was held back as text, if any was.
    pub(crate) fn leave_doubt(&mut self, emit: &mut ChoiceEmit<'_>) -> io::Result<()> {
        let Some(doubt) = self.end_doubt() else { return Ok(()) };
        self.enter(TextPlace::Text(doubt.outer));
        self.text(&doubt.text, emit)
    }

    /// Ends the text after an opener; returns true if nothing followed that.
    pub(crate) fn finish_doubt(&mut self, emit: &mut ChoiceEmit<'_>) -> io::Result<bool> {
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
    fn open_unreadable(&mut self, doubt: OpenDoubt, emit: &mut ChoiceEmit<'_>) -> io::Result<()> {
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
