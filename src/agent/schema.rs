//! The schema that the arguments of a tool are held to.

use std::borrow::Cow;

use anyhow::bail;
use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::json::{self, FromJson, RawJson, ReadError, Reader, Str};

/// The most places that are named to the model where arguments do not fit.
const MAX_MISFITS: usize = 8;

/// The containers that a value may be nested in: what is deeper is held to nothing but a schema that
/// asks for nothing there.
const MAX_DEPTH: usize = 100;

/// What is said of arguments that hold what the validator can't.
const STRANGE: &str = "A number that no double holds, -0, half of a surrogate pair, and what is \
     nested too deep fit nowhere that the schema asks for anything.";

/// A JSON Schema.
pub(super) struct JsonSchema(Validator);

impl JsonSchema {
    /// Reads a schema. Fails if it is none, refers to another file, or holds what the validator
    /// would read as something else.
    pub(super) fn new(text: &str) -> anyhow::Result<Self> {
        let schema: Value = serde_json::from_str(text)?;
        let is_strange = held(text, &Standin::default()).is_none_or(|held| held.is_strange);
        if is_strange {
            bail!("its schema can't be used: a number in it is more than a double holds, or -0");
        }
        match jsonschema::validator_for(&schema) {
            Ok(validator) => Ok(JsonSchema(validator)),
            Err(error) => bail!("its schema can't be used: {error}"),
        }
    }

    /// Returns where arguments do not fit, one place a line; nothing if they fit.
    ///
    /// What the validator can't hold (`1e999`, `-0`, half of a surrogate pair, too deep nesting)
    /// fits only if the arguments do with each of several values of all types in its place: then
    /// the schema asks for nothing there.
    pub(super) fn misfit(&self, arguments: &str) -> Option<String> {
        if json::minify_and_check(arguments).1.duplicate_key {
            return Some("the arguments: a key comes twice".to_owned());
        }
        let invalid = || Some("the arguments: no valid JSON".to_owned());
        let Some(HeldValue { value, is_strange }) = held(arguments, &Standin::default()) else {
            return invalid();
        };
        let places = self.places(&value);
        if places.is_some() || !is_strange {
            return places;
        }
        let misfit = standins().find_map(|standin| match held(arguments, &standin) {
            Some(held) => self.places(&held.value),
            None => invalid(),
        });
        misfit.map(|places| format!("{places}\n{STRANGE}"))
    }

    fn places(&self, arguments: &Value) -> Option<String> {
        let errors = self.0.iter_errors(arguments).take(MAX_MISFITS);
        let places: Vec<String> = errors
            .map(|error| {
                let at = error.instance_path().to_string();
                let at = if at.is_empty() { "the arguments" } else { &at };
                format!("{at}: {}", error.masked_with("this value"))
            })
            .collect();
        Some(places.join("\n")).filter(|places| !places.is_empty())
    }
}

/// The first character that has no meaning of its own, and how many there are.
const FIRST_PRIVATE: char = '\u{E000}';
const PRIVATE: usize = 6400;

/// What stands in the place of what the validator can't hold.
#[derive(Default)]
struct Standin {
    /// The value; none for a number of its own in a list.
    value: Option<Value>,
    /// What the keys begin with that hold half of a surrogate pair.
    key: &'static str,
}

impl Standin {
    fn value(&self, number: usize) -> Value {
        self.value.clone().unwrap_or_else(|| json!([number]))
    }

    /// Returns the key of the member that comes after so many others: no two of an object are alike.
    fn key(&self, number: usize) -> String {
        let last = (FIRST_PRIVATE..).nth(number % PRIVATE).unwrap_or(FIRST_PRIVATE);
        format!("{}{last}", self.key)
    }
}

/// Returns values of all types, small and large: a schema that takes each of them asks for nothing.
fn standins() -> impl Iterator<Item = Standin> {
    let long = "x".repeat(1 << 16);
    let many: Map<String, Value> = (0..100).map(|key| (key.to_string(), Value::Null)).collect();
    let values = [
        Value::Null,
        json!(true),
        json!(false),
        json!(0),
        json!(3),
        json!(0.5),
        json!(f64::MAX),
        json!(f64::MIN),
        json!(""),
        json!(long),
        json!([]),
        json!(vec![Value::Null; 1000]),
        json!({}),
        Value::Object(many),
    ];
    let keys = ["", "a", "Z_9 ", "\u{1F600}", "a key that is longer than any that a schema has"];
    let values = values.into_iter().map(Some).chain([None]);
    values.zip(keys.into_iter().cycle()).map(|(value, key)| Standin { value, key })
}

