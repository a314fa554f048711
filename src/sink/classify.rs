//! `classify`: one summary a message.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

use crate::event::owned::Owned;
use crate::event::words::words;
use crate::event::{
    Code, Event, Executor, Failure, Finish, FinishReason, InvalidToolCall, Kind, Start, ToolCall,
    ToolResult,
};
use crate::json::Line;
use crate::sink::members::{
    FINISH_REASON, Form, INFERRED, InnerEvents, Members, RAW_FINISH_REASON,
};
use crate::sink::timing::Timing;
use crate::sink::{Clock, Join, Label, Sink, members};

/// Gathers a message and prints it as one object when its last event comes. It is fed one choice,
/// by [`AssemblerConfig::choice`](crate::AssemblerConfig::choice), and names it.
///
/// ```
/// use toolstream::sink::{Classify, Label};
/// use toolstream::{Config, AssemblerConfig, Pipeline};
///
/// let body = br#"{"model":"m","message":{"role":"assistant","content":"Hi"},"done":true}"#;
/// let assembly = AssemblerConfig { choice: Some(0), ..AssemblerConfig::default() };
/// let mut out = Vec::new();
/// let mut sink = Classify::new(&mut out, Label::default(), 0);
/// let mut pipeline = Pipeline::new(&Config { assembly, ..Config::default() });
/// pipeline.feed(body, &mut sink)?;
/// pipeline.finish(&mut sink)?;
/// drop(sink);
/// assert!(String::from_utf8_lossy(&out).starts_with(r#"{"type":"final_answer","text":"Hi""#));
/// # std::io::Result::Ok(())
/// ```
pub struct Classify<W> {
    joined: Join<Summaries<W>>,
    /// The clock of `--timing`, which joined deltas would not tell the time of.
    clock: Option<Clock>,
    timing: Timing,
}

/// Prints summaries of events whose neighbouring deltas have been joined.
struct Summaries<W> {
    out: W,
    label: Label,
    choice: u64,
    message: GatheredMessage,
    line: Line,
}

/// The state of the message so far.
#[derive(Default)]
pub(super) struct GatheredMessage {
    format: String,
    id: Option<String>,
    model: Option<String>,
    text: String,
    reasoning: String,
    parts: Line,
    /// True if the reasoning holds more than its text.
    has_parts: bool,
    refusal: String,
    calls: GatheredCalls,
    invalid: Line,
    results: Line,
    /// The turn, as the one member that it will be.
    turn: Line,
    timing: Option<Timing>,
    /// The usage, as the one member that it will be.
    usage: Line,
    warnings: Line,
}

/// The end of the message.
pub(super) enum SummaryEnding<'a> {
    Good(Finish<'a>),
    Bad(Failure<'a>),
}

words! {
    /// The result of a message.
    pub(super) enum Type {
        /// It is complete and holds a call that the caller has to run.
        ToolCalls = "tool_calls",
        /// It is complete and holds no such call.
        FinalAnswer = "final_answer",
        /// The stream failed or was cut.
        Error = "error",
    }
}

impl SummaryEnding<'_> {
    /// Returns the type of a message with this end.
    pub(super) fn of_type(&self) -> Type {
        match self {
            SummaryEnding::Good(finish) if finish.finish_reason == FinishReason::Error => {
                Type::Error
            }
            SummaryEnding::Good(finish) if finish.wants_tools => Type::ToolCalls,
            SummaryEnding::Good(_) => Type::FinalAnswer,
            SummaryEnding::Bad(_) => Type::Error,
        }
    }
}

impl<W: Write> Classify<W> {
    /// Prints to `out`, and adds `label` to every summary. `choice` is the one
    /// that will be fed.
    pub fn new(out: W, label: Label, choice: u64) -> Self {
        let (message, line) = (GatheredMessage::default(), Line::default());
        let (clock, timing) = (label.clock.clone(), Timing::default());
        let joined = Join::new(Summaries { out, label, choice, message, line });
        Classify { joined, clock, timing }
    }
}

