//! The items of a response: what is said of them as they come, and what of
//! that is repeated when they are whole.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde_json::value::RawValue;

use super::super::{EventOut, read};
use super::calls::{self, Call, Nature};
use super::payload::{Item, Part};
use super::said::Said;
use crate::event::{Arguments, CallPart, Executor, Key};
use crate::frame::Frame;
use crate::json::{self, Str};

/// The items of one response, by their place in its output. Their ids don't
/// tell them apart: Copilot changes them with each event.
#[derive(Debug, Default)]
pub(super) struct Items {
    items: BTreeMap<u64, State>,
    ids: BTreeSet<String>,
    /// The place that an event named last.
    latest: u64,
    /// How many calls there have been.
    calls: u64,
    /// Whether a missing index has been warned of.
    warned: bool,
}

/// What has come of one item.
#[derive(Debug, Default)]
struct State {
    kind: String,
    channel: Option<&'static str>,
    texts: BTreeMap<(Slot, u64), Text>,
    annotations: usize,
    call: Option<Call>,
    is_done: bool,
}

/// What has been said of one text, and whether it has been repeated whole.
#[derive(Debug, Default)]
struct Text {
    said: Said,
    is_whole: bool,
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    Answer,
    Refusal,
    Summary,
    Thought,
}

/// An item and its JSON text.
#[derive(Clone, Copy)]
struct Whole<'i> {
    item: &'i Item<'i>,
    json: &'i str,
}

impl Items {
    /// `output_item.added`.
    pub(super) fn add(
        &mut self,
        frame: &Frame<'_>,
        index: Option<u64>,
        json: &RawValue,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        read_item(frame, json, out, |item, out| {
            let index = self.place(index, true, out)?;
            self.ids.extend(item.ids().map(str::to_owned));
            let mut state = State { kind: item.kind().to_owned(), channel: channel(item), ..State::default() };
            if let Nature::Call(executor) = Nature::of(item) {
                let mut call = Call::new(self.next_key());
                call.start(item, executor, out)?;
                state.call = Some(call);
            }
            self.items.insert(index, state);
            Ok(())
        })
    }

    /// `output_item.done`.
    pub(super) fn done(
        &mut self,
        frame: &Frame<'_>,
        index: Option<u64>,
        json: &RawValue,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        read_item(frame, json, out, |item, out| {
            let index = self.place(index, false, out)?;
            self.finish(frame, index, Whole { item, json: json.get() }, out)
        })
    }

    /// The output that the response repeats at its end, or that a gateway sends
    /// nowhere else.
    pub(super) fn all(
        &mut self,
        frame: &Frame<'_>,
        output: &[&RawValue],
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        let is_repeated = !self.items.is_empty();
        for (place, json) in (0..).zip(output) {
            read_item(frame, json, out, |item, out| {
                let here = self.items.get(&place).filter(|state| state.kind == item.kind());
                let is_open = here.is_some_and(|state| !state.is_done);
                let is_known = here.is_some() || item.ids().any(|id| self.ids.contains(id));
                if is_known && !is_open {
                    return Ok(());
                }
                if is_repeated {
                    out.warn("late_item", "an item was whole only at the end of the response")?;
                }
                let next = self.items.keys().next_back().map_or(0, |last| last + 1);
                let place = if is_open { place } else { next };
                self.finish(frame, place, Whole { item, json: json.get() }, out)
            })?;
        }
        Ok(())
    }

    /// Ends the calls whose arguments came whole, but not their item.
    pub(super) fn close(&mut self, out: &mut EventOut<'_>) -> io::Result<()> {
        for state in self.items.values_mut().filter(|state| !state.is_done) {
            if let Some(call) = state.call.take_if(|call| call.is_whole) {
                out.warn("missing_item_done", "a call was whole, but its item was never done")?;
                out.call_end(0, call.key)?;
                state.is_done = true;
            }
        }
        Ok(())
    }

    /// Whether items have come, and all of them to their end.
    pub(super) fn are_done(&self) -> bool {
        !self.items.is_empty() && self.items.values().all(|state| state.is_done)
    }

    fn next_key(&mut self) -> Key {
        self.calls += 1;
        Key::Index(self.calls)
    }

