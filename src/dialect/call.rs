//! The calls of a text: the one that is open, its markup, and its arguments on
//! their way to JSON.

use std::io;
use std::sync::Arc;

use super::elements::Elements;
use super::form::{Parameters, Untyped};
use super::value;
use crate::event::{Arguments, CallEnd, CallPart, Key, Kind, Reason, Warning};
use crate::json;
use crate::scan::Captures;
use crate::tools::{Schema, Tools, Types};

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

#[derive(Default)]
struct OpenCall {
    key: Key,
    name: Option<String>,
    /// Why it can't be run.
    fault: Option<Reason>,
    /// The keys of its arguments so far.
    keys: Vec<String>,
    /// The values that are open, the outermost first.
    values: Vec<Value>,
    /// The arguments that are elements, whole.
    elements: Elements,
}

/// A value that is open.
struct Value {
    key: String,
    /// What it may be; none if it's JSON wherever it can be read as that.
    types: Option<Types>,
    /// Its text, unless that is handed on as it comes.
    text: String,
    is_streaming: bool,
    /// Whether it's an element, and what it holds, if it may hold elements.
    is_nested: bool,
    elements: Option<Elements>,
}

/// How an argument's value begins.
pub(super) struct Opener<'o> {
    pub(super) key: &'o str,
    /// The type that the model wrote beside it.
    pub(super) kind: Option<&'o str>,
    pub(super) form: Parameters,
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
        self.single_out(say)?;
        let (name, id, source) = (self.name.as_deref(), self.id.as_deref(), Some(self.source));
        say(Kind::CallPart(CallPart { key, name, id, source, ..CallPart::default() }))?;
        let name = self.name.clone();
        self.open = Some(OpenCall { key, name, ..OpenCall::default() });
        Ok(())
    }

    /// A name that is written twice with a dot, as its own namespace, means the
    /// tool, where `--tools` defines only that.
    fn single_out(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        let (Some(name), Some(tools)) = (&self.name, &self.tools) else { return Ok(()) };
        let half = name.get(..name.len() / 2).unwrap_or_default();
        let is_doubled = name.strip_prefix(half).and_then(|rest| rest.strip_prefix('.'));
        if is_doubled != Some(half) || tools.has(name) || !tools.has(half) {
            return Ok(());
        }
        let message = format!("{} was read as {}", json::quote(name), json::quote(half));
        self.name = Some(half.to_owned());
        warn("doubled_name", &message, say)
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
        if !call.elements.is_empty() {
            self.arguments(Arguments::Value(&call.elements.object()), say)?;
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

    /// Whether the open value may hold elements.
    pub(super) fn may_nest(&self) -> bool {
        let value = self.open.as_ref().and_then(|call| call.values.last());
        value.is_some_and(|value| value.elements.is_some())
    }

    /// The schema of the open call's arguments.
    pub(super) fn schema(&self) -> Option<Schema<'_>> {
        self.tools.as_ref()?.schema(self.name()?)
    }

    /// What the schema says of an argument, or of an element of the open value.
    fn declared(&self, key: &str, item: &str) -> Option<Types> {
        let mut schema = self.schema()?;
        let mut is_outermost = true;
        let open = self.open.iter().flat_map(|call| &call.values);
        for key in open.map(|value| value.key.as_str()).chain([key]) {
            let is_item = key == item && !is_outermost;
            schema = if is_item { schema.items() } else { schema.property(key) };
            is_outermost = false;
        }
        schema.types()
    }

    /// An argument begins, or an element of the open one.
    pub(super) fn open_value(&mut self, opener: &Opener<'_>, say: &mut Say<'_>) -> io::Result<()> {
        self.begin(say)?;
        let Parameters { item, untyped, .. } = opener.form;
        let (key, is_nested) = (opener.key, !item.is_empty());
        let declared = match opener.kind {
            Some("true" | "string" | "str") => Some(Types::STRING),
            Some(_) => Some(Types { string: false, ..Types::ANY }),
            None => self.declared(key, item),
        };
        let Some(call) = &mut self.open else { return Ok(()) };
        let is_double = !is_nested && call.keys.iter().any(|known| known == key);
        let types = declared.or((untyped == Untyped::Text).then_some(Types::STRING));
        let is_too_deep = call.values.len() >= json::MAX_DEPTH;
        if is_too_deep {
            call.fault.get_or_insert(Reason::Malformed);
        }
        let may_nest =
            is_nested && !is_too_deep && declared.is_none_or(|types| types.object || types.array);
        let is_streaming = types == Some(Types::STRING) && !is_nested;
        let mut text = String::new();
        if !is_nested {
            text.push_str(if call.keys.is_empty() { "{" } else { "," });
            json::quote_into(key, &mut text);
            text.push_str(if is_streaming { ":\"" } else { ":" });
            call.keys.push(key.to_owned());
        }
        call.values.push(Value {
            key: key.to_owned(),
            types,
            text: String::new(),
            is_streaming,
            is_nested,
            elements: may_nest.then(|| Elements::new(item)),
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
        let json = match &value.elements {
            _ if value.is_streaming => "\"".to_owned(),
            Some(elements) if !elements.is_empty() => elements.value(&value.text, value.types),
            _ => value::encode_or_empty(&value.text, value.types),
        };
        if !value.is_nested {
            return self.fragment(&json, say);
        }
        if let Some(call) = &mut self.open {
            let outer = call.values.last_mut().and_then(|outer| outer.elements.as_mut());
            outer.unwrap_or(&mut call.elements).push(value.key, json);
        }
        Ok(())
    }
}

pub(super) fn warn(code: &str, message: &str, say: &mut Say<'_>) -> io::Result<()> {
    say(Kind::Warning(Warning { code, message, offset: None, index: None }))
}
