//! A message of our own log: its events have been assembled once, and pass as they are. The laws
//! hold as they held then; what the log can't say is found out again: if the caller has calls to
//! run, and if the message came to its end.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::mem::discriminant;

use crate::event::{
    ByChoice, Code, Done, Emit, Event, Failure, Finish, Kind, OwnedEvent, TOO_MANY_CHOICES,
    Warning, WarningCode,
};

/// The most bytes of remarks among the last lines of a message.
const MAX_TAIL: usize = 1 << 20;

#[derive(Default)]
pub(super) struct Logged {
    /// The most calls of a choice that wait for their results; 0 is no limit.
    max_calls: usize,
    choices: ByChoice<LoggedChoice>,
    /// The last lines of the message, held until all of them have come: only then it ended well.
    tail: Vec<HeldEvent>,
    /// The bytes of the remarks among them.
    tail_size: usize,
    /// The time at which the next event came, if its line has it.
    time: Option<u64>,
    /// True if an error ended it.
    has_failed: bool,
}

/// An event that waits for the end.
struct HeldEvent {
    time: Option<u64>,
    event: OwnedEvent,
}

impl HeldEvent {
    fn kind(&self) -> Kind<'_> {
        self.event.get().kind
    }
}

#[derive(Default)]
struct LoggedChoice {
    /// The ids of the calls that the caller has to run, and how many there are of each.
    to_run: BTreeMap<String, usize>,
    /// Their indexes, with those that have a result.
    indexes: BTreeSet<u64>,
    is_finished: bool,
}

impl LoggedChoice {
    /// One call of this id is not to be run.
    fn remove(&mut self, id: &str) {
        match self.to_run.get_mut(id) {
            Some(1) => drop(self.to_run.remove(id)),
            Some(count) => *count -= 1,
            None => {}
        }
    }
}

impl Logged {
    pub(super) fn new(max_calls: usize) -> Self {
        Logged { max_calls, ..Logged::default() }
    }

    /// True if every choice has come to its end, the first one last: no more of the message may
    /// come.
    pub(super) fn is_over(&self) -> bool {
        self.has_failed || (self.choices.contains(0) && self.is_finished())
    }

    /// True if every choice so far has come to its end.
    fn is_finished(&self) -> bool {
        !self.choices.is_empty() && self.choices.values().all(|choice| choice.is_finished)
    }

    /// Emits the last lines of a message if they ended it well, of which the log may hold only a
    /// choice that is not the first. Returns false if its end is not in the log.
    pub(super) fn finish(&mut self, emit: &mut Emit) -> io::Result<bool> {
        match self.has_failed {
            false if self.is_finished() => self.flush(emit).map(|()| true),
            has_failed => Ok(has_failed),
        }
    }

