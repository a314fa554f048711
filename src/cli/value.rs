//! The values that options take.

use std::error::Error as _;
use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValue, StyledStr, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use serde_json::Value;

use crate::cut::until;
use crate::dialect::{self, DIALECTS, Selection};
use crate::dressing;
use crate::dressing::{From, PROGRAMS};
use crate::format::{self, FORMATS, Format};
use crate::frame;
use crate::frame::{FRAMINGS, Framing};
use crate::nearest::nearest;
use crate::row_error::RowError;
use crate::sink::schema;

/// A row of a table, or `None` for `auto`.
pub(crate) type Auto<T> = Option<&'static T>;

/// The most names that an error message lists; of more, only the nearest are named.
const MAX_LISTED: usize = 12;

/// Returns the parser of `--framing`.
pub(super) fn framing() -> Names<Auto<Framing>> {
    let all = || with_auto(FRAMINGS.iter().map(|row| (row.name, row.about)));
    Names { all, find: |name| or_auto(name, frame::find(&name.replace('_', "-"))), tip: TIP }
}

/// Returns the parser of the name of a format.
pub(super) fn format() -> Names<Auto<Format>> {
    let all = || with_auto(FORMATS.iter().map(|row| (row.name, row.about)));
    Names { all, find: |name| or_auto(name, format::find(name)), tip: TIP }
}

/// Returns the parser of `--to`: the formats that can be written.
pub(super) fn target() -> Names<&'static Format> {
    let all =
        || FORMATS.iter().filter(|row| row.write.is_some()).map(|row| (row.name, "")).collect();
    Names { all, find: |name| format::find(name).filter(|row| row.write.is_some()), tip: "" }
}

const FILE_TIP: &str = "`toolstream formats` lists them all, and the name of a FILE has a dot";

const TIP: &str = "`toolstream formats` lists them all";

fn with_auto(rows: impl Iterator<Item = NamedValue>) -> Vec<NamedValue> {
    [("auto", "find out")].into_iter().chain(rows).collect()
}

fn or_auto<T>(name: &str, row: Auto<T>) -> Option<Auto<T>> {
    (row.is_some() || name == "auto").then_some(row)
}

/// A name, and what it means.
type NamedValue = (&'static str, &'static str);

/// Parses one of some names; `-` and `_` are the same.
pub(super) struct Names<V> {
    all: fn() -> Vec<NamedValue>,
    find: fn(&str) -> Option<V>,
    /// The command that lists all names, if they are too many for an error.
    tip: &'static str,
}

impl<V> Clone for Names<V> {
    fn clone(&self) -> Self {
        Names { ..*self }
    }
}

impl<V: Clone + Send + Sync + 'static> TypedValueParser for Names<V> {
    type Value = V;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, Error> {
        let name = value.to_string_lossy();
        (self.find)(&name).ok_or_else(|| unknown(command, arg, &name, names(self.all), self.tip))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        possible(self.all)
    }
}

/// Returns the parser of `auto`, the name of a format, or the path of a format file.
pub(super) fn format_or_file() -> RowName<Auto<Format>> {
    RowName { choose: format::open, all: format().all, tip: FILE_TIP }
}

/// Returns the parser of `auto`, `none`, the name of a dialect, or the path of a dialect file.
pub(super) fn dialect() -> RowName<Selection> {
    let all = || with_none(DIALECTS.iter().map(|row| row.name));
    RowName { choose: dialect::open, all, tip: FILE_TIP }
}

/// Returns the parser of `auto`, `none`, the name of a program, or the path of a program's file.
pub(super) fn program() -> RowName<From> {
    let tip = "`toolstream formats` lists them all, and the name of a FILE ends in .toml";
    let all = || with_none(PROGRAMS.iter().map(|row| row.name));
    RowName { choose: dressing::open, all, tip }
}

/// Parses the name of a row, or the path of a file that holds one.
#[derive(Clone)]
pub(super) struct RowName<V> {
    choose: fn(&str) -> Result<V, RowError>,
    all: fn() -> Vec<NamedValue>,
    tip: &'static str,
}

