//! The way out: how a message is written in a format.
//!
//! A format that can be written gives a [`Writing`]: an [`Encoder`], how its records are wrapped,
//! and the table of what it cannot carry. What all encoders need is done before them, by
//! [`Converter`](crate::convert::Converter): they get one message, in blocks that come one after
//! another.

use crate::event::owned::Owned;
use crate::event::words::words;
use crate::event::{
    Failure, Finish, FinishReason, Reasoning, Start, ToolCall, ToolCallDelta, ToolCallStart,
    ToolResult, Usage,
};
use crate::format::support::finish;
use crate::json::Line;

/// The row of a format that can be written.
#[derive(Debug)]
pub struct Writing {
    /// The name of the format.
    pub name: &'static str,
    /// A new encoder of one message.
    pub encoder: fn() -> Box<dyn Encoder>,
    /// The envelopes that its records may have; the first one is usual.
    pub envelopes: &'static [RecordEnvelope],
    /// True if a record repeats all of the message: it is kept in memory.
    pub gathers: bool,
    /// True if a message may be one body.
    pub has_body: bool,
    /// True if several choices fit into one stream.
    pub has_choices: bool,
    /// True if calls may be written in fragments.
    pub has_fragments: bool,
    /// The channels of text that it has a name for.
    pub channels: &'static [&'static str],
    /// Its words for why the model stopped; the first one is that for any other reason.
    pub reasons: &'static [(FinishReason, &'static str)],
    /// What becomes of an information, where it is not as in most formats. All else is the same when
    /// it is read again.
    pub losses: &'static [(Info, Carry)],
}

impl Writing {
    /// Returns the row of a format that has bodies, and calls that come whole: another kind of format
    /// says `has_body`, `has_fragments` and what else it differs in.
    pub(crate) const fn new(name: &'static str, encoder: fn() -> Box<dyn Encoder>) -> Self {
        Writing {
            name,
            encoder,
            envelopes: &[],
            gathers: false,
            has_body: true,
            has_choices: false,
            has_fragments: false,
            channels: &[],
            reasons: &[],
            losses: &[],
        }
    }

    /// Returns the format's word for why the model stopped: the provider's own if the message came
    /// in this format, or that of the table.
    pub(crate) fn word_of<'f>(&self, message: &Message<'_>, finish: &Finish<'f>) -> &'f str {
        let is_own = |raw: &&str| {
            message.start.format == self.name && finish::normalise(raw) == finish.finish_reason
        };
        finish.raw.filter(is_own).unwrap_or(self.known_word(finish.finish_reason))
    }

    /// Returns the word of the table for why the model stopped.
    pub(crate) fn known_word(&self, reason: FinishReason) -> &'static str {
        let known = self.reasons.iter().find(|(known, _)| *known == reason);
        known.or(self.reasons.first()).map_or("", |(_, word)| word)
    }

    /// Returns what becomes of an information; nothing if it is carried as it is.
    pub fn loss(&self, info: Info) -> Option<Carry> {
        let mut rows = self.losses.iter().chain(LOSSES);
        match rows.find(|(lost, _)| *lost == info) {
            Some((_, Carry::Whole)) => None,
            Some((_, carry)) => Some(*carry),
            None => self.loss_of_reason(info.reason()?),
        }
    }

    /// A reason is carried as it is if its word is read as the same reason again.
    fn loss_of_reason(&self, reason: FinishReason) -> Option<Carry> {
        let word = self.known_word(reason);
        match finish::normalise(word) {
            read if read == reason => None,
            _ if reason == FinishReason::Error => Some(Carry::Error),
            _ => Some(Carry::As(word)),
        }
    }
}

/// What most formats do not carry as it is. The row of a format comes before these.
const LOSSES: &[(Info, Carry)] = &[
    (Info::InvalidCall, Carry::Lost),
    (Info::Namespace, Carry::As("namespace__name")),
    (Info::Result, Carry::Lost),
    (Info::ItemId, Carry::Lost),
    (Info::Channel, Carry::Lost),
    (Info::Block, Carry::Lost),
    (Info::Choice, Carry::Lost),
    (Info::StopSequence, Carry::Lost),
];

/// The result for an information that a format does not carry as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// Nothing: it is lost.
    Lost,
    /// Nothing: the message ends in an error.
    Error,
    /// Something else, in the words of "carries it as …".
    As(&'static str),
    /// All of it.
    Whole,
}

