//! JSON that its readers disagree about.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use smallvec::SmallVec;

use crate::cut::Cut as _;
use crate::json::plain::{is_space, string_length};
use crate::json::reader;
use crate::json::scanner::is_number_byte;

/// The ambiguities that a JSON text holds: some readers take them for something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ambiguities {
    /// An object has a key twice: some readers take the first member, some the last.
    pub duplicate_key: bool,
    /// A string has one half of a surrogate pair, which UTF-8 can't encode.
    pub lone_surrogate: bool,
    /// A double doesn't hold a number: it's an integer of too many digits, or too
    /// large or too small.
    pub inexact_number: bool,
}

/// Returns a whole JSON value without white space between its tokens, and what is ambiguous in it.
pub(crate) fn minify_and_check(json: &str) -> (Cow<'_, str>, Ambiguities) {
    let mut search = AmbiguitySearch::default();
    search.run(json);
    let AmbiguitySearch { mut minified, copied, found, .. } = search;
    if copied == 0 {
        return (json.into(), found);
    }
    minified.push_str(json.after(copied));
    (minified.into(), found)
}

/// Returns JSON text with only the last of each object's members of one name. All
/// else keeps its spelling.
pub(crate) fn without_doubles(json: &str) -> String {
    let mut search = AmbiguitySearch::default();
    search.run(json);
    let mut dropped = search.dropped;
    dropped.sort_unstable_by_key(|range| range.start);
    let (mut out, mut at) = (String::with_capacity(json.len()), 0);
    for range in dropped {
        // One range may be inside of another.
        out.push_str(json.within(at..range.start));
        at = at.max(range.end);
    }
    out.push_str(json.after(at));
    out
}

/// A key, decoded; as it is spelled (`false`) if it holds half a surrogate pair.
type DecodedKey<'j> = (bool, Cow<'j, str>);

/// The number of members up to which a key is compared with each of them.
const FEW: usize = 16;

