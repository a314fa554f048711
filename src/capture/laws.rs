//! Laws of the contract that any capture can be held to.
//!
//! A law is tried at places of the input that its own bytes decide: whoever has the bytes sees the
//! same. Reading is given to the laws, so that a test can give them a reader that breaks one.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::assemble::AssemblerConfig;
use crate::capture::dice::Dice;
use crate::capture::difference::shorten;
use crate::capture::filter::kind;
use crate::capture::shrink;
use crate::convert::{Options, convert};
use crate::cut::Cut as _;
use crate::detect;
use crate::format::{self, FORMATS};
use crate::frame::FrameConfig;
use crate::json::{self, member};
use crate::pipeline::Config;

/// Reads an input that comes in these pieces, and returns the lines of its events, neighbouring
/// deltas joined.
pub(crate) type ReadWith<'r> = dyn Fn(&Config, &[&[u8]]) -> String + Sync + 'r;

/// The way in which an input breaks a law.
type LawBroken = Result<(), String>;

/// Something that holds for every input.
pub(crate) struct Law {
    /// Its name, a word.
    pub(crate) name: &'static str,
    /// The law, as a sentence.
    pub(crate) about: &'static str,
    check: fn(&Subject<'_>) -> LawBroken,
}

/// The laws, in the order they are tried.
pub(crate) const LAWS: &[Law] = &[
    Law { name: "ends", about: "a message has one end, and its usage before it", check: ends },
    Law {
        name: "pieces",
        about: "an input gives the same however it is cut into reads",
        check: pieces,
    },
    Law {
        name: "cuts",
        about: "a part of an input gives no call that the whole does not, and no good end",
        check: cuts,
    },
    Law {
        name: "lines",
        about: "CR LF and comments mean nothing between server-sent events",
        check: lines,
    },
    Law { name: "events", about: "events that are read give the same events", check: read_back },
    Law {
        name: "convert",
        about: "a message that is written in another format and read back is the same",
        check: converted,
    },
];

/// The number of first bytes of an input of which every place is tried.
const EVERY: usize = 4096;

/// The distance of the places that one reading tries.
const STRIDE: usize = 128;

/// The most frames at which an input is cut.
const MAX_FRAMES: usize = 200;

/// The number of random places at which an input is cut.
const RANDOM: usize = 32;

/// The longest time in which a find is made smaller.
const TIME: Duration = Duration::from_secs(20);

/// An input, and how it is read.
struct Subject<'a> {
    config: Config,
    input: &'a [u8],
    read: &'a ReadWith<'a>,
}

impl Law {
    /// Returns how an input breaks the law, if it does.
    pub(crate) fn broken(
        &self,
        config: &Config,
        input: &[u8],
        read: &ReadWith<'_>,
    ) -> Option<String> {
        (self.check)(&Subject { config: config.clone(), input, read }).err()
    }

