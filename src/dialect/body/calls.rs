//! The calls of one text: the call that is open, its markup, and the events that
//! its body emits.

use std::sync::Arc;

use crate::cut::Cut as _;
use crate::dialect::body::elements::Elements;
use crate::event;
use crate::event::{
    Arguments, CallEnd, CallPart, Done, Event, Key, Kind, Loose, Reason, Warning, WarningCode,
    is_blank,
};
use crate::json::{self, Scanner};
use crate::scan::Captures;
use crate::tools::{Tools, Types};

/// The most markup around its arguments that a call's text may have, in bytes.
const MAX_MARKUP: usize = 64 << 10;

/// Takes what happens in a choice's text, and passes it on as events of that choice.
pub(crate) struct ChoiceEmit<'s> {
    choice: u64,
    emit: &'s mut event::Emit<'s>,
}

impl<'s> ChoiceEmit<'s> {
    pub(crate) fn new(choice: u64, emit: &'s mut event::Emit<'_>) -> Self {
        ChoiceEmit { choice, emit }
    }

    #[inline]
    pub(crate) fn feed(&mut self, kind: Kind<'_>) -> Done {
        (self.emit)(&Event::new(self.choice, kind))
    }
}

/// The calls of one text.
#[derive(Default)]
pub(crate) struct TextCalls {
    pub(crate) tools: Option<Arc<Tools>>,
    pub(super) source: &'static str,
    /// The number of calls that have begun.
    pub(super) count: u64,
    /// The name and id in the opener.
    pub(super) name: Option<String>,
    pub(super) id: Option<String>,
    /// The open call's text as the model wrote it, markup and all, up to
    /// `max_raw` bytes; 0 is no limit. It's what an invalid call is reported with,
    /// so until its end an open call is kept twice: here, and as arguments in
    /// `assemble`.
    pub(super) raw: String,
    pub(super) max_raw: usize,
    /// True if a control character came that no text has.
    has_control: bool,
    /// True if there was more text than `max_raw`.
    pub(super) is_over: bool,
    pub(super) open: Option<OpenTextCall>,
    /// The values of the open call that are open, the outermost first.
    pub(super) values: Vec<StreamedValue>,
    /// True if the markup that is open has given a call.
    pub(super) has_closed: bool,
    /// True in results that the model makes up: a call in them is withdrawn.
    pub(crate) is_forged: bool,
    /// True in the turn of another role: so is one in that.
    pub(crate) is_others: bool,
    /// Arguments of the open call that were read and not yet emitted.
    waiting: String,
}

/// The most bytes of arguments that wait.
const MAX_WAITING: usize = 16 << 10;

/// The call that is open.
#[derive(Default)]
pub(super) struct OpenTextCall {
    pub(super) key: Key,
    /// The name in its body.
    pub(super) name: Option<String>,
    /// What of it was not emitted yet.
    unsent: Unsent,
    /// The reason that it can't be run.
    pub(super) fault: Option<Reason>,
    /// True if its arguments are an object, of which members have been emitted.
    pub(super) has_keys: bool,
    /// The arguments that are elements and have ended.
    pub(super) elements: Elements,
}

/// What of the open call is emitted with the next fragment of its arguments.
#[derive(Default)]
struct Unsent {
    /// True if its beginning is: the name and the id in the opener.
    begins: bool,
    /// True if the name in its body is.
    name: bool,
    /// The id in its body.
    id: Option<String>,
}

/// A value that is open.
#[derive(Default)]
pub(super) struct StreamedValue {
    /// Its key, if it's an element.
    pub(super) key: String,
    /// The types it may have; `None` if it's JSON where it can be read as that.
    pub(super) types: Option<Types>,
    /// True if the model itself wrote that it's no string.
    pub(super) is_declared: bool,
    /// Its text, unless that is emitted as it comes.
    pub(super) text: String,
    pub(super) is_streaming: bool,
    /// Follows it as JSON, if it can be no string.
    pub(super) scanner: Option<Scanner>,
    /// True if it's all of the arguments, in YAML.
    pub(super) is_yaml: bool,
    /// True if it's an element.
    pub(super) is_nested: bool,
    /// The elements inside it, if it may hold any.
    pub(super) elements: Option<Elements>,
}

