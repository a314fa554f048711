//! JSON objects built member by member, in one buffer for all lines: the common
//! path allocates nothing.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::event::Output;
use crate::json::{Minifier, escape_into, find_escape, make_safe, quote_into};
use crate::sink::Label;

/// A buffer of JSON text, one line or several. Keys are words of the schema and
/// need no escapes.
#[derive(Debug, Default)]
pub(super) struct Line {
    text: String,
    /// The type of the last line, and its beginning: the next one is mostly of the
    /// same type.
    kind: &'static str,
    head: String,
    /// A buffer for JSON without its white space.
    scratch: String,
}

impl Line {
    /// Clears the text, and keeps its buffer.
    pub(super) fn clear(&mut self) {
        self.text.clear();
    }

    /// Writes out the text, and clears it.
    pub(super) fn write_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let written = out.write_all(self.text.as_bytes());
        self.clear();
        written
    }

    /// Begins a line of this type.
    pub(super) fn begin(&mut self, kind: &'static str) {
        if self.kind != kind {
            self.kind = kind;
            self.head = format!("{{\"type\":\"{kind}\"");
        }
        self.text.push_str(&self.head);
    }

    /// Ends the line with the members that every line of the input has. The choice
    /// is one of them unless it is 0.
    pub(super) fn end(&mut self, choice: u64, label: &Label) {
        if choice != 0 {
            self.number("choice", choice);
        }
        self.maybe_text("file", label.file.as_deref().or(label.logged.as_deref()));
        self.maybe_number("t_ms", label.clock.as_ref().map(|clock| clock.milliseconds()));
        self.close();
        self.text.push('\n');
    }

    /// Replaces the line that begins at `begin`, whose first empty string is that
    /// of its text, by one line for each of these pieces of a text.
    pub(super) fn repeat<'t>(
        &mut self,
        begin: usize,
        pieces: impl Iterator<Item = &'t str>,
        text: &str,
    ) {
        let line = self.text.split_off(begin);
        let Some((head, tail)) = line.split_once("\"\"") else { return };
        let between = [tail, head, "\""].concat();
        let out = &mut self.text;
        out.push_str(head);
        out.push('"');
        // Up to `clean`, nothing needs an escape.
        let (mut begin, mut clean) = (0, 0);
        for piece in pieces {
            let end = begin + piece.len();
            if end > clean {
                let rest = text.get(begin..).unwrap_or_default();
                clean = begin + find_escape(rest).unwrap_or(rest.len());
            }
            match end <= clean {
                true => out.push_str(piece),
                false => escape_into(piece, out),
            }
            out.push('"');
            out.push_str(if end < text.len() { &between } else { tail });
            begin = end;
        }
    }

    /// Opens an object, alone or in a list.
    pub(super) fn open(&mut self) {
        if self.text.ends_with('}') {
            self.text.push(',');
        }
        self.text.push('{');
    }

    /// Closes the object that was opened last.
    pub(super) fn close(&mut self) {
        self.text.push('}');
    }

    /// Opens a member that is an object.
    pub(super) fn open_member(&mut self, key: &str) {
        self.key(key);
        self.text.push('{');
    }

    /// Adds a member that is the list of the objects in another line.
    pub(super) fn list(&mut self, key: &str, items: &Line) {
        self.key(key);
        self.text.push('[');
        self.text.push_str(&items.text);
        self.text.push(']');
    }

    /// Adds a member that is the object in another line.
    pub(super) fn object(&mut self, key: &str, object: &Line) {
        self.key(key);
        self.text.push_str(&object.text);
    }

    /// Adds a member that is a string.
    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        quote_into(text, &mut self.text);
    }

    /// Adds a member that is a string, if there is one.
    pub(super) fn maybe_text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    /// Adds a member that is a word of the schema, which needs no escapes.
    pub(super) fn word(&mut self, key: &str, word: &str) {
        self.key(key);
        self.text.push('"');
        self.text.push_str(word);
        self.text.push('"');
    }

    /// Adds a member that is a number.
    pub(super) fn number(&mut self, key: &str, number: u64) {
        self.key(key);
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{number}");
    }

    /// Adds a member that is a number, if there is one.
    pub(super) fn maybe_number(&mut self, key: &str, number: Option<u64>) {
        if let Some(number) = number {
            self.number(key, number);
        }
    }

    /// Adds a member that is true or false.
    pub(super) fn flag(&mut self, key: &str, flag: bool) {
        self.key(key);
        self.text.push_str(if flag { "true" } else { "false" });
    }

    /// Adds a member that is JSON without white space between its tokens.
    pub(super) fn minified(&mut self, key: &str, json: &str) {
        self.key(key);
        make_safe(json, &mut self.text);
    }

    /// Adds a member that is JSON, without its white space.
    pub(super) fn json(&mut self, key: &str, json: &str) {
        self.key(key);
        self.scratch.clear();
        Minifier::default().feed(json, &mut self.scratch);
        make_safe(&self.scratch, &mut self.text);
    }

    /// Adds a member that is a string or JSON.
    pub(super) fn output(&mut self, key: &str, output: Output<'_>) {
        match output {
            Output::Text(text) => self.text(key, text),
            Output::Json(json) => self.json(key, json),
        }
    }

    /// Adds a member of any name that is JSON.
    pub(super) fn named(&mut self, name: &str, json: &str) {
        if !self.text.ends_with('{') {
            self.text.push(',');
        }
        quote_into(name, &mut self.text);
        self.text.push(':');
        self.text.push_str(json);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Adds the key, and a comma before it unless the object has just been opened.
    fn key(&mut self, key: &str) {
        if self.text.as_bytes().last() != Some(&b'{') {
            self.text.push(',');
        }
        self.text.push('"');
        self.text.push_str(key);
        self.text.push_str("\":");
    }
}
