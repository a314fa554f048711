//! The events that decoders emit and sinks take. The documentation of each [`Kind`] is
//! the schema of its output line.
//!
//! Events are borrowed and live for one call: a sink that keeps text pays for
//! the copy. Decoders and dialects also emit loose parts ([`CallPart`], through
//! [`EventOut`](crate::format::EventOut)); the assembler turns these into whole
//! calls and passes everything else on.

mod by_choice;
mod codes;
mod ids;
pub(crate) mod loose;
pub(crate) mod owned;
mod pieces;
pub(crate) mod redact;
pub(crate) mod secrets;
pub(crate) mod words;

use std::{fmt, io};

use serde::de::DeserializeOwned;

pub(crate) use by_choice::{ByChoice, MAX_CHOICES};
pub use codes::WarningCode;
pub(crate) use ids::{in_namespace, is_no_id, made_up_id, made_up_number, push_made_up_id};
pub use loose::{Arguments, CallPart, Key, Piece};
pub(crate) use loose::{CallEnd, Loose, Native, Of, Withdrawn};
pub use pieces::Pieces;
pub(crate) use redact::mask;

/// The version of the schema, in the first line of each message.
pub(crate) const VERSION: u64 = 1;
pub use words::UnknownWord;
use words::words;

/// The result of emitting. Fails only if writing does.
pub(crate) type Done = io::Result<()>;

/// Takes the events that a layer has completed. The only errors are those of
/// writing: bad input is an event.
pub(crate) type Emit<'e> = dyn FnMut(&Event<'_>) -> Done + 'e;

/// Takes the events that a layer has completed, pieces of text together.
pub(crate) type EmitPieces<'e> = dyn FnMut(Pieces<'_>) -> Done + 'e;

/// One thing that happened in one choice of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    /// The number of the alternative answer that this belongs to; 0 where a
    /// provider sends one.
    pub choice: u64,
    /// The kind of an event, with its data.
    pub kind: Kind<'a>,
}

impl<'a> Event<'a> {
    /// An event of one choice.
    pub fn new(choice: u64, kind: Kind<'a>) -> Self {
        Event { choice, kind }
    }

    /// Returns a copy that outlives the call.
    pub fn into_owned(self) -> OwnedEvent {
        OwnedEvent::new(&self)
    }
}

impl<'a> From<Kind<'a>> for Event<'a> {
    fn from(kind: Kind<'a>) -> Self {
        Event::new(0, kind)
    }
}

/// An event that outlives the call that it came in: it can be kept, sent to another thread, and
/// written as JSON.
#[derive(Clone, Debug)]
pub struct OwnedEvent {
    choice: u64,
    kind: owned::Owned<Kind<'static>>,
}

impl OwnedEvent {
    /// Copies an event.
    pub fn new(event: &Event<'_>) -> Self {
        OwnedEvent { choice: event.choice, kind: owned::Owned::new(event.kind) }
    }

    /// Returns the event again.
    pub fn get(&self) -> Event<'_> {
        Event::new(self.choice, self.kind.get())
    }

    /// Returns about how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        self.kind.size()
    }
}

