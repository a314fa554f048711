//! The usage of a message, as every provider counts it.
//!
//! Usage is never a delta: where it comes several times, the last value of
//! each field counts. A format names its fields in a table of [`CountRule`]s.

mod members;
mod rows;

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::cut::Cut as _;
use crate::event::{Code, Failure, Kind, Usage, WarningCode};
use crate::format::support::emit::{Done, EventOut};
use crate::format::support::usage::members::{CountMembers, Member, PLACE, bit};
use crate::format::support::usage::rows::add;
pub(crate) use crate::format::support::usage::rows::{CountRule, Field, Op};
use crate::json;

/// The usage of one message, as far as it's known.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    paths: Vec<Path>,
    /// The objects of this part, one after another.
    text: String,
    /// The length of the first one, if it was made of others.
    known: usize,
    /// The objects of the parts that were counted, each after a bracket or a comma.
    raw: String,
    /// The number of these parts, and their sum.
    parts: usize,
    usage: Usage<'static>,
    /// The bytes of the parts.
    counted_size: usize,
    /// The paths of counts that are no numbers.
    strange: Vec<&'static str>,
    /// True if a usage was no object.
    is_no_object: bool,
    /// The error that there are too many, of which some were left out.
    limit: Option<&'static str>,
    /// True if counts were changed to fit each other.
    is_adjusted: bool,
    /// The cost of the messages before, where each says that of all so far.
    before: Option<Usage<'static>>,
}

/// One place of a row.
#[derive(Debug)]
struct Path {
    row: &'static CountRule,
    path: &'static str,
    /// Its first key, and the path after that.
    key: &'static str,
    rest: Option<&'static str>,
    /// The key's [`bit`], if the row has fields.
    bit: u64,
}

/// The most bytes of the usage of all parts.
const MAX_COUNTED: usize = 16 << 20;

/// The most bytes of a buffer that is kept for the next message, and of objects that wait until
/// they are read, besides twice what was known before.
const MAX_KEPT: usize = 4 << 10;

impl Meter {
    pub(crate) fn new(rows: &'static [CountRule]) -> Self {
        let mut paths = Vec::with_capacity(rows.len());
        for row in rows {
            paths.extend(row.0.split('|').map(|path| {
                let (key, rest) = split(path);
                Path { row, path, key, rest, bit: if row.2.is_empty() { 0 } else { bit(key) } }
            }));
        }
        Meter { paths, ..Meter::default() }
    }

    /// Takes a provider's usage object. A null doesn't erase what was known.
    pub(crate) fn feed(&mut self, json: &str) {
        if !json.trim_ascii_start().starts_with('{') {
            self.is_no_object |= !matches!(json, "" | "null");
            return;
        }
        if self.text.ends_with(json) {
            return;
        }
        self.text.push_str(json);
        if self.text.len() > MAX_KEPT + 2 * self.known {
            self.pick("{}");
        }
    }

    /// Takes the members that the rows name from an object that holds others
    /// too. Where counts stand so, 0 may mean that one isn't given again
    /// (watsonx): it doesn't erase what was known. Makes one object of all.
    pub(crate) fn pick(&mut self, json: &str) {
        if json::read::<()>(json).is_err() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        let mut members = CountMembers::of(&text);
        for (key, value) in json::walk(json) {
            let is_named = self.paths.iter().any(|path| path.key == key);
            if is_named && !(value == "0" && members.position(&key).is_some()) {
                members.set(key, value);
            }
        }
        self.limit = members.limit.or(self.limit);
        members.write(&mut self.text);
        self.known = self.text.len();
    }

    /// Takes what each message costs, from here on, for the cost of all of them so far.
    pub(crate) fn add_up(&mut self) {
        self.before = Some(Usage::default());
    }

    /// Emits the usage, if there is any, and forgets it.
    pub(crate) fn finish(&mut self, out: &mut EventOut) -> Done {
        self.begin_part();
        self.counted_size = 0;
        if let Some(message) = self.limit.take() {
            out.emit(0, Kind::Error(Failure::new(Code::Limit, message, None)))?;
        }
        if std::mem::take(&mut self.is_adjusted) {
            let message = "counts that contradict each other were adjusted";
            out.warn(WarningCode::UsageAdjusted, message)?;
        }
        if std::mem::take(&mut self.is_no_object) {
            let message = "the usage was left out: it is no object";
            out.warn(WarningCode::WrongType, message)?;
        }
        for path in self.strange.drain(..) {
            let reason = "it is no whole number below 2^64";
            out.warn(WarningCode::WrongType, &format!("the count {path} was left out: {reason}"))?;
        }
        let mut usage = std::mem::take(&mut self.usage);
        let raw = match std::mem::take(&mut self.parts) {
            0 => return Ok(()),
            1 => self.raw.after(1),
            _ => {
                self.raw.push(']');
                &self.raw
            }
        };
        if let Some(before) = &mut self.before {
            let so_far = std::mem::replace(before, usage);
            usage = usage.minus(&so_far);
        }
        out.emit(0, Kind::Usage(Usage { raw, ..usage }))?;
        forget(&mut self.raw);
        Ok(())
    }