impl TextCalls {
    /// Calls whose arguments may have at most `max_args` bytes; 0 is no limit.
    pub(crate) fn new(tools: Option<Arc<Tools>>, max_args: usize) -> Self {
        let max_raw = if max_args == 0 { 0 } else { max_args.saturating_add(MAX_MARKUP) };
        TextCalls { tools, max_raw, ..TextCalls::default() }
    }

    /// Calls of another text with the same tools and limit.
    pub(crate) fn another(&self) -> Self {
        TextCalls {
            tools: self.tools.clone(),
            max_raw: self.max_raw,
            is_forged: self.is_forged,
            is_others: self.is_others,
            ..TextCalls::default()
        }
    }

    /// True if a call of so many bytes is too large.
    pub(crate) fn is_too_long(&self, length: usize) -> bool {
        self.max_raw > 0 && length > self.max_raw
    }

    /// Returns the length of the open call's markup, in bytes.
    pub(crate) fn raw_length(&self) -> usize {
        self.raw.len()
    }

    /// Takes what is after so many bytes off the open call's markup.
    pub(crate) fn split_raw(&mut self, end: usize) -> String {
        self.raw.split_off(self.raw.floor_char_boundary(end))
    }

    /// Returns the open call's markup after so many bytes.
    pub(crate) fn raw_from(&self, end: usize) -> &str {
        self.raw.after(end)
    }

    /// Takes so many bytes off the end of the open call's markup.
    pub(crate) fn drop_raw(&mut self, length: usize) {
        let end = self.raw.len().saturating_sub(length);
        self.raw.truncate(self.raw.floor_char_boundary(end));
    }

    /// Appends to the open call's text what there is room for.
    pub(crate) fn push_raw(&mut self, text: &str) {
        let room = match self.max_raw {
            0 => text.len(),
            max => max.saturating_sub(self.raw.len()),
        };
        self.is_over |= text.len() > room;
        self.has_control |= has_control(text);
        self.raw.push_str(text.before(room));
    }

    /// True if the open call is too large: no more of it is kept.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Runs `then`, which adds to the open call's text, and restores that text.
    pub(super) fn keep_raw(&mut self, then: impl FnOnce(&mut TextCalls) -> Done) -> Done {
        let raw = std::mem::take(&mut self.raw);
        then(self)?;
        self.raw = raw;
        Ok(())
    }

    /// Begins the markup of a call, or of several, with its opener.
    pub(crate) fn open_markup(
        &mut self,
        source: &'static str,
        marker: &str,
        words: &Captures<'_>,
        name: &str,
    ) {
        self.source = source;
        set(&mut self.name, words.get("name").or(Some(name)).filter(|name| !name.is_empty()));
        set(&mut self.id, words.get("id").filter(|id| !is_blank(id)));
        self.raw.clear();
        (self.is_over, self.has_control) = (false, false);
        self.push_raw(marker);
        self.has_closed = false;
    }

    /// Begins a call, if none is open.
    pub(crate) fn begin(&mut self, emit: &mut ChoiceEmit) -> Done {
        if self.open.is_some() {
            return Ok(());
        }
        let key = Key::Text(self.count);
        self.count += 1;
        self.undouble_name(emit)?;
        let unsent = Unsent { begins: true, ..Unsent::default() };
        // A marker within a name shows that the markup is damaged.
        let is_damaged = self.name.as_ref().is_some_and(|name| name.contains('<'));
        let withdrawn = (self.is_forged || self.is_others).then_some(Reason::Withdrawn);
        let fault = withdrawn.or(is_damaged.then_some(Reason::Malformed));
        self.open = Some(OpenTextCall { key, unsent, fault, ..OpenTextCall::default() });
        Ok(())
    }

