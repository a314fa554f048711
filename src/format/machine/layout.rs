//! The places of a row's rules as trees, and what stands at them in a record.
//!
//! A row has [`RowTables`]: a [`Table`] of the rules for its records, and one for each group. A table
//! has a [`Layout`] for each kind of object that its rules name, and one for all others. A layout
//! has the rules for its kind: each place of theirs that is read is a slot, a number, and one tree
//! of [`Node`]s leads from the object to all of them. All of that is made once. Where a member's key
//! is a kind, the members are objects by themselves, with a table of their own.
//!
//! A record becomes [`RecordValues`]: its objects, of which it is the first itself and the others are
//! those of groups, and for each the values of its slots. One pass over the record takes what
//! stands at a place and skips the rest by its structure; a record of usual size takes no
//! allocation. An object's kind is looked for first: where it stands first, as it mostly does, that
//! costs next to nothing. [`Fields`](super::fields::Fields) reads the values.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;

use smallvec::SmallVec;

use crate::format::machine::rule::{RowFlags, each_place_of, keys};
use crate::format::place::{Place, PlaceReader, Wanted, Way};
use crate::format::spec::{
    ANY, Group, Places, ReadRule, RecordPlaces, Rule, Spec, Word, fits, is_keyed, paths,
    split_flag, split_test,
};
use crate::format::support::misnamed::holds_members;
use crate::json::{self, FieldKey, FromJson, RawJson, ReadError, Reader, Source, Str};

/// The tables of a row, which are made once.
pub(in crate::format) struct RowTables {
    spec: &'static Spec,
    pub(super) flags: RowFlags,
    /// Of records that say their kind, or whose frame does.
    plain: Table,
    /// The record is an object whose values are records; a value's key is its kind.
    keyed: Option<Table>,
    groups: Vec<Table>,
    /// The keys that the row reads.
    keys: OnceLock<HashSet<&'static str>>,
}

/// The rules of the records, or of one group of objects.
pub(super) struct Table {
    /// The words for an object's kind are joined; each stands at one of some places.
    kind: Vec<Vec<KindPlace>>,
    /// The kinds that rules name.
    kinds: Vec<(Word, Layout)>,
    others: Layout,
    /// The rules for the members of its objects, whose keys are their kinds.
    members: Option<Box<Table>>,
    is_record: bool,
    /// True if the objects are calls, blocks, or pieces of them, as a turn has them.
    pub(super) is_native: bool,
}

/// The rules for one kind of object, with the places that they ask for.
#[derive(Default)]
pub(super) struct Layout {
    pub(super) rules: Vec<ReadRule>,
    /// True if the rules are for all kinds that have no layout of their own.
    pub(super) is_of_others: bool,
    /// What is asked for if the object is a record.
    pub(super) record: RecordPlaces,
    /// The places of the record that rules ask for wherever they are.
    pub(super) of_record: Vec<Place>,
    top: Node,
    /// The kinds of the rules that are patterns.
    pub(super) patterns: Vec<Word>,
    /// The number of slots.
    size: usize,
    /// True if the frame's data are asked for as they are.
    is_text: bool,
    /// True if the object itself is asked for.
    is_here: bool,
    /// True once all that the rules ask for has been added.
    is_complete: bool,
}

/// Where a word for an object's kind stands.
enum KindPlace {
    Event,
    /// The keys that lead to it.
    Path(Vec<FieldKey>),
}

/// A place of the record that rules ask for wherever they are.
type OfRecord = (Places, Wanted);

/// What stands between the places that make a text.
pub(super) const JOINT: &str = " + ";

/// What is wanted of a value, and of what is inside of it.
#[derive(Default)]
struct Node {
    slots: SmallVec<[NodeSlot; 1]>,
    /// True if rules ask for what is inside, and not only the beginning of a message: then it is a
    /// mistake if that is something else.
    is_asked: bool,
    keys: Vec<FieldKey>,
    members: Vec<Node>,
    /// Members whose key fits a pattern.
    others: Vec<(Word, Node)>,
    elements: Vec<(usize, Node)>,
}

#[derive(Clone, Copy)]
struct NodeSlot {
    wanted: Wanted,
    /// The first bytes of a value of the type that counts; empty for any.
    begins: &'static [u8],
    number: usize,
}

