//! Braces with bare keys.

use crate::dialect::body::literal::{Reader, push_key};
use crate::dialect::body::value;
use crate::json;
use crate::tools::{Schema, Types};

/// `{key:value,…}` as JSON, strings between delimiters, other values typed as
/// the schema says.
pub(crate) fn braces(text: &str, delimiter: &str, schema: Option<&Schema<'_>>) -> Option<String> {
    let mut reader = Reader::new(text, delimiter);
    let mut out = String::new();
    reader.braces(&mut out, schema)?;
    reader.space();
    reader.is_over().then_some(out)
}

impl Reader<'_> {
    fn braces(&mut self, out: &mut String, schema: Option<&Schema<'_>>) -> Option<()> {
        self.deeper()?;
        let close = if self.take('(') { ')' } else { self.demand('{').map(|()| '}')? };
        out.push('{');
        while !self.take(close) {
            let key = match self.delimited() {
                Some(key) => key,
                None => self.word()?,
            };
            if !self.take(':') {
                self.demand('=')?;
            }
            push_key(&key, out);
            self.brace_value(out, schema.map(|schema| schema.property(&key)).as_ref())?;
            self.separator(close)?;
        }
        out.push('}');
        self.depth -= 1;
        Some(())
    }

    fn brace_value(&mut self, out: &mut String, schema: Option<&Schema<'_>>) -> Option<()> {
        if let Some(text) = self.delimited() {
            json::quote_into(&text, out);
            return Some(());
        }
        match self.peek()? {
            '{' => self.braces(out, schema),
            '[' => {
                let items = schema.map(Schema::items);
                self.deeper()?;
                self.demand('[')?;
                out.push('[');
                while !self.take(']') {
                    if !out.ends_with('[') {
                        out.push(',');
                    }
                    self.brace_value(out, items.as_ref())?;
                    self.separator(']')?;
                }
                out.push(']');
                self.depth -= 1;
                Some(())
            }
            _ if self.rest.starts_with(self.delimiter) => None,
            _ => {
                let end = self.rest.find([',', '}', ']', ')'])?;
                let (bare, rest) = self.rest.split_at(end);
                self.rest = rest;
                let types = schema.and_then(Schema::types).unwrap_or(Types::ANY);
                out.push_str(&value::encode(bare.trim_ascii(), types));
                Some(())
            }
        }
    }

    /// A string between delimiters.
    fn delimited(&mut self) -> Option<String> {
        self.space();
        let (text, rest) = self.rest.strip_prefix(self.delimiter)?.split_once(self.delimiter)?;
        self.rest = rest;
        Some(text.to_owned())
    }
}
