//! The inside of a call, from a model's text to the JSON of its arguments.
//!
//! A [`BodyReader`] reads the bodies that have an end of their own; the machine
//! finds the end of the others and passes on their values (see [`values`]).

mod braces;
pub(crate) mod calls;
mod cursor;
mod elements;
mod json;
mod python;
mod value;
pub(crate) mod values;
mod yaml;

use std::io;

use crate::cut::Cut as _;
use crate::dialect::body::calls::{ChoiceEmit, TextCalls, warn_separator};
use crate::dialect::body::cursor::Brackets;
use crate::dialect::body::json::Element;
use crate::dialect::spec::{Body, Envelope};
use crate::event::{Done, Reason};
use crate::json::{JsonStatus, MAX_DEPTH, Scanner};

/// Reads one body.
pub(crate) enum BodyReader {
    Json {
        envelope: Envelope,
        /// The element that is open.
        open: Option<OpenElement>,
        list: ElementList,
    },
    Arguments {
        scanner: Scanner,
        /// True if a string had a control character in it.
        is_raw: bool,
    },
    Python {
        /// The call that is open.
        expression: Option<Expression>,
        list: ElementList,
    },
    Literal {
        envelope: Envelope,
        expression: Expression,
    },
    Braces {
        delimiter: &'static str,
        expression: Expression,
    },
}

/// Text up to the end of its brackets, which is parsed once it is whole.
pub(crate) struct Expression {
    brackets: Brackets,
    text: String,
}

impl Expression {
    /// Returns an expression whose strings stand between `delimiter`s; in Python's
    /// quotes if that is empty. An element of a list ends with the list, at the latest.
    fn new(delimiter: &'static str, is_element: bool) -> Self {
        Expression { brackets: Brackets::new(delimiter, is_element), text: String::new() }
    }

    /// Takes what belongs to the expression. Returns how many bytes that is, and
    /// true if the expression ends with them.
    fn feed(&mut self, text: &str, calls: &mut TextCalls) -> (usize, bool) {
        let (taken, ended) = self.brackets.push(text);
        let piece = text.before(taken);
        calls.push_raw(piece);
        if !calls.is_over() {
            self.text.push_str(piece);
        }
        (taken, ended)
    }
}

/// An element of a body in JSON.
pub(crate) enum OpenElement {
    Call(Box<Element>),
    /// A value that can't be a call.
    Other(Scanner),
}

/// The progress of reading a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyProgress {
    /// More of it is to come.
    Open,
    /// It's complete.
    Whole,
    /// It can't be read.
    Bad,
}

impl BodyReader {
    /// Returns a reader for a body, or `None` if that has no end of its own.
    pub(crate) fn new(body: Body) -> Option<Self> {
        Some(match body {
            Body::Json(envelope) => {
                BodyReader::Json { envelope, open: None, list: ElementList::None }
            }
            Body::Arguments => {
                BodyReader::Arguments { scanner: Scanner::new(MAX_DEPTH), is_raw: false }
            }
            Body::Python => BodyReader::Python { expression: None, list: ElementList::None },
            Body::Literal(envelope) => {
                BodyReader::Literal { envelope, expression: Expression::new("", false) }
            }
            Body::Braces(delimiter) => {
                BodyReader::Braces { delimiter, expression: Expression::new(delimiter, false) }
            }
            Body::Parameters(_) | Body::Raw(_) | Body::Yaml | Body::Empty | Body::Unreadable => {
                return None;
            }
        })
    }

    /// True between the calls of a body that may end after any of them.
    pub(crate) fn is_between(&self) -> bool {
        matches!(self, BodyReader::Python { expression: None, list: ElementList::None })
    }

    /// True inside a string.
    pub(crate) fn is_in_string(&self) -> bool {
        match self {
            BodyReader::Json { open, .. } => match open {
                Some(OpenElement::Call(element)) => element.is_in_string(),
                Some(OpenElement::Other(scanner)) => scanner.is_in_string(),
                None => false,
            },
            BodyReader::Arguments { scanner, .. } => scanner.is_in_string(),
            BodyReader::Python { expression, .. } => {
                expression.as_ref().is_some_and(|expression| expression.brackets.is_in_string())
            }
            BodyReader::Literal { expression, .. } | BodyReader::Braces { expression, .. } => {
                expression.brackets.is_in_string()
            }
        }
    }

