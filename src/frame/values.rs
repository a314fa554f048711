//! JSON values one after another: a whole body, pretty-printed or not, several
//! of them back to back, or the elements of one array, each handed on when its
//! last byte has come.

use std::io;

use super::{Fault, FaultKind, Frame, FrameOut, Framer, Framing, Settings, Sniff, skip_blank};
use crate::json::{Scanner, Status};

pub(super) static FRAMING: Framing = Framing {
    name: "json",
    about: "one JSON body, or several one after another",
    sniff: |head| match skip_blank(head).first() {
        None => Sniff::More,
        Some(b'{') => Sniff::Yes,
        Some(_) => Sniff::No,
    },
    framer: |settings| Box::new(Values::new(FRAMING.name, settings)),
};

pub(super) static ARRAY: Framing = Framing {
    name: "json-array",
    about: "the elements of one JSON array",
    sniff: |head| match skip_blank(head) {
        [] => Sniff::More,
        [b'[', rest @ ..] => match rest.trim_ascii_start().first() {
            None => Sniff::More,
            Some(b'{' | b']') => Sniff::Yes,
            Some(_) => Sniff::No,
        },
        _ => Sniff::No,
    },
    framer: |settings| Box::new(Values::new(ARRAY.name, settings)),
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the array's bracket.
    Start,
    /// Between values.
    Between,
    /// Inside one.
    Inside,
    /// Behind something that isn't JSON, until the line ends.
    Lost,
    /// Behind the array's closing bracket.
    Closed,
    Stopped,
}

struct Values {
    name: &'static str,
    settings: Settings,
    state: State,
    scanner: Scanner,
    /// The beginning of a value whose end hasn't come, or of what is lost.
    held: Vec<u8>,
    /// Where the value begins.
    begun: u64,
    offset: u64,
}

impl Values {
    fn new(name: &'static str, settings: Settings) -> Self {
        let state = if name == ARRAY.name { State::Start } else { State::Between };
        Values { name, settings, state, scanner: Scanner::new(0), held: Vec::new(), begun: 0, offset: 0 }
    }

    fn is_array(&self) -> bool {
        self.name == ARRAY.name
    }

    /// What a byte between two values means.
    fn between(&mut self, byte: u8) {
        self.offset += 1;
        match byte {
            b'[' if self.state == State::Start => self.state = State::Between,
            b',' if self.is_array() && self.state == State::Between => {}
            b']' if self.is_array() && self.state == State::Between => self.state = State::Closed,
            // White space, and the bytes of a byte order mark.
            b' ' | b'\t' | b'\n' | b'\r' | 0xEF | 0xBB | 0xBF => {}
            _ => {
                self.offset -= 1;
                self.begun = self.offset;
                self.scanner = Scanner::new(0);
                self.state = match self.state {
                    State::Between if matches!(byte, b'{' | b'[') => State::Inside,
                    _ => State::Lost,
                };
            }
        }
    }

    fn frame(&self, data: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        out(Ok(Frame { framing: self.name, event_type: "", data, id: "", offset: self.begun }))
    }

    fn fault(&self, kind: FaultKind, message: &str, out: &mut FrameOut<'_>) -> io::Result<()> {
        let raw = &self.held;
        out(Err(Fault { kind, code: kind_code(kind), message: message.into(), offset: self.begun, raw }))
    }

    /// Takes what belongs to the value, and hands it on if that completes it.
    fn inside(&mut self, rest: &[u8], out: &mut FrameOut<'_>) -> io::Result<usize> {
        let taken = self.scanner.push(rest);
        let part = rest.get(..taken).unwrap_or_default();
        self.offset += taken as u64;
        match self.scanner.status() {
            Status::Whole if self.held.is_empty() => {
                self.state = State::Between;
                self.frame(part, out)?;
            }
            Status::Whole => {
                self.state = State::Between;
                let mut held = std::mem::take(&mut self.held);
                held.extend_from_slice(part);
                self.frame(&held, out)?;
                held.clear();
                self.held = held;
            }
            status => {
                self.held.extend_from_slice(part);
                if status == Status::Bad {
                    self.state = State::Lost;
                }
            }
        }
        Ok(taken)
    }

    /// Passes over what can't be read, to the end of the line.
    fn lost(&mut self, rest: &[u8], out: &mut FrameOut<'_>) -> io::Result<usize> {
        let end = memchr::memchr(b'\n', rest);
        let part = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.offset += part.len() as u64;
        self.held.extend_from_slice(part);
        if end.is_some() {
            self.fault(FaultKind::Malformed, "this is not JSON", out)?;
            self.held.clear();
            self.state = State::Between;
        }
        Ok(part.len())
    }
}

fn kind_code(kind: FaultKind) -> &'static str {
    if kind == FaultKind::Truncated { "truncated" } else { "malformed" }
}

impl Framer for Values {
    fn feed(&mut self, bytes: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            match self.state {
                State::Stopped => break,
                State::Inside => at += self.inside(rest, out)?,
                State::Lost => at += self.lost(rest, out)?,
                State::Start | State::Between | State::Closed => {
                    let before = self.offset;
                    self.between(rest.first().copied().unwrap_or(b' '));
                    at += (self.offset - before) as usize;
                }
            }
            if self.settings.is_over(self.held.len()) {
                self.state = State::Stopped;
                self.held = Vec::new();
                out(Err(self.settings.limit_fault(self.begun)))?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        match self.state {
            State::Inside => {
                self.fault(FaultKind::Truncated, "the input ended inside a JSON value", out)
            }
            State::Lost => self.fault(FaultKind::Malformed, "this is not JSON", out),
            State::Between if self.is_array() => {
                self.begun = self.offset;
                self.fault(FaultKind::Truncated, "the input ended before the array's `]`", out)
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
        super::super::tests::check(framing, false, input.as_bytes(), expected);
    }

    #[test]
    fn values_one_after_another() {
        check(&FRAMING, "{\n \"a\": 1\n}\n{\"b\":\"}\"}{\"c\":3}", &["|{\n \"a\": 1\n}", "|{\"b\":\"}\"}", "|{\"c\":3}"]);
    }

    #[test]
    fn elements_of_an_array() {
        check(&ARRAY, "[{\"a\":1}\n,\r\n{\"b\":2}\n]\n", &["|{\"a\":1}", "|{\"b\":2}"]);
        check(&ARRAY, "[]", &[]);
    }

    #[test]
    fn what_is_cut() {
        check(&FRAMING, "{\"a\":1} {\"b\"", &["|{\"a\":1}", "!Truncated 8"]);
        check(&ARRAY, "[{\"a\":1},", &["|{\"a\":1}", "!Truncated 9"]);
    }

    #[test]
    fn what_is_not_json() {
        check(&ARRAY, "[{\"a\":1},x\n{\"b\":2}]y", &["|{\"a\":1}", "!Malformed 9", "|{\"b\":2}", "!Malformed 19"]);
        check(&FRAMING, "{\"a\" 1}\n{\"b\":2}", &["!Malformed 0", "|{\"b\":2}"]);
    }
}
