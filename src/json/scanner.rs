//! A validator of strict JSON (RFC 8259) that takes its text in pieces.

use smallvec::SmallVec;

use crate::cut::Cut as _;
use crate::json::plain::{is_space, string_length};
use crate::json::write::escape_into;

/// The state of the text that a [`Scanner`] has read so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonStatus {
    /// Nothing but white space.
    Empty,
    /// A value has begun and isn't complete.
    Open,
    /// One complete value. A number at the top may still grow.
    Whole,
    /// No continuation can make this JSON.
    Bad,
    /// Nested more deeply than allowed.
    TooDeep,
}

/// A validator that keeps one state, and whether each open container is an object.
#[derive(Clone, Debug)]
pub struct Scanner {
    state: ScannerState,
    /// For each open container, true if it is an object.
    open: SmallVec<[bool; 16]>,
    max_depth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScannerState {
    Empty,
    Value,
    FirstElement,
    FirstKey,
    Key,
    Colon,
    /// After a value inside a container.
    After,
    Text(StringRole),
    Escape(StringRole),
    Hex(StringRole, u8),
    /// Before a control character in a string, which strict JSON forbids; true if a
    /// backslash is before it.
    Control(StringRole, bool),
    Minus,
    Zero,
    Digits,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
    Literal(&'static [u8]),
    Whole,
    Bad,
    TooDeep,
}

/// The role of a string in its container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StringRole {
    Key,
    Value,
}

/// The part of an object that a byte belongs to, as an [`crate::json::ObjectReader`]
/// tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectPart {
    /// A key's string, quotes included.
    Key,
    /// A member's value, without white space around it.
    Value,
    /// Braces, colons, commas and white space of the object itself.
    Between,
}

/// The kind of token that a byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A key's string, quotes included.
    Key,
    /// Any other string, quotes included.
    Text,
    Number,
    /// Brackets, separators, literals and white space.
    Other,
}

impl Default for Scanner {
    fn default() -> Self {
        Scanner::new(crate::json::MAX_DEPTH)
    }
}

impl Scanner {
    /// A scanner for one value nested at most `max_depth` deep; 0 is no limit.
    pub fn new(max_depth: usize) -> Self {
        Scanner { state: ScannerState::Empty, open: SmallVec::new(), max_depth }
    }

    /// True if the next byte belongs to a string.
    pub fn is_in_string(&self) -> bool {
        use ScannerState::{Control, Escape, Hex, Text};
        matches!(self.state, Text(_) | Escape(_) | Hex(..) | Control(..))
    }

