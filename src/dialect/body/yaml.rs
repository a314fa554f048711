//! YAML: a mapping of arguments, as JSON.
//!
//! saphyr-parser reads the syntax; what a plain scalar means is decided here, by
//! the core schema of YAML 1.2 and the argument's own schema: `no` is a string
//! and `012` is twelve. Anything that needs more than the text is refused:
//! tags, anchors, aliases, merge keys, keys that are no scalars or come twice,
//! document markers and directives.

use std::collections::HashSet;

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::dialect::body::value;
use crate::json::{self, PlainScalar};
use crate::tools::{Schema, Types};

/// Returns a mapping as a JSON object, or `None` if it can't be read exactly.
pub(super) fn object(text: &str, schema: Option<Schema<'_>>) -> Option<String> {
    // Markup takes the last line's end, which a block of lines may keep.
    let text = text.replace("\r\n", "\n").replace('\r', "\n") + "\n";
    let mut writer = Writer { root: schema, open: Vec::new(), out: String::new() };
    for event in Parser::new_from_str(&text) {
        let (event, span) = event.ok()?;
        writer.event(event, !span.is_empty())?;
    }
    Some(if writer.out.is_empty() { "{}".into() } else { writer.out })
}

/// Writes the parser's events as JSON.
struct Writer<'s> {
    root: Option<Schema<'s>>,
    open: Vec<OpenNode<'s>>,
    out: String,
}

/// A list or mapping that is open.
struct OpenNode<'s> {
    kind: YamlKind<'s>,
    schema: Option<Schema<'s>>,
    /// True between brackets, false for block style.
    is_flow: bool,
    is_empty: bool,
}

enum YamlKind<'s> {
    List,
    Map {
        keys: HashSet<String>,
        /// The schema of the value that comes next; `None` if a key does.
        value: Option<Option<Schema<'s>>>,
    },
}

impl<'s> Writer<'s> {
    /// Writes one event; `is_visible` if it has characters of its own in the text.
    fn event(&mut self, event: Event<'_>, is_visible: bool) -> Option<()> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd => Some(()),
            Event::DocumentStart(is_marked) => (!is_marked && self.out.is_empty()).then_some(()),
            Event::DocumentEnd => (!is_visible).then_some(()),
            Event::SequenceStart(0, None) => {
                let schema = self.value_schema()?;
                self.begin(YamlKind::List, schema, is_visible)
            }
            Event::MappingStart(0, None) => {
                // A pair inside a list, `[a: b]`, has no braces.
                if !is_visible && self.open.last().is_some_and(|open| open.is_flow) {
                    return None;
                }
                let schema = self.value_schema()?;
                self.begin(YamlKind::Map { keys: HashSet::new(), value: None }, schema, is_visible)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Scalar(text, style, 0, None) => self.scalar(&text, style),
            Event::SequenceStart(..)
            | Event::MappingStart(..)
            | Event::Scalar(..)
            | Event::Alias(_) => None,
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle) -> Option<()> {
        let is_plain = style == ScalarStyle::Plain;
        let open = self.open.last_mut()?;
        if let YamlKind::Map { keys, value: value @ None } = &mut open.kind {
            let is_key = match style {
                // It means the same as a key of JSON, where all keys are strings.
                ScalarStyle::Plain => {
                    let json = encode_plain(text, None).filter(|_| text != "<<");
                    json.is_some_and(|json| json == text || json.starts_with('"'))
                }
                ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => true,
                ScalarStyle::Literal | ScalarStyle::Folded => false,
            };
            if !is_key || !keys.insert(text.to_owned()) {
                return None;
            }
            *value = Some(open.schema.as_ref().map(|schema| schema.property(text)));
            if !std::mem::take(&mut open.is_empty) {
                self.out.push(',');
            }
            json::quote_into(text, &mut self.out);
            self.out.push(':');
            return Some(());
        }
        // In brackets, a value that isn't there is no null.
        if is_plain && text.is_empty() && open.is_flow {
            return None;
        }
        let schema = self.value_schema()?;
        if is_plain {
            let types = schema.as_ref().and_then(Schema::types);
            self.out.push_str(&encode_plain(text, types)?);
        } else {
            json::quote_into(text, &mut self.out);
        }
        Some(())
    }

    /// Returns the schema of the value that begins, and writes the comma before an
    /// element. Returns `None` where a key has to come, and at the top for
    /// anything but a mapping.
    fn value_schema(&mut self) -> Option<Option<Schema<'s>>> {
        let Some(open) = self.open.last_mut() else { return Some(self.root.take()) };
        match &mut open.kind {
            YamlKind::Map { value, .. } => value.take(),
            YamlKind::List => {
                if !std::mem::take(&mut open.is_empty) {
                    self.out.push(',');
                }
                Some(open.schema.as_ref().map(Schema::items))
            }
        }
    }

    fn begin(
        &mut self,
        kind: YamlKind<'s>,
        schema: Option<Schema<'s>>,
        is_flow: bool,
    ) -> Option<()> {
        let is_map = matches!(kind, YamlKind::Map { .. });
        if self.open.len() >= json::MAX_DEPTH || (self.open.is_empty() && !is_map) {
            return None;
        }
        self.out.push(if is_map { '{' } else { '[' });
        self.open.push(OpenNode { kind, schema, is_flow, is_empty: true });
        Some(())
    }

    fn end(&mut self) -> Option<()> {
        self.out.push(if let YamlKind::List = self.open.pop()?.kind { ']' } else { '}' });
        Some(())
    }
}

