//! What is known of the message that is open.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::{io, mem};

use crate::event::{ByChoice, CallPart, Key, Kind, Output, Piece, ToolResult, WarningCode};
use crate::format::machine::log_message::LogMessage;
use crate::format::machine::rule::RowFlags;
use crate::format::machine::said_call::SaidCall;
use crate::format::spec::{CallSpec, Cumulative};
use crate::format::support::blocks::{GatheredBlock, IndexedBlocks, OpenIndexedBlock};
use crate::format::support::emit::Slot;
use crate::format::support::many::each;
use crate::format::support::prelude::*;
use crate::format::support::said::{NewText, SaidText, hash};
use crate::json::Scanner;

/// The most parts of one message.
const MAX_PARTS: usize = 1 << 14;

/// The most texts of one message that are cumulative: those of its choices, and the arguments of
/// their calls.
const MAX_TEXTS: usize = 1 << 14;

/// What an object has from those around it.
#[derive(Clone, Copy)]
pub(super) struct Scope<'t> {
    /// The frame of the record.
    pub(super) frame: &'t Frame<'t>,
    pub(super) is_whole: bool,
    /// True if all of the message comes at once: why it stopped says whether calls are whole.
    pub(super) is_body: bool,
    /// Whether texts are all of what has come.
    pub(super) cumulative: Cumulative,
    /// True if the record, or the object around it, has a reason to stop.
    pub(super) is_last: bool,
    /// The number of the choice that it is of.
    pub(super) choice: u64,
    /// The index of the block that it is of, and true if that begins.
    pub(super) block: Option<(u64, bool)>,
    /// The key of the part that it is of.
    pub(super) part: Option<u64>,
    /// The provider's JSON of the call or the block that it is, or of a piece of one.
    pub(super) native: Option<Piece<'t>>,
}

impl<'t> Scope<'t> {
    /// Returns what a record has.
    pub(super) fn of(frame: &'t Frame<'t>) -> Self {
        let (is_whole, is_body, is_last, cumulative) = (false, false, false, Cumulative::No);
        let (choice, block, part, native) = Default::default();
        Scope { frame, is_whole, is_body, cumulative, is_last, choice, block, part, native }
    }

    /// Returns the frame of a record that stands inside the object.
    pub(super) fn inner_frame(&self, text: &'t Str<'_>) -> Frame<'t> {
        Frame { event_type: "", headers: &[], ..self.frame.with(text.as_str().as_bytes()) }
    }

    /// True if texts may be all of what has come, once more.
    pub(super) fn is_cumulative(&self) -> bool {
        self.cumulative != Cumulative::No
    }
}

/// The state of the message that is open.
#[derive(Default)]
pub(super) struct MessageState {
    flags: RowFlags,
    calls: ByChoice<Calls>,
    /// The keys of calls that came whole.
    pub(super) whole: BTreeSet<(u64, u64)>,
    /// What the calls have said that have an id, by their choices and numbers.
    pub(super) said_calls: BTreeMap<(u64, u64), SaidCall>,
    /// For each choice that came, true if it has finished.
    pub(super) finished: ByChoice<bool>,
    pub(super) blocks: IndexedBlocks<Collected>,
    /// The texts that may come again, of their choices and parts.
    texts: BTreeMap<(u64, Option<u64>, Slot), SaidText>,
    parts: BTreeMap<u64, PartBlocks>,
    /// The hashes of the blocks beside texts that are cumulative.
    latest_blocks: BTreeMap<u64, u64>,
    /// True if some of the answer has come.
    pub(super) has_text: bool,
    /// True if one of the texts comes whole with each record, and if that has been said.
    has_whole: bool,
    has_warned: bool,
    /// The number of thoughts that have begun, one right after another.
    pub(super) thoughts: u64,
    /// The number of its records.
    pub(super) records: u64,
    /// True if one of them has a word for it that the model has not stopped yet.
    pub(super) goes_on: bool,
    /// True if a reason to stop has come.
    pub(super) has_reason: bool,
    /// The number of fragments of calls in the provider's own JSON.
    pub(super) native_calls: u64,
    /// The call that goes on until something else comes.
    pub(super) chunked: Option<Chunked>,
    /// Ids of calls whose arguments are free text.
    pub(super) free: BTreeSet<String>,
    /// What is known of it as a log's.
    pub(super) of_log: LogMessage,
}

/// A call that goes on until something else comes, and how far its arguments have come.
pub(super) struct Chunked {
    id: String,
    pub(super) arguments: Scanner,
}

/// The blocks of one part of a message.
#[derive(Default)]
struct PartBlocks {
    count: usize,
    /// The number of those that have come again.
    again: usize,
}

/// A result that is emitted whole: it comes in pieces, or later than its block.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) is_error: Option<bool>,
    /// The elements of its content, if that comes in pieces: JSON with commas between.
    pub(super) content: Option<String>,
    pub(super) is_emitted: bool,
}

impl MessageState {
    pub(super) fn new(flags: RowFlags) -> MessageState {
        MessageState { flags, of_log: LogMessage::new(flags), ..MessageState::default() }
    }

