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
    /// How it was made.
    pub(crate) head: GoldenHead,
    /// The lines of its events.
    pub(crate) events: String,
}

/// What the first line says: how the capture is read and compared, as far as its folder does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GoldenHead {
    /// Options, as `--NAME=VALUE`.
    pub(crate) args: Vec<String>,
    /// The keys that are not compared.
    pub(crate) ignore: Vec<String>,
    /// The members of the capture's records that no rule reads, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unread: Vec<String>,
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct GoldenLine {
    #[serde(rename = "type")]
    kind: String,
    v: u64,
    #[serde(flatten)]
    head: GoldenHead,
}

/// The members that the first line has in any version.
#[derive(Deserialize)]
struct AnyHeader {
    #[serde(rename = "type")]
    kind: String,
    v: u64,
}

/// The reason why a file cannot be used as a golden file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GoldenError {
    /// It is of this version, which is newer than what can be read.
    Newer(u64),
    /// Git has left both sides of a merge in it, from this line on.
    Conflict(usize),
    /// It ends inside this line.
    Half(usize),
    /// It is empty.
    Empty,
    /// It is no text from this byte on.
    Binary(usize),
    /// This file that an option of its head names is not here.
    Missing(String),
    /// Its options can't be used here: why.
    Options(String),
    /// It holds something that was never written into it: a sentence.
    Edited(String),
}

impl GoldenError {
    /// Returns what is wrong with settings, wherever they come from.
    pub(crate) fn of_settings(&self) -> String {
        match self {
            GoldenError::Missing(option) => format!("{option}: there is no such file"),
            GoldenError::Options(why) => why.clone(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for GoldenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its golden file ")?;
        match self {
            GoldenError::Newer(version) => write!(
                f,
                "is of version {version}, and this toolstream reads version {VERSION}: a newer one has \
                 written it"
            ),
            GoldenError::Conflict(line) => {
                write!(f, "holds a merge conflict that is not resolved, in line {line}")
            }
            GoldenError::Half(line) => write!(f, "ends inside line {line}: it is not whole"),
            GoldenError::Empty => f.write_str("is empty"),
            GoldenError::Binary(at) => write!(f, "is not UTF-8 (offset {at})"),
            GoldenError::Missing(option) => {
                write!(f, "was made with {option}, and there is no such file here")
            }
            GoldenError::Options(why) => {
                write!(f, "was made with options that can't be used here: {why}")
            }
            GoldenError::Edited(how) => write!(f, "was edited by hand: {how}"),
        }
    }
}

/// What was read of a golden file.
pub(crate) struct GoldenFile {
    pub(crate) golden: Result<Golden, GoldenError>,
    /// What its first line says, or the first lines on both sides of a conflict, whatever is wrong
    /// with the rest.
    pub(crate) head: GoldenHead,
    /// True if its lines end with CR LF, or a byte order mark stands before them: something between
    /// here and git has changed it.
    pub(crate) is_recoded: bool,
}

impl GoldenFile {
    /// Reads the bytes of a golden file.
    pub(crate) fn read(bytes: &[u8]) -> GoldenFile {
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let golden = Err(GoldenError::Binary(error.valid_up_to()));
                return GoldenFile { golden, head: GoldenHead::default(), is_recoded: false };
            }
        };
        let plain = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
        let heads = plain.lines().filter_map(|line| serde_json::from_str::<GoldenLine>(line).ok());
        let heads = heads.filter(|header| header.kind == "golden");
        let head = heads.map(|header| header.head).fold(GoldenHead::default(), GoldenHead::with);
        GoldenFile { golden: Golden::read(&plain), head, is_recoded: plain.len() < text.len() }
    }
}

impl GoldenHead {
    /// Adds what another one holds and this one does not.
    fn with(mut self, other: GoldenHead) -> GoldenHead {
        let rows = [
            (&mut self.args, other.args),
            (&mut self.ignore, other.ignore),
            (&mut self.unread, other.unread),
        ];
        for (own, others) in rows {
            let new: Vec<_> = others.into_iter().filter(|word| !own.contains(word)).collect();
            own.extend(new);
        }
        self
    }
}

