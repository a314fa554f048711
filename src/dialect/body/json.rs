//! The JSON inside of a call: an object with its parts, or an array of them.

use std::collections::BTreeSet;
use std::io;

use smallvec::SmallVec;

use crate::cut::Cut as _;
use crate::dialect::body::calls::{ChoiceEmit, TextCalls};
use crate::dialect::spec::Envelope;
use crate::event::{Done, Reason};
use crate::json::{self, JsonStatus, MAX_DEPTH, ObjectMember, ObjectReader};

/// One object that becomes a call.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    reader: ObjectReader,
    parts: CallParts,
}

/// The parts of a call that have been read from its object.
#[derive(Clone, Debug, Default)]
struct CallParts {
    envelope: Envelope,
    /// The part that the open member is.
    part: CallMember,
    /// The text of the open member's value, unless it's emitted as it comes.
    value: String,
    /// Arguments that came before the name, or that are no object.
    arguments: Option<String>,
    /// True if the open member's value is emitted as it comes.
    is_streaming: bool,
    has_arguments: bool,
    /// True if there are members that are no part of a call.
    has_others: bool,
    /// Members that may hold the call's parts, with their keys.
    inner: Vec<(String, String)>,
    /// The keys of the call's parts that the envelope names, and those of `inner`.
    keys: SmallVec<[&'static str; 4]>,
    inner_keys: BTreeSet<String>,
    /// True if one of them came twice, or the call's opener has another name: readers disagree
    /// about which counts.
    is_ambiguous: bool,
}

/// The part of a call that a member is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CallMember {
    Name,
    Id,
    Arguments,
    Inner,
    #[default]
    Other,
}

impl Element {
    pub(super) fn new(envelope: Envelope) -> Self {
        let parts = CallParts { envelope, ..CallParts::default() };
        Element { reader: ObjectReader::new(MAX_DEPTH), parts }
    }

    /// Takes what belongs to the object; returns how many bytes. Arguments are
    /// emitted as they come, once the name is known.
    pub(super) fn feed(
        &mut self,
        text: &str,
        calls: &mut TextCalls,
        emit: &mut ChoiceEmit,
    ) -> io::Result<(usize, JsonStatus)> {
        calls.begin(emit)?;
        let Element { reader, parts } = self;
        let taken = reader.push(text, &mut |member| match member {
            ObjectMember::Key(key) => {
                parts.begin(key, calls.is_over());
                Ok(())
            }
            ObjectMember::Value(piece) => parts.piece(piece, calls, emit),
            ObjectMember::End => parts.end(calls, emit),
        })?;
        calls.push_raw(text.before(taken));
        Ok((taken, reader.status()))
    }

    /// True inside a string.
    pub(super) fn is_in_string(&self) -> bool {
        self.reader.is_in_string()
    }

    /// True if it names a tool and says nothing else: its arguments are empty once the list goes on.
    pub(super) fn is_bare(&self) -> bool {
        let parts = &self.parts;
        let is_known = parts.has_arguments || parts.arguments.is_some() || parts.has_others;
        !is_known && parts.inner.is_empty()
    }

    /// Emits what had to wait for the end of the object. Of an object that holds
    /// several calls, all but the last one are closed.
    pub(super) fn finish(self, calls: &mut TextCalls, emit: &mut ChoiceEmit) -> Done {
        if self.reader.is_raw() {
            calls.warn_control(emit)?;
        }
        self.parts.finish(calls, emit)
    }
}

impl CallParts {
    /// Begins a member. Once the call `is_over` its limit, keys are no more kept than values.
    fn begin(&mut self, key: &str, is_over: bool) {
        let Envelope { name, arguments, id, inner, keyed, .. } = self.envelope;
        self.value.clear();
        let named =
            [(name, CallMember::Name), (arguments, CallMember::Arguments), (id, CallMember::Id)];
        let of_envelope = named.into_iter().find_map(|(keys, part)| {
            keys.iter().find(|known| **known == key).map(|known| (*known, part))
        });
        self.part = match of_envelope {
            Some((known, part)) => {
                match self.keys.contains(&known) {
                    true => self.is_ambiguous = true,
                    false => self.keys.push(known),
                }
                part
            }
            None if !is_over && (inner.contains(&key) || keyed) => {
                self.is_ambiguous |= !self.inner_keys.insert(key.to_owned());
                self.inner.push((key.to_owned(), String::new()));
                CallMember::Inner
            }
            None => {
                self.has_others = true;
                CallMember::Other
            }
        };
    }

    fn piece(&mut self, piece: &str, calls: &mut TextCalls, emit: &mut ChoiceEmit) -> Done {
        match self.part {
            _ if calls.is_over() => {}
            CallMember::Other => {}
            CallMember::Name | CallMember::Id => self.value.push_str(piece),
            CallMember::Inner => {
                if let Some((_, value)) = self.inner.last_mut() {
                    value.push_str(piece);
                }
            }
            CallMember::Arguments if self.is_streaming => {
                return calls.fragment(piece, emit);
            }
            CallMember::Arguments => {
                let begins = self.value.is_empty() && !self.has_arguments;
                if begins && calls.name().is_some() && piece.starts_with('{') {
                    self.is_streaming = true;
                    self.has_arguments = true;
                    return calls.fragment(piece, emit);
                }
                self.value.push_str(piece);
            }
        }
        Ok(())
    }

