//! The exit status: the worst outcome of a run.

use std::io::{self, Write};

use crate::event::{
    Code, EndReason, Event, Failure, Finish, FinishReason, Kind, Pieces, Reason, Warning,
    WarningCode,
};
use crate::io::{report_error, report_on};
use crate::sink::Sink;

/// A failure of a run; the number is the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The answer is no: `check` found a difference.
    No = 1,
    /// A bad option, an unreadable file: nothing was read.
    Usage = 2,
    /// The input breaks its format's rules, or is in no known format.
    Malformed = 3,
    /// The input ended before its end.
    Truncated = 4,
    /// The provider reported an error that stays.
    Provider = 5,
    /// A limit of ours was hit.
    Limit = 6,
    /// A tool failed, or the command that asks the model.
    Tool = 7,
    /// Reading or writing failed.
    Io = 8,
    /// The provider reported an error that goes away: try again.
    Retry = 9,
}

impl Outcome {
    /// Returns the outcome of an agent's run, if its end says that; `worst` is that of its messages.
    fn of_run(reason: EndReason, worst: Option<Self>) -> Option<Self> {
        match reason {
            EndReason::FinalAnswer => None,
            EndReason::MaxRounds
            | EndReason::MaxCalls
            | EndReason::Repeats
            | EndReason::Deadline => Some(Outcome::Limit),
            EndReason::Length | EndReason::Refusal | EndReason::ContentFilter => {
                Some(Outcome::Malformed)
            }
            EndReason::CommandFailed => Some(Outcome::Tool),
            EndReason::Error | EndReason::Interrupted => worst,
        }
    }

    /// Returns the outcome of an error, and of one that may go away. A signal has none: the program
    /// dies by it.
    pub(crate) fn of(code: Code, retryable: Option<bool>) -> Option<Self> {
        match code {
            Code::Provider if retryable == Some(true) => Some(Outcome::Retry),
            Code::Provider => Some(Outcome::Provider),
            Code::Truncated => Some(Outcome::Truncated),
            Code::Malformed | Code::Unrecognised => Some(Outcome::Malformed),
            Code::Limit => Some(Outcome::Limit),
            Code::Interrupted => None,
        }
    }
}

/// The status of `--exit-code` for tool calls, and of `next` for a request that is to be sent.
pub(crate) const TOOL_CALLS: u8 = 10;

/// Outcomes from the worst on: of several, the first one counts.
const ORDER: &[Outcome] = &[
    Outcome::Io,
    Outcome::Limit,
    Outcome::Provider,
    Outcome::Retry,
    Outcome::Truncated,
    Outcome::Malformed,
    Outcome::Tool,
    Outcome::No,
    Outcome::Usage,
];

/// The worst outcome so far, over all messages and all inputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Status {
    worst: Option<Outcome>,
    /// The worst of the open message, which may turn out not to count.
    open: Option<Outcome>,
    /// True if a warning is a failure.
    strict: bool,
    /// True if half an answer is a failure.
    wants_answer: bool,
    /// True if the open message holds a refusal.
    has_refused: bool,
    /// True if a warning that is a failure has come.
    has_warned: bool,
    /// True if the last message of any input ended well, with calls for the caller to run.
    wants_tools: bool,
    /// True from the end of a message to the next event that says anything.
    has_ended: bool,
}

impl Status {
    /// Returns success; a warning is a failure if `strict`.
    pub fn new(strict: bool) -> Self {
        Status { strict, ..Status::default() }
    }

    /// Takes a message for a failure that ended in `length`, a filter or a refusal: whoever takes
    /// the answer alone would have half of it.
    pub fn wanting_answer(self, wants_answer: bool) -> Self {
        Status { wants_answer, ..self }
    }

    /// Notes an outcome.
    pub fn note(&mut self, outcome: Outcome) {
        self.worst = worse(self.worst, Some(outcome));
    }

    /// Notes the outcome of an event.
    pub fn see(&mut self, kind: &Kind<'_>) {
        match kind {
            Kind::Finish(_) | Kind::Error(_) => self.has_ended = true,
            Kind::Record => {}
            _ => self.has_ended = false,
        }
        let outcome = match kind {
            Kind::Start(_) => {
                (self.wants_tools, self.has_refused) = (false, false);
                None
            }
            Kind::Refusal(_) => {
                self.has_refused = true;
                None
            }
            Kind::Finish(finish) => {
                self.wants_tools = finish.wants_tools;
                match finish.finish_reason {
                    FinishReason::Error => Some(Outcome::Provider),
                    _ => self.half(finish).map(|_| Outcome::Malformed),
                }
            }
            Kind::InvalidToolCall(call) if call.reason == Reason::TooLarge => Some(Outcome::Limit),
            Kind::InvalidToolCall(_) => Some(Outcome::Malformed),
            Kind::Warning(warning) if self.strict && !warning.code.is_remark() => {
                self.has_warned = true;
                Some(Outcome::Malformed)
            }
            Kind::Error(failure) => Outcome::of(failure.code, failure.retryable),
            _ => None,
        };
        self.open = worse(self.open, outcome);
        match kind {
            Kind::Error(failure) if failure.retried => self.open = None,
            Kind::Finish(_) | Kind::Error(_) => self.worst = worse(self.worst, self.open.take()),
            Kind::RunEnd(end) => {
                let warned = self.has_warned.then_some(Outcome::Malformed);
                self.worst = worse(Outcome::of_run(end.reason, self.worst), warned);
            }
            _ => {}
        }
    }

