//! Braces with bare keys.

use super::{Reader, push_key};
use crate::dialect::value;
use crate::json;
use crate::tools::{Tools, Types};

/// `{key:value,…}` as JSON, strings between delimiters, other values typed as
/// the tool says.
pub(in crate::dialect) fn braces(
    text: &str,
    delimiter: &str,
    tool: &str,
    tools: Option<&Tools>,
) -> Option<String> {
    let mut reader = Reader::new(text, delimiter);
    let mut out = String::new();
    reader.braces(&mut out, &|key| tools.and_then(|tools| tools.types(tool, key)))?;
    reader.space();
    reader.is_over().then_some(out)
}

impl Reader<'_> {
    fn braces(&mut self, out: &mut String, types: &dyn Fn(&str) -> Option<Types>) -> Option<()> {
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
            self.brace_value(out, types(&key))?;
            self.separator()?;
        }
        out.push('}');
        self.depth -= 1;
        Some(())
    }

    fn brace_value(&mut self, out: &mut String, types: Option<Types>) -> Option<()> {
        if let Some(text) = self.delimited() {
            json::quote_into(&text, out);
            return Some(());
        }
        match self.peek()? {
            '{' => self.braces(out, &|_| None),
            '[' => {
                self.deeper()?;
                self.demand('[')?;
                out.push('[');
                while !self.take(']') {
                    if !out.ends_with('[') {
                        out.push(',');
                    }
                    self.brace_value(out, None)?;
                    self.separator()?;
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
                out.push_str(&value::encode(bare.trim_ascii(), types.unwrap_or(Types::ANY)));
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