#[cfg(feature = "cli")]
impl Carry {
    /// Returns what stands in its place, in the words of "carries it as …".
    pub(crate) fn how(self) -> Option<&'static str> {
        match self {
            Carry::Lost | Carry::Whole => None,
            Carry::Error => Some("an error"),
            Carry::As(how) => Some(how),
        }
    }
}

words! {
    /// An information that not every format can carry.
    pub enum Info {
        /// The place of a call between texts.
        CallPlace = "place of calls between texts",
        /// What came out of the order that a body with a member for each kind has: thoughts, texts,
        /// calls.
        BodyOrder = "order of the parts of a body",
        /// That a call was complete, in a stream that failed after it.
        ClosedCall = "complete calls of a failed stream",
        /// What came before an error, where a body that is one holds nothing else.
        FailedBody = "content of a body that failed",
        /// A call that must not be run.
        InvalidCall = "invalid_tool_call",
        /// A call that is another one than its fragments, which were written, made it.
        OtherFragments = "tool_call unlike its fragments",
        /// The input of a tool that takes free text.
        FreeInput = "free-text input",
        /// The words that the next request must return with a call.
        CallSignature = "signature of a tool_call",
        /// The set of tools that a call's name is of.
        Namespace = "namespace",
        /// The provider's type of a call or a result.
        CallKind = "kind",
        /// A call that the provider or an agent ran.
        RunCall = "tool_call run by others",
        /// That an agent ran a call, not the provider.
        Agent = "executor agent",
        /// The result of a call.
        Result = "tool_result",
        /// The words that the next request must return with a thought.
        Signature = "signature of reasoning",
        /// A thought that the provider has encrypted.
        Redacted = "redacted reasoning",
        /// The parts of a thought.
        Part = "part of reasoning",
        /// The provider's second id.
        ItemId = "item_id",
        /// The part of the answer that a text is.
        Channel = "channel",
        /// The text of a refusal.
        Refusal = "refusal",
        /// A citation, an annotation, media.
        Block = "block",
        /// A choice beside the one that is followed.
        Choice = "other choices",
        /// The finish reason `tool_calls` of a message without a call.
        FinishToolCalls = "finish_reason tool_calls",
        /// The finish reason `content_filter`.
        FinishFilter = "finish_reason content_filter",
        /// The finish reason `refusal`.
        FinishRefusal = "finish_reason refusal",
        /// The finish reason `pause`.
        FinishPause = "finish_reason pause",
        /// The finish reason `other`.
        FinishOther = "finish_reason other",
        /// The finish reason `error`.
        FinishError = "finish_reason error",
        /// The stop sequence that was met.
        StopSequence = "stop_sequence",
        /// The cost of the message.
        Usage = "usage",
        /// That the cost is not known, or a part of it.
        NoUsage = "absence of usage",
        /// The part of the input that was read from a cache.
        CachedTokens = "cached_input_tokens",
        /// The part of the input that was written to a cache.
        CacheWriteTokens = "cache_write_tokens",
        /// The part of the output that was reasoning.
        ReasoningTokens = "reasoning_tokens",
        /// The code of an error.
        ErrorCode = "code of an error",
    }
}

/// The reasons to finish that not every format has a word for.
const REASONS: [(Info, FinishReason); 6] = [
    (Info::FinishToolCalls, FinishReason::ToolCalls),
    (Info::FinishFilter, FinishReason::ContentFilter),
    (Info::FinishRefusal, FinishReason::Refusal),
    (Info::FinishPause, FinishReason::Pause),
    (Info::FinishOther, FinishReason::Other),
    (Info::FinishError, FinishReason::Error),
];

impl Info {
    /// Returns the information that a reason to finish is, if not every format has it.
    pub(crate) fn of_reason(reason: FinishReason) -> Option<Info> {
        REASONS.iter().find(|(_, known)| *known == reason).map(|(info, _)| *info)
    }

    fn reason(self) -> Option<FinishReason> {
        REASONS.iter().find(|(info, _)| *info == self).map(|(_, reason)| *reason)
    }
}

/// The envelope of records.
#[derive(Debug)]
pub struct RecordEnvelope {
    /// The name of the framing that this is.
    pub framing: &'static str,
    /// True if the name of a record stands before it, in a line `event: NAME`.
    pub is_named: bool,
    /// The text before the first record.
    pub begin: &'static str,
    /// The text before each record.
    pub before: &'static str,
    /// The text between two records.
    pub between: &'static str,
    /// The text after each record.
    pub after: &'static str,
    /// The text after the last record.
    pub end: &'static str,
    /// The text between records that says nothing, to keep the connection from looking dead.
    pub idle: &'static str,
    /// True if there is one record, which is all.
    pub is_body: bool,
}

