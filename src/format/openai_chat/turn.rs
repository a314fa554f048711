//! The next request of Chat Completions: the assistant's message, and a message for each result.

use serde_json::value::RawValue;

use crate::event::{Output, is_no_id};
use crate::format::support::answers::{Given, functions, given, is_answer, is_typed, plain, user};
use crate::format::support::draft::{Draft, each_record, is_blank, object, string};
use crate::format::support::object::Object;
use crate::format::support::payload::OptionalStr;
use crate::format::turn::{
    Answer, Appended, Call, Ending, Incomplete, Request, Shape, System, ToolChoice, Turn,
    no_content,
};
use crate::frame::Frame;
use crate::json;
use crate::json::{array, elements};

pub(in crate::format) static SHAPE: Shape = Shape {
    name: "openai-chat",
    marks: &[
        "tools.*.function",
        "functions",
        "messages.*.tool_calls",
        "messages.*.tool_call_id",
        "messages.*.role=system",
        "messages.*.role=developer",
        "messages.*.content.*.type=image_url",
        "messages.*.content.*.type=input_audio",
        "max_completion_tokens",
        "response_format",
        "stream_options",
    ],
};

/// The system's message.
pub(in crate::format) const SYSTEM: System = System {
    paths: &[],
    form: |text| Draft::of(&[("role", "\"system\""), ("content", &json::quote(text))]).json(),
};

pub(in crate::format) static REQUEST: Request = Request {
    list: "messages",
    shape: &SHAPE,
    endpoint: "/chat/completions",
    marks: &[],
    by_id: None,
    turn: |choice| Box::new(ChatTurn { choice, ..ChatTurn::default() }),
    fit,
    is_answer,
    paused: &[],
    calls,
    results,
    user,
    system: SYSTEM,
    new: r#"{"model":"","messages":[],"stream":true}"#,
    tools: |tools| ("tools", functions(tools)),
    choice: Some(&ToolChoice {
        paths: &["tool_choice", "function_call"],
        relax,
        none: Some("\"none\""),
    }),
};

/// Leaves a choice of tools to the model, if it is forced: see [`ToolChoice::relax`].
pub(crate) fn relax(json: &str) -> Option<String> {
    let mut choice = Draft::new(json);
    let mode = string(json).or_else(|| Object::new(json).word("allowed_tools.mode"));
    match mode.as_deref() {
        Some("auto" | "none") => None,
        Some(_) if !choice.is_empty() => {
            choice.inside("allowed_tools", |allowed| allowed.set("mode", "\"auto\""));
            Some(choice.json())
        }
        _ => Some("\"auto\"".into()),
    }
}

/// Members that the next request must not hold: those for reading only, or of the stream.
const READ_ONLY: &[&str] = &[
    "annotations",
    "content_list",
    "finish_reason",
    "index",
    "logprobs",
    "obfuscation",
    "parsed",
    "parsed_arguments",
    "provider_specific_fields",
    "token_ids",
    "usage",
];

/// The message of one choice, as far as it has come.
#[derive(Default)]
struct ChatTurn {
    choice: u64,
    message: Draft,
    /// The parts of the content, where it is a list.
    parts: Option<Vec<Draft>>,
    details: Vec<Draft>,
    calls: Vec<Fragments>,
    /// The number of calls when the choice finished; 0 before.
    finished: usize,
}

/// A call, as far as it has come.
#[derive(Default)]
struct Fragments {
    index: Option<String>,
    /// All members but the next two.
    call: Draft,
    function: Draft,
    custom: Draft,
}

impl Turn for ChatTurn {
    fn feed(&mut self, frame: &Frame<'_>) {
        each_record(frame, |record| {
            for choice in record.each("choices") {
                let choice = Object::new(choice);
                let number = choice.get("index").and_then(|index| index.parse().ok());
                if number.unwrap_or(0) == self.choice {
                    self.choice(&choice);
                }
            }
        });
    }

