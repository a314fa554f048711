//! The places of a row as one tree, and what stands at them in a record.
//!
//! The tree is made once. One pass over a record takes what stands at a place and skips the rest
//! by its structure; a record of usual size takes no allocation.

use serde_json::value::RawValue;
use smallvec::SmallVec;

use crate::format::spec::{End, Part, Spec};
use crate::format::support::object::Places;
use crate::json::{self, Fault, FieldKey, FromJson, Reader, Source, Str};

/// The places of a record, or of one kind of object in it. Each has a slot, a number.
#[derive(Default)]
pub(super) struct Layout {
    /// The places as the row names them, and the slots of each.
    places: Vec<(Places, Vec<usize>)>,
    /// The places of objects that have a layout of their own.
    groups: Vec<(Places, Layout)>,
    top: Object,
    /// The number of slots.
    size: usize,
}

/// The members of an object that are places, or lead to some.
#[derive(Default)]
struct Object {
    keys: Vec<FieldKey>,
    members: Vec<Member>,
}

enum Member {
    Object(Object),
    Value(Kind, usize),
}

/// What is expected at a place.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Json,
    Flag,
    Count,
    /// An object, or a list of objects, of the group of this number.
    Group(usize),
    /// As [`Kind::Group`], if an object stands there; else nothing.
    OptionalGroup(usize),
}

/// What stands at the places of a record. Each object begins with a [`Value::Next`], and the
/// values of its slots follow.
#[derive(Default)]
pub(super) struct Values<'t>(SmallVec<[Value<'t>; 32]>);

enum Value<'t> {
    Nothing,
    Text(Str<'t>),
    Json(&'t RawValue),
    Flag(bool),
    Count(u64),
    /// Where the first of some objects begins.
    First(Option<usize>),
    /// Where the object after this one begins.
    Next(Option<usize>),
}

impl Layout {
    pub(super) fn new(spec: &'static Spec) -> Layout {
        let mut layout = Layout::default();
        for place in [spec.kind, spec.id, spec.model] {
            layout.add(place, Kind::Text);
        }
        layout.add(spec.created, Kind::Json);
        for rule in spec.on {
            layout.add_part(&rule.part);
            layout.add_record(&rule.part);
            layout.add(rule.finish, Kind::Text);
            if let End::If(place) = rule.end {
                layout.add(place, Kind::Flag);
            }
            if rule.usage != "." {
                layout.add(rule.usage, Kind::Json);
            }
            layout.add(rule.error, Kind::Json);
        }
        // What is only asked for is whatever else it is.
        spec.on.iter().for_each(|rule| layout.add(rule.has, Kind::Json));
        layout
    }

    fn add_part(&mut self, part: &'static Part) {
        self.add(part.thought, Kind::Text);
        self.add(part.text, Kind::Text);
        self.add(part.block.1, Kind::Json);
        self.add(part.call_end, Kind::Count);
        if let Some(call) = &part.call {
            self.add(call.key, Kind::Count);
            self.add(call.id, Kind::Text);
            self.add(call.name, Kind::Text);
            self.add(call.arguments, Kind::Json);
        }
        for (place, part) in part.each {
            let known = self.groups.iter().position(|(known, _)| known == place);
            let group = known.unwrap_or(self.groups.len());
            if known.is_none() {
                self.groups.push((place, Layout::default()));
            }
            if let Some((_, layout)) = self.groups.get_mut(group) {
                layout.add_part(part);
            }
            self.add(place, Kind::Group(group));
        }
    }

    /// Adds the members of the record that are asked for inside.
    fn add_record(&mut self, part: &'static Part) {
        if let Some(key) = part.call.as_ref().and_then(|call| call.key.strip_prefix('/')) {
            let slot = self.top.add(key, Kind::Count, &mut self.size);
            self.places.push((part.call.as_ref().map_or("", |call| call.key), vec![slot]));
        }
        part.each.iter().for_each(|(_, part)| self.add_record(part));
    }

    fn add(&mut self, places: Places, kind: Kind) {
        let is_known = self.places.iter().any(|(known, _)| *known == places);
        if places.is_empty() || places.starts_with('/') || is_known {
            return;
        }
        let slots = places.split('|').map(|path| self.top.add(path, kind, &mut self.size));
        let slots = slots.collect();
        self.places.push((places, slots));
    }

    /// Reads the places of a record into `values`, which is empty.
    ///
    /// # Errors
    ///
    /// The text is no JSON, or at a place stands a value of another type.
    pub(super) fn read<'t>(
        &self,
        source: Source,
        text: &'t str,
        values: &mut Values<'t>,
    ) -> Result<(), Fault> {
        json::read_by(source, text, &mut |reader| self.read_object(reader, values).map(drop))
    }

    /// Reads an object of this layout, and returns where its values begin.
    fn read_object<'t>(
        &self,
        reader: &mut Reader<'t>,
        values: &mut Values<'t>,
    ) -> Result<usize, Fault> {
        let begin = values.0.len();
        values.0.push(Value::Next(None));
        values.0.resize_with(begin + 1 + self.size, || Value::Nothing);
        self.read_members(&self.top, begin, reader, values)?;
        Ok(begin)
    }

    fn read_members<'t>(
        &self,
        object: &Object,
        begin: usize,
        reader: &mut Reader<'t>,
        values: &mut Values<'t>,
    ) -> Result<(), Fault> {
        let read = &mut |field, reader: &mut Reader<'t>| match object.members.get(field) {
            _ if reader.peek()? == b'n' => Option::<()>::from_json(reader).map(drop),
            None => reader.skip(),
            Some(Member::Object(object)) => self.read_members(object, begin, reader, values),
            Some(Member::Value(kind, slot)) => {
                let value = self.read_value(*kind, reader, values)?;
                values.set(begin + slot, value);
                Ok(())
            }
        };
        reader.object("object", &object.keys, read).map(drop)
    }

    fn read_value<'t>(
        &self,
        kind: Kind,
        reader: &mut Reader<'t>,
        values: &mut Values<'t>,
    ) -> Result<Value<'t>, Fault> {
        match kind {
            Kind::Text => Str::from_json(reader).map(Value::Text),
            Kind::Json => FromJson::from_json(reader).map(Value::Json),
            Kind::Flag => bool::from_json(reader).map(Value::Flag),
            Kind::Count => u64::from_json(reader).map(Value::Count),
            Kind::OptionalGroup(_) if reader.peek()? != b'{' => {
                reader.skip().map(|()| Value::Nothing)
            }
            Kind::Group(group) | Kind::OptionalGroup(group) => {
                let Some((_, layout)) = self.groups.get(group) else { return Err(Fault::Syntax) };
                if reader.peek()? == b'{' {
                    return layout.read_object(reader, values).map(|at| Value::First(Some(at)));
                }
                let (mut first, mut last) = (None, None);
                let expected = &"an object or an array of them";
                reader.elements(expected, &mut |reader| {
                    let at = layout.read_object(reader, values)?;
                    match last.replace(at) {
                        None => first = Some(at),
                        Some(last) => values.set(last, Value::Next(Some(at))),
                    }
                    Ok(())
                })?;
                Ok(Value::First(first))
            }
        }
    }
}

