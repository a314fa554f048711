//! The dialect layer: a machine for the text of each choice; everything else
//! passes by.

use std::io;
use std::sync::Arc;

use crate::dialect::body::calls::{self, TextCalls, warn};
use crate::dialect::machine::DialectMachine;
use crate::dialect::machine::markup_probe::MarkupProbe;
use crate::dialect::spec::StartIn;
use crate::dialect::table::{Selection, choose};
use crate::event::{
    ByChoice, Code, Done, Emit, EmitPieces, Event, Failure, FinishReason, Kind, Loose, Pieces,
    Start, TOO_MANY_CHOICES, Text, WarningCode,
};
use crate::tools::Tools;

/// The meaning of the end of a text that names no end of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum AtEnd {
    /// It may have been cut.
    #[default]
    Cut,
    /// The model stopped by itself: a call that lacks only its closer is closed.
    Stop,
}

/// Returns the dialect that a format names.
fn of_format(name: &str) -> Selection {
    choose(name).unwrap_or_default()
}

/// Reads calls, reasoning and metadata out of the answer's text.
pub(crate) struct Markup {
    choice: Selection,
    /// What is read in the open message.
    chosen: Selection,
    start_in: Option<StartIn>,
    at_end: AtEnd,
    tools: Option<Arc<Tools>>,
    max_args: usize,
    /// The machine of each choice of the open message; `None` if its text is read
    /// as it is.
    machines: Option<ByChoice<DialectMachine>>,
    /// The probes for markup in each choice; `None` once a warning was emitted, or
    /// if a dialect is active.
    probes: Option<ByChoice<MarkupProbe>>,
    /// True if the text ended inside a call, and names no end of its own.
    is_cut: bool,
    is_plain: bool,
}

impl Markup {
    /// Creates the layer for one input. A call's arguments may have `max_args`
    /// bytes; 0 is no limit.
    pub(crate) fn new(
        choice: &Selection,
        start_in: Option<StartIn>,
        at_end: AtEnd,
        tools: Option<Arc<Tools>>,
        max_args: usize,
    ) -> Self {
        Markup {
            choice: *choice,
            chosen: Selection::None,
            start_in,
            at_end,
            tools,
            max_args,
            machines: None,
            probes: None,
            is_cut: false,
            is_plain: false,
        }
    }

    /// Takes the next event of a decoder.
    pub(crate) fn feed(&mut self, event: &Event<'_>, emit: &mut Emit) -> Done {
        match event.kind {
            Kind::Start(start) => self.start(start, emit),
            Kind::Text(text) if text.channel.is_none() && self.machines.is_some() => {
                self.text(event.choice, text.text, emit)
            }
            Kind::Text(text) if text.channel.is_none() && self.is_probed(event.choice) => {
                if let Some((_, message)) = self.probe(event.choice, text.text, &[]) {
                    let mut emit = calls::ChoiceEmit::new(event.choice, emit);
                    warn(WarningCode::MarkupInText, &message, &mut emit)?;
                }
                emit(event)
            }
            Kind::Finish(finish) => {
                let is_stop =
                    matches!(finish.finish_reason, FinishReason::Stop | FinishReason::ToolCalls);
                let stopped = !finish.inferred && is_stop;
                let was_cut = finish.finish_reason.is_cut() && !finish.inferred;
                let is_cut = self.finish_choice(event.choice, (stopped, was_cut), emit)?;
                self.is_cut |= is_cut && finish.inferred;
                if self.is_cut { Ok(()) } else { emit(event) }
            }
            // Nothing comes after it.
            Kind::Error(Failure { code: Code::Limit, .. }) => {
                self.finish(emit)?;
                emit(event)
            }
            Kind::Loose(Loose::End) => {
                self.finish(emit)?;
                if self.is_cut { Ok(()) } else { emit(event) }
            }
            _ => emit(event),
        }
    }

    /// Takes pieces of a text, as [`Self::feed`] takes each of them.
    pub(crate) fn feed_pieces(&mut self, pieces: Pieces, emit: &mut EmitPieces) -> Done {
        let Event { choice, kind } = pieces.event;
        let text = match kind {
            Kind::Text(Text { text, channel: None }) => text,
            _ => return emit(pieces),
        };
        let mut emit_one = |event: &Event<'_>| emit((*event).into());
        if self.machines.is_some() {
            return pieces.texts().try_for_each(|text| self.text(choice, text, &mut emit_one));
        }
        let found = match self.is_probed(choice) {
            true => self.probe(choice, text, pieces.cuts),
            false => None,
        };
        let Some((opener, message)) = found else { return emit(pieces) };
        pieces.events().enumerate().try_for_each(|(at, piece)| {
            if at == opener {
                let mut emit = calls::ChoiceEmit::new(choice, &mut emit_one);
                warn(WarningCode::MarkupInText, &message, &mut emit)?;
            }
            emit_one(&piece)
        })
    }

