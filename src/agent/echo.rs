//! What COMMAND was sent, in an answer that is plain text: a program that prints its prompt again
//! makes a call of no example in it.

use std::cell::Cell;
use std::io;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::cut::Cut as _;
use crate::dressing::From;
use crate::event::{Event, Kind, ToolCall};
use crate::format;
use crate::pipeline::{Config, Pipeline};
use crate::sink::Sink;

/// The texts of a request.
pub(super) struct RequestTexts {
    /// Those that are not the model's own.
    texts: Arc<[String]>,
    all: Vec<RequestText>,
    config: Config,
    /// The calls in them, once they were looked for.
    known: OnceLock<KnownCalls>,
    /// The number of calls of the conversation up to the last one that the answer has told again.
    told: Cell<usize>,
}

/// A text of a request.
struct RequestText {
    text: String,
    /// True if it is the model's own.
    is_models: bool,
    /// True if it is a part of the conversation, whoever said it.
    is_said: bool,
}

/// The calls in the texts of a request, and the words of the conversation, without marks.
#[derive(Default)]
struct KnownCalls {
    /// Those in texts that are not the model's own.
    examples: Vec<Arc<Example>>,
    words: Vec<String>,
    told: Vec<ToldCall>,
}

/// A call of the conversation: the number of words before it, and of those in its own text.
struct ToldCall {
    at: usize,
    own_words: usize,
    call: Arc<Example>,
}

/// A call in a text, and the words before it.
#[derive(Debug, PartialEq)]
struct Example {
    before: String,
    name: String,
    input: String,
}

impl Example {
    fn is(&self, call: &ToolCall<'_>) -> bool {
        self.name == call.name && self.input == call.input.as_str()
    }
}

impl RequestTexts {
    /// Reads a request; answers to it are read as `config` says.
    pub(super) fn new(request: &str, config: &Config) -> RequestTexts {
        let mut all = Vec::new();
        if let Ok(request) = serde_json::from_str(request) {
            gather("", &request, false, &mut all);
        }
        let others = all.iter().filter(|text| !text.is_models);
        let (texts, config) = (others.map(|text| text.text.clone()).collect(), config.clone());
        RequestTexts { texts, all, config, known: OnceLock::new(), told: Cell::new(0) }
    }

    pub(super) fn texts(&self) -> Arc<[String]> {
        Arc::clone(&self.texts)
    }

    /// True if a call stands in one of the texts as it does in the answer, with these words before it
    /// in both, or in what was said so far, which the answer tells again.
    pub(super) fn holds(&self, call: &ToolCall<'_>, before: &str) -> bool {
        let known = self.known.get_or_init(|| KnownCalls::of(&self.all, &self.config));
        let spaced = words(before);
        let is_marked = !spaced.is_empty() && unmarked(&spaced).next().is_none();
        let is_example = |example: &Arc<Example>| {
            let is_after = match example.before.is_empty() {
                true => is_marked,
                false => spaced.ends_with(&example.before),
            };
            example.is(call) && is_after
        };
        known.examples.iter().any(is_example) || self.is_told(known, call, before)
    }

    /// True if the answer begins with what was said so far, up to this call.
    fn is_told(&self, known: &KnownCalls, call: &ToolCall<'_>, before: &str) -> bool {
        let (told, own) = (self.told.get(), unmarked(before).collect::<Vec<_>>());
        let mut calls = known.told.iter().enumerate();
        let found = calls.find(|(at, it)| {
            let goes_on = told > 0 && *at == told;
            let is_more = own.len() > it.own_words;
            let before = known.words.as_slice().before(it.at);
            it.call.is(call) && (goes_on || is_more && ends_with(before, &own))
        });
        self.told.set(found.map_or(told, |(at, _)| at + 1));
        found.is_some()
    }
}

impl KnownCalls {
    fn of(texts: &[RequestText], config: &Config) -> KnownCalls {
        let mut known = KnownCalls::default();
        for RequestText { text, is_models, is_said } in texts {
            if *is_models && !is_said {
                continue;
            }
            let (calls, text) = examples(text, config);
            let calls: Vec<_> = calls.into_iter().map(Arc::new).collect();
            if *is_said {
                known.tell(&calls, &text);
            }
            if !is_models {
                known.examples.extend(calls);
            }
        }
        known
    }

    /// Adds a text of the conversation, and the calls in it.
    fn tell(&mut self, calls: &[Arc<Example>], text: &str) {
        let own: Vec<&str> = unmarked(text).collect();
        // An answer that begins with what was said before it has said no more than the rest.
        let mut told = (1..=own.len().min(self.words.len())).rev();
        let told = told.find(|length| ends_with(&self.words, own.before(*length))).unwrap_or(0);
        let begin = self.words.len() - told;
        self.told.extend(calls.iter().map(|call| {
            let count = unmarked(&call.before).count();
            let own_words = count.saturating_sub(told);
            ToldCall { at: begin + count, own_words, call: Arc::clone(call) }
        }));
        self.words.extend(own.into_iter().skip(told).map(str::to_owned));
    }
}

/// True if these words end with some others.
fn ends_with(words: &[String], others: &[&str]) -> bool {
    let begin = words.len().checked_sub(others.len());
    begin.and_then(|begin| words.get(begin..)).is_some_and(|end| end == others)
}

/// True for what templates of chats put between what is said: `[INST]`, `User:`, `###`.
fn is_mark(word: &str) -> bool {
    word.ends_with(':') || word.contains(['[', ']', '<', '>', '|', '#'])
}

/// Returns the words of a text, without marks.
fn unmarked(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter(|word| !is_mark(word))
}

/// Gathers the texts in a JSON value, which stands under a key, in what the model said or elsewhere.
fn gather(key: &str, value: &Value, is_models: bool, all: &mut Vec<RequestText>) {
    const SAID: [&str; 8] =
        ["content", "text", "parts", "prompt", "system", "input", "output", "instructions"];
    match value {
        Value::String(text) => {
            let (text, is_said) = (text.clone(), SAID.contains(&key));
            all.push(RequestText { text, is_models, is_said });
        }
        Value::Array(elements) => {
            elements.iter().for_each(|value| gather(key, value, is_models, all));
        }
        Value::Object(members) => {
            let role = members.get("role").and_then(Value::as_str);
            let is_models = is_models || matches!(role, Some("assistant" | "model"));
            members.iter().for_each(|(key, value)| gather(key, value, is_models, all));
        }
        _ => {}
    }
}

/// Returns the calls in a text, and what it says beside them.
fn examples(text: &str, config: &Config) -> (Vec<Example>, String) {
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
    (calls.1, calls.0)
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
        assert!(holds("g", "[INST] Say [/INST] I "));
        assert!(!holds("g", "Then "));
    }
}