    /// Returns the smallest input that is found to break the law, as this one does.
    pub(crate) fn smallest(&self, config: &Config, input: &[u8], read: &ReadWith<'_>) -> Vec<u8> {
        let records = |input: &[u8]| {
            let places = frames(config, input);
            pieces_at(input, places).into_iter().map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        let splits: [shrink::Split<'_>; 3] = [&records, &shrink::stretches, &shrink::bytes];
        let mut holds = |input: &[u8]| self.broken(config, input, read).is_some();
        shrink(input, &splits, Instant::now() + TIME, &mut holds)
    }
}

impl Subject<'_> {
    /// Returns the configuration in which everything that can be printed is.
    fn full(&self) -> Config {
        let mut config = self.config.clone();
        config.assembly.deltas = true;
        config.assembly.raw = true;
        config.turn = true;
        config
    }
}

/// Returns where the frames of an input begin, those of a sample if there are many.
fn frames(config: &Config, input: &[u8]) -> Vec<usize> {
    let places = detect::offsets(config.framing, config.frame, input);
    let step = places.len().div_ceil(MAX_FRAMES).max(1);
    places.into_iter().filter(|&at| at > 0 && at < input.len()).step_by(step).collect()
}

/// Splits an input at these places.
fn pieces_at(input: &[u8], mut places: Vec<usize>) -> Vec<&[u8]> {
    places.sort_unstable();
    places.dedup();
    let ends = places.iter().copied().chain([input.len()]);
    let begins = [0].into_iter().chain(places.iter().copied());
    begins.zip(ends).filter_map(|(begin, end)| input.get(begin..end)).collect()
}

/// Law 1. One reading tries many places, each at least [`STRIDE`] bytes from the next: all places
/// of the first [`EVERY`] bytes, and random ones after them. Where frames begin, and around that,
/// each is tried alone.
fn pieces(subject: &Subject<'_>) -> LawBroken {
    let Subject { config, input, read } = subject;
    let full = subject.full();
    let (plain, all) = (read(config, &[input]), read(&full, &[input]));
    let check = |places: Vec<usize>, is_full: bool| {
        let (config, whole) = if is_full { (&full, &all) } else { (config, &plain) };
        let cut = pieces_at(input, places);
        match differs(whole, &read(config, &cut)) {
            None => Ok(()),
            Some(how) => {
                let sizes = cut.iter().take(8).map(|piece| piece.len().to_string());
                let sizes = sizes.collect::<Vec<_>>().join(", ");
                let more = if cut.len() > 8 { ", …" } else { "" };
                Err(format!("in pieces of {sizes}{more} bytes, {how}"))
            }
        }
    };
    let dice = &mut Dice::of(input);
    for is_full in [false, true] {
        check((1..input.len()).collect(), is_full)?;
    }
    let every = input.len().min(EVERY);
    let stride = if input.len() < 2 * STRIDE { every } else { STRIDE };
    for first in 1..=stride {
        let mut places: Vec<usize> = (first..every).step_by(stride.max(1)).collect();
        let rest = input.len() - every;
        places.extend((0..rest.div_ceil(EVERY)).map(|_| every + dice.below(rest)));
        check(places, first % 2 == 0)?;
    }
    let frames = frames(config, input);
    for _ in 0..frames.len().min(8) {
        let Some(place) = frames.get(dice.below(frames.len())) else { break };
        let place = (place + dice.below(3)).saturating_sub(1);
        check(vec![place], dice.below(2) == 0)?;
    }
    Ok(())
}

/// Laws 2 and 3.
fn cuts(subject: &Subject<'_>) -> LawBroken {
    let Subject { config, input, read } = subject;
    let whole = read(config, &[input]);
    // Whoever cuts an input is not the model that stopped by itself.
    let config = &Config { at_end: Config::default().at_end, ..config.clone() };
    let known = MessageLines::all(&whole).first().and_then(MessageLines::format);
    let known = known.and_then(format::find);
    let known = known.filter(|row| row.name != "error" && row.name != "text");
    let dice = &mut Dice::of(input);
    let mut places = frames(config, input);
    places.extend((0..RANDOM).map(|_| dice.below(input.len())));
    for at in places {
        let prefix = input.before(at);
        let mut out = read(config, &[prefix]);
        // So little came that it may be plain text, unless someone knows better.
        if known.is_some() && MessageLines::all(&out).iter().all(MessageLines::is_text) {
            out = read(&Config { format: known, ..config.clone() }, &[prefix]);
        }
        // More may come after a finish reason, and spoil the end that it was.
        let is_excused = |excuse| excuse == Excuse::EndsEarly;
        prefix_of(&whole, &out, &is_excused).map_err(|how| format!("cut at {at}: {how}"))?;
    }
    Ok(())
}

/// A reason for a prefix to look whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excuse {
    /// The end of the input may be the end of a message wherever it comes.
    EndsEarly,
    /// A prefix may be a whole message that holds less.
    LooksWhole,
}

