//! JSON objects that are put together from the pieces that a provider sends. What came stays as it
//! came: values are JSON text, and of two strings that are joined each escape is kept.

use std::borrow::Cow;

use crate::event::{Of, Piece};
use crate::json::{self, RawJson};

/// An object: its members in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Draft {
    members: Vec<(String, DraftValue)>,
    /// True if a piece had no place in it.
    is_damaged: bool,
}

/// The value of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
enum DraftValue {
    /// JSON text.
    Json(String),
    /// An object that is put together itself.
    Object(Draft),
    /// A list of objects that are.
    List(Vec<Draft>),
}

impl DraftValue {
    fn json(&self) -> Cow<'_, str> {
        match self {
            DraftValue::Json(json) => Cow::Borrowed(json),
            DraftValue::Object(draft) => Cow::Owned(draft.json()),
            DraftValue::List(list) => Cow::Owned(json::array(list.iter().map(Draft::json))),
        }
    }

    fn size(&self) -> usize {
        match self {
            DraftValue::Json(json) => json.len(),
            DraftValue::Object(draft) => draft.size(),
            DraftValue::List(list) => list.iter().map(Draft::size).sum(),
        }
    }

    /// Adds a piece. Returns false if it is of another type.
    fn join(&mut self, json: &str) -> bool {
        match self {
            DraftValue::Json(own) => return join(own, json),
            DraftValue::List(list) => match objects(json) {
                Some(more) => list.extend(more),
                None => return false,
            },
            DraftValue::Object(_) => *self = DraftValue::Json(json.to_owned()),
        }
        true
    }

    fn is_damaged(&self) -> bool {
        match self {
            DraftValue::Json(_) => false,
            DraftValue::Object(draft) => draft.is_damaged(),
            DraftValue::List(list) => list.iter().any(Draft::is_damaged),
        }
    }
}

/// Returns the objects that an array holds, if it is one.
fn objects(json: &str) -> Option<Vec<Draft>> {
    Some(json::elements(json)?.into_iter().map(Draft::new).collect())
}

impl Draft {
    /// Returns the members of an object but for those that are null; of any other value none.
    pub(crate) fn new(json: &str) -> Self {
        let members = json::members(json).into_iter();
        let members = members.filter(|(_, value)| value.get() != "null");
        let member = |(key, value): (Cow<'_, str>, RawJson<'_>)| {
            (key.into_owned(), DraftValue::Json(value.get().to_owned()))
        };
        let is_damaged = !json.starts_with('{') && !matches!(json, "" | "null");
        Draft { members: members.map(member).collect(), is_damaged }
    }

    /// Returns an object of one type with these members.
    pub(crate) fn of(members: &[(&str, &str)]) -> Self {
        let mut draft = Draft::default();
        members.iter().for_each(|(key, json)| draft.set(key, *json));
        draft
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The members in their order.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        self.members.iter().map(|(key, value)| (key.as_str(), value.json()))
    }

