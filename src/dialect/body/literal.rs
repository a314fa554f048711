//! Values that are not written as JSON: Python's literals, and braces with bare
//! keys. Both become JSON; what can't be read without guessing is refused.

use crate::dialect::body::value;
use crate::json;

/// A call in Python's syntax, `name(key=value, …)`, as its name and the JSON of
/// its arguments. `print(…)` around it is taken off, and so is `.call` behind
/// the name. Arguments without a name are refused.
pub(crate) fn python_call(text: &str) -> Option<(String, String)> {
    let (name, inside) = text.trim_ascii().split_once('(')?;
    let inside = inside.strip_suffix(')')?;
    if name.trim_ascii() == "print" && inside.contains('(') {
        return python_call(inside);
    }
    let mut reader = Reader::new(inside, "");
    let mut out = String::from("{");
    loop {
        reader.space();
        let Some(key) = reader.word() else { break };
        reader.demand('=')?;
        push_key(&key, &mut out);
        reader.python(&mut out)?;
        if !reader.separator(None)? {
            break;
        }
    }
    reader.space();
    out.push('}');
    let name = name.trim_ascii();
    let name = name.strip_suffix(".call").unwrap_or(name);
    reader.is_over().then(|| (name.to_owned(), out))
}

/// A Python literal as JSON.
pub(crate) fn python_value(text: &str) -> Option<String> {
    let mut reader = Reader::new(text, "");
    let mut out = String::new();
    reader.python(&mut out)?;
    reader.space();
    reader.is_over().then_some(out)
}

pub(crate) fn push_key(key: &str, out: &mut String) {
    if !out.ends_with('{') {
        out.push(',');
    }
    json::quote_into(key, out);
    out.push(':');
}

