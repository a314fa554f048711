//! JSON objects built member by member, in one buffer for all lines: the common
//! path allocates nothing.

use std::io::{self, Write};

use crate::cut::Cut as _;
use crate::event::Output;
use crate::json::write::{Minifier, escape_into, find_escape, has_space, make_safe, quote_into};

/// A buffer of JSON text, one line or several. Keys are words of the schema and
/// need no escapes.
#[derive(Debug, Default)]
pub struct Line {
    text: Vec<u8>,
    /// A buffer for JSON without its white space.
    scratch: String,
}

impl Line {
    /// Clears the text, and keeps its buffer.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
    }

    /// Writes out the text, and clears it.
    pub(crate) fn write_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let written = out.write_all(&self.text);
        self.clear();
        written
    }

    /// Begins a line of this type.
    pub(crate) fn begin(&mut self, kind: &'static str) {
        self.raw("{\"type\":\"");
        self.raw(kind);
        self.text.push(b'"');
    }

    /// Replaces the line that begins at `begin`, whose first empty string is that
    /// of its text, by one line for each of these pieces of a text.
    pub(crate) fn repeat<'t>(
        &mut self,
        begin: usize,
        pieces: impl Iterator<Item = &'t str>,
        text: &str,
    ) {
        let line = self.text.split_off(begin);
        let is_hole = |pair: &[u8]| pair == b"\"\"";
        let Some(hole) = line.windows(2).position(is_hole) else { return };
        let (head, tail) = (line.before(hole + 1), line.after(hole + 1));
        let between = [tail, head].concat();
        let out = &mut self.text;
        out.extend_from_slice(head);
        // Up to `clean`, nothing needs an escape.
        let (mut begin, mut clean) = (0, 0);
        for piece in pieces {
            let end = begin + piece.len();
            if end > clean {
                let rest = text.after(begin);
                clean = begin + find_escape(rest).unwrap_or(rest.len());
            }
            match end <= clean {
                true => out.extend_from_slice(piece.as_bytes()),
                false => escape_into(piece, out),
            }
            out.extend_from_slice(if end < text.len() { &between } else { tail });
            begin = end;
        }
    }

    /// Opens an object, alone or in a list.
    pub(crate) fn open(&mut self) {
        if self.text.ends_with(b"}") {
            self.text.push(b',');
        }
        self.text.push(b'{');
    }

    /// Closes the object that was opened last.
    pub(crate) fn close(&mut self) {
        self.text.push(b'}');
    }

    /// Opens a member that is an object.
    pub(crate) fn open_member(&mut self, key: &str) {
        self.key(key);
        self.text.push(b'{');
    }

    /// Opens a member that is a list.
    pub(crate) fn open_list(&mut self, key: &str) {
        self.key(key);
        self.text.push(b'[');
    }

    /// Closes the list that was opened last.
    pub(crate) fn close_list(&mut self) {
        self.text.push(b']');
    }

    /// Adds text, or that of another line, as it is.
    pub(crate) fn raw(&mut self, text: impl AsRef<[u8]>) {
        self.text.extend_from_slice(text.as_ref());
    }

    /// Adds a member that is the list of the objects in another line.
    pub(crate) fn list(&mut self, key: &str, items: &Line) {
        self.key(key);
        self.text.push(b'[');
        self.raw(items);
        self.text.push(b']');
    }

    /// Adds a member that is the object in another line.
    pub(crate) fn object(&mut self, key: &str, object: &Line) {
        self.key(key);
        self.raw(object);
    }

    /// Adds a member that is a string.
    pub(crate) fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        quote_into(text, &mut self.text);
    }

    /// Adds a member that is a string, if there is one.
    pub(crate) fn maybe_text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    /// Adds a string that is no member.
    pub(crate) fn value(&mut self, text: &str) {
        quote_into(text, &mut self.text);
    }

    /// Adds a member that is a string, or null if it is empty.
    pub(crate) fn nullable(&mut self, key: &str, text: &str) {
        match text {
            "" => self.minified(key, "null"),
            text => self.text(key, text),
        }
    }

    /// Adds a member that is an object of numbers, if any of them is known.
    pub(crate) fn maybe_object(&mut self, key: &str, numbers: &[(&str, Option<u64>)]) {
        if numbers.iter().all(|(_, number)| number.is_none()) {
            return;
        }
        self.open_member(key);
        for (key, number) in numbers {
            self.maybe_number(key, *number);
        }
        self.close();
    }

    /// Adds a member that is a word of the schema, which needs no escapes.
    pub(crate) fn word(&mut self, key: &str, word: &str) {
        self.key(key);
        self.text.push(b'"');
        self.raw(word);
        self.text.push(b'"');
    }

    /// Adds a member that is a number.
    pub(crate) fn number(&mut self, key: &str, number: u64) {
        self.key(key);
        self.raw(itoa::Buffer::new().format(number));
    }

    /// Adds a member that is a number, if there is one.
    pub(crate) fn maybe_number(&mut self, key: &str, number: Option<u64>) {
        if let Some(number) = number {
            self.number(key, number);
        }
    }

    /// Adds a member that is true or false.
    pub(crate) fn flag(&mut self, key: &str, flag: bool) {
        self.key(key);
        self.raw(if flag { "true" } else { "false" });
    }

    /// Adds a member that is JSON without white space between its tokens.
    pub(crate) fn minified(&mut self, key: &str, json: &str) {
        self.key(key);
        make_safe(json, &mut self.text);
    }

    /// Adds a member that is JSON, without its white space.
    pub(crate) fn json(&mut self, key: &str, json: &str) {
        if !has_space(json) {
            return self.minified(key, json);
        }
        self.key(key);
        self.scratch.clear();
        Minifier::default().feed(json, &mut self.scratch);
        make_safe(&self.scratch, &mut self.text);
    }

    /// Adds a member that is a string or JSON.
    pub(crate) fn output(&mut self, key: &str, output: Output<'_>) {
        match output {
            Output::Text(text) => self.text(key, text),
            Output::Json(json) => self.json(key, json),
        }
    }

    /// Adds a member of any name that is JSON.
    pub(crate) fn named(&mut self, name: &str, json: &str) {
        if !self.text.ends_with(b"{") {
            self.text.push(b',');
        }
        quote_into(name, &mut self.text);
        self.text.push(b':');
        self.raw(json);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Adds the key, and a comma before it unless the object has just been opened.
    fn key(&mut self, key: &str) {
        self.raw(if self.text.ends_with(b"{") { "\"" } else { ",\"" });
        self.raw(key);
        self.raw("\":");
    }
}

impl AsRef<[u8]> for Line {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}
