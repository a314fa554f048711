//! Whether a first record proves that a stream is in the format of a row.

use std::borrow::Cow;

use crate::format::format::Record;
use crate::format::spec::{
    ANY, Places, Rule, Spec, Weak, WrapSpec, is_keyed, is_one_of, paths, split_flag, split_test,
};
use crate::format::table::find;
use crate::json;

/// True if a record proves the format: it is of a kind that a rule names, or has what a rule for
/// all kinds asks for, and what the row asks of it.
pub(in crate::format) fn proves(spec: &Spec, record: &Record) -> bool {
    shows(spec, record, false)
}

/// True if a rule is for a record, even one that proves nothing.
pub(super) fn has_rule_for(spec: &Spec, record: &Record) -> bool {
    shows(spec, record, true)
}

/// True if a record shows the format, to somebody who asks for proof or knows it.
fn shows(spec: &Spec, record: &Record, is_known: bool) -> bool {
    let detect = &spec.detect;
    let holds = detect.has.iter().all(|places| stands(record, "", places))
        && !detect.not.iter().any(|places| stands(record, "", places));
    if !holds {
        return false;
    }
    // Where its records have no kinds, what the row asks for is all that there is.
    if !detect.has.is_empty() && !spec.on.iter().any(Rule::is_named) {
        return true;
    }
    let kind = kind(spec, record);
    let is_keyed = record.event_type.is_empty() && is_keyed(spec.kind);
    spec.on.iter().any(|rule| is_proof(rule, is_known, (&kind, is_keyed), record))
}

/// Returns by what a first record shows the format, in words.
#[cfg(feature = "cli")]
pub(super) fn known_by(spec: &Spec) -> String {
    let said = |what: &str, words: &[&str]| match words {
        [] => None,
        words => Some(format!("{what} {}", words.join(", "))),
    };
    let rules = || spec.on.iter().filter(|rule| rule.weak != Weak::Yes);
    let named = rules().filter(|rule| rule.is_named());
    let mut known = std::collections::BTreeSet::new();
    let kinds = named.flat_map(|rule| paths(rule.kind)).filter(|kind| known.insert(*kind));
    let kinds: Vec<&str> = kinds.collect();
    let needed = |rule: &Rule| {
        let has = rule.has.iter().chain(rule.needs).map(|places| (*places).to_owned());
        let is = rule.is.iter().map(|(places, words)| format!("{places}={words}"));
        let wraps = rule.wraps.iter().map(|it| format!("{} of {}", it.at, it.formats.join(" or ")));
        has.chain(is).chain(wraps).collect::<Vec<_>>().join(" and ")
    };
    let members = rules().filter(|rule| !rule.is_named() && rule.asks()).map(needed);
    let members: Vec<String> = members.collect();
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    let places = spec.kind.join(" and ");
    let all = [
        said("the members", spec.detect.has).map(|it| format!("{it}, in each of these")),
        said(&format!("the kinds (at {places})"), &kinds),
        said("the members", &members),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    match all.as_slice() {
        [] => "nothing: `-f FILE` alone takes it".to_owned(),
        all => all.join("; "),
    }
}

/// True if a record of this kind proves the format by one rule. With `is_keyed`, each member that a
/// rule names is a record.
fn is_proof(rule: &Rule, is_known: bool, (kind, is_keyed): (&str, bool), record: &Record) -> bool {
    let weak = if is_known { Weak::No } else { rule.weak };
    if weak == Weak::Yes {
        return false;
    }
    match rule.is_named() {
        // Most first records have no kind that the row knows.
        true if !is_keyed && kind.is_empty() => false,
        true if !is_keyed => rule.is_of(kind) && is_met(rule, weak, record, ""),
        true => record.members().any(|(key, value)| {
            rule.is_of(key) && value.starts_with('{') && is_met(rule, weak, record, key)
        }),
        false => {
            rule.asks() && (rule.kind == ANY || kind.is_empty()) && is_met(rule, weak, record, "")
        }
    }
}

/// True if the conditions of a rule hold; its places are in the member `base`, if that isn't empty.
fn is_met(rule: &Rule, weak: Weak, record: &Record, base: &str) -> bool {
    let is_word = |(places, words): &(Places, &str)| {
        word_at(record, base, places).is_some_and(|found| is_one_of(words, &found))
    };
    let needs = match weak {
        Weak::Without(places) => Some(places),
        Weak::No | Weak::Yes => None,
    };
    let mut all = rule.has.iter().chain(rule.needs).copied().chain(needs);
    let is_wrapped = |wrap: WrapSpec| {
        let text = json::text(value(record, base, wrap.at)?);
        let inner = record.inside(text.as_str());
        wrap.formats.iter().filter_map(|name| find(name)).find(|format| format.accepts(&inner))
    };
    all.all(|places| stands(record, base, places))
        && (rule.only.is_empty() || record.names().all(|name| rule.only.contains(&name)))
        && rule.wraps.is_none_or(|wrap| is_wrapped(wrap).is_some())
        && !rule.not.iter().any(|places| stands(record, base, places))
        && rule.is.iter().all(is_word)
}

/// Returns the words for a record's kind, joined.
fn kind<'a>(spec: &Spec, record: &Record<'a>) -> Cow<'a, str> {
    let words = spec.kind.iter().filter_map(|places| word_at(record, "", places));
    words.reduce(|kind, word| Cow::Owned(format!("{kind}/{word}"))).unwrap_or_default()
}

/// True if anything but null stands at some places; at those of a flag, one of its words.
fn stands(record: &Record, base: &str, places: Places) -> bool {
    let (places, words) = split_flag(places);
    match words {
        Some(words) => word_at(record, base, places).is_some_and(|found| is_one_of(words, &found)),
        None => {
            let is_named = !record.event_type.is_empty();
            value(record, base, places).is_some()
                || is_named && paths(places).any(|path| path == "event:")
        }
    }
}

/// Returns the first string, number or flag that stands at some places, or the name of the event.
fn word_at<'a>(record: &Record<'a>, base: &str, places: &str) -> Option<Cow<'a, str>> {
    paths(places).find_map(|path| match path {
        "key:" => None,
        "event:" => Some(Cow::Borrowed(record.event_type)).filter(|name| !name.is_empty()),
        path => value(record, base, path).and_then(word),
    })
}

/// Returns the JSON that stands at the first of some places that holds anything but null, and is of
/// the type that the place asks for.
fn value<'a>(record: &Record<'a>, base: &str, places: &str) -> Option<&'a str> {
    paths(places).find_map(|path| {
        let (path, begins) = split_test(path);
        let path = path.strip_prefix('/').unwrap_or(path);
        let found = match (base, path) {
            ("", path) => record.at_path(path),
            (base, ".") => record.get(base),
            (base, path) => record.at_path(&format!("{base}.{path}")),
        };
        found.filter(|json| begins.is_empty() || json.starts_with(|first| begins.contains(first)))
    })
}

/// Returns a string, a number or a flag as a word.
pub(super) fn word(json: &str) -> Option<Cow<'_, str>> {
    match json.as_bytes().first()? {
        b'{' | b'[' => None,
        _ => Some(json::text(json).into_text()),
    }
}
