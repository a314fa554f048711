//! The JSON Schema of all lines, made of the members that the lines are made of.

use crate::event::{
    Block, CallInput, Code, EndReason, Failure, Finish, FinishReason, InvalidToolCall, Kind,
    Output, Prompt, ProviderEvent, Reason, Reasoning, RunEnd, Start, Text, ToolCall, ToolCallDelta,
    ToolCallStart, ToolCallValue, ToolResult, Turn, Usage, Warning, WarningCode,
};
use crate::json;
use crate::sink::classify::{GatheredMessage, SummaryEnding, Type};
use crate::sink::members::{self, Form, InnerEvents, MemberValue, Members};

/// The members that any line may have.
const LABELS: &[(&str, &str)] = &[
    (
        "choice",
        r#"{"type": "integer", "minimum": 1, "description": "Which of several alternative answers this belongs to; absent for the first one."}"#,
    ),
    ("file", r#"{"type": "string", "description": "The input's name, when there are several."}"#),
    (
        "t_ms",
        r#"{"type": "integer", "minimum": 0, "description": "Milliseconds since the first byte; only with `--timing`."}"#,
    ),
];

/// One of each kind of event, in the order of the schema.
fn events() -> [Kind<'static>; 20] {
    let invalid = InvalidToolCall {
        index: 0,
        id: None,
        name: None,
        arguments_raw: "",
        reason: Reason::Malformed,
        source: None,
    };
    let call = ToolCallStart { index: 0, id: "", name: "" };
    let delta = ToolCallDelta { index: 0, arguments: "", is_free: false, is_ours: true };
    let end = RunEnd { reason: EndReason::Interrupted, rounds: 0, calls: 0, usage: None };
    [
        Kind::Start(Start::default()),
        Kind::Prompt(Prompt::default()),
        Kind::Text(Text::new("")),
        Kind::Reasoning(Reasoning::default()),
        Kind::Refusal(""),
        Kind::ToolCallStart(call),
        Kind::ToolCallDelta(delta),
        Kind::ToolCallValue(ToolCallValue { index: 0, path: "", value: Output::Text("") }),
        Kind::ToolCall(ToolCall::new(0, "", "", CallInput::Text(""))),
        Kind::InvalidToolCall(invalid),
        Kind::ToolResult(ToolResult::default()),
        Kind::Block(Block { name: "", text: "", attributes: None }),
        Kind::Warning(Warning::new(WarningCode::Malformed, "")),
        Kind::ProviderEvent(ProviderEvent { event: None, data: Output::Text("") }),
        Kind::Turn(Turn { append: "", set: None }),
        Kind::Usage(Usage::default()),
        Kind::Finish(Finish::new(FinishReason::Stop)),
        Kind::Error(Failure::new(Code::Malformed, "", None)),
        Kind::ToolStart(call),
        Kind::RunEnd(end),
    ]
}

/// What the schema says of an event beside its members.
fn clause(kind: &Kind<'_>) -> &'static str {
    match kind {
        Kind::Reasoning(_) => {
            r#""anyOf": [{"required": ["text"]}, {"required": ["signature"]}, {"required": ["redacted"]}]"#
        }
        Kind::ToolCallValue(_) => r#""oneOf": [{"required": ["value"]}, {"required": ["text"]}]"#,
        Kind::ToolCall(_) => r#""oneOf": [{"required": ["arguments"]}, {"required": ["input"]}]"#,
        _ => "",
    }
}

/// The schema of a summary beside its members.
const SUMMARY: &str = r#""if": {"properties": {"type": {"const": "error"}}},
      "then": {
        "properties": {"complete": {"const": false}, "finish_reason": {"const": "error"}},
        "required": ["error"]
      },
      "else": {
        "properties": {"complete": {"const": true}},
        "required": ["finish_reason"],
        "not": {"required": ["error"]}
      }"#;

/// Returns the JSON Schema of the event lines and of the summary.
pub fn schema() -> String {
    let mut refs = Vec::new();
    let mut definitions = Vec::new();
    let mut parts = Vec::new();
    for kind in events() {
        let Some(name) = members::name(&kind) else { continue };
        let (about, more) = (members::about(&kind), clause(&kind));
        refs.push(format!("        {{\"$ref\": \"#/$defs/{name}\"}}"));
        let line =
            ObjectSchema::line(format!("{{\"const\": \"{name}\"}}"), |to| members::of(&kind, to));
        definitions.push(line.definition(name, about, more));
        let mut part = ObjectSchema::default();
        members::of(&kind, &mut part);
        parts.push((name, part.definition(&format!("summary_{name}"), about, more)));
    }
    let gathered = GatheredMessage::default();
    let words: Vec<String> =
        Type::ALL.iter().map(|word| format!("`{}`: {}", word.name(), word.meaning())).collect();
    let of_type = member(&<Type as MemberValue>::schema(), &words.join(" "));
    let summary = ObjectSchema::line(of_type, |to| {
        gathered.members(&SummaryEnding::Good(Finish::new(FinishReason::Stop)), to)
    });
    let about = "One line of `toolstream classify`: one message.";
    definitions.push(summary.definition("summary", about, SUMMARY));
    let used = parts.into_iter().filter(|(name, _)| summary.parts.contains(name));
    definitions.extend(used.map(|(_, part)| part));
    definitions.extend(LABELS.iter().map(|(name, label)| format!("    \"{name}\": {label}")));
    format!(
        r##"{{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "toolstream, schema version {version}",
  "description": "The lines of `toolstream parse` (`#/$defs/event`) and of `toolstream classify` (`#/$defs/summary`).",
  "oneOf": [{{"$ref": "#/$defs/event"}}, {{"$ref": "#/$defs/summary"}}],
  "$defs": {{
    "event": {{
      "description": "One line of `toolstream parse`.",
      "oneOf": [
{refs}
      ]
    }},
{definitions}
  }}
}}
"##,
        version = crate::event::VERSION,
        refs = refs.join(",\n"),
        definitions = definitions.join(",\n"),
    )
}

