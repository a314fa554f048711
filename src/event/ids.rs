//! The ids of calls, and those that are made up for calls without one.

use crate::event::is_blank;

/// What the ids that are made up begin with.
const MADE_UP: &str = "call_";

/// True for an id that is none: Mistral's default is the string "null".
pub(crate) fn is_no_id(id: &str) -> bool {
    is_blank(id) || id == "null"
}

/// Returns the id with this number.
pub(crate) fn made_up_id(number: u64) -> String {
    let mut id = String::new();
    push_made_up_id(number, &mut id);
    id
}

/// Appends the id with this number.
pub(crate) fn push_made_up_id(number: u64, id: &mut String) {
    id.push_str(MADE_UP);
    id.push_str(itoa::Buffer::new().format(number));
}

/// Returns the number of an id that is spelled as one that was made up.
pub(crate) fn made_up_number(id: &str) -> Option<u64> {
    let number = id.strip_prefix(MADE_UP)?.parse().ok()?;
    (made_up_id(number) == id).then_some(number)
}

/// Returns the name of a tool in a set of tools: no tool of the bare name has it.
pub(crate) fn in_namespace(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}
