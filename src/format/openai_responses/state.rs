//! The state of one item, and what of it is repeated when it is whole.

use std::collections::BTreeMap;
use std::io;

use crate::event::Reasoning;
use crate::format::openai_responses::calls::{self, ItemCall, Nature};
use crate::format::openai_responses::payload::{ResponseItem, ResponsePart, Whole};
use crate::format::support::prelude::*;
use crate::format::support::said::SaidStretch;

/// The most texts of one item: parts of a message, a thought or its summary.
const MAX_TEXTS: usize = 256;

/// The state of one item.
#[derive(Debug, Default)]
pub(super) struct ItemState {
    kind: String,
    channel: Option<&'static str>,
    texts: BTreeMap<(TextKind, u64), ItemText>,
    /// The number of annotations emitted so far.
    annotations: usize,
    call: Option<ItemCall>,
    /// True if the item has come whole.
    pub(super) is_done: bool,
}

/// The progress of one text: the part that has been emitted, and its repetition.
#[derive(Debug, Default)]
struct ItemText {
    said: SaidStretch,
    is_whole: bool,
}

/// The kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TextKind {
    Answer,
    Refusal,
    Summary,
    Thought,
}

impl ItemState {
    /// An item begins. `key` is for a call.
    pub(super) fn start(item: &ResponseItem, key: Key, out: &mut EventOut) -> io::Result<Self> {
        let kind = item.kind().to_owned();
        let mut state = ItemState { kind, channel: channel(item), ..ItemState::default() };
        if let Nature::Call(executor) = Nature::of(item) {
            state.call(key).start(item, executor, out)?;
        }
        Ok(state)
    }

    /// True if it's of this type, as far as that is known.
    pub(super) fn is_of(&self, kind: &str) -> bool {
        self.kind.is_empty() || self.kind == kind
    }

    /// True if it may be this item, by its type and the id of a call.
    pub(super) fn may_be(&self, item: &ResponseItem) -> bool {
        self.is_of(item.kind()) && self.call.as_ref().is_none_or(|call| call.may_be(item))
    }

    /// Holds the item to what it was when it came whole.
    pub(super) fn compare(&mut self, frame: &Frame, whole: Whole, out: &mut EventOut) -> Done {
        if let Some(call) = &self.call {
            return call.compare(whole, out);
        }
        if !matches!(Nature::of(whole.item), Nature::Message | Nature::Thought) {
            return Ok(());
        }
        for parts in [&whole.item.summary, &whole.item.content].into_iter().flatten() {
            for (place, &json) in (0..).zip(parts) {
                self.finish_part(frame, place, json, out)?;
            }
        }
        out.flush()
    }

    /// The call that it is. If none has begun, one of this key does.
    pub(super) fn call(&mut self, key: Key) -> &mut ItemCall {
        self.call.get_or_insert(ItemCall::new(key))
    }

    /// A piece of a text. Returns true if pieces may follow, as none do once the text is whole.
    pub(super) fn piece(
        &mut self,
        at: (TextKind, u64),
        piece: &Str,
        out: &mut EventOut,
    ) -> io::Result<bool> {
        self.check_size(out)?;
        let text = self.texts.entry(at).or_default();
        if self.is_done || text.is_whole {
            out.replace(0, piece, "a piece of a text came after the text was whole")?;
            return Ok(false);
        }
        text.said.add(piece);
        emit(at, self.channel, piece, out)?;
        Ok(true)
    }

    /// Ends a response with an item of more than [`MAX_TEXTS`] texts.
    fn check_size(&self, out: &mut EventOut) -> Done {
        out.check_limit(self.texts.len(), MAX_TEXTS, "texts in one item")
    }

    /// A piece of a text has been emitted.
    pub(super) fn note(&mut self, at: (TextKind, u64), piece: &Str) {
        self.texts.entry(at).or_default().said.add(piece);
    }

    /// An annotation of a text.
    pub(super) fn annotation(&mut self, json: &str, out: &mut EventOut) -> Done {
        self.annotations += 1;
        out.block(0, "annotation", json)
    }

    /// The item is whole. `key` is for a call that has not begun.
    pub(super) fn finish(
        &mut self,
        frame: &Frame,
        whole: Whole,
        key: Key,
        out: &mut EventOut,
    ) -> Done {
        if std::mem::replace(&mut self.is_done, true) {
            return self.compare(frame, whole, out);
        }
        let item = whole.item;
        self.kind = item.kind().to_owned();
        self.channel = channel(item).or(self.channel);
        let nature = Nature::of(item);
        if let (Key::Index(number), false) = (key, matches!(nature, Nature::Call(_))) {
            out.native(0, Of::Block(number), whole.piece())?;
        }
        match nature {
            Nature::Message => self.parts(frame, item.content.as_deref(), out)?,
            Nature::Thought => self.thought(frame, item, out)?,
            Nature::Call(executor) => self.call(key).finish(whole, executor, out)?,
            Nature::Result => calls::result(item, out)?,
            Nature::Opaque | Nature::Unknown => out.block(0, item.kind(), whole.json)?,
        }
        if !Nature::is_known(item.kind()) {
            let kind = json::quote(item.kind());
            let message = format!("an item of type {kind} has no meaning here");
            out.warn(WarningCode::UnknownItem, &message)?;
        }
        out.flush()
    }

