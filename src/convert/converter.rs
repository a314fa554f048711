//! The sink that writes a message in another format.

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::convert::followed::Followed;
use crate::convert::ids::{UniqueIds, clean};
use crate::event::owned::Owned;
use crate::event::{
    ByChoice, CallInput, Code, Event, Executor, Failure, Finish, Kind, OwnedEvent, Reason,
    Reasoning, Start, ToolCall, ToolCallDelta, ToolCallStart, ToolResult, Usage, made_up_id,
    made_up_number,
};
use crate::format::write::Part;
use crate::format::{
    BlockKind, Carry, Encoder, Info, Losses, Message, RecordEnvelope, Records, TextBlock, Writing,
};
use crate::json::{self, Minifier, Str};
use crate::sink::{Fused, Sink};

/// The number of bytes of records that are buffered before they are written.
const PIECE: usize = 32 << 10;

/// The options for writing a message.
#[derive(Clone, Debug)]
pub struct Options {
    /// Write calls in fragments as they come, in a format that has them.
    pub deltas: bool,
    /// Write one body instead of a stream.
    pub whole: bool,
    /// The choice to write, as the only one; none is all, in a format that has several.
    pub choice: Option<u64>,
    /// The tokens that the model reads, for a stream that begins with them and a source that does
    /// not.
    pub input_tokens: Option<u64>,
    /// Change ids to 1 to 64 letters, digits, `_` and `-`.
    pub clean_ids: bool,
    /// The number of the message in a conversation, if calls that came without an id shall get one
    /// that no other message has.
    pub unique_ids: Option<u64>,
    /// The tools that the client declares to take free text: their calls are written so, whatever
    /// the source has.
    pub free_tools: Vec<String>,
    /// Leave out what the message cost.
    pub no_usage: bool,
    /// The envelope of records, if not the usual one.
    pub envelope: Option<&'static RecordEnvelope>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            deltas: false,
            whole: false,
            choice: Some(0),
            input_tokens: None,
            clean_ids: false,
            unique_ids: None,
            free_tools: Vec::new(),
            no_usage: false,
            envelope: None,
        }
    }
}

/// Writes one message: events in, the stream of another provider out. The bytes depend on the
/// bytes of the source alone if the pipeline marks its records
/// ([`Config::records`](crate::Config::records)).
pub struct Converter<'r, W: Write> {
    out: Fused<W>,
    records: Records,
    encoder: Box<dyn Encoder>,
    writing: &'static Writing,
    options: Options,
    /// The losses, once the input has ended.
    losses: &'r mut Losses,
    state: ConverterState,
    start: Owned<Start<'static>>,
    /// The choices that have come. The message ends with the first of them, by its number.
    choices: BTreeSet<u64>,
    /// The end of the choice that is written, if it is not the first.
    ending: Option<Owned<Finish<'static>>>,
    /// The block that is open.
    block: Option<TextBlock>,
    /// The parts of the message, if it is gathered.
    parts: Vec<Part>,
    usage: Option<Owned<Usage<'static>>>,
    /// The call that has begun last, with its choice: not written before its first fragment.
    announced: Option<(u64, Owned<ToolCallStart<'static>>)>,
    /// The call that is written in fragments: its choice and its index.
    live: Option<(u64, u64)>,
    /// The calls of each choice that are over: the next one may be written in fragments.
    ended: ByChoice<EndedCalls>,
    /// True if a call that was written must not be run: the stream must fail.
    is_spoiled: bool,
    /// The fragments that have been written of it, without white space between their tokens.
    fragments: String,
    minifier: Minifier,
    /// The events that came while a call was written in fragments: one thing comes after another.
    waiting: Vec<OwnedEvent>,
    /// What waits for the results of calls.
    followed: Followed,
    unique_ids: Option<UniqueIds>,
    /// The number of calls that were written.
    calls: u64,
    /// The number of bytes that were written out.
    written: u64,
    /// The number of bytes that there were when the last record of the source ended.
    mark: u64,
}

/// The kinds of parts, in the order of a body that has a member for each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PartKind {
    Thought,
    Text,
    Call,
}

/// The calls of a choice that are over.
#[derive(Default)]
struct EndedCalls {
    /// The index of the first call that is not.
    next: u64,
    /// Those after it.
    later: BTreeSet<u64>,
}

impl EndedCalls {
    fn has(&self, index: u64) -> bool {
        index < self.next || self.later.contains(&index)
    }

