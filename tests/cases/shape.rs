//! The shape of a message: its lines from `start` to its end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolstream::Config;

use crate::case::{Print, kind, run};
use crate::json::read;

/// The lines of one message.
pub(crate) struct Message<'a> {
    lines: Vec<&'a str>,
}

impl<'a> Message<'a> {
    /// The messages of an output: each begins with `start`.
    pub(crate) fn all(out: &'a str) -> Vec<Message<'a>> {
        let mut messages: Vec<Message<'a>> = Vec::new();
        for line in out.lines() {
            if kind(line) == "start" {
                messages.push(Message { lines: Vec::new() });
            }
            let message = messages
                .last_mut()
                .unwrap_or_else(|| panic!("a line before the first start: {line}"));
            message.lines.push(line);
        }
        // What came after a message is a remark, which belongs to none, or what an agent says of
        // the next one.
        let mut after: Vec<&str> = Vec::new();
        for Message { lines } in &mut messages {
            let is_end = |line: &&str| matches!(kind(line), "finish_reason" | "error");
            // An agent says between two messages which tools it runs.
            let is_none = |line: &&&str| {
                let of_agents = ["tool_start", "tool_result", "end"];
                matches!(kind(line), "warning" | "provider_event")
                    || of_agents.contains(&kind(line))
            };
            let own = lines.len() - lines.iter().rev().take_while(is_none).count();
            let rest = match lines[..own].last().is_some_and(is_end) {
                true => lines.split_off(own),
                false => Vec::new(),
            };
            let is_remark = |line: &&str| matches!(kind(line), "warning" | "provider_event");
            let rest = rest.into_iter().filter(|line| !is_remark(line)).collect();
            lines.splice(1..1, std::mem::replace(&mut after, rest));
        }
        messages
    }

    /// The format that it was found to be in.
    pub(crate) fn format(&self) -> String {
        text(&read(self.lines[0]), "format")
    }

    /// Its lines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &'a str> {
        self.lines.iter().copied()
    }