    /// Takes a name once that is written as its own namespace, `name.name`, where
    /// `--tools` defines only `name`.
    fn undouble_name(&mut self, emit: &mut ChoiceEmit) -> Done {
        let (Some(name), Some(tools)) = (&self.name, &self.tools) else { return Ok(()) };
        let half = name.before(name.len() / 2);
        let is_doubled = name.strip_prefix(half).and_then(|rest| rest.strip_prefix('.'));
        if is_doubled != Some(half) || tools.has(name) || !tools.has(half) {
            return Ok(());
        }
        let message = format!("{} was read as {}", json::quote(name), json::quote(half));
        self.name = Some(half.to_owned());
        warn(WarningCode::DoubledName, &message, emit)
    }

    /// Returns the number of calls that have begun.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the open call's name, once it's known.
    pub(crate) fn name(&self) -> Option<&str> {
        self.open.as_ref().and_then(|call| call.name.as_deref().or(self.name.as_deref()))
    }

    /// Takes the name or the id, which the body has.
    pub(super) fn report(
        &mut self,
        name: Option<String>,
        id: Option<String>,
        emit: &mut ChoiceEmit,
    ) -> Done {
        // A second one, and one after arguments, comes by itself.
        let is_second = self.open.as_ref().is_some_and(|OpenTextCall { unsent, .. }| {
            let has_name = unsent.name || (unsent.begins && self.name.is_some());
            let has_id = unsent.id.is_some() || (unsent.begins && self.id.is_some());
            (name.is_some() && has_name) || (id.is_some() && has_id)
        });
        if is_second || !self.waiting.is_empty() {
            self.flush(emit)?;
        }
        let Some(call) = &mut self.open else { return Ok(()) };
        if let Some(name) = name {
            call.name = Some(name);
            call.unsent.name = true;
        }
        if let Some(id) = id.filter(|id| !is_blank(id)) {
            call.unsent.id = Some(id);
        }
        Ok(())
    }

    /// Emits whole arguments of the open call.
    pub(super) fn arguments(&mut self, json: &str, emit: &mut ChoiceEmit) -> Done {
        if !self.waiting.is_empty() {
            self.flush(emit)?;
        }
        self.send(Arguments::Value(json), emit)
    }

    /// Takes a fragment of the open call's arguments, which [`TextCalls::flush`] emits with others.
    pub(crate) fn fragment(&mut self, text: &str, emit: &mut ChoiceEmit) -> Done {
        self.write(emit, |waiting| waiting.push_str(text))
    }

    /// Takes the fragment that `write` appends.
    pub(super) fn write(&mut self, emit: &mut ChoiceEmit, write: impl FnOnce(&mut String)) -> Done {
        if self.open.is_none() {
            return Ok(());
        }
        write(&mut self.waiting);
        if self.waiting.len() < MAX_WAITING { Ok(()) } else { self.flush(emit) }
    }

