//! What stands at the places of one object.

use std::borrow::Cow;
use std::ptr;

use smallvec::SmallVec;

use crate::format::machine::evidence;
use crate::format::machine::layout::{JOINT, ReadObject, RecordValues, RowTables, Table, Value};
use crate::format::place::{Place, Way};
use crate::format::spec::{
    CallSpec, ReadRule, RecordPlaces, Word, fits, is_one_of, paths, split_test,
};
use crate::json::{self, Str};

/// What stands at the places of one object.
#[derive(Clone, Copy)]
pub(super) struct Fields<'r, 't> {
    tables: &'static RowTables,
    values: &'r RecordValues<'t>,
    object: &'r ReadObject<'t>,
    /// True if it is a record, or a member of one that is a record itself.
    pub(super) is_record: bool,
    position: u64,
    event: &'r str,
}

/// What a place leads to.
enum Found<'r, 't> {
    Value(&'r Value<'t>),
    /// Objects of a group, or one that stands in a string.
    Objects(&'static Table, &'r Value<'t>),
    /// The JSON of the object itself.
    Here(&'r str),
    /// The frame's data.
    Data(&'r str),
    /// A word that the row has itself.
    Literal(Word),
    /// Another word that is no value of the object's.
    Word(&'r str),
    Position(u64),
    Joined(&'r [Place]),
    Made(&'r [(Word, Place)]),
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
        values: &'r RecordValues<'t>,
        event: &'r str,
    ) -> Self {
        Fields { tables, values, object: values.get(0), is_record: true, position: 0, event }
    }

    /// Returns the fields of the record.
    pub(super) fn record(&self) -> Self {
        Fields { object: self.values.get(0), is_record: true, ..*self }
    }

    /// Returns the table of the object's rules.
    pub(super) fn table(&self) -> &'static Table {
        self.object.table
    }

    /// Returns the members that are objects by themselves, in the order of the rules for them.
    pub(super) fn members(&self) -> SmallVec<[Self; 2]> {
        let fields = *self;
        let members = self.list(self.object.members);
        let mut members: SmallVec<_> = members.map(|object| Fields { object, ..fields }).collect();
        // The rules of a row stand in one list.
        let order = |member: &Self| member.rules().next().map(|rule| ptr::from_ref(rule.spec));
        members.sort_by_key(order);
        members
    }

    /// Returns an object and those after it in its list.
    fn list(&self, first: Option<usize>) -> impl Iterator<Item = &'r ReadObject<'t>> {
        let values = self.values;
        let object = move |number| values.get(number);
        std::iter::successors(first.map(object), move |it| it.next.map(object))
    }

    /// Returns the rules that it may be for.
    pub(super) fn rules(&self) -> impl Iterator<Item = &'static ReadRule> {
        let (kind, is_other) = (self.kind(), self.object.layout.is_of_others);
        self.object.layout.rules.iter().filter(move |rule| !is_other || rule.spec.is_of(kind))
    }

    /// Returns the places that every record is asked for.
    pub(super) fn record_places(&self) -> &'static RecordPlaces {
        &self.values.get(0).layout.record
    }

    /// Returns the object's kind; of a member, its key.
    pub(super) fn kind(&self) -> &'r str {
        &self.object.kind
    }

    /// Returns the object's JSON text.
    pub(super) fn here(&self) -> &'r str {
        self.object.json
    }

