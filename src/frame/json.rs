//! JSON values one after another: a whole body, pretty-printed or not, several
//! of them back to back, or the elements of one array. Each is emitted when its
//! last byte has come.

use std::io;

use crate::cut::Cut as _;
use crate::event::WarningCode;
use crate::frame::framer::{
    Content, Fault, FaultKind, Frame, FrameConfig, FrameOut, Framed, Framer, Framing, Holds, Sniff,
    skip_blank,
};
use crate::json::{JsonStatus, Scanner};

pub(super) static FRAMING: Framing = Framing {
    name: "json",
    about: "one JSON body, or several one after another",
    content: Content::Json,
    ends_with_done: false,
    holds: Holds::Body,
    sniff: |head| match skip_blank(head) {
        [] => Sniff::More,
        value @ [b'{', ..] => sniff_value(value),
        _ => Sniff::No,
    },
    framer: |config| Box::new(JsonFramer::new(&FRAMING, false, config)),
    media_type: "application/json",
    idle: "\n",
    add: Some(|stream, _, data| {
        if !stream.is_empty() {
            stream.push(b'\n');
        }
        stream.extend_from_slice(format!("{data}\n").as_bytes());
    }),
};

/// The number of bytes of a value that are parsed before it counts as JSON. Prose that
/// begins with a brace is not JSON long before.
const ENOUGH: usize = 256;

fn sniff_value(value: &[u8]) -> Sniff {
    let mut scanner = Scanner::new(0);
    scanner.push(value.before(ENOUGH));
    match scanner.status() {
        JsonStatus::Bad => Sniff::No,
        JsonStatus::Whole => Sniff::Yes,
        _ if value.len() >= ENOUGH => Sniff::Yes,
        _ => Sniff::Likely,
    }
}

pub(super) static ARRAY: Framing = Framing {
    name: "json-array",
    about: "the elements of one JSON array",
    content: Content::Json,
    ends_with_done: false,
    holds: Holds::Stream,
    sniff: |head| match skip_blank(head) {
        [] => Sniff::More,
        [b'[', rest @ ..] => match rest.trim_ascii_start().first() {
            None => Sniff::Likely,
            Some(b']') => Sniff::Yes,
            Some(b'{') => sniff_value(rest.trim_ascii_start()),
            Some(_) => Sniff::No,
        },
        _ => Sniff::No,
    },
    framer: |config| Box::new(JsonFramer::new(&ARRAY, true, config)),
    media_type: "application/json",
    idle: "\n",
    add: Some(|stream, _, data| {
        // The end of the array, or the comma after the last element.
        stream.truncate(stream.trim_ascii_end().len());
        if let Some(b']' | b',') = stream.last() {
            stream.pop();
        }
        let comma = if stream.ends_with(b"[") { "" } else { "," };
        stream.extend_from_slice(format!("{comma}\n{data}]\n").as_bytes());
    }),
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueState {
    /// Before the array's bracket.
    Start,
    /// Between values.
    Between,
    /// Inside one.
    Inside,
    /// In something that is not JSON.
    Lost(Loss),
    /// After the array's closing bracket.
    Closed,
    Stopped,
}

/// The place of what is not JSON, and its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loss {
    /// In a value, or before one: the end of the line.
    Value,
    /// Between the elements of an array: what may be one, or the end of the line.
    Between,
    /// After the array's closing bracket: the end of the line.
    After,
}

struct JsonFramer {
    framing: &'static Framing,
    is_array: bool,
    config: FrameConfig,
    state: ValueState,
    scanner: Scanner,
    /// The buffered beginning of a value whose end has not come, or of what is
    /// not JSON.
    held: Vec<u8>,
    /// The offset of the value.
    begun: u64,
    offset: u64,
    /// The comma that must come before the next element, or the one after which
    /// an element must come.
    comma: Comma,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Comma {
    None,
    Wanted,
    Seen,
}

impl JsonFramer {
    fn new(framing: &'static Framing, is_array: bool, config: FrameConfig) -> Self {
        let state = if is_array { ValueState::Start } else { ValueState::Between };
        let scanner = Scanner::new(0);
        JsonFramer {
            framing,
            is_array,
            config,
            state,
            scanner,
            held: Vec::new(),
            begun: 0,
            offset: 0,
            comma: Comma::None,
        }
    }

    /// Takes a byte between two values; false if it does not belong there.
    fn between(&mut self, byte: u8) -> bool {
        self.offset += 1;
        let (is_array, comma) = (self.is_array, self.comma);
        match (byte, self.state) {
            (b'[', ValueState::Start) => self.state = ValueState::Between,
            (b'[', ValueState::Closed) => {
                (self.state, self.comma) = (ValueState::Between, Comma::None)
            }
            (b',', ValueState::Between) if is_array => {
                self.comma = Comma::Seen;
                return comma == Comma::Wanted;
            }
            (b']', ValueState::Between) if is_array => {
                self.state = ValueState::Closed;
                return comma != Comma::Seen;
            }
            // White space, and the bytes of a byte order mark.
            (b' ' | b'\t' | b'\n' | b'\r' | 0xEF | 0xBB | 0xBF, _) => {}
            (b'{' | b'[', ValueState::Between) => {
                self.begin(ValueState::Inside);
                self.comma = Comma::Wanted;
                return !is_array || comma != Comma::Wanted;
            }
            (_, ValueState::Closed) => self.begin(ValueState::Lost(Loss::After)),
            (_, ValueState::Between) if is_array => self.begin(ValueState::Lost(Loss::Between)),
            _ => self.begin(ValueState::Lost(Loss::Value)),
        }
        true
    }

