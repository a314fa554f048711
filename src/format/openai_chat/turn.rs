//! The next request of Chat Completions: the assistant's message, and a message for each result.

use crate::event::is_no_id;
use crate::format::support::turn_prelude::*;
use crate::json::{RawJson, elements};

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
pub(in crate::format) const SYSTEM: System =
    System { paths: &[], form: |text| object_of!(line; "role": "system", "content": text) };

pub(in crate::format) static REQUEST: Request = Request {
    list: "messages",
    shape: &SHAPE,
    endpoints: &["/chat/completions"],
    streams: false,
    marks: &[],
    by_id: None,
    add,
    finish,
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
    let mode = json::string(json).or_else(|| Object::new(json).word("allowed_tools.mode"));
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
    "annotations", "content_list", "finish_reason", "index", "logprobs", "obfuscation", "parsed",
    "parsed_arguments", "provider_specific_fields", "token_ids", "usage",
];

fn add(turn: &mut TurnDraft, of: Of, piece: Piece<'_>) {
    if of == Of::Message {
        for (key, value) in json::members(piece.json) {
            add_member(&mut turn.message, &key, value, piece.is_whole);
        }
        return;
    }
    add_to_call(turn.objects.at(of, piece), Draft::new(piece.json));
}

fn finish(turn: &mut TurnDraft, ending: &Ending) -> Result<Appended, Incomplete> {
    let (mut message, mut calls) = (turn.message.take(), Vec::new());
    for mut call in turn.take(ending) {
        match call.remove("function_call") {
            Some(only) => message.set("function_call", only),
            None => calls.extend(finish_call(call)),
        }
    }
    if let Some(details) = message.remove("reasoning_details") {
        message.set("reasoning_details", details);
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

/// Takes off a message what must not go back.
fn finish_members(message: &mut Draft) {
    READ_ONLY.iter().for_each(|key| drop(message.remove(key)));
    let empty: Vec<_> = message
        .members()
        .filter(|(key, json)| *key != "content" && matches!(&**json, "\"\"" | "[]" | "{}"))
        .map(|(key, _)| key.to_owned())
        .collect();
    empty.iter().for_each(|key| drop(message.remove(key)));
    if let Some(audio) = message.remove("audio")
        && let Some(id) = Draft::new(&audio).word("id")
    {
        // The bytes are the server's to keep.
        message.set("audio", object_of!(line; "id": &*id));
    }
    if let Some(function) = message.remove("function_call") {
        let mut function = Draft::new(&function);
        if function.word("name").is_some() {
            set_arguments(&mut function);
            message.set("function_call", function.json());
        }
    }
}

fn add_member(message: &mut Draft, key: &str, value: RawJson<'_>, is_body: bool) {
    let json = value.get();
    match key {
        _ if json == "null" => {}
        // Calls reach the turn as objects of their own.
        "tool_calls" | "function_call" => {}
        "content" => add_content(message, json),
        "reasoning_details" => {
            for detail in elements(json).unwrap_or_default() {
                message.inside_list(key, |details| add_detail(details, detail, is_body));
            }
        }
        "audio" => {
            message.inside(key, |inner| {
                inner.join_all(json);
                inner.remove("data");
            });
        }
        // Other texts come whole.
        _ if json.starts_with('"') && !JOINED.contains(&key) => message.set(key, json),
        _ => message.join(key, json),
    }
}

/// Adds to the content: text, or parts of it.
fn add_content(message: &mut Draft, json: &str) {
    let text = |json: &str| Draft::of(&[("type", "\"text\""), ("text", json)]);
    let Some(new) = elements(json) else {
        return match message.list("content").filter(|_| json != "\"\"") {
            Some(parts) => add_part(parts, text(json)),
            None => message.join("content", json),
        };
    };
    let before = message.get("content").filter(|before| *before != "\"\"").map(text);
    message.inside_list("content", |parts| {
        parts.extend(before);
        new.into_iter().for_each(|part| add_part(parts, Draft::new(part)));
    });
}

/// Adds a detail of the reasoning. In a stream, the pieces of one index and type are one detail;
/// what is encrypted is never joined.
fn add_detail(details: &mut Vec<Draft>, json: &str, is_body: bool) {
    let detail = Draft::new(json);
    let is_same = |last: &&mut Draft| {
        ["type", "index"].iter().all(|key| last.get(key) == detail.get(key))
            && detail.text("type").as_deref() != Some("reasoning.encrypted")
    };
    match details.last_mut().filter(|last| !is_body && is_same(last)) {
        Some(last) => {
            for (key, json) in detail.members() {
                match key {
                    "text" | "summary" | "data" => last.join(key, &json),
                    _ => last.set(key, json),
                }
            }
        }
        None => details.push(detail),
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
                    "thinking" => add_thoughts(last, &json),
                    "signature" => last.join(key, &json),
                    _ => last.set(key, json),
                }
            }
        }
        _ => parts.push(part),
    }
}

/// Adds to a thought, which is text, or a list of parts.
fn add_thoughts(thought: &mut Draft, json: &str) {
    match (elements(json), thought.list("thinking")) {
        (Some(new), Some(parts)) => {
            new.into_iter().for_each(|part| add_part(parts, Draft::new(part)));
        }
        _ => thought.join("thinking", json),
    }
}