    pub(crate) fn last(&self) -> &'a str {
        self.lines[self.lines.len() - 1]
    }

    /// Whether it came to its own end, and the provider saw no error in that.
    pub(crate) fn is_good(&self) -> bool {
        let last = read(self.last());
        last["type"] == "finish_reason" && last["finish_reason"] != "error"
    }

    /// True if the input ended inside a frame of it.
    pub(crate) fn is_torn(&self) -> bool {
        let is_inside =
            |line: &&str| text(&read(line), "message").starts_with("the input ended inside");
        self.of("warning").chain(self.of("error")).any(|line| is_inside(&line))
    }

    /// The lines of one type.
    pub(crate) fn of(&self, wanted: &str) -> impl Iterator<Item = &'a str> {
        self.lines.iter().copied().filter(move |line| kind(line) == wanted)
    }

    /// One end, at the end; the usage right before it; one finish reason for
    /// each choice.
    #[track_caller]
    pub(crate) fn check(&self, name: &str) {
        let place = |wanted: &str| self.lines.iter().position(|line| kind(line) == wanted);
        let last = self.lines.len() - 1;
        let end = kind(self.last());
        assert!(end == "finish_reason" || end == "error", "{name}: ends with {}", self.last());
        assert!(self.of("error").count() <= 1, "{name}: two errors");
        assert!(place("error").is_none_or(|at| at == last), "{name}: an error that isn't the end");
        assert!(self.of("usage").count() <= 1, "{name}: two usages");
        assert!(
            place("usage").is_none_or(|at| at + 1 == last),
            "{name}: the usage is not right before the end"
        );
        assert!(self.of("turn").count() <= 1, "{name}: two turns");
        let is_late = |line: &&str| matches!(kind(line), "turn" | "usage" | "finish_reason");
        assert!(
            place("turn").is_none_or(|at| self.is_good() && self.lines[at..].iter().all(is_late)),
            "{name}: the turn of a message that went wrong, or not at its end"
        );
        let choices: Vec<_> = self.of("finish_reason").map(choice).collect();
        let unique: BTreeSet<_> = choices.iter().collect();
        assert_eq!(unique.len(), choices.len(), "{name}: two ends of one choice");
        assert!(
            end == "finish_reason" || choices.is_empty(),
            "{name}: a finish reason and an error"
        );
    }

    /// Each call has an index of its own, and the indices have no gap.
    #[track_caller]
    fn check_indices(&self, name: &str) {
        let mut seen: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for line in self.of("tool_call").chain(self.of("invalid_tool_call")) {
            let indices = seen.entry(choice(line)).or_default();
            // It may take back a call that was printed before.
            if !(is_withdrawn(&read(line)) && indices.contains(&index(line))) {
                indices.push(index(line));
            }
        }
        for indices in seen.values_mut() {
            indices.sort_unstable();
            let expected: Vec<u64> = (0..).take(indices.len()).collect();
            assert_eq!(*indices, expected, "{name}: the indices of the calls");
        }
    }

    /// A call whose result came before it, or in the same body, is not the caller's to run.
    #[track_caller]
    fn check_answered(&self, name: &str) {
        let start = read(self.lines[0]);
        // In this format, results follow the message that they are of.
        let is_body = start["framing"] == "json" && start["format"] != "openai-messages";
        let mut lines: Vec<&str> = self.lines().collect();
        lines.sort_by_key(|line| is_body && kind(line) != "tool_result");
        let mut results: BTreeMap<(u64, String), i64> = BTreeMap::new();
        for line in lines {
            let value = read(line);
            let known = results.entry((choice(line), text(&value, "id"))).or_default();
            match kind(line) {
                "tool_result" => *known += 1,
                "tool_call" => {
                    let is_ours = value.get("executor").is_none();
                    assert!(*known <= 0 || !is_ours, "{name}: an answered call: {line}");
                    *known -= 1;
                }
                _ => {}
            }
        }
    }

    /// Joined, the deltas of a call are its arguments.
    #[track_caller]
    pub(crate) fn check_deltas(&self, name: &str) {
        for call in self.of("tool_call") {
            let is_same = |line: &&str| index(line) == index(call) && choice(line) == choice(call);
            // What the provider takes back has been printed, and is warned of.
            let is_mismatch = |line: &&str| text(&read(line), "code") == "arguments_mismatch";
            if self.of("warning").filter(is_mismatch).any(|line| is_same(&line)) {
                continue;
            }
            let starts: Vec<Value> = self.of("tool_call_start").filter(is_same).map(read).collect();
            let call_value = read(call);
            assert_eq!(starts.len(), 1, "{name}: one start for {call}");
            assert_eq!(starts[0]["name"], call_value["name"], "{name}");
            // An id that comes late takes the place of the generated one.
            let generated = format!("call_{}", index(call));
            assert!(
                starts[0]["id"] == call_value["id"] || starts[0]["id"] == generated,
                "{name}: the id of {call}"
            );
            let deltas = self.of("tool_call_delta").filter(is_same);
            let text: String = deltas.map(|line| text(&read(line), "arguments")).collect();
            if let Some(input) = call_value["input"].as_str() {
                assert_eq!(text, input, "{name}: deltas of {call}");
                continue;
            }
            let arguments: Value =
                if text.trim().is_empty() { Value::Object(<_>::default()) } else { read(&text) };
            // A string that holds an object is unwrapped, with a warning.
            let arguments = match &arguments {
                Value::String(inner) => read(inner),
                _ => arguments,
            };
            assert_eq!(arguments, call_value["arguments"], "{name}: deltas of {call}");
        }
    }

    /// A summary says what the events say.
    #[track_caller]
    pub(crate) fn check_summary(&self, name: &str, summary: &Value) {
        for key in ["text", "reasoning"] {
            let whole: String = self.of(key).map(|line| text(&read(line), "text")).collect();
            assert_eq!(text(summary, key), whole, "{name}: {key}");
        }
        let refusal: String = self.of("refusal").map(|line| text(&read(line), "text")).collect();
        assert_eq!(text(summary, "refusal"), refusal, "{name}: refusal");
        let lists = [("invalid_tool_call", "invalid_tool_calls"), ("warning", "warnings")];
        for (kind, key) in lists {
            let lines = self.of(kind).map(read).map(|line| without_common(&line));
            // Of a call that was taken back, the summary has the arguments.
            let bare = |mut line: Value| {
                if is_withdrawn(&line) {
                    line["arguments_raw"] = Value::Null;
                }
                line
            };
            let whole: Vec<Value> = lines.map(bare).collect();
            let list = summary.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            let list: Vec<Value> = list.into_iter().map(bare).collect();
            assert_eq!(list, whole, "{name}: {key}");
        }
        let calls = self.calls_with_executors();
        assert_eq!(summary["tool_calls"], Value::Array(calls.clone()), "{name}: tool_calls");
        let turn = self.of("turn").next().map(|line| without_common(&read(line)));
        assert_eq!(summary.get("turn"), turn.as_ref(), "{name}: turn");
        let last = read(self.last());
        let has_calls = calls.iter().any(|call| call.get("executor").is_none());
        let expected = match (self.is_good(), has_calls) {
            (false, _) => "error",
            (true, true) => "tool_calls",
            (true, false) => "final_answer",
        };
        assert_eq!(summary["type"], expected, "{name}");
        assert_eq!(summary["complete"], self.is_good(), "{name}");
        assert_eq!(summary.get("finish_reason"), last.get("finish_reason"), "{name}");
        if last["type"] == "error" {
            assert_eq!(summary["error"], without_common(&last), "{name}");
        }
        assert_eq!(summary.get("error").is_none(), self.is_good(), "{name}");
    }
}

