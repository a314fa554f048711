//! The patterns of a program's lines.
//!
//! A pattern is written as its text stands in the output, with what varies in braces:
//!
//! | in a pattern | stands for |
//! | --- | --- |
//! | a space | one space or several |
//! | a line end | LF or CR LF |
//! | `{*}` | anything on the line, up to the text after it |
//! | `{lines}` | anything, up to the text after it |
//! | `{prompt}` | the same: what the user said |
//! | `{input}`, `{output}`, `{total}` | a number of tokens |
//! | `{reason}` | a word: why the model stopped |
//! | `{[}`…`{]}` | what may be missing |

use crate::cut::Cut as _;
use std::sync::Arc;

/// The longest line that `{*}` is a part of, and the longest text that `{lines}` is, in bytes.
const LONGEST_LINE: usize = 1024;
const LONGEST: usize = 64 << 10;

/// The text of lines, of which some parts vary.
#[derive(Clone, Debug)]
pub(super) struct LinePattern(Arc<[PatternPart]>);

#[derive(Clone, Debug)]
enum PatternPart {
    Text(&'static str),
    Line,
    Lines { is_prompt: bool },
    Count(Count),
    Reason,
    Optional(Arc<[PatternPart]>),
}

/// A number that a program prints.
#[derive(Clone, Copy, Debug)]
enum Count {
    Input,
    Output,
    Total,
}

/// What a pattern found in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Matched<'t> {
    /// The bytes that it covers.
    pub(super) length: usize,
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) reason: Option<&'t str>,
    pub(super) prompt: Option<&'t str>,
}

/// Whether a text begins as a pattern says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PatternMatch<'t> {
    No,
    /// More text may show it; true if a line of it is there.
    Open(bool),
    Whole(Matched<'t>),
}

/// Why a pattern does not fit, or not yet.
enum Miss {
    No,
    /// The text ends after so many bytes of it.
    Open(usize),
}

impl LinePattern {
    /// Parses a pattern.
    pub(super) fn parse(pattern: &'static str) -> Result<LinePattern, String> {
        let mut rest = pattern;
        let parts = parts(&mut rest, false)?;
        match parts.first() {
            Some(PatternPart::Text(_) | PatternPart::Optional(_)) => Ok(LinePattern(parts.into())),
            _ => Err(format!("the pattern {pattern:?} must begin with text of its own")),
        }
    }

    /// Matches the beginning of a text, to which more may come.
    pub(super) fn read<'t>(&self, text: &'t str) -> PatternMatch<'t> {
        let mut found = Matched::default();
        match read(&self.0, text, 0, &mut found) {
            Ok(length) => PatternMatch::Whole(Matched { length, ..found }),
            Err(Miss::No) => PatternMatch::No,
            Err(Miss::Open(seen)) => {
                PatternMatch::Open(text.get(..seen).is_some_and(|seen| seen.contains('\n')))
            }
        }
    }

    /// True if it begins inside a line.
    pub(super) fn is_inline(&self) -> bool {
        matches!(self.0.first(), Some(PatternPart::Text(text)) if text.starts_with(' '))
    }
}

/// Parses parts up to the end of the pattern, or of what may be missing.
fn parts(rest: &mut &'static str, is_inner: bool) -> Result<Vec<PatternPart>, String> {
    let mut parts = Vec::new();
    while let Some(at) = rest.find('{') {
        let (text, word) = rest.split_at(at);
        let Some((word, after)) = word.split_once('}') else { break };
        if !text.is_empty() {
            parts.push(PatternPart::Text(text));
        }
        *rest = after;
        parts.push(match word {
            "{*" => PatternPart::Line,
            "{lines" => PatternPart::Lines { is_prompt: false },
            "{prompt" => PatternPart::Lines { is_prompt: true },
            "{input" => PatternPart::Count(Count::Input),
            "{output" => PatternPart::Count(Count::Output),
            "{total" => PatternPart::Count(Count::Total),
            "{reason" => PatternPart::Reason,
            "{[" => PatternPart::Optional(self::parts(rest, true)?.into()),
            "{]" if is_inner => return Ok(parts),
            word => return Err(format!("{word}}} stands for nothing in a program's lines")),
        });
    }
    if is_inner {
        return Err("{[} lacks its {]}".to_owned());
    }
    if !rest.is_empty() {
        parts.push(PatternPart::Text(std::mem::take(rest)));
    }
    Ok(parts)
}

/// Matches parts from `at` on; returns the end of what they cover.
fn read<'t>(
    parts: &[PatternPart],
    text: &'t str,
    at: usize,
    found: &mut Matched<'t>,
) -> Result<usize, Miss> {
    let Some((part, after)) = parts.split_first() else { return Ok(at) };
    let rest = text.after(at);
    match part {
        PatternPart::Text(expected) => {
            let length = literal(expected, rest).map_err(|miss| miss.after(at))?;
            read(after, text, at + length, found)
        }
        PatternPart::Count(count) => {
            let length = run(rest, |c| c.is_ascii_digit()).map_err(|miss| miss.after(at))?;
            let number = rest.get(..length).and_then(|digits| digits.parse().ok());
            match count {
                Count::Input => found.input = number,
                Count::Output => found.output = number,
                Count::Total => found.total = number,
            }
            read(after, text, at + length, found)
        }
        PatternPart::Reason => {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length = run(rest, is_word).map_err(|miss| miss.after(at))?;
            found.reason = rest.get(..length);
            read(after, text, at + length, found)
        }
        PatternPart::Optional(inner) => match read(inner, text, at, found) {
            Ok(end) => read(after, text, end, found),
            Err(Miss::No) => read(after, text, at, found),
            open => open,
        },
        PatternPart::Line => {
            anything(after, text, at, found, (LONGEST_LINE, true)).map(|(_, end)| end)
        }
        PatternPart::Lines { is_prompt } => {
            let (length, end) = anything(after, text, at, found, (LONGEST, false))?;
            if *is_prompt {
                found.prompt = rest.get(..length);
            }
            Ok(end)
        }
    }
}

