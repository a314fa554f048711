//! The members of a provider's usage objects.

use std::borrow::Cow;
use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::json;

/// The members of the objects of one part, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct CountMembers<'m> {
    pub(super) list: SmallVec<[Member<'m>; 8]>,
    /// The [`bit`] of each key.
    pub(super) bits: u64,
    /// The index of each key, if they are more than [`FEW`].
    places: BTreeMap<Cow<'m, str>, usize>,
    /// The bytes of all keys and values.
    size: usize,
    /// The error that there are too many, of which some were left out.
    pub(super) limit: Option<&'static str>,
}

/// A member of a usage object: its key, and its value's text.
pub(super) type Member<'m> = (Cow<'m, str>, &'m str);

/// The most members that are looked through for a key.
const FEW: usize = 32;

/// The most bytes of the usage of one message, or of one part of it: keys that never repeat end
/// here.
pub(super) const MAX_SIZE: usize = 1 << 20;

/// The bytes that a member takes besides its text, where there are many.
pub(super) const PLACE: usize = 160;

impl<'m> CountMembers<'m> {
    /// Returns the members of objects that follow each other.
    pub(super) fn of(text: &'m str) -> Self {
        let mut members = CountMembers::default();
        json::walk(text).for_each(|(key, value)| members.set(key, value));
        members
    }

    pub(super) fn position(&self, key: &str) -> Option<usize> {
        match self.places.is_empty() {
            _ if self.bits & bit(key) == 0 => None,
            true => self.list.iter().position(|(known, _)| known == key),
            false => self.places.get(key).copied(),
        }
    }

    /// Sets a member that is not null, unless there are too many.
    pub(super) fn set(&mut self, key: Cow<'m, str>, json: &'m str) {
        if json == "null" {
            return;
        }
        let known = self.position(&key).and_then(|at| self.list.get_mut(at));
        let old = known.as_ref().map_or(0, |(key, json)| key.len() + json.len());
        let room = if known.is_none() && !self.places.is_empty() { PLACE } else { 0 };
        let size = self.size - old + key.len() + json.len() + room;
        if size > MAX_SIZE {
            self.limit = Some("more than 1 MiB of usage in one message");
            return;
        }
        self.size = size;
        if let Some((_, known)) = known {
            *known = json;
            return;
        }
        self.bits |= bit(&key);
        self.list.push((key, json));
        if self.list.len() > FEW {
            let new = self.list.iter().enumerate().skip(self.places.len());
            self.places.extend(new.map(|(at, (key, _))| (key.clone(), at)));
        }
    }

    /// Appends them as an object without white space between its tokens.
    pub(super) fn write(&self, out: &mut String) {
        out.reserve(self.size + 8 * self.list.len());
        out.push('{');
        for (number, (key, json)) in self.list.iter().enumerate() {
            out.push_str(if number == 0 { "\"" } else { ",\"" });
            match key {
                Cow::Borrowed(key) => out.push_str(key),
                Cow::Owned(key) => json::escape_into(key, out),
            }
            out.push_str("\":");
            match json.starts_with(['{', '[']) {
                true => json::minify_into(json, out),
                false => out.push_str(json),
            }
        }
        out.push('}');
    }
}

/// Returns a bit that few keys share.
pub(super) fn bit(key: &str) -> u64 {
    1 << ((key.len() ^ usize::from(key.bytes().next().unwrap_or_default())) % 64)
}
