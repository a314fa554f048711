//! The layer of `--turn`: gathers the part of a message that the next request has to hold.
//!
//! It takes three things: the frames, which a provider's [`Turn`] is built from; the decoder's
//! events, which show where a message begins; and the end that the assembler gives it, which
//! decides if there is a turn at all.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;

use crate::dressing;
use crate::dressing::From;
use crate::event::owned::Owned;
use crate::event::{Event, Finish, FinishReason, Kind, Pieces, Turn, Usage, Warning, WarningCode};
use crate::format;
use crate::format::turn;
use crate::format::turn::{Appended, Ending, Incomplete, Invalid};
use crate::frame::{FRAMINGS, Frame};
use crate::json;
use crate::sink::Sink;

/// Gathers the turn of one choice of each message.
///
/// Its cells are borrowed for as long as one of its own methods runs, never while another layer is
/// called.
pub(crate) struct Turns {
    state: RefCell<State>,
    /// The usage of the open message, held until it is known how the message ends.
    usage: RefCell<Option<Owned<Usage<'static>>>>,
}

struct State {
    choice: u64,
    /// The program that printed plain text.
    from: From,
    /// The texts that it was sent.
    sent: Arc<[String]>,
    /// The most bytes that a turn may take; 0 is no limit.
    max: usize,
    /// The open message.
    message: Option<Message>,
    /// True if the frame that is being decoded has been given to a builder.
    is_taken: bool,
    /// True if the frames are a log of our own events: it has its turns in it.
    is_log: bool,
}

struct Message {
    format: String,
    /// None if the format has no requests.
    request: Option<&'static turn::Request>,
    builder: Option<Box<dyn turn::Turn>>,
    /// The plain text, as it came.
    text: Vec<u8>,
    /// The index of each call that the caller has to run, its id, name and input.
    calls: Vec<(u64, [String; 3])>,
    invalid: Vec<Invalid>,
}

impl Turns {
    /// Returns the layer for one choice of each message. A turn takes `max` bytes at most; 0 is no
    /// limit.
    pub(crate) fn new(choice: u64, from: From, sent: Arc<[String]>, max: usize) -> Self {
        let state = State { choice, from, sent, max, message: None, is_taken: true, is_log: false };
        Turns { state: RefCell::new(state), usage: RefCell::default() }
    }

    /// The next frame is about to be decoded.
    pub(crate) fn begin_frame(&self) {
        self.state.borrow_mut().is_taken = false;
    }

    /// Takes an event that the decoder makes of a frame. The frame belongs to the message that is
    /// open when it adds anything; a frame that only ends a message may begin the next one.
    pub(crate) fn feed(&self, frame: &Frame<'_>, kind: &Kind<'_>) {
        match kind {
            Kind::Start(start) => self.state.borrow_mut().is_log = !start.framing.is_empty(),
            Kind::CallEnd(_)
            | Kind::Lost
            | Kind::Withdrawn
            | Kind::Usage(_)
            | Kind::Time(_)
            | Kind::End => {}
            Kind::Warning(_) | Kind::Error(_) => {}
            _ => self.state.borrow_mut().take(frame),
        }
    }

    /// Returns the most bytes of plain text that may come at once: one more than the turn has room
    /// for, however the text was read.
    pub(crate) fn room(&self) -> usize {
        let state = self.state.borrow();
        let size = state.message.as_ref().map_or(0, Message::size);
        if state.max == 0 { usize::MAX } else { state.max.saturating_sub(size).saturating_add(1) }
    }

    /// The frame has been decoded. Returns a message if the turn takes more than it may.
    pub(crate) fn end_frame(&self, frame: &Frame<'_>) -> Option<String> {
        let mut state = self.state.borrow_mut();
        state.take(frame);
        let is_over = state.max != 0 && state.message.as_ref()?.size() > state.max;
        is_over.then(|| format!("the turn is larger than --max-memory {}", state.max))
    }

    /// Returns a sink that adds each message's turn to what `sink` is fed.
    pub(crate) fn tap<'t>(&'t self, sink: &'t mut dyn Sink) -> Tap<'t> {
        Tap { turns: self, sink }
    }
}

impl State {
    fn take(&mut self, frame: &Frame<'_>) {
        if let Some(message) = &mut self.message
            && !std::mem::replace(&mut self.is_taken, true)
            && let Some(builder) = &mut message.builder
        {
            match frame.framing.is_text() {
                true => message.text.extend_from_slice(frame.data),
                false => builder.feed(frame),
            }
        }
    }
}

impl Message {
    fn new(format: &str, choice: u64) -> Self {
        let request = format::find(format).and_then(|row| row.request);
        let builder = request.map(|request| (request.turn)(choice));
        let (calls, invalid) = (Vec::new(), Vec::new());
        Message { format: format.to_owned(), request, builder, text: Vec::new(), calls, invalid }
    }

    fn size(&self) -> usize {
        self.text.len() + self.builder.as_ref().map_or(0, |builder| builder.size())
    }

    /// True if elements of a conversation hold the calls as they were read: each by its id, or
    /// else as any that is the same.
    fn is_held_by(&self, append: &[String]) -> bool {
        let mut held = self.request.map(|request| (request.calls)(append)).unwrap_or_default();
        self.calls.iter().all(|(_, [id, name, input])| {
            let of_id = held.iter().position(|call| call.id.as_ref() == Some(id));
            let place = of_id.or_else(|| held.iter().position(|call| call.is(name, input)));
            place.is_some_and(|place| held.remove(place).is(name, input))
        })
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
        let Some(mut builder) = self.builder.take() else {
            let message = format!("{} is no format of a conversation", self.format);
            return Err(Incomplete(message.into()));
        };
        if finish_reason.is_failure() {
            return Err(Incomplete(why.into()));
        }
        if let Some(framing) = FRAMINGS.iter().find(|row| row.is_text() && !self.text.is_empty()) {
            // What a program printed besides is not to be said to the model.
            let said = say(&String::from_utf8_lossy(&self.text));
            builder.feed(&Frame::new(framing, said.as_bytes(), 0));
        }
        let invalid = std::mem::take(&mut self.invalid);
        let appended = builder.finish(&Ending { finish_reason, wants_tools, invalid })?;
        if appended.append.is_empty() {
            return Err(Incomplete(why.into()));
        }
        if !self.is_held_by(&appended.append) {
            return Err(Incomplete("it would not hold the calls that were read".into()));
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
    fn ended(&self, event: &Event<'_>) -> Option<Message> {
        let mut state = self.turns.state.borrow_mut();
        let is_of_choice = event.choice == state.choice;
        let choice = state.choice;
        let message = state.message.as_mut();
        match event.kind {
            Kind::Start(start) => {
                let is_log = state.is_log;
                state.message = (!is_log).then(|| Message::new(start.format, choice));
            }
            Kind::InvalidToolCall(call) if is_of_choice && call.source.is_none() => {
                let id = call.id.map(str::to_owned);
                let invalid = Invalid { index: call.index, id, reason: call.reason };
                let message = message?;
                message.calls.retain(|(index, _)| *index != call.index);
                message.invalid.push(invalid);
            }
            Kind::ToolCall(call)
                if is_of_choice && call.source.is_none() && call.executor.is_none() =>
            {
                let own = [call.id, call.name, call.input.as_str()].map(str::to_owned);
                message?.calls.push((call.index, own));
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
        if let Kind::Finish(finish) = event.kind
            && let Some(message) = ended
        {
            let turn = {
                let State { from, sent, .. } = &*self.turns.state.borrow();
                message.finish(|text| dressing::said(*from, Arc::clone(sent), text), &finish)
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