impl Golden {
    /// Reads the text of a golden file. Lines that `parse` would print in another way are an error:
    /// who edits a file means something by it.
    fn read(text: &str) -> Result<Self, GoldenError> {
        if text.is_empty() {
            return Err(GoldenError::Empty);
        }
        let marks = ["<<<<<<< ", "=======", ">>>>>>> ", "||||||| "];
        let conflict =
            text.lines().position(|line| marks.iter().any(|mark| line.starts_with(mark)));
        if let Some(at) = conflict {
            return Err(GoldenError::Conflict(at + 1));
        }
        let (first, events) = text.split_once('\n').unwrap_or((text, ""));
        let edited = |line, how| Err(GoldenError::Edited(format!("line {line} {how}")));
        match serde_json::from_str::<AnyHeader>(first) {
            Ok(header) if header.kind == "golden" && header.v > VERSION => {
                return Err(GoldenError::Newer(header.v));
            }
            Ok(header) if header.kind == "golden" => {}
            _ => return edited(1, "does not say how it was made"),
        }
        let Ok(GoldenLine { head, .. }) = serde_json::from_str(first) else {
            return edited(1, "does not say how it was made");
        };
        if !text.ends_with('\n') {
            return Err(GoldenError::Half(text.lines().count()));
        }
        for (event, at) in events.lines().zip(2..) {
            if !event.starts_with("{\"type\":\"") || !json::is_json(event) {
                return edited(at, "is no event");
            }
            if json::minify(event) != event || event.ends_with('\r') {
                return edited(at, "has white space that no event has");
            }
        }
        Ok(Golden { head, events: events.to_owned() })
    }

    /// Returns the text of the file.
    pub(crate) fn text(&self) -> String {
        let header = GoldenLine { kind: "golden".into(), v: VERSION, head: self.head.clone() };
        json::line_of(&header) + &self.events
    }
}

/// Returns the lines that `parse --join` prints of a capture that comes in these pieces.
pub(crate) fn joined(config: &Config, pieces: &[&[u8]]) -> String {
    joined_as(config, pieces, None)
}

/// The same, where the lines have the name of their input.
pub(crate) fn joined_as(config: &Config, pieces: &[&[u8]], file: Option<&str>) -> String {
    let mut out = Vec::new();
    let label = Label::new(file.map(str::to_owned));
    let mut sink = Join::new(Ndjson::new(&mut out, label));
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

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"{"type":"golden","v":1,"args":[],"ignore":[]}"#;

    fn read(text: &str) -> GoldenFile {
        GoldenFile::read(text.as_bytes())
    }

    #[test]
    fn what_is_written_is_read() {
        let (args, ignore) = (vec!["--format=text".into()], vec!["id".into()]);
        let golden = Golden {
            head: GoldenHead { args, ignore, unread: Vec::new() },
            events: "{\"type\":\"text\",\"text\":\"a b\"}\n".into(),
        };
        let text = golden.text();
        assert_eq!(
            text.lines().next(),
            Some(r#"{"type":"golden","v":1,"args":["--format=text"],"ignore":["id"]}"#)
        );
        for (text, is_recoded) in [
            (text.clone(), false),
            (text.replace('\n', "\r\n"), true),
            (format!("\u{feff}{text}"), true),
        ] {
            let file = read(&text);
            assert_eq!((file.golden.as_ref(), file.is_recoded), (Ok(&golden), is_recoded));
            assert_eq!(file.head, golden.head);
        }
    }

    #[track_caller]
    fn check_error(text: &str, expected: &str) {
        let error = read(text).golden.unwrap_err().to_string();
        assert_eq!(error, format!("its golden file {expected}"));
    }

    #[test]
    fn what_was_never_written_is_no_golden_file() {
        check_error("", "is empty");
        let edited = |how| format!("was edited by hand: {how}");
        check_error("{\"type\":\"text\"}\n", &edited("line 1 does not say how it was made"));
        check_error(&format!("{HEAD}\nhello\n"), &edited("line 2 is no event"));
        check_error(&format!("{HEAD}\n{{\"type\":\"text\"\n"), &edited("line 2 is no event"));
        check_error(&format!("{HEAD}\n{{\"type\":\"te"), "ends inside line 2: it is not whole");
        check_error(
            &format!("{HEAD}\n{{\"type\":\"text\"}}\n{{\"type\":\"text\", \"text\":\"\"}}\n"),
            &edited("line 3 has white space that no event has"),
        );
        check_error(
            "{\"type\":\"golden\",\"v\":2,\"how\":1}\n",
            "is of version 2, and this toolstream reads version 1: a newer one has written it",
        );
    }

    #[test]
    fn both_sides_of_a_conflict_keep_their_settings() {
        let [ours, theirs] = ["[\"id\"]", "[\"usage\",\"id\"]"]
            .map(|ignore| HEAD.replace("\"ignore\":[]", &format!("\"ignore\":{ignore}")));
        let text = format!("<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> b\n");
        check_error(&text, "holds a merge conflict that is not resolved, in line 1");
        assert_eq!(read(&text).head.ignore, ["id", "usage"]);
    }
}
