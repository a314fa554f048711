//! A message of our own log: its events have been assembled once, and pass as they are. The laws
//! hold as they held then; what the log can't say is found out again: if the caller has calls to
//! run, and if the message came to its end.

use std::collections::BTreeMap;
use std::io;

use crate::event::owned::Owned;
use crate::event::{Emit, Event, Finish, Kind};

#[derive(Default)]
pub(super) struct Logged {
    choices: BTreeMap<u64, Choice>,
    /// The last lines of the message, held until all of them have come: only then it ended well.
    tail: Vec<(u64, Owned<Kind<'static>>)>,
    /// True if an error ended it.
    has_failed: bool,
}

#[derive(Default)]
struct Choice {
    /// The ids of the calls that the caller has to run.
    to_run: Vec<String>,
    is_finished: bool,
}

impl Logged {
    /// True if every choice has come to its end: no more of the message may come.
    pub(super) fn is_over(&self) -> bool {
        let is_good = || self.choices.values().all(|choice| choice.is_finished);
        self.has_failed || (!self.choices.is_empty() && is_good())
    }

    /// Passes an event on. After the end only remarks are, and what an agent says between messages.
    pub(super) fn feed(&mut self, event: Event<'_>, emit: &mut Emit<'_>) -> io::Result<()> {
        let is_remark = matches!(event.kind, Kind::Warning(_) | Kind::ProviderEvent(_));
        let is_agents =
            matches!(event.kind, Kind::ToolStart(_) | Kind::ToolResult(_) | Kind::RunEnd(_));
        if self.is_over() && !is_remark {
            return if is_agents { emit(event) } else { Ok(()) };
        }
        match event.kind {
            Kind::Error(_) => {
                self.has_failed = true;
                self.tail
                    .retain(|(_, held)| !matches!(held.get(), Kind::Turn(_) | Kind::Finish(_)));
                self.flush(emit)?;
                emit(event)
            }
            Kind::Turn(_) | Kind::Usage(_) => self.hold(event),
            _ if is_remark && !self.tail.is_empty() => self.hold(event),
            Kind::Finish(finish) => {
                let choice = self.choices.entry(event.choice).or_default();
                choice.is_finished = true;
                let wants_tools = !choice.to_run.is_empty();
                let finish = Kind::Finish(Finish { wants_tools, ..finish });
                self.tail.push((event.choice, Owned::new(finish)));
                if self.is_over() { self.flush(emit) } else { Ok(()) }
            }
            _ => {
                self.note(&event);
                emit(event)
            }
        }
    }

    fn hold(&mut self, event: Event<'_>) -> io::Result<()> {
        self.tail.push((event.choice, Owned::new(event.kind)));
        Ok(())
    }

    fn flush(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        let tail = std::mem::take(&mut self.tail);
        tail.iter().try_for_each(|(choice, held)| emit(Event::new(*choice, held.get())))
    }

    /// Notes which calls are to be run.
    fn note(&mut self, event: &Event<'_>) {
        if !event.kind.is_of_choice() {
            return;
        }
        let choice = self.choices.entry(event.choice).or_default();
        match event.kind {
            Kind::ToolCall(call) if call.executor.is_none() => {
                choice.to_run.push(call.id.to_owned());
            }
            Kind::ToolResult(result) => {
                if let Some(at) = choice.to_run.iter().position(|id| id == result.id) {
                    choice.to_run.remove(at);
                }
            }
            _ => {}
        }
    }
}
