//! The layer of `--turn`: joins the provider's own JSON of a message to what the next request has to
//! hold of it.
//!
//! It is a sink: each piece comes as an event, under the index that the assembler gave its call, and
//! the end that the assembler gives the message decides if there is a turn at all.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use crate::dialect::{self, Dialect};
use crate::dressing;
use crate::dressing::From;
use crate::event::owned::Owned;
use crate::event::{
    Event, Finish, FinishReason, InvalidToolCall, Kind, Loose, Native, Of, Piece, Pieces, Reason,
    Start, ToolCall, Turn, Usage, Warning, WarningCode,
};
use crate::format::turn::{Appended, Ending, Incomplete, Request};
use crate::format::{self, turn};
use crate::json;
use crate::sink::Sink;

/// Gathers the turn of one choice of each message.
///
/// Its cells are borrowed for as long as one of its own methods runs, never while another layer is
/// called.
pub(crate) struct Turns {
    state: RefCell<TurnsState>,
    /// The usage of the open message, held until it is known how the message ends.
    usage: RefCell<Option<Owned<Usage<'static>>>>,
}

struct TurnsState {
    choice: u64,
    /// The program that printed plain text.
    from: From,
    /// The texts that it was sent.
    sent: Arc<[String]>,
    /// The most bytes that a turn may take; 0 is no limit.
    max: usize,
    /// True if the reader writes the turn of a message in a user's own format.
    writes_own: bool,
    /// The open message.
    message: Option<OpenTurn>,
    /// True if the input is a log of our own events: it has its turns in it.
    is_log: bool,
}

struct OpenTurn {
    format: String,
    /// None if the format has no requests.
    request: Option<&'static Request>,
    turn: turn::TurnDraft,
    /// The plain text, as it came.
    text: Option<String>,
    /// The indexes of the calls that came in its text.
    written: BTreeSet<u64>,
    /// The number of those up to the last one that may run, with its dialect.
    made: Option<(&'static Dialect, u64)>,
    /// The indexes of the calls that have come in the provider's own JSON.
    native: BTreeSet<u64>,
    /// True if a call that the caller has to run has not.
    is_lost: bool,
    invalid: Vec<(u64, Reason)>,
}

impl Turns {
    /// Returns the layer for one choice of each message. A turn takes `max` bytes at most; 0 is no
    /// limit. With `writes_own`, nothing is said of that which a message in a user's own
    /// format lacks.
    pub(crate) fn new(
        choice: u64,
        from: From,
        sent: Arc<[String]>,
        max: usize,
        writes_own: bool,
    ) -> Self {
        let (message, is_log) = (None, false);
        let state = TurnsState { choice, from, sent, max, writes_own, message, is_log };
        Turns { state: RefCell::new(state), usage: RefCell::default() }
    }

    /// A decoder begins a message.
    pub(crate) fn begin(&self, start: &Start<'_>) {
        self.state.borrow_mut().is_log = !start.framing.is_empty();
    }

    /// Returns the most bytes of plain text that may come at once: one more than the turn has room
    /// for, however the text was read.
    pub(crate) fn room(&self) -> usize {
        let state = self.state.borrow();
        let size = state.message.as_ref().map_or(0, OpenTurn::size);
        if state.max == 0 { usize::MAX } else { state.max.saturating_sub(size).saturating_add(1) }
    }

    /// Returns a message if the turn takes more than it may.
    pub(crate) fn overflow(&self) -> Option<String> {
        let state = self.state.borrow();
        let is_over = state.max != 0 && state.message.as_ref()?.size() > state.max;
        is_over.then(|| format!("the turn is larger than --max-memory {}", state.max))
    }

    /// Returns a sink that adds each message's turn to what `sink` is fed.
    pub(crate) fn tap<'t>(&'t self, sink: &'t mut dyn Sink) -> Tap<'t> {
        Tap { turns: self, sink }
    }
}

impl OpenTurn {
    fn new(format: &str) -> Self {
        let row = format::find(format);
        let is_text = row.is_some_and(|row| *row == format::text::FORMAT);
        OpenTurn {
            format: format.to_owned(),
            request: row.and_then(|row| row.request),
            turn: turn::TurnDraft::default(),
            text: is_text.then(String::new),
            written: BTreeSet::new(),
            made: None,
            native: BTreeSet::new(),
            is_lost: false,
            invalid: Vec::new(),
        }
    }

    /// True if it is in a format of the user's own, which has no requests.
    fn is_own(&self) -> bool {
        self.request.is_none() && format::is_own(&self.format)
    }

    fn size(&self) -> usize {
        let text = self.text.as_ref().map_or(0, String::len);
        text + self.turn.size()
    }

    fn feed(&mut self, of: Of, piece: Piece<'_>) {
        if let Of::Call(index) = of {
            self.native.insert(index);
        }
        match (of, &mut self.text, self.request) {
            // The request is that of the format inside, if that has one.
            (Of::Format, ..) => {
                let inner = format::find(piece.json).and_then(|row| row.request);
                self.request = inner.or(self.request);
            }
            (_, Some(text), _) => text.push_str(piece.json),
            (_, None, Some(request)) => (request.add)(&mut self.turn, of, piece),
            (_, None, None) => {}
        }
    }