    /// Returns why a message that ended so is half an answer, if that is a failure.
    fn half(&self, finish: &Finish<'_>) -> Option<&'static str> {
        match finish.finish_reason {
            _ if !self.wants_answer => None,
            FinishReason::Length => Some("the answer is not whole: it ended in length"),
            FinishReason::ContentFilter => {
                Some("the answer is not whole: it ended in content_filter")
            }
            FinishReason::Refusal => Some("this is no answer: the model refused"),
            FinishReason::Stop if self.has_refused => Some("this is no answer: the model refused"),
            _ => None,
        }
    }

    /// Notes the outcome of an error, if it has one.
    pub fn note_error(&mut self, code: Code) {
        if let Some(outcome) = Outcome::of(code, None) {
            self.note(outcome);
        }
    }

    /// Adds the status of another input.
    pub fn add(&mut self, other: Status) {
        self.worst = worse(self.worst, worse(other.worst, other.open));
        self.wants_tools |= other.wants_tools;
    }

    /// Returns the number to exit with. `tells_calls` is `--exit-code`: 10 for calls to run.
    pub fn code(&self, tells_calls: bool) -> u8 {
        match worse(self.worst, self.open) {
            Some(outcome) => outcome as u8,
            None if tells_calls && self.wants_tools => TOOL_CALLS,
            None => 0,
        }
    }
}

/// Returns the worse of two outcomes.
fn worse(one: Option<Outcome>, other: Option<Outcome>) -> Option<Outcome> {
    let rank = |outcome: &Outcome| ORDER.iter().position(|row| row == outcome);
    one.into_iter().chain(other).min_by_key(rank)
}

/// A sink in front of another one that notes the outcomes, and reports each failure on standard
/// error as well: an error, an invalid call, a finish reason that is an error, a warning that is a
/// failure and has no error after it. Of the warnings after the end of a message, which no summary
/// holds, it reports the first.
pub struct Witness<'s, S, E> {
    inner: S,
    status: &'s mut Status,
    /// The input's name.
    name: &'s str,
    stderr: E,
    /// The first warning of a message that is a failure, until an error tells it.
    warned: Option<String>,
    /// What is wrong with a call, until the call comes.
    cause: Option<String>,
}

impl<'s, S: Sink, E: Write> Witness<'s, S, E> {
    /// Returns a sink that notes the events of the input `name` in `status`, and passes them on.
    pub fn new(inner: S, status: &'s mut Status, name: &'s str, stderr: E) -> Self {
        Witness { inner, status, name, stderr, warned: None, cause: None }
    }
}

impl<S: Sink, E: Write> Witness<'_, S, E> {
    /// Reports a failure. `has_ended` is true after the end of a message.
    #[cold]
    fn report(&mut self, kind: &Kind<'_>, has_ended: bool) {
        let stderr = &mut self.stderr;
        match kind {
            Kind::Warning(Warning { code: WarningCode::TooDeep, message, .. }) => {
                self.cause = Some((*message).to_owned());
            }
            Kind::Warning(Warning { code: WarningCode::WrongType, message, .. }) => {
                self.cause = Some(format!("{}: {message}", why(Reason::Malformed)));
            }
            Kind::Finish(_) | Kind::Error(_) => self.cause = None,
            _ => {}
        }
        match kind {
            Kind::Warning(Warning { code, message, offset, .. }) if has_ended => {
                let message = format!("after a message: {}: {message}", code.name());
                report_on(stderr, self.name, &message, *offset);
            }
            Kind::Warning(warning) if self.status.strict && !warning.code.is_remark() => {
                self.warned.get_or_insert_with(|| format!("--strict: {}", warning.message));
            }
            Kind::Error(failure) if failure.retried => self.warned = None,
            Kind::Error(Failure { code, message, offset, .. }) => {
                self.warned = None;
                report_error(stderr, self.name, *code, message, *offset);
            }
            Kind::InvalidToolCall(call) => {
                let named = call.name.map_or(String::new(), |name| format!(" ({name})"));
                let is_told = matches!(call.reason, Reason::TooLarge | Reason::Malformed);
                let cause = self.cause.take_if(|_| is_told);
                let why = cause.as_deref().unwrap_or(why(call.reason));
                let message = format!("call {}{named} is invalid: {why}", call.index);
                report_on(stderr, self.name, &message, None);
            }
            Kind::Finish(Finish { finish_reason: FinishReason::Error, raw, .. }) => {
                let message = format!("the finish reason is {}", raw.unwrap_or("error"));
                report_error(stderr, self.name, Code::Provider, &message, None);
            }
            Kind::Finish(finish) => {
                if let Some(why) = self.status.half(finish) {
                    report_on(stderr, self.name, why, None);
                }
            }
            _ => {}
        }
        if let Kind::Finish(_) = kind
            && let Some(warned) = self.warned.take()
        {
            report_on(stderr, self.name, &warned, None);
        }
    }
}