impl<W: Write> Sink for Classify<W> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        if let Some(clock) = &self.clock {
            self.timing.see(&event.kind, clock);
            if let Kind::Finish(_) | Kind::Error(_) = event.kind {
                self.joined.inner.inner.message.timing = Some(self.timing.clone());
            }
        }
        self.joined.feed(event)
    }

    fn inner(&mut self) -> Option<&mut dyn Sink> {
        Some(&mut self.joined)
    }
}

impl<W: Write> Summaries<W> {
    fn print(&mut self, ending: &SummaryEnding<'_>) -> io::Result<()> {
        let message = std::mem::take(&mut self.message);
        self.line.begin(ending.of_type().name());
        message.members(ending, &mut self.line);
        self.label.end(self.choice, &mut self.line);
        self.line.write_to(&mut self.out)
    }
}

impl<W: Write> Sink for Summaries<W> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event.kind {
            Kind::Finish(finish) => self.print(&SummaryEnding::Good(finish)),
            // The agent asked again: nothing of it counts.
            Kind::Error(Failure { retried: true, .. }) => {
                self.message = GatheredMessage::default();
                Ok(())
            }
            Kind::Error(failure) => self.print(&SummaryEnding::Bad(failure)),
            kind => {
                self.label.see(&kind);
                self.message.gather(&kind);
                Ok(())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The calls of a message, as they came.
#[derive(Default)]
struct GatheredCalls {
    /// None in place of one that was taken back.
    all: Vec<Option<Owned<ToolCall<'static>>>>,
    /// Their places, by their indexes.
    places: BTreeMap<u64, VecDeque<usize>>,
    /// The places of those that the caller has to run, by their ids.
    waiting: BTreeMap<String, VecDeque<usize>>,
}

impl GatheredCalls {
    fn add(&mut self, call: &ToolCall<'_>) {
        let place = self.all.len();
        self.places.entry(call.index).or_default().push_back(place);
        if call.executor.is_none() {
            self.waiting.entry(call.id.to_owned()).or_default().push_back(place);
        }
        self.all.push(Some(Owned::new(*call)));
    }

    /// Takes out the first call of an index that is taken back.
    fn take_back(&mut self, index: u64) -> Option<Owned<ToolCall<'static>>> {
        self.all.get_mut(self.places.get_mut(&index)?.pop_front()?)?.take()
    }

    /// A call that was answered in its message is the caller's to run no more.
    fn answer(&mut self, result: &ToolResult<'_>) {
        let Some(places) = self.waiting.get_mut(result.id) else { return };
        while let Some(place) = places.pop_front() {
            if let Some(Some(call)) = self.all.get_mut(place) {
                let executor = result.executor.or(Some(Executor::Agent));
                *call = Owned::new(ToolCall { executor, ..call.get() });
                return;
            }
        }
    }
}

impl GatheredMessage {
    fn gather(&mut self, kind: &Kind<'_>) {
        match kind {
            Kind::Start(start) => self.start(start),
            Kind::Text(text) => self.text.push_str(text.text),
            Kind::Reasoning(thought) => {
                self.has_parts |= !self.parts.is_empty()
                    || thought.signature.is_some()
                    || thought.redacted.is_some();
                self.reasoning.push_str(thought.text);
                add(&mut self.parts, |line| members::reasoning(thought, line));
            }
            Kind::Refusal(text) => self.refusal.push_str(text),
            Kind::ToolCall(call) => self.calls.add(call),
            Kind::InvalidToolCall(call) if let Some(taken) = self.calls.take_back(call.index) => {
                let (taken, index) = (taken.get(), call.index);
                let arguments_raw = taken.input.as_str();
                let call = InvalidToolCall { index, arguments_raw, ..*call };
                add(&mut self.invalid, |line| members::invalid_tool_call(&call, line));
            }
            Kind::InvalidToolCall(call) => {
                add(&mut self.invalid, |line| members::invalid_tool_call(call, line));
            }
            Kind::ToolResult(result) => {
                self.calls.answer(result);
                add(&mut self.results, |line| members::tool_result(result, line));
            }
            Kind::Warning(warning) => {
                add(&mut self.warnings, |line| members::warning(warning, line));
            }
            Kind::Turn(turn) => add(&mut self.turn, |line| members::turn(turn, line)),
            Kind::Usage(usage) => {
                self.usage.clear();
                add(&mut self.usage, |line| members::usage(usage, line));
            }
            _ => {}
        }
    }

