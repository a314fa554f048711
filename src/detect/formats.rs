//! The formats that an input may be in.

use std::sync::Arc;

use crate::format::format::{Format, Record};
use crate::format::table::FORMATS;
use crate::frame::{Frame, NDJSON};
use crate::json;

/// The formats that an input may be in: one that was asked for, or those of the user's own, and after
/// them all built-in ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownFormats {
    pub(crate) asked: Option<&'static Format>,
    pub(crate) own: Arc<[&'static Format]>,
}

impl KnownFormats {
    /// Returns every format, in the order in which they are tried.
    fn all(&self) -> impl Iterator<Item = &'static Format> + Clone {
        let KnownFormats { asked, own } = self;
        let others = FORMATS.iter().filter(move |row| !own.contains(row) && *asked != Some(**row));
        own.iter().chain(asked).chain(others).copied()
    }

    /// True if a format is a provider's, whose calls are the caller's.
    pub(super) fn is_providers(&self, format: &Format) -> bool {
        let may_run = || format.row().is_some_and(|row| row.spec.may_run_calls());
        format.request.is_some() || self.own.contains(&format) && !may_run()
    }

    /// True if a record is one of a format that has been found: of a format of the user's own, or of
    /// the one that was asked for, any rule tells.
    pub(super) fn is_of(&self, format: &Format, record: &Record<'_>) -> bool {
        let is_named = || self.asked.is_some() || self.own.contains(&format);
        format.accepts(record) || is_named() && format.has_rule_for(record)
    }

    /// Returns the formats that a record proves.
    pub(super) fn of(&self, record: &Record<'_>) -> impl Iterator<Item = &'static Format> {
        self.all().filter(|row| row.accepts(record))
    }

    /// Returns the first format that a record proves, if it is no error in any.
    pub(super) fn of_answer(&self, record: &Record<'_>) -> Option<&'static Format> {
        self.of(record).find(|row| !row.is_of_errors())
    }

    /// Returns the format of a record that is damaged: what is whole of it shows one.
    pub(super) fn of_damaged(&self, data: &[u8]) -> Option<&'static Format> {
        let part = json::whole_part(data);
        self.of(&Record::new(&Frame::new(NDJSON, &part, 0))).next()
    }

    /// Returns the format of a first record: the one that was asked for, if that has any rule for it.
    #[cfg(feature = "cli")]
    pub(super) fn of_first(&self, record: &Record<'_>) -> impl Iterator<Item = &'static Format> {
        let asked = self.asked.filter(|row| self.is_of(row, record));
        let others = self.of(record).filter(move |row| asked != Some(*row));
        asked.into_iter().chain(others)
    }

    /// Returns the beginnings of lines that agents print before their logs.
    pub(super) fn banners(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.all().flat_map(|format| format.banners).copied()
    }
}
