//! The dialect layer: a machine for the text of each choice; everything else
//! passes by.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use crate::dialect::body::calls::{Calls, warn};
use crate::dialect::machine::Machine;
use crate::dialect::machine::markup_probe::Watch;
use crate::dialect::spec::StartIn;
use crate::dialect::table::Selection;
use crate::event::{
    Emit, EmitPieces, Event, FinishReason, Kind, Pieces, Start, TOO_MANY_CHOICES, is_too_many,
};
use crate::tools::Tools;

/// Reads calls, reasoning and metadata out of the answer's text.
pub(crate) struct Markup {
    choice: Selection,
    start_in: Option<StartIn>,
    tools: Option<Arc<Tools>>,
    max_args: usize,
    /// The machines of the open message; none if its text is text.
    machines: Option<BTreeMap<u64, Machine>>,
    /// Who looks out for markup where the user asked for no dialect; none after
    /// the first that was found.
    watches: Option<BTreeMap<u64, Watch>>,
    /// The text ended inside a call, and names no end of its own.
    is_cut: bool,
    is_plain: bool,
}

impl Markup {
    /// A layer for one input, in which a call's arguments may be of so many
    /// bytes; 0 is no limit.
    pub(crate) fn new(
        choice: &Selection,
        start_in: Option<StartIn>,
        tools: Option<Arc<Tools>>,
        max_args: usize,
    ) -> Self {
        Markup {
            choice: *choice,
            start_in,
            tools,
            max_args,
            machines: None,
            watches: None,
            is_cut: false,
            is_plain: false,
        }
    }

    /// Takes the next event of a decoder.
    pub(crate) fn feed(&mut self, event: Event<'_>, emit: &mut Emit<'_>) -> io::Result<()> {
        match event.kind {
            Kind::Start(start) => self.start(start, emit),
            Kind::Text(text) if text.channel.is_none() && self.machines.is_some() => {
                self.text(event.choice, text.text, emit)
            }
            Kind::Text(text) if text.channel.is_none() && self.is_watched(event.choice) => {
                let mut emit = |pieces: Pieces<'_>| pieces.events().try_for_each(&mut *emit);
                self.watch(event.into(), &mut emit)
            }
            Kind::Finish(finish) => {
                let stopped = !finish.inferred && finish.finish_reason == FinishReason::Stop;
                let is_cut = self.finish_choice(event.choice, stopped, emit)?;
                self.is_cut |= is_cut && finish.inferred;
                if self.is_cut { Ok(()) } else { emit(event) }
            }
            Kind::End => {
                self.finish(emit)?;
                if self.is_cut { Ok(()) } else { emit(event) }
            }
            _ => emit(event),
        }
    }

    /// Takes pieces of a text, as [`Self::feed`] takes each of them.
    pub(crate) fn feed_pieces(
        &mut self,
        pieces: Pieces<'_>,
        emit: &mut EmitPieces<'_>,
    ) -> io::Result<()> {
        let Event { choice, kind } = pieces.event;
        let is_answer = matches!(kind, Kind::Text(text) if text.channel.is_none());
        if is_answer && self.machines.is_some() {
            let mut emit = |event: Event<'_>| emit(event.into());
            return pieces.texts().try_for_each(|text| self.text(choice, text, &mut emit));
        }
        if is_answer && self.is_watched(choice) {
            return self.watch(pieces, emit);
        }
        emit(pieces)
    }

    /// The message or the input has ended: what was held back is text.
    pub(crate) fn finish(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        let choices: Vec<u64> = self.machines.iter().flat_map(BTreeMap::keys).copied().collect();
        for choice in choices {
            self.finish_choice(choice, false, emit)?;
        }
        Ok(())
    }

    /// True if the messages that come are plain text, and not a provider's.
    pub(crate) fn set_plain(&mut self, is_plain: bool) {
        self.is_plain = is_plain;
    }

    fn start(&mut self, start: Start<'_>, emit: &mut Emit<'_>) -> io::Result<()> {
        let is_text = self.is_plain;
        let dialect = match self.choice {
            Selection::Default if is_text => Some("auto"),
            Selection::Auto => Some("auto"),
            Selection::Row(row) => Some(row.name),
            Selection::Default | Selection::None => None,
        };
        self.machines = dialect.map(|_| BTreeMap::new());
        let is_watched = matches!(self.choice, Selection::Default) && !is_text;
        self.watches = is_watched.then(BTreeMap::new);
        emit(Kind::Start(Start { dialect, ..start }).into())
    }

    fn is_watched(&self, choice: u64) -> bool {
        self.watches.as_ref().is_some_and(|watches| !is_too_many(watches, choice))
    }

    /// Passes text on, and says before the piece of it that opens markup which
    /// flag would read that. One warning is enough.
    fn watch(&mut self, pieces: Pieces<'_>, emit: &mut EmitPieces<'_>) -> io::Result<()> {
        let choice = pieces.event.choice;
        let watch = self.watches.get_or_insert_default().entry(choice).or_default();
        let Some((opener, name)) = watch.feed(pieces) else { return emit(pieces) };
        self.watches = None;
        let message = format!("the text holds markup of the dialect {name}: `-d {name}` reads it");
        let mut emit = |event: Event<'_>| emit(event.into());
        pieces.events().enumerate().try_for_each(|(at, piece)| {
            if at == opener {
                warn("markup_in_text", &message, &mut |kind| emit(Event::new(choice, kind)))?;
            }
            emit(piece)
        })
    }

    fn text(&mut self, choice: u64, text: &str, emit: &mut Emit<'_>) -> io::Result<()> {
        let Some(machines) = &mut self.machines else { return Ok(()) };
        if is_too_many(machines, choice) {
            self.finish(emit)?;
            return emit(Kind::Error(TOO_MANY_CHOICES).into());
        }
        let machine = machines.entry(choice).or_insert_with(|| {
            let calls = Calls::new(self.tools.clone(), self.max_args);
            match self.choice {
                Selection::Row(row) => {
                    Machine::new(row, self.start_in.unwrap_or(row.start_in), calls)
                }
                _ => Machine::auto(self.start_in.unwrap_or_default(), calls),
            }
        });
        machine.feed(text, &mut |kind| emit(Event::new(choice, kind)))
    }

    /// Ends a choice's text; tells whether it ended inside a call.
    fn finish_choice(
        &mut self,
        choice: u64,
        stopped: bool,
        emit: &mut Emit<'_>,
    ) -> io::Result<bool> {
        match self.machines.as_mut().and_then(|machines| machines.remove(&choice)) {
            Some(machine) => machine.finish(stopped, &mut |kind| emit(Event::new(choice, kind))),
            None => Ok(false),
        }
    }
}
