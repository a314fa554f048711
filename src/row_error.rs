//! The reasons why a row can't be used: a format's, a dialect's or a program's.

use std::error::Error;
use std::fmt;
use std::io;

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
        RowError::of_toml_as(error.message().to_owned(), text, error)
    }

    /// The same, in other words.
    pub(crate) fn of_toml_as(message: String, text: &str, error: &toml::de::Error) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let place = Some((before.matches('\n').count() + 1, line.chars().count() + 1));
        RowError::Invalid { place, message }
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
