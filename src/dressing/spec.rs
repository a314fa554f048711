//! The row of a program. A user's TOML file has the same fields.

use serde::Deserialize;

use crate::dialect::{Word, Words};
use crate::leak;

/// A program that prints what a model says, and other things around it. Its texts are patterns: see
/// [`crate::dressing`].
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its name on the command line.
    #[serde(deserialize_with = "leak::text")]
    pub name: Word,
    /// Other names of it.
    #[serde(default, deserialize_with = "leak::texts")]
    pub aliases: Words,
    /// What it is, in a few words.
    #[serde(default, deserialize_with = "leak::text")]
    pub about: Word,
    /// Where it is known from.
    #[serde(default, deserialize_with = "leak::text")]
    pub link: Word,
    /// What it may print before the answer, after blank lines: it is known by that.
    #[serde(default, deserialize_with = "leak::texts")]
    pub begins: Words,
    /// Its marks around a thought, which stands before the answer.
    #[serde(default)]
    pub thought: Option<Thought>,
    /// What it may print after the answer, on lines of its own unless it begins with a space; it is
    /// known by that as well.
    #[serde(default, deserialize_with = "leak::texts")]
    pub ends: Words,
    /// Its prompt for the next question, where it is the last thing that it prints.
    #[serde(default, deserialize_with = "leak::text")]
    pub prompt: Word,
    /// True if what it prints after the answer is never missing once it has begun.
    #[serde(default)]
    pub always_ends: bool,
    /// True if what it prints after the answer says that the model stopped by itself.
    #[serde(default)]
    pub ends_are_stops: bool,
}

/// The marks around a thought, each on lines of its own.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thought {
    /// What stands before it.
    #[serde(deserialize_with = "leak::text")]
    pub open: Word,
    /// What stands after it.
    #[serde(deserialize_with = "leak::text")]
    pub close: Word,
}

impl Program {
    /// A row for rows to fill in.
    pub const EMPTY: Program = Program {
        name: "",
        aliases: &[],
        about: "",
        link: "",
        begins: &[],
        thought: None,
        ends: &[],
        prompt: "",
        always_ends: false,
        ends_are_stops: false,
    };
}

/// The programs that `--from` selects.
#[derive(Clone, Copy, Debug, Default)]
pub enum From {
    /// The one whose first or last lines the text has.
    #[default]
    Auto,
    /// None: all of the text is the model's.
    None,
    /// This one.
    Program(&'static Program),
}