/// True for a call that its message took back.
fn is_withdrawn(line: &Value) -> bool {
    line["reason"] == "withdrawn"
}

impl Message<'_> {
    /// The calls that were not taken back; one that has a result after it has been run by who has given that.
    fn calls_with_executors(&self) -> Vec<Value> {
        let mut calls: Vec<Value> = Vec::new();
        for line in self.lines() {
            let line = read(line);
            match line["type"].as_str() {
                Some("tool_call") => calls.push(without_common(&line)),
                Some("invalid_tool_call") => calls.retain(|call| call["index"] != line["index"]),
                Some("tool_result") => {
                    let waits =
                        |call: &&mut Value| call["id"] == line["id"] && call["executor"].is_null();
                    if let Some(call) = calls.iter_mut().find(waits) {
                        let executor = line.get("executor").cloned();
                        call["executor"] = executor.unwrap_or_else(|| "agent".into());
                    }
                }
                _ => {}
            }
        }
        calls
    }
}

/// A line without what the list that it's in says already.
fn without_common(line: &Value) -> Value {
    let mut line = line.clone();
    if let Some(object) = line.as_object_mut() {
        ["type", "choice", "file"].iter().for_each(|key| _ = object.remove(*key));
    }
    line
}

fn choice(line: &str) -> u64 {
    read(line)["choice"].as_u64().unwrap_or(0)
}

fn index(line: &str) -> u64 {
    read(line)["index"].as_u64().unwrap_or_else(|| panic!("no index: {line}"))
}

/// A member that is text; empty if there is none.
pub(crate) fn text(line: &Value, key: &str) -> String {
    line.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns what is printed with neighbouring deltas joined, and the exit status.
pub(crate) fn joined<'a>(
    config: &Config,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (String, u8) {
    let run = run(config, Print::Joined, pieces);
    (run.out, run.status)
}

/// Law 5, and that the exit status tells whether every message ended well.
#[track_caller]
pub(crate) fn check_shape(name: &str, out: &str, status: u8) {
    check_lines(name, out, status);
    for message in Message::all(out) {
        message.check_indices(name);
        message.check_answered(name);
    }
}

/// The same, of a log that calls may be missing in.
#[track_caller]
pub(crate) fn check_lines(name: &str, out: &str, status: u8) {
    let messages = Message::all(out);
    assert!(!messages.is_empty(), "{name}: no message");
    messages.iter().for_each(|message| message.check(name));
    let statuses = out.lines().map(|line| status_of(&read(line)));
    let worst = statuses.max_by_key(|status| ORDER.iter().position(|row| row == status));
    let expected = worst.unwrap_or_default();
    // With `--strict`, warnings count.
    let is_warned = expected == 0 && out.lines().any(|line| kind(line) == "warning");
    assert!(
        status == expected || is_warned && status == 3,
        "{name}: exit status {status}, not {expected}"
    );
}

/// The statuses that lines may have, the one that counts last.
const ORDER: &[u8] = &[0, 3, 4, 9, 5, 6];

/// The exit status of a message with this line in it.
fn status_of(line: &Value) -> u8 {
    let word = |key: &str| line[key].as_str().unwrap_or_default();
    match (word("type"), word("code"), word("reason"), word("finish_reason")) {
        ("error", "provider", ..) if line["retryable"] == true => 9,
        ("error", "provider", ..) | ("finish_reason", _, _, "error") => 5,
        ("error", "truncated", ..) => 4,
        ("error", "malformed" | "unrecognised", ..) => 3,
        ("error", "limit", ..) | ("invalid_tool_call", _, "too_large", _) => 6,
        ("invalid_tool_call", ..) => 3,
        _ => 0,
    }
}
