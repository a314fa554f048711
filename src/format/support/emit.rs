//! The output of decoders: events with the offset of their frame, and text whose
//! characters are never cut in half.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use crate::event::{
    self, Arguments, Block, CallEnd, CallPart, Code, Emit, Event, Failure, Finish, FinishReason,
    Key, Kind, Loose, MAX_CHOICES, Native, Of, Output, Piece, ProviderEvent, Reason, Reasoning,
    Start, Text, Warning, WarningCode, Withdrawn,
};
use crate::format::support::finish;
use crate::format::support::misnamed;
use crate::frame::Frame;
use crate::json::{self, Str};

/// The result of emitting. Fails only if writing does.
pub type Done = event::Done;

/// Emits the events of a decoder.
pub struct EventOut<'o> {
    emit: &'o mut Emit<'o>,
    halves: &'o mut Halves,
    /// The offset of the frame in the input, in bytes.
    pub offset: u64,
    /// True if a turn is made of what comes: the provider's own JSON is emitted too.
    pub(crate) is_native: bool,
}

impl<'o> EventOut<'o> {
    /// Returns an output for the frame at `offset`.
    pub(crate) fn new(emit: &'o mut Emit<'o>, halves: &'o mut Halves, offset: u64) -> Self {
        EventOut { emit, halves, offset, is_native: false }
    }

    /// Sets whether the provider's own JSON is emitted too.
    pub(crate) fn with_native(self, is_native: bool) -> Self {
        EventOut { is_native, ..self }
    }