/// Returns how the law of prefixes is broken: a prefix gives no call, no message and no good end
/// that the whole does not give, but for what is excused.
pub fn prefix_of(whole: &str, out: &str, excused: &dyn Fn(Excuse) -> bool) -> LawBroken {
    let (whole, messages) = (MessageLines::all(whole), MessageLines::all(out));
    // A stream that ends with a record, after its finish reason, is whole: a part of another
    // record after that cuts it, and takes back what its end closed.
    let is_torn = whole.last().is_some_and(MessageLines::is_torn);
    let is_cut = messages.last().is_none_or(MessageLines::is_cut);
    if is_torn && messages.len() >= whole.len() && !is_cut {
        return Ok(());
    }
    let wanted = calls(whole.iter());
    let counts = |message: &&MessageLines<'_>| message.is_cut() || !excused(Excuse::LooksWhole);
    // A call in a thought stands where the thought has no closer, and is a draft where it has.
    let is_draft = |call: &str| is_cut && whole.iter().any(|message| message.has_draft(call));
    for (call, count) in calls(messages.iter().filter(counts)) {
        if !is_draft(&call) && wanted.get(&call).is_none_or(|wanted| *wanted < count) {
            return Err(format!("a call that the whole does not have: {call}"));
        }
    }
    // Bytes that are no message of their own are one that went wrong.
    if !messages.iter().skip(whole.len()).all(MessageLines::is_mere_error) {
        return Err("more messages than the whole has".into());
    }
    let last = messages.len().saturating_sub(1);
    let pairs = messages.iter().zip(&whole).enumerate();
    for (at, (message, whole)) in pairs.filter(|(_, (message, _))| message.is_good()) {
        // So little came of the last of several responses that it may be plain text.
        if at > 0 && at == last && message.is_text() && !whole.is_text() {
            continue;
        }
        // A prefix that ends well holds the end that the whole has, but for what came after it and
        // spoilt it.
        let (end, other) = (message.last(), whole.last());
        let is_same = match member(other, "code") {
            // The end of the input is the end of plain text, wherever it comes.
            Some("\"truncated\"") => message.is_text() || excused(Excuse::EndsEarly),
            Some(_) => true,
            // A log names an end where one was not reached, and none where the input ends.
            None if member(end, "inferred").is_some() && excused(Excuse::EndsEarly) => true,
            None => {
                let is_same = |key: &&str| member(end, key) == member(other, key);
                message.is_text() || ["raw_finish_reason", "inferred"].iter().all(is_same)
            }
        };
        if !is_same && !excused(Excuse::LooksWhole) {
            return Err(format!("{end} became {other}"));
        }
    }
    Ok(())
}

/// Law 5. A log of our own events has the ends that are in it.
fn ends(subject: &Subject<'_>) -> LawBroken {
    if subject.input.starts_with(b"{\"type\":\"start\",\"v\":") {
        return Ok(());
    }
    let out = (subject.read)(&subject.full(), &[subject.input]);
    if MessageLines::all(&out).is_empty() {
        return Err("there is no message".into());
    }
    for message in MessageLines::all(&out) {
        let is_end = |line: &str| matches!(kind(line), "finish_reason" | "error");
        let count = |wanted: &str| message.lines.iter().filter(|line| kind(line) == wanted).count();
        let usage = message.lines.iter().position(|line| kind(line) == "usage");
        let last = message.lines.len() - 1;
        let wrong = if kind(message.lines.first().unwrap_or(&"")) != "start" {
            "it does not begin with start"
        } else if !is_end(message.last()) {
            "it has no end"
        } else if count("error") > 1 || (count("error") == 1 && count("finish_reason") > 0) {
            "it has two ends"
        } else if usage.is_some_and(|at| at + 1 != last) || count("usage") > 1 {
            "its usage is not right before its end"
        } else {
            continue;
        };
        return Err(format!("a message: {wrong}: {}", message.last()));
    }
    Ok(())
}

/// The ways to write the same server-sent events: the end of a line, and of a record.
const LINES: [(&str, &str); 3] =
    [("\r\n", "\r\n"), ("\n", "\n: a comment\n\n"), ("\r\n", "\r\n:\r\n:\r\n")];

/// Returns the input in other words, if `out` says that it is server-sent events whose lines end
/// with LF.
pub fn other_lines(input: &[u8], out: &str) -> Vec<Vec<u8>> {
    let is_sse = |message: &MessageLines<'_>| {
        member(message.lines.first().unwrap_or(&""), "framing") == Some("\"sse\"")
    };
    // A log of events says of its messages which framing they came in.
    if input.contains(&b'\r')
        || input.trim_ascii_start().starts_with(b"{")
        || input.starts_with(b"HTTP/")
        || !MessageLines::all(out).iter().all(is_sse)
    {
        return Vec::new();
    }
    let rewrite = |(line, record): (&str, &str)| {
        let mut other = Vec::with_capacity(2 * input.len());
        let mut last = 0;
        for &byte in input {
            match (byte, last) {
                (b'\n', b'\n') => other.extend_from_slice(record.as_bytes()),
                (b'\n', _) => other.extend_from_slice(line.as_bytes()),
                _ => other.push(byte),
            }
            last = byte;
        }
        other
    };
    LINES.into_iter().map(rewrite).collect()
}

