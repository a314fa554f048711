//! A request grown by an answer and the results of its calls.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::{fmt, iter};

use crate::dialect::{self, Results, TextResult};
use crate::event::FinishReason;
use crate::format::turn::{self, Answer, Declaration, Request, Shape, System};
use crate::format::{self, FORMATS};
use crate::json::{self, RawJson};
use crate::request::body::{RequestBody, has};
use crate::request::message::{CallResult, LastMessage, MessageEnding, PendingCall};
use crate::status::Outcome;

/// The fate of a message that ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It has calls that have to be answered.
    Calls,
    /// The provider wants it back as it is.
    Pause,
    /// It is the final answer.
    Final,
}

/// The reason why a request can't grow by an answer, and stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The outcome that it counts as.
    pub(crate) outcome: Outcome,
    /// A sentence for people; empty if it has been reported as an error of the message.
    pub(crate) why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Refused {}

impl Refused {
    /// Returns a reason that lies in what was read.
    pub(crate) fn malformed(why: impl Into<String>) -> Self {
        Refused { outcome: Outcome::Malformed, why: why.into() }
    }
}

/// The options for the growth of a request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GrowthOptions {
    /// Put the id of the answer in place of the conversation.
    pub(crate) by_id: bool,
    /// Leave a forced choice of tools as it is.
    pub(crate) keep_choice: bool,
}

/// Returns what becomes of a message.
pub(crate) fn verdict(message: &LastMessage) -> Result<Fate, Refused> {
    let reason = match message.ending {
        Some(MessageEnding::Finished(reason)) => reason,
        Some(MessageEnding::Failed(code, retryable)) => {
            let outcome = Outcome::of(code, retryable).unwrap_or(Outcome::Malformed);
            return Err(Refused { outcome, why: String::new() });
        }
        None => return Err(Refused::malformed("there is no message in the answer")),
    };
    if message.has_calls_before {
        return Err(Refused::malformed(
            "the answer holds several messages, and one before the last has calls: give one message",
        ));
    }
    match reason {
        FinishReason::Error => Err(Refused { outcome: Outcome::Provider, why: String::new() }),
        FinishReason::Refusal => Err(Refused::malformed("the model refused: nothing is appended")),
        FinishReason::ContentFilter => {
            Err(Refused::malformed("a filter stopped the model: nothing is appended"))
        }
        _ if message.turn.is_none() => Err(no_turn(message)),
        _ if !message.calls.is_empty() => Ok(Fate::Calls),
        FinishReason::Pause => Ok(Fate::Pause),
        _ => Ok(Fate::Final),
    }
}

/// Returns the row of the requests that go on after an answer in a format.
fn request_of(format: &str) -> Result<&'static Request, Refused> {
    format::find(format).and_then(|format| format.request).ok_or_else(|| {
        Refused::malformed(format!(
            "next cannot write a request of {format} yet: `toolstream formats` lists those it can"
        ))
    })
}

fn no_turn(message: &LastMessage) -> Refused {
    if message.is_own() {
        return Refused::malformed(format!(
            "an answer in {} goes into requests of the formats that `convert --to` writes, and it \
             can't be written as this one's",
            message.format
        ));
    }
    if let Err(refused) = request_of(&message.format) {
        return refused;
    }
    let why = message.no_turn.as_deref().unwrap_or(
        "the events hold no turn: `toolstream parse --turn` adds it, or give the raw answer",
    );
    Refused { outcome: Outcome::Truncated, why: format!("nothing can be appended: {why}") }
}

/// Returns the row of the provider whose answer a message is, if the request is one of its own.
pub(crate) fn row(body: &RequestBody, message: &LastMessage) -> Result<&'static Request, Refused> {
    let format = &message.format;
    if let Some(row) = message.row {
        return Ok(row);
    }
    let row = match request_of(format) {
        // Its turn is one of the request's provider.
        Err(_) if message.turn.is_some() => guess(body, iter::empty()),
        row => Some(row?),
    };
    let row = row.ok_or_else(|| Refused::malformed("the request has no list of messages"))?;
    if row.shape == Shape::ANY && has_list(body, row) {
        return Ok(row);
    }
    let other = rows(body).max_by_key(|other| marks(body, other).count());
    let other = other.filter(|other| marks(body, other).count() > marks(body, row).count());
    let mark = other.and_then(|other| {
        let mark = marks(body, other).find(|mark| !row.shape.marks.contains(mark))?;
        Some(format!("is one of {}: it has `{mark}`", other.shape.name))
    });
    let what = match mark {
        Some(what) => what,
        None if has_list(body, row) => return Ok(row),
        None => format!("has no `{}`", row.list),
    };
    Err(Refused::malformed(format!(
        "the answer is in {format}, but the request {what}; give the REQUEST that was answered"
    )))
}