    fn size(&self) -> usize {
        let parts = self.parts.iter().flatten().chain(&self.details);
        let calls = self.calls.iter().flat_map(|call| [&call.call, &call.function, &call.custom]);
        self.message.size() + parts.chain(calls).map(Draft::size).sum::<usize>()
    }

    fn finish(&mut self, ending: &Ending) -> Result<Appended, Incomplete> {
        let ChatTurn { mut message, parts, details, mut calls, .. } = std::mem::take(self);
        ending.retain(&mut calls, |call| id(&call.call), |_| true);
        let calls: Vec<_> = calls.into_iter().filter_map(Fragments::json).collect();
        if let Some(parts) = parts.filter(|parts| !parts.is_empty()) {
            message.set("content", array(parts.iter().map(Draft::json)));
        }
        if !details.is_empty() {
            message.set("reasoning_details", array(details.iter().map(Draft::json)));
        }
        finish_members(&mut message);
        if !calls.is_empty() {
            message.set("tool_calls", array(calls));
        }
        let has_calls = message.get("tool_calls").or(message.get("function_call")).is_some();
        let content = message.get("content");
        let is_blank = content.is_none_or(|content| is_blank(content) || content == "[]");
        let has_more = ["refusal", "audio", "images"].iter().any(|key| message.get(key).is_some());
        if !has_calls && is_blank && !has_more {
            return Err(no_content(ending));
        }
        if content.is_none() {
            message.set_first("content", "null");
        }
        message.set_first("role", "\"assistant\"");
        Ok(Appended { append: vec![message.json()], set: Vec::new() })
    }
}

/// Takes off a message what must not go back.
fn finish_members(message: &mut Draft) {
    READ_ONLY.iter().for_each(|key| drop(message.remove(key)));
    let empty: Vec<_> = message
        .members()
        .filter(|(key, json)| *key != "content" && matches!(*json, "\"\"" | "[]" | "{}"))
        .map(|(key, _)| key.to_owned())
        .collect();
    empty.iter().for_each(|key| drop(message.remove(key)));
    if let Some(audio) = message.remove("audio")
        && let Some(id) = Draft::new(&audio).word("id")
    {
        // The bytes are the server's to keep.
        message.set("audio", Draft::of(&[("id", &json::quote(&id))]).json());
    }
    if let Some(function) = message.remove("function_call") {
        let mut function = Draft::new(&function);
        if function.word("name").is_some() {
            set_arguments(&mut function);
            message.set("function_call", function.json());
        }
    }
}

impl ChatTurn {
    fn choice(&mut self, choice: &Object<'_>) {
        let (delta, whole) = (choice.get("delta"), choice.get("message"));
        let is_blank = |json: &str| {
            let content = Object::new(json).get("content|tool_calls");
            content.is_none_or(|json| is_blank(json) || !json.starts_with(['"', '[', '{']))
        };
        // Perplexity sends a `message` beside each `delta`, and an empty `delta` in a body.
        let is_body = match (delta, whole) {
            (Some(delta), Some(whole)) => {
                self.message.is_empty() && is_blank(delta) && !is_blank(whole)
            }
            (delta, _) => delta.is_none(),
        };
        let message = if is_body { whole } else { delta };
        for (key, value) in json::members(message.unwrap_or_default()) {
            self.member(&key, value, is_body);
        }
        if choice.text("finish_reason").reason().is_some() {
            self.finished = self.calls.len();
        }
    }

    fn member(&mut self, key: &str, value: &RawValue, is_body: bool) {
        let json = value.get();
        match key {
            _ if json == "null" => {}
            "content" => self.content(json),
            "tool_calls" => {
                // TGI sent one call by itself.
                for call in elements(json).unwrap_or_else(|| vec![json]) {
                    self.call(call, is_body);
                }
            }
            "reasoning_details" => {
                for detail in elements(json).unwrap_or_default() {
                    self.detail(detail, is_body);
                }
            }
            "function_call" | "audio" => {
                self.message.inside(key, |inner| {
                    inner.join_all(json);
                    inner.remove("data");
                });
            }
            // Other texts come whole.
            _ if json.starts_with('"') && !JOINED.contains(&key) => self.message.set(key, json),
            _ => self.message.join(key, json),
        }
    }

