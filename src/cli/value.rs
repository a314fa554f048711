//! The values that options take.

use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

use crate::format;
use crate::format::format::Format;
use crate::format::table::FORMATS;
use crate::frame;
use crate::frame::{FRAMINGS, Framing};

/// A row of a table, or none for `auto`.
pub type Auto<T> = Option<&'static T>;

/// Takes the names of framings.
pub(super) fn framing() -> Names<Framing> {
    Names {
        all: || FRAMINGS.iter().map(|row| (row.name, row.about)).collect(),
        find: |name| frame::find(&name.replace('_', "-")),
    }
}

/// Takes the names of wire formats.
pub(super) fn format() -> Names<Format> {
    Names { all: || FORMATS.iter().map(|row| (row.name, row.about)).collect(), find: format::find }
}

/// Takes `auto` and the names of a table's rows; `-` and `_` are the same.
pub(super) struct Names<T: 'static> {
    all: fn() -> Vec<(&'static str, &'static str)>,
    find: fn(&str) -> Auto<T>,
}

impl<T> Clone for Names<T> {
    fn clone(&self) -> Self {
        Names { all: self.all, find: self.find }
    }
}

impl<T: Send + Sync + 'static> TypedValueParser for Names<T> {
    type Value = Auto<T>;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, Error> {
        let name = value.to_string_lossy();
        let row = (self.find)(&name);
        if row.is_some() || name == "auto" {
            return Ok(row);
        }
        let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
        if let Some(arg) = arg {
            error.insert(ContextKind::InvalidArg, ContextValue::String(arg.to_string()));
        }
        error.insert(ContextKind::InvalidValue, ContextValue::String(name.into_owned()));
        let names = (self.all)().into_iter().map(|(name, _)| name.to_owned());
        error.insert(
            ContextKind::ValidValue,
            ContextValue::Strings(["auto".into()].into_iter().chain(names).collect()),
        );
        Err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let auto = PossibleValue::new("auto").help("find out");
        let rows =
            (self.all)().into_iter().map(|(name, about)| PossibleValue::new(name).help(about));
        Some(Box::new([auto].into_iter().chain(rows)))
    }
}

/// Which choice to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// All of them.
    All,
    /// This one.
    One(u64),
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Choice::All),
            number => {
                number.parse().map(Choice::One).map_err(|_| "expected a number, or `all`".into())
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<usize>) {
        assert_eq!(text.parse::<Size>().ok().map(|size| size.0), expected);
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
