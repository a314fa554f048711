//! Law 9, for `convert`: what another format carries comes back when it is read.

use std::collections::BTreeSet;
use std::io;

use serde_json::{Map, Value, json};
use toolstream::convert::{Converter, OneMessage, Options};
use toolstream::event::FinishReason;
use toolstream::format::{Carry, FORMATS, Info, Losses, Writing};
use toolstream::{AssemblerConfig, Config, Pipeline, convert, format};

use crate::case::{Case, Print, run};
use crate::json::read;
use crate::shape::Message;

/// Returns the first message of an input in another format, and what that has lost.
fn converted<'a>(
    config: &Config,
    to: &'static Writing,
    options: &Options,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<u8>, Losses) {
    let (mut out, mut seen, mut losses) = (Vec::new(), 0_u64, Losses::default());
    let converter = Converter::new(&mut out, to, options, &mut losses);
    let mut sink = OneMessage::new(converter, None, &mut seen);
    let mut pipeline = Pipeline::new(&convert::config(config, options));
    let feed = || -> io::Result<()> {
        for piece in pieces {
            pipeline.feed(piece, &mut sink)?;
        }
        pipeline.finish(&mut sink)
    };
    feed().unwrap();
    drop(sink);
    (out, losses)
}

/// What a message holds, as far as a format carries it: neighbouring texts joined.
#[derive(Debug, Default, PartialEq)]
struct Content {
    parts: Vec<Value>,
    usage: Map<String, Value>,
    /// The finish reason; an error is none.
    finish: Option<Value>,
}

impl Content {
    fn text(&mut self, kind: &str, text: &str) {
        match self.parts.last_mut() {
            Some(last) if last[0] == kind => {
                last[1] = format!("{}{text}", last[1].as_str().unwrap()).into();
            }
            _ if text.is_empty() => {}
            _ => self.parts.push(json!([kind, text])),
        }
    }
}

/// True if the first line is a call whose result follows: in AI SDK UI, the agent ran it.
fn has_result(lines: &[Value]) -> bool {
    lines.iter().any(|line| line["type"] == "tool_result" && line["id"] == lines[0]["id"])
}

/// Sorts neighbouring calls. In AI SDK UI, a call of the caller's waits for a result, and one that
/// the provider runs may pass it.
fn put_run_calls_first(parts: &mut [Value]) {
    let are_calls = |a: &Value, b: &Value| [a, b].iter().all(|part| part["type"] == "tool_call");
    for calls in parts.chunk_by_mut(are_calls) {
        calls.sort_by_key(|call| call.get("executor").is_none());
    }
}

/// Gives the calls that have results an executor: in this format, these come after the calls.
fn name_executors(lines: &mut [Value]) {
    let is_result = |line: &&Value| line["type"] == "tool_result";
    let ran: Vec<_> = lines.iter().filter(is_result).map(|line| line["id"].clone()).collect();
    let calls = lines.iter_mut().filter(|line| line["type"] == "tool_call");
    calls
        .filter(|call| ran.contains(&call["id"]))
        .for_each(|call| call["executor"] = "agent".into());
}

/// Puts calls in the order in which they began, as they are in fragments if these came as soon.
/// Results stay behind their calls.
fn put_in_order(lines: &mut [Value]) {
    let call_of = |lines: &[Value], result: &Value| {
        lines.iter().position(|line| line["type"] == "tool_call" && line["id"] == result["id"])
    };
    let is_answer = |at: &usize| {
        lines[*at]["type"] == "tool_result" && call_of(&lines[..*at], &lines[*at]).is_some()
    };
    let answers: Vec<usize> = (0..lines.len()).filter(is_answer).collect();
    let calls = lines.iter_mut().filter(|line| line["type"] == "tool_call");
    let mut sorted: Vec<_> = calls.map(Value::take).collect();
    sorted.sort_by_key(|call| call["index"].as_u64());
    lines.iter_mut().filter(|line| line.is_null()).zip(sorted).for_each(|(line, it)| *line = it);
    for at in answers.into_iter().rev() {
        let place = call_of(lines, &lines[at]).unwrap_or(at).max(at);
        lines[at..=place].rotate_left(1);
    }
}

