//! The inside of a call that has an end of its own: JSON, Python's syntax, or
//! braces.

mod braces;
mod brackets;
pub(crate) mod calls;
mod elements;
mod json;
mod literal;
mod value;
pub(crate) mod values;
pub(crate) mod yaml;

use std::io;

use crate::dialect::body::brackets::Brackets;
use crate::dialect::body::calls::{Calls, Emit};
use crate::dialect::body::json::Element;
use crate::dialect::spec::{Envelope, Parameters, Raw};
use crate::event::{Arguments, Reason};
use crate::json::{MAX_DEPTH, Scanner, Status};
use crate::scan::Pattern;

/// The form of a call's inside, its patterns parsed: see [`crate::dialect::spec::Body`].
pub(crate) enum BodyForm {
    Json(Envelope),
    Literal(Envelope),
    Arguments,
    Parameters { open: Pattern, close: Option<Pattern>, form: Parameters },
    Python,
    Braces(&'static str),
    Raw(Raw),
    Yaml,
    Empty,
}

/// Reads one body.
pub(crate) enum BodyReader {
    Json {
        envelope: Envelope,
        element: Option<Element>,
        /// Whether the objects are an array's.
        is_list: bool,
    },
    Arguments(Scanner),
    Python {
        expression: Option<(Brackets, String)>,
        is_list: bool,
    },
    Literal {
        envelope: Envelope,
        brackets: Brackets,
        text: String,
    },
    Braces {
        delimiter: &'static str,
        brackets: Brackets,
        text: String,
    },
}

/// How far a body has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It goes on.
    Open,
    /// It's complete.
    Whole,
    /// It can't be read.
    Bad,
}

impl BodyReader {
    /// A reader for a body of this form, if that has an end of its own.
    pub(crate) fn new(form: &BodyForm) -> Option<Self> {
        Some(match form {
            BodyForm::Json(envelope) => {
                BodyReader::Json { envelope: *envelope, element: None, is_list: false }
            }
            BodyForm::Arguments => BodyReader::Arguments(Scanner::new(MAX_DEPTH)),
            BodyForm::Python => BodyReader::Python { expression: None, is_list: false },
            BodyForm::Literal(envelope) => BodyReader::Literal {
                envelope: *envelope,
                brackets: Brackets::new(""),
                text: String::new(),
            },
            BodyForm::Braces(delimiter) => BodyReader::Braces {
                delimiter,
                brackets: Brackets::new(delimiter),
                text: String::new(),
            },
            BodyForm::Parameters { .. } | BodyForm::Raw(_) | BodyForm::Yaml | BodyForm::Empty => {
                return None;
            }
        })
    }

    /// Whether it's between the calls of a body that may end behind any of them.
    pub(crate) fn is_between(&self) -> bool {
        matches!(self, BodyReader::Python { expression: None, is_list: false })
    }

    /// Takes what belongs to the body; gives how many bytes, and how far it
    /// has come.
    pub(crate) fn feed(
        &mut self,
        text: &str,
        calls: &mut Calls,
        emit: &mut Emit<'_>,
    ) -> io::Result<(usize, Progress)> {
        match self {
            BodyReader::Json { .. } => self.json(text, calls, emit),
            BodyReader::Python { .. } => self.python(text, calls, emit),
            BodyReader::Arguments(scanner) => {
                calls.begin(emit)?;
                let taken = scanner.push(text.as_bytes());
                let piece = text.get(..taken).unwrap_or_default();
                calls.push_raw(piece);
                calls.arguments(Arguments::Fragment(piece), emit)?;
                Ok((taken, progress(scanner.status())))
            }
            BodyReader::Literal { envelope, brackets, text: body } => {
                let (taken, ended) = brackets.push(text);
                let piece = text.get(..taken).unwrap_or_default();
                calls.push_raw(piece);
                body.push_str(if calls.is_over() { "" } else { piece });
                if !ended {
                    return Ok((taken, Progress::Open));
                }
                if calls.is_over() {
                    return calls.begin(emit).map(|()| (taken, Progress::Whole));
                }
                // From here on, it's what JSON would have been; its text stays
                // what the model wrote.
                let json = literal::python_value(body);
                let mut reader = BodyReader::new(&BodyForm::Json(*envelope));
                let (Some(json), Some(reader)) = (json, &mut reader) else {
                    return Ok((taken, Progress::Bad));
                };
                calls.aside(|calls| reader.feed_all(&json, calls, emit))?;
                Ok((taken, Progress::Whole))
            }
            BodyReader::Braces { delimiter, brackets, text: body } => {
                calls.begin(emit)?;
                let (taken, ended) = brackets.push(text);
                let piece = text.get(..taken).unwrap_or_default();
                calls.push_raw(piece);
                body.push_str(if calls.is_over() { "" } else { piece });
                if !ended {
                    return Ok((taken, Progress::Open));
                }
                match braces::braces(body, delimiter, calls.schema().as_ref()) {
                    Some(json) => calls.arguments(Arguments::Value(&json), emit)?,
                    None => calls.fault(Reason::Malformed, emit)?,
                }
                Ok((taken, Progress::Whole))
            }
        }
    }