impl<V: Clone + Send + Sync + 'static> TypedValueParser for RowName<V> {
    type Value = V;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, Error> {
        self.choose.parse_ref(command, arg, value).map_err(|error| {
            match error.source().and_then(|source| source.downcast_ref()) {
                Some(RowError::Unknown { name, .. }) => {
                    unknown(command, arg, name, names(self.all), self.tip)
                }
                _ => error,
            }
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        possible(self.all)
    }
}

fn with_none(rows: impl Iterator<Item = &'static str>) -> Vec<NamedValue> {
    ["auto", "none"].into_iter().chain(rows).map(|name| (name, "")).collect()
}

fn names(all: fn() -> Vec<NamedValue>) -> Vec<&'static str> {
    all().into_iter().map(|(name, _)| name).collect()
}

fn possible(all: fn() -> Vec<NamedValue>) -> Option<Box<dyn Iterator<Item = PossibleValue>>> {
    let value = |(name, about): NamedValue| match about {
        "" => PossibleValue::new(name),
        about => PossibleValue::new(name).help(about),
    };
    Some(Box::new(all().into_iter().map(value)))
}

/// Returns the error for a name that is in no table: it suggests the nearest names, or lists all
/// of them if there are few.
fn unknown(
    command: &Command,
    arg: Option<&Arg>,
    name: &str,
    names: Vec<&'static str>,
    tip: &'static str,
) -> Error {
    let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
    let own =
        |names: Vec<&str>| ContextValue::Strings(names.into_iter().map(str::to_owned).collect());
    if let Some(arg) = arg {
        error.insert(ContextKind::InvalidArg, ContextValue::String(arg.to_string()));
    }
    error.insert(ContextKind::InvalidValue, ContextValue::String(name.to_owned()));
    let near = nearest(name, &names);
    if !near.is_empty() {
        error.insert(ContextKind::SuggestedValue, own(near));
    }
    if names.len() <= MAX_LISTED {
        error.insert(ContextKind::ValidValue, own(names));
    } else {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// The choices to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoiceFilter {
    /// All of them.
    All,
    /// This one.
    One(u64),
}

impl FromStr for ChoiceFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(ChoiceFilter::All),
            number => number
                .parse()
                .map(ChoiceFilter::One)
                .map_err(|_| "expected a number, or `all`".into()),
        }
    }
}

/// A number of bytes, with K, M, G or T for powers of 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub usize);

const UNITS: &[(char, u32)] = &[('K', 10), ('M', 20), ('G', 30), ('T', 40)];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let upper = text.to_ascii_uppercase();
        let bare = upper.strip_suffix("IB").or_else(|| upper.strip_suffix('B')).unwrap_or(&upper);
        let unit = UNITS
            .iter()
            .find_map(|&(unit, shift)| bare.strip_suffix(unit).map(|digits| (digits, shift)));
        let (digits, shift) = unit.unwrap_or((bare, 0));
        let count = digits
            .parse::<usize>()
            .map_err(|_| "expected a number of bytes, such as 65536, 64K or 1G")?;
        count.checked_mul(1 << shift).map(Size).ok_or_else(|| "too large".into())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The word that forgets what is kept.
pub(crate) const NONE: &str = "none";

/// Parses the type of an event, or `none`.
pub(crate) fn event_type(text: &str) -> Result<String, String> {
    let keys = event_keys();
    if text == NONE || keys.iter().any(|(kind, _)| kind == text) {
        return Ok(text.to_owned());
    }
    let known: Vec<&str> = keys.iter().map(|(kind, _)| kind.as_str()).collect();
    Err(format!("no event has this type; there are {}", known.join(", ")))
}

/// Parses a pattern of file names.
pub(super) fn glob(text: &str) -> Result<glob::Pattern, String> {
    glob::Pattern::new(text).map_err(|error| error.to_string())
}

