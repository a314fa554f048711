//! The members of an object in JSON text that has been validated.

use std::borrow::Cow;

use crate::json::end::value_length;
use crate::json::plain::{is_space, string_length};
use crate::json::reader::read;
use crate::json::string::Str;

/// The members of an object, from one to the next.
pub(crate) struct Walk<'j> {
    /// The text after the last member.
    rest: &'j str,
}

/// Returns the members of an object as (decoded key, value's text), in order; none if the text is
/// another value or empty. It has to be valid JSON, as that of a raw value is.
pub(crate) fn walk(json: &str) -> Walk<'_> {
    let rest = json.trim_ascii_start();
    Walk { rest: if rest.starts_with('{') { rest } else { "" } }
}

impl<'j> Iterator for Walk<'j> {
    type Item = (Cow<'j, str>, &'j str);

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.rest.get(self.rest.bytes().position(|byte| byte == b'"')?..)?;
        let inside = text.get(1..)?;
        let plain = string_length(inside.as_bytes());
        let (key, rest) = match inside.as_bytes().get(plain) {
            Some(b'"') => (Cow::Borrowed(inside.get(..plain)?), inside.get(plain + 1..)?),
            _ => {
                let (key, rest) = split(text);
                (read::<Str<'_>>(key).unwrap_or_default().into_text(), rest)
            }
        };
        let start = rest.bytes().position(|byte| byte != b':' && !is_space(byte))?;
        let (value, rest) = split(rest.get(start..)?);
        self.rest = rest;
        Some((key, value))
    }
}

/// Splits text after the value that it begins with.
fn split(json: &str) -> (&str, &str) {
    json.split_at_checked(value_length(json.as_bytes())).unwrap_or((json, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::members;

    #[track_caller]
    fn check(json: &str) {
        let expected = members(json);
        let walked: Vec<_> = walk(json).collect();
        let expected: Vec<_> =
            expected.into_iter().map(|(key, value)| (key, value.get())).collect();
        assert_eq!(walked, expected, "{json}");
    }

    #[test]
    fn members_of_valid_json_are_those_that_are_read() {
        for json in [
            "",
            "{}",
            " { } ",
            "[{\"a\":1}]",
            "\"{\"",
            "null",
            r#"{"a":1,"b":-2.5e3,"c":"d","e":null}"#,
            "\n{ \"a\" :\t1 , \"b\" : [ 1 , {\"c\":2} ] ,\"d\":{ } }\n",
            r#"{"":"","a":"\\","b":"}\",\"","c":{"d":["]","{"]},"é":"ü"}"#,
            r#"{"\u0061\"b":1,"\ud83d":2,"a":[[],[[]],{}],"a":true}"#,
        ] {
            check(json);
        }
    }
}