/// Returns the rows of providers whose requests have the list that this one has.
fn rows(body: &RequestBody) -> impl Iterator<Item = &'static Request> {
    FORMATS.iter().filter_map(|format| format.request).filter(|row| has_list(body, row))
}

fn has_list(body: &RequestBody, row: &Request) -> bool {
    body.get(row.list).is_some_and(|list| list.starts_with(['[', '"']))
}

/// Returns the paths at which a request has what marks a row's form.
fn marks(body: &RequestBody, row: &Request) -> impl Iterator<Item = &'static str> {
    row.shape.marks.iter().copied().filter(|path| body.has(path))
}

/// Returns the provider that a request is for: the one whose endpoint stands in a word of what
/// sends it, or as far as its members say.
pub(crate) fn guess<'w>(
    body: &RequestBody,
    mut words: impl Iterator<Item = &'w str>,
) -> Option<&'static Request> {
    let has_own_mark = |row: &&Request| row.marks.iter().any(|path| body.has(path));
    let usual = || rows(body).filter(|row| row.marks.is_empty());
    words
        .find_map(|word| rows(body).find(|row| row.endpoints.iter().any(|end| word.contains(end))))
        .or_else(|| rows(body).find(has_own_mark))
        .or_else(|| {
            // The first of those that have the most.
            let counted = usual().map(|row| (row, marks(body, row).count()));
            let best = counted.filter(|(_, count)| *count > 0);
            best.min_by_key(|(_, count)| Reverse(*count)).map(|(row, _)| row)
        })
        // What most speak comes after its kin.
        .or_else(|| usual().last())
}

/// Checks that an answer may follow the request: that its list ends in what a model answers to.
pub(crate) fn check_end(body: &RequestBody, row: &Request) -> Result<(), Refused> {
    let Request { list, paused, .. } = row;
    let Some(last) = body.last(list) else { return Ok(()) };
    let is_own = matches!(json::member(last, "role"), Some("\"assistant\"" | "\"model\""));
    // A turn that the provider paused is answered by its continuation.
    if !is_own || paused.iter().any(|path| has(last, path)) {
        return Ok(());
    }
    Err(Refused::malformed(format!(
        "the last of `{list}` is the assistant's own: the answer has been appended already, or a \
         user's message is missing"
    )))
}

/// Finds the result of each call: by its id, of two calls with one id in their order; else by its
/// number. A caller who makes up ids of its own, or counts its own calls alone, is understood. Returns
/// an error for results of calls that nobody made, and for a second result.
pub(crate) fn assign(
    calls: &[PendingCall],
    results: &[CallResult],
) -> Result<Vec<Option<CallResult>>, Refused> {
    let mut assigned: Vec<Option<CallResult>> = vec![None; calls.len()];
    for result in results {
        let has_id = |call: &PendingCall| result.id.as_ref().is_some_and(|id| *id == call.id);
        let is_known = calls.iter().any(has_id);
        let is_its = |call: &PendingCall| match is_known {
            true => has_id(call),
            false => result.index == Some(call.index),
        };
        let named = match (&result.id, result.index) {
            (Some(id), _) => format!("id {}", json::quote_start(id)),
            (None, Some(index)) => format!("index {index}"),
            (None, None) => {
                return Err(Refused::malformed("a result has neither an id nor an index"));
            }
        };
        let mut places = calls.iter().zip(&mut assigned).filter(|(call, _)| is_its(call));
        match places.find(|(_, place)| place.is_none()) {
            Some((_, place)) => *place = Some(result.clone()),
            None if calls.iter().any(is_its) => {
                return Err(Refused::malformed(format!(
                    "there are two results of the call with {named}"
                )));
            }
            None => {
                let why = format!(
                    "there is a result of a call with {named}, which the answer does not have"
                );
                return Err(Refused::malformed(why));
            }
        }
    }
    Ok(assigned)
}

/// Returns what is wrong if these calls have no results.
pub(crate) fn unanswered<'a>(calls: impl Iterator<Item = &'a PendingCall>) -> Refused {
    let names: Vec<_> = calls.map(|call| format!("{} ({})", call.id, call.name)).collect();
    Refused::malformed(format!(
        "calls without results: {}; `--results FILE` has them, or `--tools DIR` runs them",
        names.join(", ")
    ))
}