/// Returns lines without their places in the input.
pub fn without_offsets(out: &str) -> String {
    let parts = out.split(",\"offset\":").enumerate();
    let bare = parts.map(|(number, part)| match number {
        0 => part,
        _ => part.trim_start_matches(|c: char| c.is_ascii_digit()),
    });
    bare.collect()
}

fn lines(subject: &Subject<'_>) -> LawBroken {
    let Subject { input, read, .. } = subject;
    let config = subject.full();
    if config.frame.max_event != FrameConfig::default().max_event {
        return Ok(());
    }
    let out = read(&config, &[input]);
    for other in other_lines(input, &out) {
        let got = read(&config, &[&other]);
        if let Some(how) = differs(&without_offsets(&out), &without_offsets(&got)) {
            return Err(format!("with other line ends or comments, {how}"));
        }
    }
    Ok(())
}

/// Law 9.
fn read_back(subject: &Subject<'_>) -> LawBroken {
    let Subject { config, input, read } = subject;
    for config in [config, &subject.full()] {
        let written = read(config, &[input]);
        let assembly =
            AssemblerConfig { strict: config.assembly.strict, ..AssemblerConfig::default() };
        let reader = Config { turn: config.turn, assembly, ..Config::default() };
        if let Some(how) = differs(&written, &read(&reader, &[written.as_bytes()])) {
            return Err(format!("read as events, {how}"));
        }
    }
    Ok(())
}

/// Law 9, for each format that can be written: no call is made up, a good end stays good and a bad
/// one bad, and the text is the same unless something is reported as lost.
fn converted(subject: &Subject<'_>) -> LawBroken {
    let Subject { config, input, read } = subject;
    let mut config = config.clone();
    config.assembly.choice = Some(0);
    let source = read(&config, &[input]);
    let messages = MessageLines::all(&source);
    let Some(source) = messages.first() else { return Ok(()) };
    let options = Options { choice: Some(0), ..Options::default() };
    for to in FORMATS.iter().filter_map(|row| row.write) {
        let (stream, losses) = convert(input, &config, to, &options);
        let reader = Config { format: format::find(to.name), ..Config::default() };
        let back = read(&reader, &[&stream]);
        let wrong = |how: String| Err(format!("as {}: {how}", to.name));
        let messages = MessageLines::all(&back);
        let [back] = messages.as_slice() else {
            return wrong(format!("{} messages in place of one", messages.len()));
        };
        if source.is_good() != back.is_good() {
            return wrong(format!("{} became {}", source.last(), back.last()));
        }
        let known = source.client_calls();
        if let Some((_, call)) = back.client_calls().into_iter().find(|call| !known.contains(call))
        {
            return wrong(format!("a call that is not in the message: {call}"));
        }
        if losses.is_empty() && source.is_good() && source.text() != back.text() {
            return wrong(format!("the text {:?} became {:?}", source.text(), back.text()));
        }
    }
    Ok(())
}

/// Returns the first line in which two readings differ.
fn differs(expected: &str, got: &str) -> Option<String> {
    if expected == got {
        return None;
    }
    let (mut expected, mut got) = (expected.lines(), got.lines());
    for number in 1.. {
        match (expected.next(), got.next()) {
            (None, None) => break,
            (expected, got) if expected == got => {}
            (expected, got) => {
                let shown = |line: Option<&str>| shorten(line.unwrap_or("missing"), 200, 50);
                return Some(format!(
                    "event {number} is {} and should be {}",
                    shown(got),
                    shown(expected)
                ));
            }
        }
    }
    Some("the last event has another end".into())
}

/// The lines of one message.
struct MessageLines<'a> {
    lines: Vec<&'a str>,
}

impl<'a> MessageLines<'a> {
    /// Returns the messages of a reading: each begins with `start`. What came after a message,
    /// and is none, belongs to none.
    fn all(out: &'a str) -> Vec<MessageLines<'a>> {
        let mut messages: Vec<MessageLines<'a>> = Vec::new();
        for line in out.lines() {
            match messages.last_mut() {
                Some(message) if kind(line) != "start" => message.lines.push(line),
                _ => messages.push(MessageLines { lines: vec![line] }),
            }
        }
        for MessageLines { lines } in &mut messages {
            let is_end = |line: &&str| matches!(kind(line), "finish_reason" | "error");
            let after = lines
                .iter()
                .rev()
                .take_while(|line| matches!(kind(line), "warning" | "provider_event"));
            let end = lines.len() - after.count();
            if lines.get(..end).and_then(<[_]>::last).is_some_and(is_end) {
                lines.truncate(end);
            }
        }
        messages
    }

    fn last(&self) -> &'a str {
        self.lines.last().copied().unwrap_or_default()
    }