    /// The place of the item that an event is of.
    fn place(&mut self, index: Option<u64>, is_new: bool, out: &mut EventOut<'_>) -> io::Result<u64> {
        if index.is_none() && !std::mem::replace(&mut self.warned, true) {
            out.warn("missing_index", "events without index were taken to be of the latest item")?;
        }
        let is_over = self.items.get(&self.latest).is_some_and(|state| is_new || state.is_done);
        let inferred = if is_over { self.latest + 1 } else { self.latest };
        self.latest = index.unwrap_or(inferred);
        Ok(self.latest)
    }

    fn state(&mut self, index: Option<u64>, out: &mut EventOut<'_>) -> io::Result<&mut State> {
        let place = self.place(index, false, out)?;
        Ok(self.items.entry(place).or_default())
    }

    /// A piece of a text.
    pub(super) fn piece(
        &mut self,
        index: Option<u64>,
        (slot, part): (Slot, Option<u64>),
        piece: &Str<'_>,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        let state = self.state(index, out)?;
        state.texts.entry((slot, part.unwrap_or(0))).or_default().said.add(piece);
        say(slot, state.channel, piece, out)
    }

    /// A text, at its end.
    pub(super) fn text(
        &mut self,
        index: Option<u64>,
        (slot, part): (Slot, Option<u64>),
        whole: &Str<'_>,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        self.state(index, out)?.text(slot, part.unwrap_or(0), whole, out)
    }

    /// A part, at its end.
    pub(super) fn part(
        &mut self,
        frame: &Frame<'_>,
        (index, part): (Option<u64>, Option<u64>),
        json: &RawValue,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        self.state(index, out)?.part(frame, part.unwrap_or(0), json, out)
    }

    /// An annotation of a text.
    pub(super) fn annotation(
        &mut self,
        index: Option<u64>,
        json: &str,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        self.state(index, out)?.annotations += 1;
        out.block(0, "annotation", json)
    }

    /// A piece of a call's arguments.
    pub(super) fn fragment(
        &mut self,
        index: Option<u64>,
        piece: &Str<'_>,
        is_free: bool,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        let part = CallPart { key: self.call(index, out)?.key, ..CallPart::default() };
        if is_free { out.call_free(0, part, piece) } else { out.call_fragment(0, part, piece) }
    }

    /// A call's arguments, at their end.
    pub(super) fn arguments(
        &mut self,
        index: Option<u64>,
        whole: &Str<'_>,
        is_free: bool,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        let call = self.call(index, out)?;
        call.is_whole = true;
        let part = CallPart { key: call.key, ..CallPart::default() };
        if is_free {
            out.call(0, CallPart { arguments: Arguments::Free(""), ..part })?;
        }
        if whole.non_empty().is_some() { out.call_done(0, part, whole) } else { Ok(()) }
    }

    fn call(&mut self, index: Option<u64>, out: &mut EventOut<'_>) -> io::Result<&mut Call> {
        let place = self.place(index, false, out)?;
        let key = self.next_key();
        Ok(self.items.entry(place).or_default().call.get_or_insert(Call::new(key)))
    }

    /// An item is whole.
    fn finish(
        &mut self,
        frame: &Frame<'_>,
        place: u64,
        whole: Whole<'_>,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        let item = whole.item;
        let is_next = self.items.get(&place).is_some_and(|state| {
            let is_same = state.kind == item.kind() || item.ids().any(|id| self.ids.contains(id));
            state.is_done && !is_same
        });
        if is_next {
            out.warn("reused_index", "a second item came under the index of another one")?;
            self.items.remove(&place);
        }
        let key = self.next_key();
        let state = self.items.entry(place).or_default();
        if state.is_done {
            return Ok(());
        }
        self.ids.extend(item.ids().map(str::to_owned));
        state.kind = item.kind().to_owned();
        state.channel = channel(item).or(state.channel);
        state.is_done = true;
        match Nature::of(item) {
            Nature::Message => state.parts(frame, item.content.as_deref(), out)?,
            Nature::Thought => state.thought(frame, item, out)?,
            Nature::Call(executor) => state.finish_call(whole, key, executor, out)?,
            Nature::Result => calls::result(item, out)?,
            Nature::Opaque | Nature::Unknown => out.block(0, item.kind(), whole.json)?,
        }
        state.texts.clear();
        if !Nature::is_known(item.kind()) {
            let message = format!("an item of type {} has no meaning here", json::quote(item.kind()));
            out.warn("unknown_item", &message)?;
        }
        out.flush()
    }
}