/// Appends a message and the results of its calls, one for each. Returns notes for the user.
pub(crate) fn grow(
    body: &mut RequestBody,
    row: &Request,
    message: &LastMessage,
    results: &[CallResult],
    growth: GrowthOptions,
) -> Result<Vec<String>, Refused> {
    let (append, set) = message.turn.as_ref().ok_or_else(|| no_turn(message))?;
    let append = json::elements(append).ok_or_else(|| {
        Refused::malformed(format!("the turn would append what is no list to `{}`", row.list))
    })?;
    let append: Vec<String> = append.into_iter().map(str::to_owned).collect();
    check_turn(row, &append, set)?;
    let sent = (row.calls)(&append);
    let append = (row.fit)(body.as_str(), append);
    let mut notes = Vec::new();
    let answered = answers(row, message, &sent, &append, results, &mut notes)?;
    let is_set = |key: &str| body.get(key).is_some_and(|id| id != "null");
    match (row.by_id, &message.id) {
        (Some(_), _) if growth.by_id && body.get("store") == Some("false") => {
            let why = "--by-id: the request says `store` false: the provider keeps no conversation";
            return Err(Refused { outcome: Outcome::Usage, why: why.into() });
        }
        (Some(key), Some(id)) if growth.by_id || is_set(key) => {
            body.set(row.list, &json::array(&answered));
            body.set(key, &json::quote(id));
        }
        (None, _) if growth.by_id => {
            let why = format!("--by-id: {} keeps no conversation by its id", message.format);
            return Err(Refused { outcome: Outcome::Usage, why });
        }
        _ if growth.by_id => {
            return Err(Refused::malformed("--by-id: the answer has no id"));
        }
        _ => {
            let whole = [append, answered].concat();
            body.append(row.list, &whole, |value| first(row, value));
        }
    }
    for (key, value) in json::members(set) {
        body.set(&key, value.get());
    }
    if !results.is_empty() && !growth.keep_choice {
        notes.extend(relax(body, row));
    }
    Ok(notes)
}

/// Checks that a turn adds nothing but what the model said: elements that are the assistant's, and
/// the id of the container that the provider's tools ran in. Anything else would let whoever answers
/// write a user's words, a result or the system's into the request.
fn check_turn(row: &Request, append: &[String], set: &str) -> Result<(), Refused> {
    let is_once = |element: &str, key: &str| {
        json::members(element).iter().filter(|(name, _)| name == key).count() <= 1
    };
    // Of a role that comes twice, each reader takes another one.
    let is_own = |element: &&String| {
        (row.is_answer)(element) && is_once(element, "role") && is_once(element, "type")
    };
    if let Some(other) = append.iter().find(|element| !is_own(element)) {
        return Err(Refused::malformed(format!(
            "the turn would append what is not the assistant's own to `{}`: {}",
            row.list,
            json::quote_start(other)
        )));
    }
    let is_id = |(key, value): &(Cow<'_, str>, RawJson<'_>)| {
        key == "container" && value.get().starts_with('"')
    };
    match json::members(set).iter().find(|member| !is_id(member)) {
        Some((key, _)) => Err(Refused::malformed(format!(
            "the turn would set {} of the request: it may set the id of a `container` alone",
            json::quote_start(key)
        ))),
        None => Ok(()),
    }
}

/// Returns the elements that answer the calls of a message: the provider's own, or a user's text
/// in the form of the dialect that the calls were written in. `sent` are the calls with the ids
/// that the provider sent.
fn answers(
    row: &Request,
    message: &LastMessage,
    sent: &[turn::NativeCall],
    append: &[String],
    results: &[CallResult],
    notes: &mut Vec<String>,
) -> Result<Vec<String>, Refused> {
    let calls = (row.calls)(append);
    let (written, called): (Vec<_>, Vec<_>) =
        message.calls.iter().zip(results).partition(|(call, _)| call.source.is_some());
    if calls.len() != called.len() {
        return Err(Refused::malformed(format!(
            "the turn holds {} calls to answer, but {} were read",
            calls.len(),
            called.len()
        )));
    }
    let answers = calls.iter().zip(in_order(sent, called)).map(|(call, result)| Answer {
        call,
        output: result.output(),
        is_error: result.is_error,
    });
    let answers: Vec<_> = answers.collect();
    let mut elements = if answers.is_empty() { Vec::new() } else { (row.results)(&answers) };
    let dialect = written.first().and_then(|(call, _)| call.source.as_deref());
    if let Some(dialect) = dialect {
        let form = dialect::of_source(dialect).map_or_else(Results::default, |row| row.results);
        let texts: Vec<_> = written
            .iter()
            .map(|(call, result)| TextResult {
                id: &call.id,
                name: &call.name,
                output: &result.output,
                is_error: result.is_error,
            })
            .collect();
        let (text, is_escaped) = form.text(&texts);
        elements.push((row.user)(&text));
        if is_escaped {
            notes.push("escaped_closer: a result held markup of results, which was escaped".into());
        }
    }
    Ok(elements)
}

