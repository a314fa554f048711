//! What inputs are made of: the fixtures, and the keys, values and markers in them.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::Case;
use crate::mutated::parts::{Payload, parts, tokens};
use crate::mutated::value::Value;
use toolstream::internals::Dice;

/// The longest fixture that inputs are made of, in bytes.
const LONGEST: usize = 3000;
/// The longest value that is put somewhere else, in bytes.
const LONGEST_VALUE: usize = 400;
/// The longest marker that is put somewhere else, in bytes.
const LONGEST_MARKER: usize = 40;
/// The most values that are kept of a key.
const MOST_VALUES: usize = 40;

/// A fixture in parts.
pub(super) struct Source {
    pub(super) case: Case,
    pub(super) parts: Vec<Vec<u8>>,
}

impl Source {
    /// Returns the layer and the row that it is a fixture of.
    pub(super) fn row(&self) -> (&str, &str) {
        let mut names = self.case.name.split('/').skip(1);
        (names.next().unwrap_or_default(), names.next().unwrap_or_default())
    }
}

/// All that inputs are made of.
pub(super) struct Pool {
    /// The fixtures, by their folders, so that a row with many is not taken more often.
    folders: Vec<Vec<Source>>,
    /// The same of the dialects alone.
    texts: Vec<Vec<u8>>,
    /// The keys of all records, with their quotes, and values that each had.
    members: Vec<(String, Vec<Value>)>,
    /// What stands in texts of dialects as a marker, or looks like one.
    markers: Vec<Vec<u8>>,
}

impl Pool {
    pub(super) fn new() -> Pool {
        let mut folders: BTreeMap<String, Vec<Source>> = BTreeMap::new();
        let mut members: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let (mut markers, mut texts) = (BTreeSet::new(), Vec::new());
        for case in Case::all().into_iter().filter(|case| case.input.len() <= LONGEST) {
            let source = Source { parts: parts(&case.input), case };
            for value in source.parts.iter().filter_map(|part| Value::read(Payload::of(part)?.json))
            {
                gather(&value, &mut members);
            }
            if source.row().0 == "dialect" {
                markers.extend(markers_of(&source.case.input));
                texts.push(source.case.input.clone());
            }
            let (layer, row) = source.row();
            folders.entry(format!("{layer}/{row}")).or_default().push(source);
        }
        Pool {
            folders: folders.into_values().collect(),
            texts,
            members: members.into_iter().collect(),
            markers: markers.into_iter().collect(),
        }
    }

    /// Returns a fixture.
    pub(super) fn source(&self, dice: &mut Dice) -> &Source {
        let folder = dice.pick(&self.folders);
        dice.pick(folder)
    }

    /// Returns a fixture of the same row, or of any.
    pub(super) fn kin(&self, row: (&str, &str), dice: &mut Dice) -> &Source {
        let folder = self.folders.iter().find(|folder| folder[0].row() == row);
        match folder.filter(|_| dice.one_in(2)) {
            Some(folder) => dice.pick(folder),
            None => self.source(dice),
        }
    }

    /// Returns the text of a dialect's fixture.
    pub(super) fn text(&self, dice: &mut Dice) -> &[u8] {
        let text: &Vec<u8> = dice.pick(&self.texts);
        text
    }

    pub(super) fn marker(&self, dice: &mut Dice) -> &[u8] {
        let marker: &Vec<u8> = dice.pick(&self.markers);
        marker
    }

    /// Returns a key, with its quotes, and a value that it had somewhere.
    pub(super) fn member(&self, dice: &mut Dice) -> (String, Value) {
        let (key, values) = dice.pick(&self.members);
        (key.clone(), dice.pick(values).clone())
    }

    /// Returns a value that this key had somewhere.
    pub(super) fn value_of(&self, key: &str, dice: &mut Dice) -> Option<Value> {
        let at = self.members.binary_search_by(|(known, _)| known.as_str().cmp(key)).ok()?;
        Some(dice.pick(&self.members[at].1).clone())
    }
}

/// Adds the members of a value.
fn gather(value: &Value, members: &mut BTreeMap<String, Vec<Value>>) {
    match value {
        Value::Object(inner) => {
            for (key, value) in inner {
                gather(value, members);
                let spelling = value.to_string();
                if spelling.len() > LONGEST_VALUE {
                    continue;
                }
                let values = members.entry(key.clone()).or_default();
                if values.len() < MOST_VALUES
                    && !values.iter().any(|known| known.to_string() == spelling)
                {
                    values.push(value.clone());
                }
            }
        }
        Value::Array(elements) => elements.iter().for_each(|value| gather(value, members)),
        Value::Leaf(_) => {}
    }
}

/// Returns the tags of a text, and what else is no prose.
fn markers_of(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let is_marker = |token: &&[u8]| {
        let is_sign = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b' ';
        token.len() <= LONGEST_MARKER && token.iter().any(is_sign)
    };
    tokens(text).into_iter().filter(is_marker).map(<[u8]>::to_vec)
}