impl<S: Sink, E: Write> Sink for Witness<'_, S, E> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        let has_ended = self.status.has_ended;
        self.status.see(&event.kind);
        let may_fail = matches!(
            event.kind,
            Kind::Warning(_) | Kind::Error(_) | Kind::InvalidToolCall(_) | Kind::Finish(_)
        );
        if !may_fail {
            return self.inner.feed(event);
        }
        self.inner.feed(event)?;
        self.report(&event.kind, has_ended);
        Ok(())
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        self.inner.feed_pieces(pieces)
    }

    fn inner(&mut self) -> Option<&mut dyn Sink> {
        Some(&mut self.inner)
    }
}

/// Returns the sentence for people about a reason not to run a call.
fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::Truncated => "it was cut off",
        Reason::Malformed => "it cannot be read",
        Reason::NotObject => "its arguments are not an object",
        Reason::NoName => "it names no tool",
        Reason::UnknownTool => "--tools has no tool of this name",
        Reason::Conflict => "its fragments contradict each other",
        Reason::TooLarge => "it is larger than --max-args",
        Reason::Schema => "its arguments do not fit the schema of the tool",
        Reason::Withdrawn => "the message took it back",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Start;
    use crate::sink::{Label, Ndjson};

    #[track_caller]
    fn check(kinds: &[Kind<'_>], expected: u8) {
        let mut status = Status::default();
        kinds.iter().for_each(|kind| status.see(kind));
        assert_eq!(status.code(true), expected);
    }

    const START: Kind<'_> = Kind::Start(Start::new("f", "f"));
    const FINISH: Kind<'_> = finish(false);
    const WARNING: Warning<'_> = Warning::new(WarningCode::LateFragment, "m");

    const fn finish(wants_tools: bool) -> Kind<'static> {
        Kind::Finish(Finish { wants_tools, ..Finish::new(FinishReason::Stop) })
    }

    fn error(code: Code) -> Kind<'static> {
        Kind::Error(Failure::new(code, "m", None))
    }

    #[test]
    fn calls_count_if_they_are_the_callers_and_the_message_is_the_last() {
        check(&[START, FINISH], 0);
        check(&[START, finish(true)], 10);
        check(&[START, finish(true), START, FINISH], 0);
        check(&[START, finish(true), START, error(Code::Truncated)], 4);
    }

    #[test]
    fn the_worst_counts() {
        check(&[error(Code::Truncated), error(Code::Malformed)], 4);
        check(&[error(Code::Truncated), error(Code::Provider), error(Code::Limit)], 6);
        check(&[error(Code::Unrecognised)], 3);
        let mut status = Status::default();
        [Outcome::Usage, Outcome::Malformed, Outcome::Usage]
            .into_iter()
            .for_each(|o| status.note(o));
        assert_eq!(status.code(false), 3);
    }

    #[test]
    fn a_warning_after_a_message_is_told_once_however_the_events_come() {
        let kinds = [START, FINISH, Kind::Warning(WARNING), Kind::Warning(WARNING)];
        let feed = |sink: &mut dyn Sink, kinds: &[Kind<'_>]| {
            kinds.iter().try_for_each(|kind| sink.feed(&(*kind).into())).unwrap();
        };
        let told = |pieces: &[&[Kind<'_>]]| {
            let (mut status, mut stderr) = (Status::default(), Vec::new());
            for kinds in pieces {
                let lines = Ndjson::new(io::sink(), Label::default());
                feed(&mut Witness::new(lines, &mut status, "f", &mut stderr), kinds);
            }
            String::from_utf8(stderr).unwrap()
        };
        let whole = told(&[&kinds]);
        assert_eq!(whole.matches("after a message: late_fragment: m").count(), 1, "{whole}");
        assert_eq!(told(&kinds.each_ref().map(std::slice::from_ref)), whole);
    }

    #[test]
    fn warnings_count_if_strict() {
        let warning = WARNING;
        check(&[Kind::Warning(warning)], 0);
        let mut status = Status::new(true);
        status.see(&Kind::Warning(warning));
        assert_eq!(status.code(false), 3);
    }
}