    /// Takes what belongs to the body. Returns how many bytes that is, and how far
    /// the body has been read.
    pub(crate) fn feed(
        &mut self,
        text: &str,
        calls: &mut TextCalls,
        emit: &mut ChoiceEmit,
    ) -> io::Result<(usize, BodyProgress)> {
        match self {
            BodyReader::Json { envelope, open, list } => {
                json(*envelope, open, list, text, calls, emit)
            }
            BodyReader::Python { expression, list } => python(expression, list, text, calls, emit),
            BodyReader::Arguments { scanner, is_raw } => {
                calls.begin(emit)?;
                let (taken, was_raw) =
                    scanner.push_raw(text, &mut |piece| calls.fragment(piece, emit))?;
                *is_raw |= was_raw;
                if *is_raw && scanner.status() != JsonStatus::Open {
                    *is_raw = false;
                    calls.warn_control(emit)?;
                }
                calls.push_raw(text.before(taken));
                Ok((taken, progress(scanner.status())))
            }
            BodyReader::Literal { envelope, expression } => {
                let (taken, ended) = expression.feed(text, calls);
                if !ended {
                    return Ok((taken, BodyProgress::Open));
                }
                if calls.is_over() {
                    return calls.begin(emit).map(|()| (taken, BodyProgress::Whole));
                }
                // The rest is read as the JSON that it means, while the call's
                // raw text stays what the model wrote.
                let json = python::literal(&expression.text);
                let mut reader = BodyReader::new(Body::Json(*envelope));
                let (Some(json), Some(reader)) = (json, &mut reader) else {
                    return Ok((taken, BodyProgress::Bad));
                };
                calls.keep_raw(|calls| reader.feed_all(&json, calls, emit))?;
                Ok((taken, BodyProgress::Whole))
            }
            BodyReader::Braces { delimiter, expression } => {
                calls.begin(emit)?;
                let (taken, ended) = expression.feed(text, calls);
                if !ended {
                    return Ok((taken, BodyProgress::Open));
                }
                match braces::object(&expression.text, delimiter, calls.schema().as_ref()) {
                    Some(json) => calls.arguments(&json, emit)?,
                    None => calls.fault(Reason::Malformed, emit)?,
                }
                Ok((taken, BodyProgress::Whole))
            }
        }
    }

    /// Takes a whole body.
    pub(crate) fn feed_all(
        &mut self,
        text: &str,
        calls: &mut TextCalls,
        emit: &mut ChoiceEmit,
    ) -> Done {
        let mut at = 0;
        loop {
            let rest = text.after(at);
            let (taken, progress) = self.feed(rest, calls, emit)?;
            at += taken;
            if progress != BodyProgress::Open || rest.is_empty() {
                return Ok(());
            }
        }
    }
}

/// Takes what belongs to the calls of a body in JSON.
fn json(
    envelope: Envelope,
    open: &mut Option<OpenElement>,
    list: &mut ElementList,
    text: &str,
    calls: &mut TextCalls,
    emit: &mut ChoiceEmit,
) -> io::Result<(usize, BodyProgress)> {
    let Some(element) = open else {
        let (taken, begins) = between(text, list, '{', emit)?;
        if begins != Between::More || *list == ElementList::Seen {
            calls.close(emit)?;
        }
        calls.push_raw(text.before(taken));
        *open = match begins {
            Between::Next => Some(OpenElement::Call(Box::new(Element::new(envelope)))),
            // A value that is no object costs only itself.
            Between::Bad if list.is_open() => Some(OpenElement::Other(Scanner::default())),
            _ => return Ok((taken, begins.progress())),
        };
        return Ok((taken, BodyProgress::Open));
    };
    let (taken, status) = match element {
        OpenElement::Call(element) => element.feed(text, calls, emit)?,
        OpenElement::Other(scanner) => {
            calls.fault(Reason::Malformed, emit)?;
            let taken = scanner.push(text.as_bytes());
            calls.push_raw(text.before(taken));
            let status = scanner.status();
            // A number ends where something else begins.
            let is_open = status == JsonStatus::Whole && !scanner.is_closed();
            (taken, if is_open { JsonStatus::Open } else { status })
        }
    };
    if status != JsonStatus::Whole {
        return Ok((taken, progress(status)));
    }
    let mut is_bare = false;
    if let Some(OpenElement::Call(element)) = open.take() {
        is_bare = element.is_bare();
        element.finish(calls, emit)?;
    }
    if list.is_open() && !is_bare || envelope.many {
        calls.close(emit)?;
    }
    Ok((taken, if list.is_open() { BodyProgress::Open } else { BodyProgress::Whole }))
}

