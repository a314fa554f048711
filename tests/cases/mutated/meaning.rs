//! What a call means: each call that is left to run has the name and the values of one call of the
//! unchanged source, or of one with a piece deleted. A value of another call in it is a fault.
//!
//! A source is a fixture with two calls or more, or two fixtures of a dialect, one after another.
//! One piece of it is deleted: a part, a marker or a word of one, some bytes of that, a member of a
//! record, or a stretch of a string in one. What is longer can make one call of two in a way that
//! no reader can know of.
//!
//! - A short run with a fixed seed is one of the tests.
//! - `FUZZ_MEANING=SECONDS cargo test --release --test cases` looks for as long, from `FUZZ_SEED`
//!   on. What it finds is printed, and written to `tests/fuzz/artifacts/meaning`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use std::{env, fs};

use serde_json::Value as Json;
use toolstream::internals::Dice;

use crate::case::{Case, Print, root, run};
use crate::mutated::parts::{Payload, tokens};
use crate::mutated::pool::{Pool, Source};
use crate::mutated::value::Value;

/// The inputs of the short run, each from the seed of its number.
const SHORT: u64 = 6000;
/// Of so many finds of a row the first are written.
const KEPT: usize = 3;
/// The length from which a word of a call is its own.
const OWN: usize = 3;

/// Words that we put into arguments where the text has none.
const OURS: &[&str] = &["$text", "null", "true", "false", "input", "code", "command"];
/// Rows whose calls may hold words of others, and why.
const EXCUSED: &[(&str, &str)] = &[
    ("dialect/llama31_builtin/", "a call that lost its parenthesis is source for the interpreter"),
    (
        "dialect/cwm/",
        "a fixture lacks a closer: where the next opener lacks its colon, its line is of the command",
    ),
];

/// A call that is left to run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Meant {
    name: String,
    /// The arguments as JSON, or the free text.
    input: String,
    /// The keys and values in it.
    words: BTreeSet<String>,
}

/// A short run finds nothing.
pub(crate) fn no_call_is_made_of_two() {
    let (pool, mut finds) = (Pool::new(), Vec::new());
    let tried = (0..SHORT).filter_map(|seed| tried(seed, &pool));
    let tried: Vec<_> = tried.map(|(_, found)| found).collect();
    finds.extend(tried.iter().flatten());
    assert!(tried.len() > 30, "only {} inputs were tried", tried.len());
    assert!(finds.is_empty(), "{finds:#?}");
}