    fn value(&self, key: &str) -> Option<&DraftValue> {
        self.members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value of a member; an empty text if it is new.
    fn entry(&mut self, key: &str) -> &mut DraftValue {
        let at = self.members.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
            self.members.push((key.to_owned(), DraftValue::Json(String::new())));
            self.members.len() - 1
        });
        &mut self.members[at].1
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// The JSON text of a member; none of one that is put together itself.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        match self.value(key)? {
            DraftValue::Json(json) => Some(json),
            DraftValue::Object(_) | DraftValue::List(_) => None,
        }
    }

    /// The text of a member that is a string.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        json::string(self.get(key)?)
    }

    /// The text of a member that is a string with anything in it.
    pub(crate) fn word(&self, key: &str) -> Option<String> {
        self.text(key).filter(|text| !text.trim_ascii().is_empty())
    }

    /// Sets a member, in its place if it is there.
    pub(crate) fn set(&mut self, key: &str, json: impl Into<String>) {
        *self.entry(key) = DraftValue::Json(json.into());
    }

    /// Sets a member to a list of objects, if there are any.
    pub(crate) fn set_list(&mut self, key: &str, list: &[Draft]) {
        if !list.is_empty() {
            self.set(key, json::array(list.iter().map(Draft::json)));
        }
    }

    /// Sets a member that has to come first.
    pub(crate) fn set_first(&mut self, key: &str, json: impl Into<String>) {
        self.remove(key);
        self.members.insert(0, (key.to_owned(), DraftValue::Json(json.into())));
    }

    /// Takes a member out.
    pub(crate) fn remove(&mut self, key: &str) -> Option<String> {
        let at = self.members.iter().position(|(name, _)| name == key)?;
        Some(self.members.remove(at).1.json().into_owned())
    }

    /// Adds a piece to a member: a string to a string, the elements of an array to an array; what is
    /// of another type damages the object. Any other value takes the place of what was there; null
    /// changes nothing.
    pub(crate) fn join(&mut self, key: &str, json: &str) {
        if json == "null" {
            return;
        }
        match self.has(key) {
            true => self.is_damaged |= !(self.entry(key).join(json) || json::is_empty(json)),
            false => self.set(key, json),
        }
    }

    /// Changes the object that a member is, or will be.
    pub(crate) fn inside(&mut self, key: &str, change: impl FnOnce(&mut Draft)) {
        let value = self.entry(key);
        if let DraftValue::Json(json) = value {
            *value = DraftValue::Object(Draft::new(json));
        }
        if let DraftValue::Object(inner) = value {
            change(inner);
        }
    }

    /// Returns the list of objects that a member is, if it is one.
    pub(crate) fn list(&mut self, key: &str) -> Option<&mut Vec<Draft>> {
        let value = &mut self.members.iter_mut().find(|(name, _)| name == key)?.1;
        if let DraftValue::Json(json) = value
            && json.starts_with('[')
        {
            *value = DraftValue::List(objects(json)?);
        }
        match value {
            DraftValue::List(list) => Some(list),
            DraftValue::Json(_) | DraftValue::Object(_) => None,
        }
    }

    /// Changes the list of objects that a member is, or will be.
    pub(crate) fn inside_list(&mut self, key: &str, change: impl FnOnce(&mut Vec<Draft>)) {
        if self.list(key).is_none() {
            self.set(key, "[]");
        }
        if let Some(list) = self.list(key) {
            change(list);
        }
    }

    /// Takes it out, all of its values as JSON text: no more pieces come.
    pub(crate) fn take(&mut self) -> Self {
        for (_, value) in &mut self.members {
            if let DraftValue::Object(_) | DraftValue::List(_) = value {
                *value = DraftValue::Json(value.json().into_owned());
            }
        }
        std::mem::take(self)
    }

    /// Makes a member an object, as [`object`] does; an empty one if it can't be.
    pub(crate) fn set_object(&mut self, key: &str) {
        let json = object(self.get(key).unwrap_or("null"));
        self.set(key, json.unwrap_or_else(|| "{}".to_owned()));
    }

    /// Makes a member the text of an object: as the model wrote it, if it is one.
    pub(crate) fn set_object_text(&mut self, key: &str) {
        let json = self.get(key).unwrap_or("null");
        let object = object(json).unwrap_or_else(|| "{}".to_owned());
        if json::string(json).is_none_or(|text| text.trim_ascii() != object) {
            self.set(key, json::quote(&object));
        }
    }

    /// Adds the members of another object, each as [`Self::join`] does.
    pub(crate) fn join_all(&mut self, json: &str) {
        json::members(json).iter().for_each(|(key, value)| self.join(key, value.get()));
    }

    /// Returns it as JSON text.
    pub(crate) fn json(&self) -> String {
        json::object(self.members())
    }

    /// True if a piece had no place in it, or in what is put together in it.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged || self.members.iter().any(|(_, value)| value.is_damaged())
    }

    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        self.members.iter().map(|(key, value)| key.len() + value.size()).sum()
    }
}

/// Objects that are put together at once: in the order of their places, and else in that in which
/// they began.
#[derive(Debug, Default)]
pub(crate) struct Drafts(Vec<DraftObject>);

#[derive(Debug)]
struct DraftObject {
    of: Of,
    place: Option<u64>,
    draft: Draft,
}

impl Drafts {
    /// Returns the object that a piece is of, begun now if it is new.
    pub(crate) fn at(&mut self, of: Of, piece: Piece<'_>) -> &mut Draft {
        let at = self.0.iter().rposition(|object| object.of == of).unwrap_or_else(|| {
            self.0.push(DraftObject { of, place: None, draft: Draft::default() });
            self.0.len() - 1
        });
        let object = &mut self.0[at];
        object.place = piece.place.or(object.place);
        &mut object.draft
    }

    /// Returns the object that began last.
    pub(crate) fn last_mut(&mut self) -> Option<&mut Draft> {
        self.0.last_mut().map(|object| &mut object.draft)
    }