/// Returns the results in the order of the calls in the turn: each is of the call of its id, or
/// else of the first that is left.
fn in_order<'r>(
    sent: &[turn::NativeCall],
    mut called: Vec<(&PendingCall, &'r CallResult)>,
) -> Vec<&'r CallResult> {
    let mut results: Vec<Option<&CallResult>> = Vec::new();
    for call in sent {
        let place = called.iter().position(|(own, _)| call.id.as_ref() == Some(&own.id));
        results.push(place.map(|place| called.remove(place).1));
    }
    let mut rest = called.into_iter().map(|(_, result)| result);
    results.into_iter().filter_map(|result| result.or_else(|| rest.next())).collect()
}

/// Leaves a forced choice of tools to the model. Forced, it would call tools for ever.
fn relax(body: &mut RequestBody, row: &Request) -> Option<String> {
    let choice = row.choice?;
    let relaxed = |path: &&'static str| {
        let json = body.get(path).filter(|json| *json != "null")?;
        Some((*path, (choice.relax)(json)?))
    };
    let (path, json) = choice.paths.iter().find_map(relaxed)?;
    let is = match json.as_str() {
        "" => {
            body.remove(path);
            "gone"
        }
        json => {
            body.set(path, json);
            json
        }
    };
    Some(format!(
        "{path} forced a call, and is {is} in the next request: it would call tools for ever"
    ))
}

/// Forbids calls, where there is such a thing. Tools stay declared.
pub(crate) fn forbid_calls(body: &mut RequestBody, row: &Request) {
    let Some(choice) = row.choice else { return };
    let (Some(none), Some(first)) = (choice.none, choice.paths.first()) else { return };
    if !has_tools(body, row) {
        return;
    }
    let path = choice.paths.iter().find(|path| body.get(path).is_some()).unwrap_or(first);
    body.set(path, none);
}

/// Declares tools, if the request declares none. Returns false if it does.
pub(crate) fn declare(body: &mut RequestBody, row: &Request, tools: &[Declaration]) -> bool {
    if has_tools(body, row) {
        return false;
    }
    if !tools.is_empty() {
        let (member, value) = (row.tools)(tools);
        body.set(member, &value);
    }
    true
}

/// Adds a user's words at the end of the conversation. Returns an error if there is no list.
pub(crate) fn add_user(body: &mut RequestBody, row: &Request, text: &str) -> Result<(), Refused> {
    if body.append(row.list, &[(row.user)(text)], |words| first(row, words)) {
        return Ok(());
    }
    Err(Refused::malformed(format!("the request has no `{}`", row.list)))
}

/// Adds the system's text, if the request has none. Returns a note for the user if it has another.
pub(crate) fn add_system(body: &mut RequestBody, row: &Request, text: &str) -> Option<String> {
    let System { paths, form } = row.system;
    let is_system = |element: &&str| {
        matches!(json::member(element, "role"), Some("\"system\"" | "\"developer\""))
    };
    let list = body.get(row.list).and_then(json::elements);
    let element = list.into_iter().flatten().find(is_system);
    let known = paths.iter().filter(|path| body.has(path)).find_map(|path| body.get(path));
    if let Some(known) = known.or(element) {
        let is_same = known.contains(&json::quote(text));
        return (!is_same).then(|| "--system: the request has another one, which stays".to_owned());
    }
    match paths.first() {
        Some(path) => body.set(path, &form(text)),
        None => body.prepend(row.list, &form(text), |words| first(row, words)),
    }
    None
}

/// Returns the element that a value in place of the conversation is: a text is the user's.
fn first(row: &Request, value: &str) -> String {
    json::string(value).map_or_else(|| value.to_owned(), |text| (row.user)(&text))
}

