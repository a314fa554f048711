//! The answers that a request holds: they say which one comes next.
//!
//! A client may send more messages of the model's than it was given (examples, the beginning of an
//! answer), fewer (it forgets), or others (it tries again). An answer counts if its words or its
//! calls are there.

use std::io;

use serde_json::Value;

use crate::capture::file::Capture;
use crate::convert::{self, OneMessage, Options, UniqueIds};
use crate::cut::Cut as _;
use crate::event::{CallInput, Event, Kind, Start};
use crate::format::support::object::Object;
use crate::format::{NativeCall, Request};
use crate::pipeline::{Config, Pipeline};
use crate::sink::Sink;

/// The fewest characters, without white space, of a text that is looked for in a longer one.
const ENOUGH: usize = 16;

/// The answer that a capture is, as far as a server has to know it.
#[derive(Debug, Default)]
pub(crate) struct HeldAnswer {
    /// The provider's id of the message.
    pub(crate) id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) created: Option<u64>,
    pub(crate) input_tokens: Option<u64>,
    /// Its text, without white space: clients trim.
    text: String,
    pub(crate) calls: Vec<GivenCall>,
    /// True if the capture holds more messages, which are sent only where it goes out as it is.
    pub(crate) is_first_of_several: bool,
    number: u64,
    unique: Option<UniqueIds>,
}

/// A call of an answer.
#[derive(Debug)]
pub(crate) struct GivenCall {
    /// The id in the capture, or in its place the one that it is sent with.
    id: String,
    pub(crate) name: String,
    input: String,
    /// True if the input is free text.
    pub(crate) is_free: bool,
}

impl HeldAnswer {
    /// Reads the first message of a capture, which is the one with this number.
    pub(crate) fn new(capture: &Capture, number: u64) -> Self {
        let config = Config { format: capture.format, ..Config::default() };
        let mut pipeline = Pipeline::new(&convert::config(&config, &Options::default()));
        let (mut given, mut seen) = (HeldAnswer { number, ..HeldAnswer::default() }, 0_u64);
        let mut sink = OneMessage::new(HeldReader(&mut given), None, &mut seen);
        // Writing to memory does not fail.
        let _ = pipeline.feed(&capture.bytes, &mut sink).and_then(|()| pipeline.finish(&mut sink));
        given.is_first_of_several = seen > 1;
        given
    }

    /// Returns what its first line says.
    pub(crate) fn start(&self) -> Start<'_> {
        let (id, model) = (self.id.as_deref(), self.model.as_deref());
        Start { id, model, created: self.created, ..Start::default() }
    }

    fn has_id(&self, id: &str) -> bool {
        self.calls.iter().any(|call| call.id == id)
    }
}

/// The sink that gathers an answer.
struct HeldReader<'g>(&'g mut HeldAnswer);

impl Sink for HeldReader<'_> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        let HeldReader(given) = self;
        if let Some(unique) = &mut given.unique {
            unique.see(event);
        }
        match event.kind {
            Kind::Start(start) => {
                given.unique = Some(UniqueIds::new(given.number, &start));
                given.id = start.id.map(str::to_owned);
                given.model = start.model.map(str::to_owned);
                given.created = start.created;
                given.input_tokens = start.input_tokens;
            }
            Kind::Text(piece) if event.choice == 0 => given.text.push_str(&bare(piece.text)),
            Kind::Usage(usage) => given.input_tokens = usage.input_tokens.or(given.input_tokens),
            Kind::ToolCall(call) if event.choice == 0 && call.executor.is_none() => {
                let id = given.unique.as_ref().map_or(call.id.into(), |unique| unique.of(call.id));
                given.calls.push(GivenCall {
                    id: id.into_owned(),
                    name: call.name.to_owned(),
                    input: call.input.as_str().to_owned(),
                    is_free: matches!(call.input, CallInput::Text(_)),
                });
            }
            _ => {}
        }
        Ok(())
    }
}

impl GivenCall {
    /// True if this is it, as a request shows it.
    fn is(&self, call: &NativeCall) -> bool {
        call.id.as_deref() == Some(&*self.id) || self.is_like(call)
    }

    /// True if it has the same name and input.
    fn is_like(&self, call: &NativeCall) -> bool {
        let own = Object::new(&call.json);
        let input = own.get("function.arguments|arguments|input|args");
        let value = |json: &str| serde_json::from_str::<Value>(json).ok();
        let is_same = |json: &str| match value(json) {
            Some(Value::String(text)) => {
                text == self.input
                    || value(&text).is_some_and(|own| Some(own) == value(&self.input))
            }
            own => own == value(&self.input),
        };
        // The input of a tool with a type of its own is in another form.
        self.name == call.name && (call.kind.is_some() || input.is_none_or(is_same))
    }
}