/// What stands at the places of a record, and of the objects in it.
#[derive(Default)]
pub(super) struct RecordValues<'t> {
    /// The first is the record.
    objects: SmallVec<[ReadObject<'t>; 4]>,
    /// The values of the slots of each.
    slots: SmallVec<[Value<'t>; 16]>,
}

/// An object that was read.
pub(super) struct ReadObject<'t> {
    pub(super) table: &'static Table,
    pub(super) layout: &'static Layout,
    pub(super) kind: Cow<'t, str>,
    /// Its text; of a record that is none, the frame's data.
    pub(super) json: &'t str,
    /// Where the values of its slots begin.
    begin: usize,
    /// The first of its members that are objects by themselves.
    pub(super) members: Option<usize>,
    /// The object after it in its list.
    pub(super) next: Option<usize>,
}

/// The first and the last of some objects.
type Ends = Option<(usize, usize)>;

/// An object that is being read.
struct OpenObject<'o, 't> {
    tables: &'static RowTables,
    /// Where the values of its slots begin.
    begin: usize,
    values: &'o mut RecordValues<'t>,
}

pub(super) enum Value<'t> {
    Nothing,
    Text(Str<'t>),
    Json(&'t str),
    Index(u64),
    Objects(Ends),
}

impl RowTables {
    pub(in crate::format) fn new(spec: &'static Spec) -> RowTables {
        let mut record = Vec::new();
        for (_, rule) in spec.rules() {
            each_place_of(rule, spec, &mut |places, wanted| of_record(places, wanted, &mut record));
        }
        let table = |group: &Group, is_keyed| Table::new(spec, group, is_keyed, &record);
        let records = Group { kind: spec.kind, encoded: true, on: spec.on, ..Group::NEW };
        let keyed = Group { kind: &[], ..records };
        RowTables {
            spec,
            flags: RowFlags::new(spec),
            plain: table(&records, false),
            keyed: is_keyed(spec.kind).then(|| table(&keyed, true)),
            groups: spec.groups.iter().map(|group| table(group, is_keyed(group.kind))).collect(),
            keys: OnceLock::new(),
        }
    }

    /// True if a place of the row leads to or through a member of this key.
    pub(super) fn reads(&self, key: &str) -> bool {
        self.keys.get_or_init(|| keys(self.spec)).contains(key)
    }

    /// Returns the table of the records in frames of this name.
    pub(super) fn records(&self, event: &str) -> &Table {
        self.keyed.as_ref().filter(|_| event.is_empty()).unwrap_or(&self.plain)
    }

    /// Returns the table of the group of a number.
    pub(super) fn group(&self, number: usize) -> &Table {
        &self.groups[number]
    }
}

impl<'t> RecordValues<'t> {
    /// Takes a record that is text: see [`Table::text_layout`].
    pub(super) fn take(
        &mut self,
        (table, layout): (&'static Table, &'static Layout),
        text: &'t str,
        event: &'t str,
    ) {
        self.open(table, layout, Cow::Borrowed(event));
        self.objects[0].json = text;
    }

    /// Reads a record; there are no others.
    ///
    /// # Errors
    ///
    /// The text is no JSON, or at a place stands a value of another type.
    pub(super) fn read(
        &mut self,
        (tables, table): (&'static RowTables, &'static Table),
        (source, text): (Source, &'t str),
        event: &'t str,
    ) -> Result<(), ReadError> {
        json::read_by(source, text, &mut |reader| {
            self.object((tables, table), event, reader).map(drop)
        })
    }

    /// Reads an object, and returns its number.
    fn object(
        &mut self,
        (tables, table): (&'static RowTables, &'static Table),
        event: &'t str,
        reader: &mut Reader<'t>,
    ) -> Result<usize, ReadError> {
        let kind = table.kind(reader, event);
        let number = self.open(table, table.layout(&kind), kind);
        if let Some(table) =
            table.members.as_deref().filter(|_| reader.peek().is_ok_and(|first| first == b'{'))
        {
            self.objects[number].members = self.members((tables, table), &mut reader.fork())?;
        }
        let (layout, begin) = (self.objects[number].layout, self.objects[number].begin);
        let start = reader.position();
        let mut object = OpenObject { tables, begin, values: self };
        if !layout.top.slots.is_empty() {
            object.value(&layout.top, reader)?;
        } else if reader.peek()? == b'{' || !layout.asks_for_all() {
            object.inside(&layout.top, reader)?;
        } else {
            reader.skip()?;
        }
        self.objects[number].json = reader.since(start)?.trim_ascii();
        Ok(number)
    }

    /// Reads the members of an object that rules are for, and returns the number of the first. One
    /// that is null is none.
    fn members(
        &mut self,
        (tables, table): (&'static RowTables, &'static Table),
        reader: &mut Reader<'t>,
    ) -> Result<Option<usize>, ReadError> {
        let mut ends = None;
        let mut keys: SmallVec<[Str<'t>; 4]> = SmallVec::new();
        reader.members(&"an object", &mut |key, reader| {
            let layout = table.layout(key.as_str());
            let is_named = layout.rules.iter().any(|rule| rule.spec.is_of(key.as_str()));
            if !is_named || reader.peek()? == b'n' {
                return reader.skip();
            }
            keys.push(key.clone());
            let number = self.open(table, layout, key.into_text());
            self.link(&mut ends, number);
            let (begin, start) = (self.objects[number].begin, reader.position());
            OpenObject { tables, begin, values: self }.value(&layout.top, reader)?;
            self.objects[number].json = reader.since(start)?.trim_ascii();
            Ok(())
        })?;
        keys.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
        if let Some([key, _]) = keys.array_windows().find(|[a, b]| a == b) {
            let message = format!("duplicate field `{}`", key.as_str());
            return Err(serde::de::Error::custom(message));
        }
        Ok(ends.map(|(first, _)| first))
    }

    /// Adds an object whose text and values are still to come, and returns its number.
    fn open(
        &mut self,
        table: &'static Table,
        layout: &'static Layout,
        kind: Cow<'t, str>,
    ) -> usize {
        let begin = self.slots.len();
        let object = ReadObject { table, layout, kind, json: "", begin, members: None, next: None };
        self.objects.push(object);
        self.slots.resize_with(begin + layout.size, || Value::Nothing);
        self.objects.len() - 1
    }

    /// Appends an object to a list.
    fn link(&mut self, ends: &mut Ends, number: usize) {
        if let Some((_, last)) = *ends {
            self.objects[last].next = Some(number);
        }
        *ends = Some((ends.map_or(number, |(first, _)| first), number));
    }

    /// Returns the object of a number; the record is the first.
    pub(super) fn get(&self, number: usize) -> &ReadObject<'t> {
        &self.objects[number]
    }

    /// Returns what stands in a slot of an object.
    pub(super) fn value(&self, object: &ReadObject, slot: usize) -> &Value<'t> {
        &self.slots[object.begin + slot]
    }

    /// Sets a value unless there is one. Objects come after those that are there.
    fn add(&mut self, at: usize, value: Value<'t>) {
        match (&self.slots[at], value) {
            (&Value::Objects(Some((first, last))), Value::Objects(Some((after, end)))) => {
                self.slots[at] = Value::Objects(Some((first, end)));
                self.objects[last].next = Some(after);
            }
            (Value::Nothing | Value::Objects(None), value) => self.slots[at] = value,
            _ => {}
        }
    }
}

impl<'t> OpenObject<'_, 't> {
    /// Reads a value at a place, or on the way to some.
    fn value(&mut self, node: &Node, reader: &mut Reader<'t>) -> Result<(), ReadError> {
        if reader.peek()? == b'n' {
            return Option::<()>::from_json(reader).map(drop);
        }
        match node.slots.as_slice() {
            [] if node.is_leaf() => reader.skip(),
            [] if !node.is_asked && !node.may_be(reader.peek()?) => reader.skip(),
            [] => self.inside(node, reader),
            [slot] if node.is_leaf() => self.slot(slot, reader),
            slots => {
                let mut after = reader.fork();
                after.skip()?;
                for slot in slots {
                    self.slot(slot, &mut reader.fork())?;
                }
                if !node.is_leaf() && node.may_be(reader.peek()?) {
                    self.inside(node, &mut reader.fork())?;
                }
                *reader = after;
                Ok(())
            }
        }
    }

    fn slot(&mut self, slot: &NodeSlot, reader: &mut Reader<'t>) -> Result<(), ReadError> {
        let first = reader.peek()?;
        if !slot.begins.is_empty() && !slot.begins.contains(&first) {
            return reader.skip();
        }
        let value = match slot.wanted {
            Wanted::Id if first == b'-' || first.is_ascii_digit() => {
                Value::Text(Str::from(RawJson::from_json(reader)?.get()))
            }
            Wanted::Text | Wanted::Id => Value::Text(Str::from_json(reader)?),
            Wanted::Index if first == b'"' => {
                let name = Str::from_json(reader)?;
                name.as_str().parse().map_or(Value::Text(name), Value::Index)
            }
            Wanted::Index => Value::Index(u64::from_json(reader)?),
            Wanted::Group(number) => self.objects(number, reader)?,
            Wanted::Json | Wanted::Something => Value::Json(RawJson::from_json(reader)?.get()),
        };
        self.values.add(self.begin + slot.number, value);
        Ok(())
    }

    /// Reads the objects of a group, in a list or one by itself.
    fn objects(&mut self, number: usize, reader: &mut Reader<'t>) -> Result<Value<'t>, ReadError> {
        let table = self.tables.group(number);
        if table.is_record {
            return Str::from_json(reader).map(Value::Text);
        }
        if reader.peek()? != b'[' {
            let number = self.values.object((self.tables, table), "", reader)?;
            return Ok(Value::Objects(Some((number, number))));
        }
        let mut ends = None;
        reader.elements(&"an object or an array of them", &mut |reader| {
            let number = self.values.object((self.tables, table), "", reader)?;
            self.values.link(&mut ends, number);
            Ok(())
        })?;
        Ok(Value::Objects(ends))
    }

    /// Reads what is inside of a value.
    fn inside(&mut self, node: &Node, reader: &mut Reader<'t>) -> Result<(), ReadError> {
        if node.has_elements() && reader.peek()? == b'[' {
            let mut next = 0;
            return reader.elements(&"an array", &mut |reader| {
                let exact = node.elements.iter().find(|(index, _)| *index == next);
                let any = node.others.iter().find(|(word, _)| *word == ANY);
                next += 1;
                match (exact.map(|it| &it.1), any.map(|it| &it.1)) {
                    (Some(one), Some(any)) => {
                        self.value(one, &mut reader.fork())?;
                        self.value(any, reader)
                    }
                    (Some(node), None) | (None, Some(node)) => self.value(node, reader),
                    (None, None) => reader.skip(),
                }
            });
        }
        // The reader notes in the bits of a number which keys have come.
        if node.others.is_empty() && node.members.len() <= 64 {
            let read = &mut |field: usize, reader: &mut Reader<'t>| match node.members.get(field) {
                None => reader.skip(),
                Some(member) => self.value(member, reader),
            };
            return reader.object("object", &node.keys, read).map(drop);
        }
        reader.members(&"an object", &mut |key, reader| {
            let mut wanted = node.at(key.as_str());
            let Some(member) = wanted.next() else { return reader.skip() };
            for other in wanted {
                self.value(other, &mut reader.fork())?;
            }
            self.value(member, reader)
        })
    }
}

