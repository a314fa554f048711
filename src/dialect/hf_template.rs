//! The `response_template` of Hugging Face tokenizers as a dialect, as far as
//! it has an equivalent: its fields become regions and calls, its regular expressions patterns.
//!
//! Anything else is an error when it is loaded. Two things differ: white
//! space around text is kept, and a call that was cut is no call.
//!
//! Source: <https://huggingface.co/docs/transformers/main/chat_response_parsing>

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::dialect::machine::grammar::Grammar;
use crate::dialect::spec::{Body, Call, Dialect, Envelope, Parameters, Region, Role, Words};
use crate::json;
use crate::leak::Loaded;
use crate::row_error::RowError;

/// Parses the `response_template` of a Hugging Face tokenizer, or a `tokenizer_config.json` that holds
/// one. The row lives as long as the program, as with [`crate::dialect::load()`].
///
/// # Errors
///
/// The text is no JSON, or no template.
pub fn load_template(text: &str) -> Result<&'static Dialect, RowError> {
    static LOADED: Loaded<Dialect> = Loaded::new();
    LOADED.row(text, read).map_err(RowError::invalid)
}

/// Parses a template. Fails with a sentence that names what is wrong, or has no equivalent.
fn read(text: &str) -> Result<Dialect, String> {
    let misread = |error| json::misread(text, &error);
    let mut value: Value = serde_json::from_str(text).map_err(misread)?;
    if let Some(inner) = value.get_mut("response_template") {
        value = inner.take();
    }
    let template: ChatTemplate =
        serde_json::from_value(value).map_err(|error| format!("response_template: {error}"))?;
    let mut dialect = Dialect { name: "response_template", ..Dialect::EMPTY };
    let (mut regions, mut calls, mut drops) = (Vec::new(), Vec::new(), Vec::new());
    for (name, field) in &template.fields {
        let in_field = |error: String| format!("the field {name:?}: {error}");
        let close = field.close().map_err(in_field)?;
        let open = field.open().map_err(in_field)?;
        if open.is_empty() {
            drops.extend(close);
        } else if name == "tool_calls" {
            let close = close.join("{|}");
            for open in open {
                calls.push(field.call(&open, &close).map_err(in_field)?);
            }
        } else {
            let close = close.join("{|}").leak();
            regions.extend(open.into_iter().map(|open| region(name, open.leak(), close)));
        }
    }
    dialect.regions = regions.leak();
    dialect.calls = calls.leak();
    dialect.drops = words(drops);
    if dialect.markers().next().is_none() {
        return Err("response_template: none of its fields has a marker".into());
    }
    Grammar::new(&dialect)?;
    Ok(dialect)
}

#[derive(Deserialize)]
struct ChatTemplate {
    fields: BTreeMap<String, TemplateField>,
}

#[derive(Deserialize)]
struct TemplateField {
    #[serde(default)]
    open: Literals,
    open_pattern: Option<String>,
    #[serde(default)]
    close: Literals,
    close_pattern: Option<String>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    content_args: ContentArgs,
    #[serde(default)]
    transform: Value,
}

#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Literals {
    #[default]
    None,
    One(String),
    Many(Vec<String>),
}

#[derive(Default, Deserialize)]
struct ContentArgs {
    tag_pattern: Option<String>,
    #[serde(default)]
    unquoted_keys: bool,
    #[serde(default)]
    string_delims: Vec<(String, String)>,
}

impl Literals {
    fn patterns(&self, regex: Option<&str>, names: &GroupWords<'_>) -> Result<Vec<String>, String> {
        let literals: &[String] = match (self, regex) {
            (_, Some(regex)) => return translate(regex, names).map(|pattern| vec![pattern]),
            (Literals::None, None) => &[],
            (Literals::One(text), None) => std::slice::from_ref(text),
            (Literals::Many(texts), None) => texts,
        };
        Ok(literals.iter().map(|text| text.replace('{', "{{}")).collect())
    }
}

impl TemplateField {
    fn open(&self) -> Result<Vec<String>, String> {
        self.open.patterns(self.open_pattern.as_deref(), &self.names())
    }

