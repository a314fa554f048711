//! The tools of `--tools`: their names, and the types of their arguments.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;

use serde_json::{Map, Value};

use crate::event::in_namespace;
use crate::json;

/// The tools that there are: their names, and the schemas of their arguments.
#[derive(Clone, Debug, Default)]
pub struct Tools(HashMap<String, Value>);

/// The members of a definition that may hold the schema of its arguments.
pub(crate) const SCHEMAS: &[&str] =
    &["parameters", "input_schema", "inputSchema", "parametersJsonSchema"];

/// The reason why tool definitions can't be used.
#[derive(Debug)]
pub enum ToolsError {
    /// The text is not JSON.
    NotJson(String),
    /// The JSON holds no tool definitions.
    NoTools,
}

impl fmt::Display for ToolsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolsError::NotJson(error) => write!(f, "not JSON: {error}"),
            ToolsError::NoTools => f.write_str(
                "no tool definitions: expected OpenAI, Anthropic, Gemini or MCP tools, or an \
                 object of names and JSON Schemas",
            ),
        }
    }
}

// Its text is all of it: a source would be said twice.
impl Error for ToolsError {}

/// A place in a tool's schema: all the schemas that apply to it.
#[derive(Clone, Debug)]
pub struct Schema<'t> {
    root: &'t Value,
    nodes: Vec<&'t Value>,
}

/// The JSON types that a value may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Types {
    /// `null`.
    pub null: bool,
    /// `true` and `false`.
    pub boolean: bool,
    /// A number without a fraction.
    pub integer: bool,
    /// Any number.
    pub number: bool,
    /// An object.
    pub object: bool,
    /// An array.
    pub array: bool,
    /// A string.
    pub string: bool,
}

impl Tools {
    /// Parses tool definitions in any of the shapes that are in use: OpenAI's (nested or flat),
    /// Anthropic's, Gemini's, the answer to MCP's `tools/list`, a map of names to JSON Schemas, or
    /// a whole request that has `tools`. One in a namespace goes by `NAMESPACE/NAME`.
    ///
    /// ```
    /// use toolstream::tools::Tools;
    ///
    /// let tools = Tools::parse(r#"[{"name": "f", "input_schema": {"type": "object"}}]"#)?;
    /// assert!(tools.has("f"));
    /// # Ok::<(), toolstream::tools::ToolsError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, ToolsError> {
        let misread = |error| ToolsError::NotJson(json::misread(text, &error));
        let value: Value = serde_json::from_str(text).map_err(misread)?;
        let mut tools = Tools::default();
        tools.collect(None, &value);
        if tools.0.is_empty() {
            return Err(ToolsError::NoTools);
        }
        Ok(tools)
    }

    /// True if there is a tool of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the schema of a tool's arguments.
    pub fn schema(&self, tool: &str) -> Option<Schema<'_>> {
        self.0.get(tool).map(|root| Schema { root, nodes: vec![root] })
    }

    /// Returns the types that an argument may have, if its schema restricts them.
    pub fn types(&self, tool: &str, argument: &str) -> Option<Types> {
        self.schema(tool)?.property(argument).types()
    }

    fn collect(&mut self, namespace: Option<&str>, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect(namespace, item)),
            Value::Object(object) => self.collect_object(namespace, object),
            _ => {}
        }
    }

    fn collect_object(&mut self, namespace: Option<&str>, object: &Map<String, Value>) {
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let is_namespace = text("type") == Some("namespace");
        let namespace = text("name").filter(|_| is_namespace).or(namespace);
        for key in ["tools", "functionDeclarations", "function_declarations", "function", "result"]
        {
            if let Some(inner) =
                object.get(key).filter(|inner| inner.is_object() || inner.is_array())
            {
                return self.collect(namespace, inner);
            }
        }
        if let Some(Value::String(name)) = object.get("name") {
            let schema = SCHEMAS.iter().find_map(|key| object.get(*key));
            let name = namespace.map_or(name.clone(), |namespace| in_namespace(namespace, name));
            self.0.insert(name, schema.cloned().unwrap_or(Value::Null));
            return;
        }
        let schemas = object.iter().filter(|(_, schema)| schema.is_object());
        self.0.extend(schemas.map(|(name, schema)| (name.clone(), schema.clone())));
    }
}

/// The maximum number of schemas read for one value: they may refer to each other
/// without end.
const MAX_SCHEMAS: usize = 256;

