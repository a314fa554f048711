//! Ids that every provider takes, and ids for calls that came without one.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::event::{Event, Kind, Start};

/// The longest id that every provider takes.
const MAX_LENGTH: usize = 64;
/// The length of the mark of an id that was changed.
const MARK: usize = 17;

/// Returns the id if it has 1 to 64 letters, digits, `_` and `-`; otherwise one that has, and that
/// no other id becomes: with a checksum of the id at its end.
pub(super) fn clean(id: &str) -> Cow<'_, str> {
    let is_clean = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !id.is_empty() && id.len() <= MAX_LENGTH && id.chars().all(is_clean) {
        return id.into();
    }
    let kept = id.chars().map(|c| if is_clean(c) { c } else { '_' }).take(MAX_LENGTH - MARK);
    format!("{}_{:016x}", kept.collect::<String>(), checksum(id.as_bytes())).into()
}

/// Ids for the calls of a message that came without one. They are the same each time that the
/// message is read, and no other message has them: a client that keeps a conversation takes two
/// calls with one id for the same.
#[derive(Clone, Debug)]
pub(crate) struct UniqueIds {
    /// The checksum of all that came before the first such call, and of that call.
    sum: u64,
    /// The ids that were made up.
    made_up: BTreeSet<String>,
}

impl UniqueIds {
    /// Returns the ids of the message that begins so. `number` tells it from others with the same
    /// content.
    pub(crate) fn new(number: u64, start: &Start<'_>) -> Self {
        let sum = checksum(&number.to_le_bytes());
        let sum = start.id.map_or(sum, |id| add(sum, id.as_bytes()));
        UniqueIds { sum, made_up: BTreeSet::new() }
    }

    /// Takes note of the next event of the message.
    pub(crate) fn see(&mut self, event: &Event<'_>) {
        match event.kind {
            Kind::Text(piece) => self.add(piece.text),
            Kind::Reasoning(thought) => self.add(thought.text),
            Kind::Refusal(text) => self.add(text),
            Kind::ToolCall(call) => {
                [call.id, call.name, call.input.as_str()].iter().for_each(|text| self.add(text));
                if call.is_made_up {
                    self.made_up.insert(call.id.to_owned());
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, text: &str) {
        if self.made_up.is_empty() {
            self.sum = add(self.sum, text.as_bytes());
        }
    }

    /// Returns the id of a call or a result; another one in the place of one that was made up.
    pub(crate) fn of<'i>(&self, id: &'i str) -> Cow<'i, str> {
        match self.made_up.contains(id) {
            true => id.replacen('_', &format!("_{:016x}_", self.sum), 1).into(),
            false => id.into(),
        }
    }
}

/// FNV-1a. Source: RFC 9923.
fn checksum(bytes: &[u8]) -> u64 {
    add(0xcbf2_9ce4_8422_2325, bytes)
}

/// Adds bytes to a checksum.
fn add(sum: u64, bytes: &[u8]) -> u64 {
    let mix = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(sum, mix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CallInput, Text, ToolCall};

    #[test]
    fn a_call_without_an_id_gets_one_of_its_own() {
        let id_of = |number, text: &str, input| {
            let mut ids = UniqueIds::new(number, &Start::default());
            for piece in text.split_inclusive(' ') {
                ids.see(&Event::new(0, Kind::Text(Text::new(piece))));
            }
            for id in ["call_0", "call_1"] {
                let call = ToolCall::new(0, id, "f", CallInput::Arguments(input));
                let call = ToolCall { is_made_up: true, ..call };
                ids.see(&Event::new(0, Kind::ToolCall(call)));
            }
            // The provider's own.
            assert_eq!(ids.of("call_7"), "call_7");
            [ids.of("call_0").into_owned(), ids.of("call_1").into_owned()]
        };
        let [first, second] = id_of(0, "a b", "{}");
        assert_eq!(first, "call_6623bba8fd698085_0");
        assert_eq!(second, first.replace("_0", "_1"));
        assert_eq!(id_of(0, "a b", "{}"), [first.clone(), second]);
        for other in [id_of(1, "a b", "{}"), id_of(0, "a c", "{}"), id_of(0, "a b", "{\"a\":1}")] {
            assert_ne!(other[0], first);
        }
    }

    #[test]
    fn a_clean_id_stays() {
        assert_eq!(clean("toolu_01-A"), "toolu_01-A");
        assert_eq!(clean(&"a".repeat(64)), "a".repeat(64));
    }

    #[test]
    fn others_are_told_apart() {
        let ids = ["functions.weather:0", "functions_weather:0", "functions.weather_0", "", "é"];
        let long = "a".repeat(65);
        let mut cleaned: Vec<_> = ids.iter().copied().chain([long.as_str()]).map(clean).collect();
        assert_eq!(cleaned[0], "functions_weather_0_f403ae4b6d15ba46");
        assert!(cleaned.iter().all(|id| *id == clean(id) && !id.is_empty()), "{cleaned:?}");
        cleaned.sort();
        cleaned.dedup();
        assert_eq!(cleaned.len(), 6);
    }
}
