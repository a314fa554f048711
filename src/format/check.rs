//! What a row can get wrong that its words do not show.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::cut::Cut as _;
use crate::format::format::Record;
use crate::format::machine::evidence;
use crate::format::machine::rule::{each_place, each_place_of};
use crate::format::spec::{
    ANY, End, Places, Rule, Spec, Word, fits, paths, split_each, split_test,
};
use crate::format::table::{FORMATS, find};
use crate::frame::{FRAMINGS, Frame};
use crate::nearest::nearest;
use crate::row_error::RowError;

/// A mistake of a row.
struct Mistake {
    /// The group and the number of its rule, if it is one of a rule's; 0 is the group itself.
    rule: Option<(Word, usize)>,
    /// What stands where the mistake is.
    word: String,
    message: String,
}

/// Returns the first mistake of a row, which was read from a text, if there is one.
pub(in crate::format) fn mistake(spec: &'static Spec, text: &str) -> Option<RowError> {
    let found = name(spec).or_else(|| {
        no_end(spec)
            .or_else(|| groups(spec))
            .or_else(|| places(spec))
            .or_else(|| meanings(spec))
            .or_else(|| calls(spec))
            .or_else(|| hidden(spec))
            .or_else(|| taken(spec))
            .or_else(|| unread(spec))
    })?;
    let message = match found.rule {
        None | Some((_, 0)) => found.message,
        Some(("", at)) => format!("rule {at} of `on`: {}", found.message),
        Some((group, at)) => format!("rule {at} of the group `{group}`: {}", found.message),
    };
    let offset = found.rule.map_or(Some(0), |rule| begin(text, rule));
    let word = |from: usize| text.after(from).find(&found.word).map_or(from, |at| from + at);
    Some(RowError::at(text, offset.map(word), message))
}

/// Returns where a rule begins in its file.
fn begin(text: &str, (group, at): (Word, usize)) -> Option<usize> {
    let file = DeTable::parse(text).ok()?;
    let file = file.get_ref();
    let on = match group {
        "" => file.get("on")?,
        group => {
            let (name, rules) = file.get("group")?.get_ref().as_table()?.get_key_value(group)?;
            if at == 0 {
                return Some(name.span().start);
            }
            rules.get_ref().get("on").unwrap_or(rules)
        }
    };
    Some(on.get_ref().get(at - 1)?.span().start)
}

/// Returns the first word of a file that says nothing, or stands for places that it does not name.
pub(in crate::format) fn wrong_word(text: &str, names: &[&str]) -> Option<RowError> {
    let file = DeTable::parse(text).ok()?;
    let mut wrong = None;
    each_word(file.get_ref(), "", &mut |key, word, span| {
        let message = match word {
            "" => Some(format!("`{key}` is empty: without a place, it is left out")),
            word => unnamed(word, names),
        };
        wrong = wrong.take().or(message.map(|message| (message, span.start)));
    });
    wrong.map(|(message, offset)| RowError::at(text, Some(offset), message))
}

/// Calls `see` with the key, the text and the span of each word that is a place, or may be one, in the
/// table that stands under a key.
fn each_word(table: &DeTable<'_>, within: &str, see: &mut dyn FnMut(&str, &str, Range<usize>)) {
    for (key, value) in table {
        let key = key.get_ref().as_ref();
        let list = match value.get_ref() {
            DeValue::Array(all) => all.iter().collect(),
            _ => vec![value],
        };
        for value in list {
            match (key, value.get_ref()) {
                ("name" | "aliases" | "about" | "link", DeValue::String(_))
                    if within.is_empty() => {}
                ("banners", DeValue::String(_)) => {}
                ("kind", DeValue::String(_)) if within == "on" => {}
                ("is", DeValue::Table(conditions)) => {
                    for (place, _) in conditions {
                        see("is", place.get_ref(), place.span());
                    }
                }
                (key, DeValue::String(word)) => see(key, word, value.span()),
                (key, DeValue::Table(inner)) => each_word(inner, key, see),
                _ => {}
            }
        }
    }
}