/// Returns a plain scalar as JSON: its value in the core schema, if the argument's
/// schema allows that type, or else what its text spells, or a string. Returns
/// `None` for numbers that JSON doesn't have.
fn encode_plain(text: &str, types: Option<Types>) -> Option<String> {
    let allowed = types.unwrap_or(Types::ANY);
    let resolved = match json::plain_scalar(text) {
        PlainScalar::Json(json) => {
            let is_allowed = match json.as_bytes().first() {
                Some(b'n') => allowed.null || !allowed.string,
                Some(b't' | b'f') => allowed.boolean,
                _ if json.contains(['.', 'e']) => allowed.number,
                _ => allowed.integer || allowed.number,
            };
            Some(json).filter(|_| is_allowed)
        }
        PlainScalar::NoJson => {
            let is_string = types.is_some_and(|types| types.string);
            return is_string.then(|| json::quote(text));
        }
        PlainScalar::Text => None,
    };
    Some(match (resolved, types) {
        (Some(json), _) => json,
        (None, Some(types)) => value::encode(text, types),
        (None, None) => json::quote(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Tools;

    #[track_caller]
    fn check(yaml: &str, expected: &str) {
        assert_eq!(object(yaml, None).as_deref(), Some(expected), "{yaml}");
        let windows = yaml.replace('\n', "\r\n");
        assert_eq!(object(&windows, None).as_deref(), Some(expected), "{windows}");
    }

    #[track_caller]
    fn check_none(yaml: &str) {
        assert_eq!(object(yaml, None), None, "{yaml}");
    }

    #[test]
    fn scalars_are_of_the_core_schema() {
        check("", "{}");
        check("# nothing\n\n", "{}");
        check("a:\nb: ~\nc: null", r#"{"a":null,"b":null,"c":null}"#);
        check("a: true\nb: FALSE\nc: yes", r#"{"a":true,"b":false,"c":"yes"}"#);
        check("a: 12\nb: -0\nc: +007\nd: 0x1F\ne: 0o17", r#"{"a":12,"b":-0,"c":7,"d":31,"e":15}"#);
        check("a: 1.50\nb: .5\nc: 5.\nd: -1E+3", r#"{"a":1.50,"b":0.5,"c":5.0,"d":-1e+3}"#);
        check("a: 1_000\nb: 12:30\nc: 1.2.3", r#"{"a":"1_000","b":"12:30","c":"1.2.3"}"#);
        check_none("a: .inf");
        check_none("a: .NaN");
        check_none("a: 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF");
    }

    #[test]
    fn a_schema_says_what_a_plain_scalar_is() {
        let check = |name: &str, text: &str, expected: &str| {
            let schema = format!(r#"{{"f":{{"properties":{{"a":{{"type":{name:?}}}}}}}}}"#);
            let tools = Tools::parse(&schema).unwrap();
            let json = object(&format!("a: {text}"), tools.schema("f"));
            assert_eq!(json, Some(format!(r#"{{"a":{expected}}}"#)));
        };
        check("string", "02134", r#""02134""#);
        check("string", "null", r#""null""#);
        check("string", ".inf", r#"".inf""#);
        check("string", "", r#""""#);
        check("integer", "", "null");
        check("integer", "5.0", "5");
        check("number", "5", "5");
        check("integer", "\"5\"", r#""5""#);
        check("boolean", "yes", r#""yes""#);
    }

    /// How YAML is parsed is the parser's to test.
    #[test]
    fn nodes_become_json() {
        check("a: |\n  one\n    two\nb: 'it''s \"x\"'", r#"{"a":"one\n  two\n","b":"it's \"x\""}"#);
        check(
            "a:\n- 1\n- y: [1, x y, {}]\n-\nb: {c: []}",
            r#"{"a":[1,{"y":[1,"x y",{}]},null],"b":{"c":[]}}"#,
        );
        check("12: a\ntrue: b\n'c: d': 1", r#"{"12":"a","true":"b","c: d":1}"#);
        check("{\"a\": 1}\n# end", r#"{"a":1}"#);
        for yaml in ["~: a", "a: {0x1F: b}", "- a", "a", "a: [1", "a: 'x' y", "{a: 1}\nb: 2"] {
            check_none(yaml);
        }
    }

    #[test]
    fn what_takes_more_than_the_text_is_not_read() {
        for yaml in [
            "a: &x 1\nb: *x", "a: !!str 1", "a: !t x", "<<: {b: 1}", "a: 1\na: 2",
            "a: {b: 1, b: 2}", "? a: 1\n: b", "{a: b}: c", "---\na: 1", "a: 1\n...\nb: 2",
            "%YAML 1.2\na: 1", "a: @x", "a: `x`", "a: %x",
        ] {
            check_none(yaml);
        }
    }

    #[test]
    fn depth_is_bounded_and_time_is_linear() {
        let lists = |count: usize| format!("a:\n  {}1", "- ".repeat(count));
        assert!(object(&lists(json::MAX_DEPTH - 1), None).is_some());
        assert_eq!(object(&lists(json::MAX_DEPTH), None), None);
        check_none(&format!("a: {}", "[".repeat(1 << 20)));
        let long = "a: |\n".to_owned() + &"  x\n\n".repeat(1 << 18);
        assert!(object(&long, None).is_some());
        let long = "a: \"".to_owned() + &"x \n\n ".repeat(1 << 18) + "\"";
        assert!(object(&long, None).is_some());
    }
}
