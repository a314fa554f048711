//! The call that is open: its text, and its arguments on their way to JSON.

use std::io;

use super::value;
use crate::event::{Arguments, CallEnd, CallPart, Key, Kind, Reason};
use crate::json::{self, Scanner, Status};
use crate::tools::{Tools, Types};

/// Where the machine says what it found.
pub(super) type Say<'s> = dyn FnMut(Kind<'_>) -> io::Result<()> + 's;

pub(super) struct OpenCall {
    key: Key,
    source: &'static str,
    pub(super) name: Option<String>,
    /// The call as the model wrote it, markup and all.
    pub(super) raw: String,
    /// Why it can't be run.
    pub(super) fault: Option<Reason>,
    /// The JSON of its body, if its body is JSON.
    json: String,
    scanner: Scanner,
    /// The keys of its arguments so far.
    keys: Vec<String>,
    /// The value that is open: its types, and its text unless that streams.
    types: Types,
    value: String,
}

impl OpenCall {
    /// Opens the `count`-th call of a text.
    pub(super) fn new(
        count: u64,
        source: &'static str,
        name: Option<&str>,
        say: &mut Say<'_>,
    ) -> io::Result<Self> {
        let key = Key::Text(count);
        say(Kind::CallPart(CallPart { key, name, source: Some(source), ..CallPart::default() }))?;
        Ok(OpenCall {
            key,
            source,
            name: name.map(str::to_owned),
            raw: String::new(),
            fault: None,
            json: String::new(),
            scanner: Scanner::default(),
            keys: Vec::new(),
            types: Types::STRING,
            value: String::new(),
        })
    }

    fn part(
        &self,
        name: Option<&str>,
        arguments: Arguments<'_>,
        say: &mut Say<'_>,
    ) -> io::Result<()> {
        let source = Some(self.source);
        say(Kind::CallPart(CallPart {
            key: self.key,
            name,
            arguments,
            source,
            ..CallPart::default()
        }))
    }

    fn fragment(&self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
        self.part(None, Arguments::Fragment(text), say)
    }

    /// Takes what belongs to the JSON of the body; tells how many bytes, and
    /// whether the JSON goes on behind them.
    pub(super) fn feed_json(&mut self, text: &str) -> (usize, Status) {
        let taken = self.scanner.push(text.as_bytes());
        let json = text.get(..taken).unwrap_or_default();
        self.json.push_str(json);
        self.raw.push_str(json);
        (taken, self.scanner.status())
    }

    /// The body's JSON is whole, and is the arguments.
    pub(super) fn take_arguments(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        let json = std::mem::take(&mut self.json);
        self.fragment(&json, say)
    }

    /// The body's JSON is whole, and holds the name and the arguments.
    pub(super) fn take_envelope(
        &mut self,
        names: &[&str],
        arguments: &[&str],
        say: &mut Say<'_>,
    ) -> io::Result<()> {
        let json = std::mem::take(&mut self.json);
        let members = json::members(&json);
        let find = |keys: &[&str]| members.iter().find(|(key, _)| keys.contains(&key.as_ref()));
        let name: Option<String> =
            find(names).and_then(|(_, name)| serde_json::from_str(name.get()).ok());
        let arguments = match find(arguments) {
            Some((_, value)) => Arguments::Value(value.get()),
            None => Arguments::None,
        };
        if name.is_none() {
            self.fault = Some(Reason::NoName);
        }
        self.part(name.as_deref(), arguments, say)
    }

    /// An argument begins. A string's text is handed on as it comes; what may
    /// be of another type waits for its end.
    pub(super) fn open_value(
        &mut self,
        key: &str,
        tools: Option<&Tools>,
        say: &mut Say<'_>,
    ) -> io::Result<()> {
        let name = self.name.as_deref().unwrap_or_default();
        self.types = tools.and_then(|tools| tools.types(name, key)).unwrap_or(Types::STRING);
        if self.keys.iter().any(|known| known == key) {
            let message = format!("the argument {} came twice", json::quote(key));
            super::machine::warn("duplicate_key", &message, say)?;
        }
        let mut text = String::from(if self.keys.is_empty() { "{" } else { "," });
        json::quote_into(key, &mut text);
        text.push(':');
        if self.types == Types::STRING {
            text.push('"');
        }
        self.keys.push(key.to_owned());
        self.fragment(&text, say)
    }

    pub(super) fn feed_value(&mut self, text: &str, say: &mut Say<'_>) -> io::Result<()> {
        self.raw.push_str(text);
        if self.types != Types::STRING {
            self.value.push_str(text);
            return Ok(());
        }
        let mut escaped = String::with_capacity(text.len());
        json::escape_into(text, &mut escaped);
        self.fragment(&escaped, say)
    }

    pub(super) fn close_value(&mut self, say: &mut Say<'_>) -> io::Result<()> {
        if self.types == Types::STRING {
            return self.fragment("\"", say);
        }
        let value = std::mem::take(&mut self.value);
        self.fragment(&value::encode(&value, self.types), say)
    }

    /// The call is closed.
    pub(super) fn close(self, say: &mut Say<'_>) -> io::Result<()> {
        if self.fault.is_none() && !self.keys.is_empty() {
            self.fragment("}", say)?;
        }
        let fault = self.fault.map(|reason| (reason, self.raw.as_str()));
        say(Kind::CallEnd(CallEnd { key: self.key, fault }))
    }

    /// The text ended inside the call.
    pub(super) fn cut(self, say: &mut Say<'_>) -> io::Result<()> {
        say(Kind::CallEnd(CallEnd { key: self.key, fault: Some((Reason::Truncated, &self.raw)) }))
    }
}
