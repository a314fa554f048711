//! The places of a row's rules as trees, and what stands at them in a record.
//!
//! Each kind of object has its own tree, which is made once, of the rules for that kind. One pass
//! over an object takes what stands at a place and skips the rest by its structure; a record of
//! usual size takes no allocation. An object's kind is looked for first: where it stands first, as
//! it mostly does, that costs next to nothing.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;

use smallvec::SmallVec;

use crate::format::machine::rule::{
    Place, ReadRule, RecordPlaces, RowFlags, Wanted, Way, each_place_of, keys,
};
use crate::format::spec::{
    ANY, Group, Places, Rule, Spec, Word, fits, is_keyed, paths, split_test,
};
use crate::format::support::misnamed::holds_members;
use crate::json::{self, Fault, FieldKey, FromJson, RawJson, Reader, Source, Str};

/// The tables of a row, which are made once.
pub(in crate::format) struct RowTables {
    pub(super) spec: &'static Spec,
    pub(super) flags: RowFlags,
    /// Of records that say their kind, or whose frame does.
    plain: Table,
    /// The record is an object whose values are records; a value's key is its kind.
    keyed: Option<Table>,
    groups: Vec<Table>,
    /// The places of records that rules ask for wherever they are.
    record: Vec<(Places, Wanted)>,
    /// The keys that the row reads.
    keys: OnceLock<HashSet<&'static str>>,
}

/// The rules of the records, or of one group of objects.
pub(super) struct Table {
    /// The words for an object's kind are joined; each stands at one of some places.
    kind: Vec<Vec<KindPlace>>,
    /// The words, and the case of each.
    words: Vec<(Word, usize)>,
    /// The first is that of all other kinds.
    cases: Vec<Case>,
    is_record: bool,
    /// True if the objects are calls, blocks, or pieces of them, as a turn has them.
    pub(super) is_native: bool,
}

/// The rules for one kind of object.
struct Case {
    rules: Vec<&'static Rule>,
    /// The rules for the object's members, and the keys of these.
    members: Vec<(Word, &'static Rule)>,
    layout: OnceLock<Layout>,
}

/// The rules for one kind of object, with the places that they ask for. What stands at each has a
/// slot, a number.
#[derive(Default)]
pub(super) struct Layout {
    pub(super) rules: Vec<ReadRule>,
    /// The rules for the object's members, and the keys of these.
    pub(super) members: Vec<(Word, ReadRule)>,
    /// True if the rules are for all kinds that have no case of their own.
    pub(super) is_of_others: bool,
    /// What is asked for if the object is a record.
    pub(super) record: RecordPlaces,
    /// The places of the record that rules ask for wherever they are.
    pub(super) record_places: Vec<Place>,
    top: Node,
    /// The slots that the keys of members are kept in.
    keys: Vec<usize>,
    /// The kinds of the rules that are patterns.
    pub(super) patterns: Vec<Word>,
    /// The number of slots.
    size: usize,
    /// True if the frame's data are asked for as they are.
    is_text: bool,
    /// True if the object itself is asked for.
    is_here: bool,
    /// True once all that the rules of the case ask for has been added.
    is_complete: bool,
}

/// Where a word for an object's kind stands.
enum KindPlace {
    Event,
    /// The keys that lead to it.
    Path(Vec<FieldKey>),
}

/// What stands between the places that make a text.
pub(super) const JOINT: &str = " + ";

/// What is wanted of a value, and of what is inside of it.
#[derive(Default)]
struct Node {
    slots: SmallVec<[NodeSlot; 1]>,
    /// True if rules ask for what is inside, and not only the beginning of a message: then it is a
    /// mistake if that is something else.
    is_asked: bool,
    /// The slot that keeps its key.
    key: Option<usize>,
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

/// What stands at the places of a record. Each object begins with [`HEAD`] values of its own; those
/// of its slots follow.
#[derive(Default)]
pub(super) struct RecordValues<'t>(SmallVec<[Value<'t>; 24]>);

/// An object that is read.
struct OpenObject<'o, 't> {
    tables: &'static RowTables,
    /// Where its slots begin.
    begin: usize,
    values: &'o mut RecordValues<'t>,
}