    /// Adds to the content: text, or parts of it.
    fn content(&mut self, json: &str) {
        let Some(list) = elements(json) else {
            match self.parts.as_mut().filter(|_| json != "\"\"") {
                Some(parts) => add_part(parts, Draft::of(&[("type", "\"text\""), ("text", json)])),
                None => self.message.join("content", json),
            }
            return;
        };
        let parts = self.parts.get_or_insert_with(|| {
            let text = self.message.get("content").filter(|text| !matches!(*text, "\"\"" | "[]"));
            text.map(|text| Draft::of(&[("type", "\"text\""), ("text", text)]))
                .into_iter()
                .collect()
        });
        self.message.set("content", "[]");
        list.iter().for_each(|part| add_part(parts, Draft::new(part)));
    }

    /// Adds a detail of the reasoning. In a stream, the pieces of one index and type are one
    /// detail; what is encrypted is never joined.
    fn detail(&mut self, json: &str, is_body: bool) {
        let detail = Draft::new(json);
        let is_same = |last: &&mut Draft| {
            ["type", "index"].iter().all(|key| last.get(key) == detail.get(key))
                && detail.text("type").as_deref() != Some("reasoning.encrypted")
        };
        match self.details.last_mut().filter(|last| !is_body && is_same(last)) {
            Some(last) => {
                for (key, json) in detail.members() {
                    match key {
                        "text" | "summary" | "data" => last.join(key, json),
                        _ => last.set(key, json),
                    }
                }
            }
            None => self.details.push(detail),
        }
    }

    fn call(&mut self, json: &str, is_body: bool) {
        let mut piece = Draft::new(json);
        let index = piece.remove("index").map(|index| index.trim_matches('"').to_owned());
        let function = Draft::new(&piece.remove("function").unwrap_or_default());
        let custom = Draft::new(&piece.remove("custom").unwrap_or_default());
        let name = function.word("name").or_else(|| custom.word("name"));
        let has_arguments = function.get("arguments").is_some_and(|json| !is_blank(json));
        let name = name.as_deref();
        let at = match is_body {
            true => None,
            false => self.find(&piece, index.as_deref(), name, has_arguments),
        };
        let at = at.unwrap_or_else(|| {
            self.calls.push(Fragments { index, ..Fragments::default() });
            self.calls.len() - 1
        });
        // A call that could be run when its choice finished has all of its arguments.
        let has_finished = at < self.finished;
        if let Some(call) =
            self.calls.get_mut(at).filter(|call| !has_finished || !call.is_complete())
        {
            call.add(&piece, &function, &custom);
        }
    }

    /// Returns which call a fragment belongs to, as the contract has it: by a known id; by a known
    /// index with no other id, or with one before whole arguments, if there is no name; without
    /// both the latest, if there is no name. After whole arguments, another name, or a name with
    /// more of them, is of another call.
    fn find(
        &self,
        piece: &Draft,
        index: Option<&str>,
        name: Option<&str>,
        has_arguments: bool,
    ) -> Option<usize> {
        let new_id = id(piece);
        let is_next = |call: &Fragments| {
            let is_next =
                |name| has_arguments || call.name().is_some_and(|own| own.as_str() != name);
            call.is_whole() && name.is_some_and(is_next)
        };
        let goes_on = |call: &Fragments| {
            name.is_none() && call.name().is_some() && !(has_arguments && call.is_whole())
        };
        if new_id.is_some()
            && let Some(at) = self.calls.iter().rposition(|call| id(&call.call) == new_id)
        {
            return Some(at).filter(|at| !self.calls.get(*at).is_some_and(is_next));
        }
        if index.is_some() {
            let at = self.calls.iter().rposition(|call| call.index.as_deref() == index)?;
            let call = self.calls.get(at)?;
            let has_other_id = new_id.is_some() && id(&call.call).is_some();
            return Some(at).filter(|_| (!has_other_id || goes_on(call)) && !is_next(call));
        }
        (new_id.is_none() && name.is_none()).then(|| self.calls.len().checked_sub(1)).flatten()
    }
}