/// Takes what belongs to the calls of a body in Python's syntax.
fn python(
    open: &mut Option<Expression>,
    list: &mut ElementList,
    text: &str,
    calls: &mut TextCalls,
    emit: &mut ChoiceEmit,
) -> io::Result<(usize, BodyProgress)> {
    let Some(expression) = open else {
        let (taken, begins) = between(text, list, 'a', emit)?;
        calls.push_raw(text.before(taken));
        let progress = match begins {
            Between::Next => {
                *open = Some(Expression::new("", list.is_open()));
                BodyProgress::Open
            }
            // A value that is no call costs only itself.
            Between::Bad if list.is_open() => {
                *open = Some(Expression::new("", true));
                BodyProgress::Open
            }
            // Text that begins no expression belongs to the closer.
            Between::Bad => BodyProgress::Whole,
            _ => begins.progress(),
        };
        return Ok((taken, progress));
    };
    calls.begin(emit)?;
    let (taken, ended) = expression.feed(text, calls);
    if !ended {
        return Ok((taken, BodyProgress::Open));
    }
    match python::call(&expression.text) {
        Some((name, json)) => {
            calls.report(Some(name), None, emit)?;
            calls.arguments(&json, emit)?;
        }
        None => calls.fault(Reason::Malformed, emit)?,
    }
    *open = None;
    calls.close(emit)?;
    Ok((taken, BodyProgress::Open))
}

fn progress(status: JsonStatus) -> BodyProgress {
    match status {
        JsonStatus::Whole => BodyProgress::Whole,
        JsonStatus::Bad | JsonStatus::TooDeep => BodyProgress::Bad,
        JsonStatus::Empty | JsonStatus::Open => BodyProgress::Open,
    }
}

/// The text after the separators between two elements of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    /// Nothing yet.
    More,
    /// The next element begins.
    Next,
    /// The list is closed.
    End,
    /// Neither an element nor the end of the list.
    Bad,
}

impl Between {
    fn progress(self) -> BodyProgress {
        match self {
            Between::More | Between::Next => BodyProgress::Open,
            Between::End => BodyProgress::Whole,
            Between::Bad => BodyProgress::Bad,
        }
    }
}

/// The list that the elements of a body may stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementList {
    /// None has been opened.
    None,
    /// It has begun, and needs no separator.
    Begun,
    /// A separator has to come before the next element.
    Wanted,
    /// An element has to come after the separator.
    Seen,
}

impl ElementList {
    fn is_open(self) -> bool {
        self != ElementList::None
    }
}

/// Passes over brackets, separators and white space to the first character of an
/// element: `first`, or any letter if `first` is one. Returns the bytes passed. Warns of elements
/// without one separator between them.
fn between(
    text: &str,
    list: &mut ElementList,
    first: char,
    emit: &mut ChoiceEmit,
) -> io::Result<(usize, Between)> {
    for (at, c) in text.char_indices() {
        match c {
            ' ' | '\t' | '\r' | '\n' => {}
            '[' if *list == ElementList::None => *list = ElementList::Begun,
            // Python's statements may stand in one line.
            ';' if *list == ElementList::None && first.is_alphabetic() => {}
            ',' | ';' if list.is_open() => {
                if std::mem::replace(list, ElementList::Seen) != ElementList::Wanted || c == ';' {
                    warn_separator(emit)?;
                }
            }
            ']' if list.is_open() => return Ok((at + 1, Between::End)),
            c => {
                let is_next =
                    c == first || (first.is_alphabetic() && (c.is_alphabetic() || c == '_'));
                if list.is_open()
                    && std::mem::replace(list, ElementList::Wanted) == ElementList::Wanted
                {
                    warn_separator(emit)?;
                }
                return Ok((at, if is_next { Between::Next } else { Between::Bad }));
            }
        }
    }
    Ok((text.len(), Between::More))
}
