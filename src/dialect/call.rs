//! The calls of a text: the one that is open, its markup, and its arguments on
//! their way to JSON.

use std::io;
use std::sync::Arc;

use super::value;
use crate::event::{Arguments, CallEnd, CallPart, Key, Kind, Reason, Warning};
use crate::json;
use crate::scan::Captures;
use crate::tools::{Tools, Types};

/// Where the machine says what it found.
pub(super) type Say<'s> = dyn FnMut(Kind<'_>) -> io::Result<()> + 's;

/// The calls of one text.
#[derive(Default)]
pub(super) struct Calls {
    pub(super) tools: Option<Arc<Tools>>,
    source: &'static str,
    /// How many have been begun.
    count: u64,
    /// The name and id that the opener has.
    name: Option<String>,
    id: Option<String>,
    /// The open call's text as the model wrote it, markup and all.
    pub(super) raw: String,
    open: Option<OpenCall>,
    /// Whether the markup that is open has given a call.
    has_closed: bool,
}

struct OpenCall {
    key: Key,
    name: Option<String>,
    /// Why it can't be run.
    fault: Option<Reason>,
    /// The keys of its arguments so far.
    keys: Vec<String>,
    /// The values that are open, the outermost first.
    values: Vec<Value>,
}

/// A value that is open.
struct Value {
    types: Types,
    /// Its text, unless that is handed on as it comes.
    text: String,
    is_streaming: bool,
    /// What it holds, if it holds elements: an array's, or an object's.
    elements: Option<bool>,
    count: usize,
}

impl Calls {
    pub(super) fn new(tools: Option<Arc<Tools>>) -> Self {
        Calls { tools, ..Calls::default() }
    }

    /// The opener of a call, or of several, has been read.
    pub(super) fn open_markup(
        &mut self,
        source: &'static str,
        marker: &str,
        words: &Captures,
        name: &str,
    ) {
        self.source = source;
        self.name =
            words.get("name").or(Some(name)).filter(|name| !name.is_empty()).map(str::to_owned);
        self.id = words.get("id").map(str::to_owned);
        self.raw.clear();
        self.raw.push_str(marker);
        self.has_closed = false;
    }

    /// A call begins, if none is open.
    pub(super) fn begin(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        if self.open.is_some() {
            return Ok(());
        }
        let key = Key::Text(self.count);
        self.count += 1;
        let (name, id, source) = (self.name.as_deref(), self.id.as_deref(), Some(self.source));
        say(Kind::CallPart(CallPart { key, name, id, source, ..CallPart::default() }))?;
        let name = self.name.clone();
        self.open = Some(OpenCall { key, name, fault: None, keys: Vec::new(), values: Vec::new() });
        Ok(())
    }

    /// How many have been begun.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The tool's name, once it's known.
    pub(super) fn name(&self) -> Option<&str> {
        self.open.as_ref().and_then(|call| call.name.as_deref())
    }

    /// The body has the name, or the id.
    pub(super) fn tell(
        &mut self,
        name: Option<&str>,
        id: Option<&str>,
        say: &mut Say<'_>,
    ) -> io::Result<()> {
        let Some(call) = &mut self.open else { return Ok(()) };
        if let Some(name) = name {
            call.name = Some(name.to_owned());
        }
        say(Kind::CallPart(CallPart { key: call.key, name, id, ..CallPart::default() }))
    }

    pub(super) fn arguments(&self, arguments: Arguments<'_>, say: &mut Say<'_>) -> io::Result<()> {
        match &self.open {
            Some(call) => {
                say(Kind::CallPart(CallPart { key: call.key, arguments, ..CallPart::default() }))
            }
            None => Ok(()),
        }
    }

    fn fragment(&self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
        self.arguments(Arguments::Fragment(text), say)
    }

    /// The open call can't be run.
    pub(super) fn fault(&mut self, reason: Reason, say: &mut Say<'_>) -> io::Result<()> {
        self.begin(say)?;
        if let Some(call) = &mut self.open {
            call.fault.get_or_insert(reason);
        }
        Ok(())
    }

    /// The open call is closed, if there is one.
    pub(super) fn close(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        while self.has_value() {
            self.close_value(say)?;
        }
        let Some(call) = &self.open else { return Ok(()) };
        if call.fault.is_none() && !call.keys.is_empty() {
            self.fragment("}", say)?;
        }
        let Some(call) = self.open.take() else { return Ok(()) };
        self.has_closed = true;
        let raw = std::mem::take(&mut self.raw);
        let fault = call.fault.map(|reason| (reason, raw.as_str()));
        say(Kind::CallEnd(CallEnd { key: call.key, fault }))
    }