    /// Returns the key of the object's first member.
    pub(super) fn first_key(&self) -> Cow<'r, str> {
        let members = json::members(self.here());
        members.into_iter().next().map_or(Cow::Borrowed(""), |(key, _)| key)
    }

    fn slot(&self, slot: usize) -> Option<&'r Value<'t>> {
        let value = self.values.value(self.object, slot);
        Some(value).filter(|value| !matches!(value, Value::Nothing))
    }

    /// Returns what the first way to a place leads to that leads to anything.
    fn find(&self, place: &'r Place) -> Option<Found<'r, 't>> {
        let word = |word: &'r str| Some(Found::Word(word)).filter(|_| !word.is_empty());
        place.ways.iter().find_map(|way| match way {
            Way::Slot(slot) => self.slot(*slot).map(Found::Value),
            Way::Objects { slot, group } => {
                Some(Found::Objects(self.tables.group(*group), self.slot(*slot)?))
            }
            Way::Record(number) => self.record().find(self.place_of_record(*number)),
            Way::Here => Some(Found::Here(self.here())),
            Way::Data => Some(Found::Data(self.here())),
            Way::Literal(word) => Some(Found::Literal(word)),
            Way::Kind => word(self.kind()),
            Way::Star => word(open_part(&self.object.layout.patterns, self.kind())),
            Way::Event => word(self.event),
            Way::Position => Some(Found::Position(self.position)),
            Way::Joined(parts) => Some(Found::Joined(parts)),
            Way::Made(members) => Some(Found::Made(members)),
        })
    }

    fn place_of_record(&self, number: usize) -> &'static Place {
        &self.values.get(0).layout.of_record[number]
    }

    /// True if anything but null stands there; at the place of a flag, one of its words.
    pub(super) fn has(&self, place: &'r Place) -> bool {
        match place.words {
            Some(_) => self.flag(place),
            None => self.find(place).is_some(),
        }
    }

    /// True if a value of the record stands at a place, and not a word that the row itself has;
    /// nothing for a place that only has such words.
    pub(super) fn is_given(&self, place: &Place) -> Option<bool> {
        let any = |found: &mut dyn Iterator<Item = Option<bool>>| {
            found.flatten().fold(None, |all, is_given| Some(all.unwrap_or(false) | is_given))
        };
        any(&mut place.ways.iter().map(|way| match way {
            Way::Slot(slot) | Way::Objects { slot, .. } => Some(self.slot(*slot).is_some()),
            Way::Record(number) => self.record().is_given(self.place_of_record(*number)),
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
            fields.object.layout.unread(split_test(path).0, fields.here())
        })
    }

    /// Returns the text that stands there.
    pub(super) fn text(&self, place: &'r Place) -> Option<Cow<'r, Str<'r>>> {
        let text = match self.find(place)? {
            Found::Value(Value::Text(text)) => return Some(Cow::Borrowed(text)),
            Found::Data(data) => Str::from(data),
            Found::Literal(word) | Found::Word(word) => Str::from(word),
            Found::Position(position) => Str::from(position.to_string()),
            Found::Joined(parts) => Str::from(self.joined(parts)),
            Found::Value(_) | Found::Objects(..) | Found::Here(_) | Found::Made(_) => return None,
        };
        Some(Cow::Owned(text))
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
        Some(match self.find(place)? {
            Found::Value(Value::Json(json)) => Cow::Borrowed(*json),
            Found::Here(json) => Cow::Borrowed(json),
            Found::Data(data) if json::is_json(data) => Cow::Borrowed(data),
            Found::Data(data) => Cow::Owned(json::quote(data)),
            Found::Literal(word) if json::is_json(word) => Cow::Borrowed(word),
            Found::Literal(word) | Found::Word(word) => Cow::Owned(json::quote(word)),
            Found::Position(position) => Cow::Owned(position.to_string()),
            Found::Made(members) => {
                let values = members.iter().map(|(name, place)| Some((*name, self.json(place)?)));
                Cow::Owned(json::object(values.flatten()))
            }
            Found::Joined(parts) => Cow::Owned(json::quote(&self.joined(parts))),
            Found::Value(_) | Found::Objects(..) => return None,
        })
    }

    /// Returns the string, number or flag that stands there, as a word.
    pub(super) fn scalar(&self, place: &'r Place) -> Option<Cow<'r, str>> {
        match self.json(place)? {
            Cow::Borrowed(json) => evidence::word(json),
            Cow::Owned(json) => evidence::word(&json).map(|word| Cow::Owned(word.into_owned())),
        }
    }

    /// True if a flag is set: one of its words stands there, or, if it has none, anything that says
    /// something: not false, 0, or what is empty.
    pub(super) fn flag(&self, place: &'r Place) -> bool {
        match place.words {
            Some(words) => self.scalar(place).is_some_and(|found| is_one_of(words, &found)),
            None => self.json(place).is_some_and(|json| !json::is_empty(&json)),
        }
    }

    /// Returns the number or the name that stands there.
    pub(super) fn index(&self, place: &'r Place) -> Option<Index<'r>> {
        match self.find(place)? {
            Found::Value(Value::Index(number)) => Some(Index::Number(*number)),
            Found::Value(Value::Text(text)) => Some(Index::Name(Cow::Borrowed(text.as_str()))),
            Found::Position(position) => Some(Index::Number(position)),
            Found::Literal(word) | Found::Word(word) => Some(Index::Name(Cow::Borrowed(word))),
            _ => None,
        }
    }

    /// Returns the objects that stand there.
    pub(super) fn each(&self, place: &'r Place) -> impl Iterator<Item = Fields<'r, 't>> {
        let first = match self.find(place) {
            Some(Found::Objects(_, Value::Objects(ends))) => ends.map(|(first, _)| first),
            _ => None,
        };
        let fields = Fields { is_record: false, ..*self };
        let objects = (0..).zip(self.list(first));
        objects.map(move |(position, object)| Fields { object, position, ..fields })
    }

    /// Returns the record that stands there in a string, and its table.
    pub(super) fn encoded(&self, place: &'r Place) -> Option<(&'static Table, &'r Str<'t>)> {
        match self.find(place)? {
            Found::Objects(table, Value::Text(text)) => Some((table, text)),
            _ => None,
        }
    }

    /// True if there are other places in the value that stands there: it is not only counts.
    pub(super) fn is_shared(&self, place: &Place) -> bool {
        place.ways.iter().any(|way| match way {
            Way::Slot(slot) => self.object.layout.is_shared(*slot),
            way => matches!(way, Way::Here),
        })
    }
}

/// Returns the part of a kind that the `*` of its pattern stands for.
fn open_part<'k>(patterns: &[&str], kind: &'k str) -> &'k str {
    let pattern = patterns.iter().find(|pattern| fits(pattern, kind));
    let Some((begin, end)) = pattern.and_then(|it| it.split_once('*')) else { return kind };
    let rest = kind.strip_prefix(begin).unwrap_or(kind);
    rest.strip_suffix(end).unwrap_or(rest)
}
