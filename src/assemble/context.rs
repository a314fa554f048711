//! Where a message's events go, with what all of its parts need to know.

use std::io;

use crate::assemble::config::AssemblerConfig;
use crate::assemble::failures::OwnedFailure;
use crate::event::owned::Owned;
use crate::event::{Code, Emit, Event, Failure, Kind, Warning, WarningCode};

pub(super) struct Out<'a, 'e> {
    pub(super) choice: u64,
    pub(super) config: &'a AssemblerConfig,
    /// The message's first warning.
    warned: &'a mut Option<String>,
    emit: &'a mut Emit<'e>,
}

impl<'a, 'e> Out<'a, 'e> {
    pub(super) fn new(
        choice: u64,
        config: &'a AssemblerConfig,
        warned: &'a mut Option<String>,
        emit: &'a mut Emit<'e>,
    ) -> Self {
        Out { choice, config, warned, emit }
    }

    /// Returns the way out for another choice.
    pub(super) fn of(&mut self, choice: u64) -> Out<'_, 'e> {
        Out { choice, config: self.config, warned: self.warned, emit: self.emit }
    }

    pub(super) fn emit(&mut self, kind: Kind<'_>) -> io::Result<()> {
        if let Kind::Warning(warning) = &kind {
            self.warned.get_or_insert_with(|| warning.message.to_owned());
        }
        (self.emit)(Event::new(self.choice, kind))
    }

    /// Passes on an event that is no matter of assembly.
    pub(super) fn pass(&mut self, event: Event<'_>) -> io::Result<()> {
        (self.emit)(event)
    }

    /// Emits a warning about a call, or about the whole message.
    pub(super) fn warn(
        &mut self,
        (code, message): Inference,
        index: Option<u64>,
    ) -> io::Result<()> {
        self.emit(Kind::Warning(Warning { code, message, offset: None, index }))
    }

    /// Returns what a message with a warning ends with, if warnings are errors.
    pub(super) fn strict_failure(&self) -> Option<OwnedFailure> {
        let warning = self.warned.as_ref().filter(|_| self.config.strict)?;
        let message = format!("--strict: {warning}");
        Some(Owned::new(Failure::new(Code::Malformed, &message, None)))
    }
}

/// A warning about something that had to be inferred.
pub(super) type Inference = (WarningCode, &'static str);