    /// Begins a part that is counted apart and added to those before it: a
    /// model's part, or a step's.
    pub(crate) fn begin_part(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        self.count(&text);
        forget(&mut text);
        (self.text, self.known) = (text, 0);
    }

    /// Counts the objects of a part, if they have members.
    fn count(&mut self, text: &str) {
        let start = self.raw.len();
        self.raw.push(if start == 0 { '[' } else { ',' });
        let Some(read) = self.count_members(text) else {
            self.raw.truncate(start);
            return;
        };
        self.counted_size += self.raw.len() - start - 1 + PLACE;
        if self.counted_size > MAX_COUNTED {
            self.limit = Some("more than 16 MiB of usage in one message");
            self.raw.truncate(start);
            return;
        }
        let usage = adjust(read);
        let counts = |usage: &Usage<'_>| (usage.output_tokens, usage.reasoning_tokens);
        // The total says that the reasoning is not in the output: nothing contradicts.
        let added = usage.output_tokens.zip(read.output_tokens).map(|(all, own)| all - own);
        let is_explained = added == read.reasoning_tokens && added == usage.reasoning_tokens;
        self.is_adjusted |= counts(&read) != counts(&usage) && !is_explained;
        self.usage = self.usage.plus(&usage);
        self.parts += 1;
    }

    /// Counts them, and appends one object of all to `raw`.
    fn count_members(&mut self, text: &str) -> Option<Usage<'static>> {
        let members = CountMembers::of(text);
        self.limit = members.limit.or(self.limit);
        if members.list.is_empty() {
            return None;
        }
        match text.len() == self.known {
            true => self.raw.push_str(text),
            false => members.write(&mut self.raw),
        }
        Some(self.counts(&members))
    }

    /// Forgets what is known: the whole comes.
    pub(crate) fn reset(&mut self) {
        let paths = std::mem::take(&mut self.paths);
        *self = Meter { paths, before: self.before, ..Meter::default() };
    }

    /// Returns the counts that members give.
    fn counts(&mut self, members: &CountMembers<'_>) -> Usage<'static> {
        let (mut usage, mut last) = (Usage::default(), None);
        // Neighbouring rows lead into the same object.
        let mut inner = InnerCounts::default();
        for path in &self.paths {
            let is_read = last.is_some_and(|row| std::ptr::eq(row, path.row));
            if members.bits & path.bit == 0 || is_read {
                continue;
            }
            let Some(json) = lookup(&members.list, path, &mut inner) else { continue };
            if let Some(number) = count(&json) {
                add(path.row, number, &mut usage);
                last = Some(path.row);
            } else if !json.starts_with(['{', '[']) && !self.strange.contains(&path.path) {
                self.strange.push(path.path);
            }
        }
        usage
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

/// Empties a buffer, and keeps it if it is small.
fn forget(text: &mut String) {
    if text.capacity() > MAX_KEPT { *text = String::new() } else { text.clear() }
}

/// Splits a path after its first key.
fn split(path: &'static str) -> (&'static str, Option<&'static str>) {
    path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)))
}

