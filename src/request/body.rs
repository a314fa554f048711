//! The text of a request, changed where it must be: every other byte stays as it is.

use std::ops::Range;

use serde::de::IgnoredAny;

use crate::cut::Cut as _;
use crate::json;

/// A request: a JSON object, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestBody(String);

impl RequestBody {
    /// Takes a text that is one JSON object; of any other, returns what is wrong with it.
    pub(crate) fn new(text: String) -> Result<Self, String> {
        match serde_json::from_str::<IgnoredAny>(&text) {
            Ok(_) if text.trim_ascii_start().starts_with('{') => Ok(RequestBody(text)),
            Ok(_) => Err("is no JSON object".into()),
            Err(_) if text.trim().is_empty() => Err("is empty".into()),
            Err(error) => Err(format!("is not JSON: {}", json::misread(&text, &error))),
        }
    }

    /// Returns all of it.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the JSON text of the member at a path, keys joined by dots.
    pub(crate) fn get(&self, path: &str) -> Option<&str> {
        self.0.get(self.span(path)?)
    }

    /// True if there is a member at a path, and it isn't null: as [`Shape::marks`] writes it.
    ///
    /// [`Shape::marks`]: crate::format::turn::Shape::marks
    pub(crate) fn has(&self, path: &str) -> bool {
        has(&self.0, path)
    }

    /// Gives the member at a path this value, and makes the objects on the way that are missing.
    pub(crate) fn set(&mut self, path: &str, json: &str) {
        if let Some(span) = self.span(path) {
            return self.0.replace_range(span, json);
        }
        let Some((parent, key)) = path.rsplit_once('.') else { return self.insert("", path, json) };
        match self.get(parent) {
            Some(object) if object.starts_with('{') => self.insert(parent, key, json),
            _ => self.set(parent, &format!("{{{}:{json}}}", json::quote(key))),
        }
    }

    /// Removes the member at a path, if there is one.
    pub(crate) fn remove(&mut self, path: &str) {
        let Some(gone) = self.span(path) else { return };
        let parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
        let Some(object) = self.span(parent) else { return };
        let spans = self.members(object.clone());
        let before = spans.iter().map(|(_, span)| span.end).rfind(|end| *end <= gone.start);
        let comma = self.0.get(gone.end..object.end).and_then(|rest| {
            let at = rest.find(|c: char| !c.is_ascii_whitespace())?;
            rest.get(at..)?.starts_with(',').then_some(gone.end + at + 1)
        });
        let range = match (before, comma) {
            (Some(before), _) => before..gone.end,
            (None, Some(comma)) => object.start + 1..comma,
            (None, None) => object.start + 1..gone.end,
        };
        self.0.replace_range(range, "");
    }

    /// Adds elements at the end of the list at a path. A value in its place is the list's first
    /// element, as `first` writes it. Returns false if there is none.
    pub(crate) fn append(
        &mut self,
        path: &str,
        elements: &[String],
        first: impl Fn(&str) -> String,
    ) -> bool {
        let Some(span) = self.span(path) else { return false };
        let list = self.0.within(span.clone());
        if list == "null" {
            return false;
        }
        if elements.is_empty() {
            return true;
        }
        let added = elements.join(",");
        if !list.starts_with('[') {
            let whole = format!("[{},{added}]", first(list));
            self.0.replace_range(span, &whole);
            return true;
        }
        match json::elements(list).and_then(|mut elements| elements.pop()) {
            Some(last) => {
                let end = self.place(last).end;
                self.0.insert_str(end, &format!(",{added}"));
            }
            None => self.0.insert_str(span.start + 1, &added),
        }
        true
    }

    /// Adds an element at the beginning of the list at a path. A value in its place is the list's
    /// other element, as `first` writes it.
    pub(crate) fn prepend(&mut self, path: &str, element: &str, first: impl Fn(&str) -> String) {
        let Some(span) = self.span(path) else { return };
        let list = self.0.within(span.clone());
        if list == "null" {
            return;
        }
        if !list.starts_with('[') {
            let whole = format!("[{element},{}]", first(list));
            return self.0.replace_range(span, &whole);
        }
        let is_empty = json::elements(list).is_none_or(|elements| elements.is_empty());
        let comma = if is_empty { "" } else { "," };
        self.0.insert_str(span.start + 1, &format!("{element}{comma}"));
    }

    /// Returns the last element of the list at a path.
    pub(crate) fn last(&self, path: &str) -> Option<&str> {
        json::elements(self.get(path)?)?.pop()
    }

    /// Adds a member at the end of the object at a path.
    fn insert(&mut self, parent: &str, key: &str, json: &str) {
        let Some(object) = self.span(parent) else { return };
        let member = format!("{}:{json}", json::quote(key));
        match self.members(object.clone()).last() {
            Some((_, span)) => self.0.insert_str(span.end, &format!(",{member}")),
            None => self.0.insert_str(object.start + 1, &member),
        }
    }