    fn close(&self) -> Result<Vec<String>, String> {
        self.close.patterns(self.close_pattern.as_deref(), &self.names())
    }

    /// Returns the part of the transform that describes the call.
    fn function(&self) -> &Value {
        self.transform.get("function").unwrap_or(&self.transform)
    }

    /// Returns the variable that a part of the call is taken from.
    fn variable(&self, part: &str) -> Option<&str> {
        let holder = if part == "id" { &self.transform } else { self.function() };
        holder.get(part)?.as_str()?.strip_prefix('{')?.strip_suffix('}')
    }

    /// Returns the words of a pattern that groups of a regular expression become.
    fn names(&self) -> GroupWords<'_> {
        let parts = [("name", "{name}"), ("id", "{id}")];
        parts.into_iter().filter_map(|(part, word)| Some((self.variable(part)?, word))).collect()
    }

    fn call(&self, open: &str, close: &str) -> Result<Call, String> {
        let (body, close) = match self.content.as_deref() {
            Some("json") => (self.json()?, close.to_owned()),
            Some("xml-inline") => {
                let tag = self.content_args.tag_pattern.as_deref();
                let tag = tag.ok_or("`xml-inline` needs a tag_pattern")?;
                let (key, end) = tag
                    .split_once("(?P<value>")
                    .and_then(|(key, value)| Some((key, value.split_once(')')?.1)))
                    .ok_or("a tag_pattern needs a group `value`")?;
                let names: GroupWords<'_> = [("key", "{key}")].into();
                // White space that is taken off a value is the template's line end.
                let open = translate(key, &names)?.replace("{ws}", "{nl}").leak();
                let end = translate(end, &names)?.replace("{ws}", "{nl}").leak();
                // The element around the tags may close right before the call.
                let close = format!("{{[}}</{{_}}>{{ws}}{{]}}{close}");
                (Body::Parameters(Parameters { open, close: end, ..Parameters::TEXT }), close)
            }
            other => {
                let content = other.unwrap_or("text");
                return Err(format!("a call with the content {content:?} has no equivalent here"));
            }
        };
        Ok(Call { open: open.to_owned().leak(), close: close.leak(), body, ..Call::NEW })
    }

    fn json(&self) -> Result<Body, String> {
        let ContentArgs { unquoted_keys, string_delims, .. } = &self.content_args;
        if *unquoted_keys || !string_delims.is_empty() {
            let delimiter = match string_delims.as_slice() {
                [] => "\"",
                [(open, close)] if open == close => open,
                _ => return Err("only one delimiter of strings is known here".into()),
            };
            return Ok(Body::Braces(delimiter.to_owned().leak()));
        }
        Ok(match (self.variable("name"), self.variable("arguments")) {
            (Some(_), Some("content")) => Body::Arguments,
            (Some(name), Some(arguments)) => {
                let id = self.variable("id").map(str::to_owned).into_iter().collect();
                Body::Json(Envelope {
                    name: words(vec![name.to_owned()]),
                    arguments: words(vec![arguments.to_owned()]),
                    id: words(id),
                    ..Envelope::NEW
                })
            }
            _ => Body::Json(Envelope::NEW),
        })
    }
}

fn region(name: &str, open: &'static str, close: &'static str) -> Region {
    match name {
        "content" => Region::answer(open, close),
        "thinking" | "reasoning" | "reasoning_content" => Region::reasoning(open, close),
        _ => Region {
            role: Role::Block,
            name: name.to_owned().leak(),
            ..Region::reasoning(open, close)
        },
    }
}

fn words(words: Vec<String>) -> Words {
    words.into_iter().map(|word| &*word.leak()).collect::<Vec<_>>().leak()
}

/// Groups of a regular expression, and the words that they become in a pattern.
type GroupWords<'a> = BTreeMap<&'a str, &'static str>;