/// One pass over a JSON value.
#[derive(Default)]
struct AmbiguitySearch<'j> {
    found: Ambiguities,
    /// The containers that are open: for an object, the number of members of those around it;
    /// `None` for an array.
    open: SmallVec<[Option<usize>; 8]>,
    /// The members of the open objects, each with the place where it begins.
    members: SmallVec<[(DecodedKey<'j>, usize); 8]>,
    /// The number of the last member of each key in an object that has many, which goes by the
    /// place of its first.
    last: BTreeMap<(usize, DecodedKey<'j>), usize>,
    /// The members that another one of their name follows, up to the next key.
    dropped: Vec<Range<usize>>,
    /// The value without white space between its tokens, up to the last of that.
    minified: String,
    /// The place after that white space; 0 if there is none.
    copied: usize,
}

impl<'j> AmbiguitySearch<'j> {
    /// Goes through a value that is known to be JSON.
    fn run(&mut self, json: &'j str) {
        let bytes = json.as_bytes();
        // True where the next string is a key.
        let (mut at, mut is_key) = (0, false);
        while let Some(&byte) = bytes.get(at) {
            let from = at;
            at += 1;
            match byte {
                b'"' => {
                    let string = StringEnd::find(bytes, at);
                    at = string.end;
                    let text = json.within(from..at);
                    match is_key {
                        true => self.member(text, string.has_escapes, from),
                        // Of the escapes, only these can be half a character.
                        false if string.has_units => drop(self.string(text)),
                        false => {}
                    }
                    is_key = false;
                }
                b'{' => {
                    self.open.push(Some(self.members.len()));
                    is_key = true;
                }
                b'[' => self.open.push(None),
                b'}' | b']' => {
                    if let Some(Some(first)) = self.open.pop() {
                        self.members.truncate(first);
                    }
                    is_key = false;
                }
                b',' => is_key = self.open.last().is_some_and(Option::is_some),
                b'-' | b'0'..=b'9' => {
                    let rest = bytes.after(at);
                    at += rest.iter().take_while(|&&byte| is_number_byte(byte)).count();
                    let number = json.within(from..at);
                    self.found.inexact_number |= !is_exact(number);
                }
                _ if is_space(byte) => {
                    self.minified.reserve(json.len() - self.copied);
                    self.minified.push_str(json.within(self.copied..from));
                    let rest = bytes.after(at);
                    at += rest.iter().take_while(|byte| is_space(**byte)).count();
                    self.copied = at;
                }
                _ => {}
            }
        }
    }

    /// Decodes a string that has escapes.
    fn string(&mut self, text: &'j str) -> DecodedKey<'j> {
        let decoded = reader::text(text);
        if decoded.low().is_some() || decoded.high().is_some() || decoded.is_replaced() {
            self.found.lone_surrogate = true;
            return (false, Cow::Borrowed(text));
        }
        (true, Cow::Owned(format!("\"{}\"", decoded.as_str())))
    }

    fn member(&mut self, text: &'j str, has_escapes: bool, from: usize) {
        let key = if has_escapes { self.string(text) } else { (true, Cow::Borrowed(text)) };
        let Some(Some(first)) = self.open.last() else { return };
        let known = self.members.after(*first);
        let (number, object) = (self.members.len(), known.first().map_or(from, |(_, from)| *from));
        if known.len() == FEW {
            let known = known.iter().zip(*first..);
            self.last.extend(known.map(|((key, _), number)| ((object, key.clone()), number)));
        }
        let double = match known.len() < FEW {
            true => known.iter().rposition(|(known, _)| *known == key).map(|place| first + place),
            false => self.last.insert((object, key.clone()), number),
        };
        self.members.push((key, from));
        let Some(double) = double else { return };
        let next = self.members.get(double + 1).map_or(from, |(_, from)| *from);
        self.found.duplicate_key = true;
        self.dropped.push(self.members.get(double).map_or(from, |(_, from)| *from)..next);
    }
}

/// The end of a string, after its quote, and the escapes in it.
struct StringEnd {
    end: usize,
    has_escapes: bool,
    /// True if one of them is of a unit of UTF-16.
    has_units: bool,
}

impl StringEnd {
    /// Finds the end of the string whose inside begins at `at`.
    fn find(bytes: &[u8], mut at: usize) -> Self {
        let (mut has_escapes, mut has_units) = (false, false);
        loop {
            at += string_length(bytes.after(at));
            match bytes.get(at..) {
                Some([b'\\', escape, ..]) => {
                    has_escapes = true;
                    has_units |= *escape == b'u';
                    at += 2;
                }
                Some([b'"', ..]) => return StringEnd { end: at + 1, has_escapes, has_units },
                Some([_, _, ..]) => at += 1,
                _ => return StringEnd { end: bytes.len(), has_escapes, has_units },
            }
        }
    }
}

/// True if a double holds this number: an integer exactly, any other to its
/// precision.
fn is_exact(number: &str) -> bool {
    let is_integer = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_integer && number.len() < 16 {
        return true;
    }
    let Ok(double) = number.parse::<f64>() else { return false };
    if is_integer {
        return format!("{double:.0}") == number;
    }
    let mut mantissa = number.bytes().take_while(|byte| !matches!(byte, b'e' | b'E'));
    let is_zero = !mantissa.any(|byte| matches!(byte, b'1'..=b'9'));
    double.is_finite() && (double != 0.0 || is_zero)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::Value;

    use super::*;
    use crate::json::MAX_DEPTH;
    use crate::json::write::minify;

    /// JSON in which keys come twice, spelled alike or not.
    fn doubled() -> impl Strategy<Value = String> {
        let leaf = select(&["1", "\"a\"", "[]", "{}"][..]).prop_map(str::to_owned);
        leaf.prop_recursive(4, 24, 4, |inner| {
            let key = select(&["a", "b", "\\u0061"][..]);
            let member = (key, inner.clone()).prop_map(|(key, value)| format!("\"{key}\":{value}"));
            prop_oneof![
                vec(inner, 0..4).prop_map(|elements| format!("[{}]", elements.join(","))),
                vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(","))),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn without_doubles_every_reader_sees_the_same(json in doubled()) {
            let once = without_doubles(&json);
            prop_assert!(!minify_and_check(&once).1.duplicate_key, "{}", once);
            let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            prop_assert_eq!(read(&once), read(&json));
            prop_assert_eq!(once == json, !minify_and_check(&json).1.duplicate_key, "{}", json);
        }
    }

    #[track_caller]
    fn check(json: &str, duplicate_key: bool, lone_surrogate: bool, inexact_number: bool) {
        let expected = Ambiguities { duplicate_key, lone_surrogate, inexact_number };
        assert_eq!(minify_and_check(json), (minify(json).into(), expected), "{json}");
    }

    #[test]
    fn what_every_reader_takes_alike() {
        check(r#"{"a":{"a":1},"b":[{"a":1},{"a":2}],"A":"a"}"#, false, false, false);
        check(r#"{"a":["\ud83d\ude00","\\ud83d","\"a\""]}"#, false, false, false);
        check("[0.1,-0,0e999,1e308,9007199254740993.5,1234567890123456768]", false, false, false);
        check("12", false, false, false);
    }

    #[test]
    fn keys_that_come_twice() {
        check(r#"{"a":1,"b":2,"a":3}"#, true, false, false);
        check(r#"{"b":[{"a":1,"\u0061":3}]}"#, true, false, false);
        check(r#"{"":1,"":1}"#, true, false, false);
    }

    #[track_caller]
    fn check_once(json: &str, expected: &str) {
        assert_eq!(without_doubles(json), expected);
    }

    #[test]
    fn the_last_member_of_a_name_stays() {
        check_once(r#"{"c":1,"a":[{"b":2}],"c":3}"#, r#"{"a":[{"b":2}],"c":3}"#);
        check_once(r#"{ "a" : 1 , "\u0061" : 2.0 }"#, r#"{ "\u0061" : 2.0 }"#);
        check_once(r#"{"a":{"b":1,"b":2},"a":{"b":3,"b":4}}"#, r#"{"a":{"b":4}}"#);
        check_once(r#"{"a":1,"a":2,"a":3,"b":4}"#, r#"{"a":3,"b":4}"#);
        check_once(r#"{"\ud83d":1,"\ude00":2,"\ud83d":3}"#, r#"{"\ude00":2,"\ud83d":3}"#);
        for depth in [1, MAX_DEPTH, 1000] {
            let nested = |inner: &str| "[".repeat(depth) + inner + &"]".repeat(depth);
            check_once(&nested(r#"{"c":1,"c":2}"#), &nested(r#"{"c":2}"#));
        }
    }

    #[test]
    fn halves_of_surrogate_pairs() {
        check(r#"["\ud83d"]"#, false, true, false);
        check(r#"{"\ude00":1}"#, false, true, false);
        check(r#"["\ude00\ud83d"]"#, false, true, false);
    }

    #[test]
    fn numbers_that_no_double_holds() {
        for number in ["9007199254740993", "1e999", "-1E400", "1e-999", "123456789012345678901"] {
            check(&format!("[{number}]"), false, false, true);
            check(number, false, false, true);
        }
    }
}
