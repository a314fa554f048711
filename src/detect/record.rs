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

/// Returns what is found in the record that stands in a line after something else, if one does: after
/// its last `data:`, or from the first brace on.
pub(super) fn inside<R>(line: &[u8], find: impl FnOnce(&Record<'_>) -> Option<R>) -> Option<R> {
    let field = memmem::rfind(line, b"data:").map(|at| line.after(at + b"data:".len()));
    let is_object = |text: &&[u8]| text.starts_with(b"{");
    let record = field.map(<[u8]>::trim_ascii).filter(is_object);
    let record = record.or_else(|| Some(line.after(memchr(b'{', line)?)))?;
    see_record(&Frame::new(NDJSON, record, 0), find)
}

/// Returns the format of a record, if it is a known one and no error in any.
pub(super) fn of_answers(record: &Record<'_>) -> Option<&'static Format> {
    candidates(record).find(|row| !row.is_of_errors())
}

/// True if a record of this format, or of any if none is known, stands in a line after something else.
pub(crate) fn holds_record(line: &[u8], format: Option<&'static Format>) -> bool {
    let is_its = |record: &Record<'_>| match format {
        Some(format) => format.accepts(record),
        None => of_answers(record).is_some(),
    };
    inside(line, |record| Some(is_its(record))) == Some(true)
}

/// Returns the formats whose `sniff` accepts a record.
pub(super) fn candidates(record: &Record<'_>) -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().copied().filter(|row| row.accepts(record))
}
