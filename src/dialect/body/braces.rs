//! Braces with bare keys, and strings between delimiters, as JSON.

use std::borrow::Cow;

use crate::dialect::body::cursor::{Cursor, push_comma, push_key};
use crate::dialect::body::{python, value};
use crate::json;
use crate::tools::{Schema, Types};

/// Returns `{key:value,…}` as JSON. Strings stand between delimiters; other values
/// have the types of the schema. What can't be read without guessing is refused.
pub(super) fn object(text: &str, delimiter: &str, schema: Option<&Schema<'_>>) -> Option<String> {
    let mut cursor = Cursor::new(text);
    let mut braces = Braces { delimiter, out: String::new() };
    braces.object(&mut cursor, schema)?;
    cursor.finish(braces.out)
}

struct Braces<'d> {
    delimiter: &'d str,
    out: String,
}

impl Braces<'_> {
    fn object(&mut self, cursor: &mut Cursor<'_>, schema: Option<&Schema<'_>>) -> Option<()> {
        let close = match cursor.peek()? {
            '(' => ')',
            '{' => '}',
            _ => return None,
        };
        self.out.push('{');
        cursor.elements(close, |cursor| {
            let key = match self.string(cursor) {
                Some(key) => Cow::Borrowed(key),
                None if matches!(cursor.peek(), Some('"' | '\'')) => python::string(cursor)?.into(),
                None => cursor.word()?.into(),
            };
            if !cursor.take(':') {
                cursor.expect('=')?;
            }
            push_key(&key, &mut self.out);
            self.value(cursor, schema.map(|schema| schema.property(&key)).as_ref())
        })?;
        self.out.push('}');
        Some(())
    }

    fn value(&mut self, cursor: &mut Cursor<'_>, schema: Option<&Schema<'_>>) -> Option<()> {
        if let Some(text) = self.string(cursor) {
            json::quote_into(text, &mut self.out);
            return Some(());
        }
        match cursor.peek()? {
            '{' => self.object(cursor, schema),
            '[' => {
                let items = schema.map(Schema::items);
                self.out.push('[');
                cursor.elements(']', |cursor| {
                    push_comma(&mut self.out);
                    self.value(cursor, items.as_ref())
                })?;
                self.out.push(']');
                Some(())
            }
            _ if cursor.rest.starts_with(self.delimiter) => None,
            '"' | '\'' => {
                json::quote_into(&python::string(cursor)?, &mut self.out);
                Some(())
            }
            _ => {
                let bare = cursor.take_until(|c| ",}])".contains(c));
                let types = schema.and_then(Schema::types).unwrap_or(Types::ANY);
                self.out.push_str(&value::encode(bare.trim_ascii(), types));
                Some(())
            }
        }
    }

    /// Reads a string between delimiters.
    fn string<'t>(&self, cursor: &mut Cursor<'t>) -> Option<&'t str> {
        cursor.space();
        let (text, rest) = cursor.rest.strip_prefix(self.delimiter)?.split_once(self.delimiter)?;
        cursor.rest = rest;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_braces() {
        let check = |text: &str, expected: &str| {
            assert_eq!(object(text, "<e>", None).as_deref(), Some(expected), "{text}");
        };
        check("{}", "{}");
        check("{a:<e>x \"y\" {z}<e>,b:3,c:true}", r#"{"a":"x \"y\" {z}","b":3,"c":true}"#);
        check("{o:{k:[1,<e>s<e>]},n:None}", r#"{"o":{"k":[1,"s"]},"n":null}"#);
        check("(a=<e>x<e>)", r#"{"a":"x"}"#);
        check(r#"{q:"D \"u\"",'k':'v'}"#, r#"{"q":"D \"u\"","k":"v"}"#);
        assert_eq!(object("{a:<e>x}", "<e>", None), None);
        assert_eq!(object("{a:\"x}", "<e>", None), None);
    }
}
