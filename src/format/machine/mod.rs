//! The decoder of all formats that are rows: see [`Spec`].
//!
//! A record is read once, at the places of the rules for its kind. The first rule that applies says
//! what it means, and its words are done in one order:
//!
//! 1. `begin`: the message begins, if none is open, or anew. What is of no message, as it came
//!    after the end of one, is passed over. In a log, so is first what is `of` another's message.
//! 2. `release`, `of`, `at`: which message, which block, which part it is of.
//! 3. What the model wrote: thoughts, text, calls, results, the objects inside, blocks, and the
//!    ends of calls and blocks.
//! 4. `usage`, `finish`, `error`: what the message costs, why the model stopped, what went wrong.
//! 5. `stop`, `end`: the message ends.
//!
//! A record to which no rule applies is any provider's error, which ends the message, or is passed
//! over with a warning. A value of another type than its place asks for costs that value, a warning
//! and the calls that are open.

mod calls;
pub(super) mod evidence;
mod fields;
mod layout;
mod log;
mod log_message;
pub(super) mod rule;
mod said_call;
mod state;
#[cfg(test)]
mod tests;
mod wrapped;

use std::borrow::Cow;
use std::io;

use smallvec::SmallVec;

use crate::event::{self, FinishReason, Key, Kind, Of, Piece, ProviderEvent, WarningCode};
use crate::format::format::FormatDecoder;
use crate::format::machine::fields::{Fields, Index};
pub(in crate::format) use crate::format::machine::layout::RowTables;
use crate::format::machine::layout::{RecordValues, Table};
use crate::format::machine::state::{MessageState, Scope};
use crate::format::place::Place;
use crate::format::repeatable::Repeatable;
use crate::format::spec::{
    Begin, CallEnds, End, ReadFailure, ReadRule, ReadStart, Row, Spec, Total, Word, fits, is_one_of,
};
use crate::format::support::emit::{Slot, output};
use crate::format::support::finish;
use crate::format::support::many::each;
use crate::format::support::payload::{each_record, time};
use crate::format::support::prelude::*;
use crate::format::support::said::{NewText, hash};
use crate::frame::{Framing, Holds};
use crate::json::object_of;

/// Decodes a format by its row.
pub(crate) struct RowMachine {
    tables: &'static RowTables,
    spec: &'static Spec,
    message: Lifecycle,
    open: MessageState,
    log: log::LogState,
    /// The id and the model of the session.
    session: [Option<String>; 2],
    framing: Option<&'static Framing>,
    /// Counts the records and the lists in them: objects of one number stand in one list.
    list: u64,
    /// The records inside the row's, if there are any.
    wrapped: Option<wrapped::Wrapped>,
    /// True if the last record could repeat: see [`Repeatable`].
    repeats: bool,
}

/// How much of a message has come where it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closing {
    /// All of it, or an error.
    Whole,
    /// A body that does not say why the model stopped.
    Unfinished,
    /// It goes on no more, as the next one begins.
    Cut,
}

impl Decoder for RowMachine {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        self.repeats = false;
        // Some servers in Python send it as a JSON string.
        if frame.is_done() || frame.data.trim_ascii() == b"\"[DONE]\"" {
            if self.wrapped.is_some() {
                return self
                    .decode_wrapped([None, None], out, |decoder, out| decoder.feed(frame, out));
            }
            return self.done(out);
        }
        self.framing = Some(frame.framing);
        if frame.is_failure() {
            self.message.begin(None, None, out)?;
            self.message.state = State::Failed;
            return error::report_failure(&frame, out);
        }
        let table = self.tables.records(frame.event_type);
        self.records(table, Scope::of(&frame), out)
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        let is_wrapped = self.wrapped.is_some();
        self.end_wrapped(out)?;
        self.open.cut(out)?;
        if let Some(error) = self.log.last_error.take().filter(|_| self.log.ends_in_error) {
            let (message, code) = (error.message.as_deref(), error.code.as_deref());
            match message.or(code) {
                None => error::report(&error.json, out)?,
                Some(_) => error::report_as(message, code, &error.json, out)?,
            }
        }
        if self.tables.flags.is_log {
            return self.finish_log(out);
        }
        let is_body = self.framing.is_some_and(|framing| framing.holds == Holds::Body);
        if is_body && self.message.state == State::Open && self.open.is_unfinished_body() {
            return self.end(Closing::Unfinished, out);
        }
        let missing = self.spec.done.and_then(|done| done.missing);
        let awaits_done = self.framing.is_some_and(|framing| framing.ends_with_done);
        if let Some(code) = missing.filter(|_| awaits_done)
            && self.message.state == State::Stopped
        {
            out.warn(code, "the stream ended without `[DONE]`, after its end")?;
        }
        if self.message.state == State::Stopped {
            self.end_calls(out)?;
            if !self.open.has_reason && !is_wrapped {
                // Where the input was cut, there may have been more of it.
                self.message.meter.finish(out)?;
                return out.infer_finish(0, FinishReason::Stop, None);
            }
        }
        self.message.finish(out)
    }

    fn repeatable(&self) -> Option<&'static Repeatable> {
        self.repeats.then_some(self.spec.repeatable.unwrap_or(&Repeatable::TEXT))
    }
}