pub(super) enum Value<'t> {
    Nothing,
    Text(Str<'t>),
    Json(&'t str),
    Index(u64),
    Kind(Cow<'t, str>),
    /// Where the first of some objects begins, and the last one.
    Objects(Option<(usize, usize)>),
    /// Where the object after this one begins, and the case that this one is.
    Next(Option<usize>, usize),
}

/// The next object and the case, the kind, and the text of an object.
pub(super) const HEAD: usize = 3;

impl RowTables {
    pub(in crate::format) fn new(spec: &'static Spec) -> RowTables {
        let table = |group: &'static Group| {
            let table = Table::new(group.kind, group.on, is_keyed(group.kind), group.encoded);
            Table { is_native: group.native, ..table }
        };
        let mut record = Vec::new();
        for (_, rule) in spec.rules() {
            each_place_of(rule, spec, &mut |places, wanted| of_record(places, wanted, &mut record));
        }
        RowTables {
            spec,
            flags: RowFlags::new(spec),
            plain: Table::new(spec.kind, spec.on, false, true),
            keyed: is_keyed(spec.kind).then(|| Table::new(&[], spec.on, true, true)),
            groups: spec.groups.iter().map(table).collect(),
            record,
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

    /// Returns the places of one kind of object.
    pub(super) fn layout<'p>(&self, table: &'p Table, case: usize) -> &'p Layout {
        let case = &table.cases[case];
        case.layout.get_or_init(|| Layout::new(case, table, self))
    }

    /// Returns the case of a record, and its places, if its frame's name alone says what it is: its
    /// kind stands nowhere else, or could not, as its data are a word.
    fn named<'p>(&self, table: &'p Table, event: &str, data: &[u8]) -> Option<(usize, &'p Layout)> {
        let mut places = table.kind.iter().flatten();
        let is_alone = matches!((places.next(), places.next()), (Some(KindPlace::Event), None));
        let names = || table.kind.iter().flatten().any(|place| matches!(place, KindPlace::Event));
        let is_word = || !event.is_empty() && names() && is_word(data);
        if !is_alone && !is_word() {
            return None;
        }
        let number = table.number(event);
        Some((number, self.layout(table, number)))
    }

    /// Returns the case of a record that is not to be read as JSON: a rule asks for the frame's data as
    /// they are, none is for frames of this name, or the name says all, and the data are a word that
    /// no rule asks for.
    pub(super) fn text_case(&self, table: &Table, event: &str, data: &[u8]) -> Option<usize> {
        let (case, layout) = self.named(table, event, data)?;
        let is_unasked = || !layout.top.is_asked || data.trim_ascii() == b"null";
        let is_text = layout.is_text
            || layout.rules.is_empty()
            || !layout.asks_for_all() && is_word(data) && is_unasked();
        is_text.then_some(case)
    }

    /// True if a record with these data may be something else than an object.
    pub(super) fn takes_any(&self, table: &Table, event: &str, data: &[u8]) -> bool {
        self.named(table, event, data).is_some_and(|(_, layout)| layout.asks_for_all())
            || data.trim_ascii_start().starts_with(b"[") && table.has_lists()
    }

    /// Takes a record of a case that is text.
    pub(super) fn take<'t>(
        &self,
        (table, case): (&Table, usize),
        text: &'t str,
        event: &'t str,
        values: &mut RecordValues<'t>,
    ) {
        let kind = Value::Kind(Cow::Borrowed(event));
        values.0.extend([Value::Next(None, case), kind, Value::Json(text)]);
        values.0.resize_with(HEAD + self.layout(table, case).size, || Value::Nothing);
    }

    /// Reads a record into `values`, which is empty.
    ///
    /// # Errors
    ///
    /// The text is no JSON, or at a place stands a value of another type.
    pub(super) fn read<'t>(
        &'static self,
        table: &Table,
        (source, text): (Source, &'t str),
        event: &'t str,
        values: &mut RecordValues<'t>,
    ) -> Result<(), Fault> {
        json::read_by(source, text, &mut |reader| {
            self.object(table, event, reader, values).map(drop)
        })
    }

    /// Reads an object, and returns where its values begin.
    fn object<'t>(
        &'static self,
        table: &Table,
        event: &'t str,
        reader: &mut Reader<'t>,
        values: &mut RecordValues<'t>,
    ) -> Result<usize, Fault> {
        let kind = table.kind(reader, event);
        let case = table.number(&kind);
        let begin = values.0.len();
        values.0.push(Value::Next(None, case));
        let layout = self.layout(table, case);
        values.0.resize_with(begin + HEAD + layout.size, || Value::Nothing);
        values.set(begin + 1, Value::Kind(kind));
        let start = reader.position();
        let mut object = OpenObject { tables: self, begin: begin + HEAD, values };
        if !layout.top.slots.is_empty() {
            object.value(&layout.top, reader)?;
        } else if reader.peek()? == b'{' || !layout.asks_for_all() {
            object.inside(&layout.top, reader)?;
        } else {
            reader.skip()?;
        }
        values.set(begin + 2, Value::Json(reader.since(start)?.trim_ascii()));
        Ok(begin)
    }
}

