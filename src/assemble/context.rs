//! The options of assembly, and where a message's events go.

use std::sync::Arc;

use crate::event::owned::Owned;
use crate::event::{Code, Done, Emit, Event, Failure, Kind, Warning, WarningCode, in_namespace};
use crate::tools::Tools;

/// The most bytes of a buffer that is kept for the next call.
pub(super) const MAX_KEPT: usize = 64 << 10;

/// A failure that is kept until the message ends.
pub(super) type OwnedFailure = Owned<Failure<'static>>;

/// The options of an [`Assembler`](crate::assemble::Assembler).
#[derive(Clone, Debug)]
pub struct AssemblerConfig {
    /// Also emit the beginning of each call and the pieces of its arguments.
    pub deltas: bool,
    /// The one choice to follow, if not all.
    pub choice: Option<u64>,
    /// Also pass on events that have no meaning here.
    pub raw: bool,
    /// Also pass on what messages answer.
    pub prompts: bool,
    /// End a message that has a warning with an error.
    pub strict: bool,
    /// Give a call inside text that can't be read back as text.
    pub malformed_as_text: bool,
    /// The largest arguments of one call, in bytes; 0 is no limit.
    pub max_args: usize,
    /// The most calls in one message; 0 is no limit.
    pub max_calls: usize,
    /// The deepest nesting of arguments; 0 is no limit.
    pub max_depth: usize,
}

impl Default for AssemblerConfig {
    fn default() -> Self {
        AssemblerConfig {
            deltas: false,
            choice: None,
            raw: false,
            prompts: false,
            strict: false,
            malformed_as_text: false,
            max_args: 64 << 20,
            max_calls: 1024,
            max_depth: crate::json::MAX_DEPTH,
        }
    }
}

/// Returns what was kept for the next time, with its buffers, or a new one.
pub(super) fn reused<T: Default>(spare: &mut Option<Box<T>>) -> Box<T> {
    spare.take().unwrap_or_default()
}

/// All that the parts of a message need to know.
pub(super) struct Context {
    pub(super) config: AssemblerConfig,
    /// The tools that the model was given, if they are known.
    pub(super) tools: Option<Arc<Tools>>,
    /// The open message's first warning, which ends it with an error under
    /// `--strict`.
    pub(super) warned: Option<String>,
}

/// Takes the events of one choice.
pub(super) struct ChoiceOut<'a, 'e> {
    pub(super) choice: u64,
    context: &'a mut Context,
    emit: &'a mut Emit<'e>,
}

impl<'a, 'e> ChoiceOut<'a, 'e> {
    pub(super) fn new(choice: u64, context: &'a mut Context, emit: &'a mut Emit<'e>) -> Self {
        ChoiceOut { choice, context, emit }
    }

    /// Returns the way out for another choice.
    pub(super) fn of(&mut self, choice: u64) -> ChoiceOut<'_, 'e> {
        ChoiceOut { choice, context: self.context, emit: self.emit }
    }

    pub(super) fn config(&self) -> &AssemblerConfig {
        &self.context.config
    }

    /// True if the tools are known, and none has this name in this namespace.
    pub(super) fn is_unknown_tool(&self, namespace: Option<&str>, name: &str) -> bool {
        let has = |tools: &Arc<Tools>| match namespace {
            Some(namespace) => tools.has(&in_namespace(namespace, name)),
            None => tools.has(name),
        };
        self.context.tools.as_ref().is_some_and(|tools| !has(tools))
    }

    pub(super) fn emit(&mut self, kind: Kind<'_>) -> Done {
        if let Kind::Warning(warning) = &kind
            && !warning.code.is_remark()
        {
            self.context.warned.get_or_insert_with(|| warning.message.to_owned());
        }
        (self.emit)(&Event::new(self.choice, kind))
    }

    /// Passes on an event that is no matter of assembly.
    pub(super) fn pass(&mut self, event: &Event<'_>) -> Done {
        (self.emit)(event)
    }

    /// Emits a warning about a call, or about the whole message.
    #[cold]
    pub(super) fn warn(&mut self, (code, message): Inference, index: Option<u64>) -> Done {
        self.emit(Kind::Warning(Warning { code, message, offset: None, index }))
    }

    /// Returns what a message with a warning ends with, if warnings are errors.
    pub(super) fn strict_failure(&self) -> Option<OwnedFailure> {
        let warning = self.context.warned.as_ref().filter(|_| self.config().strict)?;
        let message = format!("--strict: {warning}");
        Some(Owned::new(Failure::new(Code::Malformed, &message, None)))
    }
}

/// A warning about something that had to be inferred.
pub(super) type Inference = (WarningCode, &'static str);