/// The schema of one object.
#[derive(Default)]
struct ObjectSchema {
    /// Each member's name and schema.
    properties: Vec<(&'static str, String)>,
    required: Vec<&'static str>,
    /// The events that stand inside it as objects.
    parts: Vec<&'static str>,
}

impl ObjectSchema {
    /// A line: its type, its own members, and those that any line may have.
    fn line(of_type: String, members: impl FnOnce(&mut ObjectSchema)) -> Self {
        let mut object = ObjectSchema::default();
        object.properties.push(("type", of_type));
        object.required.push("type");
        members(&mut object);
        let labels = LABELS.iter().map(|&(name, _)| (name, reference(name)));
        object.properties.extend(labels);
        object
    }

    /// The object as a member of `$defs`. `more` is what else is asked of it.
    fn definition(&self, name: &str, about: &str, more: &str) -> String {
        let properties: Vec<String> = self
            .properties
            .iter()
            .map(|(name, schema)| format!("        \"{name}\": {schema}"))
            .collect();
        let mut clauses = vec![
            format!("\"description\": {}", json::quote(about)),
            "\"type\": \"object\"".to_owned(),
            format!("\"properties\": {{\n{}\n      }}", properties.join(",\n")),
        ];
        if !self.required.is_empty() {
            clauses.push(format!("\"required\": [\"{}\"]", self.required.join("\", \"")));
        }
        clauses.extend(Some(more.to_owned()).filter(|more| !more.is_empty()));
        clauses.push("\"additionalProperties\": false".to_owned());
        format!("    \"{name}\": {{\n      {}\n    }}", clauses.join(",\n      "))
    }

    fn add(&mut self, name: &'static str, schema: &str, about: &str) {
        self.properties.push((name, member(schema, about)));
    }
}

/// The schema of a member: its type, if it has one, and what it is.
fn member(schema: &str, about: &str) -> String {
    let comma = if schema.is_empty() { "" } else { ", " };
    format!("{{{schema}{comma}\"description\": {}}}", json::quote(about))
}

fn reference(name: &str) -> String {
    format!("{{\"$ref\": \"#/$defs/{name}\"}}")
}

impl Members for ObjectSchema {
    fn required<V: MemberValue>(&mut self, name: &'static str, _value: V, about: &'static str) {
        self.required.push(name);
        self.add(name, &V::schema(), about);
    }

    fn optional<V: MemberValue>(
        &mut self,
        name: &'static str,
        _value: Option<V>,
        about: &'static str,
    ) {
        self.add(name, &V::schema(), about);
    }

    fn inner(&mut self, name: &'static str, inner: InnerEvents<'_>, about: &'static str) {
        let InnerEvents { form, of, .. } = inner;
        self.parts.push(of);
        let reference = format!("\"$ref\": \"#/$defs/summary_{of}\"");
        let schema = match form {
            Form::Object => reference,
            Form::List => {
                format!("\"type\": \"array\", \"minItems\": 1, \"items\": {{{reference}}}")
            }
            Form::FullList => {
                self.required.push(name);
                format!("\"type\": \"array\", \"items\": {{{reference}}}")
            }
        };
        self.add(name, &schema, about);
    }
}