    /// Reads on to the end of the value, of the bytes, or to the first byte that
    /// can't be right. Returns the number of bytes taken: white space after a
    /// value that closes itself is not taken.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            match self.hop(rest) {
                0 => break,
                taken => at += taken,
            }
        }
        at
    }

    /// Takes a run of a string's text, or one byte of anything else; none if the
    /// next byte can't be right or the value is complete.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> usize {
        let Some(&first) = bytes.first() else { return 0 };
        if let ScannerState::Text(role) = self.state {
            let run = text_length(bytes);
            let Some(&byte) = bytes.get(run) else { return run };
            self.state = match byte {
                b'"' => self.string_ended(role),
                b'\\' => ScannerState::Escape(role),
                _ => ScannerState::Control(role, false),
            };
            return run + usize::from(!matches!(self.state, ScannerState::Control(..)));
        }
        if self.in_number() && !is_number_byte(first) {
            self.end_number();
        }
        match self.state {
            ScannerState::Digits if first.is_ascii_digit() => {
                return bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            }
            ScannerState::Literal(rest) if bytes.starts_with(rest) => {
                self.state = self.after_value();
                return rest.len();
            }
            ScannerState::Whole
            | ScannerState::Bad
            | ScannerState::TooDeep
            | ScannerState::Control(..) => return 0,
            ScannerState::Escape(role) if first < b' ' => {
                self.state = ScannerState::Control(role, true)
            }
            state => self.state = self.step(state, first),
        }
        usize::from(!matches!(
            self.state,
            ScannerState::Bad | ScannerState::TooDeep | ScannerState::Control(..)
        ))
    }

    /// Takes a separator with the space and the quote after it at once, or else what
    /// [`Self::advance`] takes.
    fn hop(&mut self, bytes: &[u8]) -> usize {
        let is_in_object = self.open.last() == Some(&true);
        let (separator, next, role) = match self.state {
            ScannerState::Colon => (b':', ScannerState::Value, StringRole::Value),
            ScannerState::After if is_in_object => (b',', ScannerState::Key, StringRole::Key),
            ScannerState::After => (b',', ScannerState::Value, StringRole::Value),
            _ => return self.advance(bytes),
        };
        let taken = match bytes {
            [first, b' ', ..] if *first == separator => 2,
            [first, ..] if *first == separator => 1,
            _ => return self.advance(bytes),
        };
        let is_string = bytes.get(taken) == Some(&b'"');
        self.state = if is_string { ScannerState::Text(role) } else { next };
        taken + usize::from(is_string)
    }

    /// Reads on inside the values of the outermost object, up to their ends; takes no byte that
    /// stands between them.
    pub(super) fn advance_inside(&mut self, bytes: &[u8]) -> usize {
        let mut at = self.advance(bytes);
        while self.open.len() > 1 {
            match self.hop(bytes.after(at)) {
                0 => break,
                taken => at += taken,
            }
        }
        at
    }

    /// Reads on like [`Self::push`], but takes control characters in strings, which
    /// models forget to escape. Passes the text on in pieces, with such characters
    /// as escapes. Returns the number of bytes taken, and whether there were such
    /// characters.
    pub fn push_raw<E>(
        &mut self,
        text: &str,
        then: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<(usize, bool), E> {
        let (mut at, mut is_raw) = (0, false);
        loop {
            let rest = text.after(at);
            let taken = self.push(rest.as_bytes());
            at += taken;
            if taken > 0 {
                then(rest.before(taken))?;
            }
            let Some(escape) = self.take_control(text.after(at)) else {
                return Ok((at, is_raw));
            };
            then(&escape)?;
            is_raw = true;
            at += 1;
        }
    }

    /// Takes the control character in a string that this text begins with. Returns
    /// its escape.
    pub(super) fn take_control(&mut self, text: &str) -> Option<String> {
        let ScannerState::Control(role, is_escaped) = self.state else { return None };
        let mut escape = String::new();
        escape_into(text.get(..1)?, &mut escape);
        self.state = ScannerState::Text(role);
        // A backslash before it has been passed on.
        Some(escape.split_off(usize::from(is_escaped)))
    }

    /// The part of an object that a next byte would belong to.
    pub(super) fn part(&mut self, byte: u8) -> ObjectPart {
        use ScannerState::*;
        match (self.open.len(), self.token(byte), self.state) {
            (1, Token::Key, _) => ObjectPart::Key,
            (1, _, Value) if is_space(byte) => ObjectPart::Between,
            (0, ..) | (1, _, FirstKey | Key | Colon | After | Bad | TooDeep) => ObjectPart::Between,
            _ => ObjectPart::Value,
        }
    }

    /// Returns what is known so far.
    pub fn status(&self) -> JsonStatus {
        match self.state {
            ScannerState::Empty => JsonStatus::Empty,
            ScannerState::Whole => JsonStatus::Whole,
            ScannerState::Bad | ScannerState::Control(..) => JsonStatus::Bad,
            ScannerState::TooDeep => JsonStatus::TooDeep,
            ScannerState::Zero
            | ScannerState::Digits
            | ScannerState::Fraction
            | ScannerState::ExponentDigits
                if self.open.is_empty() =>
            {
                JsonStatus::Whole
            }
            _ => JsonStatus::Open,
        }
    }

    /// Takes white space after a whole value; anything else makes it bad.
    pub fn push_all(&mut self, bytes: &[u8]) {
        let taken = self.push(bytes);
        let rest = bytes.after(taken);
        if self.state == ScannerState::Whole && !rest.iter().all(|byte| is_space(*byte)) {
            self.state = ScannerState::Bad;
        }
    }

    /// True if the value is complete and can't grow, as a number at the top can.
    pub fn is_closed(&self) -> bool {
        self.state == ScannerState::Whole
    }

    /// The kind of token that a next byte would belong to.
    pub(super) fn token(&mut self, byte: u8) -> Token {
        use ScannerState::*;
        if self.in_number() && !is_number_byte(byte) {
            self.end_number();
        }
        match (self.state, byte) {
            (Text(role) | Escape(role) | Hex(role, _) | Control(role, _), _) => match role {
                StringRole::Key => Token::Key,
                StringRole::Value => Token::Text,
            },
            (FirstKey | Key, b'"') => Token::Key,
            (Empty | Value | FirstElement, b'"') => Token::Text,
            (Empty | Value | FirstElement, b'-' | b'0'..=b'9') => Token::Number,
            _ if self.in_number() => Token::Number,
            _ => Token::Other,
        }
    }

    fn step(&mut self, state: ScannerState, byte: u8) -> ScannerState {
        use ScannerState::*;
        match (state, byte) {
            (Empty | Value | FirstElement | FirstKey | Key | Colon | After, _)
                if is_space(byte) =>
            {
                state
            }
            (FirstElement, b']') | (FirstKey, b'}') => self.close(),
            (Empty | Value | FirstElement, _) => self.value(byte),
            (FirstKey | Key, b'"') => Text(StringRole::Key),
            (Colon, b':') => Value,
            (After, b',') => {
                if self.open.last() == Some(&true) {
                    Key
                } else {
                    Value
                }
            }
            (After, b'}') if self.open.last() == Some(&true) => self.close(),
            (After, b']') if self.open.last() == Some(&false) => self.close(),
            (Escape(role), _) if is_escape_letter(byte) => Text(role),
            (Escape(role), b'u') => Hex(role, 4),
            (Hex(role, 1), _) if byte.is_ascii_hexdigit() => Text(role),
            (Hex(role, left), _) if byte.is_ascii_hexdigit() => Hex(role, left - 1),
            (Minus, b'0') => Zero,
            (Minus, b'1'..=b'9') => Digits,
            (Zero | Digits, b'.') => Point,
            (Point | Fraction, b'0'..=b'9') => Fraction,
            (Zero | Digits | Fraction, b'e' | b'E') => Exponent,
            (Exponent, b'+' | b'-') => ExponentSign,
            (Exponent | ExponentSign | ExponentDigits, b'0'..=b'9') => ExponentDigits,
            (Literal([next, rest @ ..]), _) if byte == *next => Literal(rest),
            _ => Bad,
        }
    }

    fn value(&mut self, byte: u8) -> ScannerState {
        match byte {
            b'{' => self.open(true),
            b'[' => self.open(false),
            b'"' => ScannerState::Text(StringRole::Value),
            b'-' => ScannerState::Minus,
            b'0' => ScannerState::Zero,
            b'1'..=b'9' => ScannerState::Digits,
            b't' => ScannerState::Literal(b"rue"),
            b'f' => ScannerState::Literal(b"alse"),
            b'n' => ScannerState::Literal(b"ull"),
            _ => ScannerState::Bad,
        }
    }

    fn open(&mut self, is_object: bool) -> ScannerState {
        if self.max_depth != 0 && self.open.len() >= self.max_depth {
            return ScannerState::TooDeep;
        }
        self.open.push(is_object);
        if is_object { ScannerState::FirstKey } else { ScannerState::FirstElement }
    }

    fn close(&mut self) -> ScannerState {
        self.open.pop();
        self.after_value()
    }

    fn after_value(&self) -> ScannerState {
        if self.open.is_empty() { ScannerState::Whole } else { ScannerState::After }
    }

    fn string_ended(&self, role: StringRole) -> ScannerState {
        match role {
            StringRole::Key => ScannerState::Colon,
            StringRole::Value => self.after_value(),
        }
    }

    fn in_number(&self) -> bool {
        use ScannerState::*;
        matches!(
            self.state,
            Minus | Zero | Digits | Point | Fraction | Exponent | ExponentSign | ExponentDigits
        )
    }

    fn end_number(&mut self) {
        self.state = match self.state {
            ScannerState::Zero
            | ScannerState::Digits
            | ScannerState::Fraction
            | ScannerState::ExponentDigits => self.after_value(),
            _ => ScannerState::Bad,
        };
    }
}