    /// The response has ended: a call whose arguments came whole ends, though
    /// its item didn't.
    pub(super) fn close(&mut self, out: &mut EventOut) -> Done {
        let Some(call) = self.call.as_ref().filter(|call| call.is_whole && !self.is_done) else {
            return Ok(());
        };
        self.is_done = true;
        out.warn(WarningCode::MissingItemDone, "a call was whole, but its item was never done")?;
        out.call_end(0, call.key)
    }

    /// Emits what a whole text has that its pieces hadn't.
    pub(super) fn text(&mut self, at: (TextKind, u64), whole: &Str, out: &mut EventOut) -> Done {
        // A repetition that is empty takes nothing back.
        if whole.is_empty() {
            return Ok(());
        }
        self.check_size(out)?;
        let text = self.texts.entry(at).or_default();
        text.is_whole = true;
        let rest = text.said.rest(whole);
        text.said = SaidStretch::of(whole);
        match rest {
            Some(rest) if rest.is_empty() => Ok(()),
            Some(rest) => emit(at, self.channel, &rest, out),
            None => out.revise(0, whole),
        }
    }

    /// Emits what a part has that its pieces hadn't. Returns true if it is text.
    pub(super) fn finish_part(
        &mut self,
        frame: &Frame,
        part: u64,
        json: RawJson<'_>,
        out: &mut EventOut,
    ) -> io::Result<bool> {
        let mut is_text = false;
        let frame = frame.part(json);
        read!(&frame, out, |fields: ResponsePart| {
            let slot = match fields.kind.text() {
                Some("summary_text") => TextKind::Summary,
                Some("reasoning_text") => TextKind::Thought,
                // What a thought holds is one, whatever its type.
                _ if self.kind == "reasoning" => TextKind::Thought,
                _ => TextKind::Answer,
            };
            let ResponsePart { text, transcript, refusal, .. } = fields;
            let texts = [(slot, text), (slot, transcript), (TextKind::Refusal, refusal)];
            texts.into_iter().try_for_each(|(slot, whole)| {
                let Some(whole) = whole else { return Ok(()) };
                is_text = true;
                self.text((slot, part), whole, out)
            })
        })?;
        Ok(is_text)
    }

    fn parts(&mut self, frame: &Frame, parts: Option<&[RawJson<'_>]>, out: &mut EventOut) -> Done {
        let parts = parts.unwrap_or_default();
        let mut emitted = std::mem::take(&mut self.annotations);
        self.move_strays(parts.len() as u64);
        for (place, &json) in (0..).zip(parts) {
            let is_new = !self.texts.contains_key(&(TextKind::Answer, place));
            let is_text = self.finish_part(frame, place, json, out)?;
            let part = json::read::<ResponsePart<'_>>(json.get()).ok();
            if !is_text {
                let kind = part.as_ref().and_then(|part| part.kind.text());
                out.block(0, kind.unwrap_or_default(), json.get())?;
            }
            // Those of a text that came in pieces were emitted with its deltas.
            if let Some(json) = part.as_ref().and_then(|part| part.logprobs).filter(|_| is_new) {
                out.raw_member(0, "logprobs", json.get())?;
            }
            for annotation in part.iter().flat_map(|part| &part.annotations).flatten() {
                match emitted.checked_sub(1) {
                    Some(left) => emitted = left,
                    None => out.block(0, "annotation", annotation.get())?,
                }
            }
        }
        Ok(())
    }

    /// Counts texts again that came under a `content_index` past the item's
    /// parts: some servers count from 1, or count other parts of the stream.
    fn move_strays(&mut self, parts: u64) {
        for slot in [TextKind::Answer, TextKind::Refusal, TextKind::Thought] {
            let is_stray = |&(of, index): &(TextKind, u64)| of == slot && index >= parts;
            let strays: Vec<_> = self.texts.keys().copied().filter(is_stray).collect();
            let free = (0..parts).map(|index| (slot, index));
            let free: Vec<_> = free.filter(|at| !self.texts.contains_key(at)).collect();
            for (stray, at) in strays.into_iter().zip(free) {
                if let Some(text) = self.texts.remove(&stray) {
                    self.texts.insert(at, text);
                }
            }
        }
    }

    /// A thought is signed if anything of it is shown, were it an empty text. What the next request
    /// returns has the id of the item.
    fn thought(&mut self, frame: &Frame, item: &ResponseItem, out: &mut EventOut) -> Done {
        self.parts(frame, item.summary.as_deref(), out)?;
        self.parts(frame, item.content.as_deref(), out)?;
        let Some(data) = item.encrypted_content.non_empty() else { return Ok(()) };
        let thought = Reasoning { item_id: item.own_id(), ..Reasoning::default() };
        let mut parts = [&item.summary, &item.content].into_iter().flatten().flatten();
        let is_shown = !self.texts.is_empty() || parts.next().is_some();
        out.thought(
            0,
            match is_shown {
                true => Reasoning { signature: Some(data), ..thought },
                false => Reasoning { redacted: Some(data), ..thought },
            },
        )
    }
}

fn emit(
    (slot, index): (TextKind, u64),
    channel: Option<&'static str>,
    piece: &Str,
    out: &mut EventOut,
) -> Done {
    match slot {
        TextKind::Answer => out.text_on(0, channel, piece),
        TextKind::Refusal => out.refusal(0, piece),
        TextKind::Summary => out.reasoning_part(0, index.saturating_add(1), piece),
        TextKind::Thought => out.reasoning(0, piece),
    }
}

/// Returns the channel of a message that isn't the answer.
fn channel(item: &ResponseItem) -> Option<&'static str> {
    let phase = item.phase.text();
    Some("commentary").filter(|commentary| phase == Some(commentary))
}