impl<'t> OpenObject<'_, 't> {
    /// Reads a value at a place, or on the way to some.
    fn value(&mut self, node: &Node, reader: &mut Reader<'t>) -> Result<(), Fault> {
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

    fn slot(&mut self, slot: &NodeSlot, reader: &mut Reader<'t>) -> Result<(), Fault> {
        let first = reader.peek()?;
        if !slot.begins.is_empty() && !slot.begins.contains(&first) {
            return reader.skip();
        }
        let value = match slot.wanted {
            Wanted::Text => Value::Text(Str::from_json(reader)?),
            Wanted::Index if first == b'"' => {
                let name = Str::from_json(reader)?;
                name.as_str().parse().map_or(Value::Text(name), Value::Index)
            }
            Wanted::Index => Value::Index(u64::from_json(reader)?),
            Wanted::Group(number) => self.objects(number, reader)?,
            Wanted::Json | Wanted::Something | Wanted::Nothing => {
                Value::Json(RawJson::from_json(reader)?.get())
            }
        };
        self.values.add(self.begin + slot.number, value);
        Ok(())
    }

    /// Reads the objects of a group, in a list or one by itself.
    fn objects(&mut self, number: usize, reader: &mut Reader<'t>) -> Result<Value<'t>, Fault> {
        let table = self.tables.group(number);
        if table.is_record {
            return Str::from_json(reader).map(Value::Text);
        }
        if reader.peek()? != b'[' {
            let at = self.tables.object(table, "", reader, self.values)?;
            return Ok(Value::Objects(Some((at, at))));
        }
        let mut ends: Option<(usize, usize)> = None;
        reader.elements(&"an object or an array of them", &mut |reader| {
            let at = self.tables.object(table, "", reader, self.values)?;
            if let Some((_, last)) = ends {
                self.values.link(last, at);
            }
            ends = Some((ends.map_or(at, |(first, _)| first), at));
            Ok(())
        })?;
        Ok(Value::Objects(ends))
    }

    /// Reads what is inside of a value.
    fn inside(&mut self, node: &Node, reader: &mut Reader<'t>) -> Result<(), Fault> {
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
                Some(member) => {
                    if let (Some(slot), Some(key)) = (member.key, node.keys.get(field)) {
                        self.values.set(self.begin + slot, Value::Text(Str::from(key.name())));
                    }
                    self.value(member, reader)
                }
            };
            return reader.object("object", &node.keys, read).map(drop);
        }
        reader.members(&"an object", &mut |key, reader| {
            let mut wanted = node.at(key.as_str());
            let Some(member) = wanted.next() else { return reader.skip() };
            for other in wanted {
                self.value(other, &mut reader.fork())?;
            }
            if let Some(slot) = member.key {
                self.values.set(self.begin + slot, Value::Text(key.clone()));
            }
            self.value(member, reader)
        })
    }
}