    /// Emits what of the open call was not emitted yet.
    pub(crate) fn flush(&mut self, emit: &mut ChoiceEmit) -> Done {
        let Some(OpenTextCall { unsent, .. }) = &self.open else { return Ok(()) };
        if self.waiting.is_empty() {
            let is_any = unsent.begins || unsent.name || unsent.id.is_some();
            return if is_any { self.send(Arguments::None, emit) } else { Ok(()) };
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        self.send(Arguments::Fragment(&waiting), emit)?;
        waiting.clear();
        self.waiting = waiting;
        Ok(())
    }

    /// Emits arguments of the open call, with what else was not emitted yet.
    fn send(&mut self, arguments: Arguments<'_>, emit: &mut ChoiceEmit) -> Done {
        let Some(call) = &mut self.open else { return Ok(()) };
        let Unsent { begins, name, id } = std::mem::take(&mut call.unsent);
        let name = if name { &call.name } else { &None };
        let (opener, opener_id) = if begins { (&self.name, &self.id) } else { (&None, &None) };
        emit.feed(Kind::Loose(Loose::CallPart(CallPart {
            key: call.key,
            name: name.as_deref().or(opener.as_deref()),
            id: id.as_deref().or(opener_id.as_deref()),
            source: begins.then_some(self.source),
            arguments,
            ..CallPart::default()
        })))
    }

    /// Emits a warning, after the arguments before it.
    pub(crate) fn warn(&mut self, code: WarningCode, message: &str, emit: &mut ChoiceEmit) -> Done {
        self.flush(emit)?;
        warn(code, message, emit)
    }

    /// Warns of a control character in a string of JSON.
    pub(super) fn warn_control(&mut self, emit: &mut ChoiceEmit) -> Done {
        let message = "a control character in a string of JSON was read as it is";
        self.warn(WarningCode::ControlCharacter, message, emit)
    }

    /// Marks the open call as one that can't be run; begins one if none is open.
    pub(crate) fn fault(&mut self, reason: Reason, emit: &mut ChoiceEmit) -> Done {
        self.begin(emit)?;
        if let Some(call) = &mut self.open {
            call.fault.get_or_insert(reason);
        }
        Ok(())
    }

    /// Closes the open call, if there is one.
    pub(crate) fn close(&mut self, emit: &mut ChoiceEmit) -> Done {
        while self.has_value() {
            self.close_value(emit)?;
        }
        let Some(call) = &self.open else { return Ok(()) };
        if call.fault.is_none() && call.has_keys {
            self.fragment("}", emit)?;
        }
        self.flush(emit)?;
        if let Some(call) = &self.open
            && !call.elements.is_empty()
        {
            let object = call.elements.object();
            self.send(Arguments::Value(&object), emit)?;
        }
        let Some(call) = self.open.take() else { return Ok(()) };
        self.has_closed = true;
        let too_large = std::mem::take(&mut self.is_over).then_some(Reason::TooLarge);
        let damaged = std::mem::take(&mut self.has_control).then_some(Reason::Malformed);
        let fault = too_large.or(call.fault).or(damaged).map(|reason| (reason, self.raw.as_str()));
        let ended = emit.feed(Kind::Loose(Loose::CallEnd(CallEnd { key: call.key, fault })));
        self.raw.clear();
        self.raw.shrink_to(MAX_MARKUP);
        ended
    }

    /// Ends the open call where the text ended inside it. If its markup has given no
    /// call, that is an invalid call.
    pub(crate) fn cut(&mut self, emit: &mut ChoiceEmit) -> Done {
        if self.has_closed() {
            return Ok(());
        }
        self.begin(emit)?;
        self.flush(emit)?;
        self.values.clear();
        let Some(call) = self.open.take() else { return Ok(()) };
        let reason = if self.is_over { Reason::TooLarge } else { Reason::Truncated };
        let fault = Some((reason, self.raw.as_str()));
        emit.feed(Kind::Loose(Loose::CallEnd(CallEnd { key: call.key, fault })))
    }

    /// True if the markup has given a call, which is closed.
    pub(crate) fn has_closed(&self) -> bool {
        self.open.is_none() && self.has_closed
    }

    /// True if the open call can't be run.
    pub(crate) fn is_faulty(&self) -> bool {
        self.open.as_ref().is_some_and(|call| call.fault.is_some())
    }
}

/// True if a text has a control character but tabs and line ends: a terminal's, or one that was
/// damaged.
fn has_control(text: &str) -> bool {
    let may_be = |byte: u8| {
        (byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7F || byte == 0xC2
    };
    text.bytes().fold(false, |any, byte| any | may_be(byte))
        && text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
}

/// Emits a warning.
pub(crate) fn warn(code: WarningCode, message: &str, emit: &mut ChoiceEmit) -> Done {
    emit.feed(Kind::Warning(Warning::new(code, message)))
}

/// Warns of a list whose elements are not separated as they should be.
pub(super) fn warn_separator(emit: &mut ChoiceEmit) -> Done {
    let message = "the elements of a list are not separated by one comma each";
    warn(WarningCode::ArrayComma, message, emit)
}

/// Replaces a text, and keeps its buffer.
fn set(into: &mut Option<String>, text: Option<&str>) {
    match text {
        Some(text) => text.clone_into(into.get_or_insert_default()),
        None => *into = None,
    }
}