impl Table {
    /// Returns the rules of a group. With `is_keyed`, those for a kind are for members.
    fn new(spec: &'static Spec, group: &Group, is_keyed: bool, record: &[OfRecord]) -> Table {
        let (named, own): (Vec<&Rule>, Vec<&Rule>) =
            group.on.iter().partition(|rule| is_keyed && rule.is_named());
        let members = Group { kind: &[], encoded: false, ..*group };
        let members = is_keyed.then(|| Box::new(Table::of(spec, &members, &named, record)));
        Table { members, ..Table::of(spec, group, &own, record) }
    }

    /// Returns some rules of a group.
    fn of(
        spec: &'static Spec,
        group: &Group,
        rules: &[&'static Rule],
        record: &[OfRecord],
    ) -> Table {
        let place = |path: &'static str| match path {
            "event:" => KindPlace::Event,
            path => KindPlace::Path(path.split('.').map(|key| FieldKey::new(key, &[])).collect()),
        };
        let paths = |places: &Places| places.split('|').filter(|path| *path != "key:");
        let kind = group.kind.iter().map(|places| paths(places).map(place).collect());
        let kind: Vec<Vec<KindPlace>> = kind.collect();
        let layout = |of: &dyn Fn(&Rule) -> bool| {
            let rules = rules.iter().copied().filter(|rule| of(rule));
            Layout::new(spec, (&kind, group.encoded), rules, record)
        };
        let mut kinds: Vec<(Word, Layout)> = Vec::new();
        let words = rules.iter().flat_map(|rule| rule.kind.split('|'));
        for word in words.filter(|word| !word.contains('*')).chain([""]) {
            if kinds.iter().all(|(known, _)| *known != word) {
                kinds.push((word, layout(&|rule| rule.is_of(word))));
            }
        }
        let others = Layout { is_of_others: true, ..layout(&|rule| rule.kind.contains('*')) };
        let Group { encoded: is_record, native: is_native, .. } = *group;
        Table { kind, kinds, others, members: None, is_record, is_native }
    }