impl Format {
    /// Returns the format that a row describes.
    pub(in crate::format) const fn of(row: Row) -> Self {
        let spec = row.spec;
        Format {
            banners: spec.banners,
            dialect: if spec.dialect.is_empty() { None } else { Some(spec.dialect) },
            aliases: spec.aliases,
            about: spec.about,
            link: spec.link,
            evidence: spec.evidence,
            sniff: |_| true,
            ..Format::named(spec.name, FormatDecoder::Row(row))
        }
    }

    /// True if a stream whose first record is this one is in this format.
    pub fn accepts(&self, record: &Record<'_>) -> bool {
        self.row().is_none_or(|row| evidence::proves(row.spec, record)) && (self.sniff)(record)
    }

    /// True if a rule of the format's row is for a record, even if others have such records.
    pub(crate) fn has_rule_for(&self, record: &Record<'_>) -> bool {
        self.row().is_some_and(|row| evidence::has_rule_for(row.spec, record))
    }

    /// Returns by what a first record shows the format, in words, if the format is a row.
    #[cfg(feature = "cli")]
    pub(crate) fn known_by(&self) -> Option<String> {
        self.row().map(|row| evidence::known_by(row.spec))
    }

    /// Returns a new decoder.
    pub fn decode(&'static self) -> Box<dyn Decoder> {
        match self.decoder {
            FormatDecoder::Row(row) => Box::new(RowMachine::new(self, row)),
            FormatDecoder::Code(decoder) => decoder(self),
        }
    }
}

impl RowMachine {
    /// Returns a decoder of a format that is a row.
    fn new(format: &'static Format, row: Row) -> Self {
        let (spec, tables) = (row.spec, row.tables.get_or_init(|| RowTables::new(row.spec)));
        let mut message = Lifecycle::new(format, spec.usage);
        if tables.flags.is_cumulative_log {
            message.meter.add_up();
        }
        RowMachine {
            tables,
            spec,
            message,
            open: MessageState::new(tables.flags),
            log: log::LogState::default(),
            session: [None, None],
            framing: None,
            list: 0,
            wrapped: None,
            repeats: false,
        }
    }
}

