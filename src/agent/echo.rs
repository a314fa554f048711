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
    /// What was said so far, by all, in order.
    said: Vec<String>,
    config: Config,
    /// The calls in them, once they were looked for.
    examples: OnceLock<Vec<Example>>,
    conversation: OnceLock<Conversation>,
    /// The number of calls of the conversation up to the last one that the answer has told again.
    told: Cell<usize>,
}

/// The words of what was said so far, without marks, and the calls in it.
struct Conversation {
    words: Vec<String>,
    calls: Vec<ToldCall>,
}

/// A call in what was said so far: the number of words before it, and of those in its own text.
struct ToldCall {
    at: usize,
    own_words: usize,
    call: Example,
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
        let (mut texts, mut said) = (Vec::new(), Vec::new());
        if let Ok(request) = serde_json::from_str(request) {
            gather_said("", &request, &mut said);
            gather(request, &mut texts);
        }
        RequestTexts {
            texts: texts.into(),
            said,
            config: config.clone(),
            examples: OnceLock::new(),
            conversation: OnceLock::new(),
            told: Cell::new(0),
        }
    }

    pub(super) fn texts(&self) -> Arc<[String]> {
        Arc::clone(&self.texts)
    }

    /// True if a call stands in one of the texts as it does in the answer, with these words before it
    /// in both, or in what was said so far, which the answer tells again.
    pub(super) fn holds(&self, call: &ToolCall<'_>, before: &str) -> bool {
        let examples = self.examples.get_or_init(|| {
            self.texts.iter().flat_map(|text| examples(text, &self.config).0).collect()
        });
        let spaced = words(before);
        let is_marked = !spaced.is_empty() && unmarked(&spaced).next().is_none();
        let is_example = |example: &Example| {
            let is_after = match example.before.is_empty() {
                true => is_marked,
                false => spaced.ends_with(&example.before),
            };
            example.is(call) && is_after
        };
        examples.iter().any(is_example) || self.is_told(call, before)
    }

    /// True if the answer begins with what was said so far, up to this call.
    fn is_told(&self, call: &ToolCall<'_>, before: &str) -> bool {
        let Conversation { words, calls } =
            self.conversation.get_or_init(|| Conversation::of(&self.said, &self.config));
        let (told, own) = (self.told.get(), unmarked(before).collect::<Vec<_>>());
        let mut calls = calls.iter().enumerate();
        let found = calls.find(|(at, known)| {
            let goes_on = told > 0 && *at == told;
            let is_more = own.len() > known.own_words;
            let before = words.as_slice().before(known.at);
            known.call.is(call) && (goes_on || is_more && ends_with(before, &own))
        });
        self.told.set(found.map_or(told, |(at, _)| at + 1));
        found.is_some()
    }
}

impl Conversation {
    fn of(said: &[String], config: &Config) -> Conversation {
        let (mut words, mut calls) = (Vec::<String>::new(), Vec::new());
        for text in said {
            let (own, text) = examples(text, config);
            let own_words: Vec<&str> = unmarked(&text).collect();
            // An answer that begins with what was said before it has said no more than the rest.
            let mut told = (1..=own_words.len().min(words.len())).rev();
            let told =
                told.find(|length| ends_with(&words, own_words.before(*length))).unwrap_or(0);
            let begin = words.len() - told;
            calls.extend(own.into_iter().map(|call| {
                let count = unmarked(&call.before).count();
                ToldCall { at: begin + count, own_words: count.saturating_sub(told), call }
            }));
            words.extend(own_words.into_iter().skip(told).map(str::to_owned));
        }
        Conversation { words, calls }
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

/// Gathers what was said, by all: the strings in members that are called so.
fn gather_said(key: &str, value: &Value, said: &mut Vec<String>) {
    const SAID: [&str; 8] =
        ["content", "text", "parts", "prompt", "system", "input", "output", "instructions"];
    match value {
        Value::String(text) if SAID.contains(&key) => said.push(text.clone()),
        Value::Array(elements) => elements.iter().for_each(|value| gather_said(key, value, said)),
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| gather_said(key, value, said));
        }
        _ => {}
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
