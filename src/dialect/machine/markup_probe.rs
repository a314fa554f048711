//! Detects markup in text that is not to be parsed. Only the openers of calls,
//! and what must follow them, count: other text is left alone.

use crate::dialect::body::calls::Calls;
use crate::dialect::machine::Machine;
use crate::dialect::spec::StartIn;
use crate::event::{Kind, Pieces};

/// Probes one text, up to the first call in it.
pub(crate) struct MarkupProbe {
    machine: Machine,
}

impl Default for MarkupProbe {
    fn default() -> Self {
        MarkupProbe { machine: Machine::auto(StartIn::Text, Calls::new(None, 1)) }
    }
}

impl MarkupProbe {
    /// Takes the next pieces of a text; returns the number of the one that shows
    /// which dialect it is in, and the dialect's name.
    pub(crate) fn feed(&mut self, pieces: Pieces<'_>) -> Option<(usize, &'static str)> {
        let text = pieces.event.kind.text().unwrap_or_default();
        // Nothing before `calm` can be a marker.
        let (mut end, mut calm) = (0, 0);
        pieces.texts().enumerate().find_map(|(number, piece)| {
            let begin = end;
            end += piece.len();
            if end > calm {
                calm = begin + self.machine.calm_length(text.get(begin..).unwrap_or_default());
            }
            if end > calm {
                return Some((number, self.feed_piece(piece)?));
            }
            self.machine.skip(piece);
            None
        })
    }

    fn feed_piece(&mut self, text: &str) -> Option<&'static str> {
        let mut has_call = false;
        let fed = self.machine.feed(text, &mut |kind| {
            has_call |= matches!(kind, Kind::CallPart(_));
            Ok(())
        });
        fed.ok().filter(|()| has_call).and_then(|()| self.machine.dialect())
    }
}