    /// The text ended inside the markup of a call; if no call had come of it,
    /// what is there is one that can't be run.
    pub(super) fn cut(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        if self.open.is_none() && self.has_closed {
            return Ok(());
        }
        self.begin(say)?;
        let Some(call) = self.open.take() else { return Ok(()) };
        let fault = Some((Reason::Truncated, self.raw.as_str()));
        say(Kind::CallEnd(CallEnd { key: call.key, fault }))
    }

    /// Whether the open call can't be run.
    pub(super) fn is_faulty(&self) -> bool {
        self.open.as_ref().is_some_and(|call| call.fault.is_some())
    }

    pub(super) fn has_value(&self) -> bool {
        self.open.as_ref().is_some_and(|call| !call.values.is_empty())
    }

    /// Whether the open value may still turn out to hold elements: nothing but
    /// white space has come.
    pub(super) fn may_nest(&self) -> bool {
        let value = self.open.as_ref().and_then(|call| call.values.last());
        value.is_some_and(|value| value.elements.is_some() || value.text.trim_ascii().is_empty())
    }

    /// An argument begins, with the type that the model wrote beside it. With
    /// `item`, values may hold elements, and those of this key are an array's.
    pub(super) fn open_value(
        &mut self,
        key: &str,
        kind: Option<&str>,
        item: &str,
        say: &mut Say<'_>,
    ) -> io::Result<()> {
        self.begin(say)?;
        let Some(call) = &mut self.open else { return Ok(()) };
        let name = call.name.as_deref().unwrap_or_default();
        let schema = || self.tools.as_ref().and_then(|tools| tools.types(name, key));
        let is_inner = !call.values.is_empty();
        let types = match kind {
            Some("true" | "string" | "str") => Types::STRING,
            Some(_) => Types { string: false, ..Types::ANY },
            None if is_inner => Types::STRING,
            None => schema().unwrap_or(Types::STRING),
        };
        let mut text = String::new();
        let mut is_double = false;
        match call.values.last_mut() {
            Some(outer) => outer.element(key, item, &mut text),
            None => {
                is_double = call.keys.iter().any(|known| known == key);
                text.push_str(if call.keys.is_empty() { "{" } else { "," });
                json::quote_into(key, &mut text);
                text.push(':');
                call.keys.push(key.to_owned());
            }
        }
        let is_streaming = types == Types::STRING && item.is_empty();
        if is_streaming {
            text.push('"');
        }
        call.values.push(Value {
            types,
            text: String::new(),
            is_streaming,
            elements: None,
            count: 0,
        });
        if is_double {
            warn("duplicate_key", &format!("the argument {} came twice", json::quote(key)), say)?;
        }
        self.fragment(&text, say)
    }

    /// A string's text is handed on as it comes; what may be of another type
    /// waits for its end.
    pub(super) fn feed_value(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
        self.raw.push_str(text);
        let Some(value) = self.open.as_mut().and_then(|call| call.values.last_mut()) else {
            return Ok(());
        };
        if !value.is_streaming {
            value.text.push_str(text);
            return Ok(());
        }
        let mut escaped = String::with_capacity(text.len());
        json::escape_into(text, &mut escaped);
        self.fragment(&escaped, say)
    }

    pub(super) fn close_value(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        let Some(value) = self.open.as_mut().and_then(|call| call.values.pop()) else {
            return Ok(());
        };
        let text = match value.elements {
            _ if value.is_streaming => "\"".to_owned(),
            Some(true) => "]".to_owned(),
            Some(false) => "}".to_owned(),
            None => value::encode_or_empty(&value.text, value.types),
        };
        self.fragment(&text, say)
    }
}

impl Value {
    /// An element begins inside: appends what stands before its value.
    fn element(&mut self, key: &str, item: &str, out: &mut String) {
        let is_array = *self.elements.get_or_insert(key == item);
        out.push_str(match (self.count, is_array) {
            (0, true) => "[",
            (0, false) => "{",
            _ => ",",
        });
        self.count += 1;
        if !is_array {
            json::quote_into(key, out);
            out.push(':');
        }
    }
}

pub(super) fn warn(code: &str, message: &str, say: &mut Say<'_>) -> io::Result<()> {
    say(Kind::Warning(Warning { code, message, offset: None, index: None }))
}