/// The oracle can fail: a value of another call is seen.
pub(crate) fn a_mixed_call_is_seen() {
    let call = |name: &str, input: &str| Meant::new(name, &serde_json::from_str(input).unwrap());
    let source =
        [call("find", r#"{"from":"Oslo","to":"Bonn"}"#), call("note", r#"{"text":"milk"}"#)];
    for well in [r#"{"from":"Oslo","to":"Bonn"}"#, r#"{"to":"Bonn"}"#, r#"{"from":"Olo"}"#, "{}"] {
        assert_eq!(fault(&call("find", well), &source), None, "{well}");
    }
    for mixed in [
        call("find", r#"{"from":"Oslo","text":"milk"}"#),
        call("find", r#"{"from":"Oslo milk"}"#),
        call("note", r#"{"from":"Oslo"}"#),
        call("find", r#"{"from":"Oslo <note>"}"#),
    ] {
        assert!(fault(&mixed, &source).is_some(), "{mixed:?}");
    }
}

/// Does what `FUZZ_MEANING` says, and returns true if nothing was found; nothing if it is not set.
pub(crate) fn asked() -> Option<bool> {
    let number = |name| env::var(name).ok().map(|text: String| text.parse::<u64>().unwrap());
    let time = Duration::from_secs(number("FUZZ_MEANING")?);
    let (pool, begin, first) = (Pool::new(), Instant::now(), number("FUZZ_SEED").unwrap_or(1));
    let (mut rows, mut inputs, mut said) = (BTreeMap::<String, usize>::new(), 0_u64, 0);
    for seed in first.. {
        let seconds = begin.elapsed().as_secs();
        let is_over = begin.elapsed() >= time;
        if is_over || seconds >= said + 60 {
            println!("{seconds} s: {inputs} inputs, finds in {} rows", rows.len());
            said = seconds;
        }
        if is_over {
            break;
        }
        let Some((case, found)) = tried(seed, &pool) else { continue };
        inputs += 1;
        let Some(why) = found else { continue };
        let row: Vec<&str> = case.name.split('/').skip(1).take(2).collect();
        let count = rows.entry(row.join("/")).or_default();
        *count += 1;
        if *count <= KEPT {
            let folder = root().join("tests/fuzz/artifacts/meaning");
            fs::create_dir_all(&folder).unwrap();
            let path = folder.join(format!("{seed}.in"));
            fs::write(&path, &case.input).unwrap();
            let args: Vec<String> = case.args.iter().map(|arg| case.beside(arg)).collect();
            fs::write(path.with_extension("args"), args.join("\n")).unwrap();
            println!("\nseed {seed}, {}, {}\n{why}", case.name, path.display());
        }
    }
    rows.iter().for_each(|(row, count)| println!("{count} times: {row}"));
    Some(rows.is_empty())
}

/// Tries the input of a seed: returns it, and what is wrong with a call of it; nothing if its source
/// has no two calls to be mixed.
fn tried(seed: u64, pool: &Pool) -> Option<(Case, Option<String>)> {
    let dice = &mut Dice::new(seed);
    let source = pool.source(dice);
    let mut parts = source.parts.clone();
    if source.row().0 == "dialect" && dice.one_in(2) {
        let other: &Source = pool.kin(source.row(), dice);
        if other.row() == source.row() && other.case.args == source.case.args {
            parts.push(b"\n".to_vec());
            parts.extend(other.parts.clone());
        }
    }
    let source_calls = calls(&source.case.again(parts.concat(), source.case.args.clone()));
    let names: BTreeSet<&Meant> = source_calls.iter().collect();
    if names.len() < 2 || !delete(&mut parts, dice) {
        return None;
    }
    let case = source.case.again(parts.concat(), source.case.args.clone());
    // A value of markup may close what has lost its closers: what is left is a quotation that adds up.
    let words = || source_calls.iter().flat_map(|call| &call.words);
    let adds_up = |call: &Meant| {
        let holds = |word: &String| call.words.iter().any(|mine| mine.contains(word.as_str()));
        words().any(|word| word.contains("</") && holds(word))
    };
    let left = calls(&case);
    let mut left = left.iter().filter(|call| !adds_up(call));
    let found = left.find_map(|call| fault(call, &source_calls));
    let is_excused = EXCUSED.iter().any(|(row, _)| case.name.contains(row));
    Some((case, found.filter(|_| !is_excused)))
}

/// Returns the calls of an input that are left to run.
fn calls(case: &Case) -> Vec<Meant> {
    let (config, _) = case.config();
    let out = run(&config, Print::Joined, [case.input.as_slice()]).out;
    let (mut left, mut open) = (Vec::new(), Vec::new());
    for line in out.lines() {
        // A number that no double holds can't be compared here.
        let Ok(line) = serde_json::from_str::<Json>(line) else { continue };
        let place = (line["choice"].as_u64(), line["index"].as_u64());
        match line["type"].as_str().unwrap_or_default() {
            "start" => left.append(&mut open),
            "tool_call" if line.get("executor").is_none() => {
                let input = line.get("arguments").unwrap_or(&line["input"]);
                open.push((place, Meant::new(line["name"].as_str().unwrap(), input)));
            }
            "invalid_tool_call" => open.retain(|(at, _)| *at != place),
            _ => {}
        }
    }
    left.append(&mut open);
    left.into_iter().map(|(_, call)| call).collect()
}

impl Meant {
    fn new(name: &str, input: &Json) -> Meant {
        let mut words = BTreeSet::new();
        gather(input, &mut words);
        words.insert(name.to_owned());
        let input = input.as_str().map_or_else(|| input.to_string(), str::to_owned);
        Meant { name: name.to_owned(), input, words }
    }

    /// True if this may be a call with a piece deleted.
    fn is_of(&self, whole: &Meant) -> bool {
        is_part(&self.name, &whole.name)
            && self.words.iter().all(|word| whole.words.iter().any(|other| is_part(word, other)))
    }

    /// Returns a word of other calls that this one has got, and the call whose name it has has not.
    fn foreign<'s>(&self, own: &Meant, source: &'s [Meant]) -> Option<&'s str> {
        let is_ours = |word: &str| OURS.contains(&word);
        let is_here = |word: &&String| {
            let mut mine = self.words.iter().filter(|mine| !is_ours(mine));
            word.len() >= OWN
                && !is_ours(word)
                && mine.any(|mine| mine.contains(word.as_str()))
                && !own.words.iter().any(|mine| mine.contains(word.as_str()))
        };
        source.iter().flat_map(|call| &call.words).find(is_here).map(String::as_str)
    }
}

/// Returns why a call is no call of the source, if it has a value or the name of another one in it.
fn fault(call: &Meant, source: &[Meant]) -> Option<String> {
    if source.iter().any(|whole| call.is_of(whole)) {
        return None;
    }
    let mut word = None;
    for own in source.iter().filter(|own| is_part(&call.name, &own.name)) {
        word = Some(call.foreign(own, source)?);
    }
    word.map(|word| format!("{call:?} has {word:?} of another call"))
}

/// Adds the keys of a value and what its leaves say.
fn gather(value: &Json, words: &mut BTreeSet<String>) {
    match value {
        Json::Object(members) => members.iter().for_each(|(key, value)| {
            words.insert(key.clone());
            gather(value, words);
        }),
        Json::Array(elements) => elements.iter().for_each(|value| gather(value, words)),
        Json::String(text) => drop(words.insert(text.clone())),
        leaf => drop(words.insert(leaf.to_string())),
    }
}

/// True if a text is another one without some of its characters.
fn is_part(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|char| rest.any(|other| other == char))
}

/// Deletes a piece; returns false if there is none.
fn delete(parts: &mut Vec<Vec<u8>>, dice: &mut Dice) -> bool {
    if parts.is_empty() {
        return false;
    }
    let at = dice.below(parts.len());
    let part = &mut parts[at];
    let payload = Payload::of(part).and_then(|payload| Some((Value::read(payload.json)?, payload)));
    match payload {
        Some((mut value, payload)) if !dice.one_in(4) => {
            let size = value.size();
            match value.nth(dice.below(size)) {
                Some(Value::Object(members)) if !members.is_empty() => {
                    members.remove(dice.below(members.len()));
                }
                Some(Value::Array(elements)) if !elements.is_empty() => {
                    elements.remove(dice.below(elements.len()));
                }
                Some(leaf) => {
                    let Some(text) = leaf.as_text() else { return false };
                    let mut text = text.into_bytes();
                    if !delete_token(&mut text, dice) {
                        return false;
                    }
                    *leaf = Value::text(&String::from_utf8_lossy(&text));
                }
                None => return false,
            }
            *part = payload.with(&value.to_string());
            true
        }
        Some(_) => {
            parts.remove(at);
            true
        }
        None if dice.one_in(4) => {
            parts.remove(at);
            true
        }
        None => delete_token(part, dice),
    }
}

/// Deletes a marker or a word of a text, or some bytes of one.
fn delete_token(text: &mut Vec<u8>, dice: &mut Dice) -> bool {
    let lengths: Vec<usize> = tokens(text).iter().map(|token| token.len()).collect();
    if lengths.is_empty() {
        return false;
    }
    let nth = dice.below(lengths.len());
    let start: usize = lengths[..nth].iter().sum();
    let (from, count) = match dice.one_in(3) {
        true => (dice.below(lengths[nth]), 1 + dice.below(4)),
        false => (0, lengths[nth]),
    };
    let end = (start + from + count).min(start + lengths[nth]);
    text.drain(start + from..end);
    true
}