    /// Returns the state of the next message of the row.
    pub(super) fn next(&self) -> MessageState {
        MessageState::new(self.flags)
    }

    /// True if a text is compared with later ones.
    pub(super) fn keeps_texts(&self) -> bool {
        self.flags.mixes_texts
    }

    /// Returns the calls of a choice.
    pub(super) fn calls(&mut self, choice: u64) -> &mut Calls {
        self.calls.or_insert_with(choice, || Calls::of(choice))
    }

    /// Returns what a call has said, if it has an id or a name, and others may say it again.
    pub(super) fn said_call(&mut self, choice: u64, call: &CallPart) -> Option<&mut SaidCall> {
        let Key::Index(number) = call.key else { return None };
        if !self.flags.has_whole_calls {
            return None;
        }
        if call.id.or(call.name).is_some() {
            self.said_calls.entry((choice, number)).or_default();
        }
        self.said_calls.get_mut(&(choice, number))
    }

    /// True if a call has said another name than it has here.
    pub(super) fn is_renamed(&mut self, choice: u64, call: &CallPart) -> bool {
        self.said_call(choice, call).is_some_and(|said| said.has_other_name(call.name))
    }

    /// Calls that are whole and have no result are the caller's to run.
    pub(super) fn release(&mut self, out: &mut EventOut) -> Done {
        self.calls.values_mut().try_for_each(|calls| calls.release(out))
    }

    /// True if it is a body without a reason to stop, as far as its records show: it is one, and
    /// nothing tells it from the first of a stream.
    pub(super) fn is_unfinished_body(&self) -> bool {
        self.lacks_reason() && self.records == 1 && !self.goes_on && !self.flags.has_bodies
    }

    /// True if a choice has come that has no reason to stop.
    pub(super) fn lacks_reason(&self) -> bool {
        self.finished.values().any(|&finished| !finished)
    }

    /// Returns the key of a part, of which all or the next piece comes.
    pub(super) fn part_key(
        &mut self,
        key: u64,
        is_whole: bool,
        out: &mut EventOut,
    ) -> io::Result<u64> {
        let part = self.parts.entry(key).or_default();
        if is_whole {
            part.again = 0;
        }
        out.check_limit(self.parts.len(), MAX_PARTS, "parts in one message")?;
        Ok(key)
    }

    /// True if a part holds a thought so far.
    pub(super) fn is_thought(&self, Scope { choice, part, .. }: Scope) -> bool {
        let thoughts = (choice, part, Slot::THOUGHT)..(choice, part, Slot::Refusal);
        part.is_some() && self.texts.range(thoughts).next().is_some()
    }

    /// Emits a piece of a text; of a whole one, what its pieces did not have. One that had other pieces
    /// is a revision, but for a thought of no part: that is another one.
    pub(super) fn text(
        &mut self,
        slot: Slot,
        text: &Str,
        scope: Scope,
        out: &mut EventOut,
    ) -> Done {
        let Scope { choice, part, is_whole, .. } = scope;
        if part.is_none() && !self.flags.mixes_texts {
            return out.piece(choice, slot, text);
        }
        let said = self.texts.entry((choice, part, slot)).or_default();
        if !is_whole {
            said.add(text);
            return out.piece(choice, slot, text);
        }
        let is_another =
            part.is_none() && (!said.has_words() || slot.is_thought() || text.is_empty());
        let rest = match part {
            Some(_) => said.rest(text).inspect(|rest| said.add(rest)),
            None => said.rest_of_any(text),
        };
        match rest {
            Some(new) => out.piece(choice, slot, &new),
            None if is_another => out.piece(choice, slot, text),
            None => {
                // Of a part, what comes then is compared with its text, not with what revised that.
                if part.is_none() {
                    said.revise(text);
                }
                out.revise(choice, text)
            }
        }
    }

    /// A call, or a result, has come: texts of no part begin anew.
    pub(super) fn saw_call(&mut self) {
        self.of_log.saw_call();
        if self.flags.mixes_texts {
            self.texts.values_mut().for_each(SaidText::saw_call);
        }
    }

    /// Emits a text that takes the place of what came, if anything did.
    pub(super) fn replace(
        &mut self,
        slot: Slot,
        text: &Str,
        scope: Scope,
        out: &mut EventOut,
    ) -> Done {
        let Scope { choice, part, .. } = scope;
        if part.is_some() {
            self.texts.insert((choice, part, slot), SaidText::of(text));
        }
        if self.flags.mixes_texts {
            self.texts.insert((choice, None, slot), SaidText::of(text));
        }
        match self.has_text {
            true => out.replace(choice, text, "a text takes the place of what came"),
            false => out.piece(choice, slot, text),
        }
    }