/// Reads the lines of a message; nothing but what the format carries, in its form.
fn content(lines: &[Value], to: &Writing) -> Content {
    let lost = |info| to.loss(info) == Some(Carry::Lost);
    let changed = |info| to.loss(info).is_some();
    let is_failed = lines.iter().any(|line| line["type"] == "error");
    let is_withdrawn = |call: &Value| {
        let takes = |line: &&Value| line["reason"] == "withdrawn" && line["index"] == call["index"];
        lines.iter().any(|line| takes(&line))
    };
    let mut content = Content::default();
    let mut calls = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        let word = |key: &str| line[key].as_str().unwrap_or_default();
        match word("type") {
            "text" => {
                let channel = word("channel");
                let is_kept = to.channels.contains(&channel);
                let kind = if is_kept { format!("text {channel}") } else { "text".to_owned() };
                content.text(&kind, word("text"));
            }
            "refusal" => {
                content.text(if changed(Info::Refusal) { "text" } else { "refusal" }, word("text"));
            }
            "reasoning" => {
                content.text("reasoning", word("text"));
                let kinds = [("signature", Info::Signature), ("redacted", Info::Redacted)];
                for (key, _) in kinds.into_iter().filter(|(_, info)| !lost(*info)) {
                    if line.get(key).is_some() && to.name != "gemini" {
                        content.parts.push(json!([key, word(key)]));
                    }
                }
            }
            "tool_call" if line.get("executor").is_some() && lost(Info::RunCall) => {}
            "tool_call" if is_withdrawn(line) => {}
            "tool_call" if is_failed && lost(Info::ClosedCall) => {}
            "tool_call" => {
                calls.insert(word("id").to_owned());
                content.parts.push(call(line, to, has_result(&lines[at..])));
            }
            "tool_result" if to.name == "ai-sdk-ui" && calls.contains(word("id")) => {
                content.parts.push(json!(["result", word("id")]));
            }
            "usage" if !lost(Info::Usage) => {
                let keys = [
                    ("input_tokens", None),
                    ("output_tokens", None),
                    ("cached_input_tokens", Some(Info::CachedTokens)),
                    ("cache_write_tokens", Some(Info::CacheWriteTokens)),
                    ("reasoning_tokens", Some(Info::ReasoningTokens)),
                ];
                let kept = keys.iter().filter(|(_, info)| info.is_none_or(|info| !changed(info)));
                let count = |key: &str| line.get(key).filter(|count| **count != 0).cloned();
                content.usage =
                    kept.filter_map(|(key, _)| Some(((*key).to_owned(), count(key)?))).collect();
            }
            "finish_reason" => content.finish = Some(line["finish_reason"].clone()),
            _ => {}
        }
    }
    if to.name == "ai-sdk-ui" {
        put_run_calls_first(&mut content.parts);
    }
    content
}

/// Reads a call; nothing but what the format carries, in its form.
fn call(line: &Value, to: &Writing, has_result: bool) -> Value {
    let changed = |info| to.loss(info).is_some();
    let mut call = line.clone();
    let keys = call.as_object_mut().unwrap();
    if changed(Info::Namespace)
        && let Some(namespace) = keys.remove("namespace")
    {
        let name = format!("{}__{}", namespace.as_str().unwrap(), line["name"].as_str().unwrap());
        keys.insert("name".to_owned(), name.into());
    }
    for (key, info) in [("signature", Info::CallSignature), ("item_id", Info::ItemId)] {
        if changed(info) {
            keys.remove(key);
        }
    }
    for key in ["index", "source", "kind", "item_id"] {
        keys.remove(key);
    }
    if keys.contains_key("executor") || (to.name == "ai-sdk-ui" && has_result) {
        keys.insert("executor".to_owned(), "provider".into());
    }
    if changed(Info::FreeInput)
        && to.name != "openai-chat"
        && let Some(input) = keys.remove("input")
    {
        keys.insert("arguments".to_owned(), json!({ "input": input }));
    }
    call
}

/// Puts the parts of each kind together: what comes back where the order is lost, as in a body
/// with a member for each kind, or where one part had to wait for another. Calls keep their order.
fn sorted(content: &mut Content, deltas: bool) {
    let (mut calls, mut others) = (Vec::new(), Content::default());
    let kind = |part: &Value| part[0].as_str().unwrap_or_default().to_owned();
    content.parts.sort_by_key(|part| kind(part));
    for part in content.parts.drain(..) {
        match (part[0].as_str(), part[1].as_str()) {
            (Some(kind), Some(text)) => others.text(kind, text),
            _ => calls.push(part),
        }
    }
    // One whose end comes late may be written after one that began later.
    if deltas {
        calls.sort_by_key(|call| call["id"].to_string());
    }
    content.parts = others.parts;
    content.parts.extend(calls);
}