impl RowMachine {
    /// Emits what the records of a frame hold.
    fn records(&mut self, table: &'static Table, scope: Scope, out: &mut EventOut) -> Done {
        let (tables, frame) = (self.tables, scope.frame);
        if let Some(layout) = table.text_layout(frame.event_type, frame.data) {
            let (text, mut values) = (frame.text(), RecordValues::default());
            values.take((table, layout), &text, frame.event_type);
            let fields = Fields::of_record(tables, &values, frame.event_type);
            return self.record(scope, false, fields, out);
        }
        let takes_any = table.takes_any(frame.event_type, frame.data);
        each_record(frame, takes_any, out, &mut |source, text, is_lost, out| {
            let mut values = RecordValues::default();
            values.read((tables, table), (source, text), frame.event_type)?;
            let fields = Fields::of_record(tables, &values, frame.event_type);
            let frame = frame.with(text.as_bytes());
            let scope = Scope { frame: &frame, ..scope };
            let emit: &mut dyn FnMut(&mut EventOut<'_>) -> Done =
                &mut |out| self.record(scope, is_lost, fields, out);
            Ok(if is_lost { out.distrusted(emit) } else { emit(out) })
        })
    }

    /// Emits what a record holds. If the flag is true, it lacks a value that could not be read.
    fn record(&mut self, scope: Scope, is_lost: bool, fields: Fields, out: &mut EventOut) -> Done {
        let places = fields.record_places();
        self.remember(&places.session, fields);
        self.repeats = true;
        self.list += 1;
        self.log.ends_in_error = false;
        self.log.has_ends |= match self.spec.log.map_or(End::No, |log| log.ends) {
            End::No => false,
            End::If(_) => places.log.as_ref().is_some_and(|log| fields.has(&log.ends)),
            End::Yes | End::Stopped => true,
        };
        let is_known = self.rules(scope, fields, out)?;
        self.log.has_begun = true;
        self.open.records += u64::from(self.message.is_open());
        if is_known {
            return Ok(());
        }
        self.repeats = false;
        if is_lost {
            return Ok(());
        }
        let kind = fields.kind();
        let kind = if kind.is_empty() { fields.first_key() } else { Cow::Borrowed(kind) };
        let is_error = self.message.stray(scope.frame, &kind, out)?;
        if is_error { self.end(Closing::Whole, out) } else { Ok(()) }
    }

    /// Notes the members of the session. A log that has no ends is of one session.
    fn remember(&mut self, session: &ReadStart, fields: Fields) {
        let is_of_one = self.spec.log.is_some_and(|log| log.ends != End::Yes);
        let places = [(&session.id, true), (&session.model, false)];
        for (known, (place, is_id)) in self.session.iter_mut().zip(places) {
            let is_new = !is_of_one || known.is_none() || !is_id;
            let Some(word) = fields.word(place).filter(|_| is_new) else { continue };
            let is_other = is_id && known.as_deref() != Some(&word);
            if is_other && self.tables.flags.is_cumulative_log {
                self.message.meter.add_up();
            }
            *known = Some(word.into_owned());
        }
    }

    /// Applies the rules for an object: those for its members, or the first one that applies.
    /// Returns false if there is none.
    fn rules(&mut self, scope: Scope, fields: Fields, out: &mut EventOut) -> io::Result<bool> {
        let mut is_known = false;
        for member in fields.members() {
            is_known |= self.first_rule(scope, member, out)?;
        }
        if is_known { Ok(true) } else { self.first_rule(scope, fields, out) }
    }

    /// Applies the first rule for an object that applies. Returns false if there is none.
    fn first_rule(&mut self, scope: Scope, fields: Fields, out: &mut EventOut) -> io::Result<bool> {
        let has_begun = self.log.has_begun;
        let mut rules = fields.rules();
        let rule = rules.find(|rule| {
            (!rule.spec.first || !has_begun)
                && applies(rule, fields)
                && self.wraps(rule, scope, fields)
        });
        rule.map_or(Ok(false), |rule| self.rule(rule, scope, fields, out).map(|()| true))
    }

    fn rule(
        &mut self,
        rule: &ReadRule,
        mut scope: Scope,
        fields: Fields,
        out: &mut EventOut,
    ) -> Done {
        self.remember(&rule.session, fields);
        let begins = fields.is_record || rule.spec.begin != Begin::Late || self.tables.flags.is_log;
        if self.is_subagents(rule, fields, out)? {
            return Ok(());
        }
        let is_foreign = self.is_foreign(rule, fields, out)?;
        let is_passed_over = is_foreign && (self.tables.flags.is_log || rule.spec.of.is_empty());
        let may_recover = self.message.is_open() || self.tables.flags.is_log;
        if is_passed_over || begins && !self.begin(rule, fields, out)? {
            return Ok(());
        }
        if fields.is_record && !rule.spec.aside && !rule.spec.call.is_some_and(|call| call.until) {
            self.open.end_chunked(out)?;
        }
        if rule.spec.release {
            self.open.release(out)?;
        }
        if is_foreign {
            return Ok(());
        }
        scope.is_whole |= rule.spec.whole;
        scope.is_body |= rule.holds.body;
        scope.cumulative = scope.cumulative.max(rule.spec.cumulative);
        if let Some(Index::Number(choice)) = fields.index(&rule.choice) {
            scope.choice = choice;
        }
        self.enter(rule, &mut scope, fields, out)?;
        self.repeats &= !self.changes_state(rule, scope);
        let reason = self.reason(rule, fields);
        scope.is_last |= reason.is_some();
        let failure = rule.error.as_ref().filter(|failure| fails(failure, fields));
        let results = self.open.of_log.results;
        let is_unfinished = rule.holds.body && reason.is_none() && failure.is_none();
        if is_unfinished {
            out.unclosed(|out| self.content(rule, scope, fields, out))?;
        } else {
            self.content(rule, scope, fields, out)?;
        }
        self.usage(rule, scope, fields, out)?;
        if rule.spec.prompt && self.open.of_log.results == results {
            return self.prompt(out);
        }
        if self.tables.flags.is_log {
            let noted = self.open.of_log.reason.take();
            self.open.of_log.reason = reason.as_deref().map(str::to_owned).or(noted);
        } else if let Some(raw) = &reason {
            let stop_sequence = fields.word(&rule.stop_sequence);
            self.finish_reason(scope.choice, raw, stop_sequence.as_deref(), out)?;
        }
        if !rule.spec.choice.is_empty() {
            self.choice(scope.choice, reason.is_some(), out)?;
        }
        match failure {
            Some(failure) if failure.spec.last && may_recover => {
                return self.note_error(failure, fields, out);
            }
            Some(failure) => {
                self.message.state = State::Failed;
                let last_error = self.log.last_error.as_ref().map(|error| error.json.as_str());
                report(failure, last_error, fields, out)?;
            }
            None => {}
        }
        if rule.spec.stop || self.tables.flags.stops_by_finish && reason.is_some() {
            self.message.state = State::Stopped;
        }
        let is_unfinished = is_unfinished || rule.spec.whole && self.open.lacks_reason();
        match rule.spec.end {
            End::Yes if is_unfinished => self.end(Closing::Unfinished, out),
            End::Yes => self.close(out),
            End::If(places) if places == rule.spec.finish && reason.is_none() => Ok(()),
            End::If(_) if fields.flag(&rule.end) => self.close(out),
            End::Stopped if self.message.state == State::Stopped => self.close(out),
            End::No | End::If(_) | End::Stopped => Ok(()),
        }
    }

    /// True if an object changes more than what is emitted.
    fn changes_state(&self, rule: &ReadRule, scope: Scope) -> bool {
        scope.part.is_some()
            || scope.is_cumulative()
            || rule.spec.part
            || rule.spec.begin == Begin::Cut
            || rule.spec.stop && rule.spec.begin != Begin::Late
            || rule.wraps.is_some()
            || rule.result.is_some()
            || self.tables.flags.is_log
            || self.open.keeps_texts()
    }

    /// Begins the message as a rule says. Returns false if its record is of none.
    fn begin(&mut self, rule: &ReadRule, fields: Fields, out: &mut EventOut) -> io::Result<bool> {
        let is_log = self.tables.flags.is_log;
        match (rule.spec.begin, self.message.state) {
            (Begin::No, _) => return Ok(true),
            (Begin::Late, _) if rule.wraps.is_some() => return Ok(true),
            (Begin::Late, _) if is_log && !rule.holds.log_start => return Ok(true),
            (Begin::Late, State::Closed) if !is_log && rule.holds.nothing => return Ok(false),
            (Begin::Late, State::Closed)
                if !is_log
                    && (!rule.holds.content || self.spec.start.late.is_some())
                    && self.message.passes_over(out)? =>
            {
                return Ok(false);
            }
            (Begin::Yes | Begin::Other, State::Stopped) if self.is_its_own(fields) => {}
            (Begin::Yes | Begin::Other, State::Open) if !self.is_anothers(fields) => {}
            (Begin::Other, State::Failed) if !self.is_anothers(fields) => {}
            (Begin::Yes | Begin::Other | Begin::Cut, State::Open) => self.cut(out)?,
            (Begin::Yes, State::Stopped)
            | (Begin::Other | Begin::Cut, State::Stopped | State::Failed) => self.close(out)?,
            (Begin::Late | Begin::Yes | Begin::Other | Begin::Cut, _) => {}
        }
        if self.message.is_open() {
            return Ok(true);
        }
        if rule.wraps.is_none() {
            self.wrapped = None;
        }
        let (start, fields) = (&fields.record_places().start, fields.record());
        self.message.head.created = fields.json(&start.created).and_then(|json| time(&json));
        let [session_id, session_model] = self.session.each_ref().map(Option::as_deref);
        let (id, model) = (fields.word(&start.id), fields.word(&start.model));
        let (id, model) = (id.as_deref().or(session_id), model.as_deref().or(session_model));
        self.message.begin(id, model, out)?;
        if let Some(code) = self.spec.start.late.filter(|_| rule.spec.begin == Begin::Late) {
            out.warn(code, "a message has no beginning of its own")?;
        }
        Ok(true)
    }

    /// Begins a log's message, unless one is open.
    fn start(&mut self, out: &mut EventOut) -> Done {
        let [id, model] = self.session.each_ref().map(Option::as_deref);
        self.message.begin(id, model, out)
    }

    /// True if a record has the id of the open message.
    fn is_its_own(&self, fields: Fields) -> bool {
        let id = fields.record().word(&fields.record_places().start.id);
        id.is_some() && id.as_deref() == self.message.id()
    }

    /// True if a record has the id of another message than the open one.
    fn is_anothers(&self, fields: Fields) -> bool {
        let id = fields.record().word(&fields.record_places().start.id);
        id.as_deref().zip(self.message.id()).is_some_and(|(id, open)| id != open)
    }

    /// Notes that something of a choice came, and whether that has finished.
    fn choice(&mut self, choice: u64, is_finished: bool, out: &mut EventOut) -> Done {
        *self.open.finished.or_default(choice) |= is_finished;
        self.message.state = match self.message.state {
            State::Open if self.open.finished.are_all() => State::Stopped,
            State::Stopped if !self.open.finished.are_all() => State::Open,
            state => state,
        };
        out.check_choices(self.open.finished.len())
    }

    /// Finds the block or the part that an object is of.
    fn enter(
        &mut self,
        rule: &ReadRule,
        scope: &mut Scope,
        fields: Fields,
        out: &mut EventOut,
    ) -> Done {
        match rule.at.as_slice() {
            [] => {}
            [index] if self.tables.flags.has_blocks => {
                let index = fields.index(index).map(|index| match index {
                    Index::Number(number) => number,
                    name => hash(&name),
                });
                let blocks = &mut self.open.blocks;
                let index = match rule.spec.open {
                    true => blocks.place_new(index, out)?,
                    false => blocks.place(index, out)?,
                };
                scope.block = Some((index, rule.spec.open));
            }
            names => {
                let names: SmallVec<[_; 2]> =
                    names.iter().map(|place| fields.index(place)).collect();
                let key = (scope.choice, scope.part, &names);
                scope.part = Some(self.open.part_key(hash(&key), scope.is_whole, out)?);
            }
        }
        Ok(())
    }

    /// Emits what an object holds of what the model wrote.
    fn content(
        &mut self,
        rule: &ReadRule,
        scope: Scope,
        fields: Fields,
        out: &mut EventOut,
    ) -> Done {
        if rule.holds.nothing {
            out.flush()?;
        }
        if let Some(json) = fields.json(&rule.native).filter(|_| out.is_native) {
            out.native(scope.choice, Of::Message, Piece::new(&json, scope.is_whole))?;
        }
        if let Some(warn) = &rule.spec.warn {
            let is_agents = warn.code == WarningCode::AgentError;
            if is_agents && fields.is_record {
                let json = fields.here().to_owned();
                self.log.last_error =
                    Some(log::ReportedError { json, ..log::ReportedError::default() });
            }
            let default = if is_agents { log::AGENT_ERROR } else { "" };
            let text = rule.warn.as_ref().and_then(|place| fields.text(place));
            out.warn(warn.code, text.as_deref().map_or(default, Str::as_str))?;
        }
        self.texts(rule, scope, fields, out)?;
        // Beside other content, there is one only if anything of it stands there.
        let has_text = [rule.spec.text, rule.spec.thought] != ["", ""];
        let is_beside = rule.holds.more_than_calls && (scope.block.is_none() || has_text);
        if let Some(call) = &rule.call
            && (!is_beside
                || is_there([&call.name, &call.id, &call.arguments, &call.invalid], fields))
        {
            self.call(call, scope, fields, out)?;
        }
        if let Some(hook) = &rule.spec.hook
            && let Some(json) = rule.hook.as_ref().and_then(|place| fields.json(place))
        {
            self.open.saw_call();
            (hook.run)(&Object::new(&json), self.open.calls(scope.choice), out)?;
        }
        if let Some(result) = &rule.result
            && (!is_beside || is_there([&result.id, &result.name, &result.output], fields))
        {
            self.result(result, scope, fields, out)?;
        }
        self.inside(rule, scope, fields, out)?;
        self.wrapped_record(rule, scope, fields, out)?;
        if let Some(signature) = fields.word(&rule.signature) {
            out.signature(scope.choice, &signature)?;
        }
        self.blocks(rule, scope, fields, out)?;
        match rule.spec.call_end {
            CallEnds::No => {}
            CallEnds::Yes => self.all_calls_end(scope.choice, out)?,
            CallEnds::Of(_) => self.call_end(scope.choice, fields.index(&rule.call_end), out)?,
        }
        if let (true, Some((index, _))) = (rule.spec.close, scope.block) {
            self.open.close(index, out)?;
        }
        let is_empty = |json: &Cow<str>| matches!(json.as_ref(), "[]" | "{}");
        if let Some(json) = fields.json(&rule.provider_event).filter(|json| !is_empty(json)) {
            let key = rule.spec.provider_event.rsplit('.').next();
            let names = key.into_iter().chain([fields.kind()]);
            let event = names.into_iter().find(|name| !name.is_empty());
            out.emit(
                scope.choice,
                Kind::ProviderEvent(ProviderEvent { event, data: output(&json) }),
            )?;
        }
        if scope.is_whole { out.flush() } else { Ok(()) }
    }

    /// Emits the texts that an object holds: a thought, an answer, a refusal.
    fn texts(&mut self, rule: &ReadRule, scope: Scope, fields: Fields, out: &mut EventOut) -> Done {
        if rule.spec.part {
            self.open.thoughts += 1;
        } else if rule.spec.release || rule.call.is_some() || !rule.spec.text.is_empty() {
            self.open.thoughts = 0;
        }
        let slot = Slot::Reasoning(Some(self.open.thoughts).filter(|number| *number > 0));
        let text = Some(&rule.text).filter(|_| !fields.flag(&rule.hidden));
        let mut redacted = fields.word(&rule.redacted);
        // A thought that came whole is a part of its own: text after it does not join it.
        let has_more = scope.is_cumulative() && holds_more(rule, fields);
        let answer = Slot::Text(Some(rule.spec.channel).filter(|channel| !channel.is_empty()));
        let mut is_read = false;
        let is_either = rule.spec.thought == rule.spec.text && !rule.spec.text.is_empty();
        let (thought, text) = match text {
            Some(_) if is_either && self.open.is_thought(scope) => (text, None),
            Some(_) if is_either => (None, text),
            _ => (Some(&rule.thought), text),
        };
        let refusal = Some(&rule.refusal);
        for (slot, place) in [(slot, thought), (answer, text), (Slot::Refusal, refusal)] {
            if !slot.is_thought()
                && let Some(data) = redacted.take()
            {
                out.redacted(scope.choice, &data)?;
            }
            let Some(text) = place.and_then(|place| fields.text(place)) else { continue };
            is_read |= !text.is_empty();
            // A piece of the call that the block is, under another name.
            if let Some((index, false)) = scope.block.filter(|_| !text.is_empty()) {
                self.open.blocks.pass_over(index, out)?;
            }
            if self.tables.flags.is_log
                && self.open.of_log.says_again(rule, (slot, &text), scope.is_whole, out)?
            {
                continue;
            }
            if rule.spec.replaces && !slot.is_thought() {
                self.open.replace(slot, &text, scope, out)?;
                self.open.has_text = true;
                continue;
            }
            self.open.has_text |= !slot.is_thought() && !text.is_empty();
            if !scope.is_cumulative() {
                self.open.text(slot, &text, scope, out)?;
                continue;
            }
            let may_repeat = if slot.is_thought() { has_more } else { scope.is_last };
            let at = (scope.choice, scope.part, slot);
            match self.open.new_part(at, &text, (scope.cumulative, may_repeat), out)? {
                None => continue,
                Some(NewText::Piece(new)) => out.piece(scope.choice, slot, &new)?,
                // A revision stands in place of the answer.
                Some(NewText::Changed) if slot.is_thought() => {
                    out.piece(scope.choice, slot, &text)?;
                }
                Some(NewText::Changed) => out.revise(scope.choice, &text)?,
            }
            self.open.warn_of_repeats(out)?;
        }
        if is_read || !rule.holds.only_text {
            return Ok(());
        }
        // There is none where the rule reads it: it may stand where no rule does.
        out.unread(scope.choice, fields.here(), |key| self.tables.reads(key))
    }

    /// Emits what the objects inside of an object hold.
    fn inside(
        &mut self,
        rule: &ReadRule,
        scope: Scope,
        fields: Fields,
        out: &mut EventOut,
    ) -> Done {
        let mut is_empty = true;
        for place in &rule.each {
            self.list += 1;
            if let Some((table, text)) = fields.encoded(place) {
                let data = text.as_str().as_bytes();
                let frame = &Frame { event_type: "", ..scope.frame.with(data) };
                self.records(table, Scope { frame, ..scope }, out)?;
                is_empty = false;
            }
            for object in fields.each(place) {
                is_empty = false;
                let native = Piece::new(object.here(), scope.is_whole);
                let is_native = out.is_native && object.table().is_native;
                let scope = Scope { native: is_native.then_some(native), ..scope };
                let calls = self.open.native_calls;
                let is_known = self.rules(scope, object, out)?;
                if !is_known {
                    self.unknown(scope, object, out)?;
                }
                let index = scope.block.map(|(index, _)| index);
                let is_lost = !is_known && index.is_some_and(|at| self.open.blocks.is_call(at));
                if is_native && calls == self.open.native_calls && !is_lost {
                    out.native(scope.choice, self.open.blocks.object_at(index), native)?;
                }
            }
            self.list += 1;
        }
        if !is_empty || !fields.is_record || rule.each.is_empty() {
            return Ok(());
        }
        let is_there = |place: &Place| fields.is_given(place) == Some(true);
        // What the record has stands where no rule looks for it: it may be a piece of a call.
        match scope.block {
            Some((index, _)) => self.open.blocks.pass_over(index, out)?,
            None if rule.holds.only_inside
                && !self.tables.flags.is_log
                && !rule.each.iter().any(is_there) =>
            {
                out.lost()?
            }
            None => return Ok(()),
        }
        out.unknown(scope.frame, fields.kind())
    }

    /// Takes an object that no rule is for.
    fn unknown(&mut self, scope: Scope, object: Fields, out: &mut EventOut) -> Done {
        let is_keyed = object.table().is_keyed();
        if !is_keyed && object.kind().is_empty() && scope.block.is_none() {
            return Ok(());
        }
        if let Some((index, _)) = scope.block {
            self.open.blocks.pass_over(index, out)?;
        }
        if !scope.is_whole && (is_keyed || scope.block.is_none()) {
            let kind = if is_keyed { object.first_key() } else { Cow::Borrowed(object.kind()) };
            return out.unknown(scope.frame, &kind);
        }
        let blocks = match is_keyed {
            true => json::members(object.here())
                .into_iter()
                .map(|(key, value)| (key, value.get()))
                .collect(),
            false => vec![(Cow::Borrowed(object.kind()), object.here())],
        };
        for (kind, json) in blocks {
            out.block(scope.choice, &kind, json)?;
            let message =
                format!("a block of type {} has no meaning here", json::quote_start(&kind));
            out.warn(WarningCode::UnknownBlock, &message)?;
        }
        Ok(())
    }

    /// Emits the blocks that an object is or has.
    fn blocks(
        &mut self,
        rule: &ReadRule,
        scope: Scope,
        fields: Fields,
        out: &mut EventOut,
    ) -> Done {
        if let Some(block) = &rule.block
            && let (Some(name), Some(text)) = (fields.word(&block.name), fields.text(&block.text))
            && let Some(text) = text.non_empty()
        {
            let block = event::Block { name: &name, text, attributes: None };
            out.emit(scope.choice, Kind::Block(block))?;
        }
        let named = rule.block.as_ref();
        let named =
            named.and_then(|block| Some((fields.word(&block.name)?, fields.json(&block.at)?)));
        let last = |places: Word| places.rsplit_once('.').map_or(places, |(_, key)| key);
        let others = rule.spec.blocks.iter().zip(&rule.blocks);
        let others = others
            .filter_map(|(places, place)| Some((Cow::Borrowed(last(places)), fields.json(place)?)));
        let rest = rule.rest.as_ref().and_then(|rest| {
            let json = fields.json(&rest.at)?;
            has_more(rule, rest.spec.at, &json).then_some((fields.word(&rest.name)?, json))
        });
        let divided = named.into_iter().chain(rest).map(|block| (block, true));
        for ((name, json), is_divided) in divided.chain(others.map(|block| (block, false))) {
            for json in each_block(&json, is_divided) {
                if self.open.is_new_block(&name, json, scope) {
                    out.block(scope.choice, &name, json)?;
                }
            }
        }
        Ok(())
    }

    /// Notes what the message costs. Of one that has ended, nothing counts for the next.
    fn usage(&mut self, rule: &ReadRule, scope: Scope, fields: Fields, out: &mut EventOut) -> Done {
        let is_late = !self.message.is_open() && !self.tables.flags.is_log;
        let is_total = rule.spec.total == Total::Yes || self.tables.flags.is_cumulative_log;
        let has_parts = self.tables.flags.is_log && !is_total;
        let (flags, meter) = (self.tables.flags, &mut self.message.meter);
        for place in &rule.usage {
            let Some(counts) = fields.json(place) else { continue };
            if is_late {
                let message = "usage came after the end of its message";
                return out.warn(WarningCode::LateUsage, message);
            }
            if has_parts && self.open.of_log.counts_anew(scope.part) {
                meter.begin_part();
            }
            if is_total && counts.starts_with('{') {
                meter.reset();
            }
            match json::elements(&counts) {
                // One object for each model that took part.
                Some(models) => models.into_iter().for_each(|counts| {
                    meter.feed(counts);
                    meter.begin_part();
                }),
                None if fields.is_shared(place) => meter.pick(&counts),
                None => meter.feed(&counts),
            }
            if !is_total && flags.has_totals || rule.spec.total == Total::Each {
                meter.begin_part();
            }
        }
        Ok(())
    }

    /// Returns why the model stopped, in the provider's word. One that it has not is noted.
    fn reason<'f>(&mut self, rule: &'f ReadRule, fields: Fields<'f, '_>) -> Option<Cow<'f, str>> {
        fields.text(&rule.finish)?;
        let reason = fields.word(&rule.finish).filter(|raw| !finish::is_none(raw));
        self.open.goes_on |= reason.is_none();
        reason
    }

    fn finish_reason(
        &mut self,
        choice: u64,
        raw: &str,
        stop_sequence: Option<&str>,
        out: &mut EventOut,
    ) -> Done {
        self.open.has_reason = true;
        let fitting = self.spec.finish_words.iter().filter(|(word, _)| fits(word, raw));
        let known = fitting.max_by_key(|(word, _)| (!word.contains('*'), word.len()));
        let reason: FinishReason =
            known.map_or_else(|| finish::normalise(raw), |(_, reason)| *reason);
        out.finish_as(choice, reason, raw, stop_sequence)
    }

    /// Takes `[DONE]`.
    fn done(&mut self, out: &mut EventOut) -> Done {
        let Some(done) = self.spec.done.filter(|_| self.message.is_open()) else { return Ok(()) };
        if let Some(code) = done.warn.filter(|_| self.message.state != State::Stopped) {
            out.warn(code, "`[DONE]` came before the end of its message")?;
        }
        self.end(Closing::Whole, out)
    }

    /// Ends the calls of choices that have finished: they are whole. So are those of a message that
    /// has come to its end, if no rule says when a call does.
    fn end_calls(&mut self, out: &mut EventOut) -> Done {
        if self.tables.flags.leaves_calls_open && self.message.state != State::Failed {
            return out.call_end(0, Key::None);
        }
        let mut finished = self.open.finished.iter().filter(|(_, is_finished)| **is_finished);
        finished.try_for_each(|(choice, _)| out.call_end(choice, Key::None))
    }

    /// Ends the message where a record says that it has an end. A log's has the reason to stop that
    /// came last.
    fn close(&mut self, out: &mut EventOut) -> Done {
        match (self.message.state, self.open.of_log.reason.take()) {
            _ if !self.tables.flags.is_log => {}
            (State::Closed, _) => return Ok(()),
            (State::Failed, _) => {}
            (_, Some(raw)) => self.finish_reason(0, &raw, None, out)?,
            (_, None) => out.infer_finish(0, FinishReason::Stop, None)?,
        }
        self.end(Closing::Whole, out)
    }

    /// Ends the message because the next one begins. In a log, it is as whole as it came.
    fn cut(&mut self, out: &mut EventOut) -> Done {
        if self.tables.flags.is_log {
            let message = "a message began before the last one had ended";
            out.warn(WarningCode::MissingMessageEnd, message)?;
            return self.close(out);
        }
        self.end(Closing::Cut, out)
    }

    /// Ends what of the message is open.
    fn end_open(&mut self, ending: Closing, out: &mut EventOut) -> Done {
        if ending == Closing::Whole && self.message.state != State::Failed {
            self.open.release(out)?;
        }
        self.open.cut(out)?;
        if ending == Closing::Cut { Ok(()) } else { self.end_calls(out) }
    }

    /// Ends the message, and with it what of it is open: the records inside, or its blocks and calls.
    fn end(&mut self, ending: Closing, out: &mut EventOut) -> Done {
        match (self.wrapped.is_some(), ending) {
            (true, Closing::Cut) => self.wrapped = None,
            (true, Closing::Whole | Closing::Unfinished) => self.end_wrapped(out)?,
            (false, _) => self.end_open(ending, out)?,
        }
        let next = self.open.next();
        let MessageState { finished, .. } = std::mem::replace(&mut self.open, next);
        if ending == Closing::Whole && self.spec.log.is_none() {
            self.log.foreign.clear();
        }
        (self.log.has_prompt, self.log.last_error) = (false, None);
        match ending {
            Closing::Whole => self.message.end(out),
            Closing::Cut => self.message.cut(out),
            Closing::Unfinished => {
                let unfinished = finished.iter().filter(|(_, is_finished)| !**is_finished);
                let only = finished.is_empty().then_some(0);
                self.message.end_unfinished(unfinished.map(|(choice, _)| choice).chain(only), out)
            }
        }
    }
}

