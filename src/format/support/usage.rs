//! The usage of a message, as every provider counts it.
//!
//! Usage is never a delta: where it comes several times, the last value of
//! each field counts. A format names its fields in a table of [`Row`]s.

use std::borrow::Cow;
use std::collections::HashMap;

use smallvec::SmallVec;

use crate::event::{Code, Failure, Kind, Usage, WarningCode};
use crate::format::support::emit::{Done, EventOut};
use crate::json;

/// One of our fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Input,
    Output,
    Total,
    Cached,
    CacheWrite,
    Reasoning,
}

/// The effect of a provider's number on a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// It's the field's value, unless a row above has given one.
    Is,
    /// It's a part of the field's value.
    Adds,
}

/// The place of a provider's number, keys joined by dots, and its meaning;
/// without a field, it's only passed on. `+` is the sum over the elements of an
/// array. Of several places with `|` between them, the first at which there is
/// a number counts.
pub(crate) type Row = (&'static str, Op, &'static [Field]);

/// The usage of one message, as far as it's known.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    paths: Vec<Path>,
    /// The last object that came, which has not been read.
    latest: String,
    members: Members,
    /// The parts that were counted apart.
    counted: SmallVec<[(Usage<'static>, String); 1]>,
    /// The path of a count that is no number, if there was one.
    strange: Option<&'static str>,
    /// The bytes of the parts.
    counted_size: usize,
    /// The error that there are too many, of which some were left out.
    limit: Option<&'static str>,
    /// True if counts were changed to fit each other.
    is_adjusted: bool,
}

/// The members that are known of the objects of one part, in the order in which they came.
#[derive(Debug, Default)]
struct Members {
    /// Keys and values; after the first `count`, buffers for others.
    list: Vec<(String, String)>,
    count: usize,
    /// The index of each key, if they are more than [`FEW`].
    places: HashMap<String, usize>,
    /// The bytes of all keys and values.
    size: usize,
}

/// One place of a row.
#[derive(Debug)]
struct Path {
    row: &'static Row,
    path: &'static str,
    /// Its first key, and the path after that.
    key: &'static str,
    rest: Option<&'static str>,
}

/// A member of a usage object: its key, and its value's text.
type Member<'m> = (Cow<'m, str>, &'m str);

/// The most members that are looked through for a key.
const FEW: usize = 32;

/// The most bytes of the usage of one message, or of one part of it: keys that never repeat end
/// here.
const MAX_SIZE: usize = 1 << 20;

/// The most bytes of the usage of all parts.
const MAX_COUNTED: usize = 16 << 20;

/// The most bytes of members whose buffers are kept for those of the next message.
const MAX_KEPT: usize = 4 << 10;

/// The bytes that a member takes besides its text, where there are many.
const PLACE: usize = 160;

impl Meter {
    pub(crate) fn new(rows: &'static [Row]) -> Self {
        let mut paths = Vec::with_capacity(rows.len());
        for row in rows {
            paths.extend(row.0.split('|').map(|path| {
                let (key, rest) = split(path);
                Path { row, path, key, rest }
            }));
        }
        Meter { paths, ..Meter::default() }
    }

    /// Takes a provider's usage object. A null doesn't erase what was known. One
    /// that differs from the last in its numbers alone takes the place of that.
    pub(crate) fn feed(&mut self, json: &str) {
        if !differ_in_numbers(self.latest.as_bytes(), json.as_bytes()) {
            self.read_latest();
        }
        json.clone_into(&mut self.latest);
        if json.len() > MAX_SIZE {
            self.read_latest();
            self.latest = String::new();
        }
    }

    /// Reads the last object that came.
    fn read_latest(&mut self) {
        let mut latest = std::mem::take(&mut self.latest);
        for (number, (key, value)) in json::walk(&latest).enumerate() {
            if value != "null" {
                self.set(number, &key, value);
            }
        }
        latest.clear();
        self.latest = latest;
    }

    /// Takes the members that the rows name from an object that holds others
    /// too. Where counts stand so, 0 may mean that one isn't given again
    /// (watsonx): it doesn't erase what was known.
    pub(crate) fn pick(&mut self, json: &str) {
        self.read_latest();
        for (number, (key, value)) in json::members(json).iter().enumerate() {
            let is_named = self.paths.iter().any(|path| path.key == key);
            let is_again = value.get() == "0" && self.members.iter().any(|(known, _)| known == key);
            if is_named && !is_again && value.get() != "null" {
                self.set(number, key, value.get());
            }
        }
    }

    fn set(&mut self, number: usize, key: &str, json: &str) {
        if !self.members.set(number, key, json) {
            self.limit = Some("more than 1 MiB of usage in one message");
        }
    }

    /// Emits the usage, if there is any, and forgets it.
    pub(crate) fn finish(&mut self, out: &mut EventOut) -> Done {
        self.part();
        self.counted_size = 0;
        if let Some(message) = self.limit.take() {
            out.emit(0, Kind::Error(Failure::new(Code::Limit, message, None)))?;
        }
        if std::mem::take(&mut self.is_adjusted) {
            let message = "counts that contradict each other were adjusted";
            out.warn(WarningCode::UsageAdjusted, message)?;
        }
        if let Some(path) = self.strange.take() {
            let reason = "it is no whole number below 2^64";
            out.warn(WarningCode::WrongType, &format!("the count {path} was left out: {reason}"))?;
        }
        let counted = std::mem::take(&mut self.counted);
        if let [(usage, raw)] = counted.as_slice() {
            return out.emit(0, Kind::Usage(Usage { raw, ..*usage }));
        }
        let Some(usage) = counted.iter().map(|(usage, _)| *usage).reduce(|a, b| a.plus(&b)) else {
            return Ok(());
        };
        let raw = json::array(counted.iter().map(|(_, raw)| raw));
        out.emit(0, Kind::Usage(Usage { raw: &raw, ..usage }))
    }

    /// Begins a part that is counted apart and added to those before it: a
    /// model's part, or a step's.
    pub(crate) fn part(&mut self) {
        // Nearly always one object holds all.
        if self.members.count == 0 {
            let latest = std::mem::take(&mut self.latest);
            let mut members: SmallVec<[Member<'_>; 8]> = json::walk(&latest).collect();
            let is_as_sent =
                |(key, value): &Member<'_>| matches!(key, Cow::Borrowed(_)) && *value != "null";
            let whole = members.iter().all(is_as_sent).then_some(latest.as_str());
            members.retain(|(_, value)| *value != "null");
            if members.len() <= FEW && !has_doubles(&members) {
                return self.count(&members, whole);
            }
            drop(members);
            self.latest = latest;
        }
        self.read_latest();
        let mut known = std::mem::take(&mut self.members);
        let members = known.iter().map(|(key, value)| (key.into(), value.as_str()));
        self.count(&members.collect::<SmallVec<[Member<'_>; 8]>>(), None);
        known.clear();
        self.members = known;
    }

    /// Counts the members of a part, if it has any. `whole` is the object that has them
    /// and no others.
    fn count(&mut self, members: &[Member<'_>], whole: Option<&str>) {
        if members.is_empty() {
            return;
        }
        let object = || json::object(members.iter().map(|(key, value)| (key, value))).into();
        let raw = json::minify(&whole.map_or_else(object, Cow::Borrowed));
        self.counted_size += raw.len() + PLACE;
        if self.counted_size > MAX_COUNTED {
            self.limit = Some("more than 16 MiB of usage in one message");
            return;
        }
        let read = self.read(members);
        let usage = adjust(read);
        self.is_adjusted |= (read.output_tokens, read.reasoning_tokens)
            != (usage.output_tokens, usage.reasoning_tokens);
        self.counted.push((usage, raw));
    }

    /// Forgets what is known: the whole comes.
    pub(crate) fn reset(&mut self) {
        *self = Meter { paths: std::mem::take(&mut self.paths), ..Meter::default() };
    }

    fn read(&mut self, members: &[Member<'_>]) -> Usage<'static> {
        let mut usage = Usage::default();
        // Neighbouring rows lead into the same object.
        let mut inner = Inner::default();
        for paths in self.paths.chunk_by(|a, b| std::ptr::eq(a.row, b.row)) {
            let Some((_, op, fields)) = paths.first().map(|path| path.row) else { continue };
            let mut number = None;
            for path in paths.iter().filter(|_| !fields.is_empty()) {
                let Some(json) = lookup(members, path, &mut inner) else { continue };
                number = number.or(count(&json));
                if number.is_none() && !json.starts_with(['{', '[']) {
                    self.strange.get_or_insert(path.path);
                }
            }
            let Some(number) = number else { continue };
            for &field in *fields {
                let slot = slot(&mut usage, field);
                match op {
                    Op::Is => *slot = slot.or(Some(number)),
                    Op::Adds => *slot = Some(slot.unwrap_or(0).saturating_add(number)),
                }
            }
        }
        usage
    }
}

impl Members {
    fn iter(&self) -> impl Iterator<Item = &(String, String)> {
        self.list.iter().take(self.count)
    }

    /// Sets a member, unless there are too many. Mostly it has the number that it had in the last
    /// object.
    fn set(&mut self, number: usize, key: &str, json: &str) -> bool {
        let is_key = |(known, _): &(String, String)| known == key;
        let at = match self.iter().nth(number).is_some_and(is_key) {
            true => Some(number),
            false if self.places.is_empty() => self.iter().position(is_key),
            false => self.places.get(key).copied(),
        };
        let known = at.and_then(|at| self.list.get_mut(at));
        let old = known.as_ref().map_or(0, |(key, json)| key.len() + json.len());
        let is_new_place = known.is_none() && !self.places.is_empty();
        let room = if is_new_place { PLACE } else { 0 };
        let size = self.size - old + key.len() + json.len() + room;
        if size > MAX_SIZE {
            return false;
        }
        self.size = size;
        match known {
            Some((_, known)) => json.clone_into(known),
            None => self.add(key, json),
        }
        true
    }

    fn add(&mut self, key: &str, json: &str) {
        match self.list.get_mut(self.count) {
            Some((free_key, free_json)) => {
                key.clone_into(free_key);
                json.clone_into(free_json);
            }
            None => self.list.push((key.to_owned(), json.to_owned())),
        }
        self.count += 1;
        if self.count > FEW {
            let new = self.list.iter().take(self.count).enumerate().skip(self.places.len());
            self.places.extend(new.map(|(at, (key, _))| (key.clone(), at)));
        }
    }

    /// Forgets the members, and keeps their buffers if they are small.
    fn clear(&mut self) {
        self.list.truncate(if self.size > MAX_KEPT { 0 } else { FEW });
        self.places.clear();
        (self.count, self.size) = (0, 0);
    }
}

fn slot<'u>(usage: &'u mut Usage<'static>, field: Field) -> &'u mut Option<u64> {
    match field {
        Field::Input => &mut usage.input_tokens,
        Field::Output => &mut usage.output_tokens,
        Field::Total => &mut usage.total_tokens,
        Field::Cached => &mut usage.cached_input_tokens,
        Field::CacheWrite => &mut usage.cache_write_tokens,
        Field::Reasoning => &mut usage.reasoning_tokens,
    }
}

/// Makes the numbers fit each other. A provider's total that is larger than
/// input and output holds reasoning that the output doesn't (xAI, Gemini's
/// OpenAI surface); reasoning is an estimate where it's larger than the output.
fn adjust(mut usage: Usage<'static>) -> Usage<'static> {
    if let (Some(input), Some(output)) = (usage.input_tokens, usage.output_tokens) {
        let sum = input.saturating_add(output);
        let total = *usage.total_tokens.get_or_insert(sum);
        if total > sum {
            usage.output_tokens = Some(total - input);
        }
    }
    if let (Some(reasoning), Some(output)) = (usage.reasoning_tokens, usage.output_tokens) {
        usage.reasoning_tokens = Some(reasoning.min(output));
    }
    usage
}

/// True if a key comes twice.
fn has_doubles(members: &[Member<'_>]) -> bool {
    members
        .iter()
        .enumerate()
        .any(|(at, (key, _))| members.iter().take(at).any(|(other, _)| other == key))
}

/// True if two JSON texts are the same, but for whole numbers in the same places.
fn differ_in_numbers(mut a: &[u8], mut b: &[u8]) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let (mut in_string, mut follows_digit) = (false, false);
    loop {
        let (same, rest_a) = a.split_at(same_length(a, b));
        let rest_b = b.get(same.len()..).unwrap_or_default();
        // Without a branch for each byte, this becomes a few instructions for sixteen.
        let (is_odd, has_escape) = same.iter().fold((false, false), |(odd, escape), &byte| {
            (odd ^ (byte == b'"'), escape | (byte == b'\\'))
        });
        if has_escape {
            return false;
        }
        in_string ^= is_odd;
        follows_digit = if same.is_empty() { follows_digit } else { is_digit(same.last()) };
        if rest_a.is_empty() && rest_b.is_empty() {
            return true;
        }
        let (of_a, of_b) = (is_digit(rest_a.first()), is_digit(rest_b.first()));
        if in_string || !(of_a && of_b || (of_a || of_b) && follows_digit) {
            return false;
        }
        (a, b, follows_digit) = (after_digits(rest_a), after_digits(rest_b), true);
    }
}

/// Returns how many of the first bytes are the same in both.
fn same_length(a: &[u8], b: &[u8]) -> usize {
    let (words_a, words_b) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    let words = 8 * words_a.iter().zip(words_b).take_while(|(a, b)| a == b).count();
    let rest = a.iter().zip(b).skip(words);
    words + rest.take_while(|(a, b)| a == b).count()
}

fn after_digits(text: &[u8]) -> &[u8] {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.get(length..).unwrap_or_default()
}

/// Splits a path after its first key.
fn split(path: &'static str) -> (&'static str, Option<&'static str>) {
    path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)))
}

/// An object, and its members.
type Inner<'m> = (&'m str, SmallVec<[Member<'m>; 4]>);

/// Returns the JSON at a path, unless it's null. Keeps the innermost object on the way in `inner`.
fn lookup<'m>(members: &[Member<'m>], path: &Path, inner: &mut Inner<'m>) -> Option<Cow<'m, str>> {
    let mut value = members.iter().find(|(name, _)| name == path.key)?.1;
    let mut rest = path.rest;
    while let Some(path) = rest {
        if let Some(path) = path.strip_prefix("+.") {
            let elements = json::elements(value)?;
            let counts = elements.iter().filter_map(|element| count(json::member(element, path)?));
            return counts.reduce(u64::saturating_add).map(|sum| sum.to_string().into());
        }
        let (key, next) = split(path);
        if inner.0 != value {
            *inner = (value, json::walk(value).collect());
        }
        value = inner.1.iter().find(|(name, _)| name == key)?.1;
        rest = next;
    }
    Some(value.into()).filter(|value| value != "null")
}

/// A count of tokens: some gateways write it as a float or in a string.
fn count(json: &str) -> Option<u64> {
    let written_as = || {
        let text = json.trim_matches('"');
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        whole.parse().ok().filter(|_| fraction.bytes().all(|b| b == b'0'))
    };
    json.parse().ok().or_else(written_as)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &[Row] = &[
        ("in", Op::Adds, &[Field::Input]),
        ("cache.read", Op::Adds, &[Field::Input, Field::Cached]),
        ("out", Op::Is, &[Field::Output]),
        ("thinking", Op::Is, &[Field::Reasoning]),
        ("total", Op::Is, &[Field::Total]),
    ];

    /// Reads what is known so far.
    fn read(meter: &mut Meter) -> Usage<'static> {
        let known = std::mem::take(&mut meter.members);
        let members: Vec<_> =
            known.iter().map(|(key, value)| (key.into(), value.as_str())).collect();
        meter.read(&members)
    }

    #[track_caller]
    fn check(objects: &[&str], expected: [Option<u64>; 5]) {
        let mut meter = Meter::new(ROWS);
        objects.iter().for_each(|json| meter.feed(json));
        meter.read_latest();
        let u = adjust(read(&mut meter));
        let got = [
            u.input_tokens,
            u.output_tokens,
            u.total_tokens,
            u.cached_input_tokens,
            u.reasoning_tokens,
        ];
        assert_eq!(got, expected);
    }

    #[test]
    fn counts_stand_among_other_members() {
        let mut meter = Meter::new(ROWS);
        meter.pick(r#"{"in":5,"text":"x","out":1}"#);
        meter.pick(r#"{"in":0,"text":"y","out":2}"#);
        let members: Vec<_> = meter.members.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(members, [("in", "5"), ("out", "2")]);
    }

    #[test]
    fn the_last_value_of_each_field_counts() {
        check(
            &[r#"{"in":5,"out":1,"cache":{"read":2}}"#, r#"{"out":9,"in":null}"#],
            [Some(7), Some(9), Some(16), Some(2), None],
        );
    }

    #[test]
    fn objects_of_one_shape_take_each_others_place() {
        let first = r#"{"in":5,"d":{"n":[1,20]},"s":"4"}"#;
        for (second, expected) in [
            (first, true),
            (r#"{"in":66,"d":{"n":[0,2]},"s":"4"}"#, true),
            (r#"{"in":512,"d":{"n":[13,205]},"s":"4"}"#, true),
            (r#"{"in":5,"d":{"n":[1,20]},"s":"43"}"#, false),
            (r#"{"in":66,"d":{"n":[0]},"s":"4"}"#, false),
            (r#"{"in":null,"d":{"n":[1,20]},"s":"4"}"#, false),
            (r#"{"in":5,"d":{"n":[1,20]},"s":"5"}"#, false),
            (r#"{"in":5,"d":{"n":[1,20]},"s":"4","t":1}"#, false),
            ("", false),
        ] {
            assert_eq!(differ_in_numbers(first.as_bytes(), second.as_bytes()), expected);
        }
        assert!(!differ_in_numbers(br#"{"a1":1}"#, br#"{"a2":1}"#));
        assert!(!differ_in_numbers(br#"{"a1":1}"#, br#"{"a12":1}"#));
        assert!(differ_in_numbers(b"12", b"123"));
        assert!(!differ_in_numbers(b"12", b"12,3"));
        assert!(!differ_in_numbers(br#"{"a\":1":1}"#, br#"{"a\":2":1}"#));
    }

    #[test]
    fn a_number_may_have_two_names() {
        const TWO_NAMES: &[Row] =
            &[("in", Op::Adds, &[Field::Input]), ("a|b", Op::Adds, &[Field::Input, Field::Cached])];
        for (json, cached) in [("{\"in\":5,\"a\":2,\"b\":2}", 2), ("{\"in\":5,\"b\":3}", 3)] {
            let mut meter = Meter::new(TWO_NAMES);
            meter.feed(json);
            meter.read_latest();
            let usage = read(&mut meter);
            assert_eq!(
                (usage.input_tokens, usage.cached_input_tokens),
                (Some(5 + cached), Some(cached))
            );
        }
    }

    #[test]
    fn keys_that_never_repeat_are_bounded() {
        let mut meter = Meter::new(ROWS);
        for number in 0..200_000 {
            meter.feed(&format!("{{\"key{number}\":{number}}}"));
        }
        assert!(meter.limit.is_some());
        let size: usize = meter.members.iter().map(|(key, json)| key.len() + json.len()).sum();
        assert!(size <= MAX_SIZE, "{size}");
    }

    #[test]
    fn elements_of_an_array_add_up() {
        const SUM: &[Row] = &[("parts.+.in|in", Op::Adds, &[Field::Input])];
        for (json, sum) in
            [(r#"{"in":1,"parts":[{"in":2},{"out":3},{"in":4}]}"#, 6), (r#"{"in":1}"#, 1)]
        {
            let mut meter = Meter::new(SUM);
            meter.feed(json);
            meter.read_latest();
            assert_eq!(read(&mut meter).input_tokens, Some(sum));
        }
    }

    #[test]
    fn absent_is_not_zero() {
        check(&[r#"{"out":3}"#], [None, Some(3), None, None, None]);
    }

    #[test]
    fn a_larger_total_holds_hidden_reasoning() {
        check(&[r#"{"in":66,"out":6,"total":100}"#], [Some(66), Some(34), Some(100), None, None]);
    }

    #[test]
    fn estimates_are_clamped_and_spellings_accepted() {
        check(
            &[r#"{"in":"5","out":2.0,"thinking":7}"#],
            [Some(5), Some(2), Some(7), None, Some(2)],
        );
    }
}