impl Table {
    fn new(
        kind: &'static [Places],
        rules: &'static [Rule],
        is_keyed: bool,
        is_record: bool,
    ) -> Table {
        let words = |rule: &'static Rule| rule.kind.split('|');
        let place = |path: &'static str| match path {
            "event:" => KindPlace::Event,
            path => KindPlace::Path(path.split('.').map(|key| FieldKey::new(key, &[])).collect()),
        };
        let kind = kind
            .iter()
            .map(|places| places.split('|').filter(|path| *path != "key:").map(place).collect());
        let mut table = Table {
            kind: kind.collect(),
            words: Vec::new(),
            cases: Vec::new(),
            is_record,
            is_native: false,
        };
        if is_keyed {
            let (plain, named): (Vec<&Rule>, Vec<&Rule>) =
                rules.iter().partition(|rule| !rule.is_named());
            let members =
                named.into_iter().flat_map(|rule| words(rule).map(move |key| (key, rule)));
            table.cases.push(Case::new(plain, members.collect()));
            return table;
        }
        let has_pattern = |rule: &&Rule| rule.kind.contains('*');
        table.cases.push(Case::new(rules.iter().filter(has_pattern).collect(), Vec::new()));
        let exact = rules.iter().flat_map(words).filter(|word| !word.contains('*'));
        for word in exact.chain([""]) {
            if table.words.iter().all(|(known, _)| *known != word) {
                table.words.push((word, table.cases.len()));
                let rules = rules.iter().filter(|rule| rule.is_of(word));
                table.cases.push(Case::new(rules.collect(), Vec::new()));
            }
        }
        table
    }

    /// Returns the number of the case of a kind.
    fn number(&self, kind: &str) -> usize {
        let known = self.words.iter().find(|(word, _)| *word == kind);
        known.map_or(0, |(_, case)| *case)
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
        self.cases.iter().any(|case| !case.members.is_empty())
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

impl Case {
    fn new(rules: Vec<&'static Rule>, members: Vec<(Word, &'static Rule)>) -> Case {
        Case { rules, members, layout: OnceLock::new() }
    }
}

impl Layout {
    /// Returns the rules of a case with the places that they ask for.
    fn new(case: &Case, table: &Table, tables: &RowTables) -> Layout {
        let (spec, record) = (tables.spec, &tables.record);
        let is_first = table.cases.first().is_some_and(|first| std::ptr::eq(first, case));
        let is_of_others = is_first && case.members.is_empty();
        let mut layout = Layout { is_of_others, ..Layout::default() };
        // A kind that comes twice is told.
        let kinds = table.kind.iter().flatten();
        for keys in kinds.filter_map(|place| match place {
            KindPlace::Path(keys) => Some(keys),
            KindPlace::Event => None,
        }) {
            keys.iter().fold(&mut layout.top, |node, key| node.inner(key.name()));
        }
        let kinds = case.rules.iter().filter(|rule| rule.is_named()).flat_map(|it| paths(it.kind));
        let kinds = kinds.chain(case.members.iter().map(|(key, _)| *key));
        layout.patterns = kinds.filter(|kind| kind.contains('*')).collect();
        for rule in &case.rules {
            let place = &mut |places, wanted| layout.place(places, wanted, None, record);
            let rule = ReadRule::new(rule, spec, place);
            layout.rules.push(rule);
        }
        for (key, rule) in &case.members {
            let next = layout.size;
            let slot = *layout.top.inner(key).key.get_or_insert(next);
            layout.size += usize::from(slot == next);
            layout.keys.push(slot);
            let place = &mut |places, wanted| layout.place(places, wanted, Some(*key), record);
            let rule = ReadRule::new(rule, spec, place);
            layout.members.push((*key, rule));
        }
        layout.is_complete = true;
        if table.is_record {
            let mut place = |places, wanted| layout.place(places, wanted, None, record);
            let row = RecordPlaces::new(spec, &mut place);
            let places = record.iter().map(|(places, wanted)| place(places, *wanted)).collect();
            (layout.record, layout.record_places) = (row, places);
        }
        layout
    }

    /// Adds a place of the object, or of its member of a key.
    fn place(
        &mut self,
        places: Places,
        wanted: Wanted,
        key: Option<Word>,
        record: &[(Places, Wanted)],
    ) -> Place {
        if wanted == Wanted::Nothing {
            return Place::default();
        }
        let mut part = |places| self.place(places, Wanted::Json, key, record);
        let (all, words) = split_flag(places);
        let ways = if let Some(members) = split_made(all) {
            vec![Way::Made(members.map(|(name, places)| (name, part(places))).collect())]
        } else if all.contains(JOINT) {
            vec![Way::Joined(all.split(JOINT).map(part).collect())]
        } else {
            all.split('|').map(|path| self.way(path, wanted, key, record)).collect()
        };
        self.is_here |= matches!(ways.as_slice(), [.., Way::Here]);
        Place { ways, words }
    }