    /// Returns the turn of a message that ended well.
    fn finish(
        mut self,
        say: impl Fn(&str) -> String,
        finish: &Finish<'_>,
    ) -> Result<Appended, Incomplete> {
        let Finish { finish_reason, wants_tools, .. } = *finish;
        let why = match finish_reason {
            FinishReason::Error => "the provider gave an error as its finish reason",
            FinishReason::Refusal => "the model refused",
            FinishReason::ContentFilter => "a filter stopped the model",
            _ => "nothing is left of the message",
        };
        let Some(request) = self.request else {
            let message = format!("{} is no format of a conversation", self.format);
            return Err(Incomplete(message.into()));
        };
        if finish_reason.is_failure() {
            return Err(Incomplete(why.into()));
        }
        if self.is_lost {
            return Err(Incomplete("it would not hold the calls that were read".into()));
        }
        if let Some(text) = self.text {
            // What a program printed besides is not to be said to the model.
            let text = say(&text);
            let own = |(dialect, calls): (&'static Dialect, u64)| dialect.own_words(&text, calls);
            let text = self.made.map_or(&*text, own);
            (request.add)(&mut self.turn, Of::Message, Piece::whole(text));
        }
        let invalid = self.invalid;
        let ending = Ending { finish_reason, wants_tools, invalid };
        if self.turn.is_damaged(&ending) {
            return Err(Incomplete("a piece of it is of another type than those before it".into()));
        }
        let appended = (request.finish)(&mut self.turn, &ending)?;
        if appended.append.is_empty() {
            return Err(Incomplete(why.into()));
        }
        Ok(appended)
    }
}

/// A sink that adds the turn of each message that ends well, before its usage.
pub(crate) struct Tap<'t> {
    turns: &'t Turns,
    sink: &'t mut dyn Sink,
}

impl Tap<'_> {
    /// Takes the message out of the layer, if there is one that this event ends.
    fn ended(&self, event: &Event<'_>) -> Option<OpenTurn> {
        let mut state = self.turns.state.borrow_mut();
        let is_of_choice = event.choice == state.choice;
        let message = state.message.as_mut();
        match event.kind {
            Kind::Start(start) => {
                state.message = (!state.is_log).then(|| OpenTurn::new(start.format));
            }
            Kind::Loose(Loose::Native(Native { of, piece })) if is_of_choice => {
                message?.feed(of, piece)
            }
            Kind::InvalidToolCall(call) if is_of_choice && call.source.is_none() => {
                message?.invalid.push((call.index, call.reason));
            }
            Kind::ToolCall(call)
                if is_of_choice && call.source.is_none() && call.executor.is_none() =>
            {
                let message = message?;
                message.is_lost |= !message.native.contains(&call.index);
            }
            Kind::ToolCall(call @ ToolCall { source: Some(source), .. }) if is_of_choice => {
                let message = message?;
                message.written.insert(call.index);
                let written = message.written.range(..=call.index).count() as u64;
                message.made = dialect::of_source(source).map(|row| (row, written));
            }
            Kind::InvalidToolCall(InvalidToolCall { source: Some(_), index, .. })
                if is_of_choice =>
            {
                message?.written.insert(index);
            }
            // The pieces, joined, are not what was read.
            Kind::Warning(warning)
                if is_of_choice && warning.code == WarningCode::CumulativeArguments =>
            {
                message?.is_lost = true;
            }
            Kind::Finish(_) if is_of_choice => return state.message.take(),
            Kind::Error(_) => state.message = None,
            _ => {}
        }
        None
    }

    /// Emits a turn, or the reason why there is none.
    fn turn(&mut self, turn: Result<Appended, Incomplete>, choice: u64) -> io::Result<()> {
        let Appended { append, set } = match turn {
            Ok(appended) => appended,
            Err(Incomplete(why)) => {
                let message = format!("no turn: {why}");
                let (code, message) = (WarningCode::NoTurn, message.as_str());
                let warning = Warning::new(code, message);
                return self.sink.feed(&Event::new(choice, Kind::Warning(warning)));
            }
        };
        let (append, set) = (json::array(append), json::object(set));
        let set = Some(set.as_str()).filter(|set| *set != "{}");
        self.sink.feed(&Event::new(choice, Kind::Turn(Turn { append: &append, set })))
    }
}

impl Sink for Tap<'_> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        if let Kind::Usage(usage) = event.kind {
            // It is the last line but one.
            *self.turns.usage.borrow_mut() = Some(Owned::new(usage));
            return Ok(());
        }
        let ended = self.ended(event);
        if let Kind::Loose(Loose::Native(_)) = event.kind {
            return Ok(());
        }
        if let Kind::Finish(finish) = event.kind
            && let Some(message) = ended
            && !(self.turns.state.borrow().writes_own && message.is_own())
        {
            let turn = {
                let TurnsState { from, sent, .. } = &*self.turns.state.borrow();
                message.finish(|text| dressing::undress(*from, Arc::clone(sent), text), &finish)
            };
            self.turn(turn, event.choice)?;
        }
        let usage = self.turns.usage.borrow_mut().take();
        if let Some(usage) = usage {
            self.sink.feed(&Kind::Usage(usage.get()).into())?;
        }
        self.sink.feed(event)
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        self.sink.feed_pieces(pieces)
    }

    fn inner(&mut self) -> Option<&mut dyn Sink> {
        Some(&mut *self.sink)
    }
}
