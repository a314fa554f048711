//! Law 4: in plain text every byte is text, reasoning, part of a call or of a
//! block, or a marker; joined text is exact.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::Value;
use toolstream::Config;
use toolstream::dialect::{DIALECTS, Dialect, Role, Selection, TagRole};
use toolstream::format;

use crate::case::{Case, Print, kind, run};
use crate::exceptions::{Exceptions, marker_words};
use crate::json::read;
use crate::shape::{Message, joined, text};

/// Any input is the text that it is, if it is said to be text and nothing else.
pub(crate) fn text_is_exact(case: &Case) -> bool {
    let config =
        Config { format: format::find("text"), dialect: Selection::None, ..Config::default() };
    let (out, status) = joined(&config, case.input.chunks(5));
    let got: String = out.lines().map(|line| text(&read(line), "text")).collect();
    assert_eq!(got, String::from_utf8_lossy(&case.input));
    assert_eq!(status, if case.input.is_empty() { 4 } else { 0 });
    true
}

/// The rows that may read a text.
fn rows(choice: Selection) -> Vec<&'static Dialect> {
    match choice {
        Selection::Default | Selection::Auto => {
            DIALECTS.iter().copied().filter(|row| row.auto).collect()
        }
        Selection::Row(row) => vec![row],
        Selection::None => Vec::new(),
    }
}

/// A line of the output.
struct Line {
    /// What must stand in the input as it is.
    piece: String,
    /// Whether it may stand there in another form: as a call that was read.
    may_differ: bool,
    /// All that it says.
    said: String,
}

impl Line {
    fn new(line: &str) -> Self {
        let value = read(line);
        let piece = match kind(line) {
            "text" | "reasoning" | "block" => text(&value, "text"),
            "invalid_tool_call" => text(&value, "arguments_raw"),
            _ => String::new(),
        };
        let mut said = line.to_owned();
        strings(&value, &mut said);
        Line { may_differ: piece.is_empty() || kind(line) == "invalid_tool_call", piece, said }
    }
}

/// Whether the pieces stand in the input in their order, byte for byte, and
/// between them there is nothing but markers and what is said otherwise.
fn fits(lines: &[Line], input: &str, known: &str, said: &str, exceptions: &Exceptions) -> bool {
    let Some((line, rest)) = lines.split_first() else {
        // The closer of a group may be missing at the end, or be cut there.
        let Some(word) = lost(input, said, exceptions) else { return true };
        let input = input.to_lowercase();
        let before = input.strip_suffix(&word).unwrap_or_default();
        let is_in_marker = before.ends_with(|c: char| !c.is_whitespace());
        return is_in_marker && words(&known.to_lowercase()).any(|known| known.starts_with(&word));
    };
    let said = format!("{said} {}", line.said);
    let mut places = input.match_indices(&line.piece).filter(|_| !line.piece.is_empty());
    let is_there = places.any(|(at, piece)| {
        let (gap, after) = (&input[..at], &input[at + piece.len()..]);
        // The attributes of a block stand before it or after it.
        lost(gap, &said, exceptions).is_none()
            && fits(rest, after, known, &format!("{known} {}", line.said), exceptions)
    });
    is_there || line.may_differ && fits(rest, input, known, &said, exceptions)
}

