//! Looks out for markup in text that nobody asked to read. Only the openers of
//! calls and what must follow them count: other text is left alone.

use super::StartIn;
use super::call::Calls;
use super::machine::Machine;
use crate::event::Kind;

/// One text, up to the first call in it.
pub(super) struct Watch {
    machine: Machine,
}

impl Default for Watch {
    fn default() -> Self {
        Watch { machine: Machine::auto(StartIn::Text, Calls::new(None, 1)) }
    }
}

impl Watch {
    /// Takes the next piece; gives the name of the dialect that it turns out to
    /// be in.
    pub(super) fn feed(&mut self, text: &str) -> Option<&'static str> {
        let mut has_call = false;
        let fed = self.machine.feed(text, &mut |kind| {
            has_call |= matches!(kind, Kind::CallPart(_));
            Ok(())
        });
        fed.ok().filter(|()| has_call).and_then(|()| self.machine.dialect())
    }
}
