//! A message, as far as the next request needs it.

use std::borrow::Cow;
use std::io;

use crate::cut::Cut as _;
use crate::event::{
    CallInput, Code, Event, FinishReason, Kind, Output, Pieces, Reason, Turn, WarningCode,
    in_namespace,
};
use crate::format::turn::Request;
use crate::pipeline::Config;
use crate::request::written::KeptEvents;
use crate::sink::Sink;
use crate::{format, json};

/// Gathers the last message of an input.
#[derive(Debug, Default)]
pub(crate) struct LastMessage {
    /// The wire format's name; empty if there is no message.
    pub(crate) format: String,
    /// The provider's id of the message.
    pub(crate) id: Option<String>,
    /// The calls that the caller has to answer, in their order.
    pub(crate) calls: Vec<PendingCall>,
    /// Results in the input, of the caller's calls.
    pub(crate) results: Vec<CallResult>,
    /// The part that the request has to hold: JSON of an array, and of an object.
    pub(crate) turn: Option<(String, String)>,
    /// The events of a message in a format of the user's own, of which its turn is written.
    pub(super) own: Option<KeptEvents>,
    /// The row of the requests that this turn was written for.
    pub(super) row: Option<&'static Request>,
    /// The reason why there is no turn.
    pub(crate) no_turn: Option<String>,
    /// Its end.
    pub(crate) ending: Option<MessageEnding>,
    /// True if nothing but the end of the input says that it has come to its end.
    pub(crate) has_inferred_end: bool,
    /// True if it ended well, and holds nothing.
    pub(crate) is_empty: bool,
    /// The warnings of the input.
    pub(crate) warnings: usize,
    /// True if a message before it that ended well has calls to run.
    pub(crate) has_calls_before: bool,
}

/// A call that has to be answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PendingCall {
    /// Its number among all calls of the message.
    pub(crate) index: u64,
    /// Its id in the events.
    pub(crate) id: String,
    /// The set of tools that the name is of, if the provider keeps several apart.
    pub(crate) namespace: Option<String>,
    /// The tool's name.
    pub(crate) name: String,
    /// The arguments' JSON, or free text; of a call that must not be run, what came.
    pub(crate) input: String,
    /// True if `input` is free text.
    pub(crate) is_text: bool,
    /// The reason why it must not be run.
    pub(crate) fault: Option<Reason>,
    /// True if it is an example in the request that the answer repeats.
    pub(crate) is_echo: bool,
    /// The dialect, if it was found in text.
    pub(crate) source: Option<String>,
}

/// The end of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MessageEnding {
    /// Well, with this reason.
    Finished(FinishReason),
    /// With an error: its code, and if the same request may succeed later.
    Failed(Code, Option<bool>),
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallResult {
    /// The id of the call.
    pub(crate) id: Option<String>,
    /// The number of the call.
    pub(crate) index: Option<u64>,
    /// Text, or JSON.
    pub(crate) output: String,
    /// True if the output is JSON.
    pub(crate) is_json: bool,
    /// True if the tool failed.
    pub(crate) is_error: bool,
}

impl CallResult {
    /// Returns the result of a call that failed, or that was not run.
    pub(crate) fn error(output: impl Into<String>) -> Self {
        CallResult { output: output.into(), is_error: true, ..CallResult::default() }
    }

    /// Returns the result that is a text.
    pub(crate) fn text(text: &str) -> Self {
        CallResult { output: text.into(), ..CallResult::default() }
    }

    /// Returns the result that a JSON value is: text, if it is a string.
    pub(crate) fn of(json: &str) -> Self {
        match json::string(json) {
            Some(text) => CallResult::text(&text),
            None => CallResult { output: json.into(), is_json: true, ..CallResult::default() },
        }
    }

    /// Returns what the tool gave.
    pub(crate) fn output(&self) -> Output<'_> {
        if self.is_json { Output::Json(&self.output) } else { Output::Text(&self.output) }
    }
}

/// Returns a configuration for answers to a request.
pub(crate) fn config(config: Config) -> Config {
    Config { turn: true, writes_turns: true, finds_ours: false, ..config }
}

impl LastMessage {
    /// True if it is in a format of the user's own.
    pub(crate) fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// True if it is plain text.
    pub(crate) fn is_plain(&self) -> bool {
        format::find(&self.format) == Some(&format::text::FORMAT)
    }
}

impl Sink for LastMessage {
    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        if self.own.is_none() {
            return Ok(());
        }
        pieces.events().try_for_each(|event| self.feed(&event))
    }

    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.take(event);
        if let Some(own) = &mut self.own {
            own.add(event);
        }
        Ok(())
    }
}

