//! The calls of a message whose results follow it.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Event, Executor, Kind, Loose, OwnedEvent, ToolCall};

/// Holds what comes from the first call of the caller's on, until the message ends: only then it is
/// known that the message did not take it back, and who ran it.
#[derive(Debug, Default)]
pub(super) struct Followed {
    is_on: bool,
    held: Vec<OwnedEvent>,
}

impl Followed {
    /// Returns the state at the start of a message; `is_live` if calls are wanted as they come.
    pub(super) fn new(is_live: bool) -> Self {
        Followed { is_on: !is_live, held: Vec::new() }
    }

    /// Returns true if an event is held.
    pub(super) fn hold(&mut self, event: &Event<'_>) -> bool {
        if !self.is_on {
            return false;
        }
        match event.kind {
            Kind::Finish(_) | Kind::Error(_) | Kind::Loose(Loose::End) | Kind::Record => {
                return false;
            }
            // Such a call is written as a whole.
            Kind::ToolCallStart(_) | Kind::ToolCallDelta(_) => return true,
            Kind::ToolCall(call) if call.executor.is_none() => {}
            _ if self.held.is_empty() => return false,
            _ => {}
        }
        self.held.push(event.into_owned());
        true
    }

    /// True while anything is held.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Hands on what was held, but for calls that were taken back; the others have the executor that
    /// their results tell.
    pub(super) fn release(&mut self, mut then: impl FnMut(Event<'_>)) {
        let held = std::mem::take(&mut self.held);
        let events = || held.iter().map(OwnedEvent::get);
        let results = events().filter_map(|event| match event.kind {
            Kind::ToolResult(result) => {
                Some((result.id, result.executor.unwrap_or(Executor::Agent)))
            }
            _ => None,
        });
        let ran: BTreeMap<&str, Executor> = results.collect();
        let withdrawn = events().filter_map(|event| match event.kind {
            Kind::InvalidToolCall(call) => Some((event.choice, call.index)),
            _ => None,
        });
        let withdrawn: BTreeSet<(u64, u64)> = withdrawn.collect();
        for Event { choice, kind } in events() {
            let kind = match kind {
                Kind::ToolCall(call) if withdrawn.contains(&(choice, call.index)) => continue,
                Kind::ToolCall(call) if let Some(executor) = ran.get(call.id) => {
                    let executor = call.executor.or(Some(*executor));
                    Kind::ToolCall(ToolCall { executor, ..call })
                }
                kind => kind,
            };
            then(Event::new(choice, kind));
        }
    }
}