    /// Passes an event on. After the end only remarks are, and what an agent says between messages;
    /// a warning stands in place of anything else.
    pub(super) fn feed(&mut self, event: &Event<'_>, emit: &mut Emit) -> Done {
        if let Kind::Time(time) = event.kind {
            self.time = Some(time);
            return Ok(());
        }
        let time = self.time.take();
        let is_remark = matches!(event.kind, Kind::Warning(_) | Kind::ProviderEvent(_));
        let is_agents =
            matches!(event.kind, Kind::ToolStart(_) | Kind::ToolResult(_) | Kind::RunEnd(_));
        if self.is_over() && !is_remark {
            let message = "a line came after the end of its message, and was passed over";
            let passed = Kind::Warning(Warning::new(WarningCode::AfterDone, message)).into();
            return emit_at(time, if is_agents { event } else { &passed }, emit);
        }
        if event.kind.is_of_choice() && self.choices.is_too_many(event.choice) {
            return self.feed(&Kind::Error(TOO_MANY_CHOICES).into(), emit);
        }
        match event.kind {
            Kind::Error(_) => {
                self.has_failed = true;
                self.tail.retain(|held| !matches!(held.kind(), Kind::Turn(_) | Kind::Finish(_)));
                self.flush(emit)?;
                emit_at(time, event, emit)
            }
            Kind::Turn(_) | Kind::Usage(_) => {
                let is_same = |held: &Kind<'_>| discriminant(held) == discriminant(&event.kind);
                self.tail.retain(|held| !is_same(&held.kind()));
                self.hold(time, event)
            }
            _ if is_remark && !self.tail.is_empty() => {
                self.hold(time, event)?;
                self.tail_size += self.tail.last().map_or(0, |held| held.event.size());
                let is_over = self.tail_size > MAX_TAIL;
                if is_over {
                    self.limit("more than 1 MiB after the end of a message", emit)
                } else {
                    Ok(())
                }
            }
            Kind::Finish(_) if self.choices.get(event.choice).is_some_and(|it| it.is_finished) => {
                Ok(())
            }
            Kind::Finish(finish) => {
                let choice = self.choices.or_default(event.choice);
                choice.is_finished = true;
                let wants_tools = !choice.to_run.is_empty();
                let finish = Kind::Finish(Finish { wants_tools, ..finish });
                self.hold(time, &Event::new(event.choice, finish))?;
                if self.is_over() { self.flush(emit) } else { Ok(()) }
            }
            _ => {
                let count = self.note(event);
                emit_at(time, event, emit)?;
                if self.max_calls == 0 || count <= self.max_calls {
                    return Ok(());
                }
                self.limit(&format!("more tool calls than --max-calls {}", self.max_calls), emit)
            }
        }
    }

    /// Ends the message with the error that there is more of something than is kept.
    fn limit(&mut self, message: &str, emit: &mut Emit) -> Done {
        self.feed(&Kind::Error(Failure::new(Code::Limit, message, None)).into(), emit)
    }

    fn hold(&mut self, time: Option<u64>, event: &Event<'_>) -> Done {
        self.tail.push(HeldEvent { time, event: event.into_owned() });
        Ok(())
    }

    /// Emits the last lines, the turn and the usage right before the end.
    fn flush(&mut self, emit: &mut Emit) -> Done {
        let tail = std::mem::take(&mut self.tail);
        let is_end = |held: &HeldEvent| matches!(held.kind(), Kind::Finish(_));
        let end = tail.iter().rposition(is_end).unwrap_or(tail.len());
        let mut lines: Vec<(usize, &HeldEvent)> = tail.iter().enumerate().collect();
        lines.sort_by_key(|&(at, held)| match held.kind() {
            Kind::Turn(_) => 1,
            Kind::Usage(_) => 2,
            Kind::Finish(_) if at == end => 3,
            // A remark about what came after the end.
            _ if at > end => 4,
            _ => 0,
        });
        lines.iter().try_for_each(|(_, held)| emit_at(held.time, &held.event.get(), emit))
    }

    /// Notes which calls are to be run; returns their number.
    fn note(&mut self, event: &Event<'_>) -> usize {
        if !event.kind.is_of_choice() {
            return 0;
        }
        let choice = self.choices.or_default(event.choice);
        match event.kind {
            Kind::ToolCall(call) if call.executor.is_none() => {
                *choice.to_run.entry(call.id.to_owned()).or_default() += 1;
                choice.indexes.insert(call.index);
            }
            Kind::ToolResult(result) => choice.remove(result.id),
            // It takes back a call that stands before it.
            Kind::InvalidToolCall(call) if choice.indexes.remove(&call.index) => {
                choice.remove(call.id.unwrap_or_default());
            }
            _ => {}
        }
        choice.to_run.len()
    }
}

/// Emits an event, and before it when it came, if that is known.
fn emit_at(time: Option<u64>, event: &Event<'_>, emit: &mut Emit) -> Done {
    time.map_or(Ok(()), |time| emit(&Kind::Time(time).into()))?;
    emit(event)
}