    /// Returns the format that it was found to be in.
    fn format(&self) -> Option<&'a str> {
        Some(member(self.lines.first()?, "format")?.trim_matches('"'))
    }

    /// True if it was read as plain text.
    fn is_text(&self) -> bool {
        self.format() == Some("text")
    }

    /// Returns the answer, as it is written in JSON.
    fn text(&self) -> String {
        let lines = self.lines.iter().filter(|line| kind(line) == "text");
        let inside = |json: &'a str| json.strip_prefix('"')?.strip_suffix('"');
        lines.filter_map(|line| inside(member(line, "text")?)).collect()
    }

    /// Returns the names and the arguments of the calls that the client has to run, as formats have
    /// them that have no other way: free text is the member `input` of an object, and of a call with a
    /// namespace there is one more, whose name begins with it.
    fn client_calls(&self) -> Vec<(String, String)> {
        let lines = self.lines.iter().filter(|line| kind(line) == "tool_call");
        let lines = lines.filter(|line| member(line, "executor").is_none());
        let arguments = |line: &'a str| match member(line, "input") {
            Some(input) => Some(format!("{{\"input\":{input}}}")),
            None => member(line, "arguments").map(str::to_owned),
        };
        let mut calls = Vec::new();
        for line in lines {
            let (Some(name), Some(arguments)) = (member(line, "name"), arguments(line)) else {
                continue;
            };
            if let Some(namespace) = member(line, "namespace") {
                let joined =
                    [namespace.trim_end_matches('"'), name.trim_start_matches('"')].join("__");
                calls.push((joined, arguments.clone()));
            }
            calls.push((name.to_owned(), arguments));
        }
        calls
    }

    /// True if it came to its own end, and the provider saw no error in that.
    fn is_good(&self) -> bool {
        kind(self.last()) == "finish_reason"
            && member(self.last(), "finish_reason") != Some("\"error\"")
    }

    /// True if it was cut, and nothing worse came of it.
    fn is_cut(&self) -> bool {
        member(self.last(), "code") == Some("\"truncated\"")
    }

    /// True if a call of this name stands in one of its thoughts, and was not made.
    fn has_draft(&self, call: &str) -> bool {
        let is_told = |line: &&str| {
            kind(line) == "warning" && member(line, "code") == Some("\"markup_in_reasoning\"")
        };
        let name = member(call, "name").map_or("", |name| name.trim_matches('"'));
        let thoughts = self.lines.iter().filter(|line| kind(line) == "reasoning");
        let text: String = thoughts
            .filter_map(|line| member(line, "text"))
            .map(|text| text.trim_matches('"'))
            .collect();
        self.lines.iter().any(is_told) && text.contains(name)
    }

    /// True if the input ended inside a frame of it.
    fn is_torn(&self) -> bool {
        let is_inside = |line: &str| {
            member(line, "message").is_some_and(|text| text.starts_with("\"the input ended inside"))
        };
        self.lines.iter().any(|line| matches!(kind(line), "warning" | "error") && is_inside(line))
    }

    /// True if there is nothing in it but what went wrong.
    fn is_mere_error(&self) -> bool {
        let is_mere =
            |line: &&str| matches!(kind(line), "start" | "warning" | "provider_event" | "error");
        !self.is_good() && self.lines.iter().all(is_mere)
    }
}

/// Returns the `tool_call` lines, and how often each is there. That an agent ran a call, its result
/// tells, which may come after a cut.
fn calls<'m, 'a: 'm>(
    messages: impl Iterator<Item = &'m MessageLines<'a>>,
) -> BTreeMap<Cow<'a, str>, usize> {
    let mut calls = BTreeMap::new();
    let lines = messages.flat_map(|message| message.lines.iter());
    let lines = lines.filter(|line| kind(line) == "tool_call");
    lines.for_each(|line| *calls.entry(without_agent(line)).or_default() += 1);
    calls
}

