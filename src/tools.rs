//! What `--tools` says: the names of tools, and the types of their arguments.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The tools that there are.
#[derive(Clone, Debug, Default)]
pub struct Tools(HashMap<String, Tool>);

/// One tool, as far as the text of its arguments is concerned.
#[derive(Clone, Debug, Default)]
pub struct Tool {
    arguments: HashMap<String, Types>,
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
    /// Reads tool definitions in any of the shapes that are in use: OpenAI's
    /// (nested or flat), Anthropic's, Gemini's, the answer to MCP's
    /// `tools/list`, or a map of names to JSON Schemas. Fails with a sentence
    /// that says what was found instead.
    pub fn parse(json: &str) -> Result<Self, String> {
        let value: Value =
            serde_json::from_str(json).map_err(|error| format!("not JSON: {error}"))?;
        let mut tools = Tools::default();
        tools.collect(&value);
        if tools.0.is_empty() {
            return Err("no tool definitions: expected OpenAI, Anthropic, Gemini or MCP tools, \
                        or an object of names and JSON Schemas"
                .into());
        }
        Ok(tools)
    }

    /// Whether there is a tool of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The types that an argument may have, if its schema says so.
    pub fn types(&self, tool: &str, argument: &str) -> Option<Types> {
        self.0.get(tool)?.arguments.get(argument).copied()
    }

    fn collect(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            Value::Object(object) => self.collect_object(object),
            _ => {}
        }
    }

    fn collect_object(&mut self, object: &Map<String, Value>) {
        for key in ["tools", "functionDeclarations", "function_declarations", "function", "result"]
        {
            if let Some(inner) =
                object.get(key).filter(|inner| inner.is_object() || inner.is_array())
            {
                return self.collect(inner);
            }
        }
        if let Some(Value::String(name)) = object.get("name") {
            let schemas = ["parameters", "input_schema", "inputSchema", "parametersJsonSchema"];
            let schema = schemas.iter().find_map(|key| object.get(*key));
            return self.add(name, schema.unwrap_or(&Value::Null));
        }
        for (name, schema) in object.iter().filter(|(_, schema)| schema.is_object()) {
            self.add(name, schema);
        }
    }

    fn add(&mut self, name: &str, schema: &Value) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let arguments = properties.into_iter().flatten();
        let arguments = arguments.map(|(key, schema)| (key.clone(), Types::of(schema, 0)));
        self.0.insert(name.to_owned(), Tool { arguments: arguments.collect() });
    }
}

/// How deeply a schema's alternatives are followed.
const MAX_ALTERNATIVES: usize = 8;

impl Types {
    /// Nothing but a string: the type of an argument that no schema speaks of.
    pub const STRING: Types = Types {
        null: false,
        boolean: false,
        integer: false,
        number: false,
        object: false,
        array: false,
        string: true,
    };

    /// Anything: the type of a bare word that no schema speaks of.
    pub const ANY: Types = Types {
        null: true,
        boolean: true,
        integer: true,
        number: true,
        object: true,
        array: true,
        string: true,
    };

    fn of(schema: &Value, depth: usize) -> Types {
        let mut types = Types::default();
        match schema.get("type") {
            Some(Value::String(name)) => types.add(name),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).for_each(|name| types.add(name))
            }
            _ => {}
        }
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            types.null = true;
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            let alternatives = schema.get(key).and_then(Value::as_array).into_iter().flatten();
            for alternative in alternatives.filter(|_| depth < MAX_ALTERNATIVES) {
                types = types.or(Types::of(alternative, depth + 1));
            }
        }
        let constants = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        for constant in
            constants.chain(schema.get("const")).filter(|_| schema.get("type").is_none())
        {
            types.add_value(constant);
        }
        if types == Types::default() { Types::STRING } else { types }
    }

    fn add(&mut self, name: &str) {
        match name.to_ascii_lowercase().as_str() {
            "null" => self.null = true,
            "boolean" | "bool" => self.boolean = true,
            "integer" | "int" => self.integer = true,
            "number" | "float" => self.number = true,
            "object" | "dict" => self.object = true,
            "array" | "list" => self.array = true,
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

    #[test]
    fn what_is_no_definition_is_said() {
        assert!(Tools::parse("[]").unwrap_err().contains("no tool definitions"));
        assert!(Tools::parse("{").unwrap_err().contains("not JSON"));
    }
}