/// Returns how many of the first bytes are a string's text, with its whole escapes of one letter.
fn text_length(bytes: &[u8]) -> usize {
    let mut at = string_length(bytes);
    while let Some([b'\\', letter, rest @ ..]) = bytes.get(at..)
        && is_escape_letter(*letter)
    {
        at += 2 + string_length(rest);
    }
    at
}

/// True for what stands for a character after a backslash.
pub(super) fn is_escape_letter(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')
}

pub(super) fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// Returns what is whole of a value that is damaged, with what is open there closed.
pub(crate) fn whole_part(json: &[u8]) -> Vec<u8> {
    use ScannerState::{After, FirstElement, FirstKey, Key, Value};
    let (mut scanner, mut at, mut end) = (Scanner::new(0), 0, 0);
    while let taken @ 1.. = scanner.advance(json.after(at)) {
        at += taken;
        // A number ends before its comma.
        if matches!(scanner.state, After | FirstElement | FirstKey) {
            end = at;
        } else if matches!(scanner.state, Key | Value) && json.get(at - 1) == Some(&b',') {
            end = at - 1;
        }
    }
    let mut part = json.before(end).to_vec();
    let mut scanner = Scanner::new(0);
    scanner.push(&part);
    part.extend(scanner.open.iter().rev().map(|is_object| if *is_object { b'}' } else { b']' }));
    part
}