/// Returns a regular expression as a pattern, or a sentence that names what has no equivalent.
fn translate(regex: &str, names: &GroupWords<'_>) -> Result<String, String> {
    let fail = |rest: &str| format!("{rest:?} of {regex:?} has no equivalent here");
    let (mut pattern, mut rest) = (String::new(), regex);
    while !rest.is_empty() {
        let (piece, tail) = if let Some(group) = rest.strip_prefix("(?P<") {
            let (name, tail) = group.split_once('>').ok_or_else(|| fail(rest))?;
            let (_, tail) = any(tail).ok_or_else(|| fail(rest))?;
            let word = names.get(name).copied().unwrap_or("{_}");
            (word.to_owned(), tail.strip_prefix(')').ok_or_else(|| fail(rest))?)
        } else if let Some(group) = rest.strip_prefix("(?:") {
            let (inner, tail) = group.split_once(")?").ok_or_else(|| fail(rest))?;
            (format!("{{[}}{}{{]}}", translate(inner, names)?), tail)
        } else if let Some(tail) = SPACES.iter().find_map(|space| rest.strip_prefix(space)) {
            ("{ws}".to_owned(), tail)
        } else if let Some((piece, tail)) = any(rest) {
            (piece.to_owned(), tail)
        } else {
            let (text, tail) = character(rest).ok_or_else(|| fail(rest))?;
            let text = if text == "{" { "{{}" } else { text };
            match tail.strip_prefix('?') {
                Some(tail) => (format!("{{[}}{text}{{]}}"), tail),
                None => (text.to_owned(), tail),
            }
        };
        pattern.push_str(&piece);
        rest = tail;
    }
    Ok(pattern)
}

/// The spellings of white space in regular expressions.
const SPACES: &[&str] = &["\\s*", "\\s+", "\\n*", "\\n+", "\n*", "\n+"];

/// Parses a leading part without a fixed text. Returns its pattern, a word or more,
/// and the rest.
fn any(regex: &str) -> Option<(&'static str, &str)> {
    let word = ["\\w+", "\\S+", "[\\w.-]+", "[\\w\\-]+", "[\\w-]+"];
    let more = [".*?", ".+?", ".*", ".+"];
    let find = |forms: &[&str]| forms.iter().find_map(|form| regex.strip_prefix(form));
    if let Some(tail) = find(&word) {
        return Some(("{_}", tail));
    }
    if let Some(tail) = find(&more) {
        return Some(("{*}", tail));
    }
    let (_, tail) = regex.strip_prefix("[^")?.split_once(']')?;
    let tail = tail.strip_prefix(['+', '*'])?;
    Some(("{_}", tail.strip_prefix('?').unwrap_or(tail)))
}

/// Parses a leading character that stands for itself. Returns it, and the rest.
fn character(regex: &str) -> Option<(&str, &str)> {
    let size = |text: &str| text.chars().next().map_or(0, char::len_utf8);
    let Some(escaped) = regex.strip_prefix('\\') else {
        let is_special = regex.starts_with(['.', '^', '$', '*', '+', '?', '(', ')', '[', ']', '|']);
        return if is_special { None } else { regex.split_at_checked(size(regex)) };
    };
    let (text, tail) = escaped.split_at_checked(size(escaped))?;
    match text {
        "n" => Some(("\n", tail)),
        "t" => Some(("\t", tail)),
        _ if text.starts_with(char::is_alphanumeric) => None,
        _ => Some((text, tail)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(regex: &str, pattern: &str) {
        let names: GroupWords<'_> = [("tool", "{name}")].into();
        assert_eq!(translate(regex, &names).as_deref(), Ok(pattern), "{regex}");
    }

    #[test]
    fn regular_expressions_become_patterns() {
        check(r"<\|channel\|>analysis", "<|channel|>analysis");
        check(r"<tool_call>\s*<function=(?P<tool>\w+)>", "<tool_call>{ws}<function={name}>");
        check(
            r"to=functions\.(?P<tool>[\w.-]+).*?<\|message\|>",
            "to=functions.{name}{*}<|message|>",
        );
        check(r"<think>\n?", "<think>{[}\n{]}");
        check(r"(?:<s>)?\[C\]\{", "{[}<s>{]}[C]{{}");
    }

    #[test]
    fn what_has_no_equivalent_is_named() {
        for regex in [r"a|b", r"(?!x)y", r"a$", r"(x+)", r"\d+"] {
            assert!(translate(regex, &GroupWords::new()).is_err(), "{regex}");
        }
    }
}
