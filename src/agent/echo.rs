//! What COMMAND was sent, in an answer that is plain text: a program that prints its prompt again
//! makes a call of no example in it.

use std::io;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::dressing::From;
use crate::event::{Event, Kind, ToolCall};
use crate::format;
use crate::pipeline::{Config, Pipeline};
use crate::sink::Sink;

/// The texts of a request that are not the model's own.
pub(super) struct RequestTexts {
    texts: Arc<[String]>,
    config: Config,
    /// The calls in them, once they were looked for.
    examples: OnceLock<Vec<Example>>,
}

/// A call in a text, and the words before it.
#[derive(Debug, PartialEq)]
struct Example {
    before: String,
    name: String,
    input: String,
}

impl RequestTexts {
    /// Reads a request; answers to it are read as `config` says.
    pub(super) fn new(request: &str, config: &Config) -> RequestTexts {
        let mut texts = Vec::new();
        if let Ok(request) = serde_json::from_str(request) {
            gather(request, &mut texts);
        }
        let (texts, config) = (texts.into(), config.clone());
        RequestTexts { texts, config, examples: OnceLock::new() }
    }

    pub(super) fn texts(&self) -> Arc<[String]> {
        Arc::clone(&self.texts)
    }

    /// True if a call stands in one of the texts as it does in the answer, with these words before it
    /// in both.
    pub(super) fn holds(&self, call: &ToolCall<'_>, before: &str) -> bool {
        let examples = self.examples.get_or_init(|| {
            self.texts.iter().flat_map(|text| examples(text, &self.config)).collect()
        });
        let before = words(before);
        examples.iter().any(|example| {
            example.name == call.name
                && example.input == call.input.as_str()
                && !example.before.is_empty()
                && before.ends_with(&example.before)
        })
    }
}

/// Gathers the texts in a JSON value, but for those of the model.
fn gather(value: Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(elements) => elements.into_iter().for_each(|value| gather(value, texts)),
        Value::Object(members) => {
            let role = members.get("role").and_then(Value::as_str);
            if !matches!(role, Some("assistant" | "model")) {
                members.into_iter().for_each(|(_, value)| gather(value, texts));
            }
        }
        _ => {}
    }
}

/// Returns the calls in a text.
fn examples(text: &str, config: &Config) -> Vec<Example> {
    struct EchoedCalls(String, Vec<Example>);

    impl Sink for EchoedCalls {
        fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
            match event.kind {
                Kind::ToolCall(call) => self.1.push(Example {
                    before: words(&self.0),
                    name: call.name.to_owned(),
                    input: call.input.as_str().to_owned(),
                }),
                kind => self.0.extend(kind.text()),
            }
            Ok(())
        }
    }

    let config = Config {
        format: format::find("text"),
        framing: None,
        from: From::None,
        turn: false,
        ..config.clone()
    };
    let mut calls = EchoedCalls(String::new(), Vec::new());
    let mut pipeline = Pipeline::new(&config);
    // The sink never fails, and a pipeline only fails if it does.
    let _ = pipeline.feed(text.as_bytes(), &mut calls).and_then(|()| pipeline.finish(&mut calls));
    calls.1
}

/// Returns the words of a text, with one space between two.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::CallInput;

    #[test]
    fn examples_of_a_request_are_known_by_what_stands_before_them() {
        let example = "Say <tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>";
        let request = serde_json::json!({"messages": [
            {"role": "system", "content": [{"type": "text", "text": example}]},
            {"role": "assistant", "content": "I <tool_call>{\"name\":\"g\",\"arguments\":{}}</tool_call>"},
        ]});
        let sent = RequestTexts::new(&request.to_string(), &Config::default());
        let holds = |name: &str, before: &str| {
            sent.holds(&ToolCall::new(0, "", name, CallInput::Arguments("{}")), before)
        };
        assert!(holds("f", "system:\nSay\n"));
        assert!(!holds("f", ""));
        assert!(!holds("f", "I say so"));
        assert!(!holds("g", "I "));
    }
}