pub(crate) struct Reader<'t> {
    pub(crate) rest: &'t str,
    pub(crate) delimiter: &'t str,
    pub(crate) depth: usize,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t str, delimiter: &'t str) -> Self {
        Reader { rest: text, delimiter, depth: 0 }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    pub(crate) fn peek(&mut self) -> Option<char> {
        self.space();
        self.rest.chars().next()
    }

    pub(crate) fn take(&mut self, c: char) -> bool {
        self.space();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(crate) fn demand(&mut self, c: char) -> Option<()> {
        self.take(c).then_some(())
    }

    /// A comma: whether there is one. What is neither a comma nor what closes the
    /// elements, or the end of the text, is refused.
    pub(crate) fn separator(&mut self, close: impl Into<Option<char>>) -> Option<bool> {
        if self.take(',') {
            return Some(true);
        }
        (self.peek() == close.into()).then_some(false)
    }

    /// A bare word: a key.
    pub(crate) fn word(&mut self) -> Option<String> {
        self.space();
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        (!word.is_empty()).then(|| word.to_owned())
    }

    pub(crate) fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= json::MAX_DEPTH).then_some(())
    }

    fn python(&mut self, out: &mut String) -> Option<()> {
        match self.peek()? {
            '\'' | '"' => self.python_strings(out),
            '{' => self.python_dict(out),
            open @ ('[' | '(') => {
                let close = if open == '[' { ']' } else { ')' };
                self.deeper()?;
                self.demand(open)?;
                out.push('[');
                while !self.take(close) {
                    if !out.ends_with('[') {
                        out.push(',');
                    }
                    self.python(out)?;
                    self.separator(close)?;
                }
                out.push(']');
                self.depth -= 1;
                Some(())
            }
            _ => self.python_scalar(out),
        }
    }

    /// A dict, or a set as an array.
    fn python_dict(&mut self, out: &mut String) -> Option<()> {
        self.deeper()?;
        self.demand('{')?;
        let mut inner = String::from("{");
        let mut is_set = false;
        while !self.take('}') {
            let mut key = String::new();
            self.python(&mut key)?;
            if self.take(':') {
                if inner.len() > 1 {
                    inner.push(',');
                }
                inner.push_str(&if key.starts_with('"') { key } else { json::quote(&key) });
                inner.push(':');
                self.python(&mut inner)?;
            } else {
                is_set = true;
                inner.push_str(if inner.len() > 1 { "," } else { "" });
                inner.push_str(&key);
            }
            self.separator('}')?;
        }
        self.depth -= 1;
        out.push_str(if is_set { "[" } else { "{" });
        out.push_str(inner.strip_prefix('{')?);
        out.push(if is_set { ']' } else { '}' });
        Some(())
    }

    /// Strings behind each other are one string.
    fn python_strings(&mut self, out: &mut String) -> Option<()> {
        let mut text = String::new();
        while let Some(quote @ ('\'' | '"')) = self.peek() {
            self.python_string(quote, &mut text)?;
        }
        json::quote_into(&text, out);
        Some(())
    }

    fn python_string(&mut self, quote: char, text: &mut String) -> Option<()> {
        self.demand(quote)?;
        loop {
            let c = self.rest.chars().next()?;
            self.rest = self.rest.get(c.len_utf8()..)?;
            match c {
                _ if c == quote => return Some(()),
                '\\' => self.escape(text)?,
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Option<()> {
        let c = self.rest.chars().next()?;
        self.rest = self.rest.get(c.len_utf8()..)?;
        match c {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{C}'),
            '0' => text.push('\0'),
            '\n' => {}
            '\\' | '\'' | '"' | '/' => text.push(c),
            'x' => text.push(self.hex(2)?),
            'u' => text.push(self.hex(4)?),
            'U' => text.push(self.hex(8)?),
            // Python keeps the backslash of what is no escape.
            c => text.extend(['\\', c]),
        }
        Some(())
    }

    fn hex(&mut self, digits: usize) -> Option<char> {
        let (code, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        char::from_u32(u32::from_str_radix(code, 16).ok()?)
    }

    fn python_scalar(&mut self, out: &mut String) -> Option<()> {
        let end = self.rest.find(|c: char| c.is_ascii_whitespace() || ",:)]}".contains(c));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        out.push_str(match word {
            "True" | "true" => "true",
            "False" | "false" => "false",
            "None" | "null" => "null",
            _ => {
                // Days and months come as `07`.
                let is_digits = word.bytes().all(|byte| byte.is_ascii_digit());
                let bare = word.trim_start_matches('0');
                let word = if is_digits && !bare.is_empty() { bare } else { word };
                return value::number(&word.replace('_', "")).map(|number| out.push_str(&number));
            }
        });
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::body::braces::braces;

    #[track_caller]
    fn check_python(text: &str, expected: Option<(&str, &str)>) {
        let got = python_call(text);
        let got = got.as_ref().map(|(name, json)| (name.as_str(), json.as_str()));
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn python_calls() {
        check_python("f()", Some(("f", "{}")));
        check_python(
            "f(a='x\\'y', b = -1.5, c=True, d=None)",
            Some(("f", r#"{"a":"x'y","b":-1.5,"c":true,"d":null}"#)),
        );
        check_python(
            "a.b(x=[1, (2, 3)], y={'k': {'l': ''}})",
            Some(("a.b", r#"{"x":[1,[2,3]],"y":{"k":{"l":""}}}"#)),
        );
        check_python("f(a='x' \"y\", b={1, 2})", Some(("f", r#"{"a":"xy","b":[1,2]}"#)));
        check_python("print(f(a=1_000))", Some(("f", r#"{"a":1000}"#)));
        check_python(
            "web_search.call(query=\"a\\nb\")",
            Some(("web_search", r#"{"query":"a\nb"}"#)),
        );
    }

    #[test]
    fn what_would_be_a_guess_is_refused() {
        check_python("f(1)", None);
        check_python("f(a=b)", None);
        check_python("f(a=1 b=2)", None);
        check_python("f(a='x)", None);
        check_python("f(a=1+1)", None);
    }

    #[test]
    fn values_in_braces() {
        let check = |text: &str, expected: &str| {
            assert_eq!(braces(text, "<e>", None).as_deref(), Some(expected), "{text}");
        };
        check("{}", "{}");
        check("{a:<e>x \"y\" {z}<e>,b:3,c:true}", r#"{"a":"x \"y\" {z}","b":3,"c":true}"#);
        check("{o:{k:[1,<e>s<e>]},n:None}", r#"{"o":{"k":[1,"s"]},"n":null}"#);
        check("(a=<e>x<e>)", r#"{"a":"x"}"#);
        assert_eq!(braces("{a:<e>x}", "<e>", None), None);
    }
}
