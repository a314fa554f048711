//! The calls of a message whose results follow it.

use std::collections::BTreeMap;

use crate::event::owned::Owned;
use crate::event::{Event, Executor, Kind, Start, ToolCall};
use crate::format;

/// Holds what comes from the first call on, until the message ends and it is known which calls were
/// run: of formats that have the results [after the message](format::Format::results_follow).
#[derive(Debug, Default)]
pub(super) struct Followed {
    is_on: bool,
    held: Vec<(u64, Owned<Kind<'static>>)>,
}

impl Followed {
    /// Returns the state at the start of a message.
    pub(super) fn new(start: &Start<'_>) -> Self {
        let is_on = format::find(start.format).is_some_and(|format| format.results_follow);
        Followed { is_on, held: Vec::new() }
    }

    /// Returns true if an event is held.
    pub(super) fn hold(&mut self, event: &Event<'_>) -> bool {
        if !self.is_on {
            return false;
        }
        match event.kind {
            Kind::Finish(_) | Kind::Error(_) | Kind::End => return false,
            // Such a call is written as a whole.
            Kind::ToolCallStart(_) | Kind::ToolCallDelta(_) => return true,
            Kind::ToolCall(_) => {}
            _ if self.held.is_empty() => return false,
            _ => {}
        }
        self.held.push((event.choice, Owned::new(event.kind)));
        true
    }

    /// True while anything is held.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Hands on what was held; calls have the executor that their results tell.
    pub(super) fn release(&mut self, mut then: impl FnMut(Event<'_>)) {
        let held = std::mem::take(&mut self.held);
        let results = held.iter().filter_map(|(_, kind)| match kind.get() {
            Kind::ToolResult(result) => {
                Some((result.id, result.executor.unwrap_or(Executor::Agent)))
            }
            _ => None,
        });
        let ran: BTreeMap<&str, Executor> = results.collect();
        for (choice, kind) in &held {
            let kind = match kind.get() {
                Kind::ToolCall(call) if let Some(executor) = ran.get(call.id) => {
                    let executor = call.executor.or(Some(*executor));
                    Kind::ToolCall(ToolCall { executor, ..call })
                }
                kind => kind,
            };
            then(Event::new(*choice, kind));
        }
    }
}