    fn add(&mut self, index: u64) {
        self.later.insert(index);
        while self.later.remove(&self.next) {
            self.next += 1;
        }
    }
}

/// The progress of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConverterState {
    /// It has not begun.
    Waiting,
    /// It has begun, and nothing of it is written: it may be no more than an error.
    Held,
    /// It is being written.
    Open,
    /// It is over.
    Ended,
}

impl<'r, W: Write> Converter<'r, W> {
    /// Returns a sink that writes to `out`, and adds what it could not carry to `losses` when the
    /// input has ended.
    pub fn new(
        out: W,
        writing: &'static Writing,
        options: &Options,
        losses: &'r mut Losses,
    ) -> Self {
        let usual = writing.envelopes.first().unwrap_or(&RecordEnvelope::NDJSON);
        let envelope = if options.whole { &RecordEnvelope::BODY } else { usual };
        Converter {
            out: Fused::new(out),
            records: Records::new(writing, options.envelope.unwrap_or(envelope)),
            encoder: (writing.encoder)(),
            writing,
            options: options.clone(),
            losses,
            state: ConverterState::Waiting,
            start: Owned::new(Start::default()),
            choices: BTreeSet::new(),
            ending: None,
            block: None,
            parts: Vec::new(),
            usage: None,
            announced: None,
            live: None,
            ended: ByChoice::default(),
            is_spoiled: false,
            fragments: String::new(),
            minifier: Minifier::default(),
            waiting: Vec::new(),
            followed: Followed::default(),
            unique_ids: None,
            calls: 0,
            written: 0,
            mark: 0,
        }
    }

    /// True if the message is kept in memory.
    fn gathers(&self) -> bool {
        self.options.whole || self.writing.gathers
    }

    /// True if the message came in the format in which it is written.
    fn is_own(&self) -> bool {
        self.start.get().format == self.writing.name
    }

    fn loses(&self, info: Info) -> bool {
        self.writing.loss(info) == Some(Carry::Lost)
    }

    /// Runs a step of the encoder. Of a body, the steps say what is lost, and nothing is written.
    fn write(&mut self, step: impl FnOnce(&mut dyn Encoder, &mut Records)) {
        step(&mut *self.encoder, &mut self.records);
        if self.options.whole {
            self.records.text().clear();
        }
    }

    /// Writes the beginning of the message, if it has not been.
    fn begin(&mut self) {
        if self.state != ConverterState::Held {
            return;
        }
        self.state = ConverterState::Open;
        let start = self.start.clone();
        let mut start = start.get();
        start.input_tokens = start.input_tokens.or(self.options.input_tokens);
        self.write(|encoder, out| encoder.start(&start, out));
    }

    fn write_out(&mut self) -> io::Result<()> {
        self.written += self.records.text().len() as u64;
        self.records.text().write_to(&mut self.out)
    }

    fn keep(&mut self, part: impl FnOnce() -> Part) {
        if self.options.whole {
            self.parts.push(part());
        }
    }

    /// Ends the block that is open.
    fn close(&mut self) {
        if let Some(block) = self.block.take() {
            self.write(|encoder, out| encoder.close(&block, out));
            self.keep(|| Part::Block(block));
        }
    }

    /// Writes a piece of text, in a block of its own if it is of another kind than the one before.
    fn piece(&mut self, choice: u64, is_same: impl Fn(&BlockKind) -> bool, text: &str) -> bool {
        self.begin();
        let gathers = self.gathers();
        let is_open =
            self.block.as_ref().is_some_and(|block| block.choice == choice && is_same(&block.kind));
        if is_open && let Some(block) = &mut self.block {
            if gathers {
                block.text.push_str(text);
            }
            if !self.options.whole {
                self.encoder.piece(block, text, &mut self.records);
            }
        }
        is_open
    }

    fn open(&mut self, choice: u64, kind: BlockKind) {
        self.close();
        if self.calls > 0 {
            self.records.note(Info::CallPlace);
        }
        match &kind {
            BlockKind::Text { channel: Some(channel) }
                if !self.writing.channels.contains(&channel.as_str()) =>
            {
                self.records.note(Info::Channel);
            }
            BlockKind::Reasoning { item_id: Some(_) } => self.records.note(Info::ItemId),
            BlockKind::Refusal => self.records.note(Info::Refusal),
            _ => {}
        }
        let (text, parts, signature) = (String::new(), Vec::new(), None);
        let block = TextBlock { choice, kind, text, parts, signature };
        self.write(|encoder, out| encoder.open(&block, out));
        self.block = Some(block);
    }