    /// Runs the decoder of a format inside this one: `pass_on` takes each of its
    /// events, and the closure to pass it on to.
    pub(crate) fn intercept(
        &mut self,
        mut pass_on: impl FnMut(&Event<'_>, &mut Emit<'_>) -> Done,
        decode: impl FnOnce(&mut EventOut<'_>) -> Done,
    ) -> Done {
        let EventOut { emit, halves, offset, is_native } = self;
        let mut pass = |event: &Event<'_>| pass_on(event, *emit);
        decode(&mut EventOut::new(&mut pass, halves, *offset).with_native(*is_native))
    }

    /// Runs a part of a decoder whose calls don't come to their end: those of a
    /// body without a finish reason.
    pub(crate) fn unclosed(&mut self, decode: impl FnOnce(&mut EventOut<'_>) -> Done) -> Done {
        let pass_on = |event: &Event<'_>, emit: &mut Emit<'_>| match event.kind {
            Kind::Loose(Loose::CallEnd(_) | Loose::CallHeld(_)) => Ok(()),
            _ => emit(event),
        };
        self.intercept(pass_on, decode)
    }

    /// Runs a part of a decoder after which no call that is open is safe to run: something was
    /// lost that may have been a part of it.
    pub(crate) fn distrusted(&mut self, decode: &mut dyn FnMut(&mut EventOut<'_>) -> Done) -> Done {
        let pass_on = |event: &Event<'_>, emit: &mut Emit<'_>| {
            let ends_calls = matches!(
                event.kind,
                Kind::Loose(Loose::CallEnd(_) | Loose::Released) | Kind::Finish(_)
            );
            if ends_calls {
                emit(&Kind::Loose(Loose::Lost).into())?;
            }
            emit(event)
        };
        self.intercept(pass_on, decode)?;
        self.lost()
    }

    /// Emits an event that has no method of its own.
    pub fn emit(&mut self, choice: u64, kind: Kind<'_>) -> Done {
        (self.emit)(&Event::new(choice, kind))
    }

    /// Emits a piece of the message in the provider's own JSON, if a turn is made of it.
    pub(crate) fn native(&mut self, choice: u64, of: Of, piece: Piece<'_>) -> Done {
        if !self.is_native {
            return Ok(());
        }
        self.emit(choice, Kind::Loose(Loose::Native(Native { of, piece })))
    }

    /// Emits the start of a message.
    pub fn start(&mut self, format: &str, id: Option<&str>, model: Option<&str>) -> Done {
        self.emit(0, Kind::Start(Start { format, id, model, ..Start::default() }))
    }

    /// Emits the end of a message.
    pub fn end(&mut self) -> Done {
        self.flush()?;
        self.emit(0, Kind::Loose(Loose::End))
    }

    /// Ends a message that was not complete when the next one began.
    pub fn cut(&mut self) -> Done {
        self.overlap()?;
        self.end()
    }

    /// Emits the error that the next message began in this one.
    #[cold]
    pub fn overlap(&mut self) -> Done {
        let message = "a second message began before the first had ended";
        let failure = Failure::new(Code::Malformed, message, Some(self.offset));
        self.emit(0, Kind::Error(failure))
    }

    /// Replaces the halves of characters whose other half never came.
    pub fn flush(&mut self) -> Done {
        while let Some((&(choice, slot), _)) = self.halves.0.iter().next() {
            self.flush_slot(choice, slot)?;
        }
        Ok(())
    }

    fn flush_slot(&mut self, choice: u64, slot: Slot) -> Done {
        if self.halves.0.remove(&(choice, slot)).is_none() {
            return Ok(());
        }
        self.warn(WarningCode::InvalidText, "half of a character was replaced")?;
        self.emit_text(choice, slot, "\u{FFFD}")
    }

    fn emit_text(&mut self, choice: u64, slot: Slot, text: &str) -> Done {
        if text.is_empty() { Ok(()) } else { self.emit(choice, slot.kind(text)) }
    }

    /// Emits a piece of a text.
    pub(crate) fn piece(&mut self, choice: u64, slot: Slot, piece: &Str<'_>) -> Done {
        let (text, replaced) = self.halves.join((choice, slot), piece);
        self.warn_if(replaced)?;
        self.emit_text(choice, slot, &text)
    }

    fn warn_if(&mut self, replaced: bool) -> Done {
        let message = "invalid text was replaced";
        if replaced { self.warn(WarningCode::InvalidText, message) } else { Ok(()) }
    }

    /// Emits a piece of the answer.
    pub fn text(&mut self, choice: u64, piece: &Str<'_>) -> Done {
        self.text_on(choice, None, piece)
    }

    /// Emits a piece of the answer on a channel.
    pub fn text_on(&mut self, choice: u64, channel: Option<&'static str>, piece: &Str<'_>) -> Done {
        self.piece(choice, Slot::Text(channel), piece)
    }

    /// Emits a piece of reasoning.
    pub fn reasoning(&mut self, choice: u64, piece: &Str<'_>) -> Done {
        self.piece(choice, Slot::Reasoning(None), piece)
    }

    /// Emits a piece of a part of the reasoning; `part` counts from 1.
    pub fn reasoning_part(&mut self, choice: u64, part: u64, piece: &Str<'_>) -> Done {
        self.piece(choice, Slot::Reasoning(Some(part)), piece)
    }

    /// Emits a piece of a refusal.
    pub fn refusal(&mut self, choice: u64, piece: &Str<'_>) -> Done {
        self.piece(choice, Slot::Refusal, piece)
    }

    /// Emits the signature of the reasoning so far, unless it is empty.
    pub fn signature(&mut self, choice: u64, signature: &str) -> Done {
        let thought = Reasoning { signature: Some(signature), ..Reasoning::default() };
        if signature.is_empty() { Ok(()) } else { self.thought(choice, thought) }
    }

    /// Emits reasoning that the provider has encrypted, unless it is empty.
    pub fn redacted(&mut self, choice: u64, data: &str) -> Done {
        let thought = Reasoning { redacted: Some(data), ..Reasoning::default() };
        if data.is_empty() { Ok(()) } else { self.thought(choice, thought) }
    }

    /// Emits a thought that is signed or encrypted.
    pub fn thought(&mut self, choice: u64, thought: Reasoning<'_>) -> Done {
        self.emit(choice, Kind::Reasoning(thought))
    }

    /// Emits a fragment of a call, with arguments as they are in `part`.
    pub fn call(&mut self, choice: u64, part: CallPart<'_>) -> Done {
        let misnamed = misnamed::in_fragment(&part);
        let arguments = misnamed.as_deref().map_or(part.arguments, Arguments::Misnamed);
        let native = part.native.filter(|_| self.is_native);
        self.emit(choice, Kind::Loose(Loose::CallPart(CallPart { arguments, native, ..part })))
    }

    /// Emits a fragment of a call that continues its arguments.
    pub fn call_fragment(&mut self, choice: u64, part: CallPart<'_>, arguments: &Str<'_>) -> Done {
        let (text, replaced) = self.halves.join((choice, Slot::Call(part.key)), arguments);
        self.warn_if(replaced)?;
        let arguments = match replaced {
            true => Arguments::Repaired(&text),
            false => Arguments::Fragment(&text),
        };
        self.call(choice, CallPart { arguments, ..part })
    }

    /// Emits a fragment of the input of a tool that takes no JSON.
    pub fn call_free(&mut self, choice: u64, part: CallPart<'_>, arguments: &Str<'_>) -> Done {
        let (text, replaced) = self.halves.join((choice, Slot::Call(part.key)), arguments);
        self.warn_if(replaced)?;
        self.call(choice, CallPart { arguments: Arguments::Free(&text), ..part })
    }

    /// Emits a call's whole arguments, which the provider repeats at their end.
    pub fn call_done(&mut self, choice: u64, part: CallPart<'_>, arguments: &Str<'_>) -> Done {
        let at = (choice, Slot::Call(part.key));
        self.halves.0.remove(&at);
        let (text, mut replaced) = self.halves.join(at, arguments);
        replaced |= self.halves.0.remove(&at).is_some();
        self.warn_if(replaced)?;
        self.call(choice, CallPart { arguments: Arguments::Done(&text), ..part })?;
        let (key, arguments) = (part.key, Arguments::Repaired(""));
        let part = CallPart { key, arguments, ..CallPart::default() };
        if replaced { self.call(choice, part) } else { Ok(()) }
    }

    /// Emits the end of a call, or with [`Key::None`] of all calls of a choice.
    pub fn call_end(&mut self, choice: u64, key: Key) -> Done {
        self.flush_slot(choice, Slot::Call(key))?;
        self.emit(choice, Kind::Loose(Loose::CallEnd(CallEnd { key, fault: None })))
    }

    /// Emits that a call is whole, and ends with its result or when its choice's are released.
    pub(crate) fn hold_call(&mut self, choice: u64, key: Key) -> Done {
        self.flush_slot(choice, Slot::Call(key))?;
        self.emit(choice, Kind::Loose(Loose::CallHeld(key)))
    }

    /// Emits the end of a call that must not be run: the reason, and its text as the model wrote it.
    pub fn call_fault(&mut self, choice: u64, key: Key, reason: Reason, text: &str) -> Done {
        let fault = Some((reason, text));
        self.emit(choice, Kind::Loose(Loose::CallEnd(CallEnd { key, fault })))
    }

    /// Tells that something was lost which may have been a part of any call that is open: none of
    /// them may run.
    pub fn lost(&mut self) -> Done {
        self.emit(0, Kind::Loose(Loose::Lost))
    }

    /// Takes back the calls that have come: another model writes what follows.
    pub fn withdraw(&mut self) -> Done {
        self.emit(0, Kind::Loose(Loose::Withdrawn(Withdrawn::All)))
    }

    /// Takes back the call of an id, which came with other arguments later.
    pub(crate) fn withdraw_call(&mut self, id: &str) -> Done {
        self.emit(0, Kind::Loose(Loose::Withdrawn(Withdrawn::Call(id))))
    }

    /// Emits a citation, an annotation, generated media: a JSON value.
    pub fn block(&mut self, choice: u64, name: &str, json: &str) -> Done {
        let text = &json::minify(json);
        self.emit(choice, Kind::Block(Block { name, text, attributes: None }))
    }

    /// Tells that a text came again, not as it was before with more: what was emitted stands, and
    /// this is a block.
    #[cold]
    pub(crate) fn revise(&mut self, choice: u64, text: &Str<'_>) -> Done {
        self.replace(choice, text, "a text came again, but not as it was before")
    }

    /// Tells that a text takes the place of what was emitted, and in words why.
    #[cold]
    pub(crate) fn replace(&mut self, choice: u64, text: &Str<'_>, why: &str) -> Done {
        self.warn(WarningCode::TextMismatch, why)?;
        let (name, text) = ("revision", text.as_str());
        self.emit(choice, Kind::Block(Block { name, text, attributes: None }))
    }

    /// Emits a warning of an inference or a repair.
    #[cold]
    pub fn warn(&mut self, code: WarningCode, message: &str) -> Done {
        let offset = Some(self.offset);
        self.emit(0, Kind::Warning(Warning { code, message, offset, index: None }))
    }

    /// Emits why the model stopped, in the provider's word.
    pub fn finish(&mut self, choice: u64, raw: &str, stop_sequence: Option<&str>) -> Done {
        self.finish_as(choice, finish::normalise(raw), raw, stop_sequence)
    }

    /// Emits why the model stopped, and returns true, if the record holds it.
    pub fn finish_if(&mut self, choice: u64, raw: Option<&Str<'_>>) -> io::Result<bool> {
        match raw.map(Str::as_str).filter(|raw| !finish::is_none(raw)) {
            Some(raw) => self.finish(choice, raw, None).map(|()| true),
            None => Ok(false),
        }
    }

    /// Emits why the model stopped, as more than the provider's word shows.
    pub fn finish_as(
        &mut self,
        choice: u64,
        finish_reason: FinishReason,
        raw: &str,
        stop_sequence: Option<&str>,
    ) -> Done {
        let finish = Finish { raw: Some(raw), stop_sequence, ..Finish::new(finish_reason) };
        self.emit(choice, Kind::Finish(finish))
    }

    /// Emits why the model stopped, where its format has no reason, or does not
    /// mark the end. At the end of the input it is, if nothing was cut.
    pub fn infer_finish(
        &mut self,
        choice: u64,
        finish_reason: FinishReason,
        raw: Option<&str>,
    ) -> Done {
        let finish = Finish { raw, inferred: true, ..Finish::new(finish_reason) };
        self.emit(choice, Kind::Finish(finish))
    }

    /// Emits why the model stopped, where a log keeps reasons, but not always: `raw`
    /// counts only if it is worse than the reason that would be inferred without it.
    pub(crate) fn infer_finish_of_log(&mut self, raw: Option<&str>) -> Done {
        let is_usual =
            |reason: &FinishReason| matches!(reason, FinishReason::Stop | FinishReason::ToolCalls);
        let reason = raw.map(finish::normalise).filter(|reason| !is_usual(reason));
        let raw = raw.filter(|_| reason.is_some());
        self.infer_finish(0, reason.unwrap_or(FinishReason::Stop), raw)
    }

    /// Emits a member of a record that no event of ours has, for `--raw` to print:
    /// the probabilities of tokens. One that is empty is passed over.
    pub(crate) fn raw_member(&mut self, choice: u64, name: &str, json: &str) -> io::Result<bool> {
        if matches!(json, "null" | "[]" | "{}") {
            return Ok(false);
        }
        let (event, data) = (Some(name), Output::Json(json));
        self.emit(choice, Kind::ProviderEvent(ProviderEvent { event, data })).map(|()| true)
    }

    /// Warns of the members of a delta that hold text or an object, and that nothing here `reads`.
    #[cold]
    pub(crate) fn unread(
        &mut self,
        choice: u64,
        delta: &str,
        reads: impl Fn(&str) -> bool,
    ) -> Done {
        for (key, value) in json::members(delta) {
            let value = value.get();
            let holds_text = value.trim_start_matches('[').starts_with(['"', '{']);
            if holds_text && !json::is_blank(value) && !reads(&key) {
                self.raw_member(choice, &key, value)?;
                let name = json::quote_start(&key);
                let message = format!("the member {name} of a delta is passed over");
                self.warn(WarningCode::UnknownField, &message)?;
            }
        }
        Ok(())
    }

    /// Emits a provider's event that has no meaning here, and a warning. `name` is
    /// its type; if that is empty, the frame's name is.
    #[cold]
    pub fn unknown(&mut self, frame: &Frame<'_>, name: &str) -> Done {
        let event = Some(frame.event_type).filter(|event| !event.is_empty());
        let text = frame.text();
        self.emit(0, Kind::ProviderEvent(ProviderEvent { event, data: output(&text) }))?;
        let message = match if name.is_empty() { frame.event_type } else { name } {
            "" => "events without a type are passed over".into(),
            name => format!("events of type {} are passed over", json::quote_start(name)),
        };
        self.warn(WarningCode::UnknownEvent, &message)
    }

    /// Emits the error that there is more of something than is kept, if so.
    pub(crate) fn check_limit(&mut self, count: usize, most: usize, what: &str) -> Done {
        if count <= most {
            return Ok(());
        }
        let message = format!("more than {most} {what}");
        self.emit(0, Kind::Error(Failure::new(Code::Limit, &message, None)))
    }

    /// Emits the error that there are more choices than anyone asks for, if so.
    pub(crate) fn check_choices(&mut self, count: usize) -> Done {
        self.check_limit(count, MAX_CHOICES, "choices in one message")
    }

    /// Emits the error that a frame's payload cannot be parsed.
    #[cold]
    pub fn malformed(&mut self, frame: &Frame<'_>, message: &str) -> Done {
        let text = frame.text();
        let raw = Some(Output::Text(&text));
        let failure = Failure { raw, ..Failure::new(Code::Malformed, message, Some(frame.offset)) };
        self.emit(0, Kind::Error(failure))
    }
}

/// The most texts that end in half a character.
const MAX_HALVES: usize = 1024;

/// Buffered halves of characters, each waiting for its other half.
#[derive(Debug, Default)]
pub(crate) struct Halves(BTreeMap<(u64, Slot), u16>);

/// The text that a piece continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Slot {
    /// Of the answer, or of a channel beside it.
    Text(Option<&'static str>),
    /// Of a thought, or of one of its parts.
    Reasoning(Option<u64>),
    Refusal,
    Call(Key),
}

impl Slot {
    /// The answer.
    pub(crate) const ANSWER: Slot = Slot::Text(None);
    /// A thought that has no parts.
    pub(crate) const THOUGHT: Slot = Slot::Reasoning(None);

    /// True for a thought, or a part of one.
    pub(crate) fn is_thought(self) -> bool {
        matches!(self, Slot::Reasoning(_))
    }

    /// Returns the event of a piece of it.
    fn kind<'t>(self, text: &'t str) -> Kind<'t> {
        match self {
            Slot::Text(channel) => Kind::Text(Text { text, channel }),
            Slot::Reasoning(part) => {
                Kind::Reasoning(Reasoning { text, part, ..Reasoning::default() })
            }
            Slot::Refusal => Kind::Refusal(text),
            Slot::Call(key) => Kind::Loose(Loose::CallPart(CallPart {
                key,
                arguments: Arguments::Fragment(text),
                ..CallPart::default()
            })),
        }
    }
}

impl Halves {
    /// True if no half is buffered.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text with the buffered half before it, and true if anything had
    /// to be replaced. Buffers the half at its end.
    fn join<'t>(&mut self, at: (u64, Slot), piece: &'t Str<'_>) -> (Cow<'t, str>, bool) {
        if self.0.is_empty() && piece.low().is_none() && piece.high().is_none() {
            return (Cow::Borrowed(piece.as_str()), piece.is_replaced());
        }
        let (mut text, mut replaced) = (String::new(), piece.is_replaced());
        if !piece.as_str().is_empty() {
            let units: Vec<u16> = self.0.remove(&at).into_iter().chain(piece.low()).collect();
            replaced |= String::from_utf16(&units).is_err();
            text = String::from_utf16_lossy(&units);
        }
        text.push_str(piece.body());
        match piece.high() {
            Some(high) if self.0.len() < MAX_HALVES => drop(self.0.insert(at, high)),
            Some(_) => {
                text.push(char::REPLACEMENT_CHARACTER);
                replaced = true;
            }
            None => {}
        }
        (Cow::Owned(text), replaced)
    }
}

/// Returns a payload as JSON, or as text if it is not one value: a frame may hold several records.
pub(crate) fn output(payload: &str) -> Output<'_> {
    if json::is_json(payload) { Output::Json(payload) } else { Output::Text(payload) }
}