/// Returns the number of the answer that comes next: the one after the last of these that the
/// request holds, in their order.
pub(crate) fn next(answers: &[&HeldAnswer], request: &Object<'_>, row: Option<&Request>) -> usize {
    let Some(row) = row else { return 0 };
    let list = request.each(row.list);
    // Where the provider keeps the conversation, the request names the answer before.
    if let Some(last) = row.by_id.and_then(|key| request.word(key)) {
        let is_last = |(_, given): &(usize, &&HeldAnswer)| given.id.as_deref() == Some(&*last);
        let mut named = answers.iter().enumerate().filter(is_last);
        if let (Some((at, _)), None) = (named.next(), named.next()) {
            return at + 1;
        }
        let ids: Vec<String> =
            list.iter().filter_map(|item| Object::new(item).word("call_id")).collect();
        let has_result = |given: &&HeldAnswer| ids.iter().any(|id| given.has_id(id));
        return answers.iter().rposition(has_result).map_or(0, |at| at + 1);
    }
    let mut next = 0;
    for own in list.chunk_by(|one, other| (row.is_answer)(one) && (row.is_answer)(other)) {
        if !own.first().is_some_and(|element| (row.is_answer)(element)) {
            continue;
        }
        let mut turn = HeldTurn::new(own, row);
        while let Some(at) = turn.take(answers.after(next)) {
            next += at + 1;
        }
    }
    next
}

/// What the model said without a word of the user's between, as a request shows it.
struct HeldTurn {
    calls: Vec<NativeCall>,
    /// The strings of each name in an element, without white space: a text may have come in pieces.
    texts: Vec<(String, String)>,
    /// True if there was nothing of it.
    is_empty: bool,
}

impl HeldTurn {
    fn new(elements: &[&str], row: &Request) -> Self {
        let owned: Vec<String> = elements.iter().map(|json| (*json).to_owned()).collect();
        let calls = (row.calls)(&owned);
        let mut texts = Vec::new();
        for element in elements {
            let mut own = Vec::new();
            if let Ok(value) = serde_json::from_str(element) {
                gather("", &value, &mut own);
            }
            texts.extend(own);
        }
        let is_empty = calls.is_empty() && texts.is_empty();
        HeldTurn { calls, texts, is_empty }
    }

    /// Takes out the first of these answers that is in it, and returns its place: one with the id of
    /// a call in it before those that are only alike.
    fn take(&mut self, answers: &[&HeldAnswer]) -> Option<usize> {
        let has_id = |given: &&HeldAnswer| {
            self.calls.iter().filter_map(|call| call.id.as_deref()).any(|id| given.has_id(id))
        };
        let place = answers.iter().position(has_id);
        let place = place.or_else(|| answers.iter().position(|given| self.is_alike(given)))?;
        let given = answers.get(place)?;
        for call in &given.calls {
            if let Some(at) = self.calls.iter().position(|own| call.is(own)) {
                self.calls.remove(at);
            }
        }
        if let Some((at, begin)) = self.find(&given.text)
            && let Some((_, text)) = self.texts.get_mut(at)
        {
            text.replace_range(begin..begin + given.text.len(), "");
        }
        self.is_empty = false;
        Some(place)
    }

    /// True if it has the words or a call of an answer.
    fn is_alike(&self, given: &HeldAnswer) -> bool {
        let is_here = |call: &GivenCall| self.calls.iter().any(|own| call.is_like(own));
        match given.text.is_empty() && given.calls.is_empty() {
            true => self.is_empty,
            false => given.calls.iter().any(is_here) || self.find(&given.text).is_some(),
        }
    }

    /// Returns the place of a text, if it is all of one, or long enough.
    fn find(&self, text: &str) -> Option<(usize, usize)> {
        let found = |(at, (_, own)): (usize, &(String, String))| match own == text {
            true => Some((at, 0)),
            false if text.chars().nth(ENOUGH - 1).is_some() => Some((at, own.find(text)?)),
            false => None,
        };
        self.texts.iter().enumerate().filter(|_| !text.is_empty()).find_map(found)
    }
}

/// Joins the strings of each name in a value, but for those of thoughts.
fn gather(key: &str, value: &Value, texts: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => match texts.iter_mut().find(|(name, _)| name == key) {
            Some((_, joined)) => joined.push_str(&bare(text)),
            None if !matches!(key, "role" | "type" | "id") => {
                texts.push((key.to_owned(), bare(text)))
            }
            None => {}
        },
        Value::Array(list) => list.iter().for_each(|value| gather(key, value, texts)),
        Value::Object(members) => {
            let is_thought = members.get("thought") == Some(&Value::Bool(true))
                || members
                    .get("type")
                    .is_some_and(|kind| kind == "reasoning" || kind == "thinking");
            for (key, value) in members.iter().filter(|_| !is_thought) {
                gather(key, value, texts);
            }
        }
        _ => {}
    }
}

/// Returns a text without white space.
fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
