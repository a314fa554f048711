//! What serde_json does not give: text that isn't whole yet ([`Scanner`], and
//! [`ObjectReader`] and [`ValueReader`] on top of it), payloads whose parts are borrowed
//! ([`Reader`], [`members`]), white space and control characters in
//! the output ([`Minifier`], [`quote`], [`make_safe`]), strings with half a character in them
//! ([`Str`]), and what readers of JSON disagree about ([`minify_and_check`]).
//!
//! Numbers and objects pass as their text: no digit, key order or escape is
//! ever changed by going through a value.

mod ambiguity;
mod bytes;
mod core_schema;
mod end;
mod line;
mod members;
mod misread;
mod object;
mod plain;
mod reader;
mod scanner;
mod sourced;
mod string;
mod values;
mod walk;
mod write;

pub(crate) use ambiguity::{minify_and_check, without_doubles};
pub(crate) use bytes::decode_base64;
pub(crate) use core_schema::{PlainScalar, plain_scalar};
pub use line::Line;
pub(crate) use line::{AsIs, KnownCounts, ListOf, Member, Minified, OrNull, members, object_of};
#[cfg(feature = "cli")]
pub(crate) use members::{ObjectMembers, try_members};
pub(crate) use members::{elements, is_blank, is_empty, member, members, place, spelled};
pub(crate) use misread::misread;
pub(crate) use object::{ObjectMember, ObjectReader};
#[cfg(feature = "cli")]
pub(crate) use plain::escaped;
pub(crate) use plain::{
    after_space, append_start, begins_with, char_length, plain_length, same_length, unescape,
};
pub use reader::{FieldKey, FromJson, ReadError, Reader};
pub(crate) use reader::{
    PathStep, RawJson, Source, as_str, read, read_again, read_by, read_to, records, string, text,
};
pub use scanner::{JsonStatus, Scanner};
pub(crate) use scanner::{is_json, is_number, whole_part};
pub(crate) use sourced::Sourced;
pub use string::Str;
pub(crate) use values::{FoundValue, ValueReader};
pub(crate) use walk::walk;
pub(crate) use write::{
    Minifier, array, escape_into, minify, minify_into, object, quote, quote_into, quote_start,
};
#[cfg(feature = "cli")]
pub(crate) use write::{line_of, make_safe, make_visible};

/// The deepest nesting of JSON, unless `--max-depth` sets another.
pub(crate) const MAX_DEPTH: usize = 128;
