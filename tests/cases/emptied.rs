//! What a provider has nothing to say of: strings that are empty.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::case::Case;
use crate::laws::events_are_read_back;

/// With the values of any one key empty, the events of an input, read as an input, still give the
/// same events.
pub(crate) fn strings_are_read_back(case: &Case) -> bool {
    let mut inputs = BTreeSet::new();
    let mut values: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (key, value) in members(&case.input) {
        values.entry(key).or_default().push(value);
    }
    for values in values.into_values() {
        let mut input = case.input.clone();
        for value in values.into_iter().rev() {
            input.drain(value);
        }
        inputs.insert(input);
    }
    let mut emptied = case.again(Vec::new(), case.args.clone());
    inputs.into_iter().fold(false, |has_said, input| {
        emptied.input = input;
        events_are_read_back(&emptied) || has_said
    })
}

/// Returns the keys before strings, and where the insides of these are, in order.
fn members(text: &[u8]) -> impl Iterator<Item = (&[u8], Range<usize>)> {
    let mut strings = strings(text).peekable();
    std::iter::from_fn(move || {
        loop {
            let key = strings.next()?;
            let value = strings.peek()?.clone();
            let between = text[key.end + 1..value.start - 1].trim_ascii();
            if between == b":" && !value.is_empty() {
                return Some((&text[key], value));
            }
        }
    })
}

/// Returns the insides of what may be strings of JSON.
fn strings(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = at + text[at..].iter().position(|&byte| byte == b'"')? + 1;
        let mut end = begin;
        while *text.get(end)? != b'"' {
            end += if text[end] == b'\\' { 2 } else { 1 };
        }
        at = end + 1;
        Some(begin..end)
    })
}
