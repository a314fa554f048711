//! JSON objects built member by member, in one buffer for all lines: the common
//! path allocates nothing.

use std::io::{self, Write};

use crate::cut::Cut as _;
use crate::event::Output;
use crate::json::write::{Minifier, escape_into, find_escape, has_space, make_safe, quote_into};

/// Adds members to the object that is open in a line, as JSON shows them: `"key": value`, where a value
/// is `null`, an object in braces, `[]`, a list in brackets of one object or of what an expression
/// adds, or an expression that is a [`Member`]. A key may be a name, or an expression in parentheses.
/// `..expression` adds what it adds, and `{ … }` an object to a list.
macro_rules! members {
    ($line:ident;) => {{}};
    ($line:ident; ..$more:expr $(, $($rest:tt)*)?) => {{
        $more;
        $($crate::json::members!($line; $($rest)*);)?
    }};
    ($line:ident; { $($inner:tt)* } $(, $($rest:tt)*)?) => {{
        $line.open();
        $crate::json::members!($line; $($inner)*);
        $line.close();
        $($crate::json::members!($line; $($rest)*);)?
    }};
    ($line:ident; $key:tt: null $(, $($rest:tt)*)?) => {{
        $line.minified($key, "null");
        $($crate::json::members!($line; $($rest)*);)?
    }};
    ($line:ident; $key:tt: { $($inner:tt)* } $(, $($rest:tt)*)?) => {{
        $line.open_member($key);
        $crate::json::members!($line; $($inner)*);
        $line.close();
        $($crate::json::members!($line; $($rest)*);)?
    }};
    ($line:ident; $key:tt: [$($items:tt)*] $(, $($rest:tt)*)?) => {{
        $line.open_list($key);
        $crate::json::members!($line; $($items)*);
        $line.close_list();
        $($crate::json::members!($line; $($rest)*);)?
    }};
    ($line:ident; $key:tt: $value:expr $(, $($rest:tt)*)?) => {{
        $crate::json::Member::add($value, $key, $line);
        $($crate::json::members!($line; $($rest)*);)?
    }};
}

/// Returns an object with these members: see [`members`].
macro_rules! object_of {
    ($line:ident; $($members:tt)*) => {{
        let $line = &mut $crate::json::Line::default();
        $crate::json::members!($line; { $($members)* });
        $line.take()
    }};
}

pub(crate) use {members, object_of};

/// What may be the value of a member.
pub(crate) trait Member {
    /// Adds it, or nothing if it is not there.
    fn add(self, key: &str, line: &mut Line);
}

impl Member for &str {
    fn add(self, key: &str, line: &mut Line) {
        line.text(key, self);
    }
}

impl Member for u64 {
    fn add(self, key: &str, line: &mut Line) {
        line.number(key, self);
    }
}

impl Member for bool {
    fn add(self, key: &str, line: &mut Line) {
        line.flag(key, self);
    }
}

impl<M: Member> Member for Option<M> {
    fn add(self, key: &str, line: &mut Line) {
        if let Some(value) = self {
            value.add(key, line);
        }
    }
}

/// JSON without white space between its tokens.
pub(crate) struct Minified<'j>(pub(crate) &'j str);

impl Member for Minified<'_> {
    fn add(self, key: &str, line: &mut Line) {
        line.minified(key, self.0);
    }
}

/// JSON as it is.
pub(crate) struct AsIs<'j>(pub(crate) &'j str);

impl Member for AsIs<'_> {
    fn add(self, key: &str, line: &mut Line) {
        line.named(key, self.0);
    }
}

/// A value, or `null` in its place.
pub(crate) struct OrNull<M>(pub(crate) Option<M>);

impl<M: Member> Member for OrNull<M> {
    fn add(self, key: &str, line: &mut Line) {
        match self.0 {
            Some(value) => value.add(key, line),
            None => line.minified(key, "null"),
        }
    }
}

/// An object of numbers, if any of them is known.
pub(crate) struct KnownCounts<const N: usize>(pub(crate) [(&'static str, Option<u64>); N]);

impl<const N: usize> Member for KnownCounts<N> {
    fn add(self, key: &str, line: &mut Line) {
        if self.0.iter().any(|(_, number)| number.is_some()) {
            line.open_member(key);
            self.0.into_iter().for_each(|(key, number)| number.add(key, line));
            line.close();
        }
    }
}

/// A list of the objects in another line, if there is any.
pub(crate) struct ListOf<'l>(pub(crate) &'l Line);

impl Member for ListOf<'_> {
    fn add(self, key: &str, line: &mut Line) {
        if !self.0.is_empty() {
            line.list(key, self.0);
        }
    }
}

impl Member for Output<'_> {
    fn add(self, key: &str, line: &mut Line) {
        match self {
            Output::Text(text) => line.text(key, text),
            Output::Json(json) => line.json(key, json),
        }
    }
}

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

    /// Returns the text, and clears it.
    pub(crate) fn take(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.text)).into_owned()
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

    /// Adds the members, or the objects of a list, in another line.
    pub(crate) fn more(&mut self, text: impl AsRef<[u8]>) {
        self.separate();
        self.raw(text);
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

    /// Adds a member of any name that is JSON.
    pub(crate) fn named(&mut self, name: &str, json: &str) {
        self.separate();
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

    /// Adds a comma, unless what follows is the first of an object or of the line.
    fn separate(&mut self) {
        if !matches!(self.text.last(), None | Some(b'{')) {
            self.text.push(b',');
        }
    }

    fn key(&mut self, key: &str) {
        self.separate();
        self.text.push(b'"');
        self.raw(key);
        self.raw("\":");
    }
}

impl AsRef<[u8]> for Line {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}
