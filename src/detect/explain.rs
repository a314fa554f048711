//! The verdict of the `detect` command, and its evidence.

use std::io;

use crate::detect::decoder::{MOST_UNKNOWN, is_nothing};
use crate::detect::formats::KnownFormats;
use crate::detect::record::see_record;
use crate::detect::{AutoFramer, WINDOW};
use crate::format::format::{Format, Record};
use crate::frame::{Fault, FaultKind, Frame, FrameConfig, Framed};
use crate::json;

/// The framing and the format of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The framing's name, or `unknown`.
    pub framing: String,
    /// The format's name, or `unknown`.
    pub format: String,
    /// Its reasons, in sentences.
    pub evidence: Vec<String>,
    /// Other formats that its first record could be in.
    pub alternatives: Vec<String>,
    /// The format. After an error body, another one may come.
    pub(crate) row: Option<&'static Format>,
    /// True if it is unknown, whatever follows.
    pub(crate) is_given_up: bool,
}

impl Verdict {
    /// True if no more of the input changes it: the format is known, and is not that of an error,
    /// which a message of any format may follow, or no more is looked at.
    pub fn is_final(&self) -> bool {
        self.is_given_up || self.row.is_some_and(|row| !row.is_of_errors())
    }
}

/// Returns what an input is that begins with `head`, and is no longer if
/// `ended`.
pub fn explain(head: &[u8], ended: bool) -> Verdict {
    explain_of(&KnownFormats::default(), head, ended)
}

/// The same, where the input may be in these formats.
pub(crate) fn explain_of(formats: &KnownFormats, head: &[u8], ended: bool) -> Verdict {
    let verdict =
        Verdict { framing: "unknown".into(), format: "unknown".into(), ..Verdict::default() };
    let mut search = VerdictSearch { formats, verdict, unknown: 0, is_over: false };
    let mut framer = AutoFramer::new(None, FrameConfig::default()).knowing(formats.clone());
    let mut see = |framed: Framed<'_>| {
        match framed {
            Framed::Frame(frame) => search.see(&frame),
            Framed::Fault(fault) => search.see_fault(fault),
            Framed::Comment | Framed::Next(_) => {}
        }
        // Nothing that follows changes it: it need not be framed.
        if search.verdict.is_final() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    };
    // A framer only fails if the closure does.
    let fed = head.chunks(WINDOW).try_for_each(|piece| framer.feed(piece, &mut see));
    if fed.is_ok() && ended {
        drop(framer.finish(&mut see));
    }
    let mut verdict = search.verdict;
    if verdict.evidence.is_empty() {
        let is_empty = head.trim_ascii().is_empty();
        let message = if is_empty { "the input is empty" } else { "the input holds no message" };
        verdict.evidence.push(message.into());
    }
    verdict
}

/// A verdict in the making: it looks at as many records as
/// [`crate::detect::AutoDecoder`] does.
struct VerdictSearch<'f> {
    formats: &'f KnownFormats,
    verdict: Verdict,
    /// The number of records that were in no known format.
    unknown: usize,
    /// True if nothing more is read, not even another response.
    is_over: bool,
}

impl VerdictSearch<'_> {
    /// Notes why no frame was read so far.
    fn see_fault(&mut self, fault: Fault<'_>) {
        if !self.is_over && !self.verdict.is_final() {
            self.verdict.evidence.push(fault.message);
        }
        self.is_over |= matches!(fault.kind, FaultKind::Unrecognised | FaultKind::Limit);
        self.verdict.is_given_up |= self.is_over && self.verdict.format == "unknown";
    }

    fn see(&mut self, frame: &Frame<'_>) {
        if self.is_over {
            return;
        }
        if self.verdict.framing == "unknown" {
            self.verdict.framing = frame.framing.name.into();
            self.verdict.evidence.push(format!("the framing is {}", frame.framing.about));
        }
        if self.verdict.is_final() {
            return;
        }
        see_record(frame, |record| {
            let mut found = self.formats.of_first(record);
            let Some(row) = found.next().filter(|row| self.verdict.row != Some(*row)) else {
                self.unknown += usize::from(self.verdict.row.is_none() && !is_nothing(frame));
                self.verdict.is_given_up = self.unknown >= MOST_UNKNOWN;
                return;
            };
            self.verdict.row = Some(row);
            self.verdict.format = row.name.into();
            self.verdict.evidence.extend(evidence(row, record));
            self.verdict.alternatives = found.map(|row| row.name.to_owned()).collect();
        });
    }
}

/// Returns the evidence that a record is of this format, in sentences.
fn evidence(format: &Format, record: &Record<'_>) -> Vec<String> {
    let mut seen = Vec::new();
    if !record.event_type.is_empty() {
        seen.push(format!("the first event is named {}", json::quote(record.event_type)));
    }
    let usual = ["type", "object", "event_type"];
    let of_row = format.row().map_or(&[][..], |row| row.spec.kind);
    for places in usual.iter().chain(of_row.iter().filter(|places| !usual.contains(places))) {
        if let Some(value) = record.at(places).and_then(json::string) {
            seen.push(format!("the first record has {places} {}", json::quote(&value)));
        }
    }
    let paths = format
        .evidence
        .iter()
        .copied()
        .filter(|path| record.at(path).or(record.get(path)).is_some());
    let paths: Vec<_> = paths.collect();
    if !paths.is_empty() {
        seen.push(format!("the first record has {}", paths.join(", ")));
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, framing: &str, format: &str) {
        let verdict = explain(input.as_bytes(), true);
        assert_eq!(
            (verdict.framing.as_str(), verdict.format.as_str()),
            (framing, format),
            "{verdict:?}"
        );
    }

    #[test]
    fn formats_are_told_by_their_first_record() {
        check("data: {\"choices\":[{\"delta\":{}}]}\n\n", "sse", "openai-chat");
        check("{\"type\":\"message_start\",\"message\":{}}\n", "ndjson", "anthropic");
        check("[{\"choices\":[]}]", "json-array", "openai-chat");
        check("{\n \"error\": {\"message\": \"m\"}\n}", "json", "error");
        check("The answer is 42.", "text", "text");
        check("{\"answer\":42}", "json", "unknown");
        let page = "HTTP/1.1 200 OK\nContent-Length: 13\n\n<html></html>";
        check(
            &format!("{page}{}Hi", page.replace("13", "2").replace("<html></html>", "")),
            "unknown",
            "unknown",
        );
    }
}
