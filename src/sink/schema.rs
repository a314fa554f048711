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

/// One of each kind of event, in the order of the schema: what it is, and what
/// the schema says of it beside its members.
fn events() -> Vec<(Kind<'static>, &'static str, &'static str)> {
    let failure = Failure::new(Code::Malformed, "", None);
    let call = ToolCall::new(0, "", "", CallInput::Text(""));
    let invalid = InvalidToolCall {
        index: 0,
        id: None,
        name: None,
        arguments_raw: "",
        reason: Reason::Malformed,
        source: None,
    };
    let warning = Warning::new(WarningCode::Malformed, "");
    let delta = ToolCallDelta { index: 0, arguments: "", is_free: false, is_ours: true };
    let value = ToolCallValue { index: 0, path: "", value: Output::Text("") };
    vec![
        (Kind::Start(Start::default()), "The first line of each message.", ""),
        (
            Kind::Prompt(Prompt::default()),
            "What the message answers, where the input has it; only with `--prompts`.",
            "",
        ),
        (Kind::Text(Text::new("")), "A piece of the answer. The pieces joined are byte-exact.", ""),
        (
            Kind::Reasoning(Reasoning::default()),
            "A piece of the model's thinking.",
            r#""anyOf": [{"required": ["text"]}, {"required": ["signature"]}, {"required": ["redacted"]}]"#,
        ),
        (Kind::Refusal(""), "A piece of a refusal.", ""),
        (
            Kind::ToolCallStart(ToolCallStart { index: 0, id: "", name: "" }),
            "A call has a name; only with `--deltas`. It is not safe to run yet.",
            "",
        ),
        (Kind::ToolCallDelta(delta), "A piece of a call's arguments; only with `--deltas`.", ""),
        (
            Kind::ToolCallValue(value),
            "What is known of one place in a call's arguments; only with `--values`. A preview: only \
             a `tool_call` may run.",
            r#""oneOf": [{"required": ["value"]}, {"required": ["text"]}]"#,
        ),
        (
            Kind::ToolCall(call),
            "A whole call, strictly parsed, from a call that the provider closed: safe to run, \
             unless it has an executor.",
            r#""oneOf": [{"required": ["arguments"]}, {"required": ["input"]}]"#,
        ),
        (Kind::InvalidToolCall(invalid), "A call that must never be run.", ""),
        (
            Kind::ToolResult(ToolResult::default()),
            "A result that is in the input: of a tool that the provider or an agent ran.",
            "",
        ),
        (
            Kind::Block(Block { name: "", text: "", attributes: None }),
            "A metadata region, a citation, an annotation, generated media.",
            "",
        ),
        (Kind::Warning(warning), "An inference or a repair: nothing is guessed in silence.", ""),
        (
            Kind::ProviderEvent(ProviderEvent { event: None, data: Output::Text("") }),
            "A provider's event that has no meaning here; only with `--raw`.",
            "",
        ),
        (
            Kind::Turn(Turn { append: "", set: None }),
            "What the next request has to hold of the message; only with `--turn`.",
            "",
        ),
        (Kind::Usage(Usage::default()), "What the message cost, in tokens. Absent is not 0.", ""),
        (Kind::Finish(Finish::new(FinishReason::Stop)), "The last line of a good message.", ""),
        (Kind::Error(failure), "The last line of a bad message.", ""),
    ]
}

/// The events of an agent beside those of its messages.
fn of_agents() -> [(Kind<'static>, &'static str, &'static str); 2] {
    let end = RunEnd { reason: EndReason::Interrupted, rounds: 0, calls: 0, usage: None };
    [
        (
            Kind::ToolStart(ToolCallStart { index: 0, id: "", name: "" }),
            "A tool begins to run; only from `agent` and `next`.",
            "",
        ),
        (Kind::RunEnd(end), "The last line of `agent`.", ""),
    ]
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
    for (kind, about, more) in events().into_iter().chain(of_agents()) {
        let Some(name) = members::name(&kind) else { continue };
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