    /// Writes a piece of text; `kind` is made only if a block begins.
    fn text(
        &mut self,
        choice: u64,
        text: &str,
        is_same: impl Fn(&BlockKind) -> bool,
        kind: impl FnOnce() -> BlockKind,
    ) {
        if text.is_empty() || self.piece(choice, &is_same, text) {
            return;
        }
        self.open(choice, kind());
        self.piece(choice, is_same, text);
    }

    fn reasoning(&mut self, choice: u64, thought: &Reasoning<'_>) {
        self.begin();
        let Reasoning { text, signature, redacted, part, item_id } = *thought;
        let is_open = |block: &TextBlock| {
            block.choice == choice && matches!(block.kind, BlockKind::Reasoning { .. })
        };
        let kind = || BlockKind::Reasoning { item_id: item_id.map(str::to_owned) };
        if part.is_some_and(|part| part > 1) && !text.is_empty() {
            self.begin_part(choice, part.unwrap_or(1));
        }
        let is_same = |kind: &BlockKind| matches!(kind, BlockKind::Reasoning { .. });
        self.text(choice, text, is_same, kind);
        if let Some(signature) = signature {
            if !self.block.as_ref().is_some_and(is_open) {
                self.open(choice, kind());
            }
            if let Some(block) = &mut self.block {
                block.signature = Some(signature.to_owned());
            }
            self.close();
        }
        if redacted.is_some() {
            self.close();
            self.write(|encoder, out| encoder.redacted(choice, thought, out));
            self.keep(|| Part::Redacted(Owned::new(*thought)));
        }
    }

    /// Begins the next part of a thought, if this is one.
    fn begin_part(&mut self, choice: u64, part: u64) {
        let Some(block) = &mut self.block else { return };
        let known = block.parts.len() as u64 + 1;
        if block.choice != choice || part <= known {
            return;
        }
        block.parts.push(block.text.len());
        self.records.note(Info::Part);
        if !self.options.whole
            && let Some(block) = &self.block
        {
            self.encoder.begin_part(block, &mut self.records);
        }
    }

    fn call(&mut self, choice: u64, call: &ToolCall<'_>) {
        self.ended.or_default(choice).add(call.index);
        let is_live = self.live == Some((choice, call.index));
        let is_as_written = call.executor.is_none() && self.fragments == call.input.as_str();
        if is_live && !is_as_written {
            // The client has another call than this one.
            self.records.note(Info::OtherFragments);
            return self.leave_call();
        }
        let id = match call.id.trim() {
            "" => self.id(&made_up_id(call.index)),
            _ => self.id(call.id),
        };
        let free = self.is_free(call.name).then(|| free_input(call.input)).flatten();
        let joined = call.namespace.filter(|_| self.writing.loss(Info::Namespace).is_some());
        let joined = joined.map(|namespace| format!("{namespace}__{}", call.name));
        let name = joined.as_deref().unwrap_or(call.name);
        let input = free.as_deref().map_or(call.input, CallInput::Text);
        let call = &ToolCall { id: &id, name, input, ..*call };
        let notes = [
            (call.namespace.is_some(), Info::Namespace),
            (call.executor == Some(Executor::Agent), Info::Agent),
            (call.signature.is_some() && self.loses(Info::CallSignature), Info::CallSignature),
            (call.item_id.is_some(), Info::ItemId),
            (matches!(call.input, CallInput::Text(_)), Info::FreeInput),
        ];
        notes.into_iter().filter(|(is, _)| *is).for_each(|(_, info)| self.records.note(info));
        if call.executor.is_none() || !self.loses(Info::RunCall) {
            self.calls += 1;
        }
        if is_live {
            return self.stop_fragments(Some(call));
        }
        self.begin();
        self.close();
        self.write(|encoder, out| match call.executor {
            None => encoder.call(choice, call, out),
            Some(_) => encoder.run_call(choice, call, out),
        });
        self.keep(|| Part::Call(Owned::new(*call)));
    }

    fn result(&mut self, result: &ToolResult<'_>) {
        self.begin();
        let id = self.id(result.id);
        let result = &ToolResult { id: &id, ..*result };
        self.close();
        self.write(|encoder, out| encoder.result(result, out));
        self.keep(|| Part::Result(Owned::new(*result)));
    }