    /// Ends the message, or the input: what was held back is text.
    pub(crate) fn finish(&mut self, emit: &mut Emit) -> Done {
        let choices: Vec<u64> = self.machines.iter().flat_map(ByChoice::choices).collect();
        for choice in choices {
            self.finish_choice(choice, (false, false), emit)?;
        }
        Ok(())
    }

    /// Bytes are missing before the end of the input: that the model stopped is not known.
    pub(crate) fn cut(&mut self) {
        self.at_end = AtEnd::Cut;
    }

    /// True if the messages that come are plain text, and not a provider's.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// True if the dialect's own markers frame the turns of a conversation.
    pub(crate) fn frames_turns(&self) -> bool {
        let begins_turn = |marker: String| marker.contains("<|im_start|>assistant");
        matches!(self.choice, Selection::Row(row) if row.markers().any(begins_turn))
    }

    /// Sets whether the messages that come are plain text.
    pub(crate) fn set_plain(&mut self, is_plain: bool) {
        self.is_plain = is_plain;
    }

    fn start(&mut self, start: Start<'_>, emit: &mut Emit) -> Done {
        let is_text = self.is_plain;
        let is_log = !start.framing.is_empty();
        self.chosen = match self.choice {
            // What markup there was in a log's texts has been read.
            _ if is_log => Selection::None,
            Selection::Default if is_text => Selection::Auto,
            Selection::Default => start.dialect.map_or(Selection::Default, of_format),
            choice => choice,
        };
        let dialect = match self.chosen {
            Selection::Auto => Some("auto"),
            Selection::Row(row) => Some(row.name),
            Selection::Default | Selection::None => None,
        };
        self.machines = dialect.map(|_| ByChoice::default());
        let is_probed = matches!(self.chosen, Selection::Default);
        let mut probes = self.probes.take().unwrap_or_default();
        probes.clear();
        self.probes = is_probed.then_some(probes);
        let dialect = if is_log { start.dialect } else { dialect };
        emit(&Kind::Start(Start { dialect, ..start }).into())
    }

    fn is_probed(&self, choice: u64) -> bool {
        self.probes.as_ref().is_some_and(|probes| !probes.is_too_many(choice))
    }

    /// Looks for markup in a text that is cut into pieces. Returns the number of the first piece
    /// that opens some, and the one warning about it, which names the flag that reads it.
    fn probe(&mut self, choice: u64, text: &str, cuts: &[usize]) -> Option<(usize, String)> {
        let probe = self.probes.get_or_insert_default().or_default(choice);
        let (opener, name) = probe.feed(text, cuts)?;
        self.probes = None;
        let what = format!("the text holds markup of the dialect {name}");
        Some((opener, format!("{what}: `-d {name}` reads it")))
    }

    /// Takes a piece of text.
    fn text(&mut self, choice: u64, text: &str, emit: &mut Emit) -> Done {
        let Some(machines) = &mut self.machines else { return Ok(()) };
        if machines.is_too_many(choice) {
            self.finish(emit)?;
            return emit(&Kind::Error(TOO_MANY_CHOICES).into());
        }
        let machine = machines.or_insert_with(choice, || {
            let calls = TextCalls::new(self.tools.clone(), self.max_args);
            match self.chosen {
                Selection::Row(row) => {
                    DialectMachine::new(row, self.start_in.unwrap_or(row.start_in), calls)
                }
                _ => DialectMachine::auto(self.start_in.unwrap_or_default(), calls),
            }
        });
        machine.feed(text, &mut calls::ChoiceEmit::new(choice, emit))
    }

    /// Ends a choice's text; returns true if it ended inside a call.
    /// Ends the text of a choice, which the model stopped by itself, or the provider cut.
    fn finish_choice(
        &mut self,
        choice: u64,
        (stopped, was_cut): (bool, bool),
        emit: &mut Emit,
    ) -> io::Result<bool> {
        match self.machines.as_mut().and_then(|machines| machines.remove(choice)) {
            Some(machine) => {
                let stopped = stopped || self.at_end == AtEnd::Stop;
                machine.finish((stopped, was_cut), &mut calls::ChoiceEmit::new(choice, emit))
            }
            None => Ok(false),
        }
    }
}