/// JSON as the validator holds it.
struct HeldValue {
    value: Value,
    /// True if a stand-in is in it.
    is_strange: bool,
}

/// Returns JSON as the validator holds it; nothing if the text is none.
fn held(text: &str, standin: &Standin) -> Option<HeldValue> {
    let json: RawJson<'_> = json::read(text).ok()?;
    let mut strange = 0;
    let mut reader = Reader::new(json::Source::Text, json.get());
    let value = value(&mut reader, 0, standin, &mut strange).ok()?;
    Some(HeldValue { value, is_strange: strange > 0 })
}

fn value(
    reader: &mut Reader<'_>,
    depth: usize,
    standin: &Standin,
    strange: &mut usize,
) -> Result<Value, ReadError> {
    let first = reader.peek()?;
    let found = match first {
        b'{' | b'[' if depth == MAX_DEPTH => {
            reader.skip()?;
            None
        }
        b'{' => {
            let mut members = Map::new();
            reader.members(&"an object", &mut |key, reader| {
                let key = match is_text(&key) {
                    true => key.into_text(),
                    false => {
                        *strange += 1;
                        Cow::Owned(standin.key(members.len()))
                    }
                };
                let member = value(reader, depth + 1, standin, strange)?;
                members.insert(key.into_owned(), member);
                Ok(())
            })?;
            Some(Value::Object(members))
        }
        b'[' => {
            let mut elements = Vec::new();
            reader.elements(&"an array", &mut |reader: &mut Reader<'_>| {
                elements.push(value(reader, depth + 1, standin, strange)?);
                Ok(())
            })?;
            Some(Value::Array(elements))
        }
        b'"' => {
            let text = Str::from_json(reader)?;
            is_text(&text).then(|| Value::String(text.into_text().into_owned()))
        }
        _ => {
            let scalar = RawJson::from_json(reader)?.get();
            match first {
                b'-' | b'0'..=b'9' if !is_held(scalar) => None,
                _ => serde_json::from_str(scalar).ok(),
            }
        }
    };
    *strange += usize::from(found.is_none());
    Ok(found.unwrap_or_else(|| standin.value(*strange)))
}

fn is_text(text: &Str<'_>) -> bool {
    text.low().is_none() && text.high().is_none() && !text.is_replaced()
}