    /// Returns the layout of a kind.
    fn layout(&self, kind: &str) -> &Layout {
        let known = self.kinds.iter().find(|(word, _)| *word == kind);
        known.map_or(&self.others, |(_, layout)| layout)
    }

    /// Returns the layout of a record if its frame's name alone says what it is: its kind stands
    /// nowhere else, or could not, as its data are a word.
    fn named(&self, event: &str, data: &[u8]) -> Option<&Layout> {
        let mut places = self.kind.iter().flatten();
        let is_alone = matches!((places.next(), places.next()), (Some(KindPlace::Event), None));
        let names = || self.kind.iter().flatten().any(|place| matches!(place, KindPlace::Event));
        let is_word = || !event.is_empty() && names() && is_word(data);
        (is_alone || is_word()).then(|| self.layout(event))
    }

    /// Returns the layout of a record that is not to be read as JSON: a rule asks for the frame's data
    /// as they are, none is for frames of this name, or the name says all, and the data are a word
    /// that no rule asks for.
    pub(super) fn text_layout(&self, event: &str, data: &[u8]) -> Option<&Layout> {
        self.named(event, data).filter(|layout| {
            let is_unasked = || !layout.top.is_asked || data.trim_ascii() == b"null";
            layout.is_text
                || layout.rules.is_empty()
                || !layout.asks_for_all() && is_word(data) && is_unasked()
        })
    }

