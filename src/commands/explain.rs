//! The output of `detect`.

use serde::Serialize;

use crate::detect::Verdict;
use crate::json;

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