/// True if the validator holds this number: an integer as it is, any other to the precision of a
/// double.
fn is_held(number: &str) -> bool {
    let (mantissa, _) = number.split_once(['e', 'E']).unwrap_or((number, ""));
    let is_zero = !mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    if is_zero {
        return !number.starts_with('-');
    }
    if number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
    }
    number.parse::<f64>().is_ok_and(|double| double.is_finite() && double != 0.0)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;

    #[track_caller]
    fn check(schema: &str, arguments: &str, fits: bool) {
        let misfit = JsonSchema::new(schema).unwrap().misfit(arguments);
        assert_eq!(misfit.is_none(), fits, "{schema}: {arguments}: {misfit:?}");
    }

    #[test]
    fn what_the_validator_cannot_hold_hides_nothing() {
        let schema = r#"{"properties":{"path":{"enum":["a.txt"]}},"additionalProperties":false}"#;
        let open = r#"{"properties":{"path":{"enum":["a.txt"]}}}"#;
        let deep = "[".repeat(120) + &"]".repeat(120);
        let strange =
            ["1e999", "-0", "-0.0", r#""\ud83d""#, "18446744073709551616", "[1e-999]", &deep];
        check(schema, r#"{"path":"a.txt"}"#, true);
        for value in strange {
            check(schema, &format!(r#"{{"path":"/etc/shadow","n":{value}}}"#), false);
            check(open, &format!(r#"{{"path":"/etc/shadow","n":{value}}}"#), false);
            check(open, &format!(r#"{{"n":{value},"path":"a.txt"}}"#), true);
            check(open, &format!(r#"{{"path":{value}}}"#), false);
        }
        check(schema, r#"{"path":"a.txt","\ud83d":1}"#, false);
        check(open, r#"{"path":"a.txt","\ud83d":1}"#, true);
        check(open, r#"{"path":"/etc/shadow","path":"a.txt"}"#, false);
        check(open, r#"{"path":"a.txt""#, false);
    }

    #[test]
    fn a_schema_that_asks_for_anything_refuses_them() {
        for asked in [
            r#"{"type":"number"}"#, r#"{"type":"string"}"#, r#"{"maximum":5}"#,
            r#"{"minLength":1}"#, r#"{"maxLength":9}"#, r#"{"maxItems":9}"#,
            r#"{"not":{"const":0}}"#, "false",
        ] {
            for value in ["1e999", "-0", r#""\ude00""#] {
                let schema = format!(r#"{{"properties":{{"n":{asked}}}}}"#);
                check(&schema, &format!(r#"{{"n":{value}}}"#), false);
            }
        }
        check(r#"{"properties":{"n":true}}"#, r#"{"n":1e999}"#, true);
        check(r#"{"propertyNames":{"maxLength":3}}"#, r#"{"\ud83d\ud83d":1}"#, false);
        check(r#"{"maxProperties":1}"#, r#"{"\ud83d":1,"\ude00":2}"#, false);
    }

    #[test]
    fn integers_are_held_as_they_are() {
        let schema = r#"{"properties":{"n":{"enum":[9007199254740993,18446744073709551615]}}}"#;
        check(schema, r#"{"n":9007199254740993}"#, true);
        check(schema, r#"{"n":18446744073709551615}"#, true);
        check(schema, r#"{"n":9007199254740992}"#, false);
        for number in ["18446744073709551617", "-0", "1e999"] {
            let error = JsonSchema::new(&format!(r#"{{"maximum":{number}}}"#)).err().unwrap();
            assert!(!error.to_string().is_empty());
        }
    }

    /// Values, a part of which no validator holds.
    fn values() -> impl Strategy<Value = String> + Clone {
        let leaf = select(
            &[
                "null", "true", "0", "1", "2", "3", "-1", "0.5", "1e2", "\"\"", "\"a\"", "\"ab\"",
                "\"\u{e9}\"", "1e999", "-1e999", "-0", "-0.0", "1e-999", "9007199254740993",
                "18446744073709551616", "18446744073709551617", "\"\\ud83d\"", "\"a\\ude00b\"",
            ][..],
        );
        leaf.prop_map(str::to_owned).prop_recursive(3, 12, 3, |inner| {
            let key = select(&["a", "b", "c", "\\u0061", "\\ud83d", "\\ude00x"][..]);
            let member = (key, inner.clone()).prop_map(|(key, value)| format!("\"{key}\":{value}"));
            prop_oneof![
                vec(inner, 0..3).prop_map(|elements| format!("[{}]", elements.join(","))),
                vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(","))),
                Just("[".repeat(130) + &"]".repeat(130)),
            ]
        })
    }

    /// Arguments.
    fn arguments() -> impl Strategy<Value = String> {
        let key = select(&["a", "b", "c", "\\u0062", "\\ud83d"][..]);
        let member = (key, values()).prop_map(|(key, value)| format!("\"{key}\":{value}"));
        vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(",")))
    }

    /// Schemas of draft 2020-12 on which validators agree.
    fn schemas() -> impl Strategy<Value = String> {
        let kind =
            select(&["null", "boolean", "integer", "number", "string", "array", "object"][..]);
        let constant = select(&["null", "0", "1", "\"a\"", "[]", "9007199254740993", "{}"][..]);
        let count = 0..4_u8;
        let leaf = prop_oneof![
            Just("{}".to_owned()),
            Just("true".to_owned()),
            Just("false".to_owned()),
            kind.clone().prop_map(|kind| format!("{{\"type\":\"{kind}\"}}")),
            (kind.clone(), kind).prop_filter_map("two of them", |(a, b)| {
                (a != b).then(|| format!("{{\"type\":[\"{a}\",\"{b}\"]}}"))
            }),
            constant.clone().prop_map(|value| format!("{{\"const\":{value}}}")),
            vec(constant, 1..3).prop_map(|values| format!("{{\"enum\":[{}]}}", values.join(","))),
            (
                select(
                    &[
                        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength",
                        "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
                    ][..]
                ),
                count
            )
                .prop_map(|(key, count)| format!("{{\"{key}\":{count}}}")),
            Just("{\"uniqueItems\":true}".to_owned()),
            Just("{\"required\":[\"a\"]}".to_owned()),
            Just("{\"pattern\":\"^a\"}".to_owned()),
        ];
        leaf.prop_recursive(3, 16, 3, |inner| {
            let key = select(&["a", "b", "c"][..]);
            let named = (key, inner.clone()).prop_map(|(key, of)| format!("\"{key}\":{of}"));
            let one =
                |key: &'static str| inner.clone().prop_map(move |of| format!("{{\"{key}\":{of}}}"));
            let several = |key: &'static str| {
                vec(inner.clone(), 1..3)
                    .prop_map(move |all| format!("{{\"{key}\":[{}]}}", all.join(",")))
            };
            prop_oneof![
                (vec(named, 0..3), inner.clone()).prop_map(|(named, other)| {
                    let mut named = named;
                    named.sort();
                    named.dedup_by_key(|member| member.get(..3).map(str::to_owned));
                    let named = named.join(",");
                    format!("{{\"properties\":{{{named}}},\"additionalProperties\":{other}}}")
                }),
                one("items"),
                one("not"),
                one("contains"),
                one("propertyNames"),
                one("additionalProperties"),
                several("anyOf"),
                several("allOf"),
                several("oneOf"),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        /// A strange member more takes no misfit away that its object has without it.
        #[test]
        fn a_strange_member_hides_no_misfit(
            schema in schemas(),
            inner in schemas(),
            strange in select(&["1e999", "-0", "\"\\ud83d\""][..]),
        ) {
            let schema = format!("{{\"properties\":{{\"x\":{schema},\"y\":{inner}}}}}");
            let schema = JsonSchema::new(&schema).unwrap();
            let misfit = schema.misfit("{\"x\":\"b\"}").is_some();
            let strange = format!("{{\"x\":\"b\",\"y\":{strange}}}");
            prop_assert!(!misfit || schema.misfit(&strange).is_some(), "{}", strange);
        }
    }

    /// Reads pairs of a schema and arguments, a line each, as JSON text; prints which fit.
    const OTHER: &str = "
import json, sys, jsonschema
sys.setrecursionlimit(10000)
for line in sys.stdin:
    schema, arguments = json.loads(line)
    validator = jsonschema.Draft202012Validator(json.loads(schema))
    print(int(validator.is_valid(json.loads(arguments))))
";

    /// What fits here fits by Python's jsonschema as well.
    #[test]
    #[ignore = "needs Python's jsonschema"]
    fn another_validator_takes_what_fits() {
        let mut runner = TestRunner::deterministic();
        let pairs = (schemas(), arguments());
        let mut draw = || pairs.new_tree(&mut runner).unwrap().current();
        let pairs: Vec<(String, String)> = (0..50_000).map(|_| draw()).collect();
        let lines: String =
            pairs.iter().map(|pair| serde_json::to_string(pair).unwrap() + "\n").collect();
        let mut python = Command::new("python3");
        python.args(["-c", OTHER]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut python = python.spawn().unwrap();
        let mut input = python.stdin.take().unwrap();
        let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
        let output = python.wait_with_output().unwrap();
        writer.join().unwrap();
        let theirs = String::from_utf8(output.stdout).unwrap();
        assert_eq!(theirs.lines().count(), pairs.len());
        let (mut ran, mut refused) = (0, 0);
        for ((schema, arguments), theirs) in pairs.iter().zip(theirs.lines()) {
            let fits = JsonSchema::new(schema).unwrap().misfit(arguments).is_none();
            assert!(!fits || theirs == "1", "{schema}\n{arguments}");
            ran += u32::from(fits);
            refused += u32::from(!fits && theirs == "1");
        }
        eprintln!("{ran} fit, {refused} that Python takes do not");
        assert!(ran > 1000);
    }
}