    /// True if a record with these data may be something else than an object.
    pub(super) fn takes_any(&self, event: &str, data: &[u8]) -> bool {
        self.named(event, data).is_some_and(Layout::asks_for_all)
            || data.trim_ascii_start().starts_with(b"[") && self.has_lists()
    }

    /// True if its objects may be lists: a word of their kind is an element.
    fn has_lists(&self) -> bool {
        self.kind.iter().flatten().any(|place| match place {
            KindPlace::Event => false,
            KindPlace::Path(keys) => {
                keys.first().is_some_and(|key| key.name().parse::<u8>().is_ok())
            }
        })
    }

    /// True if its objects are told apart by their keys.
    pub(super) fn is_keyed(&self) -> bool {
        self.members.is_some()
    }

    /// Returns the words for the kind of the object that is next, joined by `/`.
    fn kind<'t>(&self, reader: &Reader<'t>, event: &'t str) -> Cow<'t, str> {
        let mut words = self.kind.iter().filter_map(|places| {
            places.iter().find_map(|place| match place {
                KindPlace::Event => Some(Cow::Borrowed(event)).filter(|event| !event.is_empty()),
                KindPlace::Path(keys) => reader.word_at(keys),
            })
        });
        let Some(first) = words.next() else { return Cow::Borrowed("") };
        words.fold(first, |kind, word| Cow::Owned(format!("{kind}/{word}")))
    }
}

/// True if data are neither an object nor a list.
fn is_word(data: &[u8]) -> bool {
    !matches!(data.trim_ascii_start().first(), Some(b'{' | b'['))
}