/// True if the conditions of a rule hold.
fn applies(rule: &ReadRule, fields: Fields) -> bool {
    let holds = |(place, words): &(Place, Word)| {
        fields.scalar(place).is_some_and(|found| is_one_of(words, &found))
    };
    rule.has.iter().all(|place| fields.has(place))
        && !rule.not.iter().any(|place| fields.has(place))
        && rule.is.iter().all(holds)
}

/// True if anything of a call or a result stands in an object, at one of its places. The words that a
/// row has of its own say nothing, unless it has no others.
fn is_there<const N: usize>(places: [&Place; N], fields: Fields) -> bool {
    let mut asks = false;
    let mut given = places.iter().filter_map(|it| fields.is_given(it)).inspect(|_| asks = true);
    given.any(|is_given| is_given) || !asks
}

/// True if an object holds more of the answer than thoughts.
fn holds_more(rule: &ReadRule, fields: Fields) -> bool {
    fields.text(&rule.text).is_some_and(|text| !text.is_empty())
        || rule.each.iter().any(|place| fields.each(place).next().is_some())
}

/// True if an object has members that are not the counts of a rule.
fn has_more(rule: &ReadRule, at: &str, json: &str) -> bool {
    let counts = rule.spec.usage.iter().flat_map(|places| places.split('|'));
    let counts: SmallVec<[&str; 4]> =
        counts.filter_map(|path| path.strip_prefix(at)?.strip_prefix('.')).collect();
    json::members(json).iter().any(|(key, _)| !counts.contains(&key.as_ref()))
}

