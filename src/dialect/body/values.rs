//! The values of the open call's arguments, of which the machine finds the borders.

use crate::dialect::body::calls::{ChoiceEmit, StreamedValue, TextCalls};
use crate::dialect::body::elements::Elements;
use crate::dialect::body::{value, yaml};
use crate::dialect::spec::{Parameters, Untyped};
use crate::event::{Done, Reason};
use crate::json::{self, Scanner};
use crate::tools::{Schema, Types};

/// The opener of an argument's value.
pub(crate) struct Opener<'o> {
    pub(crate) key: &'o str,
    /// The type that the model wrote beside it.
    pub(crate) kind: Option<&'o str>,
    pub(crate) form: Parameters,
}

impl TextCalls {
    /// True if a value is open.
    pub(crate) fn has_value(&self) -> bool {
        !self.values.is_empty()
    }

    /// True if the open value may hold elements.
    pub(crate) fn may_nest(&self) -> bool {
        self.values.last().is_some_and(|value| value.elements.is_some())
    }

    /// Returns the schema of the open call's arguments.
    pub(crate) fn schema(&self) -> Option<Schema<'_>> {
        self.tools.as_ref()?.schema(self.name()?)
    }

    /// Returns the types that the schema allows for an argument, or for an element of
    /// the open value.
    fn declared(&self, key: &str, item: &str) -> Option<Types> {
        let mut schema = self.schema()?;
        let mut is_outermost = true;
        for key in self.values.iter().map(|value| value.key.as_str()).chain([key]) {
            let is_item = key == item && !is_outermost;
            schema = if is_item { schema.items() } else { schema.property(key) };
            is_outermost = false;
        }
        schema.types()
    }

    /// Begins an argument, or an element of the open one.
    pub(crate) fn open_value(&mut self, opener: &Opener, emit: &mut ChoiceEmit) -> Done {
        self.begin(emit)?;
        let Parameters { item, untyped, .. } = opener.form;
        let (key, is_nested) = (opener.key, !item.is_empty());
        let declared = match opener.kind {
            Some("true" | "string" | "str") => Some(Types::STRING),
            Some(_) => Some(Types { string: false, ..Types::ANY }),
            None => self.declared(key, item),
        };
        let Some(call) = &mut self.open else { return Ok(()) };
        let is_declared = opener.kind.is_some() && declared != Some(Types::STRING);
        let types = declared.or((untyped == Untyped::Text).then_some(Types::STRING));
        let is_too_deep = self.values.len() >= json::MAX_DEPTH;
        if is_too_deep {
            call.fault.get_or_insert(Reason::Malformed);
        }
        let may_nest =
            is_nested && !is_too_deep && declared.is_none_or(|types| types.object || types.array);
        let is_streaming = types == Some(Types::STRING) && !is_nested;
        let has_keys = call.has_keys;
        call.has_keys |= !is_nested;
        self.values.push(StreamedValue {
            key: if is_nested { key.to_owned() } else { String::new() },
            types,
            is_declared,
            text: String::new(),
            is_streaming,
            scanner: types.filter(|types| !types.string && !is_nested).map(|_| Scanner::default()),
            is_yaml: false,
            is_nested,
            elements: may_nest.then(|| Elements::new(item)),
        });
        if is_nested {
            return Ok(());
        }
        self.write(emit, |text| {
            text.push_str(if has_keys { "," } else { "{" });
            json::quote_into(key, text);
            text.push_str(if is_streaming { ":\"" } else { ":" });
        })
    }

    /// Begins the arguments, in YAML.
    pub(crate) fn open_yaml(&mut self, emit: &mut ChoiceEmit) -> Done {
        self.begin(emit)?;
        self.values.push(StreamedValue { is_yaml: true, ..StreamedValue::default() });
        Ok(())
    }

    /// Takes a piece of the open value. A string's text is emitted as it comes; what
    /// may have another type waits for its end.
    pub(crate) fn feed_value(&mut self, text: &str, emit: &mut ChoiceEmit) -> Done {
        self.push_raw(text);
        let Some(value) = self.values.last_mut() else { return Ok(()) };
        if let Some(scanner) = &mut value.scanner {
            scanner.push_all(text.as_bytes());
        }
        if self.is_over {
            return Ok(());
        }
        if !value.is_streaming {
            value.text.push_str(text);
            return Ok(());
        }
        self.write(emit, |escaped| json::escape_into(text, escaped))
    }

    /// True if the open value is JSON and inside one of its strings, where a closer
    /// is text.
    pub(crate) fn is_in_string(&self) -> bool {
        let value = self.values.last();
        value.and_then(|value| value.scanner.as_ref()).is_some_and(Scanner::is_in_string)
    }

    /// Closes the open value, if there is one.
    pub(crate) fn close_value(&mut self, emit: &mut ChoiceEmit) -> Done {
        let Some(value) = self.values.pop() else { return Ok(()) };
        if value.is_yaml {
            return match yaml::object(&value.text, self.schema()) {
                Some(json) => self.arguments(&json, emit),
                None => self.fault(Reason::Malformed, emit),
            };
        }
        if value.is_streaming {
            return self.fragment("\"", emit);
        }
        let json = match &value.elements {
            Some(elements) if !elements.is_empty() => elements.value(&value.text, value.types),
            // JSON that the model began and that can't be read is no string.
            _ if value.is_declared && value::is_broken(&value.text, value.types) => {
                return self.fault(Reason::Malformed, emit);
            }
            _ => value::encode_or_empty(&value.text, value.types),
        };
        if !value.is_nested {
            return self.fragment(&json, emit);
        }
        if let Some(call) = self.open.as_mut().filter(|_| !self.is_over) {
            let outer = self.values.last_mut().and_then(|outer| outer.elements.as_mut());
            outer.unwrap_or(&mut call.elements).push(value.key, json);
        }
        Ok(())
    }
}
