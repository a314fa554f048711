//! The row of a program. A user's TOML file has the same fields.

use serde::Deserialize;

use crate::dialect::{Word, Words};
use crate::leak::{self, table};

table! {
    /// A program that prints what a model says, and other things around it. Its texts are patterns: see
    /// [`crate::dressing`].
    pub struct Program = EMPTY {
        /// Its name on the command line.
        name: Word = "", "leak::text";
        /// Other names of it.
        aliases: Words = &[], "leak::texts", default;
        /// What it is, in a few words.
        about: Word = "", "leak::text", default;
        /// Where it is known from.
        link: Word = "", "leak::text", default;
        /// What it may print before the answer, after blank lines: it is known by that.
        begins: Words = &[], "leak::texts", default;
        /// Its marks around a thought, which stands before the answer.
        thought: Option<Thought> = None, default;
        /// What it may print after the answer, on lines of its own unless it begins with a space; it is
        /// known by that as well.
        ends: Words = &[], "leak::texts", default;
        /// Its prompt for the next question, where it is the last thing that it prints.
        prompt: Word = "", "leak::text", default;
        /// True if what it prints after the answer is never missing once it has begun.
        always_ends: bool = false, default;
        /// True if what it prints after the answer says that the model stopped by itself.
        ends_are_stops: bool = false, default;
    }
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