    /// Takes out all objects, each with what it is.
    pub(crate) fn take(&mut self) -> impl DoubleEndedIterator<Item = (Of, Draft)> {
        let mut objects = std::mem::take(&mut self.0);
        objects.sort_by_key(|object| object.place);
        objects.into_iter().map(|mut object| (object.of, object.draft.take()))
    }

    /// All objects, each with what it is.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Of, &Draft)> {
        self.0.iter().map(|object| (object.of, &object.draft))
    }

    /// About how many bytes they take.
    pub(crate) fn size(&self) -> usize {
        self.0.iter().map(|object| object.draft.size()).sum()
    }
}

/// Joins two strings or two arrays; of other values the new one counts. Returns false for what can't
/// be added to a string or an array.
fn join(value: &mut String, json: &str) -> bool {
    for (open, close, between) in [('"', '"', ""), ('[', ']', ",")] {
        if !value.starts_with(open) {
            continue;
        }
        let inner = json.strip_prefix(open).and_then(|json| json.strip_suffix(close));
        let Some(inner) = inner else { return false };
        value.pop();
        let is_array = open == '[';
        let inner = if is_array { inner.trim_ascii() } else { inner };
        if is_array {
            value.truncate(value.trim_ascii_end().len());
        }
        let is_between = value.len() > 1 && !inner.is_empty();
        value.push_str(if is_between { between } else { "" });
        value.push_str(inner);
        value.push(close);
        return true;
    }
    json.clone_into(value);
    true
}

/// True if this JSON is a string without anything in it but white space.
pub(crate) fn is_blank(json: &str) -> bool {
    json::string(json).is_some_and(|text| text.trim().is_empty())
}

/// Returns arguments as an object, whatever they came as: an object, a string that holds one, or
/// nothing. None if they are none: a server that reads them again would refuse the request for
/// ever.
fn object(json: &str) -> Option<String> {
    let json = json.trim_ascii();
    if is_object(json) {
        return Some(json.to_owned());
    }
    let text = if json == "null" { String::new() } else { json::string(json)? };
    let text = text.trim_ascii();
    match text {
        "" | "null" => Some("{}".to_owned()),
        _ if is_object(text) => Some(text.to_owned()),
        _ => json::string(text).filter(|inner| is_object(inner)),
    }
}

fn is_object(json: &str) -> bool {
    json.starts_with('{') && json::is_json(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &str) {
        let mut draft = Draft::default();
        pieces.iter().for_each(|piece| draft.join("a", piece));
        assert_eq!(draft.json(), format!("{{\"a\":{expected}}}"));
    }

    #[test]
    fn pieces_are_joined_as_they_came() {
        check(&[r#""x\u00e9\ud83d""#, r#""\ude00 \"""#], r#""x\u00e9\ud83d\ude00 \"""#);
        check(&["\"\"", "\"a\""], "\"a\"");
        check(&["[]", "[1]", "[ ]", "[2,3]"], "[1,2,3]");
        check(&["1", "null", "2.50"], "2.50");
        check(&["\"a\"", "[1]", "5", "{}", "\"b\""], "\"ab\"");
        check(&["[1]", "\"a\"", "[2]"], "[1,2]");
        check(&["5", "\"a\""], "\"a\"");
    }

    #[track_caller]
    fn check_damage(pieces: &[&str], expected: bool) {
        let mut draft = Draft::default();
        pieces.iter().for_each(|piece| draft.inside("a", |inner| inner.join("b", piece)));
        assert_eq!(draft.is_damaged(), expected);
    }

    #[test]
    fn a_piece_of_another_type_is_damage() {
        check_damage(&["\"a\"", "\"b\"", "null", "[]"], false);
        check_damage(&["5", "\"a\""], false);
        check_damage(&["\"a\"", "[1]"], true);
        check_damage(&["[1]", "\"a\""], true);
    }

    #[track_caller]
    fn check_object(json: &str, expected: Option<&str>) {
        assert_eq!(object(json).as_deref(), expected);
    }

    #[test]
    fn arguments_are_an_object() {
        check_object("{\"a\":1.0}", Some("{\"a\":1.0}"));
        check_object(r#""{\"a\": 1}""#, Some("{\"a\": 1}"));
        check_object(r#""\"{}\"""#, Some("{}"));
        check_object("\" \"", Some("{}"));
        check_object("null", Some("{}"));
        check_object("\"null\"", Some("{}"));
        check_object("\"[1]\"", None);
        check_object("\"{\\\"a\"", None);
    }
}
