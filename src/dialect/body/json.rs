//! The JSON inside of a call: an object with its parts, or an array of them.

use std::io;

use crate::dialect::body::calls::{Calls, Emit};
use crate::dialect::spec::Envelope;
use crate::event::{Arguments, Reason};
use crate::json;
use crate::json::{MAX_DEPTH, Member, ObjectReader, Status};

/// One object on its way to a call.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    envelope: Envelope,
    reader: ObjectReader,
    part: Part,
    /// The value of the member that is open, unless it's handed on.
    value: String,
    /// Arguments that came before the name, or are no object.
    arguments: Option<String>,
    is_streaming: bool,
    has_arguments: bool,
    /// Members that may hold the call's parts, with their keys.
    inner: Vec<(String, String)>,
}

/// What a member is to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Name,
    Id,
    Arguments,
    Inner,
    Other,
}

impl Element {
    pub(crate) fn new(envelope: Envelope) -> Self {
        Element {
            envelope,
            reader: ObjectReader::new(MAX_DEPTH),
            part: Part::Other,
            value: String::new(),
            arguments: None,
            is_streaming: false,
            has_arguments: false,
            inner: Vec::new(),
        }
    }

    /// Takes what belongs to the object. Arguments are handed on as they come,
    /// once the name is known.
    pub(crate) fn feed(
        &mut self,
        text: &str,
        calls: &mut Calls,
        emit: &mut Emit<'_>,
    ) -> io::Result<(usize, Status)> {
        calls.begin(emit)?;
        let mut reader = self.reader.clone();
        let taken = reader.push(text, &mut |member| match member {
            Member::Key(key) => {
                self.key(key);
                Ok(())
            }
            Member::Value(piece) => self.piece(piece, calls, emit),
            Member::End => self.end(calls, emit),
        })?;
        self.reader = reader;
        calls.push_raw(text.get(..taken).unwrap_or_default());
        Ok((taken, self.reader.status()))
    }

    fn key(&mut self, key: &str) {
        let Envelope { name, arguments, id, inner, keyed, .. } = self.envelope;
        self.value.clear();
        self.part = match key {
            _ if name.contains(&key) => Part::Name,
            _ if arguments.contains(&key) => Part::Arguments,
            _ if id.contains(&key) => Part::Id,
            _ if inner.contains(&key) || keyed => {
                self.inner.push((key.to_owned(), String::new()));
                Part::Inner
            }
            _ => Part::Other,
        };
    }

    fn piece(&mut self, piece: &str, calls: &Calls, emit: &mut Emit<'_>) -> io::Result<()> {
        match self.part {
            _ if calls.is_over() => {}
            Part::Other => {}
            Part::Name | Part::Id => self.value.push_str(piece),
            Part::Inner => {
                if let Some((_, value)) = self.inner.last_mut() {
                    value.push_str(piece);
                }
            }
            Part::Arguments if self.is_streaming => {
                return calls.arguments(Arguments::Fragment(piece), emit);
            }
            Part::Arguments => {
                let begins = self.value.is_empty() && !self.has_arguments;
                if begins && calls.name().is_some() && piece.starts_with('{') {
                    self.is_streaming = true;
                    self.has_arguments = true;
                    return calls.arguments(Arguments::Fragment(piece), emit);
                }
                self.value.push_str(piece);
            }
        }
        Ok(())
    }

    fn end(&mut self, calls: &mut Calls, emit: &mut Emit<'_>) -> io::Result<()> {
        let text = || serde_json::from_str::<String>(&self.value).ok();
        match self.part {
            Part::Name => calls.report(text().as_deref(), None, emit),
            Part::Id => calls.report(None, text().as_deref(), emit),
            Part::Arguments if !self.is_streaming => {
                self.arguments = Some(std::mem::take(&mut self.value));
                Ok(())
            }
            _ => {
                self.is_streaming = false;
                Ok(())
            }
        }
    }

    /// The object is whole: says what waited for that. Of an object that holds
    /// several calls, all but the last one are closed.
    pub(crate) fn finish(mut self, calls: &mut Calls, emit: &mut Emit<'_>) -> io::Result<()> {
        if calls.name().is_some() {
            return match self.arguments.take() {
                Some(arguments) => calls.arguments(Arguments::Value(&arguments), emit),
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

/// A call's parts, found inside a member.
struct Found {
    name: String,
    id: Option<String>,
    arguments: Option<String>,
}

impl Found {
    fn emit(&self, calls: &mut Calls, emit: &mut Emit<'_>) -> io::Result<()> {
        calls.report(Some(&self.name), self.id.as_deref(), emit)?;
        match &self.arguments {
            Some(arguments) => calls.arguments(Arguments::Value(arguments), emit),
            None => Ok(()),
        }
    }
}

impl Envelope {
    /// The calls in a member's value: its key's own, an object's or an array's.
    fn collect(&self, key: &str, value: &str, found: &mut Vec<Found>) {
        if self.keyed {
            found.push(Found { name: key.to_owned(), id: None, arguments: Some(value.to_owned()) });
            return;
        }
        let elements: Vec<&serde_json::value::RawValue> =
            serde_json::from_str(value).unwrap_or_default();
        for element in elements {
            self.collect_object(element.get(), found);
        }
        if value.starts_with('{') {
            self.collect_object(value, found);
        }
    }

    fn collect_object(&self, object: &str, found: &mut Vec<Found>) {
        let members = json::members(object);
        let get = |keys: &[&str]| {
            members
                .iter()
                .find(|(key, _)| keys.contains(&key.as_ref()))
                .map(|(_, value)| value.get())
        };
        let text =
            |keys: &[&str]| get(keys).and_then(|value| serde_json::from_str::<String>(value).ok());
        let id = text(self.id);
        if let Some(name) = text(self.name) {
            // OpenAI's own parallel wrapper writes its tools with a namespace.
            let name = name.strip_prefix("functions.").unwrap_or(&name).to_owned();
            found.push(Found { name, id, arguments: get(self.arguments).map(str::to_owned) });
        } else if let Some(inner) = get(self.inner).filter(|inner| inner.starts_with('{')) {
            let first = found.len();
            self.collect_flat(inner, found);
            if let Some(found) = found.get_mut(first) {
                found.id = found.id.take().or(id);
            }
        }
    }

    /// The parts of one object, without looking further inside.
    fn collect_flat(&self, object: &str, found: &mut Vec<Found>) {
        Envelope { inner: &[], ..*self }.collect_object(object, found);
    }
}
