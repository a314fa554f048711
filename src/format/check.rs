//! What a row can get wrong that its words do not show.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::cut::Cut as _;
use crate::dialect::{self, DIALECTS};
use crate::format::format::{Format, Record};
use crate::format::machine::evidence;
use crate::format::machine::rule::{each_place, each_place_of};
use crate::format::place::Wanted;
use crate::format::spec::{
    ANY, End, Places, Rule, Spec, Word, fits, is_keyed, paths, split_each, split_flag, split_test,
};
use crate::format::table::{FORMATS, find};
use crate::frame::{Frame, NDJSON};
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

impl Mistake {
    fn new(rule: Option<(Word, usize)>, word: &str, message: impl Into<String>) -> Self {
        Mistake { rule, word: word.to_owned(), message: message.into() }
    }
}

/// Returns the first mistake of a row, which was read from a text, if there is one.
pub(in crate::format) fn mistake(spec: &'static Spec, text: &str) -> Option<RowError> {
    let found = name(spec).or_else(|| {
        no_end(spec)
            .or_else(|| groups(spec))
            .or_else(|| places(spec))
            .or_else(|| no_usage(spec))
            .or_else(|| dialect(spec))
            .or_else(|| unused(spec))
            .or_else(|| meanings(spec))
            .or_else(|| calls(spec))
            .or_else(|| keyed(spec, text))
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

/// Returns where a rule, or a group, begins in its file.
fn begin(text: &str, (group, at): (Word, usize)) -> Option<usize> {
    let file = DeTable::parse(text).ok()?;
    if at > 0 {
        return Some(written(file.get_ref(), (group, at))?.span().start);
    }
    let groups = file.get_ref().get("group")?.get_ref().as_table()?;
    Some(groups.get_key_value(group)?.0.span().start)
}

/// Returns a rule as it is written.
fn written<'f, 't>(
    file: &'f DeTable<'t>,
    (group, at): (Word, usize),
) -> Option<&'f Spanned<DeValue<'t>>> {
    let on = match group {
        "" => file.get("on")?,
        group => {
            let rules = file.get("group")?.get_ref().get(group)?;
            rules.get_ref().get("on").unwrap_or(rules)
        }
    };
    on.get_ref().get(at - 1)
}

/// Returns the first word of a file that says nothing, or stands for places that it does not name, or the
/// first name of places that is used by none.
pub(in crate::format) fn wrong_word(text: &str, names: &[&str]) -> Option<RowError> {
    let file = DeTable::parse(text).ok()?;
    let (mut wrong, mut used) = (None, BTreeSet::new());
    each_word(file.get_ref(), "", &mut |[key, within, word], span| {
        used.extend(named(word).filter_map(|rest| name_of(rest, names)));
        let message = match word {
            "" => Some(format!("`{key}` is empty: without a place, it is left out")),
            word if within == "places" => named(word).next().map(|_| {
                format!("`{word}` has a name in it: no place of [places] is written with another")
            }),
            word => unnamed(word, names),
        };
        wrong = wrong.take().or(message.map(|message| (message, span.start)));
    });
    let unused = || {
        let places = file.get_ref().get("places")?.get_ref().as_table()?;
        let name = names.iter().find(|name| !used.contains(**name))?;
        let start = places.get_key_value(*name)?.0.span().start;
        Some((format!("no place of the row is `${name}`"), start))
    };
    let (message, offset) = wrong.or_else(unused)?;
    Some(RowError::at(text, Some(offset), message))
}

/// Returns what follows each `$` of a word that is no text of the row's.
fn named(word: &str) -> impl Iterator<Item = &str> {
    word.split('\'').step_by(2).flat_map(|plain| plain.split('$').skip(1))
}

/// Returns the name that a word begins with; a name may begin with another.
fn name_of<'n>(word: &str, names: &[&'n str]) -> Option<&'n str> {
    names.iter().rev().find(|name| word.starts_with(**name)).copied()
}

/// Calls `see` with the key, that of the table, the text and the span of each word that is a place, or may
/// be one, in the table that stands under a key.
fn each_word(table: &DeTable<'_>, within: &str, see: &mut dyn FnMut([&str; 3], Range<usize>)) {
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
                        see(["is", within, place.get_ref()], place.span());
                    }
                }
                (key, DeValue::String(word)) => see([key, within, word], value.span()),
                (key, DeValue::Table(inner)) => each_word(inner, key, see),
                _ => {}
            }
        }
    }
}

