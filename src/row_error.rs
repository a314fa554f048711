//! The reasons why a row can't be used: a format's, a dialect's or a program's.

use std::error::Error;
use std::{fmt, io};

use crate::cut::Cut as _;
use crate::nearest::nearest;

/// The reason why a row can't be used: a format's, a dialect's or a program's.
#[derive(Debug)]
#[non_exhaustive]
pub enum RowError {
    /// No built-in row has this name.
    Unknown {
        /// What it would be: a format, a dialect, or a program.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The file can't be read, which the program opens for its user.
    Unreadable(io::Error),
    /// The text is no row.
    Invalid {
        /// The line and the column of the mistake, from 1, if they are known.
        place: Option<(usize, usize)>,
        /// The mistake, in a sentence.
        message: String,
    },
}

impl RowError {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        RowError::Invalid { place: None, message: message.into() }
    }

    pub(crate) fn unknown(what: &'static str, name: &str) -> Self {
        RowError::Unknown { what, name: name.to_owned() }
    }

    /// Returns what is wrong with this TOML text, and where.
    pub(crate) fn of_toml(text: &str, error: &toml::de::Error) -> Self {
        RowError::at(text, error.span().map(|span| span.start), with_nearest(error.message()))
    }

    /// Returns what is wrong at an offset of a text.
    pub(crate) fn at(text: &str, offset: Option<usize>, message: String) -> Self {
        let place = offset.map(|offset| {
            let before = text.before(offset);
            let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
            (before.matches('\n').count() + 1, line.chars().count() + 1)
        });
        RowError::Invalid { place, message }
    }
}

/// The most words of which all are named.
const FEW: usize = 8;

/// Returns a message in which the words that are allowed are those that are spelled most like the
/// one that is not, if there are such.
fn with_nearest(message: &str) -> String {
    let words: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (Some((head, _)), [wrong, known @ ..]) =
        (message.split_once(", expected"), words.as_slice())
    else {
        return message.to_owned();
    };
    if known.len() <= FEW {
        return message.to_owned();
    }
    match nearest(wrong, known).as_slice() {
        [] => message.to_owned(),
        near => format!("{head}; similar: {}", near.join(", ")),
    }
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowError::Unknown { what, name } => write!(f, "no {what} is named {name}"),
            RowError::Unreadable(error) => write!(f, "{error}"),
            RowError::Invalid { place: Some((line, column)), message } => {
                write!(f, "line {line}, column {column}: {message}")
            }
            RowError::Invalid { place: None, message } => f.write_str(message),
        }
    }
}

/// Returns the row that a name has, or that of the file at a path if none has it.
#[cfg(feature = "cli")]
pub(crate) fn or_file<R>(
    named: Result<R, RowError>,
    path: &str,
    is_path: bool,
    load: impl FnOnce(&str) -> Result<R, RowError>,
) -> Result<R, RowError> {
    match named {
        Err(RowError::Unknown { .. }) if is_path => {
            load(&std::fs::read_to_string(path).map_err(RowError::Unreadable)?)
        }
        named => named,
    }
}

// Its text is all of it: a source would be said twice.
impl Error for RowError {}
