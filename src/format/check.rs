//! What a row can get wrong that its words do not show.

use crate::format::format::Record;
use crate::format::machine::evidence;
use crate::format::spec::{ANY, End, Rule, Spec, fits, split_each, split_test};
use crate::format::table::find;
use crate::frame::{FRAMINGS, Frame};

/// Returns the first mistake of a row, in a sentence, if there is one.
pub(in crate::format) fn mistake(spec: &'static Spec) -> Option<String> {
    let name = |name: &str| {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(is_word) {
            return Some(format!(
                "the name `{name}` is not lower-case letters, digits and hyphens"
            ));
        }
        find(name).map(|row| format!("the format {} has the name `{name}` already", row.name))
    };
    [spec.name].iter().chain(spec.aliases).find_map(|word| name(word)).or_else(|| {
        no_end(spec)
            .or_else(|| groups(spec))
            .or_else(|| places(spec))
            .or_else(|| hidden(spec))
            .or_else(|| taken(spec))
            .or_else(|| unread(spec))
    })
}

/// Every rule, with the name of its group; that of a record's is empty.
fn rules(spec: &Spec) -> impl Iterator<Item = (&'static str, usize, &'static Rule)> {
    let of_groups = spec.groups.iter().map(|group| (group.name, group.on));
    let all = std::iter::once(("", spec.on)).chain(of_groups);
    all.flat_map(|(name, on)| on.iter().zip(1..).map(move |(rule, at)| (name, at, rule)))
}

/// Returns how a rule is called in a message.
fn called(group: &str, at: usize) -> String {
    match group {
        "" => format!("rule {at} of `on`"),
        group => format!("rule {at} of the group `{group}`"),
    }
}

fn no_end(spec: &Spec) -> Option<String> {
    let ends = |rule: &Rule| rule.end != End::No || rule.stop;
    let has_end = spec.log.is_some_and(|log| !log.ends)
        || spec.done.is_some()
        || rules(spec).any(|(_, _, rule)| ends(rule));
    (!has_end).then(|| {
        "no rule ends a message: one needs `end`, or `stop` if the input's end is that of the \
         message"
            .to_owned()
    })
}

fn groups(spec: &Spec) -> Option<String> {
    let names = || {
        rules(spec)
            .flat_map(|(group, at, rule)| rule.each.iter().map(move |each| (group, at, *each)))
    };
    let of = |each| split_each(each).map(|(_, name)| name);
    for (group, at, each) in names() {
        match of(each) {
            Some(name) if spec.groups.iter().any(|group| group.name == name) => {}
            Some(name) => {
                return Some(format!("{}: there is no [group.{name}]", called(group, at)));
            }
            None => {
                let rule = called(group, at);
                return Some(format!("{rule}: `each` has places and a group, as \"a.b > name\""));
            }
        }
    }
    let is_used = |name: &str| names().any(|(_, _, each)| of(each) == Some(name));
    let unused = spec.groups.iter().find(|group| !is_used(group.name));
    unused.map(|group| format!("no `each` leads to [group.{}]", group.name))
}

/// Returns the first place that is no path.
fn places(spec: &'static Spec) -> Option<String> {
    rules(spec).find_map(|(group, at, rule)| {
        let mut wrong = None;
        rule.each_place(&mut |places, _| {
            if wrong.is_none() && !is_place(places) {
                wrong = Some(format!("{}: `{places}` is no place", called(group, at)));
            }
        });
        wrong
    })
}

fn is_place(places: &str) -> bool {
    let is_path = |path: &str| {
        let path = path.strip_prefix('/').unwrap_or(path);
        let (path, _) = split_test(path);
        path == "."
            || path
                .split('.')
                .all(|key| !key.is_empty() && !key.contains([' ', '\'', '{', '[', '"']))
    };
    if places.is_empty() || places.starts_with('{') || places.starts_with('\'') {
        return true;
    }
    if places.contains(" + ") {
        return places.split(" + ").all(is_place);
    }
    let places = places.split_once('=').map_or(places, |(places, _)| places);
    places.split('|').all(|path| path.starts_with('\'') || is_path(path))
}

/// Returns the first member that the row calls unread, and reads.
fn unread(spec: &'static Spec) -> Option<String> {
    let unread = spec.repeatable?.unread;
    let first = |path: &'static str| {
        path.trim().trim_start_matches('/').split(['.', '{', '[', '"', '?', '=']).next()
    };
    rules(spec).find_map(|(group, at, rule)| {
        let mut read = None;
        rule.each_place(&mut |places, _| {
            let mut keys = places.split(['|', '+']).filter_map(first);
            read = read.or_else(|| keys.find(|key| unread.contains(key)));
        });
        read.map(|key| format!("{}: it reads `{key}`, which is `unread`", called(group, at)))
    })
}

/// Returns the first rule that never applies, as one before it takes all of its objects.
fn hidden(spec: &Spec) -> Option<String> {
    let takes_all = |rule: &Rule| rule.has.is_empty() && rule.not.is_empty() && rule.is.is_empty();
    rules(spec).find_map(|(group, at, rule)| {
        let mut before = rules(spec).filter(|(other, place, _)| *other == group && *place < at);
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
        let (_, earlier, _) = before.find(|(_, _, earlier)| covers(earlier))?;
        let rule = called(group, at);
        Some(format!("{rule} never applies: rule {earlier} before it takes all that it is for"))
    })
}

/// Returns the format whose records the row would take.
fn taken(spec: &Spec) -> Option<String> {
    if spec.detect.has.is_empty() && !spec.on.iter().any(Rule::asks) {
        return Some(
            "the row takes every record: a rule needs a `kind` or `has`, or `detect.has` says \
             what sets its first record apart"
                .to_owned(),
        );
    }
    USUAL.iter().find_map(|(name, record)| {
        let frame = Frame::new(FRAMINGS.first()?, record.as_bytes(), 0);
        evidence::proves(spec, &Record::new(&frame)).then(|| {
            format!("the row takes records of {name} too: `detect` can say what sets its own apart")
        })
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
