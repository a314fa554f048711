//! Strict JSON (RFC 8259), read in pieces: is it whole, can it still become
//! so, and where does it end?

/// What is known of the text so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
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

/// A validator that keeps one state, and one bit for each open container.
#[derive(Clone, Debug)]
pub struct Scanner {
    state: State,
    /// For each open container, whether it is an object.
    open: Vec<bool>,
    max_depth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Empty,
    Value,
    FirstElement,
    FirstKey,
    Key,
    Colon,
    /// After a value inside a container.
    After,
    Text(Role),
    Escape(Role),
    Hex(Role, u8),
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

/// What a string stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Key,
    Value,
}

impl Default for Scanner {
    fn default() -> Self {
        Scanner::new(crate::json::MAX_DEPTH)
    }
}

impl Scanner {
    /// A scanner for one value nested at most `max_depth` deep; 0 is no limit.
    pub fn new(max_depth: usize) -> Self {
        Scanner { state: State::Empty, open: Vec::new(), max_depth }
    }

    /// Whether what comes next is a string's.
    pub fn is_in_string(&self) -> bool {
        matches!(self.state, State::Text(_) | State::Escape(_) | State::Hex(..))
    }

    /// Reads on to the end of the value, of the bytes, or to the first byte
    /// that can't be right. Gives the number of bytes that were taken: white
    /// space after a value that closes itself is not.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.state {
                State::Whole | State::Bad | State::TooDeep => break,
                State::Text(role) => {
                    at += plain_run(bytes.get(at..).unwrap_or_default());
                    let Some(&byte) = bytes.get(at) else { break };
                    self.state = match byte {
                        b'"' => self.string_ended(role),
                        b'\\' => State::Escape(role),
                        _ => State::Bad,
                    };
                    if self.state == State::Bad {
                        break;
                    }
                    at += 1;
                }
                state => {
                    if self.in_number() && !is_number_byte(byte) {
                        self.end_number();
                        continue;
                    }
                    self.state = self.step(state, byte);
                    if matches!(self.state, State::Bad | State::TooDeep) {
                        break;
                    }
                    at += 1;
                }
            }
        }
        at
    }

    /// What is known so far.
    pub fn status(&self) -> Status {
        match self.state {
            State::Empty => Status::Empty,
            State::Whole => Status::Whole,
            State::Bad => Status::Bad,
            State::TooDeep => Status::TooDeep,
            State::Zero | State::Digits | State::Fraction | State::ExponentDigits
                if self.open.is_empty() =>
            {
                Status::Whole
            }
            _ => Status::Open,
        }
    }

    /// Takes white space after a whole value; anything else makes it bad.
    pub fn push_all(&mut self, bytes: &[u8]) {
        let taken = self.push(bytes);
        let rest = bytes.get(taken..).unwrap_or_default();
        if self.state == State::Whole && !rest.iter().all(|byte| is_space(*byte)) {
            self.state = State::Bad;
        }
    }

    /// Whether the value is complete and can't grow, as a number at the top can.
    pub fn is_closed(&self) -> bool {
        self.state == State::Whole
    }

    fn step(&mut self, state: State, byte: u8) -> State {
        use State::*;
        match (state, byte) {
            (Empty | Value | FirstElement | FirstKey | Key | Colon | After, _)
                if is_space(byte) =>
            {
                state
            }
            (FirstElement, b']') | (FirstKey, b'}') => self.close(),
            (Empty | Value | FirstElement, _) => self.value(byte),
            (FirstKey | Key, b'"') => Text(Role::Key),
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
            (Escape(role), b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Text(role),
            (Escape(role), b'u') => Hex(role, 4),
            (Hex(role, 1), _) if byte.is_ascii_hexdigit() => Text(role),
            (Hex(role, left), _) if byte.is_ascii_hexdigit() => Hex(role, left - 1),
            (Minus, b'0') => Zero,
            (Minus, b'1'..=b'9') | (Digits, b'0'..=b'9') => Digits,
            (Zero | Digits, b'.') => Point,
            (Point | Fraction, b'0'..=b'9') => Fraction,
            (Zero | Digits | Fraction, b'e' | b'E') => Exponent,
            (Exponent, b'+' | b'-') => ExponentSign,
            (Exponent | ExponentSign | ExponentDigits, b'0'..=b'9') => ExponentDigits,
            (Literal([last]), _) if byte == *last => self.after_value(),
            (Literal([next, rest @ ..]), _) if byte == *next => Literal(rest),
            _ => Bad,
        }
    }

    fn value(&mut self, byte: u8) -> State {
        match byte {
            b'{' => self.open(true),
            b'[' => self.open(false),
            b'"' => State::Text(Role::Value),
            b'-' => State::Minus,
            b'0' => State::Zero,
            b'1'..=b'9' => State::Digits,
            b't' => State::Literal(b"rue"),
            b'f' => State::Literal(b"alse"),
            b'n' => State::Literal(b"ull"),
            _ => State::Bad,
        }
    }

    fn open(&mut self, is_object: bool) -> State {
        if self.max_depth != 0 && self.open.len() >= self.max_depth {
            return State::TooDeep;
        }
        self.open.push(is_object);
        if is_object { State::FirstKey } else { State::FirstElement }
    }

    fn close(&mut self) -> State {
        self.open.pop();
        self.after_value()
    }

    fn after_value(&self) -> State {
        if self.open.is_empty() { State::Whole } else { State::After }
    }

    fn string_ended(&self, role: Role) -> State {
        match role {
            Role::Key => State::Colon,
            Role::Value => self.after_value(),
        }
    }

    fn in_number(&self) -> bool {
        use State::*;
        matches!(
            self.state,
            Minus | Zero | Digits | Point | Fraction | Exponent | ExponentSign | ExponentDigits
        )
    }

    fn end_number(&mut self) {
        self.state = match self.state {
            State::Zero | State::Digits | State::Fraction | State::ExponentDigits => {
                self.after_value()
            }
            _ => State::Bad,
        };
    }
}

