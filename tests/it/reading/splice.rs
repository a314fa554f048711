//! Fixtures joined, cut and spliced: where one markup or stream follows another, or what is
//! left of one, the laws hold as well.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use toolstream::Config;
use toolstream::dialect::{DIALECTS, Dialect, Selection};
use toolstream::format;

use crate::case::{Case, kind};
use crate::limits::random::{settings, words};
use crate::shape::joined;

/// The input of a dialect's fixture.
struct Text {
    row: &'static Dialect,
    input: String,
}

/// The longest text that is spliced, in bytes: each splice is cut at every byte.
const LONGEST: usize = 400;
/// The longest stream.
const LONGEST_STREAM: usize = 700;

fn texts() -> &'static [Text] {
    static TEXTS: OnceLock<Vec<Text>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let cases = Case::all().into_iter().filter_map(|case| {
            let name = case.name.strip_prefix("fixtures/dialect/")?.split('/').next()?.to_owned();
            let row = DIALECTS.iter().find(|row| row.name == name)?;
            let input = String::from_utf8(case.input).ok()?;
            (input.len() <= LONGEST).then_some(Text { row, input })
        });
        cases.collect()
    })
}

/// The inputs of a format's fixtures that need no arguments, and the format.
fn streams() -> &'static [(String, Vec<u8>)] {
    static STREAMS: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    STREAMS.get_or_init(|| {
        let cases = Case::all().into_iter().filter_map(|case| {
            let format = case.name.strip_prefix("fixtures/format/")?.split('/').next()?.to_owned();
            let is_meant = case.args.is_empty() && case.input.len() <= LONGEST_STREAM;
            is_meant.then_some((format, case.input))
        });
        cases.collect()
    })
}

/// Another fixture: of the same dialect as `first`, or any.
fn second(first: &Text, index: Index, is_same: bool) -> &'static Text {
    let fits = |text: &&Text| !is_same || text.row.name == first.row.name;
    let texts: Vec<&Text> = texts().iter().filter(fits).collect();
    texts[index.index(texts.len())]
}

/// The `tool_call` lines without their indexes, and how often each is there.
fn calls(out: &str) -> BTreeMap<String, usize> {
    let mut calls = BTreeMap::new();
    for line in out.lines().filter(|line| kind(line) == "tool_call") {
        *calls.entry(line.to_owned()).or_default() += 1;
    }
    calls
}

/// Returns what is wrong with an input that is cut at every byte, once in two
/// reads (law 1), and once for good (law 3).
fn fault(config: &Config, bytes: &[u8]) -> Option<String> {
    let (whole, input) = (joined(config, [bytes]), bytes.escape_ascii());
    let is_text = |out: &str| out.contains("\"format\":\"text\"");
    let known = calls(&whole.0);
    (1..bytes.len()).find_map(|at| {
        let (head, tail) = bytes.split_at(at);
        let split = joined(config, [head, tail]);
        if split != whole {
            return Some(format!("{input} split at {at}: {}\nis not {}", split.0, whole.0));
        }
        let prefix = joined(config, [head]).0;
        let is_known = |(call, count): (&String, &usize)| known.get(call) >= Some(count);
        // So little came that it may be plain text; or the whole itself was cut in a frame, and with
        // it the end of a message that could have ended before that frame.
        let is_torn = whole.0.contains("\"message\":\"the input ended inside an event\"");
        // A thought that no closer ends is ended by a call in it; one that closes later keeps it.
        let is_draft = whole.0.contains("\"code\":\"markup_in_reasoning\"");
        let is_other = is_text(&prefix) && !is_text(&whole.0) || is_torn || is_draft;
        let adds = !is_other && !calls(&prefix).iter().all(is_known);
        adds.then(|| format!("{input} cut at {at} has a call of its own: {prefix}"))
    })
}

proptest! {
    #![proptest_config(settings(96))]

    /// Two fixtures with text between them, the first one cut or not.
    #[test]
    fn spliced_texts_keep_the_laws(
        places in [any::<Index>(), any::<Index>(), any::<Index>()],
        between in words(&["`", "\"", "```", "</think>"], 0..4),
        is_same: bool,
        is_cut: bool,
    ) {
        let [first, other, cut] = places;
        let first = &texts()[first.index(texts().len())];
        let other = second(first, other, is_same);
        let end = if is_cut { cut.index(first.input.len() + 1) } else { first.input.len() };
        let head = first.input.get(..first.input.floor_char_boundary(end)).unwrap();
        let input = format!("{head}{between}{}", other.input);
        for dialect in [Selection::Row(first.row), Selection::Auto] {
            let config = Config { format: format::find("text"), dialect, ..Config::default() };
            let fault = fault(&config, input.as_bytes());
            prop_assert!(fault.is_none(), "{}: {}", first.row.name, fault.unwrap());
        }
    }
}

proptest! {
    #![proptest_config(settings(64))]

    /// Two streams or bodies with something between them, the first one cut or not.
    #[test]
    fn spliced_streams_keep_the_laws(
        places in [any::<Index>(), any::<Index>(), any::<Index>()],
        between in select(&[
            "", "\n", "\n\n", "\r", "data: [DONE]\n\n", ": a comment\n\n", "{}\n", "\0", "\u{feff}",
        ]),
        is_same: bool,
        is_cut: bool,
    ) {
        let [first, other, cut] = places;
        let (format, first) = &streams()[first.index(streams().len())];
        let fits = |stream: &&(String, Vec<u8>)| !is_same || stream.0 == *format;
        let others: Vec<_> = streams().iter().filter(fits).collect();
        let (_, other) = others[other.index(others.len())];
        let end = if is_cut { cut.index(first.len() + 1) } else { first.len() };
        let input = [&first[..end], between.as_bytes(), other].concat();
        let fault = fault(&Config::default(), &input);
        prop_assert!(fault.is_none(), "{format}: {}", fault.unwrap());
    }
}

/// Two of Gemini's objects in what may be one record, which line ends of each kind part and end.
#[test]
fn two_objects_in_one_record_keep_the_laws() {
    let call = r#""content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}}}]},"#;
    let object = |call: &str, reason: &str| {
        format!(r#"{{"candidates":[{{{call}"finishReason":"{reason}"}}]}}"#)
    };
    for (first, second) in [("P", "N"), ("STOP", "MAX_TOKENS")] {
        for second in [object("", second), object(call, second)] {
            for (between, end) in ["\r", "\n", "\r\n", ""]
                .into_iter()
                .flat_map(|between| ["\r", "\n", "\r\n"].map(|end| (between, end)))
            {
                for before in ["data:", ""] {
                    let first = object(call, first);
                    let input = format!("{before}{first}{between}{second}{end}{end}");
                    for format in [None, format::find("gemini")] {
                        let config = Config { format, ..Config::default() };
                        let whole = joined(&config, [input.as_bytes()]);
                        let bytes = joined(&config, input.as_bytes().chunks(1));
                        assert_eq!(bytes, whole, "{input:?} byte by byte");
                        assert_eq!(fault(&config, input.as_bytes()), None, "{input:?}");
                    }
                }
            }
        }
    }
}