/// An object, and its members.
type InnerCounts<'m> = (&'m str, SmallVec<[Member<'m>; 4]>);

/// Returns the JSON at a path, unless it's null. Keeps the innermost object on the way in `inner`.
fn lookup<'m>(
    members: &[Member<'m>],
    path: &Path,
    inner: &mut InnerCounts<'m>,
) -> Option<Cow<'m, str>> {
    let mut value = members.iter().find(|(name, _)| name == path.key)?.1;
    let mut rest = path.rest;
    while let Some(path) = rest {
        if let Some(path) = path.strip_prefix("+.") {
            let elements = json::elements(value)?;
            let counts = elements.iter().filter_map(|element| count(json::member(element, path)?));
            return counts.reduce(u64::saturating_add).map(|sum| sum.to_string().into());
        }
        let (key, next) = split(path);
        rest = next;
        if value.starts_with('[') {
            value = json::member(value, key)?;
            continue;
        }
        if inner.0 != value {
            *inner = (value, json::walk(value).collect());
        }
        value = inner.1.iter().find(|(name, _)| name == key)?.1;
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
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::format::support::usage::members::MAX_SIZE;

    const ROWS: &[CountRule] = &[
        ("in", Op::Adds, &[Field::Input]),
        ("cache.read", Op::Adds, &[Field::Input, Field::Cached]),
        ("out", Op::Is, &[Field::Output]),
        ("thinking", Op::Is, &[Field::Reasoning]),
        ("total", Op::Is, &[Field::Total]),
    ];

    /// Reads what is known so far.
    fn read(meter: &mut Meter) -> Usage<'static> {
        let text = meter.text.clone();
        meter.count_members(&text).unwrap_or_default()
    }

    #[track_caller]
    fn check(objects: &[&str], expected: [Option<u64>; 5]) {
        let mut meter = Meter::new(ROWS);
        objects.iter().for_each(|json| meter.feed(json));
        let u = adjust(read(&mut meter));
        let got = [
            u.input_tokens, u.output_tokens, u.total_tokens, u.cached_input_tokens,
            u.reasoning_tokens,
        ];
        assert_eq!(got, expected);
    }

    #[test]
    fn counts_stand_among_other_members() {
        let mut meter = Meter::new(ROWS);
        meter.pick(r#"{"in":5,"text":"x","out":1}"#);
        meter.pick(r#"{"in":0,"text":"y","out":2}"#);
        assert_eq!(meter.text, r#"{"in":5,"out":2}"#);
    }

    #[test]
    fn the_last_value_of_each_field_counts() {
        check(
            &[r#"{"in":5,"out":1,"cache":{"read":2}}"#, r#"{"out":9,"in":null}"#],
            [Some(7), Some(9), Some(16), Some(2), None],
        );
    }

    /// An object of few keys, in any spelling.
    fn object() -> impl Strategy<Value = String> {
        let key = select(&["in", "\\u0069n", "a1", "a2", "é", ""][..]);
        let value = select(
            &[
                "null", "0", "7", "12", "\"1\"", "\"a 1\"", "\"\\\"2\"", "[1, {\"in\" :2}]",
                "{\"a1\":3}",
            ][..],
        );
        let long = prop_oneof![
            9 => value.prop_map(str::to_owned),
            1 => (0..3000_usize).prop_map(|length| format!("\"{}\"", "x".repeat(length))),
        ];
        let colon = select(&[":", " :\n"][..]);
        let member =
            (key, colon, long).prop_map(|(key, colon, value)| format!("\"{key}\"{colon}{value}"));
        let many = (0..100_u8).prop_map(|number| format!("\"k{number}\":{number}"));
        prop_oneof![vec(member, 0..5), vec(many, 0..60)]
            .prop_map(|members| format!(" {{{} }}", members.join(", ")))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn the_last_value_of_each_member_counts(objects in vec(object(), 0..9)) {
            let mut meter = Meter::new(ROWS);
            let mut expected: Vec<(String, String)> = Vec::new();
            for object in &objects {
                meter.feed(object);
                for (key, value) in json::members(object) {
                    let value = json::minify(value.get());
                    match expected.iter_mut().find(|(known, _)| *known == key) {
                        _ if value == "null" => {}
                        Some((_, known)) => *known = value,
                        None => expected.push((key.into_owned(), value)),
                    }
                }
            }
            meter.begin_part();
            let expected = json::object(expected.iter().map(|(key, value)| (key, value)));
            prop_assert_eq!(meter.raw.get(1..).unwrap_or("{}"), expected);
        }
    }

    #[test]
    fn a_number_may_have_two_names() {
        const TWO_NAMES: &[CountRule] =
            &[("in", Op::Adds, &[Field::Input]), ("a|b", Op::Adds, &[Field::Input, Field::Cached])];
        for (json, cached) in [("{\"in\":5,\"a\":2,\"b\":2}", 2), ("{\"in\":5,\"b\":3}", 3)] {
            let mut meter = Meter::new(TWO_NAMES);
            meter.feed(json);
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
        assert!(meter.text.len() <= 2 * MAX_SIZE, "{}", meter.text.len());
    }

    #[test]
    fn elements_of_an_array_add_up() {
        const SUM: &[CountRule] = &[("parts.+.in|in", Op::Adds, &[Field::Input])];
        for (json, sum) in
            [(r#"{"in":1,"parts":[{"in":2},{"out":3},{"in":4}]}"#, 6), (r#"{"in":1}"#, 1)]
        {
            let mut meter = Meter::new(SUM);
            meter.feed(json);
            assert_eq!(read(&mut meter).input_tokens, Some(sum));
        }
    }

    #[test]
    fn an_element_may_be_a_place() {
        const ELEMENT: &[CountRule] = &[("models.1.in", Op::Is, &[Field::Input])];
        let mut meter = Meter::new(ELEMENT);
        meter.feed(r#"{"models":[{"in":1},{"in":2}]}"#);
        assert_eq!(read(&mut meter).input_tokens, Some(2));
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
