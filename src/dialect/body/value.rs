//! Values of arguments, from a model's text to JSON. Nothing is trimmed or decoded
//! unless the argument's schema excludes a string.

use crate::dialect::body::python;
use crate::json;
use crate::tools::Types;

/// Returns a value as JSON: as the first of the allowed types that the text spells
/// without loss, or else as a string.
pub(super) fn encode(raw: &str, types: Types) -> String {
    encode_exactly(raw, types).unwrap_or_else(|| json::quote(raw))
}

/// Returns a value as JSON of one of the allowed types other than a string, if the
/// text spells one without loss.
pub(super) fn encode_exactly(raw: &str, types: Types) -> Option<String> {
    let text = raw.trim_ascii();
    let spelt = [
        types.null.then(|| null(text)).flatten(),
        (types.integer || types.number).then(|| integer(text)).flatten(),
        types.number.then(|| number(text)).flatten(),
        types.boolean.then(|| boolean(text)).flatten(),
        types.object.then(|| container(text, '{')).flatten(),
        types.array.then(|| container(text, '[')).flatten(),
    ];
    spelt.into_iter().flatten().next()
}

/// Returns a value as JSON, where empty text is the empty container of its type,
/// and a value without types is JSON if it can be read as that.
pub(super) fn encode_or_empty(raw: &str, types: Option<Types>) -> String {
    let text = raw.trim_ascii();
    match types {
        Some(types) if !types.string && types.array && text.is_empty() => "[]".into(),
        Some(types) if !types.string && types.object && text.is_empty() => "{}".into(),
        Some(types) => encode(raw, types),
        None if json::is_json(text) => json::minify(text),
        None => json::quote(raw),
    }
}

/// True if a value begins as a container or a string does in JSON, and can't be read
/// as one of the allowed types.
pub(super) fn is_broken(raw: &str, types: Option<Types>) -> bool {
    let is_begun = raw.trim_ascii_start().starts_with(['{', '[', '"']);
    is_begun && encode_exactly(raw, types.unwrap_or(Types::ANY)).is_none() && !json::is_json(raw)
}

fn null(text: &str) -> Option<String> {
    matches!(text, "null" | "None").then(|| "null".into())
}

/// Returns an integer of any length; `5.0` and `+5` are 5, `007` is no number.
fn integer(text: &str) -> Option<String> {
    let whole = text.strip_suffix(".0").unwrap_or(text);
    let (plus, digits) = (whole.strip_prefix('+'), whole.strip_prefix('-'));
    let is_integer = plus.or(digits).unwrap_or(whole).bytes().all(|b| b.is_ascii_digit());
    let whole = plus.unwrap_or(whole);
    (is_integer && json::is_json(whole)).then(|| whole.to_owned())
}

/// Returns a number as it is spelled, if that is JSON.
fn number(text: &str) -> Option<String> {
    json::is_number(text).then(|| text.to_owned())
}

fn boolean(text: &str) -> Option<String> {
    let word = text.to_ascii_lowercase();
    matches!(word.as_str(), "true" | "false").then_some(word)
}

fn container(text: &str, open: char) -> Option<String> {
    if !text.starts_with(open) {
        return None;
    }
    // Some templates print containers as Python does.
    if json::is_json(text) { Some(json::minify(text)) } else { python::literal(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, names: &[&str], expected: &str) {
        let schema = format!(r#"{{"f":{{"properties":{{"a":{{"type":{names:?}}}}}}}}}"#);
        let tools = crate::tools::Tools::parse(&schema).unwrap();
        assert_eq!(encode(raw, tools.types("f", "a").unwrap()), expected);
    }

    #[test]
    fn strings_stay_as_they_are() {
        check(" null\n", &["string"], "\" null\\n\"");
        check("&amp; <b>", &["string"], "\"&amp; <b>\"");
        check("12", &["string"], "\"12\"");
    }

    #[test]
    fn other_types_are_spelt_without_loss_or_not_at_all() {
        check(" 3\n", &["integer"], "3");
        check("5.0", &["integer"], "5");
        check("123456789012345678901234567890", &["integer"], "123456789012345678901234567890");
        check("02134", &["integer"], "\"02134\"");
        check("+5", &["integer"], "5");
        check("+-5", &["integer"], "\"+-5\"");
        check("1e5", &["number"], "1e5");
        check("NaN", &["number"], "\"NaN\"");
        check("True", &["boolean"], "true");
        check("1", &["boolean"], "\"1\"");
        check("{ \"a\" : 1 }", &["object"], "{\"a\":1}");
        check("{'a': [1, None]}", &["object"], "{\"a\":[1,null]}");
        check("{'a': b}", &["object"], "\"{'a': b}\"");
        check("None", &["string", "null"], "null");
        check("12", &["string", "integer"], "12");
    }
}
