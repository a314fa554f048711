//! The record that shows a format.

use crate::format::format::{Format, Record};
use crate::format::table::FORMATS;
use crate::frame::{Frame, NDJSON};
use crate::json;

/// Hands over the record that shows a frame's format. Where rubbish or another record follows it, or
/// it is not UTF-8, it is what a decoder reads.
pub(super) fn see_record<R>(frame: &Frame<'_>, then: impl FnOnce(&Record<'_>) -> R) -> R {
    let record = Record::new(frame);
    if record.is_object() {
        return then(&record);
    }
    let text = frame.text();
    match json::records(text.as_bytes()).next() {
        Some(first) => then(&Record::new(&frame.part(first))),
        None => then(&record),
    }
}

/// Returns the format of a record that is damaged: what is whole of it shows one.
pub(super) fn damaged(data: &[u8]) -> Option<&'static Format> {
    let part = json::whole_part(data);
    candidates(&Record::new(&Frame::new(NDJSON, &part, 0))).next()
}

/// Returns the formats whose `sniff` accepts a record.
pub(super) fn candidates(record: &Record<'_>) -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().copied().filter(|row| row.accepts(record))
}