/// True if the text is one whole JSON value, however deep.
pub(crate) fn is_json(text: &str) -> bool {
    let mut scanner = Scanner::new(0);
    scanner.push_all(text.as_bytes());
    scanner.status() == JsonStatus::Whole
}

/// True if the text is a number as JSON spells it.
pub(crate) fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '-') && is_json(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, expected: JsonStatus) {
        for size in [1, 2, 3, input.len().max(1)] {
            let mut scanner = Scanner::default();
            for piece in input.as_bytes().chunks(size) {
                scanner.push_all(piece);
            }
            assert_eq!(scanner.status(), expected, "{input:?} in pieces of {size}");
        }
    }

    #[test]
    fn whole_values() {
        for input in
            ["{}", "[]", " {\"a\" : [1, -0.5e+3, \"\\u00e9\\n\", null]} ", "true", "0", "\"\""]
        {
            check(input, JsonStatus::Whole);
        }
    }

    #[test]
    fn the_whole_part_of_damaged_values() {
        let check = |json: &[u8], part: &[u8]| assert_eq!(whole_part(json), part);
        check(b"{\"a\":[{\"b\":1,\"c\":\"\n\"}]}", b"{\"a\":[{\"b\":1}]}");
        check(b"{\"a\":{\"b\":NaN}}", b"{\"a\":{}}");
        check(b"{\"a\":true,\"b\":tru}", b"{\"a\":true}");
        check(b"{\"a\":1,}", b"{\"a\":1}");
        check(b"{a}", b"{}");
        check(b"[[\"a\"\"b\"]]", b"[[\"a\"]]");
        check(b"a", b"");
    }

    #[test]
    fn open_values() {
        for input in ["{", "[1,", "\"\\u00", "-", "1.", "1e", "tru", "{\"a\":1"] {
            check(input, JsonStatus::Open);
        }
        check(" \n", JsonStatus::Empty);
    }

    #[test]
    fn bad_values() {
        for input in [
            "{,}", "[1,]", "{\"a\":1,}", "01", "+1", "1.e1", "\"\n\"", "{}{}", "{} x", "nul ",
            "'a'", "{a:1}", "[1}", "{\"a\":1]", "\"\\u00g0\"", "\"\\u000g\"", "\"\\x\"", "NaN",
            "]", "-a", "[-]", "1 2",
        ] {
            check(input, JsonStatus::Bad);
        }
    }

    #[test]
    fn depth_is_counted_not_recursed_into() {
        check(&"[".repeat(128), JsonStatus::Open);
        check(&"[".repeat(129), JsonStatus::TooDeep);
        let mut unlimited = Scanner::new(0);
        unlimited.push_all("[".repeat(1_000_000).as_bytes());
        assert_eq!(unlimited.status(), JsonStatus::Open);
    }

    #[test]
    fn control_characters_in_strings_are_taken_where_they_are_asked_for() {
        let text = "{\"a\tb\": \"x\\\n\",\n\"c\":1}";
        for size in [1, 2, 3, text.len()] {
            let (mut scanner, mut out, mut raw) = (Scanner::default(), String::new(), 0);
            for piece in text.as_bytes().chunks(size) {
                let piece = std::str::from_utf8(piece).unwrap();
                let then = &mut |piece: &str| {
                    out.push_str(piece);
                    Ok::<(), ()>(())
                };
                let (taken, is_raw) = scanner.push_raw(piece, then).unwrap();
                assert_eq!(taken, piece.len());
                raw += usize::from(is_raw);
            }
            assert_eq!(out, "{\"a\\tb\": \"x\\n\",\n\"c\":1}");
            assert_eq!(
                (scanner.status(), raw.min(2)),
                (JsonStatus::Whole, if size < 21 { 2 } else { 1 })
            );
        }
        let mut strict = Scanner::default();
        strict.push_all(b"{\"a\":\"x\n\"}");
        assert_eq!(strict.status(), JsonStatus::Bad);
    }

    #[test]
    fn what_follows_a_value_is_not_taken() {
        assert_eq!(Scanner::default().push(b"{\"a\":\"}\"} {}"), 9);
        assert_eq!(Scanner::default().push(b"12 3"), 2);
    }
}