/// Members of a delta that are pieces of one text.
const JOINED: &[&str] =
    &["content", "reasoning_content", "reasoning", "reasoning_text", "refusal", "thinking"];

/// Adds a part of the content: text continues text, and a thought a thought.
fn add_part(parts: &mut Vec<Draft>, part: Draft) {
    let kind = part.text("type");
    let last = parts.last_mut().filter(|last| last.text("type") == kind);
    match (last, kind.as_deref()) {
        (Some(last), Some("text")) => last.join("text", part.get("text").unwrap_or("null")),
        (Some(last), Some("thinking")) => {
            for (key, json) in part.members() {
                match key {
                    "thinking" => add_thoughts(last, json),
                    "signature" => last.join(key, json),
                    _ => last.set(key, json),
                }
            }
        }
        _ => parts.push(part),
    }
}

/// Adds to a thought, which is text, or a list of parts.
fn add_thoughts(thought: &mut Draft, json: &str) {
    let before = thought.get("thinking").and_then(elements);
    let (Some(before), Some(new)) = (before, elements(json)) else {
        return thought.join("thinking", json);
    };
    let mut parts: Vec<_> = before.into_iter().map(Draft::new).collect();
    new.into_iter().for_each(|part| add_part(&mut parts, Draft::new(part)));
    thought.set("thinking", array(parts.iter().map(Draft::json)));
}

/// The id of a call, if there is one.
fn id(call: &Draft) -> Option<String> {
    call.word("id").filter(|id| !is_no_id(id))
}

impl Fragments {
    fn name(&self) -> Option<String> {
        self.function.word("name").or_else(|| self.custom.word("name"))
    }

    fn is_whole(&self) -> bool {
        self.function.get("arguments").is_some_and(|json| !is_blank(json) && object(json).is_some())
    }

    /// True if it could be run as it is.
    fn is_complete(&self) -> bool {
        self.is_whole() || self.custom.get("input").is_some_and(|json| json != "\"\"")
    }

    fn add(&mut self, piece: &Draft, function: &Draft, custom: &Draft) {
        let is_new = |(key, json): &(&str, &str)| *json != "\"\"" || self.call.get(key).is_none();
        for (key, json) in piece.members().filter(is_new).collect::<Vec<_>>() {
            if key != "id" || id(&self.call).is_none() {
                self.call.set(key, json);
            }
        }
        for (own, new) in [(&mut self.function, function), (&mut self.custom, custom)] {
            for (key, json) in new.members() {
                match key {
                    "arguments" | "input" => own.join(key, json),
                    "name" => add_name(own, json),
                    _ => own.set(key, json),
                }
            }
        }
    }

    /// Returns the call; none if it has no name.
    fn json(self) -> Option<String> {
        let Fragments { mut call, mut function, custom, .. } = self;
        // Snowflake sends both, one of them empty.
        match function.word("name") {
            Some(_) => {
                set_arguments(&mut function);
                call.set("type", "\"function\"");
                call.set("function", function.json());
            }
            None => {
                custom.word("name")?;
                call.set("type", "\"custom\"");
                call.set("custom", custom.json());
            }
        }
        Some(call.json())
    }
}

/// A name may be repeated on each fragment, grow, or come in pieces.
fn add_name(function: &mut Draft, json: &str) {
    let (own, new) = (function.text("name").unwrap_or_default(), string(json).unwrap_or_default());
    let has_arguments = function.get("arguments").is_some_and(|json| !is_blank(json));
    if own.is_empty() || (!has_arguments && own != new) {
        let is_longer = new.starts_with(&own);
        if is_longer { function.set("name", json) } else { function.join("name", json) }
    }
}