/// Returns what is wrong with a word that stands for places which have no name.
fn unnamed(word: &str, names: &[&str]) -> Option<String> {
    let mut parts = word.split('\'').step_by(2).flat_map(|plain| plain.split('$').skip(1));
    let rest = parts.find(|rest| !names.iter().any(|name| rest.starts_with(name)))?;
    if let Some(path) = rest.strip_prefix('.') {
        return Some(format!("`${rest}` is no place: that is `{path}`"));
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let name = rest.before(end);
    Some(format!("`${name}` stands for no place of [places]{}", similar(name, names)))
}

/// Returns the end of a message about a word: the one that is spelled most like it, if any is.
fn similar(word: &str, known: &[&str]) -> String {
    nearest(word, known).first().map_or_else(String::new, |near| format!("; similar: {near}"))
}

fn name(spec: &Spec) -> Option<Mistake> {
    let mistake = |name: &Word| {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let message = if name.is_empty() || !name.chars().all(is_word) {
            format!("the name `{name}` is not lower-case letters, digits and hyphens")
        } else {
            format!("the format {} has the name `{name}` already", find(name)?.name)
        };
        Some(Mistake { rule: None, word: (*name).to_owned(), message })
    };
    [spec.name].iter().chain(spec.aliases).find_map(mistake)
}

/// Every rule, with the name of its group, which is empty for a record's, and its number.
fn rules(spec: &Spec) -> impl Iterator<Item = ((Word, usize), &'static Rule)> {
    let mut last = ("", 0);
    spec.rules().map(move |(group, rule)| {
        last = (group, if last.0 == group { last.1 + 1 } else { 1 });
        (last, rule)
    })
}

fn no_end(spec: &Spec) -> Option<Mistake> {
    let ends = |rule: &Rule| rule.end != End::No || rule.stop;
    let has_end = spec.log.is_some_and(|log| log.ends != End::Yes)
        || spec.done.is_some()
        || spec.rules().any(|(_, rule)| ends(rule));
    (!has_end).then(|| Mistake {
        rule: None,
        word: "on".to_owned(),
        message: "no rule ends a message: one needs `end`, or `stop` if the input's end is that \
                  of the message"
            .to_owned(),
    })
}

fn groups(spec: &Spec) -> Option<Mistake> {
    let names = || rules(spec).flat_map(|(rule, it)| it.each.iter().map(move |each| (rule, *each)));
    let of = |each| split_each(each).map(|(_, name)| name);
    for (rule, each) in names() {
        let message = match of(each) {
            Some(name) if spec.groups.iter().any(|group| group.name == name) => continue,
            Some(name) => format!("there is no [group.{name}]"),
            None => "`each` has places and a group, as \"a.b > name\"".to_owned(),
        };
        return Some(Mistake { rule: Some(rule), word: each.to_owned(), message });
    }
    let is_used = |name: &str| names().any(|(_, each)| of(each) == Some(name));
    let unused = spec.groups.iter().find(|group| !is_used(group.name))?;
    Some(Mistake {
        rule: Some((unused.name, 0)),
        word: unused.name.to_owned(),
        message: format!("no `each` leads to [group.{}]", unused.name),
    })
}

/// Returns the first place that is no path.
fn places(spec: &Spec) -> Option<Mistake> {
    let mut found = None;
    let mut see = |rule: Option<(Word, usize)>, places: Places| {
        let mistake = |message| Mistake { rule, word: places.to_owned(), message };
        found = found.take().or_else(|| flaw(places).map(mistake));
    };
    each_place(spec, &mut |places, _| see(None, places));
    for (at, rule) in rules(spec) {
        each_place_of(rule, spec, &mut |places, _| see(Some(at), places));
    }
    found
}

/// The most paths of one place.
const MAX_PATHS: usize = 256;

/// Returns what is wrong with some places.
fn flaw(places: &str) -> Option<String> {
    let no_place = |hint: &str| Some(format!("`{places}` is no place{hint}"));
    if let Some(inner) = places.strip_prefix('{') {
        let Some(inner) = inner.strip_suffix('}') else { return no_place(": it has no `}`") };
        return inner.split(',').find_map(|member| match member.split_once(':') {
            Some((_, place)) => flaw(place.trim_ascii()),
            None => no_place(": an object is `{name: place, name: place}`"),
        });
    }
    if places.contains(" + ") {
        return places.split(" + ").find_map(flaw);
    }
    let flag = places.split_once('=').filter(|_| !places.starts_with('\''));
    if flag.is_some_and(|(_, words)| words.starts_with('=')) {
        return no_place(": a flag is `place=word`");
    }
    let places = flag.map_or(places, |(places, _)| places);
    if paths(places).nth(MAX_PATHS).is_some() {
        return Some(format!("a place has more than {MAX_PATHS} paths"));
    }
    paths(places).find_map(|path| {
        if let Some(word) = path.strip_prefix('\'') {
            return if word.ends_with('\'') { None } else { no_place(": a word ends with `'`") };
        }
        let of_record = path.strip_prefix('/');
        if let Some(path) = of_record.filter(|path| path.contains('/')) {
            return no_place(&format!(": that is `/{}`", path.replace('/', ".")));
        }
        let path = split_test(of_record.unwrap_or(path)).0;
        if path == "." || WORDS.contains(&path) {
            return None;
        }
        if path.ends_with(':') {
            return no_place(&similar(path, &WORDS));
        }
        if path.contains('[') {
            return no_place(": an element of a list is a key, as in `a.0.b`");
        }
        let is_key = |key: &str| !key.is_empty() && !key.contains(NO_KEY);
        if path.split('.').all(is_key) { None } else { no_place("") }
    })
}

/// Bytes that no provider's keys have: they are of other languages of paths.
const NO_KEY: [char; 10] = [' ', '\'', '"', '{', '?', '!', ',', '<', '>', '='];

/// The places that are no paths.
const WORDS: [&str; 6] = ["kind:", "kind:*", "event:", "key:", "data:", "call:"];

/// Returns the first word of a rule that means nothing in its row.
fn meanings(spec: &Spec) -> Option<Mistake> {
    let kind = |group: &str| match group {
        "" => spec.kind,
        group => spec.groups.iter().find(|it| it.name == group).map_or(&[][..], |it| it.kind),
    };
    rules(spec).find_map(|(at, rule)| {
        let is_inside = |word: &str| word.trim_matches('*').contains('*');
        let unknown = rule
            .wraps
            .and_then(|wrap| wrap.formats.iter().copied().find(|name| find(name).is_none()));
        if let Some(word) = unknown {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            let message = format!("no format is named `{word}`{}", similar(word, &names));
            return Some(Mistake { rule: Some(at), word: word.to_owned(), message });
        }
        let both = rule.has.iter().find(|places| rule.not.contains(places));
        if let Some(places) = both {
            let message = format!("it never applies: `{places}` is to stand there, and is not to");
            return Some(Mistake { rule: Some(at), word: "not".to_owned(), message });
        }
        let (word, message) = if paths(rule.kind).any(is_inside) {
            ("kind", "a `*` stands at the beginning or the end of a word")
        } else if rule.is_named() && kind(at.0).is_empty() {
            ("kind", "it is for a kind, and no `kind` says where that stands")
        } else if !rule.usage.is_empty() && spec.usage.is_empty() {
            ("usage", "it has counts, and there is no [usage]")
        } else if rule.prompt && spec.log.is_none() {
            ("prompt", "only a log has a `prompt`")
        } else if rule.prompt
            && (rule.call.is_some() || [rule.text, rule.thought, rule.refusal] != ["", "", ""])
        {
            ("prompt", "a `prompt` is the user's: what it says is no text or call of the model's")
        } else {
            return None;
        };
        Some(Mistake { rule: Some(at), word: word.to_owned(), message: message.to_owned() })
    })
}

/// Returns the first rule for calls of which not all is told that they need.
fn calls(spec: &Spec) -> Option<Mistake> {
    let calls = || rules(spec).filter_map(|(at, rule)| Some((at, rule.call.as_ref()?)));
    let has_name = calls().any(|(_, call)| !call.name.is_empty());
    let is_bare = |places: [Places; 2]| places == ["", ""];
    let has_arguments = calls().any(|(_, call)| !is_bare([call.arguments, call.invalid]));
    rules(spec).zip(spec.extents()).find_map(|((at, rule), (_, extents))| {
        let call = rule.call.as_ref()?;
        let needs_arguments = extents.whole || !has_arguments;
        let message = if !has_name {
            "no `call` of the row has a `name`"
        } else if needs_arguments && is_bare([call.arguments, call.invalid]) {
            "a `call` needs the place of its `arguments`: `\"'{}'\"` says that it has none, and \
             `free` is a flag that they are text"
        } else {
            return None;
        };
        Some(Mistake { rule: Some(at), word: "call".to_owned(), message: message.to_owned() })
    })
}

/// Returns the first member that the row calls unread, and reads.
fn unread(spec: &'static Spec) -> Option<Mistake> {
    let unread = spec.repeatable?.unread;
    let first = |path: &'static str| {
        path.trim().trim_start_matches('/').split(['.', '{', '[', '"', '?', '=']).next()
    };
    rules(spec).find_map(|(at, rule)| {
        let mut read = None;
        each_place_of(rule, spec, &mut |places, _| {
            let mut keys = places.split(['|', '+']).filter_map(first);
            read = read.or_else(|| keys.find(|key| unread.contains(key)));
        });
        let message = |key| format!("it reads `{key}`, which is `unread`");
        read.map(|key| Mistake { rule: Some(at), word: key.to_owned(), message: message(key) })
    })
}