impl LastMessage {
    fn take(&mut self, event: &Event<'_>) {
        match event.kind {
            Kind::Start(start) => {
                let id = start.id.map(str::to_owned);
                let is_good = matches!(self.ending, Some(MessageEnding::Finished(_)));
                let has_calls_before = self.has_calls_before || is_good && !self.calls.is_empty();
                let format = start.format.into();
                let own = format::is_own(start.format).then(KeptEvents::default);
                *self = LastMessage { format, id, has_calls_before, own, ..LastMessage::default() };
            }
            Kind::ToolCall(call) if call.executor.is_none() => self.calls.push(PendingCall {
                index: call.index,
                id: call.id.into(),
                namespace: call.namespace.map(str::to_owned),
                name: call.name.into(),
                input: call.input.as_str().into(),
                is_text: matches!(call.input, CallInput::Text(_)),
                fault: None,
                is_echo: false,
                source: call.source.map(str::to_owned),
            }),
            // Nothing of it goes back.
            Kind::InvalidToolCall(call) if !call.reason.is_answered() => {
                self.calls.retain(|known| known.index != call.index);
            }
            Kind::InvalidToolCall(call) => {
                self.calls.push(PendingCall {
                    index: call.index,
                    id: call.id.unwrap_or_default().into(),
                    namespace: None,
                    name: call.name.unwrap_or_default().into(),
                    input: call.arguments_raw.into(),
                    is_text: false,
                    fault: Some(call.reason),
                    is_echo: false,
                    source: call.source.map(str::to_owned),
                });
            }
            Kind::ToolResult(result) if result.executor.is_none() => {
                self.results.push(CallResult {
                    id: Some(result.id.into()),
                    is_error: result.is_error == Some(true),
                    ..match result.output {
                        Output::Text(text) => CallResult::text(text),
                        Output::Json(json) => CallResult::of(json),
                    }
                })
            }
            Kind::Turn(Turn { append, set }) => {
                self.turn = Some((append.into(), set.unwrap_or("{}").into()));
            }
            Kind::Warning(warning) => {
                self.warnings += 1;
                match warning.code {
                    WarningCode::NoTurn => self.no_turn = Some(warning.message.into()),
                    WarningCode::EmptyAnswer => self.is_empty = true,
                    _ => {}
                }
            }
            Kind::Finish(finish) => {
                self.calls.sort_by_key(|call| call.index);
                self.ending = Some(MessageEnding::Finished(finish.finish_reason));
                self.has_inferred_end = finish.inferred;
            }
            Kind::Error(failure) => {
                self.ending = Some(MessageEnding::Failed(failure.code, failure.retryable));
            }
            _ => {}
        }
    }

    /// Writes the turn of a message in a format of the user's own, as a request of the row that this
    /// returns has it.
    pub(crate) fn write_turn(&mut self, row: impl FnOnce() -> Option<&'static Request>) {
        if let (None, Some(own)) = (&self.turn, &self.own)
            && let Some(row) = row()
        {
            self.turn = own.turn(row);
            self.row = Some(row);
            // It is written as a call of the provider's, whatever it was read from.
            self.calls.iter_mut().for_each(|call| call.source = None);
        }
    }
}

/// The most bytes of a call that can't be read that its answer repeats.
const MAX_REPEATED: usize = 4 << 10;

impl PendingCall {
    /// Returns the name of the tool, with that of its namespace before it.
    pub(crate) fn tool(&self) -> Cow<'_, str> {
        match &self.namespace {
            Some(namespace) => in_namespace(namespace, &self.name).into(),
            None => self.name.as_str().into(),
        }
    }

    /// Returns the answer to a call that must not be run: what is wrong with it, so that the model
    /// can correct it. A call without a fault has none.
    pub(crate) fn correction(&self) -> Option<CallResult> {
        let what = match (self.is_echo, self.fault) {
            (true, _) => "it is an example of the request, repeated before the answer's own words",
            (false, fault) => fault_of(fault?),
        };
        let input = self.input.before(MAX_REPEATED);
        let more = if input.len() < self.input.len() { "…" } else { "" };
        Some(CallResult::error(format!("The call was not run: {what}. It was: {input}{more}")))
    }
}

/// Returns what is wrong with a call that must not be run.
fn fault_of(reason: Reason) -> &'static str {
    match reason {
        Reason::Malformed | Reason::Truncated => "its arguments are not valid JSON",
        Reason::NotObject => "its arguments are not a JSON object",
        Reason::NoName => "it names no tool",
        Reason::UnknownTool => "there is no tool of this name",
        Reason::Conflict => "its parts contradict each other",
        Reason::TooLarge => "its arguments are too large",
        Reason::Schema => "its arguments do not fit the schema of the tool",
        Reason::Withdrawn => "it was taken back",
    }
}
