//! Golden files: the events that a capture gave, for later readings to be compared with.
//!
//! The golden file of `X` is `X.golden`: a line that says how it was made, then the lines that
//! `parse --join` prints of `X`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::json;
use crate::pipeline::{Config, Pipeline};
use crate::sink::{Join, Label, Ndjson};

/// The version of golden files that is written, and the newest that is read.
const VERSION: u64 = 1;

/// A golden file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Golden {
    /// The options that the capture is read and compared with.
    pub(crate) args: Vec<String>,
    /// The keys that are not compared.
    pub(crate) ignore: Vec<String>,
    /// The lines of its events.
    pub(crate) events: String,
}

/// The reason why a file cannot be used as a golden file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GoldenError {
    /// It is of this version, which is newer than what can be read.
    Newer(u64),
    /// It holds something that was never written into it: a sentence.
    Edited(String),
}

impl fmt::Display for GoldenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GoldenError::Newer(version) => write!(
                f,
                "its golden file is of version {version}, and this toolstream reads version \
                 {VERSION}: a newer one has written it"
            ),
            GoldenError::Edited(how) => write!(f, "its golden file was edited by hand: {how}"),
        }
    }
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(rename = "type")]
    kind: String,
    v: u64,
    args: Vec<String>,
    ignore: Vec<String>,
}

/// The members that the first line has in any version.
#[derive(Deserialize)]
struct AnyHeader {
    #[serde(rename = "type")]
    kind: String,
    v: u64,
}

impl Golden {
    /// Reads the text of a golden file. Lines that `parse` would print in another way are an error:
    /// who edits a file means something by it.
    pub(crate) fn read(text: &str) -> Result<Self, GoldenError> {
        let (first, events) = text.split_once('\n').unwrap_or((text, ""));
        let edited = |line, how| Err(GoldenError::Edited(format!("line {line} {how}")));
        match serde_json::from_str::<AnyHeader>(first) {
            Ok(header) if header.kind == "golden" && header.v > VERSION => {
                return Err(GoldenError::Newer(header.v));
            }
            Ok(header) if header.kind == "golden" => {}
            _ => return edited(1, "does not say how it was made"),
        }
        let Ok(Header { args, ignore, .. }) = serde_json::from_str(first) else {
            return edited(1, "does not say how it was made");
        };
        let lines = events.split_inclusive('\n').zip(2..);
        for (line, at) in lines {
            let Some(event) = line.strip_suffix('\n') else {
                return edited(at, "has no end");
            };
            if !event.starts_with("{\"type\":\"") || !json::is_json(event) {
                return edited(at, "is no event");
            }
            if json::minify(event) != event || event.ends_with('\r') {
                return edited(at, "has white space that no event has");
            }
        }
        Ok(Golden { args, ignore, events: events.to_owned() })
    }

    /// Returns the text of the file.
    pub(crate) fn text(&self) -> String {
        let (args, ignore) = (self.args.clone(), self.ignore.clone());
        let header = Header { kind: "golden".into(), v: VERSION, args, ignore };
        let mut text = serde_json::to_string(&header).unwrap_or_default();
        text.push('\n');
        text.push_str(&self.events);
        text
    }
}

/// Returns the lines that `parse --join` prints of a capture that comes in these pieces.
pub(crate) fn joined(config: &Config, pieces: &[&[u8]]) -> String {
    let mut out = Vec::new();
    let mut sink = Join::new(Ndjson::new(&mut out, Label::default()));
    let mut pipeline = Pipeline::new(config);
    // Writing to memory does not fail.
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        let _ = pipeline.feed(piece, &mut sink);
        if pipeline.is_stopped() {
            break;
        }
    }
    let _ = pipeline.finish(&mut sink);
    drop(sink);
    String::from_utf8_lossy(&out).into_owned()
}