/// The kind of an event, with its data.
///
/// A caller that runs tools runs the [`ToolCall`]s of a message without an
/// [`executor`](ToolCall::executor), once its [`Finish`] has come:
///
/// ```
/// use toolstream::event::{Kind, ToolCall};
///
/// fn is_to_run(kind: &Kind<'_>) -> bool {
///     matches!(kind, Kind::ToolCall(ToolCall { executor: None, .. }))
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind<'a> {
    /// A message begins, or more is known of the one that has begun: only the
    /// first one of a message is printed.
    Start(Start<'a>),
    /// What the message answers, where the input has it.
    Prompt(Prompt<'a>),
    /// A piece of the answer. The pieces joined are byte-exact.
    Text(Text<'a>),
    /// A piece of the model's thinking.
    Reasoning(Reasoning<'a>),
    /// A piece of a refusal.
    Refusal(&'a str),
    /// A call has a name; printed with `--deltas`.
    ToolCallStart(ToolCallStart<'a>),
    /// A piece of a call's arguments; joined, they are the call's arguments.
    ToolCallDelta(ToolCallDelta<'a>),
    /// A value, or a piece of one, in a call's arguments; printed with `--values`.
    ToolCallValue(ToolCallValue<'a>),
    /// A whole call, strictly parsed, from a call that the provider closed.
    ToolCall(ToolCall<'a>),
    /// A call that must never be run.
    InvalidToolCall(InvalidToolCall<'a>),
    /// A result that is in the input: a tool that the provider or an agent ran.
    ToolResult(ToolResult<'a>),
    /// A metadata region, a citation, an annotation, generated media.
    Block(Block<'a>),
    /// An inference or a repair: nothing is guessed in silence.
    Warning(Warning<'a>),
    /// A provider's event that has no meaning here.
    ProviderEvent(ProviderEvent<'a>),
    /// The part of the message that the next request has to hold.
    Turn(Turn<'a>),
    /// The cost of the message. Decoders give the whole of what is known so far;
    /// the last one counts.
    Usage(Usage<'a>),
    /// The reason why the model stopped. The last line of a good message.
    Finish(Finish<'a>),
    /// A failure. The last line of a bad message.
    Error(Failure<'a>),
    /// Agents only: a tool begins to run.
    ToolStart(ToolCallStart<'a>),
    /// Agents only: the loop has ended. The last line of its output.
    RunEnd(RunEnd<'a>),
    /// Logs only: the milliseconds after which the next event came, as its line says.
    Time(u64),
    /// A record of the input has been read, whatever came of it. Never printed: it lets a sink
    /// that must not stay silent write something (see [`Config::records`](crate::Config::records)).
    Record,
    /// What the assembler has still to put together: no sink gets it.
    #[doc(hidden)]
    Loose(Loose<'a>),
}

impl<'a> Kind<'a> {
    /// The text of a delta, which may come in pieces of any length.
    pub fn text(&self) -> Option<&'a str> {
        match self {
            Kind::Text(Text { text, .. })
            | Kind::Reasoning(Reasoning { text, .. })
            | Kind::Refusal(text)
            | Kind::ToolCallDelta(ToolCallDelta { arguments: text, .. })
            | Kind::ToolCallValue(ToolCallValue { value: Output::Text(text), .. })
            | Kind::Loose(Loose::CallPart(CallPart {
                arguments: Arguments::Fragment(text), ..
            })) => Some(text),
            _ => None,
        }
    }

    /// True for an event of one choice, and not of the whole message.
    pub(crate) fn is_of_choice(&self) -> bool {
        !matches!(
            self,
            Kind::Usage(_)
                | Kind::Error(_)
                | Kind::Prompt(_)
                | Kind::Warning(_)
                | Kind::ProviderEvent(_)
                | Kind::RunEnd(_)
                | Kind::Record
                | Kind::Loose(Loose::Lost)
                | Kind::Time(_)
        )
    }

    /// Returns this delta with another text.
    pub fn with_text(self, text: &'a str) -> Self {
        match self {
            Kind::Text(piece) => Kind::Text(Text { text, ..piece }),
            Kind::Reasoning(piece) => Kind::Reasoning(Reasoning { text, ..piece }),
            Kind::Refusal(_) => Kind::Refusal(text),
            Kind::ToolCallDelta(delta) => {
                Kind::ToolCallDelta(ToolCallDelta { arguments: text, ..delta })
            }
            Kind::ToolCallValue(piece) if self.text().is_some() => {
                Kind::ToolCallValue(ToolCallValue { value: Output::Text(text), ..piece })
            }
            Kind::Loose(Loose::CallPart(part)) if self.text().is_some() => {
                Kind::Loose(Loose::CallPart(CallPart {
                    arguments: Arguments::Fragment(text),
                    ..part
                }))
            }
            kind => kind,
        }
    }
}

/// The first line of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Start<'a> {
    /// The wire format's name.
    pub format: &'a str,
    /// The framing's name; the pipeline knows it. A decoder names one if its events have been
    /// assembled before.
    pub framing: &'a str,
    /// The dialect that was asked for.
    pub dialect: Option<&'a str>,
    /// The provider's id of the message.
    pub id: Option<&'a str>,
    /// The model's name.
    pub model: Option<&'a str>,
    /// The time at which the message was begun, in seconds since 1970.
    pub created: Option<u64>,
    /// Everything that the model reads, where the provider reports it at once.
    pub input_tokens: Option<u64>,
    /// The round of an agent, from 1.
    pub round: Option<u64>,
    /// The number of the attempt in its round, from the second on.
    pub attempt: Option<u64>,
    /// The name of the input, in a log of several.
    pub file: Option<&'a str>,
}

impl<'a> Start<'a> {
    /// The start of a message of which no more is known.
    pub const fn new(format: &'a str, framing: &'a str) -> Self {
        let (dialect, id, model, file) = (None, None, None, None);
        let (created, input_tokens, round, attempt) = (None, None, None, None);
        Start { format, framing, dialect, id, model, created, input_tokens, round, attempt, file }
    }
}

/// What was said before a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prompt<'a> {
    /// The words.
    pub text: &'a str,
    /// Whose words they are, if not the user's.
    pub role: Option<&'a str>,
    /// How many pictures, sounds and files came with them.
    pub media: Option<u64>,
}

/// A piece of the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Text<'a> {
    /// The piece.
    pub text: &'a str,
    /// The part of the answer that this is, where the model writes several.
    pub channel: Option<&'a str>,
}

impl<'a> Text<'a> {
    /// A piece of the answer itself.
    pub const fn new(text: &'a str) -> Self {
        Text { text, channel: None }
    }
}

/// A piece of the model's thinking.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reasoning<'a> {
    /// The thought; empty where only a signature or a redacted part came.
    pub text: &'a str,
    /// A text that the next request must return with the thought.
    pub signature: Option<&'a str>,
    /// A thought that the provider has encrypted.
    pub redacted: Option<&'a str>,
    /// Which part of the thought this is, from 1, where it has several. Pieces
    /// of two parts are never joined.
    pub part: Option<u64>,
    /// The provider's id of the item that the thought is.
    pub item_id: Option<&'a str>,
}

impl<'a> Reasoning<'a> {
    /// A piece of a thought.
    pub const fn new(text: &'a str) -> Self {
        Reasoning { text, signature: None, redacted: None, part: None, item_id: None }
    }

    /// True if it is the signature of the thought before it, and nothing else.
    pub(crate) fn is_signature(&self) -> bool {
        let only = Reasoning { signature: self.signature, ..Reasoning::default() };
        self.signature.is_some() && *self == only
    }
}

words! {
    /// The executor of a call, if it is not the caller.
    pub enum Executor {
        /// A tool on the provider's side.
        Provider = "provider",
        /// The agent whose log is read.
        Agent = "agent",
    }
}

/// A call has a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolCallStart<'a> {
    /// Calls counted in order of first appearance.
    pub index: u64,
    /// The provider's id, or `call_` and the index.
    pub id: &'a str,
    /// The tool's name.
    pub name: &'a str,
}

/// A piece of a call's arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolCallDelta<'a> {
    /// Calls counted in order of first appearance.
    pub index: u64,
    /// JSON text, or a piece of free text.
    pub arguments: &'a str,
    /// True if the call takes free text.
    pub is_free: bool,
    /// True if the caller is to run the call, as far as that is known, and its name says which tool
    /// that is.
    pub is_ours: bool,
}

/// A value, or a piece of one, in a call's arguments while they stream. A preview: only a
/// [`ToolCall`] may run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolCallValue<'a> {
    /// Calls counted in order of first appearance.
    pub index: u64,
    /// The place, as a JSON pointer; empty for free text.
    pub path: &'a str,
    /// The next piece of a string, or the JSON of any other scalar or of an empty container.
    pub value: Output<'a>,
}

/// A whole call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolCall<'a> {
    /// Calls counted in order of first appearance.
    pub index: u64,
    /// The provider's id, or `call_` and the index.
    pub id: &'a str,
    /// True if the provider sent no id.
    pub is_made_up: bool,
    /// The set of tools that the name is of, where the provider keeps several apart: a tool of the
    /// bare name is another one.
    pub namespace: Option<&'a str>,
    /// The tool's name.
    pub name: &'a str,
    /// The input of the tool.
    pub input: CallInput<'a>,
    /// The dialect, for calls found in text.
    pub source: Option<&'a str>,
    /// The executor, if not the caller.
    pub executor: Option<Executor>,
    /// A text that the next request must return with the call.
    pub signature: Option<&'a str>,
    /// The provider's type of the call, if it is no plain function.
    pub kind: Option<&'a str>,
    /// The provider's second id, of the item that the call is.
    pub item_id: Option<&'a str>,
}

impl<'a> ToolCall<'a> {
    /// A call for the caller to run, with nothing beside it.
    pub const fn new(index: u64, id: &'a str, name: &'a str, input: CallInput<'a>) -> Self {
        let (namespace, source, executor) = (None, None, None);
        let (signature, kind, item_id) = (None, None, None);
        ToolCall {
            index,
            id,
            is_made_up: false,
            namespace,
            name,
            input,
            source,
            executor,
            signature,
            kind,
            item_id,
        }
    }
}

/// The reason why a call's input is not of a type: what does not fit, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The way to what does not fit, as `days[0].low`; `.` for all of it.
    pub path: String,
    /// What is wrong, in a sentence.
    pub message: String,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for InputError {}

impl ToolCall<'_> {
    /// Reads the arguments into a type of the caller's own.
    ///
    /// # Errors
    ///
    /// The arguments are not of the type, or the input is free text.
    ///
    /// ```
    /// use toolstream::event::{CallInput, ToolCall};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Forecast {
    ///     city: String,
    ///     days: Vec<u8>,
    /// }
    ///
    /// let arguments = CallInput::Arguments(r#"{"city":"Cork","days":[1,"two"]}"#);
    /// let call = ToolCall::new(0, "call_0", "forecast", arguments);
    /// let error = call.parse::<Forecast>().err().unwrap();
    /// assert_eq!(error.path, "days[1]");
    /// assert!(error.message.starts_with("invalid type: string \"two\", expected u8"), "{error}");
    /// ```
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, InputError> {
        let CallInput::Arguments(json) = self.input else {
            let message = "the input is free text, and no arguments".into();
            return Err(InputError { path: ".".into(), message });
        };
        let mut reader = serde_json::Deserializer::from_str(json);
        serde_path_to_error::deserialize(&mut reader).map_err(|error| InputError {
            path: error.path().to_string(),
            message: error.inner().to_string(),
        })
    }
}

/// The input of a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CallInput<'a> {
    /// A JSON object without white space between its tokens.
    Arguments(&'a str),
    /// Free text, for tools that take no JSON.
    Text(&'a str),
}

impl<'a> CallInput<'a> {
    /// The object or the text.
    pub fn as_str(self) -> &'a str {
        match self {
            CallInput::Arguments(text) | CallInput::Text(text) => text,
        }
    }
}

words! {
    /// The reason why a call must not be run.
    pub enum Reason {
        /// It was cut off.
        Truncated = "truncated",
        /// Its arguments or its markup can't be read.
        Malformed = "malformed",
        /// Its arguments are JSON, but not an object.
        NotObject = "not_object",
        /// It names no tool.
        NoName = "no_name",
        /// It names a tool that `--tools` doesn't.
        UnknownTool = "unknown_tool",
        /// Its fragments contradict each other.
        Conflict = "conflict",
        /// It's larger than `--max-args`.
        TooLarge = "too_large",
        /// Its arguments don't fit the tool's schema.
        Schema = "schema",
        /// The message took it back: another model wrote the rest, the model refused or was filtered,
        /// it stood in a thought, or it came again with other arguments.
        Withdrawn = "withdrawn",
    }
}

#[cfg(feature = "cli")]
impl Reason {
    /// True if the model is told what is wrong with such a call: it's whole, and was not taken back.
    pub(crate) fn is_answered(self) -> bool {
        !matches!(self, Reason::Truncated | Reason::NoName | Reason::Withdrawn)
    }
}

/// A call that must never be run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvalidToolCall<'a> {
    /// Calls counted in order of first appearance.
    pub index: u64,
    /// The provider's id, if it sent one; that of the call that is taken back.
    pub id: Option<&'a str>,
    /// The tool's name, if it's known.
    pub name: Option<&'a str>,
    /// The text of the arguments as it came, exactly; in text, the markup as well. Empty if the call
    /// was emitted before, and is taken back.
    pub arguments_raw: &'a str,
    /// The reason.
    pub reason: Reason,
    /// The dialect, for calls found in text.
    pub source: Option<&'a str>,
}

/// A result that is in the input.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToolResult<'a> {
    /// The id of the call that this answers.
    pub id: &'a str,
    /// The tool's name, where the result has it.
    pub name: Option<&'a str>,
    /// The output of the tool.
    pub output: Output<'a>,
    /// True if the tool failed; `None` where the result does not state it.
    pub is_error: Option<bool>,
    /// The provider's type of the result, if it is no plain one.
    pub kind: Option<&'a str>,
    /// The executor of the tool, if not the caller.
    pub executor: Option<Executor>,
    /// The run of the tool, if `agent` or `next` ran it.
    pub ran: Option<Ran>,
}

/// The run of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Its exit status, unless a signal ended it.
    pub exit: Option<i32>,
    /// The time that it ran, in milliseconds.
    pub ms: u64,
    /// The number of bytes of its output that were left out.
    pub left_out: Option<u64>,
}

/// The output of a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output<'a> {
    /// Text.
    Text(&'a str),
    /// A JSON value.
    Json(&'a str),
}

impl Default for Output<'_> {
    fn default() -> Self {
        Output::Text("")
    }
}

/// A metadata region, a citation, an annotation, generated media.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block<'a> {
    /// The tag's name, or the provider's type.
    pub name: &'a str,
    /// Its content; a JSON value stands here as its text.
    pub text: &'a str,
    /// The tag's attributes: a JSON object.
    pub attributes: Option<&'a str>,
}

/// An inference or a repair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warning<'a> {
    /// Its code, one of a closed list.
    pub code: WarningCode,
    /// A sentence for people.
    pub message: &'a str,
    /// The place in the input, in bytes.
    pub offset: Option<u64>,
    /// The call.
    pub index: Option<u64>,
}

impl<'a> Warning<'a> {
    /// A warning of the message as a whole.
    pub const fn new(code: WarningCode, message: &'a str) -> Self {
        Warning { code, message, offset: None, index: None }
    }
}

/// A provider's event that has no meaning here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProviderEvent<'a> {
    /// The event's name, where the framing has one.
    pub event: Option<&'a str>,
    /// Its payload.
    pub data: Output<'a>,
}

/// The part of a message that the next request has to hold, in the provider's own JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn<'a> {
    /// The elements that its list of messages, items or contents grows by: a JSON array.
    pub append: &'a str,
    /// The members that it has to have: a JSON object.
    pub set: Option<&'a str>,
}

/// The cost of a message, in tokens. Absent is not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage<'a> {
    /// Everything that the model read, cached or not.
    pub input_tokens: Option<u64>,
    /// Everything that it wrote, reasoning included.
    pub output_tokens: Option<u64>,
    /// The provider's total, or the sum.
    pub total_tokens: Option<u64>,
    /// The part of the input that was read from a cache.
    pub cached_input_tokens: Option<u64>,
    /// The part of the input that was written to a cache.
    pub cache_write_tokens: Option<u64>,
    /// The part of the output that was reasoning.
    pub reasoning_tokens: Option<u64>,
    /// The provider's own object; of several, the last value of each field.
    pub raw: &'a str,
}

impl Usage<'_> {
    /// Returns the counts, with the names that their members have.
    pub(crate) fn counts(&self) -> [(&'static str, Option<u64>); 6] {
        [
            ("input_tokens", self.input_tokens),
            ("output_tokens", self.output_tokens),
            ("total_tokens", self.total_tokens),
            ("cached_input_tokens", self.cached_input_tokens),
            ("cache_write_tokens", self.cache_write_tokens),
            ("reasoning_tokens", self.reasoning_tokens),
        ]
    }

    /// Returns the sum of two costs, without the provider's object. A count that one of them lacks
    /// is the other's.
    pub(crate) fn plus(&self, other: &Usage<'_>) -> Usage<'static> {
        self.with(other, |a, b| a.map(|a| a.saturating_add(b.unwrap_or(0))).or(b))
    }

    /// Returns the cost since another one, which this one holds, without the provider's object; all
    /// of it if a count of it is smaller, so that it does not hold the other.
    pub(crate) fn minus(&self, before: &Usage<'_>) -> Usage<'static> {
        let mut counts = self.counts().into_iter().zip(before.counts());
        let holds = counts.all(|((_, all), (_, part))| all.is_none_or(|all| Some(all) >= part));
        let rest = |all: Option<u64>, part: Option<u64>| {
            all.map(|all| all - part.filter(|_| holds).unwrap_or(0))
        };
        self.with(before, rest)
    }

    fn with(
        &self,
        other: &Usage<'_>,
        count: impl Fn(Option<u64>, Option<u64>) -> Option<u64>,
    ) -> Usage<'static> {
        let (own, others) = (self.counts(), other.counts());
        let [
            input_tokens,
            output_tokens,
            total_tokens,
            cached_input_tokens,
            cache_write_tokens,
            reasoning_tokens,
        ] = std::array::from_fn(|at| count(own[at].1, others[at].1));
        Usage {
            input_tokens,
            output_tokens,
            total_tokens,
            cached_input_tokens,
            cache_write_tokens,
            reasoning_tokens,
            raw: "",
        }
    }
}

words! {
    /// The reason why a model stops, whatever its provider calls it.
    pub enum FinishReason {
        /// It was done.
        Stop = "stop",
        /// It wants tools to be run.
        ToolCalls = "tool_calls",
        /// It ran out of tokens.
        Length = "length",
        /// A filter stopped it.
        ContentFilter = "content_filter",
        /// It refused.
        Refusal = "refusal",
        /// The turn is to be continued.
        Pause = "pause",
        /// It failed.
        Error = "error",
        /// Something else; see the raw reason.
        Other = "other",
    }
}

impl FinishReason {
    /// True if the model was stopped in mid-sentence: what it wrote last may
    /// not be whole.
    pub fn is_cut(self) -> bool {
        matches!(self, FinishReason::Length | FinishReason::ContentFilter | FinishReason::Error)
    }

    /// True if the model was done, with its calls as well.
    pub fn closes_calls(self) -> bool {
        matches!(self, FinishReason::Stop | FinishReason::ToolCalls)
    }

    /// True if the model took back what it had written, or a filter did: none of its calls may run.
    pub fn withdraws(self) -> bool {
        matches!(self, FinishReason::Refusal | FinishReason::ContentFilter)
    }

    /// How much the reason says against what the model wrote: of two, the one with more counts.
    pub(crate) fn severity(self) -> u8 {
        match self {
            FinishReason::Stop
            | FinishReason::ToolCalls
            | FinishReason::Pause
            | FinishReason::Other => 0,
            FinishReason::Length => 1,
            FinishReason::ContentFilter | FinishReason::Refusal => 2,
            FinishReason::Error => 3,
        }
    }

    /// True if the answer came to nothing: it is no part of a conversation.
    pub fn is_failure(self) -> bool {
        matches!(self, FinishReason::Refusal | FinishReason::ContentFilter | FinishReason::Error)
    }
}

/// The reason why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finish<'a> {
    /// The reason.
    pub finish_reason: FinishReason,
    /// The provider's word for it.
    pub raw: Option<&'a str>,
    /// The stop sequence that was met.
    pub stop_sequence: Option<&'a str>,
    /// True if the format has no reason of its own.
    pub inferred: bool,
    /// True if the caller has calls to run: those that no one else runs, and
    /// that no result in the input answers. Only the assembler knows.
    pub wants_tools: bool,
}

impl Finish<'_> {
    /// A reason by itself: the provider's word for it is not known.
    pub const fn new(finish_reason: FinishReason) -> Self {
        let (raw, stop_sequence, inferred, wants_tools) = (None, None, false, false);
        Finish { finish_reason, raw, stop_sequence, inferred, wants_tools }
    }
}

words! {
    /// The kind of a failure.
    pub enum Code {
        /// The provider reported it.
        Provider = "provider",
        /// The input ended before its end.
        Truncated = "truncated",
        /// The input isn't what its format says.
        Malformed = "malformed",
        /// No format fits the input.
        Unrecognised = "unrecognised",
        /// A limit of ours was hit.
        Limit = "limit",
        /// A signal stopped the program.
        Interrupted = "interrupted",
    }
}

words! {
    /// The reason why the loop of an agent ended.
    pub enum EndReason {
        /// The model gave its final answer.
        FinalAnswer = "final_answer",
        /// The model wanted more rounds of tools than `--max-rounds`.
        MaxRounds = "max_rounds",
        /// The model wanted more tools to be run than `--max-calls`.
        MaxCalls = "max_calls",
        /// The model made one call with one result again and again.
        Repeats = "repeats",
        /// The time of `--deadline` was over.
        Deadline = "deadline",
        /// The model ran out of tokens.
        Length = "length",
        /// The model refused.
        Refusal = "refusal",
        /// A filter stopped the model.
        ContentFilter = "content_filter",
        /// The answer ended in an error.
        Error = "error",
        /// The command that asks the model failed.
        CommandFailed = "command_failed",
        /// A signal stopped the program.
        Interrupted = "interrupted",
    }
}

/// The end of an agent's loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunEnd<'a> {
    /// The reason.
    pub reason: EndReason,
    /// The number of rounds: of answers of the model.
    pub rounds: u64,
    /// The number of tools that were run.
    pub calls: u64,
    /// The cost of all answers.
    pub usage: Option<Usage<'a>>,
}