/// Returns the line of a call without the agent that ran it.
fn without_agent(line: &str) -> Cow<'_, str> {
    const KEY: &str = r#","executor":"#;
    let Some(agent) = member(line, "executor").filter(|json| *json == "\"agent\"") else {
        return Cow::Borrowed(line);
    };
    let at = json::place(line.as_bytes(), agent);
    Cow::Owned([line.before(at.start.saturating_sub(KEY.len())), line.after(at.end)].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::golden::joined;

    /// A stream of chat completions, of some kilobytes.
    fn stream() -> Vec<u8> {
        let chunk = |delta: &str, end: &str| {
            format!(
                "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":0,\
                 \"delta\":{{{delta}}}{end}}}]}}\n\n"
            )
        };
        let words = ["The", " warm", " day", " is", " over", ".", "\\n", " Good", " night"];
        let words = words.iter().cycle().take(60);
        let text = words.map(|word| chunk(&format!("\"content\":\"{word}\""), ""));
        let call = "\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]";
        let end = chunk(call, ",\"finish_reason\":\"tool_calls\"");
        format!("{}{end}data: [DONE]\n\n", text.collect::<String>()).into_bytes()
    }

    #[test]
    fn streams_keep_the_laws() {
        let with_namespace = br#"data: {"type":"response.output_item.done","output_index":0,"item":
            {"type":"function_call","call_id":"a","name":"f","namespace":"n","arguments":"{}"}}

data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}

"#;
        let with_namespace = String::from_utf8_lossy(with_namespace).replace("\n            ", "");
        for input in [stream(), with_namespace.into_bytes()] {
            for law in LAWS {
                assert_eq!(law.broken(&Config::default(), &input, &joined), None, "{}", law.name);
            }
        }
    }

    /// A reader with a fault breaks a law; the smallest input that shows it is small, and the
    /// fault is the reader's.
    #[track_caller]
    fn check_mutant(name: &str, read: &ReadWith<'_>) {
        let config = Config::default();
        let law = LAWS.iter().find(|law| law.name == name).unwrap();
        assert!(law.broken(&config, &stream(), read).is_some());
        let small = law.smallest(&config, &stream(), read);
        assert!(small.len() < 200, "{} bytes: {}", small.len(), String::from_utf8_lossy(&small));
        assert!(law.broken(&config, &small, read).is_some());
        assert_eq!(law.broken(&config, &small, &joined), None);
    }

    #[test]
    fn a_law_that_is_broken_on_purpose_is_found_and_shown_in_little() {
        // A read that begins inside a word loses a byte.
        check_mutant("pieces", &|config, pieces| {
            let kept = pieces.iter().map(|piece| match piece.starts_with(b"arm") {
                true => &piece[1..],
                false => *piece,
            });
            joined(config, &kept.collect::<Vec<_>>())
        });
        // What was cut has a good end.
        check_mutant("cuts", &|config, pieces| {
            let out = joined(config, pieces);
            let good = "{\"type\":\"finish_reason\",\"finish_reason\":\"stop\"}\n";
            let is_cut = |line: &str| member(line, "code") == Some("\"truncated\"");
            let lines = out.lines();
            lines.map(|line| if is_cut(line) { good.into() } else { format!("{line}\n") }).collect()
        });
        // A comment changes what is read.
        check_mutant("lines", &|config, pieces| {
            let has_comment = pieces.concat().windows(2).any(|bytes| bytes == b"\n:");
            let out = joined(config, pieces);
            if has_comment { out.replace("warm", "cold") } else { out }
        });
        // Events that are read lose an id.
        check_mutant("events", &|config, pieces| {
            let is_events = pieces.concat().starts_with(b"{\"type\":\"start\"");
            let out = joined(config, pieces);
            if is_events { out.replace("\"id\":\"a\"", "\"id\":\"b\"") } else { out }
        });
        // A call is read that is not there.
        check_mutant("convert", &|config, pieces| {
            let is_back = config.format.is_some_and(|format| format.name == "anthropic");
            let out = joined(config, pieces);
            if is_back { out.replace("\"arguments\":{}", "\"arguments\":{\"a\":1}") } else { out }
        });
        // A message has no end.
        check_mutant("ends", &|config, pieces| {
            let out = joined(config, pieces);
            out.replace("{\"type\":\"finish_reason\"", "{\"type\":\"block\"")
        });
    }
}
