//! What serde_json does not give: text that isn't whole yet ([`Scanner`]),
//! white space and control characters on the way out ([`Minifier`],
//! [`quote`], [`make_safe`]), strings with half a character in them ([`Str`]),
//! and payloads of which one field is wrong ([`mend`]).
//!
//! Numbers and objects pass as their text: no digit, key order or escape is
//! ever changed by going through a value.

mod object;
mod plain;
mod repair;
mod scanner;
mod string;
mod write;

pub use object::{Member, ObjectReader};
pub use plain::{plain_length, push_short};
pub use repair::{member, members, mend};
pub use scanner::{Scanner, Status};
pub use string::Str;
pub use write::{
    Minifier, escape_into, find_escape, make_safe, minify, quote, quote_into, quote_start,
};

/// How deeply JSON may be nested, unless `--max-depth` says otherwise.
pub const MAX_DEPTH: usize = 128;