/// A failure of a message or of the input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure<'a> {
    /// The kind of the failure.
    pub code: Code,
    /// A sentence for people.
    pub message: &'a str,
    /// The place in the input, in bytes.
    pub offset: Option<u64>,
    /// The provider's word or number for it.
    pub provider_code: Option<&'a str>,
    /// The HTTP status, where a head was read.
    pub status: Option<u16>,
    /// True if the same request may succeed later; `None` where that is not known.
    pub retryable: Option<bool>,
    /// True if the agent asks again: the message does not count.
    pub retried: bool,
    /// The provider's own object, or the bytes that can't be read.
    pub raw: Option<Output<'a>>,
}

impl<'a> Failure<'a> {
    /// A failure that is ours to name. A stream that was cut may come whole the next time.
    pub const fn new(code: Code, message: &'a str, offset: Option<u64>) -> Self {
        let (provider_code, status, retried, raw) = (None, None, false, None);
        let retryable = if matches!(code, Code::Truncated) { Some(true) } else { None };
        Failure { code, message, offset, provider_code, status, retryable, retried, raw }
    }
}

/// True for an id or a name that is none: all of it is white space.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// The error that ends a message with more of them.
pub(crate) const TOO_MANY_CHOICES: Failure<'_> =
    Failure::new(Code::Limit, "more than 1024 choices in one message", None);