/// The part of the events that is compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// The types of the events, all if there are none.
    pub(crate) only: Vec<String>,
    /// The keys that are left out: of every event `KEY`, of those of a type `TYPE.KEY`, and of a
    /// type all keys `TYPE`.
    pub(crate) ignore: Vec<String>,
}

impl Filter {
    /// Returns the lines that are compared, without the keys that are not.
    pub(crate) fn apply(&self, events: &str) -> Vec<String> {
        let lines = events.lines().filter_map(|line| self.line(line));
        lines.collect()
    }

    fn line(&self, line: &str) -> Option<String> {
        if self.only.is_empty() && self.ignore.is_empty() {
            return Some(line.to_owned());
        }
        let members = json::members(line);
        let kind = members.first().map_or("", |(_, value)| value.get().trim_matches('"'));
        if !self.only.is_empty() && !self.only.iter().any(|only| only == kind) {
            return None;
        }
        let is_ignored = |key: &str| {
            self.ignore.iter().any(|word| match word.split_once('.') {
                Some((of, word)) => of == kind && word == key,
                None => word == key || word == kind,
            })
        };
        let kept = members.iter().filter(|(key, _)| *key == "type" || !is_ignored(key));
        Some(json::object(kept.map(|(key, value)| (key, value.get()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let golden = Golden {
            args: vec!["--format=text".into()],
            ignore: vec!["id".into()],
            events: "{\"type\":\"text\",\"text\":\"a b\"}\n".into(),
        };
        let text = golden.text();
        assert_eq!(
            text.lines().next(),
            Some(r#"{"type":"golden","v":1,"args":["--format=text"],"ignore":["id"]}"#)
        );
        assert_eq!(Golden::read(&text), Ok(golden));
    }

    #[track_caller]
    fn check_error(text: &str, expected: &str) {
        assert_eq!(Golden::read(text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn what_was_never_written_is_no_golden_file() {
        const HEAD: &str = r#"{"type":"golden","v":1,"args":[],"ignore":[]}"#;
        let edited = |how| format!("its golden file was edited by hand: {how}");
        check_error("", &edited("line 1 does not say how it was made"));
        check_error("{\"type\":\"text\"}\n", &edited("line 1 does not say how it was made"));
        check_error(&format!("{HEAD}\nhello\n"), &edited("line 2 is no event"));
        check_error(&format!("{HEAD}\n{{\"type\":\"text\"\n"), &edited("line 2 is no event"));
        check_error(&format!("{HEAD}\n{{\"type\":\"text\"}}"), &edited("line 2 has no end"));
        check_error(
            &format!("{HEAD}\n{{\"type\":\"text\"}}\n{{\"type\":\"text\", \"text\":\"\"}}\n"),
            &edited("line 3 has white space that no event has"),
        );
        check_error(
            "{\"type\":\"golden\",\"v\":2,\"how\":1}\n",
            "its golden file is of version 2, and this toolstream reads version 1: a newer one \
             has written it",
        );
    }

    #[track_caller]
    fn check_filter(only: &[&str], ignore: &[&str], expected: &[&str]) {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let filter = Filter { only: owned(only), ignore: owned(ignore) };
        let events = "{\"type\":\"start\",\"v\":1,\"id\":\"a\"}\n\
                      {\"type\":\"tool_call\",\"id\":\"b\",\"arguments\":{\"id\": 1.0}}\n";
        assert_eq!(filter.apply(events), expected);
    }

    #[test]
    fn keys_are_left_out_and_types_are_chosen() {
        let call = r#"{"type":"tool_call","id":"b","arguments":{"id": 1.0}}"#;
        check_filter(&["tool_call"], &[], &[call]);
        check_filter(
            &[],
            &["tool_call"],
            &[r#"{"type":"start","v":1,"id":"a"}"#, "{\"type\":\"tool_call\"}"],
        );
        check_filter(&[], &["start.id"], &["{\"type\":\"start\",\"v\":1}", call]);
        check_filter(&["start"], &["id"], &["{\"type\":\"start\",\"v\":1}"]);
    }
}