/// Returns a new request without words. Returns an error if it has to name a model, and none is
/// given.
pub(crate) fn new(row: &Request, model: Option<&str>) -> Result<RequestBody, String> {
    let mut body = RequestBody::new(row.new.to_owned())?;
    if body.get("model").is_some() {
        let model = model.ok_or("its requests name a model: `--model NAME`")?;
        body.set("model", &json::quote(model));
    }
    Ok(body)
}

fn has_tools(body: &RequestBody, row: &Request) -> bool {
    let (member, _) = (row.tools)(&[]);
    body.get(member).is_some_and(|tools| !matches!(json::minify(tools).as_str(), "null" | "[]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A choice of tools becomes this one; nothing if no call is forced.
    #[track_caller]
    fn check_choice(format: &str, choice: &str, expected: Option<&str>) {
        let row = request_of(format).unwrap();
        let path = row.choice.unwrap().paths[0];
        let mut body = RequestBody::new("{}".into()).unwrap();
        body.set(path, choice);
        let is_relaxed = relax(&mut body, row).is_some();
        let relaxed = body.get(path).filter(|_| is_relaxed);
        assert_eq!(relaxed, expected.filter(|json| !json.is_empty()), "{format}: {choice}");
        assert_eq!(is_relaxed, expected.is_some(), "{format}: {choice}");
        assert_eq!(relax(&mut body, row), None, "{format}: {choice}");
    }

    #[test]
    fn a_turn_that_is_no_list_is_refused() {
        let row = request_of("anthropic").unwrap();
        let mut body = RequestBody::new("{\"messages\":[]}".into()).unwrap();
        let turn = Some(("{\"role\":\"assistant\"}".into(), "{}".into()));
        let message = LastMessage { turn, ..LastMessage::default() };
        let refused = grow(&mut body, row, &message, &[], GrowthOptions::default()).unwrap_err();
        assert!(refused.why.contains("no list"), "{}", refused.why);
        assert_eq!(body.as_str(), "{\"messages\":[]}");
    }

    #[test]
    fn a_forced_choice_is_left_to_the_model_and_restricts_it_as_before() {
        for (format, choice, expected) in [
            ("openai-chat", r#""required""#, r#""auto""#),
            ("openai-chat", r#"{"type":"function","function":{"name":"f"}}"#, r#""auto""#),
            (
                "openai-chat",
                r#"{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[1]}}"#,
                r#"{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[1]}}"#,
            ),
            ("openai-responses", r#""required""#, r#""auto""#),
            ("openai-responses", r#"{"type":"function","name":"f"}"#, r#""auto""#),
            (
                "openai-responses",
                r#"{"type":"allowed_tools","mode":"required","tools":[1]}"#,
                r#"{"type":"allowed_tools","mode":"auto","tools":[1]}"#,
            ),
            ("anthropic", r#"{"type":"any"}"#, r#"{"type":"auto"}"#),
            (
                "anthropic",
                r#"{"type":"tool","name":"f","disable_parallel_tool_use":true}"#,
                r#"{"type":"auto","disable_parallel_tool_use":true}"#,
            ),
            ("gemini", r#"{"mode":"any"}"#, r#"{"mode":"AUTO"}"#),
            (
                "gemini",
                r#"{"mode":"ANY","allowedFunctionNames":["f"]}"#,
                r#"{"mode":"VALIDATED","allowedFunctionNames":["f"]}"#,
            ),
            (
                "gemini-interactions",
                r#"{"allowed_tools":{"mode":"any","tools":["f"]}}"#,
                r#"{"allowed_tools":{"mode":"auto","tools":["f"]}}"#,
            ),
            ("bedrock-converse", r#"{"tool":{"name":"f"}}"#, r#"{"auto":{}}"#),
            ("cohere", r#""REQUIRED""#, ""),
        ] {
            check_choice(format, choice, Some(expected));
        }
        for (format, choice) in [
            ("openai-chat", r#""none""#),
            ("openai-chat", "null"),
            ("openai-chat", r#"{"type":"allowed_tools","allowed_tools":{"mode":"auto"}}"#),
            ("openai-responses", r#"{"type":"allowed_tools","mode":"auto","tools":[]}"#),
            ("anthropic", r#"{"type":"auto"}"#),
            ("gemini", r#"{"mode":"VALIDATED"}"#),
            ("gemini-interactions", r#""validated""#),
            ("bedrock-converse", r#"{"auto":{}}"#),
            ("cohere", r#""NONE""#),
        ] {
            check_choice(format, choice, None);
        }
    }
}