    /// Writes a fragment of a call, unless one before it is not over, or this one is better written
    /// whole.
    fn fragment(&mut self, choice: u64, delta: &ToolCallDelta<'_>) {
        let announced =
            self.announced.take_if(|(of, start)| *of == choice && start.get().index == delta.index);
        let is_carried = !delta.is_free || self.writing.loss(Info::FreeInput).is_none();
        let is_as_declared = |start: &Owned<ToolCallStart<'static>>| {
            delta.is_free || !self.is_free(start.get().name)
        };
        let announced = announced.filter(|(_, start)| is_as_declared(start));
        let may_begin = self.options.deltas
            && self.writing.has_fragments
            && !self.options.whole
            && self.live.is_none()
            && self.ended.or_default(choice).next == delta.index
            && delta.is_ours
            && is_carried;
        // One that was made up for want of another may still get that.
        let is_named =
            |start: &Owned<ToolCallStart<'static>>| made_up_number(start.get().id).is_none();
        if let Some((_, start)) = announced.filter(|(_, start)| may_begin && is_named(start)) {
            self.fragments.clear();
            self.minifier = Minifier::default();
            self.begin();
            self.close();
            self.live = Some((choice, delta.index));
            let id = self.id(start.get().id);
            let start = ToolCallStart { id: &id, ..start.get() };
            self.write(|encoder, out| encoder.call_start(choice, &start, delta.is_free, out));
        }
        if self.live == Some((choice, delta.index)) {
            match delta.is_free {
                true => self.fragments.push_str(delta.arguments),
                false => self.minifier.feed(delta.arguments, &mut self.fragments),
            }
            self.write(|encoder, out| encoder.call_piece(choice, delta, out));
        }
    }

    /// Ends the call that is written in fragments, and writes what had to wait for that.
    fn stop_fragments(&mut self, call: Option<&ToolCall<'_>>) {
        let Some((choice, _)) = self.live.take() else { return };
        self.write(|encoder, out| encoder.call_stop(choice, call, out));
        self.write_waiting();
    }

    /// Leaves the call that is written in fragments as it is: it must not be run.
    fn leave_call(&mut self) {
        if self.live.take().is_some() {
            self.is_spoiled = true;
            self.write(|encoder, _| encoder.call_left());
            self.write_waiting();
        }
    }

    fn write_waiting(&mut self) {
        for event in std::mem::take(&mut self.waiting) {
            let Event { choice, kind } = event.get();
            self.write_event(choice, kind);
        }
    }

    fn id(&self, id: &str) -> String {
        let id = self.unique_ids.as_ref().map_or(id.into(), |unique| unique.of(id));
        if self.options.clean_ids { clean(&id).into_owned() } else { id.into_owned() }
    }

    /// True if the client declares this tool to take free text.
    fn is_free(&self, name: &str) -> bool {
        self.options.free_tools.iter().any(|free| free == name)
    }

    /// Ends a choice, and with the first one the message.
    fn finish(&mut self, choice: u64, finish: &Finish<'_>) {
        // The format has its own word for an error of its own, and calls say that they are there.
        let is_carried = |info: &Info| match info {
            Info::FinishError => self.is_own(),
            Info::FinishToolCalls => self.calls > 0,
            _ => false,
        };
        let info = Info::of_reason(finish.finish_reason).filter(|info| !is_carried(info));
        if info.and_then(|info| self.writing.loss(info)) == Some(Carry::Error) {
            self.records.note(Info::FinishError);
            let raw = finish.raw.unwrap_or("error");
            let message = format!("the finish reason is {raw}");
            let failure = Failure::new(Code::Provider, &message, None);
            return self.fail(&Failure { provider_code: finish.raw, ..failure });
        }
        // A reader takes arguments that are whole for those of a call.
        let is_cut = finish.finish_reason.is_cut() && !json::is_json(&self.fragments);
        if self.is_spoiled || (self.live.is_some() && !is_cut) {
            let message = "a call that was written in fragments must not be run";
            return self.fail(&Failure::new(Code::Malformed, message, None));
        }
        self.stop_fragments(None);
        info.into_iter().for_each(|info| self.records.note(info));
        if finish.stop_sequence.is_some() {
            self.records.note(Info::StopSequence);
        }
        self.begin();
        self.close();
        if self.choices.first() != Some(&choice) {
            return self
                .end(|encoder, message, out| encoder.finish_choice(choice, message, finish, out));
        }
        self.note_usage();
        self.note_order();
        let is_whole = self.options.whole;
        self.end(|encoder, message, out| {
            encoder.finish(message, finish, out);
            if is_whole {
                out.text().clear();
                out.record("", |line| encoder.body(message, finish, line));
            }
        });
        self.state = ConverterState::Ended;
        self.records.end();
    }

    fn fail(&mut self, failure: &Failure<'_>) {
        if self.usage.is_some() {
            self.begin();
        }
        self.leave_call();
        self.close();
        self.records.note(Info::ErrorCode);
        (0..self.calls).for_each(|_| self.records.note(Info::ClosedCall));
        if self.options.whole && self.loses(Info::FailedBody) {
            let lost = self.parts.len() + usize::from(self.usage.take().is_some());
            (0..lost).for_each(|_| self.records.note(Info::FailedBody));
        }
        self.end(|encoder, message, out| encoder.fail(message, failure, out));
        self.state = ConverterState::Ended;
        self.records.end();
    }

    /// Runs a step of the encoder that ends a choice or the message.
    fn end(&mut self, step: impl FnOnce(&mut dyn Encoder, &Message<'_>, &mut Records)) {
        let message = Message {
            start: self.start.get(),
            choice: self.choices.first().copied().unwrap_or(0),
            usage: self.usage.as_ref().map(Owned::get),
            parts: &self.parts,
        };
        step(&mut *self.encoder, &message, &mut self.records);
    }

    /// A record of the source has been read: one of which nothing came keeps the stream alive.
    fn record(&mut self) {
        self.begin();
        let count =
            |converter: &mut Self| converter.written + converter.records.text().len() as u64;
        if count(self) == self.mark {
            let is_open = self.state == ConverterState::Open;
            self.write(|encoder, out| if is_open { encoder.keep_alive(out) } else { out.idle() });
        }
        self.mark = count(self);
    }

    /// Notes each part of a body that comes after one of a later kind.
    fn note_order(&mut self) {
        let mut latest = PartKind::Thought;
        for part in &self.parts {
            let rank = match part {
                Part::Block(TextBlock { kind: BlockKind::Reasoning { .. }, .. }) => {
                    PartKind::Thought
                }
                Part::Block(_) => PartKind::Text,
                Part::Redacted(_) if !self.loses(Info::Redacted) => PartKind::Thought,
                Part::Call(call) if call.get().executor.is_none() => PartKind::Call,
                Part::Call(_) | Part::Result(_) | Part::Redacted(_) => continue,
            };
            if rank < latest {
                self.records.note(Info::BodyOrder);
            }
            latest = latest.max(rank);
        }
    }

    fn note_usage(&mut self) {
        let Some(usage) = &self.usage else { return };
        let usage = usage.get();
        let notes = [
            (true, Info::Usage),
            (usage.cached_input_tokens.is_some(), Info::CachedTokens),
            (usage.cache_write_tokens.is_some(), Info::CacheWriteTokens),
            (usage.reasoning_tokens.is_some(), Info::ReasoningTokens),
        ];
        notes.into_iter().filter(|(is, _)| *is).for_each(|(_, info)| self.records.note(info));
    }

    fn take(&mut self, Event { choice, kind }: Event<'_>) {
        let is_new = kind.is_of_choice() && self.choices.insert(choice);
        if let Some(wanted) = self.options.choice {
            let is_other = kind.is_of_choice() && choice != wanted;
            if is_new && is_other {
                self.records.note(Info::Choice);
            }
            return match kind {
                Kind::Finish(finish) => self.finish_one(choice, &finish),
                _ if is_other => {}
                // The only choice is the first one.
                kind => self.write_event(0, kind),
            };
        }
        self.write_event(choice, kind);
    }

    /// Writes what waited for the results of calls.
    fn release(&mut self) {
        if !self.followed.holds() {
            return;
        }
        let mut followed = std::mem::take(&mut self.followed);
        followed.release(|event| self.take(event));
        self.followed = followed;
    }

    /// A choice has ended, and one is written: the message ends with the first, which comes last.
    fn finish_one(&mut self, choice: u64, finish: &Finish<'_>) {
        let wanted = self.options.choice.unwrap_or(choice);
        if choice == wanted || self.ending.is_none() {
            self.ending = Some(Owned::new(*finish));
        }
        // The choice that is written may have nothing but its end, which is still to come.
        if self.choices.first() == Some(&choice) && self.choices.contains(&wanted) {
            self.finish_last();
        }
    }

    /// Ends the message as the choice that is written has ended.
    fn finish_last(&mut self) {
        if let Some(ending) = self.ending.take() {
            self.choices = BTreeSet::from([0]);
            self.finish(0, &ending.get());
        }
    }

    fn write_event(&mut self, choice: u64, kind: Kind<'_>) {
        match kind {
            Kind::Text(_) | Kind::Reasoning(_) | Kind::Refusal(_) | Kind::ToolResult(_)
                if self.live.is_some() =>
            {
                self.waiting.push(Event::new(choice, kind).into_owned());
            }
            Kind::ToolCall(call) if self.live.is_some_and(|live| live != (choice, call.index)) => {
                self.waiting.push(Event::new(choice, kind).into_owned());
            }
            Kind::Text(piece) => {
                let is_same = |kind: &BlockKind| match kind {
                    BlockKind::Text { channel } => channel.as_deref() == piece.channel,
                    _ => false,
                };
                let channel = || piece.channel.map(str::to_owned);
                self.text(choice, piece.text, is_same, || BlockKind::Text { channel: channel() });
            }
            Kind::Reasoning(thought) => self.reasoning(choice, &thought),
            Kind::Refusal(text) => {
                let is_same = |kind: &BlockKind| *kind == BlockKind::Refusal;
                self.text(choice, text, is_same, || BlockKind::Refusal);
            }
            Kind::ToolCallStart(call) => self.announced = Some((choice, Owned::new(call))),
            Kind::ToolCallDelta(delta) => self.fragment(choice, &delta),
            Kind::ToolCall(call) => self.call(choice, &call),
            Kind::ToolResult(result) => self.result(&result),
            Kind::InvalidToolCall(call) => {
                self.records.note(Info::InvalidCall);
                // The client may have it already.
                self.is_spoiled |= call.reason == Reason::Withdrawn
                    && self.options.deltas
                    && self.ended.or_default(choice).has(call.index);
                self.ended.or_default(choice).add(call.index);
                // What a cut call means is known at the end of the message.
                if self.live == Some((choice, call.index)) && call.reason != Reason::Truncated {
                    self.leave_call();
                }
            }
            Kind::Block(_) => self.records.note(Info::Block),
            Kind::Usage(usage) if !self.options.no_usage => self.usage = Some(Owned::new(usage)),
            Kind::Finish(finish) => self.finish(choice, &finish),
            Kind::Error(failure) => self.fail(&failure),
            Kind::Record => self.record(),
            _ => {}
        }
    }
}

