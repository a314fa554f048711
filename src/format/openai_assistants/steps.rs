//! The steps of a run that call tools: functions, which the caller runs when
//! the run asks for it, and the provider's own tools.

use std::collections::BTreeMap;
use std::io;

use serde_json::value::RawValue;

use crate::event::{Arguments, CallPart, Executor, Key, Kind, Output, ToolResult};
use crate::format::openai_assistants::payload::{Event, ToolCall};
use crate::format::support::emit::{Done, EventOut};
use crate::format::support::payload::OptionalStr;

/// The most places of calls, and ids of calls, that are remembered in one run.
const MAX_PLACES: usize = 1 << 14;

/// The calls of one run. Each step counts its calls from 0.
#[derive(Debug, Default)]
pub(super) struct Steps {
    keys: BTreeMap<(String, u64), Key>,
    by_id: BTreeMap<String, Key>,
    count: u64,
}

impl Steps {
    /// Emits the fragments that a delta adds to the calls of a step. The input of the
    /// provider's tools comes whole with the step.
    pub(super) fn delta(&mut self, event: &Event, out: &mut EventOut) -> Done {
        let details = event.delta.as_ref().and_then(|delta| delta.step_details.as_ref());
        let calls = details.and_then(|details| details.tool_calls.as_deref()).unwrap_or_default();
        for (place, call) in (0..).zip(calls) {
            let key = self.key(event, call.index.unwrap_or(place), call, out)?;
            if let Some(function) = &call.function {
                let id = call.id.non_empty();
                function.emit(0, CallPart { key, id, ..CallPart::default() }, out)?;
            }
        }
        Ok(())
    }

    /// A step, as far as it has come.
    pub(super) fn step(&mut self, event: &Event, status: &str, out: &mut EventOut) -> Done {
        if status == "in_progress" {
            return Ok(());
        }
        let calls = event.step_details.as_ref().and_then(|details| details.tool_calls.as_deref());
        for (place, call) in (0..).zip(calls.unwrap_or_default()) {
            let key = self.key(event, place, call, out)?;
            provided(call, key, out)?;
        }
        Ok(())
    }

    /// The calls that the run waits for, whole.
    pub(super) fn required(&mut self, event: &Event, out: &mut EventOut) -> Done {
        let action =
            event.required_action.as_ref().and_then(|action| action.submit_tool_outputs.as_ref());
        let calls = action.and_then(|calls| calls.tool_calls.as_deref()).unwrap_or_default();
        for (place, call) in (0..).zip(calls) {
            let key = self.key(event, place, call, out)?;
            let id = call.id.non_empty();
            if let Some(function) = &call.function {
                function.done(0, CallPart { key, id, ..CallPart::default() }, out)?;
            }
            out.call_end(0, key)?;
        }
        Ok(())
    }

    /// The key of a call: its id's, or that of its place in its step.
    fn key(
        &mut self,
        event: &Event,
        place: u64,
        call: &ToolCall,
        out: &mut EventOut,
    ) -> io::Result<Key> {
        let step = event.id.or_empty();
        let id = call.id.non_empty();
        let place = (step.to_owned(), place);
        let known = id.and_then(|id| self.by_id.get(id)).or_else(|| self.keys.get(&place)).copied();
        let key = known.unwrap_or_else(|| {
            self.count += 1;
            Key::Index(self.count)
        });
        self.keys.insert(place, key);
        self.by_id.extend(id.map(|id| (id.to_owned(), key)));
        let places = self.keys.len() + self.by_id.len();
        out.check_limit(places, MAX_PLACES, "places and ids of calls in one run")?;
        Ok(key)
    }
}

/// A call of a tool that the provider has run, and what it gave.
fn provided(call: &ToolCall, key: Key, out: &mut EventOut) -> Done {
    let (name, argument, result) = match (&call.code_interpreter, &call.file_search) {
        (Some(code), _) => ("code_interpreter", ("input", code.input), code.outputs),
        (None, Some(search)) => {
            ("file_search", ("ranking_options", search.ranking_options), search.results)
        }
        (None, None) => return Ok(()),
    };
    let arguments = match argument {
        (member, Some(json)) => format!("{{\"{member}\":{}}}", json.get()),
        (_, None) => "{}".to_owned(),
    };
    let id = call.id.non_empty();
    let (arguments, executor) = (Arguments::Done(&arguments), Some(Executor::Provider));
    out.call(
        0,
        CallPart { key, id, name: Some(name), arguments, executor, ..CallPart::default() },
    )?;
    out.call_end(0, key)?;
    match (id, result.map(RawValue::get)) {
        (Some(id), Some(json)) => {
            let output = Output::Json(json);
            out.emit(0, Kind::ToolResult(ToolResult { id, output, ..ToolResult::default() }))
        }
        _ => Ok(()),
    }
}