#[track_caller]
fn check(rows: &[&'static Dialect], input: &str, out: &str, exceptions: &Exceptions) {
    let known = patterns(rows);
    let lines: Vec<Line> = out.lines().map(Line::new).collect();
    assert!(fits(&lines, input, &known, &known, exceptions), "something was lost\n{input}\n{out}");
}

/// Tokens that may be left out of any dialect.
const END_TOKENS: &str = "<|endoftext|><|im_end|><|eot_id|><|eom_id|><|end_of_text|><｜end▁of▁sentence｜></s><eos><turn|>\
     <end_of_turn><|eot|><|end|><|call|><|return|><|user|><|observation|><|endofturn|><|end_of_role|>\
     <|END_OF_TURN_TOKEN|>";

/// As [`check`], of an input that was made: there are too many ways to fit the pieces
/// where one word stands in every other place, so words are looked for anywhere.
#[track_caller]
fn check_loosely(rows: &[&'static Dialect], input: &str, out: &str) {
    let mut said = format!("{} {} {END_TOKENS}", patterns(rows), marker_words().join(" "));
    let mut rest = input.chars();
    for line in out.lines() {
        // A block is printed when it ends: after the blocks in it.
        let mut all = input.chars();
        let rest = if kind(line) == "block" { &mut all } else { &mut rest };
        let line = Line::new(line);
        let is_there = line.may_differ || line.piece.chars().all(|c| rest.any(|other| other == c));
        assert!(is_there, "{:?} does not stand in the input\n{input}\n{out}", line.piece);
        said.push_str(&line.said);
    }
    let said = bare(&said);
    let has = |wanted: &str| out.lines().any(|line| kind(line) == wanted);
    // What can't be read, or stands in the place of something else, is not all printed.
    if has("invalid_tool_call") || out.contains("duplicate_key") {
        return;
    }
    let text = without_headers(input).to_lowercase();
    // Nor is what an object of a call holds beside its name and arguments, and escapes are read.
    let text = if has("tool_call") { without_escapes(&outside_braces(&text)) } else { text };
    // Nor are comments in YAML.
    let text = if out.contains("\"source\":\"yaml_xml\"") { without_comments(&text) } else { text };
    // A word may be the end of a marker and the beginning of a text.
    let is_said = |word: &str| {
        let mut splits = word.char_indices().map(|(at, _)| word.split_at(at));
        splits.any(|(head, tail)| said.contains(head) && said.contains(tail))
    };
    assert_eq!(words(&text).find(|word| !is_said(word)), None, "{input}\n{out}");
}

/// Returns lines without what follows a `#` that begins a word.
fn without_comments(text: &str) -> String {
    let is_comment = |at: usize, line: &str| {
        line[..at].chars().all(|c| c.is_ascii_whitespace()) || line[..at].ends_with([' ', '\t'])
    };
    let bare = |line: &str| {
        let mut marks = line.match_indices('#').map(|(at, _)| at);
        let end = marks.find(|&at| is_comment(at, line)).unwrap_or(line.len());
        line[..end].to_owned() + "\n"
    };
    text.lines().map(bare).collect()
}

/// Returns what stands in no braces.
fn outside_braces(text: &str) -> String {
    let mut depth = 0_usize;
    let is_outside = |c: &char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    };
    text.chars().filter(is_outside).collect()
}

/// Returns a text without the letters and digits after each backslash.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split('\\');
    let first = parts.next().into_iter();
    first.chain(parts.map(|part| part.trim_start_matches(char::is_alphanumeric))).collect()
}

/// A word of a gap that is no marker's and was not printed.
fn lost(gap: &str, printed: &str, exceptions: &Exceptions) -> Option<String> {
    let printed = printed.to_lowercase();
    let printed: BTreeSet<&str> = words(&printed).collect();
    words(&gap.to_lowercase())
        .find(|word| !printed.contains(word) && !exceptions.has_word(word))
        .map(str::to_owned)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns a text without the headers of messages and the attributes of tags, which may
/// say anything, and so may what a quotation mark has in front of it.
fn without_headers(input: &str) -> String {
    let mut parts = input.split("<|open|>");
    let mut input = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (tag, after) = part.split_once("<|sep|>").unwrap_or((part, ""));
        input.extend(["<", tag.split(' ').next().unwrap_or_default(), ">", after]);
    }
    let (mut rest, mut out) = (input.as_str(), String::new());
    while let Some((text, tag)) = rest.split_once('<') {
        if tag.starts_with(char::is_whitespace) {
            out.extend([text, "<"]);
            rest = tag;
            continue;
        }
        // What stands in quotes closes no tag, unless they are left open.
        let is_outside = |at: &usize| tag[..*at].matches('"').count() % 2 == 0;
        let mut ends = tag.match_indices('>').map(|(at, _)| at).take(40);
        let end = ends.clone().find(is_outside).or(ends.next()).unwrap_or(tag.len());
        let (tag, after) = (&tag[..end], tag[end..].trim_start_matches('>'));
        out.extend([text, "<", tag.split(' ').next().unwrap_or_default(), ">"]);
        rest = after;
    }
    let marks = ["<|channel|>", "to="];
    let begin = |part: &str| marks.iter().filter_map(|mark| part.find(mark)).min();
    let out = out + rest;
    let parts = out.split("<|message|>").map(|part| &part[..begin(part).unwrap_or(part.len())]);
    let out = parts.collect::<Vec<_>>().join(" ");
    out.split('"').map(|part| part.trim_start_matches(char::is_alphanumeric)).collect()
}

/// Returns the letters and digits of a text. Of texts side by side Python makes one.
fn bare(text: &str) -> String {
    text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "")
}