/// Makes the arguments the text of an object: as the model wrote it, if it is one.
pub(in crate::format) fn set_arguments(function: &mut Draft) {
    let json = function.get("arguments").unwrap_or("null");
    let arguments = object(json).unwrap_or_else(|| "{}".to_owned());
    if string(json).is_none_or(|text| text.trim_ascii() != arguments) {
        function.set("arguments", json::quote(&arguments));
    }
}

/// Gives an id that is new in the conversation to each call that has none.
fn fit(request: &str, append: Vec<String>) -> Vec<String> {
    let before = Object::new(request).each("messages");
    let before: usize = before.iter().map(|json| Object::new(json).each("tool_calls").len()).sum();
    let fit = |json: String| {
        let mut message = Draft::new(&json);
        let list = message.get("tool_calls").and_then(elements).unwrap_or_default();
        let mut calls: Vec<_> = list.into_iter().map(Draft::new).collect();
        // Gemini's ids are blank. One by itself is told from no other.
        let is_only = calls.len() == 1 && calls.iter().all(|call| call.get("id").is_some());
        if is_only || calls.iter().all(|call| id(call).is_some()) {
            return json;
        }
        for (at, call) in calls.iter_mut().enumerate().filter(|(_, call)| id(call).is_none()) {
            call.set_first("id", json::quote(&format!("call_{}", before + at)));
        }
        message.set("tool_calls", array(calls.iter().map(Draft::json)));
        if message.get("content").is_none() {
            message.set_first("content", "null");
            message.set_first("role", "\"assistant\"");
        }
        message.json()
    };
    append.into_iter().map(fit).collect()
}

/// Returns the calls of the messages of a turn.
pub(in crate::format) fn calls(append: &[String]) -> Vec<Call> {
    let mut calls = Vec::new();
    for message in append {
        let message = Object::new(message);
        for json in message.each("tool_calls") {
            let call = Object::new(json);
            let name = call.word("function.name|custom.name").unwrap_or_default();
            let kind = call.get("custom").map(|_| "custom".to_owned());
            calls.push(Call { id: call.word("id"), name, kind, json: json.to_owned() });
        }
        if let Some(json) = message.get("function_call") {
            let name = Object::new(json).word("name").unwrap_or_default();
            let kind = Some("function_call".to_owned());
            calls.push(Call { id: None, name, kind, json: json.to_owned() });
        }
    }
    calls
}

/// Returns a message for each result, and one of the user's with their media, which a result can't
/// hold.
fn results(answers: &[Answer<'_>]) -> Vec<String> {
    let mut messages: Vec<_> = answers.iter().map(result).collect();
    let given: Vec<_> = answers.iter().map(|answer| given(answer.output)).collect();
    let media = given.iter().flat_map(Given::media);
    let parts: Vec<_> = media
        .filter(|(mime, _)| mime.starts_with("image/"))
        .map(|(mime, data)| {
            let url = json::quote(&format!("data:{mime};base64,{data}"));
            let url = Draft::of(&[("url", &url)]).json();
            Draft::of(&[("type", "\"image_url\""), ("image_url", &url)]).json()
        })
        .collect();
    if !parts.is_empty() {
        let content = array(parts);
        messages.push(Draft::of(&[("role", "\"user\""), ("content", &content)]).json());
    }
    messages
}

fn result(answer: &Answer<'_>) -> String {
    let content = match (given(answer.output), answer.output) {
        // The provider's own parts.
        (Given::List(_), Output::Json(json)) if is_typed(json) => json::minify(json),
        _ => json::quote(&plain(answer)),
    };
    if answer.call.kind.as_deref() == Some("function_call") {
        let name = json::quote(&answer.call.name);
        return Draft::of(&[("role", "\"function\""), ("name", &name), ("content", &content)])
            .json();
    }
    let mut message = Draft::of(&[("role", "\"tool\"")]);
    if let Some(id) = Draft::new(&answer.call.json).get("id") {
        message.set("tool_call_id", id);
    }
    message.set("content", content);
    message.json()
}
