//! What stands at the places of one object.

use std::borrow::Cow;

use crate::format::machine::evidence;
use crate::format::machine::layout::{HEAD, JOINT, Layout, RecordValues, RowTables, Table, Value};
use crate::format::machine::rule::{Place, ReadRule, RecordPlaces, Way};
use crate::format::spec::{CallSpec, Word, fits, is_one_of, paths, split_test};
use crate::json::{self, Str};

/// What stands at the places of one object, or of one of its members.
#[derive(Clone, Copy)]
pub(super) struct Fields<'r, 't> {
    tables: &'static RowTables,
    values: &'r RecordValues<'t>,
    pub(super) table: &'static Table,
    layout: &'static Layout,
    /// That of the record that the object is in.
    record: &'static Layout,
    /// Where the object's values begin.
    begin: usize,
    /// The number of the member, from 1; 0 for the object itself.
    base: usize,
    position: u64,
    event: &'r str,
}

/// The index or the name of a block, of a part or of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Index<'r> {
    Number(u64),
    Name(Cow<'r, str>),
}

impl<'r, 't> Fields<'r, 't> {
    /// Returns the fields of a record that was read.
    pub(super) fn of_record(
        tables: &'static RowTables,
        table: &'static Table,
        values: &'r RecordValues<'t>,
        event: &'r str,
    ) -> Self {
        let (_, case) = next(values, 0);
        let layout = tables.layout(table, case);
        let (record, begin, base, position) = (layout, 0, 0, 0);
        Fields { tables, values, table, layout, record, begin, base, position, event }
    }