/// True if there is an error where a rule has one.
fn fails(failure: &ReadFailure, fields: Fields) -> bool {
    // A null is a word of the row's: in a record it is nothing.
    fields.json(&failure.at).is_some_and(|json| json == "null" || !json::is_empty(&json))
        || fields.scalar(&failure.message).is_some()
}

/// Reports the provider's error. One without words of its own has those of the agent's before it.
fn report(
    failure: &ReadFailure,
    last_error: Option<&str>,
    fields: Fields,
    out: &mut EventOut,
) -> Done {
    let (message, code) = (fields.scalar(&failure.message), fields.scalar(&failure.code));
    let made = || object_of!(line; "message": message.as_deref(), "code": code.as_deref());
    let json = fields.json(&failure.at).unwrap_or_else(|| made().into());
    match failure.spec.message.is_empty() && failure.spec.code.is_empty() {
        true => error::report(&json, out),
        false => {
            let found = || last_error.and_then(error::message).or_else(|| error::message(&json));
            let message = message.or_else(|| found().map(Cow::Owned));
            error::report_as(message.as_deref(), code.as_deref(), &json, out)
        }
    }
}

/// Returns the elements of a list that is to be divided, or a value by itself; nothing of an empty
/// object.
fn each_block(json: &str, is_divided: bool) -> Vec<&str> {
    match json {
        "{}" => Vec::new(),
        json if is_divided => each(json),
        json => vec![json],
    }
}