impl<'t> Schema<'t> {
    /// Returns the schema of a member.
    pub fn property(&self, key: &str) -> Schema<'t> {
        self.below(&|schema| {
            let named = schema.get("properties").and_then(|properties| properties.get(key));
            named.or_else(|| schema.get("additionalProperties"))
        })
    }

    /// Returns the schema of an array's elements.
    pub fn items(&self) -> Schema<'t> {
        self.below(&|schema| schema.get("items"))
    }

    /// Returns the types that a value here may have, or `None` if the schema doesn't
    /// restrict them.
    pub fn types(&self) -> Option<Types> {
        let mut budget = MAX_SCHEMAS;
        let each = self.nodes.iter().map(|node| self.types_of(node, &mut budget));
        each.reduce(Types::or).filter(|types| *types != Types::ANY && *types != Types::default())
    }

    fn below(&self, step: &dyn Fn(&'t Value) -> Option<&'t Value>) -> Schema<'t> {
        let mut found = Schema { root: self.root, nodes: Vec::new() };
        let mut open = self.nodes.clone();
        for _ in 0..MAX_SCHEMAS {
            let Some(schema) = open.pop() else { break };
            found.nodes.extend(step(schema));
            open.extend(self.target(schema));
            open.extend(["anyOf", "oneOf", "allOf"].iter().flat_map(|key| list(schema, key)));
        }
        found
    }

    /// Returns the schema that another one refers to.
    fn target(&self, schema: &Value) -> Option<&'t Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(&decoded(pointer)?)
    }

    /// Returns the types that satisfy all of a schema. References that can't be found
    /// or never end restrict nothing.
    fn types_of(&self, schema: &Value, budget: &mut usize) -> Types {
        if *budget == 0 {
            return Types::ANY;
        }
        *budget -= 1;
        let is_nullable = schema.get("nullable") == Some(&Value::Bool(true));
        let mut types = Types::ANY;
        if let Some(target) = self.target(schema) {
            let target = self.types_of(target, budget);
            types = types.and(Types { null: target.null || is_nullable, ..target });
        }
        if let Some(names) = schema.get("type") {
            let names = names.as_array().map_or(std::slice::from_ref(names), Vec::as_slice);
            let mut named = Types { null: is_nullable, ..Types::default() };
            names.iter().filter_map(Value::as_str).for_each(|name| named.add(name));
            types = types.and(named);
        }
        for key in ["anyOf", "oneOf"].into_iter().filter(|key| schema.get(key).is_some()) {
            let mut any = Types { null: is_nullable, ..Types::default() };
            for alternative in list(schema, key) {
                any = any.or(self.types_of(alternative, budget));
            }
            types = types.and(any);
        }
        // One that holds for every value of its types: its negation holds for none.
        let is_only_type = |not: &Map<String, Value>| not.keys().all(|key| key == "type");
        let not = schema.get("not");
        if let Some(not) = not.filter(|not| not.as_object().is_some_and(is_only_type)) {
            types = types.and(self.types_of(not, budget).not());
        }
        for part in list(schema, "allOf") {
            types = types.and(self.types_of(part, budget));
        }
        if schema.get("enum").or(schema.get("const")).is_some() {
            let mut constants = Types::default();
            let values = list(schema, "enum").chain(schema.get("const"));
            values.for_each(|value| constants.add_value(value));
            types = types.and(constants);
        }
        types
    }
}