    fn end(&mut self, calls: &mut TextCalls, emit: &mut ChoiceEmit) -> Done {
        let text = || json::string(&self.value);
        match self.part {
            CallMember::Name => {
                let name = text();
                let is_other = |known: &str| name.as_deref().is_some_and(|name| name != known);
                if calls.name().is_some_and(is_other) {
                    self.is_ambiguous = true;
                    return Ok(());
                }
                calls.report(name, None, emit)
            }
            CallMember::Id => calls.report(None, text(), emit),
            CallMember::Arguments if !self.is_streaming => {
                self.arguments = Some(std::mem::take(&mut self.value));
                Ok(())
            }
            _ => {
                self.is_streaming = false;
                Ok(())
            }
        }
    }

    fn finish(mut self, calls: &mut TextCalls, emit: &mut ChoiceEmit) -> Done {
        if self.is_ambiguous {
            return calls.fault(Reason::Conflict, emit);
        }
        if calls.name().is_some() {
            let has_others = self.has_others || !self.inner.is_empty();
            return match self.arguments.take() {
                Some(arguments) => emit_value(&arguments, calls, emit),
                None if has_others && !self.has_arguments => calls.fault(Reason::Malformed, emit),
                None => Ok(()),
            };
        }
        let mut found = Vec::new();
        for (key, value) in &self.inner {
            self.envelope.collect(key, value, &mut found);
        }
        let Some((last, others)) = found.split_last() else {
            return calls.fault(Reason::NoName, emit);
        };
        for part in others {
            part.emit(calls, emit)?;
            calls.close(emit)?;
            calls.begin(emit)?;
        }
        last.emit(calls, emit)
    }
}

/// A call found inside a member.
struct InnerCall {
    name: String,
    id: Option<String>,
    arguments: Option<String>,
    /// True if there are members that are no part of a call.
    has_others: bool,
    /// True if a key of its parts came twice.
    is_ambiguous: bool,
}

impl InnerCall {
    fn emit(&self, calls: &mut TextCalls, emit: &mut ChoiceEmit) -> Done {
        calls.report(Some(self.name.clone()), self.id.clone(), emit)?;
        match &self.arguments {
            _ if self.is_ambiguous => calls.fault(Reason::Conflict, emit),
            Some(arguments) => emit_value(arguments, calls, emit),
            None if self.has_others => calls.fault(Reason::Malformed, emit),
            None => Ok(()),
        }
    }
}

/// Emits whole arguments. A string without text means that there are none.
fn emit_value(json: &str, calls: &mut TextCalls, emit: &mut ChoiceEmit) -> Done {
    let is_empty = json::string(json).is_some_and(|text| text.trim().is_empty());
    calls.arguments(if is_empty { "{}" } else { json }, emit)
}

impl Envelope {
    /// Collects the calls in a member's value: the one that its key names, an
    /// object's, or an array's.
    fn collect(&self, key: &str, value: &str, found: &mut Vec<InnerCall>) {
        if self.keyed {
            let (name, arguments) = (key.to_owned(), Some(value.to_owned()));
            let (has_others, is_ambiguous) = (false, false);
            found.push(InnerCall { name, id: None, arguments, has_others, is_ambiguous });
            return;
        }
        for element in json::elements(value).into_iter().flatten() {
            self.collect_object(element, found);
        }
        if value.starts_with('{') {
            self.collect_object(value, found);
        }
    }

    fn collect_object(&self, object: &str, found: &mut Vec<InnerCall>) {
        let members = json::members(object);
        let get = |keys: &[&str]| {
            members
                .iter()
                .find(|(key, _)| keys.contains(&key.as_ref()))
                .map(|(_, value)| value.get())
        };
        let text = |keys: &[&str]| get(keys).and_then(json::string);
        let id = text(self.id);
        let parts = [self.name, self.id, self.arguments].concat();
        let is_twice =
            |key: &&str| members.iter().filter(|(known, _)| known.as_ref() == *key).count() > 1;
        let is_ambiguous = parts.iter().any(is_twice);
        if let Some(name) = text(self.name) {
            // OpenAI's own parallel wrapper writes its tools with a namespace.
            let name = name.strip_prefix("functions.").unwrap_or(&name).to_owned();
            let arguments = get(self.arguments).map(str::to_owned);
            let is_part = |key: &str| self.name.contains(&key) || self.id.contains(&key);
            let has_others = members.iter().any(|(key, _)| !is_part(key));
            found.push(InnerCall { name, id, arguments, has_others, is_ambiguous });
        } else if let Some(inner) = get(self.inner).filter(|inner| inner.starts_with('{')) {
            let first = found.len();
            // Without looking further inside.
            Envelope { inner: &[], ..*self }.collect_object(inner, found);
            if let Some(found) = found.get_mut(first) {
                found.id = found.id.take().or(id);
            }
        }
    }
}