    /// Returns the rules for its members, and the keys of these.
    pub(super) fn member_rules(&self) -> &'static [(Word, ReadRule)] {
        &self.layout.members
    }

    /// Returns the rules that it may be for.
    pub(super) fn rules(&self) -> impl Iterator<Item = &'static ReadRule> {
        let (kind, is_other) = (self.kind(), self.layout.is_of_others);
        self.layout.rules.iter().filter(move |rule| !is_other || rule.spec.is_of(kind))
    }

    /// Returns the places that every record is asked for.
    pub(super) fn record_places(&self) -> &'static RecordPlaces {
        &self.record.record
    }

    /// Returns the object's kind; of a member, its key.
    pub(super) fn kind(&self) -> &'r str {
        let key = self.layout.key(self.base).and_then(|slot| self.slot(slot));
        match key.unwrap_or_else(|| self.values.get(self.begin + 1)) {
            Value::Text(key) => key.as_str(),
            Value::Kind(kind) => kind,
            _ => "",
        }
    }

    /// Returns the object's JSON text.
    pub(super) fn here(&self) -> &'r str {
        match self.values.get(self.begin + 2) {
            Value::Json(json) => json,
            _ => "",
        }
    }

    /// Returns the fields of a member of the object, which is counted from 1, if it is there.
    pub(super) fn member(&self, number: usize) -> Option<Self> {
        self.slot(self.layout.key(number)?)?;
        Some(Fields { base: number, ..*self })
    }

    fn slot(&self, slot: usize) -> Option<&'r Value<'t>> {
        let value = self.values.get(self.begin + HEAD + slot);
        Some(value).filter(|value| !matches!(value, Value::Nothing))
    }

    /// Returns the fields of the record.
    pub(super) fn record(&self) -> Self {
        Fields { layout: self.record, begin: 0, base: 0, ..*self }
    }

    /// Returns what `get` finds on the first way to a place that leads to anything.
    fn first<T>(&self, place: &'r Place, get: &dyn Fn(&Self, &'r Way) -> Option<T>) -> Option<T> {
        place.ways.iter().find_map(|way| match way {
            Way::Record(number) => self.record().first(self.record_place(*number), get),
            way => get(self, way),
        })
    }

    fn record_place(&self, number: usize) -> &'static Place {
        &self.record.record_places[number]
    }

    /// True if anything but null stands there.
    pub(super) fn has(&self, place: &'r Place) -> bool {
        self.first(place, &|fields, way| match way {
            Way::Slot(slot) => fields.slot(*slot).map(drop),
            Way::Kind | Way::Star | Way::Event => fields.word_of(way).map(drop),
            _ => Some(()),
        })
        .is_some()
    }

    /// True if a value of the record stands at a place, and not a word that the row itself has;
    /// nothing for a place that only has such words.
    pub(super) fn is_given(&self, place: &Place) -> Option<bool> {
        let any = |found: &mut dyn Iterator<Item = Option<bool>>| {
            found.flatten().fold(None, |all, is_given| Some(all.unwrap_or(false) | is_given))
        };
        any(&mut place.ways.iter().map(|way| match way {
            Way::Slot(slot) | Way::Objects { slot, .. } => Some(self.slot(*slot).is_some()),
            Way::Record(number) => self.record().is_given(self.record_place(*number)),
            Way::Joined(parts) => any(&mut parts.iter().map(|it| self.is_given(it))),
            Way::Made(members) => any(&mut members.iter().map(|(_, it)| self.is_given(it))),
            Way::Here | Way::Data => Some(true),
            Way::Literal(_) | Way::Kind | Way::Star | Way::Event | Way::Position => None,
        }))
    }

    /// Returns what may be the arguments of a call that has none at their place: a value which is
    /// beside that place, or beside the name, and which no place leads to.
    pub(super) fn misnamed(&self, call: &CallSpec) -> Option<&'r str> {
        if call.arguments.is_empty() {
            return None;
        }
        let is_path = |path: &&str| !path.starts_with(['\'', '{']) && !path.contains(JOINT);
        let mut all = paths(call.arguments).chain(paths(call.name)).filter(is_path);
        all.find_map(|path| {
            let (fields, path) = match path.strip_prefix('/') {
                Some(path) => (self.record(), path),
                None => (*self, path),
            };
            let base = Some(fields.kind()).filter(|_| fields.base > 0);
            fields.layout.unread(base, split_test(path).0, fields.here())
        })
    }

    /// Returns a word that is no value of the object's.
    fn word_of(&self, way: &Way) -> Option<&'r str> {
        let word = match way {
            Way::Literal(word) => return Some(word),
            Way::Kind => self.kind(),
            Way::Star => open_part(&self.layout.patterns, self.kind()),
            Way::Event => self.event,
            _ => "",
        };
        Some(word).filter(|word| !word.is_empty())
    }

    /// Returns the text that stands there.
    pub(super) fn text(&self, place: &'r Place) -> Option<Cow<'r, Str<'r>>> {
        self.first(place, &|fields, way| match way {
            Way::Slot(slot) => match fields.slot(*slot)? {
                Value::Text(text) => Some(Cow::Borrowed(text)),
                _ => None,
            },
            Way::Data => Some(Cow::Owned(Str::from(fields.here()))),
            Way::Joined(parts) => Some(Cow::Owned(Str::from(fields.joined(parts)))),
            Way::Position => Some(Cow::Owned(Str::from(fields.position.to_string()))),
            way => fields.word_of(way).map(|word| Cow::Owned(Str::from(word))),
        })
    }

    /// Returns a text that is made of places: of an object or a list it has the JSON.
    fn joined(&self, parts: &'r [Place]) -> String {
        let values = parts.iter().filter_map(|part| self.json(part));
        values.map(|json| json::text(&json).into_text().into_owned()).collect()
    }

    /// Returns the text that stands there, unless it is empty or nothing but white space.
    pub(super) fn word(&self, place: &'r Place) -> Option<Cow<'r, str>> {
        let text = match self.text(place)? {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_str()),
            Cow::Owned(text) => text.into_text(),
        };
        Some(text).filter(|text| !text.trim_ascii().is_empty())
    }

    /// Returns the JSON that stands there.
    pub(super) fn json(&self, place: &'r Place) -> Option<Cow<'r, str>> {
        self.first(place, &|fields, way| match way {
            Way::Slot(slot) => match fields.slot(*slot)? {
                Value::Json(json) => Some(Cow::Borrowed(*json)),
                _ => None,
            },
            Way::Here => Some(Cow::Borrowed(fields.here())),
            Way::Position => Some(Cow::Owned(fields.position.to_string())),
            Way::Joined(parts) => Some(Cow::Owned(json::quote(&fields.joined(parts)))),
            Way::Data if json::is_json(fields.here()) => Some(Cow::Borrowed(fields.here())),
            Way::Data => Some(Cow::Owned(json::quote(fields.here()))),
            Way::Made(members) => {
                let values = members.iter().map(|(name, place)| Some((*name, fields.json(place)?)));
                let values: Vec<_> = values.flatten().collect();
                Some(Cow::Owned(json::object(
                    values.iter().map(|(name, json)| (*name, json.as_ref())),
                )))
            }
            way => {
                let word = fields.word_of(way)?;
                let is_json = matches!(way, Way::Literal(_)) && json::is_json(word);
                Some(if is_json { Cow::Borrowed(word) } else { Cow::Owned(json::quote(word)) })
            }
        })
    }

    /// Returns the string, number or flag that stands there, as a word.
    pub(super) fn scalar(&self, place: &'r Place) -> Option<Cow<'r, str>> {
        match self.json(place)? {
            Cow::Borrowed(json) => evidence::word(json),
            Cow::Owned(json) => evidence::word(&json).map(|word| Cow::Owned(word.into_owned())),
        }
    }

    /// True if a flag is set: one of its words stands there, or, if it has none, anything but
    /// false.
    pub(super) fn flag(&self, place: &'r Place) -> bool {
        match place.words {
            Some(words) => self.scalar(place).is_some_and(|found| is_one_of(words, &found)),
            None => self.json(place).is_some_and(|json| json != "false"),
        }
    }

    /// Returns the number or the name that stands there.
    pub(super) fn index(&self, place: &'r Place) -> Option<Index<'r>> {
        self.first(place, &|fields, way| match way {
            Way::Slot(slot) => match fields.slot(*slot)? {
                Value::Index(number) => Some(Index::Number(*number)),
                Value::Text(text) => Some(Index::Name(Cow::Borrowed(text.as_str()))),
                _ => None,
            },
            Way::Position => Some(Index::Number(fields.position)),
            way => fields.word_of(way).map(|word| Index::Name(Cow::Borrowed(word))),
        })
    }

    /// Returns what stands at the place of a group, and the group's table.
    fn grouped(&self, place: &'r Place) -> Option<(&'static Table, &'r Value<'t>)> {
        self.first(place, &|fields, way| match way {
            Way::Objects { slot, group } => {
                Some((fields.tables.group(*group), fields.slot(*slot)?))
            }
            _ => None,
        })
    }

    /// Returns the objects that stand there.
    pub(super) fn each(&self, place: &'r Place) -> impl Iterator<Item = Fields<'r, 't>> {
        let (fields, mut position) = (*self, 0);
        let mut objects = match self.grouped(place) {
            Some((table, Value::Objects(Some((first, _))))) => Some((table, *first)),
            _ => None,
        };
        std::iter::from_fn(move || {
            let (table, begin) = objects?;
            let (after, case) = next(fields.values, begin);
            objects = after.map(|after| (table, after));
            let layout = fields.tables.layout(table, case);
            let object = Fields { table, layout, begin, base: 0, position, ..fields };
            position += 1;
            Some(object)
        })
    }

    /// Returns the record that stands there in a string, and its table.
    pub(super) fn encoded(&self, place: &'r Place) -> Option<(&'static Table, &'r Str<'t>)> {
        match self.grouped(place)? {
            (table, Value::Text(text)) => Some((table, text)),
            _ => None,
        }
    }

    /// True if there are other places in the value that stands there: it is not only counts.
    pub(super) fn is_shared(&self, place: &Place) -> bool {
        place.ways.iter().any(|way| match way {
            Way::Slot(slot) => self.layout.is_shared(*slot),
            way => matches!(way, Way::Here),
        })
    }

    /// Returns the key of the object's first member.
    pub(super) fn first_key(&self) -> Cow<'r, str> {
        let members = json::members(self.here());
        members.into_iter().next().map_or(Cow::Borrowed(""), |(key, _)| key)
    }

    /// True if it is a record, or a member of one that is a record itself.
    pub(super) fn is_record(&self) -> bool {
        self.begin == 0
    }
}

/// Returns the part of a kind that the `*` of its pattern stands for.
fn open_part<'k>(patterns: &[&str], kind: &'k str) -> &'k str {
    let pattern = patterns.iter().find(|pattern| fits(pattern, kind));
    let Some((begin, end)) = pattern.and_then(|it| it.split_once('*')) else { return kind };
    let rest = kind.strip_prefix(begin).unwrap_or(kind);
    rest.strip_suffix(end).unwrap_or(rest)
}

/// Returns where the object after another one begins, and the case of that one.
fn next(values: &RecordValues, begin: usize) -> (Option<usize>, usize) {
    match values.get(begin) {
        Value::Next(after, case) => (*after, *case),
        _ => (None, 0),
    }
}
