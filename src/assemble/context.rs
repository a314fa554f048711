//! Where a message's events go, with what all of its parts need to know.

use std::io;

use crate::assemble::AssemblerConfig;
use crate::assemble::errors::OwnedFailure;
use crate::event::{Code, Emit, Event, Failure, Kind, Warning};

pub(super) struct Out<'a, 'e> {
    pub(super) choice: u64,
    pub(super) options: &'a AssemblerConfig,
    /// The message's first warning.
    warned: &'a mut Option<String>,
    emit: &'a mut Emit<'e>,
}

impl<'a, 'e> Out<'a, 'e> {
    pub(super) fn new(
        choice: u64,
        options: &'a AssemblerConfig,
        warned: &'a mut Option<String>,
        emit: &'a mut Emit<'e>,
    ) -> Self {
        Out { choice, options, warned, emit }
    }

    /// The same, for another choice.
    pub(super) fn of(&mut self, choice: u64) -> Out<'_, 'e> {
        Out { choice, options: self.options, warned: self.warned, emit: self.emit }
    }

    pub(super) fn emit(&mut self, kind: Kind<'_>) -> io::Result<()> {
        if let Kind::Warning(warning) = &kind {
            self.warned.get_or_insert_with(|| warning.message.to_owned());
        }
        (self.emit)(Event::new(self.choice, kind))
    }

    /// Passes on what is no matter of assembly.
    pub(super) fn pass(&mut self, event: Event<'_>) -> io::Result<()> {
        (self.emit)(event)
    }

    pub(super) fn warn(&mut self, code: &str, message: &str, index: Option<u64>) -> io::Result<()> {
        self.emit(Kind::Warning(Warning { code, message, offset: None, index }))
    }

    /// What a message with a warning ends with, if warnings are errors.
    pub(super) fn strict_failure(&self) -> Option<OwnedFailure> {
        let warning = self.warned.as_ref().filter(|_| self.options.strict)?;
        let message = format!("--strict: {warning}");
        Some(OwnedFailure::new(Failure::new(Code::Malformed, &message, None)))
    }
}