impl Layout {
    /// Returns some rules for objects whose kind stands at these places, with the places that they ask
    /// for.
    fn new(
        spec: &'static Spec,
        (kind, is_record): (&[Vec<KindPlace>], bool),
        rules: impl Iterator<Item = &'static Rule>,
        record: &[OfRecord],
    ) -> Layout {
        let mut layout = Layout::default();
        let group = |name| spec.group(name);
        // A kind that comes twice is told.
        for place in kind.iter().flatten() {
            if let KindPlace::Path(keys) = place {
                keys.iter().fold(&mut layout.top, |node, key| node.inner(key.name()));
            }
        }
        for rule in rules {
            let kinds = paths(rule.kind).filter(|kind| rule.is_named() && kind.contains('*'));
            layout.patterns.extend(kinds);
            let place = &mut |places, wanted| layout.place(places, wanted, record);
            let rule = PlaceReader::new(&group, place).table(rule);
            layout.rules.push(rule);
        }
        layout.is_complete = true;
        if is_record {
            let mut place = |places, wanted| layout.place(places, wanted, record);
            let row = PlaceReader::new(&group, &mut place).table(spec);
            let places = record.iter().map(|(places, wanted)| place(places, *wanted)).collect();
            (layout.record, layout.of_record) = (row, places);
        }
        layout
    }

    /// Adds a place of the object.
    fn place(&mut self, places: Places, wanted: Wanted, record: &[OfRecord]) -> Place {
        let mut part = |places| self.place(places, Wanted::Json, record);
        let (written, words) = split_places(places);
        // A word can be compared with a value that is read as JSON.
        let is_compared = wanted == Wanted::Something && words.is_some();
        let wanted = if is_compared { Wanted::Json } else { wanted };
        let ways = match written {
            Written::Made(members) => {
                let members = members.into_iter().map(|(name, places)| (name, part(places)));
                vec![Way::Made(members.collect())]
            }
            Written::Joined(parts) => vec![Way::Joined(parts.into_iter().map(part).collect())],
            Written::Paths(all) => {
                all.into_iter().map(|path| self.way(path, wanted, record)).collect()
            }
        };
        self.is_here |= matches!(ways.as_slice(), [.., Way::Here]);
        Place { ways, words }
    }

    /// Adds a path, and returns where it leads.
    fn way(&mut self, path: &'static str, wanted: Wanted, record: &[OfRecord]) -> Way {
        if let Some(word) = path.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            return Way::Literal(word);
        }
        if let Some(path) = path.strip_prefix('/') {
            let number = record.iter().position(|known| *known == (path, wanted));
            // All were noted before: none is past the last.
            return Way::Record(number.unwrap_or(record.len()));
        }
        match path {
            "kind:" => return Way::Kind,
            "kind:*" => return Way::Star,
            "event:" => return Way::Event,
            "#" => return Way::Position,
            "data:" => {
                self.is_text = true;
                return Way::Data;
            }
            _ => {}
        }
        let (path, begins) = split_test(path);
        let is_any =
            begins.is_empty() && !matches!(wanted, Wanted::Text | Wanted::Id | Wanted::Group(_));
        if path == "." && is_any {
            return Way::Here;
        }
        let keys = path.split('.').filter(|key| !key.is_empty());
        let is_asked = !self.is_complete;
        let node = keys.fold(&mut self.top, |node, key| {
            node.is_asked |= is_asked;
            node.inner(key)
        });
        let is_same = |slot: &&mut NodeSlot| {
            slot.begins == begins.as_bytes()
                && (slot.wanted == wanted || [slot.wanted, wanted].contains(&Wanted::Something))
        };
        let slot = match node.slots.iter_mut().find(is_same) {
            Some(known) => {
                // Whatever is read of a value tells that it stands there.
                if known.wanted == Wanted::Something {
                    known.wanted = wanted;
                }
                known.number
            }
            None => {
                let new = NodeSlot { wanted, begins: begins.as_bytes(), number: self.size };
                node.slots.push(new);
                self.size += 1;
                new.number
            }
        };
        match wanted {
            Wanted::Group(group) => Way::Objects { slot, group },
            _ => Way::Slot(slot),
        }
    }

    /// True if there are places in the value of a slot.
    pub(super) fn is_shared(&self, slot: usize) -> bool {
        fn is_in(node: &Node, slot: usize) -> bool {
            let is_it = node.slots.iter().any(|known| known.number == slot);
            let others = node.others.iter().map(|(_, node)| node);
            let elements = node.elements.iter().map(|(_, node)| node);
            let inside = || node.members.iter().chain(others).chain(elements);
            (is_it && !node.is_leaf()) || inside().any(|node| is_in(node, slot))
        }
        is_in(&self.top, slot)
    }

    /// Returns a value that holds something, stands beside the one that a path leads to, and is read
    /// by no rule.
    pub(super) fn unread<'j>(&self, path: &str, here: &'j str) -> Option<&'j str> {
        let parent = path.rsplit_once('.').map(|(parent, _)| parent.split('.'));
        let (mut node, mut json) = (&self.top, here);
        for key in parent.into_iter().flatten() {
            (node, json) = (node.at(key).next()?, json::member(json, key)?);
        }
        let members = json::members(json).into_iter();
        let mut unread = members.filter(|(key, _)| node.at(key).next().is_none());
        unread.find(|(_, value)| holds_members(*value)).map(|(_, value)| value.get())
    }

    /// True if its objects may be anything else.
    fn asks_for_all(&self) -> bool {
        !self.top.slots.is_empty() || self.is_here
    }
}

