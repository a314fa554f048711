//! JSON objects that are put together from the pieces that a provider sends. What came stays as it
//! came: values are JSON text, and of two strings that are joined each escape is kept.

use serde_json::value::RawValue;

use crate::format::support::object::Object;
use crate::frame::Frame;
use crate::json;
use crate::json::Str;

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
        string(self.get(key)?)
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

    /// Changes the object that a member is, or will be.
    pub(crate) fn inside(&mut self, key: &str, change: impl FnOnce(&mut Draft)) {
        let mut inner = Draft::new(self.get(key).unwrap_or_default());
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

/// The index of objects that have ended, which is no JSON.
const ENDED: &str = "-";

/// Objects that are put together at once, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    drafts: Vec<(String, Draft)>,
    /// The place of the one that an event was of last.
    latest: usize,
}

impl Drafts {
    /// Begins an object under an index, which may have been another one's.
    pub(crate) fn start(&mut self, index: &str, draft: Draft) {
        self.latest = self.drafts.len();
        self.drafts.push((number(index).to_owned(), draft));
    }

    /// Ends the object of an index, if `is_over` holds for it: nothing more is added to it.
    pub(crate) fn end(&mut self, index: &str, is_over: impl Fn(&Draft) -> bool) {
        let at = self.find(index);
        let last = at.and_then(|at| self.drafts.get_mut(at));
        if let Some((own, _)) = last.filter(|(_, draft)| is_over(draft)) {
            ENDED.clone_into(own);
        }
    }

    /// Returns the last object of this index, begun now if there is none.
    pub(crate) fn at(&mut self, index: &str) -> &mut Draft {
        self.latest = self.find(index).unwrap_or_else(|| {
            self.start(index, Draft::default());
            self.latest
        });
        &mut self.drafts[self.latest].1
    }

    /// Returns the place of the last object of this index; without one, that of the latest object,
    /// as in the events.
    fn find(&self, index: &str) -> Option<usize> {
        let index = number(index);
        let is_it = |(own, _): &(String, Draft)| own == index;
        match index {
            "" => self.drafts.get(self.latest).filter(|(own, _)| own != ENDED).map(|_| self.latest),
            _ => self.drafts.iter().rposition(is_it),
        }
    }

    /// About how many bytes they take.
    pub(crate) fn size(&self) -> usize {
        self.drafts.iter().map(|(_, draft)| draft.size()).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    /// Takes all objects out.
    pub(crate) fn take(&mut self) -> Vec<Draft> {
        let drafts = std::mem::take(self).drafts;
        drafts.into_iter().map(|(_, draft)| draft).collect()
    }
}

/// Returns an index, if it is a number.
fn number(index: &str) -> &str {
    if index.parse::<u64>().is_ok() { index } else { "" }
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

/// The text of a JSON string.
pub(crate) fn string(json: &str) -> Option<String> {
    json::read::<Str<'_>>(json).ok().map(|text| text.as_str().to_owned())
}

/// True if this JSON is a string without anything in it but white space.
pub(crate) fn is_blank(json: &str) -> bool {
    string(json).is_some_and(|text| text.trim().is_empty())
}

/// Hands over each record of a frame. What is no JSON is passed over: the decoder
/// reports it.
pub(crate) fn each_record(frame: &Frame<'_>, mut then: impl FnMut(&Object<'_>)) {
    let text = frame.text();
    let records = serde_json::Deserializer::from_str(&text).into_iter::<&RawValue>();
    records.map_while(Result::ok).for_each(|record| then(&Object::new(record.get())));
}

/// Returns arguments as an object, whatever they came as: an object, a string that holds one, or
/// nothing. None if they are none: a server that reads them again would refuse the request for
/// ever.
pub(crate) fn object(json: &str) -> Option<String> {
    let json = json.trim_ascii();
    if is_object(json) {
        return Some(json.to_owned());
    }
    let text = if json == "null" { String::new() } else { string(json)? };
    let text = text.trim_ascii();
    match text {
        "" | "null" => Some("{}".to_owned()),
        _ if is_object(text) => Some(text.to_owned()),
        _ => string(text).filter(|inner| is_object(inner)),
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
