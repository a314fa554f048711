//! The turn of a message in a format of the user's own, which has no requests: that of the same
//! message, written as the provider of the request would have sent it.

use std::ptr;

use crate::convert::{Converter, Options};
use crate::event::{CallInput, Event, InvalidToolCall, Kind, OwnedEvent, ToolCall, Turn};
use crate::format::turn::Request;
use crate::format::{Carry, FORMATS, Losses};
use crate::pipeline::{Config, Pipeline};
use crate::sink::{self, Sink as _};

/// The most bytes of the events that are kept.
const MAX_KEPT: usize = 256 << 20;

/// The events of one choice of a message.
#[derive(Debug, Default)]
pub(super) struct KeptEvents {
    events: Vec<OwnedEvent>,
    size: usize,
}

impl KeptEvents {
    /// Keeps an event, if there is room.
    pub(super) fn add(&mut self, event: &Event<'_>) {
        let event = answered(event).into_owned();
        self.size += event.size();
        if self.size <= MAX_KEPT {
            self.events.push(event);
        }
    }

    /// Returns the turn of the message for a request of this row. There is none if that row's answers
    /// can't be written, or can't carry the message, or if it was too large.
    pub(super) fn turn(&self, row: &'static Request) -> Option<(String, String)> {
        (self.size <= MAX_KEPT).then(|| turn(&self.events, row)).flatten()
    }
}

/// Returns an event as the turn has it: a call that must not be run is answered by what is wrong with
/// it, and stands there without arguments.
fn answered<'e>(event: &Event<'e>) -> Event<'e> {
    let kind = match event.kind {
        Kind::InvalidToolCall(InvalidToolCall {
            index,
            id: Some(id),
            name: Some(name),
            reason,
            ..
        }) if reason.is_answered() => {
            Kind::ToolCall(ToolCall::new(index, id, name, CallInput::Arguments("{}")))
        }
        kind => kind,
    };
    Event { kind, ..*event }
}

fn turn(events: &[OwnedEvent], row: &'static Request) -> Option<(String, String)> {
    let format = FORMATS.iter().find(|it| it.request.is_some_and(|known| ptr::eq(known, row)))?;
    let writing = format.write?;
    // What is of the whole message comes under choice 0.
    let choice = events.iter().map(|event| event.get().choice).max();
    let options = Options { whole: writing.has_body, choice, ..Options::default() };
    let (mut body, mut losses) = (Vec::new(), Losses::default());
    let mut converter = Converter::new(&mut body, writing, &options, &mut losses);
    events.iter().try_for_each(|event| converter.feed(&event.get())).ok()?;
    converter.flush().ok()?;
    drop(converter);
    if losses.keys().any(|info| writing.loss(*info) == Some(Carry::Error)) {
        return None;
    }
    let config = Config { format: Some(format), turn: true, ..Config::default() };
    let mut turn = None;
    let mut sink = sink::from_fn(|event| {
        if let Kind::Turn(Turn { append, set }) = event.kind {
            turn = Some((append.to_owned(), set.unwrap_or("{}").to_owned()));
        }
        Ok(())
    });
    let mut pipeline = Pipeline::new(&config);
    pipeline.feed(&body, &mut sink).ok()?;
    pipeline.finish(&mut sink).ok()?;
    turn
}