/// Returns the first rule that never applies, as one before it takes all of its objects.
fn hidden(spec: &Spec) -> Option<Mistake> {
    let takes_all = |rule: &Rule| {
        rule.has.is_empty() && rule.not.is_empty() && rule.is.is_empty() && rule.wraps.is_none()
    };
    rules(spec).find_map(|((group, at), rule)| {
        let mut before = rules(spec).filter(|((it, place), _)| *it == group && *place < at);
        let covers = |earlier: &Rule| {
            takes_all(earlier)
                && rule.kind.split('|').all(|kind| {
                    earlier.kind.split('|').any(|word| {
                        word == ANY
                            || word == kind
                            || (word.contains('*') && !kind.contains('*') && fits(word, kind))
                    })
                })
        };
        let ((_, earlier), _) = before.find(|(_, earlier)| covers(earlier))?;
        let message =
            format!("it never applies: rule {earlier} before it takes all that it is for");
        Some(Mistake { rule: Some((group, at)), word: "kind".to_owned(), message })
    })
}

/// Returns the format whose records the row would take.
fn taken(spec: &Spec) -> Option<Mistake> {
    let mistake = |message| Some(Mistake { rule: None, word: "on".to_owned(), message });
    if spec.detect.has.is_empty() && !spec.on.iter().any(Rule::asks) {
        return mistake(
            "the row takes every record: a rule needs a `kind` or `has`, or `detect.has` says \
             what sets its first record apart"
                .to_owned(),
        );
    }
    USUAL.iter().find_map(|(name, record)| {
        let frame = Frame::new(FRAMINGS.first()?, record.as_bytes(), 0);
        let message = format!(
            "the row takes records of {name} too: `detect` can say what sets its own apart"
        );
        mistake(message).filter(|_| evidence::proves(spec, &Record::new(&frame)))
    })
}

/// First records of the formats that most streams are in.
const USUAL: [(&str, &str); 4] = [
    (
        "openai-chat",
        r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
    ),
    (
        "openai-responses",
        r#"{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","status":"in_progress","model":"m","output":[]}}"#,
    ),
    (
        "anthropic",
        r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1}}}"#,
    ),
    (
        "gemini",
        r#"{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0}],"modelVersion":"m","responseId":"r"}"#,
    ),
];