/// Returns what is wrong with a word that stands for places which have no name.
fn unnamed(word: &str, names: &[&str]) -> Option<String> {
    let rest = named(word).find(|rest| name_of(rest, names).is_none())?;
    if rest.starts_with('.') {
        return Some(format!("`${rest}` is no place: that is `{}`", translated(rest)));
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
        } else if *name == "auto" {
            "`-f auto` finds the format out: another name".to_owned()
        } else {
            format!("the format {} has the name `{name}` already", find(name)?.name)
        };
        Some(Mistake::new(None, name, message))
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
    let ends = |rule: &Rule| rule.end != End::No || rule.stop || rule.wraps.is_some();
    let has_end = spec.log.is_some_and(|log| log.ends != End::Yes)
        || spec.done.is_some()
        || spec.rules().any(|(_, rule)| ends(rule));
    let message = "no rule ends a message: one needs `end`, or `stop` if the input's end is that \
                   of the message";
    (!has_end).then(|| Mistake::new(None, "on", message))
}

/// Returns the counts that no rule leads to.
fn no_usage(spec: &Spec) -> Option<Mistake> {
    let is_used = spec.usage.is_empty() || spec.rules().any(|(_, rule)| !rule.usage.is_empty());
    let message = "no rule has `usage`, the place of the object with these counts";
    (!is_used).then(|| Mistake::new(None, "usage", message))
}

/// Returns the dialect that is none, or whose calls would be run twice.
fn dialect(spec: &Spec) -> Option<Mistake> {
    let wraps = spec.rules().filter_map(|(_, rule)| rule.wraps);
    let mut wrapped = wraps.flat_map(|wrap| wrap.formats).filter_map(|name| find(name));
    let is_agents = |format: &Format| {
        format.row().map_or(format.request.is_none(), |row| row.spec.may_run_calls())
    };
    let has_run = spec.may_run_calls() || wrapped.any(is_agents);
    let message = match spec.dialect {
        "" => return None,
        name if has_run => format!(
            "calls that are found in text by `{name}` are the caller's: a row with `log`, `hold` or \
             `executor`, or that wraps an agent's log, has no `dialect`"
        ),
        "auto" => return None,
        name if dialect::find(name).is_some() => return None,
        name => {
            let names: Vec<&str> = DIALECTS.iter().map(|row| row.name).collect();
            format!("no dialect is named `{name}`{}", similar(name, &names))
        }
    };
    Some(Mistake::new(None, "dialect", message))
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
        return Some(Mistake::new(Some(rule), each, message));
    }
    let is_used = |name: &str| names().any(|(_, each)| of(each) == Some(name));
    let unused = spec.groups.iter().find(|group| !is_used(group.name))?;
    let message = format!("no `each` leads to [group.{}]", unused.name);
    Some(Mistake::new(Some((unused.name, 0)), unused.name, message))
}

/// Returns the first place that is no path.
fn places(spec: &'static Spec) -> Option<Mistake> {
    let mut found = None;
    let mut see = |rule: Option<(Word, usize)>, places: Places, wanted: Wanted| {
        let mistake = |message| Mistake::new(rule, places, message);
        let made = Some(places).filter(|it| wanted == Wanted::Something && is_made(it));
        let always =
            made.map(|it| format!("`{it}` is there in every record: it says nothing of one"));
        let of_several = Some(places).filter(|it| wanted == Wanted::Index && it.contains(" + "));
        let of_several = of_several.map(|it| {
            format!("`{it}` is no index: it is read as it stands, and a call's `key` of several is a list")
        });
        found = found.take().or_else(|| flaw(places).or(always).or(of_several).map(mistake));
    };
    each_place(spec, &mut |places, wanted| see(None, places, wanted));
    for (at, rule) in rules(spec) {
        each_place_of(rule, spec, &mut |places, wanted| see(Some(at), places, wanted));
    }
    found
}

/// True if some places always hold something: a word, a text or an object that is made.
fn is_made(places: Places) -> bool {
    let is_word = |path: &str| path.starts_with('\'') || path == "#";
    places.starts_with('{') || places.contains(" + ") || paths(places).any(is_word)
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
    let (places, words) = split_flag(places);
    if words.is_some_and(|words| words.starts_with('=')) {
        return no_place(": a flag is `place=word`");
    }
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
        let is_key = |key: &str| !key.is_empty() && !key.contains(NO_KEY);
        if path.split('.').all(is_key) {
            return None;
        }
        let ours = translated(path);
        let is_place = ours != path && flaw(&ours).is_none();
        no_place(&if is_place { format!(": that is `{ours}`") } else { String::new() })
    })
}

