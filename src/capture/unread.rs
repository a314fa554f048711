//! The members of a capture's records that no rule reads: without them, the events are the same.

use crate::capture::filter::without;
use crate::capture::golden::joined;
use crate::cut::Cut as _;
use crate::json;
use crate::pipeline::Config;

/// The deepest member that is looked at, and the most of them.
const MAX_DEPTH: usize = 8;
const MAX_PATHS: usize = 512;

/// Returns the paths of the members that no rule reads, in the order in which they come; of one
/// that is an object, its own alone. A member that holds nothing (`null`, `false`, 0, an empty text) is none.
/// Records that are no lines of JSON, as those of an AWS event stream, are not looked into.
pub(crate) fn unread(config: &Config, capture: &[u8]) -> Vec<String> {
    let Ok(text) = str::from_utf8(capture) else { return Vec::new() };
    let records = TextRecords::of(text);
    let events = joined(config, &[capture]);
    let mut found = Vec::new();
    let mut next = records.members(&[]);
    let mut count = 0;
    while let Some(path) = next.pop()
        && count < MAX_PATHS
    {
        count += 1;
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        if joined(config, &[records.without(&words).as_bytes()]) == events {
            found.push(path.join("."));
        } else if path.len() < MAX_DEPTH {
            next.extend(records.members(&path));
        }
    }
    found
}

/// The records in a text, and what stands around them.
struct TextRecords<'t>(Vec<(&'t str, &'t str)>);

impl<'t> TextRecords<'t> {
    /// Finds them: the text is one, or lines of it are, after `data:` or a bracket or comma.
    fn of(text: &'t str) -> Self {
        let is_record = |text: &str| text.starts_with(['{', '[']) && json::is_json(text);
        if is_record(text.trim()) {
            return TextRecords(vec![("", text)]);
        }
        let lines = text.split_inclusive('\n').map(|line| {
            let at = line.find('{').unwrap_or(line.len());
            match line.split_at_checked(at) {
                Some((before, record)) if is_record(record.trim_end()) => (before, record),
                _ => (line, ""),
            }
        });
        TextRecords(lines.collect())
    }

    /// Returns the text without the members at this path.
    fn without(&self, path: &[&str]) -> String {
        let paths = [path.to_vec()];
        let mut out = String::new();
        for (before, record) in &self.0 {
            out.push_str(before);
            let end = record.len() - record.trim_end().len();
            out.push_str(&without(record.trim_end(), &paths));
            out.push_str(record.after(record.len() - end));
        }
        out
    }

    /// Returns the paths of the members below one, the last one first.
    fn members(&self, path: &[String]) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        for (_, record) in self.0.iter().filter(|(_, record)| !record.is_empty()) {
            below(record, path, &mut |key| {
                let path = [path, &[key.to_owned()]].concat();
                if !found.contains(&path) {
                    found.push(path);
                }
            });
        }
        found.reverse();
        found
    }
}

/// Calls `add` with each key below a path that holds something.
fn below(value: &str, path: &[String], add: &mut dyn FnMut(&str)) {
    if let Some(elements) = json::elements(value) {
        return elements.into_iter().for_each(|element| below(element, path, add));
    }
    if !value.trim_start().starts_with('{') {
        return;
    }
    for (key, value) in json::members(value) {
        match path.split_first() {
            None if !json::is_empty(value.get()) => add(&key),
            Some((first, rest)) if *first == key => below(value.get(), rest, add),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(capture: &str, expected: &[&str]) {
        assert_eq!(unread(&Config::default(), capture.as_bytes()), expected);
    }

    #[test]
    fn what_no_rule_reads_is_found_wherever_it_stands() {
        let record = |more: &str| {
            format!(
                "{{\"object\":\"chat.completion.chunk\",\"id\":\"c\",{more}\"model\":\"m\",\"choices\":[\
                 {{\"index\":0,\"delta\":{{\"content\":\"A\"}},\"logprobs\":null,\"tier\":{{\"a\":1}},\
                 \"finish_reason\":\"stop\"}}]}}"
            )
        };
        let sse = |more: &str| format!("data: {}\n\ndata: [DONE]\n\n", record(more));
        // The format is found out without `object`.
        check(&sse(""), &["object", "choices.tier"]);
        let safety = "\"safety\":{\"blocked\":true},\"x\":0,";
        check(&sse(safety), &["object", "safety", "choices.tier"]);
        check(
            &format!("{}\n{}\n", record(safety), record("")),
            &["object", "safety", "choices.tier"],
        );
        check("Hello.\n", &[]);
    }
}