    /// Takes a whole body.
    pub(crate) fn feed_all(
        &mut self,
        text: &str,
        calls: &mut Calls,
        emit: &mut Emit<'_>,
    ) -> io::Result<()> {
        let mut at = 0;
        loop {
            let rest = text.get(at..).unwrap_or_default();
            let (taken, progress) = self.feed(rest, calls, emit)?;
            at += taken;
            if progress != Progress::Open || rest.is_empty() {
                return Ok(());
            }
        }
    }

    fn json(
        &mut self,
        text: &str,
        calls: &mut Calls,
        emit: &mut Emit<'_>,
    ) -> io::Result<(usize, Progress)> {
        let BodyReader::Json { envelope, element: slot, is_list } = self else {
            return Ok((0, Progress::Bad));
        };
        let Some(element) = slot else {
            let (taken, begins) = between(text, is_list, '{');
            calls.push_raw(text.get(..taken).unwrap_or_default());
            if begins == Between::Next {
                *slot = Some(Element::new(*envelope));
            }
            return Ok((taken, begins.progress()));
        };
        let (taken, status) = element.feed(text, calls, emit)?;
        if status != Status::Whole {
            return Ok((taken, progress(status)));
        }
        if let Some(element) = slot.take() {
            element.finish(calls, emit)?;
        }
        if *is_list || envelope.many {
            calls.close(emit)?;
        }
        Ok((taken, if *is_list { Progress::Open } else { Progress::Whole }))
    }

    fn python(
        &mut self,
        text: &str,
        calls: &mut Calls,
        emit: &mut Emit<'_>,
    ) -> io::Result<(usize, Progress)> {
        let BodyReader::Python { expression: slot, is_list } = self else {
            return Ok((0, Progress::Bad));
        };
        let Some((brackets, expression)) = slot else {
            let (taken, begins) = between(text, is_list, 'a');
            calls.push_raw(text.get(..taken).unwrap_or_default());
            if begins == Between::Next {
                *slot = Some((Brackets::new(""), String::new()));
            }
            // What begins no expression is the closer's.
            let progress = if begins == Between::Bad { Progress::Whole } else { begins.progress() };
            return Ok((taken, progress));
        };
        calls.begin(emit)?;
        let (taken, ended) = brackets.push(text);
        let piece = text.get(..taken).unwrap_or_default();
        calls.push_raw(piece);
        expression.push_str(if calls.is_over() { "" } else { piece });
        if !ended {
            return Ok((taken, Progress::Open));
        }
        match literal::python_call(expression) {
            Some((name, json)) => {
                calls.report(Some(&name), None, emit)?;
                calls.arguments(Arguments::Value(&json), emit)?;
            }
            None => calls.fault(Reason::Malformed, emit)?,
        }
        *slot = None;
        calls.close(emit)?;
        Ok((taken, Progress::Open))
    }
}

fn progress(status: Status) -> Progress {
    match status {
        Status::Whole => Progress::Whole,
        Status::Bad | Status::TooDeep => Progress::Bad,
        Status::Empty | Status::Open => Progress::Open,
    }
}

/// What stands between the elements of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    More,
    /// The next element begins.
    Next,
    /// The list is closed.
    End,
    Bad,
}

impl Between {
    fn progress(self) -> Progress {
        match self {
            Between::More | Between::Next => Progress::Open,
            Between::End => Progress::Whole,
            Between::Bad => Progress::Bad,
        }
    }
}

/// Passes over brackets, separators and white space to the first byte of an
/// element: `first`, or any letter if that is one.
fn between(text: &str, is_list: &mut bool, first: char) -> (usize, Between) {
    for (at, c) in text.char_indices() {
        match c {
            ' ' | '\t' | '\r' | '\n' => {}
            '[' if !*is_list => *is_list = true,
            ',' | ';' if *is_list => {}
            ']' if *is_list => return (at + 1, Between::End),
            c if c == first || (first.is_alphabetic() && (c.is_alphabetic() || c == '_')) => {
                return (at, Between::Next);
            }
            _ => return (at, Between::Bad),
        }
    }
    (text.len(), Between::More)
}
