//! The reasons why a dialect, or a program's row, can't be used.

use std::error::Error;
use std::fmt;
use std::io;

/// The reason why a dialect, or a program's row, can't be used.
#[derive(Debug)]
pub enum DialectError {
    /// No built-in row has this name.
    Unknown {
        /// What it would be: a dialect, or a program.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The file can't be read.
    Unreadable(io::Error),
    /// The text is no row.
    Invalid {
        /// The line and the column of the mistake, from 1, if they are known.
        place: Option<(usize, usize)>,
        /// The mistake, in a sentence.
        message: String,
    },
}

impl DialectError {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        DialectError::Invalid { place: None, message: message.into() }
    }

    /// What is wrong with this TOML text, and where.
    pub(crate) fn of_toml(text: &str, error: &toml::de::Error) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let place = Some((before.matches('\n').count() + 1, line.chars().count() + 1));
        DialectError::Invalid { place, message: error.message().to_owned() }
    }
}

impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DialectError::Unknown { what, name } => write!(f, "no {what} is named {name}"),
            DialectError::Unreadable(error) => write!(f, "{error}"),
            DialectError::Invalid { place: Some((line, column)), message } => {
                write!(f, "line {line}, column {column}: {message}")
            }
            DialectError::Invalid { place: None, message } => f.write_str(message),
        }
    }
}

// Its text is all of it: a source would be said twice.
impl Error for DialectError {}