    /// Begins a value, or what is lost, at the byte that was just counted.
    fn begin(&mut self, state: ValueState) {
        self.offset -= 1;
        self.begun = self.offset;
        self.scanner = Scanner::new(0);
        self.state = state;
    }

    /// True if the value, or what is lost, is over the limit.
    fn is_over(&self) -> bool {
        matches!(self.state, ValueState::Inside | ValueState::Lost(_))
            && self.config.is_over((self.offset - self.begun) as usize)
    }

    fn frame(&self, data: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        out(Framed::Frame(Frame::new(self.framing, data, self.begun)))
    }

    fn fault(&self, kind: FaultKind, message: &str, out: &mut FrameOut<'_>) -> io::Result<()> {
        out(Framed::Fault(Fault::new(kind, message, self.begun).with_raw(&self.held)))
    }

    fn note_comma(&self, offset: u64, out: &mut FrameOut<'_>) -> io::Result<()> {
        let message = "the elements of the array are not separated by one comma each";
        out(Framed::Fault(Fault::note(WarningCode::ArrayComma, message, offset)))
    }

    /// Takes the bytes that belong to the value, and emits it if it is whole.
    /// Returns how many they are.
    fn inside(&mut self, rest: &[u8], out: &mut FrameOut<'_>) -> io::Result<usize> {
        let taken = self.scanner.push(rest);
        let part = rest.before(taken);
        self.offset += taken as u64;
        match self.scanner.status() {
            JsonStatus::Whole if self.is_over() => {}
            JsonStatus::Whole if self.held.is_empty() => {
                self.state = ValueState::Between;
                self.frame(part, out)?;
            }
            JsonStatus::Whole => {
                self.state = ValueState::Between;
                let mut held = std::mem::take(&mut self.held);
                held.extend_from_slice(part);
                self.frame(&held, out)?;
                held.clear();
                self.held = held;
            }
            status => {
                self.held.extend_from_slice(part);
                if status == JsonStatus::Bad {
                    self.state = ValueState::Lost(Loss::Value);
                }
            }
        }
        Ok(taken)
    }

    /// Skips what is not JSON, up to the end of the line or, between the elements of an array, up to
    /// what may be one. Returns how many bytes that is.
    fn lost(&mut self, rest: &[u8], out: &mut FrameOut<'_>) -> io::Result<usize> {
        let end = match self.state {
            ValueState::Lost(Loss::Between) => {
                rest.iter().position(|byte| b"\n{[,]".contains(byte))
            }
            _ => memchr::memchr(b'\n', rest),
        };
        let part = rest.before(end.unwrap_or(rest.len()));
        self.offset += part.len() as u64;
        self.held.extend_from_slice(part);
        if end.is_some() && !self.is_over() {
            self.fault(FaultKind::Malformed, "this is not JSON", out)?;
            self.held.clear();
            self.state = match self.state {
                ValueState::Lost(Loss::After) => ValueState::Closed,
                _ => ValueState::Between,
            };
        }
        Ok(part.len())
    }
}

impl Framer for JsonFramer {
    fn step<'b>(&mut self, bytes: &'b [u8], out: &mut FrameOut<'_>) -> io::Result<&'b [u8]> {
        let taken = match self.state {
            ValueState::Stopped => bytes.len(),
            ValueState::Inside => self.inside(bytes, out)?,
            ValueState::Lost(_) => self.lost(bytes, out)?,
            ValueState::Start | ValueState::Between | ValueState::Closed => {
                let before = self.offset;
                if !self.between(bytes.first().copied().unwrap_or(b' ')) {
                    self.note_comma(before, out)?;
                }
                (self.offset - before) as usize
            }
        };
        if self.is_over() {
            self.state = ValueState::Stopped;
            self.held = Vec::new();
            out(Framed::Fault(self.config.limit_fault(self.begun)))?;
        }
        Ok(bytes.after(taken))
    }

    fn finish(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        match self.state {
            ValueState::Inside => {
                self.fault(FaultKind::Truncated, "the input ended inside a JSON value", out)
            }
            ValueState::Lost(_) => self.fault(FaultKind::Malformed, "this is not JSON", out),
            ValueState::Between if self.is_array => {
                self.begun = self.offset;
                self.fault(FaultKind::Unclosed, "the input ended before the array's `]`", out)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(framing: &Framing, input: &str, expected: &[&str]) {
        crate::frame::framer::tests::check(framing, false, input.as_bytes(), expected);
    }

    #[test]
    fn what_is_cut() {
        check(&FRAMING, "{\"a\":1} {\"b\"", &["|{\"a\":1}", "!Truncated 8"]);
        check(&ARRAY, "[{\"a\":1},", &["|{\"a\":1}", "!Unclosed 9"]);
    }

    #[test]
    fn what_follows_garbage_in_an_array_is_read() {
        let (first, next) = ("|{\"a\":1}", "|{\"b\":2}");
        check(&ARRAY, "[{\"a\":1} x {\"b\":2}]", &[first, "!Malformed 9", "!Note 11", next]);
        check(&ARRAY, "[{\"a\":1}, x, {\"b\":2}]", &[first, "!Malformed 10", "!Note 11", next]);
        check(&ARRAY, "[{\"a\":1} x\n]\n", &[first, "!Malformed 9"]);
        check(&ARRAY, "[{\"a\":1}, x", &[first, "!Malformed 10"]);
    }

    #[test]
    fn commas_are_looked_after() {
        check(&ARRAY, "[{}{},]", &["|{}", "!Note 3", "|{}", "!Note 6"]);
        check(&ARRAY, "[{}][{}]", &["|{}", "|{}"]);
    }
}
