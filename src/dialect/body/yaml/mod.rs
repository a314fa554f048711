//! YAML: a mapping of arguments, as JSON.
//!
//! Block and flow style, all scalars, and the core schema of YAML 1.2. What it
//! would take more than the text to read isn't read at all: tags, anchors,
//! aliases, merge keys, keys that are no scalars or come twice, tabs as
//! indentation, and more documents than one.

mod flow;
mod lines;
mod plain;
mod quoted;
mod types;

use std::collections::HashSet;

use crate::json;
use crate::tools::Schema;
use lines::Lines;

/// The lines of a mapping as a JSON object; nothing if they can't be read
/// exactly.
pub(super) fn object(text: &str, schema: Option<Schema<'_>>) -> Option<String> {
    // Every line has its end, and one kind of it.
    let text = text.replace("\r\n", "\n").replace('\r', "\n") + "\n";
    Reader { lines: Lines::new(&text), open: Vec::new(), out: String::new() }.read(schema)
}

struct Reader<'t, 's> {
    lines: Lines<'t>,
    open: Vec<Open<'s>>,
    out: String,
}

/// A list or map that is open.
struct Open<'s> {
    kind: Kind,
    /// The column of its entries, in block style.
    column: usize,
    schema: Option<Schema<'s>>,
    is_empty: bool,
    keys: HashSet<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    List,
    Map,
}

/// Where a value stands.
struct Slot<'s> {
    /// The column that its further lines have at least.
    least: usize,
    is_item: bool,
    schema: Option<Schema<'s>>,
}

impl<'s> Reader<'_, 's> {
    fn read(mut self, schema: Option<Schema<'s>>) -> Option<String> {
        match self.lines.indentation()? {
            None => return Some("{}".into()),
            Some(_) if self.lines.peek() == Some('{') => {
                self.flow(0, schema)?;
                self.lines.end()?;
                return self.lines.indentation()?.is_none().then_some(self.out);
            }
            Some(column) => self.begin(Kind::Map, column, schema)?,
        }
        loop {
            let slot = self.entry()?;
            if self.value(slot)? {
                continue;
            }
            let Some(column) = self.lines.indentation()? else { break };
            self.close_to(column)?;
        }
        while self.close() {}
        Some(self.out)
    }

    fn begin(&mut self, kind: Kind, column: usize, schema: Option<Schema<'s>>) -> Option<()> {
        self.out.push(if kind == Kind::Map { '{' } else { '[' });
        self.open.push(Open { kind, column, schema, is_empty: true, keys: HashSet::new() });
        (self.open.len() <= json::MAX_DEPTH).then_some(())
    }

    fn close(&mut self) -> bool {
        let closed = self.open.pop();
        self.out.extend(closed.iter().map(|open| if open.kind == Kind::Map { '}' } else { ']' }));
        closed.is_some()
    }

    /// A line begins at a column: closes what it can't belong to. A list may
    /// stand at the column of the map that it is a value of.
    fn close_to(&mut self, column: usize) -> Option<()> {
        let is_dash = self.lines.is_dash();
        while self.open.last().is_some_and(|open| {
            open.column > column || (open.column == column && open.kind == Kind::List && !is_dash)
        }) {
            self.close();
        }
        (self.open.last()?.column == column).then_some(())
    }

    /// Reads what stands before the value of an entry in block style.
    fn entry(&mut self) -> Option<Slot<'s>> {
        let open = self.open.last()?;
        let (kind, least) = (open.kind, open.column + 1);
        if kind == Kind::List {
            self.lines.take('-')?;
            return Some(Slot { least, is_item: true, schema: self.item()? });
        }
        let key = self.block_key()?;
        self.lines.blanks();
        self.lines.take(':')?;
        self.lines.rest.starts_with([' ', '\t', '\n']).then_some(())?;
        Some(Slot { least, is_item: false, schema: self.member(&key)? })
    }

    fn block_key(&mut self) -> Option<String> {
        match self.lines.peek()? {
            '"' | '\'' => self.lines.quoted(usize::MAX),
            _ => self.lines.plain(usize::MAX, false).filter(|key| types::is_key(key)),
        }
    }

    /// Begins an element of the innermost list.
    fn item(&mut self) -> Option<Option<Schema<'s>>> {
        let open = self.open.last_mut()?;
        if !std::mem::take(&mut open.is_empty) {
            self.out.push(',');
        }
        Some(open.schema.as_ref().map(Schema::items))
    }

    /// Begins a member of the innermost map.
    fn member(&mut self, key: &str) -> Option<Option<Schema<'s>>> {
        let open = self.open.last_mut()?;
        if key == "<<" || !open.keys.insert(key.to_owned()) {
            return None;
        }
        if !std::mem::take(&mut open.is_empty) {
            self.out.push(',');
        }
        json::quote_into(key, &mut self.out);
        self.out.push(':');
        Some(open.schema.as_ref().map(|schema| schema.property(key)))
    }

    /// Reads a value in block style, to its last line's end; or begins a list
    /// or a map, whose first entry is here: tells whether it did.
    fn value(&mut self, slot: Slot<'s>) -> Option<bool> {
        let Slot { least, mut is_item, schema } = slot;
        self.lines.blanks();
        if self.lines.is_over() {
            self.lines.end()?;
            let column = self.lines.indentation()?;
            let is_list = !is_item && self.lines.is_dash();
            if column.is_none_or(|column| column + usize::from(is_list) < least) {
                return self.scalar("", schema).map(|()| false);
            }
            is_item = true;
        }
        let kind = match is_item {
            true if self.lines.is_dash() => Some(Kind::List),
            true if self.lines.is_key() => Some(Kind::Map),
            _ => None,
        };
        if let Some(kind) = kind {
            self.lines.is_indented().then_some(())?;
            return self.begin(kind, self.lines.column(), schema).map(|()| true);
        }
        match self.lines.peek()? {
            '|' | '>' => {
                let text = self.lines.block(least)?;
                json::quote_into(&text, &mut self.out);
                return Some(false);
            }
            '[' | '{' => self.flow(least, schema)?,
            _ => self.line_scalar(least, false, schema)?,
        }
        self.lines.end().map(|()| false)
    }

    /// Reads a scalar that is quoted or plain.
    fn line_scalar(
        &mut self,
        least: usize,
        is_flow: bool,
        schema: Option<Schema<'s>>,
    ) -> Option<()> {
        if let Some('"' | '\'') = self.lines.peek() {
            let text = self.lines.quoted(least)?;
            json::quote_into(&text, &mut self.out);
            return Some(());
        }
        let text = self.lines.plain(least, is_flow)?;
        self.scalar(&text, schema)
    }

    /// Writes a plain scalar.
    fn scalar(&mut self, text: &str, schema: Option<Schema<'s>>) -> Option<()> {
        let types = schema.as_ref().and_then(Schema::types);
        self.out.push_str(&types::encode(text, types)?);
        Some(())
    }
}

#[cfg(test)]
mod tests;
