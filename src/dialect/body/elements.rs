//! Values that hold elements, tags inside tags, as JSON.

use std::collections::HashMap;

use crate::json;
use crate::tools::Types;

/// The elements of one value, in their order.
#[derive(Default)]
pub(super) struct Elements {
    /// The key of an array's elements.
    item: &'static str,
    /// Keys, and values as JSON.
    members: Vec<(String, String)>,
}

impl Elements {
    pub(super) fn new(item: &'static str) -> Self {
        Elements { item, members: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(super) fn push(&mut self, key: String, json: String) {
        self.members.push((key, json));
    }

    /// Returns an array if all are an array's elements and the schema allows one,
    /// or else an object. Text between the elements becomes the member `$text`.
    pub(super) fn value(&self, text: &str, types: Option<Types>) -> String {
        let has_text = !text.trim_ascii().is_empty();
        let is_object = types.is_some_and(|types| types.object && !types.array);
        if !has_text && !is_object && self.members.iter().all(|(key, _)| key == self.item) {
            return json::array(self.members.iter().map(|(_, json)| json.as_str()));
        }
        if !has_text {
            return self.object();
        }
        let mut key = "$text".to_owned();
        while self.members.iter().any(|(known, _)| *known == key) {
            key.insert(0, '$');
        }
        let text = [(key, json::quote(text))];
        object(self.members.iter().chain(&text))
    }

    /// Returns an object, whatever the keys are.
    pub(super) fn object(&self) -> String {
        object(self.members.iter())
    }
}

/// Returns an object in which members with the same key become one array.
fn object<'m>(members: impl Iterator<Item = &'m (String, String)>) -> String {
    let mut places = HashMap::new();
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (key, json) in members {
        let place = *places.entry(key.as_str()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, values)) => values.push(json),
            None => groups.push((key, vec![json])),
        }
    }
    let members = groups.into_iter().map(|(key, values)| {
        let value = match values.as_slice() {
            [one] => (*one).to_owned(),
            several => json::array(several),
        };
        (key, value)
    });
    json::object(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(members: &[(&str, &str)], text: &str, expected: &str) {
        let mut elements = Elements::new("item");
        members.iter().for_each(|(key, json)| elements.push((*key).into(), (*json).into()));
        assert_eq!(elements.value(text, None), expected);
    }

    #[test]
    fn what_elements_are_in_json() {
        check(&[("item", "1"), ("item", "2")], "\n", "[1,2]");
        check(&[("a", "1"), ("b", "2"), ("a", "3")], "", r#"{"a":[1,3],"b":2}"#);
        check(&[("a", "1"), ("item", "2")], "", r#"{"a":1,"item":2}"#);
        check(&[("a", "1")], "see  below", r#"{"a":1,"$text":"see  below"}"#);
        check(&[("$text", "1")], "x", r#"{"$text":1,"$$text":"x"}"#);
    }
}