/// True if a finish reason may become the other.
fn may_become(to: &Writing, from: &Value, back: &Value, has_calls: bool) -> bool {
    let info = match FinishReason::ALL.iter().find(|reason| reason.name() == from.as_str().unwrap())
    {
        Some(FinishReason::ToolCalls) if !has_calls => Some(Info::FinishToolCalls),
        Some(FinishReason::ContentFilter) => Some(Info::FinishFilter),
        Some(FinishReason::Refusal) => Some(Info::FinishRefusal),
        Some(FinishReason::Pause) => Some(Info::FinishPause),
        Some(FinishReason::Other) => Some(Info::FinishOther),
        _ => None,
    };
    let is_changed = info.is_some_and(|info| to.loss(info).is_some());
    // Calls of a body that were answered in it are calls to run where the answers are lost.
    let is_upgraded = from == "stop" && back == "tool_calls" && has_calls;
    from == back || is_changed || is_upgraded
}

/// What a format cannot say of how a message cost: a part that is larger than the whole, or a whole
/// that is larger than its parts.
fn is_odd(usage: &Value) -> bool {
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    let (input, output) = (count("input_tokens"), count("output_tokens"));
    count("cached_input_tokens") + count("cache_write_tokens") > input
        || count("reasoning_tokens") > output
        || count("total_tokens") > input + output
}

fn targets() -> impl Iterator<Item = &'static Writing> {
    FORMATS.iter().filter_map(|row| row.write)
}

/// Law 9: a message that is converted and read back is the same, but for what the format loses.
pub(crate) fn conversions_are_read_back(case: &Case) -> bool {
    let (mut config, _) = case.config();
    config.turn = false;
    config.assembly.raw = false;
    let input = case.input.as_slice();
    let first = Config {
        assembly: AssemblerConfig {
            choice: config.assembly.choice.or(Some(0)),
            deltas: false,
            ..config.assembly.clone()
        },
        ..config.clone()
    };
    let parsed = run(&first, Print::Joined, [input]).out;
    let Some(source) = Message::all(&parsed).into_iter().next() else { return false };
    config.assembly.choice = first.assembly.choice;
    let usual = Options { choice: first.assembly.choice, ..Options::default() };
    for to in targets() {
        // With deltas, a call that can't be read has begun before it is known to be text.
        let modes: &[bool] = match config.assembly.malformed_as_text {
            true => &[false],
            false => &[false, true],
        };
        for &deltas in modes {
            check_one(&config, to, &Options { deltas, ..usual.clone() }, &source, input);
        }
        if to.has_body {
            let whole = Options { whole: true, ..usual.clone() };
            check_one(&config, to, &whole, &source, input);
            let losses = |options| converted(&config, to, options, [input]).1;
            let mut lost = losses(&whole);
            lost.retain(|info, _| ![Info::FailedBody, Info::BodyOrder].contains(info));
            assert_eq!(lost, losses(&usual), "{}: a body loses what a stream does", to.name);
        }
    }
    true
}