/// Bytes that no provider's keys have: they are of other languages of paths.
const NO_KEY: [char; 11] = [' ', '\'', '"', '{', '?', '!', ',', '<', '>', '=', '['];

/// Returns a path of another language in ours.
fn translated(path: &str) -> String {
    let ours = path.replace(" // ", "|").replace("[]", "[*]").replace("?.", ".");
    ours.replace(['\'', '"', ']'], "").replace('[', ".").trim_start_matches(['$', '.']).to_owned()
}

/// The places that are no paths.
const WORDS: [&str; 6] = ["kind:", "kind:*", "event:", "key:", "data:", "call:"];

/// Returns the first word that stands for nothing where it is, or says something of what no rule has.
fn unused(spec: &'static Spec) -> Option<Mistake> {
    let has = |is_it: fn(&Rule) -> bool| spec.rules().any(|(_, rule)| is_it(rule));
    if spec.hold && !has(|rule| rule.call.is_some() || !rule.native.is_empty()) {
        return Some(Mistake::new(None, "hold", "no rule has a `call` that could wait"));
    }
    if !spec.finish_words.is_empty() && !has(|rule| !rule.finish.is_empty()) {
        let message = "no rule has `finish`, the place of these words";
        return Some(Mistake::new(None, "finish_words", message));
    }
    rules(spec).find_map(|(at, rule)| {
        let tool = rule.result.map(|result| result.name);
        let mut found = None;
        each_place_of(rule, spec, &mut |places, _| {
            let message = paths(places).find_map(|path| match path {
                "kind:*" if !rule.kind.contains('*') => {
                    Some("`kind:*` stands for the `*` of the rule's `kind`, which has none")
                }
                "call:" if tool != Some(places) => {
                    Some("`call:` is the tool of a log's last call: only a result's `name` has it")
                }
                "key:" => Some("`key:` is a `kind`: the member's name is `kind:` in its rules"),
                _ => None,
            });
            found = found.take().or(message.map(|message| Mistake::new(Some(at), places, message)));
        });
        found
    })
}

/// Returns the first word of a rule that means nothing in its row.
fn meanings(spec: &Spec) -> Option<Mistake> {
    let any = |is_it: &dyn Fn(&Rule) -> bool| spec.rules().any(|(_, rule)| is_it(rule));
    let has_authors = any(&|rule| !rule.of.is_empty() && !rule.role.is_empty());
    let holds = spec.hold || any(&|rule| rule.call.is_some_and(|call| call.until));
    let finishes = any(&|rule| !rule.finish.is_empty());
    let stops = any(&|rule| rule.stop || [rule.choice, rule.finish] != ["", ""]);
    rules(spec).find_map(|(at, rule)| {
        let is_inside = |word: &str| word.trim_matches('*').contains('*');
        let unknown = rule
            .wraps
            .and_then(|wrap| wrap.formats.iter().copied().find(|name| find(name).is_none()));
        if let Some(word) = unknown {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            let message = format!("no format is named `{word}`{}", similar(word, &names));
            return Some(Mistake::new(Some(at), word, message));
        }
        let both = rule.has.iter().find(|places| rule.not.contains(places));
        if let Some(places) = both {
            let message = format!("it never applies: `{places}` is to stand there, and is not to");
            return Some(Mistake::new(Some(at), "not", message));
        }
        let (word, message) = if paths(rule.kind).any(is_inside) {
            ("kind", "a `*` stands at the beginning or the end of a word")
        } else if rule.is_named() && kind_of(spec, at.0).is_empty() {
            ("kind", "it is for a kind, and no `kind` says where that stands")
        } else if !rule.usage.is_empty() && spec.usage.is_empty() {
            ("usage", "it has counts, and there is no [usage]")
        } else if rule.wraps.is_some() && (spec.log.is_some() || spec.hold) {
            (
                "wraps",
                "a row with `log` or `hold` wraps nothing: `executor` says who runs its calls",
            )
        } else if !rule.of.is_empty() && !has_authors {
            (
                "of",
                "it is compared with nothing: a rule with `of` needs `role`, who wrote the message",
            )
        } else if !rule.origin.is_empty() && spec.log.is_none() {
            ("origin", "only a log has an `origin`: a text that comes again is `whole`")
        } else if rule.release && !holds {
            ("release", "no call waits for its result: the row has no `hold`")
        } else if rule.open && rule.at.is_empty() {
            ("open", "a block begins `at` the place of its index")
        } else if !rule.stop_sequence.is_empty() && !finishes {
            ("stop_sequence", "no rule has `finish`, the reason that comes with it")
        } else if rule.end == End::Stopped && !stops {
            ("end", "nothing stops a message: no rule has `stop`, `choice` or `finish`")
        } else if rule.prompt && spec.log.is_none() {
            ("prompt", "only a log has a `prompt`")
        } else if rule.prompt
            && (rule.call.is_some() || [rule.text, rule.thought, rule.refusal] != ["", "", ""])
        {
            ("prompt", "a `prompt` is the user's: what it says is no text or call of the model's")
        } else {
            return None;
        };
        Some(Mistake::new(Some(at), word, message))
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
        Some(Mistake::new(Some(at), "call", message))
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
        read.map(|key| Mistake::new(Some(at), key, message(key)))
    })
}

