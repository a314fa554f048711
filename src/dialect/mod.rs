//! Dialects: how models write tool calls, reasoning and metadata inside plain
//! text. Text in; text, reasoning, calls and blocks out. Knows nothing of
//! providers or output.
//!
//! A dialect is data: a [`Dialect`] row, whose markers are patterns (see
//! [`crate::scan`]). One machine reads them all. A user's own dialect is a TOML
//! file with the same fields (see [`load()`]), or the JSON that tokenizers of
//! Hugging Face have (`template`).
//!
//! To add a dialect, write its row in the file of its family and name it in
//! [`DIALECTS`]; `fixtures/dialect/NAME/` holds its cases.

pub(crate) mod body;
mod error;
pub(crate) mod hf_template;
pub(crate) mod load;
pub(crate) mod machine;
mod markup;
pub(crate) mod rows;
pub(crate) mod spec;
pub(crate) mod table;

pub use error::DialectError;
pub use load::load;
pub use markup::Markup;
pub use spec::{
    AtEnd, Body, Call, Dialect, Ends, Envelope, Parameters, Raw, Region, Role, Section, StartIn,
    Tag, TagRole, Untyped, Word, Words,
};
pub use table::{DIALECTS, Selection, choose, find};

#[cfg(test)]
mod tests;