/// Parses the key of an event: `KEY`, `TYPE.KEY` and paths from there on, `TYPE` for all of its keys,
/// `volatile`, or `none`.
pub(crate) fn event_key(text: &str) -> Result<String, String> {
    let keys = event_keys();
    let has = |kind: Option<&str>, key: &str| {
        let of = keys.iter().filter(|(name, _)| kind.is_none_or(|kind| kind == name));
        of.flat_map(|(_, keys)| keys).any(|known| known == key)
    };
    let is_known = match text.split_once('.') {
        Some((kind, path)) => {
            let key = until(path, ".");
            let is_path = path.split('.').all(|word| !word.is_empty());
            is_path && (has(Some(kind), key) || (key.starts_with('*') && event_type(kind).is_ok()))
        }
        None => has(None, text) || event_type(text).is_ok() || text == "volatile",
    };
    match is_known {
        true => Ok(text.to_owned()),
        false => Err("no event has this key; `toolstream schema` has them all".into()),
    }
}

/// Returns the types of events, and the keys of each, from the schema.
fn event_keys() -> Vec<(String, Vec<String>)> {
    let schema: Value = serde_json::from_str(&schema()).unwrap_or_default();
    let types = schema["$defs"]["event"]["oneOf"].as_array().into_iter().flatten();
    let names = types.filter_map(|row| row["$ref"].as_str()?.strip_prefix("#/$defs/"));
    let keys = |name: &str| {
        let keys = schema["$defs"][name]["properties"].as_object().into_iter().flatten();
        keys.map(|(key, _)| key.clone()).collect()
    };
    names.map(|name| (name.to_owned(), keys(name))).collect()
}

/// Parses a time in seconds, which may have a fraction.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "expected a number of seconds")?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// Parses a number above 0, which may have a fraction.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "expected a number above 0".into())
}

/// Parses a time in milliseconds.
pub(super) fn milliseconds(text: &str) -> Result<Duration, String> {
    text.parse().map(Duration::from_millis).map_err(|_| "expected a number of milliseconds".into())
}

/// Parses how many requests fail, and with which HTTP status.
pub(super) fn first_errors(text: &str) -> Result<(usize, u16), String> {
    let numbers = text.split_once(':').and_then(|(count, status)| {
        let status = status.parse().ok().filter(|status| (400..600).contains(status));
        Some((count.parse().ok()?, status?))
    });
    numbers.ok_or_else(|| {
        let status = text.parse().ok().filter(|status| (400..600).contains(status)).unwrap_or(529);
        format!(
            "expected N:STATUS, with a STATUS from 400 to 599: `1:{status}` fails the first request, \
             `--status {status}` fails all"
        )
    })
}

/// Parses a time in milliseconds that is not 0.
pub(super) fn wait(text: &str) -> Result<Duration, String> {
    let wait = milliseconds(text)?;
    if wait.is_zero() { Err("expected a number of milliseconds above 0".into()) } else { Ok(wait) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<usize>) {
        assert_eq!(text.parse::<Size>().ok().map(|size| size.0), expected);
    }

    #[track_caller]
    fn check_near(name: &str, expected: &[&str]) {
        let names = ["anthropic", "openai-chat", "openai-responses", "ollama-chat", "qwen3_coder"];
        assert_eq!(nearest(name, &names), expected);
    }

    #[test]
    fn the_nearest_names_come_first() {
        check_near("antropic", &["anthropic"]);
        check_near("openai-chatt", &["openai-chat"]);
        check_near("responses", &["openai-responses"]);
        check_near("Qwen3-Coder", &["qwen3_coder"]);
        check_near("zzz", &[]);
    }

    #[test]
    fn keys_and_types_are_those_of_events() {
        for good in
            ["id", "usage", "usage.raw", "text", "volatile", "none", "usage.raw.x.y", "turn.**.id"]
        {
            assert_eq!(event_key(good), Ok(good.to_owned()));
        }
        for bad in ["", "ids", "usage.id", "nothing.raw", "usage.", "usage.raw.", "x.**.id"] {
            assert!(event_key(bad).is_err(), "{bad}");
        }
        assert!(event_type("tool_call").is_ok() && event_type("id").is_err());
    }

    #[test]
    fn sizes_have_units() {
        check("0", Some(0));
        check("64k", Some(64 << 10));
        check("256M", Some(256 << 20));
        check("1GiB", Some(1 << 30));
        check("12B", Some(12));
        check("M", None);
        check("-1", None);
        check("99999999999T", None);
    }
}
