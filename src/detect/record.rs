//! The record that shows a format.

use memchr::{memchr, memmem};

use crate::cut::Cut as _;
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

/// Returns the format of the record that stands in a line after something else, if one does: after
/// its last `data:`, or from the first brace on.
pub(super) fn inside(line: &[u8]) -> Option<&'static Format> {
    let field = memmem::rfind(line, b"data:").map(|at| line.after(at + b"data:".len()));
    let is_object = |text: &&[u8]| text.starts_with(b"{");
    let record = field.map(<[u8]>::trim_ascii).filter(is_object);
    let record = record.or_else(|| Some(line.after(memchr(b'{', line)?)))?;
    let frame = Frame::new(NDJSON, record, 0);
    see_record(&frame, |record| candidates(record).find(|row| !row.is_of_errors()))
}

/// True if a record of a known format stands in a line after something else.
pub(crate) fn holds_record(line: &[u8]) -> bool {
    inside(line).is_some()
}

/// Returns the formats whose `sniff` accepts a record.
pub(super) fn candidates(record: &Record<'_>) -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().copied().filter(|row| row.accepts(record))
}