#[track_caller]
fn check_one(
    config: &Config,
    to: &'static Writing,
    options: &Options,
    source: &Message<'_>,
    input: &[u8],
) {
    let (stream, losses) = converted(config, to, options, [input]);
    let reader = Config { format: format::find(to.name), ..Config::default() };
    let back = run(&reader, Print::Joined, [stream.as_slice()]).out;
    let shown = || format!("{} {options:?}\n{}", to.name, String::from_utf8_lossy(&stream));
    let messages = Message::all(&back);
    let [back] = messages.as_slice() else { panic!("{} messages: {}", messages.len(), shown()) };
    let lines = |message: &Message<'_>| -> Vec<Value> { message.lines().map(read).collect() };
    let (mut source, back) = (lines(source), lines(back));
    if source[0]["format"] == "openai-messages" {
        name_executors(&mut source);
    }
    let calls = |lines: &[Value]| -> Vec<Value> {
        let parts = content(lines, to).parts.into_iter();
        parts.filter(|part| part["type"] == "tool_call").map(|call| call["id"].clone()).collect()
    };
    if options.deltas && to.has_fragments && calls(&source) != calls(&back) {
        put_in_order(&mut source);
    }
    let (mut expected, mut got) = (content(&source, to), content(&back, to));
    let is_failed = |lines: &[Value]| lines.iter().any(|line| line["type"] == "error");
    let is_invalid = |line: &Value| line["type"] == "invalid_tool_call";
    let (from, became) = (expected.finish.take(), got.finish.take());
    if losses.contains_key(&Info::FailedBody) {
        expected = Content::default();
    }
    let has_calls = expected.parts.iter().any(|part| part["type"] == "tool_call");
    match (&from, &became) {
        (Some(from), Some(back)) => {
            assert!(may_become(to, from, back, has_calls), "{from} became {back}: {}", shown());
        }
        // Fragments went out of a call that turned out to be none for the client.
        (Some(_), None) if options.deltas && is_failed(&back) => {
            let is_error = |info: &Info| to.loss(*info) == Some(Carry::Error);
            let is_said = losses.keys().any(is_error) || source.iter().any(is_invalid);
            assert!(is_said, "it fails in silence: {}", shown());
            return;
        }
        (Some(from), None) if from == "error" && is_failed(&back) => {}
        (None, None) => {
            assert!(is_failed(&source) && is_failed(&back), "{}", shown());
            if options.deltas && source.iter().any(is_invalid) {
                return;
            }
        }
        _ => panic!("{from:?} became {became:?}: {}", shown()),
    }
    let is_cut = is_failed(&source) || from.as_ref().is_some_and(|from| from == "error");
    // In this format a call waits for its result.
    let waits = to.name == "ai-sdk-ui" && source.iter().any(|line| line["type"] == "tool_result");
    let is_said = losses.contains_key(&Info::BodyOrder);
    if options.deltas || is_said || waits || to.loss(Info::CallPlace).is_some() {
        sorted(&mut expected, options.deltas);
        sorted(&mut got, options.deltas);
    }
    // Ids that come twice are told apart by some readers.
    let ids = |content: &Content| content.parts.iter().map(|part| part["id"].clone()).collect();
    let ids: Vec<Value> = ids(&expected);
    // So is one that is blank, as only damaged logs have.
    let is_repeated = |(at, id): (usize, &Value)| !id.is_null() && ids[..at].contains(id);
    if ids.iter().any(|id| id == "") || ids.iter().enumerate().any(is_repeated) {
        return;
    }
    let is_known = |key: &str| expected.usage.contains_key(key);
    let is_unknown = to.loss(Info::NoUsage).is_some()
        && !(is_known("input_tokens") && is_known("output_tokens"));
    // A log that was damaged may have said it at the beginning alone.
    let is_early = source[0].get("input_tokens").is_some();
    let is_odd = source
        .iter()
        .filter(|line| line["type"] == "usage")
        .any(|usage| is_odd(usage) || is_early && usage.get("input_tokens").is_none());
    if is_unknown || is_odd || is_cut && to.loss(Info::CachedTokens).is_some() {
        (expected.usage, got.usage) = Default::default();
    }
    leave_out_unclosed(options, from.as_ref(), [&mut expected, &mut got]);
    if is_cut {
        // Fragments may have been written, of a call that never came to its end.
        let calls =
            |content: &mut Content| content.parts.retain(|part| part["type"] != "tool_call");
        if from.is_some() || options.deltas || to.loss(Info::ClosedCall).is_some() {
            calls(&mut expected);
            calls(&mut got);
        }
    }
    assert_eq!(got, expected, "{}", shown());
}

/// A body that was cut does not show that a call without arguments was closed.
fn leave_out_unclosed(options: &Options, from: Option<&Value>, contents: [&mut Content; 2]) {
    let has_ended_well = from.is_some_and(|from| from == "stop" || from == "tool_calls");
    if !options.whole || has_ended_well {
        return;
    }
    for content in contents {
        content.parts.retain(|part| {
            let arguments = part["arguments"].as_object();
            part["type"] != "tool_call" || arguments.is_none_or(|all| !all.is_empty())
        });
    }
}

/// Law 1: what is written depends on the bytes alone; of plain text, the pieces do not.
pub(crate) fn conversions_depend_on_the_bytes(case: &Case) -> bool {
    let (config, _) = case.config();
    let input = case.input.as_slice();
    let parsed = run(&config, Print::Joined, [input]).out;
    let is_text = Message::all(&parsed).first().is_none_or(|message| message.format() == "text");
    if is_text || !case.args.is_empty() {
        return false;
    }
    for (number, to) in targets().enumerate() {
        let options = Options { deltas: number % 2 == 0, ..Options::default() };
        let (whole, _) = converted(&config, to, &options, [input]);
        for size in [1, 7, 61] {
            let (pieces, _) = converted(&config, to, &options, input.chunks(size));
            let [whole, pieces] = [&whole, &pieces].map(|bytes| String::from_utf8_lossy(bytes));
            assert_eq!(pieces, whole, "{} in pieces of {size}", to.name);
        }
    }
    true
}