/// Returns a URI's text with its percent escapes decoded.
fn decoded(text: &str) -> Option<String> {
    let (first, rest) =
        text.split_once('%').map_or((text, None), |(first, rest)| (first, Some(rest)));
    let mut bytes = first.as_bytes().to_vec();
    for part in rest.iter().flat_map(|rest| rest.split('%')) {
        let (code, literal) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend(literal.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

/// Returns the schemas of a list inside a schema.
fn list<'t>(schema: &'t Value, key: &str) -> impl Iterator<Item = &'t Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

impl Types {
    /// Nothing but a string: the type of an argument without a schema.
    pub const STRING: Types = Types {
        null: false,
        boolean: false,
        integer: false,
        number: false,
        object: false,
        array: false,
        string: true,
    };

    /// Anything: the type of a bare word without a schema.
    pub const ANY: Types = Types {
        null: true,
        boolean: true,
        integer: true,
        number: true,
        object: true,
        array: true,
        string: true,
    };

    /// Adds a type by its name: JSON Schema's, or what programs call such types.
    fn add(&mut self, name: &str) {
        let name = name.to_ascii_lowercase();
        let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        match name.as_str() {
            "null" => self.null = true,
            "boolean" | "bool" => self.boolean = true,
            "object" | "dict" => self.object = true,
            "array" | "list" => self.array = true,
            _ if begins(&["int", "uint", "long"]) => self.integer = true,
            _ if begins(&["number", "float", "double"]) => {
                (self.integer, self.number) = (true, true);
            }
            _ => self.string = true,
        }
    }

    fn add_value(&mut self, value: &Value) {
        self.add(match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        });
    }

    fn and(self, other: Types) -> Types {
        Types {
            null: self.null & other.null,
            boolean: self.boolean & other.boolean,
            integer: self.integer & other.integer,
            number: self.number & other.number,
            object: self.object & other.object,
            array: self.array & other.array,
            string: self.string & other.string,
        }
    }

    /// Returns all other types. Integers are numbers.
    fn not(self) -> Types {
        Types {
            null: !self.null,
            boolean: !self.boolean,
            integer: !self.integer && !self.number,
            number: !self.number,
            object: !self.object,
            array: !self.array,
            string: !self.string,
        }
    }

    fn or(self, other: Types) -> Types {
        Types {
            null: self.null | other.null,
            boolean: self.boolean | other.boolean,
            integer: self.integer | other.integer,
            number: self.number | other.number,
            object: self.object | other.object,
            array: self.array | other.array,
            string: self.string | other.string,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str) {
        let tools = Tools::parse(json).unwrap();
        assert!(tools.has("f"), "{json}");
        let types = tools.types("f", "n").unwrap();
        assert_eq!((types.integer, types.null, types.string), (true, true, false), "{json}");
    }

    #[test]
    fn every_shape_of_definitions() {
        let schema = r#"{"type":"object","properties":{"n":{"type":["integer","null"]}}}"#;
        check(&format!(
            r#"[{{"type":"function","function":{{"name":"f","parameters":{schema}}}}}]"#
        ));
        check(&format!(r#"[{{"type":"function","name":"f","parameters":{schema}}}]"#));
        check(&format!(r#"{{"tools":[{{"name":"f","input_schema":{schema}}}]}}"#));
        check(&format!(r#"[{{"functionDeclarations":[{{"name":"f","parameters":{schema}}}]}}]"#));
        check(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{{"name":"f","inputSchema":{schema}}}]}}}}"#
        ));
        check(&format!(r#"{{"f":{schema}}}"#));
    }

    /// Returns the types that the argument `a` of a tool with this schema may have, by the text of
    /// an example of each type.
    #[track_caller]
    fn check_types(schema: &str, expected: Option<&str>) {
        let tools = Tools::parse(&format!(r#"{{"f":{schema}}}"#)).unwrap();
        let names = |types: Types| {
            let all = [
                (types.null, "null"),
                (types.boolean, "true"),
                (types.integer, "1"),
                (types.number, "1.5"),
                (types.object, "{}"),
                (types.array, "[]"),
                (types.string, "text"),
            ];
            let names: Vec<_> = all.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
            names.join(" ")
        };
        assert_eq!(tools.types("f", "a").map(names).as_deref(), expected, "{schema}");
    }

    #[track_caller]
    fn check_argument(schema: &str, expected: Option<&str>) {
        check_types(&format!(r#"{{"properties":{{"a":{schema}}}}}"#), expected);
    }

    #[test]
    fn all_that_a_schema_says_holds() {
        check_argument("{}", None);
        check_argument(r#"{"type":"number"}"#, Some("1 1.5"));
        for name in ["int", "int32", "Int64", "uint8", "long", "longlong"] {
            check_argument(&format!(r#"{{"type":"{name}"}}"#), Some("1"));
        }
        for name in ["float", "float32", "double"] {
            check_argument(&format!(r#"{{"type":"{name}"}}"#), Some("1 1.5"));
        }
        check_argument(r#"{"type":"string","nullable":true}"#, Some("null text"));
        check_argument(r#"{"type":["string","null"],"const":"null"}"#, Some("text"));
        check_argument(
            r#"{"type":"string","anyOf":[{"type":"null"},{"type":"string"}]}"#,
            Some("text"),
        );
        check_argument(r#"{"anyOf":[{"type":"object"},{"const":null}]}"#, Some("null {}"));
        check_argument(r#"{"oneOf":[{"type":"null"},{}]}"#, None);
        check_argument(r#"{"allOf":[{"type":["string","null"]},{"type":"string"}]}"#, Some("text"));
    }

    #[test]
    fn references_are_followed_as_far_as_they_lead() {
        let check = |schema: &str, expected| {
            let definitions = r##"{"Count":{"type":"integer"},"a/b ~cé":{"type":"integer"},
                "Alias":{"$ref":"#/$defs/Count"},
                "Loop":{"anyOf":[{"$ref":"#/$defs/Loop"},{"$ref":"#/$defs/Loop"}]}}"##;
            check_types(
                &format!(r#"{{"properties":{{"a":{schema}}},"$defs":{definitions}}}"#),
                expected,
            );
        };
        check(r##"{"$ref":"#/$defs/Alias"}"##, Some("1"));
        check(r##"{"anyOf":[{"$ref":"#/$defs/Count"},{"type":"null"}]}"##, Some("null 1"));
        check(r##"{"anyOf":[{"$ref":"#/$defs/Missing"},{"type":"null"}]}"##, None);
        check(r##"{"$ref":"#/$defs/Loop"}"##, None);
        check(r##"{"$ref":"#/%24defs/a~1b%20~0c%C3%A9"}"##, Some("1"));
        check(r##"{"$ref":"#/$defs/a~1b%2"}"##, None);
        check(r##"{"$ref":"#/$defs/Count","nullable":true}"##, Some("null 1"));
        check(r##"{"type":["null","integer"],"not":{"type":"null"}}"##, Some("1"));
        check(r##"{"type":"integer","not":{"type":"integer","minimum":3}}"##, Some("1"));
        check_types(
            r##"{"$ref":"#/$defs/F","$defs":{"F":{"properties":{"a":{"type":"boolean"}}}}}"##,
            Some("true"),
        );
        check_types(r#"{"additionalProperties":{"type":"integer"}}"#, Some("1"));
    }

    #[test]
    fn what_is_no_definition_is_said() {
        assert!(Tools::parse("[]").unwrap_err().to_string().contains("no tool definitions"));
        assert!(Tools::parse("{").unwrap_err().to_string().contains("not JSON"));
    }
}