impl RecordEnvelope {
    /// Lines of data.
    pub(crate) const SSE: RecordEnvelope = RecordEnvelope {
        before: "data: ",
        idle: ": ping\n\n",
        ..RecordEnvelope::line("sse", "\n\n")
    };
    /// Lines of data with the names of the records.
    pub(crate) const NAMED: RecordEnvelope =
        RecordEnvelope { is_named: true, ..RecordEnvelope::SSE };
    /// A line each.
    pub(crate) const NDJSON: RecordEnvelope = RecordEnvelope::line("ndjson", "\n");
    /// One body, which is the only record.
    pub(crate) const BODY: RecordEnvelope =
        RecordEnvelope { is_body: true, ..RecordEnvelope::line("json", "\n") };

    /// Returns an envelope that ends each record so, and no more.
    pub(crate) const fn line(framing: &'static str, after: &'static str) -> Self {
        let (is_named, is_body) = (false, false);
        let (begin, before, between, end, idle) = ("", "", "", "", "");
        RecordEnvelope { framing, is_named, begin, before, between, after, end, idle, is_body }
    }
}

/// The records that an encoder writes, and what they could not carry.
#[derive(Debug)]
pub struct Records {
    line: Line,
    envelope: &'static RecordEnvelope,
    writing: &'static Writing,
    losses: Losses,
    /// The number of records.
    count: u64,
}

/// The number of times that each information was lost or changed.
pub type Losses = std::collections::BTreeMap<Info, u64>;

impl Records {
    pub(crate) fn new(writing: &'static Writing, envelope: &'static RecordEnvelope) -> Self {
        Records { line: Line::default(), envelope, writing, losses: Losses::default(), count: 0 }
    }

    /// Writes a record: `members` adds those of its object.
    pub(crate) fn record(&mut self, name: &str, members: impl FnOnce(&mut Line)) {
        self.begin(name);
        self.object(members);
    }

    /// Writes the record of an error as servers do that leave their framing for it.
    pub(crate) fn bare(&mut self, members: impl FnOnce(&mut Line)) {
        self.separate();
        self.object(members);
    }

    /// Writes a record of which this text is all.
    pub(crate) fn whole(&mut self, text: &str) {
        self.begin("");
        self.line.raw(text);
        self.line.raw(self.envelope.after);
    }

    /// True if there has been no record.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// True if there is one record, which is all.
    pub(crate) fn is_body(&self) -> bool {
        self.envelope.is_body
    }

    /// Writes text that says nothing.
    pub(crate) fn idle(&mut self) {
        self.line.raw(self.envelope.idle);
    }

    fn begin(&mut self, name: &str) {
        self.separate();
        if self.envelope.is_named {
            self.line.raw("event: ");
            self.line.raw(name);
            self.line.raw("\n");
        }
        self.line.raw(self.envelope.before);
    }

    /// Parts the next record from the one before.
    fn separate(&mut self) {
        let RecordEnvelope { begin, between, .. } = self.envelope;
        self.line.raw(if self.count == 0 { begin } else { between });
        self.count += 1;
    }

    fn object(&mut self, members: impl FnOnce(&mut Line)) {
        self.line.raw("{");
        members(&mut self.line);
        self.line.close();
        self.line.raw(self.envelope.after);
    }

    /// Writes what comes after the last record.
    pub(crate) fn end(&mut self) {
        if self.count > 0 {
            self.line.raw(self.envelope.end);
        }
    }

    /// Notes that an information came: it is counted if the format does not carry it as it is.
    pub(crate) fn note(&mut self, info: Info) {
        if self.writing.loss(info).is_some() {
            *self.losses.entry(info).or_default() += 1;
        }
    }

    pub(crate) fn losses(&self) -> &Losses {
        &self.losses
    }

    /// The text that has been written, and not been taken.
    pub(crate) fn text(&mut self) -> &mut Line {
        &mut self.line
    }
}

/// A stretch of text of one kind.
#[derive(Clone, Debug)]
pub struct TextBlock {
    /// The one of several alternative answers that this belongs to.
    pub choice: u64,
    /// The kind of the text.
    pub kind: BlockKind,
    /// All of its text, once it is closed, if the format gathers.
    pub text: String,
    /// The lengths of the text at which parts of a thought begin, beside the first.
    pub parts: Vec<usize>,
    /// The signature that the next request must return with a thought; known once it is closed.
    pub signature: Option<String>,
}