    /// Adds a path, and returns where it leads.
    fn way(
        &mut self,
        path: &'static str,
        wanted: Wanted,
        key: Option<Word>,
        record: &[(Places, Wanted)],
    ) -> Way {
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
            begins.is_empty() && wanted != Wanted::Text && !matches!(wanted, Wanted::Group(_));
        if path == "." && key.is_none() && is_any {
            return Way::Here;
        }
        let top = match key {
            Some(key) => self.top.inner(key),
            None => &mut self.top,
        };
        let keys = path.split('.').filter(|key| !key.is_empty());
        let is_asked = !self.is_complete;
        let node = keys.fold(top, |node, key| {
            node.is_asked |= is_asked;
            node.inner(key)
        });
        let is_same = |slot: &&NodeSlot| {
            slot.begins == begins.as_bytes()
                && (slot.wanted == wanted || wanted == Wanted::Something)
        };
        let known = node.slots.iter().find(is_same).map(|slot| slot.number);
        let slot = known.unwrap_or(self.size);
        if known.is_none() {
            node.slots.push(NodeSlot { wanted, begins: begins.as_bytes(), number: slot });
            self.size += 1;
        }
        match wanted {
            Wanted::Group(group) => Way::Objects { slot, group },
            _ => Way::Slot(slot),
        }
    }

    /// Returns the slot of the key of a member, which is counted from 1.
    pub(super) fn key(&self, number: usize) -> Option<usize> {
        self.keys.get(number.checked_sub(1)?).copied()
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
    /// by no rule. The path begins in the member `base`, if there is one.
    pub(super) fn unread<'j>(
        &self,
        base: Option<&str>,
        path: &str,
        here: &'j str,
    ) -> Option<&'j str> {
        let parent = path.rsplit_once('.').map(|(parent, _)| parent.split('.'));
        let (mut node, mut json) = (&self.top, here);
        for key in base.into_iter().chain(parent.into_iter().flatten()) {
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

/// Returns places without the words of a flag, and these.
fn split_flag(places: Places) -> (Places, Option<Word>) {
    match places.split_once('=') {
        Some((all, words)) if !places.starts_with(['\'', '{']) => (all, Some(words)),
        _ => (places, None),
    }
}

/// Returns the names and the places of an object that is made of places.
fn split_made(places: Places) -> Option<impl Iterator<Item = (Word, Places)>> {
    let inner = places.strip_prefix('{')?.strip_suffix('}')?;
    Some(inner.split(',').filter_map(|member| {
        let (name, places) = member.split_once(':')?;
        Some((name.trim_ascii(), places.trim_ascii()))
    }))
}

/// Notes which places of the record some places have.
fn of_record(places: Places, wanted: Wanted, found: &mut Vec<(Places, Wanted)>) {
    let (all, _) = split_flag(places);
    if let Some(members) = split_made(all) {
        return members.for_each(|(_, places)| of_record(places, Wanted::Json, found));
    }
    if all.contains(JOINT) {
        return all.split(JOINT).for_each(|places| of_record(places, Wanted::Json, found));
    }
    let of_record = all.split('|').filter_map(|path| path.strip_prefix('/'));
    for path in of_record.map(|path| (path, wanted)) {
        if !found.contains(&path) {
            found.push(path);
        }
    }
}

impl<'t> RecordValues<'t> {
    pub(super) fn get(&self, at: usize) -> &Value<'t> {
        &self.0[at]
    }

    fn set(&mut self, at: usize, value: Value<'t>) {
        self.0[at] = value;
    }

    /// Sets a value unless there is one. Objects come after those that are there.
    fn add(&mut self, at: usize, value: Value<'t>) {
        match (&self.0[at], value) {
            (&Value::Objects(Some((first, last))), Value::Objects(Some((after, end)))) => {
                self.0[at] = Value::Objects(Some((first, end)));
                self.link(last, after);
            }
            (Value::Nothing | Value::Objects(None), value) => self.0[at] = value,
            _ => {}
        }
    }

    /// Notes which object comes after another.
    fn link(&mut self, at: usize, after: usize) {
        if let Value::Next(next, _) = &mut self.0[at] {
            *next = Some(after);
        }
    }
}
