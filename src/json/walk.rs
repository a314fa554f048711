//! The members of an object in JSON text that has been validated.

use std::borrow::Cow;

use crate::json::end::value_length;
use crate::json::plain::{is_space, string_length};
use crate::json::reader::text;

/// The members of an object, from one to the next.
pub(crate) struct Walk<'j> {
    /// The text after the last member.
    rest: &'j str,
}

/// Returns the members of an object, or of several that follow each other, as (decoded key, value's
/// text), in order; none if the text is another value or empty. It has to be valid JSON, as that of
/// a raw value is.
pub(crate) fn walk(json: &str) -> Walk<'_> {
    let rest = json.trim_ascii_start();
    Walk { rest: if rest.starts_with('{') { rest } else { "" } }
}

impl<'j> Iterator for Walk<'j> {
    type Item = (Cow<'j, str>, &'j str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.rest.as_bytes();
        let quote = bytes.iter().position(|&byte| byte == b'"')?;
        let mut end = quote + 1 + string_length(bytes.get(quote + 1..)?);
        let is_plain = bytes.get(end) == Some(&b'"');
        if !is_plain {
            end = quote + value_length(bytes.get(quote..)?) - 1;
        }
        let mut start = end + 1;
        while bytes.get(start).is_some_and(|&byte| byte == b':' || is_space(byte)) {
            start += 1;
        }
        let value = bytes.get(start..).filter(|value| !value.is_empty())?;
        let (member, rest) = self.rest.split_at_checked(start + value_length(value))?;
        let key = match is_plain {
            true => Cow::Borrowed(member.get(quote + 1..end)?),
            false => text(member.get(quote..=end)?).into_text(),
        };
        self.rest = rest;
        Some((key, member.get(start..)?))
    }
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
        let keys: Vec<_> = walk("{\"a\":1}{} {\"b\":[{}]}{\"a\":2}").map(|(key, _)| key).collect();
        assert_eq!(keys, ["a", "b", "a"]);
    }
}
