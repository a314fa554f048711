//! The reasons why a dialect can't be used.

use std::error::Error;
use std::fmt;
use std::io;

/// The reason why a dialect can't be used.
#[derive(Debug)]
pub enum DialectError {
    /// No built-in dialect has this name.
    Unknown(String),
    /// The file can't be read.
    Unreadable(io::Error),
    /// The text is no dialect.
    Invalid {
        /// The line of the mistake, from 1, if it is known.
        line: Option<usize>,
        /// The mistake, in a sentence.
        message: String,
    },
}

impl DialectError {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        DialectError::Invalid { line: None, message: message.into() }
    }
}

impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DialectError::Unknown(name) => write!(f, "no dialect is named {name}"),
            DialectError::Unreadable(error) => write!(f, "{error}"),
            DialectError::Invalid { line: Some(line), message } => {
                write!(f, "line {line}: {message}")
            }
            DialectError::Invalid { line: None, message } => f.write_str(message),
        }
    }
}

// Its text is all of it: a source would be said twice.
impl Error for DialectError {}
