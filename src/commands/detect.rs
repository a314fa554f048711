//! `detect`: what format this is, and why.

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::Detect;
use crate::commands::exchanges::{Stream, StreamSource};
use crate::commands::{Inputs, conclude, lost, shown};
use crate::detect::{self, KnownFormats, Verdict};
use crate::event::Code;
use crate::io::{BufferedOutput, Ended, Input, Read, die, report_error, report_on};
use crate::json;
use crate::status::{Outcome, Status};

pub(super) fn detect(args: &Detect) -> anyhow::Result<u8> {
    let formats = args.formats.formats()?;
    let inputs = Inputs::with_folders(&args.files, &formats)?;
    let mut out = BufferedOutput::standard();
    let mut status = Status::default();
    let mut separator = "";
    for name in &inputs.names {
        let mut read = |source: StreamSource<'_>, stderr: &mut dyn Write, status: &mut Status| {
            let StreamSource { name, file, stream, .. } = source;
            let mut input = match stream {
                Stream::Input(input) => input,
                Stream::Broken { code, message, offset } => {
                    status.note_error(code);
                    report_error(stderr, &name, code, &message, Some(offset));
                    return Ok(None);
                }
            };
            let mut look = HeadVerdict { formats: formats.clone(), ..HeadVerdict::default() };
            let ended = look.read(&mut input);
            let signal = conclude(&ended, &name, stderr, status);
            if signal.is_some() || matches!(ended, Ended::Unreadable(_)) {
                return Ok(signal);
            }
            look.report(&name, stderr, status);
            let file = file.as_deref().map(|file| if args.json { file } else { shown(file) });
            let text = describe(&look.verdict, file, args.json);
            out.write_all(format!("{separator}{text}").as_bytes())?;
            out.flush()?;
            separator = if args.json { "" } else { "\n" };
            Ok(None)
        };
        let to = (&mut io::stderr() as &mut dyn Write, &mut status);
        if let Some(signal) = inputs.each(name, &formats, true, to, &mut read).map_err(lost)? {
            die(signal);
        }
    }
    Ok(status.code(false))
}

/// The head of an input, and the verdict on it.
#[derive(Default)]
struct HeadVerdict {
    /// The formats that are tried first.
    formats: KnownFormats,
    head: Vec<u8>,
    verdict: Verdict,
}

impl HeadVerdict {
    /// Reads until nothing that follows changes the verdict: the first record may be all of the input.
    /// Examines the head again each time that it has doubled, so that the time is linear.
    fn read(&mut self, input: &mut Input<'_>) -> Ended {
        let mut buffer = Vec::new();
        let mut enough = 0;
        loop {
            match input.read(&mut buffer) {
                Ok(Read::Bytes) => self.head.extend_from_slice(&buffer),
                Ok(Read::End) => {
                    self.verdict = detect::explain_of(&self.formats, &self.head, true);
                    return Ended::Well;
                }
                Ok(Read::Signal(signal)) => return Ended::BySignal(signal),
                Err(error) => return Ended::Unreadable(error),
            }
            if self.head.len() >= enough {
                self.verdict = detect::explain_of(&self.formats, &self.head, false);
                enough = self.head.len() * 2;
                if self.verdict.is_final() {
                    return Ended::Well;
                }
            }
        }
    }

    fn is_known(&self) -> bool {
        self.verdict.format != "unknown"
    }

    /// Reports an input that is not known.
    fn report(&self, name: &str, stderr: &mut dyn Write, status: &mut Status) {
        let Some(outcome) = self.outcome() else { return };
        status.note(outcome);
        if outcome == Outcome::Truncated {
            let message = "the input is empty";
            return report_error(stderr, name, Code::Truncated, message, Some(0));
        }
        let message = match self.verdict.evidence.last() {
            // No format reads what has no framing: this is why.
            Some(reason) if self.verdict.framing == "unknown" => reason,
            _ => {
                "the format is not recognised; `toolstream parse -f NAME` reads it as one that \
                 `toolstream formats` lists, `-f FILE` as one that you describe"
            }
        };
        report_on(stderr, name, message, None);
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
struct VerdictRow<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    framing: &'a str,
    format: &'a str,
    evidence: &'a [String],
    alternatives: &'a [String],
}

/// Returns a verdict as text, or as a line of JSON.
pub fn describe(verdict: &Verdict, file: Option<&str>, as_json: bool) -> String {
    if as_json {
        let Verdict { framing, format, evidence, alternatives, .. } = verdict;
        let row = VerdictRow { file, framing, format, evidence, alternatives };
        return json::line_of(&row);
    }
    let mut out = String::new();
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
            ..Verdict::default()
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
