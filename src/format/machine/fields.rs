//! What stands at the places of one object.

use std::borrow::Cow;

use crate::format::machine::evidence;
use crate::format::machine::layout::{
    HEAD, JOINT, Layout, Place, RecordValues, RowTables, Table, Value, Way,
};
use crate::format::spec::{CallSpec, Places, Wanted, fits, is_one_of, paths, split_test};
use crate::json::{self, Str};

/// What stands at the places of one object, or of one of its members.
#[derive(Clone, Copy)]
pub(super) struct Fields<'r, 't> {
    program: &'r RowTables,
    values: &'r RecordValues<'t>,
    pub(super) table: &'r Table,
    layout: &'r Layout,
    /// The places of the record that the object is in.
    record: &'r Layout,
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
        program: &'r RowTables,
        table: &'r Table,
        values: &'r RecordValues<'t>,
        event: &'r str,
    ) -> Option<Self> {
        let layout = program.layout(table, case(values, 0)?)?;
        let (begin, base, position) = (0, 0, 0);
        Some(Fields {
            program,
            values,
            table,
            layout,
            record: layout,
            begin,
            base,
            position,
            event,
        })
    }

    /// Returns the number of the object's case.
    pub(super) fn case(&self) -> Option<usize> {
        case(self.values, self.begin)
    }

    /// Returns the object's kind; of a member, its key.
    pub(super) fn kind(&self) -> &'r str {
        let key = self.layout.key(self.base).and_then(|slot| self.slot(slot));
        match key.or(self.values.get(self.begin + 1)) {
            Some(Value::Text(key)) => key.as_str(),
            Some(Value::Kind(kind)) => kind,
            _ => "",
        }
    }

    /// Returns the object's JSON text.
    pub(super) fn here(&self) -> &'r str {
        match self.values.get(self.begin + 2) {
            Some(Value::Json(json)) => json,
            _ => "",
        }
    }

    /// Returns the fields of a member of the object, which is counted from 1, if it is there.
    pub(super) fn member(&self, number: usize) -> Option<Self> {
        self.slot(self.layout.key(number)?)?;
        Some(Fields { base: number, ..*self })
    }

    fn slot(&self, slot: usize) -> Option<&'r Value<'t>> {
        let value = self.values.get(self.begin + HEAD + slot)?;
        Some(value).filter(|value| !matches!(value, Value::Nothing))
    }

    fn place(&self, places: Places, wanted: Wanted) -> Option<&'r Place> {
        if places.is_empty() { None } else { self.layout.find(places, wanted, self.base) }
    }

    /// Returns the fields of the record.
    pub(super) fn record(&self) -> Self {
        Fields { layout: self.record, begin: 0, base: 0, ..*self }
    }

    /// Returns what `get` finds on the first way to a place that leads to anything.
    fn first<T>(
        &self,
        places: Places,
        wanted: Wanted,
        get: &dyn Fn(&Self, &'r Way) -> Option<T>,
    ) -> Option<T> {
        self.place(places, wanted)?.ways.iter().find_map(|way| match way {
            Way::Record(places) => self.record().first(places, wanted, get),
            way => get(self, way),
        })
    }

    /// True if anything but null stands there.
    pub(super) fn has(&self, places: Places) -> bool {
        self.first(places, Wanted::Something, &|fields, way| match way {
            Way::Slot(slot) => fields.slot(*slot).map(drop),
            Way::Kind | Way::Star | Way::Event => fields.word_of(way).map(drop),
            _ => Some(()),
        })
        .is_some()
    }

    /// True if a value of the record stands at a place, and not a word that the row itself has;
    /// nothing for a place that only has such words.
    pub(super) fn is_given(&self, places: Places, wanted: Wanted) -> Option<bool> {
        let any = |found: &mut dyn Iterator<Item = Option<bool>>| {
            found.flatten().fold(None, |all, is_given| Some(all.unwrap_or(false) | is_given))
        };
        any(&mut self.place(places, wanted)?.ways.iter().map(|way| match way {
            Way::Slot(slot) => Some(self.slot(*slot).is_some()),
            Way::Record(places) => self.record().is_given(places, wanted),
            Way::Joined(parts) => any(&mut parts.iter().map(|it| self.is_given(it, Wanted::Json))),
            Way::Made(members) => {
                any(&mut members.iter().map(|(_, it)| self.is_given(it, Wanted::Json)))
            }
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
    pub(super) fn text(&self, places: Places) -> Option<Cow<'r, Str<'r>>> {
        self.first(places, Wanted::Text, &|fields, way| match way {
            Way::Slot(slot) => match fields.slot(*slot)? {
                Value::Text(text) => Some(Cow::Borrowed(text)),
                _ => None,
            },
            Way::Data => Some(Cow::Owned(Str::from(fields.here()))),
            Way::Joined(parts) => {
                let words = parts.iter().filter_map(|places| fields.scalar(places));
                Some(Cow::Owned(Str::from(words.collect::<String>())))
            }
            Way::Position => Some(Cow::Owned(Str::from(fields.position.to_string()))),
            way => fields.word_of(way).map(|word| Cow::Owned(Str::from(word))),
        })
    }

    /// Returns the text that stands there, unless it is empty or nothing but white space.
    pub(super) fn word(&self, places: Places) -> Option<Cow<'r, str>> {
        let text = match self.text(places)? {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_str()),
            Cow::Owned(text) => text.into_text(),
        };
        Some(text).filter(|text| !text.trim_ascii().is_empty())
    }

    /// Returns the JSON that stands there.
    pub(super) fn json(&self, places: Places) -> Option<Cow<'r, str>> {
        self.first(places, Wanted::Json, &|fields, way| match way {
            Way::Slot(slot) => match fields.slot(*slot)? {
                Value::Json(json) => Some(Cow::Borrowed(*json)),
                _ => None,
            },
            Way::Here => Some(Cow::Borrowed(fields.here())),
            Way::Position => Some(Cow::Owned(fields.position.to_string())),
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
    pub(super) fn scalar(&self, places: Places) -> Option<Cow<'r, str>> {
        match self.json(places)? {
            Cow::Borrowed(json) => evidence::word(json),
            Cow::Owned(json) => evidence::word(&json).map(|word| Cow::Owned(word.into_owned())),
        }
    }

    /// True if a flag is set: one of its words stands there, or, if it has none, anything but
    /// false.
    pub(super) fn flag(&self, places: Places) -> bool {
        let Some(place) = self.place(places, Wanted::Json) else { return false };
        match place.words {
            Some(words) => {
                let found = self.scalar(places);
                found.is_some_and(|found| is_one_of(words, &found))
            }
            None => self.json(places).is_some_and(|json| json != "false"),
        }
    }

    /// Returns the number or the name that stands there.
    pub(super) fn index(&self, places: Places) -> Option<Index<'r>> {
        self.first(places, Wanted::Index, &|fields, way| match way {
            Way::Slot(slot) => match fields.slot(*slot)? {
                Value::Index(number) => Some(Index::Number(*number)),
                Value::Text(text) => Some(Index::Name(Cow::Borrowed(text.as_str()))),
                _ => None,
            },
            Way::Position => Some(Index::Number(fields.position)),
            way => fields.word_of(way).map(|word| Index::Name(Cow::Borrowed(word))),
        })
    }

    /// Returns what stands at the place of a group.
    fn grouped(&self, places: Places) -> Option<&'r Value<'t>> {
        self.first(places, Wanted::Group(""), &|fields, way| match way {
            Way::Slot(slot) => fields.slot(*slot),
            _ => None,
        })
    }

    /// Returns the objects that stand there.
    pub(super) fn each(&self, places: Places) -> impl Iterator<Item = Fields<'r, 't>> {
        let fields = *self;
        let table = self.group(places);
        let mut next = match self.grouped(places) {
            Some(Value::Objects(ends)) => ends.map(|(first, _)| first),
            _ => None,
        };
        let mut position = 0;
        std::iter::from_fn(move || {
            let (table, begin) = (table?, next?);
            let Some(Value::Next(after, case)) = fields.values.get(begin) else { return None };
            next = *after;
            let layout = fields.program.layout(table, *case)?;
            let object = Fields { table, layout, begin, base: 0, position, ..fields };
            position += 1;
            Some(object)
        })
    }

    /// Returns the record that stands there in a string, and its table.
    pub(super) fn encoded(&self, places: Places) -> Option<(&'r Table, &'r Str<'t>)> {
        match self.grouped(places)? {
            Value::Text(text) => Some((self.group(places)?, text)),
            _ => None,
        }
    }

    /// Returns the table of a group of objects.
    fn group(&self, places: Places) -> Option<&'r Table> {
        match self.place(places, Wanted::Group(""))?.wanted {
            Wanted::Group(name) => self.program.group(name),
            _ => None,
        }
    }

    /// True if there are other places in the value that stands there: it is not only counts.
    pub(super) fn is_shared(&self, places: Places) -> bool {
        let place = self.place(places, Wanted::Json);
        place.is_some_and(|place| {
            place.ways.iter().any(|way| match way {
                Way::Slot(slot) => self.layout.is_shared(*slot),
                way => matches!(way, Way::Here),
            })
        })
    }

    /// Returns the key of the object's first member.
    pub(super) fn first_key(&self) -> Cow<'r, str> {
        let members = json::members(self.here());
        members.into_iter().next().map_or(Cow::Borrowed(""), |(key, _)| key)
    }

    pub(super) fn program(&self) -> &'r RowTables {
        self.program
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

fn case(values: &RecordValues, begin: usize) -> Option<usize> {
    match values.get(begin)? {
        Value::Next(_, case) => Some(*case),
        _ => None,
    }
}