    /// Returns where the value at a path stands; of a key that comes twice, the last one counts.
    /// The empty path is the request itself.
    fn span(&self, path: &str) -> Option<Range<usize>> {
        let top = self.place(self.0.trim_matches(|c: char| c.is_ascii_whitespace()));
        path.split('.').filter(|key| !key.is_empty()).try_fold(top, |object, key| {
            self.members(object).into_iter().rfind(|(name, _)| name == key).map(|(_, span)| span)
        })
    }

    /// Returns the keys of the object in this place, and where their values stand.
    fn members(&self, object: Range<usize>) -> Vec<(String, Range<usize>)> {
        let members = json::members(self.0.within(object)).into_iter();
        members.map(|(key, value)| (key.into_owned(), self.place(value.get()))).collect()
    }

    /// Returns where a part of the text stands in it.
    fn place(&self, part: &str) -> Range<usize> {
        json::place(self.0.as_bytes(), part)
    }
}

/// True if there is a member at a path in an object: see [`RequestBody::has`].
pub(super) fn has(json: &str, path: &str) -> bool {
    let (key, rest) = path.split_once('.').unwrap_or((path, ""));
    if key == "*" {
        return json::elements(json).is_some_and(|all| all.iter().any(|one| has(one, rest)));
    }
    let (key, word) = key.split_once('=').unwrap_or((key, ""));
    match json::member(json, key) {
        None | Some("null") => false,
        Some(value) if !rest.is_empty() => has(value, rest),
        Some(value) => word.is_empty() || value == json::quote(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, change: impl Fn(&mut RequestBody), expected: &str) {
        let mut body = RequestBody::new(text.into()).unwrap();
        change(&mut body);
        assert_eq!(body.as_str(), expected);
        RequestBody::new(body.0).unwrap();
    }

    fn append(body: &mut RequestBody) {
        assert!(body.append("m", &["{\"b\":2}".into(), "3".into()], |text| format!("<{text}>")));
    }

    #[test]
    fn lists_grow_and_all_else_stays() {
        check("{\"m\":[]}", append, "{\"m\":[{\"b\":2},3]}");
        check(
            " {\"a\" : 1.50, \"m\": [ {\"x\":1e2 } ,\n1\n], \"z\":0}\n",
            append,
            " {\"a\" : 1.50, \"m\": [ {\"x\":1e2 } ,\n1,{\"b\":2},3\n], \"z\":0}\n",
        );
        check("{\"m\":[1],\"\\u006d\":[2]}", append, "{\"m\":[1],\"\\u006d\":[2,{\"b\":2},3]}");
    }

    #[test]
    fn members_are_set_where_they_are() {
        check("{}", |body| body.set("a", "1"), "{\"a\":1}");
        check("{ \"a\" : 1 , \"b\":2 }", |body| body.set("a", "{}"), "{ \"a\" : {} , \"b\":2 }");
        check("{ \"b\" : 2 }", |body| body.set("a", "1"), "{ \"b\" : 2,\"a\":1 }");
        check("{}", |body| body.set("a.b", "1"), "{\"a\":{\"b\":1}}");
        check("{\"a\":{\"c\":0}}", |body| body.set("a.b", "1"), "{\"a\":{\"c\":0,\"b\":1}}");
        check("{\"a\":null}", |body| body.set("a.b", "1"), "{\"a\":{\"b\":1}}");
    }

    #[test]
    fn members_are_removed_with_their_comma() {
        check("{ \"a\" : 1 , \"b\":2 }", |body| body.remove("a"), "{ \"b\":2 }");
        check("{ \"a\" : 1 , \"b\":2 }", |body| body.remove("b"), "{ \"a\" : 1 }");
        check("{\"a\":{\"b\":2 }}", |body| body.remove("a.b"), "{\"a\":{ }}");
        check("{\"a\":1}", |body| body.remove("b"), "{\"a\":1}");
    }

    #[test]
    fn members_are_found_in_lists() {
        let body = RequestBody::new("{\"a\":[{},1,{\"b\":\"x\",\"c\":null}]}".into()).unwrap();
        for path in ["a", "a.*.b", "a.*.b=x"] {
            assert!(body.has(path), "{path}");
        }
        for path in ["b", "a.b", "a.*.b=y", "a.*.c", "a.*.b.*.d", "*.b"] {
            assert!(!body.has(path), "{path}");
        }
    }

    #[test]
    fn only_objects_are_requests() {
        let wrong = |text: &str| RequestBody::new(text.into()).unwrap_err();
        assert!(wrong("").starts_with("is empty"), "{}", wrong(""));
        assert!(wrong("{\"a\":}").starts_with("is not JSON"));
        assert!(wrong("{} {}").starts_with("is not JSON"));
        assert_eq!(wrong("[]"), "is no JSON object");
    }
}
