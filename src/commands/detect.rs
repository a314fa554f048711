//! `detect`: what format this is, and why.

use std::io;

use serde::Serialize;

use crate::cli::Detect;
use crate::commands::{Inputs, conclude, shown, write_now};
use crate::detect;
use crate::detect::Verdict;
use crate::event::Code;
use crate::format::Format;
use crate::io::{Ended, Input, Output, Read, die, report_error, report_on};
use crate::json;
use crate::status::{Outcome, Status};

pub(super) fn detect(args: &Detect) -> anyhow::Result<u8> {
    let inputs = Inputs::new(&args.files)?;
    let mut out = Output::standard();
    let mut status = Status::default();
    let mut separator = "";
    for name in &inputs.names {
        let stderr = &mut io::stderr();
        let Some(mut input) = inputs.open(name, stderr, &mut status) else { continue };
        let mut look = Look { own: args.format, ..Look::default() };
        let ended = look.read(&mut input);
        if let Some(signal) = conclude(&ended, name, stderr, &mut status) {
            die(signal);
        }
        if let Ended::Unreadable(_) = ended {
            continue;
        }
        match look.outcome() {
            Some(Outcome::Truncated) => {
                status.note(Outcome::Truncated);
                let message = "the input is empty";
                report_error(stderr, shown(name), Code::Truncated, message, Some(0));
            }
            Some(outcome) => {
                status.note(outcome);
                let message = match look.verdict.evidence.last() {
                    // No format reads what has no framing: this is why.
                    Some(reason) if look.verdict.framing == "unknown" => reason,
                    _ => {
                        "the format is not recognised; `toolstream parse -f NAME` reads it as one \
                         that `toolstream formats` lists, `-f FILE` as one that you describe"
                    }
                };
                report_on(stderr, shown(name), message, None);
            }
            None => {}
        }
        let file = if args.json { *name } else { shown(name) };
        let file = Some(file).filter(|_| inputs.names.len() > 1);
        let text = describe(&look.verdict, file, args.json);
        write_now(&mut out, format!("{separator}{text}").as_bytes())?;
        separator = if args.json { "" } else { "\n" };
    }
    Ok(status.code(false))
}

/// The head of an input, and the verdict on it.
#[derive(Default)]
struct Look {
    /// The format that is tried first.
    own: Option<&'static Format>,
    head: Vec<u8>,
    verdict: Verdict,
}

impl Look {
    /// Reads until the format is known, and at most as much as detection does. Examines the head
    /// again each time that it has doubled, so that the time is linear.
    fn read(&mut self, input: &mut Input<'_>) -> Ended {
        let mut buffer = Vec::new();
        let mut enough = 0;
        loop {
            match input.read(&mut buffer) {
                Ok(Read::Bytes) => self.head.extend_from_slice(&buffer),
                Ok(Read::End) => {
                    self.verdict = detect::explain_with(self.own, &self.head, true);
                    return Ended::Well;
                }
                Ok(Read::Signal(signal)) => return Ended::BySignal(signal),
                Err(error) => return Ended::Unreadable(error),
            }
            self.head.truncate(detect::WINDOW);
            let is_all = self.head.len() == detect::WINDOW;
            if self.head.len() >= enough || is_all {
                self.verdict = detect::explain_with(self.own, &self.head, false);
                enough = self.head.len() * 2;
                if is_all || self.verdict.is_final() {
                    return Ended::Well;
                }
            }
        }
    }

    fn is_known(&self) -> bool {
        self.verdict.format != "unknown"
    }

    fn outcome(&self) -> Option<Outcome> {
        match self.is_known() {
            true => None,
            false if self.head.trim_ascii().is_empty() => Some(Outcome::Truncated),
            false => Some(Outcome::Malformed),
        }
    }
}

/// A verdict as an object.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    framing: &'a str,
    format: &'a str,
    evidence: &'a [String],
    alternatives: &'a [String],
}

/// Returns a verdict as text, or as a line of JSON.
pub fn describe(verdict: &Verdict, file: Option<&str>, as_json: bool) -> String {
    let mut out = String::new();
    if as_json {
        let Verdict { framing, format, evidence, alternatives } = verdict;
        let row = Row { file, framing, format, evidence, alternatives };
        // Serialising text and lists of text never fails.
        json::make_safe(&serde_json::to_string(&row).unwrap_or_default(), &mut out);
        out.push('\n');
        return out;
    }
    let mut line = |key: &str, text: &str| {
        out.push_str(&format!("{key:<9}"));
        json::make_safe(text, &mut out);
        out.push('\n');
    };
    if let Some(file) = file {
        line("file", file);
    }
    line("format", &verdict.format);
    line("framing", &verdict.framing);
    for (at, evidence) in verdict.evidence.iter().enumerate() {
        line(if at == 0 { "because" } else { "" }, evidence);
    }
    if !verdict.alternatives.is_empty() {
        line("or else", &verdict.alternatives.join(", "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(as_json: bool, expected: &str) {
        let verdict = Verdict {
            framing: "sse".into(),
            format: "anthropic".into(),
            evidence: vec!["one".into(), "two \u{1b}".into()],
            alternatives: vec!["openai-chat".into()],
        };
        assert_eq!(describe(&verdict, Some("a"), as_json), expected);
    }

    #[test]
    fn a_block_of_text() {
        check(
            false,
            "file     a\nformat   anthropic\nframing  sse\nbecause  one\n         two \\u001b\nor else  openai-chat\n",
        );
    }

    #[test]
    fn an_object() {
        check(
            true,
            "{\"file\":\"a\",\"framing\":\"sse\",\"format\":\"anthropic\",\
             \"evidence\":[\"one\",\"two \\u001b\"],\"alternatives\":[\"openai-chat\"]}\n",
        );
    }
}