    /// Returns what a record adds to a text that is cumulative; nothing, if it is all of it once
    /// more, and that is to be expected.
    pub(super) fn new_part<'t>(
        &mut self,
        at: (u64, Option<u64>, Slot),
        text: &'t Str<'t>,
        (cumulative, may_repeat): (Cumulative, bool),
        out: &mut EventOut,
    ) -> io::Result<Option<NewText<'t>>> {
        let is_always = cumulative == Cumulative::Always;
        let begin = || if is_always { SaidText::always_whole() } else { SaidText::default() };
        let said = self.texts.entry(at).or_insert_with(begin);
        if may_repeat && said.is_all(text) {
            return Ok(None);
        }
        let new = said.grow(text);
        self.has_whole |= said.is_whole() && !is_always;
        out.check_limit(self.texts.len(), MAX_TEXTS, "texts in one message")?;
        Ok(Some(new))
    }

    /// Warns, once, that texts are taken to be repeated.
    pub(super) fn warn_of_repeats(&mut self, out: &mut EventOut) -> Done {
        if !self.has_whole || mem::replace(&mut self.has_warned, true) {
            return Ok(());
        }
        let message = "each record repeats the text so far: what is new was taken";
        out.warn(WarningCode::RepeatedText, message)
    }

    /// True if a block is not one that comes again with the whole of its part.
    pub(super) fn is_new_block(&mut self, name: &str, json: &str, scope: Scope) -> bool {
        if scope.is_cumulative() {
            let (name, json) = (hash(&(scope.choice, name)), hash(json));
            return self.latest_blocks.insert(name, json) != Some(json);
        }
        let Some(part) = scope.part.and_then(|key| self.parts.get_mut(&key)) else { return true };
        part.again += 1;
        if scope.is_whole && part.again <= part.count {
            return false;
        }
        part.count += 1;
        true
    }

    /// Returns the id of a call: this one, or that of the call that goes on until there is another.
    pub(super) fn id_of_call<'t>(
        &mut self,
        call: &CallSpec,
        given: Option<Cow<'t, str>>,
        out: &mut EventOut,
    ) -> io::Result<Option<Cow<'t, str>>> {
        if !call.until {
            return Ok(given);
        }
        let open = self.chunked.as_ref().map(|call| call.id.as_str());
        if given.is_some() && given.as_deref() != open {
            self.end_chunked(out)?;
            let id = given.as_deref().map(str::to_owned);
            let begin = |id| Chunked { id, arguments: Scanner::new(json::MAX_DEPTH) };
            self.chunked = id.map(begin);
        }
        Ok(given.or_else(|| self.chunked.as_ref().map(|call| Cow::Owned(call.id.clone()))))
    }

    /// The call that goes on has said more of its arguments.
    pub(super) fn go_on(&mut self, said: Option<&str>) {
        if let (Some(call), Some(said)) = (&mut self.chunked, said) {
            call.arguments.push_all(said.as_bytes());
        }
    }

    /// The call that goes on until something else comes has ended.
    pub(super) fn end_chunked(&mut self, out: &mut EventOut) -> Done {
        self.chunked.take().map_or(Ok(()), |call| self.calls(0).hold_id(&call.id, out))
    }

    /// The block at an index has ended.
    pub(super) fn close(&mut self, index: u64, out: &mut EventOut) -> Done {
        self.blocks.stop(index).unwrap_or(OpenIndexedBlock::Plain).close(out)
    }

    /// The message has stopped: blocks that are open will not come to their own end. A call that
    /// was never closed is the assembler's to judge.
    pub(super) fn cut(&mut self, out: &mut EventOut) -> Done {
        self.blocks.cut(out)
    }
}

impl Collected {
    /// Takes what a piece says of it.
    pub(super) fn merge(&mut self, piece: Collected) {
        if self.id.is_empty() {
            self.id = piece.id;
        }
        self.name = self.name.take().or(piece.name);
        self.is_error = piece.is_error.or(self.is_error);
    }

    /// Adds the elements of a list, or a value by itself. All of it is emitted at once, but an empty
    /// one, which stands for what is to come.
    pub(super) fn add(&mut self, json: &str, out: &mut EventOut) -> Done {
        let Some(content) = &mut self.content else {
            let is_to_come = matches!(json, "[]" | "{}" | "\"\"");
            self.is_emitted |= !is_to_come;
            return if is_to_come { Ok(()) } else { self.result(json, out) };
        };
        for element in each(json) {
            let comma = if content.is_empty() { "" } else { "," };
            content.push_str(comma);
            content.push_str(element);
        }
        Ok(())
    }

    fn result(&self, json: &str, out: &mut EventOut) -> Done {
        let (id, name, is_error) = (&*self.id, self.name.as_deref(), self.is_error);
        let output = Output::Json(json);
        let result = ToolResult { id, name, output, is_error, ..ToolResult::default() };
        out.emit(0, Kind::ToolResult(result))
    }
}

impl GatheredBlock for Collected {
    /// Emits null for a result that never came.
    fn emit(&self, out: &mut EventOut) -> Done {
        match &self.content {
            Some(content) => self.result(&format!("[{content}]"), out),
            None if self.is_emitted => Ok(()),
            None => self.result("null", out),
        }
    }

    fn cut(&self, out: &mut EventOut) -> Done {
        if self.content.is_none() {
            return Ok(());
        }
        out.warn(WarningCode::CutBlock, "a result was cut")?;
        self.emit(out)
    }
}