impl State {
    /// Says what a whole text has that its pieces hadn't.
    fn text(&mut self, slot: Slot, part: u64, whole: &Str<'_>, out: &mut EventOut<'_>) -> io::Result<()> {
        let text = self.texts.entry((slot, part)).or_default();
        if *whole == Str::default() || std::mem::replace(&mut text.is_whole, true) {
            return Ok(());
        }
        match text.said.rest(whole) {
            Some(rest) => say(slot, self.channel, &rest, out),
            None => out.warn("text_mismatch", "a text was repeated at its end, but not as its pieces had it"),
        }
    }

    fn part(&mut self, frame: &Frame<'_>, part: u64, json: &RawValue, out: &mut EventOut<'_>) -> io::Result<()> {
        let frame = Frame { data: json.get().as_bytes(), ..*frame };
        read::<Part<'static>, _>(&frame, out, |fields: Part<'_>, out: &mut EventOut<'_>| {
            let slot = match fields.kind.as_ref().map(Str::as_str) {
                Some("summary_text") => Slot::Summary,
                Some("reasoning_text") => Slot::Thought,
                // The text of a thought.
                Some("text") if self.kind == "reasoning" => Slot::Thought,
                _ => Slot::Answer,
            };
            for whole in [&fields.text, &fields.transcript].into_iter().flatten() {
                self.text(slot, part, whole, out)?;
            }
            if let Some(refusal) = &fields.refusal {
                self.text(Slot::Refusal, part, refusal, out)?;
            }
            if [&fields.text, &fields.transcript, &fields.refusal].iter().all(|text| text.is_none()) {
                let kind = fields.kind.as_ref().map(Str::as_str).unwrap_or_default();
                out.block(0, kind, json.get())?;
            }
            Ok(())
        })
    }

    fn parts(
        &mut self,
        frame: &Frame<'_>,
        parts: Option<&[&RawValue]>,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        let parts = parts.unwrap_or_default();
        (0..).zip(parts).try_for_each(|(place, json)| self.part(frame, place, json, out))?;
        let mut said = std::mem::take(&mut self.annotations);
        for json in parts {
            let part = serde_json::from_str::<Part<'_>>(json.get()).ok();
            for annotation in part.iter().flat_map(|part| &part.annotations).flatten() {
                match said.checked_sub(1) {
                    Some(left) => said = left,
                    None => out.block(0, "annotation", annotation.get())?,
                }
            }
        }
        Ok(())
    }

    /// A thought is signed if anything of it is shown.
    fn thought(&mut self, frame: &Frame<'_>, item: &Item<'_>, out: &mut EventOut<'_>) -> io::Result<()> {
        self.parts(frame, item.summary.as_deref(), out)?;
        self.parts(frame, item.content.as_deref(), out)?;
        match item.encrypted_content.as_ref().and_then(Str::non_empty) {
            Some(data) if self.texts.is_empty() => out.redacted(0, data),
            Some(signature) => out.signature(0, signature),
            None => Ok(()),
        }
    }

    fn finish_call(
        &mut self,
        whole: Whole<'_>,
        key: Key,
        executor: Option<Executor>,
        out: &mut EventOut<'_>,
    ) -> io::Result<()> {
        self.call.get_or_insert(Call::new(key)).finish(whole.item, whole.json, executor, out)
    }
}

fn say(slot: Slot, channel: Option<&'static str>, piece: &Str<'_>, out: &mut EventOut<'_>) -> io::Result<()> {
    match slot {
        Slot::Answer => out.text_on(0, channel, piece),
        Slot::Refusal => out.refusal(0, piece),
        Slot::Summary | Slot::Thought => out.reasoning(0, piece),
    }
}

/// What a message is to its user, where that isn't the answer.
fn channel(item: &Item<'_>) -> Option<&'static str> {
    let phase = item.phase.as_ref().map(Str::as_str);
    Some("commentary").filter(|commentary| phase == Some(commentary))
}

fn read_item(
    frame: &Frame<'_>,
    json: &RawValue,
    out: &mut EventOut<'_>,
    then: impl FnOnce(&Item<'_>, &mut EventOut<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let frame = Frame { data: json.get().as_bytes(), ..*frame };
    read::<Item<'static>, _>(&frame, out, |item: Item<'_>, out: &mut EventOut<'_>| then(&item, out))
}