impl Node {
    /// Returns the node of a member, or of the members whose key fits a pattern, or of an element.
    fn inner(&mut self, key: &'static str) -> &mut Node {
        fn of<T>(list: &mut Vec<(T, Node)>, is_it: impl Fn(&T) -> bool, new: T) -> &mut Node {
            let at = list.iter().position(|(name, _)| is_it(name)).unwrap_or(list.len());
            if at == list.len() {
                list.push((new, Node::default()));
            }
            &mut list[at].1
        }
        if let Ok(index) = key.parse::<usize>() {
            return of(&mut self.elements, |known| *known == index, index);
        }
        if key.contains('*') {
            return of(&mut self.others, |known| *known == key, key);
        }
        let at = self.keys.iter().position(|known| known.is(key.as_bytes()));
        let at = at.unwrap_or(self.keys.len());
        if at == self.keys.len() {
            self.keys.push(FieldKey::new(key, &[]));
            self.members.push(Node::default());
        }
        &mut self.members[at]
    }

    /// Returns the nodes of a member: that of its key, and those of patterns that this fits.
    fn at(&self, key: &str) -> impl Iterator<Item = &Node> {
        let exact = self.keys.iter().position(|known| known.is(key.as_bytes()));
        let fitting = self.others.iter().filter(move |(word, _)| fits(word, key));
        exact.and_then(|at| self.members.get(at)).into_iter().chain(fitting.map(|(_, node)| node))
    }

    /// True if something is wanted of the elements of a list.
    fn has_elements(&self) -> bool {
        !self.elements.is_empty() || self.others.iter().any(|(word, _)| *word == ANY)
    }

    /// True if a value that begins with this byte may hold what is wanted.
    fn may_be(&self, first: u8) -> bool {
        match first {
            b'[' => self.has_elements(),
            first => first == b'{',
        }
    }

    fn is_leaf(&self) -> bool {
        self.members.is_empty() && self.others.is_empty() && self.elements.is_empty()
    }
}

/// How places are written.
enum Written {
    /// The names and the places of an object.
    Made(Vec<(Word, Places)>),
    /// Places that make a text.
    Joined(Vec<Places>),
    Paths(Vec<&'static str>),
}

/// Returns the parts of some places, and the words of a flag.
fn split_places(places: Places) -> (Written, Option<Word>) {
    let made = places.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
    if let Some(inner) = made {
        let members = inner.split(',').filter_map(|member| member.split_once(':'));
        let members = members.map(|(name, places)| (name.trim_ascii(), places.trim_ascii()));
        return (Written::Made(members.collect()), None);
    }
    let (all, words) = split_flag(places);
    let written = match all.contains(JOINT) {
        true => Written::Joined(all.split(JOINT).collect()),
        false => Written::Paths(all.split('|').collect()),
    };
    (written, words)
}

/// Notes which places of the record some places have.
fn of_record(places: Places, wanted: Wanted, found: &mut Vec<OfRecord>) {
    match split_places(places).0 {
        Written::Made(members) => {
            members.iter().for_each(|(_, places)| of_record(places, Wanted::Json, found));
        }
        Written::Joined(parts) => {
            parts.iter().for_each(|places| of_record(places, Wanted::Json, found));
        }
        Written::Paths(all) => {
            for path in all.iter().filter_map(|path| path.strip_prefix('/')) {
                if !found.contains(&(path, wanted)) {
                    found.push((path, wanted));
                }
            }
        }
    }
}