impl<W: Write> Sink for Converter<'_, W> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.out.check()?;
        match (self.state, event.kind) {
            (ConverterState::Waiting, Kind::Start(start)) => {
                self.start = Owned::new(start);
                self.followed = Followed::new(self.options.deltas);
                self.unique_ids =
                    self.options.unique_ids.map(|number| UniqueIds::new(number, &start));
                self.state = ConverterState::Held;
            }
            (ConverterState::Waiting, Kind::Record) => self.record(),
            (ConverterState::Held | ConverterState::Open, _) => {
                if let Some(unique) = &mut self.unique_ids {
                    unique.see(event);
                }
                if !self.followed.hold(event) {
                    if !matches!(event.kind, Kind::Record) {
                        self.release();
                    }
                    self.take(*event);
                }
            }
            (ConverterState::Waiting | ConverterState::Ended, _) => {}
        }
        if self.records.text().len() < PIECE { Ok(()) } else { self.write_out() }
    }

    /// A stream is written as it comes, but for what comes while a call is written in fragments, or
    /// waits for its result.
    fn keeps(&mut self) -> bool {
        self.gathers() || self.encoder.holds_block() || self.live.is_some() || self.followed.holds()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_out()?;
        self.out.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.check()?;
        if matches!(self.state, ConverterState::Held | ConverterState::Open) {
            self.release();
            self.finish_last();
        }
        for (info, count) in self.records.losses() {
            *self.losses.entry(*info).or_default() += count;
        }
        self.flush()
    }
}

/// Returns the free text that the arguments of a call stand for: their only member, or the one that
/// is named `input`, if it is a string; otherwise their JSON. Free text stays.
fn free_input(input: CallInput<'_>) -> Option<String> {
    let CallInput::Arguments(json) = input else { return None };
    let members = json::members(json);
    let only = members.first().filter(|_| members.len() == 1);
    let named = || members.iter().find(|(name, _)| name == "input");
    let text = only.or_else(named).and_then(|(_, value)| json::read::<Str<'_>>(value.get()).ok());
    Some(text.map_or_else(|| json.to_owned(), |text| text.as_str().to_owned()))
}