/// White space is what JSON says it is, and nothing else.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// The length of the run that neither ends a string nor is forbidden in one.
fn plain_run(bytes: &[u8]) -> usize {
    bytes.iter().position(|&b| b == b'"' || b == b'\\' || b < 0x20).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, expected: Status) {
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
            check(input, Status::Whole);
        }
    }

    #[test]
    fn open_values() {
        for input in ["{", "[1,", "\"\\u00", "-", "1.", "1e", "tru", "{\"a\":1"] {
            check(input, Status::Open);
        }
        check(" \n", Status::Empty);
    }

    #[test]
    fn bad_values() {
        for input in [
            "{,}",
            "[1,]",
            "{\"a\":1,}",
            "01",
            "+1",
            "1.e1",
            "\"\n\"",
            "{}{}",
            "{} x",
            "nul ",
            "'a'",
            "{a:1}",
            "[1}",
            "{\"a\":1]",
            "\"\\u00g0\"",
            "\"\\u000g\"",
            "\"\\x\"",
            "NaN",
            "]",
            "-a",
            "[-]",
            "1 2",
        ] {
            check(input, Status::Bad);
        }
    }

    #[test]
    fn depth_is_counted_not_recursed_into() {
        check(&"[".repeat(128), Status::Open);
        check(&"[".repeat(129), Status::TooDeep);
        let mut unlimited = Scanner::new(0);
        unlimited.push_all("[".repeat(1_000_000).as_bytes());
        assert_eq!(unlimited.status(), Status::Open);
    }

    #[test]
    fn what_follows_a_value_is_not_taken() {
        assert_eq!(Scanner::default().push(b"{\"a\":\"}\"} {}"), 9);
        assert_eq!(Scanner::default().push(b"12 3"), 2);
    }
}