/// The kind of the text of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// The answer, or a part of it.
    Text {
        /// Its name, where the model has several.
        channel: Option<String>,
    },
    /// A thought.
    Reasoning {
        /// The provider's id of it.
        item_id: Option<String>,
    },
    /// A refusal.
    Refusal,
}

/// One thing after another that a message holds.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Text.
    Block(TextBlock),
    /// A redacted thought.
    Redacted(Owned<Reasoning<'static>>),
    /// A whole call.
    Call(Owned<ToolCall<'static>>),
    /// The result of a call.
    Result(Owned<ToolResult<'static>>),
}

/// A message that has ended.
#[derive(Debug)]
pub struct Message<'m> {
    /// Its first line.
    pub start: Start<'m>,
    /// The first of several alternative answers.
    pub choice: u64,
    /// Its cost, if that is known.
    pub usage: Option<Usage<'m>>,
    /// Its parts; none unless the format gathers.
    pub(crate) parts: &'m [Part],
}

/// Writes one message in one format.
///
/// A block of text is opened, gets its pieces, and is closed before anything else comes. Calls,
/// results and redacted thoughts come whole, or calls in fragments, one after another.
pub trait Encoder: Send {
    /// The message begins.
    fn start(&mut self, start: &Start<'_>, out: &mut Records);
    /// A block begins.
    fn open(&mut self, _block: &TextBlock, _out: &mut Records) {}
    /// The next piece of the text of the open block.
    fn piece(&mut self, block: &TextBlock, text: &str, out: &mut Records);
    /// True if what came is held until the open block ends.
    fn holds_block(&self) -> bool {
        false
    }
    /// The next part of the thought that is open begins.
    fn begin_part(&mut self, _block: &TextBlock, _out: &mut Records) {}
    /// The open block ends.
    fn close(&mut self, _block: &TextBlock, _out: &mut Records) {}
    /// A redacted thought.
    fn redacted(&mut self, _choice: u64, _thought: &Reasoning<'_>, out: &mut Records) {
        out.note(Info::Redacted);
    }
    /// A whole call for the caller to run.
    fn call(&mut self, choice: u64, call: &ToolCall<'_>, out: &mut Records);
    /// A whole call that the provider or an agent ran: never one for the caller.
    fn run_call(&mut self, _choice: u64, _call: &ToolCall<'_>, out: &mut Records) {
        out.note(Info::RunCall);
    }
    /// A call begins that is written in fragments.
    fn call_start(
        &mut self,
        _choice: u64,
        _call: &ToolCallStart<'_>,
        _is_free: bool,
        _out: &mut Records,
    ) {
    }
    /// The next fragment of a call.
    fn call_piece(&mut self, _choice: u64, _delta: &ToolCallDelta<'_>, _out: &mut Records) {}
    /// The message fails, and the call that is written in fragments stays open: what was to come
    /// after it comes now.
    fn call_left(&mut self) {}
    /// The call that was written in fragments is over: it is whole, or it must not be run.
    fn call_stop(&mut self, _choice: u64, _call: Option<&ToolCall<'_>>, _out: &mut Records) {}
    /// The result of a call in the same message.
    fn result(&mut self, _result: &ToolResult<'_>, out: &mut Records) {
        out.note(Info::Result);
    }
    /// A record of the source gave nothing to write: keeps the connection from looking dead.
    fn keep_alive(&mut self, out: &mut Records) {
        out.idle();
    }
    /// A choice beside the first one has ended.
    fn finish_choice(
        &mut self,
        _choice: u64,
        _message: &Message<'_>,
        _finish: &Finish<'_>,
        _out: &mut Records,
    ) {
    }
    /// The message ended well.
    fn finish(&mut self, message: &Message<'_>, finish: &Finish<'_>, out: &mut Records);
    /// The message failed: the stream must not look as if it had ended well.
    fn fail(&mut self, message: &Message<'_>, failure: &Failure<'_>, out: &mut Records);
    /// Writes the members of a body that is all of a message that ended well, in a format that
    /// has one. All steps have been taken before, to note the losses; what they wrote is discarded.
    fn body(&mut self, _message: &Message<'_>, _finish: &Finish<'_>, _line: &mut Line) {}
}