/// Returns the first rule that reads a member of any name, where members are the records.
fn keyed(spec: &Spec, text: &str) -> Option<Mistake> {
    let file = DeTable::parse(text).ok()?;
    let kind = |at| written(file.get_ref(), at)?.get_ref().get("kind");
    let reads = |rule: &'static Rule| {
        let mut reads = false;
        each_place_of(rule, spec, &mut |_, _| reads = true);
        reads
    };
    let (at, _) = rules(spec).find(|(at, rule)| {
        is_keyed(kind_of(spec, at.0))
            && paths(rule.kind).any(|word| word == ANY)
            && kind(*at).is_some()
            && reads(rule)
    })?;
    let message = "with `key:`, a `*` alone names no member: that is `a|b`, or a part, as in `a_*`";
    Some(Mistake::new(Some(at), "kind", message))
}

/// Returns the places of the kind of a group, or of the records.
fn kind_of(spec: &Spec, group: &str) -> &'static [Places] {
    match group {
        "" => spec.kind,
        group => spec.groups.iter().find(|it| it.name == group).map_or(&[], |it| it.kind),
    }
}

/// Returns the first rule that never applies, as one before it takes all of its objects.
fn hidden(spec: &Spec) -> Option<Mistake> {
    // Where all stands that a rule asks for, so does what is one of the paths of another.
    let are_in = |asked: &[Places], known: &[Places]| {
        let is_in = |place: &Places| {
            let is_flag = |places: Places| split_flag(places).1.is_some();
            let has = |path| paths(place).any(|other| other == path);
            let is_asked = |it: Places| !is_flag(it) && !is_flag(place) && paths(it).all(has);
            known.iter().any(|it| it == place || is_asked(it))
        };
        asked.iter().all(is_in)
    };
    let asks_less = |earlier: &Rule, rule: &Rule| {
        let is_said = |asked| rule.is.iter().any(|known| known == asked);
        !earlier.first
            && earlier.wraps.is_none()
            && are_in(earlier.has, rule.has)
            && earlier.not.iter().all(|places| rule.not.contains(places))
            && earlier.is.iter().all(is_said)
    };
    rules(spec).find_map(|((group, at), rule)| {
        let mut before = rules(spec).filter(|((it, place), _)| *it == group && *place < at);
        let covers = |earlier: &Rule| {
            asks_less(earlier, rule)
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
        Some(Mistake::new(Some((group, at)), "kind", message))
    })
}

/// Returns the format whose records the row would take.
fn taken(spec: &Spec) -> Option<Mistake> {
    if spec.detect.has.is_empty() && !spec.on.iter().any(Rule::asks) {
        let message = "the row takes every record: a rule needs a `kind` or `has`, or \
                       `detect.has` says what sets its first record apart";
        return Some(Mistake::new(None, "on", message));
    }
    USUAL.iter().find_map(|(name, record)| {
        let record = Record::new(&Frame::new(NDJSON, record.as_bytes(), 0));
        let message = format!(
            "the row takes records of {name} too: `detect` can say what sets its own apart"
        );
        evidence::proves(spec, &record).then(|| Mistake::new(None, "on", message))
    })
}

/// First records of the formats that most streams are in.
pub(super) const USUAL: [(&str, &str); 4] = [
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
