//! JSON objects that are put together from the pieces that a provider sends. What came stays as it
//! came: values are JSON text, and of two strings that are joined each escape is kept.

use crate::event::{Of, Piece};
use crate::format::turn::Ending;
use crate::json;

/// An object: its members in their order, each value as JSON text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Draft(Vec<(String, String)>);

impl Draft {
    /// Returns the members of an object but for those that are null; of any other value none.
    pub(crate) fn new(json: &str) -> Self {
        let members = json::members(json).into_iter();
        let members = members.filter(|(_, value)| value.get() != "null");
        Draft(members.map(|(key, value)| (key.into_owned(), value.get().to_owned())).collect())
    }

    /// Returns an object of one type with these members.
    pub(crate) fn of(members: &[(&str, &str)]) -> Self {
        let members = members.iter();
        Draft(members.map(|(key, json)| ((*key).to_owned(), (*json).to_owned())).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members in their order.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, json)| (key.as_str(), json.as_str()))
    }

    /// The JSON text of a member.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, json)| json.as_str())
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
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, value)) => *value = json.into(),
            None => self.0.push((key.to_owned(), json.into())),
        }
    }

    /// Sets a member that has to come first.
    pub(crate) fn set_first(&mut self, key: &str, json: impl Into<String>) {
        self.remove(key);
        self.0.insert(0, (key.to_owned(), json.into()));
    }

    /// Takes a member out.
    pub(crate) fn remove(&mut self, key: &str) -> Option<String> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// Adds a piece to a member: a string to a string, the elements of an array to an array; what is
    /// of another type is left out, as it is in the events. Any other value takes the place of what
    /// was there; null changes nothing.
    pub(crate) fn join(&mut self, key: &str, json: &str) {
        if json == "null" {
            return;
        }
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, value)) => join(value, json),
            None => self.0.push((key.to_owned(), json.to_owned())),
        }
    }

    /// Returns the object that a member is; one without members if it is none.
    pub(crate) fn inner(&self, key: &str) -> Draft {
        self.get(key).map_or_else(Draft::default, Draft::new)
    }

    /// Changes the object that a member is, or will be.
    pub(crate) fn inside(&mut self, key: &str, change: impl FnOnce(&mut Draft)) {
        let mut inner = self.inner(key);
        change(&mut inner);
        self.set(key, inner.json());
    }

    /// Makes a member an object, as [`object`] does; an empty one if it can't be.
    pub(crate) fn set_object(&mut self, key: &str) {
        let json = object(self.get(key).unwrap_or("null"));
        self.set(key, json.unwrap_or_else(|| "{}".to_owned()));
    }

    /// Adds the members of another object, each as [`Self::join`] does.
    pub(crate) fn join_all(&mut self, json: &str) {
        json::members(json).iter().for_each(|(key, value)| self.join(key, value.get()));
    }

    /// Returns it as JSON text.
    pub(crate) fn json(&self) -> String {
        json::object(self.members())
    }

    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        self.0.iter().map(|(key, json)| key.len() + json.len()).sum()
    }
}

/// Objects that are put together at once: in the order of their places, and else in that in which
/// they began.
#[derive(Debug, Default)]
pub(crate) struct Drafts<T = Draft>(Vec<DraftObject<T>>);

#[derive(Debug)]
struct DraftObject<T> {
    of: Of,
    place: Option<u64>,
    draft: T,
}

impl<T: Default> Drafts<T> {
    /// Returns the object that a piece is of, begun now if it is new.
    pub(crate) fn at(&mut self, of: Of, piece: Piece<'_>) -> &mut T {
        let at = self.0.iter().rposition(|object| object.of == of).unwrap_or_else(|| {
            self.0.push(DraftObject { of, place: None, draft: T::default() });
            self.0.len() - 1
        });
        let object = &mut self.0[at];
        object.place = piece.place.or(object.place);
        &mut object.draft
    }

    /// Returns the object that began last.
    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        self.0.last_mut().map(|object| &mut object.draft)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|object| &object.draft)
    }

    /// Takes out all objects of which something goes back.
    pub(crate) fn take(&mut self, ending: &Ending) -> Vec<T> {
        self.take_all(ending)
            .into_iter()
            .filter_map(|(draft, drops)| (!drops).then_some(draft))
            .collect()
    }

    /// Takes out all objects, each with true if it is a call of which nothing goes back.
    pub(crate) fn take_all(&mut self, ending: &Ending) -> Vec<(T, bool)> {
        let mut objects = std::mem::take(&mut self.0);
        objects.sort_by_key(|object| object.place);
        objects.into_iter().map(|object| (object.draft, ending.drops(object.of))).collect()
    }
}

impl Drafts {
    /// About how many bytes they take.
    pub(crate) fn size(&self) -> usize {
        self.iter().map(Draft::size).sum()
    }
}

/// Joins two strings or two arrays, to which nothing else is added; of other values the new one
/// counts.
fn join(value: &mut String, json: &str) {
    for (open, close, between) in [('"', '"', ""), ('[', ']', ",")] {
        if !value.starts_with(open) {
            continue;
        }
        let inner = json.strip_prefix(open).and_then(|json| json.strip_suffix(close));
        let Some(inner) = inner else { return };
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
        return;
    }
    json.clone_into(value);
}

/// True if this JSON is a string without anything in it but white space.
pub(crate) fn is_blank(json: &str) -> bool {
    json::string(json).is_some_and(|text| text.trim().is_empty())
}

/// Returns arguments as an object, whatever they came as: an object, a string that holds one, or
/// nothing. None if they are none: a server that reads them again would refuse the request for
/// ever.
pub(crate) fn object(json: &str) -> Option<String> {
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