/// Everything that a row's markers consist of, among other things.
fn patterns(rows: &[&'static Dialect]) -> String {
    static PATTERNS: LazyLock<BTreeMap<&str, String>> =
        LazyLock::new(|| DIALECTS.iter().map(|row| (row.name, pattern(row))).collect());
    let known = |row: &&Dialect| PATTERNS.get(row.name).cloned().unwrap_or_else(|| pattern(row));
    rows.iter().map(known).collect()
}

fn pattern(row: &Dialect) -> String {
    format!("{row:?}").replace("\\n", " ")
}

/// Adds every string in a value, without its escapes, and every key.
fn strings(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push('\n');
            out.push_str(text);
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(members) => {
            for (key, value) in members {
                out.push('\n');
                out.push_str(key);
                strings(value, out);
            }
        }
        _ => {}
    }
}

/// True if the messages are of plain text; those of a log say so of another input.
fn is_text(case: &Case, messages: &[Message<'_>]) -> bool {
    !Exceptions::of(case).is_log() && messages.iter().all(|message| message.format() == "text")
}

pub(crate) fn losses_are_seen() {
    let rows = rows(Selection::Auto);
    let start = "{\"type\":\"start\"}\n";
    let is_whole = |input: &str, lines: &str| {
        let out = format!("{start}{lines}");
        std::panic::catch_unwind(|| check(&rows, input, &out, &Exceptions::default())).is_ok()
    };
    let text = "{\"type\":\"text\",\"text\":\"a b\"}";
    assert!(is_whole("a b", text) && is_whole("<think></think>a b", text));
    assert!(!is_whole("a b c", text) && !is_whole("a  b", text) && !is_whole("c a b", text));
    let call = "{\"type\":\"tool_call\",\"name\":\"f\",\"arguments\":{\"x\":\"y z\"}}";
    let written = "<tool_call>{\"name\":\"f\",\"arguments\":{\"x\":\"y z\"}}</tool_call>";
    assert!(is_whole(written, call) && !is_whole(written, "") && !is_whole(written, text));
}

/// What a call in plain text has as its arguments stands in the text.
pub(crate) fn calls_are_not_invented(case: &Case) -> bool {
    let (config, _) = case.config();
    let (out, _) = joined(&config, [case.input.as_slice()]);
    let messages = Message::all(&out);
    let mut calls = messages.iter().flat_map(|message| message.of("tool_call")).peekable();
    let is_text = is_text(case, &messages);
    let has_escapes = || String::from_utf8_lossy(&case.input).contains("\\u");
    if calls.peek().is_none()
        || !is_text
        || case.input.trim_ascii_start().starts_with(b"HTTP/")
        || case.is_made && has_escapes()
    {
        return false;
    }
    let known = bare(&patterns(&rows(config.dialect)));
    let input = bare(&String::from_utf8_lossy(&case.input));
    for call in calls.map(read) {
        let arguments = call.get("arguments").unwrap_or(&call["input"]);
        // The texts between elements are joined: of the last word of one and the first of the
        // next, one may become.
        if case.is_made && arguments.to_string().contains("\"$text\"") {
            continue;
        }
        let mut said = String::new();
        strings(arguments, &mut said);
        let said = said.to_lowercase();
        // Other letters may be written as escapes.
        let mut said = said.split(|c: char| !c.is_ascii_alphanumeric());
        let foreign = said.find(|word| !input.contains(word) && !known.contains(word));
        assert_eq!(foreign, None, "{call}");
    }
    true
}

pub(crate) fn dialects_lose_nothing(case: &Case) -> bool {
    let (mut config, _) = case.config();
    // What a program printed besides is said as well.
    config.assembly.raw = true;
    let rows = rows(config.dialect);
    let drops = |row: &&Dialect| {
        row.tags.iter().any(|tag| tag.role == TagRole::Drop)
            || row.regions.iter().any(|region| region.role == Role::Drop)
    };
    let out = run(&config, Print::Events, [case.input.as_slice()]).out;
    // What follows a record of a known format is not read.
    if !is_text(case, &Message::all(&out))
        || out.contains("\"code\":\"unrecognised\"")
        || case.input.trim_ascii_start().starts_with(b"HTTP/")
        // Colours alone say nothing.
        || case.input.contains(&0x1b) && out.contains("\"code\":\"empty_answer\"")
        || rows.iter().any(drops)
    {
        return false;
    }
    let input = &String::from_utf8_lossy(&case.input);
    match case.is_made {
        true => check_loosely(&rows, input, &out),
        false => check(&rows, input, &out, &Exceptions::of(case)),
    }
    true
}
