//! Whether a value fits a JSON Schema, of which the keywords that ours uses are
//! known. The unit tests of `src/sink` read this file as well.

use serde_json::Value;

/// Returns the part of a schema that has this name.
#[track_caller]
pub(crate) fn part<'a>(whole: &'a Value, name: &str) -> &'a Value {
    whole["$defs"].get(name).unwrap_or_else(|| panic!("the schema has no {name}"))
}

/// Returns why a value does not fit a schema, or nothing if it does.
/// `whole` is the schema that references are resolved in. A keyword that is not
/// known here is a panic, so none is passed over.
pub(crate) fn misfit(whole: &Value, schema: &Value, value: &Value) -> Option<String> {
    let keywords = schema.as_object().unwrap_or_else(|| panic!("not a schema: {schema}"));
    keywords.iter().find_map(|(keyword, rule)| {
        if matches!(keyword.as_str(), "oneOf" | "anyOf" | "allOf") {
            return misfit_of_some(whole, keyword, rule, value);
        }
        let is_met = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "then" | "else" => true,
            "$ref" => {
                let name = rule.as_str().and_then(|path| path.strip_prefix("#/$defs/"));
                return misfit(
                    whole,
                    part(whole, name.unwrap_or_else(|| panic!("no reference: {rule}"))),
                    value,
                );
            }
            "const" => rule == value,
            "enum" => rule.as_array().unwrap().contains(value),
            "type" => is_type(rule, value),
            "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
            "minItems" => {
                value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap())
            }
            "items" => return value.as_array()?.iter().find_map(|item| misfit(whole, rule, item)),
            "required" => value.as_object().is_none_or(|members| {
                rule.as_array()
                    .unwrap()
                    .iter()
                    .all(|key| members.contains_key(key.as_str().unwrap()))
            }),
            "properties" => {
                let known = rule.as_object().unwrap().iter();
                return known
                    .filter_map(|(key, rule)| Some((key, misfit(whole, rule, value.get(key)?)?)))
                    .map(|(key, reason)| format!("{key}: {reason}"))
                    .next();
            }
            "additionalProperties" => {
                let known = &schema["properties"];
                let others = value.as_object()?.iter().filter(|(key, _)| known.get(key).is_none());
                return others
                    .map(|(key, value)| match rule {
                        Value::Bool(may) => (!may).then(|| format!("{key} is no property")),
                        rule => misfit(whole, rule, value),
                    })
                    .find_map(|reason| reason);
            }
            "not" => misfit(whole, rule, value).is_some(),
            "if" => {
                let branch = if misfit(whole, rule, value).is_none() { "then" } else { "else" };
                return misfit(whole, schema.get(branch)?, value);
            }
            _ => panic!("a keyword that is not checked: {keyword}"),
        };
        (!is_met).then(|| format!("{value} is not: {keyword} {rule}"))
    })
}

/// As [`misfit`], of a list of schemas.
fn misfit_of_some(whole: &Value, keyword: &str, rules: &Value, value: &Value) -> Option<String> {
    let rules = rules.as_array().unwrap();
    let reasons: Vec<String> = rules.iter().filter_map(|rule| misfit(whole, rule, value)).collect();
    let fitting = rules.len() - reasons.len();
    let is_met = match keyword {
        "oneOf" => fitting == 1,
        "anyOf" => fitting > 0,
        _ => fitting == rules.len(),
    };
    (!is_met).then(|| format!("{fitting} of {keyword} fit: {}", reasons.join("; ")))
}

fn is_type(rule: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        name => panic!("no type: {name}"),
    };
    rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is))
}