    /// Begins the message. Warnings before it are remarks about the end of what came before.
    fn start(&mut self, start: &Start<'_>) {
        self.warnings.clear();
        start.format.clone_into(&mut self.format);
        self.id = start.id.map(str::to_owned);
        self.model = start.model.map(str::to_owned);
    }

    /// The members of the summary but for its type.
    pub(super) fn members(&self, ending: &SummaryEnding<'_>, to: &mut impl Members) {
        to.required("text", self.text.as_str(), "The answer.");
        to.optional("reasoning", some(&self.reasoning), "The model's thinking.");
        let no_parts = Line::default();
        let parts = if self.has_parts { &self.parts } else { &no_parts };
        let inner = |form, of, items| InnerEvents { form, of, items };
        to.inner(
            "reasoning_parts",
            inner(Form::List, "reasoning", parts),
            "The parts of the thinking, where there are several, or a signature or a redacted one.",
        );
        to.optional("refusal", some(&self.refusal), "The refusal.");
        let mut calls = Line::default();
        for call in self.calls.all.iter().flatten() {
            add(&mut calls, |line| members::tool_call(&call.get(), line));
        }
        to.inner(
            "tool_calls",
            inner(Form::FullList, "tool_call", &calls),
            "Whole calls, with those that the caller doesn't run.",
        );
        let invalid = inner(Form::List, "invalid_tool_call", &self.invalid);
        to.inner("invalid_tool_calls", invalid, "Calls that must never be run.");
        let results = inner(Form::List, "tool_result", &self.results);
        to.inner("tool_results", results, "Results that are in the input.");
        let turn = inner(Form::Object, "turn", &self.turn);
        let about = "What the next request has to hold of the message; only with `--turn`.";
        to.inner("turn", turn, about);
        to.optional(
            "timing",
            self.timing.as_ref(),
            "When its parts came, in milliseconds since the input was first waited for; only with \
             `--timing`.",
        );
        let finish = match ending {
            SummaryEnding::Good(finish) => Some(finish),
            SummaryEnding::Bad(_) => None,
        };
        to.optional("finish_reason", finish.map(|finish| finish.finish_reason), FINISH_REASON);
        let inferred = finish.and_then(|finish| finish.inferred.then_some(true));
        to.optional("inferred", inferred, INFERRED);
        let raw = finish.and_then(|finish| finish.raw);
        to.optional("raw_finish_reason", raw, RAW_FINISH_REASON);
        let usage = inner(Form::Object, "usage", &self.usage);
        to.inner("usage", usage, "What the message cost, in tokens.");
        to.optional("id", self.id.as_deref(), "The provider's id of the message.");
        to.optional("model", self.model.as_deref(), "The model's name.");
        to.required(
            "format",
            self.format.as_str(),
            "The wire format; `unknown` if the message ended before it was found out.",
        );
        let is_complete = ending.of_type() != Type::Error;
        to.required("complete", is_complete, "Whether the message came to its own end.");
        let warnings = inner(Form::List, "warning", &self.warnings);
        to.inner("warnings", warnings, "Inferences and repairs.");
        let error = self.error(ending);
        let error = inner(Form::Object, "error", &error);
        to.inner("error", error, "Why the message did not come to its own end.");
    }

    /// Returns the error as an object; empty if there is none.
    fn error(&self, ending: &SummaryEnding<'_>) -> Line {
        let reason;
        let mut line = Line::default();
        let failure = match ending {
            SummaryEnding::Bad(failure) => *failure,
            SummaryEnding::Good(finish) if finish.finish_reason == FinishReason::Error => {
                let raw = finish.raw.unwrap_or("error");
                reason = format!("the provider gave the finish reason {raw}");
                Failure::new(Code::Provider, &reason, None)
            }
            SummaryEnding::Good(_) => return line,
        };
        add(&mut line, |line| members::failure(&failure, line));
        line
    }
}

/// Adds an object to a list.
fn add(items: &mut Line, members: impl FnOnce(&mut Line)) {
    items.open();
    members(items);
    items.close();
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
