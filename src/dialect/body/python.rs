//! Python's calls and literals, as JSON. What can't be read without guessing is
//! refused.

use crate::dialect::body::cursor::{Cursor, push_comma, push_key};
use crate::json;

/// Reads a call in Python's syntax, `name(key=value, …)`. Returns its name and
/// the JSON of its arguments. `print(…)` around it is removed, and so is `.call`
/// after the name. Arguments without a name are refused, and names of several words.
pub(super) fn call(text: &str) -> Option<(String, String)> {
    let (name, inside) = text.trim_ascii().split_once('(')?;
    let inside = inside.strip_suffix(')')?;
    let name = name.trim_ascii();
    if name == "print" && inside.contains('(') {
        return call(inside);
    }
    let mut cursor = Cursor::new(inside);
    let mut out = String::from("{");
    while let Some(key) = cursor.word() {
        cursor.expect('=')?;
        push_key(key, &mut out);
        value(&mut cursor, &mut out)?;
        if !cursor.separator(None)? {
            break;
        }
    }
    out.push('}');
    let name = name.strip_suffix(".call").unwrap_or(name);
    if name.contains(char::is_whitespace) {
        return None;
    }
    cursor.finish((name.to_owned(), out))
}

/// Returns a Python literal as JSON.
pub(super) fn literal(text: &str) -> Option<String> {
    let mut cursor = Cursor::new(text);
    let mut out = String::new();
    value(&mut cursor, &mut out)?;
    cursor.finish(out)
}

fn value(cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
    match cursor.peek()? {
        '\'' | '"' => strings(cursor, out),
        '{' => dict(cursor, out),
        open @ ('[' | '(') => {
            out.push('[');
            cursor.elements(if open == '[' { ']' } else { ')' }, |cursor| {
                push_comma(out);
                value(cursor, out)
            })?;
            out.push(']');
            Some(())
        }
        _ => scalar(cursor, out),
    }
}

/// Reads a dict, or a set as an array.
fn dict(cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
    let mut inner = String::from("{");
    let mut is_set = false;
    cursor.elements('}', |cursor| {
        let mut key = String::new();
        value(cursor, &mut key)?;
        push_comma(&mut inner);
        if !cursor.take(':') {
            is_set = true;
            inner.push_str(&key);
            return Some(());
        }
        inner.push_str(&if key.starts_with('"') { key } else { json::quote(&key) });
        inner.push(':');
        value(cursor, &mut inner)
    })?;
    out.push_str(if is_set { "[" } else { "{" });
    out.push_str(inner.strip_prefix('{')?);
    out.push(if is_set { ']' } else { '}' });
    Some(())
}

/// Reads strings that follow each other: they are one string.
fn strings(cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
    json::quote_into(&string(cursor)?, out);
    Some(())
}

/// Returns the text of strings that follow each other.
pub(super) fn string(cursor: &mut Cursor<'_>) -> Option<String> {
    let mut text = String::new();
    while let Some(quote @ ('\'' | '"')) = cursor.peek() {
        cursor.next()?;
        loop {
            match cursor.next()? {
                c if c == quote => break,
                '\\' => escape(cursor, &mut text)?,
                c => text.push(c),
            }
        }
    }
    Some(text)
}

fn escape(cursor: &mut Cursor<'_>, text: &mut String) -> Option<()> {
    match cursor.next()? {
        'n' => text.push('\n'),
        't' => text.push('\t'),
        'r' => text.push('\r'),
        'b' => text.push('\u{8}'),
        'f' => text.push('\u{C}'),
        '0' => text.push('\0'),
        '\n' => {}
        c @ ('\\' | '\'' | '"' | '/') => text.push(c),
        'x' => text.push(hex(cursor, 2)?),
        'u' => text.push(hex(cursor, 4)?),
        'U' => text.push(hex(cursor, 8)?),
        // Python keeps the backslash of what is no escape.
        c => text.extend(['\\', c]),
    }
    Some(())
}

fn hex(cursor: &mut Cursor<'_>, digits: usize) -> Option<char> {
    let (code, rest) = cursor.rest.split_at_checked(digits)?;
    cursor.rest = rest;
    // A sign is none.
    let is_hex = code.bytes().all(|byte| byte.is_ascii_hexdigit());
    char::from_u32(u32::from_str_radix(code, 16).ok().filter(|_| is_hex)?)
}

fn scalar(cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
    let word = cursor.take_until(|c| c.is_ascii_whitespace() || ",:)]}".contains(c));
    match word {
        "True" | "true" => out.push_str("true"),
        "False" | "false" => out.push_str("false"),
        "None" | "null" => out.push_str("null"),
        _ => {
            // Days and months come as `07`.
            let is_digits = word.bytes().all(|byte| byte.is_ascii_digit());
            let bare = word.trim_start_matches('0');
            let word = if is_digits && !bare.is_empty() { bare } else { word };
            // Underscores stand between digits.
            let is_digit = |c: char| c.is_ascii_digit();
            let is_grouped = word.split('_').all(|group| group.ends_with(is_digit))
                && word.split('_').skip(1).all(|group| group.starts_with(is_digit));
            let number = word.replace('_', "");
            (is_grouped && json::is_number(&number)).then_some(())?;
            out.push_str(&number);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_python(text: &str, expected: Option<(&str, &str)>) {
        let got = call(text);
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
        check_python("f(a=_1)", None);
        check_python("f(a=1__0)", None);
        check_python("f(a=1_)", None);
        check_python("f(a='\\x+5')", None);
    }
}