/// The id of a call, if there is one.
fn id(call: &Draft) -> Option<String> {
    call.word("id").filter(|id| !is_no_id(id))
}

/// Adds a fragment to a call.
fn add_to_call(call: &mut Draft, mut piece: Draft) {
    piece.remove("index");
    let inner = ["function", "custom"].map(|key| Some((key, piece.remove(key)?)));
    if inner == [None, None] && (piece.has("name") || piece.has("arguments")) {
        return call.inside("function_call", |only| join_function(only, &piece));
    }
    for (key, json) in piece.members() {
        let is_new = json != "\"\"" || !call.has(key);
        if is_new && (key != "id" || id(call).is_none()) {
            call.set(key, json);
        }
    }
    for (key, json) in inner.into_iter().flatten() {
        call.inside(key, |function| join_function(function, &Draft::new(&json)));
    }
}

/// Returns a call as a request has it; none if it has no name.
fn finish_call(mut call: Draft) -> Option<String> {
    let mut named = |key| {
        let inner = Draft::new(&call.remove(key)?);
        inner.word("name").is_some().then_some(inner)
    };
    // Snowflake sends both, one of them empty.
    match (named("function"), named("custom")) {
        (Some(mut function), _) => {
            set_arguments(&mut function);
            call.set("type", "\"function\"");
            call.set("function", function.json());
        }
        (None, custom) => {
            call.set("type", "\"custom\"");
            call.set("custom", custom?.json());
        }
    }
    Some(call.json())
}

/// Adds a fragment to a function: its arguments are pieces.
fn join_function(function: &mut Draft, piece: &Draft) {
    for (key, json) in piece.members() {
        match key {
            "arguments" | "parameters" | "input" => function.join(key, &json),
            "name" => add_name(function, &json),
            _ => function.set(key, json),
        }
    }
}

/// A name may be repeated on each fragment, grow, or come in pieces.
fn add_name(function: &mut Draft, json: &str) {
    let (own, new) =
        (function.text("name").unwrap_or_default(), json::string(json).unwrap_or_default());
    let has_arguments = function.get("arguments").is_some_and(|json| !is_blank(json));
    if own.is_empty() || (!has_arguments && own != new) {
        let is_longer = new.starts_with(&own);
        if is_longer { function.set("name", json) } else { function.join("name", json) }
    }
}

/// Gives the arguments their name: some servers name them as a schema does.
pub(in crate::format) fn rename_arguments(function: &mut Draft) {
    if let Some(parameters) = function.remove("parameters")
        && function.get("arguments").is_none()
    {
        function.set("arguments", parameters);
    }
}

pub(in crate::format) fn set_arguments(function: &mut Draft) {
    rename_arguments(function);
    function.set_object_text("arguments");
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
pub(in crate::format) fn calls(append: &[String]) -> Vec<NativeCall> {
    let mut calls = Vec::new();
    for message in append {
        let message = Object::new(message);
        for json in message.each("tool_calls") {
            let call = Object::new(json);
            let name = call.word("function.name|custom.name").unwrap_or_default();
            let kind = call.get("custom").map(|_| "custom".to_owned());
            calls.push(NativeCall { id: call.word("id"), name, kind, json: json.to_owned() });
        }
        if let Some(json) = message.get("function_call") {
            let name = Object::new(json).word("name").unwrap_or_default();
            let kind = Some("function_call".to_owned());
            calls.push(NativeCall { id: None, name, kind, json: json.to_owned() });
        }
    }
    calls
}

/// Returns a message for each result, and one of the user's with their media, which a result can't
/// hold.
fn results(answers: &[Answer<'_>]) -> Vec<String> {
    let mut messages: Vec<_> = answers.iter().map(result).collect();
    let given: Vec<_> = answers.iter().map(|answer| given(answer.output)).collect();
    let media = given.iter().flat_map(GivenAnswer::media);
    let parts: Vec<_> = media
        .filter(|(mime, _)| mime.starts_with("image/"))
        .map(|(mime, data)| {
            let url = format!("data:{mime};base64,{data}");
            object_of!(line; "type": "image_url", "image_url": { "url": &*url })
        })
        .collect();
    if !parts.is_empty() {
        messages.push(object_of!(line; "role": "user", "content": AsIs(&array(parts))));
    }
    messages
}

fn result(answer: &Answer<'_>) -> String {
    let content = match (given(answer.output), answer.output) {
        // The provider's own parts.
        (GivenAnswer::List(_), Output::Json(json)) if is_typed(json) => json::minify(json),
        _ => json::quote(&plain(answer)),
    };
    if answer.call.kind.as_deref() == Some("function_call") {
        let name = answer.call.name.as_str();
        return object_of!(line; "role": "function", "name": name, "content": AsIs(&content));
    }
    let call = Draft::new(&answer.call.json);
    let id = call.get("id").map(AsIs);
    object_of!(line; "role": "tool", "tool_call_id": id, "content": AsIs(&content))
}