impl Object {
    /// Adds a path if it is new, and returns the slot of what stands there, counted from 1.
    fn add(&mut self, path: &'static str, kind: Kind, size: &mut usize) -> usize {
        let (path, kind) = match (path.strip_suffix("{}"), kind) {
            (Some(path), Kind::Group(group)) => (path, Kind::OptionalGroup(group)),
            (path_of_object, kind) => (path_of_object.unwrap_or(path), kind),
        };
        let (key, rest) =
            path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
        let known = self.keys.iter().position(|known| known.is(key.as_bytes()));
        let member = known.unwrap_or(self.keys.len());
        if known.is_none() {
            self.keys.push(FieldKey::new(key, &[]));
            self.members.push(match rest {
                Some(_) => Member::Object(Object::default()),
                None => {
                    *size += 1;
                    Member::Value(kind, *size)
                }
            });
        }
        match (self.members.get_mut(member), rest) {
            (Some(Member::Object(object)), Some(rest)) => object.add(rest, kind, size),
            (Some(Member::Value(_, slot)), None) => *slot,
            _ => 0,
        }
    }
}

impl<'t> Values<'t> {
    fn set(&mut self, at: usize, value: Value<'t>) {
        if let Some(place) = self.0.get_mut(at) {
            *place = value;
        }
    }
}

/// What stands at the places of one object.
#[derive(Clone, Copy)]
pub(super) struct Fields<'r, 't> {
    /// The layout of the record that the object is in.
    record: &'r Layout,
    layout: &'r Layout,
    values: &'r Values<'t>,
    begin: usize,
}

impl<'r, 't> Fields<'r, 't> {
    /// Returns the fields of a record.
    pub(super) fn new(layout: &'r Layout, values: &'r Values<'t>) -> Self {
        Fields { record: layout, layout, values, begin: 0 }
    }

    fn get(&self, places: Places) -> Option<&'r Value<'t>> {
        if places.is_empty() {
            return None;
        }
        let (layout, begin) = match places.starts_with('/') {
            true => (self.record, 0),
            false => (self.layout, self.begin),
        };
        let (_, slots) = layout.places.iter().find(|(known, _)| *known == places)?;
        let mut values = slots.iter().filter_map(|slot| self.values.0.get(begin + slot));
        values.find(|value| !matches!(value, Value::Nothing))
    }

    /// True if anything but null stands there.
    pub(super) fn has(&self, places: Places) -> bool {
        self.get(places).is_some()
    }

    pub(super) fn text(&self, places: Places) -> Option<&'r Str<'t>> {
        match self.get(places)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn json(&self, places: Places) -> Option<&'t RawValue> {
        match self.get(places)? {
            Value::Json(json) => Some(json),
            _ => None,
        }
    }

    pub(super) fn count(&self, places: Places) -> Option<u64> {
        match self.get(places)? {
            Value::Count(count) => Some(*count),
            _ => None,
        }
    }

    /// True if `true` stands there.
    pub(super) fn is_true(&self, places: Places) -> bool {
        matches!(self.get(places), Some(Value::Flag(true)))
    }

    /// Returns the objects that stand there.
    pub(super) fn each(&self, places: Places) -> impl Iterator<Item = Fields<'r, 't>> {
        let fields = *self;
        let group = self.layout.groups.iter().find(|(known, _)| *known == places);
        let mut next = match self.get(places) {
            Some(Value::First(first)) => *first,
            _ => None,
        };
        std::iter::from_fn(move || {
            let ((_, layout), begin) = (group?, next?);
            next = match fields.values.0.get(begin) {
                Some(Value::Next(next)) => *next,
                _ => None,
            };
            Some(Fields { layout, begin, ..fields })
        })
    }
}