/// Matches anything up to where the parts after it fit; returns its length and the end of all.
fn anything<'t>(
    after: &[PatternPart],
    text: &'t str,
    at: usize,
    found: &mut Matched<'t>,
    (longest, is_line): (usize, bool),
) -> Result<(usize, usize), Miss> {
    let rest = text.after(at);
    let first = match after.first() {
        Some(PatternPart::Text(text)) => text.chars().next(),
        _ => None,
    };
    let may_begin = |c: char| match first {
        Some('\n') => c == '\n' || c == '\r',
        Some(first) => c == first,
        None => true,
    };
    for (length, c) in rest.char_indices() {
        if length > longest {
            return Err(Miss::No);
        }
        if may_begin(c) {
            match read(after, text, at + length, found) {
                Ok(end) => return Ok((length, end)),
                Err(Miss::No) => {}
                Err(open) => return Err(open),
            }
        }
        if is_line && c == '\n' {
            return Err(Miss::No);
        }
    }
    Err(Miss::Open(text.len()))
}

impl Miss {
    fn after(self, at: usize) -> Miss {
        match self {
            Miss::No => Miss::No,
            Miss::Open(length) => Miss::Open(at + length),
        }
    }
}

/// Returns the length of a text that a literal stands for.
fn literal(expected: &str, text: &str) -> Result<usize, Miss> {
    let mut at = 0;
    for expected in expected.chars() {
        let rest = text.after(at);
        let taken = match expected {
            ' ' => rest.len() - rest.trim_start_matches(' ').len(),
            '\n' if rest.starts_with("\r\n") => 2,
            '\n' if rest == "\r" => return Err(Miss::Open(at)),
            expected if rest.starts_with(expected) => expected.len_utf8(),
            _ => 0,
        };
        if taken == 0 {
            return Err(if rest.is_empty() { Miss::Open(at) } else { Miss::No });
        }
        at += taken;
    }
    Ok(at)
}

/// Returns the length of a run of such characters, of which there is one at least and which ends.
fn run(text: &str, is_it: impl Fn(char) -> bool) -> Result<usize, Miss> {
    match text.find(|c| !is_it(c)) {
        Some(0) => Err(Miss::No),
        Some(length) => Ok(length),
        None => Err(Miss::Open(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(pattern: &'static str) -> LinePattern {
        LinePattern::parse(pattern).unwrap()
    }

    /// Checks what a pattern covers of a text, and that every part of that leaves it open.
    #[track_caller]
    fn check(written: &'static str, text: &str, expected: Option<usize>) {
        let pattern = pattern(written);
        let found = pattern.read(text);
        match (found, expected) {
            (PatternMatch::Whole(found), Some(length)) => {
                assert_eq!(found.length, length);
                for end in (0..length).filter(|end| text.is_char_boundary(*end)) {
                    let part = pattern.read(text.get(..end).unwrap());
                    let is_shorter =
                        matches!(part, PatternMatch::Whole(found) if found.length == end);
                    assert!(
                        is_shorter || matches!(part, PatternMatch::Open(_)),
                        "{text:?} up to {end}"
                    );
                }
            }
            (PatternMatch::No, None) => {}
            _ => panic!("{written:?} in {text:?}: {found:?}"),
        }
    }

    #[test]
    fn parts_that_vary() {
        check("a b\n", "a  b\r\nc", Some(6));
        check("a {*}!\n", "a b!c!\n", Some(7));
        check("a {*}!\n", "a b\n!\n", None);
        check("a {lines}!\n", "a b\n!\nc", Some(6));
        check("n {input} a {output} b\n", "n 12 a 3 b\n", Some(11));
        check("a\n{[}b\n{]}c", "a\nc", Some(3));
        check("a\n{[}b\n{]}c", "a\nb\nc", Some(5));
        check("> {prompt}\n{[}x\n{]}y ", "> 1\n2\nx\ny z", Some(10));
    }

    #[test]
    fn what_is_said_is_remembered() {
        let PatternMatch::Whole(found) =
            pattern("> {prompt}\n\nn {input} {reason}.").read("> a\nb\n\nn 7 eos.")
        else {
            panic!();
        };
        assert_eq!((found.prompt, found.input, found.reason), (Some("a\nb"), Some(7), Some("eos")));
    }

    #[test]
    fn mistakes_are_named() {
        assert!(LinePattern::parse("a {inputs}").unwrap_err().contains("{inputs}"));
        assert!(LinePattern::parse("a {[}b").unwrap_err().contains("{]}"));
        assert!(LinePattern::parse("{*} a").unwrap_err().contains("begin with text"));
    }
}
